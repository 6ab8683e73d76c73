"""Lists stored on disk equal those in memory, whichever topics are read."""

import errno
import gc
import os
import subprocess
import sys
import tempfile
from contextvars import ContextVar

import numpy as np
import pytest
from hypothesis import given

from confir.data import experiment as experiments_of_files
from confir.data.experiment import Experiment
from confir.data.formats.format import RunSource
from confir.data.formats.runs_and_qrels import read_qrels
from confir.data.long_tables import spill_folder
from confir.data.ranked_lists import stored_lists
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.ranked_lists.list_reader import read_lists
from confir.data.ranked_lists.stored_lists import StoredLists, store_lists
from confir.data.ranked_lists.tied_lists import count_ties
from confir.measures import evaluation, worker_evaluation
from confir.measures.evaluation import evaluate, evaluate_lists
from confir.studies.data_quality.data_quality import inspect_lists
from run_files import experiments, fuzz, lists, make_qrels, read_in, ways_to_read, write

QRELS = make_qrels({t: {"doc3": 1, "doc17": 0, "doc39": -1, "no": 2, "a b": 1} for t in "123"})


def documents_of(lists):
    """What lists say about each document, docids as text."""
    bounds = lists.offsets.tolist()
    names = [(run, topic) for run in lists.runs for topic in lists.qrels.topics]
    rows = list(
        zip(
            (lists.docids[d] for d in lists.documents.tolist()),
            lists.scores.tolist(),
            (None if j < 0 else lists.qrels.documents[j] for j in lists.judgements.tolist()),
            strict=True,
        )
    )
    return {name: rows[bounds[n] : bounds[n + 1]] for n, name in enumerate(names)}


def assert_same_documents(found, expected):
    assert found.runs == expected.runs
    assert found.qrels.topics == expected.qrels.topics
    assert documents_of(found) == documents_of(expected)
    assert [found.docids[d] for d in found.judged.tolist()] == list(found.qrels.documents)


