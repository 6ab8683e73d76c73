"""What do several topics, or several collections, say together? Meta-analysis of effects.

Each study (a topic, a collection) gives an effect and its standard error. [Cormack2006] §9 pools
them by Stouffer's test or by a fixed effect, and names random effects for studies that differ.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from confir.arrays import Booleans, Floats, Integers
from confir.data.neighbours import frame_from_records
from confir.data.scores import Record
from confir.errors import (
    DegenerateSampleWarning,
    InputWarning,
    InvalidValueError,
    UnknownNameError,
    UnsupportedMethodError,
    enumerate_names,
)
from confir.intervals.catalogue import DEFAULT_LEVEL
from confir.intervals.interval import Limits, check_level
from confir.intervals.standard import t_quantile
from confir.measures.summary import LOGIT_MARGIN, clipped_logit

RANDOM, FIXED, STOUFFER = "random", "fixed", "stouffer"
NORMAL, HARTUNG_KNAPP = "normal", "hartung-knapp"
DERSIMONIAN_LAIRD, PAULE_MANDEL, REML = "dersimonian-laird", "paule-mandel", "reml"

# Squares of anything larger or smaller leave the range of doubles in sums of weights.
_LARGEST, _SMALLEST = 1e100, 1e-100

# Effects within this share of their size are equal but for rounding.
_TIE = 1e-12

# Halvings in the search for τ²: finer than doubles can tell.
_HALVINGS = 120

# Points at which the restricted likelihood is looked at: it may have several peaks.
_GRID_POINTS = 96


class Group(NamedTuple):
    """What a column of effects is about; None where it does not matter."""

    measure: str | None = None
    run: str | None = None
    baseline: str | None = None
    collection: str | None = None

    def __str__(self) -> str:
        run = self.run if self.baseline is None else f"{self.run or 'run'} against {self.baseline}"
        return ", ".join(filter(None, (self.collection, self.measure, run)))


class Model(NamedTuple):
    """A way to pool: the kind of model, and for random effects how τ² and limits are found."""

    kind: str
    tau2: str | None = None
    interval: str = NORMAL

    @property
    def name(self) -> str:
        """Its name in results and options, such as ``reml+hartung-knapp``."""
        if self.tau2 is None:
            return self.kind
        return self.tau2 if self.interval == NORMAL else f"{self.tau2}+{self.interval}"


# Of the random models, this one's intervals covered best in simulations with few studies.
DEFAULT_MODEL = Model(RANDOM, PAULE_MANDEL, HARTUNG_KNAPP)

MODELS = {
    model.name: model
    for model in (
        Model(STOUFFER),
        Model(FIXED),
        *(
            Model(RANDOM, tau2, interval)
            for tau2 in (DERSIMONIAN_LAIRD, PAULE_MANDEL, REML)
            for interval in (NORMAL, HARTUNG_KNAPP)
        ),
    )
}


@dataclass(frozen=True, slots=True, eq=False)
class PooledEffect:
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
    p
        Of the null hypothesis of no effect: two-sided, but one-sided (effect > 0) for Stouffer.
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

    studies: tuple[str, ...]
    groups: tuple[Group, ...]
    effects: Floats
    sigmas: Floats
    model: Model
    effect: Floats
    se: Floats
    low: Floats
    high: Floats
    p: Floats
    q: Floats
    q_p: Floats
    i2: Floats
    tau2: Floats
    predicted_low: Floats
    predicted_high: Floats
    weights: Floats
    count: Integers
    level: float

    def __repr__(self) -> str:
        if len(self.groups) > 1:
            return f"PooledEffect({len(self.groups)} columns, model={self.model.name!r})"
        effect, low, high, i2 = (
            float(array.reshape(-1)[0]) for array in (self.effect, self.low, self.high, self.i2)
        )
        return (
            f"PooledEffect({effect:.4f} [{low:.4f}, {high:.4f}], level={self.level:g}, "
            f"i2={i2:.2f}, model={self.model.name!r})"
        )

    def _repr_html_(self) -> str:
        from confir.report.meta_tables import pooled_table
        from confir.report.tables import to_html

        return to_html(pooled_table(PooledModels((self,))))

    def to_records(self) -> list[Record]:
        """Return a record per column.

        The fields: measure, run, baseline, (collection,) model, effect, low, high, p, q, i2, tau2,
        q_p, predicted_low, predicted_high, studies, level.
        """
        numbers = ("effect", "low", "high", "p", "q", "i2", "tau2", "q_p")
        fields = (*numbers, "predicted_low", "predicted_high")
        columns = {name: getattr(self, name).reshape(-1).tolist() for name in fields}
        return [
            {
                **_group_fields(group),
                "model": self.model.name,
                **{name: column[place] for name, column in columns.items()},
                "studies": int(self.count.reshape(-1)[place]),
                "level": self.level,
            }
            for place, group in enumerate(self.groups)
        ]

    def study_records(self) -> list[Record]:
        """Return a record per study pooled: its group, effect, limits and weight."""
        margin = t_quantile(np.array(np.inf), self.level) * self.sigmas
        columns = [
            array.reshape(len(self.studies), -1)
            for array in (self.effects, self.effects - margin, self.effects + margin, self.weights)
        ]
        return [
            {
                **_group_fields(group),
                "study": study,
                **{
                    name: float(column[s, g])
                    for name, column in zip(
                        ("effect", "low", "high", "weight"), columns, strict=True
                    )
                },
            }
            for g, group in enumerate(self.groups)
            for s, study in enumerate(self.studies)
            if not math.isnan(columns[0][s, g])
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        return _columns(self.to_records())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)

    @property
    def normal_limits(self) -> Limits:
        """Limits from the model's variance alone, as with the interval "normal"."""
        with np.errstate(divide="ignore"):
            total = np.nansum(1.0 / (self.sigmas**2 + self.tau2), axis=0)
        margin = t_quantile(np.array(np.inf), self.level) / np.sqrt(_or_nan(total))
        return Limits(self.effect - margin, self.effect + margin)


