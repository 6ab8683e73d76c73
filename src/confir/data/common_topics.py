"""Topics that all runs have scores on: means over different topics do not compare.

A run without any score by a measure has no mean by it, and so takes no topic from the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from confir.arrays import Booleans, Floats
from confir.errors import (
    MissingTopicWarning,
    TopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.number_text import share_words

if TYPE_CHECKING:
    from confir.data.scores import Scores

# Runs are ranked only if they have at least this many topics in common.
LEAST_COMMON_TOPICS = 2


def common_topics(values: Floats) -> Booleans:
    """Return which topics all runs have a score on, by measure: topics × measures."""
    present = ~np.isnan(values)
    without_mean = ~present.any(axis=0)
    common: Booleans = np.all(present | without_mean, axis=1) & np.any(present, axis=1)
    return common


def warn_of_missing_scores(scores: Scores) -> None:
    """Warn of topics without any score, and where runs lack topics that other runs have."""
    present = ~np.isnan(scores.values)
    empty = [scores.topics[place] for place in np.flatnonzero(~present.any(axis=(1, 2)))]
    if empty:
        warn_caller(
            f"no run has a score on {_topics_text(empty, len(scores.topics))}, left out",
            TopicWarning,
        )
    expected = present.any(axis=1, keepdims=True) & present.any(axis=0)
    missing: Booleans = np.any(expected & ~present, axis=2)
    lacking = {
        run: [scores.topics[place] for place in np.flatnonzero(missing[:, r])]
        for r, run in enumerate(scores.runs)
        if missing[:, r].any()
    }
    if lacking:
        total = len(scores.topics) - len(empty)
        warn_of_left_out_topics(lacking, "that other runs have", same=False, total=total)


def warn_of_left_out_topics(
    lacking: Mapping[str, Sequence[str]], of: str, *, same: bool, total: int = 0
) -> None:
    """Warn that means leave out topics that runs lack.

    Parameters
    ----------
    lacking
        Run → its missing topics.
    of
        Where these topics are, such as "of the qrels".
    same
        Whether all runs lack the same ones, so that their means are over the same topics.
    total
        Number of topics, where the share that is missing is to be said.
    """
    means = "the run's means" if len(lacking) == 1 else "their means"
    text = f"{name_topics(lacking, total=total)} {of}, left out of {means}"
    if not same:
        text += "; the means of the runs are over different topics"
    warn_caller(text, MissingTopicWarning)


_PLURAL = {"lacks": "lack", "has": "have"}


def name_topics(topics: Mapping[str, Sequence[str]], verb: str = "lacks", *, total: int = 0) -> str:
    """Return "run 'x' lacks 2 topics (301, 302)", or the same for several runs.

    With the number of all topics, "2 of 50 topics (4%: 301, 302)".
    """
    groups: dict[tuple[str, ...], list[str]] = {}  # runs with the same topics are named together
    for name, names in topics.items():
        groups.setdefault(tuple(names), []).append(name)
    parts = [
        f"{_name_runs(runs)} {verb if len(runs) == 1 else _PLURAL[verb]} "
        f"{_topics_text(names, total)}"
        for names, runs in islice(groups.items(), 5)
    ]
    if len(groups) > len(parts):
        rest = sum(len(runs) for runs in islice(groups.values(), 5, None))
        parts.append(f"so do {rest} more runs")
    return "; ".join(parts)


def _topics_text(topics: Sequence[str], total: int) -> str:
    """Return how many topics these are and which, of all and their share where that is known."""
    listed = enumerate_names(topics, 5)
    if not total:
        return f"{counted(len(topics), 'topic')} ({listed})"
    share = share_words(len(topics) / total)
    return f"{len(topics):,} of {counted(total, 'topic')} ({share}: {listed})"


def _name_runs(runs: Sequence[str]) -> str:
    if len(runs) == 1:
        return f"run {runs[0]!r}"
    return f"{len(runs)} runs ({enumerate_names([repr(run) for run in runs], 3)})"
