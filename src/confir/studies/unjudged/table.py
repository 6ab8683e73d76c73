"""Rows of means beside what unjudged or tied documents could make of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.number_text import interval_text, limits_text, number_text, share_text
from confir.report.tables import RowBeside
from confir.studies.ties.tie_bounds import TieBounds


def rows_beside(result: Any, treatment: str) -> list[RowBeside]:
    """Return rows to stand below each run's means: bounds or estimate, and the share judged.

    Parameters
    ----------
    result
        What `bound_ties`, `bound_unjudged` or `estimate_unjudged` returns.
    treatment
        What is shown of it: bounds, or an estimate.
    """
    if treatment == "bounds":
        shown = _texts(limits_text, result.lowest, result.highest)
    elif treatment == "expected":
        shown = _texts(number_text, result.expected)
    elif treatment == "resample":
        shown = _texts(interval_text, result.estimate, result.low, result.high)
    else:
        shown = _texts(number_text, result.estimate)
    if isinstance(result, TieBounds):
        return [RowBeside("ties", result.runs, shown)]
    label = "unjudged" if treatment == "bounds" else treatment
    judged = _texts(share_text, result.judged)
    return [RowBeside(label, result.runs, shown), RowBeside("judged", result.runs, judged)]


def _texts(write: Callable[..., str], *numbers: Floats) -> list[list[str]]:
    """Return numbers as texts, runs × measures."""
    return [[write(*values) for values in row] for row in np.stack(numbers, axis=2).tolist()]
