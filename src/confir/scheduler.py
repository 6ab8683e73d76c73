"""Work on other processes and machines: tasks go to the scheduler of a Dask cluster.

The problem fixes the tasks, each with its own seed: results depend neither on the number of workers
nor on which of them does what, and a task whose worker ends is run again on another.
"""

from __future__ import annotations

import os
import pickle
import platform
import re
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any, Self, TypeVar

from confir.arguments import invalid
from confir.errors import (
    CollectedWarning,
    ConfirError,
    MissingDependencyError,
    SchedulerError,
    collect_warnings,
    warn_caller,
)

Task = TypeVar("Task")
Result = TypeVar("Result")

_LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")
_REMOTE = re.compile(r"[a-z]+://[^\s/]+:[0-9]+")

# Where work is sent; None where it stays in this process.
CURRENT_SCHEDULER: ContextVar[Scheduler | None] = ContextVar("scheduler", default=None)

# Seconds to wait for the scheduler's answer, and for its first worker, which may yet have to start.
_TO_CONNECT = 10
_TO_FIRST_WORKER = 60

# Packages that decide, with Python, what tasks look like and the last bits of numbers.
_PACKAGES = ("confir", "numpy")


def use_scheduler(address: str | None) -> AbstractContextManager[None]:
    """Send work to the workers of a Dask cluster, inside a ``with`` block.

    Evaluation, bootstraps and coverage studies go there, in tasks that the problem fixes: numbers are
    the same as without. Workers need the same Python, numpy and confir, and the files under the
    same names.

    Parameters
    ----------
    address
        Of the scheduler, such as ``tcp://host:8786``; ``local:4`` starts four processes on this
        machine when they are needed first, and ends them afterwards; None changes nothing.

    Examples
    --------
    >>> with confir.use_scheduler(None):  # an address, such as "local:4", starts a cluster
    ...     confir.confidence_interval([0.3, 0.5, 0.4], method="t")
    Interval(0.4000 [0.1516, 0.6484], level=0.95, method='t')
    """
    current = CURRENT_SCHEDULER.get()
    if address is None or (current is not None and current.address == address):
        return nullcontext()
    return _using(Scheduler(address))


@contextmanager
def _using(scheduler: Scheduler) -> Iterator[None]:
    with scheduler:
        token = CURRENT_SCHEDULER.set(scheduler)
        try:
            yield
        finally:
            CURRENT_SCHEDULER.reset(token)


def check_address(address: Any) -> str:
    """Return the address of a scheduler; raise if it is none."""
    known = isinstance(address, str) and (_LOCAL.fullmatch(address) or _REMOTE.fullmatch(address))
    if not known:
        raise invalid("scheduler", address, "an address such as tcp://host:8786, or local:4")
    return str(address)


def check_visible(path: str, size: int) -> None:
    """Raise, in a task, if its worker does not see the file of a path and size in bytes."""
    try:
        there = f"one of {os.path.getsize(path):,} bytes"
    except OSError:
        there = "none"
    expected = f"one of {size:,} bytes"
    if there != expected:
        raise SchedulerError(
            f"{path}: the worker on {platform.node()} sees {there} there, not {expected}; expected "
            "the same files under the same paths on all workers"
        )


