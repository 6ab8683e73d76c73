"""Scores that one run of a pair lacks: whether failing is the same for both, and gates at the worst case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.errors import (
    MissingTopicWarning,
    collect_warnings,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.measures.missing_scores import Ranges, fill_missing, measure_ranges
from confir.number_text import p_words
from confir.pairs.families import adjust_p_values

if TYPE_CHECKING:
    from confir.pairs.comparison import Comparison

# Adjusted p-values up to this are warned of.
_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class UnequalFailure:
    """Two runs that differ significantly in how often they lack a score.

    Attributes
    ----------
    measure, more, fewer
        The measure, and the runs that lack more and fewer scores.
    only_more, only_fewer
        Topics on which this run alone lacks a score.
    p_adjusted
        Of McNemar's exact test, adjusted for all pairs that differ by Holm's method.
    """

    measure: str
    more: str
    fewer: str
    only_more: int
    only_fewer: int
    p_adjusted: float

    def sentence(self) -> str:
        """Return the difference in words."""
        return (
            f"{self.more} alone lacks {self.measure} on {counted(self.only_more, 'topic')}, {self.fewer} alone on "
            f"{self.only_fewer:,} (McNemar's exact test, adjusted {p_words(self.p_adjusted)})"
        )


def find_unequal_failures(scores: Any) -> list[UnequalFailure]:
    """Return the pairs of runs that differ significantly in which scores they lack.

    By McNemar's exact test: were failing the same for both, each topic that only one of them lacks would
    be lacked by either with the same probability. In designs whole clusters are flipped.
    """
    empty = scores.missing_cells()
    if empty is None or not empty.any():
        return []
    cluster = np.arange(len(empty)) if scores.design is None else scores.design.layout().cluster
    found = []
    for m, measure in enumerate(scores.measures):
        lacking = np.zeros((int(cluster.max()) + 1, len(scores.runs)), np.int64)
        np.add.at(lacking, cluster, empty[:, :, m])
        products = lacking.T @ lacking
        own = np.diag(products)
        first, second = np.nonzero(np.triu(own[:, None] + own != 2 * products))
        excess = lacking[:, first] - lacking[:, second]
        if not len(first):
            continue
        adjusted = adjust_p_values(_flip_p(excess)[:, None], "holm")[:, 0]
        alone = empty[:, :, m].astype(np.int64).T @ ~empty[:, :, m]
        for one, other, p in zip(first.tolist(), second.tolist(), adjusted, strict=True):
            counts = int(alone[one, other]), int(alone[other, one])
            names = scores.runs[one], scores.runs[other]
            if counts[0] < counts[1]:
                counts, names = counts[::-1], names[::-1]
            if p <= _SIGNIFICANT:
                found.append(UnequalFailure(measure, *names, *counts, float(p)))
    return found


def _flip_p(excess: Integers) -> Floats:
    """Return the share of sign flips of whole clusters with a sum as far from 0 as the observed one.

    Exact: of clusters of one topic by the binomial distribution, else counts are added one cluster at a
    time. ``excess`` is clusters × pairs.
    """
    from scipy.special import bdtr

    steps, distance = np.abs(excess), np.abs(excess.sum(axis=0))
    number = steps.sum(axis=0)
    p: Floats = np.minimum(1.0, 2.0 * bdtr((number - distance) // 2, number, 0.5))
    for pair in np.flatnonzero(steps.max(axis=0) > 1).tolist():
        total = int(number[pair])
        share = np.zeros(2 * total + 1)
        share[total] = 1.0
        for step in steps[steps[:, pair] > 0, pair].tolist():
            share = (np.roll(share, step) + np.roll(share, -step)) / 2.0
        far = np.abs(np.arange(-total, total + 1)) >= distance[pair]
        p[pair] = min(1.0, float(share[far].sum()))
    return p


def warn_of_unequal_failure(scores: Any) -> None:
    """Warn where failing is not the same for all runs; no warning is no evidence that it is."""
    found = find_unequal_failures(scores)
    if found:
        named = [one.sentence() for one in sorted(found, key=lambda one: one.p_adjusted)]
        warn_caller(
            f"failing is not the same for all runs: {enumerate_names(named, 3)}; means over the scores that "
            "are there may not be comparable: --show missing bounds them",
            MissingTopicWarning,
        )


def pairs_lacking(scores: Any, first: Integers, second: Integers, measure: int) -> Integers:
    """Return on how many topics one run of each pair lacks a score or both do; 0 where that is not known."""
    empty = scores.missing_cells()
    if empty is None:
        return np.zeros(len(first), np.int64)
    lacking: Integers = (empty[:, first, measure] | empty[:, second, measure]).sum(axis=0)
    return lacking


def compare_at_worst(comparison: Comparison, measure: str, ranges: Ranges | None) -> Comparison:
    """Return a comparison by one measure with missing scores at their worst: the baseline's at their best.

    Nobody asked about its scores: it gives no warnings.
    """
    from confir.pairs.compare import compare_runs

    own = comparison.scores.listed().select(measure=measure)
    baseline = str(comparison.baseline)
    filled = fill_missing(own, measure_ranges(own, ranges), (baseline,))
    with collect_warnings():
        return compare_runs(filled, baseline=baseline, **comparison.options)
