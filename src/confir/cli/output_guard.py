"""Would an output destroy something? Checked for every command, before its work starts.

No output replaces an input of the same command, under whatever name, or another output; and folders
are written into only where they are new, empty, or of confir's making.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import typer
from typer.core import TyperCommand

from confir.errors import InvalidValueError

# Parameters of commands that name what is read, and what is written.
INPUTS = ("qrels", "runs", "files", "scores", "intents", "baseline", "run", "judge", "human")
OUTPUT_FILES = ("output", "truth", "report")
OUTPUT_FOLDERS = ("collection", "write", "figures")
KEPT_FOLDERS = ("resume",)


class GuardedCommand(TyperCommand):
    """A command that starts only if it destroys nothing."""

    def invoke(self, ctx: Any) -> Any:
        """Check the outputs that the arguments name, then run the command."""
        _guard(ctx)
        return super().invoke(ctx)


def _guard(context: typer.Context) -> None:
    """Raise where an output would replace an input, or mix with what others wrote."""
    outputs = list(_named(context, OUTPUT_FILES))
    folders = list(_named(context, OUTPUT_FOLDERS))
    kept = list(_named(context, KEPT_FOLDERS))
    if not (outputs or folders or kept):
        return
    for output in filter(os.path.isfile, outputs):
        if any(_is_same(output, path) for path in _read_files(context)):
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
        from confir.parallel import check_resume_folder

        check_resume_folder(folder)


def _named(context: typer.Context, names: tuple[str, ...]) -> Iterator[str]:
    """Yield what the user gave for some parameters."""
    for name in names:
        value = context.params.get(name)
        yield from value if isinstance(value, list | tuple) else [value] if value else []


def _read_files(context: typer.Context) -> Iterator[str]:
    """Yield the files that a command may read; a name that is no file may be one all the same."""
    from confir.data.formats.run_sources import find_files

    for source in _named(context, INPUTS):
        yield from find_files(source)


def _is_same(output: str, path: str) -> bool:
    """Whether two paths lead to the same file: by links, by other spellings, or from stdin."""
    try:
        read = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
        return os.path.samestat(os.stat(output), read)
    except (OSError, ValueError, AttributeError):  # no such file, or no standard input
        return False
