"""Speed of Bradley-Terry strengths of 50 systems from a million votes, compared with evalica.

evalica gives strengths without errors, so its users bootstrap them: confir's covariance is compared with 100
samples of the votes, of which one is run and counted 100 times. Votes have names of systems, as in a table;
confir also reads them from Parquet.

    python benchmarks/preferences.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import side_by_side

SYSTEMS, VOTES, SAMPLES = 50, 1_000_000, 100


def draw() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the numbers of two systems per vote, and the share of the left one: 1, ½ or 0."""
    rng = np.random.default_rng(1)
    strength = np.linspace(-1, 1, SYSTEMS)
    left = rng.integers(SYSTEMS, size=VOTES)
    right = (left + rng.integers(1, SYSTEMS, size=VOTES)) % SYSTEMS
    share = 1 / (1 + np.exp(strength[right] - strength[left]))
    winner = np.where(rng.random(VOTES) < share, 1.0, 0.0)
    winner[rng.random(VOTES) < 0.2] = 0.5
    return left, right, winner


def columns() -> dict[str, list[str]]:
    """Return the votes as columns of names."""
    left, right, winner = draw()
    names = np.array([f"system{place:02}" for place in range(SYSTEMS)])
    words = np.array(["model_b", "tie", "model_a"])[np.rint(2 * winner).astype(int)]
    return {
        "model_a": names[left].tolist(),
        "model_b": names[right].tolist(),
        "winner": words.tolist(),
    }


def of_columns() -> side_by_side.Job:
    """confir, from names to strengths with their covariance."""
    from confir import fit_strengths

    held = columns()
    return lambda: fit_strengths(held).covariance()


def of_parquet() -> side_by_side.Job:
    """confir, from a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from confir import fit_strengths

    path = Path(tempfile.mkdtemp()) / "votes.parquet"
    pq.write_table(pa.table(columns()), path)
    return lambda: fit_strengths(path).covariance()


def rated() -> side_by_side.Job:
    """confir, all that `confir preferences` says: intervals, all pairs, best set, ranks, fit."""
    from confir import rate_preferences, read_votes

    votes = read_votes(columns())
    return lambda: rate_preferences(votes, rng=1)


def clustered() -> side_by_side.Job:
    """confir, votes that are read already, by 10,000 judges."""
    from confir import fit_strengths
    from confir.data.tables.input_table import Ids
    from confir.results import Votes

    left, right, winner = draw()
    judge = Ids([f"j{number:05}" for number in range(10_000)], np.arange(VOTES) % 10_000)
    names = tuple(f"system{place:02}" for place in range(SYSTEMS))
    votes = Votes(names, left, right, winner, judge=judge)
    return lambda: fit_strengths(votes, cluster="judge").covariance()


def of_evalica() -> side_by_side.Job:
    """evalica, from names to strengths."""
    import evalica

    held = columns()
    words = {
        "model_a": evalica.Winner.X,
        "model_b": evalica.Winner.Y,
        "tie": evalica.Winner.Draw,
    }
    winners = [words[word] for word in held["winner"]]
    return lambda: evalica.bradley_terry(held["model_a"], held["model_b"], winners)


def bootstrapped() -> side_by_side.Job:
    """evalica, strengths of 100 samples of the votes: one is run, with names that are indexed already."""
    import evalica

    held = columns()
    words = {
        "model_a": evalica.Winner.X,
        "model_b": evalica.Winner.Y,
        "tie": evalica.Winner.Draw,
    }
    winners = np.array([words[word] for word in held["winner"]], object)
    *_, index = evalica.indexing(held["model_a"], held["model_b"])
    left, right = np.array(held["model_a"], object), np.array(held["model_b"], object)
    rng = np.random.default_rng(1)

    def job() -> object:
        drawn = rng.integers(VOTES, size=VOTES)
        return evalica.bradley_terry(
            left[drawn].tolist(), right[drawn].tolist(), winners[drawn].tolist(), index=index
        )

    return side_by_side.Share(job, SAMPLES)


CONTESTANTS = {
    "strengths: confir, with covariance": of_columns,
    "strengths: evalica": of_evalica,
    "strengths: confir, Parquet, with covariance": of_parquet,
    "intervals: confir, all that preferences says": rated,
    "intervals: evalica, 100 bootstrap samples": bootstrapped,
    "judges: confir, 10,000 judges, with covariance": clustered,
}

if __name__ == "__main__":
    side_by_side.run("Strengths of 50 systems from a million votes", CONTESTANTS)
