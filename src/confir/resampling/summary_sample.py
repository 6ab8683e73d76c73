"""The bootstrap over any number of topics: Poisson weights that each topic's id decides.

The weight of a topic in a replicate is a Poisson(1) count from the generator that documents use,
keyed by seed, id and replicate: parts of the topics are resampled anywhere, and their sums added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.ids import Words
from confir.data.long_tables.block_statistics import Moments, PairTotals
from confir.data.long_tables.score_blocks import TopicBlock
from confir.errors import InvalidValueError
from confir.measures.parsing import bounded_measures
from confir.measures.score_summary import ScoreSummary
from confir.resampling.distribution import DISTRIBUTION_FIELDS, Fields, Labels, SamplingDistribution
from confir.resampling.document_kernels import (
    PLAIN_KERNELS,
    THRESHOLDS,
    compile_kernels,
    seeded_keys,
)
from confir.resampling.normal_draws import NORMAL_TOPICS, RunCovariance, draw_normal_means
from confir.resampling.pair_draws import PairBlocks
from confir.resampling.sample import Knowledge, MeasureSample, Sample, check_common_topics
from confir.resampling.topic_distribution import ROUNDING

# Topics whose weights are held at once: about a megabyte of counts.
_TOPICS_AT_ONCE = 1024


class PoissonSums(NamedTuple):
    """Weighted sums over topics.

    Attributes
    ----------
    powers
        Of the topics with a score, of their deviations from the mean, and of as many higher powers
        of these as were asked for: each columns × replicates.
    """

    powers: tuple[Floats, ...]

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
        return cls(tuple(totals))

    def merge(self, other: PoissonSums, /) -> PoissonSums:
        """Return the sums of both."""
        return PoissonSums(tuple(map(np.add, self.powers, other.powers)))


@dataclass(frozen=True, slots=True, eq=False)
class SummarisedTopics(Sample):
    """Means of a summary, or differences between its runs: single scores were not kept.

    Attributes
    ----------
    summary, found
        Where the scores come from, and the moments of the columns; None for those of all runs and
        measures, which are looked up when they are needed: a pass over pairs finds them, too.
    plus, minus
        Which columns of the summary are averaged, and which are subtracted; None for means.
    pairs, places
        Of differences, summary statistics of pairs of runs, and the place of each column in them.
    """

    summary: ScoreSummary
    found: Moments | None
    plus: Integers
    minus: Integers | None = None
    pairs: PairTotals | None = None
    places: Integers | None = None

    knowledge: ClassVar = frozenset(
        {Knowledge.COVARIANCE, Knowledge.SIGNS, Knowledge.DRAWS, Knowledge.TOPIC_VARIANCE}
    )
    kind: ClassVar = "summaries of scores"
    provided: ClassVar = DISTRIBUTION_FIELDS - {"sample"}
    independent: ClassVar = True
    threaded: ClassVar = True  # little is left to do after the pass over its file
    reason: ClassVar = "a long table is summed up, and a sample of its topics is kept"

    @classmethod
    def of_means(cls, summary: ScoreSummary) -> Self:
        """Return the means of all runs and measures."""
        labels = tuple((run, measure) for run in summary.runs for measure in summary.measures)
        shape = len(summary.runs), len(summary.measures)
        return cls(labels, shape, summary, None, np.arange(len(labels)))

    @property
    def support(self) -> Booleans:
        """Columns whose estimate lies in [0, 1], which a pass may have to find: no differences."""
        if self.minus is not None:
            return np.zeros(len(self.labels), np.bool_)
        return bounded_measures(self.summary)[self.plus % len(self.summary.measures)]

    @property
    def moments(self) -> Moments:
        """Moments of the columns."""
        return self.summary.moments if self.found is None else self.found

    @property
    def topics(self) -> int:
        """Number of topics; of those that all runs have, where others do not count."""
        if self.summary.on_common_topics:
            return int(self.moments.count.max(initial=0))
        return len(self.summary.topics)

    @property
    def rows(self) -> int:
        """Numbers held per column: none of single topics."""
        return 0

    def chosen(self, columns: Any) -> Self:
        """Return some columns of means, as a one-dimensional sample."""
        places = np.arange(len(self.labels))[columns]
        found, plus = self.moments.select(places), self.plus[places]
        return self._labelled(places, found=found, plus=plus)

    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return the differences between columns of means, by a pass over all pairs of their runs."""
        measures = len(self.summary.measures)
        over, under = self.plus[plus], self.plus[minus]
        keys, pair = np.unique(
            np.stack([under // measures, over // measures]), axis=1, return_inverse=True
        )
        first, second = (np.ascontiguousarray(side) for side in keys)
        totals = self.summary.pair_totals(first, second)
        places = pair.reshape(-1) * measures + over % measures
        return self._labelled(
            plus,
            found=totals.differences.select(places),
            plus=over,
            minus=under,
            pairs=totals,
            places=places,
        )

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest difference of each column of a contrast."""
        totals = self._totals
        return totals.least[self.places], totals.most[self.places]

    def wins(self) -> tuple[Integers, Integers, Integers]:
        """Return on how many topics the differences of a contrast are above, at and below 0."""
        totals = self._totals
        wins, ties, losses = (
            counts[self.places] for counts in (totals.wins, totals.ties, totals.losses)
        )
        return wins, ties, losses

    @property
    def _totals(self) -> PairTotals:
        if self.pairs is None:
            raise InvalidValueError("these are means; expected differences between runs")
        return self.pairs

    def by_measure(self, what: str) -> list[MeasureSample]:
        """Return the runs by each measure, on the topics that all of them have."""
        common = self.summary.over_common_topics()
        whole, counts = SummarisedTopics.of_means(common), common.topic_counts()
        found = []
        for m, measure in enumerate(common.measures):
            check_common_topics(int(counts[:, m].max()), measure, what)
            scored = counts[:, m] > 0
            own = whole.chosen(np.flatnonzero(scored) * len(common.measures) + m)
            found.append(MeasureSample(scored, own, int(counts[:, m].max())))
        return found

    def covariance(self) -> Floats | None:
        """Return the covariance of the columns, runs by one measure; None where topics are missing."""
        measures = len(self.summary.measures)
        runs, measure = self.plus // measures, int(self.plus[0]) % measures
        found = self.summary.comoments()
        count = float(found.count[measure])
        matrix = found.products[measure][np.ix_(runs, runs)] / max(count - 1.0, 1.0)
        return None if np.isnan(matrix).any() else matrix

    def pair_draws(self, replicates: int, rng: np.random.Generator) -> PairBlocks:
        """Yield differences between all columns in replicates of normal means, and how many."""
        topics = float(self.moments.count.max())
        covariance = self.covariance() if topics >= NORMAL_TOPICS else None
        if covariance is not None:
            normal = RunCovariance(covariance, topics, self.labels)
            yield from normal.pair_draws(replicates, rng)

    def replicate_means(self, replicates: int, rng: np.random.Generator) -> Floats:
        """Return normal means with the covariance of the columns: replicates × columns."""
        mean, covariance = self.moments.mean, self.covariance()
        if covariance is None or len(self.labels) < 2:
            return np.broadcast_to(mean, (1, len(mean)))
        topics = int(self.moments.count.max())
        drawn = draw_normal_means(covariance / topics, replicates, rng, self.labels)
        return (mean[:, None] + drawn).T

    def fourth_powers(self, sd: Floats) -> Floats | None:
        """Return sums of fourth powers; of so many topics, the trimmed mean is the mean."""
        del sd
        return self.moments.fourth

    def draw(self, replicates: int, rng: np.random.Generator, needs: Fields = ()) -> PoissonSums:
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
        self, columns: slice, weights: PoissonSums | None, needs: Fields = ()
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns; ``weights`` come from `draw`."""
        found = self.moments.select(np.arange(len(self.labels))[columns])
        known = _closed_form(found, self.labels[columns], self.support[columns])
        if weights is None:
            return known
        with np.errstate(divide="ignore", invalid="ignore"):
            weight, *powers = (part[columns] for part in weights.powers)
            first, *higher = (part / weight for part in powers)
            replicates = (known.estimate[:, None] + first).T
            se = skewness = None
            if higher:
                variance = higher[0] - np.square(first)
                variance[variance <= ROUNDING * np.square(first)] = 0.0
                se = np.sqrt(variance / np.maximum(weight - 1.0, 1.0)).T
                if len(higher) > 1 and "replicate_skewness" in needs:
                    third = higher[1] - first * (np.square(first) + 3.0 * variance)
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


def _closed_form(moments: Moments, labels: Labels, support: Booleans) -> SamplingDistribution:
    """Return the distribution of means, as far as it follows from moments."""
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
            se=np.where(constant, 0.0, se),
            skewness=np.sqrt(n) * moments.third / moments.second**1.5,
            acceleration=moments.third / (6.0 * moments.second**1.5),
        )
