"""Answers of commands, checks of where they go before any work, and progress on stderr."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from confir.cli.streams import print_message
from confir.data.result import Record
from confir.defaults import CHART_ENDINGS, ENDINGS
from confir.errors import (
    InvalidValueError,
    MissingDependencyError,
    UnknownNameError,
    UnreadableError,
)

if TYPE_CHECKING:
    from confir.report.answer_parts import AnswerPart
    from confir.report.tables import Table

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


class Answer(NamedTuple):
    """The answer of a command, in the forms that readers and programs need.

    Attributes
    ----------
    records
        For CSV, JSON and Parquet; they may be made only when they are written.
    table
        For the terminal, Markdown, LaTeX and HTML.
    result
        For charts: the result itself.
    parts
        For the terminal and Markdown, in place of the table: several, with sentences.
    rows
        How many rows of a table are printed in the terminal; None for all.
    """

    records: Iterable[Record]
    table: Table
    result: Any = None
    parts: Sequence[AnswerPart] = ()
    rows: int | None = None


def result_answer(result: Any) -> Answer:
    """Return a result with its records and the table that its study makes of it."""
    from confir.report.result_table import table_of

    return Answer(result.to_records(), table_of(result), result)


def check_output(output: str) -> None:
    """Raise before any work where a result could not be written after it."""
    known = (*ENDINGS, *CHART_ENDINGS)
    ending = Path(output).suffix.lower()
    if Path(output).name.lower() in known:
        raise InvalidValueError(
            f"{output}: only an ending, without a name; expected one such as result{Path(output).name}"
        )
    if ending not in known:
        raise UnknownNameError("ending of an output file", Path(output).name, known)
    if ending in CHART_ENDINGS:
        check_drawing()
    elif ending == ".parquet":
        check_installed("pyarrow", "pyarrow", "writing Parquet", "parquet")
    check_folder(output)


def check_folder(output: str) -> None:
    """Raise before any work where there is no place for a file."""
    folder = Path(output).parent
    reason = "no such folder" if not folder.is_dir() else ""
    if Path(output).is_dir():
        reason = "it is a folder"
    elif folder.is_dir() and not os.access(folder, os.W_OK):
        reason = "the folder may not be written to"
    if reason:
        raise UnreadableError(f"{output}: cannot be written ({reason})")


def check_drawing() -> None:
    """Raise where a package is missing without which no chart is drawn or saved."""
    check_installed("altair", "altair", "drawing charts", "report")
    check_installed("vl_convert", "vl-convert-python", "saving charts", "report")


def check_installed(module: str, package: str, purpose: str, extra: str) -> None:
    """Raise where a package is missing, without the time that importing it takes."""
    if find_spec(module) is None:
        raise MissingDependencyError(package, purpose, extra)


class Progress:
    """A progress bar on stderr for work that takes more than a second; none without a terminal.

    It shows the time left, or the time taken where the number of steps is not known. Work in stages,
    whose steps take very different times, shows its stage and the time taken: a share of its steps would
    stand at 99% for long. Threads may share it. Slow work without numba says, once, how to make it fast.
    A ``with`` statement gives what verbs report their steps to: None where nothing is shown.
    """

    def __init__(self, label: str, *, total: int | None, quiet: bool) -> None:
        self._label = label
        self._total = total
        self._quiet = quiet
        self._started = time.monotonic()
        self._done = 0
        self._counting = threading.Lock()
        self._stage = ""
        self._bar: Any = None
        self._task: Any = None
        self._note: threading.Timer | None = None

    def __enter__(self) -> Self | None:
        if not self._quiet and find_spec("numba") is None:
            self._note = threading.Timer(_SLOW, print_message, [_SLOW_NOTE])
            self._note.daemon = True
            self._note.start()
        return self if not self._quiet and sys.stderr.isatty() else None

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
