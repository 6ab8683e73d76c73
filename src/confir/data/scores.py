"""The scores of each run on each topic: topics × runs × measures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, Self, TypeVar

import numpy as np

from confir.arguments import as_choice, as_reals, invalid
from confir.arrays import TIE, Booleans, Floats, Integers
from confir.control_characters import check_told_apart
from confir.data.common_topics import (
    LEAST_COMMON_TOPICS,
    common_topics,
    warn_of_missing_scores,
)
from confir.data.result import Result, axis, over, result
from confir.data.run_scores import RunScores
from confir.data.sampling_designs.design import ROLES, Datasets, Design, DesignSource, as_design
from confir.errors import FormatError, InvalidValueError, ReadingWarning, warn_caller

Other = TypeVar("Other", bound="Scores")

# Scores of a measure in [0, 1] may lie this far outside it, as rounded or printed numbers do.
RANGE_TOLERANCE = 1e-6

# The squares of larger scores would overflow, and so would their sums.
LARGEST_SCORE = 1e100


def check_size(values: Floats) -> None:
    """Raise where a score is too large to be squared; infinite ones are rejected where they are used."""
    largest = np.abs(values).max(initial=0.0, where=np.isfinite(values))
    if largest > LARGEST_SCORE:
        raise InvalidValueError(f"a score is {largest:g}; expected at most {LARGEST_SCORE:g}")


@result
class Scores(RunScores, Result):
    """Scores of every run on every topic by every measure.

    Attributes
    ----------
    topics
        Topic ids in bytewise order.
    runs
        Names of the runs.
    measures
        Names of the measures.
    values
        Topics × runs × measures; NaN where a run has no score.
    bounded
        Whether measures that confir does not know lie in [0, 1]; None where their scores decide.
    inside
        Whether all scores by each measure lie in [0, 1], in the table that runs and measures were
        selected from.
    design
        How the topics were drawn; None where they are one simple random sample.
    """

    topics: tuple[str, ...] = axis("topic")
    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    values: Floats = over("topic", "run", "measure", column="score")
    bounded: bool | None = None
    inside: tuple[bool, ...] = over("measure", default=())
    design: Design | None = None

    record_columns = ("run", "measure", "topic", "score")
    row_order = ("run", "measure", "topic")

    def __post_init__(self) -> None:
        for kind in ("topics", "runs", "measures"):
            given = getattr(self, kind)
            single = isinstance(given, str | bytes) or not isinstance(given, Iterable)
            names = () if single else tuple(given)
            if single or not all(isinstance(name, str) for name in names):
                raise invalid(kind, given, "a list of names")
            object.__setattr__(self, kind, names)
        if type(self.values) is not np.ndarray or self.values.dtype != np.float64:
            object.__setattr__(self, "values", as_reals("values", self.values))
        expected = (len(self.topics), len(self.runs), len(self.measures))
        if self.values.shape != expected:
            raise FormatError(f"scores have shape {self.values.shape}; expected {expected}")
        for kind in ("topics", "runs", "measures"):
            names = getattr(self, kind)
            if len(set(names)) < len(names):
                raise FormatError(f"two {kind} of the scores have the same name")
            check_told_apart(kind, names)
        here = lie_in_unit_interval(self.values).tolist()
        there = self.inside if len(self.inside) == len(here) else here
        both = tuple(one and other for one, other in zip(here, there, strict=True))
        object.__setattr__(self, "inside", both)
        if self.design is not None and self.design.topics != self.topics:
            raise FormatError("the design is of other topics than the scores; use with_design")

    def as_kind(self, kind: type[Other], **own: Any) -> Other:
        """Return scores of another kind, with the fields that both have, and its own by name."""
        shared = {one.name for one in fields(self)} & {one.name for one in fields(kind)}
        return kind(**{name: getattr(self, name) for name in shared} | own)

    def missing_cells(self) -> Booleans | None:
        """Return which scores are missing; None where there are several judges or repeats."""
        return None if type(self) is not Scores else np.isnan(self.values)

    def topic_counts(self) -> Integers:
        """Return how many topics have a score: runs × measures."""
        counts: Integers = (~np.isnan(self.values)).sum(axis=0)
        return counts

    def mean(self) -> Floats:
        """Return the mean over the topics that have a score, by the design: runs × measures."""
        if self.design is not None:
            return designed_mean(self.design, self.values)
        present = ~np.isnan(self.values)
        total = np.where(present, self.values, 0.0).sum(axis=0)
        count = present.sum(axis=0)
        mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return mean

    def comparable_means(self) -> Floats:
        """Return means that can be ranked, over the topics that all runs have: runs × measures.

        By a measure with too few topics in common, they are the means over each run's own topics.
        """
        common = common_topics(self.values)
        if common.all():
            return self.mean()
        common[:, common.sum(axis=0) < LEAST_COMMON_TOPICS] = True
        values = np.where(common[:, None, :], self.values, np.nan)
        return replace(self, values=values).mean()

    def common_topic_count(self) -> tuple[int, bool]:
        """Return how many topics all runs have, and whether no run has others."""
        common = common_topics(self.values)
        others = ~np.isnan(self.values) & ~common[:, None, :]
        return int(common.sum()), not others.any()

    def pair_means(self, first: int, second: int) -> Floats | None:
        """Return the means of two runs over the topics that both have: 2 × measures.

        None where their difference is not that of two such means, or these topics are not known.
        """
        both = self.select(run=[self.runs[first], self.runs[second]])
        there = ~np.isnan(both.values).any(axis=1, keepdims=True)
        return replace(both, values=np.where(there, both.values, np.nan)).mean()

    def difference_spread(
        self, first: Integers, second: Integers, difference: Floats, se: Floats, topics: Integers
    ) -> Floats:
        """Return the standard deviation of differences over topics; by a design, its estimate."""
        if self.design is None:
            return np.asarray(se * np.sqrt(topics))
        differences = self.values[:, second] - self.values[:, first]
        variance = designed_mean(self.design, np.square(differences - difference))
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.sqrt(variance * topics / (topics - 1.0))
        return np.where(np.isnan(se), np.nan, spread)

    def listed(self) -> Scores:
        """Return the scores topic by topic: all of them; of a summary, those of a sample."""
        return self

    def filled(self, name: str = "scores") -> Self:
        """Return the scores; raise where there are none, ``name`` being the parameter's."""
        if self.values.size == 0:
            raise InvalidValueError(
                f"{name} hold {len(self.topics)} topics, {len(self.runs)} runs and "
                f"{len(self.measures)} measures; expected at least one of each"
            )
        check_size(self.values)
        return self

    def in_id_order(self) -> Self:
        """Return the scores with their topics in bytewise order of the ids."""
        if list(self.topics) == sorted(self.topics):  # by code points, as bytes of UTF-8 are
            return self
        places = sorted(range(len(self.topics)), key=self.topics.__getitem__)
        topics = tuple(self.topics[place] for place in places)
        moved: dict[str, Any] = {"topics": topics}
        for one in fields(self):
            if one.metadata.get("over", ("",))[:1] == ("topic",):
                moved[one.name] = getattr(self, one.name)[places]
        if self.design is not None:
            moved["design"] = as_design(self.design, topics, {})
        return replace(self, **moved)

    def warning_of_missing_topics(self) -> Self:
        """Return the scores; warn where runs lack topics that others have."""
        warn_of_missing_scores(self)
        return self

    def clipped(self, find_bounded: Callable[[Self], Booleans]) -> Self:
        """Return scores with those of bounded measures in [0, 1].

        Scores outside by rounding are clipped, with a warning beyond double precision; any further
        outside raise.
        """
        clipped = np.where(find_bounded(self), np.clip(self.values, 0.0, 1.0), self.values)
        finite = np.isfinite(self.values)  # infinite scores are rejected elsewhere
        distance = np.abs(
            np.subtract(self.values, clipped, where=finite, out=np.zeros(clipped.shape))
        )
        if not distance.any():
            return self
        topic, run, measure = np.unravel_index(distance.argmax(), distance.shape)
        what = (
            f"{self.measures[measure]} of run {self.runs[run]!r} on topic {self.topics[topic]!r} is "
            f"{self.values[topic, run, measure]:.10g}"
        )
        if distance[topic, run, measure] > RANGE_TOLERANCE:
            raise FormatError(f"{what}; expected a score in [0, 1]")
        count = int((distance > TIE).sum())
        if count:
            which = "a score" if count == 1 else f"{count} scores"
            verb = "is clipped" if count == 1 else "are clipped, the furthest"
            warn_caller(f"{which} outside [0, 1] by rounding {verb}: {what}", ReadingWarning)
        return replace(self, values=clipped)

    def with_design(
        self, design: DesignSource, *, datasets: Datasets = "fixed", **columns: str | None
    ) -> Scores:
        """Return the scores with a design, which means, intervals and tests then follow.

        Parameters
        ----------
        design
            A `Design`, a file or a frame with a column topic and any of dataset, stratum, cluster
            and weight; or a mapping of such columns, or topic → cluster.
        datasets
            "fixed" for conclusions about these datasets, "random" for datasets like these.
        **columns
            Names of the columns where they have others: cluster="conversation".
        """
        for role in columns:
            as_choice("columns", role, ROLES, "column of a design")
        return replace(self, design=as_design(design, self.topics, columns, datasets))

    def with_repeats(self, pattern: str | None = None) -> Any:
        """Return the scores of systems, whose repeats the runs are.

        Means, intervals and comparisons then count that repeats vary.

        Parameters
        ----------
        pattern
            How repeats are named, such as ``{system}-v{repeat}``; by default ``system@1``,
            ``system_seed1``, ``system-s1`` and the like.
        """
        from confir.data.sampling_designs.repeated_scores import group_repeats

        return group_repeats(self, pattern)

    def with_human(self, human: Scores, human_sample: str) -> Scores:
        """Return these scores, a model's, with human scores on some topics: `JudgedScores`.

        Parameters
        ----------
        human
            Scores of the same runs by human judgements, such as `read_scores` returns.
        human_sample
            How the human-judged topics were sampled: "random-topics", or "all".
        """
        from confir.data.sampling_designs.judged_scores import (
            RANDOM_DOCUMENTS,
            check_sample,
            join_tables,
        )

        if check_sample(human_sample) == RANDOM_DOCUMENTS:
            raise InvalidValueError(
                "documents drawn at random need qrels, of which score tables hold none; expected "
                "human_sample 'random-topics' or 'all'"
            )
        return join_tables(human, self, human_sample)

    @property
    def sampling(self) -> Design:
        """How the topics were drawn, also where they are one simple random sample."""
        return Design(self.topics) if self.design is None else self.design

    @property
    def all_topics(self) -> tuple[str, ...]:
        """Topics that any judge has scores on: all topics, where there is one judge."""
        return self.topics

    @property
    def repeat_counts(self) -> Integers:
        """Number of repeats of each run: one."""
        return np.ones(len(self.runs), np.int64)

    def repeat_tables(self) -> tuple[Scores, ...]:
        """Return the scores of each repeat of the runs: themselves, where there is one."""
        return (self,)

    def rescaled(
        self, moves: Mapping[str, tuple[float, float]], measures: tuple[str, ...]
    ) -> Scores:
        """Return the scores less a shift, over a scale, both of their dataset; measures are renamed."""
        shift, scale = (
            np.array([moves[name][side] for name in self.dataset_design.dataset or ()])
            for side in (0, 1)
        )
        values = (self.values - shift[:, None, None]) / scale[:, None, None]
        return Scores(self.topics, self.runs, measures, values, bounded=False, design=self.design)

    def on_dataset(self, name: str) -> Self:
        """Return the scores on the topics of one dataset, with the design inside of it."""
        labels = zip(self.topics, self.dataset_design.dataset or (), strict=True)
        part = self.on_topics([topic for topic, own in labels if own == name])
        own = None if part.design is None else replace(part.design, dataset=None)
        return replace(part, design=None if own is None or own.simple else own)

    def with_datasets(self, datasets: Datasets) -> Self:
        """Return the scores with their datasets fixed, or a sample of datasets like these."""
        return replace(self, design=replace(self.dataset_design, datasets=datasets))

    def on_topics(self, topics: Collection[str]) -> Self:
        """Return the scores on some topics, by all judges."""
        wanted = set(topics)
        chosen = self.select(topic=[topic for topic in self.topics if topic in wanted])
        if chosen.design is None:
            return chosen
        return replace(chosen, design=as_design(chosen.design, chosen.topics, {}))

    def rows(self) -> Integers:
        """Return the rows of the scores that are there."""
        return np.flatnonzero(~np.isnan(self.values.transpose(1, 2, 0)))


def designed_mean(design: Design, values: Floats) -> Floats:
    """Return means over topics (the first axis) by a design; NaN where a stratum has no score."""
    weight, _, stratum, share, _ = design.layout()
    flat = values.reshape(len(values), -1)
    present = ~np.isnan(flat)
    mean = np.zeros(flat.shape[1])
    for number, part in enumerate(share.tolist()):
        inside = stratum == number
        own = weight[inside] @ np.where(present, flat, 0.0)[inside]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean += part * own / (weight[inside] @ present[inside])
    return mean.reshape(values.shape[1:])


def lie_in_unit_interval(values: Floats) -> Booleans:
    """Return for each entry of the last axis whether all of its scores lie in [0, 1]."""
    low, high = -RANGE_TOLERANCE, 1.0 + RANGE_TOLERANCE
    inside = np.isnan(values) | ((values >= low) & (values <= high))
    return np.asarray(inside.all(axis=tuple(range(values.ndim - 1))))
