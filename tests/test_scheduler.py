"""Work on a cluster: bit-identical results, lost workers, and errors of one sentence."""

import os
import pickle
import sys
import time
import warnings
from importlib.metadata import version
from types import SimpleNamespace

import numpy as np
import pytest

import confir
import confir.scheduler
from confir.data.simulation import SAMPLE_SYSTEMS, simulate_collection, write_collection
from confir.errors import (
    FormatError,
    InputWarning,
    InvalidValueError,
    MissingDependencyError,
    SchedulerError,
    UnknownNameError,
    UnreadableError,
    warn_caller,
)
from confir.parallel import CURRENT_SCHEDULER, iterate_blocks, run_blocks, run_in_threads, run_tasks
from confir.resampling.replicates import draw_topics
from confir.scheduler import use_scheduler
from requirements import ON_LINUX, required

SYSTEMS = SAMPLE_SYSTEMS[:4]
MEASURES = ["AP", "nDCG@10", "RBP", "infAP"]  # the last by ir_measures


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The folder of a collection's files; one of the runs lacks topics."""
    folder = tmp_path_factory.mktemp("sample")
    write_collection(simulate_collection(topics=30, runs=SYSTEMS, depth=100, rng=1), folder)
    return folder


@pytest.fixture(scope="module")
def scores(files):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return confir.evaluate(files / "qrels.txt", files / "runs", MEASURES)


def assert_same_bits(first, second):
    assert first.shape == second.shape
    assert first.tobytes() == second.tobytes()


