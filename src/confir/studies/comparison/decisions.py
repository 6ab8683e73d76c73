"""One decision per difference, which every output follows: the verdict and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from confir.intervals.simultaneous import is_significant
from confir.studies.comparison.verdicts import OPPOSITE, Estimates, significant_directions


class Decision(NamedTuple):
    """What is decided on one difference, and why; or on many, in arrays that broadcast.

    Attributes
    ----------
    baseline, run
        Names of the two runs.
    verdict
        One of VERDICTS.
    difference, low, high, level
        The mean difference and the interval that the verdict rests on.
    test, direction, p, p_adjusted
        The test, what its own statistic favours (1 the run, -1 the baseline), and its p-values.
    family, pairs
        A name in FAMILIES, "none" for single tests, and the number of pairs tested by one measure,
        for which p is adjusted; identical runs are not tested.
    correction
        Of single tests: a name in CORRECTIONS, or that of a test that corrects by itself; else None.
    margin
        Margin of equivalence, or None.
    topics, constant
        Topics that both runs have, and whether all of them show the same difference.
    open
        1 where the lower limit is 0 and excluded, -1 where the upper one is, else 0.
    borderline
        Whether other replicates might change the verdict.
    resampled
        What replicates draw.
    """

    baseline: str
    run: str
    verdict: str
    difference: float
    low: float
    high: float
    level: float
    test: str
    direction: int
    p: float
    p_adjusted: float
    family: str
    pairs: int
    correction: str | None
    margin: float | None
    topics: int
    constant: bool
    open: int = 0
    borderline: bool = False
    resampled: str = "topics"

    def turned(self) -> Decision:
        """Return the same decision from the other run's side."""
        return self._replace(
            baseline=self.run,
            run=self.baseline,
            verdict=OPPOSITE.get(self.verdict, self.verdict),
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
            direction=-self.direction,
            open=-self.open,
        )

    def named(self, write: Callable[[str], str]) -> Decision:
        """Return the same decision with the names of runs as they are to be written."""
        return self._replace(baseline=write(self.baseline), run=write(self.run))

    @property
    def estimates(self) -> Estimates:
        """What significance is judged by, beside the test."""
        return Estimates(self.difference, self.low, self.high, self.constant, self.open)

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def significant(self) -> int:
        """1 or -1 where the run is significantly better or worse, also within the margin; else 0."""
        return int(
            significant_directions(self.estimates, self.direction, self.p_adjusted, self.level)
        )

    @property
    def lost_by_correction(self) -> bool:
        """Whether the pair would be significant were it the only one."""
        alone = is_significant(self.p, self.level) and self.direction * self.difference > 0
        return bool(alone) and not is_significant(self.p_adjusted, self.level)
