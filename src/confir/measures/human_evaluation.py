"""Evaluation by a model's judgements, and by human judgements of some topics or sampled documents."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from confir.arguments import as_generator
from confir.data.experiment import Experiment
from confir.data.formats.sampled_qrels import SampledJudgements, read_sampled
from confir.data.formats.sources import qrels_called
from confir.data.qrels import Qrels
from confir.data.sampling_designs.judged_scores import RANDOM_DOCUMENTS, join_judges, shared_topics
from confir.data.sampling_designs.sampled_document_scores import SampledScores
from confir.data.scores import Scores
from confir.defaults import DRAW_REPLICATES
from confir.errors import (
    ConfirWarning,
    FormatError,
    TopicMismatchError,
    TopicWarning,
    UnsupportedMethodError,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.measures.estimated_judgements import DocumentSample
from confir.measures.estimated_scores import SAMPLED_MEASURES, Listed, is_sum, score_sampled_lists
from confir.measures.evaluation import check_topics, evaluate
from confir.measures.measure import Measure
from confir.parallel import Progress

Made = TypeVar("Made")

# Draws whose total of 1/π is further from the number of documents do not have these probabilities.
_MOST_DEVIATIONS = 6.0


def evaluate_human_judged(
    experiment: Experiment, measures: Any, progress: Progress | None
) -> Scores:
    """Return the scores by a model's judgements, and by human ones of some topics or documents."""
    source, sample = cast("tuple[Any, str]", experiment.human)
    if sample == RANDOM_DOCUMENTS:
        return evaluate_sampled(experiment, source, measures, progress)
    reading, judged = experiment.rules, experiment.qrels
    read = qrels_called("human", source, reading.intents, reading.reading)
    shared = set(shared_topics(judged.topics, read.topics, sample))
    kept = np.array([topic in shared for topic in read.topics])
    human = read if kept.all() else read.only(kept[read.document_topics])
    lists = experiment.lists(progress)
    kept = np.isin(np.array(judged.topics, object), np.array(human.topics, object))
    parts = (lists.restrict(kept).judged_by(human), lists)
    judges = [Experiment(part.qrels, (), **reading.keywords()) for part in parts]
    for judge, part in zip(judges, parts, strict=True):
        judge.kept.update(qrels=part.qrels, lists=part, sources=())
    by_human, by_model = by_judge(
        lambda one: evaluate(one, measures=measures), ("human", "model"), judges
    )
    return join_judges(by_human, by_model, sample)


def by_judge(task: Callable[[Any], Made], names: Sequence[str], given: Sequence[Any]) -> list[Made]:
    """Return what a task makes for each judge; warn once of what holds for all of them."""
    made: list[Made] = []
    warned: dict[tuple[str, type[Warning]], list[str]] = {}
    for name, one in zip(names, given, strict=True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConfirWarning)
            made.append(task(one))
        for entry in caught:
            warned.setdefault((str(entry.message), entry.category), []).append(name)
    for (text, kind), by in warned.items():
        about = "" if len(by) >= len(names) else f"judge {enumerate_names(by)}: "
        if issubclass(kind, ConfirWarning):
            warn_caller(f"{about}{text}", kind)
        else:
            warnings.warn(text, kind, stacklevel=2)
    return made


def evaluate_sampled(
    experiment: Experiment, source: Any, measures: Any, progress: Progress | None
) -> SampledScores:
    """Return scores by human judgements, from a model's and a sample of human ones."""
    wanted = [_usable(one) for one in measures]
    judged = experiment.qrels
    sample = draw_of(judged, read_sampled(source, experiment.rules.reading))
    lists, rules = experiment.lists(progress), experiment.rules
    rankings = lists.rankings()
    check_topics(judged, list(zip(rankings, lists.unknown, strict=True)), rules.missing)
    listed = Listed.of(lists if rules.depth is None else lists.cut(rules.depth))
    rates = sample.rates()
    parts = score_sampled_lists(wanted, sample, listed, rates, as_generator(experiment.rng))
    values, variance = (np.stack([part[place].T for part in parts], axis=2) for place in (0, 1))
    if rules.missing == "drop":
        absent = ~np.concatenate([one.present for one in rankings]).T
        values[absent], variance[absent] = np.nan, np.nan
    return SampledScores(
        judged.topics,
        lists.runs,
        tuple(map(str, wanted)),
        values,
        document_variance=variance,
        human_documents=int(sample.drawn.sum()),
        model_documents=len(sample.drawn),
        draw_replicates=0 if all(map(is_sum, wanted)) else DRAW_REPLICATES,
        draw_rates=rates,
        draw_documents=sample.expected(rates) / len(judged.topics),
        draw_covariance=np.stack([part.covariance for part in parts], axis=3),
    )


def _usable(measure: Any) -> Measure:
    if not isinstance(measure, Measure) or measure.definition.name not in SAMPLED_MEASURES:
        raise UnsupportedMethodError(
            f"{measure}: it is no sum of gains, nor a ratio of such sums, which documents drawn at "
            f"random estimate; expected {enumerate_names(SAMPLED_MEASURES)}"
        )
    return measure


def draw_of(model: Qrels, sampled: SampledJudgements) -> DocumentSample:
    """Return which documents of the model were drawn; raise or warn where they do not fit."""
    places = {
        key: place
        for place, key in enumerate(
            zip(model.document_topics.tolist(), model.documents, strict=True)
        )
    }
    numbers = {topic: number for number, topic in enumerate(model.topics)}
    own = [numbers.get(topic, -1) for topic in sampled.qrels.topics]
    topics = np.array(own)[sampled.qrels.document_topics].tolist()
    found = np.array(
        [places.get(key, -1) for key in zip(topics, sampled.qrels.documents, strict=True)]
    )
    if not (found >= 0).any():
        raise TopicMismatchError(
            "the human judgements are of no document that the model judged; expected documents drawn "
            "from those"
        )
    if (found < 0).any():
        warn_caller(
            f"human judgements of {counted(int((found < 0).sum()), 'document')} that the model did not "
            "judge are left out",
            TopicWarning,
        )
    kept, inside = found[found >= 0], found >= 0
    human = np.zeros(len(model.documents), np.int64)
    probability, drawn = np.ones(len(human)), np.zeros(len(human), np.bool_)
    human[kept], drawn[kept] = sampled.qrels.gains[inside], True
    probability[kept] = sampled.probabilities[inside]
    sample = DocumentSample(model.document_topics, model.gains, human, drawn, probability)
    _check_draw(sample, model)
    return sample


def _check_draw(sample: DocumentSample, model: Qrels) -> None:
    """Raise where the draw cannot have had these probabilities; warn of topics without draws."""
    chance = sample.probability[sample.drawn]
    expected, total = float((1.0 / chance).sum()), len(sample.drawn)
    deviation = float(np.sqrt(((1.0 - chance) / np.square(chance)).sum()))
    if abs(expected - total) > _MOST_DEVIATIONS * max(deviation, 0.5):
        raise FormatError(
            f"the probabilities of the human-judged documents stand for {expected:,.0f} "
            f"documents, the model judged {total:,}; expected the probability with which each of "
            "these was drawn"
        )
    counts = np.bincount(sample.topics, sample.drawn, minlength=len(model.topics))
    without = [model.topics[place] for place in np.flatnonzero(counts == 0).tolist()]
    if without:
        warn_caller(
            f"no human judgements of documents of {counted(len(without), 'topic')} "
            f"({enumerate_names(without, 5)}): right only if each of theirs could have been drawn",
            TopicWarning,
        )
