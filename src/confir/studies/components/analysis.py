"""Balanced analysis of variance of a full table of scores, with random effects.

A table has an axis per factor: systems, topics and, where there are some, judges and repeats. Repeats are
nested in systems. A source of variance is a set of factors, and its component what mean squares of it and
of the sources that contain it expect (Searle, Casella & McCulloch 1992, ch. 4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from confir.arrays import TIE, Floats, Integers
from confir.intervals.interval import tail_probabilities

SYSTEMS, TOPICS, JUDGES, REPEATS = "systems", "topics", "judges", "repeats"

# What a factor's levels belong to: other levels of these have nothing to do with each other.
_NESTED = {REPEATS: SYSTEMS}


class VarianceSource(NamedTuple):
    """A source of variance: an effect of one factor, or of several together.

    Attributes
    ----------
    name
        Its name in results.
    factors
        What it varies with.
    """

    name: str
    factors: frozenset[str]

    @property
    def divided(self) -> frozenset[str]:
        """The factors whose numbers divide it in the mean of a system."""
        return self.factors - {SYSTEMS}

    @property
    def relative(self) -> bool:
        """Whether it is part of the error of differences between systems."""
        return SYSTEMS in self.factors and bool(self.divided)

    @property
    def absolute(self) -> bool:
        """Whether it is part of the error of scores."""
        return bool(self.divided)


def find_sources(factors: Sequence[str]) -> list[VarianceSource]:
    """Return the sources of variance of a table with these factors, the residual last."""
    sets = chain.from_iterable(combinations(factors, size + 1) for size in range(len(factors)))
    fitting = [one for one in sets if all(_NESTED.get(each, each) in one for each in one)]
    sources = []
    for one in fitting:
        shown = [each for each in one if not any(_NESTED.get(other) == each for other in one)]
        whole = len(one) == len(factors) > 2
        sources.append(VarianceSource("residual" if whole else " × ".join(shown), frozenset(one)))
    return sources


class MeanSquares(NamedTuple):
    """Mean squares of all sources.

    Attributes
    ----------
    squares, df
        Mean squares and their degrees of freedom.
    expectation
        What they expect of each component: mean squares × components.
    """

    squares: Floats
    df: Floats
    expectation: Floats

    def components(self, squares: Floats) -> Floats:
        """Return the variance components that follow from mean squares; negative ones count as 0."""
        found: Floats = np.maximum(0.0, squares @ np.linalg.inv(self.expectation).T)
        return found


def mean_squares(
    values: Floats, factors: Sequence[str], sources: Sequence[VarianceSource]
) -> MeanSquares:
    """Return mean squares of a table whose axes are the factors.

    A source's effects are its means less the effects of all that it contains; 0 where rounding alone makes
    them.
    """
    sizes = dict(zip(factors, values.shape, strict=True))
    effects: dict[frozenset[str], Floats] = {frozenset(): values.mean(keepdims=True)}
    free = {frozenset[str](): 1.0}
    squares, least = [], TIE * np.abs(values).max()
    for source in sources:
        others = tuple(place for place, name in enumerate(factors) if name not in source.factors)
        inner = [one for one in effects if one < source.factors]
        mean = values.mean(axis=others, keepdims=True)
        own = mean - sum(effects[one] for one in inner)
        effects[source.factors] = own if np.abs(own).max() > least else np.zeros_like(own)
        cells = math.prod(sizes[name] for name in source.factors)
        free[source.factors] = cells - sum(free[one] for one in inner)
        total = values.size / cells * np.square(effects[source.factors]).sum()
        squares.append(total / free[source.factors])
    expectation = [
        [
            values.size / math.prod(sizes[name] for name in of.factors)
            if source.factors <= of.factors
            else 0.0
            for of in sources
        ]
        for source in sources
    ]
    df = np.array([free[source.factors] for source in sources])
    return MeanSquares(np.array(squares), df, np.array(expectation))


def relative_limits(
    ratio: Floats, df: tuple[float, float], topics: int, planned: Integers, level: float
) -> tuple[Floats, Floats]:
    """Return the exact limits of Eρ² of systems × topics under normal effects (Feldt 1965).

    Over its expectation ``1 + nσ_s²/σ_e²``, the ratio of the mean squares of systems and residual has
    an F distribution. That Eρ² grows with σ_s²/σ_e² makes its limits those of any number of topics.

    Parameters
    ----------
    ratio
        The mean square of systems over that of the residual.
    df
        The degrees of freedom of both.
    topics, planned
        Number of topics that the mean squares are from, and numbers that Eρ² is for; arrays broadcast.
    level
        Confidence level.
    """
    from scipy.special import fdtri

    lower, upper = tail_probabilities(level)
    limits = []
    for tail in (upper, lower):  # the larger quantile makes the lower limit
        signal = np.maximum(ratio / fdtri(*df, tail) - 1.0, 0.0) / topics
        limits.append(1.0 - 1.0 / (1.0 + planned * signal))
    return limits[0], limits[1]


def absolute_limits(
    found: MeanSquares, systems: int, topics: int, planned: Integers, level: float
) -> tuple[Floats, Floats]:
    """Return approximate limits of Φ of systems × topics under normal effects.

    Those of Arteaga, Jeyaratnam & Franklin (1982), which Urbano et al. (2013) take: three mean squares
    have no exact interval.

    Parameters
    ----------
    found
        Mean squares of systems, topics and residual.
    systems, topics, planned
        Numbers that the mean squares are from, and numbers of topics that Φ is for.
    level
        Confidence level.
    """
    from scipy.special import chdtri, fdtri

    (of_systems, of_topics, rest), (free, free_topics, free_rest) = found.squares, found.df
    lower, upper = tail_probabilities(level)
    limits = []
    for tail in (upper, lower):
        many = chdtri(free, 1.0 - tail) / free  # F with infinite degrees of freedom
        own = fdtri(free, free_rest, tail)
        signal = of_systems**2 - many * of_systems * rest + (many - own) * own * rest**2
        noise = (systems - 1.0) * many * of_systems * rest
        noise += fdtri(free, free_topics, tail) * of_systems * of_topics
        ratio = np.maximum(systems / topics * np.divide(signal, noise), 0.0)
        limits.append(1.0 - 1.0 / (1.0 + planned * ratio))
    return limits[0], limits[1]


def reliability(
    components: Floats,
    sources: Sequence[VarianceSource],
    numbers: Mapping[str, Integers],
    *,
    relative: bool,
) -> Floats:
    """Return Eρ² (relative) or Φ for numbers of each factor: draws × the numbers' shape."""
    shape = np.broadcast_shapes(*(number.shape for number in numbers.values()))
    error: Floats = np.zeros((len(components), *shape))
    for place, source in enumerate(sources):
        if source.relative if relative else source.absolute:
            divisor = math.prod((numbers[name] for name in source.divided), start=np.ones(shape))
            error += components[:, place].reshape(-1, *(1,) * len(shape)) / divisor
    systems = components[:, 0].reshape(-1, *(1,) * len(shape))
    with np.errstate(invalid="ignore"):
        coefficient: Floats = systems / (systems + error)
    return coefficient


def two_factor_limits(
    found: MeanSquares, shape: tuple[int, ...], planned: tuple[int, ...], level: float
) -> dict[str, Floats]:
    """Return the limits of Eρ² and Φ of systems × topics: numbers of topics × 1."""
    (squares, _, residual), (free, _, rest) = found.squares, found.df
    systems, topics = shape
    numbers = np.array(planned)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(squares, residual)
        low, high = relative_limits(ratio, (free, rest), topics, numbers, level)
        absolute = absolute_limits(found, systems, topics, numbers, level)
    limits = {"relative_low": low, "relative_high": high}
    return limits | dict(zip(("absolute_low", "absolute_high"), absolute, strict=True))