def test_evaluation_gives_the_same_bits_and_warnings(cluster, files):
    def evaluated(measures=MEASURES, **options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scores = confir.evaluate(files / "qrels.txt", files / "runs", measures, **options)
        return scores, [(str(one.message), one.category, one.filename) for one in caught]

    steps, cut = [], {"depth": 20, "missing": "drop", "tie_precision": "single"}
    here, said_here = evaluated()
    shorter_here, _ = evaluated(["AP"], **cut)
    with use_scheduler(cluster):
        there, said_there = evaluated(progress=steps.append)
        shorter_there, _ = evaluated(["AP"], **cut)
    assert (there.runs, there.topics, there.measures) == (here.runs, here.topics, here.measures)
    assert_same_bits(there.values, here.values)
    assert_same_bits(shorter_there.values, shorter_here.values)
    assert said_there == said_here != []
    assert steps == [1] * len(here.runs)


def test_workers_leave_out_documents_that_do_not_count(cluster, tmp_path):
    judged = {str(topic): {"x": 1, "y": 1, str(topic): 0} for topic in range(8)}
    confir.write_qrels(judged, tmp_path / "qrels.txt")
    for name, step in (("a", 1.0), ("b", -1.0)):
        run = {t: {t: 9.0, "z": 8.0, "x": 5.0, "y": 5.0 + step} for t in judged}
        confir.write_run(confir.as_run(run, name=name), tmp_path / f"{name}.run")
    excluded = {"3": ["z", "y"]}

    def evaluated(**options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            files = [tmp_path / "a.run", tmp_path / "b.run"]
            scores = confir.evaluate(tmp_path / "qrels.txt", files, ["AP", "R@2"], **options)
        return scores.values, [str(one.message) for one in caught]

    for options in ({}, {"exclude_identical": True}, {"exclude": excluded}):
        here, said_here = evaluated(**options)
        with use_scheduler(cluster):
            there, said_there = evaluated(**options)
        assert_same_bits(here, there)
        assert said_there == said_here
        assert bool(said_here) == (not options.get("exclude_identical"))


def test_workers_read_the_files_themselves(cluster, files, monkeypatch):
    monkeypatch.chdir(files)
    monkeypatch.setattr("confir.measures.evaluation.read_rankings", None)  # not in this process
    with use_scheduler(cluster):
        assert confir.evaluate("qrels.txt", "runs/bm25.txt", ["AP"]).runs == ("bm25",)
    with pytest.raises(TypeError):
        confir.evaluate("qrels.txt", "runs/bm25.txt", ["AP"])


@pytest.mark.parametrize("method", ["t", "percentile", "bootstrap-t"])
def test_topic_bootstraps_give_the_same_bits(cluster, scores, method):
    def interval():
        rng = np.random.default_rng(7)
        found = confir.confidence_interval(scores, method=method, replicates=500, rng=rng)
        return np.stack([found.low, found.high]), rng.integers(2**63)

    here, drawn_here = interval()
    with use_scheduler(cluster):
        there, drawn_there = interval()
    assert_same_bits(here, there)
    assert drawn_here == drawn_there  # the caller's generator goes on alike


def test_comparisons_give_the_same_bits(cluster, scores):
    def compared():
        options = {"test": ["randomisation", "tukey-hsd"], "method": "bca", "replicates": 300}
        return confir.compare_runs(scores, rng=3, **options).to_records()

    here = compared()
    with use_scheduler(cluster):
        assert repr(compared()) == repr(here)


def test_document_bootstraps_read_files_on_workers_and_give_the_same_bits(
    cluster, files, monkeypatch
):
    monkeypatch.chdir(files)

    def resampled(**options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            options |= {"replicates": 600, "rng": 5, "jackknife": True}
            options["depth"] = 20  # the jackknife leaves out each document
            found = confir.resample_documents("qrels.txt", "runs", ["AP", "nDCG@10"], **options)
        said = [(str(one.message), one.category, one.filename) for one in caught]
        known = found.relevant, found.relevant_retrieved, found.depth, found.scores.values
        return found, [part.tolist() for part in known], said

    here, known_here, said_here = resampled()
    # not in this process
    monkeypatch.setattr("confir.data.ranked_lists.list_reader.read_source_lists", None)
    steps = []
    with use_scheduler(cluster):
        there, known_there, said_there = resampled(progress=steps.append)
    assert_same_bits(here.values, there.values)
    assert_same_bits(here.acceleration, there.acceleration)
    assert repr(known_here) == repr(known_there)
    assert (here.runs, here.topics, here.seed) == (there.runs, there.topics, there.seed)
    assert said_there == said_here != []
    assert steps == [1] * len(here.topics)


def test_coverage_studies_give_the_same_bits_and_are_resumed(cluster, scores, tmp_path):
    options = {"methods": ["t", "bca"], "samples": 60, "replicates": 50, "rng": 1}
    here = confir.estimate_coverage(scores, **options)
    steps = []

    def interrupt(number):
        steps.append(number)
        raise KeyboardInterrupt

    with use_scheduler(cluster), pytest.raises(KeyboardInterrupt):
        confir.estimate_coverage(scores, **options, resume=tmp_path, progress=interrupt)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert len(kept) == 2
    assert not [name for name in kept if name.endswith(".part")]
    written = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    with use_scheduler(cluster):
        there = confir.estimate_coverage(scores, **options, resume=tmp_path)
    assert_same_bits(here.coverage, there.coverage)
    assert len(list(tmp_path.glob("task-*.npz"))) == 3
    assert written.items() <= {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}.items()


VERBS = {
    "evaluate": {},
    "confidence_interval": {"method": "t"},
    "bootstrap_documents": {"replicates": 20},
    "resample_documents": {"replicates": 20},
    "validate_split_half": {"rng": 1, "splits": 2, "replicates": 20},
    "compare_runs": {"rng": 1},
    "compare_measures": {"rng": 1},
    "find_best": {"rng": 1},
    "rank_runs": {"rng": 1},
    "estimate_coverage": {"methods": "t", "samples": 20, "rng": 1},
    "estimate_type_one_error": {"methods": "t", "samples": 20, "rng": 1},
}


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_verbs_work_on_the_scheduler_of_their_experiment(files, monkeypatch, name):
    sent = []

    def run(self, function, tasks):
        sent.append(self.address)
        return enumerate(map(function, tasks))

    monkeypatch.setattr(confir.scheduler.Scheduler, "run", run)
    runs = [files / "runs" / "bm25.txt", files / "runs" / "dense.txt"]
    experiment = confir.Experiment(files / "qrels.txt", runs, ["AP"], scheduler="tcp://host:1")
    confir.evaluate(experiment)
    assert sent == ["tcp://host:1"]
    getattr(confir, name)(experiment, **VERBS[name])
    assert set(sent) == {"tcp://host:1"}
    assert (len(sent) > 1) == (name != "evaluate")
    assert CURRENT_SCHEDULER.get() is None
    assert repr(experiment).endswith("measures=['AP'], scheduler='tcp://host:1')")


def test_weights_are_drawn_again_rather_than_sent():
    from confir.resampling.replicates import DrawnWeights

    rng = np.random.default_rng(1)
    cloudpickle = required("cloudpickle")
    drawn = DrawnWeights(lambda own: draw_topics(1000, 200, own).shares(), rng)
    content = cloudpickle.dumps(drawn)
    assert len(content) < 10_000
    again = pickle.loads(cloudpickle.dumps(pickle.loads(content)))  # noqa: S301 - our own
    assert_same_bits(again.weights, drawn.weights)


def test_threads_see_the_scheduler_that_is_in_use(cluster):
    with use_scheduler(cluster):
        seen = run_in_threads(lambda _: CURRENT_SCHEDULER.get(), range(3))
        assert [one.address for one in seen] == [cluster] * 3
        with use_scheduler(cluster):
            assert CURRENT_SCHEDULER.get() is seen[0]


def test_a_task_whose_worker_is_killed_is_run_again(cluster, tmp_path):
    def square(number):
        marker = tmp_path / "killed"
        if number == 3 and not marker.exists():
            marker.touch()
            os._exit(1)
        return number**2

    with use_scheduler(cluster):
        assert run_blocks(square, range(8)) == [number**2 for number in range(8)]
    assert (tmp_path / "killed").exists()


def test_a_task_that_kills_every_worker_is_an_error(cluster):
    message = (
        f"{cluster}: 2 workers ended during the same task, perhaps for lack of memory; expected"
    )
    with use_scheduler(cluster), pytest.raises(SchedulerError, match=message):
        run_blocks(lambda _: os._exit(1), [1])


def test_warnings_of_workers_are_said_here(cluster):
    with use_scheduler(cluster), pytest.warns(InputWarning, match="task 2 warns") as caught:
        run_blocks(lambda number: warn_caller(f"task {number} warns"), [2])
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "error",
    [
        FormatError("no score", path="x.run", line=3),
        UnknownNameError("measure", "nDGC", ["nDCG"]),
        MissingDependencyError("zstandard", "x.zst", "zst"),
        UnreadableError("x: no such file"),
    ],
)
def test_errors_of_tasks_arrive_as_they_are(cluster, error):
    def fail(_):
        raise error

    with use_scheduler(cluster), pytest.raises(type(error)) as caught:
        run_blocks(fail, [1])
    assert str(caught.value) == str(error)
    assert vars(caught.value) == vars(error)


# Sent at once, or as workers get free.
@pytest.mark.parametrize("sent", [list, iter])
def test_the_error_raised_is_that_of_the_first_task(cluster, tmp_path, sent):
    later_one_failed = tmp_path / "failed"

    def fail(number):
        # Not for ever: a busy cluster may give all tasks to one worker, one after the other.
        for _ in range(500):
            if number > 0 or later_one_failed.exists():
                break
            time.sleep(0.01)
        later_one_failed.touch()
        raise FormatError(f"task {number}")

    with use_scheduler(cluster), pytest.raises(FormatError, match="task 0"):
        list(iterate_blocks(fail, sent(range(4))))


@ON_LINUX
def test_a_file_that_a_worker_does_not_see_is_named(cluster, files, monkeypatch):
    monkeypatch.chdir(files)
    path = "/proc/self/cwd/runs/bm25.txt"  # another folder in each process
    with use_scheduler(cluster), pytest.raises(SchedulerError) as caught:
        confir.evaluate(files / "qrels.txt", path, ["AP"])
    size = os.path.getsize(path)
    assert str(caught.value).startswith(f"{path}: the worker on ")
    assert f" sees none there, not one of {size:,} bytes; expected the same" in str(caught.value)


def test_a_file_of_another_size_is_named(tmp_path):
    (tmp_path / "x.run").write_bytes(b"12345")
    confir.scheduler.check_visible(str(tmp_path / "x.run"), 5)
    with pytest.raises(SchedulerError, match="sees one of 5 bytes there, not one of 1,000 bytes"):
        confir.scheduler.check_visible(str(tmp_path / "x.run"), 1000)


def test_a_scheduler_out_of_reach_is_an_error(monkeypatch):
    monkeypatch.setattr(confir.scheduler, "_TO_CONNECT", 0.2)
    message = (
        r"tcp://127\.0\.0\.1:9: no scheduler of Dask answers there \(.*\); expected the address"
    )
    with use_scheduler("tcp://127.0.0.1:9"), pytest.raises(SchedulerError, match=message):
        run_blocks(abs, [1])


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        (
            "Nanny failed to start.",
            '; a script that starts them needs the guard if __name__ == "__main__":',
        ),
        ("Cluster failed to start: [Errno 24] Too many open files", ""),
    ],
)
def test_the_guard_of_scripts_is_named_where_a_process_ended_at_its_start(reason, advice):
    def fail(**_):
        raise RuntimeError(reason)

    starting = confir.scheduler._start_processes(SimpleNamespace(LocalCluster=fail), 2)
    message = f"local:2: the processes cannot be started ({reason.rstrip('.')}){advice}"
    with pytest.raises(SchedulerError) as caught, starting:
        pass
    assert str(caught.value) == message


