"""Adversarial search for jumps of the limits of `calibrated-beta` under small changes of a score.

    python hardening/jumps.py --seconds 600 --seed 7

Samples of many kinds are drawn: nearly equal scores, zeros and a few small scores, zeros and ones,
scores at 0 and 1, means near 0 and 1. One score of each is moved along a line, and the step in which
a limit changes fastest is divided again and again, down to a move of 1e-6. The program ends with an
error if such a move changes a limit by more than 1e-3.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import NamedTuple

import numpy as np

from confir.arrays import Floats
from confir.intervals.beta_intervals import calibrated_beta_interval
from confir.resampling.kinds import as_topic_sample

FEWEST, MOST_TOPICS = 2, 50
LOWEST, HIGHEST = 0.5, 0.999
MOVE, MOST = 1e-6, 1e-3
LINES = 40
# Moves that are kept, near which half of the search goes on.
KEPT = 20
# Places on a line: even, and close to either end.
_EVEN, _CLOSE = np.linspace(0.0, 1.0, 21), np.geomspace(1e-6, 0.03, 12)
PLACES = np.unique(np.concatenate([_EVEN, _CLOSE, 1.0 - _CLOSE]))
PARTS = 16


class Jump(NamedTuple):
    """By how much a limit changes where one score of a sample moves by at most MOVE."""

    change: float
    level: float
    before: Floats
    after: Floats


def main() -> None:
    """Search until the time is over; print the worst moves, and end with an error if one is too bad."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--topics", type=int, nargs=2, default=(FEWEST, MOST_TOPICS))
    options = parser.parse_args()
    fewest, most = options.topics
    rng = np.random.default_rng(options.seed)
    started, searches = time.monotonic(), 0
    worst: list[Jump] = []
    while time.monotonic() - started < options.seconds:
        topics, level = draw_size(fewest, most, rng), draw_level(rng)
        sample = draw_samples(topics, LINES, rng)
        if worst and rng.random() < 0.5:
            near = worst[int(rng.integers(len(worst)))]
            sample, level = vary(near, LINES, rng)
        worst.append(search(sample, level, rng))
        worst.sort(key=lambda jump: -jump.change)
        del worst[KEPT:]
        searches += 1
    print(f"{searches * LINES} lines, seed {options.seed}; greatest changes of a limit:")
    for jump in worst:
        print(describe(jump))
    if worst[0].change > MOST:
        sys.exit(f"a move of {MOVE:g} changes a limit by more than {MOST:g}")


def draw_size(fewest: int, most: int, rng: np.random.Generator) -> int:
    """Return a number of topics: few ones as often as many."""
    return round(float(np.exp(rng.uniform(np.log(fewest), np.log(most)))))


def draw_level(rng: np.random.Generator) -> float:
    """Return a level: errors of all sizes are equally frequent."""
    return 1.0 - float(np.exp(rng.uniform(np.log(1.0 - HIGHEST), np.log(1.0 - LOWEST))))


def vary(jump: Jump, columns: int, rng: np.random.Generator) -> tuple[Floats, float]:
    """Return samples near that of a jump, and a level near its own."""
    sample = np.repeat(jump.before[:, None], columns, axis=1)
    factor = np.exp(rng.normal(0.0, 0.3, sample.shape) * rng.integers(0, 2, columns))
    low = sample.mean(axis=0) < 0.5
    sample = np.clip(np.where(low, sample * factor, 1.0 - (1.0 - sample) * factor), 0.0, 1.0)
    error = (1.0 - jump.level) * float(np.exp(rng.normal(0.0, 0.2)))
    return sample, 1.0 - float(np.clip(error, 1.0 - HIGHEST, 1.0 - LOWEST))


def describe(jump: Jump) -> str:
    """Return a line that says which score moves, and by how much a limit changes."""
    values, counts = np.unique(jump.before, return_counts=True)
    scores = ", ".join(
        f"{count} × {value:.9g}" for value, count in zip(values, counts, strict=True)
    )
    place = int(np.argmax(np.abs(jump.after - jump.before)))
    return (
        f"{jump.change:.2e}: n = {len(jump.before)}, level {jump.level:g}, "
        f"{jump.before[place]:.9g} → {jump.after[place]:.9g} in {scores[:300]}"
    )


