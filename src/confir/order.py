"""Which numbers are best, and which are the same but for rounding?"""

from __future__ import annotations

import numpy as np

from confir.arrays import Booleans, Floats

# Scores in [0, 1], and what is computed from them, that are this near are equal but for rounding.
TIE = 1e-12


def best_first(values: Floats) -> list[int]:
    """Return the places of values, the highest first; NaN last."""
    places: list[int] = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable").tolist()
    return places


def is_best(values: Floats) -> Booleans:
    """Return which values are the highest, those that equal it but for rounding among them."""
    if np.isnan(values).all():
        return np.zeros(values.shape, bool)
    highest = float(np.nanmax(values))
    best: Booleans = values >= highest - TIE * max(1.0, abs(highest))
    return best
