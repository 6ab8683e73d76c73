"""Shares of wins between two systems while votes arrive, where every look counts.

Votes of interleaving arrive one by one, and whoever looks early stops at a lucky moment. A confidence
sequence of the share of wins holds at all looks at once (Waudby-Smith & Ramdas 2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confir.arguments import as_choice, as_level
from confir.arrays import Floats
from confir.data.result import Result, constant, result
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.data.votes import Votes, read_votes
from confir.defaults import LEVEL
from confir.errors import InvalidValueError, counted
from confir.intervals.bounded import confidence_sequence
from confir.measures.strengths import CLUSTERS
from confir.number_text import percent


@result
class ShareSequence(Result):
    """The share of wins of one system against another, with limits that hold at every look.

    Attributes
    ----------
    run, against
        The two systems.
    votes, units, cluster
        Votes between both, and the units that the share is a mean over: "vote", "judge" or "topic".
    share
        Mean over units of the share of wins, a tie counting half.
    low, high
        Its limits; the chance that those of any look miss is at most 1 - level.
    p
        p-value of a share of ½, valid at every look.
    level
        Confidence level.
    """

    run: str = constant()
    against: str = constant()
    votes: int = constant()
    units: int = constant()
    cluster: str = constant()
    share: float = constant()
    low: float = constant()
    high: float = constant()
    p: float = constant()
    level: float = constant()

    @property
    def sentence(self) -> str:
        """What can be said after any number of looks."""
        if self.low > 0.5:
            return f"{self.run} is preferred to {self.against}"
        if self.high < 0.5:
            return f"{self.against} is preferred to {self.run}"
        return "inconclusive so far"

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "run": TableColumn(Role.NAME, "system"),
            "against": TableColumn(Role.NAME),
            "share": TableColumn(Role.SCORE, "share of wins", LIMITS),
            "p": TableColumn(Role.P),
            "votes": TableColumn(Role.COUNT),
        }

    def note(self) -> str:
        """Return the answer in words, and what the columns are."""
        return (
            f"{self.sentence}; share of wins over {counted(self.units, self.cluster)}, a tie counting "
            f"half, with a {percent(self.level)} confidence sequence: limits and p-value hold at every "
            "look (Waudby-Smith & Ramdas 2023)"
        )


def share_sequence(
    votes: Any, *, baseline: str | None = None, cluster: str | None = None, level: float = LEVEL
) -> ShareSequence:
    """Return the share of wins of one system against another, with limits valid at every look.

    An interval for a fixed number of votes is wrong for who looks repeatedly and stops at a lucky
    moment. These limits hold at all looks at once, so that you may stop as soon as they are clear.

    Parameters
    ----------
    votes
        Votes between two systems, in order of arrival: what `read_votes` takes.
    baseline
        The system that the other is compared with; by default the second by name.
    cluster
        "judge" or "topic": a unit is then the mean of its votes, and enters when its first vote
        arrives; only units that are complete may be given.
    level
        Confidence level of all looks together.

    Examples
    --------
    >>> clicks = {"left": ["new"] * 60, "right": ["old"] * 60, "winner": ["new", "new", "old"] * 20}
    >>> share_sequence(clicks, baseline="old").sentence
    'inconclusive so far'
    """
    level = as_level(level)
    held = read_votes(votes)
    if len(held.systems) != 2:
        raise InvalidValueError(
            f"there are {len(held.systems)} systems; limits for every look are of votes between 2"
        )
    if cluster is not None:
        as_choice("cluster", cluster, CLUSTERS)
    against = held.systems[1] if baseline is None else baseline
    place = held.systems.index(as_choice("baseline", against, held.systems, "system"))
    won = np.where(held.left == place, 1.0 - held.winner, held.winner)
    units = won if cluster is None else _unit_shares(held, won, cluster)
    found = confidence_sequence(units[:, None], level)
    return ShareSequence(
        run=held.systems[1 - place],
        against=against,
        votes=len(held),
        units=len(units),
        cluster=cluster or "vote",
        share=float(units.mean()),
        low=float(found.limits.low[0]),
        high=float(found.limits.high[0]),
        p=float(found.p[0]),
        level=level,
    )


def _unit_shares(votes: Votes, won: Floats, cluster: str) -> Floats:
    """Return the mean share of each judge or topic, in order of arrival."""
    codes = votes.unit_codes(cluster)
    _, first, member = np.unique(codes, return_index=True, return_inverse=True)
    means: Floats = np.bincount(member, won) / np.bincount(member)
    return means[np.argsort(first, kind="stable")]
