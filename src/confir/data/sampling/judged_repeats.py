"""Repeats of systems by human judgements of some topics and by a model's of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import cast

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.result import result
from confir.data.sampling.judged_scores import Judged, JudgedScores
from confir.data.sampling.repeated_scores import BY_REPEAT, RepeatedScores, group_repeats
from confir.data.scores import Scores


@result
class RepeatedJudgedScores(JudgedScores):
    """Scores of systems that were run several times, by people on some topics and by a model on all.

    As `JudgedScores`, runs are the systems, and scores of both judges the means over repeats. The model's
    are `RepeatedScores`.

    Attributes
    ----------
    repeats
        People's scores: topics × systems × repeats × measures; NaN where a system has fewer repeats.
    """

    repeats: Floats = field(kw_only=True, metadata=BY_REPEAT)

    @property
    def people(self) -> RepeatedScores:
        """People's scores alone, with the repeats."""
        kept = {one.name: getattr(self.human, one.name) for one in fields(Scores)}
        return RepeatedScores(**kept, repeats=self.repeats)

    @property
    def repeat_counts(self) -> Integers:
        """Number of repeats of each system."""
        return self.people.repeat_counts

    def with_repeats(self, pattern: str | None = None) -> RepeatedJudgedScores:
        """Return the scores themselves, which are of systems already."""
        del pattern
        return self

    def repeat_tables(self) -> tuple[Scores, ...]:
        """Return the scores of each repeat; the mean of a system's repeats, where it has fewer."""
        judges = self.people, cast("RepeatedScores", self.model)
        filled = [
            np.where(np.isnan(one.repeats), one.values[:, :, None], one.repeats) for one in judges
        ]
        return tuple(
            JudgedScores(
                **{one.name: getattr(self, one.name) for one in fields(JudgedScores)}
                | {
                    "values": filled[0][:, :, place],
                    "model": Scores(
                        self.model.topics,
                        self.runs,
                        self.measures,
                        filled[1][:, :, place],
                        design=self.model.design,
                    ),
                }
            )
            for place in range(self.repeats.shape[2])
        )

    def rescaled(
        self, moves: Mapping[str, tuple[float, float]], measures: tuple[str, ...]
    ) -> JudgedScores:
        """Return the scores and the repeats of both judges on a scale of each dataset."""
        plain = JudgedScores.rescaled(self, moves, measures)
        people = cast("RepeatedScores", self.people.rescaled(moves, measures))
        kept = {one.name: getattr(plain, one.name) for one in fields(JudgedScores)}
        model = self.model.rescaled(moves, measures)
        return RepeatedJudgedScores(**kept | {"model": model}, repeats=people.repeats)

    def sampling_note(self, _seed: int | None = None) -> str:
        """Return how many repeats the systems have, in words."""
        return self.people.sampling_note()

    def judged_repeats(self, system: int) -> Judged:
        """Return the scores of one system's repeats, of both judges: topics × repeats × measures."""
        count = int(self.repeat_counts[system])
        places = {topic: place for place, topic in enumerate(self.model.topics)}
        both = np.array([places[topic] for topic in self.topics])
        rest = np.setdiff1d(np.arange(len(places)), both)
        model = cast("RepeatedScores", self.model).repeats[:, system, :count]
        return Judged(self.repeats[:, system, :count], model[both], model[rest])


def group_judged_repeats(scores: JudgedScores, pattern: str | None = None) -> RepeatedJudgedScores:
    """Return scores of systems by both judges, from those of their repeats, as `group_repeats` does."""
    human, model = (group_repeats(one, pattern) for one in (scores.human, scores.model))
    kept = {one.name: getattr(scores, one.name) for one in fields(JudgedScores)}
    own = {"runs": human.runs, "values": human.values, "model": model}
    return RepeatedJudgedScores(**kept | own, repeats=human.repeats)
