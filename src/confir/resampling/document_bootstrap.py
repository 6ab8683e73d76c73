"""The bootstrap over documents ([Cormack2006]).

A replicate is one resampled collection: every document occurs k times, k from Poisson(1), the same
k in every topic, run and measure. Lists and qrels are not expanded: copies of a document only move
others down (see `Rankings`). On a cluster, workers read the runs' files, and draw by topics.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Literal, Unpack, get_args

from confir.arguments import as_choice, as_flag, as_function, as_generator, check_replicates
from confir.data.experiment import Experiment, as_experiment, on_its_scheduler
from confir.data.qrels import Qrels
from confir.data.ranked_lists.list_reader import read_source_lists
from confir.data.reading_rules import ReadingOptions, ReadingRules, takes_rules
from confir.defaults import DOCUMENT_REPLICATES, SEED
from confir.errors import InvalidValueError, collect_warnings
from confir.measures.evaluation import chosen_measures
from confir.measures.measure import Measure
from confir.measures.worker_evaluation import RunFile, find_run_files
from confir.parallel import CURRENT_SCHEDULER, Progress, iterate_blocks, run_blocks
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.kinds import against
from confir.resampling.list_resampling import (
    Drawing,
    DrawnScores,
    HeldTopics,
    Outline,
    PreparedLists,
    join_topics,
    resample_lists,
    resampled_measures,
)
from confir.resampling.replicates import Rng

DocumentStatistic = Literal[
    "score",
    "mean",
    "geometric-mean",
    "logit-mean",
    "difference",
    "geometric-mean-difference",
    "logit-mean-difference",
]
DOCUMENT_STATISTICS: tuple[DocumentStatistic, ...] = get_args(DocumentStatistic)


@on_its_scheduler
@takes_rules
def bootstrap_documents(
    qrels: Experiment | Any,
    runs: Any = None,
    measures: str | Measure | Sequence[Any] | None = None,
    *,
    statistic: DocumentStatistic = "mean",
    baseline: str | None = None,
    with_topics: bool = False,
    replicates: int = DOCUMENT_REPLICATES,
    rng: Rng = SEED,
    **rules: Unpack[ReadingOptions],
) -> SamplingDistribution:
    """Return the distribution of a statistic over resampled collections.

    Parameters
    ----------
    qrels, runs, measures, **rules
        As in `evaluate`, by default AP; topics without relevant documents are left out.
    statistic
        "score" (one column per run and topic, for one measure); "mean", "geometric-mean" or
        "logit-mean" over topics; or one of their differences from the baseline's. Geometric and
        logit means stay on the log and logit scale.
    baseline
        The run that the others are compared with.
    with_topics
        Whether topics vary as well as documents.
    replicates, rng
        Number of replicates, and seed or generator.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> confir.bootstrap_documents(sample.qrels, sample.runs[:1], "AP", replicates=50)
    SamplingDistribution(1 columns, 50 replicates of documents)
    """
    as_choice("statistic", statistic, DOCUMENT_STATISTICS)
    as_flag("with_topics", with_topics)
    compares = statistic.endswith("difference")
    if compares != (baseline is not None):
        takes = "needs a" if compares else "takes no"
        raise InvalidValueError(f"statistic {statistic!r} {takes} baseline")
    resampled = resample_documents(
        qrels,
        runs,
        measures,
        replicates=replicates,
        rng=rng,
        jackknife=statistic == "score",
        **rules,
    )
    if statistic == "score":
        if len(resampled.measures) > 1 or with_topics:
            raise InvalidValueError("statistic 'score' takes one measure, and no with_topics")
        return resampled.topic_distribution(resampled.measures[0])
    summary = statistic.removesuffix("difference").removesuffix("-") or "mean"
    sample = CollectionSample.of(resampled, summary)
    if baseline is not None:
        sample = against(sample, baseline)
    return sample.distribution_with_topics() if with_topics else sample.distribution(slice(None))


@on_its_scheduler
@takes_rules
def resample_documents(
    qrels: Experiment | Any,
    runs: Any = None,
    measures: str | Measure | Sequence[Any] | None = None,
    *,
    replicates: int = DOCUMENT_REPLICATES,
    rng: Rng = SEED,
    jackknife: bool = False,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> DocumentReplicates:
    """Return the scores of every run, topic and measure on resampled collections.

    Parameters
    ----------
    qrels, runs, measures, **rules
        As in `evaluate`, by default AP; topics without relevant documents are left out.
    replicates, rng
        Number of replicates, and seed or generator.
    jackknife
        Whether to leave out each document in turn, for BCa intervals.
    progress
        Called with the number of topics that are done since the last call.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> confir.resample_documents(sample.qrels, sample.runs[:1], "AP", replicates=50)
    DocumentReplicates(run: 1, measure: 1, topic: 50, replicate: 50)
    """
    check_replicates(replicates)
    as_flag("jackknife", jackknife)
    as_function("progress", progress)
    generator = as_generator(rng)
    experiment = as_experiment(qrels, runs, rules, without_design="the bootstrap over documents")
    wanted = resampled_measures(chosen_measures(experiment, measures, ["AP"]), experiment.rules.rel)
    rule = experiment.rules
    if (
        CURRENT_SCHEDULER.get() is not None
        and "lists" not in experiment.kept
        and experiment.is_in_files
    ):
        seed = int(generator.integers(2**63))
        drawing = Drawing(tuple(wanted), replicates, seed, rule.depth, rule.missing, jackknife)
        return _resample_files(experiment, drawing, progress)
    return resample_lists(
        experiment.lists_by_topic(),
        wanted,
        replicates=replicates,
        rng=generator,
        progress=progress,
        depth=rule.depth,
        missing=rule.missing,
        jackknife=jackknife,
    )


def _resample_files(
    experiment: Experiment, drawing: Drawing, progress: Progress | None
) -> DocumentReplicates:
    """Return the scores of runs in files, which workers read, on resampled collections."""
    files = _FileLists(experiment.qrels, find_run_files(experiment), experiment.rules, drawing)
    (outline,) = run_blocks(files.outline, [None])
    parts = drawing.split_topics(outline.judged, outline.depth)
    drawn = ((parts[number], scores) for number, scores in iterate_blocks(files.resample, parts))
    return join_topics(outline, drawing, drawn, progress)


class _FileLists:
    """Lists in files, which every process reads once, when it gets its first topics."""

    def __init__(
        self, qrels: Qrels, files: Sequence[RunFile], rules: ReadingRules, drawing: Drawing
    ) -> None:
        self._given = qrels, files, rules, drawing
        self._reading = threading.Lock()
        self._held: HeldTopics | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Let other processes read the files themselves."""
        return type(self), self._given

    def outline(self, _: None) -> Outline:
        """Return what is the same on all resampled collections, with all warnings."""
        return self._prepare().outline

    def resample(self, topics: slice) -> DrawnScores:
        """Return the scores of some topics on resampled collections."""
        qrels, _, _, drawing = self._given
        with self._reading:  # of the threads of a worker, one reads
            if self._held is None:
                with collect_warnings():  # which `outline` gives
                    self._held = self._prepare().hold((0, len(qrels.topics)))
            held = self._held
        return drawing.resample(held.task(topics))

    def _prepare(self) -> PreparedLists:
        qrels, files, rules, drawing = self._given
        for file in files:
            file.check()
        sources = [file.source for file in files]
        excluded = rules.reading.exclusions.without_watch()
        how = (rules.name_by, rules.tie_precision, None, excluded)
        return PreparedLists(read_source_lists(qrels, sources, *how), drawing)
