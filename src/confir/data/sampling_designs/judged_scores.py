"""Scores by human judgements of some topics, and by model judgements of all: held and joined.

They are joined only where the topics fit how the human-judged ones were sampled; a warning says where
these seem to be no random sample.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Floats, Integers
from confir.data.result import result
from confir.data.sampling_designs.design import Datasets, Design, DesignSource, as_design
from confir.data.sampling_designs.prediction_powered import Judged
from confir.data.scores import Scores
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)

RANDOM_TOPICS, RANDOM_DOCUMENTS = "random-topics", "random-documents"
ALL_TOPICS, CHOSEN = "all", "chosen"
# How the human-judged topics were sampled: only a random sample speaks for the others.
HUMAN_SAMPLES = (RANDOM_TOPICS, RANDOM_DOCUMENTS, ALL_TOPICS, CHOSEN)

# Human-judged topics whose scores by the model differ from the others' as rarely as this are no sample.
_RARELY = 0.05

# The residual of two estimated numbers, mean and weight, needs as many topics to vary.
LEAST_HUMAN_TOPICS = 3


@result
class JudgedScores(Scores):
    """Scores by human judgements of some topics, and by model judgements of these and others.

    As `Scores`, they are the human ones; means are human ones, too, estimated from both judges (PPI++).

    Attributes
    ----------
    model
        Scores of the same runs by the model's judgements, on all topics.
    human_sample
        How the human-judged topics were sampled.
    """

    corrected: ClassVar[bool] = True
    by_one_judge: ClassVar[bool] = False

    model: Scores = field(kw_only=True)
    human_sample: str = field(kw_only=True, default=RANDOM_TOPICS)

    def __post_init__(self) -> None:
        Scores.__post_init__(self)
        if (self.runs, self.measures) != (self.model.runs, self.model.measures):
            raise InvalidValueError(
                "human and model scores are of different runs or measures; expected the same, in the "
                "same order"
            )
        if np.isnan(self.values).any() or np.isnan(self.model.values).any():
            raise InvalidValueError(
                "a run lacks topics; corrected means need all of them: expected missing topics to "
                "score 0 (--missing zero)"
            )

    @property
    def human(self) -> Scores:
        """The human scores alone."""
        return self.as_kind(Scores)

    @property
    def model_topics(self) -> int:
        """Number of topics that only the model judged."""
        return len(self.model.topics) - len(self.topics)

    @property
    def all_topics(self) -> tuple[str, ...]:
        """Topics that any judge judged."""
        return self.model.topics

    def on_topics(self, topics: Collection[str]) -> Self:
        """Return the scores of both judges on some topics."""
        wanted = set(topics)
        kept = [topic for topic in self.topics if topic in wanted]
        design = as_design(self.design, kept, {})
        model = self.model.on_topics(wanted)
        part = replace(self, design=None).select(topic=kept)
        return replace(part, design=design, model=model)

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the datasets that the model's topics are of."""
        return self.model.datasets

    @property
    def dataset_design(self) -> Design:
        """How the model's topics of several datasets were drawn; raises where there are no datasets."""
        return self.model.dataset_design

    def on_dataset(self, name: str) -> Self:
        """Return the scores of both judges on one dataset; raise where too few topics are human-judged."""
        model = self.model.on_dataset(name)
        part = self.on_topics(model.topics)
        if len(part.topics) < LEAST_HUMAN_TOPICS:
            raise TopicMismatchError(
                f"dataset {name!r} has {counted(len(part.topics), 'human-judged topic')}; expected "
                f"{LEAST_HUMAN_TOPICS} or more in each dataset, whose correction is its own"
            )
        return replace(part, design=as_design(model.design, part.topics, {}), model=model)

    def with_design(
        self, design: DesignSource, *, datasets: Datasets = "fixed", **columns: str | None
    ) -> Self:
        """Return the scores with a design of the topics of both judges, as in `Scores`."""
        human, model = (
            part.with_design(design, datasets=datasets, **columns)
            for part in (self.human, self.model)
        )
        return replace(self, design=human.design, model=model)

    def with_repeats(self, pattern: str | None = None) -> Any:
        """Return the scores of systems by both judges, whose repeats the runs are, as in `Scores`."""
        from confir.data.sampling_designs.repeated_scores import group_judged_repeats

        return group_judged_repeats(self, pattern)

    def with_datasets(self, datasets: Datasets) -> Self:
        """Return the scores with the datasets of both judges fixed, or a sample."""
        return self.with_design(replace(self.dataset_design, datasets=datasets))

    def in_id_order(self) -> Self:
        """Return the scores with the topics of both judges in bytewise order of the ids."""
        model = self.model.in_id_order()
        moved = self if model is self.model else replace(self, model=model)
        return Scores.in_id_order(moved)

    def pair_means(self, first: int, second: int) -> Floats | None:
        """Return nothing: each difference has a weight of the model of its own."""
        del first, second
        return None

    def difference_spread(
        self, first: Integers, second: Integers, difference: Floats, se: Floats, topics: Integers
    ) -> Floats:
        """Return the standard deviation of differences over the human-judged topics."""
        if self.design is not None:
            return Scores.difference_spread(self, first, second, difference, se, topics)
        differences = self.values[:, second] - self.values[:, first]
        return np.where(np.isnan(se), np.nan, differences.std(axis=0, ddof=1))

    def judged(self) -> Judged:
        """Return the scores of both judges: topics × runs × measures."""
        return self.by_part(self.values, self.model.values)

    def by_part(self, human: Floats, model: Floats) -> Judged:
        """Return arrays of both judges' topics by who judged these: both, or the model alone."""
        places = {topic: place for place, topic in enumerate(self.model.topics)}
        both = np.array([places[topic] for topic in self.topics])
        rest = np.setdiff1d(np.arange(len(places)), both)
        return Judged(human, model[both], model[rest])

    def mean(self) -> Floats:
        """Return the human means, estimated from both judges, on each dataset by itself: runs × measures."""
        if self.datasets:
            means = [self.on_dataset(name).mean() for name in self.datasets]
            return np.asarray(np.mean(means, axis=0))
        return self.judged().corrected().mean

    def rescaled(
        self, moves: Mapping[str, tuple[float, float]], measures: tuple[str, ...]
    ) -> JudgedScores:
        """Return the scores of both judges on a scale of each dataset, as in `Scores`."""
        human, model = (Scores.rescaled(one, moves, measures) for one in (self.human, self.model))
        return human.as_kind(JudgedScores, model=model, human_sample=self.human_sample)