def search(sample: Floats, level: float, rng: np.random.Generator) -> Jump:
    """Return the worst move that is found on a line from each sample."""
    topics, lines = sample.shape
    columns = np.arange(lines)
    moved = np.where(rng.random(lines) < 0.3, sample.argmax(axis=0), rng.integers(0, topics, lines))
    start = sample[moved, columns]
    low, high = start, _targets(sample, rng)
    shares = PLACES
    for _ in range(8):
        values = low + shares[:, None] * (high - low)
        limits = _limits(sample, moved, values, level)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.abs(np.diff(limits, axis=1)).max(axis=0) / np.maximum(
                np.abs(np.diff(values, axis=0)), 1e-9
            )
        fastest = np.nan_to_num(rate).argmax(axis=0)
        low, high = values[fastest, columns], values[fastest + 1, columns]
        if np.abs(high - low).max() <= MOVE:
            break
        shares = np.linspace(0.0, 1.0, PARTS + 1)
    middle = (low + high) / 2.0
    ends = np.clip(np.stack([middle - MOVE / 2.0, middle + MOVE / 2.0]), 0.0, 1.0)
    change = np.abs(np.diff(_limits(sample, moved, ends, level), axis=1)).max(axis=(0, 1))
    worst = int(np.nan_to_num(change).argmax())
    pair = np.repeat(sample[:, [worst]], 2, axis=1)
    pair[moved[worst]] = ends[:, worst]
    return Jump(float(change[worst]), level, pair[:, 0], pair[:, 1])


def limits_of(samples: Floats, level: float) -> Floats:
    """Return lower and upper limits: 2 × columns."""
    distribution = as_topic_sample(samples).distribution(slice(None), None, ("se",))
    return np.stack(calibrated_beta_interval(distribution, level))


def _limits(sample: Floats, moved: Floats, values: Floats, level: float) -> Floats:
    """Return the limits where the moved score of each column has these values: 2 × values × columns."""
    number, columns = values.shape
    wide = np.tile(sample, number)
    wide[np.tile(moved, number), np.arange(number * columns)] = values.reshape(-1)
    return limits_of(wide, level).reshape(2, number, columns)


def _targets(sample: Floats, rng: np.random.Generator) -> Floats:
    """Return where the score of each column moves to: anywhere, close to 0, another score, 0 or 1."""
    topics, columns = sample.shape
    choices = np.stack(
        [
            rng.random(columns),
            10.0 ** rng.uniform(-6.0, 0.0, columns),
            sample[rng.integers(0, topics, columns), np.arange(columns)],
            sample.mean(axis=0),
            np.zeros(columns),
            np.ones(columns),
        ]
    )
    return choices[rng.integers(0, len(choices), columns), np.arange(columns)]


def draw_samples(topics: int, columns: int, rng: np.random.Generator) -> Floats:
    """Return samples of many kinds, half of them mirrored: topics × columns."""
    place = np.arange(topics)[:, None]
    size = 10.0 ** rng.uniform(-5.0, 0.0, columns)
    centre = rng.random(columns)
    few = rng.integers(1, min(topics, 5) + 1, columns)
    share = rng.integers(0, topics + 1, columns)
    noise = rng.random((topics, columns))
    first, second = np.exp(rng.uniform(-4.0, 3.0, (2, columns)))
    kinds = np.stack(
        [
            rng.beta(first, second, (topics, columns)),
            np.where(place < few, size * noise, 0.0),
            np.where(place < 1, size, 0.0) + np.zeros((topics, 1)),
            np.where(place < 1, size, size * rng.random(columns) * noise.round()),
            np.clip(centre + size * (noise - centre), 0.0, 1.0),
            np.where(place < share, centre, rng.random(columns)) + np.zeros((topics, 1)),
            np.where(place < share, 1.0, 0.0) + np.zeros((topics, 1)),
            np.where(place < 1, rng.random(columns), np.where(place < share, 1.0, 0.0)),
            np.where(place < 1, rng.random(columns), centre * size) + np.zeros((topics, 1)),
            10.0 ** rng.uniform(-6.0, 0.0, (topics, columns)),
            rng.binomial(10, centre, (topics, columns)) / 10.0,
        ]
    )
    chosen = kinds[rng.integers(0, len(kinds), columns), :, np.arange(columns)].T
    return np.where(rng.random(columns) < 0.5, chosen, 1.0 - chosen)


if __name__ == "__main__":
    main()
