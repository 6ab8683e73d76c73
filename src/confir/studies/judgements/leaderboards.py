"""Correlations of two leaderboards: Kendall's τ_b and the AP correlation, for many samples."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from confir.arrays import TIE, Floats, Integers

# 1, 0 and -1, in a byte each.
Signs: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.int8]]

# Signs of differences are kept for this many pairs of runs at a time.
_MOST_SIGNS = 4_000_000


def correlate_leaderboards(means: Floats, pairs: list[tuple[int, int]]) -> tuple[Floats, Floats]:
    """Return τ_b and τ_AP of the leaderboards of two judges, for every sample of topics.

    Parameters
    ----------
    means
        Means of the runs by each judge: judges × samples × runs.
    pairs
        Numbers of the two judges: the reference, and the judge whose leaderboard is read.

    Returns
    -------
    Two arrays, samples × pairs; NaN where a judge gives all runs the same mean.
    """
    _, samples, runs = means.shape
    rows = max(1, _MOST_SIGNS // max(runs * runs * len(means), 1))
    tau, tau_ap = np.empty((samples, len(pairs))), np.empty((samples, len(pairs)))
    for start in range(0, samples, rows):
        block = slice(start, start + rows)
        signs = np.stack([_signs(one[block]) for one in means])
        for place, (reference, judge) in enumerate(pairs):
            tau[block, place] = kendall_tau(signs[reference], signs[judge])
            tau_ap[block, place] = ap_correlation(signs[reference], signs[judge])
    return tau, tau_ap


def _signs(means: Floats) -> Signs:
    """Return the signs of the differences of runs, ties up to rounding: samples × runs × runs."""
    difference = means[:, :, None] - means[:, None, :]
    return (difference > TIE).astype(np.int8) - (difference < -TIE).astype(np.int8)


def kendall_tau(first: Signs, second: Signs) -> Floats:
    """Return Kendall's τ_b from the signs of differences: samples ([Kendall1945])."""
    agreeing: Integers = np.sum(first * second, axis=(1, 2), dtype=np.int64)
    untied = [np.sum(np.abs(one), axis=(1, 2), dtype=np.int64) for one in (first, second)]
    return _ratio(agreeing, np.sqrt(untied[0].astype(np.float64) * untied[1]))


def ap_correlation(reference: Signs, judge: Signs) -> Floats:
    """Return τ_AP: how far the runs above each run of the judge's leaderboard belong there.

    ``2/(N-1) Σ_i C(i)/(i-1) - 1``, C(i) the runs above place i that the reference puts above it as
    well ([Yilmaz2008] Eq. 6). Runs that the reference ties count half; places are counted from
    those strictly above, and runs tied for the first place do not count.
    """
    above = judge < 0
    count = above.sum(axis=2)
    agreeing = np.sum(np.where(above, -reference, 0), axis=2, dtype=np.int64)
    share = agreeing / np.maximum(count, 1)
    return _ratio(share.sum(axis=1), (count > 0).sum(axis=1).astype(np.float64))


def _ratio(numerator: Floats | Integers, denominator: Floats) -> Floats:
    undefined: Floats = np.full(denominator.shape, np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator > 0)
