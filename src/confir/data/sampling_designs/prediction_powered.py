"""Means of human judgements that a model's judgements of further topics make more precise (PPI++).

n topics have human and model judgements, N further ones model judgements alone. With human scores y and
model scores f, the mean is ``mean_n(y - λ(f - mean_N f))`` ([Angelopoulos2023], prediction-powered
inference), each topic's λ from the other topics: consistent for the human mean whatever the model is
worth, and the more precise the better the model is.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.defaults import LEVEL

# A variance below this is rounding error.
_ROUNDING = 1e-13

# With fewer topics, the others say too little of the weight.
_LEAST_TO_LEAVE_OUT = 4

# Whatever the model, an interval of the default level is at most this many times as wide as that of
# the human judgements alone.
_WIDEST = 1.05


class CorrectedMoments(NamedTuple):
    """What follows from the moments of human and model scores: arrays of one shape."""

    mean: Floats
    weight: Floats
    se: Floats
    df: Floats


class Judged(NamedTuple):
    """Human and model scores: topics × any columns.

    Attributes
    ----------
    human, model
        On the n human-judged topics, by the human judgements and by the model.
    rest
        On the N topics that only the model judged.
    """

    human: Floats
    model: Floats
    rest: Floats

    def columns(self, columns: Any) -> Judged:
        """Return some columns."""
        return Judged(*(np.ascontiguousarray(part[:, columns]) for part in self))

    def differences(self, plus: Integers, minus: Integers) -> Judged:
        """Return the differences between columns."""
        return Judged(*(np.ascontiguousarray(part[:, plus] - part[:, minus]) for part in self))

    def flat(self) -> Judged:
        """Return all columns along one axis."""
        columns = math.prod(self.human.shape[1:])
        return Judged(*(part.reshape(len(part), columns) for part in self))

    def corrected(self) -> CorrectedMoments:
        """Return the corrected means, the weights of the model, and standard errors.

        A weight from the topics that it corrects biases the mean by O(1/n): each topic has that of the
        others. Such means vary more, where scores are skewed: the standard error is at least that of
        the topics so corrected. Where the weight of all topics is 0, the mean is the human one.
        """
        n, more = len(self.human), len(self.rest)
        if n < _LEAST_TO_LEAVE_OUT or not more:
            return self.with_one_weight()
        y, f, g = (centre(part) for part in self)
        moments, gap = self._moments(y, f, g)
        squares = n * moments[1], more * moments[2]
        weights = left_out_weights(
            (n, more), (y.deviations, f.deviations), moments[3], *squares, gap
        )
        each = y.deviations - weights * (f.deviations - gap)
        found = correct_moments((n, more), *moments, gap, each.var(axis=0, ddof=1) / n)
        mean = np.where(found.weight > 0, each.mean(axis=0), 0.0)
        return found._replace(mean=y.mean + mean)

    def with_one_weight(self) -> CorrectedMoments:
        """Return what `corrected` does with the weight of all topics alone (PPI++ as published)."""
        y, f, g = (centre(part) for part in self)
        moments, gap = self._moments(y, f, g)
        found = correct_moments((len(self.human), len(self.rest)), *moments, gap)
        return found._replace(mean=y.mean + found.mean)

    def _moments(
        self, y: Centred, f: Centred, g: Centred
    ) -> tuple[tuple[Floats, Floats, Floats, Floats], Floats]:
        """Return variances of human scores, and of model scores on both parts, covariance, and the gap."""
        moments = (
            np.square(y.deviations).mean(axis=0),
            np.square(f.deviations).mean(axis=0),
            np.square(g.deviations).sum(axis=0) / max(len(self.rest), 1),
            (y.deviations * f.deviations).mean(axis=0),
        )
        return moments, g.mean - f.mean if len(self.rest) else np.zeros(y.mean.shape)


class Centred(NamedTuple):
    """Deviations of scores from their mean, and the mean; 0 where there is no topic."""

    deviations: Floats
    mean: Floats


def centre(values: Floats) -> Centred:
    """Return scores less their mean over topics, and this mean."""
    mean: Floats = values.sum(axis=0) / max(len(values), 1)
    return Centred(values - mean, mean)


def correct_moments(
    topics: tuple[int, int],
    variance_y: Floats,
    variance_f: Floats,
    variance_g: Floats,
    covariance: Floats,
    gap: Floats,
    left_out: Floats | float = 0.0,
) -> CorrectedMoments:
    """Return the correction of the human mean, the model's weight λ, and the standard error.

    ``λ = cov(y, f) / ((1 + n/N) var f)``, clipped to [0, 1], var f over all n + N topics;
    ``Var = λ² var f/N + (1 + gap²/s²_f) s²_{y-λf}/n`` ([Angelopoulos2023] §6) with n - 2 degrees of
    freedom: as λ is estimated, too, it varies, and the gap with it (Cochran 1977, §7.4); s²_f over the
    n. With λ = 0 it is the variance of the human scores, with n - 1. So it is, times 1.05², where an interval
    would be wider than that: few topics can make a useless model look like one that does harm.

    Parameters
    ----------
    topics
        n and N.
    variance_y, variance_f, variance_g, covariance
        Of human and model scores on the n topics, and of model scores on the N: ddof 0.
    gap
        Mean of the model scores on the N topics minus that on the n.
    left_out
        Variance of the mean of topics that are each corrected with the weight of the others; the last
        term of Var is at least as large.
    """
    n, more = topics
    pooled = _joint_squares(topics, n * variance_f, more * variance_g, gap) / (n + more - 1.0)
    constant = pooled <= _ROUNDING
    slope = more / (n + more) * covariance / np.where(constant, 1.0, pooled)
    weight = np.where(constant, 0.0, np.clip(slope, 0.0, 1.0))
    rest = variance_y - 2.0 * weight * covariance + np.square(weight) * variance_f
    rest = np.where(rest <= _ROUNDING * variance_y, 0.0, rest) / (n - 2.0)
    spread = n / (n - 1.0) * variance_f
    varied = np.square(gap) / np.where(spread > _ROUNDING, spread, np.inf)
    by_both = np.square(weight) * pooled / max(more, 1)
    by_both = by_both + np.maximum((1.0 + varied) * rest, left_out)
    alone = variance_y / (n - 1.0)
    widest = np.where(weight > 0, _WIDEST**2, 1.0) * alone
    narrow = (weight > 0) & (by_both <= widest * _quantile_ratio(n) ** 2)
    variance, df = np.where(narrow, by_both, widest), np.where(narrow, n - 2.0, n - 1.0)
    return CorrectedMoments(weight * gap, weight, np.sqrt(variance), df)


def left_out_weights(
    topics: tuple[int, int],
    deviations: tuple[Floats, Floats],
    covariance: Floats,
    squares_f: Floats,
    squares_g: Floats,
    gap: Floats,
) -> Floats:
    """Return the weight λ that the other topics suggest, for each of the n: topics × ….

    What one topic adds to sums of products and of squares about a mean is taken away from them.

    Parameters
    ----------
    topics
        n and N.
    deviations
        Of human and model scores on the n topics from their means: topics × ….
    covariance
        Of the two: ddof 0.
    squares_f, squares_g
        Sums of squares of the model's scores about their means, on the n topics and on the N.
    gap
        Mean of the model scores on the N topics minus that on the n.
    """
    n, more = topics
    every = n + more
    y, f = deviations
    products = n * covariance - n / (n - 1.0) * (y * f)
    joint = _joint_squares(topics, squares_f, squares_g, gap)
    squares = joint - every / (every - 1.0) * np.square(f - more / every * gap)
    constant = squares <= _ROUNDING * np.maximum(joint, every)
    slope = products / (n - 1.0) / (np.where(constant, 1.0, squares) / (every - 2.0))
    return np.where(constant, 0.0, np.clip(more / (every - 1.0) * slope, 0.0, 1.0))


def _joint_squares(
    topics: tuple[int, int], squares_f: Floats, squares_g: Floats, gap: Floats
) -> Floats:
    """Return the sum of squares of the model's scores about their mean over all n + N topics."""
    n, more = topics
    joint: Floats = squares_f + squares_g + n * more / (n + more) * np.square(gap)
    return joint


@cache
def _quantile_ratio(topics: int) -> float:
    """Return Student's quantile with n - 1 degrees of freedom relative to that with n - 2."""
    from scipy.special import stdtrit

    more, fewer = stdtrit([topics - 1.0, topics - 2.0], (1.0 + LEVEL) / 2.0).tolist()
    return float(more / fewer)
