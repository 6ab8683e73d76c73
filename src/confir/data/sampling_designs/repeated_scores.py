"""Repeats of systems: runs that differ by chance alone, such as the seed that a model was trained with.

Which runs are repeats of one system, their names say: ``system@1``, ``system_seed2``, ``system-s3``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import NamedTuple, cast

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.result import over, result
from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.sampling_designs.prediction_powered import Judged
from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicMismatchError, enumerate_names

# After the name of a system: @ and anything, or a word for a repeat and its number.
_USUAL = re.compile(
    r"(.+?)(?:@([^@]+)|[._-](?:seed|repeat|rep|run|trial|s|r)[._-]?(\d+))", re.IGNORECASE
)
_SYSTEM, _REPEAT = "{system}", "{repeat}"


class Repeats(NamedTuple):
    """The repeats of each system.

    Attributes
    ----------
    systems
        Names of the systems, in the order of their first repeat.
    places
        Numbers of each system's runs.
    """

    systems: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]

    def cube(self, scores: Scores, measure: int) -> Floats:
        """Return the scores by one measure, systems × repeats × topics; raise where they differ."""
        counts = {len(own) for own in self.places}
        if len(counts) > 1:
            fewest = min(self.places, key=len)
            raise InvalidValueError(
                f"systems have {min(counts)} to {max(counts)} repeats (the fewest: "
                f"{self.systems[self.places.index(fewest)]!r}); expected as many of each"
            )
        return scores.values[:, np.array(self.places), measure].transpose(1, 2, 0)


@result
class RepeatedScores(Scores):
    """Scores of systems that were run several times: means over the repeats, and the repeats.

    As `Scores`, the runs are the systems, and their scores the means over repeats.

    Attributes
    ----------
    repeats
        Topics × systems × repeats × measures; NaN where a system has fewer repeats than others.
    estimated
        Whether the scores are estimates, from human judgements of documents drawn at random.
    """

    repeats: Floats = over("topic", "run", "", "measure", column="repeat", kw_only=True)
    estimated: bool = field(default=False, kw_only=True)

    @property
    def in_range(self) -> bool:
        """Whether scores by a measure in [0, 1] lie there; estimates of scores may not."""
        return not self.estimated

    def with_repeats(self, pattern: str | None = None) -> RepeatedScores:
        """Return the scores themselves, which are of systems already."""
        del pattern
        return self

    def repeat_tables(self) -> tuple[Scores, ...]:
        """Return the scores of each repeat; NaN of systems that have fewer."""
        return tuple(
            Scores(
                self.topics, self.runs, self.measures, self.repeats[:, :, place], design=self.design
            )
            for place in range(self.repeats.shape[2])
        )

    def rescaled(
        self, moves: Mapping[str, tuple[float, float]], measures: tuple[str, ...]
    ) -> Scores:
        """Return the scores and the repeats on a scale of each dataset, as in `Scores`."""
        tables = [Scores.rescaled(one, moves, measures) for one in (self, *self.repeat_tables())]
        repeats = np.stack([table.values for table in tables[1:]], axis=2)
        return tables[0].as_kind(RepeatedScores, repeats=repeats)

    def sampling_note(self, _seed: int | None = None) -> str:
        """Return how many repeats the systems have, in words."""
        fewest, most = (int(end(self.repeat_counts)) for end in (np.min, np.max))
        number = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        said = f"means over {number} repeats of each system, whose variation counts"
        drawn = "by human judgements of documents drawn at random, and the model's of all"
        return f"{said}; {drawn}" if self.estimated else said

    @property
    def repeat_counts(self) -> Integers:
        """Number of repeats of each system."""
        counts: Integers = np.sum(~np.isnan(self.repeats[0, :, :, 0]), axis=1)
        return counts


@result
class RepeatedJudgedScores(JudgedScores):
    """Scores of systems that were run several times, by human judgements of some topics and a model's of all.

    As `JudgedScores`, runs are the systems, and scores of both judges the means over repeats. The model's
    are `RepeatedScores`.

    Attributes
    ----------
    repeats
        The human scores: topics × systems × repeats × measures; NaN where a system has fewer repeats.
    """

    repeats: Floats = over("topic", "run", "", "measure", column="repeat", kw_only=True)

    @property
    def people(self) -> RepeatedScores:
        """The human scores alone, with the repeats."""
        return self.as_kind(RepeatedScores)

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
        filled = (
            replace(
                one, repeats=np.where(np.isnan(one.repeats), one.values[:, :, None], one.repeats)
            )
            for one in (self.people, cast("RepeatedScores", self.model))
        )
        tables = zip(*(one.repeat_tables() for one in filled), strict=True)
        return tuple(
            self.as_kind(JudgedScores, values=human.values, model=model) for human, model in tables
        )

    def rescaled(
        self, moves: Mapping[str, tuple[float, float]], measures: tuple[str, ...]
    ) -> JudgedScores:
        """Return the scores and the repeats of both judges on a scale of each dataset."""
        human, model = (one.rescaled(moves, measures) for one in (self.people, self.model))
        return human.as_kind(RepeatedJudgedScores, model=model, human_sample=self.human_sample)

    def sampling_note(self, _seed: int | None = None) -> str:
        """Return how many repeats the systems have, in words."""
        return self.people.sampling_note()

    def judged_repeats(self, system: int) -> Judged:
        """Return the scores of one system's repeats, of both judges: topics × repeats × measures."""
        count = int(self.repeat_counts[system])
        judges = self.people, cast("RepeatedScores", self.model)
        return self.by_part(*(one.repeats[:, system, :count] for one in judges))


