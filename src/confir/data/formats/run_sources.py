"""The files of the runs that a user names, and the names of these runs."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from confir.control_characters import as_unicode
from confir.data.compression import COMPRESSION_ENDINGS
from confir.data.exclusions import NOTHING_EXCLUDED, Exclusions
from confir.data.files import STDIN, PathLike, is_address
from confir.data.formats.run_metadata import RunMetadata, read_metadata
from confir.data.tables.parquet_files import is_dataset
from confir.errors import InvalidValueError, UnreadableError

KNOWN_ENDINGS = (
    *(".run", ".txt", ".trec", ".res", ".dat", ".eval"),
    *(".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"),
)

# What an id of ir_datasets begins with.
DATASET = "irds:"

_METADATA = ("ir-metadata.yml", "ir-metadata.yaml", ".ir-metadata.yml")
_RUN_FILES = ("run.txt", "run.txt.gz")

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


def name_from_path(path: PathLike) -> str:
    """Return a run's name: its file's without endings, and without a leading ``input.``."""
    name = Path(path).name
    if name == STDIN:
        return "stdin"
    for endings in (COMPRESSION_ENDINGS, KNOWN_ENDINGS):
        for ending in endings:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
                break
    return as_unicode(name.removeprefix("input.") or name)  # a file's name need not be valid text


def find_runs(sources: Iterable[PathLike]) -> list[RunSource]:
    """Return the files that a list of paths, globs, directories and ``NAME=PATH`` stands for."""
    found: list[RunSource] = []
    for source in sources:
        found.extend(_expand(os.fspath(source)))
    check_names((run.label(), run.path, True) for run in found)
    return found


def check_names(runs: Iterable[tuple[str, str, bool]]) -> None:
    """Raise where two runs have the same name.

    Parameters
    ----------
    runs
        Of each run its name, what it is or where it comes from, and whether that is a file.
    """
    first: dict[str, str] = {}
    for name, place, is_file in runs:
        if name in first:
            hint = f", as in other={place}" if is_file else ""
            raise InvalidValueError(
                f"two runs are named {name!r}: {first[name]} and {place}; give one of them another "
                f"name{hint}"
            )
        first[name] = place


def find_files(source: str) -> list[str]:
    """Return the files that a source of runs stands for, itself where there are none."""
    try:
        return [run.path for run in _expand(source)]
    except UnreadableError:
        return [source]


def expand_pattern(source: str) -> list[str]:
    """Return the files and folders that a pattern stands for; itself where it is none, or matches none."""
    if "\0" in source or os.path.exists(source) or not glob.has_magic(source):
        return [source]
    return sorted(glob.glob(source)) or [source]


def _expand(source: str) -> list[RunSource]:
    if source == STDIN:
        return [RunSource(source)]
    try:
        mode = os.stat(source).st_mode
    except PermissionError as error:  # it is not known what is there
        raise UnreadableError(f"{source}: cannot be read ({error.strerror})") from None
    except (OSError, ValueError):
        return _expand_name(source)
    return _expand_directory(source) if stat.S_ISDIR(mode) else [RunSource(source)]


def _expand_name(source: str) -> list[RunSource]:
    """Return what an address, an id of a dataset, ``NAME=PATH`` or a pattern stands for."""
    if _is_remote(source):
        return [RunSource(source)]
    name, equals, path = source.partition("=")
    if equals and name and (path == STDIN or _is_remote(path)):
        return [RunSource(path, as_unicode(name))]
    if equals and name and os.path.exists(path):
        # a file, or the run of a directory with metadata
        described = described_run(path) if os.path.isdir(path) else None
        return [(described or RunSource(path))._replace(name=as_unicode(name))]
    matches = [] if "\0" in source else sorted(filter(os.path.isfile, glob.glob(source)))
    if not matches:
        given = path if name and path else source
        problem = "no file matches this pattern" if glob.has_magic(given) else "no such file"
        raise UnreadableError(f"{given}: {problem}")
    return [RunSource(match) for match in matches]


def _is_remote(path: str) -> bool:
    """Whether a path is no file, but an address or the id of a dataset."""
    return is_address(path) or path.startswith(DATASET)


def _expand_directory(source: str) -> list[RunSource]:
    try:
        names = sorted(os.listdir(source))
    except OSError as error:
        raise UnreadableError(f"{source}: cannot be read ({error.strerror})") from None
    described = described_run(source)
    if described is not None:
        return [described]
    if is_dataset(source, names):
        return [RunSource(source)]
    paths = [os.path.join(source, name) for name in names if not name.startswith(".")]
    files = [RunSource(path, folder=source) for path in paths if os.path.isfile(path)]
    files += filter(None, (described_run(path) for path in paths if os.path.isdir(path)))
    if not files:
        raise UnreadableError(f"{source}: the directory has no files; expected runs")
    return files


def described_run(folder: str) -> RunSource | None:
    """Return the run of a folder as TIRA and TIREx write it, named by the tag of its metadata.

    None where a folder has no metadata: ``ir-metadata.yml``, as ir_metadata defines it (Breuer et
    al. 2022), beside ``run.txt`` or ``run.txt.gz``.
    """
    metadata = next(filter(os.path.isfile, (os.path.join(folder, n) for n in _METADATA)), None)
    if metadata is None:
        return None
    run = next(filter(os.path.isfile, (os.path.join(folder, name) for name in _RUN_FILES)), None)
    if run is None:
        raise UnreadableError(f"{folder}: metadata without a run; expected run.txt or run.txt.gz")
    said = read_metadata(metadata)
    return RunSource(run, said.tag or Path(folder).resolve().name, metadata=said)
