"""What if the collection had held other documents? The bootstrap over documents ([Cormack2006]).

A replicate is one resampled collection: every document stands in it k times, k from Poisson(1),
the same k in every topic, run and measure. Lists and qrels are not expanded: a document's copies
only move the others down, which `Rankings` says in full.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from confir.arrays import Booleans, Bytes, Floats, Integers
from confir.data.files import PathLike
from confir.data.neighbours import as_qrels, as_runs
from confir.data.qrels import Intents, Qrels
from confir.data.rankings import Rankings
from confir.data.run import Run
from confir.data.scores import Scores
from confir.data.trec_files import NameBy, read_run
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
    UnsupportedMethodError,
    enumerate_names,
)
from confir.measures.catalogue import MEASURES, is_bounded
from confir.measures.evaluation import Missing, evaluate, parse_measures
from confir.measures.measure import ListMeasure, Measure
from confir.measures.summary import LOGIT_MARGIN, SUMMARIES, Transform, clipped_logit
from confir.parallel import run_in_threads
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.document_kernels import (
    HIGHEST_COUNT,
    PLAIN_KERNELS,
    THRESHOLDS,
    Kernels,
    Words,
    compile_kernels,
    document_keys,
    seeded_keys,
)
from confir.resampling.topics import Rng, check_replicates, topic_weights

DOCUMENT_REPLICATES = 2_000  # as [Cormack2006] §6

DocumentStatistic = Literal[
    "score",
    "mean",
    "geometric-mean",
    "logit-mean",
    "difference",
    "geometric-mean-difference",
    "logit-mean-difference",
]
STATISTICS: tuple[DocumentStatistic, ...] = (
    "score",
    "mean",
    "geometric-mean",
    "logit-mean",
    "difference",
    "geometric-mean-difference",
    "logit-mean-difference",
)

Progress = Callable[[int], None]

# Replicates at work together: the counts of a topic's documents fit the processor's cache.
_BLOCK = 512

# Judged documents × replicates that numpy measures at once.
_CELLS = 400_000

# Listed documents × replicates from which compiled kernels repay their loading.
_WORTH_COMPILING = 200_000_000


@dataclass(frozen=True, slots=True, eq=False)
class RankedDocuments:
    """The whole ranked lists of several runs, each document known by a key.

    Attributes
    ----------
    qrels
        The judgements; their topics, each with a relevant document, are those of the lists.
    runs
        Names of the runs.
    keys
        A key for each distinct docid.
    judged
        Position in ``keys`` of each document of the qrels.
    offsets
        The list of run r and topic t is ``offsets[r * topics + t]`` to the next offset.
    documents
        Position in ``keys`` of each listed document, in rank order.
    """

    qrels: Qrels
    runs: tuple[str, ...]
    keys: Words
    judged: Integers
    offsets: Integers
    documents: Integers

    @property
    def depth(self) -> Integers:
        """Length of each list: runs × topics."""
        return np.diff(self.offsets).reshape(len(self.runs), len(self.qrels.topics))


@dataclass(frozen=True, slots=True, eq=False)
class DocumentReplicates:
    """Scores on every topic, and how they vary over resampled collections.

    Attributes
    ----------
    scores
        The scores themselves: topics × runs × measures; NaN where a topic has no relevant document
        for the measure, or the run lacks it and missing topics are dropped.
    values
        The score on each replicate, measures × runs × topics × replicates; NaN as above, and where
        the replicate has no relevant document.
    relevant, relevant_retrieved
        Relevant documents of each topic, measures × topics, and those in each list, measures ×
        runs × topics.
    depth
        Length of each list, runs × topics.
    acceleration
        Acceleration of BCa, measures × runs × topics; None where it was not asked for.
    seed
        What the counts were drawn from; topics drawn beside them take it too.
    """

    scores: Scores
    values: Floats
    relevant: Integers
    relevant_retrieved: Integers
    depth: Integers
    acceleration: Floats | None
    seed: int

    @property
    def topics(self) -> tuple[str, ...]:
        """Topic ids."""
        return self.scores.topics

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return self.scores.runs

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return self.scores.measures

    @property
    def replicates(self) -> int:
        """Number of replicates."""
        return len(self.values[0, 0, 0])

    @property
    def dropped(self) -> Integers:
        """Replicates in which a topic has no relevant document: measures × topics."""
        undefined = np.isnan(self.values).sum(axis=3)
        dropped: Integers = undefined.min(axis=1)
        return dropped

    def measure_place(self, measure: str) -> int:
        """Return the place of a measure among the measures."""
        if measure not in self.measures:
            raise UnknownNameError("measure", measure, self.measures)
        return self.measures.index(measure)

    def run_place(self, run: str) -> int:
        """Return the place of a run among the runs."""
        if run not in self.runs:
            raise UnknownNameError("run", run, self.runs)
        return self.runs.index(run)

    def estimates(self, measure: int) -> Floats:
        """Return the scores by one measure: runs × topics."""
        return np.ascontiguousarray(self.scores.values[:, :, measure].T)

    def topic_distribution(self, measure: str) -> SamplingDistribution:
        """Return the distribution of each topic's score alone: a column a run and topic."""
        place = self.measure_place(measure)
        estimate = self.estimates(place).reshape(-1)
        bent = None if self.acceleration is None else self.acceleration[place].reshape(-1)
        values = self.values[place].reshape(len(estimate), -1)
        labels = tuple((run, topic) for run in self.runs for topic in self.topics)
        support = np.full(len(estimate), is_bounded(measure, estimate))
        return _distribution(labels, estimate, values, support, acceleration=bent)

    def joint_weights(self) -> Floats:
        """Return weights of topics for each replicate, drawn beside its documents: B × topics."""
        rng = np.random.default_rng([self.seed, len(self.topics)])
        return topic_weights(len(self.topics), self.replicates, rng)

    def summary_distribution(
        self,
        measure: str,
        summary: str = "mean",
        *,
        with_topics: bool = False,
        margin: float = LOGIT_MARGIN,
    ) -> SamplingDistribution:
        """Return the distribution of a mean of transformed scores over topics: a column a run.

        Parameters
        ----------
        measure
            One of the measures.
        summary
            A name in SUMMARIES; what it averages is not transformed back.
        with_topics
            Whether each replicate draws topics too.
        margin
            How far logits keep from 0 and 1.
        """
        place = self.measure_place(measure)
        forward = transform_of(summary, margin)
        bounded = summary == "mean" and is_bounded(measure, self.scores.values[:, :, place])
        return self._means(
            forward(self.estimates(place)),
            forward(self.values[place]),
            tuple((run, measure) for run in self.runs),
            np.full(len(self.runs), bounded),
            with_topics=with_topics,
        )

    def difference_distribution(
        self,
        measure: str,
        baseline: str,
        summary: str = "mean",
        *,
        with_topics: bool = False,
        margin: float = LOGIT_MARGIN,
    ) -> SamplingDistribution:
        """Return the distribution of each other run's mean minus the baseline's.

        A topic counts where both runs have a score. Pairs share documents: a replicate is one
        collection. Parameters are those of `summary_distribution`.
        """
        place, other = self.measure_place(measure), self.run_place(baseline)
        kept = [r for r in range(len(self.runs)) if r != other]
        if not kept:
            raise InvalidValueError(f"there is no run beside the baseline {baseline!r} to compare")
        forward = transform_of(summary, margin)
        estimate, values = forward(self.estimates(place)), forward(self.values[place])
        return self._means(
            estimate[kept] - estimate[other],
            values[kept] - values[other],
            tuple((self.runs[r], measure) for r in kept),
            np.zeros(len(kept), bool),
            with_topics=with_topics,
        )

    def _means(
        self,
        estimate: Floats,
        values: Floats,
        labels: tuple[tuple[str, str], ...],
        support: Booleans,
        *,
        with_topics: bool,
    ) -> SamplingDistribution:
        """Return the distribution of means over topics of runs × topics, × replicates."""
        weights = self.joint_weights() if with_topics else None
        count = (~np.isnan(estimate)).sum(axis=1)
        with np.errstate(invalid="ignore"):
            mean = np.nansum(estimate, axis=1) / count
        replicates = np.stack([_weighted_means(run, weights) for run in values])
        return _distribution(labels, mean, replicates, support, count, with_topics=with_topics)


