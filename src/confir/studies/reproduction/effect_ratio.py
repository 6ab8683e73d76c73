"""How far an improvement over a baseline is reproduced: effect ratio and relative improvement."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.intervals.quantiles import t_quantile


class EffectRatio(NamedTuple):
    """Effect ratio with its limits, and ΔRI, of each column."""

    ratio: Floats
    low: Floats
    high: Floats
    delta_ri: Floats


def effect_ratio(
    advanced: Floats, baseline: Floats, new_advanced: Floats, new_baseline: Floats, level: float
) -> EffectRatio:
    """Return ER = mean(B' - A')/mean(B - A) with Fieller's interval, and ΔRI ([Breuer2020]).

    Fieller's interval holds every ρ for which the mean of (B' - A') - ρ(B - A) does not differ from
    0 by a paired t test ([Fieller1954]). There is none unless the original improvement differs
    significantly from 0, since it would not be bounded.

    Parameters
    ----------
    advanced, baseline
        Scores of the original run B and its baseline A: topics × columns.
    new_advanced, new_baseline
        Those of their reproductions B' and A'.
    level
        Confidence level.
    """
    original, new = advanced - baseline, new_advanced - new_baseline
    topics = len(original)
    mean, new_mean = original.mean(axis=0), new.mean(axis=0)
    deviation, new_deviation = original - mean, new - new_mean
    df = max(topics - 1, 1)
    spread = t_quantile(np.array(float(df)), level) ** 2 / (df * topics)
    # ρ²·square - 2ρ·cross + new_square <= 0
    square = mean**2 - spread * (deviation**2).sum(axis=0)
    cross = mean * new_mean - spread * (deviation * new_deviation).sum(axis=0)
    new_square = new_mean**2 - spread * (new_deviation**2).sum(axis=0)
    root = np.sqrt(np.maximum(cross**2 - square * new_square, 0.0))
    bounded = (square > 0) & (topics > 1)
    relative = _ratio(mean, baseline.mean(axis=0))
    new_relative = _ratio(new_mean, new_baseline.mean(axis=0))
    return EffectRatio(
        _ratio(new_mean, mean),
        np.where(bounded, _ratio(cross - root, square), np.nan),
        np.where(bounded, _ratio(cross + root, square), np.nan),
        relative - new_relative,
    )


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return a ratio; NaN where there is none."""
    none: Floats = np.full(numerator.shape, np.nan)
    return np.divide(numerator, denominator, out=none, where=denominator != 0)
