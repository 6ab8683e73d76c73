"""Checks that runs can be compared as asked, and warnings for the reader."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.arguments import as_real
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
from confir.resampling.sample import Sample, names, refuse
from confir.studies.comparison.corrections import find_correction
from confir.studies.comparison.mean_differences import MeanDifferences
from confir.studies.comparison.paired_tests import DEFAULT_TEST, TESTS, PairedTest
from confir.studies.comparison.pairs import LEAST_TOPICS, Pairs, complete_topics
from confir.studies.comparison.randomisation import MOST_EXACT_TOPICS

# With fewer clusters, tests flip whole clusters instead of relying on t.
FEW_CLUSTERS = 10
CLUSTER_TEST = "randomisation"


def check_options(
    tests: Sequence[PairedTest],
    correction: str | None,
    margin: float | None,
    baseline: str | None,
) -> None:
    """Raise where options do not fit together."""
    if correction is not None:
        find_correction(correction)
    given = [test.name for test in tests]
    if not given or len(set(given)) < len(given):
        raise InvalidValueError(f"tests are {given}; expected one or more, each once")
    for test in tests:
        if test.corrected and baseline is not None:
            raise InvalidValueError(
                f"{test.name} compares all pairs of runs: leave the baseline out, or take "
                "another test with a correction"
            )
    if margin is not None:
        as_real("margin", margin, above=0.0)


def default_test(sample: Sample) -> str:
    """Return the test that suits the topics: by few clusters, flips of whole clusters."""
    clusters = sample.clusters_drawn
    return CLUSTER_TEST if 0 < clusters < FEW_CLUSTERS else DEFAULT_TEST


def check_tests(tests: Sequence[PairedTest], sample: Sample) -> None:
    """Raise where a test needs what is not known of the sample."""
    fitting = [test.name for test in TESTS.values() if test.needs in sample.knowledge]
    for test in tests:
        refuse(f"the {test.title}", test.needs, sample, fitting, "tests")


def warn_of_few_clusters(sample: Sample, tests: Sequence[PairedTest], level: float) -> None:
    """Warn where a design has few clusters: t is then no reliable test, and flips reach no small p.

    So it is where a few of them have much of the weight.
    """
    clusters = sample.clusters_drawn
    if not clusters:
        return
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
        named = [" and ".join(_names(pairs, pair)) for pair in fewer]
        warn_caller(
            f"{enumerate_names(named, 3)} do not both have all {pairs.sample.topics} topics; a pair "
            "is compared on the topics that it shares",
            TopicWarning,
        )


def warn_of_samples(pairs: Pairs, means: MeanDifferences) -> None:
    """Warn of pairs with the same difference on every topic, which have no interval."""
    constant = np.isnan(means.se) & (means.topics >= LEAST_TOPICS)
    unit = "topic" if pairs.sample.over == "topics" else "resampled collection"
    for places, reason in (
        (constant & means.identical, "identical scores"),
        (constant & ~means.identical, f"the same difference on every {unit}"),
    ):
        named = [
            f"{' and '.join(_names(pairs, pair))} by {names(pairs.sample)[1][measure]}"
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


def warn_of_incomplete_topics(pairs: Pairs) -> None:
    """Warn where a test of all runs together leaves topics out."""
    complete = complete_topics(pairs.unit_scores().values).sum(axis=0).min()
    if complete < pairs.sample.topics:
        warn_caller(
            f"tukey-hsd uses the {complete} topics that all runs have, of {pairs.sample.topics}",
            TopicWarning,
        )


def _names(pairs: Pairs, pair: int) -> tuple[str, str]:
    runs = names(pairs.sample)[0]
    return runs[pairs.first[pair]], runs[pairs.second[pair]]