def transform_of(summary: str, margin: float = LOGIT_MARGIN) -> Transform:
    """Return what a summary averages over topics, logits kept so far from 0 and 1."""
    if summary not in SUMMARIES:
        raise UnknownNameError("summary", summary, SUMMARIES)
    if summary == "logit-mean":
        return lambda score: clipped_logit(score, margin)
    return SUMMARIES[summary].forward


def _weighted_means(values: Floats, weights: Floats | None) -> Floats:
    """Return the mean over the topics that a replicate scores: topics × replicates → replicates."""
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if weights is None:
            mean: Floats = filled.sum(axis=0) / defined.sum(axis=0)
        else:
            mean = (filled * weights.T).sum(axis=0) / (defined * weights.T).sum(axis=0)
    return mean


def _distribution(
    labels: tuple[tuple[str, str], ...],
    estimate: Floats,
    values: Floats,
    support: Booleans,
    count: Integers | None = None,
    *,
    acceleration: Floats | None = None,
    with_topics: bool = False,
) -> SamplingDistribution:
    """Return a sampling distribution from columns × replicates."""
    undefined = np.isnan(values).sum(axis=1)
    return SamplingDistribution(
        labels=labels,
        estimate=estimate,
        count=np.ones(len(estimate), np.int64) if count is None else count,
        df=np.full(len(estimate), np.inf),
        support=support,
        resampled=frozenset({"topics", "documents"} if with_topics else {"documents"}),
        se=spread(values),
        acceleration=acceleration,
        replicates=values.T,
        dropped=undefined,
    )


