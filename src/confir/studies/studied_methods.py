"""Which methods are studied? Those of the catalogue that fit, and users' own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from confir.arguments import as_list, invalid
from confir.arrays import Integers
from confir.errors import InvalidValueError, UnsupportedMethodError, enumerate_names
from confir.intervals.catalogue import METHODS, Method, find_method
from confir.intervals.interval import Limits
from confir.intervals.probe import Probe
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.topics import ScoresLike, TopicSample, topic_sample

MethodLike = str | Method | Callable[[SamplingDistribution, float], Limits]

# What a function of one's own may read, and what it is said to assume.
_ALL_FIELDS = ("se", "acceleration", "replicates", "replicate_se")
_UNTOLD = "not told"


def as_method(method: MethodLike) -> Method:
    """Return the method of a name or of a function.

    "bootstrap-t-published" is that of [Soboroff2014] as printed. A function goes by its own name,
    and answers for samples of equal scores too: where it has no interval it returns NaN.
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        published = method == PUBLISHED_BOOTSTRAP_T.name
        return PUBLISHED_BOOTSTRAP_T if published else find_method(method)
    if not callable(method) or isinstance(method, type):
        raise invalid("method", method, "a name, a Method or a function")
    name = getattr(method, "__name__", type(method).__name__)
    return Method(name, _OwnMethod(method), _ALL_FIELDS, _UNTOLD, _UNTOLD, _UNTOLD, any_sample=True)


@dataclass(frozen=True, slots=True)
class _OwnMethod:
    """A user's function, whose limits are checked."""

    function: Callable[[SamplingDistribution, float], Limits]

    def __call__(self, distribution: SamplingDistribution, level: float) -> Limits:
        """Return the limits of every column."""
        limits = self.function(distribution, level)
        try:
            low, high = limits
        except (TypeError, ValueError):
            raise invalid("what a function of methods returns", limits, "two arrays") from None
        return Limits(np.asarray(low), np.asarray(high))


def fitting_methods(scores: ScoresLike) -> list[str]:
    """Return the names of the methods that fit the mean of scores."""
    population = topic_sample(scores)
    return [method.name for method in METHODS.values() if _fits(method, population)]


def _published_limits(distribution: SamplingDistribution, level: float) -> Limits:
    """The bootstrap-t of [Soboroff2014], which put the whole error into each tail."""
    return METHODS["bootstrap-t"].compute(distribution, 2.0 * level - 1.0)


def _published_side(probe: Probe, level: float) -> Integers:
    return METHODS["bootstrap-t"].side(probe, 2.0 * level - 1.0)


PUBLISHED_BOOTSTRAP_T = replace(
    METHODS["bootstrap-t"],
    name="bootstrap-t-published",
    compute=_published_limits,
    count_side=_published_side,
)


def chosen_methods(
    methods: MethodLike | Iterable[MethodLike] | None,
    population: TopicSample,
    levels: Sequence[float],
) -> list[Method]:
    """Return the methods asked for, checked against the scores and the levels."""
    if methods is None:
        return [method for method in METHODS.values() if _fits(method, population)]
    if isinstance(methods, str | Method) or callable(methods):
        methods = [methods]
    chosen = list(dict.fromkeys(as_method(method) for method in as_list("methods", methods)))
    if not chosen:
        raise InvalidValueError("no method is named; expected at least one")
    for method in chosen:
        if not _fits(method, population):
            raise _misfit(method, population)
        if [other.name for other in chosen].count(method.name) > 1:
            raise InvalidValueError(f"two methods have the name {method.name!r}")
        if method.name == PUBLISHED_BOOTSTRAP_T.name and min(levels) <= 0.5:
            raise InvalidValueError(
                f"{method.name} puts the whole error into each tail, which leaves nothing between "
                f"them at level {min(levels):g}; expected a level above 0.5"
            )
    return chosen


def _fits(method: Method, population: TopicSample) -> bool:
    provided = all(population.provides(need) for need in method.needs)
    return provided and (not method.bounded or bool(population.support.all()))


def _misfit(method: Method, population: TopicSample) -> UnsupportedMethodError:
    outside = [population.labels[i] for i in np.flatnonzero(~population.support)]
    lacking = [need for need in method.needs if not population.provides(need)]
    if lacking:
        reason = f"it needs {' and '.join(lacking)}, which this statistic lacks"
    else:
        run, measure = outside[0]
        reason = f"it is for statistics in [0, 1], which {measure} of {run} is not"
    fitting = [other.name for other in METHODS.values() if _fits(other, population)]
    return UnsupportedMethodError(
        f"method {method.name!r} does not fit: {reason}; methods that fit: "
        f"{enumerate_names(fitting, 20)}"
    )


def method_identity(method: Method) -> str:
    """Return a text that tells a method from others of the same name."""
    function = method.compute.function if isinstance(method.compute, _OwnMethod) else method.compute
    home, name = (getattr(function, key, "") for key in ("__module__", "__qualname__"))
    return f"{method.name} ({home}.{name})"
