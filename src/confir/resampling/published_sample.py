"""Means that others published with their standard errors: no scores, and no covariance of the runs.

Intervals of each mean follow. Differences do not: runs on the same topics are correlated, which makes the
variance of a difference anything between nothing and the square of the sum of both standard errors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.tables.published_files import PublishedMeans
from confir.errors import UnsupportedMethodError
from confir.measures.parsing import bounded_measures
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.pair_draws import PairDraws
from confir.resampling.sample import Knowledge, MeasureSample, Sample


@dataclass(frozen=True, slots=True, eq=False)
class PublishedSample(Sample):
    """Published means as a sample; attributes are of each column."""

    support: Booleans = field()
    estimate: Floats
    se: Floats
    counts: Integers

    knowledge: ClassVar[frozenset[Knowledge]] = frozenset()
    kind: ClassVar = "published means"
    provided: ClassVar = frozenset({"se"})
    reason: ClassVar = (
        "a table of means says nothing of single topics, by which runs are correlated"
    )

    @classmethod
    def of(cls, given: PublishedMeans) -> Self:
        """Return published means as a sample; raise where one is impossible."""
        given = given.clipped(bounded_measures)
        labels = tuple((run, measure) for run in given.runs for measure in given.measures)
        support = np.tile(bounded_measures(given), len(given.runs))
        means, se = (part.reshape(-1) for part in (given.means, given.se))
        return cls(labels, given.means.shape, support, means, se, given.counts.reshape(-1))

    @property
    def topics(self) -> int:
        """Number of topics, of the mean with most."""
        return int(self.counts.max())

    def draw(
        self, replicates: int, rng: np.random.Generator, needs: Collection[str] = ()
    ) -> NoReturn:
        """Raise: there is nothing to draw from."""
        del replicates, rng, needs
        raise self._lacking("replicates need", Knowledge.DRAWS)

    def distribution(
        self, columns: slice, weights: Any, needs: Collection[str] = ()
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns."""
        del weights, needs
        return SamplingDistribution(
            labels=self.labels[columns],
            estimate=self.estimate[columns],
            count=self.counts[columns],
            df=self.counts[columns].astype(np.float64) - 1.0,
            support=self.support[columns],
            resampled=frozenset({"topics"}),
            se=self.se[columns],
            independent=False,
        )

    def chosen(self, columns: Any) -> Self:
        """Return some columns, as a one-dimensional sample."""
        labels = tuple(np.array(self.labels, object)[columns].reshape(-1, 2).tolist())
        parts = (self.support, self.estimate, self.se, self.counts)
        names = ("support", "estimate", "se", "counts")
        kept = {name: part[columns] for name, part in zip(names, parts, strict=True)}
        pairs = tuple((run, measure) for run, measure in labels)
        return replace(self, labels=pairs, shape=(len(pairs),), **kept)

    def _contrast(self, plus: Integers, minus: Integers) -> NoReturn:
        del plus, minus
        raise self._lacking("differences need", Knowledge.COVARIANCE)

    def wins(self) -> NoReturn:
        """Raise: no topic is known."""
        raise self._lacking("wins need", Knowledge.SIGNS)

    def extremes(self) -> NoReturn:
        """Raise: no topic is known."""
        raise self._lacking("extremes need", Knowledge.TOPICS)

    def by_measure(self, what: str) -> list[MeasureSample]:
        """Raise: runs cannot be compared."""
        raise self._lacking(f"{what} need", Knowledge.COVARIANCE)

    def pair_draws(
        self, replicates: int, rng: np.random.Generator
    ) -> Iterator[tuple[PairDraws, int]]:
        """Raise: runs cannot be compared."""
        del replicates, rng
        raise self._lacking("differences need", Knowledge.COVARIANCE)

    def _lacking(self, what: str, need: Knowledge) -> UnsupportedMethodError:
        return UnsupportedMethodError(
            f"{what} {need}, which {self.kind} lack: {self.reason}; expected the score on each topic"
        )
