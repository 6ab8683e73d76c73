"""Pairs of systems: how people voted between them, and what their strengths predict and decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.measures.strengths import Strengths
from confir.number_text import percent
from confir.pairs.comparison import Comparison
from confir.pairs.decisions import OPPOSITE


@result
class PreferencePairs(Result):
    """Pairs of systems: votes between them, predicted shares of wins and differences in strength.

    Attributes
    ----------
    pairs
        A system, and the one that it is compared with.
    votes, wins, ties, losses
        Votes between both.
    observed, predicted
        Share of wins, ties half, and the one that strengths predict; NaN without votes.
    difference, low, high
        Difference in strength, with the limits that the verdict rests on.
    p_adjusted, verdict, borderline
        Of the difference, adjusted for all pairs, and whether another seed might change it.
    level
        Confidence level.
    """

    pairs: tuple[tuple[str, str], ...] = axis("pair")
    votes: Integers = over("pair")
    wins: Integers = over("pair")
    ties: Integers = over("pair")
    losses: Integers = over("pair")
    observed: Floats = over("pair")
    predicted: Floats = over("pair")
    difference: Floats = over("pair")
    low: Floats = over("pair")
    high: Floats = over("pair")
    p_adjusted: Floats = over("pair")
    verdict: Any = over("pair")
    borderline: Booleans = over("pair")
    family: str = constant()
    level: float = constant()

    label_parts: ClassVar = {"pair": ("run", "against")}
    bold_means = "significant difference"

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "run": TableColumn(Role.NAME, "system"),
            "against": TableColumn(Role.NAME),
            "verdict": TableColumn(
                Role.VERDICT, others=("borderline",), bold=lambda r: r["verdict"] in OPPOSITE
            ),
            "wins": TableColumn(Role.WINS, "w/t/l", ("ties", "losses")),
            "observed": TableColumn(Role.SHARE),
            "predicted": TableColumn(Role.SHARE),
            "difference": TableColumn(Role.DIFFERENCE, others=LIMITS),
            "p_adjusted": TableColumn(Role.P, "adj. p"),
        }

    def note(self) -> str:
        """Return what the columns are."""
        count = len(self.pairs)
        return (
            "w/t/l: votes won, tied, lost against each other; observed: share of wins, a tie counting half; "
            f"predicted: by strengths; difference in strength with its {'simultaneous ' * (count > 1)}"
            f"{percent(self.level)} interval and p-value, "
            f"{f'adjusted for all {count} pairs' if count > 1 else 'by t'}"
            + "; borderline: another seed might change the verdict"
            * bool(self.borderline.any())
        )

    def derived(self) -> Iterator[Variable]:
        """Yield observed shares, None where there are no votes."""
        known = [None if np.isnan(share) else share for share in self.observed.tolist()]
        yield Variable("observed", ("pair",), known)


def preference_pairs(comparison: Comparison, strengths: Strengths) -> PreferencePairs:
    """Return the pairs of a comparison of strengths, the stronger system first without a baseline."""
    turned = (comparison.difference[:, 0] < 0) & (comparison.baseline is None)
    run = np.where(turned, comparison.first, comparison.second)
    against = np.where(turned, comparison.second, comparison.first)
    order = np.lexsort((-strengths.strength[against], -strengths.strength[run]))
    run, against, turned = run[order], against[order], turned[order]
    low, high = (limit[order, 0] for limit in comparison.limits)
    words = [str(word) for word in comparison.verdict[0, order, 0]]
    said = [OPPOSITE.get(w, w) if back else w for w, back in zip(words, turned, strict=True)]
    table = strengths.table
    return PreferencePairs(
        pairs=tuple(
            (strengths.runs[a], strengths.runs[b]) for a, b in zip(run, against, strict=True)
        ),
        votes=table.votes[run, against],
        wins=table.wins[run, against],
        ties=table.ties[run, against],
        losses=table.wins[against, run],
        observed=table.share[run, against],
        predicted=strengths.predicted()[run, against],
        difference=np.where(turned, -1.0, 1.0) * comparison.difference[order, 0],
        low=np.where(turned, -high, low),
        high=np.where(turned, -low, high),
        p_adjusted=comparison.p_adjusted[0, order, 0],
        verdict=np.array(said, object),
        borderline=comparison.borderline[0, order, 0],
        family=comparison.family,
        level=comparison.level,
    )
