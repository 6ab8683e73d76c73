"""Means that others published with their standard errors: no scores, and no covariance of the runs.

Intervals of each mean follow. Differences do not: runs on the same topics are correlated, which makes the
variance of a difference anything between nothing and the square of the sum of both standard errors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.result import Result, axis, over, result
from confir.data.run_scores import RunScores
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.measures.bounds import bounded_measures
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.pair_draws import PairDraws
from confir.resampling.sample import Knowledge, MeasureSample, Sample


@result
class PublishedMeans(RunScores, Result):
    """Means of runs by measures, with standard errors and numbers of topics, as a paper has them.

    Attributes
    ----------
    runs, measures
        Names.
    means, se
        The means, and their standard errors.
    counts
        Number of topics of each mean.
    bounded
        Whether measures that confir does not know lie in [0, 1]; by default they do if all means do.
    """

    in_memory: ClassVar[bool] = False

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    means: Floats = over("run", "measure", column="mean")
    se: Floats = over("run", "measure")
    counts: Integers = over("run", "measure", column="topics")
    bounded: bool | None = None

    def __post_init__(self) -> None:
        Result.__post_init__(self)
        if not (np.isfinite(self.means).all() and (self.se > 0).all() and (self.counts > 1).all()):
            raise InvalidValueError(
                "a published mean is no number, or has no standard error above 0, or fewer than 2 "
                "topics; expected all three of each run"
            )

    @property
    def design(self) -> None:
        """How topics were drawn: whatever the standard errors allow for."""
        return

    @property
    def topics(self) -> range:
        """The topics by number."""
        return range(int(self.counts.max()))

    @property
    def inside(self) -> tuple[bool, ...]:
        """Whether the means by each measure lie in [0, 1]."""
        inside = np.all((self.means >= 0.0) & (self.means <= 1.0), axis=0)
        return tuple(inside.tolist())

    def topic_counts(self) -> Integers:
        """Return how many topics each mean is over: runs × measures."""
        return self.counts

    def mean(self) -> Floats:
        """Return the means: runs × measures."""
        return self.means


@dataclass(frozen=True, slots=True, eq=False)
class PublishedSample(Sample):
    """Published means as a sample; attributes are as in `Sample`, and of each column."""

    labels: tuple[tuple[str, str], ...]
    shape: tuple[int, ...]
    support: Booleans
    estimate: Floats
    se: Floats
    counts: Integers

    knowledge: ClassVar[frozenset[Knowledge]] = frozenset()
    kind: ClassVar = "published means"

    @classmethod
    def of(cls, given: PublishedMeans) -> Self:
        """Return published means as a sample."""
        labels = tuple((run, measure) for run in given.runs for measure in given.measures)
        support = np.tile(bounded_measures(given), len(given.runs))
        means, se = (part.reshape(-1) for part in (given.means, given.se))
        return cls(labels, given.means.shape, support, means, se, given.counts.reshape(-1))

    @property
    def topics(self) -> int:
        """Number of topics, of the mean with most."""
        return int(self.counts.max())

    def provides(self, need: str) -> bool:
        """Whether the distribution has a field of this name."""
        return need == "se"

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
            f"{what} {need}, which {self.kind} lack; expected the scores of the runs on each topic"
        )
