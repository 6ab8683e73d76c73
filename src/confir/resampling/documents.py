"""What if the collection had held other documents? The bootstrap over documents ([Cormack2006]).

A replicate is one resampled collection: every document stands in it k times, k from Poisson(1),
the same k in every topic, run and measure. Lists and qrels are not expanded: a document's copies
only move the others down, which `Rankings` says in full.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.files import PathLike
from confir.data.list_scanner import read_lists
from confir.data.neighbours import as_qrels
from confir.data.qrels import Intents
from confir.data.ranked_lists import RankedLists
from confir.data.rankings import TiePrecision
from confir.data.scores import Scores
from confir.data.trec_files import NameBy
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
    UnsupportedMethodError,
    enumerate_names,
)
from confir.measures.catalogue import is_bounded
from confir.measures.evaluation import (
    Missing,
    check_depth,
    check_missing,
    parse_measures,
    score_rankings,
)
from confir.measures.measure import ListMeasure, Measure
from confir.measures.summary import LOGIT_MARGIN, SUMMARIES, Transform, clipped_logit
from confir.parallel import Progress, run_in_threads
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.document_kernels import (
    PLAIN_KERNELS,
    THRESHOLDS,
    Kernels,
    compile_kernels,
    document_keys,
    seeded_keys,
)
from confir.resampling.topic_documents import (
    BLOCK,
    TopicDocuments,
    count_relevant,
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
STATISTICS: tuple[DocumentStatistic, ...] = get_args(DocumentStatistic)

# Numbers that are copied at once where there are many.
_CELLS = 4_000_000

# Listed documents × replicates from which compiled kernels repay their loading.
_WORTH_COMPILING = 200_000_000


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
        acceleration = None if self.acceleration is None else self.acceleration[place].reshape(-1)
        values = self.values[place].reshape(len(estimate), -1)
        labels = tuple((run, topic) for run in self.runs for topic in self.topics)
        support = np.full(len(estimate), is_bounded(measure, estimate))
        return _distribution(labels, estimate, values, support, acceleration=acceleration)

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
            map(forward, self.values[place]),
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
        estimate, values = forward(self.estimates(place)), self.values[place]
        base = forward(values[other])
        return self._means(
            estimate[kept] - estimate[other],
            (forward(values[run]) - base for run in kept),
            tuple((self.runs[r], measure) for r in kept),
            np.zeros(len(kept), bool),
            with_topics=with_topics,
        )

    def _means(
        self,
        estimate: Floats,
        values: Iterable[Floats],
        labels: tuple[tuple[str, str], ...],
        support: Booleans,
        *,
        with_topics: bool,
    ) -> SamplingDistribution:
        """Return the distribution of means over topics: runs × topics, and by run × replicates."""
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
    if len(values) > 1 and values.size > _CELLS and values.ndim > 1:
        half = len(values) // 2  # copies are made of a part at a time
        return np.concatenate((spread(values[:half]), spread(values[half:])))
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
    tie_precision: TiePrecision = "double",
    jackknife: bool = False,
    progress: Progress | None = None,
) -> DocumentReplicates:
    """Return the scores of every run, topic and measure on resampled collections.

    Parameters
    ----------
    qrels, runs, measures, rel, depth, missing, intents, name_by, tie_precision
        As in `evaluate`; topics without relevant documents are left out.
    replicates, rng
        Number of replicates, and seed or generator.
    jackknife
        Whether to leave out each document in turn, for BCa intervals.
    progress
        Called with 1 after each topic.
    """
    check_replicates(replicates)
    check_depth(depth)
    check_missing(missing)
    wanted = resampled_measures(measures, rel)
    judged = as_qrels(qrels, intents=intents)
    lists = read_lists(judged, runs, name_by=name_by, tie_precision=tie_precision)
    return resample_lists(
        lists,
        wanted,
        replicates=replicates,
        rng=rng,
        depth=depth,
        missing=missing,
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
    check_depth(depth)
    seed = int(np.random.default_rng(rng).integers(2**63))
    lists = _with_relevant(whole)
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

    def task(number: int) -> None:
        topic = TopicDocuments(lists, number, gains, kernels)
        for first in range(0, replicates, BLOCK):
            counts = np.empty((len(topic.pool), min(BLOCK, replicates - first)), np.uint8)
            kernels.draw_counts(keys[topic.pool], first, THRESHOLDS, counts)
            values[:, :, number, first : first + BLOCK] = topic.scores(measures, counts)
        if acceleration is not None:
            acceleration[:, :, number] = topic.acceleration(measures, scores.values[number].T)

    run_in_threads(task, range(topics), progress)
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
    )


def choose_kernels(cells: int) -> Kernels:
    """Return compiled kernels where so many listed documents × replicates make them worth it."""
    loaded = compile_kernels.cache_info().currsize > 0
    compiled = compile_kernels() if loaded or cells >= _WORTH_COMPILING else None
    return compiled or PLAIN_KERNELS


def resampled_measures(measures: Any, rel: int = 1) -> list[Measure | ListMeasure]:
    """Return the measures that names stand for; raise where one cannot be resampled."""
    wanted: list[Measure | ListMeasure] = []
    for measure in parse_measures(measures, rel):
        if not isinstance(measure, Measure | ListMeasure):
            raise UnsupportedMethodError(
                f"{measure} is computed by ir_measures and cannot be resampled over documents; "
                "confir measures lists those that can"
            )
        wanted.append(measure)
    return wanted


def _with_relevant(lists: RankedLists) -> RankedLists:
    """Return the topics that have relevant documents; a warning names those that have none."""
    qrels = lists.qrels
    levels, counts = qrels.count_by_gain()
    kept = counts[:, levels >= 1].sum(axis=1) > 0
    if kept.all():
        return lists
    names = [topic for topic, has in zip(qrels.topics, kept, strict=True) if not has]
    if not kept.any():
        raise TopicMismatchError(
            "the qrels have no relevant document at all; expected a gain of 1 or more"
        )
    warnings.warn(
        f"the qrels have no relevant document for {len(names)} of {len(qrels.topics)} topics "
        f"({enumerate_names(names)}), which are left out",
        TopicWarning,
        stacklevel=4,
    )
    left = lists.restrict(kept)
    bare = (lists.depth.sum(axis=1) > 0) & (left.depth.sum(axis=1) == 0)
    if bare.any():
        run = lists.runs[int(np.argmax(bare))]
        raise TopicMismatchError(f"none of the topics of run {run!r} has a relevant document")
    return left