@dataclass(frozen=True, slots=True, eq=False)
class PooledModels:
    """The same effects pooled by several models, side by side."""

    pooled: tuple[PooledEffect, ...]

    @property
    def main(self) -> PooledEffect:
        """The result by the default model; without it, by the last."""
        by_model = {pooled.model: pooled for pooled in self.pooled}
        return by_model.get(DEFAULT_MODEL, self.pooled[-1])

    def to_records(self) -> list[Record]:
        """Return the records of all models, those of a column together."""
        parts = [pooled.to_records() for pooled in self.pooled]
        return [record for records in zip(*parts, strict=True) for record in records]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        return _columns(self.to_records())

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)


def pool_effects(
    effects: npt.ArrayLike,
    sigmas: npt.ArrayLike,
    *,
    model: str = RANDOM,
    tau2: str | None = None,
    interval: str | None = None,
    level: float = DEFAULT_LEVEL,
    studies: Sequence[str] | None = None,
    groups: Sequence[Group] | None = None,
) -> PooledEffect:
    """Return the pooled effect of studies, with its interval and how far the studies differ.

    Parameters
    ----------
    effects, sigmas
        Effect and standard error of each study, or studies × columns. Where both are NaN the study
        has no effect; an effect whose sigma is 0 or NaN is left out, and named in a warning.
    model
        "random", "fixed", or "stouffer" (a test without an estimate).
    tau2
        Of random effects: "paule-mandel" (the default), "dersimonian-laird" or "reml".
    interval
        Of random effects: "hartung-knapp" (the default) or "normal".
    level
        Confidence level.
    studies, groups
        Names of the studies, and what each column is about.
    """
    chosen = _choose_model(model, tau2, interval)
    return pool_models(
        effects, sigmas, models=[chosen.name], level=level, studies=studies, groups=groups
    ).pooled[0]