def group_repeats(scores: Scores, pattern: str | None = None) -> RepeatedScores:
    """Return scores of systems, from those of their repeats; raise where a run is none, or alone.

    Parameters
    ----------
    scores
        Scores of every repeat on every topic.
    pattern
        How repeats are named, such as ``{system}-v{repeat}``; by default ``system@1``,
        ``system_seed1``, ``system-s1`` and the like.
    """
    found = find_repeats(scores, pattern)
    if np.isnan(scores.values).any():
        raise TopicMismatchError("a score is missing; repeats need all runs on all topics")
    topics, _, measures = scores.values.shape
    most = max(map(len, found.places))
    repeats = np.full((topics, len(found.systems), most, measures), np.nan)
    for system, own in enumerate(found.places):
        repeats[:, system, : len(own)] = scores.values[:, list(own)]
    return scores.as_kind(
        RepeatedScores,
        runs=found.systems,
        values=np.nanmean(repeats, axis=2),
        repeats=repeats,
        estimated=not scores.in_range,
    )


def group_judged_repeats(scores: JudgedScores, pattern: str | None = None) -> RepeatedJudgedScores:
    """Return scores of systems by both judges, from those of their repeats, as `group_repeats` does."""
    human, model = (group_repeats(one, pattern) for one in (scores.human, scores.model))
    return human.as_kind(RepeatedJudgedScores, model=model, human_sample=scores.human_sample)


def find_repeats(scores: Scores, pattern: str | None = None) -> Repeats:
    """Return which runs are repeats of one system; raise where a run is none, or the only one."""
    expression, example = _expression(pattern)
    found: dict[str, list[int]] = {}
    for place, run in enumerate(scores.runs):
        match = expression.fullmatch(run)
        if match is None:
            raise InvalidValueError(
                f"run {run!r} names no repeat; expected names such as {example.format(run)}"
            )
        found.setdefault(match[1], []).append(place)
    single = [name for name, own in found.items() if len(own) < 2]
    if single:
        raise InvalidValueError(
            f"there is one repeat of {enumerate_names(single, 3)}; expected at least 2 of each system"
        )
    return Repeats(tuple(found), tuple(map(tuple, found.values())))


def _expression(pattern: str | None) -> tuple[re.Pattern[str], str]:
    """Return what names of repeats match, their system first, and an example of such names."""
    if pattern is None:
        return _USUAL, "{0}@1 and {0}@2"
    if pattern.count(_SYSTEM) != 1 or pattern.count(_REPEAT) != 1:
        raise InvalidValueError(
            f"the pattern of repeats is {pattern!r}; expected one with {_SYSTEM} and {_REPEAT}, such "
            f"as {_SYSTEM}-v{_REPEAT}"
        )
    if pattern.index(_SYSTEM) > pattern.index(_REPEAT):
        raise InvalidValueError(
            f"the pattern of repeats is {pattern!r}; expected {_SYSTEM} before {_REPEAT}"
        )
    escaped = re.escape(pattern)
    for name, group in ((_SYSTEM, "(.+)"), (_REPEAT, "(.+?)")):
        escaped = escaped.replace(re.escape(name), group)
    return re.compile(escaped), pattern.replace(_SYSTEM, "x").replace(_REPEAT, "1")
