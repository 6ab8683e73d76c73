"""Are intervals of strengths, ranks and best sets from votes calibrated?

Votes are simulated from known strengths: balanced or not, with ties, and by judges with individual preferences,
where intervals by judge are compared with those that assume independent votes.

    python reproductions/preferences.py --output docs/reproductions

`--quick` takes a tenth of the samples, for a first look; all of them take half an hour of computing.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import expit

from confir.data.files import write_whole
from confir.data.tables.input_table import Ids
from confir.data.votes import Votes
from confir.errors import SmallSampleWarning, UnsupportedMethodError
from confir.measures.strengths import Cells, Strengths, fit_strengths, maximise_likelihood
from confir.pairs.best_runs import best_of_pairs
from confir.pairs.ranking import ranking_of_pairs
from confir.pairs.run_pairs import compare_all_runs

SEED = 1952
LEVEL = 0.95
REPLICATES = 399
# A share may be this many Monte Carlo errors below the level, and .01, before the script ends with an error.
ERRORS = 3.0
SLACK = 0.01
# Few votes on many systems: strengths are asymptotic.
FEW_PER_SYSTEM = 50


class Case(NamedTuple):
    """How votes are drawn."""

    systems: int
    votes: int
    spread: float = 1.0  # of equally spaced strengths: highest less lowest
    uneven: float = 1.0  # how much more often each system is asked about than the next
    ties: float = 0.0
    judges: int = 0
    taste: float = 0.0  # sd of a judge's own strengths about the common ones
    samples: int = 400  # fewer where a sample takes longer

    @property
    def strength(self) -> np.ndarray:
        """Common strengths, highest first."""
        return np.linspace(self.spread / 2, -self.spread / 2, self.systems)

    @property
    def pairs(self) -> np.ndarray:
        """How often each pair is asked about: systems × systems, above the diagonal."""
        asked = self.uneven ** -np.arange(self.systems)
        return np.triu(np.outer(asked, asked), 1) / np.triu(np.outer(asked, asked), 1).sum()

    def truth(self) -> np.ndarray:
        """Strengths that fit the expected shares: those of judges' tastes on average."""
        z, weight = np.polynomial.hermite_e.hermegauss(61)
        apart = (self.strength[:, None] - self.strength)[..., None]
        share = expit(apart + np.sqrt(2.0) * self.taste * z) @ (weight / weight.sum())
        points = (self.pairs + self.pairs.T) * share * self.votes
        both = points + points.T
        first, second = np.nonzero(np.triu(both))
        of_pairs = both[first, second], points[first, second]
        cells = Cells(first, second, *of_pairs, np.empty((len(first), 0)))
        return maximise_likelihood(cells, self.systems)

    def draw(self, rng: np.random.Generator) -> Votes:
        """Return votes."""
        flat = rng.choice(self.systems**2, self.votes, p=self.pairs.reshape(-1))
        left, right = np.divmod(flat, self.systems)
        judge = rng.integers(max(self.judges, 1), size=self.votes)
        taste = self.taste * rng.standard_normal((max(self.judges, 1), self.systems))
        own = self.strength + taste
        share = expit(own[judge, left] - own[judge, right])
        tied = 2.0 * self.ties * share * (1.0 - share)
        drawn = rng.random(self.votes)
        winner = np.select([drawn < share - tied / 2, drawn < share + tied / 2], [1.0, 0.5], 0.0)
        names = tuple(f"s{place:02}" for place in range(self.systems))
        judges = Ids([f"j{number:04}" for number in range(self.judges)], judge)
        return Votes(names, left, right, winner, judge=judges if self.judges else None)

    def words(self) -> str:
        """What is drawn, in words."""
        parts = [f"{self.systems} systems, {self.votes:,} votes"]
        parts += ["equal strengths"] if not self.spread else []
        parts += ["unbalanced"] if self.uneven > 1 else []
        parts += ["ties"] if self.ties else []
        parts += [f"{self.judges} judges"] if self.judges else []
        return ", ".join(parts)


