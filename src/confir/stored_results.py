"""Results of long work, stored in a folder from which interrupted work is resumed."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from confir.errors import InvalidValueError, UnreadableError
from confir.whole_files import is_unfinished, remove_abandoned, replace_file

Arrays = dict[str, np.ndarray[Any, Any]]

# The file that describes the study, and its key inside each result.
_LISTING = "study.json"
_STUDY = "study"


def digest(*arrays: np.ndarray[Any, Any]) -> str:
    """Return a digest of arrays: shape, type and content."""
    import hashlib

    mixed = hashlib.sha256()
    for array in arrays:
        mixed.update(f"{array.shape} {array.dtype.str};".encode())
        mixed.update(np.ascontiguousarray(array).tobytes())
    return mixed.hexdigest()


def check_resume_folder(path: str | os.PathLike[str]) -> None:
    """Raise if a folder for results contains other files."""
    folder = Path(path)
    with _writing_to(folder):
        held = sorted(os.listdir(folder)) if folder.is_dir() else []
    other = [name for name in held if not is_unfinished(name)]
    if other and not (folder / _LISTING).exists():
        raise InvalidValueError(
            f"{folder}: contains {other[0]} but no results; expected a new or an empty folder"
        )


class StoredResults:
    """A folder with the results of tasks, each written atomically.

    Several processes may share a folder: their results are equal, so the last write wins.
    """

    def __init__(self, folder: Path, study: Mapping[str, Any]) -> None:
        self._folder = folder
        self._study = json.dumps(study, sort_keys=True)
        listing = folder / _LISTING
        check_resume_folder(folder)
        with _writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
            remove_abandoned(folder.iterdir())
            if not listing.exists():
                replace_file(listing, self._study.encode())
            content = listing.read_bytes()
        try:
            kept = json.loads(content)
        except ValueError:
            raise UnreadableError(f"{listing} is damaged; use another folder") from None
        self._refuse_other(kept, json.loads(self._study))

    def _refuse_other(self, kept: Any, wanted: dict[str, Any]) -> None:
        """Raise if the folder stores another study, naming the differences."""
        if kept == wanted:
            return
        held = kept if isinstance(kept, dict) else {}
        other = [name for name in {**wanted, **held} if held.get(name) != wanted.get(name)]
        raise InvalidValueError(
            f"{self._folder} stores the results of another study, with other {', '.join(other)}; "
            "use another folder, or repeat that study"
        )

    def load_all(self, tasks: int) -> dict[int, Arrays]:
        """Return the arrays that are there, by the number of their task."""
        found = ((number, self._load(number)) for number in range(tasks))
        return {number: arrays for number, arrays in found if arrays is not None}

    def _load(self, number: int) -> Arrays | None:
        """Return the arrays of a task; None if missing, damaged, or of another study."""
        import zipfile
        import zlib

        try:
            with (
                open(self._path(number), "rb") as stream,  # np.load leaves damaged files open
                np.load(stream, allow_pickle=False) as kept,
            ):
                arrays = {name: kept[name] for name in kept.files}
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error):
            return None
        return arrays if str(arrays.pop(_STUDY, "")) == self._study else None

    def save(self, number: int, arrays: Arrays) -> None:
        """Store the arrays of a task."""
        content: dict[str, Any] = {**arrays, _STUDY: np.array(self._study)}
        with _writing_to(self._folder):
            stream = io.BytesIO()
            np.savez(stream, **content)
            replace_file(self._path(number), stream.getvalue())

    def _path(self, number: int) -> Path:
        return self._folder / f"task-{number:06d}.npz"


@contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"{folder}: cannot store results there ({reason})") from None
