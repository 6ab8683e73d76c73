"""Warnings of topics, clusters and replicates that are too few for what a comparison is asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.errors import (
    DegenerateSampleWarning,
    SmallSampleWarning,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.resampling.sample import Sample, names
from confir.studies.comparison.paired_tests import PairedTest
from confir.studies.comparison.pairs import LEAST_TOPICS, MeanDifferences, Pairs, complete_topics
from confir.studies.comparison.randomisation import MOST_EXACT_TOPICS

# With fewer clusters, tests flip whole clusters instead of relying on t.
FEW_CLUSTERS = 10
CLUSTER_TEST = "randomisation"


def warn_of_few_clusters(sample: Sample, tests: Sequence[PairedTest], level: float) -> None:
    """Warn where a design has few clusters: t is then no reliable test, and flips reach no small p.

    So it is where a few of them have much of the weight.
    """
    clusters = sample.scheme.clusters
    flips = any(test.name == CLUSTER_TEST for test in tests)
    if clusters >= FEW_CLUSTERS and (flips or not sample.scheme.uneven):
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
