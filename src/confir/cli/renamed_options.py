"""Renamed options: an error names the new one where the former one is given. To be dropped in 0.4."""

from __future__ import annotations

from typing import NamedTuple


class Renamed(NamedTuple):
    """An option that was renamed.

    Attributes
    ----------
    option
        Its former name.
    instead
        What to write now.
    commands
        The commands that had it; empty for all.
    """

    option: str
    instead: str
    commands: tuple[str, ...] = ()


_TOPICS = ("evaluate", "compare", "collection", "topics", "chance")

RENAMED = (
    Renamed("--per-topic", "--show topics, or -q", _TOPICS),
    Renamed("--ranks", "confir compare --show ranks", ("evaluate",)),
    Renamed("--unjudged", "--show unjudged --treatment bounds|condensed|resample", ("evaluate",)),
    Renamed("--ties", "--show ties --treatment bounds|expected", ("evaluate",)),
    Renamed("--best", "--show best, which compare prints without --baseline", ("compare",)),
    Renamed("--groups", "--show groups", ("compare",)),
    Renamed("--effects", "--show effects", ("compare",)),
    Renamed("--unjudged", "--show unjudged", ("compare",)),
    Renamed("--variance", "--show variance", ("collection", "judges")),
    Renamed("--confusion", "--show confusion", ("judges",)),
    Renamed("--by-run", "--show runs", ("judges",)),
    Renamed("--reliability", "--show reliability", ("components",)),
    Renamed("--datasets", "--generalise-to these (was fixed) or similar (was random)"),
)


def new_name(command: str, option: str) -> str | None:
    """Return one sentence that names what replaces an option; None where nothing does."""
    for one in RENAMED:
        if one.option == option and (not one.commands or command in one.commands):
            return f"{option} is now {one.instead}"
    return None
