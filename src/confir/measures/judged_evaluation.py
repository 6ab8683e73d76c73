"""How well do runs do by a model's judgements, of which people checked some? Scores by both."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from confir.data.experiment import Experiment
from confir.data.formats.objects import qrels_called
from confir.data.qrels import Qrels
from confir.data.sampling.judged_scores import ALL_TOPICS, RANDOM_TOPICS, JudgedScores
from confir.data.scores import Scores
from confir.errors import (
    ConfirWarning,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.measures.evaluation import evaluate
from confir.parallel import Progress

Made = TypeVar("Made")

# The residual of two estimated numbers, mean and weight, needs as many topics to vary.
LEAST_HUMAN_TOPICS = 3

# Human topics whose scores by the model differ from the others' as rarely as this are no sample.
_RARELY = 0.05


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
        judge.kept.update(lists=part, sources=())
    by_people, by_model = by_judge(
        lambda one: evaluate(one, measures=measures), ("people", "model"), judges
    )
    return join_judges(by_people, by_model, sample)


def join_judges(human: Scores, model: Scores, human_sample: str = RANDOM_TOPICS) -> JudgedScores:
    """Return scores by people and by a model as one; warn where people's topics are unlike others.

    Parameters
    ----------
    human
        Scores by people's judgements; all of their topics are among the model's.
    model
        Scores of the same runs by the model's judgements.
    human_sample
        How the human-judged topics were sampled.
    """
    scores = JudgedScores(
        human.topics,
        human.runs,
        human.measures,
        human.values,
        human.bounded,
        human.inside,
        human.design,
        model=model,
        human_sample=human_sample,
    )
    _warn_of_other_topics(scores)
    return scores


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
    known = set(model.topics)
    beyond = [topic for topic in human.topics if topic not in known]
    shared = len(human.topics) - len(beyond)
    if shared < LEAST_HUMAN_TOPICS:
        raise TopicMismatchError(
            f"people judged {counted(shared, 'topic')} that the model judged, too; expected "
            f"{LEAST_HUMAN_TOPICS} or more"
        )
    _check_rest(model, human, sample)
    if not beyond:
        return human
    warn_caller(
        f"people judged {counted(len(beyond), 'topic')} that the model did not "
        f"({enumerate_names(beyond, 5)}), left out",
        TopicWarning,
    )
    kept = np.array([topic in known for topic in human.topics])
    return human.only(kept[human.document_topics])


def _check_rest(model: Qrels, human: Qrels, sample: str) -> None:
    """Raise where topics that only the model judged do not fit how the human-judged ones were sampled."""
    people = set(human.topics)
    rest = [topic for topic in model.topics if topic not in people]
    if sample == ALL_TOPICS and rest:
        raise TopicMismatchError(
            f"people did not judge {counted(len(rest), 'topic')} of the model's "
            f"({enumerate_names(rest, 5)}); expected all of them, or human_sample "
            f"{RANDOM_TOPICS!r}, where theirs were drawn at random"
        )
    if sample == RANDOM_TOPICS and len(rest) < 2:
        raise TopicMismatchError(
            f"the model judged {counted(len(rest), 'topic')} beyond those of people; expected 2 or "
            f"more: without them, people's judgements stand for themselves ({ALL_TOPICS!r})"
        )


def _warn_of_other_topics(scores: JudgedScores) -> None:
    """Warn where human topics differ from the others by the model's scores (Welch's t test)."""
    from scipy.stats import ttest_ind_from_stats

    judged = scores.judged()
    if len(judged.rest) < 2:
        return
    drawn, rest = (part.mean(axis=1) for part in (judged.model, judged.rest))
    spread = [part.std(axis=0, ddof=1) for part in (drawn, rest)]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = ttest_ind_from_stats(
            *(drawn.mean(axis=0), spread[0], len(drawn)),
            *(rest.mean(axis=0), spread[1], len(rest)),
            equal_var=False,
        )
    p = np.asarray(found.pvalue)
    unlike = np.flatnonzero(p * len(scores.measures) < _RARELY).tolist()
    if unlike:
        place = unlike[0]
        warn_caller(
            f"by the model's judgements, topics that people judged have a mean "
            f"{scores.measures[place]} of {drawn[:, place].mean():.4f}, the others "
            f"{rest[:, place].mean():.4f} (p = {p[place]:.2g}): topics drawn at random rarely "
            "differ as much; if they were chosen otherwise, the corrected means are wrong",
            TopicWarning,
        )
