"""Rows below each run's means: what unjudged or tied documents could make of them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from confir.number_text import limits_text, number_text, share_text
from confir.report.tables import RowBeside

# How as many numbers are written: a mean, its bounds, or an estimate with its limits.
_WRITTEN: dict[int, Callable[..., str]] = {1: number_text, 2: limits_text, 3: number_text}

# Shares have rows of their own.
_SHARES = ("judged", "missing")


def rows_beside(label: str, result: Any, names: Collection[str]) -> list[RowBeside]:
    """Return rows to show below each run's means: bounds or estimate, and the share judged.

    Parameters
    ----------
    label
        What the bounds or the estimate are called.
    result
        What `bound_ties`, `bound_unjudged` or `estimate_unjudged` returns.
    names
        What is shown of it, the shares ``judged`` and ``missing`` in rows of their own.
    """
    shown = [name for name in names if name not in _SHARES]
    rows = []
    if shown:
        rows = [RowBeside(label, result.runs, _texts(_WRITTEN[len(shown)], result, *shown))]
    for name in _SHARES:
        if name in names:
            rows.append(RowBeside(name, result.runs, _texts(share_text, result, name)))
    return rows


def _texts(write: Callable[..., str], result: Any, *names: str) -> list[list[str]]:
    """Return numbers of a result as texts, runs × measures."""
    numbers = np.stack([getattr(result, name) for name in names], axis=2).tolist()
    return [[write(*values) for values in row] for row in numbers]
