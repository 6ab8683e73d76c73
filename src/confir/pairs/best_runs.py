"""Which runs may be the best? Multiple comparisons with the best, after Hsu (1984); and teams by their best runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from operator import itemgetter
from typing import Any, overload

import numpy as np

from confir.arguments import as_levels
from confir.arrays import Booleans, Floats, Integers, best_first, ranks_by_mean
from confir.data.chart_marks import (
    FIRST,
    FOUR_DECIMALS,
    IntervalChart,
    Mark,
    Tip,
    dot,
    numbers,
    texts,
)
from confir.data.experiment import on_its_scheduler
from confir.data.result import Record, Result, axis, constant, over, result
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.data.table_columns import LIMITS, MEASURE_AND_RUN, Role, TableColumn, TableColumns
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import ConfirWarning, TopicMismatchError, counted, enumerate_names
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import Limits
from confir.measures.score_summary import ScoreSummary
from confir.measures.strengths import Strengths
from confir.number_text import p_text, percent, topics_text
from confir.pairs.next_step import Lead, find_lead
from confir.pairs.run_pairs import (
    RunPairs,
    best_p_values,
    compare_all_runs,
    over_all_runs,
)
from confir.pairs.simultaneous import borderline_decisions, is_significant
from confir.parallel import run_in_threads
from confir.resampling.kinds import as_sample, needs
from confir.resampling.replicates import Rng
from confir.resampling.sample import Knowledge


@result
class BestRuns(Result):
    """The confidence set of the best run, by each measure: all arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    mean
        Mean over the topics that all runs have; NaN for a run without scores.
    rank
        Rank by that mean, 1 the highest; equal means share the better rank.
    difference
        The run's mean less the highest of the others; NaN for a single run.
    in_set
        Whether the run may be the best: no other run is significantly better.
    lower, upper
        Limits of how far the run's mean is above the best of the others, simultaneous for all runs.
        The upper one is 0 for the runs left out, and at least 0 for the others; the lower one
        is at most 0, and 0 for a run that is alone in the set. NaN where no pair of the run varies.
    borderline
        Whether another seed might change if the run is in the set.
    p
        Of the hypothesis that no run is better, adjusted for all other runs: at most 1 - level for
        the runs left out. 1 for the highest mean, NaN for a run without scores.
    share_first
        Share of bootstrap samples in which the run ranks first; ties are shared out.
        A description: no probability that the run is the best.
    topics
        Topics that all runs have, by which they are compared.
    level
        Confidence level of set and limits.
    model_topics
        Further topics that a model judged alone, where humans judged ``topics``.
    resampled
        What replicates draw: topics or documents.
    low, high
        Limits of each mean by itself, by the default method; None where they were not asked for.
    lead
        By each measure the lead of the best run over the next one that may be the best, with the
        next step; None where there is none.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    topics: Integers = over("run", "measure")
    mean: Floats = over("run", "measure")
    rank: Integers = over("run", "measure")
    difference: Floats = over("run", "measure", column="gap")
    in_set: Booleans = over("run", "measure", column="may_be_best")
    borderline: Booleans = over("run", "measure")
    lower: Floats = over("run", "measure", column="gap_low")
    upper: Floats = over("run", "measure", column="gap_high")
    p: Floats = over("run", "measure")
    share_first: Floats = over("run", "measure")
    level: float = constant()
    model_topics: int = 0
    resampled: str = "topics"
    low: Floats | None = over("run", "measure", default=None)
    high: Floats | None = over("run", "measure", default=None)
    lead: tuple[Lead | None, ...] | None = over("measure", default=None)

    row_order = ("measure", "run")
    best_by = "mean"
    bold_means = "may be best"
    record_columns = (
        *("measure", "rank", "run", "mean", "low", "high", "gap", "gap_low", "gap_high"),
        *("may_be_best", "share_first", "borderline", "p", "topics", "level"),
    )

    def order(self, measure: int) -> list[int]:
        """Return the numbers of the runs by a measure, best first."""
        return best_first(self.mean[:, measure])

    def lead_sentence(self, measure: int = 0, write: Callable[[str], str] = str) -> str:
        """Return what the topics could show of the best run's lead; empty where the lead is shown."""
        lead = None if self.lead is None else self.lead[measure]
        return "" if lead is None else lead.sentence(write)

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "measure": MEASURE_AND_RUN["measure"],
            "rank": TableColumn(Role.NAME, text=_rank_text),
            "run": TableColumn(Role.NAME, bold=itemgetter("may_be_best")),
            "mean": TableColumn(Role.SCORE, others=() if self.low is None else LIMITS),
            "gap": TableColumn(Role.DIFFERENCE, others=("gap_low", "gap_high")),
            "may_be_best": TableColumn(Role.FLAG, others=("borderline",)),
        }

    def interval_chart(self) -> IntervalChart:
        """Return its chart: each run's mean less the best of the others; outside the set, in grey."""
        level, topics = percent(self.level), topics_text(self.topics, self.model_topics)
        return IntervalChart(
            f"{level} confidence set of the best run over {topics}: blue",
            [record | {"p_text": p_text(record["p"])} for record in self.to_records()],
            marks=(Mark("gap_low", "gap_high"), dot("gap")),
            axis=f"gap to the best of the others, {level} interval",
            tooltip=(
                *texts("run", "measure"),
                *numbers("topics"),
                *numbers("mean", "gap", "gap_low", "gap_high", format=FOUR_DECIMALS),
                Tip("may_be_best", title="may be best"),
                Tip("p_text", title="p"),
                Tip("share_first", ".3f", FIRST),
            ),
            colour="datum.may_be_best",
            with_zero=True,
        )


