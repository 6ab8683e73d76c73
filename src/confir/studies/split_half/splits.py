"""How well one half of the documents predicts the other: by one split, and by several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from confir.arrays import TIE, Floats, Integers
from confir.data.result import (
    Columns,
    Record,
    Result,
    axis,
    columns_of,
    constant,
    over,
    records_of,
    result,
)
from confir.errors import InvalidValueError
from confir.intervals.method_list import METHODS
from confir.intervals.standard_error import two_sided_normal
from confir.resampling.statistics import clipped_logit
from confir.studies.collection.collection_means import MEAN_METHODS, CollectionMeans

HALVES = ("A", "B")
DIRECTIONS = ("A predicts B", "B predicts A")
FEW_RELEVANT = 5  # [Cormack2006] Table 1 looks at topics with more, too


class Shares(NamedTuple):
    """Where the other half's scores lie.

    Attributes
    ----------
    below, inside, above
        Shares of the scores below, in and above the interval.
    n
        Number of scores that have an interval.
    """

    below: float
    inside: float
    above: float
    n: int


_SHARES = Shares._fields[:3]


@result
class Split(Result):
    """How well each half of a collection predicts the other, by one way to halve it.

    Attributes
    ----------
    measure
        The measure.
    runs, topics
        Runs, and the topics with relevant documents in both halves.
    left_out
        The other topics.
    methods, corrections
        Interval methods, and whether the small-R correction applied: False, and True for AP.
    score
        Score of each half: halves × runs × topics; NaN for lists that retrieved nothing.
    low, high
        Limits from each half: methods × corrections × halves × runs × topics.
    relevant
        Relevant documents in each half: halves × topics.
    means
        Means of each half, with intervals.
    level, replicates, epsilon
        Confidence level, number of replicates, and how far logits keep from 0 and 1.
    """

    measure: str = constant()
    runs: tuple[str, ...] = axis("run")
    topics: tuple[str, ...]
    left_out: tuple[str, ...]
    methods: tuple[str, ...]
    corrections: tuple[bool, ...]
    score: Floats = over("", "run")
    low: Floats = over("", "", "", "run")
    high: Floats = over("", "", "", "run")
    relevant: Integers
    means: tuple[CollectionMeans, CollectionMeans]
    level: float = constant()
    replicates: int
    epsilon: float

    @property
    def predicted(self) -> float:
        """The share that the model predicts in the interval: ``2Φ(z/√2) - 1``."""
        from scipy.special import ndtr

        return float(2.0 * ndtr(two_sided_normal(self.level) / np.sqrt(2.0)) - 1.0)

    def topic_shares(
        self, method: str, *, corrected: bool, half: int, few_relevant: bool = True
    ) -> Shares:
        """Return where the other half's scores lie: below, in or above the intervals from one half.

        Parameters
        ----------
        method, corrected
            Which intervals.
        half
            The half that predicts: 0 or 1.
        few_relevant
            Whether topics with at most five relevant documents in that half count.
        """
        low, high, other = self._on_scale(method, corrected=corrected, half=half)
        kept = np.broadcast_to(few_relevant | (self.relevant[half] > FEW_RELEVANT), low.shape)
        return _shares(low[kept], high[kept], other[kept])

    def _on_scale(
        self, method: str, *, corrected: bool, half: int
    ) -> tuple[Floats, Floats, Floats]:
        """Return limits and the other half's scores on the scale of the method.

        On that of logits a score of 0 becomes epsilon: an interval that reaches there contains it.
        """
        if method not in self.methods or corrected not in self.corrections:
            raise InvalidValueError(f"there are no such intervals: {method}, corrected={corrected}")
        place = self.methods.index(method), self.corrections.index(corrected), half
        ends = self.low[place], self.high[place], self.score[1 - half]
        if not METHODS[method].logit_scale:
            return ends
        low, high, other = (clipped_logit(end, self.epsilon) for end in ends)
        return low, high, other

    def mean_shares(self, summary: str, method: str, half: int) -> Shares:
        """Return where the other half's means lie: below, in or above the intervals from one half."""
        means, other = self.means[half], self.means[1 - half]
        s, k = means.summaries.index(summary), means.methods.index(method)
        return _shares(means.low[k, :, 0, s], means.high[k, :, 0, s], other.mean[:, 0, s])

    def normalised(self, method: str, *, corrected: bool, half: int = 0) -> Floats:
        """Return the other half's scores on a scale on which the interval is [-1, 1].

        Linear on the scale of the method, so that for `linear` and `logit` it is the difference of
        the halves over z·σ; ±∞ where a score lies beyond an interval without length.
        """
        ends = self._on_scale(method, corrected=corrected, half=half)
        defined = ~np.isnan(np.sum(ends, axis=0))
        below, above, value = (end[defined] for end in ends)
        gap = 2.0 * value - below - above
        with np.errstate(divide="ignore", invalid="ignore"):
            normalised: Floats = np.where(np.abs(gap) <= TIE, 0.0, gap / (above - below))
        return normalised

    def to_dict(self) -> Columns:
        """Return the columns of method, correction, subset and direction, for topics and means."""
        rows = []
        for half, direction in enumerate(DIRECTIONS):
            for corrected in self.corrections:
                for few_relevant in (True, False):
                    subset = "all" if few_relevant else f"R>{FEW_RELEVANT}"
                    for method in self.methods:
                        shares = self.topic_shares(
                            method, corrected=corrected, half=half, few_relevant=few_relevant
                        )
                        rows.append(("topic", method, corrected, subset, direction, shares))
            for method in self.means[0].methods:
                used = MEAN_METHODS[method].by_topic and self.corrections[-1]
                for summary in self.means[0].summaries:
                    shares = self.mean_shares(summary, method, half)
                    rows.append((summary, method, used, "runs", direction, shares))
        names = ("summary", "method", "corrected", "subset", "direction")
        return {
            "measure": [self.measure] * len(rows),
            **columns_of(names, rows),
            **columns_of(_SHARES, [row[-1] for row in rows]),
            "predicted": [self.predicted] * len(rows),
            "n": [row[-1].n for row in rows],
        }

    def mean_records(self, summary: str, method: str, half: int = 0) -> list[Record]:
        """Return each run's mean in both halves, with the interval from one: one record per run."""
        means, other = self.means[half], self.means[1 - half]
        s, k = means.summaries.index(summary), means.methods.index(method)
        return records_of(
            {
                "run": self.runs,
                "summary": [summary] * len(self.runs),
                "method": [method] * len(self.runs),
                "low": means.low[k, :, 0, s].tolist(),
                "high": means.high[k, :, 0, s].tolist(),
                HALVES[half]: means.mean[:, 0, s].tolist(),
                HALVES[1 - half]: other.mean[:, 0, s].tolist(),
            }
        )