def pool_models(
    effects: npt.ArrayLike,
    sigmas: npt.ArrayLike,
    *,
    models: Sequence[str] = tuple(MODELS),
    level: float = DEFAULT_LEVEL,
    studies: Sequence[str] | None = None,
    groups: Sequence[Group] | None = None,
) -> PooledModels:
    """Return the effects of studies pooled by several models, side by side.

    Parameters
    ----------
    effects, sigmas, level, studies, groups
        As for `pool_effects`.
    models
        Names of models, keys of MODELS; by default all.
    """
    check_level(level)
    for name in models:
        if name not in MODELS:
            raise UnknownNameError("model", name, MODELS)
    chosen = [MODELS[name] for name in dict.fromkeys(models)]
    if not chosen:
        raise InvalidValueError("no model is given; expected at least one")
    sample = _sample(effects, sigmas, studies, groups)
    _warn_of_few(sample, chosen)
    return PooledModels(tuple(_pool(sample, model, level) for model in chosen))


class Effects(NamedTuple):
    """Effects and their standard errors, topics × runs."""

    effects: Floats
    sigmas: Floats


EFFECTS = ("score", "logit", "difference", "logit-difference", "adjusted")


def topic_effects(
    scores: npt.ArrayLike,
    sds: npt.ArrayLike,
    *,
    effect: str = "logit",
    baseline: int | None = None,
    margin: float = LOGIT_MARGIN,
) -> Effects:
    """Return the effects of runs on topics, to be pooled over topics ([Cormack2006] §9).

    Parameters
    ----------
    scores, sds
        Scores in [0, 1] such as AP, and the standard deviations of their logits under document
        resampling: topics × runs.
    effect
        "score", "logit" (of the score, clipped), "difference" or "logit-difference" from the
        baseline, the two taken as independent; or "adjusted" for the topic's difficulty: logit
        less the baseline's or, without one, less the mean of all runs, taken as a constant.
    baseline
        Column of the baseline run.
    margin
        Scores are clipped to [margin, 1 - margin] before logits are taken.
    """
    values, spread = _numbers(scores, "scores"), _numbers(sds, "sds")
    if effect not in EFFECTS:
        raise UnknownNameError("effect", effect, EFFECTS)
    if values.ndim != 2 or values.shape != spread.shape:
        raise InvalidValueError(
            f"scores have the shape {values.shape}, sds {spread.shape}; expected topics × runs, "
            "both alike"
        )
    if ((values < 0) | (values > 1)).any():
        raise InvalidValueError("a score is outside [0, 1], where there is no logit")
    if baseline is None and effect in ("difference", "logit-difference"):
        raise InvalidValueError(f"the effect {effect!r} needs a baseline")
    if baseline is not None and not 0 <= baseline < values.shape[1]:
        raise InvalidValueError(
            f"baseline is {baseline}; expected a column from 0 to {values.shape[1] - 1}"
        )
    if effect in ("score", "difference"):
        # [Cormack2006] §8: the slope of the inverse logit turns σ into that of the score
        measured, sigma = values, (values - values**2) * spread
    else:
        measured, sigma = clipped_logit(values, margin), spread
    if effect in ("score", "logit"):
        return Effects(measured, sigma)
    if baseline is None:
        return Effects(measured - _row_mean(measured), sigma)
    if effect == "adjusted":
        return Effects(measured - measured[:, [baseline]], sigma)
    return Effects(measured - measured[:, [baseline]], np.hypot(sigma, sigma[:, [baseline]]))


