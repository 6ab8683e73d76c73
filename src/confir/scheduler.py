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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from confir.arguments import invalid
from confir.errors import ConfirError, MissingDependencyError, SchedulerError
from confir.parallel import CURRENT_SCHEDULER, run_on, work

Task = TypeVar("Task")
Result = TypeVar("Result")

_LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")
_REMOTE = re.compile(r"[a-z]+://[^\s/]+:[0-9]+")

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
    return Scheduler(address).used()


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

    @contextmanager
    def used(self) -> Iterator[None]:
        """Be the current scheduler inside a ``with`` block."""
        with self._opened:
            token = CURRENT_SCHEDULER.set(self)
            try:
                yield
            finally:
                CURRENT_SCHEDULER.reset(token)

    @property
    def _client(self) -> Any:
        """The ``distributed.Client``; threads may ask for it at the same time."""
        with self._opening:
            if self._connected is None:
                self._connected = self._opened.enter_context(_connect(self.address))
            return self._connected

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Iterator[tuple[int, Result]]:
        """Yield what `confir.parallel.run_on` does, from the workers; the function is sent once."""
        client = self._client
        content = import_module("cloudpickle").dumps(function)
        with self._translated():
            # As a task: unlike scattered data, its result is not lost with its worker.
            shared = client.submit(pickle.loads, content, pure=False)
            submit = partial(client.get_executor(pure=False).submit, work, shared)
            yield from run_on(submit, tasks, 2 * sum(client.nthreads().values()))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Put failures of the cluster into a sentence; errors of tasks stay as they are."""
        from concurrent.futures import CancelledError

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
        except (CancelledError, distributed.CancelledError, distributed.comm.CommClosedError):
            raise SchedulerError(
                f"{self.address}: the connection to the scheduler was lost before all was done"
            ) from None


@contextmanager
def _connect(address: str) -> Iterator[Any]:
    """Yield a client of a scheduler whose workers are ready and have the same versions."""
    distributed = import_module("distributed")
    quiet = {"distributed.admin.large-graph-warning-threshold": "1TB"}
    local = _LOCAL.fullmatch(address)
    with ExitStack() as stack:
        stack.enter_context(import_module("dask").config.set(quiet))
        stack.enter_context(_silent_logs())
        where = (
            stack.enter_context(_start_processes(distributed, int(local[1]))) if local else address
        )
        try:
            client = distributed.Client(where, timeout=_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise SchedulerError(
                f"{address}: no scheduler of Dask answers there ({_one_line(error)}); expected the "
                "address that dask scheduler prints, or local:4"
            ) from None
        stack.enter_context(client)
        if local:
            client.register_plugin(_interrupt_plugin(distributed))
        try:
            client.wait_for_workers(1, timeout=_TO_FIRST_WORKER)
        except distributed.TimeoutError:
            raise SchedulerError(
                f"{address}: the scheduler has no worker, after {_TO_FIRST_WORKER} seconds; expected "
                "one or more (dask worker ADDRESS starts one)"
            ) from None
        _check_versions(address, client.get_versions(packages=list(_PACKAGES)))
        yield client


def _interrupt_plugin(distributed: Any) -> Any:
    """Return what lets workers ignore Ctrl-C, which a terminal sends to all; the cluster ends them."""

    # distributed is imported late, so that its classes have no type here
    class IgnoreInterrupts(distributed.WorkerPlugin):  # type: ignore[misc]  # Dask has no types
        name = "confir-ignore-interrupts"

        def setup(self, worker: Any) -> None:  # noqa: ARG002 - Dask passes it
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    return IgnoreInterrupts()


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
