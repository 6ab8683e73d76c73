"""The five verdicts on a difference, and how they read for either run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from confir.studies.comparison.comparison import Comparison

BETTER, WORSE, EQUIVALENT = "better", "worse", "equivalent"
IDENTICAL, INCONCLUSIVE = "identical", "inconclusive"
VERDICTS = (BETTER, WORSE, EQUIVALENT, IDENTICAL, INCONCLUSIVE)

# The verdicts on significant differences, and how they read from the other run's side.
OPPOSITE = {BETTER: WORSE, WORSE: BETTER}

# Beside the verdicts of a comparison: the two runs share fewer than two topics.
NOT_COMPARED = "not compared"

Words = np.ndarray[tuple[Any, ...], np.dtype[np.str_]]


def verdicts_against(comparison: Comparison, run: int) -> dict[int, str]:
    """Return the verdict on each other run against one, from that one's side.

    ``better`` says that the one run is better than the other.
    """
    verdict: dict[int, str] = {}
    words = pair_verdicts(comparison)
    for pair in np.flatnonzero((comparison.first == run) | (comparison.second == run)).tolist():
        first, second = int(comparison.first[pair]), int(comparison.second[pair])
        if second == run:
            verdict[first] = words[pair]
        else:
            verdict[second] = OPPOSITE.get(words[pair], words[pair])
    return verdict


def pair_verdicts(comparison: Comparison) -> list[str]:
    """Return the verdict on each pair; pairs that share too few topics are not compared."""
    compared = comparison.topics[:, 0] >= 2
    words: list[str] = np.where(compared, comparison.verdict[0, :, 0], NOT_COMPARED).tolist()
    return words
