"""Can runs be compared as asked, and what should the reader be warned of?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.arguments import as_real
from confir.data.scores import Scores
from confir.errors import (
    DegenerateSampleWarning,
    InvalidValueError,
    SmallSampleWarning,
    TopicMismatchError,
    TopicWarning,
    UnsupportedMethodError,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.intervals.catalogue import methods_over, misfit
from confir.intervals.method import Method
from confir.measures.score_summary import ScoreSummary
from confir.resampling.clusters import Clusters
from confir.studies.comparison.corrections import find_correction
from confir.studies.comparison.mean_differences import MeanDifferences
from confir.studies.comparison.paired_tests import DEFAULT_TEST, TESTS, PairedTest
from confir.studies.comparison.pairs import LEAST_TOPICS, complete_topics
from confir.studies.comparison.randomisation import MOST_EXACT_TOPICS
from confir.studies.comparison.summarised_pairs import AnyPairs

# With fewer clusters, tests flip whole clusters instead of relying on t.
FEW_CLUSTERS = 10
CLUSTER_TEST = "randomisation"


def check_options(
    tests: Sequence[PairedTest],
    correction: str | None,
    margin: float | None,
    baseline: str | None,
    *,
    judged: bool = False,
) -> None:
    """Raise where options do not fit together, or with judgements by people and by a model."""
    if correction is not None:
        find_correction(correction)
    names = [test.name for test in tests]
    if not names or len(set(names)) < len(names):
        raise InvalidValueError(f"tests are {names}; expected one or more, each once")
    for test in tests:
        if judged and not test.studentised:
            raise InvalidValueError(
                f"the {test.title} looks at one sample of topics, of which people judged a part; "
                "expected the test t"
            )
        if test.corrected and baseline is not None:
            raise InvalidValueError(
                f"{test.name} compares all pairs of runs: leave the baseline out, or take "
                "another test with a correction"
            )
    if margin is not None:
        as_real("margin", margin, above=0.0)


def default_test(scores: Scores | ScoreSummary) -> str:
    """Return the test that suits the topics: by few clusters, flips of whole clusters."""
    if scores.design is None or Clusters.of(scores.design).count >= FEW_CLUSTERS:
        return DEFAULT_TEST
    return CLUSTER_TEST


def check_design(
    tests: Sequence[PairedTest], method: Method, scores: Scores | ScoreSummary
) -> None:
    """Raise where a test or a method needs independent topics, and the design has others."""
    if scores.design is None:
        return
    refused = next((test for test in tests if test.one_sample), None)
    if refused is not None:
        fitting = [test.name for test in TESTS.values() if not test.one_sample]
        raise UnsupportedMethodError(
            f"the {refused.title} is for one simple random sample of topics, which these are not; "
            f"tests that fit: {enumerate_names(fitting)}"
        )
    if method.one_sample:
        reason = "it is for one simple random sample of topics, which these are not"
        others = methods_over("topics").values()
        raise misfit(method, reason, [o for o in others if not (o.bounded or o.one_sample)])


def warn_of_few_clusters(pairs: AnyPairs, tests: Sequence[PairedTest], level: float) -> None:
    """Warn where a design has few clusters: t is then no reliable test, and flips reach no small p.

    So it is where a few of them have much of the weight.
    """
    if pairs.clusters is None:
        return
    clusters = pairs.clusters.count
    flips = any(test.name == CLUSTER_TEST for test in tests)
    if clusters >= FEW_CLUSTERS and (flips or not pairs.clusters.uneven):
        return
    text = f"the design has {clusters} clusters"
    if clusters >= FEW_CLUSTERS:
        text += ", a few of which have much of the weight"
    least = 2.0 ** (1 - clusters)
    if flips:
        text += f": the {CLUSTER_TEST} test flips the signs of whole clusters"
        if least > 1.0 - level:
            text += f", whose p-values are {least:g} or more: no difference can be significant"
    else:
        text += f", too few for t tests; expected the test {CLUSTER_TEST}, or more clusters"
    warn_caller(text, SmallSampleWarning)


def check_tests_of_summary(tests: Sequence[PairedTest]) -> None:
    """Raise where a test needs the difference on every topic, which a summary lacks."""
    for test in tests:
        if not test.summarised:
            fitting = " and ".join(one.name for one in TESTS.values() if one.summarised)
            raise UnsupportedMethodError(
                f"the {test.title} needs the difference on every topic, which a summary lacks; tests "
                f"that fit: {fitting}"
            )


def check_topics(pairs: AnyPairs, means: MeanDifferences, scores: Scores | ScoreSummary) -> None:
    """Raise where no pair can be compared; warn where some are compared on fewer topics."""
    if (means.topics < LEAST_TOPICS).all():
        raise TopicMismatchError(
            "no two runs have 2 topics in common; expected runs that share them"
        )
    fewer = np.flatnonzero((means.topics < len(scores.topics)).any(axis=1)).tolist()
    if fewer:
        named = [" and ".join(_names(pairs, scores, pair)) for pair in fewer]
        warn_caller(
            f"{enumerate_names(named, 3)} do not both have all {len(scores.topics)} topics; a pair "
            "is compared on the topics that it shares",
            TopicWarning,
        )


def warn_of_samples(pairs: AnyPairs, means: MeanDifferences, scores: Scores | ScoreSummary) -> None:
    """Warn of pairs with the same difference on every topic, which have no interval."""
    constant = np.isnan(means.se) & (means.topics >= LEAST_TOPICS)
    for places, reason in (
        (constant & means.identical, "identical scores"),
        (constant & ~means.identical, "the same difference on every topic"),
    ):
        named = [
            f"{' and '.join(_names(pairs, scores, pair))} by {scores.measures[measure]}"
            for pair, measure in np.argwhere(places).tolist()
        ]
        if named:
            warn_caller(
                f"no interval for {enumerate_names(named, 3)}: {reason}",
                DegenerateSampleWarning,
            )


def warn_of_replicates(
    tests: Sequence[PairedTest],
    correction: str | None,
    means: MeanDifferences,
    level: float,
    replicates: int,
) -> None:
    """Warn where a corrected p-value cannot get small enough to be significant."""
    tested = (means.topics >= LEAST_TOPICS) & ~means.identical
    family = int(tested.sum(axis=0).max()) if correction in ("holm", "bonferroni") else 1
    needed = int(np.ceil(family / (1.0 - level))) - 1
    for test in tests:
        exact = test.name == "randomisation" and (means.topics <= MOST_EXACT_TOPICS).all()
        if test.resamples and not test.corrected and not exact and replicates < needed:
            warn_caller(
                f"with {counted(replicates, 'replicate')} no difference can be significant by the "
                f"{test.title} among {counted(family, 'pair')}; use {needed} or more, or the test "
                "t or tukey-hsd",
                SmallSampleWarning,
            )


def warn_of_incomplete_topics(scores: Scores) -> None:
    """Warn where a test of all runs together leaves topics out."""
    complete = complete_topics(scores.values).sum(axis=0).min()
    if complete < len(scores.topics):
        warn_caller(
            f"tukey-hsd uses the {complete} topics that all runs have, of {len(scores.topics)}",
            TopicWarning,
        )


def _names(pairs: AnyPairs, scores: Scores | ScoreSummary, pair: int) -> tuple[str, str]:
    return scores.runs[pairs.first[pair]], scores.runs[pairs.second[pair]]
