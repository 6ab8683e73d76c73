"""How much of the variance of scores is due to systems, topics, judges and repeats? G-theory.

An analysis of variance with random effects gives a component of each source. From them follow two
coefficients of reliability, for any number of topics, judges or repeats: Eρ², of the differences between
systems, and Φ, of the scores themselves (Brennan 2001; for IR, Bodoff & Li 2007, Urbano et al. 2013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

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
from confir.data.sampling_designs.design import refuse_design
from confir.data.sampling_designs.repeated_scores import find_repeats
from confir.data.score_objects import ScoresSource, make_scores
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import LEVEL, SEED
from confir.errors import (
    DegenerateSampleWarning,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    warn_caller,
)
from confir.intervals.interval import tail_probabilities
from confir.measures.evaluation import evaluate
from confir.measures.score_sources import as_scores
from confir.resampling.kinds import needs
from confir.resampling.replicates import Rng
from confir.resampling.sample import Knowledge
from confir.studies.components.analysis import (
    JUDGES,
    REPEATS,
    SYSTEMS,
    TOPICS,
    MeanSquares,
    VarianceSource,
    find_sources,
    mean_squares,
    reliability,
    two_factor_limits,
)

# Draws of the mean squares, of which the limits of coefficients without an exact distribution are quantiles.
_DRAWS = 100_000

# Fields of the coefficients and their limits.
_COEFFICIENTS = tuple(
    f"{name}{end}" for name in ("relative", "absolute") for end in ("", "_low", "_high")
)


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
    facets, systems, topics, levels
        What varies besides systems and topics, of "judges" and "repeats"; numbers of systems, of
        topics, and of each facet.
    planned_topics, planned_levels
        Numbers of topics, and of all facets together, that coefficients are for.
    relative, relative_low, relative_high
        Eρ² with its limits: topics × levels. NaN where systems do not differ, limits also where
        nothing else varies.
    absolute, absolute_low, absolute_high
        Φ with its limits, likewise.
    """

    sources: tuple[str, ...] = axis("source")
    variance: Floats = over("source")
    share: Floats = over("source")
    df: Floats = over("source")
    measure: str = constant()
    level: float = constant()
    facets: tuple[str, ...]
    systems: int
    topics: int
    levels: tuple[int, ...]
    planned_topics: tuple[int, ...]
    planned_levels: tuple[tuple[int, ...], ...]
    relative: Floats
    relative_low: Floats
    relative_high: Floats
    absolute: Floats
    absolute_low: Floats
    absolute_high: Floats

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "source": TableColumn(Role.NAME),
            "variance": TableColumn(Role.NUMBER, format=".6f"),
            "share": TableColumn(Role.SHARE),
            "df": TableColumn(Role.COUNT),
        }

    def note(self) -> str:
        """Return what was decomposed."""
        numbers = zip(self.levels, self.facets, strict=True)
        others = "".join(f", {number} {facet}" for number, facet in numbers)
        return (
            f"variance components of {self.measure}: {self.systems} systems, {self.topics:,} "
            f"topics{others}; negative estimates count as 0"
        )

    def coefficient_records(self) -> list[dict[str, Any]]:
        """Return a record per number of topics, of judges and of repeats."""
        return [
            {
                "measure": self.measure,
                "topics": topics,
                **dict(zip(self.facets, levels, strict=True)),
                **{name: float(getattr(self, name)[i, j]) for name in _COEFFICIENTS},
            }
            for i, topics in enumerate(self.planned_topics)
            for j, levels in enumerate(self.planned_levels)
        ]


