"""Confidence limits of the means by which runs are ranked: over the topics that all runs have."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from confir.data.common_topics import common_topics
from confir.data.sampling.judged_scores import JudgedScores
from confir.data.scores import Scores
from confir.errors import ConfirWarning
from confir.intervals.interval import Limits
from confir.measures.score_summary import ScoreSummary
from confir.resampling.topics import Rng


def mean_limits(scores: Scores | ScoreSummary, level: float, replicates: int, rng: Rng) -> Limits:
    """Return the limits of all means by the default method, as `evaluate` shows them: runs × measures.

    Where runs lack topics, the means are those over the topics that all runs have.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)  # the comparison of the runs has its own
        if isinstance(scores, JudgedScores):
            from confir.studies.corrected_means.corrected_means import correct_scores

            means = correct_scores(scores, level=level, replicates=replicates, rng=rng)
            return Limits(means.low, means.high)
        from confir.intervals.catalogue import confidence_interval

        interval = confidence_interval(
            _over_common_topics(scores), level=level, replicates=replicates, rng=rng
        )
        shape = len(scores.runs), len(scores.measures)
        return Limits(interval.low.reshape(shape), interval.high.reshape(shape))


def _over_common_topics(scores: Scores | ScoreSummary) -> Scores | ScoreSummary:
    if isinstance(scores, ScoreSummary):
        return scores.over_common_topics()
    common = common_topics(scores.values)
    if common.all():
        return scores
    return replace(scores, values=np.where(common[:, None, :], scores.values, np.nan))
