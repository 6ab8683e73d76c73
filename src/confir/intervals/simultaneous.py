"""Which differences hold all at once? Intervals and p-values for a family of comparisons.

A difference d with standard error se lies in d ± c·se. The critical value c is the level quantile of
the family's largest |t*| over replicates, but never more than Bonferroni's t: with few topics, pairs
of runs that differ on few of them make the former useless. An adjusted p-value is at most 1 - level
exactly where the interval at that level excludes 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.intervals.interval import Limits


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonFamily:
    """Comparisons that are to hold all at once.

    Attributes
    ----------
    size
        Number of comparisons, m.
    maxima
        The largest t* of the family in each replicate, ascending; empty where a single comparison
        needs none.
    sides
        2 where |t*| counts, 1 where t* does.
    """

    size: int
    maxima: Floats
    sides: int = 2

    @classmethod
    def of(cls, size: int, maxima: Floats, sides: int = 2) -> ComparisonFamily:
        """Return the family with its maxima in order; a single comparison is a plain t test."""
        return cls(size, np.sort(maxima) if size > 1 else np.empty(0), sides)

    def critical_value(self, df: Any, level: float) -> Any:
        """Return c: the smaller of the replicates' order statistic and Bonferroni's t.

        Parameters
        ----------
        df
            Degrees of freedom of the comparisons' t.
        level
            Confidence level of the whole family.
        """
        from scipy.special import stdtrit

        error = 1.0 - level
        bonferroni = -stdtrit(df, error / (self.sides * max(self.size, 1)))
        place = math.ceil(round((len(self.maxima) + 1) * level, 9))
        if self.size < 2 or place > len(self.maxima):
            return bonferroni
        return np.minimum(bonferroni, self.maxima[place - 1])

    def limits(self, difference: Floats, se: Floats, topics: Integers, level: float) -> Limits:
        """Return the simultaneous limits of differences; NaN where there is no standard error."""
        half = self.critical_value(topics - 1.0, level) * se
        return Limits(difference - half, difference + half)

    def p_values(self, t: Floats, topics: Integers) -> Floats:
        """Return adjusted p-values of t statistics: at most 1 - level where t exceeds c."""
        from scipy.special import stdtr

        size = np.abs(t) if self.sides == 2 else t
        bonferroni = self.sides * self.size * stdtr(topics - 1.0, -size)
        if self.size > 1 and len(self.maxima):
            reached = len(self.maxima) - np.searchsorted(self.maxima, size, side="left")
            bonferroni = np.minimum(bonferroni, (1.0 + reached) / (len(self.maxima) + 1.0))
        p: Floats = np.where(np.isnan(t), np.nan, np.minimum(bonferroni, 1.0))
        return p
