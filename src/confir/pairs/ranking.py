"""How certain is the ranking of the runs? Ranks with intervals from comparisons of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import overload

import numpy as np

from confir.arguments import as_level, as_levels
from confir.arrays import Booleans, Floats, Integers, ranks_by_mean
from confir.data.chart_marks import FIRST, IntervalChart, Mark, Tip, dot, numbers, texts
from confir.data.experiment import on_its_scheduler
from confir.data.result import Result, axis, constant, over, result
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.data.table_columns import MEASURE_AND_RUN, Role, TableColumn, TableColumns
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.measures.score_summary import ScoreSummary
from confir.measures.strengths import Strengths
from confir.number_text import percent, topics_text
from confir.pairs.run_pairs import (
    RunPairs,
    borderline_ranks,
    compare_all_runs,
    over_all_runs,
    rank_limits,
    rank_tests,
)
from confir.parallel import run_in_threads
from confir.resampling.kinds import needs
from confir.resampling.replicates import Rng
from confir.resampling.sample import Knowledge


@result
class Ranking(Result):
    """The ranks of runs with their intervals: arrays are runs × measures, but for p-values.

    Attributes
    ----------
    runs, measures
        Names.
    topics
        Topics that all runs have, by which they are ranked.
    mean
        Mean over these topics; NaN for a run without scores.
    rank
        Rank by the mean, 1 the best: 1 + the number of runs that are better, so that tied runs
        share the better rank.
    low, high
        Limits of the run's rank: the interval holds for each run on its own.
    simultaneous_low, simultaneous_high
        Simultaneous limits of the ranks of all runs.
    borderline
        Whether another seed might change a limit of either interval.
    share_first
        Share of bootstrap samples in which the run ranks first; ties are shared out.
        A description: no probability that the run is the best.
    p, simultaneous_p
        p-values of the ranks 1, 2, …: runs × ranks × measures. Intervals hold the ranks whose p is
        above 1 - level.
    level, draws, simultaneous_draws
        Confidence level of the intervals, and replicates that they rest on: those of each run on
        its own, and the simultaneous ones.
    model_topics
        Further topics that a model judged alone, where humans judged ``topics``.
    resampled
        What bootstrap samples draw.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    topics: Integers = over("run", "measure")
    mean: Floats = over("run", "measure")
    rank: Integers = over("run", "measure")
    low: Integers = over("run", "measure")
    high: Integers = over("run", "measure")
    simultaneous_low: Integers = over("run", "measure")
    simultaneous_high: Integers = over("run", "measure")
    borderline: Booleans = over("run", "measure")
    share_first: Floats = over("run", "measure")
    p: Floats = over("run", "", "measure")
    simultaneous_p: Floats = over("run", "", "measure")
    level: float = constant()
    draws: int = 0
    simultaneous_draws: int = 0
    model_topics: int = 0
    resampled: str = "topics"

    row_order = ("measure", "run")
    record_columns = (
        *("run", "measure", "topics", "mean", "rank", "low", "high", "simultaneous_low"),
        *("simultaneous_high", "borderline", "share_first"),
    )

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            **MEASURE_AND_RUN,
            "mean": TableColumn(Role.SCORE),
            "rank": TableColumn(Role.COUNT, bold=lambda record: record["rank"] == 1),
            "low": TableColumn(Role.RANGE, "interval", ("high",)),
            "simultaneous_low": TableColumn(
                Role.RANGE, "simultaneous", ("simultaneous_high", "borderline")
            ),
            "share_first": TableColumn(Role.FREQUENCY, "first"),
        }

    def interval_chart(self) -> IntervalChart:
        """Return its chart: a thick line for each rank on its own, a thin one simultaneous for all."""
        return IntervalChart(
            f"Ranks over {topics_text(self.topics, self.model_topics)}",
            self.to_records(),
            marks=(
                Mark("low", "high", size=4),
                Mark("simultaneous_low", "simultaneous_high", size=1, opacity=0.6),
                dot("rank"),
            ),
            axis=f"rank with {percent(self.level)} interval; thin: simultaneous",
            tooltip=(
                *texts("run", "measure"),
                *numbers("topics", "mean", "rank", "low", "high"),
                *numbers("simultaneous_low", "simultaneous_high"),
                Tip("share_first", ".3f", FIRST),
            ),
            scale={"domain": [0.5, len(self.runs) + 0.5], "nice": False},
            ticks={"tickMinStep": 1, "format": "d"},
        )

    def note(self) -> str:
        """Return what the columns are."""
        note = (
            f"means and ranks over {topics_text(self.topics, self.model_topics)}; {percent(self.level)} "
            "interval of the rank of each run on its own, and simultaneous for all runs; first: "
            f"share of bootstrap samples of the {self.resampled} in which the run ranks first"
        )
        borderline = "; borderline: another seed might change a limit"
        return note + (borderline if self.borderline.any() else "")

    def rows(self) -> Integers:
        """Return the rows of the records: by measure, best run first."""
        runs = len(self.runs)
        places = np.argsort(self.rank, axis=0, kind="stable").T
        rows: Integers = (np.arange(len(places))[:, None] * runs + places).reshape(-1)
        return rows

    def at(self, level: float) -> Ranking:
        """Return the ranking with intervals of another level; nothing is drawn again."""
        as_level(level)
        low, high = rank_limits(self.p, level)
        simultaneous_low, simultaneous_high = rank_limits(self.simultaneous_p, level)
        return replace(
            self,
            low=low,
            high=high,
            simultaneous_low=simultaneous_low,
            simultaneous_high=simultaneous_high,
            borderline=borderline_ranks(self.p, level, self.draws)
            | borderline_ranks(self.simultaneous_p, level, self.simultaneous_draws),
            level=level,
        )


