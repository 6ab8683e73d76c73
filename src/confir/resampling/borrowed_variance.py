"""The variance that the comparisons of a family borrow from each other.

Similar runs differ on few topics. Where a sample contains hardly any of those, the variance of their
difference is estimated far too small, and among many pairs this happens to some. So every variance of
a family is raised by a share of the family's median variance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats


class BorrowedVariance(NamedTuple):
    """What is added to each variance of a family: u·M with ``u = 1 - m^(-1/n)``.

    u is the share of the topics of which one in m pairs is expected to have met none; it falls as
    the topics grow, and is 0 for a single comparison.

    Attributes
    ----------
    comparisons
        Number of comparisons in the family, m.
    median
        Median variance of the differences, M, of one unit: a topic, or a cluster.
    """

    comparisons: int = 1
    median: float = 0.0

    def of(self, units: Any) -> Any:
        """Return u·M for differences on n independent units."""
        share = -np.expm1(-np.log(max(self.comparisons, 1)) / units)
        return share * self.median


NOTHING_BORROWED = BorrowedVariance()


def median_variance(variance: Floats) -> float:
    """Return the median of the finite variances above 0; 0 where there are none.

    They are NaN where a pair has none, and infinite where units have no number, as documents have.
    """
    known = variance[(variance > 0) & (variance < np.inf)]
    return float(np.median(known)) if len(known) else 0.0
