"""How far does a system's mean depend on its topics, and how far on its repeats?

Scores of K repeats on T topics are x = μ + a(topic) + b(repeat) + e. The mean over both varies with the
topics by s²/T, s² the variance of the topics' means, and with the repeats by σ_b²/K.
"""

from __future__ import annotations

import numpy as np

from confir.arguments import as_choice, as_level
from confir.arrays import Floats, Integers
from confir.data.result import Result, axis, constant, over, result
from confir.data.sampling.design import refuse_design
from confir.data.sampling.repeats import find_repeats
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import LEVEL
from confir.errors import InvalidValueError, TopicMismatchError
from confir.intervals.quantiles import t_quantile
from confir.measures.evaluation import as_scores


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
        repeat has a score on every topic.
    baseline
        The system that the others are compared with, on the same topics.
    level
        Confidence level.
    """
    scores = as_scores(scores)
    level = as_level(level)
    refuse_design(scores.design, "the analysis of repeats")
    if np.isnan(scores.values).any():
        raise TopicMismatchError("a score is missing; repeats need all runs on all topics")
    if len(scores.topics) < 2:
        raise InvalidValueError("there is one topic; an interval needs at least 2")
    repeats = find_repeats(scores)
    means = repeats.mean(scores).values
    counts = np.array([len(own) for own in repeats.places])
    variances = np.stack([_repeat_variance(scores.values[:, list(o)]) for o in repeats.places])
    parts = variances / counts[:, None]
    dfs = parts**2 / (counts[:, None] - 1.0)
    systems = repeats.systems
    if baseline is not None:
        as_choice("baseline", baseline, systems, "system")
        place = systems.index(baseline)
        kept = [number for number in range(len(systems)) if number != place]
        means = means[:, kept] - means[:, [place]]
        parts, dfs = parts[kept] + parts[place], dfs[kept] + dfs[place]
        systems, counts = tuple(systems[number] for number in kept), counts[kept]
    size = len(scores.topics)
    of_topics = means.var(axis=0, ddof=1) / size
    total = of_topics + parts
    with np.errstate(divide="ignore", invalid="ignore"):
        df = total**2 / (of_topics**2 / (size - 1.0) + dfs)
        df = np.where(total > 0, df, size - 1.0)
    residual = np.stack([_residual_variance(scores.values[:, list(o)]) for o in repeats.places])
    shared = residual / np.array([len(o) for o in repeats.places])[:, None] / size
    own = shared if baseline is None else shared[kept] + shared[place]
    half = t_quantile(df, level) * np.sqrt(total)
    mean = means.mean(axis=0)
    undefined = total <= 0
    return RepeatMeans(
        systems=systems,
        measures=scores.measures,
        baseline=baseline,
        topics=np.full(mean.shape, size),
        repeats=np.broadcast_to(counts[:, None], mean.shape).copy(),
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
        se_twice_repeats=np.sqrt(np.maximum(of_topics - own / 2.0, 0.0) + parts / 2.0),
    )


def _residual_variance(values: Floats) -> Floats:
    """Return MS_e of one system: topics × repeats × measures, to measures."""
    topics, repeats = values.shape[:2]
    rest = values - values.mean(axis=0) - values.mean(axis=1)[:, None] + values.mean(axis=(0, 1))
    variance: Floats = np.square(rest).sum(axis=(0, 1)) / ((topics - 1.0) * (repeats - 1.0))
    return variance


def _repeat_variance(values: Floats) -> Floats:
    """Return σ_b² of one system: ``max(0, s²(repeat means) - MS_e/T)``."""
    between = values.mean(axis=0).var(axis=0, ddof=1)
    variance: Floats = np.maximum(0.0, between - _residual_variance(values) / len(values))
    return variance