CASES = (
    Case(5, 100),
    Case(5, 1_000),
    Case(5, 100_000),
    Case(5, 1_000, spread=0.0),
    Case(5, 1_000, ties=0.8),
    Case(5, 1_000, uneven=2.0),
    Case(10, 500),
    Case(10, 2_000, uneven=1.5, ties=0.5),
    Case(20, 1_000),
    Case(20, 2_000, spread=0.0),
    Case(20, 10_000, uneven=1.2, ties=0.5),
    Case(20, 100_000),
    Case(50, 1_000),
    Case(50, 5_000),
    Case(50, 20_000, spread=0.0, samples=100),
    Case(50, 20_000, uneven=1.05, ties=0.5, samples=40),
    Case(50, 100_000, uneven=1.05, ties=0.5, samples=40),
    Case(5, 1_000, judges=20, taste=0.7),
    Case(5, 1_000, judges=100, taste=0.7),
    Case(10, 2_000, spread=0.0, judges=50, taste=0.7),
    Case(10, 10_000, judges=50, taste=0.7, ties=0.5, uneven=1.2),
    Case(20, 100_000, judges=500, taste=0.7),
    Case(50, 20_000, judges=100, taste=0.7, samples=120),
    Case(50, 100_000, judges=500, taste=0.7, ties=0.5, uneven=1.05, samples=40),
)


class Rates(NamedTuple):
    """How often what is said of a case holds, and how often strengths do not exist."""

    strengths: float
    pairs: float
    best: float
    size: float
    ranks: float
    refused: float
    samples: int


class Truth(NamedTuple):
    """True strengths, ranks, and which systems are the best."""

    strength: np.ndarray
    rank: np.ndarray
    best: np.ndarray


def truth_of(case: Case) -> Truth:
    """Return what is true of a case."""
    strength = case.truth()
    rank = 1 + (strength[:, None] < strength - 1e-9).sum(axis=1)
    return Truth(strength, rank, strength >= strength.max() - 1e-9)


def covered(fitted: Strengths, truth: Truth, seed: int) -> tuple[float, ...]:
    """Return which shares of what is said of votes hold: strengths, pairs, best, its size, ranks."""
    half = stats.t.ppf((1 + LEVEL) / 2, fitted.units - 1) * np.sqrt(fitted.covariance().diagonal())
    held = np.abs(fitted.strength - truth.strength) <= half
    (pairs,) = compare_all_runs(fitted, REPLICATES, seed, what="ranks", level=LEVEL)
    (best,) = best_of_pairs(fitted, [pairs], [LEVEL])
    ranking = ranking_of_pairs(fitted, [pairs], LEVEL)
    low, high = ranking.simultaneous_low[:, 0], ranking.simultaneous_high[:, 0]
    critical = pairs.every.critical_value(pairs.df, LEVEL)
    errors = pairs.every.standard_errors(pairs.difference, pairs.se, pairs.units, pairs.df)
    apart = truth.strength - truth.strength[:, None]
    off = np.abs(pairs.difference - apart) > critical * np.nan_to_num(errors)
    np.fill_diagonal(off, False)
    return (
        float(held.mean()),
        float(not off.any()),
        float(best.in_set[truth.best, 0].mean()),
        float(best.in_set[:, 0].sum()),
        float(((low <= truth.rank) & (truth.rank <= high)).all()),
    )


def measure(case: Case, number: int, samples: int) -> dict[str, Rates]:
    """Return the rates of a case by units: judges where there are any, and votes."""
    warnings.simplefilter("ignore", SmallSampleWarning)
    truth = truth_of(case)
    units = ("judge", None) if case.judges else (None,)
    found: dict[str | None, list[tuple[float, ...]]] = {unit: [] for unit in units}
    for sample in range(samples):
        votes = case.draw(np.random.default_rng([SEED, number, sample]))
        for unit in units:
            try:
                fitted = fit_strengths(votes, cluster=unit)
            except UnsupportedMethodError:
                continue
            found[unit].append(covered(fitted, truth, sample))
    return {str(unit or "vote"): _rates(rows, samples) for unit, rows in found.items()}


