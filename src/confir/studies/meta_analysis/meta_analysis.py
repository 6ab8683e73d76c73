"""What do several topics, or several collections, say together? Meta-analysis of effects.

Each study (a topic, a collection) gives an effect and its standard error. [Cormack2006] §9 pools
them by Stouffer's test or by a fixed effect, and names random effects for studies that differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from confir.arguments import as_level
from confir.arrays import Floats
from confir.data.effect_files import Group
from confir.defaults import LEVEL
from confir.errors import DegenerateSampleWarning, enumerate_names, warn_caller
from confir.intervals.quantiles import t_quantile
from confir.studies.meta_analysis.effect_sample import (
    EffectSample,
    effect_sample,
    inverse_sum,
    or_nan,
)
from confir.studies.meta_analysis.models import (
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
from confir.studies.meta_analysis.pooled_results import PooledEffect, PooledModels


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
        Columns of one measure with a simultaneous level: "baseline", "all-pairs" or "none". By default
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
    """Return the effects of each column pooled by one model."""
    df, missing = sample.df, np.full(sample.df.shape, np.nan)
    tau2 = TAU2_ESTIMATORS[model.tau2](sample) if model.tau2 else np.zeros(df.shape)
    weights = sample.weights(tau2)
    tests_only = model.kind == STOUFFER
    estimate = stouffer_test(sample) if tests_only else estimate_mean(sample, weights, model)
    own = estimate.limits(level)
    together = adjust_effects(estimate, sample.groups, family, level)
    reach = missing
    if model.kind == RANDOM:
        # Higgins, Thompson & Spiegelhalter 2009, equation 12
        reach = t_quantile(df - 1.0, level) * np.sqrt(tau2 + inverse_sum(weights))
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
        **_heterogeneity(sample),
        "tau2": missing if tests_only else tau2,
        "predicted_low": estimate.effect - reach,
        "predicted_high": estimate.effect + reach,
    }
    shares = sample.present / or_nan(sample.sizes) if tests_only else weights
    absent = np.where(sample.present, 0.0, np.nan)
    of_studies = {
        "effects": sample.effects + absent,
        "sigmas": np.sqrt(sample.variances) + absent,
        "weights": shares * inverse_sum(shares),
    }
    wide = (len(sample.studies), *sample.shape)
    return PooledEffect(
        studies=sample.studies,
        groups=sample.groups,
        model=model,
        count=sample.sizes.reshape(sample.shape),
        level=level,
        family=family,
        tested=together.tested.reshape(sample.shape),
        **{name: array.reshape(wide) for name, array in of_studies.items()},
        **{name: array.reshape(sample.shape) for name, array in arrays.items()},
    )


def _heterogeneity(sample: EffectSample) -> dict[str, Floats]:
    """Return Q of columns with its p-value, and I²; NaN for too few studies."""
    from scipy.special import chdtrc

    df, q = sample.df, sample.q(sample.weights(0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        i2 = np.where(q > df, 1.0 - df / q, 0.0)
        q_p = chdtrc(df, q)
    several, some = sample.sizes > 1, sample.sizes > 0
    return {
        "q": np.where(some, q, np.nan),
        "q_p": np.where(several, q_p, np.nan),
        "i2": np.where(several, i2, np.nan),
    }
