"""Models by which effects are pooled, and three estimators of τ², the variance of true effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from confir.arguments import as_choice, as_choices
from confir.arrays import Booleans, Floats
from confir.errors import UnsupportedMethodError
from confir.studies.meta_analysis.effect_sample import EffectSample, inverse_sum, or_nan

RANDOM, FIXED, STOUFFER = "random", "fixed", "stouffer"
NORMAL, HARTUNG_KNAPP = "normal", "hartung-knapp"
DERSIMONIAN_LAIRD, PAULE_MANDEL, REML = "dersimonian-laird", "paule-mandel", "reml"

# Halvings in the search for τ²: finer than double precision.
_HALVINGS = 120

# Points at which the restricted likelihood is evaluated: it may have several peaks.
_GRID_POINTS = 96


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


def dersimonian_laird(sample: EffectSample) -> Floats:
    """``τ² = (Q - df)/(Σw - Σw²/Σw)``, not below 0."""
    weights = sample.weights(0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau2 = np.maximum((sample.q(weights) - sample.df) / _scale(weights), 0.0)
    return np.where(sample.sizes > 1, tau2, np.nan)


def paule_mandel(sample: EffectSample) -> Floats:
    """Return the τ² at which Q is its degrees of freedom; 0 where Q is never that large."""

    def spread_is_larger(tau2: Floats) -> Booleans:
        return np.asarray(sample.q(sample.weights(tau2)) > sample.df)

    # Q(τ²) falls, and is at most the sum of squares over τ²
    highest = sample.squares() / or_nan(sample.df)
    return _bisect(spread_is_larger, np.zeros(highest.shape), highest)


def reml(sample: EffectSample) -> Floats:
    """Return the τ² of the highest restricted likelihood."""

    def rises(tau2: Floats) -> Booleans:
        weights = sample.weights(tau2)
        squares = (weights**2 * sample.residuals(weights) ** 2).sum(axis=0)
        return np.asarray(squares > _scale(weights))

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


def _restricted_likelihood(sample: EffectSample, tau2: Floats) -> Floats:
    """Return the logarithm of the restricted likelihood, up to a constant."""
    weights = sample.weights(tau2)
    with np.errstate(divide="ignore"):
        spread = np.where(sample.present, np.log(sample.variances + tau2), 0.0).sum(axis=0)
        total = np.log(weights.sum(axis=0))
    return -0.5 * np.asarray(spread + total + sample.q(weights))


def _scale(weights: Floats) -> Floats:
    """Return ``Σw - Σw²/Σw`` of each column."""
    total: Floats = weights.sum(axis=0) - (weights**2).sum(axis=0) * inverse_sum(weights)
    return total


def _bisect(is_below: Callable[[Floats], Booleans], low: Floats, high: Floats) -> Floats:
    """Return where a condition ends that holds from ``low``; ``low`` where it holds nowhere."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(np.isnan(high), np.nan, low)


TAU2_ESTIMATORS: dict[str, Callable[[EffectSample], Floats]] = {
    DERSIMONIAN_LAIRD: dersimonian_laird,
    PAULE_MANDEL: paule_mandel,
    REML: reml,
}

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


def find_models(names: Sequence[str]) -> list[Model]:
    """Return the models of names in MODELS, each once; an unknown one raises, with the nearest names."""
    return [MODELS[name] for name in dict.fromkeys(as_choices("models", names, MODELS, "model"))]


def choose_model(kind: str, tau2: str | None, interval: str | None) -> Model:
    """Return the model of that kind with the defaults filled in, or that of a name of MODELS."""
    as_choice("model", kind, (RANDOM, *MODELS))
    if tau2 is not None:
        as_choice("tau2", tau2, TAU2_ESTIMATORS, "estimator of τ²")
    if interval is not None:
        as_choice("interval", interval, (NORMAL, HARTUNG_KNAPP))
    if kind == RANDOM:
        return Model(RANDOM, tau2 or DEFAULT_MODEL.tau2, interval or DEFAULT_MODEL.interval)
    if MODELS[kind].kind == RANDOM:
        if tau2 is not None or interval is not None:
            raise UnsupportedMethodError(
                f"the model {kind!r} implies its estimator of τ² and its interval; leave out tau2 and "
                "interval, or choose the model 'random'"
            )
        return MODELS[kind]
    if tau2 is not None or interval == HARTUNG_KNAPP:
        raise UnsupportedMethodError(
            f"the model {kind!r} has neither an estimator of τ² nor Hartung-Knapp limits; both are "
            "for the model 'random'"
        )
    return Model(kind)
