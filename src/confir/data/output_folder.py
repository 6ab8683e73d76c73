"""Which folders may be written into? New and empty ones, and those that confir wrote alone.

A folder of several files lists them in ``.confir``, each before it is written. When the folder is
written again, its files are replaced, and those that are no longer part of it go.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from confir.data.files import PathLike
from confir.errors import InvalidValueError, UnreadableError

_LISTING = ".confir"
_HEADING = "# written by confir, with these files:"
# What desktops leave in folders that they show.
_DESKTOP_FILES = {".DS_Store", "Thumbs.db", "desktop.ini"}


class OutputFolder:
    """A folder to write files into, made where there is none; `file` gives their places.

    Raises where there are files in it that confir did not write, besides the given ones.
    """

    def __init__(self, path: PathLike, besides: Iterable[PathLike] = ()) -> None:
        self._path = Path(path)
        self._before = check_output_folder(path, besides)
        self._written: dict[str, None] = {}
        with _naming(self._path):
            self._path.mkdir(parents=True, exist_ok=True)
            self._list(self._before)

    def file(self, name: str) -> Path:
        """Return where a file goes that has a name such as "runs/bm25.txt"."""
        target = self._path / name
        self._written[name] = None
        with _naming(self._path):
            if name not in self._before:
                with open(self._path / _LISTING, "a", encoding="utf-8") as listing:
                    listing.write(f"{json.dumps(name)}\n")
            target.parent.mkdir(exist_ok=True)
        return target

    def remove_stale(self) -> None:
        """Remove the files that confir wrote there before, and did not write now."""
        with _naming(self._path):
            for name in self._before - set(self._written):
                (self._path / name).unlink(missing_ok=True)
            self._list(self._written)

    def _list(self, names: Iterable[str]) -> None:
        lines = [_HEADING, *map(json.dumps, names)]
        (self._path / _LISTING).write_text("\n".join(lines) + "\n", encoding="utf-8")


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
        found = set(_files(folder))
    for name in sorted(found - listed):
        if os.path.realpath(folder / name) not in allowed:
            raise InvalidValueError(
                f"{folder}: holds {name}, which confir did not write there; expected a new or an "
                "empty folder"
            )
    return (found & listed) - {_LISTING}


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