def as_judged(scores: Scores) -> JudgedScores:
    """Return scores by human and model judgements; raise for those of one judge."""
    if not isinstance(scores, JudgedScores):
        raise InvalidValueError(
            "the scores are by one judge; expected those by human and model judgements: "
            "evaluate(…, human=…)"
        )
    return scores


def check_sample(human_sample: Any) -> str:
    """Return how the human-judged topics were sampled; raise where they are no random sample."""
    as_choice("human_sample", human_sample, HUMAN_SAMPLES, "way to choose human topics")
    if human_sample == CHOSEN:
        raise InvalidValueError(
            "topics that were chosen for human judging say nothing of the others, and nothing "
            f"corrects that; expected topics or documents drawn at random ({RANDOM_TOPICS}, "
            f"{RANDOM_DOCUMENTS})"
        )
    return str(human_sample)


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
    known, judged = set(model), set(human)
    shared = [topic for topic in human if topic in known]
    beyond = [topic for topic in human if topic not in known]
    rest = [topic for topic in model if topic not in judged]
    if len(shared) < LEAST_HUMAN_TOPICS:
        raise TopicMismatchError(
            f"the model judged {counted(len(shared), 'human-judged topic')}; expected "
            f"{LEAST_HUMAN_TOPICS} or more"
        )
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
    if beyond:
        warn_caller(
            f"the model did not judge {counted(len(beyond), 'human-judged topic')} "
            f"({enumerate_names(beyond, 5)}), left out",
            TopicWarning,
        )
    return shared


def _warn_of_other_topics(scores: JudgedScores) -> None:
    """Warn where human topics differ from the others by the model's scores (Welch's t test)."""
    from scipy.stats import ttest_ind_from_stats

    judged = scores.judged()
    if len(judged.rest) < 2:
        return
    drawn, rest = (part.mean(axis=1) for part in (judged.model, judged.rest))
    known = [(part.mean(axis=0), part.std(axis=0, ddof=1), len(part)) for part in (drawn, rest)]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = ttest_ind_from_stats(*known[0], *known[1], equal_var=False)
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
