"""Checks before any work: can the answer be written, and are the packages for it installed?"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from confir.defaults import CHART_ENDINGS, ENDINGS
from confir.errors import (
    InvalidValueError,
    MissingDependencyError,
    UnknownNameError,
    UnreadableError,
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