def sigmas_from_limits(
    low: npt.ArrayLike, high: npt.ArrayLike, level: npt.ArrayLike, df: npt.ArrayLike = np.inf
) -> Floats:
    """Return the standard errors that intervals of the given levels stand for.

    Parameters
    ----------
    low, high, level
        Limits and levels of the intervals.
    df
        Degrees of freedom of Student's t where the limits are by t; infinite for normal limits.
    """
    width = np.asarray(high, np.float64) - np.asarray(low, np.float64)
    levels, degrees, width = np.broadcast_arrays(level, np.asarray(df, np.float64), width)
    sigma = np.full(width.shape, np.nan)
    for one in np.unique(levels):
        same = levels == one
        sigma[same] = width[same] / (2.0 * t_quantile(degrees[same], float(one)))
    return sigma


def _choose_model(kind: str, tau2: str | None, interval: str | None) -> Model:
    """Return the model of that kind, with the defaults filled in."""
    if kind not in (RANDOM, FIXED, STOUFFER):
        raise UnknownNameError("model", kind, (RANDOM, FIXED, STOUFFER))
    if tau2 not in (None, *_TAU2):
        raise UnknownNameError("estimator of τ²", str(tau2), _TAU2)
    if interval not in (None, NORMAL, HARTUNG_KNAPP):
        raise UnknownNameError("interval", str(interval), (NORMAL, HARTUNG_KNAPP))
    if kind == RANDOM:
        return Model(RANDOM, tau2 or DEFAULT_MODEL.tau2, interval or DEFAULT_MODEL.interval)
    if tau2 is not None or interval == HARTUNG_KNAPP:
        raise UnsupportedMethodError(
            f"the model {kind!r} has neither an estimator of τ² nor Hartung-Knapp limits; both are "
            "for the model 'random'"
        )
    return Model(kind)


class _Sample(NamedTuple):
    """Effects and variances, studies × columns; where not ``present``, an effect of 0, weight 0."""

    effects: Floats
    variances: Floats
    present: Booleans
    studies: tuple[str, ...]
    groups: tuple[Group, ...]
    shape: tuple[int, ...]

    @property
    def sizes(self) -> Integers:
        """Number of studies in each column."""
        sizes: Integers = self.present.sum(axis=0)
        return sizes

    @property
    def df(self) -> Floats:
        """Degrees of freedom of each column: its studies less one."""
        return self.sizes.astype(np.float64) - 1.0

    def weights(self, tau2: Floats | float) -> Floats:
        """Return the inverse variances of the effects, given that between studies."""
        weights: Floats = self.present / (self.variances + tau2)
        return weights

    def residuals(self, weights: Floats) -> Floats:
        """Return what the effects differ from their weighted mean, 0 where there is none."""
        return np.where(self.present, self.effects - _mean(self.effects, weights), 0.0)

    def squares(self) -> Floats:
        """Return the sum of squares of the effects about their plain mean."""
        squares: Floats = (self.residuals(self.present.astype(np.float64)) ** 2).sum(axis=0)
        return squares


def _sample(
    effects: npt.ArrayLike,
    sigmas: npt.ArrayLike,
    studies: Sequence[str] | None,
    groups: Sequence[Group] | None,
) -> _Sample:
    """Return the effects in columns, checked; name those that cannot be pooled."""
    values, errors = _numbers(effects, "effects"), _numbers(sigmas, "sigmas")
    if values.ndim not in (1, 2) or values.shape != errors.shape or values.size == 0:
        raise InvalidValueError(
            f"effects have the shape {values.shape}, sigmas {errors.shape}; expected one of each "
            "per study, or studies × columns"
        )
    shape = values.shape[1:]
    values, errors = values.reshape(len(values), -1), errors.reshape(len(values), -1)
    names = tuple(studies or (f"study {place}" for place in range(1, len(values) + 1)))
    labels = tuple(groups or _default_groups(values.shape[1], shape))
    if len(names) != len(values) or len(labels) != values.shape[1]:
        raise InvalidValueError(
            f"{len(names)} names of studies and {len(labels)} of columns for effects of "
            f"{len(values)} studies × {values.shape[1]} columns"
        )
    _check_range(values, errors, names, labels)
    present = ~np.isnan(values) & (errors > 0)
    if not present.any():
        raise InvalidValueError("no study has an effect with a sigma above 0; expected one or more")
    _warn_of_left_out(present, ~np.isnan(values) | ~np.isnan(errors), names, labels)
    return _Sample(
        np.where(present, values, 0.0),
        np.where(present, errors, 1.0) ** 2,
        present,
        names,
        labels,
        shape,
    )


