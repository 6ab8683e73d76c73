"""Lists on resampled collections, topic by topic: what is prepared, drawn and put together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.experiment import Missing
from confir.data.lists.ranked_lists import RankedLists
from confir.data.scores import Scores
from confir.data.streams.hashed_ids import Words
from confir.errors import (
    NothingRelevantWarning,
    TopicMismatchError,
    enumerate_names,
    warn_caller,
)
from confir.measures.evaluation import score_rankings
from confir.measures.measure import ListMeasure, Measure
from confir.parallel import Progress, iterate_blocks
from confir.resampling.document_kernels import (
    PLAIN_KERNELS,
    THRESHOLDS,
    DocumentKernels,
    compile_kernels,
    seeded_keys,
)
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.key_kernels import document_keys
from confir.resampling.topic_documents import (
    BLOCK,
    TopicDocuments,
    count_relevant,
    is_average_precision,
)

# From this many retrieved documents × replicates on, loading compiled kernels pays off.
_WORTH_COMPILING = 200_000_000


class TopicTask(NamedTuple):
    """A topic's lists, the streams of its documents, and its scores: measures × runs."""

    topic: TopicDocuments
    keys: Words
    scores: Floats


class Drawing(NamedTuple):
    """How collections are resampled, and lists scored on them.

    Attributes
    ----------
    measures, depth, missing
        What lists are scored by, and how, as in `evaluate`.
    replicates, seed
        How many collections, and what decides them.
    jackknife
        Whether each document is left out in turn as well.
    """

    measures: tuple[Measure | ListMeasure, ...]
    replicates: int
    seed: int
    depth: int | None = None
    missing: Missing = "zero"
    jackknife: bool = False

    def resample(self, task: TopicTask) -> tuple[Floats, Floats | None]:
        """Return scores, measures × runs × replicates, and the acceleration where it is wanted."""
        topic = task.topic
        values = np.empty((*task.scores.shape, self.replicates))
        for first in range(0, self.replicates, BLOCK):
            counts = np.empty((len(topic.pool), min(BLOCK, self.replicates - first)), np.uint8)
            topic.kernels.draw_counts(task.keys, first, THRESHOLDS, counts)
            values[:, :, first : first + BLOCK] = topic.scores(self.measures, counts)
        jackknifed = topic.acceleration(self.measures, task.scores) if self.jackknife else None
        return values, jackknifed


class Outline(NamedTuple):
    """What is known of lists beside their scores on resampled collections.

    Attributes
    ----------
    scores
        On the collection itself.
    relevant, retrieved
        Numbers of relevant documents, measures × topics, and of those in lists, measures × runs ×
        topics.
    depth
        Length of each list: runs × topics.
    left_out
        Topics without relevant documents.
    """

    scores: Scores
    relevant: Integers
    retrieved: Integers
    depth: Integers
    left_out: tuple[str, ...]


class PreparedLists:
    """Lists of the topics with relevant documents, ready to be resampled."""

    def __init__(self, whole: RankedLists, drawing: Drawing) -> None:
        lists, self._left_out = _with_relevant(whole)
        ranked = list(zip(lists.rankings(), lists.unknown, strict=True))
        depth, measures = drawing.depth, drawing.measures
        self._scores = score_rankings(
            lists.qrels, ranked, measures, depth=depth, missing=drawing.missing
        )
        self._lists = lists if depth is None else lists.cut(depth)
        self._resampled = _needed(self._lists, drawing)
        self.drawing = drawing
        self._kernels = choose_kernels(len(self._resampled.documents) * drawing.replicates)
        self._keys = _keys_of_listed(self._resampled, drawing.seed)
        self._gains = np.unique(lists.qrels.gains)

    def outline(self) -> Outline:
        """Return what is known beside the scores on resampled collections."""
        levels = [measure.lowest_gain for measure in self.drawing.measures]
        relevant, retrieved = count_relevant(self._lists, levels)
        return Outline(self._scores, relevant, retrieved, self._lists.depth, self._left_out)

    def task(self, number: int) -> TopicTask:
        """Return what is needed of one topic."""
        topic = TopicDocuments(self._resampled, number, self._gains, self._kernels)
        return TopicTask(topic, self._keys[topic.pool], self._scores.values[number].T)


def resample_prepared(lists: PreparedLists, progress: Progress | None = None) -> DocumentReplicates:
    """Return the scores of lists on resampled collections."""
    outline, drawing = lists.outline(), lists.drawing
    topics = range(len(outline.scores.topics))
    drawn = iterate_blocks(drawing.resample, topics, progress, lists.task)
    return join_topics(outline, drawing, drawn)


def join_topics(
    outline: Outline, drawing: Drawing, drawn: Iterable[tuple[int, tuple[Floats, Floats | None]]]
) -> DocumentReplicates:
    """Return the scores of all topics on resampled collections, which come by their number."""
    scores = outline.scores
    shape = len(scores.measures), len(scores.runs), len(scores.topics)
    values = np.empty((*shape, drawing.replicates))
    acceleration = np.empty(shape) if drawing.jackknife else None
    for number, (own, skew) in drawn:
        values[:, :, number] = own
        if acceleration is not None:
            acceleration[:, :, number] = skew
    estimate = np.where(outline.relevant.T[:, None, :] > 0, scores.values, np.nan)
    absent = np.isnan(estimate).transpose(2, 1, 0)
    values[absent] = np.nan
    return DocumentReplicates(
        scores=Scores(scores.topics, scores.runs, scores.measures, estimate),
        values=values,
        relevant=outline.relevant,
        relevant_retrieved=outline.retrieved,
        depth=outline.depth,
        acceleration=acceleration,
        seed=drawing.seed,
        left_out=outline.left_out,
    )


def choose_kernels(cells: int) -> DocumentKernels:
    """Return compiled kernels if retrieved documents × replicates are enough to pay off."""
    loaded = compile_kernels.cache_info().currsize > 0
    compiled = compile_kernels() if loaded or cells >= _WORTH_COMPILING else None
    return compiled or PLAIN_KERNELS


def _needed(lists: RankedLists, drawing: Drawing) -> RankedLists:
    """Return what replicates of the lists' scores depend on.

    AP does not look below the last relevant document of a list. The jackknife leaves out any.
    """
    if drawing.jackknife or not all(map(is_average_precision, drawing.measures)):
        return lists
    return lists.cut_below(min(measure.lowest_gain for measure in drawing.measures))


def _keys_of_listed(lists: RankedLists, seed: int) -> Words:
    """Return the seeded keys of docids that are judged or listed; others have none to be used."""
    used = np.zeros(len(lists.docids), bool)
    used[lists.judged] = used[lists.documents] = True
    places = np.flatnonzero(used)
    keys = np.zeros(len(used), np.uint64)
    keys[places] = seeded_keys(document_keys(lists.docids.take(places)), seed)
    return keys


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
