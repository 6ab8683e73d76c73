"""Evaluation by a model's judgements, and by human judgements of some topics."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from confir.data.experiment import Experiment
from confir.data.formats.objects import qrels_called
from confir.data.qrels import Qrels
from confir.data.sampling.joined_judges import join_judges, shared_topics
from confir.data.sampling.judged_scores import JudgedScores
from confir.errors import ConfirWarning, enumerate_names, warn_caller
from confir.measures.evaluation import evaluate
from confir.parallel import Progress

Made = TypeVar("Made")


def evaluate_judged(
    experiment: Experiment, human: tuple[Any, str], measures: Any, progress: Progress | None = None
) -> JudgedScores:
    """Return the scores of an experiment that has people's judgements beside a model's."""
    source, sample = human
    reading, judged = experiment.rules, experiment.qrels
    read = qrels_called("human", source, reading.intents, reading.reading)
    people = _shared_topics(judged, read, sample)
    lists = experiment.lists(progress)
    kept = np.isin(np.array(judged.topics, object), np.array(people.topics, object))
    parts = (lists.restrict(kept).judged_by(people), lists)
    judges = [Experiment(part.qrels, (), **reading.keywords()) for part in parts]
    for judge, part in zip(judges, parts, strict=True):
        judge.kept.update(qrels=part.qrels, lists=part, sources=())
    by_people, by_model = by_judge(
        lambda one: evaluate(one, measures=measures), ("people", "model"), judges
    )
    return join_judges(by_people, by_model, sample)


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


def _shared_topics(model: Qrels, human: Qrels, sample: str) -> Qrels:
    """Return people's judgements of topics that the model judged, too."""
    shared = set(shared_topics(model.topics, human.topics, sample))
    kept = np.array([topic in shared for topic in human.topics])
    return human if kept.all() else human.only(kept[human.document_topics])
