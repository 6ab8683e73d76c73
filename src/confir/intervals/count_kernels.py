"""Numbers of replicates below a bound, counted as they come, in compiled code.

The kernels do what `confir.resampling.topic_bootstrap` and `confir.intervals.probe` do with whole arrays of
replicates, for means of scores that are all there. Where numba is not installed those do the work.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.compilation import Compile, compile_with_numba

# Read as integers, doubles keep their order once the bits of negative ones are turned over. The
# compiler finds the least of several integers at once, but of doubles only one after the other.
_BITS = np.int64(2**63 - 1)
_INFINITY = np.int64(0x7FF0000000000000)


class Tally(NamedTuple):
    """Where bounds lie among the replicates of each column.

    Bounds come in pairs, the lower one first: two pairs for the replicates; then, where these are
    studentised, a pair for the signed squares ``T|T|/(n-1)``.

    Attributes
    ----------
    varying
        Replicates that vary, and have a T (C).
    below
        Replicates below each bound: bounds × C.
    nearest_below, nearest_from
        The last one below and the first that is not; infinite where there is none: bounds × C.
    """

    varying: Integers
    below: Integers
    nearest_below: Floats
    nearest_from: Floats

    @classmethod
    def empty(cls, bounds: int, columns: int) -> Tally:
        """Return arrays to be filled."""
        shape = (bounds, columns)
        below = np.empty(shape, np.int64)
        return cls(np.zeros(columns, np.int64), below, np.empty(shape), np.empty(shape))

    def of(self, columns: slice) -> Tally:
        """Return the part of some columns, which shares memory with the whole."""
        return Tally(
            self.varying[columns],
            self.below[:, columns],
            self.nearest_below[:, columns],
            self.nearest_from[:, columns],
        )


class CountKernels(NamedTuple):
    """Compiled functions for the replicates of one sample.

    Attributes
    ----------
    share_draws
        Draws (replicates × draws), the place of each of the things drawn from → the share of the
        draws that fell on each place: replicates × places.
    count_below
        Means of deviations and, for T, of their squares below (columns × replicates each), the
        columns' means, bounds × columns, the share of a square that is rounding → the arrays of a
        tally.
    """

    share_draws: Callable[[Integers, Integers, Floats], None]
    count_below: Callable[..., None]


def _share_draws_loop(drawn: Integers, places: Integers, shares: Floats) -> None:
    size = drawn.shape[1]
    for b in range(len(drawn)):
        row = shares[b]
        row[:] = 0.0
        for i in range(size):
            row[places[drawn[b, i]]] += 1.0
        for place in range(len(row)):
            row[place] /= size


def _count_below_loop(
    moments: Floats,
    mean: Floats,
    bounds: Floats,
    rounding: float,
    varying: Integers,
    below: Integers,
    nearest_below: Floats,
    nearest_from: Floats,
) -> None:
    columns, size = len(mean), moments.shape[1]
    replicates, squares = np.empty(size), np.empty(size)
    bits = np.empty(2, np.int64)
    nearest = bits.view(np.float64)
    for c in range(columns):
        centre, first = mean[c], moments[c]
        for b in range(size):
            replicates[b] = centre + first[b]
        if len(bounds) > 4:
            second = moments[columns + c]
            number = 0
            for b in range(size):
                deviation = replicates[b] - centre
                square = first[b] * first[b]
                variance = second[b] - square
                varies = variance > rounding * square
                number += varies
                ratio = deviation * abs(deviation) / variance
                squares[b] = ratio if varies else np.inf
            varying[c] = number
        for r in range(len(bounds)):
            bound = bounds[r, c]
            if r % 2 == 1 and not nearest_from[r - 1, c] < bound:  # nothing lies between the two
                below[r, c] = below[r - 1, c]
                nearest_below[r, c] = nearest_below[r - 1, c]
                nearest_from[r, c] = nearest_from[r - 1, c]
                continue
            values = replicates if r < 4 else squares
            words = values.view(np.int64)
            count, highest, lowest = 0, ~_INFINITY, _INFINITY
            for b in range(size):
                word = words[b] ^ ((words[b] >> 63) & _BITS)
                is_below = values[b] < bound
                count += is_below
                highest = max(highest, word if is_below else ~_INFINITY)
                lowest = min(lowest, _INFINITY if is_below else word)
            bits[0] = highest ^ ((highest >> 63) & _BITS)
            bits[1] = lowest ^ ((lowest >> 63) & _BITS)
            below[r, c] = count
            nearest_below[r, c] = nearest[0]
            nearest_from[r, c] = nearest[1]


@cache
def compile_kernels() -> CountKernels | None:
    """Return the compiled kernels, or None where numba is not installed or switched off."""
    return compile_with_numba(_build)


def _build(numba: Any, compiled: Compile) -> CountKernels:
    number, real = numba.int64, numba.float64
    return CountKernels(
        compiled(_share_draws_loop, number[:, ::1], number[::1], real[:, ::1]),
        compiled(
            _count_below_loop,
            real[:, ::1],
            real[::1],
            real[:, :],
            real,
            number[::1],
            number[:, :],
            real[:, :],
            real[:, :],
        ),
    )
