"""Interval methods: from a sampling distribution to limits, with what each needs and assumes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from confir.arrays import Integers
from confir.intervals.interval import Limits, side_of_limits
from confir.intervals.probe import Probe
from confir.resampling.distribution import Resampled, SamplingDistribution
from confir.resampling.sample import Sample

_NOT_STATED = "not stated"

# What intervals are wanted of: columns yet to be resampled, or resampled already.
Source = Sample | SamplingDistribution


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """What a method rests on when it is applied over topics, or over documents.

    Attributes
    ----------
    assumes, source, cost, fails
        What it assumes, where it comes from, what it costs, and when it fails: one line each.
    cites
        Keys in `confir.references.REFERENCES` of the works that the source names.
    """

    assumes: str = _NOT_STATED
    source: str = _NOT_STATED
    cites: tuple[str, ...] = ()
    cost: str = _NOT_STATED
    fails: str = _NOT_STATED


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """An interval method, with all that the rest of confir needs to know of it.

    Attributes
    ----------
    name
        Its name in options and results.
    compute
        From a sampling distribution and a level to limits.
    needs
        The fields of the distribution that it reads besides the estimate: with "replicates" topics or
        documents are resampled; by "se" alone limits at any level follow from a standard error.
    topics, documents
        What it rests on over each; None where it does not serve. What serves documents also serves
        topics and documents together, given the fields.
    bounded
        Whether it holds for statistics in [0, 1] only.
    any_sample
        Whether it has limits for a sample of equal scores too.
    draws
        Whether its limits are quantiles of random numbers that it draws itself.
    closed_form
        Whether a column's limits follow from its scores and moments alone, whatever the other
        columns and the seed are.
    one_sample
        Whether it needs independent, equally weighted topics: no datasets, strata, clusters or
        weights.
    logit_scale
        Whether it works on the logit scale, on which its limits are to be compared.
    level_above
        Levels must lie above this one.
    tabled_level, beyond
        The highest level of its own table, if it has one, and what its limits are above that level.
    count_side
        The side of a value from the counts of a probe alone, so that no replicate must be kept.
    """

    name: str
    compute: Callable[[SamplingDistribution, float], Limits]
    needs: tuple[str, ...]
    topics: Use | None = None
    documents: Use | None = None
    bounded: bool = False
    any_sample: bool = False
    draws: bool = False
    closed_form: bool = False
    one_sample: bool = False
    logit_scale: bool = False
    level_above: float = 0.0
    tabled_level: float = 1.0
    beyond: str = ""
    count_side: Callable[[Probe, float], Integers] | None = None

    @property
    def uses(self) -> dict[Resampled, Use]:
        """What it rests on, by what is resampled: topics, documents or both."""
        both: dict[Resampled, Use | None] = {"topics": self.topics, "documents": self.documents}
        return {over: use for over, use in both.items() if use is not None}

    @property
    def counts(self) -> bool:
        """Whether it finds the side of a value without replicates that are kept."""
        return self.closed_form or self.count_side is not None

    @property
    def summary(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    def side(self, probe: Probe, level: float) -> Integers:
        """Return on which side of the interval the probe's values lie: BELOW, INSIDE or ABOVE."""
        if self.count_side is not None:
            return self.count_side(probe, level)
        return side_of_limits(self.compute(probe.distribution, level), probe.value)
