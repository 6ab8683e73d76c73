"""Parallel work on threads or a cluster; results do not depend on the number of workers.

The problem determines the tasks, each with its own seed: `run_blocks` and `run_tasks` send them to the
cluster of `confir.scheduler`, if one is in use. Results of long work can be stored in a folder, from
which interrupted work is resumed.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
import tempfile
import threading
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, partial
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from confir.arguments import as_function, as_integer, as_path
from confir.cores import Cores
from confir.errors import (
    CollectedWarning,
    InvalidValueError,
    UnreadableError,
    collect_warnings,
    warn_caller,
)
from confir.scheduler import scheduler_in_use

Task = TypeVar("Task")
Result = TypeVar("Result")
Arrays = dict[str, np.ndarray[Any, Any]]
Progress = Callable[[int], None]

# Just below 32 MiB, the maximum of glibc's dynamic mmap threshold.
_LARGE_BLOCK = 31 << 20

# In a folder of results: the file that describes the study, and its key inside each result.
_LISTING = "study.json"
_STUDY = "study"
_UNFINISHED = ".part"


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
    """Return what short-lived arrays of threads have left behind to the system, where glibc can."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def run_in_threads(
    function: Callable[[Task], Result], tasks: Sequence[Task], progress: Progress | None = None
) -> list[Result]:
    """Return the function's result for every task, in order; progress is called after each.

    For short functions that release the interpreter lock, as numpy does; they see the context
    variables of the caller. Within such a function, only idle cores are used. Matrix products are
    limited to one thread each meanwhile, to avoid oversubscription.
    """
    return list(_counted(_threaded(function, tasks), progress))