def assert_same_lists(stored, held):
    """All methods of lists by topic give the same."""
    assert (stored.runs, stored.unknown, stored.mentioned) == (
        *(held.runs, held.unknown, held.mentioned),
    )
    np.testing.assert_array_equal(stored.depth, held.depth)
    for one, other in zip(stored.rankings(), held.rankings(), strict=True):
        for name in ("runs", "present", "depth", "offsets", "documents", "gain", "before"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    topics = len(held.qrels.topics)
    some = held.depth // 2
    for start, stop in {(0, topics), (0, 1), (topics - 1, topics), (topics // 2, topics)}:
        whole = held.of_topics(start, stop)
        assert_same_documents(stored.of_topics(start, stop), whole)
        tops = some[:, start:stop]
        assert_same_documents(stored.of_topics(start, stop, tops), whole.tops(tops))
        np.testing.assert_array_equal(
            stored.scores_of_topics(start, stop), held.scores_of_topics(start, stop)
        )


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("qrels", "runs"),
    [
        ("trec-robust-2003/qrels.txt", ["input.pircRBa1.gz", "input.uwmtCR0.gz"]),
        ("trec-covid-r5/qrels.txt", ["sab20.5.dfo.xz", "BioInfo-run3.xz"]),
    ],
)
@pytest.mark.parametrize("tie_precision", ["double", "single"])
def test_lists_of_real_runs_are_stored_as_they_are_held(real_data, qrels, runs, tie_precision):
    judged = read_qrels(real_data / qrels)
    folder = (real_data / qrels).parent / "runs"
    sources = [RunSource(str(folder / run)) for run in runs]
    stored = store_lists(judged, sources, tie_precision=tie_precision)
    held = read_lists(judged, sources, tie_precision=tie_precision)
    assert_same_lists(stored, held)
    for counted, expected in zip(
        count_ties(stored, tie_precision), count_ties(held, tie_precision), strict=True
    ):
        np.testing.assert_array_equal(counted, expected)


@pytest.mark.filterwarnings("ignore::confir.errors.IdenticalIdWarning")
@fuzz
@given(experiment=experiments(), how=ways_to_read)
def test_lists_of_every_valid_file_are_stored_as_they_are_held(tmp_path, experiment, how):
    qrels, content = experiment
    sources = [write(tmp_path, content), write(tmp_path, lists(), "other.run")]
    with read_in(**how):
        assert_same_lists(store_lists(qrels, sources), read_lists(qrels, sources))


@pytest.mark.parametrize("block_size", [300, 1 << 20])
def test_topics_may_stand_in_any_order_and_be_missing_or_unknown(tmp_path, block_size):
    one, other = lists("312", length=40), lists("92", length=30)
    sources = [write(tmp_path, one, "one.run"), write(tmp_path, other, "other.run")]
    with read_in(compiled=False, streamed=True, block_size=block_size):
        stored = store_lists(QRELS, sources)
    held = read_lists(QRELS, sources)
    assert stored.unknown == ((), ("9",))
    assert stored.depth.tolist() == [[40, 40, 40], [0, 30, 0]]
    assert_same_lists(stored, held)


def test_ties_are_counted_for_each_run_as_pairs_of_neighbours_say(tmp_path):
    scores = {"a": [3, 3, 2, 1, 1, 1], "b": [5, 4, 3, 2, 1, 1], "c": [6, 5, 4, 3, 2, 1]}
    sources = [
        write(
            tmp_path,
            [f"{t} Q0 {t}{d} 1 {s} {run}" for t in "12" for d, s in enumerate(values)],
            f"{run}.run",
        )
        for run, values in scores.items()
    ]
    for found in (store_lists(QRELS, sources), read_lists(QRELS, sources)):
        tied, largest = count_ties(found)
        assert tied.tolist() == [10, 4, 0]
        assert largest.tolist() == [3, 2, 0]


def test_documents_tied_in_single_precision_are_counted_as_such(tmp_path):
    scores = {"a": 1 + 1e-12, "b": 1.0, "c": 1 + 1e-12, "d": 0.5}
    source = write(tmp_path, [f"1 Q0 {d} 1 {s!r} tag" for d, s in scores.items()])
    for read in (store_lists, read_lists):
        found = read(QRELS, [source], tie_precision="single")
        assert inspect_lists(found, tie_precision="single").tied.tolist() == [0.75]
        assert inspect_lists(read(QRELS, [source])).tied.tolist() == [0.5]


def test_files_in_other_formats_are_stored_too(tmp_path):
    odd = write(tmp_path, ['{"1": {"doc3": 1.0, "new": 2.0}, "9": {"d": 1.0}}'], "run.json")
    sources = [write(tmp_path, lists(), "good.run"), odd]
    assert_same_lists(store_lists(QRELS, sources), read_lists(QRELS, sources))


@pytest.fixture
def few_are_held(monkeypatch):
    """Lists of any length are stored on disk."""
    monkeypatch.setattr(experiments_of_files, "_HELD_SIZE", 0)


@pytest.mark.usefixtures("few_are_held")
def test_an_experiment_stores_long_lists_once(tmp_path):
    source = write(tmp_path, lists(length=50))
    shown = []
    experiment = Experiment(QRELS, [source.path], ["AP", "nDCG@10"])
    scores = evaluate_lists(experiment, shown.append)
    stored = experiment.lists_by_topic()
    assert isinstance(stored, StoredLists)
    assert shown == [1]
    assert isinstance(experiment.kept["lists"], StoredLists)
    expected = evaluate(QRELS, [source.path], ["AP", "nDCG@10"])
    np.testing.assert_array_equal(scores.values, expected.values)
    assert isinstance(experiment.lists(), HeldLists)
    assert isinstance(experiment.lists_by_topic(), HeldLists)  # what is held is used


@pytest.mark.usefixtures("few_are_held")
def test_workers_read_no_file_whose_lists_are_stored(tmp_path, monkeypatch):
    experiment = Experiment(QRELS, [write(tmp_path, lists(length=50)).path], ["AP"])
    experiment.lists_by_topic()
    elsewhere: ContextVar[object] = ContextVar("scheduler")
    elsewhere.set(object())
    monkeypatch.setattr(evaluation, "CURRENT_SCHEDULER", elsewhere)
    monkeypatch.setattr(worker_evaluation, "evaluate_on_workers", None)
    assert len(evaluate(experiment).topics) == 3


@pytest.mark.usefixtures("few_are_held")
def test_lists_are_held_where_the_disk_has_no_room(tmp_path, monkeypatch):
    sources = [write(tmp_path, lists(length=50), f"{n}.run").path for n in range(3)]

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(stored_lists._StoredColumn, "append", fail)
    shown = []
    found = Experiment(QRELS, sources).lists_by_topic(shown.append)
    assert isinstance(found, HeldLists)
    assert shown == [1, 1, 1]


@pytest.mark.usefixtures("few_are_held")
def test_progress_counts_each_run_once(tmp_path, monkeypatch):
    paths = [write(tmp_path, lists(length=50), f"{n}.run").path for n in range(4)]
    add, calls = spill_folder.DistinctKeys.add, []

    def fail_late(keys, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        add(keys, *arguments)

    monkeypatch.setattr(spill_folder.DistinctKeys, "add", fail_late)
    shown = []
    found = Experiment(QRELS, paths).lists_by_topic(shown.append)
    assert isinstance(found, HeldLists)
    assert shown == [1, 1, 1, 1]


# Lets no file grow beyond a number of bytes, as a full disk does.
ON_A_FULL_DISK = """
import resource, sys
from confir.data import experiment
from confir.data.ranked_lists.stored_lists import StoredLists
from confir.measures.evaluation import evaluate_lists

experiment._HELD_SIZE = 0
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
given = experiment.Experiment(*sys.argv[1:3], ["AP"])
mean = evaluate_lists(given).mean().sum()
print(mean, isinstance(given.kept["lists"], StoredLists))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit of the size of files")
@pytest.mark.parametrize(("room", "stored"), [(100, False), (9_000, False), (1 << 30, True)])
def test_a_full_disk_is_no_obstacle(tmp_path, room, stored):
    (tmp_path / "qrels").write_text("".join(f"{t} 0 doc3 1\n" for t in "123"))
    source = write(tmp_path, lists(length=800))
    command = [
        sys.executable,
        "-c",
        ON_A_FULL_DISK,
        str(tmp_path / "qrels"),
        source.path,
        str(room),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"0.25 {stored}\n"
    assert done.stderr == ""


@pytest.mark.usefixtures("few_are_held")
def test_measures_of_other_packages_read_the_files(tmp_path):
    source = write(tmp_path, lists(length=50))
    named = ["IPrec@0.5", "AP"]
    experiment = Experiment(QRELS, [source.path], named)
    expected = evaluate(QRELS, [source.path], named)
    np.testing.assert_array_equal(evaluate_lists(experiment).values, expected.values)


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    folder = tmp_path / "put aside"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    stored = store_lists(QRELS, [write(tmp_path, lists(length=50))])
    stored.of_topics(0, 3)
    del stored
    gc.collect()
    assert os.listdir(folder) == []


# Reads 2 runs of so many topics, looks at all of their lists, and says what that took. Threads hold
# some topics each: as many of them on any machine.
LOOKING = """
import os, re, sys
from pathlib import Path
from confir.data import experiment
from confir.measures.evaluation import evaluate_lists
from confir.studies.unjudged.unjudged_bounds import bound_unjudged

os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
experiment._HELD_SIZE = int(sys.argv[2])
given = experiment.Experiment(sys.argv[1] + "/qrels.txt", sys.argv[1] + "/runs", ["AP"])
scores = evaluate_lists(given)
bounds = bound_unjudged(given)
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(scores.mean().sum(), bounds.highest.sum(), int(peak) / 1024)
"""


def write_sparse_runs(folder, topics, depth=500):
    (folder / "runs").mkdir(parents=True)
    rng = np.random.default_rng(topics)
    (folder / "qrels.txt").write_text("".join(f"{t} 0 d{t} 1\n" for t in range(topics)))
    for run in "ab":
        with open(folder / "runs" / f"{run}.txt", "w") as file:
            for topic in range(topics):
                found = rng.integers(0, 10**7, depth - 1)
                listed = dict.fromkeys([*(f"x{d}" for d in found.tolist()), f"d{topic}"])
                file.writelines(f"{topic} 0 {d} 1 {-n} {run}\n" for n, d in enumerate(listed))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_lists_on_disk(tmp_path):
    stored, held = growth_of_memory(tmp_path, 1_200)
    # threads and their modules, which few lists do not need: about 20 MB, on a busy machine 32, however many
    assert stored < 50 < held, (stored, held)


def growth_of_memory(folder, most):
    """Return how many MB more so many topics take than 200: in lists on disk, and in held ones."""
    found = {}
    for topics in (200, most):
        write_sparse_runs(folder / str(topics), topics)
        for held_size in (0, 1 << 40):
            command = [sys.executable, "-c", LOOKING, str(folder / str(topics)), str(held_size)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[topics, held_size] = list(map(float, done.stdout.split()))
    assert found[most, 0][:2] == pytest.approx(found[most, 1 << 40][:2], rel=1e-12)
    return [found[most, size][2] - found[200, size][2] for size in (0, 1 << 40)]