def _rank_text(record: Record) -> str:
    return f"{record['rank']:,}" if record["topics"] else "–"


@overload
def find_best(
    scores: ScoresSource, *, level: float = ..., replicates: int = ..., rng: Rng = ...
) -> BestRuns: ...
@overload
def find_best(
    scores: ScoresSource, *, level: Sequence[float], replicates: int = ..., rng: Rng = ...
) -> list[BestRuns]: ...


@on_its_scheduler
@needs(Knowledge.COVARIANCE, "the set of the best runs")
def find_best(
    scores: ScoresSource,
    *,
    level: float | Sequence[float] = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> BestRuns | list[BestRuns]:
    """Return which runs may be the best: the confidence set of Hsu (1984), one-sided.

    The run with the highest mean on these topics need not be the best on others. The set holds the
    best run with the confidence asked for: all runs that no other is significantly better than.

    Run i is left out where another run's mean exceeds its own by more than c standard errors of
    the difference, or where the signs of the differences are certain enough by themselves. c is the
    level quantile of the largest t* of the others against i over replicates, but never more than
    Bonferroni's t. docs/reproductions/families.md has the measured error rates.

    Parameters
    ----------
    scores
        Scores of the runs, or what `as_scores` makes them of; topics that a run lacks are left out.
        Or `Votes`, or `Strengths`; or what `resample_documents` returns, for the best run over
        similar collections.
    level
        Confidence level; or several, which give a list.
    replicates, rng
        Number of replicates, and seed or generator.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.find_best(scores).in_set.ravel()
    array([ True,  True])
    """
    levels = as_levels(level)
    pairs = compare_all_runs(scores, replicates, rng, what="best runs", level=levels[0])
    found = [
        replace(best, **mean_limits(scores, best.level, replicates, rng)._asdict())
        for best in best_of_pairs(scores, pairs, levels)
    ]
    return found[0] if isinstance(level, Real) else found


def best_of_pairs(
    scores: Scores | ScoreSummary | Strengths, pairs: Sequence[RunPairs], levels: Sequence[float]
) -> list[BestRuns]:
    """Return the sets of the best run at each level, from all pairs by each measure."""
    p_values = run_in_threads(best_p_values, pairs)
    p = over_all_runs(pairs, p_values)
    mean = over_all_runs(pairs, [one.mean for one in pairs])
    share_first = over_all_runs(pairs, [one.share_first for one in pairs], 0.0)
    counts = np.array([one.topics for one in pairs])
    # of the others, above each run
    highest = [
        np.where(np.eye(one.runs, dtype=np.bool_), -np.inf, one.difference).max(axis=1)
        for one in pairs
    ]
    above_others = [np.where(np.isinf(one), np.nan, -one) for one in highest]
    difference = over_all_runs(pairs, above_others)

    def at(level: float) -> BestRuns:
        in_set = ~np.isnan(mean) & ~is_significant(p, level)
        limits = [_limits(one, own, level) for one, own in zip(pairs, p_values, strict=True)]
        borderline = [borderline_decisions(partial(best_p_values, one), level) for one in pairs]
        return BestRuns(
            runs=scores.runs,
            measures=scores.measures,
            topics=np.where(np.isnan(mean), 0, counts),
            mean=mean,
            rank=ranks_by_mean(mean),
            difference=difference,
            in_set=in_set,
            lower=over_all_runs(pairs, [one.low for one in limits]),
            upper=over_all_runs(pairs, [one.high for one in limits]),
            p=p,
            borderline=over_all_runs(pairs, borderline, 0.0) > 0,
            share_first=share_first,
            level=level,
            model_topics=scores.model_topics,
            resampled=scores.resampled,
            lead=tuple(
                find_lead(scores, one, in_set[:, m], m, level) for m, one in enumerate(pairs)
            ),
        )

    return run_in_threads(at, levels)


def _limits(pairs: RunPairs, p: Floats, level: float) -> Limits:
    """Return how far runs may be below and above the best of the others.

    All limits hold if those of the best run's comparisons do, since for all other runs 0 is a limit
    that always holds: the constrained form of Hsu (1984). The lower limits look at runs of the set alone
    (Edwards & Hsu 1983).
    """
    runs, in_set = pairs.runs, ~is_significant(p, level)
    if runs < 2:
        return Limits(*np.full((2, runs), np.nan))
    apart, lows = ~np.eye(runs, dtype=np.bool_), pairs.low_limits(level)
    known = ~np.isnan(lows) & apart
    above = np.where(known, -lows, np.inf).min(axis=1)
    upper = np.where(np.isinf(above), np.nan, np.maximum(above, 0.0))
    others = in_set & apart  # rows against the columns in the set
    below = np.where(others & known.T, lows.T, np.inf).min(axis=1)
    lower = np.where(np.isinf(below), np.nan, np.minimum(below, 0.0))
    return Limits(
        np.where(others.any(axis=1), lower, 0.0),
        np.where(in_set, upper, 0.0),
    )


def mean_limits(scores: Any, level: float, replicates: int, rng: Rng) -> Limits:
    """Return the limits of all means by the default method, as `evaluate` shows them: runs × measures.

    Where runs lack topics, the means are those over the topics that all runs have.
    """
    sample = as_sample(scores)
    low, high = np.full((2, *sample.shape), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)  # the comparison of the runs has its own
        for measure, found in enumerate(sample.by_measure("limits")):
            interval = confidence_interval(
                found.sample, level=level, replicates=replicates, rng=rng
            )
            low[found.scored, measure] = interval.low.reshape(-1)
            high[found.scored, measure] = interval.high.reshape(-1)
    return Limits(low, high)


@result
class TeamBoard(Result):
    """The teams by their best runs: arrays are teams × measures.

    The confidence set is that of the best of all runs, so that no choice among a team's runs needs a
    correction.

    Attributes
    ----------
    teams, measures
        Names.
    best_runs
        The team's run with the highest mean.
    rank
        Rank of that run among those of the teams, 1 the highest.
    mean, low, high
        Its mean with the limits of its interval.
    runs
        Number of the team's runs, and of those that may be the best: ``candidates``.
    may_be_best
        Whether any of its runs may be the best.
    level
        Confidence level.
    """

    teams: tuple[str, ...] = axis("team")
    measures: tuple[str, ...] = axis("measure")
    rank: Integers = over("team", "measure")
    best_runs: tuple[tuple[str, ...], ...] = over("team", "measure", column="run")
    mean: Floats = over("team", "measure")
    low: Floats = over("team", "measure")
    high: Floats = over("team", "measure")
    may_be_best: Booleans = over("team", "measure")
    candidates: Integers = over("team", "measure")
    runs: Integers = over("team")
    level: float = constant()

    row_order = ("measure", "team")
    best_by = "mean"
    bold_means = "may be best"
    record_columns = (
        *("measure", "rank", "team", "run", "mean", "low", "high", "may_be_best", "candidates"),
        *("runs", "level"),
    )

    def order(self, measure: int) -> list[int]:
        """Return the numbers of the teams by a measure, best first."""
        return best_first(self.mean[:, measure])

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "measure": MEASURE_AND_RUN["measure"],
            "rank": TableColumn(Role.NAME, text=lambda record: f"{record['rank']:,}"),
            "team": TableColumn(Role.NAME, bold=itemgetter("may_be_best")),
            "run": TableColumn(Role.NAME, "best run"),
            "mean": TableColumn(Role.SCORE, others=LIMITS),
            "may_be_best": TableColumn(Role.VERDICT, text=_candidates_text),
        }


