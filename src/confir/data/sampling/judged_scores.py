"""Scores by human judgements of some topics, and by model judgements of all."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Floats, Integers
from confir.data.result import result
from confir.data.sampling.design import Datasets, Design, DesignSource, as_design
from confir.data.sampling.prediction_powered import Judged
from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicMismatchError, counted

RANDOM_TOPICS, RANDOM_DOCUMENTS = "random-topics", "random-documents"
ALL_TOPICS, CHOSEN = "all", "chosen"
# How the human-judged topics were sampled: only a random sample speaks for the others.
HUMAN_SAMPLES = (RANDOM_TOPICS, RANDOM_DOCUMENTS, ALL_TOPICS, CHOSEN)

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
        from confir.data.sampling.repeated_scores import group_judged_repeats

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
        apart = self.values[:, second] - self.values[:, first]
        return np.where(np.isnan(se), np.nan, apart.std(axis=0, ddof=1))

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
