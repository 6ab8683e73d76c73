"""Evaluation by a model's judgements, and by human judgements of some topics."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from confir.data.experiment import Experiment
from confir.data.formats.objects import qrels_called
from confir.data.sampling_designs.judged_scores import RANDOM_DOCUMENTS, join_judges, shared_topics
from confir.data.scores import Scores
from confir.errors import ConfirWarning, enumerate_names, warn_caller
from confir.measures.evaluation import evaluate
from confir.parallel import Progress

Made = TypeVar("Made")


def evaluate_human_judged(
    experiment: Experiment, measures: Any, progress: Progress | None
) -> Scores:
    """Return the scores by a model's judgements, and by human ones of some topics or documents."""
    source, sample = cast("tuple[Any, str]", experiment.human)
    if sample == RANDOM_DOCUMENTS:
        from confir.measures.sampled_evaluation import evaluate_sampled

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
