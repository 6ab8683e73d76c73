"""Which differences hold all at once? Intervals and p-values for a family of comparisons.

A difference d with standard error se lies in d ± c·se. The critical value c is the level quantile of
the family's largest |t*| over replicates, but no less than the t quantile of a single comparison and
no more than Bonferroni's: with few topics, pairs of runs that differ on few of them make the
replicates useless. An adjusted p-value is at most 1 - level exactly where the interval at that level
excludes 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.intervals.interval import Limits

# Differences that vary far less than most of the family's may do so by chance, where runs happen to
# differ on few topics: variances count as this share of the family's median at least. Among few
# pairs that is rare, and the share smaller. docs/reproductions/families.md.
FLOOR_SHARE = 0.4
_FLOOR_PAIRS = 200


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonFamily:
    """Comparisons that are to hold all at once.

    Attributes
    ----------
    size
        Number of comparisons, m.
    maxima
        The largest t* of the family in each replicate, ascending; empty where a single comparison
        needs none. For critical values alone, families of one size may stand side by side:
        replicates × families.
    sides
        2 where |t*| counts, 1 where t* does.
    floor
        The least variance of differences that standard errors are computed from.
    """

    size: int
    maxima: Floats
    sides: int = 2
    floor: float = 0.0

    @classmethod
    def of(cls, size: int, maxima: Floats, sides: int = 2, floor: float = 0.0) -> ComparisonFamily:
        """Return the family with its maxima in order; a single comparison is a plain t test."""
        return cls(size, np.sort(maxima) if size > 1 else np.empty(0), sides, floor)

    def critical_value(self, df: Any, level: float) -> Any:
        """Return c: the replicates' order statistic, between a single t and Bonferroni's.

        Parameters
        ----------
        df
            Degrees of freedom of the comparisons' t.
        level
            Confidence level of the whole family.
        """
        from scipy.special import stdtrit

        tail = (1.0 - level) / self.sides
        bonferroni = -stdtrit(df, tail / max(self.size, 1))
        place = math.ceil(round((len(self.maxima) + 1) * level, 9))
        if self.size < 2 or place > len(self.maxima):
            return bonferroni
        return np.clip(self.maxima[place - 1], -stdtrit(df, tail), bonferroni)

    def standard_errors(self, se: Floats, topics: Integers | Floats) -> Floats:
        """Return standard errors of differences, none below that of the least variance."""
        return np.maximum(se, np.sqrt(self.floor / np.maximum(topics, 1)))

    def limits(
        self,
        difference: Floats,
        se: Floats,
        topics: Integers | Floats,
        level: float,
        df: Floats | None = None,
    ) -> Limits:
        """Return the simultaneous limits of differences; NaN where there is no standard error.

        Degrees of freedom are topics - 1 by default. Infinitely many topics give normal limits.
        """
        freedom = topics - 1.0 if df is None else df
        half = self.critical_value(freedom, level) * self.standard_errors(se, topics)
        return Limits(difference - half, difference + half)

    def p_values(self, t: Floats, topics: Integers | Floats) -> Floats:
        """Return adjusted p-values of t statistics: at most 1 - level where t exceeds c.

        Where the family has a least variance, t is the difference over `standard_errors`.
        """
        from scipy.special import stdtr

        size = np.abs(t) if self.sides == 2 else t
        single = self.sides * stdtr(topics - 1.0, -size)
        adjusted = self.size * single
        if self.size > 1 and len(self.maxima):
            reached = len(self.maxima) - np.searchsorted(self.maxima, size, side="left")
            adjusted = np.minimum(adjusted, (1.0 + reached) / (len(self.maxima) + 1.0))
        p: Floats = np.where(np.isnan(t), np.nan, np.clip(adjusted, single, 1.0))
        return p


def variance_floor(variance: Floats) -> float:
    """Return the least variance of a family's differences: a share of their median.

    The share is two thousandths for each pair, up to two fifths: one pair's own variance is never
    below it, and among few pairs hardly any is. NaN where a pair has none.
    """
    known = variance[~np.isnan(variance)]
    share = FLOOR_SHARE * min(1.0, len(known) / _FLOOR_PAIRS)
    return share * float(np.median(known)) if len(known) else 0.0
