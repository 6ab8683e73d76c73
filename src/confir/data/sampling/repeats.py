"""Which runs are repeats of one system? Those named ``system@1``, ``system@2``, …"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.data.scores import Scores
from confir.errors import InvalidValueError, enumerate_names

_REPEAT = re.compile(r"(.+)@([^@]+)")


class Repeats(NamedTuple):
    """The repeats of each system.

    Attributes
    ----------
    systems
        Names of the systems, in the order of their first repeat.
    places
        Numbers of each system's runs.
    """

    systems: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]

    def mean(self, scores: Scores) -> Scores:
        """Return the mean over each system's repeats; NaN where one of them has no score."""
        parts = [scores.values[:, list(own)].mean(axis=1) for own in self.places]
        values = np.stack(parts, axis=1)
        return Scores(
            scores.topics,
            self.systems,
            scores.measures,
            values,
            bounded=scores.bounded,
            inside=scores.inside,
            design=scores.design,
        )

    def cube(self, scores: Scores, measure: int) -> Floats:
        """Return the scores by one measure, systems × repeats × topics; raise where they differ."""
        counts = {len(own) for own in self.places}
        if len(counts) > 1:
            fewest = min(self.places, key=len)
            raise InvalidValueError(
                f"systems have {min(counts)} to {max(counts)} repeats (the fewest: "
                f"{self.systems[self.places.index(fewest)]!r}); expected as many of each"
            )
        return scores.values[:, np.array(self.places), measure].transpose(1, 2, 0)


def find_repeats(scores: Scores) -> Repeats:
    """Return which runs are repeats of one system; raise where a run is none, or the only one."""
    found: dict[str, list[int]] = {}
    for place, run in enumerate(scores.runs):
        match = _REPEAT.fullmatch(run)
        if match is None:
            raise InvalidValueError(
                f"run {run!r} names no repeat; expected names such as {run}@1 and {run}@2"
            )
        found.setdefault(match[1], []).append(place)
    single = [name for name, own in found.items() if len(own) < 2]
    if single:
        raise InvalidValueError(
            f"there is one repeat of {enumerate_names(single, 3)}; expected at least 2 of each system"
        )
    return Repeats(tuple(found), tuple(map(tuple, found.values())))
