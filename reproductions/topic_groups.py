"""Error rate of the test that a difference is the same in all groups of topics.

    python reproductions/topic_groups.py [--samples 1500]

Prints how often the permutation test and Welch's own p-value reject equal mean differences at α = .05,
by the distribution of the differences and the sizes and spreads of the groups.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from confir.data.files import write_whole
from confir.studies.topic_groups.heterogeneity import check_groups

ALPHA, PERMUTATIONS, SEED = 0.05, 199, 1
LAYOUTS: tuple[tuple[tuple[int, ...], tuple[float, ...]], ...] = (
    ((5, 5, 5), (1, 1, 1)),
    ((5,) * 10, (1,) * 10),
    ((6, 10, 30), (1, 1, 1)),
    ((8, 8), (1, 4)),
    ((20, 20), (1, 4)),
    ((6, 10, 30), (3, 1, 0.5)),
)


def draw(shape: str, size: tuple[int, int], rng: np.random.Generator) -> Any:
    """Return differences with mean 0."""
    if shape == "normal":
        return rng.standard_normal(size)
    if shape == "exponential":
        return rng.standard_exponential(size) - 1.0
    if shape == "Laplace":
        return rng.laplace(size=size)
    return (rng.random(size) < 0.3) * rng.standard_normal(size)


def main() -> None:
    """Print one row per distribution and layout."""
    from scipy.stats import f

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1500)
    parser.add_argument("--output", type=Path, help="folder for the page")
    parser.add_argument("--data", type=Path, help="not used: everything is simulated")
    given = parser.parse_args()
    samples = given.samples
    lines = [
        "# Groups of topics: Type I error of the test of equal differences\n",
        f"Shares of {samples} samples in which equal mean differences are rejected at α = .05, by",
        f"{PERMUTATIONS} permutations and by Welch's own p-value (`reproductions/topic_groups.py`).\n",
        "| differences | topics of the groups | their sd | permutation | Welch |",
        "|---|---|---|---|---|",
    ]
    for shape in ("normal", "Laplace", "exponential", "sparse"):
        for sizes, spread in LAYOUTS:
            rng = np.random.default_rng(SEED)
            groups = np.repeat(np.arange(len(sizes)), sizes)
            values = draw(shape, (len(groups), samples), rng) * np.repeat(spread, sizes)[:, None]
            found = check_groups(values, groups, PERMUTATIONS, SEED)
            known = ~np.isnan(found.p)
            welch = np.asarray(f.sf(found.f, found.df_groups, found.df_error))[known]
            rates = [float(np.mean(p <= ALPHA)) for p in (found.p[known], welch)]
            shown = " | ".join(f"{rate:.3f}" for rate in rates)
            lines.append(f"| {shape} | {sizes} | {spread} | {shown} |")

    text = "\n".join(lines) + "\n"
    print(text)
    if given.output is not None:
        write_whole(given.output / "topic-groups.md", text.encode())


if __name__ == "__main__":
    main()
