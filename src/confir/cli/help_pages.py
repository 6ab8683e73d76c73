"""Help pages: the options that most people need, and with --help-all every option.

Both pages are made of the same declarations: the short one has the options that are declared for it, those
of this command before those of most, and the first sentence of each description.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import click

from confir.cli.options import SHARED_PANELS
from confir.cli.parameters import DeclaredArgument, DeclaredOption

# The least width of a page that can be read, and the greatest width of its names.
_NARROWEST, _WIDEST_NAMES = 40, 36
ARGUMENTS, OPTIONS = "Arguments", "Options"

# Longer lists of words would be broken within one, in pages of 80 columns.
_LONGEST_LIST = 21


class Entry(NamedTuple):
    """A line of a help page: what can be given, and what that does.

    Attributes
    ----------
    spelt
        How it is given.
    about
        What it does, in sentences.
    panel
        The panel that it is listed in.
    default
        What holds without it.
    short, last
        Whether the short page has it, and whether it comes last there.
    """

    spelt: str
    about: str
    panel: str
    default: str = ""
    short: bool = True
    last: bool = False


def long_help_page(context: click.Context) -> str:
    """Return the page with all options."""
    return help_page(context, entries(context))


def short_help_page(context: click.Context) -> str:
    """Return the page with the options that most people need: those of this command, then of most."""
    kept = [one for one in entries(context) if one.short]
    kept.sort(key=lambda one: (one.last, one.panel in SHARED_PANELS))
    return help_page(context, map(_brief, kept))


def help_page(context: click.Context, entries: Iterable[Entry]) -> str:
    """Return the help page of a command: usage, what it does, and its entries in panels."""
    from shutil import get_terminal_size

    width = max(get_terminal_size().columns, _NARROWEST)
    panels: dict[str, list[Entry]] = {}
    for entry in entries:
        panels.setdefault(entry.panel, []).append(entry)
    usage = " ".join(
        ["Usage:", context.command_path, *context.command.collect_usage_pieces(context)]
    )
    lines = ["", *_wrapped(usage, width), "", *_described(context.command.help or "", width), ""]
    for title, listed in panels.items():
        lines += _panel(title, listed, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _described(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a docstring: paragraphs and lists; backticks are for its readers in code."""
    from inspect import cleandoc

    blocks = cleandoc(text).replace("`", "").split("\n\n")
    for number, block in enumerate(blocks):
        if number:
            yield ""
        if not block.startswith("- "):
            yield from _wrapped(" ".join(block.split()), width)
            continue
        for item in block.removeprefix("- ").split("\n- "):
            yield from _wrapped(" ".join(item.split()), width, first=" • ", later="   ")


def _wrapped(text: str, width: int, first: str = "", later: str = "") -> list[str]:
    """Return the lines of a text within the margins of a page; no word is broken at a hyphen."""
    from textwrap import wrap

    return wrap(
        text,
        width - 1,
        initial_indent=f" {first}",
        subsequent_indent=f" {later}",
        break_on_hyphens=False,
    )


def _panel(title: str, entries: Sequence[Entry], width: int) -> Iterator[str]:
    """Yield the lines of a panel: names on the left, what they do on the right."""
    from textwrap import wrap

    names = min(max(len(one.spelt) for one in entries), _WIDEST_NAMES, width // 2 - 4)
    yield f"╭─ {title} {'─' * (width - len(title) - 5)}╮"
    for one in entries:
        default = f" [default: {one.default}]" if one.default else ""
        right = wrap(one.about + default, width - names - 6, break_on_hyphens=False)
        left = wrap(one.spelt, names, break_on_hyphens=False) or [""]
        for row in range(max(len(left), len(right))):
            beside = right[row] if row < len(right) else ""
            yield f"│ {left[row] if row < len(left) else '':{names}}  {beside:{width - names - 6}} │"
    yield f"╰{'─' * (width - 2)}╯"


def entries(context: click.Context) -> list[Entry]:
    """Return the entries of all parameters of a command: arguments, its own options, panels, help."""
    found = [_entry(one) for one in context.command.get_params(context)]
    first = (ARGUMENTS, OPTIONS)
    found.sort(key=lambda one: one.spelt if one.last else "")
    return sorted(
        found, key=lambda one: first.index(one.panel) if one.panel in first else len(first)
    )


def _entry(parameter: Any) -> Entry:
    """Return the entry of an argument or option."""
    if isinstance(parameter, DeclaredArgument):
        return Entry(parameter.declared.metavar, parameter.declared.help, ARGUMENTS)
    names = ", ".join(sorted(parameter.opts, key=len, reverse=True))
    if not isinstance(parameter, DeclaredOption):  # of the help pages themselves, and the version
        return Entry(names, parameter.help or "", OPTIONS, last=True)
    declared = parameter.declared
    spelt, about = " / ".join([names, *parameter.secondary_opts]), declared.help
    if not parameter.is_flag:
        words = "|".join(declared.choices)
        if declared.metavar is None and len(words) > _LONGEST_LIST:
            words, about = "WORD", f"{about} WORD: {', '.join(declared.choices)}."
        spelt += f" {declared.metavar or words or getattr(parameter.type, 'metavar', 'TEXT')}"
    short = declared.panel is None if declared.short is None else declared.short
    return Entry(spelt, about, declared.panel or OPTIONS, _default_text(parameter), short)


def _default_text(option: DeclaredOption) -> str:
    """Return what help says holds without an option; nothing of a flag that is off."""
    if option.default is None:
        return ""
    if option.is_flag:
        names = option.opts if option.default else option.secondary_opts
        return names[0].lstrip("-") if option.secondary_opts else ""
    choices = option.declared.choices
    if isinstance(choices, Mapping):  # the word that stands for the default
        return next(word for word, meant in choices.items() if meant == option.default)
    return str(option.default)


def _brief(entry: Entry) -> Entry:
    """Return an entry with the first sentence of what it does; all options are in one panel."""
    first, dot, _ = entry.about.partition(". ")
    panel = ARGUMENTS if entry.panel == ARGUMENTS else OPTIONS
    return entry._replace(about=first + dot.rstrip(), panel=panel)
