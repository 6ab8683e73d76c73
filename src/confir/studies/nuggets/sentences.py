"""A sentence on what the choice of nuggets contributes to the variance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.number_text import share_text
from confir.studies.nuggets.nugget_variance import NuggetVariance


def nugget_note(found: NuggetVariance, runs: Sequence[str], measures: Sequence[str]) -> str:
    """Return how much of the variance over topics is due to the choice of nuggets, in one sentence."""
    places = [found.runs.index(run) for run in runs if run in found.runs]
    parts = []
    for measure in (name for name in measures if name in found.measures):
        shares = found.share[places, found.measures.index(measure)]
        shares = shares[~np.isnan(shares)]
        if len(shares):
            low, high = share_text(float(shares.min())), share_text(float(shares.max()))
            parts.append(f"{low if low == high else f'{low} to {high}'} of {measure}")
    if not parts:
        return ""
    several = " by run" if len(places) > 1 else ""
    return f"share of the variance over topics that comes from the choice of nuggets{several}: {', '.join(parts)}"
