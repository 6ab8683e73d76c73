"""Human and model scores, joined: which topics both judged, and whether these are like others."""

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
    """Return human and model scores as one; warn where the human-judged topics are unlike others.

    Parameters
    ----------
    human
        Scores by human judgements; all of their topics are among the model's.
    model
        Scores of the same runs by model judgements.
    human_sample
        How the human-judged topics were sampled.
    """
    scores = human.as_kind(JudgedScores, model=model, human_sample=human_sample)
    for part in [scores.on_dataset(name) for name in model.datasets] or [scores]:
        _warn_of_other_topics(part)
    return scores


def join_tables(human: Scores, model: Scores, human_sample: str) -> JudgedScores:
    """Return two score tables as one: human scores on some topics, model scores on these and others.

    Parameters
    ----------
    human
        Human scores; runs, measures and topics that the model's table lacks are left out.
    model
        Model scores, of which every run and measure is one of the human ones; a design of their topics
        is that of the human-judged ones, too.
    human_sample
        How the human-judged topics were sampled: "random-topics", or "all".
    """
    for kind in ("run", "measure"):
        lacking = [
            name for name in getattr(model, f"{kind}s") if name not in getattr(human, f"{kind}s")
        ]
        if lacking:
            raise InvalidValueError(
                f"the human scores lack {kind} {enumerate_names(map(repr, lacking), 3)} of the model's; "
                f"expected all of them, or a choice of those that the human scores have "
                f"({enumerate_names(getattr(human, f'{kind}s'), 5)})"
            )
    human = human.select(run=list(model.runs), measure=list(model.measures))
    kept = np.isin(human.topics, shared_topics(model.topics, human.topics, human_sample))
    names = np.array(human.topics, object)[kept].tolist()
    design = as_design(model.design, names, {})
    human = replace(human, topics=tuple(names), values=human.values[kept], design=design)
    for table, whose in ((human, "human"), (model, "model")):
        for topic, run, _ in np.argwhere(np.isnan(table.values))[:1].tolist():
            raise TopicMismatchError(
                f"run {table.runs[run]!r} has no {whose} score on topic {table.topics[topic]!r}; "
                "corrected means need the scores of all runs on all topics that were judged"
            )
    return join_judges(human, model, human_sample)


def shared_topics(model: Sequence[str], human: Sequence[str], sample: str) -> list[str]:
    """Return the human-judged topics that the model judged, too; raise where they do not fit."""
    known = set(model)
    beyond = [topic for topic in human if topic not in known]
    shared = len(human) - len(beyond)
    if shared < LEAST_HUMAN_TOPICS:
        raise TopicMismatchError(
            f"the model judged {counted(shared, 'human-judged topic')}; expected "
            f"{LEAST_HUMAN_TOPICS} or more"
        )
    _check_rest(model, human, sample)
    if beyond:
        warn_caller(
            f"the model did not judge {counted(len(beyond), 'human-judged topic')} "
            f"({enumerate_names(beyond, 5)}), left out",
            TopicWarning,
        )
    return [topic for topic in human if topic in known]


def _check_rest(model: Sequence[str], human: Sequence[str], sample: str) -> None:
    """Raise where topics that only the model judged do not fit how the human-judged ones were sampled."""
    judged = set(human)
    rest = [topic for topic in model if topic not in judged]
    if sample == ALL_TOPICS and rest:
        raise TopicMismatchError(
            f"the human judgements lack {counted(len(rest), 'topic')} of the model's "
            f"({enumerate_names(rest, 5)}); expected all of them, or human_sample "
            f"{RANDOM_TOPICS!r}, where theirs were drawn at random"
        )
    if sample == RANDOM_TOPICS and len(rest) < 2:
        raise TopicMismatchError(
            f"the model judged {counted(len(rest), 'topic')} beyond the human-judged ones; expected 2 or "
            f"more: without them, human judgements stand for themselves ({ALL_TOPICS!r})"
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
            f"by the model's judgements, the human-judged topics have a mean "
            f"{scores.measures[place]} of {drawn[:, place].mean():.4f}, the others "
            f"{rest[:, place].mean():.4f} (p = {p[place]:.2g}): topics drawn at random rarely "
            "differ as much; if they were chosen otherwise, the corrected means are wrong",
            TopicWarning,
        )
