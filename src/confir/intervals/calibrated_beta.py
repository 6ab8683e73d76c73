"""An interval by inverting a test whose error is that of beta distributions: `calibrated-beta`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confir.arrays import Floats, Integers
from confir.intervals.beta_logit import (
    PRIOR_TOPICS,
    beta_logit_interval,
    dispersion,
    pass_into_equal_scores,
    sample_skewness,
    skewness_terms,
    solve_cubic,
)
from confir.intervals.interval import Limits, tail_probabilities
from confir.intervals.method import Method, Use
from confir.intervals.pivot_quantiles import (
    compress,
    compression_slope,
    expand,
    pivot_quantiles,
)
from confir.measures.summary import inverse_logit, logit
from confir.resampling.distribution import SamplingDistribution

# A limit is found to this share of the gap between two means of the table, in so many steps at most.
_PRECISE, _STEPS = 2.0**-40, 80


def calibrated_beta_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Means that a test does not reject, with the error that it has for beta distributions.

    The test of a mean μ takes the pivot ``U = T + aT² + a²T³/3 + b`` of `beta-logit`, and compares
    it with its own quantiles over samples of n from the beta distribution with mean μ and the
    sample's dispersion ``φ = s²/(m(1-m))``, where `beta-logit` has those of t. They are tabulated
    (`tables/pivot_quantiles.py`) up to level 0.999; above, the interval is the hull of that
    interval and of `beta-logit`. Nearly equal scores have limits as there; for zeros and ones φ is
    at the end of the table, where the beta distribution is nearly that of zeros and ones.
    """
    table = pivot_quantiles()
    tail, _ = tail_probabilities(min(level, table.highest_level))
    rows = table.rows(distribution.count, dispersion(distribution), tail)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # by equal scores
        test = _Test.of(distribution)
        low = inverse_logit(test.lowest_accepted(table.logits, rows))
        high = 1.0 - inverse_logit(test.mirrored().lowest_accepted(table.logits, rows))
    limits = pass_into_equal_scores(Limits(low, high), distribution, level)
    if level <= table.highest_level:
        return limits
    other = beta_logit_interval(distribution, level)
    return Limits(np.minimum(limits.low, other.low), np.maximum(limits.high, other.high))


def pivot(
    n: int,
    mean: Floats,
    variance: Floats,
    third: Floats,
    truth: float,
    prior_topics: float = PRIOR_TOPICS,
) -> Floats:
    """Return U at the true mean, of samples with these moments about their mean.

    Equal scores have ±∞, by the side on which they lie.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        skewness = third / (variance * (n - 1) / n) ** 1.5
        se = np.sqrt(variance / n)
        a, b = skewness_terms(n, mean, se, skewness, prior_topics)
        test = _Test(logit(mean), mean * (1.0 - mean) / se, a, b)
        u = test.pivot(logit(np.array(truth)))
    return np.where(np.isnan(u), np.copysign(np.inf, mean - truth), u)


@dataclass(frozen=True, slots=True, eq=False)
class _Test:
    """What the pivot of each column is made of: ``T = (centre - logit μ)·scale``, a and b."""

    centre: Floats
    scale: Floats
    a: Floats
    b: Floats

    @classmethod
    def of(cls, distribution: SamplingDistribution) -> _Test:
        m, se = distribution.estimate, distribution.require("se")
        a, b = skewness_terms(distribution.count, m, se, sample_skewness(distribution))
        return cls(logit(m), m * (1.0 - m) / se, a, b)

    def mirrored(self) -> _Test:
        """Return the test for the scores 1-x, whose pivot is -U."""
        return _Test(-self.centre, self.scale, -self.a, -self.b)

    def pivot(self, candidate: Floats) -> Floats:
        """Return U at the logit of a candidate mean; at several, logits × columns."""
        t = (self.centre - candidate) * self.scale
        bend = self.a * t
        pivot: Floats = t * (1.0 + bend * (1.0 + bend / 3.0)) + self.b
        return pivot

    def _slope(self, candidate: Floats) -> Floats:
        """Return the derivative of U by the logit of a candidate mean, which is nowhere above 0."""
        t = (self.centre - candidate) * self.scale
        slope: Floats = -self.scale * np.square(1.0 + self.a * t)
        return slope

    def lowest_accepted(self, logits: Floats, rows: Floats) -> Floats:
        """Return the lowest logit at which the pivot does not exceed its upper quantile.

        Parameters
        ----------
        logits
            Logits of means, ascending; beyond their ends quantiles stay as they are there.
        rows
            Compressed quantiles: columns × logits.
        """
        excess = compress(self.pivot(logits[:, None])) - rows.T
        accepted = excess <= 0
        first = np.argmax(accepted, axis=0)
        edge = np.where(accepted[0], 0, len(logits) - 1)
        found = self._solve(expand(rows[np.arange(len(rows)), edge]))
        inside = np.flatnonzero(accepted.any(axis=0) & (first > 0))
        ends = np.stack([first[inside] - 1, first[inside]])
        found[inside] = self.of_columns(inside).crossing(
            logits[ends], rows[inside, ends], excess[ends, inside]
        )
        return found

    def of_columns(self, columns: Integers) -> _Test:
        """Return the test of some columns."""
        return _Test(self.centre[columns], self.scale[columns], self.a[columns], self.b[columns])

    def _solve(self, quantile: Floats) -> Floats:
        """Return the logit at which the pivot has a value; -∞ or ∞ where the value is infinite."""
        found = self.centre - solve_cubic(self.a, quantile - self.b) / self.scale
        return np.where(np.isinf(quantile), -quantile, found)

    def crossing(self, logits: Floats, quantiles: Floats, excess: Floats) -> Floats:
        """Return where the pivot crosses compressed quantiles that are linear between two logits.

        By Newton's steps from where a straight line crosses them; a step that leaves the gap is
        replaced by halving it.

        Parameters
        ----------
        logits, quantiles, excess
            At both ends: the compressed pivot exceeds the quantile at the first, not at the second.
        """
        (left, right), (at_left, at_right) = logits, quantiles
        width, rise = right - left, at_right - at_left
        exceeds, holds = np.zeros_like(width), np.ones_like(width)
        share = excess[0] / (excess[0] - excess[1])
        for _ in range(_STEPS):
            candidate = left + share * width
            pivot = self.pivot(candidate)
            beyond = compress(pivot) - (at_left + share * rise)
            exceeds = np.where(beyond > 0, share, exceeds)
            holds = np.where(beyond > 0, holds, share)
            slope = compression_slope(pivot) * self._slope(candidate) * width - rise
            step = share - beyond / slope
            leaves = (step < exceeds) | (step > holds)
            step = np.where(leaves, (exceeds + holds) / 2.0, step)
            moves = np.abs(step - share) > _PRECISE
            if not moves.any():
                break
            share = np.where(moves, step, share)  # which other columns there are changes no bit
        crossing: Floats = left + share * width
        return crossing


CALIBRATED_BETA = Method(
    "calibrated-beta",
    calibrated_beta_interval,
    needs=("skewness", "se"),
    bounded=True,
    any_sample=True,
    one_sample=True,
    closed_form=True,
    logit_scale=True,
    topics=Use(
        assumes="scores in [0, 1] vary much like a beta distribution with their mean and variance",
        source="confir, after Hall 1992",
        cites=("Hall1992",),
        cost="a table, a search",
        fails="scores that are 0 except on a rare topic: too many misses on one side",
    ),
)
