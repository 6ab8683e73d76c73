"""What does a pilot say about the spread of scores over topics, and how far is that certain?"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.sampling.judged_scores import Judged, JudgedScores
from confir.data.scores import Scores
from confir.errors import DegenerateSampleWarning, InvalidValueError, enumerate_names
from confir.intervals.interval import tail_probabilities
from confir.measures.bounds import clip_to_range
from confir.measures.score_summary import ScoreSummary
from confir.resampling.clusters import Clusters
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.human_judgements import JudgedSample, clip_parts, judged_sample
from confir.resampling.summarised_topics import AnyTopics, SummarisedTopics, sample_topics
from confir.resampling.topics import topic_sample
from confir.studies.planning.power import Freedom

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
    topics, df
        Number of topics, and degrees of freedom of the standard deviation.
    freedom
        Degrees of freedom that another number of topics would give.
    """

    mean: Floats
    sd: Floats
    sd_low: Floats
    sd_high: Floats
    topics: Integers
    df: Floats
    freedom: Freedom

    def upper_sd(self, assurance: float) -> Floats:
        """Return the sd that the true one exceeds with probability 1 - assurance.

        ``s √((n-1) / χ²_{1-assurance; n-1})``, the upper confidence limit for normal scores.
        """
        from scipy.special import chdtri

        limit: Floats = self.sd * np.sqrt(self.df / chdtri(self.df, assurance))
        return limit


def pilot_sample(
    scores: Scores | ScoreSummary, baseline: str | None, *, by_partner: bool
) -> AnyTopics:
    """Return what is planned for: means, differences from a baseline, or from another run.

    By partner, each run's column is its difference from the run for which it varies most.
    """
    if isinstance(scores, JudgedScores):
        own = judged_sample(scores, baseline)
        return replace(own, values=_judged_partners(scores)) if by_partner else own
    sample: AnyTopics
    if isinstance(scores, ScoreSummary) and by_partner:
        sample = _summarised_partners(scores)
    elif isinstance(scores, Scores) and by_partner:
        sample = topic_sample(_largest_differences(clip_to_range(scores).values))
        labels = [(run, measure) for run in scores.runs for measure in scores.measures]
        clusters = None if scores.design is None else Clusters.of(scores.design)
        sample = replace(sample, labels=tuple(labels), clusters=clusters)
    else:
        statistic = "mean" if baseline is None else "difference"
        sample = sample_topics(scores, statistic=statistic, baseline=baseline)
    if sample.topics < 2:
        raise InvalidValueError("there is one topic; a pilot needs at least 2")
    return sample


def _summarised_partners(summary: ScoreSummary) -> SummarisedTopics:
    """Return each run's differences from the run for which they vary most, by each measure."""
    runs, measures = len(summary.runs), len(summary.measures)
    first, second = (side.astype(np.int64) for side in np.triu_indices(runs, 1))
    found = SummarisedTopics.of_pairs(summary, first, second)
    moments = found.moments
    variance = np.full((runs, runs, measures), -np.inf)
    own = np.where(
        moments.count > 1, moments.second / np.maximum(moments.count - 1.0, 1.0), -np.inf
    )
    variance[first, second] = variance[second, first] = own.reshape(len(first), measures)
    partner = np.argmax(variance, axis=1)
    pair = np.zeros((runs, runs), np.int64)
    pair[first, second] = pair[second, first] = np.arange(len(first))
    places = pair[np.arange(runs)[:, None], partner] * measures + np.arange(measures)
    labels = tuple((run, measure) for run in summary.runs for measure in summary.measures)
    shape, support = (runs, measures), np.zeros(len(labels), np.bool_)
    chosen = moments.select(places.reshape(-1))
    return SummarisedTopics(labels, shape, support, summary, chosen, places.reshape(-1))


def _largest_differences(values: Floats) -> Floats:
    """Return each run's differences from the run for which they vary most, by each measure."""
    return values - values[:, largest_partners(values), np.arange(values.shape[2])]


def largest_partners(values: Floats) -> Integers:
    """Return the run from which each run's differences vary most: runs × measures."""
    measures = range(values.shape[2])
    return np.stack(
        [np.argmax(_difference_variances(values[:, :, m]), axis=1) for m in measures], axis=1
    )


def _judged_partners(scores: JudgedScores) -> Judged:
    """Return each run's differences from the run for which the corrected one varies most."""
    judged = clip_parts(scores)
    parts = [np.empty(part.shape) for part in judged]
    for run in range(len(scores.runs)):
        apart = Judged(*(part[:, [run]] - part for part in judged))
        partner = apart.corrected().se.argmax(axis=0)
        for held, part in zip(parts, apart, strict=True):
            held[:, run] = part[:, partner, np.arange(len(partner))]
    return Judged(*parts).flat()


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


