"""Macro means of runs that miss datasets, as a sample: what varies of the additive model's estimates.

Of random datasets the errors are the residuals; of fixed ones, whose topics are a sample, each macro
mean is a weighted sum of cells, and the cells of a dataset share its topics.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicMismatchError
from confir.measures.parsing import bounded_measures
from confir.resampling.cluster_distribution import summed_df
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.normal_draws import draw_normal_means
from confir.resampling.pair_draws import Moves, PairDraws
from confir.resampling.sample import Knowledge, MeasureSample, Sample
from confir.resampling.studentised_maxima import sizes_in_memory
from confir.studies.leaderboard.additive_fit import AdditiveFit, DatasetCells


class BoardSample(Sample):
    """Macro means of runs by one measure whose covariance is known, but no scores of single topics."""

    __slots__ = ()

    knowledge: ClassVar = frozenset({Knowledge.COVARIANCE, Knowledge.DRAWS})
    provided: ClassVar = frozenset({"se", "replicates"})

    @property
    def rows(self) -> int:
        """Numbers held per column: none of single topics."""
        return 0

    def by_measure(self, what: str) -> list[MeasureSample]:
        """Return all runs, by the one measure."""
        del what
        every = np.ones(len(self.labels), np.bool_)
        runs = self.chosen(slice(None))
        return [MeasureSample(every, runs, self.topics)]


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveSample(BoardSample):
    """Macro means of runs that miss datasets, or their differences.

    Attributes
    ----------
    support
        As in `Sample`.
    estimate
        Of each column.
    parts, part_df
        Independent parts of the covariance of all runs, parts × runs × runs, and their degrees of
        freedom: that of the residuals, or one of each dataset's topics.
    mean_variance, mean_df
        Of the macro means of all runs, which vary with the datasets, too.
    cells
        Means of the cells: datasets × runs; NaN where missing.
    runs
        Names of all runs, in whose order replicates are drawn.
    topics_held, units
        Number of topics, and of independent units.
    plus, minus
        Numbers of the runs of each column; ``minus`` is None for macro means.
    """

    support: Booleans = field()
    estimate: Floats
    parts: Floats
    part_df: Floats
    mean_variance: Floats
    mean_df: Floats
    cells: Floats
    runs: tuple[str, ...]
    topics_held: int
    units: float
    plus: Integers
    minus: Integers | None = None

    kind: ClassVar = "runs that miss datasets"

    @property
    def topics(self) -> int:
        """Number of topics of all datasets; of datasets, where their means alone are known."""
        return self.topics_held

    @property
    def largest_df(self) -> float:
        """The most degrees of freedom of a difference."""
        return float(self.part_df.sum())

    def unit_counts(self, counts: Integers) -> Floats:
        """Return the number of independent units, the same for all columns."""
        return np.full(counts.shape, self.units)

    def draw(
        self, replicates: int, rng: np.random.Generator, needs: Collection[str] = ()
    ) -> Floats:
        """Return normal replicates of all runs' macro means about 0: replicates × runs."""
        del needs
        return draw_normal_means(self.parts.sum(axis=0), replicates, rng, self.runs).T

    def variances(self) -> tuple[Floats, Floats]:
        """Return variance and degrees of freedom of each column."""
        if self.minus is None:
            return self.mean_variance[self.plus], self.mean_df[self.plus]
        own = np.diagonal(self.parts, axis1=1, axis2=2)
        variance = own[:, self.plus] + own[:, self.minus]
        variance = np.maximum(variance - 2.0 * self.parts[:, self.plus, self.minus], 0.0)
        found = summed_df(variance, self.part_df[:, None])
        total: Floats = variance.sum(axis=0)
        return total, np.where(np.isfinite(found), found, self.largest_df)

    def distribution(
        self, columns: slice, weights: Floats | None, needs: Collection[str] = ()
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns."""
        del needs
        variance, df = self.variances()
        drawn = None
        if weights is not None:
            moved = weights[:, self.plus]
            moved = moved if self.minus is None else moved - weights[:, self.minus]
            drawn = np.asfortranarray((self.estimate + moved)[:, columns])
        estimate = self.estimate[columns]
        return SamplingDistribution(
            labels=self.labels[columns],
            estimate=estimate,
            count=np.full(len(estimate), self.topics),
            df=df[columns],
            support=self.support[columns],
            resampled=frozenset({"topics"}),
            se=np.sqrt(variance[columns]),
            replicates=drawn,
            independent=False,
        )

    def chosen(self, columns: Any) -> Self:
        """Return some columns of macro means, as a one-dimensional sample."""
        places = np.arange(len(self.labels))[columns]
        return self._labelled(
            places,
            support=self.support[places],
            estimate=self.estimate[places],
            plus=self.plus[places],
        )

    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return differences between macro means, free of the datasets' effects."""
        return self._labelled(
            plus,
            support=np.zeros(len(plus), np.bool_),
            estimate=self.estimate[plus] - self.estimate[minus],
            plus=self.plus[plus],
            minus=self.plus[minus],
        )

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest difference of the cells that both runs have.

        Where these do not tell, since the model compares the runs, the variance says what varies.
        """
        variance, _ = self.variances()
        middle = np.rint(self.estimate / TIE)
        varies = variance > TIE * TIE
        return np.where(varies, middle - 1.0, middle), np.where(varies, middle + 1.0, middle)

    def wins(self) -> tuple[Integers, Integers, Integers]:
        """Return on how many datasets that both have the differences are above, at and below 0."""
        if self.minus is None:
            raise InvalidValueError("these are means; expected differences between runs")
        apart = self.cells[:, self.plus] - self.cells[:, self.minus]
        return (
            np.sum(apart > TIE, axis=0),
            np.sum(np.abs(apart) <= TIE, axis=0),
            np.sum(apart < -TIE, axis=0),
        )

    def pair_draws(
        self, replicates: int, rng: np.random.Generator
    ) -> Iterator[tuple[PairDraws, int]]:
        """Yield differences between all columns in replicates of a multivariate t."""
        covariance = self.parts.sum(axis=0)[np.ix_(self.plus, self.plus)]
        first, second = np.triu_indices(len(self.labels), 1)
        df = self.largest_df
        if len(first):
            every = replace(self, plus=self.plus[second], minus=self.plus[first])
            df = float(every.variances()[1].min())
        for size in sizes_in_memory(replicates, len(self.labels), len(self.labels)):
            drawn = draw_normal_means(covariance, size, rng, self.labels)
            scale = rng.chisquare(df, size) / df
            yield StudentDraws(covariance, self.units, drawn, scale), size

    def covariance(self) -> Floats | None:
        """Return the covariance of the columns, as if over single units."""
        whole: Floats = self.parts.sum(axis=0)[np.ix_(self.plus, self.plus)]
        return whole * self.units


@dataclass(frozen=True, slots=True, eq=False)
class StudentDraws(PairDraws):
    """Differences between runs as of a multivariate t: normal ones, whose variance is estimated.

    Attributes
    ----------
    matrix
        Covariance of the runs' macro means: runs × runs.
    units
        Number of independent units.
    drawn
        Normal numbers with this covariance: runs × replicates.
    scale
        Estimated over true variance in each replicate.
    """

    matrix: Floats
    units: float
    drawn: Floats
    scale: Floats

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.matrix)

    def moves(self, run: int, others: Integers, block: slice) -> Moves:
        """Return how far the differences of other runs from one move in a block of replicates."""
        variance = self.matrix[run, run] + self.matrix.diagonal()[others]
        variance = variance - 2.0 * self.matrix[run, others]
        varies = variance > TIE * TIE
        deviation = self.drawn[others[varies], block] - self.drawn[run, block]
        estimated = variance[varies][:, None] * self.scale[block]
        return Moves(varies, deviation, estimated, self.units, 1.0 / self.units)


def additive_sample(scores: Scores, datasets: DatasetCells, fit: AdditiveFit) -> AdditiveSample:
    """Return the macro means of runs that miss datasets, for these datasets or for such as these."""
    random = scores.dataset_design.random_datasets
    parts, part_df = _residual_part(fit) if random else _topic_parts(datasets, fit)
    variance: Floats = np.diagonal(parts, axis1=1, axis2=2)
    df: Floats = summed_df(variance, part_df[:, None])
    total: Floats = variance.sum(axis=0)
    if random:
        total, df = _with_datasets(fit, total, float(part_df[0]))
    theta, _ = fit.fitted
    inside = bool(bounded_measures(scores).all()) & (theta > 0.0) & (theta < 1.0)
    topics = len(datasets.names) if random else int(datasets.counts.sum())
    return AdditiveSample(
        labels=tuple((run, scores.measures[0]) for run in scores.runs),
        shape=(len(scores.runs), 1),
        support=inside,
        estimate=theta,
        parts=parts,
        part_df=part_df,
        mean_variance=total,
        mean_df=df,
        cells=fit.mean,
        runs=scores.runs,
        topics_held=topics,
        # a variance that all pairs share is worth as many units as it has degrees of freedom
        units=float(part_df[0]) + 1.0 if random else float(topics),
        plus=np.arange(len(scores.runs)),
    )


def _residual_part(fit: AdditiveFit) -> tuple[Floats, Floats]:
    """Return ``σ²(X'X)⁻¹`` of the runs, with the degrees of freedom of σ²."""
    if fit.df < 1:
        raise TopicMismatchError(
            f"{int(fit.present.sum())} cells of {fit.runs} runs and {fit.datasets} datasets leave no "
            "residuals, whose variance is needed; expected more cells"
        )
    block = fit.inverse[: fit.runs, : fit.runs]
    return (fit.residual_variance() * block)[None], np.array([float(fit.df)])


def _with_datasets(fit: AdditiveFit, variance: Floats, df: float) -> tuple[Floats, Floats]:
    """Return the variance of macro means over datasets like these, and its degrees of freedom.

    The datasets' effects add their variance over their number. It is that of the estimated effects,
    less what errors of the cells add to these.
    """
    residual = fit.residual_variance()
    between, error = fit.dataset_variance()
    if between <= residual * error:
        return variance, np.full(variance.shape, df)
    first = np.full(variance.shape, between / fit.datasets)
    second = variance - residual * error / fit.datasets
    both = np.stack([first, second])
    found = summed_df(both, np.array([[fit.datasets - 1.0], [df]]))
    return both.sum(axis=0), np.clip(found, 1.0, fit.datasets - 1.0 + df)


def _topic_parts(datasets: DatasetCells, fit: AdditiveFit) -> tuple[Floats, Floats]:
    """Return the covariance that each dataset's topics add, and its degrees of freedom."""
    dataset = np.nonzero(fit.present)[0]
    weights = fit.weights[: fit.runs]
    parts = []
    for number, scores in enumerate(datasets.scores):
        if len(scores) < 2:
            raise InvalidValueError(
                f"dataset {datasets.names[number]!r} has one topic, which says nothing of how topics "
                "vary; expected two or more, or datasets 'random'"
            )
        own = scores @ weights[:, dataset == number].T
        centred = own - own.mean(axis=0)
        parts.append(centred.T @ centred / (len(own) * (len(own) - 1.0)))
    return np.stack(parts), np.asarray(datasets.counts - 1.0)
