"""What results about pairs of runs share: the pairs of one table of scores, and a choice of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from confir.arrays import Integers
from confir.data.result import Result
from confir.data.scores import Scores
from confir.measures.score_summary import ScoreSummary


class PairResult(Result):
    """A result on pairs of runs, each run against its baseline.

    Attributes
    ----------
    scores
        The scores of the runs.
    first, second
        Numbers of the two runs of each pair: baseline and run.
    """

    __slots__ = ()

    scores: Scores | ScoreSummary
    first: Integers
    second: Integers

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"pair": ("against", "run")}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Baseline and run of each pair."""
        runs = self.scores.runs
        places = zip(self.first.tolist(), self.second.tolist(), strict=True)
        return [(runs[first], runs[second]) for first, second in places]

    def axes(self) -> dict[str, Sequence[Any]]:
        """Return the labels along each axis; a pair is labelled by its baseline and its run."""
        return {**Result.axes(self), "pair": self.pairs, "measure": self.scores.measures}

    def select(self, **labels: Any) -> Self:
        """Return the result for some measures and pairs; ``run`` is the second run of a pair.

        Records of all pairs name the better run first, whichever that is by the measure.

        The scores are those of the runs that are left. Numbers do not change: p-values stay
        adjusted for all pairs that were compared.
        """
        chosen = Result.select(self, **labels)
        used = np.union1d(chosen.first, chosen.second)
        names = [self.scores.runs[place] for place in used.tolist()]
        changes: dict[str, Any] = {
            "scores": chosen.scores.select(run=names),
            "first": np.searchsorted(used, chosen.first),
            "second": np.searchsorted(used, chosen.second),
        }
        return replace(chosen, **changes)