@overload
def rank_runs(
    scores: ScoresSource, *, level: float = ..., replicates: int = ..., rng: Rng = ...
) -> Ranking: ...
@overload
def rank_runs(
    scores: ScoresSource, *, level: Sequence[float], replicates: int = ..., rng: Rng = ...
) -> list[Ranking]: ...


@on_its_scheduler
@needs(Knowledge.COVARIANCE, "a ranking")
def rank_runs(
    scores: ScoresSource,
    *,
    level: float | Sequence[float] = LEVEL,
    replicates: int = REPLICATES,
    rng: Rng = SEED,
) -> Ranking | list[Ranking]:
    """Return each run's mean, its rank, and the rank's intervals: marginal and simultaneous.

    A rank is read as if it were certain, although other topics would order close runs otherwise:
    its interval says which ranks these topics leave open.

    A rank is outside of the interval where too many runs are significantly better, or worse, for
    it (Mogstad, Romano, Shaikh & Wilhelm 2024). Runs are ranked on the topics that all of them
    have. A run without any score is last.

    Parameters
    ----------
    scores
        Scores of the runs, or what `as_scores` makes them of; or `Votes`, or `Strengths`; or what
        `resample_documents` returns, for ranks over similar collections.
    level
        Confidence level of the rank intervals; or several, which give a list of rankings.
    replicates, rng
        Number of replicates, and seed or generator: the same seed draws the same topics as in
        `confidence_interval`.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.rank_runs(scores).rank.ravel()
    array([1, 2])
    """
    levels = as_levels(level)
    pairs = compare_all_runs(scores, replicates, rng, what="ranks", level=levels[0])
    ranking = ranking_of_pairs(scores, pairs, levels[0])
    rankings = [ranking, *(ranking.at(one) for one in levels[1:])]
    return rankings[0] if isinstance(level, Real) else rankings


def ranking_of_pairs(
    scores: Scores | ScoreSummary | Strengths, pairs: Sequence[RunPairs], level: float
) -> Ranking:
    """Return the ranking of the runs, from all pairs by each measure."""
    marginal, simultaneous = zip(*run_in_threads(rank_tests, pairs), strict=True)
    several = [one for one in pairs if one.runs > 1]
    scored = np.stack([one.scored for one in pairs], axis=1)
    counts = np.array([one.topics for one in pairs])
    unlimited = np.zeros(scored.shape, np.int64)  # until the level is known
    mean = over_all_runs(pairs, [one.mean for one in pairs])
    ranking = Ranking(
        runs=scores.runs,
        measures=scores.measures,
        topics=np.where(scored, counts, 0),
        mean=mean,
        rank=ranks_by_mean(mean),
        low=unlimited,
        high=unlimited,
        simultaneous_low=unlimited,
        simultaneous_high=unlimited,
        borderline=unlimited > 0,
        share_first=over_all_runs(pairs, [one.share_first for one in pairs], 0.0),
        p=_over_ranks(scored, marginal),
        simultaneous_p=_over_ranks(scored, simultaneous),
        level=level,
        draws=min((one.maxima.above.shape[1] for one in several), default=0),
        simultaneous_draws=min((len(one.maxima.largest) for one in several), default=0),
        model_topics=scores.model_topics,
        resampled=scores.resampled,
    )
    return ranking.at(level)


def _over_ranks(scored: Booleans, tests: Sequence[Floats]) -> Floats:
    """Return p-values as runs × ranks × measures; runs without scores have the rank after all."""
    runs = len(scored)
    p = np.zeros((runs, runs, len(tests)))
    for m, values in enumerate(tests):
        kept, last = scored[:, m], len(values)
        p[kept, :last, m] = values
        p[~kept, last : last + 1, m] = 1.0
    return p