def _candidates_text(record: Record) -> str:
    if not record["may_be_best"]:
        return "no"
    return f"yes, {record['candidates']:,} of {counted(record['runs'], 'run')}"


def rank_teams(best: BestRuns, teams: Mapping[str, str]) -> TeamBoard:
    """Return the teams by their best runs.

    Parameters
    ----------
    best
        What `find_best` returns, of the runs of all teams.
    teams
        The team of each run.
    """
    lacking = [run for run in best.runs if run not in teams]
    if lacking:
        raise TopicMismatchError(
            f"no team is given for {enumerate_names(lacking, 5)}; expected one for each run"
        )
    names = tuple(dict.fromkeys(teams[run] for run in best.runs))
    of_team = [np.array([teams[run] == name for run in best.runs]) for name in names]
    unknown = np.full_like(best.mean, np.nan)
    low = unknown if best.low is None else best.low
    high = unknown if best.high is None else best.high
    # a run without scores by a measure comes after all others of its team
    known = np.nan_to_num(best.mean, nan=-np.inf)
    places = np.stack([np.where(own[:, None], known, -np.inf).argmax(axis=0) for own in of_team])
    places = np.where(
        np.isneginf(np.take_along_axis(known, places, axis=0)),
        np.array([[int(np.flatnonzero(own)[0])] for own in of_team]),
        places,
    )
    top = np.take_along_axis(known, places, axis=0)
    candidates = np.stack([best.in_set[own].sum(axis=0) for own in of_team])
    return TeamBoard(
        teams=names,
        measures=best.measures,
        rank=ranks_by_mean(top),
        best_runs=tuple(tuple(best.runs[place] for place in row) for row in places.tolist()),
        mean=np.take_along_axis(best.mean, places, axis=0),
        low=np.take_along_axis(low, places, axis=0),
        high=np.take_along_axis(high, places, axis=0),
        may_be_best=candidates > 0,
        candidates=candidates,
        runs=np.array([int(own.sum()) for own in of_team]),
        level=best.level,
    )
