"""How far do the differences between runs vary together? Studentised maxima over replicates.

For the difference of two runs' means, t* = (d* - d)/se*, with the replicate's own se*. The largest
t* of many pairs says what chance alone makes of them together, correlations included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.order import TIE
from confir.parallel import run_in_threads
from confir.resampling.topics import topic_weights

# Replicates taken together, so that the t* of one run against all others stay in the cache.
_REPLICATES_AT_ONCE = 512

# From so many topics on, means are normal: the runs' covariances replace resampled topics.
NORMAL_TOPICS = 5_000

# Topics drawn show the same difference where its square is so many times their variance, up to
# rounding; the variance may then be negative, too.
_CONSTANT_RATIO = 1e12


class Maxima(NamedTuple):
    """The largest t* of each run against the others: runs × replicates; -∞ where no pair varies.

    Attributes
    ----------
    above
        Largest t* of another run's mean less this run's: how far others may seem better by chance.
    below
        Largest t* of this run's mean less another run's.
    """

    above: Floats
    below: Floats

    @property
    def either(self) -> Floats:
        """Largest absolute t* of each run against the others: runs × replicates."""
        return np.maximum(self.above, self.below)


def studentised_maxima(
    values: Floats,
    replicates: int,
    rng: np.random.Generator,
    runs: Sequence[int] | None = None,
) -> Maxima:
    """Return the largest t* of runs against all others, by one measure.

    Pairs without variance, the same difference on all topics, stand outside.

    Parameters
    ----------
    values
        Scores, topics × runs; NaN where missing. A pair is compared on the topics that both have.
    replicates, rng
        Number of replicates, and where they are drawn from.
    runs
        Numbers of the runs to compare with the others; by default all of them.
    """
    centred = values - np.nanmean(np.where(np.isnan(values).all(axis=0), 0.0, values), axis=0)
    if len(values) >= NORMAL_TOPICS and not np.isnan(values).any():
        return _maxima(_NormalPairs.draw(centred, replicates, rng), replicates, runs)
    weights = topic_weights(len(values), replicates, rng)
    return _maxima(_ResampledPairs.prepare(centred, weights), replicates, runs)


def _maxima(
    pairs: _ResampledPairs | _NormalPairs, replicates: int, runs: Sequence[int] | None
) -> Maxima:
    """Return the maxima, block by block of replicates."""
    chosen = None if runs is None else np.asarray(runs)
    starts = range(0, replicates, _REPLICATES_AT_ONCE)
    blocks = [slice(start, min(start + _REPLICATES_AT_ONCE, replicates)) for start in starts]

    def task(block: slice) -> tuple[Floats, Floats]:
        above = np.full((pairs.runs, block.stop - block.start), -np.inf)
        below = above.copy()
        for run, others in _opponents(pairs.runs, chosen):
            kept, t = pairs.signed_squares(run, others, block)
            if len(kept) == 0:
                continue
            np.maximum(above[run], t.max(axis=0), out=above[run])
            np.maximum(below[run], -t.min(axis=0), out=below[run])
            if chosen is None:
                rows = slice(run + 1, None) if len(kept) == len(others) else kept
                below[rows] = np.maximum(below[rows], t)
                above[rows] = np.maximum(above[rows], np.negative(t, out=t))
        return (above, below) if chosen is None else (above[chosen], below[chosen])

    parts = run_in_threads(task, blocks)
    above, below = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    return Maxima(_root(above), _root(below))


def _root(square: Floats) -> Floats:
    """Return the numbers whose signed squares are given."""
    root: Floats = np.copysign(np.sqrt(np.abs(square)), square)
    return root


def _opponents(runs: int, chosen: Integers | None) -> Iterator[tuple[int, Integers]]:
    """Yield runs and those to compare them with: each pair once, or the chosen runs' pairs."""
    every = np.arange(runs)
    if chosen is None:
        yield from ((run, every[run + 1 :]) for run in range(runs - 1))
    else:
        yield from ((int(run), every[every != run]) for run in chosen)


