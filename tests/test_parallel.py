"""Parallel work: results independent of the workers, and nothing computed twice."""

import json
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from confir.cores import Cores
from confir.errors import ConfirWarning, InvalidValueError, UnreadableError, warn_caller
from confir.parallel import (
    reuse_memory,
    run_blocks,
    run_in_threads,
    run_on,
    run_tasks,
    task_seeds,
    usable_cores,
)
from confir.stored_results import digest

STUDY = {"seed": "7", "samples": 40}


def squares(number):
    return {"square": np.array([number**2]), "cube": np.array([number**3 / 7])}


class Work:
    """The squares of numbers, and a record of which were asked for."""

    def __init__(self):
        self.done = []
        self._lock = threading.Lock()

    def __call__(self, number):
        with self._lock:
            self.done.append(number)
        return squares(number)


def assert_squares(results, numbers):
    assert [set(result) for result in results] == [{"square", "cube"}] * len(numbers)
    assert [result["square"].item() for result in results] == [number**2 for number in numbers]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("jobs", [None, 1, 2, 4])
def test_results_come_in_the_order_of_the_tasks(jobs):
    assert_squares(run_tasks(squares, range(9), jobs=jobs), range(9))


def test_without_tasks_there_are_no_results():
    assert run_tasks(squares, []) == []


@pytest.mark.parametrize("jobs", [0, -1])
def test_fewer_than_one_job_is_refused(jobs):
    with pytest.raises(InvalidValueError, match=f"jobs is {jobs}; expected 1 or more"):
        run_tasks(squares, [1], jobs=jobs)


@pytest.mark.parametrize("jobs", [1, 3])
def test_progress_is_reported_after_each_task(jobs):
    steps = []
    run_tasks(squares, range(5), jobs=jobs, progress=steps.append)
    assert steps == [1] * 5


def test_errors_of_a_task_reach_the_caller():
    def fail(number):
        raise InvalidValueError(f"task {number}")

    with pytest.raises(InvalidValueError, match="task 3"):
        run_tasks(fail, [3], jobs=2)


def test_kept_results_are_not_computed_again(tmp_path):
    folder = tmp_path / "new" / "folder"
    first, second = Work(), Work()
    run_tasks(first, range(4), resume=folder, study=STUDY)
    steps = []
    results = run_tasks(second, range(4), resume=folder, study=STUDY, progress=steps.append)
    assert sorted(first.done) == [0, 1, 2, 3]
    assert second.done == []
    assert steps == [1] * 4
    assert_squares(results, range(4))
    assert results[3]["cube"].tobytes() == squares(3)["cube"].tobytes()
    assert names(folder) == ["study.json", *(f"task-00000{i}.npz" for i in range(4))]


def test_interrupted_work_goes_on_where_it_stopped(tmp_path):
    def interrupted(number):
        if number == 2:
            raise KeyboardInterrupt
        return squares(number)

    with pytest.raises(KeyboardInterrupt):
        run_tasks(interrupted, range(5), jobs=1, resume=tmp_path, study=STUDY)
    work = Work()
    assert_squares(run_tasks(work, range(5), jobs=1, resume=tmp_path, study=STUDY), range(5))
    assert work.done == [2, 3, 4]


def test_results_that_finish_ahead_of_a_slow_task_are_stored(tmp_path):
    rest_is_stored = threading.Event()

    def slow(task):
        if task == 0:
            assert rest_is_stored.wait(30)
            raise KeyboardInterrupt
        return squares(task)

    def progress(_):
        if len(list(tmp_path.glob("task-*.npz"))) == 3:
            rest_is_stored.set()

    with pytest.raises(KeyboardInterrupt):
        run_tasks(slow, range(4), jobs=2, progress=progress, resume=tmp_path, study=STUDY)
    assert names(tmp_path) == ["study.json", *(f"task-00000{i}.npz" for i in (1, 2, 3))]


@pytest.fixture
def cancelled(monkeypatch):
    """An event that is set once a task that waits for a thread is cancelled."""
    event = threading.Event()
    cancel = Future.cancel

    def tell(future):
        done = cancel(future)
        if done:
            event.set()
        return done

    monkeypatch.setattr(Future, "cancel", tell)
    return event


def test_no_task_is_begun_after_a_result_could_not_be_stored(tmp_path, monkeypatch, cancelled):
    begun = []

    def work(task):
        begun.append(task)
        assert task == 0 or cancelled.wait(30)
        return squares(task)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(UnreadableError, match="No space left"):
        run_tasks(work, range(20), jobs=2, resume=tmp_path, study=STUDY)
    assert {*begun} <= {0, 1, 2}


def test_of_errors_in_threads_the_first_in_order_is_raised(cancelled):
    begun = []

    def fail(task):
        begun.append(task)
        assert task == 1 or cancelled.wait(30)
        raise InvalidValueError(f"task {task}")

    with pytest.raises(InvalidValueError, match="task 0"):
        run_tasks(fail, range(20), jobs=2)
    assert {*begun} <= {0, 1, 2}


