"""The comparison of runs: paired differences, their intervals, tests and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from confir.arguments import as_generator, as_level, as_real, as_texts
from confir.data.experiment import on_its_scheduler
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import ALL_PAIRS, LEVEL, NO_FAMILY, REPLICATES, SEED
from confir.errors import (
    DegenerateSampleWarning,
    InvalidValueError,
    SmallSampleWarning,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.intervals.method import Method
from confir.resampling.distribution import Resampled
from confir.resampling.kinds import as_sample, needs
from confir.resampling.replicates import (
    FURTHER,
    Rng,
    can_draw_further,
    check_replicates,
    levels_to_settle,
    own_seed,
)
from confir.resampling.sample import Knowledge, Sample, names, refuse
from confir.studies.comparison.comparison import Comparison
from confir.studies.comparison.families import (
    Adjustment,
    Correction,
    Families,
    PermutedRanges,
    check_collections,
    choose_family,
    find_correction,
    form_families,
)
from confir.studies.comparison.paired_tests import (
    DEFAULT_TEST,
    TESTS,
    Outcome,
    PairedTest,
    count_wins,
    find_test,
)
from confir.studies.comparison.pairs import (
    LEAST_TOPICS,
    MeanDifferences,
    Pairs,
    check_differences,
    complete_topics,
    find_difference_method,
    mean_differences,
    model_weights,
    pair_runs,
)
from confir.studies.comparison.randomisation import MOST_EXACT_TOPICS
from confir.studies.comparison.verdicts import (
    INCONCLUSIVE,
    Estimates,
    count_tested,
    decide,
    find_borderline,
)

# With fewer clusters, tests flip whole clusters instead of relying on t.
FEW_CLUSTERS = 10
CLUSTER_TEST = "randomisation"


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
    if test is None and 0 < sample.clusters_drawn < FEW_CLUSTERS:
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
    )
    tests, level = asked.tests, asked.level
    fitting = [one.name for one in TESTS.values() if one.needs in sample.knowledge]
    for one in tests:
        refuse(f"the {one.title}", one.needs, sample, fitting, "tests")
    if baseline is None:
        check_differences(len(scores.runs), len(scores.measures), len(tests))
    if replicates is None:
        replicates = scores.default_replicates if "replicates" in asked.method.needs else REPLICATES
    replicates = sample.replicates_drawn or replicates
    check_replicates(replicates)
    if sample.replicates_drawn:
        check_collections(sample, level)
    pairs = pair_runs(sample, baseline)
    generator = as_generator(rng)
    seed = own_seed(generator)
    means, own = mean_differences(pairs, asked.method, level, replicates, generator)
    if (means.topics < sample.topics).any():
        check_topics(pairs, means)
    tested = count_tested(means)
    if means.constant.any():
        _warn_of_samples(pairs, means)
    if sample.clusters_drawn:
        _warn_of_few_clusters(sample, tests, level)
    resampling = [one for one in tests if one.resamples]
    if resampling:
        _warn_of_replicates(asked, means, int(tested.max()), replicates)
    if any(one.corrected for one in tests):
        _warn_of_incomplete_topics(pairs)
    outcomes = [(one, one.compute(pairs, means, replicates, seed)) for one in tests]
    adjustment: Adjustment = Correction(asked.correction)
    if asked.family != NO_FAMILY:
        adjustment = form_families(pairs, means, tested, replicates, seed, level)
    if (
        resampling
        and can_draw_further(max(pairs.shape[0], 2), len(scores.topics), replicates)
        and _is_borderline(outcomes, means, adjustment, level)
    ):
        outcomes = [
            (one, one.compute(pairs, means, FURTHER * replicates, seed) if one.resamples else found)
            for one, found in outcomes
        ]
    # a test of all runs at once has intervals of its own, where it is alone and no score is missing
    ranges = outcomes[0][1].ranges if len(outcomes) == 1 else None
    adjustment = adjustment if ranges is None else PermutedRanges(ranges)
    simultaneous = adjustment.limits(means, level)
    deciding = own if isinstance(adjustment, Correction) else simultaneous.limits
    estimates = Estimates(means.difference, *deciding, means.constant, simultaneous.open)
    decisions = decide(outcomes, means, estimates, adjustment, margin=margin, level=level)
    wins, ties, losses = count_wins(pairs)
    return Comparison(
        scores=scores,
        baseline=baseline,
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
        tests=tuple(one.name for one in tests),
        correction=asked.correction,
        tested=tested,
        margin=margin,
        level=level,
        method=asked.method.name,
        replicates=replicates,
        weight=model_weights(pairs) if scores.corrected else None,
        **decisions._asdict(),
    )


class Asked(NamedTuple):
    """What a comparison is asked for, checked: tests, method, family or correction, and level."""

    tests: list[PairedTest]
    method: Method
    family: str
    correction: str | None
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
    chosen, correction = choose_family(family, correction, baseline, tests, interval_method)
    return Asked(tests, interval_method, chosen, correction, as_level(level))


def _is_borderline(
    outcomes: Sequence[tuple[PairedTest, Outcome]],
    means: MeanDifferences,
    adjustment: Adjustment,
    level: float,
) -> bool:
    """Whether other replicates of a test might change a decision at the level, or a usual one."""
    resampled = [(one, found.p, found.p_error) for one, found in outcomes if one.resamples]
    undecided = np.full((len(resampled), *means.difference.shape), INCONCLUSIVE)
    return any(
        find_borderline(resampled, means, adjustment, undecided, one).any()
        for one in levels_to_settle(level)
    )


def _warn_of_few_clusters(sample: Sample, tests: Sequence[PairedTest], level: float) -> None:
    """Warn where a design has few clusters: t is then no reliable test, and flips reach no small p.

    So it is where a few of them have much of the weight.
    """
    clusters = sample.clusters_drawn
    flips = any(test.name == CLUSTER_TEST for test in tests)
    if clusters >= FEW_CLUSTERS and (flips or not sample.uneven):
        return
    text = f"the design has {clusters} clusters"
    if clusters >= FEW_CLUSTERS:
        text += ", a few of which have much of the weight: t tests may be too optimistic"
    elif flips:
        least = 2.0 ** (1 - clusters)
        text += f": the {CLUSTER_TEST} test flips the signs of whole clusters"
        if least > 1.0 - level:
            text += f", whose p-values are {least:g} or more: no difference can be significant"
    else:
        text += ", too few for t tests"
    if not flips:
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


def _warn_of_samples(pairs: Pairs, means: MeanDifferences) -> None:
    """Warn of pairs with the same difference on every topic, which have no interval."""
    measures = names(pairs.sample)[1]
    unit = "topic" if pairs.sample.over == "topics" else "resampled collection"
    for places, reason in (
        (means.constant & means.identical, "identical scores"),
        (means.constant & ~means.identical, f"the same difference on every {unit}"),
    ):
        named = [
            f"{_pair_text(pairs, pair)} by {measures[measure]}"
            for pair, measure in np.argwhere(places).tolist()
        ]
        if named:
            warn_caller(
                f"no interval for {enumerate_names(named, 3)}: {reason}",
                DegenerateSampleWarning,
            )


def _warn_of_replicates(asked: Asked, means: MeanDifferences, tested: int, replicates: int) -> None:
    """Warn where a corrected p-value cannot get small enough to be significant."""
    family = tested if asked.correction in ("holm", "bonferroni") else 1
    needed = int(np.ceil(family / (1.0 - asked.level))) - 1
    for test in asked.tests:
        exact = test.name == CLUSTER_TEST and (means.units <= MOST_EXACT_TOPICS).all()
        if test.resamples and not test.corrected and not exact and replicates < needed:
            warn_caller(
                f"with {counted(replicates, 'replicate')} no difference can be significant by the "
                f"{test.title} among {counted(family, 'pair')}; use {needed} or more, or the test "
                "t or tukey-hsd",
                SmallSampleWarning,
            )


def _warn_of_incomplete_topics(pairs: Pairs) -> None:
    """Warn where a test of all runs together leaves topics out."""
    complete = complete_topics(pairs.unit_scores().values).sum(axis=0).min()
    if complete < pairs.sample.topics:
        warn_caller(
            f"tukey-hsd uses the {complete} topics that all runs have, of {pairs.sample.topics}",
            TopicWarning,
        )
