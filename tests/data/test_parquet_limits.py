"""Parquet that expands beyond reason is rejected before it fills the memory."""

import numpy as np
import pytest

import confir
from confir.data import compression
from confir.data.formats import run_tables
from confir.data.tables import parquet_files
from confir.errors import FormatError, UnreadableError
from requirements import required

pa = required("pyarrow")
pq = required("pyarrow.parquet")

REFUSED = r"compressed bytes hold more than .*; CONFIR_DECOMPRESS=any in the environment reads them"


def repeated(value, rows):
    """A column of equal values, which a file stores once."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [value])


def write(path, columns):
    table = pa.table(columns)
    options = {"store_schema": False, "dictionary_pagesize_limit": 1 << 26, "compression": "zstd"}
    path.parent.mkdir(exist_ok=True)
    pq.write_table(table, path, **options)
    return path


def run_of_equal_rows(rows):
    columns = {"topic": repeated("1", rows), "docid": repeated("a", rows)}
    return {**columns, "score": np.ones(rows)}


def scores_of_long_topics(size, rows=600):
    return {"topic": repeated("x" * size, rows), "a": np.ones(rows), "b": np.zeros(rows)}


@pytest.fixture
def small_limits(monkeypatch):
    """Limits that small files exceed: 64 kB, and ten times the size."""
    monkeypatch.delenv("CONFIR_DECOMPRESS", raising=False)
    monkeypatch.setattr(compression, "_TRUSTED_SIZE", 1 << 16)
    monkeypatch.setattr(compression, "_LARGEST_RATIO", 10)


READERS = {
    "run": confir.read_run,
    "folder of runs": lambda path: confir.read_run(path.parent),
    "scores": confir.read_scores,
    "folder of scores": lambda path: confir.read_scores(path.parent),
    "table of any length": lambda path: confir.summarise_scores(path).mean(),
    "runs of any length": lambda path: confir.evaluate({"1": {"a": 1}}, path, "AP"),
}


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("reader", ["run", "folder of runs", "runs of any length"])
def test_few_bytes_that_hold_many_rows_are_refused(tmp_path, monkeypatch, reader):
    if reader == "runs of any length":
        monkeypatch.setattr(run_tables, "MOST_HELD_DOCUMENTS", 0)
    path = write(tmp_path / "runs" / "equal.parquet", run_of_equal_rows(20_000))
    with pytest.raises(UnreadableError, match=REFUSED):
        READERS[reader](path)
    monkeypatch.setenv("CONFIR_DECOMPRESS", "any")
    with pytest.raises(FormatError, match="'a' occurs twice"):
        READERS[reader](path)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("reader", ["scores", "folder of scores", "table of any length"])
def test_few_bytes_that_hold_long_names_are_refused(tmp_path, monkeypatch, reader):
    path = write(tmp_path / "scores" / "long.AP.parquet", scores_of_long_topics(5_000))
    with pytest.raises(UnreadableError, match=REFUSED):
        READERS[reader](path)
    monkeypatch.setenv("CONFIR_DECOMPRESS", "any")
    with pytest.raises(FormatError, match="a second"):
        READERS[reader](path)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("kind", ["text", "bytes", "lists"])
def test_columns_that_are_not_used_count_as_well(tmp_path, kind):
    columns = {"topic": [str(t) for t in range(9)], "docid": ["d"] * 9, "score": np.arange(9.0)}
    more = {"text": "x" * 20_000, "bytes": b"x" * 20_000, "lists": ["x" * 200] * 100}[kind]
    path = write(tmp_path / "x" / "more.parquet", {**columns, "more": [more] * 9})
    with pytest.raises(UnreadableError, match=REFUSED):
        confir.read_run(path)


def test_a_few_kilobytes_that_hold_gigabytes_are_refused(tmp_path):
    path = write(tmp_path / "x" / "long.AP.parquet", scores_of_long_topics(8_000_000))
    assert path.stat().st_size < 10_000
    pool = pa.default_memory_pool()
    before = pool.max_memory()
    for reader in ("scores", "table of any length"):
        with pytest.raises(UnreadableError, match=r"long\.AP\.parquet: .* hold more than 4,8\d\d,"):
            READERS[reader](path)
    assert pool.max_memory() - before < 1 << 27


@pytest.mark.usefixtures("small_limits")
def test_tables_that_expand_within_reason_are_read(tmp_path):
    topics = [f"topic {number}" for number in range(2_000)]
    scores = np.random.default_rng(1).random((2, 2_000))
    path = write(tmp_path / "x" / "x.AP.parquet", {"topic": topics, "a": scores[0], "b": scores[1]})
    expected = scores.mean(axis=1)
    np.testing.assert_allclose(confir.read_scores(path).mean()[:, 0], expected)
    np.testing.assert_allclose(confir.summarise_scores(path).mean()[:, 0], expected)


@pytest.mark.parametrize("name", ["read_parquet_content", "scan_batches"])
def test_want_of_memory_is_no_fault_of_a_file(tmp_path, monkeypatch, name):
    def fail(*_):
        raise pa.ArrowMemoryError("malloc of size 4096000000 failed")

    path = write(tmp_path / "x" / "x.AP.parquet", {"topic": ["1", "2"], "a": [0.5, 0.25]})
    inside = {"read_parquet_content": "_check_content", "scan_batches": "_check_batches"}[name]
    monkeypatch.setattr(parquet_files, inside, fail)
    with pytest.raises(MemoryError):
        READERS["scores" if name == "read_parquet_content" else "table of any length"](path)
