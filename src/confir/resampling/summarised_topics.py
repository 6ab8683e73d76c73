"""The bootstrap over any number of topics: Poisson weights that each topic's id decides.

The weight of a topic in a replicate is a Poisson(1) count from the generator that documents use,
keyed by seed, id and replicate: parts of the topics are resampled anywhere, and their sums added.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Booleans, Floats, Integers
from confir.data.streams.blocks import TopicBlock
from confir.data.streams.hashed_ids import Words
from confir.data.streams.moments import Moments
from confir.defaults import REPLICATES, SUMMARY_REPLICATES
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.measures.bounds import bounded_measures
from confir.measures.score_summary import ScoreSummary, find_summary
from confir.resampling.distribution import SamplingDistribution, TopicColumns
from confir.resampling.document_kernels import (
    PLAIN_KERNELS,
    THRESHOLDS,
    compile_kernels,
    seeded_keys,
)
from confir.resampling.human_judgements import JudgedSample, any_sample
from confir.resampling.moments import ROUNDING
from confir.resampling.statistics import WeightedStatistic
from confir.resampling.topics import ScoresLike, TopicSample

# Topics whose weights are held at once: about a megabyte of counts.
_TOPICS_AT_ONCE = 1024


@dataclass(frozen=True, slots=True, eq=False)
class PoissonSums:
    """Weighted sums over topics: columns × replicates.

    Attributes
    ----------
    weight
        Of the topics with a score.
    first, second, third
        Of the deviations from the mean, their squares and cubes; None where they were not asked
        for.
    """

    weight: Floats
    first: Floats
    second: Floats | None
    third: Floats | None

    @classmethod
    def of(cls, keys: Words, values: Floats, replicates: int, powers: int) -> Self:
        """Return the sums of some topics.

        Parameters
        ----------
        keys
            Start of each topic's stream of random words.
        values
            Deviations, columns × topics; NaN where missing.
        replicates, powers
            Number of replicates, and up to which power sums are needed.
        """
        kernels = compile_kernels() or PLAIN_KERNELS
        totals: list[Floats] = [np.zeros((len(values), replicates)) for _ in range(powers + 1)]
        counts = np.empty((min(_TOPICS_AT_ONCE, len(keys)), replicates), np.uint8)
        for start in range(0, len(keys), _TOPICS_AT_ONCE):
            some = values[:, start : start + _TOPICS_AT_ONCE]
            drawn = counts[: some.shape[1]]
            kernels.draw_counts(keys[start : start + _TOPICS_AT_ONCE], 0, THRESHOLDS, drawn)
            weights = drawn.astype(np.float64)
            present = ~np.isnan(some)
            filled = np.where(present, some, 0.0)
            power = present.astype(np.float64)
            totals[0] += power @ weights if not present.all() else weights.sum(axis=0)
            for place in range(1, powers + 1):
                power = power * filled
                totals[place] += power @ weights
        return cls(*totals, *[None] * (3 - powers))

    def merge(self, other: Self) -> Self:
        """Return the sums of both."""
        return type(self)(
            self.weight + other.weight,
            self.first + other.first,
            None if self.second is None else self.second + np.asarray(other.second),
            None if self.third is None else self.third + np.asarray(other.third),
        )


@dataclass(frozen=True, slots=True, eq=False)
class SummarisedTopics(TopicColumns):
    """Means of a summary, or differences between its runs, as interval methods take them.

    Stands for `TopicSample` where scores of single topics were not kept.

    Attributes
    ----------
    labels, shape, support
        As there.
    summary, moments
        Where the scores come from, and the moments of the columns.
    plus, minus
        Which columns of the summary are averaged, and which are subtracted; None for means.
    """

    labels: tuple[tuple[str, str], ...]
    shape: tuple[int, ...]
    support: Booleans
    summary: ScoreSummary
    moments: Moments
    plus: Integers
    minus: Integers | None = None

    @classmethod
    def of_means(cls, summary: ScoreSummary) -> Self:
        """Return the means of all runs and measures."""
        labels = tuple((run, measure) for run in summary.runs for measure in summary.measures)
        shape = len(summary.runs), len(summary.measures)
        support = np.tile(bounded_measures(summary), len(summary.runs))
        return cls(labels, shape, support, summary, summary.moments, np.arange(len(labels)))

    @classmethod
    def of_pairs(cls, summary: ScoreSummary, first: Integers, second: Integers) -> Self:
        """Return the differences of pairs of runs, by all measures."""
        measures = np.arange(len(summary.measures))
        plus, minus = (
            (runs[:, None] * len(measures) + measures).reshape(-1) for runs in (second, first)
        )
        labels = tuple(
            (summary.runs[run], measure) for run in second for measure in summary.measures
        )
        moments = summary.pair_totals(first, second).differences
        shape, support = (len(first), len(measures)), np.zeros(len(labels), np.bool_)
        return cls(labels, shape, support, summary, moments, plus, minus)

    @property
    def topics(self) -> int:
        """Number of topics."""
        return len(self.summary.topics)

    def provides(self, need: str) -> bool:
        """Whether the distribution has a field of this name: not the single scores."""
        return need != "sample"

    def draw(
        self, replicates: int, rng: np.random.Generator, needs: Collection[str] = ()
    ) -> PoissonSums:
        """Return the resampled sums of all columns, in one pass."""
        seed = int(rng.integers(2**63))
        powers = 3 if "replicate_skewness" in needs else 2 if "replicate_se" in needs else 1
        mean, plus, minus = self.moments.mean[:, None], self.plus, self.minus

        def sums(block: TopicBlock) -> PoissonSums:
            values = block.values[plus]
            if minus is not None:
                values -= block.values[minus]
            values -= mean
            return PoissonSums.of(seeded_keys(block.keys, seed), values, replicates, powers)

        return self.summary.gather(sums)

    def distribution(
        self, columns: slice, weights: PoissonSums | None, needs: Collection[str] = ()
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns; ``weights`` come from `draw`."""
        found = self.moments.select(np.arange(self.columns)[columns])
        known = _closed_form(found, self.labels[columns], self.support[columns])
        if weights is None:
            return known
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = weights.weight[columns]
            first = weights.first[columns] / weight
            replicates = (known.estimate[:, None] + first).T
            se = skewness = None
            if weights.second is not None:
                variance = weights.second[columns] / weight - np.square(first)
                variance[variance <= ROUNDING * np.square(first)] = 0.0
                se = np.sqrt(variance / np.maximum(weight - 1.0, 1.0)).T
                if weights.third is not None and "replicate_skewness" in needs:
                    third = weights.third[columns] / weight
                    third -= first * (np.square(first) + 3.0 * variance)
                    skewness = np.nan_to_num(third / variance**1.5, posinf=0.0, neginf=0.0).T
        if not np.isfinite(known.estimate).all():
            replicates = np.where(np.isfinite(known.estimate), replicates, np.nan)
        return replace(
            known,
            replicates=np.asfortranarray(replicates),
            replicate_se=se,
            replicate_skewness=skewness,
            dropped=np.isnan(replicates).sum(axis=0),
        )


