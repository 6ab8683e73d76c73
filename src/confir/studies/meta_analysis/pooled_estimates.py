"""Pooled effects with their errors: weighted means, Stouffer's test, and families of effects.

Families are runs against one baseline, or pairs of runs, by one measure. Pooled effects have no joint
replicates: intervals of a family of m are simultaneous by Bonferroni's bound, with the quantile of each effect's own
t or normal distribution at (1 - level)/m.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Floats, Integers
from confir.data.effect_files import Group
from confir.defaults import ALL_PAIRS, BASELINE, NO_FAMILY
from confir.errors import InvalidValueError, enumerate_names
from confir.intervals.interval import Limits
from confir.intervals.quantiles import t_quantile
from confir.pairs.simultaneous import ComparisonFamily
from confir.studies.meta_analysis.effect_sample import (
    EffectSample,
    inverse_sum,
    or_nan,
    weighted_mean,
)
from confir.studies.meta_analysis.models import HARTUNG_KNAPP, Model

# The families that pooled effects may form; which run is best takes more than pooled effects.
POOLED_FAMILIES = (BASELINE, ALL_PAIRS, NO_FAMILY)


class PooledEstimate(NamedTuple):
    """A pooled effect, its standard error, degrees of freedom, t or z, and one-sided p-values."""

    effect: Floats
    se: Floats
    df: Floats
    statistic: Floats
    p_greater: Floats
    p_less: Floats

    @property
    def p(self) -> Floats:
        """Two-sided p-values."""
        p: Floats = np.minimum(1.0, 2.0 * np.minimum(self.p_greater, self.p_less))
        return p

    def limits(self, level: float) -> Limits:
        """Return the limits of each effect alone."""
        margin = t_quantile(self.df, level) * self.se
        return Limits(self.effect - margin, self.effect + margin)


def estimate_mean(sample: EffectSample, weights: Floats, model: Model) -> PooledEstimate:
    """Return the weighted mean; with Hartung-Knapp, on the scale of the observed spread."""
    from scipy.special import ndtr, stdtr

    # without τ², as for a single study, there are no weights: the plain mean is the same
    effect = weighted_mean(sample.effects, np.where(np.isnan(weights), sample.present, weights))
    se = np.sqrt(inverse_sum(weights))
    df = np.full(effect.shape, np.inf)
    if model.interval == HARTUNG_KNAPP:
        # Knapp & Hartung 2003: Q at τ² over its degrees of freedom scales the variance
        df = sample.df
        scale = np.sqrt(sample.q(weights) / or_nan(df))
        se = np.where(sample.all_equal, np.nan, se * scale)
    greater, less = (
        np.where(np.isinf(df), ndtr(statistic), stdtr(np.maximum(df, 1.0), statistic))
        for statistic in (-effect / se, effect / se)
    )
    return PooledEstimate(effect, se, df, effect / se, greater, less)


def stouffer_test(sample: EffectSample) -> PooledEstimate:
    """Return the test without an estimate; ``p_greater = 1 - Φ(Σ d_i/(√k σ_i))`` as published."""
    from scipy.special import ndtr

    z = (sample.effects / np.sqrt(sample.variances)).sum(axis=0) / np.sqrt(or_nan(sample.sizes))
    none = np.full(z.shape, np.nan)
    return PooledEstimate(none, none, np.full(z.shape, np.inf), z, ndtr(-z), ndtr(z))


class Adjusted(NamedTuple):
    """Simultaneous limits (NaN without a family), adjusted p-values, and the sizes of families."""

    low: Floats
    high: Floats
    p: Floats
    tested: Integers


def family_of_effects(family: str | None, groups: Sequence[Group]) -> str:
    """Return the family of pooled effects: by default what is pooled decides.

    Several runs against one baseline are the family "baseline", all else none.
    """
    blocks = [block for block in find_blocks(groups).values() if len(block) > 1]
    fitting = [_fitting(groups, block) for block in blocks]
    if family is None:
        return BASELINE if fitting and set(fitting) == {BASELINE} else NO_FAMILY
    if as_choice("family", family, POOLED_FAMILIES) == NO_FAMILY:
        return NO_FAMILY
    if any(None in (group.run, group.baseline) for group in groups):
        raise InvalidValueError(
            f"the family is {family}, but there are effects that name no run or no baseline; "
            "expected differences of runs, or the family none"
        )
    for block, one in zip(blocks, fitting, strict=True):
        if one == family:
            continue
        against = enumerate_names(dict.fromkeys(str(groups[c].baseline) for c in block), 3)
        raise InvalidValueError(
            f"the family is {family}, but effects are pooled against {against}; expected the family "
            f"{one}, or none"
        )
    return family


def find_blocks(groups: Sequence[Group]) -> dict[Group, list[int]]:
    """Return the columns that are about the same measure, and the same collection if any."""
    blocks: dict[Group, list[int]] = {}
    for column, group in enumerate(groups):
        blocks.setdefault(group._replace(run=None, baseline=None), []).append(column)
    return blocks


def _fitting(groups: Sequence[Group], block: Sequence[int]) -> str:
    """Return the family that effects by one measure can form."""
    if any(None in (groups[c].run, groups[c].baseline) for c in block):
        return NO_FAMILY
    return BASELINE if len({groups[c].baseline for c in block}) == 1 else ALL_PAIRS


def adjust_effects(
    found: PooledEstimate, groups: Sequence[Group], family: str, level: float
) -> Adjusted:
    """Return what holds for each family at once; an effect alone in its family is as it was.

    Parameters
    ----------
    found
        The pooled effects, each alone.
    groups
        What each effect is about: a family for each measure.
    family
        A name in POOLED_FAMILIES.
    level
        Confidence level of a whole family.
    """
    p = found.p
    tested = (~np.isnan(p)).astype(np.int64)
    if family == NO_FAMILY:
        none = np.full(p.shape, np.nan)
        return Adjusted(none, none, p, tested)
    low, high = found.limits(level)
    for block in find_blocks(groups).values():
        size = int(tested[block].sum())
        tested[block] = size
        if size > 1:
            together = ComparisonFamily(size, np.empty(0))
            count = found.df[block] + 1.0
            low[block], high[block] = together.limits(
                found.effect[block], found.se[block], count, level
            ).limits
            p[block] = together.p_values(found.statistic[block], found.df[block])
    return Adjusted(low, high, p, tested)