@needs(Knowledge.VALUES, "the analysis of variance components", also=["means over repeats"])
def decompose_scores(
    scores: ScoresSource | Mapping[str, ScoresSource],
    *,
    measure: str | None = None,
    repeats: bool | str = False,
    judges: Mapping[str, ScoresSource] | None = None,
    topics: int | Sequence[int] | None = None,
    levels: int | Sequence[int] | None = None,
    level: float = LEVEL,
    rng: Rng = SEED,
) -> Components:
    """Return the variance components of scores, and their reliability: Eρ² and Φ.

    Parameters
    ----------
    scores
        Scores of the systems; anything that `as_scores` takes. Topics that a run lacks are left out. Those
        `with_repeats` have repeats as a factor.
    measure
        By default the first.
    repeats
        Whether runs named ``system@1``, ``system@2``, … are repeats of one system; or how they are
        named, as in `Scores.with_repeats`.
    judges
        Scores of the same runs by further judges, by name.
    topics, levels
        Numbers of topics, and of judges and repeats, to give the coefficients for; by default those
        given, half, twice and four times as many (of judges and repeats together, twice).
    level, rng
        Confidence level of the limits, and the seed or generator of the mean squares drawn for those
        of Φ, and of Eρ² with judges or repeats; those of Eρ² of systems × topics are exact.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.decompose_scores(scores).share.round(2)
    array([0.35, 0.33, 0.32])
    """
    level = as_level(level)
    generator = as_generator(rng)
    if not isinstance(repeats, str):
        as_flag("repeats", repeats)
    if judges is not None and not isinstance(judges, Mapping):
        raise invalid("judges", judges, "a mapping of names to scores")
    values, name, facets = _score_table(as_scores(scores), measure, repeats, judges or {})
    factors = (SYSTEMS, TOPICS, *facets)
    sources = find_sources(factors)
    found = mean_squares(values, factors, sources)
    variance = found.components(found.squares)
    at_hand = values.shape[2:]
    planned = (_planned_topics(topics, values.shape[1]), _planned_levels(levels, at_hand))
    coefficients = _coefficients(variance[None], sources, facets, planned)
    named = {kind: each[0] for kind, each in coefficients.items()}
    if facets:
        draws = generator.chisquare(found.df, (_DRAWS, len(found.df)))
        drawn = found.components(found.squares * found.df / draws)
        named |= _drawn_limits(_coefficients(drawn, sources, facets, planned), level)
    else:
        named |= two_factor_limits(found, values.shape, planned[0], level)
    named |= _undefined(found, sources, named, name)
    total = variance.sum()
    return Components(
        sources=tuple(source.name for source in sources),
        variance=variance,
        share=variance / total if total > 0 else np.full_like(variance, np.nan),
        df=found.df,
        measure=name,
        level=level,
        facets=facets,
        systems=values.shape[0],
        topics=values.shape[1],
        levels=at_hand,
        planned_topics=planned[0],
        planned_levels=planned[1],
        **named,
    )


def _score_table(
    scores: Scores, measure: str | None, repeats: bool | str, judges: Mapping[str, Any]
) -> tuple[Floats, str, tuple[str, ...]]:
    """Return scores as systems × topics × judges or repeats, the measure, and which of these there are."""
    if len(scores.repeat_tables()) > 1:  # of systems already
        refuse_design(scores.design, "the analysis of variance components")
        scores, repeats = _single_runs(scores), True
    name = scores.measures[0]
    if measure is not None:
        name = as_choice("measure", as_text("measure", measure), scores.measures)
    facets = (*([JUDGES] if judges else []), *([REPEATS] if repeats else []))
    return _complete(_table(scores, judges, name, repeats=repeats)), name, facets


def _undefined(
    found: MeanSquares, sources: Sequence[VarianceSource], named: Mapping[str, Floats], measure: str
) -> dict[str, Floats]:
    """Return NaN for coefficients or limits that scores do not give, and warn why.

    Systems that are alike have no reliability; differences without any error have no interval.
    """
    reasons = []
    alike = not any(found.squares[i] > 0 for i, one in enumerate(sources) if SYSTEMS in one.factors)
    undefined: dict[str, Floats] = {}
    for kind, symbol in (("relative", "Eρ²"), ("absolute", "Φ")):
        errors = [i for i, one in enumerate(sources) if getattr(one, kind)]
        if alike:
            missing = [kind, f"{kind}_low", f"{kind}_high"]
        elif not (found.squares[errors] > 0).any():
            missing = [f"{kind}_low", f"{kind}_high"]
            reasons.append(symbol)
        else:
            continue
        undefined |= {name: np.full_like(named[name], np.nan) for name in missing}
    if alike:
        text = f"no reliability of {measure}: all systems have the same scores"
        warn_caller(text, DegenerateSampleWarning)
    elif reasons:
        warn_caller(
            f"no interval of {' and '.join(reasons)} of {measure}: the differences between systems are the "
            "same throughout",
            DegenerateSampleWarning,
        )
    return undefined


def _single_runs(scores: Scores) -> Scores:
    """Return scores of systems as those of their repeats, by the usual names."""
    counts = scores.repeat_counts.tolist()
    found = [
        (f"{run}@{repeat + 1}", table.values[:, system])
        for system, run in enumerate(scores.runs)
        for repeat, table in enumerate(scores.repeat_tables()[: counts[system]])
    ]
    names, values = zip(*found, strict=True)
    return Scores(scores.topics, names, scores.measures, np.stack(values, axis=1), scores.bounded)


