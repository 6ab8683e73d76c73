"""How is work spread? Over threads or a cluster, so that the result does not depend on their number.

Tasks are fixed by the problem, each with a seed of its own; only who runs them varies. Results of
long work are kept in a folder as they come, and found there when the work is taken up again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from confir.errors import InvalidValueError, UnreadableError

Task = TypeVar("Task")
Result = TypeVar("Result")
Arrays = dict[str, npt.NDArray[Any]]
Progress = Callable[[int], None]


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_in_threads(function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
    """Return the function's result for every task, in order.

    For short work by functions that leave the interpreter's lock, as numpy does. Matrix products
    are kept to a thread each meanwhile: nested threads would get in each other's way.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):  # the last bits of a product depend on its threads
        if len(tasks) < 2 or usable_cores() < 2:
            return [function(task) for task in tasks]
        with ThreadPoolExecutor(usable_cores()) as pool:
            return list(pool.map(function, tasks))


def task_seeds(rng: np.random.Generator, tasks: int) -> list[np.random.SeedSequence]:
    """Return a seed for each task, all from one generator."""
    return np.random.SeedSequence(rng.integers(2**63)).spawn(tasks)


def run_tasks(
    function: Callable[[Task], Arrays],
    tasks: Sequence[Task],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
    signature: str = "",
) -> list[Arrays]:
    """Return the function's arrays for every task, in order; for long work.

    Parameters
    ----------
    function
        From a task to named arrays.
    tasks
        The tasks, fixed by the problem.
    jobs
        Threads at work at once; by default as many as there are cores. Inside
        ``joblib.parallel_config(backend="dask")`` the tasks go to that cluster.
    progress
        Called with 1 after each task.
    resume
        A folder that keeps the results: tasks whose results are there are not run again.
    signature
        What the work is, in text; a folder that keeps other work is refused.
    """
    if jobs is not None and jobs < 1:
        raise InvalidValueError(f"jobs is {jobs}; expected 1 or more")
    from joblib import Parallel, delayed
    from threadpoolctl import threadpool_limits

    store = None if resume is None else _Store(Path(resume), signature, len(tasks))
    parallel = Parallel(
        n_jobs=jobs or usable_cores(), prefer="threads", return_as="generator", batch_size=1
    )
    calls = (delayed(_run)(function, task, number, store) for number, task in enumerate(tasks))
    results = []
    with threadpool_limits(limits=1):
        for result in parallel(calls):
            results.append(result)
            if progress is not None:
                progress(1)
    return results


def digest(*parts: Any) -> str:
    """Return a text that tells apart what arrays and values are given: for signatures."""
    mixed = hashlib.sha256()
    for part in parts:
        content = part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode()
        mixed.update(str(len(content)).encode() + b":" + content)
    return mixed.hexdigest()


def _run(
    function: Callable[[Task], Arrays], task: Task, number: int, store: _Store | None
) -> Arrays:
    if store is None:
        return function(task)
    kept = store.load(number)
    if kept is not None:
        return kept
    result = function(task)
    store.save(number, result)
    return result


class _Store:
    """A folder with the results of tasks, each written whole or not at all."""

    def __init__(self, folder: Path, signature: str, tasks: int) -> None:
        self._folder = folder
        description = {"signature": signature, "tasks": tasks}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            listing = folder / "study.json"
            if listing.exists():
                if json.loads(listing.read_text()) != description:
                    raise InvalidValueError(
                        f"{folder} keeps the results of another study: other data, options or "
                        "seed; name another folder"
                    )
            else:
                self._write(listing, json.dumps(description).encode())
        except (OSError, ValueError) as error:
            if isinstance(error, InvalidValueError):
                raise
            raise UnreadableError(f"{folder}: cannot keep results ({error})") from None

    def load(self, number: int) -> Arrays | None:
        path = self._path(number)
        if not path.exists():
            return None
        with np.load(path, allow_pickle=False) as kept:
            return {name: kept[name] for name in kept.files}

    def save(self, number: int, arrays: Arrays) -> None:
        descriptor, beside = tempfile.mkstemp(dir=self._folder, suffix=".part")
        with os.fdopen(descriptor, "wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]
        os.replace(beside, self._path(number))

    def _path(self, number: int) -> Path:
        return self._folder / f"task-{number:06d}.npz"

    def _write(self, path: Path, content: bytes) -> None:
        descriptor, beside = tempfile.mkstemp(dir=self._folder, suffix=".part")
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        os.replace(beside, path)
