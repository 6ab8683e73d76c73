"""A leaderboard over datasets of which summaries are known, not the score of every topic.

Datasets are fixed and independent: the covariances of macro means are those of the datasets' means,
added up. They have the degrees of freedom that the datasets' sizes leave: a small dataset beside a large
one has most of the variance. Where these are thousands, means are taken as normal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.streams.pair_totals import PairTotals
from confir.errors import (
    InvalidValueError,
    UnsupportedMethodError,
    enumerate_names,
)
from confir.intervals.catalogue import confidence_interval
from confir.intervals.interval import Interval
from confir.measures.bounds import bounded_measures
from confir.measures.score_summary import ScoreSummary, find_summary, summarise_scores
from confir.order import TIE
from confir.resampling.clusters import summed_df
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.drawn_pairs import draw_normal_means
from confir.resampling.studentised_maxima import (
    RunCovariance,
    studentised_maxima,
)
from confir.studies.best.run_pairs import RunPairs, pairs_as_table, share_first
from confir.studies.leaderboard.board_sources import one_measure
from confir.studies.leaderboard.joined_datasets import kept_cells


def find_summaries(
    sources: Any, measure: str | None, datasets: str | None, incomplete: str
) -> dict[str, ScoreSummary]:
    """Return the summaries of datasets by one measure, where any of them is one; else nothing.

    The parameters are those of `make_leaderboard`.
    """
    if not isinstance(sources, Mapping):
        return {}
    found = {str(name): find_summary(each) for name, each in sources.items()}
    if not any(isinstance(each, ScoreSummary) for each in found.values()):
        return {}
    if datasets == "random":
        raise UnsupportedMethodError(
            "a summary serves conclusions about these datasets; expected datasets 'fixed' (--generalise-to these), or a "
            "table of means"
        )
    parts = {name: one_measure(summarise_scores(each), measure) for name, each in found.items()}
    measures = dict.fromkeys(part.measures[0] for part in parts.values())
    if len(measures) > 1:
        raise InvalidValueError(
            f"the datasets have different measures ({enumerate_names(measures, 5)}); expected one"
        )
    return {name: part.over_common_topics() for name, part in _same_runs(parts, incomplete).items()}


def _same_runs(parts: dict[str, ScoreSummary], incomplete: str) -> dict[str, ScoreSummary]:
    """Return the datasets with the same runs in the same order, as it is stated."""
    runs = tuple(dict.fromkeys(run for part in parts.values() for run in part.runs))
    has = np.array([[run in part.runs for run in runs] for part in parts.values()])
    runs, names = kept_cells(has, runs, tuple(parts), incomplete)
    return {name: parts[name].select(run=list(runs)) for name in names}


@dataclass(frozen=True, slots=True, eq=False)
class SummarisedBoard:
    """What is known of runs on datasets.

    Attributes
    ----------
    runs, measure
        Names.
    topics
        Of each dataset.
    totals
        Of each dataset, what is known of all pairs of runs, by their numbers in ``first`` and
        ``second``.
    mean
        Runs × datasets.
    covariance
        Of the means of a dataset: datasets × runs × runs.
    bounded
        Whether the measure lies in [0, 1].
    """

    runs: tuple[str, ...]
    measure: str
    topics: Integers
    totals: tuple[PairTotals, ...]
    first: Integers
    second: Integers
    mean: Floats
    covariance: Floats
    bounded: bool

    @classmethod
    def of(cls, parts: Mapping[str, ScoreSummary]) -> SummarisedBoard:
        """Return what summaries of the same runs say; one pass over each."""
        one = next(iter(parts.values()))
        count = len(one.runs)
        first, second = (side.astype(np.int64) for side in np.triu_indices(count, 1))
        if not len(first):  # a run alone is its own pair, so that one pass gives its variance
            first = second = np.zeros(1, np.int64)
        totals = tuple(part.pair_totals(first, second) for part in parts.values())
        topics = np.array([int(total.runs.count[0]) for total in totals])
        covariance = np.stack(
            [
                total.runs.products[0] / (n * (n - 1.0))
                for total, n in zip(totals, topics, strict=True)
            ]
        )
        mean = np.stack([total.runs.mean[0] for total in totals], axis=1)
        inside = all(bool(np.all(bounded_measures(part))) for part in parts.values())
        return cls(
            one.runs, one.measures[0], topics, totals, first, second, mean, covariance, inside
        )

    def macro(self, level: float) -> Interval:
        """Return the macro means with their intervals."""
        variance = np.diagonal(self.covariance, axis1=1, axis2=2)
        found = SamplingDistribution(
            labels=tuple((run, self.measure) for run in self.runs),
            estimate=self.mean.mean(axis=1),
            count=np.full(len(self.runs), self.topics.sum()),
            df=self._degrees(variance),
            support=np.full(len(self.runs), self.bounded),
            resampled=frozenset({"topics"}),
            se=np.sqrt(variance.sum(axis=0)) / len(self.topics),
            independent=False,
        )
        return confidence_interval(found, level=level)

    def _degrees(self, variance: Floats) -> Floats:
        """Return the degrees of freedom of summed variances: datasets × …."""
        own = np.asarray(self.topics - 1.0, np.float64)
        found = summed_df(variance, own.reshape(-1, *[1] * (variance.ndim - 1)))
        most = self.topics.sum() - float(len(self.topics))
        degrees: Floats = np.where(np.isfinite(found), found, most)
        return degrees

    def pairs(self, replicates: int, rng: np.random.Generator) -> RunPairs:
        """Return all pairs of runs by their macro means."""
        size, runs = len(self.topics), len(self.runs)
        moments = [total.differences for total in self.totals]
        variance = np.stack([m.second / (m.count * (m.count - 1.0)) for m in moments])
        varies = np.any([total.least < total.most for total in self.totals], axis=0)
        topics = int(self.topics.sum())
        error = np.where(varies, np.sqrt(variance.sum(axis=0)) / size, 0.0)
        apart = np.mean([m.mean for m in moments], axis=0)
        apart = np.where(np.abs(apart) <= TIE, 0.0, apart)
        # what the topics add to the macro mean: their squares, from the moments of each dataset
        squares = [(m.second + m.count * np.square(m.mean)) / m.count**2 for m in moments]
        root = np.sqrt(np.sum(squares, axis=0)) / size
        sums = np.divide(apart, root, out=np.zeros_like(apart), where=root > 0)
        differences = pairs_as_table(apart, error, sums, self.first, self.second, runs)
        df, units = float(self._degrees(variance).min()), float(topics)
        matrix, mean = self.covariance.sum(axis=0) / size**2, self.mean.mean(axis=1)
        drawn = draw_normal_means(matrix, replicates, rng.spawn(1)[0])
        spread = RunCovariance(matrix * topics, int(df) + 1)
        return RunPairs(
            scored=np.ones(runs, np.bool_),
            mean=mean,
            differences=differences,
            topics=topics,
            units=units,
            df=df,
            maxima=studentised_maxima(
                spread,
                replicates,
                rng,
                differences.borrowed_by_every(units),
                differences.borrowed_by_one(units),
            ),
            share_first=share_first((mean[:, None] + drawn).T),
        )

    def draw(self, replicates: int, rng: np.random.Generator) -> Floats:
        """Return normal replicates of the datasets' means: replicates × runs × datasets."""
        moves = [draw_normal_means(own, replicates, rng).T for own in self.covariance]
        drawn: Floats = self.mean + np.stack(moves, axis=-1)
        return drawn


def dataset_cells(parts: Mapping[str, ScoreSummary], level: float) -> tuple[Floats, Floats, Floats]:
    """Return the means of runs on each dataset with limits over its topics: runs × datasets."""
    found = [confidence_interval(part, level=level) for part in parts.values()]
    mean, low, high = (
        np.stack([getattr(one, name)[:, 0] for one in found], axis=1)
        for name in ("estimate", "low", "high")
    )
    return mean, low, high
