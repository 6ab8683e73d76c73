"""Compact letters of groups of runs, as papers print them: runs that share one do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

# Of more groups than this, a run's letters are written as a range.
_MOST_LETTERS = 4


def group_letters(groups: Sequence[tuple[int, int]]) -> list[str]:
    """Return the letters of runs, from the first and the last group that each is in, from 1.

    Parameters
    ----------
    groups
        Of each run, as `GroupedRuns.groups_of` returns them.

    >>> group_letters([(1, 1), (1, 2), (2, 2)])
    ['a', 'ab', 'b']
    """
    return [_letters(first, last) for first, last in groups]


def _letters(first: int, last: int) -> str:
    if last - first < _MOST_LETTERS and last <= len(ascii_lowercase):
        return "".join(_letter(number) for number in range(first, last + 1))
    return _letter(first) if first == last else f"{_letter(first)}–{_letter(last)}"


def _letter(number: int) -> str:
    """Return the letter of a group: a to z, then aa, ab, and so on."""
    name = ""
    while number:
        number, rest = divmod(number - 1, len(ascii_lowercase))
        name = ascii_lowercase[rest] + name
    return name
