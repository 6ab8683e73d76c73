"""The bootstrap over documents ([Cormack2006]): what if the collection had other documents?

A replicate is one resampled collection: every document occurs k times, k from Poisson(1), the same
k in every topic, run and measure. Lists and qrels are not expanded: copies of a document only move
others down (see `Rankings`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np

from confir.arguments import as_choice, as_flag, as_function, as_generator
from confir.arrays import Floats
from confir.data.experiment import (
    Experiment,
    Missing,
    ReadingOptions,
    ReadingRules,
    as_experiment,
    on_its_scheduler,
    takes_rules,
)
from confir.data.lists.ranked_lists import RankedLists
from confir.data.scores import Scores
from confir.data.streams.hashed_ids import Words
from confir.defaults import DOCUMENT_REPLICATES
from confir.errors import (
    InvalidValueError,
    NothingRelevantWarning,
    TopicMismatchError,
    UnsupportedMethodError,
    enumerate_names,
    warn_caller,
)
from confir.measures.evaluation import chosen_measures, score_rankings
from confir.measures.measure import ListMeasure, Measure
from confir.measures.parsing import parse_measures
from confir.parallel import Progress, iterate_blocks
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.document_kernels import (
    PLAIN_KERNELS,
    THRESHOLDS,
    DocumentKernels,
    compile_kernels,
    document_keys,
    seeded_keys,
)
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.topic_documents import (
    BLOCK,
    TopicDocuments,
    count_relevant,
)
from confir.resampling.topics import Rng, check_replicates

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

# From this many retrieved documents × replicates on, loading compiled kernels pays off.
_WORTH_COMPILING = 200_000_000


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
    rng: Rng = None,
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
    if baseline is not None:
        as_choice("baseline", baseline, resampled.runs, "run")
    if statistic == "score":
        if len(resampled.measures) > 1 or with_topics:
            raise InvalidValueError("statistic 'score' takes one measure, and no with_topics")
        return resampled.topic_distribution(resampled.measures[0])
    summary = statistic.removesuffix("difference").removesuffix("-") or "mean"
    parts = [
        resampled.summary_distribution(measure, summary, with_topics=with_topics)
        if baseline is None
        else resampled.difference_distribution(measure, baseline, summary, with_topics=with_topics)
        for measure in resampled.measures
    ]
    return _interleave(parts)


def _interleave(parts: Sequence[SamplingDistribution]) -> SamplingDistribution:
    """Return one distribution of runs × measures from one for each measure."""
    if len(parts) == 1:
        return parts[0]
    order = np.arange(len(parts) * len(parts[0].labels)).reshape(len(parts), -1).T.reshape(-1)

    def join(name: str, axis: int = 0) -> Any:
        return np.concatenate([getattr(part, name) for part in parts], axis).take(order, axis)

    labels = [label for part in parts for label in part.labels]
    return SamplingDistribution(
        labels=tuple(labels[place] for place in order.tolist()),
        estimate=join("estimate"),
        count=join("count"),
        df=join("df"),
        support=join("support"),
        resampled=parts[0].resampled,
        se=join("se"),
        replicates=join("replicates", axis=1),
        dropped=join("dropped"),
    )


@on_its_scheduler
@takes_rules
def resample_documents(
    qrels: Experiment | Any,
    runs: Any = None,
    measures: str | Measure | Sequence[Any] | None = None,
    *,
    replicates: int = DOCUMENT_REPLICATES,
    rng: Rng = None,
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
        Called with 1 after each topic.
    """
    check_replicates(replicates)
    as_flag("jackknife", jackknife)
    as_function("progress", progress)
    generator = as_generator(rng)
    experiment = as_experiment(
        qrels, runs, ReadingRules(**rules), without_design="the bootstrap over documents"
    )
    wanted = resampled_measures(chosen_measures(experiment, measures, ["AP"]), experiment.rules.rel)
    return resample_lists(
        experiment.lists(),
        wanted,
        replicates=replicates,
        rng=generator,
        depth=experiment.rules.depth,
        missing=experiment.rules.missing,
        jackknife=jackknife,
        progress=progress,
    )


