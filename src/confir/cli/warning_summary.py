"""Warnings of a command, below its result: most important first, and each but once."""

from __future__ import annotations

import re
from collections import Counter
from types import TracebackType
from typing import Any, Self

from confir.cli.streams import print_message
from confir.errors import ConfirWarning, counted, place_by_importance

# This many warnings that differ only in names and numbers are shown, and the rest counted.
_SHOWN_ALIKE = 3
_DETAIL = re.compile(r"^\S+: |'[^']*'|\([^()]*\)|\b\d[\d,.]*|(?<=[a-z])s\b")


def like(text: str) -> str:
    """Return what a warning has in common with others that differ only in names and numbers."""
    return _DETAIL.sub("", text)


class WarningSummary:
    """Collects the warnings of a command, and prints them when it ends."""

    def __init__(self) -> None:
        self._found: Counter[tuple[int, str]] = Counter()

    def show(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        """Keep a warning of confir; those of other packages are for developers."""
        if issubclass(category, ConfirWarning):
            self._found[place_by_importance(category), str(message)] += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for line in self._lines():
            print_message(f"confir: warning: {line}")
        self._found.clear()

    def _lines(self) -> list[str]:
        """Return the warnings by importance; of those that are alike, the first few."""
        alike: dict[tuple[int, str], list[str]] = {}
        for (place, text), times in self._found.items():
            shown = text if times == 1 else f"{text} ({times:,} times)"
            alike.setdefault((place, like(text)), []).append(shown)
        lines: list[str] = []
        for _, texts in sorted(alike.items(), key=lambda item: item[0][0]):
            lines += texts[:_SHOWN_ALIKE]
            if len(texts) > _SHOWN_ALIKE:
                more = counted(len(texts) - _SHOWN_ALIKE, "more warning")
                lines.append(f"{more} like the one before")
        return lines
