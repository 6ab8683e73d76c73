"""The bootstrap over documents ([Cormack2006]).

A replicate is one resampled collection: every document occurs k times, k from Poisson(1), the same
k in every topic, run and measure. Lists and qrels are not expanded: copies of a document only move
others down (see `Rankings`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack, get_args

from confir.arguments import as_choice, as_flag, as_function, as_generator, check_replicates
from confir.data.experiment import Experiment, as_experiment, on_its_scheduler
from confir.data.ranked_lists.held_lists import TopicLists
from confir.data.reading_rules import ReadingOptions, takes_rules
from confir.defaults import DOCUMENT_REPLICATES, SEED
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.measures.evaluation import chosen_measures
from confir.measures.measure import ListMeasure, Measure
from confir.measures.parsing import parse_measures
from confir.parallel import Progress
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.document_replicates import DocumentReplicates
from confir.resampling.kinds import against
from confir.resampling.prepared_lists import Drawing, PreparedLists, resample_prepared
from confir.resampling.replicates import Rng
from confir.resampling.worker_documents import resample_files
from confir.scheduler import CURRENT_SCHEDULER

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
    drawing = Drawing(
        tuple(wanted),
        replicates,
        int(generator.integers(2**63)),
        experiment.rules.depth,
        experiment.rules.missing,
        jackknife,
    )
    if (
        CURRENT_SCHEDULER.get() is not None
        and "lists" not in experiment.kept
        and experiment.is_in_files
    ):
        return resample_files(experiment, drawing, progress)
    return resample_prepared(PreparedLists(experiment.lists_by_topic(), drawing), progress)


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
    drawn = Drawing(tuple(measures), replicates, seed, **drawing)
    return resample_prepared(PreparedLists(whole, drawn), progress)


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
