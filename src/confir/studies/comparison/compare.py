"""The comparison of runs: paired differences, their intervals, tests and decisions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.arguments import as_generator, as_level, as_texts
from confir.data.experiment import on_its_scheduler
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import ALL_PAIRS, LEVEL, NO_FAMILY, SEED
from confir.measures.evaluation import as_rated
from confir.resampling.further_replicates import FURTHER, can_draw_further, levels_to_settle
from confir.resampling.kinds import as_sample, default_replicates, needs
from confir.resampling.sample import Knowledge
from confir.resampling.topic_bootstrap import Rng, check_replicates, own_seed
from confir.studies.comparison.comparability import (
    check_options,
    check_tests,
    check_topics,
    default_test,
    warn_of_few_clusters,
    warn_of_incomplete_topics,
    warn_of_replicates,
    warn_of_samples,
)
from confir.studies.comparison.comparison import Comparison
from confir.studies.comparison.decisions import count_tested, decide, find_borderline
from confir.studies.comparison.families import (
    Adjustment,
    Correction,
    Families,
    PermutedRanges,
    choose_family,
    form_families,
    permuted_ranges,
    simultaneous_limits,
)
from confir.studies.comparison.mean_differences import (
    MeanDifferences,
    find_difference_method,
    mean_differences,
    model_weights,
)
from confir.studies.comparison.paired_tests import Outcome, PairedTest, count_wins, find_test
from confir.studies.comparison.pairs import check_differences, pair_runs
from confir.studies.comparison.verdicts import INCONCLUSIVE


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

    Parameters
    ----------
    scores
        Scores of two runs or more, or what `as_scores` makes them of, or a `ScoreSummary`. A pair is
        compared on the topics that both have. Of `JudgedScores`, differences are those by people,
        each corrected with the model's weight for the pair (PPI++). `Votes` and `Strengths` are
        compared by strength. Of what `resample_documents` returns, intervals and verdicts are over
        similar collections, on the same topics.
    baseline
        The run that the others are compared with; by default all pairs are compared.
    family
        The pairs whose intervals and p-values hold all at once, within one measure: "baseline" with
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
    scores = as_rated(scores)
    sample = as_sample(scores)
    named = default_test(sample) if test is None else test
    tests = [find_test(name) for name in as_texts("test", named, least=0)]
    interval_method = find_difference_method(method, sample.over)
    check_options(tests, correction, margin, baseline)
    check_tests(tests, sample)
    family, correction = choose_family(family, correction, baseline, tests, interval_method)
    if baseline is None:
        check_differences(len(scores.runs), len(scores.measures), len(tests))
    level = as_level(level)
    resampled = scores if interval_method.resamples else None
    replicates = sample.replicates_used(default_replicates(resampled, replicates))
    check_replicates(replicates)
    pairs = pair_runs(sample, baseline)
    generator = as_generator(rng)
    seed = own_seed(generator)
    means, own = mean_differences(pairs, interval_method, level, replicates, generator)
    check_topics(pairs, means)
    warn_of_samples(pairs, means)
    warn_of_few_clusters(sample, tests, level)
    warn_of_replicates(tests, correction, means, level, replicates)
    if any(one.corrected for one in tests):
        warn_of_incomplete_topics(pairs)
    tested = count_tested(means)
    outcomes = [(one, one.compute(pairs, means, replicates, seed)) for one in tests]
    adjustment: Adjustment = Correction(correction)
    if family != NO_FAMILY:
        adjustment = form_families(pairs, means, tested, replicates, seed, level)
    if _is_borderline(outcomes, means, adjustment, level) and can_draw_further(
        max(pairs.shape[0], 2), len(scores.topics), replicates
    ):
        outcomes = [
            (one, one.compute(pairs, means, FURTHER * replicates, seed) if one.resamples else found)
            for one, found in outcomes
        ]
    adjustment = permuted_ranges(outcomes) or adjustment
    decisions = decide(outcomes, means, own, adjustment, margin=margin, level=level)
    simultaneous = simultaneous_limits(adjustment, means, level)
    wins, ties, losses = count_wins(pairs)
    return Comparison(
        scores=scores,
        baseline=baseline,
        first=pairs.first,
        second=pairs.second,
        **means._asdict(),
        low=own.low,
        high=own.high,
        family=ALL_PAIRS if isinstance(adjustment, PermutedRanges) else family,
        families=adjustment.by_measure if isinstance(adjustment, Families) else None,
        simultaneous_low=simultaneous.low,
        simultaneous_high=simultaneous.high,
        open_end=simultaneous.open,
        ranges=adjustment.by_measure if isinstance(adjustment, PermutedRanges) else None,
        wins=wins,
        ties=ties,
        losses=losses,
        tests=tuple(one.name for one in tests),
        correction=correction,
        tested=tested,
        margin=margin,
        level=level,
        method=interval_method.name,
        replicates=replicates,
        weight=model_weights(pairs),
        **decisions._asdict(),
    )


def _is_borderline(
    outcomes: Sequence[tuple[PairedTest, Outcome]],
    means: MeanDifferences,
    adjustment: Adjustment,
    level: float,
) -> bool:
    """Whether other replicates of a test might change a decision at the level, or a usual one."""
    resampled = [(one, found.p, found.p_error) for one, found in outcomes if one.resamples]
    if not resampled:
        return False
    undecided = np.full((len(resampled), *means.difference.shape), INCONCLUSIVE)
    return any(
        find_borderline(resampled, means, adjustment, undecided, one).any()
        for one in levels_to_settle(level)
    )
