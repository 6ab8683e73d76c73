"""Runs and qrels of any size, evaluated part by part: a part holds whole topics."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from confir.arrays import Integers
from confir.data.exclusions import relevant_topics, warn_of_identical, warn_of_relevant_topics
from confir.data.experiment import Experiment, as_experiment, on_its_scheduler
from confir.data.formats.entries import QRELS, RUN
from confir.data.formats.sources import check_names
from confir.data.ids import hash_names
from confir.data.long_tables.arrow_documents import (
    count_identical,
    counting_rows,
    qrels_of_rows,
    rank_rows,
    text_array,
)
from confir.data.long_tables.documents_by_topic import HeldRows, ParquetRows, PartitionedRows
from confir.data.long_tables.score_blocks import StoredScores, TopicBlock
from confir.data.qrels import Qrels
from confir.data.reading_rules import ReadingOptions, ReadingRules, takes_rules
from confir.data.scores import Scores
from confir.errors import (
    FormatError,
    InvalidValueError,
    MissingTopicWarning,
    TopicMismatchError,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.measures.evaluation import (
    chosen_measures,
    evaluate,
    measure_rankings,
    report_topics,
    warn_of_nothing_relevant,
)
from confir.measures.foreign_measures import ForeignMeasure
from confir.measures.measure import AnyMeasure
from confir.measures.score_sources import summarise_scores, warn_of_summary
from confir.measures.score_summary import ScoreSummary, summary_of
from confir.parallel import Progress, in_order, iterate_blocks


class TopicCounts(NamedTuple):
    """How the topics of qrels and runs agree.

    Attributes
    ----------
    topics
        Topics of the qrels.
    without
        Those without a relevant document.
    highest
        The highest gain.
    lacking, unknown
        Of each run, the topics of the qrels that it lacks, and those that the qrels lack.
    identical
        Of each run, the topics for which it retrieves the document with the topic's id.
    own_relevant
        Topics whose document with the topic's id is relevant.
    """

    topics: int
    without: int
    highest: int
    lacking: Integers
    unknown: Integers
    identical: Integers
    own_relevant: int

    def merge(self, other: TopicCounts, /) -> TopicCounts:
        """Return the counts of both."""
        sums = TopicCounts(*map(operator.add, self, other))
        return sums._replace(highest=max(self.highest, other.highest))


class ScoredTopics(NamedTuple):
    """Topics with their ids, as an Arrow array, the scores of all runs and measures, and counts."""

    ids: Any
    block: TopicBlock
    counts: TopicCounts


@dataclass(frozen=True, slots=True)
class TopicScorer:
    """Scores rows of whole topics, anywhere: in this process, or on a worker of a cluster.

    Attributes
    ----------
    runs, measures, rules
        Names of the runs; what they are scored by; how lists are ranked and topics scored.
    sources
        What qrels and runs are called in messages.
    warned
        Whether relevant documents that do not count have been warned of before.
    """

    runs: tuple[str, ...]
    measures: tuple[AnyMeasure, ...]
    rules: ReadingRules
    sources: tuple[str, str]
    warned: bool = False

    def score(self, part: Sequence[Any]) -> ScoredTopics:
        """Return the scores on the topics of a part: rows of qrels, and of runs."""
        judged, retrieved = part
        rules, excluded = self.rules, self.rules.reading.exclusions
        judged = counting_rows(judged, excluded, retrieved=False)
        retrieved = counting_rows(retrieved, excluded, retrieved=True)
        qrels = qrels_of_rows(judged, self.sources[0]) if judged.num_rows else _NO_QRELS
        ranked = rank_rows(qrels, retrieved, self.runs, rules.tie_precision, self.sources[1])
        values = np.empty((len(self.runs) * len(self.measures), len(qrels.topics)))
        if len(qrels.topics):
            scores = measure_rankings(
                qrels, [ranked.rankings], self.measures, depth=rules.depth, missing=rules.missing
            )
            values = scores.transpose(1, 0, 2).reshape(values.shape)
        identical = np.zeros(len(self.runs), np.int64)
        if excluded.watches:
            identical = count_identical(retrieved, qrels, self.runs)
        levels, counts = qrels.count_by_gain()
        known = TopicCounts(
            len(qrels.topics),
            int(np.sum(counts[:, levels >= 1].sum(axis=1) == 0)),
            int(levels.max(initial=0)),
            np.sum(~ranked.rankings.present, axis=1),
            ranked.unknown,
            identical,
            len(relevant_topics(qrels)) if excluded.identical and not self.warned else 0,
        )
        return ScoredTopics(
            text_array(qrels.topics), TopicBlock(hash_names(qrels.topics), values), known
        )

    def check(self, counts: TopicCounts) -> None:
        """Raise or warn where runs and qrels have different topics, as `evaluate` does."""
        without = [
            run for run, n in zip(self.runs, counts.lacking, strict=True) if n == counts.topics
        ]
        if without:
            raise TopicMismatchError(f"run {without[0]!r} and the qrels have no topic in common")
        lacking = self._name(counts.lacking, "lacks")
        if lacking and self.rules.missing == "drop":
            warn_caller(f"{lacking} of the qrels, left out of the means", MissingTopicWarning)
        report_topics(lacking, self._name(counts.unknown, "has"), self.rules.missing)
        empty = f"{counts.without:,} of {counts.topics:,} topics" if counts.without else ""
        warn_of_nothing_relevant(empty, counts.highest, self.measures)
        found = dict(zip(self.runs, counts.identical.tolist(), strict=True))
        warn_of_identical(found, counts.topics)
        own = counts.own_relevant
        warn_of_relevant_topics(counted(own, "topic") if own else "")

    def _name(self, numbers: Integers, verb: str) -> str:
        """Return "run 'x' lacks 2 topics", or the same for several runs; nothing of none."""
        pairs = zip(self.runs, numbers.tolist(), strict=True)
        named = [
            f"run {run!r} {verb} {counted(number, 'topic')}" for run, number in pairs if number
        ]
        return enumerate_names(named, 5)


_NONE = np.zeros(0, np.int64)
_NO_QRELS = Qrels((), np.zeros(1, np.int64), (), _NONE, _NONE, (), _NONE)


class PartitionedEvaluation:
    """Runs in Parquet datasets and their qrels, scored when they are asked for.

    Rows are put into parts here. Workers of a scheduler in use get parts, and return their scores.
    What is called ``progress`` is called with 1 after each part.
    """

    def __init__(self, scorer: TopicScorer, rows: PartitionedRows) -> None:
        self._scorer = scorer
        self._rows = rows

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self._rows)

    def hold(self, progress: Progress | None) -> Scores:
        """Return the scores in memory."""
        return _held(*self._store(math.inf, progress))

    def summarise(self) -> ScoreSummary:
        """Return a summary of the scores."""
        return summary_of(self._store(0, None)[0])

    def hold_or_summarise(self, most: int, progress: Progress | None) -> Scores | ScoreSummary:
        """Return the scores in memory if they are at most so many; else their summary."""
        stored, names = self._store(most, progress)
        if names:
            return _held(stored, names)
        columns = len(self._scorer.runs) * len(self._scorer.measures)
        warn_of_summary(self._scorer.sources[1], stored.topics * columns)
        return summary_of(stored)

    def _store(self, most: float, progress: Progress | None) -> tuple[StoredScores, list[Any]]:
        """Return the scores on disk, and the ids of all topics if scores are at most so many."""
        scorer = self._scorer
        stored = StoredScores(scorer.runs, tuple(map(str, scorer.measures)), scorer.sources[1])
        names: list[Any] = []
        for ids, block, _ in self._score(progress):
            stored.add(block, ids)
            few = stored.topics * len(block.values) <= most
            if few:
                names.append(ids)
            else:
                names.clear()
        return stored, names

    def _score(self, progress: Progress | None) -> Iterator[ScoredTopics]:
        """Yield the topics of all parts; warn at the end."""
        counts: TopicCounts | None = None
        found = iterate_blocks(self._scorer.score, self._rows.parts(), progress)
        for scored in in_order(found):
            counts = scored.counts if counts is None else counts.merge(scored.counts)
            if len(scored.ids):
                yield scored
        if counts is not None:
            self._scorer.check(counts)


def _held(stored: StoredScores, names: Sequence[Any]) -> Scores:
    """Return scores on disk as scores in memory, with the ids of their topics."""
    topics = [name for ids in names for name in ids.to_pylist()]
    order = sorted(range(len(topics)), key=topics.__getitem__)
    values = np.concatenate([block.values for block in stored.blocks()], axis=1)[:, order]
    shape = len(stored.runs), len(stored.measures), len(topics)
    return Scores(
        tuple(topics[place] for place in order),
        stored.runs,
        stored.measures,
        np.ascontiguousarray(values.reshape(shape).transpose(2, 0, 1)),
    )


def check_partitioned(measures: Sequence[AnyMeasure], rules: ReadingRules) -> None:
    """Raise where measures or rules need more than the rows of a part of the topics."""
    foreign = [measure for measure in measures if isinstance(measure, ForeignMeasure)]
    if foreign:
        raise InvalidValueError(
            f"{foreign[0]} is computed by ir_measures, which takes no part of a dataset; expected "
            "measures of confir, or runs in other files"
        )
    if rules.intents is not None:
        raise InvalidValueError("intents are not used where topics are evaluated in parts")


def evaluate_partitions(
    experiment: Experiment, measures: Sequence[AnyMeasure]
) -> PartitionedEvaluation:
    """Return the evaluation of an experiment whose runs are Parquet datasets."""
    check_partitioned(measures, experiment.rules)
    runs = [ParquetRows(file.path, RUN, file.name) for file in experiment.run_datasets]
    check_names((name, rows.source, True) for rows in runs for name in rows.runs)
    folder = experiment.judgement_dataset
    qrels = HeldRows(experiment.qrels) if folder is None else ParquetRows(folder, QRELS)
    if not qrels.rows:
        raise FormatError("the qrels are empty; expected one row per judgement", path=qrels.source)
    names = tuple(name for rows in runs for name in rows.runs)
    sources = qrels.source, runs[0].source
    scorer = TopicScorer(names, tuple(measures), experiment.rules, sources, warned=folder is None)
    return PartitionedEvaluation(scorer, PartitionedRows(runs, qrels))


@on_its_scheduler
@takes_rules
def summarise_runs(
    qrels: Any, runs: Any = None, measures: Any = None, **rules: Unpack[ReadingOptions]
) -> ScoreSummary:
    """Return a summary of the scores of runs that are too many to be read whole.

    Rows are partitioned by topic in a temporary folder, then evaluated part by part. Memory holds
    one part of about half a million rows, and more only beyond 67 million rows in all.

    Parameters
    ----------
    qrels
        As in `evaluate`; a folder of Parquet files is partitioned, too.
    runs
        Parquet files, or folders of them, which may be partitioned by run, by topic or in any other
        way (``run=bm25/part-0.parquet``). A topic may be split over files. Runs in anything else,
        and those of up to a million rows in all, are evaluated in memory.
    measures, **rules
        As in `evaluate`; neither intents nor a design.

    Examples
    --------
    >>> qrels = {"1": {"d1": 1, "d2": 0}, "2": {"d3": 2}}
    >>> runs = {"a": {"1": {"d1": 2.0, "d9": 1.0}, "2": {"d3": 1.0}}}
    >>> confir.summarise_runs(qrels, runs, "AP").mean()
    array([[1.]])
    """
    experiment = as_experiment(qrels, runs, rules, without_design="a summary of runs")
    wanted = chosen_measures(experiment, measures)
    if not experiment.run_datasets:
        return summarise_scores(evaluate(experiment, None, measures))
    return evaluate_partitions(experiment, wanted).summarise()
