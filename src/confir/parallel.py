"""Parallel work on threads or a cluster; results do not depend on the number of workers.

The problem determines the tasks, each with its own seed: `run_blocks` and `run_tasks` send them to the
cluster of `confir.scheduler`, if one is in use. Results of long work can be stored in a folder, from
which interrupted work is resumed.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from confir.arguments import as_function, as_integer, as_path
from confir.cores import Cores, single_products
from confir.errors import CollectedWarning, InvalidValueError, collect_warnings, warn_caller
from confir.scheduler import CURRENT_SCHEDULER

if TYPE_CHECKING:
    from concurrent.futures import Future

    from confir.stored_results import Arrays

Task = TypeVar("Task")
Result = TypeVar("Result")
Progress = Callable[[int], None]


def name_stage(progress: Progress | None, stage: str) -> None:
    """Name what is being done, to a progress that shows it by its method ``stage``."""
    show = getattr(progress, "stage", None)
    if show is not None:
        show(stage)


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
    found = dict(_threaded(function, tasks))
    return [found[number] for number in range(len(found))]


def _run_alone(function: Callable[[Task], Result], task: Task) -> Result:
    """Return the result of a task in a process of a cluster."""
    reuse_memory()
    with single_products():
        return function(task)


def _threaded(
    function: Callable[[Task], Result], tasks: Iterable[Task], jobs: int | None = None
) -> Iterator[tuple[int, Result]]:
    """Yield the number and the result of every task, as they are finished.

    Tasks of an iterator are large, and done one after the other. Once anything is raised, no further
    task is begun; of the errors of tasks, the first in their order is raised.
    """
    reuse_memory()
    with single_products():
        count = len(tasks) if isinstance(tasks, Sequence) else 1
        threads = 1 if count < 2 else min(jobs or _cores.free(usable_cores()), count)
        if threads < 2:
            yield from enumerate(map(function, tasks))
            return
        from concurrent.futures import ThreadPoolExecutor, as_completed

        work, place = partial(_with_warnings, function), 0
        warned: dict[int, list[CollectedWarning]] = {}
        with _cores.taking(0), ThreadPoolExecutor(threads) as pool:
            try:
                futures = (pool.submit(copy_context().run, work, task) for task in tasks)
                numbers = {future: number for number, future in enumerate(futures)}
                for done in as_completed(numbers):
                    if done.exception() is not None:
                        pool.shutdown(cancel_futures=True)  # tasks before this one have begun
                        for begun in numbers:
                            begun.result()
                    number = numbers.pop(done)
                    result, warned[number] = done.result()
                    while place in warned:  # here, where the caller of confir is known
                        for message, category in warned.pop(place):
                            warn_caller(message, category)
                        place += 1
                    yield number, result
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


def _with_warnings(
    function: Callable[[Task], Result], task: Task
) -> tuple[Result, list[CollectedWarning]]:
    """Return the result of a task in a thread of its own, and what it warned of."""
    with _cores.taking(1), collect_warnings() as warned:
        return function(task), warned


def run_ahead(
    function: Callable[[Task], Result], tasks: Iterable[Task], threads: int | None = None
) -> Iterator[Result]:
    """Yield what `run_in_threads` returns, for tasks that are large: few of them are held.

    By default there are as many threads as cores; one result per thread is held, and one more.
    """
    from concurrent.futures import ThreadPoolExecutor

    reuse_memory()
    threads = threads or usable_cores()
    waiting: deque[Future[Result]] = deque()
    with single_products(), ThreadPoolExecutor(threads) as pool:
        for task in tasks:
            waiting.append(pool.submit(copy_context().run, function, task))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def run_blocks(
    function: Callable[[Task], Result], tasks: Sequence[Task], progress: Progress | None = None
) -> list[Result]:
    """Return what `run_in_threads` does, from the scheduler that is in use, if any.

    Progress is called with 1 after each task.
    For functions without side effects, as their work may be done in other processes.
    """
    if progress is None and CURRENT_SCHEDULER.get() is None:
        return run_in_threads(function, tasks)
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
    if scheduler is not None:
        if jobs is not None:
            raise InvalidValueError(
                "jobs is for threads on this machine; expected either it or a scheduler"
            )
        sent = tasks if prepare is None else run_in_threads(prepare, list(tasks))
        found = scheduler.run(partial(_run_alone, function), sent)
    else:
        whole = function if prepare is None else lambda task: function(prepare(task))
        found = _threaded(whole, tasks, jobs)
    return found if progress is None else _counted(found, progress)


def in_order(numbered: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """Yield results in the order of their tasks, each once those before it are there."""
    waiting: dict[int, Result] = {}
    place = 0
    for number, result in numbered:
        waiting[number] = result
        while place in waiting:
            yield waiting.pop(place)
            place += 1


def _counted(results: Iterable[Result], progress: Progress) -> Iterator[Result]:
    for result in results:
        yield result
        progress(1)


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
