"""Parallel work on an executor, of threads or of a cluster; results do not depend on the number of workers.

The problem determines the tasks, each with its own seed, and `run_on` runs them: `run_blocks` and
`run_tasks` on the cluster of `confir.scheduler`, if one is in use. Results of long work can be stored in a folder, from
which interrupted work is resumed.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar, copy_context
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from confir.arguments import as_function, as_integer, as_path
from confir.cores import Cores, single_products
from confir.errors import CollectedWarning, InvalidValueError, collect_warnings, warn_caller

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from confir.scheduler import Scheduler
    from confir.stored_results import Arrays

Task = TypeVar("Task")
Result = TypeVar("Result")
Progress = Callable[[int], None]


def name_stage(progress: Progress | None, stage: str) -> None:
    """Name what is being done, to a progress that shows it by its method ``stage``."""
    show = getattr(progress, "stage", None)
    if show is not None:
        show(stage)


# The scheduler of the cluster that is in use; None if work stays in this process.
CURRENT_SCHEDULER: ContextVar[Scheduler | None] = ContextVar("scheduler", default=None)

# Just below 32 MiB, the maximum of glibc's dynamic mmap threshold.
_LARGE_BLOCK = 31 << 20


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def reuse_memory() -> None:
    """Let short-lived arrays reuse memory that the process already has.

    glibc returns freed memory to the system until a large block has been allocated and freed;
    getting it back page by page costs more than the arithmetic.
    """
    np.empty(_LARGE_BLOCK, np.uint8)


def return_memory() -> None:
    """Return what short-lived arrays have left behind to the system, where glibc and Arrow can."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
    arrow_memory = getattr(sys.modules.get("pyarrow"), "default_memory_pool", None)
    if arrow_memory is not None:
        arrow_memory().release_unused()


