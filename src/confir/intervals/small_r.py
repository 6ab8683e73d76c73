"""The small-R correction: uncertainty that few relevant documents do not reveal.

AP of 0 or 1 leaves the bootstrap nothing to vary. Yet there may be *silver bullets*, relevant
documents that the system would find though it found none of these R, and *lead balloons*, ones that
it would miss though it missed none ([Cormack2006] §7).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confir.arguments import as_level
from confir.arrays import Booleans, Floats, Integers
from confir.intervals.interval import Limits


class Corrected(NamedTuple):
    """Corrected limits, and where the correction applied."""

    limits: Limits
    corrected: Booleans


def largest_unseen_share(relevant: Integers, level: float) -> Floats:
    """Return the largest share of documents of a kind of which R show none: ``1 - α^{1/R}``."""
    return 1.0 - lead_balloon_limit(relevant, level)


def silver_bullet_limit(relevant: Integers, depth: Integers, level: float) -> Floats:
    """Return the upper limit of AP where none of R relevant documents was found.

    The expected AP when each of them is a silver bullet with the largest share u that their
    absence allows, at a uniform rank among the list's n:
    ``(u/n) (H_n + (R-1) u (n - H_n)/(n-1))``; 0 for an empty list, u for one document.
    """
    from scipy.special import digamma

    share = largest_unseen_share(relevant, level)
    n = np.maximum(depth, 2).astype(np.float64)
    harmonic = digamma(n + 1.0) + np.euler_gamma
    expected = share / n * (harmonic + (relevant - 1) * share * (n - harmonic) / (n - 1.0))
    limit = np.where(depth == 1, share, np.minimum(expected, 1.0))
    return np.where(depth == 0, 0.0, limit)


def lead_balloon_limit(relevant: Integers, level: float) -> Floats:
    """Return the lower limit of AP where all R relevant documents are ranked on top: ``α^{1/R}``."""
    as_level(level)
    with np.errstate(divide="ignore"):
        limit: Floats = (1.0 - level) ** (1.0 / np.asarray(relevant, np.float64))
    return limit


def correct_small_r(
    limits: Limits, estimate: Floats, relevant: Integers, depth: Integers, level: float
) -> Corrected:
    """Return the smallest intervals that contain the given ones and those of the correction.

    An AP at most the silver bullets' limit is near 0, one at least the lead balloons' is near 1; a
    short list's AP may be both. Where the given interval has no limits, those of the correction are taken.

    Parameters
    ----------
    limits, estimate
        Intervals of AP, and AP itself.
    relevant, depth
        Relevant documents of the topic, retrieved or not, and the list's length.
    level
        Confidence level.
    """
    upper = silver_bullet_limit(relevant, depth, level)
    lower = lead_balloon_limit(relevant, level)
    near_0, near_1 = estimate <= upper, estimate >= lower
    low, high = limits
    low, high = (
        np.where(near_0, np.fmin(low, 0.0), low),
        np.where(near_0, np.fmax(high, upper), high),
    )
    low, high = (
        np.where(near_1, np.fmin(low, lower), low),
        np.where(near_1, np.fmax(high, 1.0), high),
    )
    return Corrected(Limits(low, high), near_0 | near_1)
