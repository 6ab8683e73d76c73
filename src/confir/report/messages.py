"""Messages to readers: names of runs in sentences; warnings, collected and merged."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unicodedata import bidirectional

from confir.control_characters import without_controls
from confir.errors import (
    ConfirWarning,
    DegenerateSampleWarning,
    counted,
    enumerate_names,
    place_by_importance,
)

# A sentence lists this many names, and counts the rest.
NAMES_SHOWN = 5

# This many warnings that differ only in names and numbers are shown, and the rest counted.
_SHOWN_ALIKE = 3
_DETAIL = re.compile(r"^\S+: |'[^']*'|\([^()]*\)|\b\d[\d,.]*|(?<=[a-z])s\b")

# Classes of characters that are written from right to left, and of numbers within them.
_RIGHT_TO_LEFT = {"R", "AL", "AN"}

# What separates what a warning found from its consequence.
_CONSEQUENCE = ", which "


def isolated(name: str) -> str:
    """Return a name whose writing direction does not affect the text around it.

    Only one that is written from right to left, at least in part, is put in a Unicode isolate.
    """
    if name.isascii() or not any(bidirectional(sign) in _RIGHT_TO_LEFT for sign in name):
        return name
    return f"\u2068{without_controls(name)}\u2069"


def list_runs(runs: Iterable[str]) -> str:
    """Return the names of runs for a sentence; the first few if they are many."""
    return enumerate_names(map(isolated, runs), NAMES_SHOWN)


def joined_names(runs: Sequence[str]) -> str:
    """Return the names of runs as the subject of a sentence: ``a``, ``a and b``, ``a, b and 3 more``."""
    names = [isolated(run) for run in runs]
    if len(names) > NAMES_SHOWN:
        return list_runs(runs)
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def sentence_case(text: str) -> str:
    """Return text that starts a sentence; a number or a name at its start is kept as it is."""
    return f"{text[0].upper()}{text[1:]}" if text.startswith(("none ", "the ")) else text


@contextmanager
def collected_warnings(*, shown: bool) -> Iterator[list[ConfirWarning]]:
    """Collect confir's warnings for the page; they are also shown as usual, or not at all."""
    collected: list[ConfirWarning] = []
    with warnings.catch_warnings():
        show = warnings.showwarning
        if not shown:
            warnings.simplefilter("always", ConfirWarning)

        def collect(message: Warning | str, *rest: Any, **options: Any) -> None:
            if isinstance(message, ConfirWarning):
                collected.append(message)
            if shown:
                show(message, *rest, **options)

        warnings.showwarning = collect
        yield collected


def by_importance(messages: Iterable[ConfirWarning]) -> dict[str, tuple[str, ...]]:
    """Return the texts of warnings, the most important first, and of remarks; each once."""
    found = {"warnings": set(), "remarks": set()}  # type: dict[str, set[tuple[int, str]]]
    for message in messages:
        text = f"{message}: {message.advice}" if message.advice else str(message)
        minor = isinstance(message, DegenerateSampleWarning)
        found["remarks" if minor else "warnings"].add((place_by_importance(type(message)), text))
    return {
        "warnings": tuple(merge_warnings(sorted(found["warnings"]))),
        "remarks": tuple(text for _, text in sorted(found["remarks"])),
    }


def like(text: str) -> str:
    """Return what a warning has in common with others that differ only in names and numbers."""
    return _DETAIL.sub("", text)


def merge_warnings(found: Iterable[tuple[int, str]]) -> list[str]:
    """Return warnings by importance, the lowest number first.

    Identical warnings are counted; of those that differ only in names and numbers the first few are
    shown; those of one finding are joined: "…, which A; which B".
    """
    findings: dict[str, list[tuple[int, str]]] = {}
    for place, text in found:
        finding, _, consequence = text.partition(_CONSEQUENCE)
        findings.setdefault(finding if consequence else text, []).append((place, text))
    joined: list[tuple[int, str]] = []
    for finding, texts in findings.items():
        consequences = dict.fromkeys(text.partition(_CONSEQUENCE)[2] for _, text in texts)
        if len(consequences) == 1:
            joined += texts
        else:
            said = f"{_CONSEQUENCE}{_together(list(consequences))}"
            joined.append((min(place for place, _ in texts), f"{finding}{said}"))
    alike: dict[tuple[int, str], list[str]] = {}
    for (place, text), times in Counter(joined).items():
        shown = text if times == 1 else f"{text} ({times:,} times)"
        alike.setdefault((place, like(text)), []).append(shown)
    lines: list[str] = []
    for _, same in sorted(alike.items(), key=lambda item: item[0][0]):
        lines += same[:_SHOWN_ALIKE]
        if len(same) > _SHOWN_ALIKE:
            more = counted(len(same) - _SHOWN_ALIKE, "more warning")
            lines.append(f"{more} like the one before")
    return lines


def _together(consequences: list[str]) -> str:
    """Return consequences one after the other, the advice once if it is the same for all."""
    heads, signs, advice = zip(*(text.rpartition(": ") for text in consequences), strict=True)
    if len(set(advice)) > 1 or not all(signs):
        return "; which ".join(consequences)
    return f"{'; which '.join(heads)}: {advice[0]}"
