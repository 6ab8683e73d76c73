"""How often runs are wrongly called dominated, or wrongly put on the frontier of quality and cost.

python reproductions/tradeoff.py [--samples 500]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

import confir
from confir.data.files import write_whole
from confir.data.scores import Scores
from confir.data.tables.cost_files import Cost
from confir.errors import ConfirWarning

RUNS, REPLICATES = tuple("abcde"), 199


class Truth(NamedTuple):
    """True means and costs of five runs, and which of them are dominated and on the frontier."""

    name: str
    quality: tuple[float, ...]
    cost: tuple[float, ...]
    dominated: str
    frontier: str


TRUTHS = (
    Truth("two ties", (0.3, 0.42, 0.42, 0.38, 0.3), (1, 2, 2.5, 3, 1), "d", "b"),
    Truth("all tied", (0.4,) * 5, (2,) * 5, "", ""),
    Truth("tied in cost", (0.3, 0.6, 0.6, 0.6, 0.6), (2,) * 5, "", ""),
)


def main() -> None:
    """Print a row per truth and number of topics."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--output", type=Path, help="folder for the page")
    parser.add_argument("--data", type=Path, help="not used: everything is simulated")
    given = parser.parse_args()
    samples = given.samples
    warnings.simplefilter("ignore", ConfirWarning)
    lines = [
        "# Quality and cost: how often are runs wrongly called dominated, or wrongly on the frontier?\n",
        f"Shares of {samples} samples with a known frontier (`reproductions/tradeoff.py`).\n",
        "| runs | topics | wrongly dominated | wrongly on the frontier |",
        "|---|---|---|---|",
    ]
    for truth in TRUTHS:
        for topics in (25, 50):
            rng = np.random.default_rng(topics)
            names = tuple(f"t{place:02}" for place in range(topics))
            wrong = np.zeros(2)
            for _ in range(samples):
                base = rng.normal(0, 0.1, (topics, 1))
                scores = np.array(truth.quality) + base + rng.normal(0, 0.08, (topics, 5))
                costs = np.array(truth.cost) * rng.lognormal(-0.045, 0.3, (topics, 5))
                by_run: dict[str, dict[str | None, float]] = {
                    run: dict(zip(names, own.tolist(), strict=True))
                    for run, own in zip(RUNS, costs.T, strict=True)
                }
                found = confir.compare_costs(
                    Scores(names, RUNS, ("quality",), scores[:, :, None]),
                    [Cost("cost", by_run, "simulated costs")],
                    replicates=REPLICATES,
                    rng=1,
                )
                status = {one["run"]: one["status"] for one in found.to_records()}
                for place, (word, true) in enumerate(
                    (("dominated", truth.dominated), ("frontier", truth.frontier))
                ):
                    wrong[place] += any(
                        said == word and run not in true for run, said in status.items()
                    )
            shown = " | ".join(f"{rate:.3f}" for rate in wrong / samples)
            lines.append(f"| {truth.name} | {topics} | {shown} |")

    text = "\n".join(lines) + "\n"
    print(text)
    if given.output is not None:
        write_whole(given.output / "tradeoff.md", text.encode())


if __name__ == "__main__":
    main()
