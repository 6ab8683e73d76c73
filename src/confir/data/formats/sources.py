"""Runs and qrels from what users name: paths, patterns, folders, datasets and objects.

A file's content decides its format. A file that holds one run is read only when the run is needed.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from confir.arguments import as_path, is_from
from confir.control_characters import as_unicode
from confir.data.files import STDIN, PathLike, format_ending, is_address, read_bytes
from confir.data.formats import format_list
from confir.data.formats.entries import (
    RUN,
    is_hit,
    is_iterable,
    judgements,
    qrels_from_object,
    read_entries,
    runs_from_entries,
    single_run,
)
from confir.data.formats.format import DATASET, Format, NameBy, Reading, RunSource
from confir.data.formats.json_files import as_id
from confir.data.formats.run_metadata import described_run
from confir.data.formats.run_tables import TABLE_ENDINGS, hold_many_documents, is_table
from confir.data.qrels import Intents, Qrels, build_qrels
from confir.data.run import Run
from confir.data.tables.parquet_files import is_dataset
from confir.data.tables.table_reader import has_columns
from confir.data.trec import TREC
from confir.data.trec_lines import as_intents
from confir.errors import FormatError, InvalidValueError, UnreadableError, enumerate_names


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


def recognise(path: str, content: bytes) -> Format:
    """Return the format of a file with some content, of which the first block will do.

    What fits none is read as TREC, whose reader says what is wrong with it.
    """
    return next((one for one in format_list.FORMATS if one.fits(path, content)), TREC)


def format_named_by(path: str) -> Format:
    """Return the format that the ending of a path stands for, whatever the file may hold."""
    ending = format_ending(path)
    return next((one for one in format_list.FORMATS if ending in one.endings), TREC)


def files_beside(path: str) -> list[str]:
    """Return the files beside one that reading it may read as well, whatever it holds."""
    return [
        os.path.join(os.path.dirname(path), name)
        for one in format_list.FORMATS
        for name in one.beside
    ]


def read_source(source: Run | RunSource, name_by: NameBy, content: bytes | None = None) -> Run:
    """Return the one run in a file, or in its ``content``; a run itself, where it was read before."""
    if isinstance(source, Run):
        return source
    runs = read_runs(source, name_by, content)
    if len(runs) == 1:
        return runs[0]
    if runs and source.name is None and format_named_by(source.path).scanned:
        names = enumerate_names([run.name for run in runs], 5)
        raise FormatError(
            f"holds {len(runs)} runs ({names}); expected one here: several are read from files that "
            "end in .csv, .tsv, .jsonl or .parquet",
            path=source.path,
        )
    return single_run(runs, source.path)


def read_runs(source: RunSource, name_by: NameBy, content: bytes | None = None) -> list[Run]:
    """Return the runs in a file, without documents that do not count.

    It is opened once, or not at all where its ``content`` is given, which determines its format.
    """
    content = read_content(source) if content is None else content
    held = recognise(source.path, content)
    if held.read_runs is None:
        problem = f"{held.name}: {held.shape}; expected a run"
        raise _with_folder(FormatError(problem, path=source.path), source.folder)
    try:
        found = held.read_runs(content, source, name_by)
    except FormatError as error:
        raise _with_folder(error, source.folder) from None
    excluded = source.reading.exclusions
    return [excluded.drop_retrieved(run) for run in found] if excluded.drops else list(found)


def _with_folder(error: FormatError, folder: str | None) -> FormatError:
    """Return an error that says why a file is read at all, where a folder was named in its place."""
    if folder is None:
        return error
    problem = (
        f"{error.problem} (each file of {folder} is taken for a run; if this is none, name the runs, "
        "or move it elsewhere)"
    )
    return FormatError(problem, path=error.path, line=error.line)


def read_judgements(
    source: RunSource, intents: Intents | None, content: bytes | None = None
) -> Qrels:
    """Return the judgements in a file, or in a folder of Parquet files.

    It is opened once, or not at all where its ``content`` is given, which determines its format.
    """
    content = read_content(source) if content is None else content
    held = recognise(source.path, content)
    if held.read_qrels is None:
        raise FormatError(f"{held.name}: {held.shape}; expected qrels", path=source.path)
    return held.read_qrels(content, source, intents)


def read_content(source: RunSource) -> bytes:
    """Return the content of a file; none of a folder, nor of a dataset."""
    path = source.path
    if path.startswith(DATASET) or os.path.isdir(path):
        return b""
    return read_bytes(path, download=source.reading.download)


def qrels_called(
    name: str,
    source: Any,
    intents: PathLike | Intents | None = None,
    reading: Reading | None = None,
) -> Qrels:
    """Return what `as_qrels` does; messages call an object by a name of its own."""
    reading = reading or Reading()
    probabilities = None if intents is None else as_intents(intents)
    if isinstance(source, str | os.PathLike):
        file = RunSource(as_path(name, source), None, reading)
        qrels = read_judgements(file, probabilities)
    elif not isinstance(source, Qrels):
        qrels = qrels_from_object(source, name, probabilities)
    elif probabilities is None:
        qrels = source
    else:
        qrels = build_qrels(*judgements(source), intents=probabilities)
    return reading.exclusions.drop_judged(qrels) if reading.exclusions.documents else qrels


def as_runs(
    source: Any, reading: Reading | None = None, name_by: NameBy = "file"
) -> list[Run | RunSource]:
    """Return the runs that paths and objects stand for, each with a name of its own.

    Files stay files, to be read when needed, unless their ending names a format that cannot be
    scanned, or they are tables: these are read here.

    Parameters
    ----------
    source
        One path (a file, a glob, a directory, or ``NAME=PATH``), one object that `as_run` takes,
        an iterable of these, or a mapping name → path or object. Objects without a name are
        called "run", or "run1", "run2", … by their place where there are several. Frames and
        tables with a column ``run`` hold several runs, or one.
    reading, name_by
        How files are read.
    """
    runs = _runs_and_files(source)
    if reading is not None:
        runs = [one if isinstance(one, Run) else one._replace(reading=reading) for one in runs]
        if reading.exclusions.drops:
            drop = reading.exclusions.drop_retrieved
            runs = [drop(one) if isinstance(one, Run) else one for one in runs]
    read: list[Run | RunSource] = []
    places: list[tuple[str, str, bool]] = []
    for run in runs:
        held: Sequence[Run | RunSource] = [run]
        place = (run.path, True) if isinstance(run, RunSource) else (repr(run), False)
        if isinstance(run, RunSource):
            # files that hold one run, in TREC's format, are ranked without reading them here
            scanned = format_named_by(run.path).scanned and not os.path.isdir(run.path)
            if not scanned or (format_ending(run.path) in TABLE_ENDINGS and is_table(run.path)):
                held = read_runs(run, name_by)
        read += held
        names = (one.name if isinstance(one, Run) else one.label() for one in held)
        places += [(name, *place) for name in names]
    check_names(places)
    return read


def find_run_datasets(source: Any) -> list[RunSource]:
    """Return runs in Parquet that are too many to be read whole; none of other runs, or of fewer.

    Files are looked into by their ending alone: pipes are not read.
    """
    listed = list(source) if type(source) in (list, tuple) else [source]
    if not all(isinstance(one, str | os.PathLike | RunSource) for one in listed):
        return []
    try:
        found = [
            file
            for one in listed
            for file in ([one] if isinstance(one, RunSource) else find_runs([as_path("runs", one)]))
        ]
    except UnreadableError:  # raised again where runs are read, after the qrels
        return []
    paths = [file.path for file in found]
    if not all(
        os.path.isdir(path) or (path.lower().endswith(".parquet") and os.path.isfile(path))
        for path in paths
    ):
        return []
    return found if hold_many_documents(paths) else []


def runs_from(source: Any, name: str | None, default: str) -> list[Run]:
    """Return the runs in an object: one, or those that a column of a frame names."""
    if isinstance(source, Run):
        return [source if name is None else replace(source, name=name)]
    if isinstance(source, RunSource):
        return read_runs(source._replace(name=name or source.name), "file")
    if isinstance(source, str | os.PathLike):
        return read_runs(RunSource(as_path("run", source), name), "file")
    own_name = source.name if is_from("ranx", source) and hasattr(source, "name") else None
    entries = read_entries(source, RUN, name or own_name or default)
    return runs_from_entries(entries, name or own_name, default)


def _is_one_run(mapping: Mapping[Any, Any]) -> bool:
    """Whether a mapping is topic → docid → score, rather than name → run, by its values."""
    return all(
        (
            isinstance(held, Mapping)
            and not isinstance(next(iter(held.values()), None), Mapping | list)
        )
        or (isinstance(held, list) and bool(held) and all(map(is_hit, held)))
        for held in mapping.values()
    )


def _runs_and_files(source: Any) -> list[Run | RunSource]:
    """Return the runs that objects hold, and the files that paths stand for."""
    given: list[tuple[Any, str | None, str]] = [(source, None, "run")]  # its name, or by default
    if isinstance(source, Mapping) and not _is_one_run(source):
        names = [as_id(name, "the name of a run", "runs") for name in source]
        given = list(zip(source.values(), names, names, strict=True))
    elif type(source) in (list, tuple) or (is_iterable(source) and not has_columns(source)):
        items = list(source)
        if not items:
            raise FormatError("no runs; expected at least one", path="runs")
        first = items[0]  # an entry of a run? A run may be a tuple too, but one of entries
        is_tuple = isinstance(first, tuple) and not isinstance(first, RunSource)
        if is_tuple and not any(isinstance(field, tuple) for field in first[:1]):
            given = [(items, None, "run")]
        elif len(items) > 1:
            given = [(item, None, f"run{number}") for number, item in enumerate(items, start=1)]
        else:
            given = [(first, None, "run")]
    runs: list[Run | RunSource] = []
    for one, name, default in given:
        if not isinstance(one, str | os.PathLike | RunSource):
            runs += runs_from(one, name, default)
            continue
        files = [one] if isinstance(one, RunSource) else find_runs([as_path("runs", one)])
        if name is None:
            runs += files
        elif len(files) == 1:
            runs.append(files[0]._replace(name=name))
        else:
            raise InvalidValueError(
                f"{one} stands for {len(files)} files; expected one for the run named {name!r}"
            )
    return runs
