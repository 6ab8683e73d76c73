"""How often do decisions on few clusters and few topics err? Simulations in which all runs are equal.

Every significant difference is then a false one, and so is a run that leaves the confidence set of the
best run, or a rank that is ruled out.

    python reproductions/few_units.py --output docs/reproductions

It takes about five minutes of processor time; --samples 100 is for a first look. The program ends with an
error if a share is more than three standard errors above α.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.data.files import write_whole
from confir.data.scores import Scores
from confir.errors import ConfirWarning
from confir.pairs.best_runs import find_best
from confir.pairs.compare import compare_runs
from confir.pairs.ranking import rank_runs
from confir.report.tables import Cell, Table, to_markdown

SEED = 2026
LEVEL = 0.95
SAMPLES = 600
REPLICATES = 199
GROUPS = (6, 8, 9)
RUNS = 4
TOPICS = (6, 7, 8, 10, 12)

# How different the runs are on the topics of a cluster together, and on each by itself.
BETWEEN, WITHIN = 0.1, 0.02

# A share may be so many standard errors above α before the program ends with an error.
ERRORS = 3.0

INTRODUCTION = """
# Error rates of decisions on few clusters and few topics

Made by `python reproductions/few_units.py --output docs/reproductions`, level {level}, {samples:,} samples, seed {seed}.
All runs are equal: every significant difference is a false one. Shares are of samples with a false decision on any
pair, by simultaneous ranks on any run, and of samples in which one given run, which is among the best, leaves
the confidence set of the best run or loses rank 1 of its own rank interval: the largest share of the runs. The
standard error near 0.05 is {error:.3f}. [Families](../compare.md#many-pairs) has the rules.

## Clusters

{runs} runs, whose differences are shared by the topics of a cluster, on clusters of two to four topics and one with three
times as many topics as there are clusters. *By t*: `compare_runs(test="t")`.
"""

TOPICS_TEXT = """
## Topics

Three runs, on topics of which each has one winner, drawn at random, with score 1; the others score 0.
"""


class Shares(NamedTuple):
    """Shares of samples with a false decision."""

    pairs: float
    ranks: float
    best: float
    own: float
    by_t: float


def main() -> None:
    """Write the page; end with an error where a share is too high."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="not used: all samples are simulated")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    given = parser.parse_args()
    error = float(np.sqrt((1 - LEVEL) * LEVEL / given.samples))
    groups = {str(number): simulate(clustered(number), given.samples) for number in GROUPS}
    topics = {str(number): simulate(winners(number), given.samples) for number in TOPICS}
    text = INTRODUCTION.strip().format(
        level=LEVEL, samples=given.samples, seed=SEED, error=error, runs=RUNS
    )
    text += "\n\n" + to_markdown(table("clusters", groups, by_t=True))
    text += "\n\n" + TOPICS_TEXT.strip() + "\n\n" + to_markdown(table("topics", topics))
    write_whole(given.output / "few-units.md", (text.rstrip() + "\n").encode())
    most = 1 - LEVEL + ERRORS * error
    wrong = [
        f"{kind} {number}: {name} {share:.3f}"
        for kind, found in (("clusters", groups), ("topics", topics))
        for number, shares in found.items()
        for name, share in shares._replace(by_t=0.0)._asdict().items()
        if share > most
    ]
    if wrong:
        sys.exit("more false decisions than α allows: " + "; ".join(wrong))


def clustered(groups: int) -> Callable[[np.random.Generator], Scores]:
    """Return what draws scores on clusters of uneven sizes."""

    def draw(rng: np.random.Generator) -> Scores:
        sizes = np.append(rng.integers(2, 5, groups - 1), 3 * groups)
        cluster = np.repeat(np.arange(groups), sizes)
        shared = rng.normal(0.0, BETWEEN, (groups, RUNS))[cluster]
        scores = named(0.5 + shared + rng.normal(0.0, WITHIN, (len(cluster), RUNS)))
        return scores.with_design({"topic": scores.topics, "cluster": [f"c{c}" for c in cluster]})

    return draw


def winners(topics: int) -> Callable[[np.random.Generator], Scores]:
    """Return what draws scores of three runs of which one wins each topic."""

    def draw(rng: np.random.Generator) -> Scores:
        return named(np.eye(3)[rng.integers(0, 3, topics)])

    return draw


def named(values: Floats) -> Scores:
    """Return scores, topics × runs, by one measure."""
    topics, runs = (
        tuple(f"{kind}{n:02}" for n in range(size))
        for kind, size in zip("tr", values.shape, strict=True)
    )
    return Scores(topics, runs, ("score",), values[:, :, None])


def simulate(draw: Callable[[np.random.Generator], Scores], samples: int) -> Shares:
    """Return the shares of samples with false decisions."""
    rng = np.random.default_rng(SEED)
    found = [list(decisions(draw(rng))) for _ in range(samples)]
    pairs, ranks, best, own, by_t = (np.array(part) for part in zip(*found, strict=True))
    in_set, own_ranks = (float(part.mean(axis=0).max()) for part in (best, own))
    return Shares(float(pairs.mean()), float(ranks.mean()), in_set, own_ranks, float(by_t.mean()))


def decisions(scores: Scores) -> Iterator[Floats]:
    """Yield false decisions: on pairs, on simultaneous ranks, of each run's set and own rank, and by t."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)
        compared = compare_runs(scores, replicates=REPLICATES)
        ranking = rank_runs(scores, replicates=REPLICATES)
        best = find_best(scores, replicates=REPLICATES)
        by_t = compared
        if compared.by_flips:
            by_t = compare_runs(scores, test="t", replicates=REPLICATES)
    yield np.array(is_any(compared.verdict))
    yield np.array((ranking.simultaneous_low > 1).any(), float)
    yield np.array(~best.in_set[:, 0], float)
    yield np.array(ranking.low[:, 0] > 1, float)
    yield np.array(is_any(by_t.verdict))


def is_any(verdict: np.ndarray) -> float:
    """Return 1 if any difference is significant, else 0."""
    return float(np.isin(verdict, ["better", "worse"]).any())


def table(kind: str, found: dict[str, Shares], *, by_t: bool = False) -> Table:
    """Return the shares, one row for each number of units."""
    names = ("any pair", "any simultaneous rank", "best set", "own rank", "any pair by t")
    kept = len(names) if by_t else len(names) - 1
    rows = tuple(
        (Cell(number), *(Cell(f"{share:.3f}") for share in shares[:kept]))
        for number, shares in found.items()
    )
    return Table((kind, *names[:kept]), rows)


if __name__ == "__main__":
    main()
