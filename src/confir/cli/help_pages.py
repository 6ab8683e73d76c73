"""Help pages without the types that typer shows beside flags and arguments, such as ``<bool>``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

# Narrower pages would be a column of letters.
_NARROWEST = 40


@contextmanager
def _wide_enough() -> Iterator[None]:
    """Let pages have some width, however narrow the terminal says it is."""
    if shutil.get_terminal_size().columns >= _NARROWEST:
        yield
        return
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(_NARROWEST)
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


class PlainCommand(TyperCommand):
    """A command whose help names what is to be given, and no types of Python."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, in lines that can be read."""
        with _wide_enough():
            super().format_help(ctx, formatter)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with words for their values."""
        return [_plain(parameter) for parameter in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """A group of commands whose help does the same."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, in lines that can be read."""
        with _wide_enough():
            super().format_help(ctx, formatter)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with words for their values."""
        return [_plain(parameter) for parameter in super().get_params(ctx)]


_NUMBERS = {"int": "N", "float": "X"}


def _plain(parameter: Any) -> Any:
    """Return a parameter that shows no type: a flag none, a number N or X, other values a word."""
    if isinstance(parameter, TyperArgument):
        vars(parameter)["display_type_rich"] = _nothing
    elif isinstance(parameter, TyperOption) and parameter.metavar is None:
        parameter.metavar = "" if parameter.is_flag else _NUMBERS.get(parameter.bare_type())
    return parameter


def _nothing(**_: Any) -> None:
    return None
