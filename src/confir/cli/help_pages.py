"""Help pages without the types that typer shows beside flags and arguments, such as ``<bool>``."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption


class PlainCommand(TyperCommand):
    """A command whose help names what is to be given, and no types of Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with words for their values."""
        return [_plain(parameter) for parameter in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """A group of commands whose help does the same."""

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
