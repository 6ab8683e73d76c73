"""Progress bars of long work, on standard error."""

from __future__ import annotations

import sys
import threading
import time
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

from confir.cli.streams import print_message

# Work that is over sooner needs no progress bar.
_PATIENCE = 1.0

# The time left follows from the pace over this many seconds, enough for some steps of slow work.
_MEMORY = 600.0

# Work that lasts longer, in seconds, says what numba would bring where it is missing.
_SLOW = 10.0

_SLOW_NOTE = (
    "confir: note: numba is not installed; with it, long studies and large runs take a fraction of the "
    "time: pip install 'confir[fast]'"
)


class Progress:
    """A progress bar on stderr for work that takes more than a second; none without a terminal.

    It shows the time left, or the time taken where the number of steps is not known. Work in stages,
    whose steps take very different times, shows its stage and the time taken: a share of its steps would
    stand at 99% for long. Threads may share it. Slow work without numba says, once, how to make it fast.
    A ``with`` statement gives what verbs report their steps to: None where nothing is shown.
    """

    def __init__(self, label: str, *, total: int | None) -> None:
        self._label = label
        self._total = total
        self._started = time.monotonic()
        self._done = 0
        self._counting = threading.Lock()
        self._stage = ""
        self._bar: Any = None
        self._task: Any = None
        self._note: threading.Timer | None = None

    def __enter__(self) -> Self | None:
        if find_spec("numba") is None:
            self._note = threading.Timer(_SLOW, print_message, [_SLOW_NOTE])
            self._note.daemon = True
            self._note.start()
        return self if sys.stderr.isatty() else None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._note is not None:
            self._note.cancel()
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, steps: int) -> None:
        """Report more steps as done."""
        with self._counting:
            self._done += steps
            self._show()

    def stage(self, name: str) -> None:
        """Name what is being done now."""
        with self._counting:
            self._stage = name
            self._show()

    def _show(self) -> None:
        if time.monotonic() - self._started < _PATIENCE:
            return
        if self._bar is None:
            self._start()
        self._bar.update(self._task, completed=self._done, description=self._description())

    def _description(self) -> str:
        return f"{self._label}: {self._stage}" if self._stage else self._label

    def _start(self) -> None:
        from rich import progress
        from rich.console import Console

        clock: tuple[progress.ProgressColumn | str, ...] = (progress.TimeElapsedColumn(),)
        if self._total is not None and not self._stage:
            clock = (progress.TaskProgressColumn(), progress.TimeRemainingColumn(), "left")
        self._bar = progress.Progress(
            "{task.description}",
            progress.BarColumn(),
            *clock,
            console=Console(stderr=True),
            transient=True,
            speed_estimate_period=_MEMORY,
        )
        self._task = self._bar.add_task(
            self._description(), total=self._total, completed=self._done
        )
        self._bar.start()
