"""The expected scores of random rankings, and runs compared with them ([Bestgen2015])."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from confir.arguments import as_generator, as_integer
from confir.arrays import Floats, Integers
from confir.data.experiment import Experiment, as_experiment
from confir.data.formats.runs_and_qrels import as_qrels
from confir.data.qrels import Qrels
from confir.data.sampling_designs.design import refuse_design
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.defaults import DRAWS, SEED
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    UnsupportedMethodError,
    counted,
    enumerate_names,
)
from confir.measures.chance_tail import random_ap_tail
from confir.measures.evaluation import evaluate
from confir.measures.measure import Measure
from confir.measures.measure_list import DEFAULT_MEASURES
from confir.measures.parsing import canonical_name, measure_name, parse_measure, parse_measures
from confir.measures.random_rankings import (
    MOST_DOCUMENTS,
    CountsByGain,
    chance_corrected,
    check_collection,
    random_score_moments,
)
from confir.measures.score_sources import as_scores
from confir.parallel import run_in_threads
from confir.resampling.replicates import Rng
from confir.studies.chance.chance import ALL_TOPICS, CORRECTED, Chance


def describe_chance(
    documents: int,
    relevant: int,
    measures: Any = DEFAULT_MEASURES,
    *,
    depth: int | None = None,
    rel: int = 1,
) -> Chance:
    """Return the expected score of a random ranking, given the number of relevant documents.

    A score means little without it: where many of few documents are relevant, as in reranking, a
    random ranking already scores high.

    Parameters
    ----------
    documents, relevant
        Number of documents, and of relevant ones.
    measures
        Names of measures that have an exact expectation.
    depth
        Length of the list; by default all documents are ranked.
    rel
        Lowest gain that counts as relevant: the gain of the relevant documents.

    Examples
    --------
    >>> confir.describe_chance(1000, 10, ["AP", "P@10"]).expected.round(4)
    array([[0.0164, 0.01  ]])
    """
    wanted = _measures(measures, rel)
    documents = as_integer("documents", documents, highest=MOST_DOCUMENTS)
    counts = {
        as_integer("rel", rel): np.array(
            [as_integer("relevant", relevant, lowest=0, highest=MOST_DOCUMENTS)]
        )
    }
    return _baseline((ALL_TOPICS,), wanted, documents, counts, depth)


def compare_with_chance(
    qrels: Experiment | Any,
    scores: ScoresSource | None = None,
    *,
    documents: int,
    measures: Any = None,
    depth: int | None = None,
    rel: int = 1,
    draws: int = DRAWS,
    rng: Rng = SEED,
) -> Chance:
    """Return the expected score of random rankings on each topic, and how runs compare.

    Chance differs by topic, with the number of relevant documents. Scores corrected for it are 0 for
    a random ranking and 1 for a perfect one, and are comparable over topics and collections.

    Parameters
    ----------
    qrels
        The judgements, as in `evaluate`; unjudged documents are not relevant. Or an `Experiment`,
        whose runs are scored.
    scores
        The runs' scores, or anything that `as_scores` takes, from lists of at most ``depth``
        documents.
    documents
        Number of documents in the collection.
    measures
        Names of measures with an exact expectation; by default those of the scores, else AP,
        nDCG@10, P@10, RR and R@1000.
    depth
        Length of the random lists; by default all documents are ranked.
    rel
        Lowest gain that counts as relevant, for measures that do not name their own.
    draws, rng
        Random rankings per topic for the p-value of a run's AP, and seed or generator; with 0
        draws there is no p-value.

    Examples
    --------
    >>> sample = confir.sample_collection()
    >>> scores = confir.evaluate(sample.qrels, sample.runs[:1], "AP")
    >>> confir.compare_with_chance(sample.qrels, scores, documents=60_000, draws=99)
    Chance(topic: 50, measure: 1, run: 1, documents=60000, depth=60000)
    """
    as_integer("draws", draws, lowest=0)
    documents = as_integer("documents", documents, highest=MOST_DOCUMENTS)
    generator = as_generator(rng)
    if isinstance(qrels, Experiment):
        experiment = as_experiment(qrels, None, {"rel": rel, "depth": depth})
        rel, depth = experiment.rules.rel, experiment.rules.depth
        scores = evaluate(experiment, measures=measures) if scores is None else scores
        qrels = experiment.qrels
    elif not isinstance(qrels, Qrels):
        qrels = as_qrels(qrels)
    scores = None if scores is None else as_scores(scores)
    refuse_design(None if scores is None else scores.design, "the comparison with chance")
    if scores is None or measures is not None:
        wanted = _measures(DEFAULT_MEASURES if measures is None else measures, rel)
    if scores is not None:
        if measures is not None:
            scores = scores.select(measure=_own_names(scores, measures))
        wanted = [parse_measure(name, rel=rel) for name in scores.measures]
    topics = qrels.topics if scores is None else scores.topics
    counts = _relevant_by_gain(qrels, topics, documents)
    baseline = _baseline(topics, wanted, documents, counts, depth)
    if scores is None:
        return baseline
    values = chance_corrected(scores.values, baseline.expected[:, None])
    p, low, high = _tails(baseline, wanted, scores, draws, generator)
    # negative for scores below chance, so not bounded by [0, 1]
    names = tuple(map(CORRECTED.format, scores.measures))
    return replace(
        baseline,
        measures=scores.measures,
        runs=scores.runs,
        scores=scores,
        corrected=Scores(topics, scores.runs, names, values, bounded=False),
        p=p,
        p_low=low,
        p_high=high,
        draws=draws,
    )


def _measures(measures: Any, rel: int) -> list[Measure]:
    """Return the measures of some names; only those of the catalogue have a known expectation."""
    found = []
    for measure in parse_measures(measures, rel):
        if not isinstance(measure, Measure):
            raise UnsupportedMethodError(
                f"the measure {measure} has no known expectation; expected measures such as AP"
            )
        found.append(measure)
    return found


def _own_names(scores: Scores, measures: Any) -> list[str]:
    """Return the names of measures as they are spelt in the scores."""
    several = isinstance(measures, Sequence) and not isinstance(measures, str)
    listed = measures if several else [measures]
    names = [str(one) if isinstance(one, Measure) else measure_name(one) for one in listed]
    return [name if name in scores.measures else canonical_name(name) for name in names]


def _relevant_by_gain(qrels: Qrels, topics: Sequence[str], documents: int) -> dict[int, Integers]:
    """Return the number of relevant documents of each gain on each topic."""
    place = {topic: i for i, topic in enumerate(qrels.topics)}
    unknown = [topic for topic in topics if topic not in place]
    if unknown:
        raise TopicMismatchError(
            f"the scores have {counted(len(unknown), 'topic')} that the qrels lack "
            f"({enumerate_names(unknown, 5)}); expected topics of the qrels"
        )
    rows = [place[topic] for topic in topics]
    levels, counts = qrels.count_by_gain()
    judged = counts.sum(axis=1)[rows]
    if len(judged) and judged.max() > documents:
        worst = int(judged.argmax())
        raise InvalidValueError(
            f"topic {topics[worst]!r} has {judged[worst]} judged documents, more than the "
            f"{documents} documents of the collection"
        )
    return {int(level): counts[rows, place] for place, level in enumerate(levels) if level >= 1}


def _baseline(
    topics: tuple[str, ...],
    measures: Sequence[Measure],
    documents: int,
    counts: CountsByGain,
    depth: int | None,
) -> Chance:
    """Return expectations and standard deviations of random rankings, by topic and measure."""
    if not counts:  # no topic has a relevant document
        counts = {1: np.zeros(len(topics), np.int64)}
    if depth is not None:
        depth = as_integer("depth", depth, highest=MOST_DOCUMENTS)
    collection = check_collection(documents, counts, depth)
    relevant = [collection.relevant(measure.lowest_gain) for measure in measures]
    numbers = np.stack(relevant, axis=1).astype(np.int64)
    moments = [random_score_moments(measure, documents, counts, depth) for measure in measures]
    expected, variance = zip(*moments, strict=True)
    return Chance(
        topics=topics,
        measures=tuple(str(measure) for measure in measures),
        runs=(),
        documents=documents,
        depth=documents if depth is None else depth,
        relevant=numbers,
        expected=np.stack(expected, axis=1),
        sd=np.sqrt(np.stack(variance, axis=1)),
        prevalence=numbers / documents,
    )


def _tails(
    baseline: Chance,
    measures: Sequence[Measure],
    scores: Scores,
    draws: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats]:
    """Return the probability that a random ranking has at least each AP, with limits of its error.

    Every topic has its own generator: topics are independent, whatever the number of threads.
    """
    p, low, high = (np.full(scores.values.shape, np.nan) for _ in range(3))
    if draws == 0:
        return p, low, high
    generators = rng.spawn(len(scores.topics))
    tested = [(n, one.cutoff) for n, one in enumerate(measures) if one.definition.name == "AP"]

    def task(topic: int) -> None:
        for place, cutoff in tested:
            tail = random_ap_tail(
                baseline.documents,
                int(baseline.relevant[topic, place]),
                scores.values[topic, :, place],
                min(baseline.depth, cutoff or baseline.depth),
                draws=draws,
                rng=generators[topic],
            )
            for table, values in zip((p, low, high), tail, strict=True):
                table[topic, :, place] = values

    run_in_threads(task, range(len(scores.topics)))
    return p, low, high