def _numbers(values: npt.ArrayLike, name: str) -> Floats:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(f"{name} are not an array of numbers") from None


def _default_groups(columns: int, shape: tuple[int, ...]) -> list[Group]:
    if not shape:
        return [Group()]
    return [Group(run=f"column {place}") for place in range(1, columns + 1)]


def _check_range(
    values: Floats, errors: Floats, names: Sequence[str], labels: Sequence[Group]
) -> None:
    """Raise at the first effect or sigma that no study can have."""
    wrong_effect = np.abs(values) > _LARGEST
    wrong_sigma = (errors < 0) | (errors > _LARGEST) | ((errors > 0) & (errors < _SMALLEST))
    for s, c in np.argwhere(wrong_effect | wrong_sigma)[:1]:
        what = f"effect is {values[s, c]}" if wrong_effect[s, c] else f"sigma is {errors[s, c]}"
        raise InvalidValueError(
            f"{_place(names[s], labels[c])}: the {what}; expected a finite number"
            + ("" if wrong_effect[s, c] else f" from {_SMALLEST:g}, or 0 for none")
        )


def _place(study: str, group: Group) -> str:
    return f"{study} ({group})" if str(group) else study


def _warn_of_left_out(
    present: Booleans, given: Booleans, names: Sequence[str], labels: Sequence[Group]
) -> None:
    left_out = np.argwhere(given & ~present)
    if left_out.size:
        places = [_place(names[s], labels[c]) for s, c in left_out]
        warnings.warn(
            f"left out, for the effect or its sigma is missing, or sigma is 0: "
            f"{enumerate_names(places)}",
            InputWarning,
            stacklevel=5,
        )


def _warn_of_few(sample: _Sample, models: Sequence[Model]) -> None:
    """Warn of columns without an interval by some of the models."""
    needed = 2 if any(model.kind == RANDOM for model in models) else 1
    few = [str(sample.groups[c]) for c in np.flatnonzero(sample.sizes < needed)]
    if few:
        warnings.warn(
            f"random effects need 2 studies, other models 1: no interval{_of(few)}",
            DegenerateSampleWarning,
            stacklevel=4,
        )
    if any(model.interval == HARTUNG_KNAPP for model in models):
        equal = (sample.sizes > 1) & _all_equal(sample)
        same = [str(sample.groups[c]) for c in np.flatnonzero(equal)]
        if same:
            warnings.warn(
                f"all effects are equal, which leaves no Hartung-Knapp interval{_of(same)}",
                DegenerateSampleWarning,
                stacklevel=4,
            )


def _of(groups: Sequence[str]) -> str:
    named = [group for group in groups if group]
    return f" of {enumerate_names(named, 5)}" if named else ""


def _all_equal(sample: _Sample) -> Booleans:
    residuals = np.abs(sample.residuals(sample.present.astype(np.float64)))
    equal: Booleans = residuals.max(axis=0) <= _TIE * np.abs(sample.effects).max(axis=0)
    return equal