def test_outcomes_of_tasks_are_reported_in_the_order_of_the_tasks():
    futures = [Future() for _ in range(4)]

    def finish():
        futures[1].set_result((1, [("second", ConfirWarning)]))
        futures[3].set_exception(InvalidValueError("fourth"))
        futures[2].set_exception(InvalidValueError("third"))
        futures[0].set_result((0, [("first", ConfirWarning)]))

    finisher = threading.Timer(0.05, finish)
    finisher.start()
    with (
        pytest.raises(InvalidValueError, match="third"),
        pytest.warns(ConfirWarning) as said,
    ):
        list(run_on(futures.__getitem__, range(4), 4))
    assert [str(one.message) for one in said] == ["first", "second"]


@pytest.mark.parametrize(("large", "begun_before_the_first_ends"), [(True, 3), (False, 12)])
def test_of_large_tasks_few_are_held_however_long_the_first_takes(
    large, begun_before_the_first_ends
):
    begun, first = [], Future()

    def submit(task):
        begun.append(task)
        if task == 0:
            return first
        future = Future()
        future.set_result((task, []))
        if task == begun_before_the_first_ends - 1:
            threading.Timer(0.05, lambda: first.set_result((0, []))).start()
        return future

    tasks = range(12)
    found = run_on(submit, iter(tasks) if large else tasks, 3)
    before = [next(found)[0] for _ in range(begun_before_the_first_ends - 1)]
    assert len(begun) == begun_before_the_first_ends
    assert sorted([*before, *(number for number, _ in found)]) == list(tasks)


def whole(path):
    return path.read_bytes()


