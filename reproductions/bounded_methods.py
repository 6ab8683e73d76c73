"""What do the methods with guaranteed coverage cost? Coverage and width of betting and gaffke.

Scores with known mean are simulated; every sample is a column. A sample without an interval counts
as a miss.

    python reproductions/bounded_methods.py --output docs/reproductions
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from confir.data.files import write_whole
from confir.errors import DegenerateSampleWarning
from confir.intervals.confidence_intervals import confidence_interval

SEED = 2023
LEVEL = 0.95
METHODS = ("betting", "gaffke", "t", "logit-t", "bootstrap-t-logit", "hall-logit")
SIZES = (5, 10, 25, 50, 100)
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
POPULATIONS: dict[str, tuple[Draw, float]] = {
    "Bernoulli .02": (lambda rng, shape: (rng.random(shape) < 0.02).astype(float), 0.02),
    "Bernoulli .1": (lambda rng, shape: (rng.random(shape) < 0.1).astype(float), 0.1),
    "Bernoulli .5": (lambda rng, shape: (rng.random(shape) < 0.5).astype(float), 0.5),
    "Beta(.3, 2)": (lambda rng, shape: rng.beta(0.3, 2, shape), 0.3 / 2.3),
    "Beta(2, 2)": (lambda rng, shape: rng.beta(2, 2, shape), 0.5),
    "60% zero, else Beta(1, 3)": (
        lambda rng, shape: (rng.random(shape) < 0.4) * rng.beta(1, 3, shape),
        0.1,
    ),
}


def measure(draw: Draw, truth: float, topics: int, samples: int) -> list[str]:
    """Return coverage and mean width of each method as the cells of a row."""
    rng = np.random.default_rng([SEED, topics])
    scores = draw(rng, (topics, samples))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateSampleWarning)
        intervals = confidence_interval(
            scores, level=LEVEL, method=METHODS, replicates=999, rng=SEED
        )
    return [
        f"{np.mean((i.low <= truth) & (truth <= i.high)):.3f} / {np.nanmean(i.high - i.low):.3f}"
        for i in intervals
    ]


def main() -> None:
    """Simulate, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="not needed: everything is simulated")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--samples", type=int, default=4_000)
    options = parser.parse_args()
    error = np.sqrt(LEVEL * (1 - LEVEL) / options.samples)
    about = (
        "Made by `python reproductions/bounded_methods.py --output docs/reproductions`: share of "
        f"{100 * LEVEL:g}% intervals that contain the true mean / mean width, {options.samples} "
        f"samples a row (Monte Carlo error of a share of .95: {error:.4f}); a sample without an "
        "interval counts as a miss."
    )
    lines = [
        "# Coverage and width of the bounded methods",
        "",
        about,
        "",
        "| scores | topics | " + " | ".join(METHODS) + " |",
        "|---|---:|" + "---:|" * len(METHODS),
    ]
    for name, (draw, truth) in POPULATIONS.items():
        for topics in SIZES:
            cells = measure(draw, truth, topics, options.samples)
            lines.append(f"| {name} | {topics} | " + " | ".join(cells) + " |")
    text = "\n".join(lines) + "\n"
    print(text)
    if options.output is not None:
        write_whole(options.output / "bounded-methods.md", text.encode())


if __name__ == "__main__":
    main()
