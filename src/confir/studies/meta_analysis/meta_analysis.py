"""What do several topics, or several collections, say together? Meta-analysis of effects.

Each study (a topic, a collection) gives an effect and its standard error. [Cormack2006] §9 pools
them by Stouffer's test or by a fixed effect, and names random effects for studies that differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from confir.arguments import as_level
from confir.arrays import Floats, Integers
from confir.data.result import Columns, Record, Result, Variable, axis, constant, over, result
from confir.data.tables.effect_files import Group
from confir.defaults import LEVEL, NO_FAMILY
from confir.errors import DegenerateSampleWarning, enumerate_names, warn_caller
from confir.intervals.interval import Limits
from confir.intervals.quantiles import t_quantile
from confir.intervals.simultaneous import ComparisonFamily
from confir.studies.meta_analysis.effect_sample import (
    EffectSample,
    effect_sample,
    inverse_sum,
    or_nan,
)
from confir.studies.meta_analysis.models import (
    DEFAULT_MODEL,
    HARTUNG_KNAPP,
    MODELS,
    RANDOM,
    STOUFFER,
    TAU2_ESTIMATORS,
    Model,
    choose_model,
    find_models,
)
from confir.studies.meta_analysis.pooled_estimates import (
    adjust_effects,
    estimate_mean,
    family_of_effects,
    stouffer_test,
)


@result
class PooledEffect(Result):
    """Effects of studies, pooled by one model; arrays have the shape of the columns.

    Attributes
    ----------
    studies, groups
        Names of the studies, and what each column is about.
    effects, sigmas
        What was pooled, studies × columns; NaN where a study was left out.
    model
        Kind of model, estimator of τ², and kind of interval.
    effect, se, low, high
        The pooled effect, its standard error and limits. Stouffer's test has none.
    p, p_greater
        Of the null hypothesis of no effect: two-sided, and one-sided for an effect above 0.
    family, tested
        What holds together: "baseline", "all-pairs" or "none"; number of effects in each family.
    simultaneous_low, simultaneous_high, p_adjusted
        Limits and two-sided p-values of a whole family, by Bonferroni's bound: there are no joint
        replicates of pooled effects. Without a family limits are NaN, and p-values as they are.
    q, q_p, i2, tau2
        Cochran's Q and its p-value, the share (Q - df)/Q of variation beyond chance, and the
        variance between studies.
    predicted_low, predicted_high
        Where the true effect of a further study is expected; of random effects only.
    weights
        Share of each study in the pooled effect, studies × columns.
    count, level
        Number of studies pooled, and confidence level.
    """

    studies: tuple[str, ...] = axis("study")
    groups: tuple[Group, ...] = axis("group")
    effects: Floats = over("study", "group", flat=True)
    sigmas: Floats = over("study", "group", flat=True)
    model: Model
    effect: Floats = over("group", flat=True)
    se: Floats = over("group", flat=True)
    low: Floats = over("group", flat=True)
    high: Floats = over("group", flat=True)
    p: Floats = over("group", flat=True)
    p_greater: Floats = over("group", flat=True)
    q: Floats = over("group", flat=True)
    q_p: Floats = over("group", flat=True)
    i2: Floats = over("group", flat=True)
    tau2: Floats = over("group", flat=True)
    predicted_low: Floats = over("group", flat=True)
    predicted_high: Floats = over("group", flat=True)
    weights: Floats = over("study", "group", flat=True)
    count: Integers = over("group", column="studies", flat=True)
    level: float = constant()
    family: str = constant()
    tested: Integers = over("group", flat=True)
    p_adjusted: Floats = over("group", flat=True)
    simultaneous_low: Floats = over("group", flat=True)
    simultaneous_high: Floats = over("group", flat=True)

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"group": Group._fields}
    row_order = ("group",)
    record_columns = (
        *(*Group._fields, "model", "effect", "low", "high", "p", "q", "i2", "tau2", "q_p"),
        *("p_greater", "predicted_low", "predicted_high", "studies", "level", "p_adjusted"),
        *("family", "simultaneous_low", "simultaneous_high"),
    )
    optional_columns = ("collection",)

    def __repr__(self) -> str:
        size = f"{len(self.groups)} columns, level={self.level:g}"
        if len(self.groups) == 1:
            effect, low, high, i2 = (
                float(array.reshape(-1)[0]) for array in (self.effect, self.low, self.high, self.i2)
            )
            size = f"{effect:.4f} [{low:.4f}, {high:.4f}], level={self.level:g}, i2={i2:.2f}"
        return f"PooledEffect({size}, model={self.model.name!r})"

    def variables(self) -> list[Variable]:
        """Return the columns of the records; the collection only where groups differ in it."""
        left_out = set(Group._fields) - set(_fields(self.groups))
        return [one for one in Result.variables(self) if one.column not in left_out]

    def derived(self) -> Iterator[Variable]:
        """Yield the name of the model."""
        yield Variable("model", (), self.model.name)

    def study_records(self) -> list[Record]:
        """Return a record per study pooled: its group, effect, limits and weight."""
        margin = t_quantile(np.array(np.inf), self.level) * self.sigmas
        effects, low, high, weights = (
            array.reshape(len(self.studies), -1).T.tolist()
            for array in (self.effects, self.effects - margin, self.effects + margin, self.weights)
        )
        return [
            {
                **{name: getattr(group, name) for name in _fields(self.groups)},
                "study": study,
                "effect": effects[g][s],
                "low": low[g][s],
                "high": high[g][s],
                "weight": weights[g][s],
            }
            for g, group in enumerate(self.groups)
            for s, study in enumerate(self.studies)
            if not math.isnan(effects[g][s])
        ]

    @property
    def normal_limits(self) -> Limits:
        """What the limits are from the model's variance alone, as with the interval "normal"."""
        with np.errstate(divide="ignore"):
            total = np.nansum(1.0 / (self.sigmas**2 + self.tau2), axis=0)
        sizes = np.ones_like(self.tested) if self.family == NO_FAMILY else self.tested
        normal = np.empty(sizes.shape)
        for size in np.unique(sizes).tolist():
            together = ComparisonFamily(size, np.empty(0))
            normal[sizes == size] = together.critical_value(np.inf, self.level)
        margin = normal / np.sqrt(or_nan(total))
        return Limits(self.effect - margin, self.effect + margin)


