"""How far does a system's mean depend on its topics, and how far on its repeats?

Scores of K repeats on T topics are x = μ + a(topic) + b(repeat) + e. The mean over both varies with the
topics by s²/T, s² the variance of the topics' means, and with the repeats by σ_b²/K.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from confir.arguments import as_choice, as_level
from confir.arrays import Floats, Integers
from confir.data.chart_marks import (
    FOUR_DECIMALS,
    LIMITS_LINE,
    IntervalChart,
    Mark,
    dot,
    numbers,
    texts,
)
from confir.data.result import Result, axis, constant, over, result
from confir.data.score_objects import ScoresSource
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.defaults import LEVEL
from confir.errors import InvalidValueError
from confir.intervals.confidence_intervals import confidence_interval
from confir.measures.score_sources import as_scores
from confir.number_text import percent
from confir.resampling.kinds import against, as_sample
from confir.resampling.repeat_sample import RepeatSample


@result
class RepeatMeans(Result):
    """Means of systems over topics and repeats: arrays are systems × measures.

    Attributes
    ----------
    systems, measures
        Names.
    baseline
        The system that the others are compared with: means are then differences; else None.
    topics, repeats
        Number of topics, and of repeats.
    mean, se, df, low, high
        Mean over both, its standard error from both, the degrees of freedom (Satterthwaite), and
        limits: those of `confidence_interval`.
    methods
        Method of each column's limits: systems × measures, flattened.
    se_topics, se_repeats
        What topics and what repeats contribute to it: the squares add up to that of ``se``.
    se_twice_topics, se_twice_repeats
        The standard error with twice the topics, or twice the repeats.
    level
        Confidence level.
    """

    systems: tuple[str, ...] = axis("system")
    measures: tuple[str, ...] = axis("measure")
    baseline: str | None
    topics: Integers = over("system", "measure")
    repeats: Integers = over("system", "measure")
    mean: Floats = over("system", "measure")
    low: Floats = over("system", "measure")
    high: Floats = over("system", "measure")
    level: float = constant()
    methods: tuple[str, ...]
    se: Floats = over("system", "measure")
    df: Floats = over("system", "measure")
    se_topics: Floats = over("system", "measure")
    se_repeats: Floats = over("system", "measure")
    se_twice_topics: Floats = over("system", "measure")
    se_twice_repeats: Floats = over("system", "measure")

    row_order = ("measure", "system")
    best_by = "mean"

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        mean = TableColumn(Role.SCORE, others=LIMITS)
        if self.baseline is not None:
            mean = TableColumn(Role.DIFFERENCE, f"difference from {self.baseline}", LIMITS)
        return {
            "measure": TableColumn(Role.NAME),
            "system": TableColumn(Role.NAME),
            "repeats": TableColumn(Role.COUNT),
            "mean": mean,
            "se": TableColumn(Role.SCORE),
            "se_topics": TableColumn(Role.SCORE),
            "se_repeats": TableColumn(Role.SCORE),
            "se_twice_topics": TableColumn(Role.SCORE, "2×topics"),
            "se_twice_repeats": TableColumn(Role.SCORE, "2×repeats"),
        }

    def interval_chart(self) -> IntervalChart:
        """Return its chart; the thick part of an interval is what topics alone would give."""
        records = self.to_records()
        for record in records:
            share = record["se_topics"] / record["se"] if record["se"] else 0.0
            record["topics_low"] = record["mean"] - share * (record["mean"] - record["low"])
            record["topics_high"] = record["mean"] + share * (record["high"] - record["mean"])
        what = "mean" if self.baseline is None else f"difference from {self.baseline}"
        return IntervalChart(
            "Means over topics and repeats",
            records,
            marks=(
                Mark("topics_low", "topics_high", size=4, opacity=0.5),
                LIMITS_LINE,
                dot("mean"),
            ),
            axis=f"{what} with {percent(self.level)} interval; thick: topics alone",
            tooltip=(
                *texts("system"),
                *numbers("mean", "se_topics", "se_repeats", format=FOUR_DECIMALS),
            ),
            row="system",
        )

    def note(self) -> str:
        """Return what the columns are, and for each system whether more topics or repeats would help."""
        what = "mean" if self.baseline is None else f"difference from {self.baseline}"
        note = (
            f"{what} over repeats and {self.topics.max():,} topics, with {percent(self.level)} interval by "
            f"{' and '.join(dict.fromkeys(self.methods))}; se: standard error from both, and what topics "
            "and repeats contribute; 2×: the standard error with twice the topics, or twice the repeats"
        )
        systems, measures = range(len(self.systems)), range(len(self.measures))
        return "\n".join([note, *(self.sentence(s, m) for m in measures for s in systems)])

    def sentence(self, system: int, measure: int) -> str:
        """Return whether more topics or more repeats would help, in words."""
        topics, repeats = (
            float(a[system, measure]) for a in (self.se_twice_topics, self.se_twice_repeats)
        )
        se = float(self.se[system, measure])
        better = "topics" if topics <= repeats else "repeats"
        return (
            f"{self.systems[system]} by {self.measures[measure]}: more {better}; the standard error "
            f"{se:.4f} becomes {topics:.4f} with twice the topics, {repeats:.4f} with twice the repeats"
        )


def summarise_repeats(
    scores: ScoresSource, *, baseline: str | None = None, level: float = LEVEL
) -> RepeatMeans:
    """Return the means of systems that were run several times, with what repeats contribute.

    Parameters
    ----------
    scores
        Scores of runs named ``system@1``, ``system@2``, …; anything that `as_scores` takes. Every
        repeat has a score on every topic. With a design, means and the topics' part follow it; with
        human and model judgements, topics are the human-judged ones.
    baseline
        The system that the others are compared with, on the same topics.
    level
        Confidence level.

    Examples
    --------
    >>> scores = {"a@1": [0.3, 0.5, 0.4], "a@2": [0.2, 0.6, 0.4]}
    >>> confir.summarise_repeats(scores)
    RepeatMeans(system: 1, measure: 1, level=0.95)
    """
    scores = as_scores(scores, human=True)
    level = as_level(level)
    if len(scores.topics) < 2:
        raise InvalidValueError("there is one topic; an interval needs at least 2")
    every = scores.with_repeats()
    sample = cast("RepeatSample", as_sample(every))
    systems, counts = every.runs, every.repeat_counts
    if baseline is not None:
        as_choice("baseline", baseline, systems, "system")
        kept = np.array([name != baseline for name in systems])
        sample = against(sample, baseline)
        systems, counts = tuple(name for name in systems if name != baseline), counts[kept]
    found = sample.distribution(slice(None), None, ("se",))
    parts = sample.repeat_variance().reshape(sample.shape)
    total = np.square(found.require("se")).reshape(sample.shape)
    mean, df = found.estimate.reshape(sample.shape), found.df.reshape(sample.shape)
    of_topics = total - parts
    statistic = "mean" if baseline is None else "difference"
    interval = confidence_interval(every, level=level, statistic=statistic, baseline=baseline)
    # a part of the variance over topics, though its estimate may be larger
    shared = np.minimum(sample.residual_variance().reshape(sample.shape), of_topics)
    return RepeatMeans(
        systems=systems,
        measures=scores.measures,
        baseline=baseline,
        topics=np.full(mean.shape, len(scores.topics)),
        repeats=np.broadcast_to(counts[:, None], mean.shape).copy(),
        mean=mean,
        low=interval.low,
        high=interval.high,
        methods=interval.methods,
        level=level,
        se=np.sqrt(total),
        df=df,
        se_topics=np.sqrt(np.maximum(of_topics, 0.0)),
        se_repeats=np.sqrt(parts),
        se_twice_topics=np.sqrt(of_topics / 2.0 + parts),
        # the variance of the topics' means holds the residual over the repeats, which halves, too
        se_twice_repeats=np.sqrt(
            np.maximum(of_topics - shared / 2.0, of_topics / 2.0) + parts / 2.0
        ),
    )
