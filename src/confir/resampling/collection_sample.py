"""Means over topics on resampled collections, as a sample: documents vary, topics stay as they are.

The replicates are drawn already. Each is one collection, the same for every topic, run and measure, so
that differences are paired. Their standard deviation is the standard error, with infinitely many degrees
of freedom; no unit has a row of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.defaults import LOGIT_EPSILON
from confir.measures.parsing import bounded_measures
from confir.resampling.distribution import Resampled, SamplingDistribution, SamplingScheme
from confir.resampling.document_replicates import (
    DocumentReplicates,
    collection_distribution,
    transform_of,
)
from confir.resampling.pair_draws import Moves, PairDraws
from confir.resampling.replicates import draw_topics
from confir.resampling.sample import (
    Knowledge,
    MeasureSample,
    Sample,
    check_common_topics,
)
from confir.resampling.statistics import Transform
from confir.resampling.variance_components import (
    VarianceComponents,
    estimate_components,
    joint_replicates,
    mean_over_topics,
    spread,
)

# Scores on topics and collections that are transformed or subtracted at once.
_SCORES_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class CollectionSample(Sample):
    """Means over topics on resampled collections, or differences between runs.

    Attributes
    ----------
    support
        As in `Sample`.
    drawn
        The scores on every topic and resampled collection.
    forward
        What is done to scores before they are averaged, such as the logit.
    plus, minus
        Which columns of its runs × measures are averaged, and which are subtracted; None for means.
    scores
        Observed scores after that, or their differences: columns × topics; NaN where missing.
    replicates
        Their mean over topics on each collection: columns × replicates; NaN where no topic has a
        relevant document.
    """

    support: Booleans = field()
    drawn: DocumentReplicates
    forward: Transform
    plus: Integers
    minus: Integers | None
    scores: Floats
    replicates: Floats

    knowledge: ClassVar = frozenset({Knowledge.COVARIANCE, Knowledge.DRAWS, Knowledge.COLLECTIONS})
    kind: ClassVar = "scores on resampled collections"
    reason: ClassVar = "documents are resampled, on the same topics"
    provided: ClassVar = frozenset({"se", "replicates"})
    over: ClassVar[Resampled] = "documents"
    threaded: ClassVar = True  # the replicates are drawn already

    @classmethod
    def of(
        cls, drawn: DocumentReplicates, summary: str = "mean", epsilon: float = LOGIT_EPSILON
    ) -> Self:
        """Return the means of all runs and measures.

        Parameters
        ----------
        drawn
            What `resample_documents` returns.
        summary
            A name in SUMMARIES; the mean is not transformed back.
        epsilon
            Distance from 0 and 1 to which scores are clipped before the logit.
        """
        forward = transform_of(summary, epsilon)
        labels = tuple((run, measure) for run in drawn.runs for measure in drawn.measures)
        inside = bounded_measures(drawn.scores) & (summary == "mean")
        values = drawn.scores.values.reshape(len(drawn.topics), -1).T
        scores = forward(np.ascontiguousarray(values))
        places, none = np.arange(len(labels)), np.empty((len(labels), 0))
        shape, support = (len(drawn.runs), len(drawn.measures)), np.tile(inside, len(drawn.runs))
        return cls(labels, shape, support, drawn, forward, places, None, scores, none).averaged()

    @property
    def scheme(self) -> SamplingScheme:
        """What is sampled; replicates are drawn already."""
        return SamplingScheme(self.drawn.sampling_note(), replicates=self.drawn.replicates)

    @property
    def topics(self) -> int:
        """Number of topics."""
        return len(self.drawn.topics)

    @property
    def rows(self) -> int:
        """Numbers held per column."""
        return self.topics + self.drawn.replicates

    def draw(self, replicates: int, rng: np.random.Generator, needs: Collection[str] = ()) -> None:
        """Return nothing: the replicates are drawn already, whatever their number."""
        del replicates, rng, needs

    def topic_spreads(self) -> Floats:
        """Return the standard deviation of every topic's score over collections: columns × topics."""
        size = self.drawn.replicates
        return self._joined(
            lambda column, block: spread(self._values(column, block)), self.topics, size
        )

    def averaged(self) -> Self:
        """Return the columns with their mean over topics on each collection."""
        every = slice(None)
        means = self._joined(
            lambda column, block: mean_over_topics(self._values(column, every, block)),
            self.drawn.replicates,
            self.topics,
        )
        return replace(self, replicates=means)

    def _joined(self, compute: Callable[[int, slice], Floats], number: int, size: int) -> Floats:
        """Return what is computed for all columns, block by block: a copy of all scores is large.

        Blocks are of a number of topics or collections, each of which has scores of some size.
        """
        rows = max(1, _SCORES_AT_ONCE // max(1, size))
        blocks = [slice(start, start + rows) for start in range(0, max(1, number), rows)]
        columns = range(len(self.labels))
        return np.stack([np.concatenate([compute(c, block) for block in blocks]) for c in columns])

    def _values(
        self, column: int, topics: slice = slice(None), collections: slice = slice(None)
    ) -> Floats:
        """Return the scores of a column on topics and collections: topics × replicates."""
        measures = len(self.drawn.measures)
        parts = [self.plus] if self.minus is None else [self.plus, self.minus]
        places = (divmod(int(part[column]), measures) for part in parts)
        found = (self.drawn.values[measure, run, topics, collections] for run, measure in places)
        values = [self.forward(one) for one in found]
        return values[0] if len(values) == 1 else values[0] - values[1]

    def distribution(
        self, columns: slice, weights: None = None, needs: Collection[str] = ()
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns."""
        del weights, needs
        return collection_distribution(
            self.labels[columns],
            mean_over_topics(self.scores[columns].T),
            self.replicates[columns],
            self.support[columns],
            np.sum(~np.isnan(self.scores[columns]), axis=1),
        )

    def components(self) -> VarianceComponents:
        """Return the variance components of the columns: topics, documents and their interaction."""
        within = mean_over_topics(np.square(self.topic_spreads()).T)
        counts: Integers = np.sum(~np.isnan(self.scores), axis=1)
        between, of_means = (np.square(spread(part)) for part in (self.scores, self.replicates))
        return estimate_components(between, within, of_means, counts)

    def distribution_with_topics(self) -> SamplingDistribution:
        """Return the sampling distribution over new topics and a new collection."""
        components, drawn = self.components(), self.drawn
        rng = np.random.default_rng([drawn.seed, self.topics])
        weights = draw_topics(self.topics, drawn.replicates, rng)
        joint = joint_replicates(self.scores, self.replicates, weights, components)
        inside = self.support[:, None]
        return collection_distribution(
            self.labels,
            mean_over_topics(self.scores.T),
            np.where(inside, np.clip(joint, 0.0, 1.0), joint),
            self.support,
            components.count,
            components=components,
        )

    def chosen(self, columns: Any) -> Self:
        """Return some columns, as a one-dimensional sample."""
        places = np.arange(len(self.labels))[columns]
        return self._labelled(
            places,
            support=self.support[places],
            plus=self.plus[places],
            minus=None if self.minus is None else self.minus[places],
            scores=self.scores[places],
            replicates=self.replicates[places],
        )

    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return differences between means, over the topics that both runs have."""
        found = self._labelled(
            plus,
            support=np.zeros(len(plus), np.bool_),
            plus=self.plus[plus],
            minus=self.plus[minus],
            scores=self.scores[plus] - self.scores[minus],
        )
        return found.averaged()

    def whole_differences(self) -> Floats:
        """Return the observed differences of a contrast, rounded to multiples of a step."""
        return np.rint(self.scores.T / TIE)

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest difference of each column, over topics and collections.

        Means that differ on no collection are of identical runs where no topic differs on any.
        """
        means = np.concatenate([mean_over_topics(self.scores.T)[None], self.replicates.T])
        whole = np.rint(means / TIE)
        least = np.fmin.reduce(whole, axis=0, initial=np.inf)
        most = np.fmax.reduce(whole, axis=0, initial=-np.inf)
        for place in np.flatnonzero((least == 0) & (most == 0)).tolist():
            if np.nanmax(np.abs(self._values(place)), initial=0.0) > TIE:
                least[place], most[place] = -1.0, 1.0
        return least, most

    def unit_counts(self, counts: Integers) -> Floats:
        """Return the number of independent units: no number of documents limits a variance."""
        return np.full(counts.shape, np.inf)

    @property
    def largest_df(self) -> float:
        """The most degrees of freedom that a difference between columns can have."""
        return np.inf

    def by_measure(self, what: str) -> list[MeasureSample]:
        """Return the runs by each measure, on the topics that all of them have."""
        found = []
        for m, measure in enumerate(self.drawn.measures):
            present = ~np.isnan(self.of_measure(m).scores)
            scored: Booleans = np.any(present, axis=1)
            common: Booleans = np.all(present[scored], axis=0) & scored.any()
            check_common_topics(int(common.sum()), measure, what)
            whole = self
            if not common.all():
                scores = np.ascontiguousarray(self.scores[:, common])
                whole = replace(self, drawn=self.drawn.on_topics(common), scores=scores).averaged()
            own = whole.of_measure(m).chosen(scored)
            found.append(MeasureSample(scored, own, int(present.any(axis=0).sum())))
        return found

    def pair_draws(
        self, replicates: int, rng: np.random.Generator
    ) -> Iterator[tuple[PairDraws, int]]:
        """Yield differences between all columns on all collections on which they are defined."""
        del replicates, rng
        missing = np.isnan(self.scores)
        gaps = self if (missing != missing[0]).any() else None
        means = self._defined() if gaps is None else self.replicates
        yield CollectionDraws(means, gaps), means.shape[1]

    def replicate_means(self, replicates: int, rng: np.random.Generator) -> Floats:
        """Return the means on all collections on which they are defined: replicates × columns."""
        del replicates, rng
        return self._defined().T

    def _defined(self) -> Floats:
        """Return the replicates without those on which no topic of some column has a relevant document."""
        return self.replicates[:, ~np.isnan(self.replicates).any(axis=0)]


@dataclass(frozen=True, slots=True, eq=False)
class CollectionDraws(PairDraws):
    """Differences between runs on resampled collections.

    Deviations are from the mean of the replicates, as in their standard deviation, by which they are
    divided: copies of documents shift the scores of all replicates a little.

    Attributes
    ----------
    means
        On all collections, without gaps those on which they are defined: runs × replicates.
    gaps
        The sample, where runs lack topics, so that a difference is not that of the means; else None.
    """

    means: Floats
    gaps: CollectionSample | None

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.means)

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        differences = self.means[others] - self.means[run]
        if self.gaps is not None:
            differences = self.gaps.contrast(others, np.full(len(others), run)).replicates
        sd = spread(differences)
        varies = sd > TIE
        differences, variance = differences[varies], np.square(sd[varies])[:, None]
        deviation = differences - mean_over_topics(differences.T)[:, None]
        return Moves(varies, np.nan_to_num(deviation[:, block]), variance, np.inf, 1.0)
