"""Intervals from a standard error: `t`, `logit-t`, and over resampled documents `linear`, `logit`.

Over documents they read the spread of a score over resampled collections ([Cormack2006] §5), or that of
a mean over topics and collections; `percentile` and `bca` read its quantiles.
"""

from __future__ import annotations

import numpy as np

from confir.arguments import as_real
from confir.arrays import Floats, inverse_logit, logit
from confir.defaults import LOGIT_EPSILON
from confir.errors import UnsupportedMethodError
from confir.intervals.interval import Limits
from confir.intervals.method import Method, Use
from confir.intervals.quantiles import t_quantile
from confir.measures.parsing import bounded_measures
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.kinds import require_knowledge
from confir.resampling.sample import Knowledge
from confir.resampling.statistics import clipped_logit
from confir.resampling.variance_components import spread


def t_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``m ± t_{n-1} · se``: Student's interval ([Soboroff2014] §2)."""
    half = t_quantile(distribution.df, level) * distribution.require("se")
    return Limits(distribution.estimate - half, distribution.estimate + half)


def logit_t_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``logit(m) ± t_{n-1} · se / (m(1-m))``, transformed back: the delta method."""
    m = distribution.estimate
    with np.errstate(divide="ignore", invalid="ignore"):
        half = t_quantile(distribution.df, level) * distribution.require("se") / (m * (1.0 - m))
        return Limits(inverse_logit(logit(m) - half), inverse_logit(logit(m) + half))


def linear_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``s ± z · sd(s')``, t for z where topics vary too; limits may leave [0, 1]."""
    return t_interval(distribution, level)


def logit_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``logit(s) ± z · sd(logit s')``, transformed back; scores clipped by epsilon first.

    Where topics vary too, t for z and, by the delta method, se/(s(1-s)) for the standard deviation.
    """
    score, epsilon = distribution.estimate, distribution.epsilon
    if "topics" in distribution.resampled:
        kept = np.clip(score, epsilon, 1.0 - epsilon)
        sd = distribution.require("se") / (kept * (1.0 - kept))
    else:
        sd = logit_spread(distribution.require("replicates").T, epsilon)
    return logit_limits(score, sd, t_quantile(distribution.df, level), epsilon)


def logit_limits(score: Floats, sd: Floats, quantile: Floats | float, epsilon: float) -> Limits:
    """Return the limits of scores whose clipped logits have a standard deviation.

    The interval contains the score also where clipping moved it; a score that does not vary, such as
    an AP of 0, is its own interval.
    """
    constant, centre, half = sd == 0, clipped_logit(score, epsilon), quantile * sd
    low, high = inverse_logit(centre - half), inverse_logit(centre + half)
    return Limits(
        np.where(constant, score, np.minimum(low, score)),
        np.where(constant, score, np.maximum(high, score)),
    )


def check_epsilon(epsilon: float) -> None:
    """Raise where clipping leaves no scores between 0 and 1."""
    as_real("epsilon", epsilon, above=0.0, below=0.5)


def check_document_replicates(sample: DocumentReplicates, epsilon: float) -> None:
    """Raise if there are no replicates of documents, epsilon is invalid, or a measure not in [0, 1]."""
    require_knowledge(sample, Knowledge.COLLECTIONS, "an interval over collections")
    check_epsilon(epsilon)
    for place in np.flatnonzero(~bounded_measures(sample.scores)):
        raise unbounded_error(sample.measures[place])


def unbounded_error(measure: str) -> UnsupportedMethodError:
    """Return the error that a measure does not lie in [0, 1]."""
    return UnsupportedMethodError(
        f"intervals over collections are for measures in [0, 1], which {measure} is not"
    )


def two_sided_normal(level: float) -> float:
    """Return z, the upper normal quantile of a two-sided interval."""
    return float(t_quantile(np.array([np.inf]), level)[0])


def logit_spread(values: Floats, epsilon: float = LOGIT_EPSILON) -> Floats:
    """Return the standard deviation of clipped logits over the last axis, NaN left out."""
    return spread(clipped_logit(values, epsilon))


T = Method(
    "t",
    t_interval,
    needs=("se",),
    closed_form=True,
    topics=Use(
        assumes="the mean is nearly normal",
        source="Student 1908; Soboroff 2014",
        cites=("Student1908", "Soboroff2014"),
        cost="none",
        fails="few topics or skewed scores: too many misses on one side; limits may leave [0, 1]",
    ),
)

LOGIT_T = Method(
    "logit-t",
    logit_t_interval,
    needs=("se",),
    bounded=True,
    closed_form=True,
    logit_scale=True,
    topics=Use(
        assumes="the logit of the mean is nearly normal",
        source="delta method",
        cost="none",
        fails="scores that are nearly all 0 or 1",
    ),
)

LINEAR = Method(
    "linear",
    linear_interval,
    needs=("se",),
    closed_form=True,
    documents=Use(
        assumes="the score is nearly normal over collections",
        source="Cormack & Lynam 2006",
        cites=("Cormack2006",),
        cost="none",
        fails="scores near 0 or 1: too many misses on one side, limits may leave [0, 1]",
    ),
)

LOGIT = Method(
    "logit",
    logit_interval,
    needs=("se", "replicates"),
    bounded=True,
    logit_scale=True,
    documents=Use(
        assumes="the logit of the score is nearly normal over collections",
        source="Cormack & Lynam 2006",
        cites=("Cormack2006",),
        cost="none",
        fails="few relevant documents: AP near 0 or 1 needs the small-R correction",
    ),
)
