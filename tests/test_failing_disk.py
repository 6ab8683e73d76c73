"""Whatever call fails while files are written, the files are as before or as after."""

import gc
import os
import stat
import tempfile
import warnings
from contextlib import closing, suppress

import numpy as np
import pytest

import confir
from confir.data.files import write_whole
from confir.data.formats.format import RunSource
from confir.data.long_tables import documents_by_topic, scores_by_topic, table_pieces
from confir.data.output_folder import OutputFolder
from confir.data.ranked_lists import stored_lists
from confir.errors import InputWarning, UnreadableError
from confir.parallel import run_tasks
from confir.studies.history.history_file import LOOK_FIELDS, OpenHistory, read_looks
from failing_disk import Failure, each_failure
from parquet_datasets import make_rows, qrels_table, run_table, write_folder
from requirements import ON_UNIX, required

BOTH = pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])


def record(look, run="b"):
    """A line of a history."""
    kinds = {int: look, float: 0.5, str: "x"}
    found = {name: kinds[types[0]] for name, types in LOOK_FIELDS.items()}
    levels = {"level": 0.95, "look_level": 0.99}
    return (
        found
        | levels
        | {
            "look": look,
            "run": run,
            "date": "2026-01-02T03:04:05+00:00",
            "decision": "passes",
            "looks": "candidates",
        }
    )


def append(path, look, runs="bcd"):
    waiting = OpenHistory(path, lambda _: [record(look, run) for run in runs])
    with closing(waiting):
        waiting.append()


