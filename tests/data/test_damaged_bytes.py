"""Files with one wrong byte are never read otherwise, where their format has checksums."""

import bz2
import gzip
import lzma
import struct

import numpy as np
import pytest

import confir
from confir.data.files import read_bytes, write_whole
from confir.errors import ConfirError, UnreadableError

FLIPS = 120


def some_scores():
    rng = np.random.default_rng(7)
    return {run: rng.random(40).round(6) for run in ("bm25", "dense")}


def flipped(content, places, rng):
    """Yield the content with one bit of one byte changed."""
    for place in rng.choice(places, min(FLIPS, len(places)), replace=False):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        yield bytes(damaged)


@pytest.mark.parametrize("ending", [".zst", ".gz", ".bz2", ".xz"])
def test_a_wrong_byte_of_compressed_text_is_found(tmp_path, ending):
    plain, packed = tmp_path / "scores.csv", tmp_path / f"packed.csv{ending}"
    confir.write_scores(some_scores(), plain)
    content = plain.read_bytes()
    write_whole(packed, content)
    whole = packed.read_bytes()
    for damaged in flipped(whole, np.arange(len(whole)), np.random.default_rng(3)):
        packed.write_bytes(damaged)
        try:
            read = read_bytes(packed)
        except UnreadableError:
            continue
        # not the first bytes, without which it is not compressed, nor any of the text
        assert read in (content, damaged)


def test_a_wrong_byte_in_the_pages_of_parquet_is_found(tmp_path):
    path = tmp_path / "scores.parquet"
    confir.write_scores(some_scores(), path)
    whole, before = path.read_bytes(), confir.read_scores(path)
    (footer,) = struct.unpack("<I", whole[-8:-4])
    pages = np.arange(4, len(whole) - 8 - footer)
    found = 0
    for damaged in flipped(whole, pages, np.random.default_rng(3)):
        path.write_bytes(damaged)
        try:
            read = confir.read_scores(path)
        except ConfirError:
            found += 1
            continue
        assert read.runs == before.runs
        assert read.values.tobytes() == before.values.tobytes()
    assert found > FLIPS // 2


def test_a_wrong_byte_in_a_folder_of_parquet_is_found(tmp_path):
    folder = tmp_path / "scores"
    folder.mkdir()
    path = folder / "a.parquet"
    confir.write_scores(some_scores(), path)
    whole, before = path.read_bytes(), confir.summarise_scores(folder)
    expected = before.mean()
    (footer,) = struct.unpack("<I", whole[-8:-4])
    pages = np.arange(4, len(whole) - 8 - footer)
    for damaged in flipped(whole, pages, np.random.default_rng(4)):
        path.write_bytes(damaged)
        try:
            read = confir.summarise_scores(folder)
            mean = read.mean()
        except ConfirError:
            continue
        assert read.runs == before.runs
        assert mean.tobytes() == expected.tobytes()


def test_compressors_of_other_tools_write_checksums(tmp_path):
    # of these formats, every file has some; zstandard leaves it to the writer
    for name, module in (("x.gz", gzip), ("x.bz2", bz2), ("x.xz", lzma)):
        path = tmp_path / name
        content = bytearray(module.compress(bytes(range(1, 120)) * 9))
        content[len(content) // 2] ^= 4
        path.write_bytes(content)
        with pytest.raises(UnreadableError, match="damaged"):
            read_bytes(path)
