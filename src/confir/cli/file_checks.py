"""Checks of the files that a command names, before its work starts.

Packages that reading and writing need are installed, and results can be written where they are to go:
no output replaces an input of the same command, under whatever name, or another output; and folders
are written into only where they are new, empty, or of confir's making.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import click

from confir.cli.parameters import DeclaredArgument, DeclaredOption, PathRole
from confir.defaults import CHART_ENDINGS, ENDINGS
from confir.errors import (
    ConfirError,
    InvalidValueError,
    MissingDependencyError,
    UnknownNameError,
    UnreadableError,
)

# Endings of files that are read with a package of an extra, which has the name of the module.
_READ_WITH = {".parquet": ("pyarrow", "parquet"), ".zst": ("zstandard", "zst")}


def check_packages(context: click.Context) -> None:
    """Raise where a package is missing that an input needs by its ending, before any is read."""
    missing = {
        ending: needed for ending, needed in _READ_WITH.items() if find_spec(needed[0]) is None
    }
    for path in filter(os.path.isfile, _read_files(context) if missing else ()):
        package, extra = missing.get(os.path.splitext(path)[1].lower(), (None, ""))
        if package is not None:
            raise MissingDependencyError(package, f"{path}: reading it", extra)


def check_outputs(context: click.Context, *further: str) -> None:
    """Raise where an output would replace an input, or mix with what others wrote."""
    outputs = [*paths_with(context, PathRole.WRITE, PathRole.APPEND), *further]
    folders = paths_with(context, PathRole.FOLDER)
    kept = paths_with(context, PathRole.RESUME)
    if not (outputs or folders or kept):
        return
    for output in filter(os.path.isfile, outputs):
        if may_be_read(context, output):
            raise InvalidValueError(
                f"{output}: the command reads this file; expected another one to write"
            )
    for first, second in combinations(outputs, 2):
        if os.path.realpath(first) == os.path.realpath(second):
            raise InvalidValueError(f"{second}: two results cannot go to the same file")
    for folder in folders:
        from confir.data.output_folder import check_output_folder

        check_output_folder(folder, outputs)
    for folder in kept:
        from confir.stored_results import check_resume_folder

        check_resume_folder(folder)


def may_be_read(context: click.Context, file: str) -> bool:
    """Whether a command may read a file: one that it is given, beside that, or below a folder."""
    from confir.data.formats.sources import files_beside

    for path in _read_files(context):
        if any(_is_same(file, one) for one in (path, *files_beside(path))):
            return True
    folders = list(_read_folders(context))
    if any(_is_below(file, folder) for folder in folders):
        return True
    return any(_is_same(file, one) for folder in folders for one in _files_below(folder))


def paths_with(context: click.Context, *roles: PathRole) -> list[str]:
    """Return the paths that the user gave for parameters with some roles."""
    found: list[str] = []
    for one in context.command.params:
        if isinstance(one, DeclaredArgument | DeclaredOption) and one.declared.path in roles:
            value = context.params.get(str(one.name))
            found += value if isinstance(value, list | tuple) else [value or ""]
    return [path for path in found if path]


def _read_files(context: click.Context) -> Iterator[str]:
    """Yield the files that a command may read, also those that are not there."""
    from confir.data.formats.sources import find_files

    for source in paths_with(context, PathRole.READ, PathRole.RUN):
        yield from find_files(source)


def _read_folders(context: click.Context) -> Iterator[str]:
    """Yield the folders that a command reads; the content of files decides which of them are read."""
    from confir.data.formats.sources import expand_pattern

    for source in paths_with(context, PathRole.READ, PathRole.RUN):
        paths = (*expand_pattern(source), source.partition("=")[2])
        yield from filter(os.path.isdir, paths)


def input_files(context: click.Context) -> list[str]:
    """Return what a command reads: files, standard input, addresses and datasets."""
    from confir.data.formats.sources import find_files

    read = [path for source in paths_with(context, PathRole.READ) for path in find_files(source)]
    possible = paths_with(context, PathRole.RUN, PathRole.APPEND)
    return [*read, *filter(os.path.isfile, possible)]


def _is_below(file: str, folder: str) -> bool:
    """Whether a file is in a folder, or in one below it."""
    place = os.path.realpath(folder)
    try:
        return os.path.commonpath([os.path.realpath(file), place]) == place
    except ValueError:  # on another drive
        return False


def _files_below(folder: str) -> Iterator[str]:
    """Yield the files in a folder and below, also behind links to folders; no folder comes twice."""
    seen: set[tuple[int, int]] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        try:
            found = os.stat(place)
        except OSError:  # gone since
            continue
        if (found.st_dev, found.st_ino) in seen:
            folders.clear()
            continue
        seen.add((found.st_dev, found.st_ino))
        yield from (os.path.join(place, name) for name in names)


def _is_same(output: str, path: str) -> bool:
    """Whether two paths lead to the same file: by links, by other spellings, or from stdin."""
    try:
        read = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
        return os.path.samestat(os.stat(output), read)
    except (OSError, ValueError, AttributeError):  # no such file, or no standard input
        return False


def check_name(
    given: str, runs: Sequence[str], scores: Sequence[str], measures: Sequence[str]
) -> None:
    """Raise where what is no file is a pattern that fits none, or a measure, as after ``-m AP RR``."""
    from confir.data.files import STDIN, is_address

    is_run = given in runs  # whose patterns are looked up where runs are found
    if not is_run and glob.has_magic(given) and not glob.glob(given):
        raise UnreadableError(f"{given}: no file matches this pattern")
    if given == STDIN or is_address(given) or "=" in given or given in scores:
        return
    from confir.measures.parsing import parse_measure

    try:
        parse_measure(given)
    except ConfirError:
        return
    several = " ".join(f"-m {name}" for name in (*measures, given))
    raise InvalidValueError(
        f"{given} is a measure where a file was expected; expected each measure after its own -m: "
        f"{several}"
    )


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
    elif ending == ".parquet" and find_spec("pyarrow") is None:
        raise MissingDependencyError("pyarrow", "writing Parquet", "parquet")
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
    """Raise where the package, or the room, is missing that saving charts takes."""
    from confir.report.svg_conversion import check_address_space

    if find_spec("vl_convert") is None:  # without the time that importing it takes
        raise MissingDependencyError("vl-convert-python", "saving charts", "report")
    check_address_space()


def check_junit(path: str) -> None:
    """Raise before any work where a gate could not be written as JUnit XML."""
    if not path.lower().endswith(".xml"):
        raise InvalidValueError(
            f"{path}: the gate is written as JUnit XML; expected a name such as gate.xml"
        )
    check_folder(path)
