"""Names of runs in sentences, isolated from the writing direction of the text around them."""

from __future__ import annotations

from collections.abc import Iterable

from confir.errors import enumerate_names

# A sentence lists this many names, and counts the rest.
NAMES_SHOWN = 5


def isolated(name: str) -> str:
    """Return a name whose writing direction does not affect the text around it."""
    return name if name.isascii() else f"\u2068{name}\u2069"


def list_runs(runs: Iterable[str]) -> str:
    """Return the names of runs for a sentence; the first few if they are many."""
    return enumerate_names(map(isolated, runs), NAMES_SHOWN)
