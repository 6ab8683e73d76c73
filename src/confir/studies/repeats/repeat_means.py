"""How far does a system's mean depend on its topics, and how far on its repeats?

Scores of K repeats on T topics are x = μ + a(topic) + b(repeat) + e. The mean over both varies with the
topics by s²/T, s² the variance of the topics' means, and with the repeats by σ_b²/K.
"""

from __future__ import annotations

import numpy as np

from confir.arguments import as_choice, as_level
from confir.arrays import Floats, Integers
from confir.data.result import Result, axis, constant, over, result
from confir.data.sampling.repeats import find_repeats
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import LEVEL
from confir.errors import InvalidValueError, TopicMismatchError
from confir.intervals.quantiles import t_quantile
from confir.measures.evaluation import as_scores
from confir.resampling.clusters import Clusters, Ratios
from confir.resampling.statistics import UNIT


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
        limits by t.
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
    se: Floats = over("system", "measure")
    df: Floats = over("system", "measure")
    se_topics: Floats = over("system", "measure")
    se_repeats: Floats = over("system", "measure")
    se_twice_topics: Floats = over("system", "measure")
    se_twice_repeats: Floats = over("system", "measure")

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
        repeat has a score on every topic. With a design, means and the topics' part follow it.
    baseline
        The system that the others are compared with, on the same topics.
    level
        Confidence level.
    """
    scores = as_scores(scores)
    level = as_level(level)
    if np.isnan(scores.values).any():
        raise TopicMismatchError("a score is missing; repeats need all runs on all topics")
    if len(scores.topics) < 2:
        raise InvalidValueError("there is one topic; an interval needs at least 2")
    repeats = find_repeats(scores)
    clusters = None if scores.design is None else Clusters.of(scores.design)
    means = repeats.mean(scores).values
    counts = np.array([len(own) for own in repeats.places])[:, None]
    found = [_repeat_variance(scores.values[:, list(own)], clusters) for own in repeats.places]
    parts, shared = (np.stack(column) / counts for column in zip(*found, strict=True))
    dfs = parts**2 / (counts - 1.0)
    systems = repeats.systems
    if baseline is not None:
        as_choice("baseline", baseline, systems, "system")
        place = systems.index(baseline)
        kept = [number for number in range(len(systems)) if number != place]
        means = means[:, kept] - means[:, [place]]
        parts, dfs, shared = (each[kept] + each[place] for each in (parts, dfs, shared))
        systems, counts = tuple(systems[number] for number in kept), counts[kept]
    mean, of_topics, topics_df = _over_topics(means, clusters)
    total = of_topics + parts
    with np.errstate(divide="ignore", invalid="ignore"):
        df = total**2 / (of_topics**2 / topics_df + dfs)
        df = np.where(total > 0, df, topics_df)
    half = t_quantile(df, level) * np.sqrt(total)
    undefined = total <= 0
    return RepeatMeans(
        systems=systems,
        measures=scores.measures,
        baseline=baseline,
        topics=np.full(mean.shape, len(scores.topics)),
        repeats=np.broadcast_to(counts, mean.shape).copy(),
        mean=mean,
        low=np.where(undefined, np.nan, mean - half),
        high=np.where(undefined, np.nan, mean + half),
        level=level,
        se=np.sqrt(total),
        df=df,
        se_topics=np.sqrt(of_topics),
        se_repeats=np.sqrt(parts),
        se_twice_topics=np.sqrt(of_topics / 2.0 + parts),
        # the variance of the topics' means holds the residual over the repeats, which halves, too
        se_twice_repeats=np.sqrt(np.maximum(of_topics - shared / 2.0, 0.0) + parts / 2.0),
    )


def _over_topics(values: Floats, clusters: Clusters | None) -> tuple[Floats, Floats, Floats]:
    """Return means over topics, the first axis, their variance and its degrees of freedom."""
    if clusters is None:
        variance = values.var(axis=0, ddof=1) / len(values)
        return values.mean(axis=0), variance, np.full(variance.shape, len(values) - 1.0)
    ratios = Ratios(clusters, (values.reshape(len(values), -1),))
    found = ratios.means[0], *ratios.variance(ratios.influence([UNIT]))
    mean, variance, df = (each.reshape(values.shape[1:]) for each in found)
    return mean, variance, df


def _repeat_variance(values: Floats, clusters: Clusters | None) -> tuple[Floats, Floats]:
    """Return σ_b² of one system, ``max(0, s²(repeat means) - MS_e/T)``, and MS_e/T.

    MS_e/T, the variance over topics of one repeat's mean beyond what repeats share, is that of its
    deviations from the repeats' mean: so it holds by a design, too. Values are topics × repeats × measures.
    """
    repeats = values.shape[1]
    means, _, _ = _over_topics(values, clusters)
    apart = values - values.mean(axis=1, keepdims=True)
    residual = _over_topics(apart, clusters)[1].sum(axis=0) / (repeats - 1.0)
    return np.maximum(0.0, means.var(axis=0, ddof=1) - residual), residual