@result
class PooledModels(Result):
    """The same effects pooled by several models, side by side."""

    pooled: tuple[PooledEffect, ...] = over("model")

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = PooledEffect.label_parts

    def axes(self) -> dict[str, Sequence[Any]]:
        """Return the models, studies and groups."""
        models = [pooled.model.name for pooled in self.pooled]
        return {"model": models, **(self.pooled[0].axes() if self.pooled else {})}

    @property
    def main(self) -> PooledEffect:
        """The result by the default model; without it, by the last."""
        by_model = {pooled.model: pooled for pooled in self.pooled}
        return by_model.get(DEFAULT_MODEL, self.pooled[-1])

    def to_dict(self) -> Columns:
        """Return the columns of all models, the rows of a group together."""
        parts = [pooled.to_dict() for pooled in self.pooled]
        return {
            name: list(chain(*zip(*(part[name] for part in parts), strict=True)))
            for name in parts[0]
        }


def pool_effects(
    effects: npt.ArrayLike,
    sigmas: npt.ArrayLike,
    *,
    model: str = RANDOM,
    tau2: str | None = None,
    interval: str | None = None,
    level: float = LEVEL,
    family: str | None = None,
    studies: Sequence[str] | None = None,
    groups: Sequence[Group] | None = None,
) -> PooledEffect:
    """Return the pooled effect of studies, with its interval and how far the studies differ.

    One collection says little about the next. Pooled, several give a narrower interval if their effects
    agree; if these differ by more than chance, random effects widen it to hold for further studies.

    Parameters
    ----------
    effects, sigmas
        Effect and standard error of each study, or studies × columns. Where both are NaN the study
        has no effect; an effect whose sigma is 0 or NaN is left out, and named in a warning.
    model
        "random", "fixed", or "stouffer" (a test without an estimate); or the name of a random model
        as results have it, such as "paule-mandel+hartung-knapp".
    tau2
        Of random effects: "paule-mandel" (the default), "dersimonian-laird" or "reml".
    interval
        Of random effects: "hartung-knapp" (the default) or "normal".
    level
        Confidence level.
    family
        Columns of one measure that hold together: "baseline", "all-pairs" or "none". By default
        "baseline" where groups are several runs against one, else "none".
    studies, groups
        Names of the studies, and what each column is about.

    Examples
    --------
    >>> confir.pool_effects([0.1, 0.2, 0.4], [0.1, 0.1, 0.2])
    PooledEffect(0.1778 [-0.1010, 0.4565], level=0.95, i2=0.00, model='paule-mandel+hartung-knapp')
    """
    names = [choose_model(model, tau2, interval).name]
    given: dict[str, Any] = {"level": level, "family": family, "studies": studies, "groups": groups}
    return pool_models(effects, sigmas, models=names, **given).pooled[0]


