"""Which topics are hard, which separate the runs, and where does a run fail?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Floats, Integers
from confir.data.result import Result, Variable, axis, over, result
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.errors import counted
from confir.measures.score_sources import as_scores
from confir.resampling.kinds import needs
from confir.resampling.sample import Knowledge

# The columns of the chosen run.
_OF_RUN = ("score", "shortfall")

# A correlation needs at least this many runs.
_LEAST_RUNS = 3


@result
class TopicDifficulty(Result):
    """The scores of all runs on each topic, and of one chosen run.

    Attributes
    ----------
    scores
        The scores of the runs.
    measures, topics
        Names; arrays are topics × measures.
    runs
        Number of runs with a score.
    lowest, median, highest
        Of the runs' scores; NaN where no run has one.
    discrimination
        Correlation, over the runs, of the topic's score with the mean over the other topics: a
        topic near 1 ranks the runs as the other topics do, one near 0 or below does not.
    run
        The run to examine; None for none.
    """

    scores: Scores
    measures: tuple[str, ...] = axis("measure")
    topics: tuple[str, ...] = axis("topic")
    runs: Integers = over("topic", "measure")
    lowest: Floats = over("topic", "measure")
    median: Floats = over("topic", "measure")
    highest: Floats = over("topic", "measure")
    discrimination: Floats = over("topic", "measure")
    run: str | None

    @property
    def run_score(self) -> Floats:
        """Scores of the chosen run: topics × measures."""
        scores: Floats = self.scores.values[:, self.scores.runs.index(str(self.run))]
        return scores

    @property
    def shortfall(self) -> Floats:
        """How far the chosen run is below the best run of each topic."""
        return self.highest - self.run_score

    def derived(self) -> Iterator[Variable]:
        """Yield the columns of the chosen run."""
        if self.run is not None:
            along = ("topic", "measure")
            yield Variable("run", (), self.run)
            for name, values in zip(_OF_RUN, (self.run_score, self.shortfall), strict=True):
                yield Variable(name, along, values)

    def table_columns(self) -> TableColumns:
        """Return how the columns read: numbers of all runs, then of the chosen one."""
        numbers = dict.fromkeys(("lowest", "median", "highest"), TableColumn(Role.SCORE))
        of_run = {} if self.run is None else dict.fromkeys(_OF_RUN, TableColumn(Role.SCORE))
        return {
            "measure": TableColumn(Role.NAME, if_several=True),
            "topic": TableColumn(Role.NAME),
            "runs": TableColumn(Role.COUNT),
            **numbers,
            "discrimination": TableColumn(Role.SCORE, "discr."),  # short, for a narrow terminal
            **of_run,
        }

    def note(self) -> str:
        """Return what the columns are."""
        note = (
            f"lowest, median and highest score of {counted(len(self.scores.runs), 'run')}; discr.: "
            "discrimination, the correlation of the topic's scores with the means over the other topics"
        )
        if self.run is None:
            return note
        return f"{note}; score of {self.run}, and its shortfall from the best run of the topic"

    def rows(self) -> Integers:
        """Return the rows of each measure, hardest topics first, without topics that lack scores."""
        order = np.argsort(self.median, axis=0, kind="stable").T
        places = order + len(self.topics) * np.arange(len(self.measures))[:, None]
        scored: Integers = places[np.take_along_axis(self.runs.T, order, axis=1) > 0]
        return scored


@needs(Knowledge.TOPICS, "the difficulty of topics")
def describe_topics(scores: ScoresSource, *, run: str | None = None) -> TopicDifficulty:
    """Return range and median of the runs' scores on each topic, and its discrimination.

    Parameters
    ----------
    scores
        Anything that `as_scores` takes; missing scores are ignored.
    run
        A run to examine: its score, and how far it is below the best.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.describe_topics(scores)
    TopicDifficulty(measure: 1, topic: 4)
    """
    scores = as_scores(scores, human=True)
    if run is not None:
        as_choice("run", run, scores.runs)
    count = (~np.isnan(scores.values)).sum(axis=1)
    none = count == 0
    known = np.where(none[:, None], 0.0, scores.values)
    lowest, median, highest = (
        np.where(none, np.nan, statistic(known, axis=1))
        for statistic in (np.nanmin, np.nanmedian, np.nanmax)
    )
    return TopicDifficulty(
        scores,
        scores.measures,
        scores.topics,
        count,
        lowest,
        median,
        highest,
        _discrimination(scores.values),
        run,
    )


def _discrimination(values: Floats) -> Floats:
    """Return the correlation of each topic's scores with the runs' means over the other topics.

    Runs without a score on the topic do not count; NaN for fewer than three runs, and where either
    does not vary.
    """
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    others = there.sum(axis=0) - there
    rest = np.divide(
        filled.sum(axis=0) - filled, others, out=np.full(values.shape, np.nan), where=others > 0
    )
    used = there & ~np.isnan(rest)
    runs = used.sum(axis=1)

    centred = []
    for part in (filled, rest):
        known = np.where(used, part, 0.0)
        mean = known.sum(axis=1, keepdims=True) / np.maximum(runs, 1)[:, None]
        centred.append(np.where(used, known - mean, 0.0))
    own, others_mean = centred
    size = np.sqrt((own**2).sum(axis=1) * (others_mean**2).sum(axis=1))
    enough = (runs >= _LEAST_RUNS) & (size > 1e-12)
    correlation: Floats = np.divide(
        (own * others_mean).sum(axis=1), size, out=np.full(size.shape, np.nan), where=enough
    )
    return correlation
