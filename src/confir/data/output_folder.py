"""Folders that may be written into: new and empty ones, and those that confir wrote alone.

A folder of several files lists them in ``.confir``, each before it is written. When the folder is
written again, its files are replaced, and those that are no longer part of it go; so do those that a
killed command left unfinished. Links are never of
confir's making, and none is followed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from confir.data.files import PathLike
from confir.errors import InvalidValueError, UnreadableError
from confir.whole_files import is_abandoned, is_unfinished, remove_abandoned, replace_file

_LISTING = ".confir"
_HEADING = "# written by confir, with these files:"
# What desktops leave in folders that they show.
_DESKTOP_FILES = {".DS_Store", "Thumbs.db", "desktop.ini"}


class OutputFolder:
    """A folder to write files into, made where there is none; `file` gives their places.

    Raises where there are files in it that confir did not write, besides the given ones. As a context,
    it takes away what it made where an error leaves the folder without any file.
    """

    def __init__(self, path: PathLike, besides: Iterable[PathLike] = ()) -> None:
        self._path = Path(path)
        self._before = check_output_folder(path, besides)
        self._written: dict[str, None] = {}
        self._listed: tuple[str, ...] = ()
        places = (self._path, *self._path.parents)
        self._made = [place for place in places if not os.path.lexists(place)]
        with self, _naming(self._path):
            self._path.mkdir(parents=True, exist_ok=True)
            remove_abandoned(self._path / name for name in _files(self._path))
            self._list(sorted(self._before))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if kind is not None and self._made and set(_files(self._path)) <= {_LISTING}:
            below = [place for place in self._path.glob("*") if place.is_dir()]
            with suppress(OSError):
                (self._path / _LISTING).unlink(missing_ok=True)
                for place in (*below, *self._made):
                    place.rmdir()

    def file(self, name: str) -> Path:
        """Return where a file goes that has a name such as "runs/bm25.txt"."""
        target = self._path / name
        self._written[name] = None
        for place in (target, *target.parents):
            if place == self._path:
                break
            if place.is_symlink():
                raise _not_ours(self._path, place.relative_to(self._path).as_posix())
        with _naming(self._path):
            if name not in self._listed:
                self._list([*self._listed, name])
            target.parent.mkdir(exist_ok=True)
        return target

    def remove_stale(self) -> None:
        """Remove the files that confir wrote there before, and did not write now."""
        with _naming(self._path):
            for name in self._before - set(self._written):
                (self._path / name).unlink(missing_ok=True)
            self._list(self._written)

    def _list(self, names: Iterable[str]) -> None:
        """Write the listing whole: a folder without one does not count as confir's."""
        self._listed = tuple(names)
        lines = [_HEADING, *map(json.dumps, self._listed)]
        replace_file(self._path / _LISTING, ("\n".join(lines) + "\n").encode())


def check_output_folder(path: PathLike, besides: Iterable[PathLike] = ()) -> set[str]:
    """Return the files that confir wrote into a folder; raise where there are others.

    ``besides`` are files that the same command writes by themselves, and may stand there.
    """
    folder = Path(path)
    allowed = {os.path.realpath(file) for file in besides}
    with _naming(folder):
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError("there is a file of that name")
        listed = _listed(folder / _LISTING)
        found = {name for name in _files(folder) if not is_abandoned(folder / name)}
    links = {name for name in found if (folder / name).is_symlink()}
    for name in sorted((found - listed) | links):
        if is_unfinished(name):
            raise InvalidValueError(
                f"{folder}: another process of confir seems to write {name} there; expected another "
                "folder, or that file to be removed if none does"
            )
        if os.path.realpath(folder / name) not in allowed:
            raise _not_ours(folder, name)
    return (found & listed) - {_LISTING}


def _not_ours(folder: Path, name: str) -> InvalidValueError:
    return InvalidValueError(
        f"{folder}: holds {name}, which confir did not write there; expected a new or an empty folder"
    )


def _listed(listing: Path) -> set[str]:
    """Return the files that a listing names, itself among them; none where it is not confir's."""
    try:
        heading, *lines = listing.read_text(encoding="utf-8").splitlines()
        return {_LISTING, *map(json.loads, lines)} if heading == _HEADING else set()
    except (FileNotFoundError, ValueError, TypeError):
        return set()


def _files(folder: Path) -> Iterator[str]:
    """Yield the files in a folder and below; links count as files, wherever they lead to."""
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in {*names, *links} - _DESKTOP_FILES:
            yield Path(place, name).relative_to(folder).as_posix()


@contextmanager
def _naming(folder: Path) -> Iterator[None]:
    """Turn the errors of the system into one sentence with the folder."""
    try:
        yield
    except (OSError, ValueError) as error:  # the second for a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"{folder}: cannot be made a folder ({reason})") from None
