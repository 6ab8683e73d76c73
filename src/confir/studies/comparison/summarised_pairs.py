"""Pairs of runs on any number of topics: what a comparison takes from a summary of scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Integers
from confir.data.streams.pair_totals import PairTotals
from confir.errors import InvalidValueError
from confir.measures.score_summary import ScoreSummary
from confir.resampling.studentised_maxima import RunCovariance
from confir.resampling.summarised_topics import SummarisedTopics
from confir.studies.comparison.pairs import LEAST_TOPICS, Pairs

# More differences (pairs × measures) on millions of topics take hours.
_MOST_COLUMNS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class SummarisedPairs:
    """Pairs of runs of a summary; stands for `Pairs` where scores of single topics were not kept.

    Attributes
    ----------
    summary
        The scores.
    first, second
        Numbers of the two runs of each pair.
    """

    summary: ScoreSummary
    first: Integers
    second: Integers

    @property
    def shape(self) -> tuple[int, int]:
        """Number of pairs and of measures."""
        return len(self.first), len(self.summary.measures)

    @property
    def clusters(self) -> None:
        """The clusters of the topics' design: a summary has none."""
        return

    @property
    def totals(self) -> PairTotals:
        """What is known of the differences."""
        return self.summary.pair_totals(self.first, self.second)

    @property
    def topics(self) -> SummarisedTopics:
        """The differences as columns to resample."""
        return SummarisedTopics.of_pairs(self.summary, self.first, self.second)

    def run_scores(self, measure: int) -> RunCovariance:
        """Return how the runs vary together, by one measure."""
        found = self.totals.runs
        topics = int(found.count[measure])
        return RunCovariance(found.products[measure] / max(topics - 1, 1), topics)

    def count_wins(self) -> tuple[Integers, Integers, Integers]:
        """Return topics that the second run of each pair wins, ties and loses."""
        found = self.totals
        wins, ties, losses = (
            counts.reshape(self.shape) for counts in (found.wins, found.ties, found.losses)
        )
        return wins, ties, losses


AnyPairs = Pairs | SummarisedPairs


def pair_summarised_runs(summary: ScoreSummary, baseline: str | None) -> SummarisedPairs:
    """Return all runs paired with the baseline, or without one each run with each earlier one."""
    if len(summary.runs) < 2:
        raise InvalidValueError("there is one run; a comparison needs at least 2")
    if baseline is None:
        first, second = (side.astype(np.int64) for side in np.triu_indices(len(summary.runs), 1))
    else:
        as_choice("baseline", baseline, summary.runs, "run")
        place = summary.runs.index(baseline)
        second = np.array([r for r in range(len(summary.runs)) if r != place], np.int64)
        first = np.full(len(second), place, np.int64)
    columns = len(first) * len(summary.measures)
    if columns > _MOST_COLUMNS:
        raise InvalidValueError(
            f"{len(first):,} pairs by {len(summary.measures)} measures are more than "
            f"{_MOST_COLUMNS:,} differences on every topic of a summary: name a baseline to compare "
            "the others with, or choose fewer runs or measures"
        )
    pairs = SummarisedPairs(summary, first, second)
    pairs.totals.wins  # noqa: B018 - in one pass with the moments of the runs
    if len(summary.topics) < LEAST_TOPICS:
        raise InvalidValueError("there is one topic; a comparison needs at least 2")
    return pairs