def _pool(sample: _Sample, model: Model, level: float) -> PooledEffect:
    from scipy.special import chdtrc

    df = sample.df
    equal_weights = sample.weights(0.0)
    q = (equal_weights * sample.residuals(equal_weights) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        i2 = np.where(q > df, 1.0 - df / q, 0.0)
        q_p = chdtrc(df, q)
    tau2 = _TAU2[model.tau2](sample) if model.tau2 else np.zeros(df.shape)
    weights = sample.weights(tau2)
    estimate = _stouffer(sample) if model.kind == STOUFFER else _estimate(sample, weights, model)
    margin = t_quantile(estimate.df, level) * estimate.se
    predicted = np.full(df.shape, np.nan)
    if model.kind == RANDOM:
        # Higgins, Thompson & Spiegelhalter 2009, equation 12
        predicted = t_quantile(df - 1.0, level) * np.sqrt(tau2 + _inverse_sum(weights))
    several, some = sample.sizes > 1, sample.sizes > 0
    shares = sample.present / _or_nan(sample.sizes) if model.kind == STOUFFER else weights
    arrays: dict[str, Floats] = {
        "effect": estimate.effect,
        "se": estimate.se,
        "low": estimate.effect - margin,
        "high": estimate.effect + margin,
        "p": estimate.p,
        "q": np.where(some, q, np.nan),
        "q_p": np.where(several, q_p, np.nan),
        "i2": np.where(several, i2, np.nan),
        "tau2": np.full(df.shape, np.nan) if model.kind == STOUFFER else tau2,
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
        weights=(shares * _inverse_sum(shares)).reshape(wide),
        count=sample.sizes.reshape(sample.shape),
        level=level,
        **{name: array.reshape(sample.shape) for name, array in arrays.items()},
    )


class _Estimate(NamedTuple):
    """A pooled effect, its standard error, degrees of freedom and p-value."""

    effect: Floats
    se: Floats
    df: Floats
    p: Floats


def _estimate(sample: _Sample, weights: Floats, model: Model) -> _Estimate:
    """Return the weighted mean; with Hartung-Knapp, on the scale of the observed spread."""
    from scipy.special import ndtr, stdtr

    # without τ², as for a single study, there are no weights: the plain mean is the same
    effect = _mean(sample.effects, np.where(np.isnan(weights), sample.present, weights))
    se = np.sqrt(_inverse_sum(weights))
    df = np.full(effect.shape, np.inf)
    if model.interval == HARTUNG_KNAPP:
        # Knapp & Hartung 2003: Q at τ² over its degrees of freedom scales the variance
        df = sample.df
        scale = (weights * sample.residuals(weights) ** 2).sum(axis=0) / _or_nan(df)
        se = np.where(_all_equal(sample), np.nan, se * np.sqrt(scale))
    statistic = np.abs(effect / se)
    tail = np.where(np.isinf(df), ndtr(-statistic), stdtr(np.maximum(df, 1.0), -statistic))
    return _Estimate(effect, se, df, np.minimum(2.0 * tail, 1.0))


def _stouffer(sample: _Sample) -> _Estimate:
    """Return the test ``p = 1 - Φ(Σ d_i/(√k σ_i))``, which has no estimate."""
    from scipy.special import ndtr

    z = (sample.effects / np.sqrt(sample.variances)).sum(axis=0) / np.sqrt(_or_nan(sample.sizes))
    none = np.full(z.shape, np.nan)
    return _Estimate(none, none, np.full(z.shape, np.inf), ndtr(-z))


def _dersimonian_laird(sample: _Sample) -> Floats:
    """``τ² = (Q - df)/(Σw - Σw²/Σw)``, not below 0."""
    weights = sample.weights(0.0)
    q = (weights * sample.residuals(weights) ** 2).sum(axis=0)
    total = weights.sum(axis=0)
    scale = total - (weights**2).sum(axis=0) * _inverse_sum(weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau2 = np.maximum((q - sample.df) / scale, 0.0)
    return np.where(sample.sizes > 1, tau2, np.nan)


def _paule_mandel(sample: _Sample) -> Floats:
    """Return the τ² at which Q is its degrees of freedom; 0 where Q is never that large."""

    def spread_is_larger(tau2: Floats) -> Booleans:
        weights = sample.weights(tau2)
        q: Floats = (weights * sample.residuals(weights) ** 2).sum(axis=0)
        larger: Booleans = q > sample.df
        return larger

    # Q(τ²) falls, and is at most the sum of squares over τ²
    highest = sample.squares() / _or_nan(sample.df)
    return _bisect(spread_is_larger, np.zeros(highest.shape), highest)


def _reml(sample: _Sample) -> Floats:
    """Return the τ² of the highest restricted likelihood."""

    def rises(tau2: Floats) -> Booleans:
        weights = sample.weights(tau2)
        squares = (weights**2 * sample.residuals(weights) ** 2).sum(axis=0)
        total = weights.sum(axis=0)
        rising: Booleans = squares > total - (weights**2).sum(axis=0) * _inverse_sum(weights)
        return rising

    columns = np.arange(len(sample.groups))
    variances = np.where(sample.present, sample.variances, np.nan)
    # beyond this the likelihood falls: there all weights are within a factor of two
    highest = np.fmax(2.0 * sample.squares(), np.fmax.reduce(variances))
    lowest = np.fmin(np.fmin.reduce(variances), highest) / 100.0
    highest, lowest = (np.where(sample.sizes > 0, end, 1.0) for end in (highest, lowest))
    steps = np.geomspace(lowest, highest, _GRID_POINTS - 1)
    grid = np.concatenate([np.zeros((1, len(columns))), steps])
    best = np.argmax([_restricted_likelihood(sample, tau2) for tau2 in grid], axis=0)
    low = grid[np.maximum(best - 1, 0), columns]
    high = grid[np.minimum(best + 1, len(grid) - 1), columns]
    return np.where(sample.sizes > 1, _bisect(rises, low, high), np.nan)


def _restricted_likelihood(sample: _Sample, tau2: Floats) -> Floats:
    """Return the logarithm of the restricted likelihood, but for a constant."""
    weights = sample.weights(tau2)
    with np.errstate(divide="ignore"):
        spread = np.where(sample.present, np.log(sample.variances + tau2), 0.0).sum(axis=0)
        total = np.log(weights.sum(axis=0))
    squares = (weights * sample.residuals(weights) ** 2).sum(axis=0)
    likelihood: Floats = -0.5 * (spread + total + squares)
    return likelihood


def _bisect(is_below: Callable[[Floats], Booleans], low: Floats, high: Floats) -> Floats:
    """Return where a condition ends that holds from ``low``; ``low`` where it holds nowhere."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(np.isnan(high), np.nan, low)


_TAU2: dict[str, Callable[[_Sample], Floats]] = {
    DERSIMONIAN_LAIRD: _dersimonian_laird,
    PAULE_MANDEL: _paule_mandel,
    REML: _reml,
}


def _mean(values: Floats, weights: Floats) -> Floats:
    mean: Floats = (weights * values).sum(axis=0) * _inverse_sum(weights)
    return mean


def _inverse_sum(weights: Floats) -> Floats:
    """Return one over the sum of weights, NaN where there are none."""
    inverse: Floats = 1.0 / _or_nan(weights.sum(axis=0))
    return inverse


def _or_nan(number: npt.NDArray[Any]) -> Floats:
    """Return what may be divided by: NaN for 0."""
    return np.where(number > 0, number, np.nan)


def _row_mean(values: Floats) -> Floats:
    """Return the mean of every row over the values that it has."""
    present = ~np.isnan(values)
    total = np.where(present, values, 0.0).sum(axis=1, keepdims=True)
    mean: Floats = total / _or_nan(present.sum(axis=1, keepdims=True))
    return mean


def _group_fields(group: Group) -> Record:
    """Return what records say of a group; the collection only where groups differ in it."""
    fields: Record = group._asdict()
    if group.collection is None:
        del fields["collection"]
    return fields


def _columns(records: Sequence[Record]) -> dict[str, list[Any]]:
    return {name: [record[name] for record in records] for name in records[0]}