def resample_lists(
    whole: RankedLists,
    measures: Sequence[Measure | ListMeasure],
    *,
    replicates: int = DOCUMENT_REPLICATES,
    rng: Rng = None,
    depth: int | None = None,
    missing: Missing = "zero",
    jackknife: bool = False,
    progress: Progress | None = None,
) -> DocumentReplicates:
    """Return the scores of lists on resampled collections; parameters as in `resample_documents`."""
    check_replicates(replicates)
    seed = int(as_generator(rng).integers(2**63))
    lists, left_out = _with_relevant(whole)
    ranked = list(zip(lists.rankings(), lists.unknown, strict=True))
    scores = score_rankings(lists.qrels, ranked, measures, depth=depth, missing=missing)
    if depth is not None:
        lists = lists.cut(depth)
    topics = len(lists.qrels.topics)
    kernels = choose_kernels(len(lists.documents) * replicates)
    values = np.empty((len(measures), len(lists.runs), topics, replicates))
    acceleration = np.empty(values.shape[:3]) if jackknife else None
    keys = seeded_keys(document_keys(lists.docids), seed)
    gains = np.unique(lists.qrels.gains)

    def prepare(number: int) -> _TopicTask:
        topic = TopicDocuments(lists, number, gains, kernels)
        return _TopicTask(topic, keys[topic.pool], scores.values[number].T)

    resampled = _TopicResampling(tuple(measures), replicates, jackknife)
    for number, (drawn, skew) in iterate_blocks(resampled, range(topics), progress, prepare):
        values[:, :, number] = drawn
        if acceleration is not None:
            acceleration[:, :, number] = skew
    levels = [measure.lowest_gain for measure in measures]
    relevant, retrieved = count_relevant(lists, levels)
    estimate = np.where(relevant.T[:, None, :] > 0, scores.values, np.nan)
    absent = np.isnan(estimate).transpose(2, 1, 0)
    values[absent] = np.nan
    return DocumentReplicates(
        scores=Scores(scores.topics, scores.runs, scores.measures, estimate),
        values=values,
        relevant=relevant,
        relevant_retrieved=retrieved,
        depth=lists.depth,
        acceleration=acceleration,
        seed=seed,
        left_out=left_out,
    )


class _TopicTask(NamedTuple):
    """A topic's lists, the streams of its documents, and its scores: measures × runs."""

    topic: TopicDocuments
    keys: Words
    scores: Floats


@dataclass(frozen=True, slots=True)
class _TopicResampling:
    """Scores the lists of a topic on resampled collections; `resample_lists` has the parameters."""

    measures: tuple[Measure | ListMeasure, ...]
    replicates: int
    jackknife: bool

    def __call__(self, task: _TopicTask) -> tuple[Floats, Floats | None]:
        """Return scores, measures × runs × replicates, and the acceleration where it is wanted."""
        topic = task.topic
        values = np.empty((*task.scores.shape, self.replicates))
        for first in range(0, self.replicates, BLOCK):
            counts = np.empty((len(topic.pool), min(BLOCK, self.replicates - first)), np.uint8)
            topic.kernels.draw_counts(task.keys, first, THRESHOLDS, counts)
            values[:, :, first : first + BLOCK] = topic.scores(self.measures, counts)
        jackknifed = topic.acceleration(self.measures, task.scores) if self.jackknife else None
        return values, jackknifed


def choose_kernels(cells: int) -> DocumentKernels:
    """Return compiled kernels if retrieved documents × replicates are enough to pay off."""
    loaded = compile_kernels.cache_info().currsize > 0
    compiled = compile_kernels() if loaded or cells >= _WORTH_COMPILING else None
    return compiled or PLAIN_KERNELS


def resampled_measures(measures: Any, rel: int = 1) -> list[Measure | ListMeasure]:
    """Return the measures of some names; raise if one cannot be resampled."""
    wanted: list[Measure | ListMeasure] = []
    for measure in parse_measures(measures, rel):
        if not isinstance(measure, Measure | ListMeasure):
            raise UnsupportedMethodError(
                f"{measure} is computed by ir_measures and cannot be resampled over documents; "
                "confir measures lists those that can"
            )
        wanted.append(measure)
    return wanted


def _with_relevant(lists: RankedLists) -> tuple[RankedLists, tuple[str, ...]]:
    """Return the lists of topics with relevant documents, and warn of the other topics."""
    qrels = lists.qrels
    levels, counts = qrels.count_by_gain()
    kept = counts[:, levels >= 1].sum(axis=1) > 0
    if kept.all():
        return lists, ()
    names = tuple(topic for topic, has in zip(qrels.topics, kept, strict=True) if not has)
    if not kept.any():
        raise TopicMismatchError(
            "the qrels have no relevant document at all; expected a gain of 1 or more"
        )
    warn_caller(
        f"the qrels have no relevant document for {len(names)} of {len(qrels.topics)} topics "
        f"({enumerate_names(names)}), which are left out: they have no score on any resampled collection; "
        "evaluate includes them, 0 by most measures",
        NothingRelevantWarning,
    )
    left = lists.restrict(kept)
    bare = (lists.depth.sum(axis=1) > 0) & (left.depth.sum(axis=1) == 0)
    if bare.any():
        run = lists.runs[int(np.argmax(bare))]
        raise TopicMismatchError(f"none of the topics of run {run!r} has a relevant document")
    return left, names
