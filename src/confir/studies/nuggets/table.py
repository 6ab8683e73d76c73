"""Tables and sentences of what the choice of nuggets contributes to the variance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.number_text import number_text, share_text
from confir.report.tables import Cell, Table
from confir.studies.nuggets.nugget_variance import NuggetVariance


def nugget_table(found: NuggetVariance) -> Table:
    """Return one row per measure and run: nuggets per topic, variances, and the share."""
    rows = []
    for m, measure in enumerate(found.measures):
        for r, run in enumerate(found.runs):
            numbers = (found.nugget_variance[r, m], found.topic_variance[r, m])
            cells = [
                *(measure, run, f"{found.topics[r, m]:,}", f"{found.nuggets[r, m]:.1f}"),
                *(number_text(float(one)) for one in numbers),
                _share(float(found.share[r, m])),
            ]
            rows.append(tuple(map(Cell, cells)))
    columns = ("measure", "run", "topics", "nuggets", "by nuggets", "over topics", "share")
    note = (
        "by nuggets: variance of a topic's score over samples of its nuggets, the mean over topics that have "
        "two or more; over topics: variance of the scores; share: the former of the latter"
    )
    return Table(columns, tuple(rows), note, names=2)


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


def _share(value: float) -> str:
    return "–" if np.isnan(value) else share_text(value)
