"""Distributions fitted to real scores: margins of runs and measures, and their Gaussian copula."""

from __future__ import annotations

import math

import numpy as np

from confir.arrays import Booleans, Floats

# A measure is discrete where fewer than this share of a run's scores between 0 and 1 are distinct:
# 0.04 to 0.57 for P@10, P@30 and RR on TREC collections, 0.68 and more for P@1000, Rprec and AP.
_DISTINCT_SHARE = 0.6

# Share of a discrete score's frequency that moves to neighbouring values.
_MOVING_SHARE = 0.25

# Share of each latent variance independent of the other columns: makes the correlation matrix of
# the copula positive definite.
OWN_SHARE = 0.01

_GRID = 257  # points at which a smoothed distribution is tabulated
_HERMITE_TERMS = 12
_NEWTON_STEPS = 6

# A quantile function that is linear between knots: probabilities and scores, both ascending.
_Knots = tuple[Floats, Floats]


def fit_margins(scores: Floats) -> _Knots:
    """Return the quantile functions of scores, topics × runs × measures: columns × knots.

    Functions with fewer knots are padded with the last.
    """
    by_measure = [_fit_measure(scores[:, :, m]) for m in range(scores.shape[2])]
    margins = [knots for by_run in zip(*by_measure, strict=True) for knots in by_run]
    knots = max(len(levels) for levels, _ in margins)
    levels, points = (
        np.stack([np.pad(part, (0, knots - len(part)), mode="edge") for part in parts])
        for parts in zip(*margins, strict=True)
    )
    return levels, points


def _fit_measure(scores: Floats) -> list[_Knots]:
    """Return the quantile function of each run's scores by one measure."""
    columns = [column[~np.isnan(column)] for column in scores.T]
    everything = np.concatenate(columns)
    bounded = bool((everything >= 0).all() and (everything <= 1).all())
    inner = [_inner(column, bounded) for column in columns]
    distinct = sum(len(np.unique(column)) for column in inner)
    discrete = distinct < _DISTINCT_SHARE * sum(map(len, inner))
    support = np.unique(np.concatenate(inner)) if discrete else None
    return [_fit_margin(column, bounded, support) for column in columns]


def _inner(column: Floats, bounded: bool) -> Floats:
    """Return the scores that are smoothed: all, or those strictly between the bounds 0 and 1."""
    return column[(column > 0) & (column < 1)] if bounded else column


def _fit_margin(column: Floats, bounded: bool, support: Floats | None) -> _Knots:
    if column.min() == column.max():
        return np.array([0.0, 1.0]), column[:2]
    inner = _inner(column, bounded)
    if len(inner) == 0:
        levels, points = np.empty(0), np.empty(0)
    elif support is not None:
        levels, points = _discrete_knots(inner, support)
    else:
        levels, points = _smooth_knots(inner, bounded)
    if not bounded:
        return levels, points
    zeros, ones = (column == 0).mean(), (column == 1).mean()
    return (
        np.concatenate([[0.0, zeros], zeros + (1.0 - zeros - ones) * levels, [1.0 - ones, 1.0]]),
        np.concatenate([[0.0, 0.0], points, [1.0, 1.0]]),
    )


def _discrete_knots(inner: Floats, support: Floats) -> _Knots:
    """Return the frequencies as steps, part of which move to neighbouring values of the support.

    The parts that move up and down preserve the mean.
    """
    share = np.bincount(np.searchsorted(support, inner), minlength=len(support)) / len(inner)
    if len(support) > 2:
        moving = _MOVING_SHARE * share[1:-1]
        up = moving * (support[1:-1] - support[:-2]) / (support[2:] - support[:-2])
        share[1:-1] -= moving
        share[2:] += up
        share[:-2] += moving - up
    edges = np.concatenate([[0.0], np.cumsum(share)])
    edges[-1] = 1.0
    return np.repeat(edges, 2)[1:-1], np.repeat(support, 2)