def state(folder):
    """The content of every file below a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_history_has_the_whole_look_or_nothing_of_it(tmp_path):
    path = tmp_path / "history.jsonl"
    append(path, 1)
    before = path.read_bytes()
    for failure in each_failure():
        path.write_bytes(before)
        with failure:
            if not try_to(lambda: append(path, 2), failure):
                assert path.read_bytes() == before
                continue
        assert [one["look"] for one in read_looks(path)] == [1, 1, 1, 2, 2, 2]
        assert path.read_bytes().startswith(before)
    assert os.listdir(tmp_path) == ["history.jsonl"]


def try_to(act, failure):
    """Whether something was done; an error must be in a sentence of ours, and due to the failure."""
    said = ""
    try:
        act()
    except UnreadableError as error:
        said = str(error)
    assert not said or ("No space left on device" in said and failure.happened)
    return not said


def test_a_history_on_a_disk_that_stays_full_is_read_and_goes_on(tmp_path):
    path = tmp_path / "history.jsonl"
    append(path, 1)
    before = path.read_bytes()
    for failure in each_failure(lasting=True):
        path.write_bytes(before)
        with failure:
            done = try_to(lambda: append(path, 2), failure)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            kept = [one["look"] for one in read_looks(path)]
            assert kept in ([1, 1, 1, 2, 2, 2], [1, 1, 1])
            assert len(kept) == 6 or not done
            append(path, 3)
        assert [one["look"] for one in read_looks(path)] == [*kept, 3, 3, 3]


@pytest.mark.parametrize("kept", [1, 9, 30, -1])
@pytest.mark.parametrize("zeros", [0, 5])
def test_a_look_that_was_cut_short_is_set_aside_and_named(tmp_path, kept, zeros):
    path = tmp_path / "history.jsonl"
    append(path, 1)
    before = path.read_bytes()
    append(path, 2, "b")
    path.write_bytes(path.read_bytes()[: len(before)] + cut(path, before, kept, zeros))
    message = (
        r"history\.jsonl:4: the look written last was cut short, as by a full disk; it is left"
    )
    with pytest.warns(InputWarning, match=message):
        assert len(confir.read_history(path).entries) == 3
    with pytest.warns(InputWarning, match=message) as said:
        append(path, 2, "bc")
    assert len(said) == 1
    assert [one["look"] for one in read_looks(path)] == [1, 1, 1, 2, 2]


def cut(path, before, kept, zeros):
    """A line without its last character and end, or less of it, and zeros in place of more."""
    line = path.read_bytes()[len(before) :].rstrip(b"\n")
    return line[:kept] + bytes(zeros)


def test_lines_before_the_one_that_was_cut_short_are_of_the_same_look(tmp_path):
    path = tmp_path / "history.jsonl"
    for look in (1, 2):
        append(path, look)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.warns(InputWarning, match=r"history\.jsonl:4: the look written last was cut short"):
        assert [one["look"] for one in read_looks(path)] == [1, 1, 1]


@pytest.mark.parametrize("kept", [12, 60, -9])
def test_a_first_look_that_was_cut_short_is_set_aside_too(tmp_path, kept):
    path = tmp_path / "history.jsonl"
    append(path, 1)
    path.write_bytes(path.read_bytes()[:kept])
    message = r"history\.jsonl:1: the look written last was cut short, as by a full disk"
    with pytest.warns(InputWarning, match=message):
        append(path, 1)
    assert [one["look"] for one in read_looks(path)] == [1, 1, 1]


@pytest.mark.parametrize("text", ["years of work", "{}\n% my thesis", '{"lo', "\0" * 5000])
def test_a_file_of_others_is_not_taken_for_a_history_that_was_cut_short(tmp_path, text):
    path = tmp_path / "thesis.tex"
    path.write_text(text)
    with suppress(confir.errors.ConfirError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        append(path, 1)
    assert path.read_text() == text


@BOTH
@pytest.mark.parametrize("mode", [None, 0o600, 0o640])
def test_an_output_is_the_old_or_the_new_one(tmp_path, lasting, mode):
    path = tmp_path / "out.csv"
    for failure in each_failure(lasting=lasting):
        path.unlink(missing_ok=True)
        if mode is not None:
            path.write_bytes(b"old")
            path.chmod(mode)
        before = state(tmp_path)
        with failure:
            done = try_to(lambda: write_whole(path, b"new" * 9), failure)
        assert state(tmp_path) == ({str(path): b"new" * 9} if done else before)
        assert done or failure.happened


@ON_UNIX
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_what_is_written_can_never_be_read_by_more_people_than_the_target(
    tmp_path, monkeypatch, mode, mask
):
    path = tmp_path / "secret.csv"
    path.write_bytes(b"old")
    path.chmod(mode)
    seen = []

    def noted(name, flags, *given, _open=os.open, **how):
        opened = _open(name, flags, *given, **how)
        seen.append(stat.S_IMODE(os.fstat(opened).st_mode))
        return opened

    monkeypatch.setattr(os, "open", noted)
    before = os.umask(mask)
    try:
        write_whole(path, b"new")
    finally:
        os.umask(before)
    assert seen == [mode & ~mask]
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_what_is_written_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    steps = []
    for name in ("fsync", "replace"):
        original = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *given, n=name, o=original: (steps.append(n), o(*given))[1]
        )
    write_whole(tmp_path / "out", b"new")
    run_tasks(squares, [1], resume=tmp_path / "kept")
    assert steps == ["fsync", "replace"] * 3


@BOTH
def test_a_folder_of_outputs_stays_one_of_confir(tmp_path, lasting):
    """Each of its files is the old or the new one, and the folder can be written again."""

    def write(content, names):
        folder = OutputFolder(tmp_path / "made")
        for name in names:
            write_whole(folder.file(name), content)
        folder.remove_stale()

    write(b"old", ["a", "b/c"])
    for failure in each_failure(lasting=lasting):
        with failure:
            done = try_to(lambda: write(b"new", ["a", "d"]), failure)
        held = state(tmp_path / "made")
        del held[str(tmp_path / "made" / ".confir")]
        assert set(held.values()) <= {b"old", b"new"}
        assert not done or set(map(os.path.basename, held)) == {"a", "d"}
        write(b"old", ["a", "b/c"])
        assert {os.path.basename(name) for name in state(tmp_path / "made")} == {
            "a",
            "c",
            ".confir",
        }


def squares(number):
    return {"square": np.array([number**2])}


@BOTH
def test_a_stored_result_is_whole_or_not_there(tmp_path, lasting):
    for number, failure in enumerate(each_failure(lasting=lasting)):
        folder = tmp_path / str(number)
        with failure:
            try_to(lambda folder=folder: run_tasks(squares, [2, 3], resume=folder, jobs=1), failure)
        kept = sorted(os.listdir(folder))
        assert kept == ["study.json", "task-000000.npz", "task-000001.npz"][: len(kept)]
        done = []
        results = run_tasks(
            lambda task, done=done: done.append(task) or squares(task),
            [2, 3],
            resume=folder,
            jobs=1,
        )
        assert len(done) == 3 - max(1, len(kept))
        assert [int(one["square"][0]) for one in results] == [4, 9]


@pytest.fixture
def room(tmp_path, monkeypatch):
    """The folder of temporary files."""
    folder = tmp_path / "room"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@BOTH
def test_rows_that_are_put_into_order_leave_nothing_behind(tmp_path, room, monkeypatch, lasting):
    pa, pq = required("pyarrow"), required("pyarrow.parquet")
    monkeypatch.setattr(table_pieces, "_ROWS_AT_LEAST", 40)
    monkeypatch.setattr(scores_by_topic, "_ROWS_AT_ONCE", 40)
    topics = [f"q{place}" for place in range(30)]
    rows = {"run": ["a"] * 30 + ["b"] * 30, "topic": topics + topics[::-1], "score": range(60)}
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table(rows), path)
    expected = confir.summarise_scores(path).mean()
    for failure in each_failure(lasting=lasting):
        with failure:
            summary = confir.summarise_scores(path)
            if try_to(summary.mean, failure):
                np.testing.assert_array_equal(summary.mean(), expected)
        del summary
        gc.collect()
        assert os.listdir(room) == []


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_rows_of_runs_leave_nothing_behind(tmp_path, room, monkeypatch):
    pa = required("pyarrow")
    retrieved, judged = make_rows()
    files = (
        write_folder(qrels_table(judged), tmp_path / "qrels"),
        write_folder(run_table(retrieved), tmp_path / "runs", "run"),
    )
    monkeypatch.setattr(documents_by_topic, "_ROWS_AT_ONCE", 300)
    monkeypatch.setattr(documents_by_topic, "_BATCH", 100)
    monkeypatch.setattr("confir.data.formats.run_tables.MOST_HELD_DOCUMENTS", 0)

    # what Arrow opens itself is out of reach of a disk that fails here
    def opened(name, mode):
        return pa.PythonFile(open(name, mode), mode="w")

    monkeypatch.setattr(pa, "OSFile", opened)
    expected = confir.summarise_runs(*files, ["AP"]).mean()
    for failure in (*map(Failure, range(1, 40, 3)), Failure(10**9)):
        with failure:
            if try_to(lambda: confir.summarise_runs(*files, ["AP"]).mean(), failure):
                continue
        gc.collect()
        assert os.listdir(room) == []
    np.testing.assert_array_equal(confir.summarise_runs(*files, ["AP"]).mean(), expected)


@BOTH
def test_lists_are_stored_whole_or_held(tmp_path, room, lasting):
    lines = [f"{t} Q0 d{d} 1 {-d} tag\n" for t in (1, 2) for d in range(40)]
    (tmp_path / "a.run").write_text("".join(lines))
    qrels = confir.as_qrels({"1": {"d3": 1}, "2": {"d5": 1}})
    source = RunSource(str(tmp_path / "a.run"))
    stored_lists.store_lists(qrels, [source])  # compiled code is put into numba's cache
    for failure in each_failure(lasting=lasting):
        with failure:
            stored = stored_lists.store_lists(qrels, [source])
            assert (stored is None) == failure.happened
        if stored is not None:
            assert stored.of_topics(0, 2).depth.tolist() == [[40, 40]]
        del stored
        gc.collect()
        assert os.listdir(room) == []