def _table(
    scores: Scores, judges: Mapping[str, Any], measure: str, *, repeats: bool | str
) -> Floats:
    """Return scores as systems × topics, × judges and × repeats where there are some."""
    own = scores.select(measure=[measure])
    parts = [own, *(_judged(each, measure) for each in judges.values())]
    for name, part in zip(judges, parts[1:], strict=True):
        if set(part.runs) != set(own.runs):
            raise InvalidValueError(f"judge {name!r} has scores of other runs; expected the same")
    shared = [topic for topic in own.topics if all(topic in part.topics for part in parts)]
    if judges and len(shared) < 2:
        raise TopicMismatchError("the judges have fewer than 2 topics in common; expected more")
    chosen = [part.select(topic=shared, run=list(own.runs)) for part in parts]
    if repeats:
        found = find_repeats(own, repeats if isinstance(repeats, str) else None)
        tables = [found.cube(part, 0).transpose(0, 2, 1) for part in chosen]
    else:
        tables = [part.values[:, :, 0].T for part in chosen]
    return np.stack(tables, axis=2) if judges else tables[0]


def _complete(values: Floats) -> Floats:
    """Return the topics with all scores, the second axis; raise where there are too few."""
    others = tuple(place for place in range(values.ndim) if place != 1)
    kept: Booleans = np.all(~np.isnan(values), axis=others)
    if not kept.all():
        warn_caller(
            f"components are over the {kept.sum()} topics with all scores, of {len(kept)}",
            TopicWarning,
        )
    values = values[:, kept]
    if min(values.shape[:2]) < 2:
        raise TopicMismatchError(
            f"components need at least 2 systems, and 2 topics with all scores; there are "
            f"{values.shape[0]} and {values.shape[1]}"
        )
    return values


def _judged(source: Any, measure: str) -> Scores:
    """Return a judge's scores by a measure; messages about what is wrong name the argument."""
    scores = evaluate(source) if isinstance(source, Experiment) else make_scores(source, "judges")
    if measure not in scores.measures:
        raise InvalidValueError(f"judges have no scores by {measure!r}; expected the same measure")
    return scores.select(measure=[measure])


def _planned_topics(given: int | Sequence[int] | None, at_hand: int) -> tuple[int, ...]:
    """Return the numbers of topics that coefficients are for."""
    if given is not None:
        return as_integers("topics", given)
    return tuple(sorted({max(1, at_hand // 2), at_hand, 2 * at_hand, 4 * at_hand}))


def _planned_levels(
    given: int | Sequence[int] | None, at_hand: tuple[int, ...]
) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of judges and repeats that coefficients are for, all combinations."""
    if given is not None and not at_hand:
        raise InvalidValueError("levels requires scores of several judges or repeats")
    if given is not None:
        each = [as_integers("levels", given)] * len(at_hand)
    elif len(at_hand) == 1:
        each = [_planned_topics(None, at_hand[0])]
    else:
        each = [(number, 2 * number) for number in at_hand]
    return tuple(product(*each))


def _drawn_limits(drawn: Mapping[str, Floats], level: float) -> dict[str, Floats]:
    """Return quantiles of drawn coefficients: numbers of topics × of levels."""
    limits: dict[str, Floats] = {}
    for kind, coefficients in drawn.items():
        low, high = np.quantile(coefficients, tail_probabilities(level), axis=0)
        limits |= {f"{kind}_low": low, f"{kind}_high": high}
    return limits


def _coefficients(
    variances: Floats,
    sources: Sequence[VarianceSource],
    facets: tuple[str, ...],
    planned: tuple[tuple[int, ...], tuple[tuple[int, ...], ...]],
) -> dict[str, Floats]:
    """Return Eρ² and Φ of components for the numbers planned: draws × topics × levels each."""
    numbers: dict[str, Integers] = {TOPICS: np.array(planned[0])[:, None]}
    columns = np.array(planned[1], np.int64).reshape(len(planned[1]), len(facets)).T
    numbers |= {facet: column[None] for facet, column in zip(facets, columns, strict=True)}
    return {
        kind: reliability(variances, sources, numbers, relative=kind == "relative")
        for kind in ("relative", "absolute")
    }
