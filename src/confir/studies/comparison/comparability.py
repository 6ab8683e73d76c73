"""Can runs be compared as asked, and what should the reader be warned of?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from confir.arguments import as_real
from confir.data.scores import Scores
from confir.errors import (
    DegenerateSampleWarning,
    InputWarning,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
)
from confir.studies.comparison.corrections import find_correction
from confir.studies.comparison.mean_differences import MeanDifferences
from confir.studies.comparison.paired_tests import PairedTest
from confir.studies.comparison.pairs import LEAST_TOPICS, Pairs, complete_topics
from confir.studies.comparison.randomisation import MOST_EXACT_TOPICS


def check_options(
    tests: Sequence[PairedTest], correction: str | None, margin: float | None, baseline: str | None
) -> None:
    """Raise where options do not fit together."""
    if correction is not None:
        find_correction(correction)
    names = [test.name for test in tests]
    if not names or len(set(names)) < len(names):
        raise InvalidValueError(f"tests are {names}; expected one or more, each once")
    for test in tests:
        if test.corrected and baseline is not None:
            raise InvalidValueError(
                f"{test.name} compares all pairs of runs: leave the baseline out, or take "
                "another test with a correction"
            )
    if margin is not None:
        as_real("margin", margin, above=0.0)


def check_topics(pairs: Pairs, means: MeanDifferences, scores: Scores) -> None:
    """Raise where no pair can be compared; warn where some are compared on fewer topics."""
    if (means.topics < LEAST_TOPICS).all():
        raise TopicMismatchError(
            "no two runs have 2 topics in common; expected runs that share them"
        )
    fewer = np.flatnonzero((means.topics < len(scores.topics)).any(axis=1)).tolist()
    if fewer:
        named = [" and ".join(_names(pairs, scores, pair)) for pair in fewer]
        warnings.warn(
            f"{enumerate_names(named, 3)} do not both have all {len(scores.topics)} topics; a pair "
            "is compared on the topics that it shares",
            TopicWarning,
            stacklevel=3,
        )


def warn_of_samples(pairs: Pairs, means: MeanDifferences, scores: Scores) -> None:
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
            warnings.warn(
                f"no interval for {enumerate_names(named, 3)}: {reason}",
                DegenerateSampleWarning,
                stacklevel=3,
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
            warnings.warn(
                f"with {counted(replicates, 'replicate')} no difference can be significant by the "
                f"{test.title} among {counted(family, 'pair')}; use {needed} or more, or the test "
                "t or tukey-hsd",
                InputWarning,
                stacklevel=3,
            )


def warn_of_incomplete_topics(scores: Scores) -> None:
    """Warn where a test of all runs together leaves topics out."""
    complete = complete_topics(scores.values).sum(axis=0).min()
    if complete < len(scores.topics):
        warnings.warn(
            f"tukey-hsd uses the {complete} topics that all runs have, of {len(scores.topics)}",
            TopicWarning,
            stacklevel=3,
        )


def _names(pairs: Pairs, scores: Scores, pair: int) -> tuple[str, str]:
    return scores.runs[pairs.first[pair]], scores.runs[pairs.second[pair]]