class _ResampledPairs(NamedTuple):
    """Differences between runs in resampled topics: centred scores, weights, weighted means."""

    centred: Floats
    weights: Floats  # topics × replicates
    means: Floats | None  # runs × replicates, where no score is missing

    @staticmethod
    def prepare(centred: Floats, weights: Floats) -> _ResampledPairs:
        """Return centred scores with weights; means of all runs in one product."""
        complete = not np.isnan(centred).any()
        by_topic = np.ascontiguousarray(weights.T)
        return _ResampledPairs(centred, by_topic, centred.T @ by_topic if complete else None)

    @property
    def runs(self) -> int:
        return len(self.centred[0])

    def signed_squares(self, run: int, others: Integers, block: slice) -> tuple[Integers, Floats]:
        """Return the runs that vary against one, and t*·|t*| of the differences."""
        apart = self.centred[:, others] - self.centred[:, [run]]
        shared = ~np.isnan(apart)
        topics = shared.sum(axis=0)
        apart = np.where(shared, apart, 0.0)
        apart = np.where(shared, apart - apart.sum(axis=0) / np.maximum(topics, 1), 0.0)
        varies = _varies(apart)
        kept, apart, shared = others[varies], apart[:, varies], shared[:, varies]
        weights = self.weights[:, block]
        square = (apart * apart).T @ weights
        if self.means is not None:
            deviation = self.means[kept, block] - self.means[run, block]
            count: Floats | float = float(len(self.centred))
        else:
            share = shared.T.astype(np.float64) @ weights
            with np.errstate(divide="ignore", invalid="ignore"):
                deviation = np.nan_to_num(apart.T @ weights / share)
                square = np.nan_to_num(square / share)
            count = share * len(self.centred)
        return kept, _signed_squares(deviation, square, count)


def _varies(apart: Floats) -> Booleans:
    """Whether differences from their mean, topics × pairs, are more than rounding."""
    varies: Booleans = np.abs(apart).max(axis=0) > TIE
    return varies


def _signed_squares(deviation: Floats, square: Floats, count: Floats | float) -> Floats:
    """Return t*·|t*|, which needs no roots: ±∞ where the topics drawn show the same difference.

    Parameters
    ----------
    deviation, square
        Mean and mean square of a replicate's differences from the observed mean; overwritten.
    count
        Number of topics drawn; with one or none there is no standard error.
    """
    mean_square = deviation * deviation
    variance = np.subtract(square, mean_square, out=square)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(mean_square, variance, out=variance)
    constant = ~((ratio >= 0) & (ratio < _CONSTANT_RATIO))
    result: Floats = np.copysign(ratio, deviation, out=ratio)
    result *= count - 1.0
    if constant.any():
        moved = deviation[constant]
        result[constant] = np.where(np.abs(moved) <= TIE, 0.0, np.copysign(np.inf, moved))
    return result


class _NormalPairs(NamedTuple):
    """Differences between runs in the limit of many topics: normal means with their covariance."""

    means: Floats  # runs × replicates, of variance `covariance`
    covariance: Floats

    @staticmethod
    def draw(centred: Floats, replicates: int, rng: np.random.Generator) -> _NormalPairs:
        """Return normal means with the covariance that the runs' scores have."""
        covariance = centred.T @ centred / (len(centred) - 1)
        size, axes = np.linalg.eigh(covariance)
        drawn = rng.standard_normal((len(covariance), replicates))
        return _NormalPairs(
            (axes * np.sqrt(np.maximum(size, 0.0))) @ drawn, np.atleast_2d(covariance)
        )

    @property
    def runs(self) -> int:
        return len(self.means)

    def signed_squares(self, run: int, others: Integers, block: slice) -> tuple[Integers, Floats]:
        """Return the runs that vary against one, and t*·|t*| of the differences."""
        variance = self.covariance[run, run] + self.covariance.diagonal()[others]
        variance = variance - 2.0 * self.covariance[run, others]
        varies = variance > TIE * TIE
        deviation = self.means[others[varies], block] - self.means[run, block]
        square = deviation * deviation / variance[varies][:, None]
        return others[varies], np.copysign(square, deviation)
