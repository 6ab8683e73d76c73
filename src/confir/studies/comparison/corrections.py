"""Corrections of p-values where many differences are tested."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Floats


def adjust_p_values(p: Floats, correction: str) -> Floats:
    """Return p-values adjusted for the tests in the same column.

    Parameters
    ----------
    p
        p-values, tests × columns; NaN where there was no test, which then does not count.
    correction
        A name in CORRECTIONS.
    """
    adjust = find_correction(correction)
    adjusted = np.full(p.shape, np.nan)
    for column in range(p.shape[1]):
        tested = np.flatnonzero(~np.isnan(p[:, column]))
        order = tested[np.argsort(p[tested, column], kind="stable")]
        adjusted[order, column] = np.minimum(adjust(p[order, column]), 1.0)
    return adjusted


def find_correction(name: str) -> Callable[[Floats], Floats]:
    """Return the correction of a name; an unknown one raises, with the nearest names."""
    return CORRECTIONS[as_choice("correction", name, CORRECTIONS)]


def _uncorrected(ascending: Floats) -> Floats:
    return ascending


def _bonferroni(ascending: Floats) -> Floats:
    """Each p times the number of tests."""
    return len(ascending) * ascending


def _holm(ascending: Floats) -> Floats:
    """Each p times the number of tests that are not smaller, never below an earlier one."""
    return np.maximum.accumulate(np.arange(len(ascending), 0, -1) * ascending)


def _benjamini_hochberg(ascending: Floats) -> Floats:
    """Each p times the number of tests over its rank, never above a later one."""
    tests = len(ascending)
    scaled = ascending * tests / np.arange(1, tests + 1)
    smallest: Floats = np.minimum.accumulate(scaled[::-1])[::-1]
    return smallest


# From p-values in ascending order to adjusted ones. The first two keep the probability of any false
# difference below 1 - level, the third the expected share of false ones among those found.
CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": _holm,
    "bonferroni": _bonferroni,
    "benjamini-hochberg": _benjamini_hochberg,
    "none": _uncorrected,
}

CORRECTION_NAMES = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "benjamini-hochberg": "Benjamini and Hochberg's correction",
}
