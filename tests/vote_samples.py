"""Votes with known strengths, for tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.data.tables.input_table import Ids
from confir.data.votes import Votes


def simulate_votes(
    strength: Sequence[float] | Floats,
    votes: int,
    rng: int,
    *,
    ties: float = 0.0,
    judges: int = 0,
    judge_sd: float = 0.0,
    weights: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    position: float = 0.0,
    length: float = 0.0,
) -> Votes:
    """Return votes between systems of known strengths.

    Parameters
    ----------
    ties
        How often an even pair ties; shares of wins, ties half, stay those of the strengths.
    judges, judge_sd
        Number of judges, and how much their own taste for each system varies about the strengths;
        0 for independent votes.
    weights
        How often each system is asked about.
    position, length
        Effects of standing left, and of a covariate of root mean square 1 whose mean is not 0.
    """
    generator = np.random.default_rng(rng)
    strength = np.asarray(strength, float)
    size = len(strength)
    chances = np.ones(size) if weights is None else np.asarray(weights, float)
    first, second = np.triu_indices(size, 1)
    odds = chances[first] * chances[second]
    pair = generator.choice(len(first), votes, p=odds / odds.sum())
    left, right = first[pair], second[pair]
    swapped = generator.random(votes) < 0.5
    left, right = np.where(swapped, right, left), np.where(swapped, left, right)
    taste = np.zeros((1, size))
    judge = np.zeros(votes, np.int64)
    if judges:
        judge = generator.integers(judges, size=votes)
        taste = judge_sd * generator.standard_normal((judges, size))
    own = strength + taste
    apart = own[judge, left] - own[judge, right] + position
    covariates = {}
    if length:
        given = generator.normal(0.6, 0.8, votes)
        covariates["length"] = 250.0 * given
        apart = apart + length * given
    share = 1 / (1 + np.exp(-apart))
    tied = ties * 4 * share * (1 - share) / 2
    drawn = generator.random(votes)
    winner = np.where(drawn < share - tied / 2, 1.0, np.where(drawn < share + tied / 2, 0.5, 0.0))
    width = len(str(max(judges, 1)))
    named = Ids([f"j{number:0{width}}" for number in range(judges)], judge) if judges else None
    systems = tuple(names or (f"s{place:03}" for place in range(size)))
    return Votes(systems, left, right, winner, judge=named, covariates=covariates)