def test_a_scheduler_without_workers_is_an_error(monkeypatch):
    distributed = required("distributed")
    monkeypatch.setattr(confir.scheduler, "_TO_FIRST_WORKER", 0.2)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as empty,
        use_scheduler(empty.scheduler_address),
        pytest.raises(SchedulerError, match=r"the scheduler has no worker, after 0\.2 seconds"),
    ):
        run_blocks(abs, [1])


def test_a_scheduler_that_is_lost_is_an_error():
    distributed = required("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(processes=False, protocol="tcp", **options) as lost,
        use_scheduler(lost.scheduler_address),
        pytest.raises(SchedulerError, match="the connection to the scheduler was lost before"),
    ):
        run_blocks(lambda _: time.sleep(0.05), range(50), lambda _: lost.close())


def test_other_versions_are_an_error(cluster, monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda _: "9.8")
    message = f"{cluster}: the scheduler has .*, and this process has .* 9.8; expected"
    with use_scheduler(cluster), pytest.raises(SchedulerError, match=message):
        run_blocks(abs, [1])


def test_the_worker_with_another_version_is_named():
    own = {
        "packages": {
            "python": ".".join(map(str, sys.version_info)),
            "numpy": np.__version__,
            "confir": version("confir"),
        }
    }
    found = {"scheduler": own, "workers": {"tcp://b:1": own}}
    confir.scheduler._check_versions("tcp://a:1", found)
    for name, other, message in (
        ("python", "3.10.2.final.0", "tcp://a:1: the worker tcp://b:1 has python 3.10.2"),
        ("numpy", None, "tcp://a:1: the worker tcp://b:1 lacks numpy, and this process has numpy"),
    ):
        workers = {"tcp://b:1": {"packages": {**own["packages"], name: other}}}
        with pytest.raises(SchedulerError, match=message):
            confir.scheduler._check_versions("tcp://a:1", {**found, "workers": workers})


@pytest.mark.parametrize(
    "address", ["", "local", "local:0", "local:x", "host:8786", "tcp://host", 4]
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InvalidValueError, match=r"scheduler is .*; expected"):
        confir.Experiment({}, {}, scheduler=address)
    with pytest.raises(InvalidValueError, match=r"scheduler is .*; expected"):
        use_scheduler(address)


def test_threads_and_a_scheduler_are_not_asked_for_together(cluster):
    with use_scheduler(cluster), pytest.raises(InvalidValueError, match="jobs is for threads"):
        run_tasks(abs, [1], jobs=2)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(confir.scheduler, "find_spec", lambda _: None)
    message = r"the scheduler local:2 needs the package dask: install it with .*confir\[cluster\]"
    with pytest.raises(MissingDependencyError, match=message):
        use_scheduler("local:2")
