"""Are intervals over collections calibrated? One half predicts the other ([Cormack2006] §6).

The documents fall into two halves by their ids. Intervals from one half should contain the other
half's score as often as the model says: both scores vary, so that a 95% interval contains the other
score in 83.4% of cases, and misses it as often above as below. One split supports no claim within
1.5 points, for all topics and runs share it: the shares are means over several splits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from hashlib import md5
from typing import Any, Unpack

import numpy as np

from confir.arguments import (
    as_choices,
    as_function,
    as_generator,
    as_integer,
    as_level,
    check_replicates,
)
from confir.arrays import Booleans, Integers
from confir.data.experiment import Experiment, as_experiment, on_its_scheduler
from confir.data.ids import Docids
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.reading_rules import ReadingOptions, takes_rules
from confir.defaults import DOCUMENT_REPLICATES, LEVEL, LOGIT_EPSILON, SEED, SPLITS
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning, counted, warn_caller
from confir.intervals.method_list import fields_needed, methods_over
from confir.intervals.standard_error import check_epsilon
from confir.measures.evaluation import check_topics, chosen_measures
from confir.measures.measure import Measure
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.list_resampling import resample_lists
from confir.resampling.replicates import Rng
from confir.studies.collection.collection_means import summarise_means
from confir.studies.collection.collection_topics import is_average_precision, summarise_topics
from confir.studies.split_half.splits import (
    Split,
    SplitHalf,
)

# Every bit of an MD5 gives another split.
MOST_SPLITS = 128


@on_its_scheduler
@takes_rules
def validate_split_half(
    qrels: Experiment | Any,
    runs: Any = None,
    measure: str | Measure | None = None,
    *,
    methods: str | Sequence[str] | None = None,
    level: float = LEVEL,
    replicates: int = DOCUMENT_REPLICATES,
    rng: Rng = SEED,
    epsilon: float = LOGIT_EPSILON,
    splits: int = SPLITS,
    progress: Callable[[int], None] | None = None,
    **rules: Unpack[ReadingOptions],
) -> SplitHalf:
    """Return how often intervals from one half of the documents contain the other half's scores.

    Parameters
    ----------
    qrels, runs, measure, **rules
        As in `evaluate`, for one measure in [0, 1], by default AP. Topics without relevant
        documents in either half, and lists that retrieved nothing, are left out.
    methods
        Name of a method over documents, or several; by default all.
    level
        Confidence level.
    replicates, rng
        Number of replicates of each half, and seed or generator.
    epsilon
        How far logits keep from 0 and 1.
    splits
        Number of splits, up to 128 (in a small collection, those that leave topics): the first halves documents by the last bit of their docid's MD5,
        its parity, each further one by the bit before. All have the same replicates.
    progress
        Called with the number of topics that are done since the last call of each half.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> confir.validate_split_half(sample.qrels, sample.runs[:1], "AP", replicates=50)
    SplitHalf(run: 1, measure='AP', level=0.95)
    """
    level = as_level(level)
    check_replicates(replicates)
    check_epsilon(epsilon)
    as_integer("splits", splits, lowest=1, highest=MOST_SPLITS)
    as_function("progress", progress)
    generator = as_generator(rng)
    known = methods_over("documents")
    names = as_choices(
        "methods", known if methods is None else methods, known, "method over documents"
    )
    experiment = as_experiment(qrels, runs, rules, without_design="split-half validation")
    reading = experiment.rules
    wanted = chosen_measures(experiment, measure, ["AP"])
    if len(wanted) != 1 or not isinstance(wanted[0], Measure):
        raise InvalidValueError("split-half validation is for one measure of the catalogue")
    lists = experiment.lists()
    if reading.depth is not None:
        lists = lists.cut(reading.depth)
    ranked = list(zip(lists.rankings(), lists.unknown, strict=True))
    check_topics(lists.qrels, ranked, missing="drop")
    halved = _split_often(lists, wanted[0].lowest_gain, halves_of(lists.docids, splits))
    seed = int(generator.integers(2**63))
    found = tuple(
        _validate(
            [_resample(half, wanted[0], names, replicates, seed, progress) for half in halves],
            lists.depth[:, kept] == 0,
            tuple(lists.qrels.topics[t] for t in np.flatnonzero(~kept).tolist()),
            names,
            level,
            epsilon,
        )
        for kept, halves in halved
    )
    return SplitHalf(measure=found[0].measure, runs=found[0].runs, splits=found, level=level)


def halves_of(docids: Docids, splits: int = SPLITS) -> Integers:
    """Return the half of each document by each split, 0 for A: the last bits of its docid's MD5.

    Splits × documents; the first split takes the last bit, the next the bit before, and so on.
    """
    digests = b"".join(
        md5(docids.encoded(place), usedforsecurity=False).digest()[::-1]
        for place in range(len(docids))
    )
    last_first = np.frombuffer(digests, np.uint8).reshape(len(docids), -1)
    bits = np.unpackbits(last_first, axis=1, count=splits, bitorder="little")
    return bits.T.astype(np.int64)


def _resample(
    half: HeldLists,
    measure: Measure,
    methods: Sequence[str],
    replicates: int,
    seed: int,
    progress: Callable[[int], None] | None,
) -> DocumentReplicates:
    """Return the replicates of one half of a collection."""
    with warnings.catch_warnings():
        # A list may well have all its documents in the other half.
        warnings.simplefilter("ignore", TopicWarning)
        return resample_lists(
            half,
            [measure],
            replicates=replicates,
            rng=seed,
            jackknife="acceleration" in fields_needed(methods),
            progress=progress,
        )


def _split_often(
    lists: HeldLists, lowest: int, sides: Integers
) -> list[tuple[Booleans, list[HeldLists]]]:
    """Return the splits that can be made; warn of those that a small collection does not allow."""
    found, problems = [], []
    for side in sides:
        try:
            found.append(_split(lists, lowest, side))
        except TopicMismatchError as error:
            problems.append(error)
    if not found:
        raise problems[0]
    if problems:
        warn_caller(
            f"{len(problems)} of {counted(len(sides), 'split')} left out: {problems[0]}",
            TopicWarning,
        )
    return found


def _split(lists: HeldLists, lowest: int, side: Integers) -> tuple[Booleans, list[HeldLists]]:
    """Return which topics have relevant documents in both halves, and the lists of each half."""
    qrels = lists.qrels
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
) -> Split:
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
    return Split(
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
