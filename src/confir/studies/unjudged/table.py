"""Tables of means beside what unjudged documents could make of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from confir.arrays import Floats
from confir.number_text import interval_text, limits_text, number_text, share_text
from confir.report.tables import RowBeside
from confir.studies.unjudged.unjudged_bounds import UnjudgedBounds
from confir.studies.unjudged.unjudged_estimates import UnjudgedEstimate


def unjudged_rows(result: UnjudgedBounds | UnjudgedEstimate) -> list[RowBeside]:
    """Return rows to stand below each run's means: bounds or estimate, and the share judged."""
    if isinstance(result, UnjudgedBounds):
        label, shown = "unjudged", texts(limits_text, result.lowest, result.highest)
    elif result.replicates:
        label = result.treatment
        shown = texts(interval_text, result.estimate, result.low, result.high)
    else:
        label, shown = result.treatment, texts(number_text, result.estimate)
    return [
        RowBeside(label, result.runs, shown),
        RowBeside("judged", result.runs, texts(share_text, result.judged)),
    ]


def texts(write: Callable[..., str], *numbers: Floats) -> list[list[str]]:
    """Return numbers as texts, runs × measures."""
    return [[write(*values) for values in row] for row in np.stack(numbers, axis=2).tolist()]