def _shares(low: Floats, high: Floats, value: Floats) -> Shares:
    """Return the shares of values below, in and above closed intervals; NaN do not count."""
    defined = ~np.isnan(low) & ~np.isnan(high) & ~np.isnan(value)
    n = int(defined.sum())
    if n == 0:
        return Shares(np.nan, np.nan, np.nan, 0)
    below = float((value[defined] < low[defined] - TIE).sum() / n)
    above = float((value[defined] > high[defined] + TIE).sum() / n)
    return Shares(below, 1.0 - below - above, above, n)


@result
class SplitHalf(Result):
    """How well each half of a collection predicts the other, over several splits.

    Attributes
    ----------
    measure, runs
        The measure and the runs.
    splits
        The result of each split; the first halves documents by the parity of their MD5.
    level
        Confidence level.
    """

    measure: str = constant()
    runs: tuple[str, ...] = axis("run")
    splits: tuple[Split, ...]
    level: float = constant()

    @property
    def methods(self) -> tuple[str, ...]:
        """Interval methods."""
        return self.splits[0].methods

    @property
    def corrections(self) -> tuple[bool, ...]:
        """Whether the small-R correction applied: False, and True for AP."""
        return self.splits[0].corrections

    @property
    def predicted(self) -> float:
        """The share that the model predicts in the interval: ``2Φ(z/√2) - 1``."""
        return self.splits[0].predicted

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics with relevant documents in both halves of a split, of any of them."""
        return tuple(sorted({topic for split in self.splits for topic in split.topics}))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Topics that a split leaves out."""
        return tuple(sorted({topic for split in self.splits for topic in split.left_out}))

    def topic_shares(
        self, method: str, *, corrected: bool, half: int, few_relevant: bool = True
    ) -> Shares:
        """Return the mean over the splits of `Split.topic_shares`; n counts scores of all splits."""
        return _average(
            [
                split.topic_shares(
                    method, corrected=corrected, half=half, few_relevant=few_relevant
                )
                for split in self.splits
            ]
        )

    def mean_shares(self, summary: str, method: str, half: int) -> Shares:
        """Return the mean over the splits of `Split.mean_shares`; n counts means of all splits."""
        return _average([split.mean_shares(summary, method, half) for split in self.splits])

    def to_dict(self) -> Columns:
        """Return the columns of method, correction, subset and direction, for topics and means.

        Shares are means over the splits, with the lowest and the highest of them, which say how
        far splits differ and are no standard error: splits share documents.
        """
        parts = [split.to_dict() for split in self.splits]
        columns = dict(parts[0])
        spread: Columns = {}
        for name in _SHARES:
            shares = np.array([part[name] for part in parts])
            columns[name] = _mean_of_known(shares).tolist()
            # an empty subset has no share in any split, or in some
            spread[f"{name}_min"] = np.fmin.reduce(shares).tolist()
            spread[f"{name}_max"] = np.fmax.reduce(shares).tolist()
        columns["n"] = np.sum([part["n"] for part in parts], axis=0).tolist()
        return columns | {"splits": [len(parts)] * len(columns["n"])} | spread


def _average(shares: Sequence[Shares]) -> Shares:
    """Return the mean of the shares of several splits, and the number of scores of all."""
    below, inside, above = _mean_of_known(np.array([one[:3] for one in shares])).tolist()
    return Shares(below, inside, above, sum(one.n for one in shares))


def _mean_of_known(shares: Floats) -> Floats:
    """Return the means of columns over the rows that have a share; NaN where none has one."""
    known = ~np.isnan(shares)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(known, shares, 0.0).sum(axis=0) / known.sum(axis=0)
    return mean
