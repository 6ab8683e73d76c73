"""Keys of ids: 64-bit hashes, the same on every machine and for every partition of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from confir.arrays import Integers

Words = npt.NDArray[np.uint64]

# SplitMix64 (Steele, Lea & Flood 2014): the step of its counter, and the factors that mix it.
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32 = (np.uint64(shift) for shift in (27, 30, 31, 32))

_WORD = 8  # bytes
# What is kept of a word of which so many bytes belong to an id.
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(_WORD + 1)], np.uint64)


def mix_words(words: Words) -> Words:
    """Return hashed words: the output function of SplitMix64."""
    mixed = (words ^ (words >> S30)) * FIRST_FACTOR
    mixed = (mixed ^ (mixed >> S27)) * SECOND_FACTOR
    result: Words = mixed ^ (mixed >> S31)
    return result


def hash_names(names: Sequence[str]) -> Words:
    """Return the key of each name."""
    encoded = [name.encode() for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    return hash_bytes(b"".join(encoded), np.concatenate([[0], ends]).astype(np.int64))


def hash_column(ids: Any) -> Words:
    """Return the key of each id in an Arrow array of type large_string, without missing ones."""
    _, offsets, content = ids.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(ids) + 1, 8 * ids.offset)
    return hash_bytes(memoryview(content or b""), bounds)


def hash_bytes(content: bytes | memoryview, offsets: Integers) -> Words:
    """Return the key of each id in text that holds them one after the other.

    Parameters
    ----------
    content
        The ids in UTF-8.
    offsets
        Where each begins, and where the last one ends.
    """
    first = int(offsets[0])
    text = np.frombuffer(content, np.uint8, int(offsets[-1]) - first, first)
    padded = np.concatenate([text, np.zeros(_WORD, np.uint8)])
    words = np.ndarray((len(text) + 1,), "<u8", padded, strides=(1,))
    starts, sizes = offsets[:-1] - first, np.diff(offsets)
    keys = mix_words(sizes.astype(np.uint64) + STEP)
    for place in range(0, int(sizes.max(initial=0)), _WORD):
        rest = np.clip(sizes - place, 0, _WORD)
        word = words[np.minimum(starts + place, len(text))] & _MASKS[rest]
        keys = np.where(rest > 0, mix_words((keys ^ word) + STEP), keys)
    return keys
