"""Arrays of numbers: short names of their types; their order, and equality up to rounding; logits."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

# As numpy.typing.NDArray spells them; importing that takes longer than all of this package.
Floats: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
Integers: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
Booleans: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]
Bytes: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.uint8]]
# Positions of documents in lists, which may be long: four bytes each.
Numbers: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.int32]]
# Retrieval scores as trec_eval 9 compares them.
SingleFloats: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.float32]]

# Scores in [0, 1] that differ by less are equal up to rounding.
TIE = 1e-12


def distinct(values: Integers) -> Integers:
    """Return the distinct values, ascending.

    `np.unique` would do, but first loads numpy's masked arrays, which takes longer.
    """
    ordered = np.sort(values)
    is_new = np.ones(len(ordered), bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    found: Integers = ordered[is_new]
    return found


def ranks_by_mean(mean: Floats) -> Integers:
    """Return ranks along the first axis, 1 the highest; equal means share the better rank, NaN is last.

    Rounding grows with the means, of which those near 0 may be of larger scores.
    """
    known, size = np.nan_to_num(mean, nan=-np.inf), np.abs(np.nan_to_num(mean))
    scale = np.maximum(size, np.minimum(1.0, size.max(axis=0, initial=0.0)))
    steps = TIE * np.maximum(scale[None], scale[:, None])
    ranks: Integers = 1 + (known[None] > known[:, None] + steps).sum(axis=1)
    return ranks


def best_first(values: Floats) -> list[int]:
    """Return the indices of values, highest first; NaN last."""
    places: list[int] = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable").tolist()
    return places


def is_best(values: Floats) -> Booleans:
    """Return which values equal the highest up to rounding."""
    if np.isnan(values).all():
        return np.zeros(values.shape, bool)
    highest = float(np.nanmax(values))
    best: Booleans = values >= highest - TIE * max(1.0, abs(highest))
    return best


def logit(value: Floats) -> Floats:
    """Return ln(x / (1 - x)); ±∞ at 0 and 1."""
    with np.errstate(divide="ignore"):
        odds = value / (1.0 - value)
        return np.log(odds)


def inverse_logit(value: Floats) -> Floats:
    """Return 1 / (1 + e^-x)."""
    with np.errstate(over="ignore"):
        probability: Floats = 1.0 / (1.0 + np.exp(-value))
    return probability