def pool_models(
    effects: npt.ArrayLike,
    sigmas: npt.ArrayLike,
    *,
    models: Sequence[str] = tuple(MODELS),
    level: float = LEVEL,
    family: str | None = None,
    studies: Sequence[str] | None = None,
    groups: Sequence[Group] | None = None,
) -> PooledModels:
    """Return the effects of studies pooled by several models, side by side.

    Parameters
    ----------
    effects, sigmas, level, family, studies, groups
        As for `pool_effects`.
    models
        Names of models, keys of MODELS; by default all.
    """
    level = as_level(level)
    chosen = find_models(models)
    sample = effect_sample(effects, sigmas, studies, groups)
    family = family_of_effects(family, sample.groups)
    _warn_of_few(sample, chosen)
    return PooledModels(tuple(_pool(sample, model, level, family) for model in chosen))


def _warn_of_few(sample: EffectSample, models: Sequence[Model]) -> None:
    """Warn of columns without an interval by some of the models."""
    needed = 2 if any(model.kind == RANDOM for model in models) else 1
    equal = (sample.sizes > 1) & sample.all_equal
    scaled = any(model.interval == HARTUNG_KNAPP for model in models)
    for columns, cause in (
        (sample.sizes < needed, "random effects need 2 studies, other models 1: no interval"),
        (equal & scaled, "all effects are equal, which leaves no Hartung-Knapp interval"),
    ):
        if columns.any():
            named = [str(sample.groups[c]) for c in np.flatnonzero(columns)]
            of = f" of {enumerate_names(filter(None, named), 5)}" if any(named) else ""
            warn_caller(f"{cause}{of}", DegenerateSampleWarning)


def _pool(sample: EffectSample, model: Model, level: float, family: str) -> PooledEffect:
    from scipy.special import chdtrc

    df = sample.df
    equal_weights = sample.weights(0.0)
    q = sample.q(equal_weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        i2 = np.where(q > df, 1.0 - df / q, 0.0)
        q_p = chdtrc(df, q)
    tau2 = TAU2_ESTIMATORS[model.tau2](sample) if model.tau2 else np.zeros(df.shape)
    weights = sample.weights(tau2)
    tests_only = model.kind == STOUFFER
    estimate = stouffer_test(sample) if tests_only else estimate_mean(sample, weights, model)
    own = estimate.limits(level)
    together = adjust_effects(estimate, sample.groups, family, level)
    predicted = np.full(df.shape, np.nan)
    if model.kind == RANDOM:
        # Higgins, Thompson & Spiegelhalter 2009, equation 12
        predicted = t_quantile(df - 1.0, level) * np.sqrt(tau2 + inverse_sum(weights))
    several, some = sample.sizes > 1, sample.sizes > 0
    shares = sample.present / or_nan(sample.sizes) if tests_only else weights
    arrays: dict[str, Floats] = {
        "effect": estimate.effect,
        "se": estimate.se,
        "low": own.low,
        "high": own.high,
        "p": estimate.p,
        "p_adjusted": together.p,
        "simultaneous_low": together.low,
        "simultaneous_high": together.high,
        "p_greater": estimate.p_greater,
        "q": np.where(some, q, np.nan),
        "q_p": np.where(several, q_p, np.nan),
        "i2": np.where(several, i2, np.nan),
        "tau2": np.full(df.shape, np.nan) if tests_only else tau2,
        "predicted_low": estimate.effect - predicted,
        "predicted_high": estimate.effect + predicted,
    }
    wide = (len(sample.studies), *sample.shape)
    absent = np.where(sample.present, 0.0, np.nan)
    return PooledEffect(
        studies=sample.studies,
        groups=sample.groups,
        effects=(sample.effects + absent).reshape(wide),
        sigmas=(np.sqrt(sample.variances) + absent).reshape(wide),
        model=model,
        weights=(shares * inverse_sum(shares)).reshape(wide),
        count=sample.sizes.reshape(sample.shape),
        level=level,
        family=family,
        tested=together.tested.reshape(sample.shape),
        **{name: array.reshape(sample.shape) for name, array in arrays.items()},
    )


def _fields(groups: Sequence[Group]) -> tuple[str, ...]:
    """Return what records say of groups; the collection only where a group names one."""
    named = any(group.collection is not None for group in groups)
    return Group._fields if named else Group._fields[:-1]
