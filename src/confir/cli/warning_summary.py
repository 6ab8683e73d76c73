"""Warnings of a command, below its result: most important first, and each but once."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from confir.cli.streams import print_message
from confir.errors import ConfirWarning, place_by_importance
from confir.report.merged_warnings import merge_warnings


class WarningSummary:
    """Collects the warnings of a command, and prints them when it ends; none before an error."""

    def __init__(self) -> None:
        self._found: list[tuple[int, str]] = []

    def show(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        """Keep a warning of confir; those of other packages are for developers."""
        if issubclass(category, ConfirWarning):
            self._found.append((place_by_importance(category), str(message)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:  # an error says what is wrong, and warnings would only hide it
            for line in merge_warnings(self._found):
                print_message(f"confir: warning: {line}")
        self._found.clear()