def spread(values: Floats) -> Floats:
    """Return the standard deviation over the last axis, NaN left out; NaN for fewer than two."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=-1, keepdims=True) / count
        squares = np.where(defined, np.square(values - mean), 0.0).sum(axis=-1)
        sd: Floats = np.sqrt(squares / (count[..., 0] - 1.0))
    # All values equal: what is left is the rounding of their mean.
    low = np.where(defined, values, np.inf).min(axis=-1)
    high = np.where(defined, values, -np.inf).max(axis=-1)
    return np.where((low == high) & ~np.isnan(sd), 0.0, sd)


def bootstrap_documents(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Sequence[Any] = "AP",
    *,
    statistic: DocumentStatistic = "mean",
    baseline: str | None = None,
    with_topics: bool = False,
    replicates: int = DOCUMENT_REPLICATES,
    rng: Rng = None,
    rel: int = 1,
    depth: int | None = None,
    missing: Missing = "zero",
) -> SamplingDistribution:
    """Return the distribution of a statistic over resampled collections.

    Parameters
    ----------
    qrels, runs, measures, rel, depth, missing
        As in `evaluate`; topics without relevant documents are left out.
    statistic
        "score" (a column a run and topic, for one measure); "mean", "geometric-mean" or
        "logit-mean" over topics; or one of their differences from the baseline's. Geometric and
        logit means stay on the scale on which they are averaged.
    baseline
        The run that the others are compared with.
    with_topics
        Whether each replicate draws topics as well as documents.
    replicates, rng
        Number of replicates, and seed or generator.
    """
    if statistic not in STATISTICS:
        raise UnknownNameError("statistic", statistic, STATISTICS)
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
        rel=rel,
        depth=depth,
        missing=missing,
        jackknife=statistic == "score",
    )
    if statistic == "score":
        if len(resampled.measures) > 1 or with_topics:
            raise InvalidValueError(
                "the scores of single topics are for one measure, no topics drawn"
            )
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


def resample_documents(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Sequence[Any] = "AP",
    *,
    replicates: int = DOCUMENT_REPLICATES,
    rng: Rng = None,
    rel: int = 1,
    depth: int | None = None,
    missing: Missing = "zero",
    intents: PathLike | Intents | None = None,
    name_by: NameBy = "file",
    jackknife: bool = False,
    progress: Progress | None = None,
) -> DocumentReplicates:
    """Return the scores of every run, topic and measure on resampled collections.

    Parameters
    ----------
    qrels, runs, measures, rel, depth, missing, intents, name_by
        As in `evaluate`; topics without relevant documents are left out.
    replicates, rng
        Number of replicates, and seed or generator.
    jackknife
        Whether to leave out each document in turn, for BCa intervals.
    progress
        Called with 1 after each topic.
    """
    check_replicates(replicates)
    wanted = _resampled_measures(measures, rel)
    seed = int(np.random.default_rng(rng).integers(2**63))
    judged, read = _with_relevant(as_qrels(qrels, intents=intents), read_runs(runs, name_by))
    plain = [entry.function if isinstance(entry, ListMeasure) else entry for entry in wanted]
    scores = evaluate(judged, read, plain, depth=depth, missing=missing)
    lists = rank_documents(judged, read, depth)
    kernels = choose_kernels(len(lists.documents) * replicates)
    values = np.empty((len(wanted), len(lists.runs), len(judged.topics), replicates))
    influence = np.empty(values.shape[:3]) if jackknife else None
    keys = seeded_keys(lists.keys, seed)

    def task(number: int) -> None:
        topic = TopicDocuments(lists, number, kernels)
        for first in range(0, replicates, _BLOCK):
            counts = np.empty((len(topic.pool), min(_BLOCK, replicates - first)), np.uint8)
            kernels.draw_counts(keys[topic.pool], first, THRESHOLDS, counts)
            values[:, :, number, first : first + _BLOCK] = topic.scores(wanted, counts)
        if influence is not None:
            influence[:, :, number] = topic.acceleration(wanted, scores.values[number].T)
        if progress is not None:
            progress(1)

    run_in_threads(task, range(len(judged.topics)))
    levels = [_lowest_gain(measure) for measure in wanted]
    relevant, retrieved = _count_relevant(lists, levels)
    estimate = np.where(relevant.T[:, None, :] > 0, scores.values, np.nan)
    absent = np.isnan(estimate).transpose(2, 1, 0)
    values[absent] = np.nan
    return DocumentReplicates(
        scores=Scores(scores.topics, scores.runs, scores.measures, estimate),
        values=values,
        relevant=relevant,
        relevant_retrieved=retrieved,
        depth=lists.depth,
        acceleration=influence,
        seed=seed,
    )


def choose_kernels(cells: int) -> Kernels:
    """Return compiled kernels where so many listed documents × replicates make them worth it."""
    loaded = compile_kernels.cache_info().currsize > 0
    compiled = compile_kernels() if loaded or cells >= _WORTH_COMPILING else None
    return compiled or PLAIN_KERNELS


def _resampled_measures(measures: Any, rel: int) -> list[Measure | ListMeasure]:
    wanted: list[Measure | ListMeasure] = []
    for measure in parse_measures(measures, rel):
        if not isinstance(measure, Measure | ListMeasure):
            raise UnsupportedMethodError(
                f"{measure} is computed by ir_measures and cannot be resampled over documents; "
                "confir measures lists those that can"
            )
        wanted.append(measure)
    return wanted


def read_runs(runs: Any, name_by: NameBy = "file") -> list[Run]:
    """Return the runs that paths and objects stand for, whole."""
    return [
        source
        if isinstance(source, Run)
        else read_run(source.path, name=source.name, name_by=name_by)
        for source in as_runs(runs)
    ]


def _with_relevant(qrels: Qrels, runs: Sequence[Run]) -> tuple[Qrels, list[Run]]:
    """Return the topics that have relevant documents; a warning names those that have none."""
    levels, counts = qrels.count_by_gain()
    kept = counts[:, levels >= 1].sum(axis=1) > 0
    if kept.all():
        return qrels, list(runs)
    names = [topic for topic, has in zip(qrels.topics, kept, strict=True) if not has]
    if not kept.any():
        raise TopicMismatchError(
            "the qrels have no relevant document at all; expected a gain of 1 or more"
        )
    warnings.warn(
        f"the qrels have no relevant document for {len(names)} of {len(qrels.topics)} topics "
        f"({enumerate_names(names)}), which are left out",
        TopicWarning,
        stacklevel=3,
    )
    without = set(names)
    return restrict_qrels(qrels, kept[qrels.document_topics]), [
        restrict_run(run, np.repeat([t not in without for t in run.topics], np.diff(run.offsets)))
        for run in runs
    ]


def restrict_qrels(qrels: Qrels, kept: Booleans) -> Qrels:
    """Return the qrels of some documents only; a topic left without any is no topic."""
    places = np.cumsum(kept) - 1
    judged = kept[qrels.judged_documents]
    topics = qrels.document_topics[kept]
    held = np.unique(topics)
    names = np.array(qrels.documents, object)[kept].tolist()
    subtopics = np.array(qrels.subtopics, object)[judged].tolist()
    return Qrels(
        topics=tuple(qrels.topics[t] for t in held.tolist()),
        offsets=np.append(np.searchsorted(topics, held), len(topics)),
        documents=tuple(names),
        gains=qrels.gains[kept],
        judged_documents=places[qrels.judged_documents[judged]],
        subtopics=tuple(subtopics),
        subtopic_gains=qrels.subtopic_gains[judged],
        intents=qrels.intents,
    )


def restrict_run(run: Run, kept: Booleans) -> Run:
    """Return the run with some of its documents only; a topic left without any is no topic."""
    topics = np.repeat(np.arange(len(run.topics)), np.diff(run.offsets))[kept]
    held = np.unique(topics)
    return Run(
        name=run.name,
        topics=tuple(run.topics[t] for t in held.tolist()),
        offsets=np.append(np.searchsorted(topics, held), len(topics)),
        documents=tuple(np.array(run.documents, object)[kept].tolist()),
        scores=run.scores[kept],
    )


def rank_documents(qrels: Qrels, runs: Sequence[Run], depth: int | None = None) -> RankedDocuments:
    """Return the whole lists of runs for the topics of the qrels, cut after ``depth`` documents."""
    position: dict[str, int] = {}
    find = position.setdefault
    judged = np.array([find(name, len(position)) for name in qrels.documents], np.int64)
    numbers = {topic: number for number, topic in enumerate(qrels.topics)}
    sizes = np.zeros((len(runs), len(qrels.topics)), np.int64)
    listed: list[int] = []
    for r, run in enumerate(runs):
        for topic, (start, stop) in zip(run.topics, pairwise(run.offsets.tolist()), strict=True):
            number = numbers.get(topic)
            if number is not None:
                end = stop if depth is None else min(stop, start + depth)
                listed.extend([find(name, len(position)) for name in run.documents[start:end]])
                sizes[r, number] = end - start
    return RankedDocuments(
        qrels=qrels,
        runs=tuple(run.name for run in runs),
        keys=document_keys(list(position)),
        judged=judged,
        offsets=np.concatenate(([0], np.cumsum(sizes.reshape(-1)))),
        documents=np.array(listed, np.int64),
    )


def _lowest_gain(measure: Measure | ListMeasure) -> int:
    """Return the lowest gain that counts as relevant for a measure."""
    if isinstance(measure, ListMeasure):
        return 1
    rel = dict(measure.parameters).get("rel", 1)
    return rel if isinstance(rel, int) else 1


def _count_relevant(
    lists: RankedDocuments, lowest_gains: Sequence[int]
) -> tuple[Integers, Integers]:
    """Return relevant documents by topic, and those retrieved by run and topic, for each gain."""
    qrels, (runs, topics) = lists.qrels, lists.depth.shape
    levels, counts = qrels.count_by_gain()
    order = np.lexsort((lists.judged, qrels.document_topics))
    judged = qrels.document_topics[order] * len(lists.keys) + lists.judged[order]
    list_numbers = np.repeat(np.arange(runs * topics), np.diff(lists.offsets))
    wanted = (list_numbers % topics) * len(lists.keys) + lists.documents
    place = np.minimum(np.searchsorted(judged, wanted), len(judged) - 1)
    gains = np.where(judged[place] == wanted, qrels.gains[order][place], np.iinfo(np.int64).min)
    relevant = np.stack([counts[:, levels >= gain].sum(axis=1) for gain in lowest_gains])
    retrieved = np.stack(
        [
            np.bincount(list_numbers[gains >= gain], minlength=runs * topics).reshape(runs, topics)
            for gain in lowest_gains
        ]
    )
    return relevant, retrieved


class TopicDocuments:
    """The lists of one topic, ready to be resampled.

    Parameters
    ----------
    lists
        The lists of all topics.
    number
        Which topic.
    kernels
        Compiled, or in numpy.
    """

    def __init__(self, lists: RankedDocuments, number: int, kernels: Kernels) -> None:
        topics = len(lists.qrels.topics)
        spans = [
            lists.documents[lists.offsets[place] : lists.offsets[place + 1]]
            for place in range(number, len(lists.runs) * topics, topics)
        ]
        in_topic = lists.qrels.document_topics == number
        judged = lists.judged[in_topic]
        self.pool, places = np.unique(np.concatenate([judged, *spans]), return_inverse=True)
        self.judged = places[: len(judged)]
        self.documents = np.ascontiguousarray(places[len(judged) :])
        self.offsets = np.concatenate(([0], np.cumsum([len(span) for span in spans])))
        self.qrels = restrict_qrels(lists.qrels, in_topic)
        self.levels = np.unique(lists.qrels.gains)
        self.position = np.full(len(self.pool), -1)
        self.position[self.judged] = np.arange(len(judged))
        self.runs = lists.runs
        self.kernels = kernels
        longest = int(np.diff(self.offsets).max(initial=0))
        steps = np.arange(1, HIGHEST_COUNT * longest + 1)
        self.harmonic = np.concatenate(([0.0], np.cumsum(1.0 / steps)))

    def scores(self, measures: Sequence[Measure | ListMeasure], counts: Bytes) -> Floats:
        """Return the score of each list on each replicate: measures × runs × replicates.

        Parameters
        ----------
        measures
            The measures.
        counts
            How often each document of the pool stands in each replicate.
        """
        held = counts[self.judged].astype(np.int64)
        scores = np.empty((len(measures), len(self.runs), counts.shape[1]))
        others: list[tuple[int, Measure | ListMeasure]] = []
        for number, measure in enumerate(measures):
            if isinstance(measure, Measure) and measure.definition is MEASURES["AP"]:
                self._average_precision(measure, counts, held, scores[number])
            else:
                others.append((number, measure))
        for needs_judged in (False, True):
            group = [entry for entry in others if _needs_judged(entry[1]) == needs_judged]
            if group:
                self._measure(group, counts, held, scores, lowest=None if needs_judged else 1)
        for number, measure in enumerate(measures):
            total = held[self.qrels.gains >= _lowest_gain(measure)].sum(axis=0)
            scores[number][:, total == 0] = np.nan
        return scores

    def _average_precision(
        self, measure: Measure, counts: Bytes, held: Integers, scores: Floats
    ) -> None:
        relevant = np.zeros(len(self.pool), bool)
        liked = self.qrels.gains >= _lowest_gain(measure)
        relevant[self.judged[liked]] = True
        total = held[liked].sum(axis=0)
        cutoff = measure.cutoff or HIGHEST_COUNT * max(len(self.documents), 1)
        self.kernels.average_precisions(
            counts, self.offsets, self.documents, relevant, total, cutoff, self.harmonic, scores
        )

    def _measure(
        self,
        measures: Sequence[tuple[int, Measure | ListMeasure]],
        counts: Bytes,
        held: Integers,
        scores: Floats,
        *,
        lowest: int | None,
    ) -> None:
        """Fill in the scores by measures that see documents of some gain, a few lists at a time."""
        recorded = np.zeros(len(self.pool), bool)
        recorded[self.judged if lowest is None else self.judged[self.qrels.gains >= lowest]] = True
        rows = np.concatenate(([0], np.cumsum(recorded[self.documents])))[self.offsets]
        most = max(_CELLS // counts.shape[1], 1)
        start = 0
        while start < len(self.runs):
            stop = max(int(np.searchsorted(rows, rows[start] + most, side="right")) - 1, start + 1)
            rankings = self._rankings(counts, held, recorded, slice(start, stop))
            for number, measure in measures:
                scores[number, start:stop] = measure(rankings)[:, 0]
            start = stop

    def _rankings(self, counts: Bytes, held: Integers, recorded: Booleans, runs: slice) -> Rankings:
        """Return where the recorded documents of some runs' lists stand in each replicate."""
        offsets = self.offsets[runs.start : runs.stop + 1]
        documents = self.documents[offsets[0] : offsets[-1]]
        offsets = offsets - offsets[0]
        kept = recorded[documents]
        position = self.position[documents[kept]]
        before, copies = np.empty((2, len(position), counts.shape[1]), np.int64)
        depth = np.empty((len(offsets) - 1, counts.shape[1]), np.int64)
        self.kernels.place_documents(counts, offsets, documents, recorded, before, copies, depth)
        at_level = self.levels[:, None] == self.qrels.gains
        return Rankings(
            qrels=self.qrels,
            runs=self.runs[runs],
            present=(np.diff(offsets) > 0)[:, None],
            depth=depth[:, None],
            offsets=np.concatenate(([0], np.cumsum(kept)))[offsets],
            documents=position,
            gain=self.qrels.gains[position],
            before=before,
            copies=copies,
            levels=self.levels,
            counts=np.stack([held[level].sum(axis=0) for level in at_level])[None],
            judged_copies=held,
        )

    def acceleration(self, measures: Sequence[Measure | ListMeasure], estimate: Floats) -> Floats:
        """Return the acceleration of BCa, measures × runs: each document left out in turn.

        ``Σ d³ / (6 (Σ d²)^{3/2})`` with d from the score itself, not from the jackknife's mean;
        NaN where leaving out a document leaves no relevant one.
        """
        squares, cubes = np.zeros((2, *estimate.shape))
        for first in range(0, len(self.pool), _BLOCK):
            left_out = np.arange(first, min(first + _BLOCK, len(self.pool)))
            counts = np.ones((len(self.pool), len(left_out)), np.uint8)
            counts[left_out, left_out - first] = 0
            d = estimate[:, :, None] - self.scores(measures, counts)
            squares += np.square(d).sum(axis=2)
            cubes += (d**3).sum(axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            acceleration: Floats = cubes / (6.0 * squares**1.5)
        return acceleration


def _needs_judged(measure: Measure | ListMeasure) -> bool:
    """Whether a measure looks at judged documents that are not relevant."""
    return isinstance(measure, ListMeasure) or measure.definition.needs == "judged"
