"""Would `calibrated-beta` err less if its p-values were mixed with those of a bootstrap?

The pivot U of a sample, taken at the true mean, is compared with its distribution over samples of
beta distributions (`calibrated-beta`), with that over resamples of the sample itself (bootstrap), and
with the mixture of both that gives the beta distributions the weight of 30 topics. Errors are counted
in samples of real scores, from the tables and runs of `default_method.py`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from default_method import CHOOSING, LEVELS, NEW, Population, _real_populations, _tables

from confir.arrays import Floats, Integers, logit
from confir.data.files import write_whole
from confir.errors import ConfirWarning
from confir.intervals.pivot import expand, pivot_of_moments, pivot_quantiles
from confir.parallel import run_in_threads
from confir.resampling.replicates import draw_topics

SIZES = (5, 10, 25, 50)
REPLICATES = 999
SEED = 2015
PRIOR_TOPICS = 30.0
METHODS = ("calibrated-beta", "bootstrap of its pivot", "mixture, 30 : n")


def main() -> None:
    """Measure the errors, write the page, and print it."""
    warnings.simplefilter("ignore", ConfirWarning)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="folder of the real data")
    parser.add_argument("--output", type=Path, default=Path("docs/reproductions"))
    parser.add_argument("--samples", type=int, default=400, help="samples of each population")
    options = parser.parse_args()
    started = time.monotonic()
    population, _ = _real_populations(list(_tables(options.data)))
    distances = {size: _distances(population, size, options.samples) for size in SIZES}
    page = _page(population, distances, options.samples)
    options.output.mkdir(parents=True, exist_ok=True)
    write_whole(options.output / "blended-pivot.md", page.encode())
    print(page)
    print(f"{time.monotonic() - started:.0f} seconds")


def _distances(population: Population, size: int, samples: int) -> Floats:
    """Return |error - nominal error| of each table: two-sided and tails × methods × tables."""
    rng = np.random.default_rng([SEED, size])
    weights = draw_topics(size, REPLICATES, rng).shares()
    drawn = rng.integers(0, len(population.values), (samples, size))
    columns = population.values.shape[1]
    parts = run_in_threads(
        lambda column: _p_values(population.values[:, column], drawn, weights), range(columns)
    )
    upper, lower = (np.stack(part, axis=1) for part in zip(*parts, strict=True))
    tables = len(population.collections)
    count = np.bincount(population.tables, minlength=tables)
    total = np.zeros((2, len(METHODS), tables))
    for level in LEVELS:
        tail = (1.0 - level) / 2.0
        misses = [(p <= tail).mean(axis=2) for p in (upper, lower)]  # methods × columns
        by_table = [
            np.stack([np.bincount(population.tables, row, tables) for row in one]) / count
            for one in misses
        ]
        total[0] += np.abs(by_table[0] + by_table[1] - 2.0 * tail)
        total[1] += (np.abs(by_table[0] - tail) + np.abs(by_table[1] - tail)) / 2.0
    return total / len(LEVELS)


def _p_values(scores: Floats, drawn: Integers, weights: Floats) -> tuple[Floats, Floats]:
    """Return p-values of the true mean from above and from below: methods × samples each."""
    truth, size = float(scores.mean()), drawn.shape[1]
    sample = scores[drawn].T  # topics × samples
    even = np.full((1, size), 1.0 / size)
    mean, variance, third = _moments(even, sample)
    u = pivot_of_moments(size, mean, variance, third, truth)[0]
    resampled = _moments(weights, sample)
    starred = pivot_of_moments(size, *resampled, mean[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        phi = np.nan_to_num(variance[0] / (mean[0] * (1.0 - mean[0])), nan=np.inf, posinf=np.inf)
    constant = variance[0] <= 1e-18
    phi = np.where(constant, 0.0, phi)
    found = []
    for turned in (1, -1):
        own = _beta_tail(size, logit(np.array(truth)) * turned, phi, turned * u)
        boot = (1.0 + (turned * starred >= turned * u).sum(axis=0)) / (len(weights) + 1.0)
        mixed = (PRIOR_TOPICS * own + size * boot) / (PRIOR_TOPICS + size)
        # equal scores have limits of their own, which all three share
        found.append(np.stack([np.where(constant, 1.0, p) for p in (own, boot, mixed)]))
    return found[0], found[1]


def _moments(weights: Floats, sample: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, variance (ddof 1) and third central moment: replicates × samples each."""
    size = sample.shape[0]
    centre = sample.mean(axis=0)
    apart = sample - centre
    first = weights @ apart
    second = weights @ np.square(apart) - first**2
    third = weights @ apart**3 - 3.0 * first * (second + first**2) + 2.0 * first**3
    second = np.maximum(second, 0.0)
    return centre + first, second * size / (size - 1.0), third


def _beta_tail(size: int, place: Floats, phi: Floats, u: Floats) -> Floats:
    """Return the share of samples of beta distributions whose pivot is as large: from the table."""
    table = pivot_quantiles()
    count = np.full(len(phi), size)
    quantiles = []
    for tail in table.tails.tolist():
        rows = table.rows(count, phi, tail)
        right = int(np.clip(np.searchsorted(table.logits, place), 1, len(table.logits) - 1))
        left_logit, right_logit = table.logits[right - 1], table.logits[right]
        share = np.clip((place - left_logit) / (right_logit - left_logit), 0.0, 1.0)
        quantiles.append(expand((1.0 - share) * rows[:, right - 1] + share * rows[:, right]))
    ordered = np.stack(quantiles)  # tails × samples, ascending as the tails descend
    right = np.clip((u >= ordered).sum(axis=0), 1, len(ordered) - 1)
    columns = np.arange(len(phi))
    low, high = ordered[right - 1, columns], ordered[right, columns]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.clip(np.nan_to_num((u - low) / (high - low)), 0.0, 1.0)
    tail = (1.0 - share) * table.tails[right - 1] + share * table.tails[right]
    return np.where(u < ordered[0], 1.0, tail)


def _page(population: Population, distances: dict[int, Floats], samples: int) -> str:
    names = np.array(population.collections)
    parts = {
        "choosing": np.isin(names, CHOOSING),
        "confirming": ~np.isin(names, CHOOSING) & ~np.isin(names, NEW),
        "new": np.isin(names, NEW),
    }
    lines = [
        "# A mixture of calibrated quantiles and a bootstrap",
        "",
        "Written by `reproductions/blended_pivot.py`.",
        "",
        f"{(__doc__ or '').strip().partition(chr(10) * 2)[2]}",
        "",
        f"{samples} samples of each run, {REPLICATES} resamples, six levels from 0.5 to 0.99. Distance",
        "|error - nominal error| in thousandths, averaged over a table's runs first, two-sided / mean",
        "of the tails. Samples of equal scores count as covered.",
    ]
    for part, chosen in parts.items():
        lines += ["", f"{part.capitalize()} ({int(chosen.sum())} tables):", ""]
        lines.append("| p-value | " + " | ".join(f"n = {size}" for size in SIZES) + " |")
        lines.append("|---|" + "---:|" * len(SIZES))
        for m, name in enumerate(METHODS):
            cells = [
                " / ".join(
                    f"{1000 * distances[size][kind, m, chosen].mean():.1f}" for kind in (0, 1)
                )
                for size in SIZES
            ]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
