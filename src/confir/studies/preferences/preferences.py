"""Which system do people prefer, and how sure is that? Bradley-Terry strengths with their intervals.

Intervals, families of pairs, the set of the best and ranks are those of any other sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from confir.arguments import as_choice, as_level, as_seed
from confir.arrays import Booleans, Floats, Integers, best_first
from confir.data.result import Record, Result, axis, constant, over, result
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.data.votes import Votes, read_votes
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import (
    InvalidValueError,
    UnsupportedMethodError,
    collect_warnings,
    counted,
    enumerate_names,
)
from confir.intervals.interval import Limits
from confir.intervals.method_list import find_method
from confir.measures.strengths import POSITION, Strengths, VoteEffects, fit_strengths
from confir.number_text import SENTENCE_DECIMALS, number_text, percent
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
class PreferenceEffects(Result):
    """Effects of position and covariates on who wins, beside the strengths.

    Attributes
    ----------
    effects
        "position", that of standing left, where it is known; and covariates.
    estimate, low, high, p
        On the logit of the left system's chance, with t intervals and p-values over units; those of
        covariates per ``unit``.
    share
        Share of wins between equal systems: of the left one, or of the one with a unit more.
    unit
        Root mean square of a covariate; 1 for the position.
    adjusted
        Whether strengths are adjusted for the effect, or it is estimated beside them.
    level
        Confidence level.
    reason
        Why there is no effect of the position; "" where there is, or votes have no sides.
    """

    effects: tuple[str, ...] = axis("effect")
    estimate: Floats = over("effect")
    low: Floats = over("effect")
    high: Floats = over("effect")
    p: Floats = over("effect")
    share: Floats = over("effect")
    unit: Floats = over("effect")
    adjusted: Booleans = over("effect")
    level: float = constant()
    reason: str = ""

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "effect": TableColumn(Role.NAME),
            "estimate": TableColumn(Role.DIFFERENCE, others=LIMITS),
            "p": TableColumn(Role.P),
            "share": TableColumn(Role.SHARE, "wins"),
            "unit": TableColumn(Role.NUMBER),
            "adjusted": TableColumn(Role.FLAG),
        }

    def note(self) -> str:
        """Return what the columns are."""
        return (
            f"estimate: effect on the logit of a win, with its {percent(self.level)} interval; wins: share "
            "between equal systems, of the left one or of the one with a unit more; unit: 1, or the root mean "
            "square of the covariate; adjusted: whether strengths are"
            + (f"; {self.reason}" if self.reason else "")
        )


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
    position, position_low, position_high, position_p
        Effect of standing left on the logit of a win, with its interval; None where it is unknown.
    effects
        That of the position and those of covariates.
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
    position: float | None = constant()
    position_low: float | None = constant()
    position_high: float | None = constant()
    position_p: float | None = constant()
    effects: PreferenceEffects
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
        joined = "by" if self.cluster == "judge" else "on"
        if self.cluster == "vote":
            said += ", treated as independent"
        else:
            said += f", {joined} {counted(self.units, self.cluster)}"
        names = self.strengths.effects.names
        return f"{said}, adjusted for {enumerate_names(names, 5)}" if names else said

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
            + self._position_note()
            + ("; borderline: another seed might change the decision" if unclear else "")
        )

    def _position_note(self) -> str:
        """Return the effect of the position where strengths are not adjusted for it."""
        if self.position is None or POSITION in self.strengths.effects.names:
            return ""
        limits = float(self.effects.low[0]), float(self.effects.high[0])
        numbers = number_text(self.position, *limits, is_signed=True, decimals=SENTENCE_DECIMALS)
        return f"; effect of standing left: {numbers} on the logit, not in the model"

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
    position: str = "estimate",
    covariates: Sequence[str] = (),
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
    position
        "estimate" the effect of standing left, or "adjust" strengths for it too.
    covariates
        What else strengths are adjusted for, such as "length", as in `read_votes`.
    level, replicates, rng
        Confidence level; number of replicates, and seed or generator.

    Examples
    --------
    >>> votes = {"left": "aabbcc" * 9, "right": "bcacab" * 9, "winner": "aabbcb" * 9}
    >>> rate_preferences(votes, rng=1).rank
    array([2, 1, 3])
    """
    level = as_level(level)
    votes = read_votes(votes, covariates=covariates)
    check_differences(len(votes.systems))
    fit = partial(
        fit_strengths, votes, cluster=cluster, ties=ties, prior=prior, covariates=covariates
    )
    strengths = fit(position=position)
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
    effects = _effects(votes, strengths, fit, level)
    about = effects.effects[:1] == (POSITION,)
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
        position=float(effects.estimate[0]) if about else None,
        position_low=float(effects.low[0]) if about else None,
        position_high=float(effects.high[0]) if about else None,
        position_p=float(effects.p[0]) if about else None,
        effects=effects,
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


def _effects(
    votes: Votes, strengths: Strengths, fit: Callable[..., Strengths], level: float
) -> PreferenceEffects:
    """Return the effects that strengths are adjusted for, and that of the position in any case."""
    from scipy.special import expit, stdtr, stdtrit

    found, reason = strengths.effects, ""
    if POSITION not in found.names and votes.has_sides:
        try:
            with collect_warnings():  # which the strengths without it have given
                position = fit(position="adjust").effects
        except (InvalidValueError, UnsupportedMethodError) as error:
            reason = str(error)
        else:
            if position.se[0] > 0:  # else nothing varies, as where all votes are ties
                found = VoteEffects(
                    (POSITION, *found.names),
                    *(
                        np.concatenate([one[:1], other])
                        for one, other in zip(position[1:], found[1:], strict=True)
                    ),
                )
    df = strengths.units - 1.0
    se = np.where(found.se > 0, found.se, np.nan)
    half = float(stdtrit(df, (1.0 + level) / 2.0)) * se
    return PreferenceEffects(
        effects=found.names,
        estimate=found.estimate,
        low=found.estimate - half,
        high=found.estimate + half,
        p=np.asarray(2.0 * stdtr(df, -np.abs(found.estimate / se)), np.float64),
        share=expit(found.estimate),
        unit=found.scale,
        adjusted=np.array([name in strengths.effects.names for name in found.names], np.bool_),
        level=level,
        reason=reason,
    )