def _closed_form(
    moments: Moments, labels: tuple[tuple[str, str], ...], support: Booleans
) -> SamplingDistribution:
    """Return the distribution of means, as far as their moments tell it."""
    n = moments.count
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.where(n > 0, moments.mean, np.nan)
        se = np.sqrt(moments.second / (n * (n - 1.0)))
        constant = (moments.least >= moments.most) | (se <= ROUNDING * np.abs(estimate))
        return SamplingDistribution(
            labels=labels,
            estimate=estimate,
            count=n.astype(np.int64),
            df=n - 1.0,
            support=support,
            resampled=frozenset({"topics"}),
            se=np.where(constant, 0.0, se),
            skewness=np.sqrt(n) * moments.third / moments.second**1.5,
            acceleration=moments.third / (6.0 * moments.second**1.5),
        )


AnyTopics = TopicSample | JudgedSample | SummarisedTopics


def sample_topics(
    scores: ScoresLike | ScoreSummary,
    *,
    statistic: str | WeightedStatistic = "mean",
    baseline: str | None = None,
) -> AnyTopics:
    """Return scores, or a summary of them, prepared for the bootstrap of a statistic."""
    scores = scores if isinstance(scores, ScoreSummary) else find_summary(scores)
    if not isinstance(scores, ScoreSummary):
        return any_sample(scores, statistic=statistic, baseline=baseline)
    if statistic == "mean" and baseline is None:
        return SummarisedTopics.of_means(scores)
    if statistic != "difference" or baseline is None:
        raise UnsupportedMethodError(
            f"the statistic {statistic!r} needs the scores of single topics, which a summary lacks; "
            "expected the mean, or the difference from a baseline"
        )
    as_choice("baseline", baseline, scores.runs, "run")
    place = scores.runs.index(baseline)
    others = np.array([run for run in range(len(scores.runs)) if run != place], np.int64)
    if not len(others):
        raise InvalidValueError(f"there is no run to compare with the baseline {baseline!r}")
    return SummarisedTopics.of_pairs(scores, np.full(len(others), place, np.int64), others)


def default_replicates(scores: object, replicates: int | None) -> int:
    """Return the number of replicates: the one given, else the default, fewer for a summary."""
    if replicates is not None:
        return replicates
    return SUMMARY_REPLICATES if isinstance(scores, ScoreSummary) else REPLICATES
