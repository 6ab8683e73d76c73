"""What does a pilot say about the spread of scores over topics, and how far is that certain?"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.scores import Scores
from confir.errors import DegenerateSampleWarning, InvalidValueError, enumerate_names
from confir.intervals.interval import tail_probabilities
from confir.measures.bounds import clip_to_range
from confir.resampling.topics import TopicSample, topic_sample

# The range of a standard deviation needs more topics than these.
_TOO_FEW_FOR_RANGE = 4


class Pilot(NamedTuple):
    """What a pilot says about each column, runs × measures.

    Attributes
    ----------
    mean, sd
        Mean over topics of the scores or differences, and their standard deviation.
    sd_low, sd_high
        Range of the standard deviation; NaN for fewer than 5 topics.
    topics
        Number of topics.
    """

    mean: Floats
    sd: Floats
    sd_low: Floats
    sd_high: Floats
    topics: Integers

    def upper_sd(self, assurance: float) -> Floats:
        """Return the sd that the true one exceeds with probability 1 - assurance.

        ``s √((n-1) / χ²_{1-assurance; n-1})``, the upper confidence limit for normal scores.
        """
        from scipy.special import chdtri

        df = self.topics - 1.0
        limit: Floats = self.sd * np.sqrt(df / chdtri(df, assurance))
        return limit


def pilot_sample(scores: Scores, baseline: str | None, *, by_partner: bool) -> TopicSample:
    """Return what is planned for: means, differences from a baseline, or from another run.

    By partner, each run's column is its difference from the run for which it varies most.
    """
    if by_partner:
        sample = topic_sample(_largest_differences(clip_to_range(scores).values))
        labels = [(run, measure) for run in scores.runs for measure in scores.measures]
        sample = replace(sample, labels=tuple(labels))
    else:
        statistic = "mean" if baseline is None else "difference"
        sample = topic_sample(scores, statistic=statistic, baseline=baseline)
    if sample.topics < 2:
        raise InvalidValueError("there is one topic; a pilot needs at least 2")
    return sample


def _largest_differences(values: Floats) -> Floats:
    """Return each run's differences from the run for which they vary most, by each measure."""
    found = np.empty_like(values)
    for m in range(values.shape[2]):
        scores = values[:, :, m]
        partner = np.argmax(_difference_variances(scores), axis=1)
        found[:, :, m] = scores - scores[:, partner]
    return found


def _difference_variances(scores: Floats) -> Floats:
    """Return the variances of the differences of all pairs, over the topics that both runs have.

    Sums over topics are matrix products: with the mask M of the scores X (0 where missing),
    ``Σ(x-y)² = X²ᵀM + MᵀX² - 2XᵀX`` and ``Σ(x-y) = XᵀM - MᵀX``.
    """
    present = ~np.isnan(scores)
    mask = present.astype(np.float64)
    with np.errstate(invalid="ignore"):
        centre = np.where(present, scores, 0.0).sum(axis=0) / mask.sum(axis=0)
    centred = np.where(present, scores - centre, 0.0)
    square = (centred**2).T @ mask
    squares = square + square.T - 2.0 * centred.T @ centred
    sums = centred.T @ mask
    count = mask.T @ mask
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = (squares - (sums - sums.T) ** 2 / count) / (count - 1.0)
    variances: Floats = np.where(count > 1.0, variance, -np.inf)
    return variances


def measure_pilot(sample: TopicSample, level: float) -> Pilot:
    """Return the standard deviations over topics with their limits; warn where there are none."""
    distribution = sample.distribution(slice(None), None, ("se",))
    root = np.sqrt(distribution.count)
    sd = np.where(distribution.degenerate, np.nan, distribution.require("se") * root)
    samples = zip(distribution.require("sample").T, sd.tolist(), strict=True)
    limits = [_spread_limits(column[~np.isnan(column)], one, level) for column, one in samples]
    low, high = np.array(limits).T
    few = distribution.count < 2
    for columns, cause in (
        (np.isnan(sd) & few, "the pilot has fewer than two scores"),
        (np.isnan(sd) & ~few, "the pilot's scores are all equal"),
    ):
        names = [" ".join(sample.labels[i]) for i in np.flatnonzero(columns)]
        if names:
            warnings.warn(
                f"nothing can be planned for {enumerate_names(names, 5)}: {cause}",
                DegenerateSampleWarning,
                stacklevel=3,
            )
    return Pilot(distribution.estimate, sd, low, high, distribution.count)


def _spread_limits(values: Floats, sd: float, level: float) -> tuple[float, float]:
    """Return the limits of a standard deviation, for scores that are not normal (Bonett 2006).

    ``ln(c s²) ± z c √((γ - (n-3)/n) / (n-1))`` with the kurtosis γ around a trimmed mean and
    ``c = n/(n-z)``; NaN for fewer than 5 topics.
    """
    from scipy.special import ndtri

    topics = len(values)
    z = float(ndtri(tail_probabilities(level)[1]))
    if topics <= max(_TOO_FEW_FOR_RANGE, z) or math.isnan(sd):
        return math.nan, math.nan
    trimmed = int(topics / (2.0 * math.sqrt(topics - 4.0)))
    centre = np.sort(values)[trimmed : topics - trimmed].mean()
    kurtosis = float(((values - centre) ** 4).sum()) / (topics * (sd**2 * (1 - 1 / topics)) ** 2)
    c = topics / (topics - z)
    reach = z * c * math.sqrt((kurtosis - (topics - 3.0) / topics) / (topics - 1.0))
    return sd * math.sqrt(c) * math.exp(-reach / 2.0), sd * math.sqrt(c) * math.exp(reach / 2.0)
