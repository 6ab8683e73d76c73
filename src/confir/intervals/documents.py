"""Which intervals are there over documents? DOCUMENT_METHODS; `document_interval` applies them.

They read the spread or the quantiles of a score over resampled collections ([Cormack2006] §5), or
of a mean over topics and collections.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confir.arguments import as_choice, as_choices, as_real
from confir.arrays import Floats
from confir.errors import UnsupportedMethodError
from confir.intervals.bca import bca_interval
from confir.intervals.interval import Interval, Limits, check_level
from confir.intervals.percentile import percentile_interval
from confir.intervals.quantiles import t_quantile
from confir.intervals.standard import t_interval
from confir.measures.summary import LOGIT_MARGIN, clipped_logit, inverse_logit
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.variance_components import spread


def linear_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """``s ± z · sd(s')``, t for z where topics vary too; limits may leave [0, 1]."""
    return t_interval(distribution, level)


def logit_interval(
    distribution: SamplingDistribution, level: float, margin: float = LOGIT_MARGIN
) -> Limits:
    """``logit(s) ± z · sd(logit s')``, transformed back; scores clipped to [ε, 1-ε] first.

    Where topics vary too, t for z and, by the delta method, se/(s(1-s)) for the standard deviation.
    The interval holds the score also where clipping moved it; a score that does not vary, such as
    an AP of 0, is its own interval.
    """
    score = distribution.estimate
    if "topics" in distribution.resampled:
        kept = np.clip(score, margin, 1.0 - margin)
        sd = distribution.require("se") / (kept * (1.0 - kept))
    else:
        sd = logit_spread(distribution.require("replicates").T, margin)
    still, centre = sd == 0, clipped_logit(score, margin)
    half = t_quantile(distribution.df, level) * sd
    low = np.where(still, score, np.minimum(inverse_logit(centre - half), score))
    return Limits(low, np.where(still, score, np.maximum(inverse_logit(centre + half), score)))


def document_bca_interval(distribution: SamplingDistribution, level: float) -> Limits:
    """Those quantiles, corrected for bias and for the skewness that leaving out documents shows.

    A score that does not vary is its own interval; one relevant document alone has none.
    """
    low, high = bca_interval(distribution, level)
    still = distribution.require("se") == 0
    return Limits(
        np.where(still, distribution.estimate, low), np.where(still, distribution.estimate, high)
    )


@dataclass(frozen=True, slots=True)
class DocumentMethod:
    """An interval method over documents: a line of the catalogue.

    Attributes
    ----------
    name
        Its name in options and results.
    compute
        From a sampling distribution and a level to limits; the logit takes a margin too.
    needs
        The field of the distribution that it reads.
    bounded
        Whether it holds for statistics in [0, 1] only.
    """

    name: str
    compute: Callable[..., Limits]
    needs: str
    bounded: bool = False

    @property
    def summary(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]


DOCUMENT_METHODS = {
    method.name: method
    for method in (
        DocumentMethod("linear", linear_interval, "se"),
        DocumentMethod("logit", logit_interval, "replicates", bounded=True),
        DocumentMethod("percentile", percentile_interval, "replicates"),
        DocumentMethod("bca", document_bca_interval, "acceleration"),
    )
}


def document_interval(
    distribution: SamplingDistribution,
    *,
    level: float = 0.95,
    method: str = "logit",
    margin: float = LOGIT_MARGIN,
) -> Interval:
    """Return the confidence intervals of a statistic over resampled documents.

    Parameters
    ----------
    distribution
        What `bootstrap_documents` returns.
    level
        Confidence level.
    method
        A name in DOCUMENT_METHODS.
    margin
        How far logits keep from 0 and 1.
    """
    check_level(level)
    check_margin(margin)
    chosen = find_document_method(method)
    if not _fits(chosen, distribution):
        fitting = [name for name, other in DOCUMENT_METHODS.items() if _fits(other, distribution)]
        raise UnsupportedMethodError(
            f"method {method!r} does not fit this statistic; methods that fit: {', '.join(fitting)}"
        )
    options = {"margin": margin} if chosen.compute is logit_interval else {}
    low, high = chosen.compute(distribution, level, **options)
    return Interval(
        labels=distribution.labels,
        estimate=distribution.estimate,
        low=low,
        high=high,
        topics=distribution.count,
        level=level,
        methods=(method,) * len(distribution.labels),
        replicates=len(distribution.require("replicates")),
    )


def document_intervals(
    distribution: SamplingDistribution, levels: Sequence[float], methods: Any = None
) -> list[Interval]:
    """Return an interval for each method, "linear" by default, and level, in that order."""
    names = as_choices(
        "method",
        "linear" if methods is None else methods,
        DOCUMENT_METHODS,
        "method over documents",
    )
    return [
        document_interval(distribution, level=level, method=name)
        for name in names
        for level in levels
    ]


def _fits(method: DocumentMethod, distribution: SamplingDistribution) -> bool:
    bounded = bool(distribution.support.all())
    return getattr(distribution, method.needs) is not None and (bounded or not method.bounded)


def find_document_method(name: str) -> DocumentMethod:
    """Return the method of a name; an unknown one raises, with the nearest names."""
    return DOCUMENT_METHODS[as_choice("method", name, DOCUMENT_METHODS, "method over documents")]


def check_margin(margin: float) -> None:
    """Raise where a margin leaves no scores between 0 and 1."""
    as_real("margin", margin, above=0.0, below=0.5)


def normal_quantile(level: float) -> float:
    """Return z, the upper normal quantile of a two-sided interval."""
    return float(t_quantile(np.array([np.inf]), level)[0])


def logit_spread(values: Floats, margin: float = LOGIT_MARGIN) -> Floats:
    """Return the standard deviation of clipped logits over the last axis, NaN left out."""
    return spread(clipped_logit(values, margin))