class Scheduler:
    """The scheduler of a Dask cluster, which is connected with when the first task is sent.

    Parameters
    ----------
    address
        As `use_scheduler` takes it.
    """

    def __init__(self, address: str) -> None:
        self.address = check_address(address)
        if find_spec("distributed") is None:
            raise MissingDependencyError("dask", f"the scheduler {address}", "cluster")
        self._opened = ExitStack()
        self._opening = threading.Lock()
        self._connected: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @property
    def _client(self) -> Any:
        """The ``distributed.Client``; threads may ask for it at the same time."""
        with self._opening:
            if self._connected is None:
                self._connected = self._opened.enter_context(_connect(self.address))
            return self._connected

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Generator[tuple[int, Result]]:
        """Yield the number and the result of every task, as they are finished.

        Tasks of an iterator are made as workers get free: they may be large. Warnings of confir are
        repeated here in the order of the tasks, and the error raised is that of the first task that
        has one, as if they had been run one after the other.
        """
        client = self._client
        dumps = import_module("cloudpickle").dumps
        as_completed = import_module("distributed").as_completed
        at_once = None if isinstance(tasks, Sequence) else 2 * sum(client.nthreads().values())
        numbered = enumerate(tasks)
        places: dict[str, int] = {}

        def send(most: int | None) -> list[Any]:
            some = dict(islice(numbered, most))
            futures = client.map(_work, [shared] * len(some), list(some.values()), pure=False)
            places.update(zip((future.key for future in futures), some, strict=True))
            return list(futures)

        with self._translated():
            # Sent once, and as a task: unlike scattered data, it is not lost with its worker.
            shared = client.submit(pickle.loads, dumps(function), pure=False)
            finished = as_completed(
                send(at_once), client.loop, with_results=True, raise_errors=False
            )
            outcomes = _OutcomesInOrder()
            for future, found in finished:
                number = places.pop(future.key)
                if isinstance(found, BaseException):  # cancelled, as when the scheduler is gone
                    raise found
                if future.status == "error":
                    outcomes.failed[number] = found[1].with_traceback(found[2])
                else:
                    result, outcomes.warned[number] = found
                    yield number, result
                outcomes.report(places.values())
                # after a failure, later tasks are not needed any more
                if at_once is not None and not outcomes.failed:
                    finished.update(send(1))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Put failures of the cluster into a sentence; errors of tasks stay as they are."""
        distributed = import_module("distributed")
        try:
            yield
        except ConfirError:
            raise
        except distributed.KilledWorker as error:
            raise SchedulerError(
                f"{self.address}: {error.allowed_failures + 1} workers ended during the same task, "
                "perhaps for lack of memory; expected workers that live to finish it"
            ) from None
        except (distributed.CancelledError, distributed.comm.CommClosedError):
            raise SchedulerError(
                f"{self.address}: the connection to the scheduler was lost before all was done"
            ) from None


class _OutcomesInOrder:
    """Warnings and errors of tasks that finish in any order, reported in the order of the tasks."""

    def __init__(self) -> None:
        self._next = 0
        self.warned: dict[int, list[CollectedWarning]] = {}
        self.failed: dict[int, BaseException] = {}

    def report(self, unfinished: Iterable[int]) -> None:
        """Warn of what no unfinished task can precede; raise the first error once it is known."""
        while self._next in self.warned:
            for message, category in self.warned.pop(self._next):
                warn_caller(message, category)
            self._next += 1
        first = min(self.failed, default=None)
        if first is not None and not any(number < first for number in unfinished):
            raise self.failed[first]


def _work(function: Callable[[Task], Result], task: Task) -> tuple[Result, list[CollectedWarning]]:
    """Return, on a worker, the result of a task and the warnings of confir."""
    with collect_warnings() as warned:
        return function(task), warned


@contextmanager
def _connect(address: str) -> Iterator[Any]:
    """Yield a client of a scheduler whose workers are ready and have the same versions."""
    distributed = import_module("distributed")
    quiet = {"distributed.admin.large-graph-warning-threshold": "1TB"}
    local = _LOCAL.fullmatch(address)
    with ExitStack() as stack:
        stack.enter_context(import_module("dask").config.set(quiet))
        stack.enter_context(_silent_logs())
        where = address
        if local:
            where = stack.enter_context(_start_processes(distributed, int(local.group(1))))
        client = stack.enter_context(_open_client(distributed, address, where))
        if local:
            client.register_plugin(_interrupt_plugin(distributed))
        _wait_for_worker(distributed, client, address)
        _check_versions(address, client.get_versions(packages=list(_PACKAGES)))
        yield client


@contextmanager
def _start_processes(distributed: Any, workers: int) -> Iterator[Any]:
    """Yield a cluster of processes on this machine, each with one thread."""
    import logging

    try:
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )
    except (OSError, RuntimeError) as error:
        reason = _one_line(error).rstrip(".")
        guard = '; a script that starts them needs the guard if __name__ == "__main__":'
        ended = "Nanny" in reason  # what Dask says where a process ends before it works
        raise SchedulerError(
            f"local:{workers}: the processes cannot be started ({reason}){guard if ended else ''}"
        ) from None
    with cluster:
        yield cluster


def _interrupt_plugin(distributed: Any) -> Any:
    """Return what lets workers ignore Ctrl-C, which a terminal sends to all; the cluster ends them."""

    # distributed is imported late, so that its classes have no type here
    class IgnoreInterrupts(distributed.WorkerPlugin):  # type: ignore[misc]  # Dask has no types
        name = "confir-ignore-interrupts"

        def setup(self, worker: Any) -> None:  # noqa: ARG002 - Dask passes it
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    return IgnoreInterrupts()


@contextmanager
def _open_client(distributed: Any, address: str, where: Any) -> Iterator[Any]:
    """Yield a client of a scheduler that answers."""
    try:
        client = distributed.Client(where, timeout=_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise SchedulerError(
            f"{address}: no scheduler of Dask answers there ({_one_line(error)}); expected the address "
            "that dask scheduler prints, or local:4"
        ) from None
    with client:
        yield client


def _wait_for_worker(distributed: Any, client: Any, address: str) -> None:
    """Raise if the scheduler has no worker and none comes."""
    try:
        client.wait_for_workers(1, timeout=_TO_FIRST_WORKER)
    except distributed.TimeoutError:
        raise SchedulerError(
            f"{address}: the scheduler has no worker, after {_TO_FIRST_WORKER} seconds; expected one "
            "or more (dask worker ADDRESS starts one)"
        ) from None


def _check_versions(address: str, found: Mapping[str, Any]) -> None:
    """Raise if the scheduler or a worker has other versions than this process."""
    from importlib.metadata import version

    own = {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}
    places = {"the scheduler": found["scheduler"]}
    places |= {f"the worker {name}": there for name, there in found["workers"].items()}
    for place, there in places.items():
        for name, here in own.items():
            other = there["packages"].get(name)
            if _release(name, other) != _release(name, here):
                has = f"has {name} {other}" if other else f"lacks {name}"
                raise SchedulerError(
                    f"{address}: {place} {has}, and this process has {name} {here}; expected the same "
                    "everywhere"
                )


def _release(name: str, installed: str | None) -> str | None:
    """Return what must be equal in two versions; of Python, the first two numbers."""
    python = name == "python" and installed is not None
    return ".".join(str(installed).split(".")[:2]) if python else installed


@contextmanager
def _silent_logs() -> Iterator[None]:
    """Keep what Dask logs off the terminal: what matters becomes an error."""
    import logging

    handlers = logging.getLogger("distributed").handlers
    levels = [handler.level for handler in handlers]
    try:
        for handler in handlers:
            handler.setLevel(logging.CRITICAL)
        yield
    finally:
        for handler, level in zip(handlers, levels, strict=True):
            handler.setLevel(level)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
