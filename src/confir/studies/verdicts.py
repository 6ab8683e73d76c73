"""In which words is a difference judged? The five verdicts, and differences with their sign."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from confir.order import TIE

BETTER, WORSE, EQUIVALENT = "better", "worse", "equivalent"
IDENTICAL, INCONCLUSIVE = "identical", "inconclusive"
VERDICTS = (BETTER, WORSE, EQUIVALENT, IDENTICAL, INCONCLUSIVE)

# The verdicts on significant differences, and how they read from the other run's side.
OPPOSITE = {BETTER: WORSE, WORSE: BETTER}

Words = np.ndarray[tuple[Any, ...], np.dtype[np.str_]]


def signed(value: float) -> str:
    """Return a difference with its sign in four decimals; more where those would hide the sign."""
    if math.isnan(value):
        return "–"
    if abs(value) < TIE:
        return "0.0000"
    if abs(value) < 0.00005:
        return f"{value:+.0e}"
    return f"{value:+.4f}" if abs(value) < 10 else f"{value:+.1f}"
