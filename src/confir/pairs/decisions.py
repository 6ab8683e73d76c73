"""The verdicts on all differences, from p-values and limits: which are significant, and in which direction.

Where all topics show the same difference, a single pair has neither a t nor an interval: the exact
sign-flip test decides in their place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.errors import (
    DegenerateSampleWarning,
    SmallSampleWarning,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.pairs.differences import LEAST_TOPICS, MeanDifferences, Pairs, complete_topics
from confir.pairs.families import Adjustment, Correction, Families
from confir.pairs.paired_tests import (
    MOST_EXACT_TOPICS,
    Outcome,
    PairedTest,
    equivalence_p_values,
    same_sign_p,
)
from confir.pairs.simultaneous import borderline_decisions, is_significant, positive
from confir.resampling.sample import FEW_CLUSTERS, Sample, names

BETTER, WORSE, EQUIVALENT = "better", "worse", "equivalent"
IDENTICAL, INCONCLUSIVE = "identical", "inconclusive"
VERDICTS = (BETTER, WORSE, EQUIVALENT, IDENTICAL, INCONCLUSIVE)

# The verdicts on significant differences, and how they read from the other run's side.
OPPOSITE = {BETTER: WORSE, WORSE: BETTER}

# Beside the verdicts of a comparison: the two runs share fewer than two topics.
NOT_COMPARED = "not compared"

Words = np.ndarray[tuple[Any, ...], np.dtype[np.str_]]


class Estimates(NamedTuple):
    """Mean differences, their limits, and whether all topics show the same: arrays or numbers.

    Attributes
    ----------
    open
        1 where the lower limit is excluded from the interval, -1 where the upper one is, else 0.
    """

    difference: Any
    low: Any
    high: Any
    constant: Any
    open: Any = 0


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
        Whether another seed might change the verdict.
    resampled, unit
        What replicates draw; what an independent unit is, such as "topic" or "vote".
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
    unit: str = "topic"

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
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def significant(self) -> int:
        """1 or -1 where the run is significantly better or worse, also within the margin; else 0."""
        return int(significant_directions(self, self.direction, self.p_adjusted, self.level))

    @property
    def lost_by_correction(self) -> bool:
        """Whether the pair would be significant were it the only one."""
        alone = is_significant(self.p, self.level) and self.direction * self.difference > 0
        return bool(alone) and not is_significant(self.p_adjusted, self.level)


class Decisions(NamedTuple):
    """The decisions on all differences: arrays are tests × pairs × measures unless stated.

    Attributes
    ----------
    p, p_error, p_adjusted
        p-values, their Monte-Carlo errors, and those adjusted for the pairs of the measure.
    direction
        What the test's own statistic favours: 1 the run, -1 the baseline, 0 neither.
    verdict
        One of VERDICTS.
    p_equivalence, p_equivalence_adjusted
        Of two one-sided tests against the margin, pairs × measures; None without a margin.
    borderline
        Whether another seed might change the verdict.
    """

    p: Floats
    p_error: Floats
    p_adjusted: Floats
    direction: Integers
    verdict: Words
    p_equivalence: Floats | None
    p_equivalence_adjusted: Floats | None
    borderline: Booleans


def decide(
    tests: list[tuple[PairedTest, Outcome]],
    means: MeanDifferences,
    estimates: Estimates,
    adjustment: Adjustment,
    *,
    margin: float | None,
    level: float,
) -> Decisions:
    """Return the decisions on all pairs and measures by each test.

    A difference is significant where its adjusted p-value is at most 1 - level, its interval
    excludes 0, and the test favours the run with the higher mean. Equivalence takes precedence.

    Parameters
    ----------
    tests
        Tests with their outcomes.
    means, estimates
        The mean differences, and these with the limits that verdicts rest on.
    adjustment, margin, level
        What adjusts p-values; the margin of equivalence, if any; and the level.
    """
    # of the sign-flip test where all topics show the same difference
    flipped = np.where(means.identical, 1.0, same_sign_p(means.units))
    own = [
        found.p if test.corrected else np.where(means.constant, flipped, found.p)
        for test, found in tests
    ]
    p: Floats = positive(np.stack(own))
    direction = np.stack(
        [np.where(means.constant, means.sign, found.direction) for _, found in tests]
    )
    errors = np.stack(
        [np.zeros_like(p[0]) if found.p_error is None else found.p_error for _, found in tests]
    )
    alone = [(test, *each) for (test, _), *each in zip(tests, p, errors, strict=True)]
    adjusted = np.stack([_adjust_p(test, own_p, means, adjustment) for test, own_p, _ in alone])
    p, adjusted = settled_p(p, level), settled_p(adjusted, level)
    equivalence = equivalence_adjusted = None
    if margin is not None:
        ends = [means.beyond(bound).flips for bound in (-margin, margin)]
        within = means._replace(
            difference=margin - np.abs(means.difference),
            self_normalised=np.zeros(means.se.shape),
            flips=np.maximum(*ends),
        )
        equivalence = equivalence_p_values(means, margin)
        if isinstance(adjustment, Families) and adjustment.by_flips:
            equivalence = np.where(within.difference > means.step, within.flips, 1.0)
        equivalence_adjusted = adjustment.adjust(equivalence, within, sides=1)
        equivalence, equivalence_adjusted = (
            settled_p(one, level) for one in (equivalence, equivalence_adjusted)
        )
    verdict = give_verdicts(
        estimates, direction, adjusted, level, means.identical, equivalence_adjusted
    )
    unclear = find_borderline(alone, means, adjustment, verdict, level)
    return Decisions(
        p, errors, adjusted, direction, verdict, equivalence, equivalence_adjusted, unclear
    )


def settled_p(p: Floats, level: float) -> Floats:
    """Return p-values, of which those that equal 1 - level up to rounding are 1 - level."""
    return np.where(is_significant(p, level), np.minimum(p, 1.0 - level), p)


def find_borderline(
    tests: Sequence[tuple[PairedTest, Floats, Floats | None]],
    means: MeanDifferences,
    adjustment: Adjustment,
    verdict: Words,
    level: float,
) -> Booleans:
    """Return which verdicts another seed might change: tests × pairs × measures.

    Parameters
    ----------
    tests
        Tests with their p-values, and the Monte-Carlo errors of these.
    """
    found = [
        borderline_decisions(partial(_adjust_p, test, p, means, adjustment, p_error), level)
        for test, p, p_error in tests
    ]
    settled = (verdict == IDENTICAL) | (verdict == EQUIVALENT)
    unclear: Booleans = np.stack(found) & ~settled
    return unclear


def _adjust_p(
    test: PairedTest,
    p: Floats,
    means: MeanDifferences,
    adjustment: Adjustment,
    p_error: Floats | None = None,
    errors: float = 0.0,
) -> Floats:
    """Return p-values adjusted for the pairs tested, moved by some Monte-Carlo errors.

    Identical runs are not tested. A test that accounts for all pairs adjusts by itself.
    """
    by = Correction(None) if test.corrected else adjustment
    tested = np.where(means.identical, np.nan, p)
    return np.where(means.identical, p, by.adjust(tested, means, errors=errors, p_error=p_error))


def give_verdicts(
    estimates: Estimates,
    direction: Integers,
    p_adjusted: Floats,
    level: float,
    identical: Booleans,
    p_equivalence: Floats | None,
) -> Words:
    """Return the verdicts at a level, equivalence before all others: tests × pairs × measures."""
    verdict = judge_differences(estimates, direction, p_adjusted, level)
    verdict[:, identical] = IDENTICAL
    if p_equivalence is not None:
        verdict[:, is_significant(p_equivalence, level)] = EQUIVALENT
    return verdict


def judge_differences(
    estimates: Estimates, direction: Any, p_adjusted: Floats, level: float
) -> Words:
    """Return better and worse where a difference is significant, and inconclusive elsewhere."""
    words = np.array([INCONCLUSIVE, BETTER, WORSE])
    verdict: Words = words[significant_directions(estimates, direction, p_adjusted, level)]
    return verdict


def significant_directions(
    estimates: Estimates | Decision, direction: Any, p_adjusted: Any, level: float
) -> Any:
    """Return 1 or -1 where test, mean and interval agree that the run is better or worse, else 0."""
    above = (estimates.low > 0) | ((estimates.low == 0) & np.equal(estimates.open, 1))
    below = (estimates.high < 0) | ((estimates.high == 0) & np.equal(estimates.open, -1))
    by_limits = np.where(above, 1, 0) - np.where(below, 1, 0)
    unlimited = np.isnan(estimates.low) | np.isnan(estimates.high)
    found = np.where(estimates.constant & unlimited, direction, by_limits)
    agrees = (found == direction) & (np.sign(estimates.difference) == direction)
    return np.where(agrees & is_significant(p_adjusted, level), found, 0).astype(np.int64)


CLUSTER_TEST = "randomisation"


def warn_of_few_clusters(
    sample: Sample, level: float, *, comparisons: int, sides: int = 2, by_t: bool = False
) -> None:
    """Warn of few clusters, with how many could decide if these can't; and of clusters of uneven weight.

    Parameters
    ----------
    sample, level
        The sample, and the confidence level of decisions.
    comparisons, sides
        How many comparisons make a family; 2 for pairs, 1 for runs that others may be better than.
    by_t
        Whether t was asked for in place of sign flips.
    """
    scheme = sample.scheme
    few = scheme.flips or 0 < scheme.clusters < min(FEW_CLUSTERS, sample.topics)
    if not few and not scheme.uneven:
        return
    text = f"there are {counted(scheme.clusters, 'cluster')}"
    if not few:
        text += ", a few of which have much of the weight: t tests may be too optimistic"
    elif not scheme.flips or by_t:
        text += ", too few for t tests"
    else:
        text += ", too few for t: decisions flip the signs of whole clusters"
        many = sides * max(comparisons, 1)
        if many > (1.0 - level) * 2.0**scheme.clusters * (1.0 + TIE):
            needed = min(FEW_CLUSTERS, math.ceil(math.log2(many / (1.0 - level)) - TIE))
            nothing = (
                "no difference can be significant"
                if sides == 2
                else "no run can be ruled out as the best"
            )
            text += f", by which {nothing} at level {level:g}; expected at least {needed} clusters"
    if (by_t and scheme.flips) or not few:
        text += f"; expected the test {CLUSTER_TEST}, or more clusters"
    warn_caller(text, SmallSampleWarning)


def check_topics(pairs: Pairs, means: MeanDifferences) -> None:
    """Raise where no pair can be compared; warn where some are compared on fewer topics."""
    if (means.topics < LEAST_TOPICS).all():
        raise TopicMismatchError(
            "no two runs have 2 topics in common; expected runs that share them"
        )
    fewer = np.flatnonzero((means.topics < pairs.sample.topics).any(axis=1)).tolist()
    if fewer:
        named = [_pair_text(pairs, pair) for pair in fewer]
        warn_caller(
            f"{enumerate_names(named, 3)} do not both have all {pairs.sample.topics} topics; a pair "
            "is compared on the topics that it shares",
            TopicWarning,
        )


def _pair_text(pairs: Pairs, pair: int) -> str:
    runs = names(pairs.sample)[0]
    return f"{runs[pairs.first[pair]]} and {runs[pairs.second[pair]]}"


def warn_of_samples(pairs: Pairs, means: MeanDifferences, *, in_family: bool) -> None:
    """Warn of pairs with the same difference on every topic, which have no interval.

    In a family in which other pairs vary, they have none of their own: its interval rests on these.
    """
    measures = names(pairs.sample)[1]
    unit = "topic" if pairs.sample.over == "topics" else "resampled collection"
    constant, same = means.constant & ~means.identical, f"the same difference on every {unit}"
    borrowed = constant & (in_family & (means.se > 0).any(axis=0))
    for places, kind, reason in (
        (means.constant & means.identical, "interval", "identical scores"),
        (constant & ~borrowed, "interval", same),
        (
            borrowed,
            "single-pair interval",
            f"{same}; the simultaneous one rests on the other pairs",
        ),
    ):
        named = [
            f"{_pair_text(pairs, pair)} by {measures[measure]}"
            for pair, measure in np.argwhere(places).tolist()
        ]
        if named:
            warn_caller(
                f"no {kind} for {enumerate_names(named, 3)}: {reason}",
                DegenerateSampleWarning,
            )


def warn_of_replicates(
    tests: Sequence[PairedTest],
    means: MeanDifferences,
    correction: str | None,
    level: float,
    replicates: int,
) -> None:
    """Warn where a corrected p-value cannot get small enough to be significant."""
    family = int(means.tested.max()) if correction in ("holm", "bonferroni") else 1
    needed = int(np.ceil(family / (1.0 - level))) - 1
    for test in tests:
        exact = test.name == CLUSTER_TEST and (means.units <= MOST_EXACT_TOPICS).all()
        if test.resamples and not test.corrected and not exact and replicates < needed:
            warn_caller(
                f"with {counted(replicates, 'replicate')} no difference can be significant by the "
                f"{test.title} among {counted(family, 'pair')}; use {needed} or more, or the test "
                "t or tukey-hsd",
                SmallSampleWarning,
            )


def warn_of_incomplete_topics(pairs: Pairs) -> None:
    """Warn where a test of all runs together leaves topics out."""
    complete = complete_topics(pairs.unit_scores().values).sum(axis=0).min()
    if complete < pairs.sample.topics:
        warn_caller(
            f"tukey-hsd uses the {complete} topics that all runs have, of {pairs.sample.topics}",
            TopicWarning,
        )
