"""A leaderboard over datasets whose scores are summarised, without the score of every topic.

Datasets are fixed and independent: the covariances of macro means are those of the datasets' means,
added up. Their degrees of freedom follow from the datasets' sizes: a small dataset has more of the
variance than a large one. Where these are thousands, means are taken as normal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.long_tables.block_statistics import PairTotals
from confir.data.scores import Scores
from confir.errors import InvalidValueError, UnsupportedMethodError, enumerate_names
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import means_alone
from confir.measures.parsing import bounded_measures
from confir.measures.score_sources import summarise_scores
from confir.measures.score_summary import ScoreSummary
from confir.resampling.cluster_distribution import summed_df
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.normal_draws import NORMAL_TOPICS, RunCovariance, draw_normal_means
from confir.resampling.pair_draws import PairDraws
from confir.studies.leaderboard.additive_sample import BoardSample
from confir.studies.leaderboard.board_sources import one_measure
from confir.studies.leaderboard.joined_datasets import MODEL, same_runs


def find_summaries(
    found: Mapping[str, Any], measure: str | None, datasets: str | None, incomplete: str
) -> dict[str, ScoreSummary]:
    """Return the summaries of datasets by one measure, where any of them is one; else nothing.

    Parameters
    ----------
    found
        What `datasets_of` finds.
    measure, datasets, incomplete
        As in `make_leaderboard`.
    """
    if not any(each.is_summary for each in found.values()):
        return {}
    if datasets == "random":
        raise UnsupportedMethodError(
            "a summary serves conclusions about these datasets; expected datasets 'fixed' (--generalise-to these), or a "
            "table of means"
        )
    if incomplete == MODEL:
        raise UnsupportedMethodError(
            "the model of runs that miss datasets needs the scores of single topics, which a summary "
            "lacks; expected drop-runs or drop-datasets, or a table of means"
        )
    parts = {name: one_measure(summarise_scores(each), measure) for name, each in found.items()}
    measures = dict.fromkeys(part.measures[0] for part in parts.values())
    if len(measures) > 1:
        raise InvalidValueError(
            f"the datasets have different measures ({enumerate_names(measures, 5)}); expected one"
        )
    return {name: part.over_common_topics() for name, part in same_runs(parts, incomplete).items()}


@dataclass(frozen=True, slots=True, eq=False)
class SummarisedBoard(BoardSample):
    """Macro means of runs over fixed, summarised datasets, or their differences.

    Attributes
    ----------
    support
        As in `Sample`.
    totals
        Of each dataset, summary statistics of all pairs of runs, by their numbers in ``first`` and
        ``second``.
    mean
        Of each dataset: columns × datasets.
    covariances
        Of the means of a dataset: datasets × columns × columns; of differences, their variances on
        the diagonal alone.
    counts
        Topics of each dataset.
    places, signs
        Of differences, the number of each pair, and 1, or -1 where it is turned round.
    """

    support: Booleans = field()
    totals: tuple[PairTotals, ...]
    first: Integers
    second: Integers
    mean: Floats
    covariances: Floats
    counts: Integers
    places: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    signs: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    kind: ClassVar = "summaries of scores on datasets"

    @classmethod
    def of(cls, parts: Mapping[str, ScoreSummary]) -> Self:
        """Return what summaries of the same runs say; one pass over each."""
        one = next(iter(parts.values()))
        count = len(one.runs)
        first, second = (side.astype(np.int64) for side in np.triu_indices(count, 1))
        if not len(first):  # a run alone is its own pair, so that one pass gives its variance
            first = second = np.zeros(1, np.int64)
        totals = tuple(part.pair_totals(first, second) for part in parts.values())
        counts = np.array([int(total.runs.count[0]) for total in totals])
        covariances = np.stack(
            [
                total.runs.products[0] / (n * (n - 1.0))
                for total, n in zip(totals, counts, strict=True)
            ]
        )
        mean = np.stack([total.runs.mean[0] for total in totals], axis=1)
        inside = all(bool(np.all(bounded_measures(part))) for part in parts.values())
        labels = tuple((run, one.measures[0]) for run in one.runs)
        support = np.full(count, inside)
        return cls(labels, (count, 1), support, totals, first, second, mean, covariances, counts)

    @property
    def topics(self) -> int:
        """Number of topics of all datasets."""
        return int(self.counts.sum())

    @property
    def largest_df(self) -> float:
        """The most degrees of freedom: topics less datasets."""
        return float(self.topics - len(self.counts))

    def draw(
        self, replicates: int, rng: np.random.Generator, needs: Collection[str] = ()
    ) -> Floats:
        """Return normal replicates of the datasets' means: replicates × columns × datasets."""
        del needs
        moves = [draw_normal_means(own, replicates, rng, self.labels).T for own in self.covariances]
        drawn: Floats = self.mean + np.stack(moves, axis=-1)
        return drawn

    def distribution(
        self, columns: slice, weights: Floats | None, needs: Collection[str] = ()
    ) -> SamplingDistribution:
        """Return the sampling distribution of some columns."""
        del needs
        variance = np.diagonal(self.covariances, axis1=1, axis2=2)[:, columns]
        count = variance.shape[1]
        return SamplingDistribution(
            labels=self.labels[columns],
            estimate=self.mean[columns].mean(axis=1),
            count=np.full(count, self.topics),
            df=self._degrees(variance),
            support=self.support[columns],
            resampled=frozenset({"topics"}),
            se=np.sqrt(variance.sum(axis=0)) / len(self.counts),
            replicates=None if weights is None else weights[:, columns].mean(axis=-1),
            independent=False,
        )

    def _degrees(self, variance: Floats) -> Floats:
        """Return the degrees of freedom of summed variances: datasets × columns."""
        found = summed_df(variance, np.asarray(self.counts - 1.0, np.float64)[:, None])
        degrees: Floats = np.where(np.isfinite(found), found, self.largest_df)
        return degrees

    def chosen(self, columns: Any) -> Self:
        """Return some columns of means, as a one-dimensional sample."""
        if np.arange(len(self.labels))[columns].tolist() != list(range(len(self.labels))):
            raise UnsupportedMethodError("all runs of a board are compared")
        return replace(self, shape=(len(self.labels),))

    def _contrast(self, plus: Integers, minus: Integers) -> Self:
        """Return differences between runs, whose moments all passes have found."""
        number = np.zeros((len(self.labels), len(self.labels)), np.int64)
        number[self.first, self.second] = number[self.second, self.first] = np.arange(
            len(self.first)
        )
        places, signs = number[minus, plus], np.where(minus < plus, 1, -1)
        moments = [total.differences.select(places) for total in self.totals]
        variance = np.stack([m.second / (m.count * (m.count - 1.0)) for m in moments])
        return self._labelled(
            plus,
            support=np.zeros(len(plus), np.bool_),
            mean=np.stack([signs * m.mean for m in moments], axis=1),
            covariances=np.stack([np.diag(own) for own in variance]),
            places=places,
            signs=signs,
        )

    def extremes(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest difference of each column of a contrast."""
        least = np.min([total.least[self.places] for total in self.totals], axis=0)
        most = np.max([total.most[self.places] for total in self.totals], axis=0)
        turned = self.signs < 0
        return np.where(turned, -most, least), np.where(turned, -least, most)

    def wins(self) -> tuple[Integers, Integers, Integers]:
        """Return on how many topics the differences of a contrast are above, at and below 0."""
        over, level, under = (
            np.sum([getattr(total, name)[self.places] for total in self.totals], axis=0)
            for name in ("wins", "ties", "losses")
        )
        turned = self.signs < 0
        return np.where(turned, under, over), level, np.where(turned, over, under)

    @property
    def sums_signs(self) -> bool:
        """Whether `self_normalised` exists: topics add independently to a macro mean."""
        return True

    def self_normalised(self, difference: Floats, se: Floats, units: Floats) -> Floats:
        """Return the sum of what topics add to a macro mean over the root of its squares."""
        del se, units
        moments = [total.differences.select(self.places) for total in self.totals]
        squares = [(m.second + m.count * np.square(m.mean)) / m.count**2 for m in moments]
        root = np.sqrt(np.sum(squares, axis=0)) / len(self.counts)
        sums: Floats = np.divide(difference, root, out=np.zeros_like(difference), where=root > 0)
        return sums

    def pair_draws(
        self, replicates: int, rng: np.random.Generator
    ) -> Iterator[tuple[PairDraws, int]]:
        """Yield differences between all runs in replicates of normal means, and how many."""
        df = float(self._degrees(np.diagonal(self.covariances, axis1=1, axis2=2)).min())
        matrix = self.covariances.sum(axis=0) / len(self.counts) ** 2
        if df + 1 >= NORMAL_TOPICS:
            normal = RunCovariance(matrix * self.topics, self.topics, self.labels)
            yield from normal.pair_draws(replicates, rng)

    def replicate_means(self, replicates: int, rng: np.random.Generator) -> Floats:
        """Return normal macro means: replicates × runs."""
        matrix = self.covariances.sum(axis=0) / len(self.counts) ** 2
        drawn = draw_normal_means(matrix, replicates, rng, self.labels)
        means: Floats = (self.mean.mean(axis=1)[:, None] + drawn).T
        return means


def cell_limits(
    parts: Iterable[Scores | ScoreSummary], level: float
) -> tuple[Floats, Floats, Floats]:
    """Return the means of runs on each dataset with limits over its topics: runs × datasets."""
    found = [
        confidence_interval(part, level=level) if len(part.topics) > 1 else means_alone(part, level)
        for part in parts
    ]
    mean, low, high = (
        np.stack([getattr(one, name)[:, 0] for one in found], axis=1)
        for name in ("estimate", "low", "high")
    )
    return mean, low, high
