"""Welch's F test that a mean difference is the same in all groups of topics, by permutation.

The F of Welch (1951) allows for groups of unequal variance; its own p-value is far off for small
groups, so that the labels of the groups are permuted over the topics instead (Chung & Romano 2013).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers

# Smaller groups say too little of their variance to be tested; they are named instead.
LEAST_TESTED = 5

# Numbers held at once: permutations × groups × columns.
_NUMBERS_AT_ONCE = 4_000_000

# An F that equals the observed one up to rounding reaches it.
_ROUNDING = 1e-10


class Heterogeneity(NamedTuple):
    """The test of each column; NaN where fewer than two groups can be tested.

    Attributes
    ----------
    f, df_groups, df_error
        Welch's F and its degrees of freedom.
    p
        p-value by permutation.
    tested
        Which groups are tested: groups × columns.
    """

    f: Floats
    df_groups: Floats
    df_error: Floats
    p: Floats
    tested: Booleans


class WelchF(NamedTuple):
    """Welch's F and its degrees of freedom: arrays of one shape."""

    f: Floats
    df_groups: Floats
    df_error: Floats


def welch_f(count: Floats, mean: Floats, variance: Floats) -> WelchF:
    """Return Welch's F that means are equal (Welch 1951); groups are the first axis.

    Parameters
    ----------
    count, mean, variance
        Size, mean and variance (ddof 1) of each group; F is infinite where a variance is 0.
    """
    groups = len(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = count / variance
        total = weight.sum(axis=0)
        centre = (weight * mean).sum(axis=0) / total
        between = (weight * np.square(mean - centre)).sum(axis=0) / (groups - 1.0)
        spread = (np.square(1.0 - weight / total) / (count - 1.0)).sum(axis=0)
        f = between / (1.0 + 2.0 * (groups - 2.0) / (groups**2 - 1.0) * spread)
        df_error = (groups**2 - 1.0) / (3.0 * spread)
    f = np.where((variance > 0).all(axis=0), f, np.inf)
    return WelchF(f, np.full(f.shape, groups - 1.0), df_error)


def check_groups(values: Floats, group: Integers, replicates: int, seed: int) -> Heterogeneity:
    """Return whether the means of columns differ between groups of rows.

    Parameters
    ----------
    values
        Differences: topics × columns; NaN where missing.
    group
        Number of each topic's group.
    replicates, seed
        Number of permutations, and seed of their generator: all columns share them.
    """
    groups, columns = int(group.max()) + 1, values.shape[1]
    tested = _testable(values, group, groups)
    f, df_groups, df_error, p = np.full((4, columns), np.nan)
    found = Heterogeneity(f, df_groups, df_error, p, tested)
    for chosen, rows in _alike(values, group, tested):
        kept = np.flatnonzero(tested[:, chosen[0]])
        own = values[np.ix_(rows, chosen)]
        own = own - own.mean(axis=0)
        member = np.searchsorted(kept, group[rows])
        sizes = np.bincount(member)[:, None].astype(np.float64)
        observed = _f_of(np.equal.outer(np.arange(len(kept)), member)[None], sizes, own)
        reached = np.zeros(len(chosen))
        generator = np.random.default_rng(seed)
        for size in _sizes(replicates, len(kept) * max(len(chosen), len(rows))):
            permuted = generator.permuted(np.broadcast_to(member, (size, len(member))), axis=1)
            drawn = permuted[:, None, :] == np.arange(len(kept))[:, None]
            f = _f_of(drawn, sizes, own).f
            reached += (f >= observed.f * (1.0 - _ROUNDING)).sum(axis=0)
        for field, number in zip(found[:3], observed, strict=True):
            field[chosen] = number[0]
        found.p[chosen] = (1.0 + reached) / (replicates + 1.0)
    return found


def _testable(values: Floats, group: Integers, groups: int) -> Booleans:
    """Return which groups have enough topics, whose differences vary: groups × columns."""
    found = np.zeros((groups, values.shape[1]), np.bool_)
    for number in range(groups):
        own = values[group == number]
        there = ~np.isnan(own)
        least = np.where(there, own, np.inf).min(axis=0, initial=np.inf)
        most = np.where(there, own, -np.inf).max(axis=0, initial=-np.inf)
        size = np.maximum(np.abs(least), np.abs(most))
        varies = most - least > _ROUNDING * np.where(np.isfinite(size), size, 1.0)
        found[number] = (there.sum(axis=0) >= LEAST_TESTED) & varies
    found[:, found.sum(axis=0) < 2] = False
    return found


def _alike(
    values: Floats, group: Integers, tested: Booleans
) -> Iterator[tuple[Integers, Integers]]:
    """Yield columns that are tested on the same topics, and these."""
    used = ~np.isnan(values) & tested[group]
    patterns, member = np.unique(np.packbits(used, axis=0), axis=1, return_inverse=True)
    for number in range(patterns.shape[1]):
        chosen = np.flatnonzero(member.reshape(-1) == number)
        rows = np.flatnonzero(used[:, chosen[0]])
        if len(rows):
            yield chosen, rows


def _f_of(drawn: Booleans, sizes: Floats, values: Floats) -> WelchF:
    """Return F of each grouping (groupings × groups × topics): groupings × columns."""
    inside = drawn.astype(np.float64)
    mean = np.moveaxis(inside @ values, 0, 1) / sizes[:, None]
    square = np.moveaxis(inside @ np.square(values), 0, 1) / sizes[:, None]
    variance = square - np.square(mean)
    variance[variance <= _ROUNDING * square] = 0.0
    size = sizes[:, None]
    return welch_f(size, mean, variance * size / (size - 1.0))


def _sizes(replicates: int, numbers: int) -> list[int]:
    """Return numbers of permutations that fit into memory together."""
    most = max(1, _NUMBERS_AT_ONCE // max(numbers, 1))
    return [min(most, replicates - start) for start in range(0, replicates, most)]