DAMAGES = {
    "empty": lambda content: content[:0],
    "cut short": lambda content: content[: len(content) // 2],
    "its last byte lost": lambda content: content[:-1],
    "a byte changed": lambda content: content.replace(
        squares(1)["cube"].tobytes(), squares(2)["cube"].tobytes()
    ),
    "something else": lambda content: b"square\n" + content,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_result_is_not_trusted(tmp_path, damage):
    run_tasks(squares, range(3), resume=tmp_path, study=STUDY)
    path = tmp_path / "task-000001.npz"
    content = whole(path)
    path.write_bytes(DAMAGES[damage](content))
    assert whole(path) != content
    work = Work()
    results = run_tasks(work, range(3), resume=tmp_path, study=STUDY)
    assert work.done == [1]
    assert_squares(results, range(3))
    with np.load(path) as mended:
        assert mended["cube"].tobytes() == squares(1)["cube"].tobytes()


def test_a_half_written_file_next_to_the_results_is_ignored(tmp_path):
    run_tasks(squares, range(2), resume=tmp_path, study=STUDY)
    (tmp_path / "task-000001.npz").rename(tmp_path / ".confir-0123456789abcdef.part")
    work = Work()
    assert_squares(run_tasks(work, range(2), resume=tmp_path, study=STUDY), range(2))
    assert work.done == [1]


def test_the_result_of_another_study_is_not_trusted(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    run_tasks(squares, range(2), resume=ours, study=STUDY)
    run_tasks(lambda n: squares(10 * n), range(2), resume=theirs, study={**STUDY, "seed": "8"})
    (ours / "task-000001.npz").write_bytes(whole(theirs / "task-000001.npz"))
    work = Work()
    assert_squares(run_tasks(work, range(2), resume=ours, study=STUDY), range(2))
    assert work.done == [1]


def test_the_folder_of_another_study_is_refused_and_left_alone(tmp_path):
    run_tasks(squares, range(2), resume=tmp_path, study=STUDY)
    before = {path.name: whole(path) for path in tmp_path.iterdir()}
    message = "stores the results of another study, with other seed; use another folder"
    with pytest.raises(InvalidValueError, match=message):
        run_tasks(squares, range(2), resume=tmp_path, study={**STUDY, "seed": "8"})
    with pytest.raises(InvalidValueError, match="with other samples, tasks;"):
        run_tasks(squares, range(3), resume=tmp_path, study={**STUDY, "samples": 60})
    assert {path.name: whole(path) for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("content", ["", '{"seed": "7"', "\xff"])
def test_a_damaged_description_is_an_error(tmp_path, content):
    (tmp_path / "study.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(UnreadableError, match=r"study\.json is damaged; use another folder"):
        run_tasks(squares, [1], resume=tmp_path, study=STUDY)


def test_a_description_of_something_else_is_refused(tmp_path):
    (tmp_path / "study.json").write_text("[1, 2]")
    with pytest.raises(InvalidValueError, match="another study, with other samples, seed, tasks"):
        run_tasks(squares, [1], resume=tmp_path, study=STUDY)


def test_a_file_where_the_folder_should_be_is_an_error(tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(UnreadableError, match=r"file: cannot store results there \(File exists\)"):
        run_tasks(squares, [1], resume=path, study=STUDY)
    assert path.read_text() == "mine"


def test_a_result_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(UnreadableError, match=r"cannot store results there \(No space left"):
        run_tasks(squares, [1], resume=tmp_path, study=STUDY)
    assert names(tmp_path) == ["study.json"]


def test_the_description_can_be_read(tmp_path):
    run_tasks(squares, [1], resume=tmp_path, study=STUDY)
    assert json.loads((tmp_path / "study.json").read_text()) == {**STUDY, "tasks": 1}


def test_seeds_of_tasks_come_from_the_generator_alone():
    one, other = (task_seeds(np.random.default_rng(3), 4) for _ in range(2))
    drawn = [
        [np.random.default_rng(seed).integers(2**60) for seed in part] for part in (one, other)
    ]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 4
    more = task_seeds(np.random.default_rng(3), 5)
    assert [np.random.default_rng(seed).integers(2**60) for seed in more[:4]] == drawn[0]


def test_a_digest_distinguishes_content_shape_and_type():
    x = np.arange(6.0)
    different = [x, x + 1, x.reshape(2, 3), x.reshape(3, 2), x.astype(np.float32), x[:5]]
    assert len({digest(array) for array in different}) == len(different)
    assert digest(x, x) != digest(x)
    assert digest(x.reshape(2, 3)) == digest(np.asfortranarray(x.reshape(2, 3)))


def test_short_work_runs_in_threads_in_order(monkeypatch):
    for cores in (1, 2):
        monkeypatch.setattr("confir.parallel.usable_cores", lambda cores=cores: cores)
        assert run_in_threads(lambda n: n + 1, [3, 1, 2]) == [4, 2, 3]


def test_warnings_of_threads_name_the_line_that_called_confir(monkeypatch):
    monkeypatch.setattr("confir.parallel.usable_cores", lambda: 2)
    with pytest.warns(ConfirWarning) as said:
        run_in_threads(lambda task: warn_caller(f"task {task}"), [1, 2, 3])
    assert [str(one.message) for one in said] == ["task 1", "task 2", "task 3"]
    assert {one.filename for one in said} == {__file__}


def test_stored_tasks_warn_in_their_order_however_long_they_take():
    late = threading.Event()

    def work(task):
        late.wait(10) if task == 1 else late.set()
        warn_caller(f"task {task}")
        return squares(task)

    with pytest.warns(ConfirWarning) as warned:
        assert_squares(run_tasks(work, [1, 2, 3], jobs=2), [1, 2, 3])
    assert [str(one.message) for one in warned] == ["task 1", "task 2", "task 3"]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system does not tell")
def test_cores_are_those_that_the_process_may_use():
    assert usable_cores() == len(os.sched_getaffinity(0))


def test_memory_is_prepared_once_and_not_held():
    reuse_memory()
    assert reuse_memory.cache_info().currsize == 1
    assert reuse_memory() is None


def product_threads():
    return [
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    ]


def test_callers_in_several_threads_share_the_limit_of_products():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = product_threads()
    first_is_done = threading.Event()
    seen = []

    def first():
        run_in_threads(lambda _: both_are_in.wait(10), [1])
        first_is_done.set()

    both_are_in = threading.Barrier(2)

    def second():
        def work(_):
            both_are_in.wait(10)
            first_is_done.wait(10)
            seen.append(product_threads())

        run_in_threads(work, [1])

    callers = [threading.Thread(target=target) for target in (first, second)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert seen == [[1] * len(before)]
    assert product_threads() == before


def test_progress_of_threads_is_reported_by_the_caller():
    told = []
    result = run_blocks(
        lambda number: number**2,
        range(6),
        lambda step: told.append((step, threading.current_thread())),
    )
    assert result == [number**2 for number in range(6)]
    assert told == [(1, threading.current_thread())] * 6


def test_what_only_the_kept_study_has_is_named(tmp_path):
    run_tasks(squares, [1], resume=tmp_path, study={**STUDY, "margin": 0.1})
    with pytest.raises(InvalidValueError, match="with other margin; use another folder"):
        run_tasks(squares, [1], resume=tmp_path, study=STUDY)


def test_threads_within_threads_take_idle_cores_only(monkeypatch):
    monkeypatch.setattr("confir.parallel.usable_cores", lambda: 2)
    together = threading.Barrier(2)

    def whole(_):
        together.wait(timeout=30)
        inside = run_in_threads(lambda _: threading.get_ident(), range(8))
        stored = run_tasks(lambda _: {"thread": np.array(threading.get_ident())}, range(8))
        together.wait(timeout=30)  # until then both cores are at work
        return {*inside, *(int(one["thread"]) for one in stored)} == {threading.get_ident()}

    assert run_in_threads(whole, range(2)) == [True, True]


def test_a_core_is_idle_while_its_thread_waits_for_others():
    cores = Cores()

    def free_elsewhere():
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(cores.free, 2).result()

    with cores.taking(1):
        assert (cores.free(2), free_elsewhere()) == (2, 1)
        with cores.taking(0), cores.taking(1), cores.taking(0):
            assert (cores.free(2), free_elsewhere()) == (2, 2)
        assert free_elsewhere() == 1
    assert (cores.free(2), free_elsewhere()) == (2, 2)
