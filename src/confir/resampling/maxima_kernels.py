"""The largest t* of many pairs of runs, in compiled code that keeps no t*.

The kernels do what `confir.resampling.pair_draws` does with arrays, in one pass over the mean
squares of the differences. Where numba is not installed, the arrays do the work.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.compilation import Compile, compile_with_numba

# From this many replicates of all pairs on, loading compiled code pays off.
_WORTH_COMPILING = 25_000_000


class MaximaKernels(NamedTuple):
    """What is computed for the pairs of one run with others.

    Both take the mean squares of the differences (others × replicates), the means of all runs
    (runs × replicates), the number of the run, those of the others, and what is added to the
    variances of the family of all pairs, above 0.

    Attributes
    ----------
    raise_maxima
        Also takes what is added to the variances of the pairs of one run. Raises the largest signed
        squares of the run and of the others, above and below, runs × replicates each, and the
        largest square of each replicate.
    raise_largest
        Raises the largest square of each replicate.
    """

    raise_maxima: Callable[
        [Floats, Floats, int, Integers, float, float, Floats, Floats, Floats], None
    ]
    raise_largest: Callable[[Floats, Floats, int, Integers, float, Floats], None]


def _raise_maxima_loop(
    squares: Floats,
    means: Floats,
    run: int,
    others: Integers,
    added: float,
    added_to_one: float,
    above: Floats,
    below: Floats,
    largest: Floats,
) -> None:
    own, own_above, own_below = means[run], above[run], below[run]
    for place in range(len(others)):
        other = others[place]
        square, mean = squares[place], means[other]
        other_above, other_below = above[other], below[other]
        for b in range(len(own)):
            deviation = mean[b] - own[b]
            mean_square = deviation * deviation
            variance = square[b] - mean_square
            largest[b] = max(largest[b], mean_square / (variance + added))
            t = np.copysign(mean_square / (variance + added_to_one), deviation)
            turned = -t
            own_above[b] = max(own_above[b], t)
            own_below[b] = max(own_below[b], turned)
            other_above[b] = max(other_above[b], turned)
            other_below[b] = max(other_below[b], t)


def _raise_largest_loop(
    squares: Floats, means: Floats, run: int, others: Integers, added: float, largest: Floats
) -> None:
    own = means[run]
    for place in range(len(others)):
        square, mean = squares[place], means[others[place]]
        for b in range(len(own)):
            deviation = mean[b] - own[b]
            mean_square = deviation * deviation
            variance = square[b] - mean_square
            largest[b] = max(largest[b], mean_square / (variance + added))


@cache
def compile_kernels() -> MaximaKernels | None:
    """Return the compiled kernels, or None if numba is missing or disabled."""
    return compile_with_numba(_build)


def can_compile(cells: int) -> bool:
    """Whether there are kernels, and enough replicates of pairs for them to pay off."""
    loaded = compile_kernels.cache_info().currsize > 0
    return (loaded or cells >= _WORTH_COMPILING) and compile_kernels() is not None


def _build(numba: Any, compiled: Compile) -> MaximaKernels:
    number, real = numba.int64, numba.float64
    table = real[:, ::1]
    taken = table, table, number, number[::1], real
    return MaximaKernels(
        compiled(_raise_maxima_loop, *taken, real, table, table, real[::1]),
        compiled(_raise_largest_loop, *taken, real[::1]),
    )
