"""The comparison of runs: paired differences, their intervals, tests and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from confir.arguments import as_generator, as_level, as_real, as_texts, check_replicates
from confir.data.experiment import on_its_scheduler
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.defaults import ALL_PAIRS, LEVEL, NO_FAMILY, REPLICATES, SEED
from confir.errors import InvalidValueError
from confir.intervals.interval import Limits
from confir.intervals.method import Method
from confir.measures.score_summary import ScoreSummary
from confir.pairs.comparison import Comparison
from confir.pairs.decisions import (
    CLUSTER_TEST,
    INCONCLUSIVE,
    Estimates,
    check_topics,
    decide,
    find_borderline,
    warn_of_few_clusters,
    warn_of_incomplete_topics,
    warn_of_replicates,
    warn_of_samples,
)
from confir.pairs.differences import (
    MeanDifferences,
    Pairs,
    check_differences,
    find_difference_method,
    mean_differences,
    model_weights,
    pair_runs,
)
from confir.pairs.families import (
    Adjustment,
    Correction,
    Families,
    PermutedRanges,
    check_collections,
    choose_family,
    find_correction,
    form_families,
)
from confir.pairs.missing_pairs import warn_of_unequal_failure
from confir.pairs.paired_tests import (
    DEFAULT_TEST,
    TESTS,
    Outcome,
    PairedTest,
    count_wins,
    find_test,
)
from confir.resampling.distribution import Resampled
from confir.resampling.kinds import as_sample, needs
from confir.resampling.replicates import (
    FURTHER,
    Rng,
    can_draw_further,
    levels_to_settle,
    own_seed,
)
from confir.resampling.sample import Knowledge, Sample, refuse


@on_its_scheduler
@needs(Knowledge.COVARIANCE, "a comparison of runs")
def compare_runs(
    scores: ScoresSource,
    *,
    baseline: str | None = None,
    family: str | None = None,
    test: str | Sequence[str] | None = None,
    correction: str | None = None,
    margin: float | None = None,
    level: float = LEVEL,
    method: str | None = None,
    replicates: int | None = None,
    rng: Rng = SEED,
) -> Comparison:
    """Return the differences between runs with intervals, p-values and verdicts.

    Two runs do well and badly on the same topics, so that their difference on each topic says more
    than their two means, whose intervals may overlap although one run is clearly better. Of many
    pairs some differ by chance: intervals, p-values and verdicts account for all of them.

    Parameters
    ----------
    scores
        Scores of two runs or more, or what `as_scores` makes them of, or a `ScoreSummary`. A pair is
        compared on the topics that both have. Of `JudgedScores`, differences are those by human judgements,
        each corrected with the model's weight for the pair (PPI++). `Votes` and `Strengths` are
        compared by strength. Of what `resample_documents` returns, intervals and verdicts are over
        similar collections, on the same topics.
    baseline
        The run that the others are compared with; by default all pairs are compared.
    family
        The pairs whose intervals and p-values are simultaneous, within one measure: "baseline" with
        a baseline, "all-pairs" without, each the default; or "none" of them.
    test
        Name of a test in TESTS, or several. Other tests than t are single tests. By default t; by
        a design of fewer than ten clusters randomisation, which flips whole clusters.
    correction
        Name in CORRECTIONS for single tests, whose intervals are not adjusted: "holm" by default.
    margin
        Differences smaller than this do not matter: equivalence is tested, too.
    level, method
        Confidence level and method of the intervals, by default t, over documents linear; 1 - level
        is also the tests' α.
    replicates, rng
        Number of replicates, by default 9,999 (999 where a summary is resampled), over documents
        those that are drawn; seed or generator.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.compare_runs(scores, baseline="b")
    Comparison(The difference between a and b in score is inconclusive (+0.175, 95% CI [-0.064, +0.414], p = .102))
    """
    sample = as_sample(scores)
    if test is None and sample.scheme.flips:
        test = CLUSTER_TEST
    asked = check_options(
        baseline=baseline,
        family=family,
        test=test,
        correction=correction,
        margin=margin,
        level=level,
        method=method,
        over=sample.over,
        flips=sample.scheme.flips,
    )
    replicates = _check_sample(scores, sample, asked, replicates)
    pairs = pair_runs(sample, baseline)
    generator = as_generator(rng)
    seed = own_seed(generator)
    means, own = mean_differences(pairs, asked.method, asked.level, replicates, generator)
    _check_means(pairs, means, asked, replicates)
    warn_of_unequal_failure(scores)
    outcomes, adjustment = _test_pairs(scores, pairs, means, asked, replicates, seed)
    return _decide(scores, asked, pairs, means, own, outcomes, adjustment, replicates)


class Asked(NamedTuple):
    """What a comparison is asked for, checked; as in `compare_runs`."""

    baseline: str | None
    tests: list[PairedTest]
    method: Method
    family: str
    correction: str | None
    margin: float | None
    level: float


def check_options(
    *,
    baseline: str | None,
    family: str | None,
    test: str | Sequence[str] | None,
    correction: str | None,
    margin: float | None,
    level: float,
    method: str | None,
    over: Resampled = "topics",
    flips: bool = False,
) -> Asked:
    """Return what options of `compare_runs` ask for; raise where they do not fit together."""
    named = as_texts("test", DEFAULT_TEST if test is None else test, least=0)
    tests = [find_test(name) for name in named]
    interval_method = find_difference_method(method, over)
    if correction is not None:
        find_correction(correction)
    if not tests or len(set(named)) < len(named):
        raise InvalidValueError(f"tests are {list(named)}; expected one or more, each once")
    for one in tests:
        if one.corrected and baseline is not None:
            raise InvalidValueError(
                f"{one.name} compares all pairs of runs: leave the baseline out, or take "
                "another test with a correction"
            )
    if margin is not None:
        as_real("margin", margin, above=0.0)
    chosen, correction = choose_family(family, correction, baseline, tests, interval_method, flips)
    checked = as_level(level)
    return Asked(baseline, tests, interval_method, chosen, correction, margin, checked)


def _check_sample(
    scores: Scores | ScoreSummary, sample: Sample, asked: Asked, replicates: int | None
) -> int:
    """Return the number of replicates; raise where the sample does not allow the tests or intervals."""
    fitting = [one.name for one in TESTS.values() if one.needs in sample.knowledge]
    for one in asked.tests:
        if one.flips and sample.scheme.flips:
            continue
        refuse(f"the {one.title}", one.needs, sample, fitting, "tests")
    if asked.baseline is None:
        size = len(scores.runs), len(scores.measures), len(asked.tests)
        check_differences(*size, may_name_baseline=True)
    if replicates is None:
        replicates = scores.default_replicates if "replicates" in asked.method.needs else REPLICATES
    replicates = sample.scheme.replicates or replicates
    check_replicates(replicates)
    if sample.scheme.replicates:
        check_collections(sample, asked.level)
    return replicates


def _check_means(pairs: Pairs, means: MeanDifferences, asked: Asked, replicates: int) -> None:
    """Raise or warn where there are too few topics, clusters or replicates for what is asked."""
    if (means.topics < pairs.sample.topics).any():
        check_topics(pairs, means)
    if means.constant.any():
        warn_of_samples(pairs, means, in_family=asked.family != NO_FAMILY)
    flips = any(test.flips for test in asked.tests)
    size = 1 if asked.family == NO_FAMILY else int(means.tested.max())
    warn_of_few_clusters(pairs.sample, asked.level, comparisons=size, by_t=not flips)
    if any(one.resamples for one in asked.tests):
        warn_of_replicates(asked.tests, means, asked.correction, asked.level, replicates)
    if any(one.corrected for one in asked.tests):
        warn_of_incomplete_topics(pairs)


def _test_pairs(
    scores: Scores | ScoreSummary,
    pairs: Pairs,
    means: MeanDifferences,
    asked: Asked,
    replicates: int,
    seed: int,
) -> tuple[list[tuple[PairedTest, Outcome]], Adjustment]:
    """Return the outcome of each test, and what adjusts p-values and limits for all pairs.

    Where a decision by a resampling test is borderline, ten times as many replicates are drawn.
    """
    outcomes = [(one, one.compute(pairs, means, replicates, seed)) for one in asked.tests]
    adjustment: Adjustment = Correction(asked.correction)
    if asked.family != NO_FAMILY:
        by_flips = pairs.sample.scheme.flips and all(test.flips for test in asked.tests)
        adjustment = form_families(pairs, means, replicates, seed, asked.level, by_flips)
    if (
        any(one.resamples for one in asked.tests)
        and can_draw_further(max(pairs.shape[0], 2), len(scores.topics), replicates)
        and _is_borderline(outcomes, means, adjustment, asked.level)
    ):
        outcomes = [
            (one, one.compute(pairs, means, FURTHER * replicates, seed) if one.resamples else found)
            for one, found in outcomes
        ]
    # a test of all runs at once has intervals of its own, where it is alone and no score is missing
    ranges = outcomes[0][1].ranges if len(outcomes) == 1 else None
    return outcomes, adjustment if ranges is None else PermutedRanges(ranges)


def _decide(
    scores: Scores | ScoreSummary,
    asked: Asked,
    pairs: Pairs,
    means: MeanDifferences,
    own: Limits,
    outcomes: list[tuple[PairedTest, Outcome]],
    adjustment: Adjustment,
    replicates: int,
) -> Comparison:
    """Return the result: limits that verdicts rest on, and the decisions of each test."""
    simultaneous = adjustment.limits(means, asked.level)
    deciding = own if isinstance(adjustment, Correction) else simultaneous.limits
    estimates = Estimates(means.difference, *deciding, means.constant, simultaneous.open)
    margin, level = asked.margin, asked.level
    decisions = decide(outcomes, means, estimates, adjustment, margin=margin, level=level)
    wins, ties, losses = count_wins(pairs)
    ranges = adjustment.by_measure if isinstance(adjustment, PermutedRanges) else None
    return Comparison(
        scores=scores,
        baseline=asked.baseline,
        first=pairs.first,
        second=pairs.second,
        **means._asdict(),
        low=own.low,
        high=own.high,
        family=asked.family if ranges is None else ALL_PAIRS,
        families=adjustment.by_measure if isinstance(adjustment, Families) else None,
        simultaneous_low=simultaneous.low,
        simultaneous_high=simultaneous.high,
        open_end=simultaneous.open,
        ranges=ranges,
        wins=wins,
        ties=ties,
        losses=losses,
        tests=tuple(one.name for one in asked.tests),
        correction=asked.correction,
        tested=means.tested,
        margin=margin,
        level=level,
        method=asked.method.name,
        replicates=replicates,
        weight=model_weights(pairs) if scores.corrected else None,
        **decisions._asdict(),
    )


def _is_borderline(
    outcomes: Sequence[tuple[PairedTest, Outcome]],
    means: MeanDifferences,
    adjustment: Adjustment,
    level: float,
) -> bool:
    """Whether another seed of a test might change a decision at the level, or a usual one."""
    resampled = [(one, found.p, found.p_error) for one, found in outcomes if one.resamples]
    undecided = np.full((len(resampled), *means.difference.shape), INCONCLUSIVE)
    return any(
        find_borderline(resampled, means, adjustment, undecided, one).any()
        for one in levels_to_settle(level)
    )
