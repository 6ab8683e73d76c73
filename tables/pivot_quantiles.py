"""Quantiles of the pivot of `calibrated-beta` over samples of beta distributions.

Writes the table that the package ships, `src/confir/intervals/pivot_quantiles.npz`, by simulation
from a fixed seed. It takes some minutes of processor time.

    python tables/pivot_quantiles.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from confir.arrays import Floats
from confir.intervals.pivot import STEPS, TABLE, compress, pivot_of_moments

SEED = 2026
SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 35, 50, 75, 100, 150, 250)
# Of each tail. The smallest one belongs to the highest level supported.
TAILS = (
    *(0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.075, 0.05),
    *(0.035, 0.025, 0.015, 0.01, 0.005, 0.0025, 0.001, 0.0005),
)
# Logits of means from ½ on; those below mirror them.
LOGITS = (*np.arange(0.0, 4.1, 0.4).round(1), 4.5, 5.0, 5.6, 6.3, 7.0, 8.0, 9.0, 10.0)
# The last one is that of zeros and ones, whose quantiles need no simulation.
DISPERSIONS = (0.001, 0.003, 0.01, 0.03, 0.06, 0.1, 0.17, 0.27, 0.4, 0.55, 0.7, 0.83, 0.93, 1.0)
# Of up to FEW topics; of more, as many scores are drawn in all. Where U and its quantiles are nearly
# parallel in the mean, as for few topics of which one alone scores, a limit moves by .03 with quantiles
# from 20,000 samples.
SAMPLES, FEW = 500_000, 25
# A probability below all tails, of which there is a normal quantile.
_NEVER = 1e-300
# Scores that represent a distribution: its quantiles at equally spaced probabilities.
POOL = 2**17
# Scores that are worked on together: few enough for the processor's cache.
_TOGETHER = 2**18


def main() -> None:
    """Simulate all grid points and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples of few topics")
    parser.add_argument("--output", type=Path, default=TABLE)
    options = parser.parse_args()
    started = time.monotonic()
    logits, upper = simulate_table(options.samples)
    np.savez(  # not compressed: every interval by default reads it
        options.output,
        sizes=np.array(SIZES),
        logits=logits,
        dispersions=np.array(DISPERSIONS),
        tails=np.array(TAILS),
        quantiles=np.rint(upper * STEPS).astype(np.int16),
    )
    size = options.output.stat().st_size / 1000
    print(f"{options.output}: {size:.0f} kB, {time.monotonic() - started:.0f} seconds")


def simulate_table(samples: int) -> tuple[Floats, Floats]:
    """Return the logits of means, and upper quantiles: sizes × logits × dispersions × tails.

    A lower quantile is the negative of the upper one at the mirrored mean.
    """
    shape = (len(SIZES), len(LOGITS), len(DISPERSIONS), len(TAILS))
    lower, upper = np.empty((2, *shape))
    for m, logit in enumerate(LOGITS):
        for d, dispersion in enumerate(DISPERSIONS):
            scores = beta_quantiles(-logit, dispersion) if dispersion < 1.0 else None
            for n, size in enumerate(SIZES):
                if scores is None:
                    found = binary_quantiles(-logit, size)
                else:
                    # The same draws for all means and dispersions: chance bends no quantile.
                    rng = np.random.default_rng([SEED, size])
                    number = samples_of(size, samples)
                    found = tail_quantiles(simulate_pivots(scores, size, number, rng))
                lower[n, m, d], upper[n, m, d] = found
    # simulated were means of ½ and below
    half = (upper[:, :1] - lower[:, :1]) / 2.0
    mirrored = np.concatenate([upper[:, :0:-1], half, -lower[:, 1:]], axis=1)
    logits = np.array([*(-x for x in LOGITS[:0:-1]), *LOGITS], np.float64)
    return logits, mirrored


def samples_of(size: int, samples: int = SAMPLES) -> int:
    """Return how many samples of a size are drawn, if so many are of few topics."""
    return round(samples * min(1.0, FEW / size))


def beta_quantiles(logit: float, dispersion: float) -> Floats:
    """Return the scores that represent the beta distribution of a mean and dispersion."""
    from scipy.special import betaincinv

    mean, size = 1.0 / (1.0 + np.exp(-logit)), 1.0 / dispersion - 1.0
    steps = (np.arange(POOL) + 0.5) / POOL
    scores: Floats = betaincinv(mean * size, (1.0 - mean) * size, steps)
    return scores


def simulate_pivots(scores: Floats, size: int, samples: int, rng: np.random.Generator) -> Floats:
    """Return the compressed pivots, at the true mean, of samples drawn from scores."""
    parts = []
    truth = scores.mean()
    together = max(1, _TOGETHER // size)
    for start in range(0, samples, together):
        shape = (size, min(together, samples - start))
        sample = scores[rng.integers(0, len(scores), shape, dtype=np.int32)]
        mean = sample.mean(axis=0)
        deviations = sample - mean
        squares = np.square(deviations)
        variance = squares.sum(axis=0) / (size - 1)
        third = np.einsum("ij,ij->j", squares, deviations) / size
        parts.append(compress(pivot_of_moments(size, mean, variance, third, truth)))
    return np.concatenate(parts)


def binary_quantiles(logit: float, size: int) -> tuple[Floats, Floats]:
    """Return lower and upper quantiles for samples of zeros and ones, which have few values.

    Samples with k ones stand where the tail is the probability of more than k, and half of that of
    k (mid-p; Lancaster 1961). Between them the tail's normal quantile is interpolated.
    """
    from scipy.special import ndtri
    from scipy.stats import binom

    mean = 1.0 / (1.0 + np.exp(-logit))
    ones = np.arange(size + 1)
    share = ones / size
    variance = share * (1.0 - share) * size / (size - 1)
    third = share * (1.0 - share) * (1.0 - 2.0 * share)
    values = _ascending(
        compress(pivot_of_moments(size, share, variance, third, mean)), round(size * mean)
    )
    above = binom.sf(ones, size, mean) + binom.pmf(ones, size, mean) / 2.0
    below = binom.cdf(ones, size, mean) - binom.pmf(ones, size, mean) / 2.0
    return (
        np.interp(ndtri(TAILS), ndtri(np.maximum(below, _NEVER)), values),
        np.interp(ndtri(TAILS), ndtri(np.maximum(above, _NEVER))[::-1], values[::-1]),
    )


def _ascending(values: Floats, middle: int) -> Floats:
    """Return the pivots of 0 to n ones, in ascending order on each side of the middle.

    Far out, where hardly a sample lies, few ones may have a pivot nearer to 0 than more ones have.
    Equal scores continue the others here, for their own limits are not from the table.
    """
    ordered = values.copy()
    if len(values) > 3:
        ordered[0], ordered[-1] = 2 * values[1] - values[2], 2 * values[-2] - values[-3]
    ordered[middle:] = np.maximum.accumulate(ordered[middle:])
    ordered[: middle + 1] = np.minimum.accumulate(ordered[middle::-1])[::-1]
    return np.clip(ordered, -1.0, 1.0)


def tail_quantiles(values: Floats) -> tuple[Floats, Floats]:
    """Return lower and upper quantiles of all tails."""
    tails = np.array(TAILS)
    lower, upper = np.quantile(values, [tails, 1.0 - tails])
    return lower, upper


if __name__ == "__main__":
    main()
