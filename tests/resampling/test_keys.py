"""Keys of documents against hashlib, in compiled and plain code."""

from functools import cache
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from confir.data.ids import Docids
from confir.resampling import document_kernels
from confir.resampling.document_kernels import document_keys
from confir.resampling.key_kernels import compile_kernel
from requirements import required
from strategies import examples

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=140)
ASCII = st.text(st.characters(max_codepoint=127), max_size=140)


def keys_by_hashlib(documents):
    encoded = [name.encode() for name in documents]
    return [int.from_bytes(blake2b(e, digest_size=8).digest(), "little") for e in encoded]


@pytest.fixture(scope="module")
def compiled():
    required("numba")
    assert compile_kernel() is not None  # which document_keys uses once it is there


@pytest.mark.usefixtures("compiled")
@examples(100)
@given(st.lists(ASCII) | st.lists(ANY_TEXT))
@example([])
@example([""])
@example(["\0", "\0\0", "x" * 127, "x" * 128, "x" * 129, "x" * 256])
@example(["ü" * 64, "ü" * 64 + "x", "ü"])
def test_keys_of_the_kernel_are_those_of_hashlib(documents):
    keys = document_keys(Docids.of(documents))
    assert keys.dtype == np.uint64
    assert keys.tolist() == keys_by_hashlib(documents)


@pytest.mark.usefixtures("compiled")
def test_blocks_of_docids_of_every_length_are_put_together(monkeypatch):
    monkeypatch.setattr(document_kernels, "_KEYS_AT_ONCE", 150)
    documents = tuple("abcdefg"[i % 7] * (i % 135) + str(i) for i in range(1_000))
    assert document_keys(Docids.of(documents)).tolist() == keys_by_hashlib(documents)


def test_few_docids_and_missing_numba_leave_the_keys_to_hashlib(monkeypatch):
    documents = ("a", "ü", "x" * 200)
    missing = cache(lambda: None)
    monkeypatch.setattr(document_kernels, "compile_kernel", missing)
    for many, loads in ((4, 0), (3, 1)):
        monkeypatch.setattr(document_kernels, "_WORTH_COMPILING", many)
        assert document_keys(Docids.of(documents)).tolist() == keys_by_hashlib(documents)
        assert missing.cache_info().currsize == loads
