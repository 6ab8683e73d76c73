"""Runs and qrels in Parquet datasets have the scores of those that are read whole."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confir
from confir.data.formats import run_tables
from confir.data.formats.entries import QRELS, RUN
from confir.data.formats.sources import find_run_datasets
from confir.data.long_tables import documents_by_topic, spill_folder
from confir.data.long_tables.arrow_documents import RowColumns, qrels_of_rows, rank_rows
from confir.data.long_tables.documents_by_topic import ParquetRows
from confir.data.ranked_lists.rankings import stack_rankings
from confir.errors import (
    FormatError,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnreadableError,
)
from judged_positions import JudgedPositions
from parquet_datasets import in_memory, make_rows, qrels_table, run_table, write_folder
from requirements import ON_LINUX, required
from strategies import at_most

pa = required("pyarrow")
pq = required("pyarrow.parquet")

MEASURES = ["AP", "nDCG@10", "P@5", "RR", "ERR@20", "bpref", "alpha_nDCG@5"]


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(documents_by_topic, "_ROWS_AT_ONCE", 60)
    monkeypatch.setattr(documents_by_topic, "_BATCH", 17)
    monkeypatch.setattr(run_tables, "MOST_HELD_DOCUMENTS", 0)


@pytest.mark.parametrize("by", ["run", "topic", None])
@pytest.mark.parametrize("missing", ["zero", "drop"])
@pytest.mark.usefixtures("small_parts")
@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_scores_of_a_dataset_are_those_of_runs_in_memory_to_the_bit(tmp_path, by, missing):
    retrieved, judged = make_rows()
    runs = write_folder(run_table(retrieved), tmp_path / "runs", by)
    qrels = write_folder(qrels_table(judged), tmp_path / "qrels", by if by == "topic" else None)
    whole = confir.evaluate(*in_memory(retrieved, judged), MEASURES, missing=missing, depth=9)
    for found in (
        confir.evaluate(qrels, runs, MEASURES, missing=missing, depth=9),
        confir.summarise_runs(qrels, [runs], MEASURES, missing=missing, depth=9).sample,
    ):
        assert found.topics == whole.topics
        assert set(found.runs) == set(whole.runs)
        np.testing.assert_array_equal(found.select(run=list(whole.runs)).values, whole.values)


@settings(max_examples=at_most(25))
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 3), st.integers(1, 20))
def test_rows_are_ranked_as_the_reference_reader_ranks_them(seed, topics, runs, depth):
    retrieved, judged = make_rows(seed, topics, runs, depth)
    if not judged:
        return
    tables = run_table(retrieved), qrels_table(judged)
    rows = [
        pa.Table.from_batches([RowColumns.find(table.column_names, kind, "x").rows(batch)])
        for table, kind in zip(tables, (RUN, QRELS), strict=True)
        for batch in table.combine_chunks().to_batches()
    ]
    qrels = qrels_of_rows(rows[1], "x")
    lists = in_memory(retrieved, judged)[1]
    for precision in ("double", "single"):
        ranked = rank_rows(qrels, rows[0], tuple(lists), precision, "x")
        positions = JudgedPositions(qrels)
        each = [confir.as_run(run, name=name) for name, run in lists.items()]
        known = stack_rankings([positions.rank(run, precision) for run in each])
        for name in ("depth", "offsets", "documents", "gain", "before", "present"):
            np.testing.assert_array_equal(getattr(ranked.rankings, name), getattr(known, name))
        outside = [len(set(run.topics) - set(qrels.topics)) for run in each]
        assert ranked.unknown.tolist() == outside


@pytest.mark.usefixtures("small_parts")
def test_topics_that_differ_are_counted_in_warnings_and_an_error_where_asked(tmp_path):
    rows = [("a", "1", "d1", 1.0), ("a", "9", "d1", 1.0), ("b", "1", "d1", 2.0), ("b", "2", "d", 1)]
    runs = write_folder(run_table(rows), tmp_path / "runs", "run")
    qrels = {"1": {"d1": 1}, "2": {"d1": 0}}
    with pytest.warns(TopicWarning) as caught:
        scores = confir.evaluate(qrels, runs, "AP")
    texts = [str(one.message) for one in caught]
    assert "run 'a' lacks 1 topic of the qrels, scored 0" in texts
    assert "run 'a' has 1 topic that the qrels lack, left out" in texts
    assert any("no relevant document for 1 of 2 topics" in text for text in texts)
    assert scores.values[:, :, 0].tolist() == [[1.0, 1.0], [0.0, 0.0]]
    with pytest.raises(TopicMismatchError, match="run 'a' lacks 1 topic of the qrels; expected"):
        confir.evaluate(qrels, runs, "AP", missing="error")
    with pytest.raises(TopicMismatchError, match="no topic in common"):
        confir.evaluate({"7": {"d1": 1}}, runs, "AP")


@pytest.mark.usefixtures("small_parts")
def test_five_of_many_runs_that_lack_topics_are_named(tmp_path):
    runs = write_folder(run_table([(f"r{n}", "1", "d", 1.0) for n in range(7)]), tmp_path / "runs")
    with pytest.warns(TopicWarning) as caught:
        confir.evaluate({"1": {"d": 1}, "2": {"d": 1}}, runs, "AP", missing="drop")
    named = ", ".join(f"run 'r{n}' lacks 1 topic" for n in range(5))
    assert [str(one.message).partition(" of the")[0] for one in caught] == [f"{named} and 2 more"]


BAD = {
    "document 'd1' occurs twice in topic '1' of run 'a'": [("a", "1", "d1", 1.0)] * 2,
    "score of document 'd1' in topic '1' is missing": [
        ("a", "1", "d1", None),
        ("a", "2", "d", 1.0),
    ],
    "score of document 'd1' in topic '1' is inf": [("a", "1", "d1", np.inf)],
    "docid '' is not an id": [("a", "1", "", 1.0)],
    "'high' under 'score' is not a finite number": [("a", "1", "d1", "high")],
}


@pytest.mark.parametrize("message", BAD)
@pytest.mark.usefixtures("small_parts")
def test_bad_rows_are_named_in_one_sentence(tmp_path, message):
    runs = write_folder(run_table(BAD[message]), tmp_path / "runs")
    with pytest.raises(FormatError, match=message) as caught:
        confir.evaluate({"1": {"d1": 1}, "2": {"d1": 1}}, runs, "AP")
    assert str(runs) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("small_parts")
def test_what_a_dataset_does_not_allow_is_refused(tmp_path):
    retrieved, judged = make_rows()
    runs = write_folder(run_table(retrieved), tmp_path / "runs", "run")
    qrels = write_folder(qrels_table(judged), tmp_path / "qrels")
    with pytest.raises(InvalidValueError, match="ir_measures, which takes no part"):
        confir.evaluate(qrels, runs, "infAP")
    with pytest.raises(InvalidValueError, match="intents"):
        confir.evaluate(qrels, runs, "D_nDCG@10", intents={"1": {"a": 1.0}})
    with pytest.raises(FormatError, match="looks like qrels"):
        confir.evaluate(qrels, write_folder(qrels_table(judged), tmp_path / "other", "topic"))
    (tmp_path / "none").mkdir()
    with pytest.raises(UnreadableError, match="is a directory; expected a file, or Parquet"):
        confir.evaluate(tmp_path / "none", {"1": {"d": 1.0}})


@pytest.mark.usefixtures("small_parts")
def test_an_unreadable_partition_and_a_full_disk_leave_nothing_behind(tmp_path, monkeypatch):
    retrieved, judged = make_rows()
    runs = write_folder(run_table(retrieved), tmp_path / "runs", "run")
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    qrels = qrels_table(judged)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(spill_folder.SpillFolder, "sort", full)
        with pytest.raises(UnreadableError, match=r"No space left on device.*TMPDIR"):
            confir.evaluate(qrels, runs, "AP")
    assert list(room.iterdir()) == []
    next((runs / "run=run1").glob("*.parquet")).write_bytes(b"PAR1 and no more")
    with pytest.raises(FormatError, match=r"cannot be read as Parquet .*run=run1"):
        confir.evaluate(qrels, runs, "AP")
    assert list(room.iterdir()) == []
    with pytest.raises(UnreadableError, match="nowhere"):  # qrels are read first
        confir.evaluate(tmp_path / "nowhere", runs, "AP")


def test_verbs_that_need_lists_read_a_dataset_whole(tmp_path):
    retrieved, judged = make_rows()
    runs = write_folder(run_table(retrieved), tmp_path / "runs", "topic")
    qrels = write_folder(qrels_table(judged), tmp_path / "qrels", "topic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = confir.inspect_data(confir.Experiment(qrels, runs))
        known = confir.inspect_data(*in_memory(retrieved, judged))
    by_run = sorted(found.to_records(), key=lambda record: record["run"])
    assert by_run == known.to_records()


RELEVANT = {"1": {"d1": 1}}


@pytest.fixture(params=[0, 10**6])
def held_or_parted(request, monkeypatch):
    monkeypatch.setattr(run_tables, "MOST_HELD_DOCUMENTS", request.param)


@pytest.mark.usefixtures("held_or_parted")
def test_an_equals_sign_in_the_name_of_a_file_parts_no_folder(tmp_path):
    names = ["bm25", "bm25-k1=0.9"]
    for name in names:
        table = run_table([(name, "1", "d1", 1.0)]).drop_columns("run")
        pq.write_table(table, tmp_path / f"{name}.parquet")
    assert sorted(confir.evaluate(RELEVANT, tmp_path, "AP").runs) == names
    assert sorted(ParquetRows(str(tmp_path), RUN).runs) == names


@pytest.mark.usefixtures("held_or_parted")
def test_a_name_that_is_given_goes_before_the_column_of_runs(tmp_path):
    one, two = ([(run, "1", "d1", 1.0) for run in runs] for runs in ("x", "xy"))
    file = tmp_path / "one.parquet"
    pq.write_table(run_table(one), file)
    for path in (file, write_folder(run_table(one), tmp_path / "one", "run")):
        scores = confir.evaluate(RELEVANT, f"mine={path}", "AP")
        assert (scores.runs, scores.values.tolist()) == (("mine",), [[[1.0]]])
    several = write_folder(run_table(two), tmp_path / "two", "run")
    with pytest.raises(FormatError, match=r"two: holds 2 runs \(x, y\); expected one here"):
        confir.evaluate(RELEVANT, f"mine={several}", "AP")


def test_a_folder_of_few_documents_is_read_whole(tmp_path):
    retrieved, judged = make_rows()
    runs = write_folder(run_table(retrieved), tmp_path / "runs", "run")
    qrels = write_folder(qrels_table(judged), tmp_path / "qrels")
    intents = {topic: {"a": 0.9, "b": 0.1} for topic, *_ in judged}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, known = (
            confir.evaluate(*given, "ERR_IA@5", intents=intents)
            for given in ((qrels, runs), in_memory(retrieved, judged))
        )
    np.testing.assert_array_equal(found.select(run=list(known.runs)).values, known.values)
    (tmp_path / "trec").mkdir()
    (tmp_path / "trec" / "bm25.run").write_text("1 Q0 d1 1 1.0 bm25\n")
    with pytest.raises(UnreadableError, match="is a directory; expected a file, or Parquet"):
        confir.evaluate(RELEVANT, f"mine={tmp_path / 'trec'}", "AP")


def test_runs_are_parted_where_all_of_them_together_hold_many_documents(tmp_path, monkeypatch):
    files = [tmp_path / "a.parquet", write_folder(run_table(make_rows()[0]), tmp_path / "b", "run")]
    pq.write_table(run_table([("a", "1", "d1", 1.0)]), files[0])
    rows = 1 + len(make_rows()[0])
    for most, found in ((rows, []), (rows - 1, [str(file) for file in files])):
        monkeypatch.setattr(run_tables, "MOST_HELD_DOCUMENTS", most)
        assert [source.path for source in find_run_datasets(files)] == found
    (tmp_path / "c.run").write_text("1 Q0 d1 1 1.0 c\n")
    assert find_run_datasets([*files, tmp_path / "c.run"]) == []


GROWTH = """
import re, sys
from pathlib import Path
import confir
from confir.data.formats import run_tables
from confir.data.long_tables import documents_by_topic
documents_by_topic._ROWS_AT_ONCE = 1 << 16
run_tables.MOST_HELD_DOCUMENTS = 1000
summary = confir.summarise_runs(sys.argv[1], sys.argv[2], ["AP", "nDCG@10"])
confir.confidence_interval(summary)
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(len(summary.topics), peak)
"""


@pytest.mark.slow
@ON_LINUX
def test_memory_does_not_grow_with_the_documents(tmp_path):
    peaks = []
    for topics in (15_000, 120_000):
        write_many(tmp_path / str(topics), topics)
        paths = [str(tmp_path / str(topics) / name) for name in ("qrels", "runs")]
        done = subprocess.run(
            [sys.executable, "-c", GROWTH, *paths], capture_output=True, text=True, check=True
        )
        found, peak = map(int, done.stdout.split())
        assert found == topics
        peaks.append(peak / 1024)
    # 1.3 million more rows: read whole, they would take 300 MB
    assert peaks[1] - peaks[0] < 80, peaks


def write_many(folder, topics, depth=10):
    ids = np.char.mod("q%07d", np.arange(topics))
    rng = np.random.default_rng(1)
    documents = pa.array(np.char.mod("doc%03d", np.arange(1000)))
    for name, size in (("runs", depth), ("qrels", 2)):
        drawn = (rng.integers(0, 90, (topics, 1)) + np.arange(size) * 97).reshape(-1)
        table = {"topic": pa.array(ids).take(pa.array(np.repeat(np.arange(topics), size)))}
        table |= {"docid": documents.take(pa.array(drawn))}
        if name == "runs":
            table |= {"run": pa.array(np.repeat("a", len(drawn))), "score": rng.random(len(drawn))}
        else:
            table |= {"gain": np.ones(len(drawn), np.int64)}
        (folder / name).mkdir(parents=True)
        pq.write_table(pa.table(table), folder / name / "part-0.parquet", row_group_size=1 << 13)
