"""Means with unjudged documents left out, or judged like those of the pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack, get_args

import numpy as np

from confir.arguments import as_choice, as_generator, as_integer, as_level
from confir.arrays import Floats
from confir.data.chart_marks import IntervalChart
from confir.data.experiment import Experiment
from confir.data.ranked_lists.unjudged_documents import (
    Completions,
    UnjudgedDocuments,
    find_unjudged,
)
from confir.data.reading_rules import ReadingOptions, takes_rules
from confir.data.result import Record, constant, over, result
from confir.data.scores import Scores
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.defaults import COMPLETIONS, LEVEL, SEED
from confir.intervals.interval import Interval, tail_probabilities
from confir.measures.lists_and_scores import ListsAndScores, read_lists_and_scores
from confir.measures.measure import Measure
from confir.number_text import percent
from confir.parallel import Progress, run_in_threads
from confir.resampling.replicates import Rng
from confir.studies.unjudged.compared_means import ComparedMeans
from confir.studies.unjudged.simulated_judgements import draw_judgements, drawing_depth

Treatment = Literal["condensed", "resample"]
TREATMENTS: tuple[Treatment, ...] = get_args(Treatment)

# Replicates that are scored together: enough to spread the cost of a numpy call.
_BLOCK = 32


@result
class UnjudgedEstimate(ComparedMeans):
    """Means with unjudged documents non-relevant, and an estimate that treats them otherwise.

    Attributes
    ----------
    runs, measures
        Names.
    treatment
        "condensed": unjudged documents are left out of the lists, as by trec_eval -J. "resample":
        they get judgements drawn from those of the pool.
    scores, topics, mean
        The scores with unjudged documents non-relevant, the topics of each mean, and the means.
    estimated_scores, estimate
        The estimates, those of the condensed lists or the expected ones, and their means.
    low, high
        Interval of the mean over the drawn judgements: runs × measures; NaN for condensed lists.
        It says nothing about the topics, which are the same in all draws.
    judged
        Share of documents that are judged among the first k, or in the whole list for a measure
        without cutoff, mean over lists: runs × measures.
    depths
        By measure: judgements are drawn for documents that any run retrieves down to this rank.
    level, replicates
        Level of the interval, and number of draws; 0 for condensed lists.
    """

    treatment: Treatment = constant()
    estimated_scores: Scores
    estimate: Floats = over("run", "measure")
    low: Floats = over("run", "measure")
    high: Floats = over("run", "measure")
    judged: Floats = over("run", "measure")
    depths: tuple[int, ...] = over("measure", column="pool_depth")
    level: float = constant()
    replicates: int = 0

    others = ("estimate",)
    chart_words = "estimate (diamond)"
    chart_point = "estimate"
    record_columns = (
        *("run", "measure", "treatment", "topics", "mean", "estimate"),
        *("low", "high", "level", "judged", "pool_depth"),
    )

    def table_columns(self) -> TableColumns:
        """Return how the columns read, the interval over drawn judgements included."""
        columns = dict(ComparedMeans.table_columns(self))
        if not self.replicates:
            return columns
        share = columns.pop(self.share)
        return columns | dict.fromkeys(LIMITS, TableColumn(Role.SCORE)) | {self.share: share}

    def interval_chart(
        self, interval: Interval | None = None, records: Sequence[Record] | None = None
    ) -> IntervalChart:
        """Return a chart of means and estimates, with the interval over draws as range.

        Parameters
        ----------
        interval, records
            As in `ComparedMeans.interval_chart`.
        """
        low, high = LIMITS if self.replicates else ("estimate", "estimate")
        drawn = [
            {name: value for name, value in record.items() if name not in LIMITS}
            | {"lowest": record[low], "highest": record[high]}
            for record in records or self.to_records()
        ]
        titles = {
            "condensed": "Means without unjudged documents",
            "resample": "Means with judgements drawn for unjudged documents",
        }
        chart = ComparedMeans.interval_chart(self, interval, drawn)
        return chart._replace(title=titles[self.treatment])

    def note(self) -> str:
        """Return what an estimate is."""
        if not self.replicates:
            return "condensed: unjudged documents are left out of the lists, as by trec_eval -J"
        deepest = max(self.depths)
        if not deepest:
            return "resample: too few documents are judged to draw judgements of the others from"
        return (
            f"resample: expected mean and {percent(self.level)} interval over {self.replicates:,} "
            f"draws of judgements for unjudged documents, down to rank {deepest}, at the pool's own rates"
        )


@takes_rules
def estimate_unjudged(
    qrels: Experiment | Any,
    runs: Any = None,
    measures: Any = None,
    *,
    treatment: Treatment = "condensed",
    pool_depth: int | None = None,
    level: float = LEVEL,
    replicates: int = COMPLETIONS,
    rng: Rng = SEED,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> UnjudgedEstimate:
    """Return means of lists without their unjudged documents, or with drawn judgements of these.

    Where bounds over all judgements are too wide to say anything, these estimates say what is likely.

    Parameters
    ----------
    qrels, runs, measures, progress, **rules
        As in `evaluate`.
    treatment
        "condensed" removes unjudged documents (Sakai 2007). "resample" draws the judgement of each
        from the documents that were judged for the topic and that the runs rank alike (Fröbe et al.
        2023); one set of judgements serves all runs and measures. Documents below the rank down to
        which most are judged stay non-relevant.
    pool_depth
        Judgements are drawn for documents that any of the runs retrieves down to this rank. By
        default the measure's cutoff, and whole lists for a measure without one.
    level, replicates, rng
        Of the interval over drawn judgements.

    Examples
    --------
    >>> qrels = {"1": {"d1": 1, "d2": 0}, "2": {"d3": 2}}
    >>> runs = {"a": {"1": {"d1": 2.0, "d9": 1.0}, "2": {"d3": 1.0}}}
    >>> confir.estimate_unjudged(qrels, runs, "P@2")
    UnjudgedEstimate(run: 1, measure: 1, treatment='condensed', level=0.95)
    """
    as_choice("treatment", treatment, TREATMENTS)
    as_level(level)
    as_integer("replicates", replicates)
    if pool_depth is not None:
        as_integer("pool_depth", pool_depth)
    generator = as_generator(rng)
    objection = (lambda _: None) if treatment == "condensed" else no_draws
    scored = read_lists_and_scores(qrels, runs, measures, rules, objection, progress)
    if treatment == "condensed":
        return condense(scored, level)
    return resample(scored, level, replicates, generator, pool_depth)


def no_draws(measure: Measure) -> str | None:
    """Return why a measure has no estimate by drawn judgements; None where it has."""
    if measure.definition.needs == "relevant":
        return None
    return "judgements are drawn as gains, but it looks at more than the relevant documents"


def condense(scored: ListsAndScores, level: float = LEVEL) -> UnjudgedEstimate:
    """Return the means of lists without their unjudged documents."""
    condensed = scored.rankings.condensed()
    found = scored.scores_of([one(condensed)[:, :, 0] for one in scored.measures])
    none = np.full(found.values.shape[1:], np.nan)
    return UnjudgedEstimate.of(
        scored,
        (),
        treatment="condensed",
        estimated_scores=found,
        estimate=found.mean(),
        low=none,
        high=none,
        judged=scored.judged(),
        depths=(0,) * len(scored.measures),
        level=level,
    )


def resample(
    scored: ListsAndScores,
    level: float,
    replicates: int,
    generator: np.random.Generator,
    pool_depth: int | None = None,
) -> UnjudgedEstimate:
    """Return expected means over drawn judgements, and their intervals."""
    lists, scores = scored.cut_lists, scored.scores
    deepest = drawing_depth(lists)
    runs = find_unjudged(lists, deepest)
    pool = runs[0].pool
    depths = [min(one or deepest, deepest) for one in scored.pool_depths(pool_depth)]
    means, total = [], np.zeros(scores.values.shape)
    for start in range(0, replicates, _BLOCK):
        size = min(_BLOCK, replicates - start)
        drawn = draw_judgements(lists, pool, size, generator)
        completions = {
            depth: pool.completions(pool.within(depth, drawn), lists.qrels) for depth in set(depths)
        }
        values = _completed(scored, runs, [completions[depth] for depth in depths])
        for replicate in range(size):
            found = scored.scores_of([one[:, :, replicate] for one in values])
            means.append(found.mean())
            total += np.where(np.isnan(found.values), 0.0, found.values)
    limits = np.quantile(np.stack(means), tail_probabilities(level), axis=0)
    expected = np.where(np.isnan(scores.values), np.nan, total / replicates)
    estimated = Scores(scores.topics, scores.runs, scores.measures, expected, scores.bounded)
    estimate = estimated.mean()
    return UnjudgedEstimate.of(
        scored,
        (),
        treatment="resample",
        estimated_scores=estimated,
        estimate=estimate,
        low=np.fmin(limits[0], estimate),  # equal means differ from theirs by rounding
        high=np.fmax(limits[1], estimate),
        judged=scored.judged(),
        depths=tuple(depths),
        level=level,
        replicates=replicates,
    )


def _completed(
    scored: ListsAndScores, runs: Sequence[UnjudgedDocuments], completions: Sequence[Completions]
) -> list[Floats]:
    """Return the scores by each measure after its completions: runs × topics × replicates."""
    longest = scored.longest
    lists: dict[tuple[int, int], list[int]] = {}  # measures by what they look at
    for place, (measure, made) in enumerate(zip(scored.measures, completions, strict=True)):
        key = min(measure.cutoff or longest, longest), id(made)
        lists.setdefault(key, []).append(place)

    def score(run: UnjudgedDocuments) -> list[Floats]:
        scores: dict[int, Floats] = {}
        for (cutoff, _), places in lists.items():
            completed = run.cut(cutoff).complete(completions[places[0]])
            scores |= {place: scored.measures[place](completed)[0] for place in places}
        return [scores[place] for place in range(len(completions))]

    return [np.stack(values) for values in zip(*run_in_threads(score, runs), strict=True)]