def _rates(rows: list[tuple[float, ...]], samples: int) -> Rates:
    means = (np.mean(rows, axis=0) if rows else np.full(5, np.nan)).tolist()
    return Rates._make([*means, 1.0 - len(rows) / samples, len(rows)])


def row(case: Case, unit: str, one: Rates) -> str:
    """Return a row of the page; where votes of judges are taken as independent, it says so."""
    naive = bool(case.judges) and unit == "vote"
    name = "– naive: as if votes were independent" if naive else case.words()
    return (
        f"| {name} | {one.samples} | {one.strengths:.3f} | {one.pairs:.3f} | {one.best:.3f} | {one.size:.1f} | "
        f"{one.ranks:.3f} | {one.refused:.3f} |"
    ).replace(" nan ", " – ")


def page(rows: list[str]) -> str:
    """Return the page in Markdown."""
    lines = [
        "# Strengths, ranks and best sets from votes",
        "",
        (
            "Made by `python reproductions/preferences.py --output docs/reproductions`. Votes are simulated from "
            f"known strengths, equally spaced over 1; seed {SEED}, level {LEVEL:g}, {REPLICATES} replicates. The "
            f"Monte Carlo standard error of a share near .95 is {_error(400):.3f} of 400 samples, {_error(100):.3f} of 100 "
            f"and {_error(40):.3f} of 40, and less for strengths, of which a sample has several. "
            "Unbalanced: each system has 1.05 to 2 times as many votes as the next. Judges: "
            "each has an individual preference for every system, sd 0.7; the truth is then given "
            "by the judges' average."
        ),
        "",
        (
            "`strengths`: share of the intervals that contain the strength, with judges as units "
            "if there are any, and votes in the row below; `pairs`: samples whose simultaneous "
            "intervals contain the differences of all pairs; `best`: samples whose confidence set "
            "contains the best system (with equal strengths, the mean over systems), with the "
            "set's mean `size`; `ranks`: samples whose simultaneous limits contain all ranks; "
            "`refused`: samples without finite strengths, which need a prior and are left out. If "
            "strengths differ, the coverage of best sets and ranks is above the level: an error "
            "needs a significant difference in the wrong direction."
        ),
        "",
        "| votes | samples | strengths | pairs | best | size | ranks | refused |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _error(samples: int) -> float:
    return float(np.sqrt(LEVEL * (1 - LEVEL) / samples))


def failures(case: Case, one: Rates) -> list[str]:
    """Return which shares are below the level by more than chance and a hundredth."""
    if case.votes < FEW_PER_SYSTEM * case.systems:
        return []
    least = LEVEL - SLACK - ERRORS * np.sqrt(LEVEL * (1 - LEVEL) / max(one.samples, 1))
    return [
        f"{case.words()}: {name} {getattr(one, name):.3f}; expected {least:.3f} or more"
        for name in ("strengths", "pairs", "best", "ranks")
        if getattr(one, name) < least
    ]


def main() -> None:
    """Write the page; end with an error where the rates are too low."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="not used: votes are simulated")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args()
    samples = [case.samples // (10 if given.quick else 1) for case in CASES]
    rows: list[str] = []
    wrong: list[str] = []
    with ProcessPoolExecutor(given.jobs) as pool:
        measured = pool.map(measure, CASES, range(len(CASES)), samples)
        for case, rates in zip(CASES, measured, strict=True):
            rows += [row(case, unit, one) for unit, one in rates.items()]
            wrong += failures(case, rates["judge" if case.judges else "vote"])
            print("\n".join(rows[-len(rates) :]), flush=True)
    write_whole(given.output / "preferences.md", page(rows).encode())
    if wrong:
        sys.exit("; ".join(wrong))


if __name__ == "__main__":
    main()