def _smooth_knots(inner: Floats, bounded: bool) -> _Knots:
    """Return the smoothed distribution of scores, with their mean and variance preserved.

    The kernel is normal, on the scale arcsin √score for scores in [0, 1], and reflected at the
    bounds. Scores are shrunk towards their mean to offset the kernel's variance (Silverman 1986,
    §6.4.1); the bandwidth is his rule of thumb (§3.4.2).
    """
    from scipy.special import ndtr

    scale = np.arcsin(np.sqrt(inner)) if bounded else inner
    mean, deviation = scale.mean(), scale.std()
    if not deviation > 0:
        return np.array([0.0, 1.0]), inner[[0, 0]]
    quartiles = np.quantile(scale, [0.25, 0.75])
    spread = min(deviation, (quartiles[1] - quartiles[0]) / 1.349 or deviation)
    width = 0.9 * spread * len(scale) ** -0.2
    shrinkage = 1.0 / math.sqrt(1.0 + (width / deviation) ** 2)
    centres, width = mean + shrinkage * (scale - mean), shrinkage * width
    low, high = centres.min() - 4.0 * width, centres.max() + 4.0 * width
    if bounded:
        low, high = max(low, 0.0), min(high, math.pi / 2.0)
    grid = np.linspace(low, high, _GRID)
    level = ndtr((grid[:, None] - centres) / width)
    if bounded:
        level -= ndtr((-grid[:, None] - centres) / width)
        level += ndtr((grid[:, None] + centres - math.pi) / width)
    levels = level.mean(axis=1)
    levels = np.clip((levels - levels[0]) / (levels[-1] - levels[0]), 0.0, 1.0)
    return levels, np.square(np.sin(grid)) if bounded else grid


def fit_copula(scores: Floats) -> Floats:
    """Return the loadings of a Gaussian copula with the rank correlations of the columns."""
    with np.errstate(invalid="ignore"):
        varies: Booleans = np.nanmax(scores, axis=0) > np.nanmin(scores, axis=0)
    if not varies.any():
        return np.zeros((scores.shape[1], 1))
    ranks, expansion = _rank_scores(scores[:, varies])
    present = ~np.isnan(scores[:, varies])
    together = np.maximum(present.T.astype(np.float64) @ present, 1.0)
    sizes, directions = np.linalg.eigh(_latent_correlation(ranks.T @ ranks / together, expansion))
    # Correlations solved pair by pair need not be positive semidefinite: negative eigenvalues go.
    kept = sizes > 1e-9 * sizes[-1]
    shared = directions[:, kept] * np.sqrt(sizes[kept])
    length = np.sqrt(np.square(shared).sum(axis=1, keepdims=True))
    loadings = np.zeros((len(varies), shared.shape[1]))
    loadings[varies] = math.sqrt(1.0 - OWN_SHARE) * shared / length
    return loadings


def _rank_scores(scores: Floats) -> tuple[Floats, Floats]:
    """Return standardised mid-ranks, and their expansion in Hermite polynomials of normal scores.

    A score and its ties occupy an interval of probabilities. The k-th coefficient is the mean of
    the mid-rank times ``He_k(Z)/√k!`` over those intervals. A missing score has the middle rank.
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    count = (~np.isnan(scores)).sum(axis=0)
    low = (rankdata(scores, "min", axis=0, nan_policy="omit") - 1.0) / count
    high = rankdata(scores, "max", axis=0, nan_policy="omit") / count
    rank = np.nan_to_num((low + high - 1.0) / 2.0)
    rank /= np.sqrt(np.square(rank).sum(axis=0) / count)
    # beyond ±40 the density is 0, whatever the polynomial
    ends = [np.clip(ndtri(np.nan_to_num(part, nan=0.5)), -40.0, 40.0) for part in (low, high)]
    density = [np.exp(-np.square(end) / 2.0) / math.sqrt(2.0 * math.pi) for end in ends]
    weight = rank / np.nan_to_num(high - low, nan=1.0) / count
    polynomial, previous = [np.ones_like(rank)] * 2, [np.zeros_like(rank)] * 2
    expansion = np.empty((_HERMITE_TERMS, scores.shape[1]))
    for term in range(1, _HERMITE_TERMS + 1):
        # ∫ He_k φ over an interval is He_{k-1} φ at its lower end minus that at its upper end
        mass = polynomial[0] * density[0] - polynomial[1] * density[1]
        expansion[term - 1] = (weight * mass).sum(axis=0) / math.sqrt(math.factorial(term))
        following = [
            end * now - (term - 1) * before
            for end, now, before in zip(ends, polynomial, previous, strict=True)
        ]
        polynomial, previous = following, polynomial
    return rank, expansion


def _latent_correlation(wanted: Floats, expansion: Floats) -> Floats:
    """Return the correlations of normal variables whose ranks, ties included, correlate as wanted.

    By Mehler's formula the ranks' correlation is ``Σ_k ρ^k α_k β_k`` with the columns' coefficients
    α and β; it is solved for ρ by Newton's method.
    """
    correlation: Floats = np.clip(wanted, -1.0, 1.0)
    for _ in range(_NEWTON_STEPS):
        value, slope = np.zeros_like(wanted), np.zeros_like(wanted)
        for term in range(_HERMITE_TERMS, 0, -1):
            product = np.outer(expansion[term - 1], expansion[term - 1])
            value = value * correlation + product
            slope = slope * correlation + term * product
        error = value * correlation - wanted
        step = np.divide(error, slope, out=np.zeros_like(error), where=slope > 1e-6)
        correlation = np.clip(correlation - step, -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return correlation
