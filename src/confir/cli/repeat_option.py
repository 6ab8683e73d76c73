"""The option --repeats, with which runs are repeats of systems; how they are named may follow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from confir.cli import options
from confir.cli.parameters import Option

# What stands for the usual names, where no pattern follows.
USUAL = "usual"
_OPTION, _SYSTEM = "--repeats", "{system}"

RepeatsOption = Annotated[
    str | None,
    Option(
        _OPTION,
        metavar="[PATTERN]",
        help="Runs are repeats of systems, such as several seeds of one model: results are of the systems, "
        "and count that repeats vary. Names such as system@1, system_seed1 and system-s1 are known; "
        "PATTERN describes others: '{system}-v{repeat}'.",
        panel=options.INPUT_PANEL,
    ),
]


def with_patterns(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command line with a value for each --repeats that has none.

    A pattern holds {system}, which tells it from the name of a file.
    """
    words = list(arguments)
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word == _OPTION and _SYSTEM not in following:
            words[place] = f"{_OPTION}={USUAL}"
    return words


def pattern_of(repeats: str | None) -> str | None:
    """Return the pattern that was given; None for the usual names."""
    return None if repeats == USUAL else repeats
