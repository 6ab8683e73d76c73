"""Evaluation on a cluster: workers read the files, a run per task, and return its scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.exclusions import warn_of_identical
from confir.data.experiment import Experiment
from confir.data.formats.format import RunSource
from confir.data.qrels import Qrels
from confir.data.ranked_lists.rankings import empty_rankings
from confir.data.reading_rules import ReadingRules
from confir.data.scores import Scores
from confir.measures.evaluation import check_ranked, measure_rankings, rank_sources
from confir.measures.measure import AnyMeasure
from confir.parallel import Progress, run_blocks
from confir.scheduler import check_visible


def evaluate_on_workers(
    experiment: Experiment, measures: Sequence[AnyMeasure], progress: Progress | None
) -> Scores:
    """Return the scores of runs in files, which the workers of the scheduler in use read."""
    qrels, rules = experiment.qrels, experiment.rules
    scorer = _Scorer(qrels, tuple(measures), rules)
    scored = run_blocks(scorer, find_run_files(experiment), progress)
    empty, none = empty_rankings(qrels), np.zeros(0, np.int64)
    ranked = [
        (empty.filled((run.name,), run.depth[None], none, none, none), run.unknown)
        for run in scored
    ]
    warn_of_identical({run.name: run.identical for run in scored}, len(qrels.topics))
    check_ranked(qrels, ranked, measures, rules.missing)
    return Scores(
        topics=qrels.topics,
        runs=tuple(run.name for run in scored),
        measures=tuple(str(measure) for measure in measures),
        values=np.ascontiguousarray(np.stack([run.values.T for run in scored], axis=1)),
    )


class RunFile(NamedTuple):
    """A run's file, by its absolute path, and its size in bytes."""

    source: RunSource
    size: int

    def check(self) -> None:
        """Raise, on a worker, where it does not see the file."""
        check_visible(self.source.path, self.size)


def find_run_files(experiment: Experiment) -> list[RunFile]:
    """Return the files of an experiment whose runs are all in files."""
    return [
        RunFile(source._replace(path=os.path.abspath(source.path)), os.path.getsize(source.path))
        for source in cast("Sequence[RunSource]", experiment.sources)
    ]


class _ScoredRun(NamedTuple):
    """The scores of a run, measures × topics, and the topics that it has.

    The length of the list of each topic of the qrels, the topics that these lack, and the number of
    lists with a document that has the topic's id.
    """

    name: str
    depth: Integers
    unknown: tuple[str, ...]
    values: Floats
    identical: int


@dataclass(frozen=True)
class _Scorer:
    """Scores the run in a file."""

    qrels: Qrels
    measures: tuple[AnyMeasure, ...]
    rules: ReadingRules

    def __call__(self, file: RunFile) -> _ScoredRun:
        file.check()
        identical: dict[str, int] = {}
        ranked, runs = rank_sources(
            self.qrels, [file.source], self.measures, self.rules, identical=identical
        )
        (rankings, unknown), rules = ranked[0], self.rules
        values = measure_rankings(
            self.qrels,
            [rankings],
            self.measures,
            depth=rules.depth,
            missing=rules.missing,
            runs=runs,
        )
        (name,), depth = rankings.runs, rankings.depth[0, :, 0]
        return _ScoredRun(name, depth, unknown, values[:, 0], identical.get(name, 0))
