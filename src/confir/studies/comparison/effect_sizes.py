"""Effect sizes: Cohen's d_z of paired differences."""

from __future__ import annotations

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.run_scores import RunScores
from confir.studies.comparison.mean_differences import MeanDifferences


def effect_sizes(
    scores: RunScores, first: Integers, second: Integers, means: MeanDifferences
) -> Floats:
    """Return d_z of each pair and measure; NaN where a difference does not vary.

    Parameters
    ----------
    scores
        The scores that were compared.
    first, second
        Numbers of the two runs of each pair.
    means
        The mean differences of the pairs.
    """
    spread = scores.difference_spread(first, second, means.difference, means.se, means.topics)
    with np.errstate(divide="ignore", invalid="ignore"):
        d_z: Floats = means.difference / spread
    return d_z
