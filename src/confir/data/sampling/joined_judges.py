"""Scores by people and by a model, joined: which topics both judged, and whether these are like others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from confir.data.sampling.design import as_design
from confir.data.sampling.judged_scores import (
    ALL_TOPICS,
    LEAST_HUMAN_TOPICS,
    RANDOM_TOPICS,
    JudgedScores,
)
from confir.data.scores import Scores
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)

# Human topics whose scores by the model differ from the others' as rarely as this are no sample.
_RARELY = 0.05


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
    scores = JudgedScores(**human.plain(), model=model, human_sample=human_sample)
    for part in [scores.on_dataset(name) for name in model.datasets] or [scores]:
        _warn_of_other_topics(part)
    return scores


def join_tables(human: Scores, model: Scores, human_sample: str) -> JudgedScores:
    """Return two score tables as one: by people on some topics, and by a model on these and others.

    Parameters
    ----------
    human
        Scores by people; runs, measures and topics that the model's table lacks are left out.
    model
        Scores by the model, of which every run and measure is one of people's; a design of its topics
        is that of people's, too.
    human_sample
        How the human-judged topics were sampled: "random-topics", or "all".
    """
    for kind in ("run", "measure"):
        lacking = [
            name for name in getattr(model, f"{kind}s") if name not in getattr(human, f"{kind}s")
        ]
        if lacking:
            raise InvalidValueError(
                f"people's scores lack {kind} {enumerate_names(map(repr, lacking), 3)} of the model's; "
                f"expected all of them, or a choice of those that people have "
                f"({enumerate_names(getattr(human, f'{kind}s'), 5)})"
            )
    human = human.select(run=list(model.runs), measure=list(model.measures))
    kept = np.isin(human.topics, shared_topics(model.topics, human.topics, human_sample))
    names = np.array(human.topics, object)[kept].tolist()
    design = as_design(model.design, names, {})
    people = replace(human, topics=tuple(names), values=human.values[kept], design=design)
    for table, whose in ((people, "people"), (model, "the model")):
        _refuse_missing(table, whose)
    return join_judges(people, model, human_sample)


def _refuse_missing(table: Scores, whose: str) -> None:
    """Raise where a run lacks a score; corrected means need all of them."""
    for topic, run, _ in np.argwhere(np.isnan(table.values))[:1].tolist():
        raise TopicMismatchError(
            f"run {table.runs[run]!r} has no score by {whose} on topic {table.topics[topic]!r}; "
            "corrected means need the scores of all runs on all topics that were judged"
        )


def shared_topics(model: Sequence[str], human: Sequence[str], sample: str) -> list[str]:
    """Return the topics of people that the model judged, too; raise where they do not fit."""
    known = set(model)
    beyond = [topic for topic in human if topic not in known]
    shared = len(human) - len(beyond)
    if shared < LEAST_HUMAN_TOPICS:
        raise TopicMismatchError(
            f"people judged {counted(shared, 'topic')} that the model judged, too; expected "
            f"{LEAST_HUMAN_TOPICS} or more"
        )
    _check_rest(model, human, sample)
    if beyond:
        warn_caller(
            f"people judged {counted(len(beyond), 'topic')} that the model did not "
            f"({enumerate_names(beyond, 5)}), left out",
            TopicWarning,
        )
    return [topic for topic in human if topic in known]


def _check_rest(model: Sequence[str], human: Sequence[str], sample: str) -> None:
    """Raise where topics that only the model judged do not fit how the human-judged ones were sampled."""
    people = set(human)
    rest = [topic for topic in model if topic not in people]
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