def _threaded(function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    reuse_memory()
    with single_products:
        threads = min(_cores.free(usable_cores()), len(tasks) if isinstance(tasks, Sequence) else 1)
        if threads < 2:
            yield from map(function, tasks)
            return
        working = partial(_with_warnings, function)
        contexts = [copy_context() for _ in tasks]  # two threads cannot share one
        with _cores.lent(), ThreadPoolExecutor(threads) as pool:
            done = pool.map(lambda own, task: own.run(working, task), contexts, tasks)
            for result, warned in done:
                for message, category in warned:  # here, where the caller of confir is known
                    warn_caller(message, category)
                yield result


def _at_work(function: Callable[[Task], Result], task: Task) -> Result:
    with _cores.at_work():
        return function(task)


def _with_warnings(
    function: Callable[[Task], Result], task: Task
) -> tuple[Result, list[CollectedWarning]]:
    with collect_warnings() as warned:
        return _at_work(function, task), warned


def run_ahead(function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
    """Yield what `run_in_threads` returns, for tasks that are large: few of them are held."""
    reuse_memory()
    waiting: deque[Future[Result]] = deque()
    with single_products, ThreadPoolExecutor(usable_cores()) as pool:
        for task in tasks:
            waiting.append(pool.submit(copy_context().run, function, task))
            if len(waiting) > usable_cores():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def run_blocks(
    function: Callable[[Task], Result], tasks: Sequence[Task], progress: Progress | None = None
) -> list[Result]:
    """Return what `run_in_threads` does, from the scheduler that is in use, if any.

    For functions without side effects, as their work may be done in other processes.
    """
    return list(in_order(iterate_blocks(function, tasks, progress)))


def iterate_blocks(
    function: Callable[[Task], Result],
    tasks: Iterable[Any],
    progress: Progress | None = None,
    prepare: Callable[[Any], Task] | None = None,
) -> Iterator[tuple[int, Result]]:
    """Yield the number and the result of every task, as they are finished, as in `run_blocks`.

    ``prepare`` makes of a task what the function takes: always here, so that no more is sent. Tasks
    of an iterator are large, and few of them are held: one after the other here, or some per worker.
    """
    scheduler = scheduler_in_use()
    if scheduler is not None:
        sent = tasks if prepare is None else run_in_threads(prepare, list(tasks))
        return _counted(scheduler.run(partial(_run_alone, function), sent), progress)
    whole = function if prepare is None else lambda task: function(prepare(task))
    return _counted(enumerate(_threaded(whole, tasks)), progress)


def _run_alone(function: Callable[[Task], Result], task: Task) -> Result:
    """Return the result of a task in a process of a cluster."""
    reuse_memory()
    with single_products:
        return function(task)


def in_order(numbered: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """Yield results in the order of their tasks, each once those before it are there."""
    waiting: dict[int, Result] = {}
    place = 0
    for number, result in numbered:
        waiting[number] = result
        while place in waiting:
            yield waiting.pop(place)
            place += 1


def _counted(results: Iterable[Result], progress: Progress | None) -> Iterator[Result]:
    for result in results:
        yield result
        if progress is not None:
            progress(1)


class _SingleProducts:
    """Limits matrix products to one thread each while any thread is inside.

    The last bits of a product depend on the number of threads. The limit is global to the process:
    the first to enter sets it, and the last to leave restores it.
    """

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._changing:
            if self._inside == 0:
                self._limit = _matrix_libraries().limit(limits=1)
                _let_any_thread_change_limits()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._changing:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()
                _let_any_thread_change_limits()


def _let_any_thread_change_limits() -> None:
    """Let other threads change limits, which threadpoolctl 3.8 allows only the first thread."""
    from threadpoolctl import OpenBLASController

    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


single_products = _SingleProducts()
_cores = Cores()


@cache
def _matrix_libraries() -> Any:
    """Return the controller of the BLAS libraries; creating it is slow."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


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
        Called with 1 after each task.
    resume
        A folder that stores the results: tasks with stored results are not run again.
    study
        Description of the work, as JSON values; a folder with other work is rejected.
    """
    if jobs is not None:
        as_integer("jobs", jobs)
    as_function("progress", progress)
    folder = None if resume is None else Path(as_path("resume", resume))
    store = None if folder is None else _Store(folder, {**(study or {}), "tasks": len(tasks)})
    return list(in_order(_counted(_finish(function, tasks, jobs, store), progress)))


def _finish(
    function: Callable[[Task], Arrays],
    tasks: Sequence[Task],
    jobs: int | None,
    store: _Store | None,
) -> Iterator[tuple[int, Arrays]]:
    """Yield the number and the result of every task: those stored, then others as they finish."""
    stored = {} if store is None else store.load_all(len(tasks))
    yield from stored.items()
    missing = [number for number in range(len(tasks)) if number not in stored]
    for place, result in _run_missing(function, [tasks[number] for number in missing], jobs):
        if store is not None:
            store.save(missing[place], result)
        yield missing[place], result


def _run_missing(
    function: Callable[[Task], Arrays], tasks: Sequence[Task], jobs: int | None
) -> Iterator[tuple[int, Arrays]]:
    """Yield the number and the result of every task, as they are finished."""
    scheduler = scheduler_in_use()
    if scheduler is not None:
        if jobs is not None:
            raise InvalidValueError(
                "jobs is for threads on this machine; expected either it or a scheduler"
            )
        yield from scheduler.run(partial(_run_alone, function), tasks)
        return
    reuse_memory()
    threads = min(jobs or _cores.free(usable_cores()), len(tasks))
    with single_products:
        if threads < 2:
            yield from enumerate(map(function, tasks))
            return
        from joblib import Parallel, delayed

        with _cores.lent():
            parallel = Parallel(
                n_jobs=threads,
                prefer="threads",
                return_as="generator_unordered",
                batch_size=1,
            )
            yield from parallel(delayed(_numbered)(function, *task) for task in enumerate(tasks))


def _numbered(function: Callable[[Task], Arrays], number: int, task: Task) -> tuple[int, Arrays]:
    return number, _at_work(function, task)


def digest(*arrays: np.ndarray[Any, Any]) -> str:
    """Return a digest of arrays: shape, type and content."""
    mixed = hashlib.sha256()
    for array in arrays:
        mixed.update(f"{array.shape} {array.dtype.str};".encode())
        mixed.update(np.ascontiguousarray(array).tobytes())
    return mixed.hexdigest()


def check_resume_folder(path: str | os.PathLike[str]) -> None:
    """Raise if a folder for results contains other files."""
    folder = Path(path)
    with _writing_to(folder):
        held = sorted(os.listdir(folder)) if folder.is_dir() else []
    other = [name for name in held if not name.endswith(_UNFINISHED)]
    if other and not (folder / _LISTING).exists():
        raise InvalidValueError(
            f"{folder}: contains {other[0]} but no results; expected a new or an empty folder"
        )


class _Store:
    """A folder with the results of tasks, each written atomically.

    Several processes may share a folder: their results are equal, so the last write wins.
    """

    def __init__(self, folder: Path, study: Mapping[str, Any]) -> None:
        self._folder = folder
        self._study = json.dumps(study, sort_keys=True)
        listing = folder / _LISTING
        check_resume_folder(folder)
        with _writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if not listing.exists():
                self._write(listing, lambda stream: stream.write(self._study.encode()))
            content = listing.read_bytes()
        try:
            kept = json.loads(content)
        except ValueError:
            raise UnreadableError(f"{listing} is damaged; use another folder") from None
        self._refuse_other(kept, json.loads(self._study))

    def _refuse_other(self, kept: Any, wanted: dict[str, Any]) -> None:
        """Raise if the folder stores another study, naming the differences."""
        if kept == wanted:
            return
        held = kept if isinstance(kept, dict) else {}
        other = [name for name in {**wanted, **held} if held.get(name) != wanted.get(name)]
        raise InvalidValueError(
            f"{self._folder} stores the results of another study, with other {', '.join(other)}; "
            "use another folder, or repeat that study"
        )

    def load_all(self, tasks: int) -> dict[int, Arrays]:
        """Return the arrays that are there, by the number of their task."""
        found = ((number, self._load(number)) for number in range(tasks))
        return {number: arrays for number, arrays in found if arrays is not None}

    def _load(self, number: int) -> Arrays | None:
        """Return the arrays of a task; None if missing, damaged, or of another study."""
        try:
            with (
                open(self._path(number), "rb") as stream,  # np.load leaves damaged files open
                np.load(stream, allow_pickle=False) as kept,
            ):
                arrays = {name: kept[name] for name in kept.files}
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error):
            return None
        return arrays if str(arrays.pop(_STUDY, "")) == self._study else None

    def save(self, number: int, arrays: Arrays) -> None:
        """Store the arrays of a task."""
        content: dict[str, Any] = {**arrays, _STUDY: np.array(self._study)}
        with _writing_to(self._folder):
            self._write(self._path(number), lambda stream: np.savez(stream, **content))

    def _path(self, number: int) -> Path:
        return self._folder / f"task-{number:06d}.npz"

    def _write(self, path: Path, fill: Callable[[IO[bytes]], Any]) -> None:
        """Write a temporary file, then move it to its place."""
        descriptor, beside = tempfile.mkstemp(dir=self._folder, suffix=_UNFINISHED)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                fill(stream)
            os.replace(beside, path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise


@contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"{folder}: cannot store results there ({reason})") from None
