"""How much of the variance of scores is due to systems, topics, judges and repeats? G-theory.

An analysis of variance with random effects gives a component of each source. From them follow two
coefficients of reliability, for any number of topics, judges or repeats: Eρ², of the differences between
systems, and Φ, of the scores themselves (Brennan 2001; for IR, Bodoff & Li 2007, Urbano et al. 2013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import (
    as_choice,
    as_flag,
    as_generator,
    as_integers,
    as_level,
    as_text,
    invalid,
)
from confir.arrays import Booleans, Floats, Integers
from confir.data.experiment import Experiment
from confir.data.result import Result, axis, constant, over, result
from confir.data.sampling.design import refuse_design
from confir.data.sampling.repeats import find_repeats
from confir.data.scores import Scores
from confir.data.tables.score_objects import ScoresSource, make_scores
from confir.defaults import LEVEL
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning, warn_caller
from confir.intervals.interval import tail_probabilities
from confir.measures.evaluation import as_scores, evaluate
from confir.resampling.topics import Rng

# Draws of the mean squares, from which the limits of coefficients are quantiles.
_DRAWS = 100_000


class Source(NamedTuple):
    """A source of variance.

    Attributes
    ----------
    name
        Its name in results.
    relative, absolute
        Whether it is part of the error of differences between systems, and of that of scores.
    divided
        What divides it in a mean: "topics", and "judges" or "repeats".
    """

    name: str
    relative: bool
    absolute: bool
    divided: tuple[str, ...]


_SYSTEMS = Source("systems", relative=False, absolute=False, divided=())
_TOPICS = Source("topics", relative=False, absolute=True, divided=("topics",))
_BY_TOPIC = Source("systems × topics", relative=True, absolute=True, divided=("topics",))

# What each design of the scores has as sources, the residual last.
_SOURCES = {
    "topics": (_SYSTEMS, _TOPICS, _BY_TOPIC),
    "judges": (
        _SYSTEMS,
        _TOPICS,
        Source("judges", relative=False, absolute=True, divided=("judges",)),
        _BY_TOPIC,
        Source("systems × judges", relative=True, absolute=True, divided=("judges",)),
        Source("topics × judges", relative=False, absolute=True, divided=("topics", "judges")),
        Source("residual", relative=True, absolute=True, divided=("topics", "judges")),
    ),
    "repeats": (
        _SYSTEMS,
        _TOPICS,
        _BY_TOPIC,
        Source("repeats", relative=True, absolute=True, divided=("repeats",)),
        Source("residual", relative=True, absolute=True, divided=("topics", "repeats")),
    ),
}


@result
class Components(Result):
    """Variance components of scores by one measure, and what reliability follows from them.

    Attributes
    ----------
    sources
        Sources of variance.
    variance, share, df
        The component of each, its share of their sum, and its degrees of freedom.
    measure, level
        The measure; confidence level of the limits.
    facet, systems, topics, levels
        "topics", "judges" or "repeats": what varies besides systems; numbers of systems, of topics,
        and of judges or repeats (1 where there are none).
    planned_topics, planned_levels
        Numbers of topics, and of judges or repeats, that coefficients are for.
    relative, relative_low, relative_high
        Eρ² with its limits: topics × levels.
    absolute, absolute_low, absolute_high
        Φ with its limits: topics × levels.
    """

    sources: tuple[str, ...] = axis("source")
    variance: Floats = over("source")
    share: Floats = over("source")
    df: Floats = over("source")
    measure: str = constant()
    level: float = constant()
    facet: str
    systems: int
    topics: int
    levels: int
    planned_topics: tuple[int, ...]
    planned_levels: tuple[int, ...]
    relative: Floats
    relative_low: Floats
    relative_high: Floats
    absolute: Floats
    absolute_low: Floats
    absolute_high: Floats

    def coefficient_records(self) -> list[dict[str, Any]]:
        """Return a record per number of topics, and of judges or repeats."""
        extra = {} if self.facet == "topics" else {self.facet: 1}
        return [
            {
                "measure": self.measure,
                "topics": topics,
                **dict.fromkeys(extra, levels),
                "relative": float(self.relative[i, j]),
                "relative_low": float(self.relative_low[i, j]),
                "relative_high": float(self.relative_high[i, j]),
                "absolute": float(self.absolute[i, j]),
                "absolute_low": float(self.absolute_low[i, j]),
                "absolute_high": float(self.absolute_high[i, j]),
            }
            for i, topics in enumerate(self.planned_topics)
            for j, levels in enumerate(self.planned_levels)
        ]


def decompose_scores(
    scores: ScoresSource | Mapping[str, ScoresSource],
    *,
    measure: str | None = None,
    repeats: bool = False,
    judges: Mapping[str, ScoresSource] | None = None,
    topics: int | Sequence[int] | None = None,
    levels: int | Sequence[int] | None = None,
    level: float = LEVEL,
    rng: Rng = 2013,
) -> Components:
    """Return the variance components of scores, and their reliability: Eρ² and Φ.

    Parameters
    ----------
    scores
        Scores of the systems; anything that `as_scores` takes. Topics that a run lacks are left out.
    measure
        By default the first.
    repeats
        Whether runs named ``system@1``, ``system@2``, … are repeats of one system.
    judges
        Scores of the same runs by further judges, by name.
    topics, levels
        Numbers of topics, and of judges or repeats, to give the coefficients for; by default those
        at hand, half, twice and four times as many.
    level, rng
        Confidence level of the limits, and the seed or generator of the mean squares drawn for them.
    """
    level = as_level(level)
    as_flag("repeats", repeats)
    if judges is not None and not isinstance(judges, Mapping):
        raise invalid("judges", judges, "a mapping of names to scores")
    first = as_scores(scores)
    refuse_design(first.design, "the analysis of variance components")
    name = first.measures[0]
    if measure is not None:
        name = as_choice("measure", as_text("measure", measure), first.measures)
    if repeats and judges:
        raise InvalidValueError("repeats and judges are given both; expected one of them")
    facet = "repeats" if repeats else "judges" if judges else "topics"
    values = _cube(first, judges or {}, name, facet)
    kept: Booleans = np.all(~np.isnan(values), axis=(0, 1))
    if not kept.all():
        warn_caller(
            f"components are over the {kept.sum()} topics with all scores, of {len(kept)}",
            TopicWarning,
        )
    values = values[:, :, kept]
    if min(values.shape[0], values.shape[2]) < 2:
        raise TopicMismatchError(
            f"there are {values.shape[0]} systems and {values.shape[2]} topics with all scores; "
            "components need at least 2 of each"
        )
    squares, df, expectation = _mean_squares(values, facet)
    sources = _SOURCES[facet]
    found = _components(squares, expectation)
    at_hand = (values.shape[2], values.shape[1])
    planned = (
        _planned("topics", topics, at_hand[0]),
        _planned("levels", levels, at_hand[1], facet != "topics"),
    )
    drawn = squares * df / as_generator(rng).chisquare(df, (_DRAWS, len(df)))
    resampled = _components(drawn, expectation)
    kinds = {}
    for kind in ("relative", "absolute"):
        kinds[kind] = _coefficients(found[None], sources, facet, *planned, kind)[0]
        limits = _coefficients(resampled, sources, facet, *planned, kind)
        low, high = np.quantile(limits, tail_probabilities(level), axis=0)
        kinds |= {f"{kind}_low": low, f"{kind}_high": high}
    total = found.sum()
    return Components(
        sources=tuple(source.name for source in sources),
        variance=found,
        share=found / total if total > 0 else np.full_like(found, np.nan),
        df=df,
        measure=name,
        level=level,
        facet=facet,
        systems=values.shape[0],
        topics=at_hand[0],
        levels=at_hand[1],
        planned_topics=planned[0],
        planned_levels=planned[1],
        **kinds,
    )


def _cube(scores: Scores, judges: Mapping[str, Any], measure: str, facet: str) -> Floats:
    """Return scores as systems × judges or repeats × topics."""
    own = scores.select(measure=[measure])
    if facet == "repeats":
        return find_repeats(own).cube(own, 0)
    parts = [own, *(_judged(each, measure) for each in judges.values())]
    for name, part in zip(judges, parts[1:], strict=True):
        if set(part.runs) != set(own.runs):
            raise InvalidValueError(f"judge {name!r} has scores of other runs; expected the same")
    shared = [topic for topic in own.topics if all(topic in part.topics for part in parts)]
    if len(shared) < 2:
        raise TopicMismatchError("the judges have fewer than 2 topics in common; expected more")
    chosen = [part.select(topic=shared, run=list(own.runs)) for part in parts]
    return np.stack([part.values[:, :, 0] for part in chosen]).transpose(2, 0, 1)


def _judged(source: Any, measure: str) -> Scores:
    """Return a judge's scores by a measure; messages about what is wrong name the argument."""
    scores = evaluate(source) if isinstance(source, Experiment) else make_scores(source, "judges")
    if measure not in scores.measures:
        raise InvalidValueError(f"judges have no scores by {measure!r}; expected the same measure")
    return scores.select(measure=[measure])


