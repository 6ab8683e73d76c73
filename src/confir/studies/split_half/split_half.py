"""Are intervals over collections calibrated? One half predicts the other ([Cormack2006] §6).

The documents fall into two halves by their ids. Intervals from one half should contain the other
half's score as often as the model says: both scores vary, so that a 95 % interval contains the other
score in 83.4 % of cases, and misses it as often above as below.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from hashlib import md5
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_choices, as_function, as_generator, as_integer, as_level
from confir.arrays import Booleans, Floats, Integers
from confir.data.experiment import Experiment, ReadingRules, as_experiment
from confir.data.formats.trec_files import NameBy
from confir.data.ranked_lists import RankedLists
from confir.data.rankings import TiePrecision
from confir.data.result import (
    Columns,
    Record,
    Result,
    axis,
    columns_of,
    constant,
    over,
    records_of,
    result,
)
from confir.defaults import DOCUMENT_REPLICATES, LEVEL, LOGIT_EPSILON
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning
from confir.intervals.catalogue import METHODS, fields_needed, methods_over
from confir.intervals.documents import (
    check_epsilon,
    normal_quantile,
)
from confir.measures.evaluation import check_topics, chosen_measures, parse_measures
from confir.measures.measure import Measure
from confir.measures.summary import clipped_logit
from confir.order import TIE
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.documents import resample_lists
from confir.resampling.topics import Rng, check_replicates
from confir.studies.collection.collection import (
    MEAN_METHODS,
    CollectionMeans,
    is_average_precision,
    summarise_means,
    summarise_topics,
)

HALVES = ("A", "B")
DIRECTIONS = ("A predicts B", "B predicts A")
FEW_RELEVANT = 5  # [Cormack2006] Table 1 looks at topics with more, too


class Shares(NamedTuple):
    """Where the other half's scores lie.

    Attributes
    ----------
    below, inside, above
        Shares of the scores below, in and above the interval.
    n
        Number of scores that have an interval.
    """

    below: float
    inside: float
    above: float
    n: int


@result
class SplitHalf(Result):
    """How well each half of a collection predicts the other.

    Attributes
    ----------
    measure
        The measure.
    runs, topics
        Runs, and the topics with relevant documents in both halves.
    left_out
        The other topics.
    methods, corrections
        Interval methods, and whether the small-R correction applied: False, and True for AP.
    score
        Score of each half: halves × runs × topics; NaN for lists that retrieved nothing.
    low, high
        Limits from each half: methods × corrections × halves × runs × topics.
    relevant
        Relevant documents in each half: halves × topics.
    means
        Means of each half, with intervals.
    level, replicates, epsilon
        Confidence level, number of replicates, and how far logits keep from 0 and 1.
    """

    measure: str = constant()
    runs: tuple[str, ...] = axis("run")
    topics: tuple[str, ...]
    left_out: tuple[str, ...]
    methods: tuple[str, ...]
    corrections: tuple[bool, ...]
    score: Floats = over("", "run")
    low: Floats = over("", "", "", "run")
    high: Floats = over("", "", "", "run")
    relevant: Integers
    means: tuple[CollectionMeans, CollectionMeans]
    level: float = constant()
    replicates: int
    epsilon: float

    @property
    def predicted(self) -> float:
        """The share that the model predicts in the interval: ``2Φ(z/√2) - 1``."""
        from scipy.special import ndtr

        return float(2.0 * ndtr(normal_quantile(self.level) / np.sqrt(2.0)) - 1.0)

    def topic_shares(
        self, method: str, *, corrected: bool, half: int, few_relevant: bool = True
    ) -> Shares:
        """Return where the other half's scores lie beside the intervals from one half.

        Parameters
        ----------
        method, corrected
            Which intervals.
        half
            The half that predicts: 0 or 1.
        few_relevant
            Whether topics with at most five relevant documents in that half count.
        """
        low, high, other = self._on_scale(method, corrected=corrected, half=half)
        kept = np.broadcast_to(few_relevant | (self.relevant[half] > FEW_RELEVANT), low.shape)
        return _shares(low[kept], high[kept], other[kept])

    def _on_scale(
        self, method: str, *, corrected: bool, half: int
    ) -> tuple[Floats, Floats, Floats]:
        """Return limits and the other half's scores on the scale of the method.

        On that of logits a score of 0 becomes epsilon: an interval that reaches there contains it.
        """
        if method not in self.methods or corrected not in self.corrections:
            raise InvalidValueError(f"there are no such intervals: {method}, corrected={corrected}")
        place = self.methods.index(method), self.corrections.index(corrected), half
        ends = self.low[place], self.high[place], self.score[1 - half]
        if not METHODS[method].logit_scale:
            return ends
        low, high, other = (clipped_logit(end, self.epsilon) for end in ends)
        return low, high, other

    def mean_shares(self, summary: str, method: str, half: int) -> Shares:
        """Return where the other half's means lie beside the intervals of one half's means."""
        means, other = self.means[half], self.means[1 - half]
        s, k = means.summaries.index(summary), means.methods.index(method)
        return _shares(means.low[k, :, 0, s], means.high[k, :, 0, s], other.mean[:, 0, s])

    def normalised(self, method: str, *, corrected: bool, half: int = 0) -> Floats:
        """Return the other half's scores on a scale on which the interval is [-1, 1].

        Linear on the scale of the method, so that for `linear` and `logit` it is the difference of
        the halves over z·σ; ±∞ where a score lies beyond an interval without length.
        """
        ends = self._on_scale(method, corrected=corrected, half=half)
        defined = ~np.isnan(np.sum(ends, axis=0))
        below, above, value = (end[defined] for end in ends)
        gap = 2.0 * value - below - above
        with np.errstate(divide="ignore", invalid="ignore"):
            normalised: Floats = np.where(np.abs(gap) <= TIE, 0.0, gap / (above - below))
        return normalised

    def to_dict(self) -> Columns:
        """Return the columns of method, correction, subset and direction, for topics and means."""
        rows = []
        for half, direction in enumerate(DIRECTIONS):
            for corrected in self.corrections:
                for few_relevant in (True, False):
                    subset = "all" if few_relevant else f"R>{FEW_RELEVANT}"
                    for method in self.methods:
                        shares = self.topic_shares(
                            method, corrected=corrected, half=half, few_relevant=few_relevant
                        )
                        rows.append(("topic", method, corrected, subset, direction, shares))
            for method in self.means[0].methods:
                used = MEAN_METHODS[method].by_topic and self.corrections[-1]
                for summary in self.means[0].summaries:
                    shares = self.mean_shares(summary, method, half)
                    rows.append((summary, method, used, "runs", direction, shares))
        names = ("summary", "method", "corrected", "subset", "direction")
        return {
            "measure": [self.measure] * len(rows),
            **columns_of(names, rows),
            **columns_of(Shares._fields[:3], [row[-1] for row in rows]),
            "predicted": [self.predicted] * len(rows),
            "n": [row[-1].n for row in rows],
        }

    def mean_records(self, summary: str, method: str, half: int = 0) -> list[Record]:
        """Return each run's mean in both halves, with the interval from one: one record per run."""
        means, other = self.means[half], self.means[1 - half]
        s, k = means.summaries.index(summary), means.methods.index(method)
        return records_of(
            {
                "run": self.runs,
                "summary": [summary] * len(self.runs),
                "method": [method] * len(self.runs),
                "low": means.low[k, :, 0, s].tolist(),
                "high": means.high[k, :, 0, s].tolist(),
                HALVES[half]: means.mean[:, 0, s].tolist(),
                HALVES[1 - half]: other.mean[:, 0, s].tolist(),
            }
        )


