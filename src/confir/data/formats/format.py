"""What a file format declares of itself: how it is recognised, read and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from confir.data.files import format_ending
from confir.data.formats.json_files import has_keys
from confir.data.formats.run_sources import NameBy, RunSource
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.input_table import InputTable
from confir.errors import InvalidValueError


def _not_written(_: Run | Qrels, path: str) -> None:
    raise InvalidValueError(f"{path}: this format is only read; expected another ending")


@dataclass(frozen=True, slots=True, eq=False)
class Format:
    """A file format for runs, qrels or scores: an entry of FORMATS.

    A file holds it if its path ends so, if its first JSON object has the keys, or if ``recognises``
    says so.

    Attributes
    ----------
    name, shape
        What it is called, and what a file of it holds.
    endings
        How paths end that ask for it, a compression's ending aside: all there is to go by where
        nothing is written yet. Files of several runs are recognised by their ending.
    keys
        Paths of JSON keys, such as "nuggets.[].text", which a file of it has: of these sets of them,
        one.
    recognises
        Whether a file holds it: of its path and its content, or the first block of it.
    read_runs, read_qrels
        Readers of a file's content, decompressed, and of its source: its path, the name that it
        was given, and which part of it is wanted; then of how to name runs, or of intent
        probabilities. None where it holds no such thing.
    write_run, write_qrels
        Writers: of a run or qrels, and a path.
    scanned
        Whether `confir.data.scanning` ranks its runs straight from the file, without reading them.
    read_scores
        Reader of scores per topic: of content and path, to a table. None for tables in general.
    beside
        Names of files that are read beside one of this format: no output may replace them.
    """

    name: str
    shape: str
    endings: tuple[str, ...] = ()
    keys: Sequence[Sequence[str]] = ()
    recognises: Callable[[str, bytes], bool] | None = None
    read_runs: Callable[[bytes, RunSource, NameBy], Sequence[Run]] | None = None
    read_qrels: Callable[[bytes, RunSource, Intents | None], Qrels] | None = None
    write_run: Callable[[Run, str], None] = _not_written
    write_qrels: Callable[[Qrels, str], None] = _not_written
    scanned: bool = False
    read_scores: Callable[[bytes, str], InputTable] | None = None
    beside: tuple[str, ...] = ()

    def fits(self, path: str, content: bytes) -> bool:
        """Whether a file holds it, by its path and its content, of which the first block will do."""
        return (
            format_ending(path) in self.endings
            or any(has_keys(content, wanted) for wanted in self.keys)
            or (self.recognises is not None and self.recognises(path, content))
        )
