"""Names in sentences: of runs, isolated from the writing direction around them, and of what is counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from confir.errors import enumerate_names

# A sentence lists this many names, and counts the rest.
NAMES_SHOWN = 5


def isolated(name: str) -> str:
    """Return a name whose writing direction does not affect the text around it."""
    return name if name.isascii() else f"\u2068{name}\u2069"


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
