"""Goodness of fit: the votes of all pairs against those that strengths predict."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.measures.strengths import POSITION, Cells, Strengths, pair_cells

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
        Of the table of pairs against the predicted shares, in both orders if strengths are adjusted
        for position; pairs with votes less the free parameters; NaN for p where there is nothing to
        test, or covariates make each vote differ.
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


def check_fit(strengths: Strengths, rng: np.random.Generator) -> ModelFit:
    """Return how well strengths predict the table of votes, with p-values by simulation."""
    from scipy.special import expit

    names, systems = strengths.effects.names, len(strengths.runs)
    cells = pair_cells(strengths.table, strengths.sides if names else None)
    cycles = int(_cycles(systems, cells, cells.points[None])[0])
    if {*names} - {POSITION}:
        return ModelFit(np.nan, 0, np.nan, cycles, np.nan, np.nan)
    found = np.concatenate([strengths.strength, strengths.effects.estimate])
    probability = expit(cells.logits(found, systems))
    df = len(cells.left) - (len(found) - 1)
    observed = float(_deviance(cells.points, cells.votes, probability))
    if df <= 0:
        return ModelFit(observed, df, np.nan, cycles, np.nan, np.nan)
    ties = int(np.triu(strengths.table.ties).sum())
    tied = _tie_rates(probability, cells.votes, ties)
    most = max(1, _NUMBERS_AT_ONCE // (systems * systems))
    deviances, counts = [], []
    for start in range(0, SIMULATIONS, most):
        points = _simulate(probability, tied, cells.votes, min(most, SIMULATIONS - start), rng)
        fitted = _refit(found, strengths.prior, cells, points)
        deviances.append(_deviance(points, cells.votes, fitted))
        counts.append(_cycles(systems, cells, points))
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


def _deviance(points: Floats, votes: Floats, probability: Floats) -> Floats:
    """Return twice the log likelihood that observed shares have above predicted ones."""
    from scipy.special import rel_entr

    share = points / votes
    apart = rel_entr(share, probability) + rel_entr(1.0 - share, 1.0 - probability)
    total: Floats = 2.0 * (votes * apart).sum(axis=-1)
    return total


def _tie_rates(probability: Floats, votes: Floats, ties: int) -> Floats:
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
    probability: Floats, tied: Floats, votes: Floats, size: int, rng: np.random.Generator
) -> Floats:
    """Return points of the first systems of pairs in simulated votes: simulations × pairs."""
    chances = np.stack([probability - tied / 2.0, tied, 1.0 - probability - tied / 2.0], axis=1)
    chances = np.maximum(chances, 0.0)
    chances /= chances.sum(axis=1, keepdims=True)
    drawn = rng.multinomial(votes.astype(np.int64), chances, (size, len(votes)))
    points: Floats = drawn[..., 0] + drawn[..., 1] / 2.0
    return points


def _refit(found: Floats, prior: float, cells: Cells, points: Floats) -> Floats:
    """Return the shares that a fit to simulated votes predicts: simulations × cells."""
    from scipy.special import expit

    systems, size = len(found) - cells.terms.shape[1], len(points)
    rows = np.arange(len(cells.left))
    design = np.zeros((len(rows), len(found)))
    design[rows, cells.left], design[rows, cells.right] = 1.0, -1.0
    design[:, systems:] = cells.terms
    fitted = np.tile(found, (size, 1))
    diagonal, of_systems = np.arange(len(found)), np.arange(systems)
    for _ in range(_STEPS):
        probability = expit(fitted @ design.T)
        score = (points - cells.votes * probability) @ design
        weight = cells.votes * probability * (1.0 - probability)
        information = np.zeros((size, len(found), len(found)))
        information[:, :systems, :systems] = 0.0 if prior else 1.0 / systems
        information[:, cells.left, cells.right] -= weight
        information[:, cells.right, cells.left] -= weight
        information[:, diagonal, diagonal] += weight @ np.abs(design)
        if systems < len(found):  # the effect of the position, the only one here
            cross = weight @ design[:, :systems]
            information[:, systems, :systems] = information[:, :systems, systems] = cross
        if prior:
            anchored = expit(fitted[:, :systems])
            score[:, :systems] += prior * (0.5 - anchored)
            information[:, of_systems, of_systems] += prior * anchored * (1.0 - anchored)
        # where a simulated system only wins, its strength has no limit: a little keeps it finite
        information[:, diagonal, diagonal] += 1e-9
        step = np.linalg.solve(information, score[..., None])[..., 0]
        fitted = fitted + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
    shares: Floats = expit(fitted @ design.T)
    return shares


def _cycles(systems: int, cells: Cells, points: Floats) -> Integers:
    """Return the triples of which each system beat the next in most votes, of each simulation."""
    won = np.zeros((len(points), systems, systems))
    won[:, cells.left, cells.right] += points - cells.votes / 2.0
    won[:, cells.right, cells.left] += cells.votes / 2.0 - points
    beats = (won > 0).astype(np.float32)
    around = (beats @ beats) * beats.transpose(0, 2, 1)
    found: Integers = np.rint(around.sum(axis=(1, 2), dtype=np.float64) / 3.0).astype(np.int64)
    return found
