"""Warnings for readers: most important first, each once, and those that are alike merged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from confir.errors import counted

# This many warnings that differ only in names and numbers are shown, and the rest counted.
_SHOWN_ALIKE = 3
_DETAIL = re.compile(r"^\S+: |'[^']*'|\([^()]*\)|\b\d[\d,.]*|(?<=[a-z])s\b")

# Where a warning stops to say what was found, and starts to say what becomes of it.
_CONSEQUENCE = ", which "


def like(text: str) -> str:
    """Return what a warning has in common with others that differ only in names and numbers."""
    return _DETAIL.sub("", text)


def merge_warnings(found: Iterable[tuple[int, str]]) -> list[str]:
    """Return warnings by importance, the lowest number first.

    One that was given several times is counted; of those that differ only in names and numbers the
    first few are shown; what several say of one finding is said together.
    """
    alike: dict[tuple[int, str], list[str]] = {}
    for (place, text), times in Counter(_joined(found)).items():
        shown = text if times == 1 else f"{text} ({times:,} times)"
        alike.setdefault((place, like(text)), []).append(shown)
    lines: list[str] = []
    for _, texts in sorted(alike.items(), key=lambda item: item[0][0]):
        lines += texts[:_SHOWN_ALIKE]
        if len(texts) > _SHOWN_ALIKE:
            more = counted(len(texts) - _SHOWN_ALIKE, "more warning")
            lines.append(f"{more} like the one before")
    return lines


def _joined(found: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return warnings, those of the same finding as one: "…, which A; which B"."""
    findings: dict[str, list[tuple[int, str]]] = {}
    for place, text in found:
        finding, _, consequence = text.partition(_CONSEQUENCE)
        findings.setdefault(finding if consequence else text, []).append((place, text))
    joined: list[tuple[int, str]] = []
    for finding, texts in findings.items():
        consequences = dict.fromkeys(text.partition(_CONSEQUENCE)[2] for _, text in texts)
        if len(consequences) == 1:
            joined += texts
            continue
        said = f"{_CONSEQUENCE}{_together(list(consequences))}"
        joined.append((min(place for place, _ in texts), f"{finding}{said}"))
    return joined


def _together(consequences: list[str]) -> str:
    """Return consequences one after the other; what all advise is said once."""
    heads, signs, advice = zip(*(text.rpartition(": ") for text in consequences), strict=True)
    if len(set(advice)) > 1 or not all(signs):
        return "; which ".join(consequences)
    return f"{'; which '.join(heads)}: {advice[0]}"