def _shares(low: Floats, high: Floats, value: Floats) -> Shares:
    """Return the shares of values below, in and above closed intervals; NaN do not count."""
    defined = ~np.isnan(low) & ~np.isnan(high) & ~np.isnan(value)
    n = int(defined.sum())
    if n == 0:
        return Shares(np.nan, np.nan, np.nan, 0)
    below = float((value[defined] < low[defined] - TIE).sum() / n)
    above = float((value[defined] > high[defined] + TIE).sum() / n)
    return Shares(below, 1.0 - below - above, above, n)


def validate_split_half(
    qrels: Experiment | Any,
    runs: Any = None,
    measure: str | Measure | None = None,
    *,
    methods: str | Sequence[str] | None = None,
    level: float = LEVEL,
    replicates: int = DOCUMENT_REPLICATES,
    rng: Rng = None,
    rel: int = 1,
    depth: int | None = None,
    epsilon: float = LOGIT_EPSILON,
    bit: int = 0,
    name_by: NameBy = "file",
    tie_precision: TiePrecision = "double",
    progress: Callable[[int], None] | None = None,
) -> SplitHalf:
    """Return how often intervals from one half of the documents contain the other half's scores.

    Parameters
    ----------
    qrels, runs, measure, rel, depth, name_by, tie_precision
        As in `evaluate`, for one measure in [0, 1], by default AP. Topics without relevant documents in either
        half, and lists that retrieved nothing, are left out.
    methods
        Name of a method over documents, or several; by default all.
    level
        Confidence level.
    replicates, rng
        Number of replicates of each half, and seed or generator.
    epsilon
        How far logits keep from 0 and 1.
    bit
        Which bit of the last byte of a docid's MD5 decides its half, 0 to 7: 0 is the byte's
        parity; others give other halves.
    progress
        Called with 1 after each topic of each half.
    """
    level = as_level(level)
    check_replicates(replicates)
    check_epsilon(epsilon)
    as_integer("bit", bit, lowest=0, highest=7)
    as_function("progress", progress)
    generator = as_generator(rng)
    known = methods_over("documents")
    names = as_choices(
        "methods", known if methods is None else methods, known, "method over documents"
    )
    rules = ReadingRules(rel, depth, name_by=name_by, tie_precision=tie_precision)
    experiment = as_experiment(qrels, runs, rules)
    rules = experiment.rules
    wanted = parse_measures(chosen_measures(experiment, measure, ["AP"]), rules.rel)
    if len(wanted) != 1 or not isinstance(wanted[0], Measure):
        raise InvalidValueError("split-half validation is for one measure of the catalogue")
    lists = experiment.lists()
    if rules.depth is not None:
        lists = lists.cut(rules.depth)
    ranked = list(zip(lists.rankings(), lists.unknown, strict=True))
    check_topics(lists.qrels, ranked, missing="drop")
    kept, halves = _split(lists, wanted[0].lowest_gain, bit)
    seed = int(generator.integers(2**63))
    samples = []
    for half in halves:
        with warnings.catch_warnings():
            # A list may well have all its documents in the other half.
            warnings.simplefilter("ignore", TopicWarning)
            samples.append(
                resample_lists(
                    half,
                    [wanted[0]],
                    replicates=replicates,
                    rng=seed,
                    jackknife="acceleration" in fields_needed(names),
                    progress=progress,
                )
            )
    empty = lists.depth[:, kept] == 0
    left_out = tuple(lists.qrels.topics[t] for t in np.flatnonzero(~kept).tolist())
    return _validate(samples, empty, left_out, names, level, epsilon)