def run_in_threads(function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
    """Return the function's result for every task, in order.

    For short functions that release the interpreter lock, as numpy does; they see the context
    variables of the caller. Within such a function, only idle cores are used. Matrix products are
    limited to one thread each meanwhile, to avoid oversubscription.
    """
    return list(in_order(_threaded(function, tasks)))


def run_ahead(
    function: Callable[[Task], Result], tasks: Iterable[Task], threads: int | None = None
) -> Iterator[Result]:
    """Yield what `run_in_threads` returns, for an iterator of large tasks: few of them are held.

    By default there are as many threads as cores; one result per thread is held, and one more. The
    threads count as idle: what the caller does with a result takes all cores.
    """
    from concurrent.futures import ThreadPoolExecutor

    reuse_memory()
    threads = threads or usable_cores()
    with single_products(), ThreadPoolExecutor(threads) as pool:
        submit = partial(_submit_to_thread, pool, function)
        yield from in_order(run_on(submit, iter(tasks), threads + 1))


def run_blocks(
    function: Callable[[Task], Result], tasks: Sequence[Task], progress: Progress | None = None
) -> list[Result]:
    """Return what `run_in_threads` does, from the scheduler that is in use, if any.

    Progress is called with 1 after each task.
    For functions without side effects, as their work may be done in other processes.
    """
    return list(in_order(iterate_blocks(function, tasks, progress)))


def iterate_blocks(
    function: Callable[[Task], Result],
    tasks: Iterable[Any],
    progress: Progress | None = None,
    prepare: Callable[[Any], Task] | None = None,
    jobs: int | None = None,
) -> Iterator[tuple[int, Result]]:
    """Yield the number and the result of every task, as they are finished, as in `run_blocks`.

    ``prepare`` makes of a task what the function takes: always here, so that no more is sent. Tasks
    of an iterator are large, and few of them are held: one after the other here, or some per worker.
    ``jobs`` is the number of threads, by default that of idle cores.
    """
    scheduler = CURRENT_SCHEDULER.get()
    found: Iterator[tuple[int, Result]]
    if scheduler is None:
        whole = function if prepare is None else lambda task: function(prepare(task))
        found = _threaded(whole, tasks, jobs)
    elif jobs is None:
        sent = tasks if prepare is None else run_in_threads(prepare, list(tasks))
        found = scheduler.run(function, sent)
    else:
        raise InvalidValueError(
            "jobs is for threads on this machine; expected either it or a scheduler"
        )
    for numbered in found:
        yield numbered
        if progress is not None:
            progress(1)


def in_order(numbered: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """Yield results in the order of their tasks, each once those before it are there."""
    waiting: dict[int, Result] = {}
    place = 0
    for number, result in numbered:
        waiting[number] = result
        while place in waiting:
            yield waiting.pop(place)
            place += 1


def run_on(
    submit: Callable[[Task], Future[tuple[Result, list[CollectedWarning]]]],
    tasks: Iterable[Task],
    most: int,
) -> Iterator[tuple[int, Result]]:
    """Yield the number and the result of every task, as they are finished.

    ``submit`` hands a task to an executor (`work` is what it runs), which has at most so many at a
    time. Of an iterator, whose tasks are large, at most so many are held too, however long the first
    of them takes. Warnings of tasks are repeated here, where the caller of confir is known, in the order
    of the tasks. Once a task fails, no further one is begun, and the first error in that order is raised.
    """
    from concurrent.futures import FIRST_COMPLETED, wait

    numbered, held = enumerate(tasks), not isinstance(tasks, Sequence)
    running: dict[Future[tuple[Result, list[CollectedWarning]]], int] = {}
    ended: dict[int, BaseException | list[CollectedWarning]] = {}  # after a task that has not
    place, failed = 0, False
    try:
        while True:
            room = 0 if failed else most - len(running) - (len(ended) if held else 0)
            running.update((submit(task), number) for number, task in islice(numbered, room))
            if not running:
                return
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                number, error = running.pop(done), done.exception()
                if error is None:
                    result, ended[number] = done.result()
                    yield number, result
                else:
                    ended[number], failed = error, True
                    for future in [one for one, later in running.items() if later > number]:
                        if future.cancel():
                            del running[future]
            while place in ended:
                outcome = ended.pop(place)
                place += 1
                if isinstance(outcome, BaseException):
                    raise outcome
                for message, category in outcome:
                    warn_caller(message, category)
    finally:
        for future in running:
            future.cancel()


def work(function: Callable[[Task], Result], task: Task) -> tuple[Result, list[CollectedWarning]]:
    """Return the result of a task, in a thread or on a worker, and the warnings of confir."""
    reuse_memory()
    with single_products(), collect_warnings() as warned:
        return function(task), warned


def _submit_to_thread(
    pool: ThreadPoolExecutor, function: Callable[[Task], Result], task: Task
) -> Future[tuple[Result, list[CollectedWarning]]]:
    """Hand a task to a thread, with the context variables of the caller."""
    return pool.submit(copy_context().run, work, function, task)


def _threaded(
    function: Callable[[Task], Result], tasks: Iterable[Task], jobs: int | None = None
) -> Iterator[tuple[int, Result]]:
    """Yield what `run_on` does from threads on idle cores; tasks of an iterator one after the other."""
    reuse_memory()
    with single_products():
        count = len(tasks) if isinstance(tasks, Sequence) else 1
        threads = 1 if count < 2 else min(jobs or _cores.free(usable_cores()), count)
        if threads < 2:
            yield from enumerate(map(function, tasks))
            return
        from concurrent.futures import ThreadPoolExecutor

        with _cores.taking(0), ThreadPoolExecutor(threads) as pool:
            submit = partial(_submit_to_thread, pool, _cores.taking(1)(function))
            yield from run_on(submit, tasks, 2 * threads)


_cores = Cores()


def task_seeds(rng: np.random.Generator, tasks: int) -> list[np.random.SeedSequence]:
    """Return a seed for each task, from one generator."""
    return np.random.SeedSequence(rng.integers(2**63)).spawn(tasks)


def run_tasks(
    function: Callable[[Task], Arrays],
    tasks: Sequence[Task],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
    study: Mapping[str, Any] | None = None,
) -> list[Arrays]:
    """Return the function's arrays for every task, in order; for long work.

    Parameters
    ----------
    function
        From a task to named arrays.
    tasks
        The tasks, independent of the number of workers.
    jobs
        Number of threads, where no scheduler is in use; by default as many as there are cores.
    progress
        Called with 1 after each task, and for each that is stored.
    resume
        A folder that stores the results: tasks with stored results are not run again.
    study
        Description of the work, as JSON values; a folder with other work is rejected.
    """
    from confir.stored_results import StoredResults

    if jobs is not None:
        as_integer("jobs", jobs)
    as_function("progress", progress)
    folder = None if resume is None else Path(as_path("resume", resume))
    store = (
        None if folder is None else StoredResults(folder, {**(study or {}), "tasks": len(tasks)})
    )
    results = {} if store is None else store.load_all(len(tasks))
    if progress is not None:
        for _ in results:
            progress(1)
    missing = [number for number in range(len(tasks)) if number not in results]
    wanted = [tasks[number] for number in missing]
    for place, result in iterate_blocks(function, wanted, jobs=jobs):
        results[missing[place]] = result
        if store is not None:
            store.save(missing[place], result)
        if progress is not None:
            progress(1)
    return [results[number] for number in range(len(tasks))]
