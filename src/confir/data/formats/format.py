"""File formats: what a format declares, and what its readers are told of a file."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from confir.data.compression import COMPRESSION_ENDINGS
from confir.data.exclusions import NOTHING_EXCLUDED, Exclusions
from confir.data.files import STDIN, format_ending, name_from_path
from confir.data.formats.json_files import has_keys
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.separated_text import header_names
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.data.formats.benchmark_results import BenchmarkResult
    from confir.data.formats.run_metadata import RunMetadata
    from confir.data.tables.input_table import InputTable

# Run files shrink about this much when compressed.
_COMPRESSION_RATIO = 4

# What an id of ir_datasets begins with.
DATASET = "irds:"

NameBy = Literal["file", "tag"]
NAMINGS: tuple[NameBy, ...] = get_args(NameBy)


class Reading(NamedTuple):
    """What to read of files, and whether they may be fetched.

    Attributes
    ----------
    subset, split
        The part that is wanted; None where there is only one.
    download
        Whether what is not on this machine may be fetched.
    exclusions
        Documents that do not count.
    """

    subset: str | None = None
    split: str | None = None
    download: bool = False
    exclusions: Exclusions = NOTHING_EXCLUDED


class RunSource(NamedTuple):
    """A file that holds a run, and the metadata of the run that need no reading.

    Attributes
    ----------
    path
        The file.
    name
        The name that the user or the metadata gave the run, if any.
    reading
        What is read of the file.
    metadata
        What the metadata beside the file say; None where there are none.
    folder
        The folder that was named, whose files are all taken for runs; None where the file was.
    """

    path: str
    name: str | None = None
    reading: Reading = Reading()
    metadata: RunMetadata | None = None
    folder: str | None = None

    def label(self) -> str:
        """Return the run's name as far as it is known without reading the file."""
        return self.name or name_from_path(self.path)

    def content_size(self) -> int:
        """Return about how many bytes it holds, decompressed; 0 where it can be read only once."""
        if self.path == STDIN:
            return 0
        try:
            status = os.stat(self.path)
        except OSError:
            return 0
        ratio = _COMPRESSION_RATIO if self.path.lower().endswith(COMPRESSION_ENDINGS) else 1
        return status.st_size * ratio if stat.S_ISREG(status.st_mode) else 0


def _not_written(_: Run | Qrels, path: str) -> None:
    raise InvalidValueError(f"{path}: this format is only read; expected another ending")


@dataclass(frozen=True, slots=True, eq=False)
class Format:
    """A file format for runs, qrels, scores or votes: an entry of FORMATS.

    A file holds it if its path ends so, if its first JSON object has the keys, if its header has the
    columns, or if ``recognises`` says so.

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
    columns
        Names of columns, in lower case, which the header of a text table of it has: of these sets of
        them, one.
    recognises
        Whether a file holds it: of its path and its content, or the first block of it.
    read_runs, read_qrels
        Readers of a file's content, decompressed, and of its source: its path, the name that it
        was given, and which part of it is wanted; then of how to name runs, or of intent
        probabilities. None where it holds no such thing.
    write_run, write_qrels
        Writers: of a run or qrels, and a path.
    scanned
        Whether its runs are read in blocks, where only ranks or lists are needed.
    read_scores
        Reader of scores per topic: of content and path, to a table, such as `score_table` makes of rows
        of run, measure, topic and score. None for tables in general.
    read_topics
        Reader of what a file of scores says of its topics, likewise, to a table with a column topic.
    read_results
        Reader of means of models on datasets, of content and path. None where it holds no such thing.
    read_votes
        Reader of votes, likewise, to a table with the columns left, right, winner, topic and judge.
    beside
        Names of files that are read beside one of this format: no output may replace them.
    """

    name: str
    shape: str
    endings: tuple[str, ...] = ()
    keys: Sequence[Sequence[str]] = ()
    columns: Sequence[Sequence[str]] = ()
    recognises: Callable[[str, bytes], bool] | None = None
    read_runs: Callable[[bytes, RunSource, NameBy], Sequence[Run]] | None = None
    read_qrels: Callable[[bytes, RunSource, Intents | None], Qrels] | None = None
    write_run: Callable[[Run, str], None] = _not_written
    write_qrels: Callable[[Qrels, str], None] = _not_written
    scanned: bool = False
    read_scores: Callable[[bytes, str], InputTable] | None = None
    read_topics: Callable[[bytes, str], InputTable] | None = None
    read_results: Callable[[bytes, str], Sequence[BenchmarkResult]] | None = None
    read_votes: Callable[[bytes, str], InputTable] | None = None
    beside: tuple[str, ...] = ()

    def fits(self, path: str, content: bytes) -> bool:
        """Whether a file holds it, by its path and its content, of which the first block will do."""
        return (
            format_ending(path) in self.endings
            or any(has_keys(content, wanted) for wanted in self.keys)
            or any({*names} <= {*header_names(content, path, names)} for names in self.columns)
            or (self.recognises is not None and self.recognises(path, content))
        )