def _planned(
    name: str, given: int | Sequence[int] | None, at_hand: int, vary: bool = True
) -> tuple[int, ...]:
    """Return the numbers that coefficients are for."""
    if given is not None:
        return as_integers(name, given)
    if not vary:
        return (at_hand,)
    return tuple(sorted({max(1, at_hand // 2), at_hand, 2 * at_hand, 4 * at_hand}))


def _mean_squares(values: Floats, facet: str) -> tuple[Floats, Floats, Floats]:
    """Return mean squares, their degrees of freedom, and what they expect of each component.

    From systems × levels × topics; the rows of the last are mean squares, its columns components.
    """
    s, r, t = values.shape
    whole = values.mean()
    by_system = values.mean(axis=(1, 2), keepdims=True) - whole
    by_topic = values.mean(axis=(0, 1), keepdims=True) - whole
    cell = values.mean(axis=1, keepdims=True)
    both = cell - whole - by_system - by_topic
    one, two, three = s - 1.0, t - 1.0, (s - 1.0) * (t - 1.0)
    squares = [r * t * (by_system**2).sum() / one, r * s * (by_topic**2).sum() / two]
    of_both = r * (both**2).sum() / three
    if facet == "topics":
        expects = [[t, 0, 1], [0, s, 1], [0, 0, 1]]
        return np.array([*squares, of_both]), np.array([one, two, three]), np.array(expects, float)
    if facet == "repeats":
        repeat = values.mean(axis=2, keepdims=True)
        nested = repeat - whole - by_system
        rest = values - cell - nested
        four, five = s * (r - 1.0), s * (r - 1.0) * two
        squares += [of_both, t * (nested**2).sum() / four, (rest**2).sum() / five]
        df = np.array([one, two, three, four, five])
        expects = [
            [r * t, 0, r, t, 1],
            [0, r * s, r, 0, 1],
            [0, 0, r, 0, 1],
            [0, 0, 0, t, 1],
            [0, 0, 0, 0, 1],
        ]
        return np.array(squares), df, np.array(expects, float)
    by_judge = values.mean(axis=(0, 2), keepdims=True) - whole
    of_system = values.mean(axis=2, keepdims=True) - whole - by_system - by_judge
    of_topic = values.mean(axis=0, keepdims=True) - whole - by_topic - by_judge
    rest = values - whole - by_system - by_topic - by_judge - both - of_system - of_topic
    j = r - 1.0
    squares += [
        s * t * (by_judge**2).sum() / j,
        of_both,
        t * (of_system**2).sum() / (one * j),
        s * (of_topic**2).sum() / (two * j),
        (rest**2).sum() / (three * j),
    ]
    df = np.array([one, two, j, three, one * j, two * j, three * j])
    expects = [
        [r * t, 0, 0, r, t, 0, 1],
        [0, r * s, 0, r, 0, s, 1],
        [0, 0, s * t, 0, t, s, 1],
        [0, 0, 0, r, 0, 0, 1],
        [0, 0, 0, 0, t, 0, 1],
        [0, 0, 0, 0, 0, s, 1],
        [0, 0, 0, 0, 0, 0, 1],
    ]
    return np.array(squares), df, np.array(expects, float)


def _components(squares: Floats, expectation: Floats) -> Floats:
    """Return the components that mean squares stand for; negative ones count as 0."""
    found: Floats = np.maximum(0.0, squares @ np.linalg.inv(expectation).T)
    return found


def _coefficients(
    components: Floats,
    sources: Sequence[Source],
    facet: str,
    topics: Sequence[int],
    levels: Sequence[int],
    kind: str,
) -> Floats:
    """Return Eρ² or Φ for numbers of topics and levels: draws × topics × levels."""
    sizes: dict[str, Integers] = {"topics": np.array(topics)[:, None]}
    sizes[facet] = np.array(levels)[None] if facet != "topics" else sizes["topics"]
    error: Floats = np.zeros((len(components), len(topics), len(levels)))
    for place, source in enumerate(sources):
        if getattr(source, kind):
            divisor = np.prod(np.broadcast_arrays(*(sizes[n] for n in source.divided)), axis=0)
            error += components[:, place, None, None] / divisor
    systems = components[:, 0, None, None]
    with np.errstate(invalid="ignore"):
        coefficient: Floats = systems / (systems + error)
    return coefficient