def measure_pilot(sample: AnyTopics, level: float) -> Pilot:
    """Return the standard deviations over topics with their limits; warn where there are none.

    By a model's judgements and people's: that of people's topics which would have as large a
    standard error by themselves.
    """
    distribution = sample.distribution(slice(None), None, ("se",))
    root = np.sqrt(distribution.count)
    sd = np.where(distribution.degenerate, np.nan, distribution.require("se") * root)
    if isinstance(sample, SummarisedTopics):
        # of so many topics, the trimmed mean is the mean
        fourth = sample.moments.fourth.tolist()
        columns_of = zip(distribution.count, sd.tolist(), fourth, strict=True)
        limits = [_limits_by_kurtosis(int(n), one, power, level) for n, one, power in columns_of]
        low, high = np.array(limits).T
    elif isinstance(sample, JudgedSample) or distribution.sample is not None:
        samples = zip(_spread(sample, distribution, sd).T, sd.tolist(), strict=True)
        limits = [_spread_limits(column[~np.isnan(column)], one, level) for column, one in samples]
        low, high = np.array(limits).T
    else:
        low, high = _normal_limits(sd, distribution.df, level)
    few = distribution.count < 2
    for columns, cause in (
        (np.isnan(sd) & few, "the pilot has fewer than two scores"),
        (np.isnan(sd) & ~few, "the pilot's scores or differences are all equal"),
    ):
        names = [" ".join(sample.labels[i]) for i in np.flatnonzero(columns)]
        if names:
            warnings.warn(
                f"nothing can be planned for {enumerate_names(names, 5)}: {cause}",
                DegenerateSampleWarning,
                stacklevel=3,
            )
    count, df = distribution.count, distribution.df
    # strata whose variances happen to be equal have more degrees of freedom than topics
    freedom = Freedom(cluster_size=np.maximum(count / np.maximum(df + 1.0, 1.0), 1.0))
    if isinstance(sample, JudgedSample):
        freedom = Freedom(taken=count - df)
    return Pilot(distribution.estimate, sd, low, high, count, df, freedom)


def _spread(sample: AnyTopics, distribution: SamplingDistribution, sd: Floats) -> Floats:
    """Return values whose spread is that of the mean's standard error: topics × columns."""
    if not isinstance(sample, JudgedSample):
        return distribution.require("sample")
    values = sample.values.human - sample.corrected().weight * sample.values.model
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled: Floats = values * (sd / values.std(axis=0, ddof=1))  # of the same shape
    return scaled


def _normal_limits(sd: Floats, df: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the limits of standard deviations that clusters give, as if these were normal."""
    from scipy.special import chdtri

    lower, upper = tail_probabilities(level)
    return sd * np.sqrt(df / chdtri(df, lower)), sd * np.sqrt(df / chdtri(df, upper))


def _spread_limits(values: Floats, sd: float, level: float) -> tuple[float, float]:
    """Return the limits of a standard deviation, for scores that are not normal (Bonett 2006).

    ``ln(c s²) ± z c √((γ - (n-3)/n) / (n-1))`` with the kurtosis γ around a trimmed mean and
    ``c = n/(n-z)``; NaN for fewer than 5 topics.
    """
    topics = len(values)
    if topics <= _TOO_FEW_FOR_RANGE or math.isnan(sd):
        return math.nan, math.nan
    trimmed = int(topics / (2.0 * math.sqrt(topics - 4.0)))
    centre = np.sort(values)[trimmed : topics - trimmed].mean()
    return _limits_by_kurtosis(topics, sd, float(((values - centre) ** 4).sum()), level)


def _limits_by_kurtosis(topics: int, sd: float, fourth: float, level: float) -> tuple[float, float]:
    """Return the limits of a standard deviation from the sum of fourth powers of deviations."""
    from scipy.special import ndtri

    z = float(ndtri(tail_probabilities(level)[1]))
    if topics <= max(_TOO_FEW_FOR_RANGE, z) or math.isnan(sd):
        return math.nan, math.nan
    kurtosis = fourth / (topics * (sd**2 * (1 - 1 / topics)) ** 2)
    c = topics / (topics - z)
    reach = z * c * math.sqrt((kurtosis - (topics - 3.0) / topics) / (topics - 1.0))
    return sd * math.sqrt(c) * math.exp(-reach / 2.0), sd * math.sqrt(c) * math.exp(reach / 2.0)
