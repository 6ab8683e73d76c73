"""Effects of studies in columns, checked, with their weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from confir.arguments import as_reals, as_texts, invalid
from confir.arrays import TIE, Booleans, Floats, Integers
from confir.data.effect_files import LARGEST_EFFECT, SMALLEST_ERROR, Group
from confir.errors import InputWarning, InvalidValueError, enumerate_names, warn_caller


class EffectSample(NamedTuple):
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

    @property
    def all_equal(self) -> Booleans:
        """Whether the effects of a column are equal up to rounding."""
        residuals = np.abs(self.residuals(self.present.astype(np.float64)))
        equal: Booleans = residuals.max(axis=0) <= TIE * np.abs(self.effects).max(axis=0)
        return equal

    def weights(self, tau2: Floats | float) -> Floats:
        """Return the inverse variances of the effects, given that between studies."""
        weights: Floats = self.present / (self.variances + tau2)
        return weights

    def residuals(self, weights: Floats) -> Floats:
        """Return what the effects differ from their weighted mean, 0 where there is none."""
        return np.where(self.present, self.effects - weighted_mean(self.effects, weights), 0.0)

    def q(self, weights: Floats) -> Floats:
        """Return the weighted sum of squares of the effects about their weighted mean."""
        q: Floats = (weights * self.residuals(weights) ** 2).sum(axis=0)
        return q

    def squares(self) -> Floats:
        """Return the sum of squares of the effects about their plain mean."""
        return self.q(self.present.astype(np.float64))


def effect_sample(
    effects: npt.ArrayLike,
    sigmas: npt.ArrayLike,
    studies: Sequence[str] | None,
    groups: Sequence[Group] | None,
) -> EffectSample:
    """Return the effects in columns, checked; name those that cannot be pooled."""
    values, errors = as_reals("effects", effects), as_reals("sigmas", sigmas)
    if values.ndim not in (1, 2) or values.shape != errors.shape or values.size == 0:
        raise InvalidValueError(
            f"effects have the shape {values.shape}, sigmas {errors.shape}; expected one of each "
            "per study, or studies × columns"
        )
    shape = values.shape[1:]
    values, errors = values.reshape(len(values), -1), errors.reshape(len(values), -1)
    names, labels = _names(values, studies, groups, several=bool(shape))
    _check_range(values, errors, names, labels)
    present = ~np.isnan(values) & (errors > 0)
    if not present.any():
        raise InvalidValueError("no study has an effect with a standard error above 0")
    left_out = np.argwhere((~np.isnan(values) | ~np.isnan(errors)) & ~present)
    if left_out.size:
        places = [_place(names[s], labels[c]) for s, c in left_out]
        warn_caller(
            f"left out, because the effect or its sigma is missing, or sigma is 0: "
            f"{enumerate_names(places)}",
            InputWarning,
        )
    return EffectSample(
        np.where(present, values, 0.0),
        np.where(present, errors, 1.0) ** 2,
        present,
        names,
        labels,
        shape,
    )


def _names(
    values: Floats, studies: Sequence[str] | None, groups: Sequence[Group] | None, *, several: bool
) -> tuple[tuple[str, ...], tuple[Group, ...]]:
    """Return the names of studies, and what columns are about; by default numbers."""
    names = tuple(f"study {place}" for place in range(1, len(values) + 1))
    if studies is not None:
        names = as_texts("studies", studies)
    columns = [f"column {place}" for place in range(1, values.shape[1] + 1)]
    labels = tuple(Group(run=name) for name in columns) if several else (Group(),)
    if groups is not None:
        if not isinstance(groups, list | tuple) or not all(isinstance(g, Group) for g in groups):
            raise invalid("groups", groups, "a list of Group, one per column")
        labels = tuple(groups)
    if len(names) != len(values) or len(labels) != values.shape[1]:
        raise InvalidValueError(
            f"{len(names)} names of studies and {len(labels)} of columns for effects of "
            f"{len(values)} studies × {values.shape[1]} columns"
        )
    return names, labels


def _check_range(
    values: Floats, errors: Floats, names: Sequence[str], labels: Sequence[Group]
) -> None:
    """Raise at the first effect or sigma that no study can have."""
    wrong_effect = np.abs(values) > LARGEST_EFFECT
    wrong_sigma = (
        (errors < 0) | (errors > LARGEST_EFFECT) | ((errors > 0) & (errors < SMALLEST_ERROR))
    )
    for s, c in np.argwhere(wrong_effect | wrong_sigma)[:1]:
        what = f"effect is {values[s, c]}" if wrong_effect[s, c] else f"sigma is {errors[s, c]}"
        lowest = f"{-LARGEST_EFFECT:g}" if wrong_effect[s, c] else f"{SMALLEST_ERROR:g}"
        raise InvalidValueError(
            f"{_place(names[s], labels[c])}: the {what}; expected a number from {lowest} to "
            f"{LARGEST_EFFECT:g}" + ("" if wrong_effect[s, c] else ", or 0 for none")
        )


def _place(study: str, group: Group) -> str:
    return f"{study} ({group})" if str(group) else study


def weighted_mean(values: Floats, weights: Floats) -> Floats:
    """Return the mean of each column, NaN where the weights are all 0."""
    mean: Floats = (weights * values).sum(axis=0) * inverse_sum(weights)
    return mean


def inverse_sum(weights: Floats) -> Floats:
    """Return one over the sum of weights, NaN where there are none."""
    inverse: Floats = 1.0 / or_nan(weights.sum(axis=0))
    return inverse


def or_nan(number: npt.NDArray[Any]) -> Floats:
    """Return what may be divided by: NaN for 0."""
    return np.where(number > 0, number, np.nan)
