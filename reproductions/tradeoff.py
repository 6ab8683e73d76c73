"""Error rates of the statuses of runs on quality and cost: wrongly dominated, wrongly on the frontier.

    python reproductions/tradeoff.py --output docs/reproductions

`--quick` takes a tenth of the samples, for a first look.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

import confir
from confir.data.files import write_whole
from confir.data.scores import Scores
from confir.data.tables.cost_files import Cost
from confir.errors import ConfirWarning

REPLICATES, SEED = 199, 2006
ERROR = 0.05
TOPICS = (25, 50, 100)
# A rate may be this many Monte Carlo errors above α before the script ends with an error.
ERRORS = 3.0
STATUSES = ("dominated", "frontier")


class Truth(NamedTuple):
    """True means and costs of runs a, b, …, and which of them are dominated and on the frontier."""

    name: str
    quality: tuple[float, ...]
    cost: tuple[float, ...]
    dominated: str = ""
    frontier: str = ""
    varying: bool = True  # whether costs vary by topic

    @property
    def samples(self) -> int:
        """Number of samples: more of two runs, which take less time."""
        return 2_000 if len(self.quality) == 2 else 1_000

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return tuple("abcdefghij"[: len(self.quality)])

    def draw(self, topics: int, rng: np.random.Generator) -> tuple[Scores, Cost]:
        """Return scores and costs of a sample of topics."""
        names = tuple(f"t{place:03}" for place in range(topics))
        size = (topics, len(self.quality))
        values = (
            np.array(self.quality) + rng.normal(0, 0.1, (topics, 1)) + rng.normal(0, 0.08, size)
        )
        scores = Scores(names, self.runs, ("quality",), values[:, :, None])
        if not self.varying:
            by_run: dict[str, dict[str | None, float]] = {
                run: {None: float(cost)} for run, cost in zip(self.runs, self.cost, strict=True)
            }
            return scores, Cost("cost", by_run, "simulated costs")
        spent = np.array(self.cost) * rng.lognormal(-0.045, 0.3, size)
        by_topic: dict[str, dict[str | None, float]] = {
            run: dict(zip(names, own.tolist(), strict=True))
            for run, own in zip(self.runs, spent.T, strict=True)
        }
        return scores, Cost("cost", by_topic, "simulated costs")


TRUTHS = (
    Truth("2 runs, tied in quality and in cost", (0.4,) * 2, (2,) * 2),
    Truth("2 runs, tied in quality, equal constant costs", (0.4,) * 2, (2,) * 2, varying=False),
    Truth("5 runs, tied in quality, equal constant costs", (0.4,) * 5, (2,) * 5, varying=False),
    Truth("5 runs, tied in quality, costs far apart", (0.4,) * 5, (1, 2, 4, 8, 16), frontier="a"),
    Truth("5 runs, two ties", (0.3, 0.42, 0.42, 0.38, 0.3), (1, 2, 2.5, 3, 1), "d", "b"),
    Truth("5 runs, all tied", (0.4,) * 5, (2,) * 5),
    Truth("5 runs, four of them tied", (0.3, 0.6, 0.6, 0.6, 0.6), (2,) * 5),
)


def rates(truth: Truth, number: int, topics: int, samples: int) -> list[float]:
    """Return the shares of samples in which any run is wrongly dominated, and on the frontier."""
    warnings.simplefilter("ignore", ConfirWarning)
    wrong = np.zeros(len(STATUSES))
    for sample in range(samples):
        rng = np.random.default_rng([SEED, number, topics, sample])
        scores, cost = truth.draw(topics, rng)
        found = confir.compare_costs(scores, [cost], replicates=REPLICATES, rng=sample)
        for place, word in enumerate(STATUSES):
            right = getattr(truth, word)
            wrong[place] += any(
                status == word and run not in right
                for run, status in zip(found.runs, found.status[0, :, 0], strict=True)
            )
    return (wrong / samples).tolist()


def _error(samples: int) -> float:
    return float(np.sqrt(ERROR * (1 - ERROR) / samples))


def page(rows: list[str]) -> str:
    """Return the page in Markdown."""
    lines = [
        "# Quality and cost: error rates of the statuses",
        "",
        (
            "Made by `python reproductions/tradeoff.py --output docs/reproductions`. Shares of "
            "the samples, with a known frontier, in which any run is wrongly called dominated or "
            f"on the frontier, α = {ERROR:g}; the Monte Carlo standard error of a share near α is "
            f"{_error(1_000):.3f} of 1,000 samples, and {_error(2_000):.3f} of 2,000."
        ),
        "",
        (
            "The error rates of both statuses are close to α if one wrong decision suffices: two "
            "runs that are tied in both, of which any significant difference puts one on the "
            "frontier; and equal costs, with which any significant difference in quality makes a "
            "run dominated. Otherwise a status needs several decisions, better *and* cheaper, or "
            "better or cheaper than *every* other run, and errors are rarer."
        ),
        "",
        "| truth | topics | samples | wrongly dominated | wrongly on the frontier |",
        "|---|---:|---:|---:|---:|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page; end with an error where a rate is too high."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="not used: everything is simulated")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    given = parser.parse_args()
    cases = [(truth, number, topics) for number, truth in enumerate(TRUTHS) for topics in TOPICS]
    rows, wrong = [], []
    samples = [case[0].samples // (10 if given.quick else 1) for case in cases]
    with ProcessPoolExecutor(given.jobs) as pool:
        measured = pool.map(rates, *zip(*cases, strict=True), samples)
        for (truth, _, topics), drawn, found in zip(cases, samples, measured, strict=True):
            most = ERROR + ERRORS * _error(drawn)
            shown = " | ".join(f"{share:.3f}" for share in found)
            rows.append(f"| {truth.name} | {topics} | {drawn:,} | {shown} |")
            wrong += [f"{rows[-1]}: expected {most:.3f} or less"] if max(found) > most else []
            print(rows[-1], flush=True)
    write_whole(given.output / "tradeoff.md", page(rows).encode())
    if wrong:
        sys.exit("; ".join(wrong))


if __name__ == "__main__":
    main()
