"""How large is a difference beside the spread over topics? Cohen's d_z of paired differences."""

from __future__ import annotations

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.sampling.judged_scores import JudgedScores
from confir.data.scores import Scores, designed_mean
from confir.measures.score_summary import ScoreSummary
from confir.studies.comparison.mean_differences import MeanDifferences


def effect_sizes(
    scores: Scores | ScoreSummary, first: Integers, second: Integers, means: MeanDifferences
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
    corrected = isinstance(scores, JudgedScores)
    if isinstance(scores, ScoreSummary) or (scores.design is None and not corrected):
        d_z: Floats = means.difference / (means.se * np.sqrt(means.topics))
        return d_z
    apart = scores.values[:, second] - scores.values[:, first]
    with np.errstate(divide="ignore", invalid="ignore"):
        if scores.design is None:
            spread = np.where(means.constant, np.nan, apart.std(axis=0, ddof=1))
            return np.asarray(means.difference / spread)
        variance = designed_mean(scores.design, np.square(apart - means.difference))
        spread = np.sqrt(variance * means.topics / (means.topics - 1.0))
        return np.where(np.isnan(means.se), np.nan, means.difference / spread)
