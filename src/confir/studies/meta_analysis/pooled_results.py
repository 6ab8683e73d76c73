"""Effects pooled by one model or by several: the results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.effect_files import Group
from confir.data.result import Columns, Record, Result, Variable, axis, constant, over, result
from confir.defaults import NO_FAMILY
from confir.intervals.interval import Limits
from confir.intervals.quantiles import t_quantile
from confir.pairs.simultaneous import ComparisonFamily
from confir.studies.meta_analysis.effect_sample import (
    or_nan,
)
from confir.studies.meta_analysis.models import (
    DEFAULT_MODEL,
    Model,
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
        Family with a simultaneous level: "baseline", "all-pairs" or "none"; effects in each family.
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


def _fields(groups: Sequence[Group]) -> tuple[str, ...]:
    """Return what records say of groups; the collection only where a group names one."""
    named = any(group.collection is not None for group in groups)
    return Group._fields if named else Group._fields[:-1]
