"""Which system do people prefer, and how sure is that? Bradley-Terry strengths with their intervals.

Intervals, families of pairs, the set of the best and ranks are those of any other sample.
"""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from confir.arguments import as_choice, as_level, as_seed
from confir.arrays import Booleans, Floats, Integers, best_first
from confir.data.result import Record, Result, axis, constant, over, result
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.data.votes import read_votes
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import counted
from confir.intervals.interval import Limits
from confir.intervals.method_list import find_method
from confir.measures.strengths import Strengths, fit_strengths
from confir.number_text import percent
from confir.pairs.best_runs import BestRuns, best_of_pairs, mean_limits
from confir.pairs.compare import compare_runs
from confir.pairs.comparison import Comparison
from confir.pairs.differences import check_differences
from confir.pairs.ranking import Ranking, ranking_of_pairs
from confir.pairs.run_groups import RunGroups
from confir.pairs.run_pairs import compare_all_runs
from confir.resampling.kinds import as_sample
from confir.resampling.replicates import Rng, shared_draws
from confir.studies.preferences.model_fit import ModelFit, check_fit
from confir.studies.preferences.preference_pairs import PreferencePairs, preference_pairs

# Strengths are asymptotically normal, their variance is that of sums over units.
_METHOD = "t"


@result
class Preferences(Result):
    """Strengths of systems by votes, with what follows from them; arrays are over systems.

    Attributes
    ----------
    runs
        Names of the systems.
    strength, low, high
        Bradley-Terry strengths, whose sum is 0, with their own intervals: t over units.
    share
        Predicted share of wins against the average of the other systems.
    votes, wins, ties, losses
        Votes on each system, and how they ended.
    rank, rank_low, rank_high, borderline
        Rank by strength, with simultaneous limits, and whether another seed might change a limit.
    may_be_best, best_borderline
        Whether the system is in the confidence set of the best, and whether another seed might
        change that.
    units, cluster
        Number of independent units, and what these are: "vote", "judge", "topic" or "dataset".
    level
        Confidence level.
    strengths, comparison, best, ranking
        The strengths with their influence values; differences of all pairs, or from the baseline;
        the confidence set of the best; and the ranks.
    fit
        Whether one strength per system is enough.
    """

    runs: tuple[str, ...] = axis("run")
    strength: Floats = over("run")
    low: Floats = over("run")
    high: Floats = over("run")
    share: Floats = over("run")
    votes: Integers = over("run")
    wins: Integers = over("run")
    ties: Integers = over("run")
    losses: Integers = over("run")
    rank: Integers = over("run")
    rank_low: Integers = over("run")
    rank_high: Integers = over("run")
    borderline: Booleans = over("run")
    may_be_best: Booleans = over("run")
    best_borderline: Booleans = over("run")
    units: int = constant()
    cluster: str = constant()
    level: float = constant()
    strengths: Strengths
    comparison: Comparison
    best: BestRuns
    ranking: Ranking
    fit: ModelFit

    bold_means = "may be best"

    @property
    def order(self) -> list[int]:
        """The systems, strongest first."""
        return best_first(self.strength)

    @property
    def total(self) -> int:
        """Number of votes."""
        return int(self.votes.sum()) // 2

    @property
    def about(self) -> str:
        """What the strengths rest on, in words."""
        ties, added = int(self.ties.sum()) // 2, self.strengths.prior
        said = f"{counted(self.total, 'vote')} between {len(self.runs)} systems"
        said += f", {ties:,} of them ties" if ties else ""
        said += (
            f", and {added:g} {'tie' if added == 1 else 'ties'} of each system with an average one"
            if added
            else ""
        )
        if self.cluster == "vote":
            return f"{said}, treated as independent"
        joined = "by" if self.cluster == "judge" else "on"
        return f"{said}, {joined} {counted(self.units, self.cluster)}"

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "run": TableColumn(Role.NAME, "system", bold=itemgetter("may_be_best")),
            "strength": TableColumn(Role.SCORE, others=LIMITS),
            "share": TableColumn(Role.SHARE, "wins"),
            "votes": TableColumn(Role.COUNT),
            "rank": TableColumn(Role.COUNT),
            "rank_low": TableColumn(Role.RANGE, "ranks", ("rank_high", "borderline")),
            "may_be_best": TableColumn(Role.FLAG, others=("best_borderline",)),
        }

    def table_records(self) -> list[Record]:
        """Return the records, the strongest system first."""
        records = self.to_records()
        return [records[place] for place in self.order]

    def note(self) -> str:
        """Return what the columns are."""
        unclear = (self.borderline | self.best_borderline).any()
        return (
            f"{self.about}; strength: Bradley-Terry, 0 on average, with its {percent(self.level)} interval; "
            "wins: predicted share of wins against the average of the other systems; ranks: simultaneous "
            "limits; may be best: confidence set of the best (Hsu 1984)"
            + ("; borderline: another seed might change the decision" if unclear else "")
        )

    def group_runs(self) -> RunGroups:
        """Return groups of systems without a significant difference; needs all pairs."""
        return self.comparison.group_runs()

    def pairs(self) -> PreferencePairs:
        """Return observed and predicted shares of wins of each pair, with its difference."""
        return preference_pairs(self.comparison, self.strengths)