def half_of(document: str, bit: int = 0) -> int:
    """Return the half of a document, 0 for A: a bit of the last byte of its docid's MD5."""
    digest = md5(document.encode("utf-8", "surrogateescape"), usedforsecurity=False).digest()
    return digest[-1] >> bit & 1


def _split(lists: RankedLists, lowest: int, bit: int) -> tuple[Booleans, list[RankedLists]]:
    """Return which topics have relevant documents in both halves, and the lists of each half."""
    qrels = lists.qrels
    side = np.array([half_of(docid, bit) for docid in lists.docids])
    relevant = qrels.gains >= lowest
    has = [
        np.bincount(
            qrels.document_topics[relevant & (side[lists.judged] == half)],
            minlength=len(qrels.topics),
        )
        for half in (0, 1)
    ]
    kept = (has[0] > 0) & (has[1] > 0)
    if not kept.any():
        raise TopicMismatchError("no topic has relevant documents in both halves of the collection")
    halves = [lists.restrict(kept, side == half) for half in (0, 1)]
    for half in halves:
        for run, documents in zip(half.runs, half.depth.sum(axis=1).tolist(), strict=True):
            if not documents:
                raise TopicMismatchError(
                    f"run {run!r} has no documents for these topics in one of the two halves"
                )
    return kept, halves


def _validate(
    samples: Sequence[DocumentReplicates],
    empty: Booleans,
    left_out: tuple[str, ...],
    methods: tuple[str, ...],
    level: float,
    epsilon: float,
) -> SplitHalf:
    measure = samples[0].measures[0]
    corrections = (False, True) if is_average_precision(measure) else (False,)
    shape = (len(methods), len(corrections), 2, *empty.shape)
    low, high = np.empty((2, *shape))
    for m, method in enumerate(methods):
        for c, small_r in enumerate(corrections):
            for half, sample in enumerate(samples):
                topics = summarise_topics(
                    sample, level=level, method=method, small_r=small_r, epsilon=epsilon
                )
                low[m, c, half], high[m, c, half] = topics.low[:, :, 0].T, topics.high[:, :, 0].T
    first, second = (
        summarise_means(
            sample,
            level=level,
            methods=("bootstrap", "parametric"),
            small_r=corrections[-1],
            epsilon=epsilon,
        )
        for sample in samples
    )
    scores = np.stack([np.where(empty, np.nan, sample.estimates(0)) for sample in samples])
    return SplitHalf(
        measure=measure,
        runs=samples[0].runs,
        topics=samples[0].topics,
        left_out=left_out,
        methods=methods,
        corrections=corrections,
        score=scores,
        low=low,
        high=high,
        relevant=np.stack([sample.relevant[0] for sample in samples]),
        means=(first, second),
        level=level,
        replicates=samples[0].replicates,
        epsilon=epsilon,
    )
