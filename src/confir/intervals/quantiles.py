"""Two-sided quantiles of Student's t.

Computed without scipy, whose import takes longer than scoring a run does.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from confir.arguments import as_level
from confir.arrays import Floats

# Newton's method doubles the right digits with each step: after one so small, all are right.
_LAST_STEP = 1e-9
# At t = 1, where the continued fraction converges slowest, this many terms give all digits.
_DEPTH = 200
# Gamma functions overflow soon beyond; from here on two terms of a series give their ratio.
_LARGE_DF = 300.0


def t_quantile(df: Floats, level: float) -> Floats:
    """Return the q with ``P(|T| ≤ q) = level`` for Student's t; NaN below one degree of freedom.

    Parameters
    ----------
    df
        Degrees of freedom, whole or not; infinite for the normal distribution.
    level
        The level of a two-sided interval: 0.95 gives the quantile at 0.975.
    """
    level = as_level(level)
    distinct, places = np.unique(df, return_inverse=True)
    quantiles = np.array([_t_quantile(one, level) for one in distinct.tolist()], np.float64)
    return quantiles[places].reshape(np.shape(df))


def normal_quantile(tail: float) -> float:
    """Return the z ≥ 0 with ``P(Z > z) = tail``, for a tail of at most one half.

    Newton's method, from 0 on: the probability is convex in z, so that no step leads beyond the
    solution.
    """
    z, step = 0.0, math.inf
    while step > _LAST_STEP * z:
        excess = math.erfc(z / math.sqrt(2.0)) / 2.0 - tail
        step = excess * math.sqrt(2.0 * math.pi) * math.exp(z * z / 2.0)
        z += step
    return z


@lru_cache(maxsize=4096)
def _t_quantile(df: float, level: float) -> float:
    """Solve for the quantile by Newton's method, with the density f of Student's t.

    ``P(|T| ≤ t)`` is concave in t, and the normal quantile is the smallest of all: steps from there
    lead up to the solution, and never beyond it.
    """
    if df < 1.0:
        return math.nan
    t = normal_quantile((1.0 - level) / 2.0)
    if math.isinf(df):
        return t
    if df < _LARGE_DF:
        at_zero = math.gamma((df + 1.0) / 2.0) / (math.sqrt(math.pi * df) * math.gamma(df / 2.0))
    else:
        r = 1.0 / df
        at_zero = math.exp(-r / 4.0 + r**3 / 24.0) / math.sqrt(2.0 * math.pi)
    step = math.inf
    while abs(step) > _LAST_STEP * t:
        density = at_zero * math.exp(-(df + 1.0) / 2.0 * math.log1p(t * t / df))
        if t < 1.0:
            step = level / (2.0 * density) - _share_within(t, df)
        else:
            step = _share_beyond(t, df) - (1.0 - level) / (2.0 * density)
        t += step
    return t


def _share_within(t: float, df: float) -> float:
    """Return ``P(|T| ≤ t) / 2f(t)`` by the power series of the incomplete beta function.

    ``t (1 + a/3 x + a(a+2)/(3·5) x² + …)`` with a = df + 1 and x = t²/(df + t²).
    """
    x = t * t / (df + t * t)
    total, term, k = 0.0, t, 1.0
    while total + term > total:
        total += term
        term *= (df + k) / (k + 2.0) * x
        k += 2.0
    return total


def _share_beyond(t: float, df: float) -> float:
    """Return ``P(|T| > t) / 2f(t)`` by Gauss's continued fraction of the incomplete beta function.

    ``(t/df + 1/t) / (1 + c₁/(1 + c₂/(1 + …)))`` with c_k = k(df+k-1) / ((df+2k-2)(df+2k)) · df/t².
    """
    z = df / (t * t)
    fraction = 1.0
    for k in range(_DEPTH, 0, -1):
        fraction = 1.0 + k * (df + k - 1) / (df + 2 * k - 2) / (df + 2 * k) * z / fraction
    return (t / df + 1.0 / t) / fraction
