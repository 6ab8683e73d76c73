"""Goodness of fit: the votes of all pairs against those that strengths predict."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.measures.strengths import Strengths

SIMULATIONS = 999

# Newton steps from the fit, whose own strengths simulated votes are near.
_STEPS = 8
_LONGEST_STEP = 2.0

# Numbers of all matrices that are solved together.
_NUMBERS_AT_ONCE = 1 << 22


class ModelFit(NamedTuple):
    """How well strengths predict the votes of each pair.

    p-values are by simulation of independent votes from the strengths, fitted anew each time.

    Attributes
    ----------
    deviance, df, p
        Of the table of pairs against the predicted shares; pairs with votes less the strengths that
        are free; NaN for p where there is nothing to test.
    cycles, expected_cycles, cycles_p
        Triples of systems of which each beat the next one in most of their votes, how many chance
        alone makes of these strengths, and the p-value of as many.
    """

    deviance: float
    df: int
    p: float
    cycles: int
    expected_cycles: float
    cycles_p: float


class _Pairs(NamedTuple):
    """Pairs of systems with votes: the first one's wins, ties half, and the number of votes."""

    first: Integers
    second: Integers
    points: Floats
    votes: Integers


def check_fit(strengths: Strengths, rng: np.random.Generator) -> ModelFit:
    """Return how well strengths predict the table of votes, with p-values by simulation."""
    votes = strengths.table.votes
    first, second = (side.astype(np.int64) for side in np.nonzero(np.triu(votes)))
    pairs = _Pairs(first, second, strengths.table.points[first, second], votes[first, second])
    systems = len(strengths.runs)
    df = len(first) - (systems - 1)
    probability = strengths.predicted()[first, second]
    observed = float(_deviance(pairs.points, pairs.votes, probability))
    cycles = int(_cycles(systems, pairs, pairs.points[None])[0])
    if df <= 0:
        return ModelFit(observed, df, np.nan, cycles, np.nan, np.nan)
    tied = _tie_rates(probability, pairs.votes, int(strengths.table.ties[first, second].sum()))
    most = max(1, _NUMBERS_AT_ONCE // (systems * systems))
    deviances, counts = [], []
    for start in range(0, SIMULATIONS, most):
        points = _simulate(probability, tied, pairs.votes, min(most, SIMULATIONS - start), rng)
        fitted = _refit(strengths, pairs, points)
        deviances.append(_deviance(points, pairs.votes, fitted))
        counts.append(_cycles(systems, pairs, points))
    every, turns = np.concatenate(deviances), np.concatenate(counts)
    return ModelFit(
        observed,
        df,
        _exceeding(every >= observed - TIE),
        cycles,
        float(turns.mean()),
        _exceeding(turns >= cycles),
    )


def _exceeding(reached: Booleans) -> float:
    return float(1 + np.count_nonzero(reached)) / (len(reached) + 1)


def _deviance(points: Floats, votes: Integers, probability: Floats) -> Floats:
    """Return twice the log likelihood that observed shares have above predicted ones."""
    from scipy.special import rel_entr

    share = points / votes
    apart = rel_entr(share, probability) + rel_entr(1.0 - share, 1.0 - probability)
    total: Floats = 2.0 * (votes * apart).sum(axis=-1)
    return total


def _tie_rates(probability: Floats, votes: Integers, ties: int) -> Floats:
    """Return how often pairs tie: most where they are even, as often in all as observed.

    A tie takes as much from either side's chance, so that shares stay the predicted ones.
    """
    even = 4.0 * probability * (1.0 - probability)
    most = 2.0 * np.minimum(probability, 1.0 - probability)
    low, high = 0.0, 1.0 / float(even.min(initial=1.0))
    for _ in range(60):
        middle = (low + high) / 2.0
        fewer = float(votes @ np.minimum(most, middle * even)) < ties
        low, high = (middle, high) if fewer else (low, middle)
    rates: Floats = np.minimum(most, high * even) if ties else np.zeros_like(even)
    return rates


def _simulate(
    probability: Floats, tied: Floats, votes: Integers, size: int, rng: np.random.Generator
) -> Floats:
    """Return points of the first systems of pairs in simulated votes: simulations × pairs."""
    chances = np.stack([probability - tied / 2.0, tied, 1.0 - probability - tied / 2.0], axis=1)
    chances = np.maximum(chances, 0.0)
    chances /= chances.sum(axis=1, keepdims=True)
    drawn = rng.multinomial(votes, chances, (size, len(votes)))
    points: Floats = drawn[..., 0] + drawn[..., 1] / 2.0
    return points


def _refit(strengths: Strengths, pairs: _Pairs, points: Floats) -> Floats:
    """Return the shares that strengths fitted to simulated votes predict: simulations × pairs."""
    from scipy.special import expit

    systems, size = len(strengths.runs), len(points)
    signs = np.zeros((len(pairs.first), systems))
    rows = np.arange(len(pairs.first))
    signs[rows, pairs.first], signs[rows, pairs.second] = 1.0, -1.0
    fitted = np.tile(strengths.strength, (size, 1))
    diagonal = np.arange(systems)
    for _ in range(_STEPS):
        probability = expit(fitted @ signs.T)
        score = (points - pairs.votes * probability) @ signs
        weight = pairs.votes * probability * (1.0 - probability)
        information = np.full((size, systems, systems), 0.0 if strengths.prior else 1.0 / systems)
        information[:, pairs.first, pairs.second] -= weight
        information[:, pairs.second, pairs.first] -= weight
        information[:, diagonal, diagonal] += weight @ np.abs(signs)
        if strengths.prior:
            anchored = expit(fitted)
            score += strengths.prior * (0.5 - anchored)
            information[:, diagonal, diagonal] += strengths.prior * anchored * (1.0 - anchored)
        # where a simulated system only wins, its strength has no limit: a little keeps it finite
        information[:, diagonal, diagonal] += 1e-9
        step = np.linalg.solve(information, score[..., None])[..., 0]
        fitted = fitted + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
    shares: Floats = expit(fitted @ signs.T)
    return shares


def _cycles(systems: int, pairs: _Pairs, points: Floats) -> Integers:
    """Return the triples of which each system beat the next in most votes, of each simulation."""
    beats = np.zeros((len(points), systems, systems), np.float32)
    beats[:, pairs.first, pairs.second] = points > pairs.votes / 2.0
    beats[:, pairs.second, pairs.first] = points < pairs.votes / 2.0
    around = (beats @ beats) * beats.transpose(0, 2, 1)
    found: Integers = np.rint(around.sum(axis=(1, 2), dtype=np.float64) / 3.0).astype(np.int64)
    return found
