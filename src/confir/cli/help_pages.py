"""Help pages: the options that most people need, and with --help-all every option.

Both pages are made of the same declarations: the short one has the options of `COMMON`, those that only
this command has, and the first sentence of what is said of each.
"""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

# Narrower pages would be a column of letters.
_NARROWEST = 40

# Shared options on the short page, by parameter, in its order; what only a command has comes first.
COMMON = ("scores", "measure", "select", "level", "rows", "output", "kind", "help", "help_all")
# Options in panels of their own that the short page of a command has, too.
_OF_COMMAND = {
    "compare": ("fail_if_worse", "margin"),
    "chance": ("documents", "relevant"),
    "judges": ("judge",),
    "leaderboard": ("means",),
    "report": ("output", "title", "baseline", "figures"),
}
# Options of one command that few people need: on the long page only.
_RARE = {
    "compare": ("family", "topics", "rows"),
    "evaluate": ("topics",),
    "collection": ("topics",),
    "chance": ("topics",),
    "topics": ("topics",),
}
# Where the context of a command says which page is printed.
_WHOLE = "confir.help_all"


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

    _long_help: Any = None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, in lines that can be read."""
        ctx.meta.setdefault(_WHOLE, False)
        with _wide_enough():
            super().format_help(ctx, formatter)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, with words for their values; those of the page that is printed."""
        if self._long_help is None:
            self._long_help = _help_all(self.get_help_option(ctx))
        params = [*map(_plain, super().get_params(ctx)), _plain(self._long_help)]
        return _short_page(ctx.info_name, params) if ctx.meta.get(_WHOLE) is False else params


def _help_all(usual: Any) -> Any:
    """Return the option that prints the long page, made of the usual one."""
    option = copy.copy(usual)
    option.name, option.opts, option.secondary_opts = "help_all", ["--help-all"], []
    option.help = "Show all options and exit."
    option.callback = _show_all
    return option


def _show_all(context: Any, _: Any, value: bool) -> None:
    if value and not context.resilient_parsing:
        context.meta[_WHOLE] = True
        typer.echo(context.get_help(), color=context.color)
        context.exit()


def _short_page(command: str | None, params: list[Any]) -> list[Any]:
    """Return the parameters of the short page: arguments, then options that this command has alone."""
    own = _OF_COMMAND.get(str(command), ())
    rare = _RARE.get(str(command), ())
    arguments = [one for one in params if isinstance(one, TyperArgument)]
    options = [one for one in params if isinstance(one, TyperOption) and one.name not in rare]
    shared = [one for name in COMMON for one in options if one.name == name]
    special = [
        one
        for one in options
        if one.name in own or (one.rich_help_panel is None and one.name not in COMMON)
    ]
    return [*map(_brief, dict.fromkeys([*arguments, *special, *shared]))]


def _brief(parameter: Any) -> Any:
    """Return a parameter with the first sentence of its help, in the common panel."""
    short = copy.copy(parameter)
    first, dot, _ = (parameter.help or "").partition(". ")
    short.help = first + dot.rstrip()
    short.rich_help_panel = None
    return short


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
