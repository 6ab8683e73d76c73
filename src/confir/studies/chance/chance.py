"""Is a score more than chance? What random rankings score, and how runs compare ([Bestgen2015])."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from confir.arguments import as_generator, as_integer
from confir.arrays import Floats, Integers
from confir.data.experiment import Experiment, ReadingRules, as_experiment
from confir.data.formats.frames import build_frame
from confir.data.formats.objects import as_qrels
from confir.data.qrels import Qrels
from confir.data.result import (
    Columns,
    Record,
    Result,
    Variable,
    axis,
    constant,
    over,
    records_of,
    result,
)
from confir.data.scores import Scores
from confir.data.tables.score_objects import ScoresSource
from confir.defaults import DRAWS
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    UnsupportedMethodError,
    counted,
    enumerate_names,
)
from confir.measures.catalogue import (
    DEFAULT_MEASURES,
    as_rel,
    canonical_name,
    measure_name,
    parse_measure,
)
from confir.measures.chance import (
    MOST_DOCUMENTS,
    CountsByGain,
    chance_corrected,
    check_collection,
    expected_random_score,
    random_score_variance,
)
from confir.measures.chance_tail import Tail, combine_tails, random_ap_tail
from confir.measures.evaluation import as_scores, evaluate, parse_measures
from confir.measures.measure import Measure
from confir.parallel import run_in_threads
from confir.resampling.topics import Rng

# What stands for the topic in records of means.
ALL_TOPICS = "all"


@result
class Chance(Result):
    """What random rankings score on each topic, and how runs compare with that.

    Attributes
    ----------
    topics, measures
        Names.
    documents
        Number of documents that are ranked.
    depth
        Length of the lists.
    relevant
        Number of relevant documents, as each measure counts them: topics × measures.
    expected, sd
        Exact mean and standard deviation of the score of a random ranking: topics × measures.
    scores, corrected
        The runs' scores, and ``(score - expected) / (1 - expected)``, by measures such as "AP
        (corrected)", which may be below 0; None without runs.
    p, p_low, p_high
        Probability that a random ranking has at least the run's AP, with limits for its error where
        it is simulated: topics × runs × measures, NaN for other measures than AP. None without
        runs.
    draws
        Random rankings that were drawn for each topic, where p is simulated.
    """

    topics: tuple[str, ...] = axis("topic")
    measures: tuple[str, ...] = axis("measure")
    documents: int = constant()
    depth: int = constant()
    relevant: Integers = over("topic", "measure")
    expected: Floats = over("topic", "measure")
    sd: Floats = over("topic", "measure")
    scores: Scores | None = None
    corrected: Scores | None = None
    p: Floats | None = over("topic", "run", "measure", default=None)
    p_low: Floats | None = over("topic", "run", "measure", default=None)
    p_high: Floats | None = over("topic", "run", "measure", default=None)
    draws: int = 0

    row_order = ("measure", "run", "topic")
    record_columns = (
        "topic",
        "documents",
        "relevant",
        "depth",
        "measure",
        "expected",
        "sd",
        "prevalence",
        "run",
        "score",
        "corrected",
        "p",
        "p_low",
        "p_high",
    )

    @property
    def prevalence(self) -> Floats:
        """Share of relevant documents, the usual approximation of the expected AP."""
        return self.relevant / self.documents

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return () if self.scores is None else self.scores.runs

    def axes(self) -> dict[str, Sequence[str]]:
        """Return topics and measures, and the runs if there are any."""
        return {**Result.axes(self), **({"run": self.runs} if self.runs else {})}

    def derived(self) -> Iterator[Variable]:
        """Yield the share of relevant documents, and the scores of the runs."""
        yield Variable("prevalence", ("topic", "measure"), self.prevalence)
        for name, table in (("score", self.scores), ("corrected", self.corrected)):
            if table is not None:
                yield Variable(name, ("topic", "run", "measure"), table.values)

    def to_dict(self, *, per_topic: bool = False) -> Columns:
        """Return the columns of means over topics by measure and run, or one row per topic.

        The columns: topic, documents, relevant, depth, measure, expected, sd, prevalence; with runs
        also run, score, corrected, p, p_low, p_high, and of means topics. The p of means is that of
        all topics, combined by Fisher's method, with limits for the error of all simulations
        together.
        """
        if per_topic:
            return Result.to_dict(self)
        runs: Sequence[int | None] = range(len(self.runs)) if self.runs else [None]
        means = [self._mean(m, run) for m in range(len(self.measures)) for run in runs]
        return {name: [mean[name] for mean in means] for name in means[0]}

    def to_records(self, *, per_topic: bool = False) -> list[Record]:
        """Return one record per measure and run: means over topics, or one per topic as well."""
        return records_of(self.to_dict(per_topic=per_topic))

    def to_frame(self, backend: str | None = None, *, per_topic: bool = False) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return build_frame(self.to_dict(per_topic=per_topic), backend)

    def select(self, **labels: Any) -> Self:
        """Return the comparison for some topics, measures and runs."""
        chosen = Result.select(self, **labels)
        if chosen.corrected is None:
            return chosen
        corrected = chosen.corrected.select(measure=list(map(_corrected_name, chosen.measures)))
        return replace(chosen, corrected=corrected)

    def _mean(self, measure: int, run: int | None) -> Record:
        """Return the means of a measure over the topics that a run has scores for."""
        kept = self._topics_of(measure, run)
        record: Record = {
            "topic": ALL_TOPICS,
            "documents": self.documents,
            "relevant": _mean(self.relevant[kept, measure]),
            "depth": self.depth,
            "measure": self.measures[measure],
            "expected": _mean(self.expected[kept, measure]),
            "sd": float(np.sqrt(np.square(self.sd[kept, measure]).sum())) / max(len(kept), 1),
            "prevalence": _mean(self.prevalence[kept, measure]),
        }
        if run is None or self.scores is None or self.corrected is None or self.p is None:
            return record
        return {
            **record,
            "run": self.runs[run],
            "topics": len(kept),
            "score": _mean(self.scores.values[kept, run, measure]),
            "corrected": _mean(self.corrected.values[kept, run, measure]),
            **dict(zip(("p", "p_low", "p_high"), self._tail(kept, run, measure), strict=True)),
        }

    def _tail(self, topics: Integers, run: int, measure: int) -> tuple[float, float, float]:
        """Return the probability of all topics together, with its limits."""
        tables = [table for table in (self.p, self.p_low, self.p_high) if table is not None]
        # a topic on which every ranking scores the same says nothing
        telling = topics[self.sd[topics, measure] > 0]
        return combine_tails(Tail(*(table[telling, run, measure] for table in tables)), self.draws)

    def _topics_of(self, measure: int, run: int | None) -> Integers:
        """Return the topics that a run has scores for."""
        if run is None or self.scores is None:
            return np.arange(len(self.topics))
        return np.flatnonzero(~np.isnan(self.scores.values[:, run, measure]))


def describe_chance(
    documents: int,
    relevant: int,
    measures: Any = DEFAULT_MEASURES,
    *,
    depth: int | None = None,
    rel: int = 1,
) -> Chance:
    """Return what a random ranking of some documents scores, some of them relevant (gain 1).

    Parameters
    ----------
    documents, relevant
        Number of documents, and of relevant ones.
    measures
        Names of measures that have an exact expectation.
    depth
        Length of the list; by default all documents are ranked.
    rel
        Lowest gain that counts as relevant, which the relevant documents then have.
    """
    wanted = _measures(measures, rel)
    documents = as_integer("documents", documents, highest=MOST_DOCUMENTS)
    counts = {
        as_rel(rel): np.array([as_integer("relevant", relevant, lowest=0, highest=MOST_DOCUMENTS)])
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
    rng: Rng = None,
) -> Chance:
    """Return what random rankings score on each topic of the qrels, and runs beside them.

    Parameters
    ----------
    qrels
        The judgements, as in `evaluate`; unjudged documents are not relevant. Or an `Experiment`,
        whose runs are scored.
    scores
        The runs' scores, or what `as_scores` makes them of, from lists of at most ``depth``
        documents; their topics are compared.
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
        Random rankings drawn per topic for the probability that chance has at least a run's AP,
        and seed or generator; 0 draws leave the probability out.
    """
    as_integer("draws", draws, lowest=0)
    documents, generator = (
        as_integer("documents", documents, highest=MOST_DOCUMENTS),
        as_generator(rng),
    )
    if isinstance(qrels, Experiment):
        experiment = as_experiment(qrels, None, ReadingRules(rel, depth))
        rel, depth = experiment.rules.rel, experiment.rules.depth
        scores = evaluate(experiment, measures=measures) if scores is None else scores
        qrels = experiment.qrels
    qrels = as_qrels(qrels)
    scores = None if scores is None else as_scores(scores)
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
    return Chance(
        topics=topics,
        measures=scores.measures,
        documents=documents,
        depth=baseline.depth,
        relevant=baseline.relevant,
        expected=baseline.expected,
        sd=baseline.sd,
        scores=scores,
        # below chance they are negative: no scores in [0, 1], whatever the measure
        corrected=Scores(
            topics,
            scores.runs,
            tuple(map(_corrected_name, scores.measures)),
            values,
            bounded=False,
        ),
        p=p,
        p_low=low,
        p_high=high,
        draws=draws,
    )


def _measures(measures: Any, rel: int) -> list[Measure]:
    """Return the measures that names stand for; only those of the catalogue have an expectation."""
    parsed = parse_measures(measures, rel)
    for measure in parsed:
        if not isinstance(measure, Measure):
            raise UnsupportedMethodError(
                f"the measure {measure} has no known expectation; expected measures such as AP"
            )
    return [measure for measure in parsed if isinstance(measure, Measure)]


def _own_names(scores: Scores, measures: Any) -> list[str]:
    """Return measures by the names that scores have for them."""
    listed = (
        measures if isinstance(measures, Sequence) and not isinstance(measures, str) else [measures]
    )
    names = [str(one) if isinstance(one, Measure) else measure_name(one) for one in listed]
    return [name if name in scores.measures else canonical_name(name) for name in names]


def _corrected_name(measure: str) -> str:
    """Return what a measure is called after the correction for chance."""
    return f"{measure} (corrected)"


def _mean(values: Floats | Integers) -> float:
    """Return the mean of the values that are there."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def _relevant_by_gain(qrels: Qrels, topics: Sequence[str], documents: int) -> dict[int, Integers]:
    """Return the relevant documents of each gain on each topic."""
    place = {topic: i for i, topic in enumerate(qrels.topics)}
    unknown = [topic for topic in topics if topic not in place]
    if unknown:
        raise TopicMismatchError(
            f"the scores have {counted(len(unknown), 'topic')} that the qrels lack "
            f"({enumerate_names(unknown, 5)}); expected those of the qrels"
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
    return {
        int(level): counts[rows, column]
        for column, level in enumerate(levels.tolist())
        if level >= 1
    }


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
    expected = [expected_random_score(measure, documents, counts, depth) for measure in measures]
    variance = [random_score_variance(measure, documents, counts, depth) for measure in measures]
    return Chance(
        topics=topics,
        measures=tuple(str(measure) for measure in measures),
        documents=documents,
        depth=documents if depth is None else depth,
        relevant=np.stack(relevant, axis=1).astype(np.int64),
        expected=np.stack(expected, axis=1),
        sd=np.sqrt(np.stack(variance, axis=1)),
    )


def _tails(
    baseline: Chance,
    measures: Sequence[Measure],
    scores: Scores,
    draws: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats]:
    """Return the probability that chance has at least each AP, and the limits of its error.

    Every topic has its own generator, so that the number of threads changes nothing and topics
    stay independent.
    """
    p, low, high = (np.full(scores.values.shape, np.nan) for _ in range(3))
    if draws == 0:
        return p, low, high
    generators = rng.spawn(len(scores.topics))

    def task(topic: int) -> None:
        for place, measure in enumerate(measures):
            if measure.definition.name != "AP":
                continue
            depth = (
                baseline.depth if measure.cutoff is None else min(baseline.depth, measure.cutoff)
            )
            tail = random_ap_tail(
                baseline.documents,
                int(baseline.relevant[topic, place]),
                scores.values[topic, :, place],
                depth,
                draws=draws,
                rng=generators[topic],
            )
            for table, values in zip((p, low, high), tail, strict=True):
                table[topic, :, place] = values

    run_in_threads(task, range(len(scores.topics)))
    return p, low, high
