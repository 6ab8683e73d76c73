"""Limits of many columns, block by block, by the method of each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from confir.arguments import as_generator
from confir.arrays import Floats, Integers
from confir.intervals.interval import Interval, Limits
from confir.intervals.method import Method
from confir.parallel import run_blocks, run_in_threads
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.sample import Sample
from confir.resampling.topic_bootstrap import Rng, own_seed
from confir.resampling.topic_weights import DrawnWeights

# Columns resampled together: few enough for the processor's cache, fixed so that the number of
# threads changes no bit of the result.
_BLOCK = 64

# The same where limits have a closed form, so that there are no replicates to keep there.
_CLOSED_BLOCK = 1024

# What intervals are wanted of: columns yet to be resampled, or resampled already.
Source = Sample | SamplingDistribution

# The method of each column.
Choice = tuple[Method, ...]


def find_intervals(
    source: Source, choices: Sequence[Choice], levels: Sequence[float], replicates: int, rng: Rng
) -> list[Interval]:
    """Return an interval for each choice of methods and level, in that order.

    Columns that are resampled here share the replicates.
    """
    if isinstance(source, SamplingDistribution):
        shape: tuple[int, ...] = (len(source.labels),)
        words = ""
        blocks = [_limits(source, choices, levels)]
        drawn = 0 if source.replicates is None else len(source.replicates)
    else:
        shape, drawn = source.shape, source.replicates_drawn or replicates
        words = source.design_words
        blocks = _resample(source, choices, levels, replicates, rng)
    # Over documents a standard error comes from replicates, too.
    always = source.over == "documents"
    known = [block.effective for block in blocks if block.effective is not None]
    effective = np.concatenate(known).reshape(shape) if known else None
    return [
        Interval(
            labels=source.labels,
            estimate=np.concatenate([block.estimate for block in blocks]).reshape(shape),
            low=np.concatenate([block.limits[place].low for block in blocks]).reshape(shape),
            high=np.concatenate([block.limits[place].high for block in blocks]).reshape(shape),
            topics=np.concatenate([block.topics for block in blocks]).reshape(shape),
            level=level,
            methods=tuple(method.name for method in choice),
            replicates=drawn if always or any(method.resamples for method in choice) else 0,
            effective=effective,
            design=words,
        )
        for place, (choice, level) in enumerate((c, v) for c in choices for v in levels)
    ]


class _Block(NamedTuple):
    """What is kept of a block of columns."""

    estimate: Floats
    topics: Integers
    limits: list[Limits]
    effective: Floats | None


def _resample(
    source: Sample, choices: Sequence[Choice], levels: Sequence[float], replicates: int, rng: Rng
) -> list[_Block]:
    """Return the limits of columns, block by block, whose topics are resampled here.

    Methods in closed form need no random numbers.
    """
    methods: set[Method] = set().union(*choices)
    closed = all(method.closed_form for method in methods)
    needs = {need for method in methods for need in method.needs}
    seed, drawn = 0, None
    if not closed:
        generator = as_generator(rng)
        seed = own_seed(generator)
        if any(method.resamples for method in methods):
            drawn = DrawnWeights(lambda own: source.draw(replicates, own, needs), generator)

    def task(columns: slice) -> _Block:
        block = source.distribution(columns, None if drawn is None else drawn.weights, needs)
        own = [choice[columns] for choice in choices]
        return _limits(replace(block, seed=seed, draws=replicates), own, levels)

    size = _CLOSED_BLOCK if closed else _BLOCK
    blocks = [slice(start, start + size) for start in range(0, source.columns, size)]
    return run_in_threads(task, blocks) if source.threaded else run_blocks(task, blocks)


def _limits(
    distribution: SamplingDistribution, choices: Sequence[Choice], levels: Sequence[float]
) -> _Block:
    """Return the limits of a block of columns by each choice and level.

    Equal scores have none unless the method has them: they say little about other topics. A score
    that no other collection changes is certain.
    """
    limits = []
    for choice in choices:
        for level in levels:
            low, high = np.full((2, len(choice)), np.nan)
            for method in dict.fromkeys(choice):
                chosen = np.array([one is method for one in choice])
                if not (method.any_sample or distribution.over == "documents"):
                    chosen &= ~distribution.degenerate
                lower, upper = method.compute(distribution, level)
                low, high = np.where(chosen, lower, low), np.where(chosen, upper, high)
            limits.append(Limits(low, high))
    return _Block(distribution.estimate, distribution.count, limits, distribution.effective)
