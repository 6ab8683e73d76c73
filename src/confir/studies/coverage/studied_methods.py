"""The methods of a coverage study: those of the catalogue, and user-defined ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from confir.arguments import as_list, invalid
from confir.arrays import Integers
from confir.errors import InvalidValueError
from confir.intervals.bootstrap_t import BOOTSTRAP_T
from confir.intervals.interval import Limits
from confir.intervals.method import Method, Use
from confir.intervals.method_list import check_fit, find_method, fits, methods_over
from confir.intervals.probe import Probe
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.kinds import as_sample
from confir.resampling.sample import Sample
from confir.resampling.topic_sample import ScoresLike

MethodLike = str | Method | Callable[[SamplingDistribution, float], Limits]

# The fields that a user-defined method may read.
_ALL_FIELDS = ("se", "acceleration", "replicates", "replicate_se")


def as_method(method: MethodLike) -> Method:
    """Return the method of a name or of a function.

    "bootstrap-t-published" is that of [Soboroff2014] as printed. A function is named after itself,
    and must also handle samples of equal scores: it returns NaN if it has no interval.
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        return _FOR_STUDIES.get(method) or find_method(method)
    if not callable(method) or isinstance(method, type):
        raise invalid("method", method, "a name, a Method or a function")
    name = getattr(method, "__name__", type(method).__name__)
    return Method(name, _OwnMethod(method), _ALL_FIELDS, topics=Use(), any_sample=True)


@dataclass(frozen=True, slots=True)
class _OwnMethod:
    """A user-defined function, whose limits are checked."""

    function: Callable[[SamplingDistribution, float], Limits]

    def __call__(self, distribution: SamplingDistribution, level: float) -> Limits:
        """Return the limits of every column."""
        limits = self.function(distribution, level)
        try:
            low, high = limits
        except (TypeError, ValueError):
            raise invalid("the result of a function in methods", limits, "two arrays") from None
        return Limits(np.asarray(low), np.asarray(high))


def fitting_methods(scores: ScoresLike) -> list[str]:
    """Return the names of the methods that apply to the mean of scores."""
    population = as_sample(scores)
    return [method.name for method in _fitting(population)]


def _fitting(population: Sample) -> list[Method]:
    return [method for method in methods_over("topics").values() if fits(method, population)]


def _published_limits(distribution: SamplingDistribution, level: float) -> Limits:
    """The bootstrap-t of [Soboroff2014], with α instead of α/2 in each tail."""
    return BOOTSTRAP_T.compute(distribution, 2.0 * level - 1.0)


def _published_side(probe: Probe, level: float) -> Integers:
    return BOOTSTRAP_T.side(probe, 2.0 * level - 1.0)


PUBLISHED_BOOTSTRAP_T = replace(
    BOOTSTRAP_T,
    name="bootstrap-t-published",
    compute=_published_limits,
    count_side=_published_side,
    level_above=0.5,  # below, the two tails overlap
)

# Methods that can be studied by name, but are not offered for intervals.
_FOR_STUDIES = {method.name: method for method in (PUBLISHED_BOOTSTRAP_T,)}


def chosen_methods(
    methods: MethodLike | Iterable[MethodLike] | None,
    population: Sample,
    levels: Sequence[float],
) -> list[Method]:
    """Return the methods requested, checked against scores and levels."""
    if methods is None:
        return _fitting(population)
    if isinstance(methods, str | Method) or callable(methods):
        methods = [methods]
    chosen = list(dict.fromkeys(as_method(method) for method in as_list("methods", methods)))
    if not chosen:
        raise InvalidValueError("no method is named; expected at least one")
    for method in chosen:
        check_fit(method, population)
        if [other.name for other in chosen].count(method.name) > 1:
            raise InvalidValueError(f"two methods have the name {method.name!r}")
        if min(levels) <= method.level_above:
            raise InvalidValueError(
                f"the tails of {method.name} overlap at level "
                f"{min(levels):g}; expected a level above {method.level_above:g}"
            )
    return chosen


def method_identity(method: Method) -> str:
    """Return a string that distinguishes methods of the same name."""
    function = method.compute.function if isinstance(method.compute, _OwnMethod) else method.compute
    home, name = (getattr(function, key, "") for key in ("__module__", "__qualname__"))
    return f"{method.name} ({home}.{name})"
