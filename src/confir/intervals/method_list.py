"""The interval methods: METHODS is the one list, in which names are looked up.

A method is declared in the module that computes it; it joins the list by a line here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from confir.arguments import as_choice
from confir.errors import UnsupportedMethodError, enumerate_names
from confir.intervals.beta_intervals import BETA_LOGIT, CALIBRATED_BETA
from confir.intervals.bootstrap_t import (
    BOOTSTRAP_T,
    BOOTSTRAP_T_LOGIT,
    HALL_LOGIT,
    SYMMETRIC_T,
    SYMMETRIC_T_LOGIT,
)
from confir.intervals.bounded import BETTING, GAFFKE
from confir.intervals.percentile import BCA, PERCENTILE, STUDENTISED_LOGIT
from confir.intervals.standard_error import LINEAR, LOGIT, LOGIT_T, T
from confir.resampling.distribution import Resampled

if TYPE_CHECKING:
    from confir.intervals.method import Method, Source

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        T,
        LINEAR,
        LOGIT,
        PERCENTILE,
        BCA,
        BOOTSTRAP_T,
        SYMMETRIC_T,
        STUDENTISED_LOGIT,
        LOGIT_T,
        BETA_LOGIT,
        CALIBRATED_BETA,
        BOOTSTRAP_T_LOGIT,
        SYMMETRIC_T_LOGIT,
        HALL_LOGIT,
        BETTING,
        GAFFKE,
    )
}

DEFAULT_METHOD = T.name  # for differences, counts and all that is no mean of scores in [0, 1]
DEFAULT_BOUNDED_METHOD = CALIBRATED_BETA.name  # for means of scores in [0, 1]
DEFAULT_DEPENDENT_METHOD = LOGIT_T.name  # for such means of no simple random sample
DEFAULT_DOCUMENT_METHOD = LINEAR.name
DEFAULT_SCORE_METHOD = LOGIT.name  # over documents, for a topic's score in [0, 1]


def methods_over(over: Resampled) -> dict[str, Method]:
    """Return the methods that serve resampled topics, or documents, by name."""
    return {name: method for name, method in METHODS.items() if over in method.uses}


def find_method(name: str, over: Resampled = "topics") -> Method:
    """Return the method of a name; an unknown one raises, with the nearest names."""
    kind = "method" if over == "topics" else f"method over {over}"
    return METHODS[as_choice("method", name, methods_over(over), kind)]


def fields_needed(names: Iterable[str]) -> set[str]:
    """Return the fields of a sampling distribution that methods read."""
    return {need for name in names for need in METHODS[name].needs}


def fits(method: Method, source: Source) -> bool:
    """Whether a method has limits for all columns of a statistic."""
    provided = source.provided.issuperset(method.needs)
    inside = not method.bounded or bool(source.support.all())
    sampled = source.independent or not method.one_sample
    return source.over in method.uses and provided and inside and sampled


def check_fit(method: Method, source: Source) -> None:
    """Raise where a method does not fit a statistic, naming those that do."""
    if fits(method, source):
        return
    lacking = [need for need in method.needs if need not in source.provided]
    outside = [source.labels[i] for i in np.flatnonzero(~source.support)] if method.bounded else []
    reason = f"it is not for resampled {source.over}"
    if outside:
        run, measure = outside[0]
        reason = f"it is for statistics in [0, 1], which {measure} of {run} is not"
    elif method.one_sample and not source.independent:
        reason = "it is for one simple random sample of topics, which these are not"
    elif lacking:
        reason = f"it needs {' and '.join(lacking)}, which this statistic lacks"
    raise misfit(method, reason, [other for other in METHODS.values() if fits(other, source)])


def misfit(method: Method, reason: str, fitting: Iterable[Method]) -> UnsupportedMethodError:
    """Return the error that says why a method does not fit, and which ones do."""
    return UnsupportedMethodError(
        f"method {method.name!r} does not fit: {reason}; methods that fit: "
        f"{enumerate_names([other.name for other in fitting], 20)}"
    )