def rate_preferences(
    votes: Any,
    *,
    baseline: str | None = None,
    cluster: str | None = None,
    ties: str = "half",
    prior: float | None = None,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> Preferences:
    """Return strengths of systems by votes, with intervals, ranks and the set of the best.

    Counting wins would favour whoever met weak opponents. Strengths account for the opponents
    (Bradley & Terry 1952), and their intervals say which orders the votes can support.

    Parameters
    ----------
    votes
        What `read_votes` takes, or `Votes`.
    baseline
        The system that the others are compared with; by default all pairs are.
    cluster, ties, prior
        As in `fit_strengths`.
    level, replicates, rng
        Confidence level; number of replicates, and seed or generator.

    Examples
    --------
    >>> votes = {"left": "aabbcc" * 9, "right": "bcacab" * 9, "winner": "aabbcb" * 9}
    >>> rate_preferences(votes, rng=1).rank
    array([2, 1, 3])
    """
    level = as_level(level)
    votes = read_votes(votes)
    check_differences(len(votes.systems))
    strengths = fit_strengths(votes, cluster=cluster, ties=ties, prior=prior)
    if baseline is not None:
        as_choice("baseline", baseline, strengths.runs, "system")
    seed = as_seed(rng)
    with shared_draws():
        (pairs,) = compare_all_runs(strengths, replicates, seed, what="ranks", level=level)
        comparison = compare_runs(
            strengths, baseline=baseline, level=level, replicates=replicates, rng=seed
        )
    (found_best,) = best_of_pairs(strengths, [pairs], [level])
    limits = mean_limits(strengths, level, replicates, seed)
    best = replace(found_best, **limits._asdict())
    ranking = ranking_of_pairs(strengths, [pairs], level)
    low, high = _limits(strengths, level)
    table = strengths.table
    return Preferences(
        runs=strengths.runs,
        strength=strengths.strength,
        low=low,
        high=high,
        share=strengths.share(),
        votes=strengths.votes,
        wins=table.wins.sum(axis=1),
        ties=table.ties.sum(axis=1),
        losses=table.wins.sum(axis=0),
        rank=ranking.rank[:, 0],
        rank_low=ranking.simultaneous_low[:, 0],
        rank_high=ranking.simultaneous_high[:, 0],
        borderline=ranking.borderline[:, 0],
        may_be_best=best.in_set[:, 0],
        best_borderline=best.borderline[:, 0],
        units=strengths.units,
        cluster=strengths.cluster,
        level=level,
        strengths=strengths,
        comparison=comparison,
        best=best,
        ranking=ranking,
        fit=check_fit(strengths, np.random.default_rng(seed)),
    )


def _limits(strengths: Strengths, level: float) -> Limits:
    """Return the limits of each strength; NaN where nothing varies, as where all votes are ties."""
    found = as_sample(strengths).distribution(slice(None), None, ("se",))
    known = np.where(found.require("se") > 0, 1.0, np.nan)
    low, high = find_method(_METHOD).compute(found, level)
    return Limits(known * low, known * high)
