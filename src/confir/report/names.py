"""Names of runs in sentences; each is isolated from the direction of the text around it."""

from __future__ import annotations

from collections.abc import Iterable

from confir.errors import enumerate_names

# A sentence names this many things, and counts the rest.
NAMES_SHOWN = 5


def isolated(name: str) -> str:
    """Return a name whose direction of writing does not affect the text around it."""
    return name if name.isascii() else f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def list_runs(runs: Iterable[str]) -> str:
    """Return the names of runs for a sentence; the first few where they are many."""
    return enumerate_names(map(isolated, runs), NAMES_SHOWN)
