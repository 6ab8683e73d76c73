"""Compact letters of groups of runs, as papers print them: runs that share one do not differ."""

from __future__ import annotations

from string import ascii_lowercase

# Of more groups than this, a run's letters are written as a range.
_MOST_LETTERS = 4


def group_letters(first: int, last: int) -> str:
    """Return the letters of a run from the first and the last group that it is in, from 1.

    >>> [group_letters(1, 1), group_letters(1, 2), group_letters(2, 2), group_letters(2, 9)]
    ['a', 'ab', 'b', 'b–i']
    """
    letters = [_letter(number) for number in range(first, last + 1)]
    if len(letters) <= _MOST_LETTERS and last <= len(ascii_lowercase):
        return "".join(letters)
    return letters[0] if first == last else f"{letters[0]}–{letters[-1]}"


def _letter(number: int) -> str:
    """Return the letter of a group: a to z, then aa, ab, and so on."""
    name = ""
    while number:
        number, rest = divmod(number - 1, len(ascii_lowercase))
        name = ascii_lowercase[rest] + name
    return name
