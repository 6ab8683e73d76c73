"""The scores of ranked lists on resampled collections, some topics at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from confir.arguments import as_generator, check_replicates
from confir.arrays import Booleans, Floats, Integers
from confir.data.ids import Words
from confir.data.ranked_lists.held_lists import HeldLists, TopicLists, split_by_size, topic_blocks
from confir.data.ranked_lists.rankings import Rankings, restrict_rankings, stack_rankings
from confir.data.reading_rules import Missing
from confir.data.scores import Scores
from confir.errors import (
    NothingRelevantWarning,
    TopicMismatchError,
    UnsupportedMethodError,
    enumerate_names,
    warn_caller,
)
from confir.measures.evaluation import score_rankings
from confir.measures.measure import ListMeasure, Measure
from confir.measures.parsing import parse_measures
from confir.parallel import Progress, iterate_blocks, run_ahead
from confir.resampling.document_kernels import (
    PLAIN_KERNELS,
    THRESHOLDS,
    DocumentKernels,
    compile_kernels,
    document_keys,
    seeded_keys,
)
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.replicate_scores import BLOCK, ReplicateScorer, is_average_precision
from confir.resampling.replicates import Rng

# From this many retrieved documents × replicates on, loading compiled kernels pays off.
_WORTH_COMPILING = 200_000_000

# Judged and listed documents of topics that are resampled together: their counts stay in the cache.
_TOGETHER = 8192

# Scores of some topics on resampled collections, and their acceleration.
DrawnScores: TypeAlias = tuple[Floats, Floats | None]


class TopicTask(NamedTuple):
    """What scores lists of some topics, the keys of their documents, and the observed scores.

    These are measures × runs × topics.
    """

    scorer: ReplicateScorer
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

    def split_topics(self, judged: Integers, depth: Integers) -> list[slice]:
        """Return which topics are resampled together: one by one, unless they have few documents.

        Parameters
        ----------
        judged
            Number of judged documents of each topic.
        depth
            Number of documents in each list: runs × topics.
        """
        # The jackknife scores all topics that are together for each document that it leaves out.
        together = 1 if self.jackknife else _TOGETHER
        return list(starmap(slice, split_by_size(judged + depth.sum(axis=0), together)))

    def resample(self, task: TopicTask) -> DrawnScores:
        """Return scores, measures × runs × topics × replicates, and the acceleration if wanted."""
        scorer = task.scorer
        values = np.empty((*task.scores.shape, self.replicates))
        for first in range(0, self.replicates, BLOCK):
            counts = np.empty((len(scorer.pool), min(BLOCK, self.replicates - first)), np.uint8)
            scorer.kernels.draw_counts(task.keys, first, THRESHOLDS, counts)
            values[..., first : first + BLOCK] = scorer.scores(self.measures, counts)
        jackknifed = scorer.acceleration(self.measures, task.scores) if self.jackknife else None
        return values, jackknifed


class Outline(NamedTuple):
    """Facts on lists that are the same on all resampled collections.

    Attributes
    ----------
    scores
        On the collection itself.
    relevant, retrieved
        Numbers of relevant documents, measures × topics, and of those in lists, measures × runs ×
        topics.
    judged
        Number of judged documents of each topic.
    depth
        Length of each list: runs × topics.
    left_out
        Topics without relevant documents.
    """

    scores: Scores
    relevant: Integers
    retrieved: Integers
    judged: Integers
    depth: Integers
    left_out: tuple[str, ...]


class PreparedLists:
    """Lists of the topics with relevant documents, ready to be resampled some topics at a time.

    Attributes
    ----------
    outline
        Facts that are the same on all resampled collections.
    blocks
        The topics to be held at a time: the first of each block, and its end.
    """

    def __init__(self, lists: TopicLists, drawing: Drawing) -> None:
        self._lists, self.drawing = lists, drawing
        self._kept, left_out = _with_relevant(lists)
        parts = lists.rankings()
        if not self._kept.all():
            parts = restrict_rankings(parts, self._kept)
        with_unknown = list(zip(parts, lists.unknown, strict=True))
        scores = score_rankings(
            parts[0].qrels,
            with_unknown,
            drawing.measures,
            depth=drawing.depth,
            missing=drawing.missing,
        )
        stacked = stack_rankings(parts)
        rankings = stacked if drawing.depth is None else stacked.cut(drawing.depth)
        levels = [measure.lowest_gain for measure in drawing.measures]
        retrieved = np.stack([np.diff(rankings.at_least(gain).offsets) for gain in levels])
        self.outline = Outline(
            scores,
            np.stack([rankings.count_at_least(gain)[:, 0] for gain in levels]),
            retrieved.reshape(-1, *rankings.present.shape),
            judged=np.diff(rankings.qrels.offsets),
            depth=rankings.depth[:, :, 0],
            left_out=left_out,
        )
        self._gains = rankings.levels
        self._depth = np.zeros(lists.depth.shape, np.int64)
        self._depth[:, self._kept] = _needed_depth(rankings, drawing)
        blocks = topic_blocks(self._depth)
        self.blocks = [block for block in blocks if self._kept[slice(*block)].any()]

    def hold(self, block: tuple[int, int]) -> HeldTopics:
        """Return the lists of some consecutive topics, with keys of the docids that are judged or listed."""
        start, stop = block
        kept = self._kept[start:stop]
        first, last = np.count_nonzero(self._kept[:start]), np.count_nonzero(self._kept[:stop])
        lists = self._lists.of_topics(start, stop, self._depth[:, start:stop])
        if not kept.all():
            lists = lists.restrict(kept)
        used = np.zeros(len(lists.docids), bool)
        used[lists.judged] = used[lists.documents] = True
        places = np.flatnonzero(used)
        needed = int(self._depth.sum())  # by all topics
        most_keys = min(needed, self._lists.mentioned * len(self.blocks))
        keys = np.zeros(len(used), np.uint64)
        keys[places] = seeded_keys(
            document_keys(lists.docids[places], most_keys), self.drawing.seed
        )
        loaded = compile_kernels.cache_info().currsize > 0
        worth = needed * self.drawing.replicates >= _WORTH_COMPILING
        kernels = (compile_kernels() if loaded or worth else None) or PLAIN_KERNELS
        scores = self.outline.scores.values[first:last]
        return HeldTopics(lists, keys, scores, self._gains, kernels)


class HeldTopics(NamedTuple):
    """Lists of some topics, the keys of their documents, and what is the same for all topics."""

    lists: HeldLists
    keys: Words
    scores: Floats
    gains: Integers
    kernels: DocumentKernels

    def task(self, topics: slice) -> TopicTask:
        """Return what is needed of some consecutive topics."""
        lists = self.lists.of_topics(topics.start, topics.stop)
        scorer = ReplicateScorer(lists, self.gains, self.kernels)
        return TopicTask(scorer, self.keys[scorer.pool], self.scores[topics].T)


def resample_lists(
    whole: TopicLists,
    measures: Sequence[Measure | ListMeasure],
    *,
    replicates: int,
    rng: Rng,
    progress: Progress | None = None,
    **drawing: Any,
) -> DocumentReplicates:
    """Return the scores of lists on resampled collections; other parameters as in `Drawing`."""
    check_replicates(replicates)
    seed = int(as_generator(rng).integers(2**63))
    lists = PreparedLists(whole, Drawing(tuple(measures), replicates, seed, **drawing))
    return join_topics(lists.outline, lists.drawing, _draw_scores(lists), progress)


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


def _draw_scores(lists: PreparedLists) -> Iterator[tuple[slice, DrawnScores]]:
    """Yield the scores of some topics at a time on resampled collections, and which topics."""
    drawing, done = lists.drawing, 0
    for held in run_ahead(lists.hold, lists.blocks, threads=1):
        parts = drawing.split_topics(np.diff(held.lists.qrels.offsets), held.lists.depth)
        for number, scores in iterate_blocks(drawing.resample, parts, None, held.task):
            yield slice(done + parts[number].start, done + parts[number].stop), scores
        done += len(held.scores)


def join_topics(
    outline: Outline,
    drawing: Drawing,
    drawn: Iterable[tuple[slice, DrawnScores]],
    progress: Progress | None,
) -> DocumentReplicates:
    """Return the scores of all topics on resampled collections.

    Progress is called with the number of topics that are done since the last call.
    """
    scores = outline.scores
    shape = len(scores.measures), len(scores.runs), len(scores.topics)
    values = np.empty((*shape, drawing.replicates))
    acceleration = np.empty(shape) if drawing.jackknife else None
    for topics, (own, skew) in drawn:
        values[:, :, topics] = own
        if acceleration is not None:
            acceleration[:, :, topics] = skew
        if progress is not None:
            progress(topics.stop - topics.start)
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


def _needed_depth(rankings: Rankings, drawing: Drawing) -> Integers:
    """Return how many documents of each list matter for scores on replicates: runs × topics.

    AP does not look below the last relevant document of a list. The jackknife leaves out any.
    """
    depth = rankings.depth[:, :, 0]
    if drawing.jackknife or not all(map(is_average_precision, drawing.measures)):
        return depth
    relevant = rankings.at_least(min(measure.lowest_gain for measure in drawing.measures))
    found = np.diff(relevant.offsets) > 0
    last = np.zeros(depth.size, np.int64)
    last[found] = relevant.before[relevant.offsets[1:][found] - 1, 0] + 1
    return last.reshape(depth.shape)


def _with_relevant(lists: TopicLists) -> tuple[Booleans, tuple[str, ...]]:
    """Return which topics have relevant documents; and warn of the others, by name."""
    qrels = lists.qrels
    levels, counts = qrels.count_by_gain()
    kept: Booleans = counts[:, levels >= 1].sum(axis=1) > 0
    if kept.all():
        return kept, ()
    names = tuple(topic for topic, has in zip(qrels.topics, kept, strict=True) if not has)
    if not kept.any():
        raise TopicMismatchError(
            "the qrels have no relevant document at all; expected a gain of 1 or more"
        )
    warn_caller(
        f"the qrels have no relevant document for {len(names)} of {len(qrels.topics)} topics "
        f"({enumerate_names(names)}), which have no score on resampled collections and are left "
        "out there",
        NothingRelevantWarning,
    )
    bare = (lists.depth.sum(axis=1) > 0) & (lists.depth[:, kept].sum(axis=1) == 0)
    if bare.any():
        run = lists.runs[int(np.argmax(bare))]
        raise TopicMismatchError(f"none of the topics of run {run!r} has a relevant document")
    return kept, names
