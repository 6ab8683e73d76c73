"""Intervals that miss the mean, counted in three ways with equal results.

By moments where limits have a closed form, by compiled code that keeps no replicates, or by arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.intervals.count_kernels import CountKernels, compile_kernels
from confir.intervals.interval import ABOVE, BELOW, INSIDE, UNDEFINED, tie_distance
from confir.intervals.method import Method
from confir.intervals.probe import CountedProbe, Probe
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.topic_sample import TopicSample
from confir.stored_results import Arrays

Sampling = Literal["with", "without"]

# Replicates of all columns resampled together: fixed, so results do not depend on the machine.
_BLOCK = 1 << 18

# The same where replicates are counted and not kept, which stay in the processor's cache; and
# scores of samples that are processed side by side.
_COUNTED_BLOCK = 1 << 17
_SIDE_BY_SIDE = 1 << 20

# From this many replicates of all columns and samples on, loading compiled code pays off.
_WORTH_COMPILING = 50_000_000


@dataclass(frozen=True, slots=True, eq=False)
class MissCounter:
    """Counts the misses of samples from a population: what all tasks share."""

    population: TopicSample
    truth: Floats
    methods: Sequence[Method]
    levels: tuple[float, ...]
    size: int
    replicates: int
    sampling: Sampling
    widths: bool
    counted: bool
    closed: bool

    def run(self, task: tuple[int, np.random.SeedSequence, np.random.SeedSequence]) -> Arrays:
        """Return the number of misses of some samples."""
        samples, of_samples, of_replicates = task
        outer, inner = np.random.default_rng(of_samples), np.random.default_rng(of_replicates)
        shape = (len(self.methods), len(self.levels), len(self.population.labels))
        result: Arrays = {
            **{name: np.zeros(shape, np.int64) for name in ("below", "above", "undefined")},
            **{name: np.zeros(shape[:2], np.int64) for name in ("missed", "missed_squared")},
            "width": np.zeros(shape),
            "deviation": np.zeros(shape[2]),
            "estimates": np.zeros(shape[2], np.int64),
        }
        kernels = compile_kernels() if self.counted else None
        side_by_side = self.closed or kernels is not None
        size = self.size * len(self.population.labels)
        together = max(1, _SIDE_BY_SIDE // size) if side_by_side else 1
        for start in range(0, samples, together):
            number = min(together, samples - start)
            if self.closed:
                topics = np.array([self._draw(outer) for _ in range(number)])
                means = self.population.drawn_often(topics).distribution(slice(None), None, ("se",))
                probe = Probe(means, np.tile(self.truth, number))
                missed = self._count(probe, slice(0, len(self.population.labels)), result)
            elif kernels is not None:
                missed = self._by_counting(number, outer, inner, kernels, result)
            else:
                missed = self._by_arrays(outer, inner, result)
            result["missed"] += missed.sum(axis=-1)
            result["missed_squared"] += np.square(missed).sum(axis=-1)
        return result

    def _by_arrays(
        self, outer: np.random.Generator, inner: np.random.Generator, result: Arrays
    ) -> Integers:
        """Add the misses of one sample; return how many columns: methods × levels × 1."""
        needs = {need for method in self.methods for need in method.needs}
        sample = self.population.sampled_again(self._draw, outer)
        own_seed = int(inner.integers(2**63))
        weights = sample.draw(self.replicates, inner) if "replicates" in needs else None
        missed = np.zeros((len(self.methods), len(self.levels), 1), np.int64)
        for block in _blocks(len(self.population.labels), max(1, _BLOCK // self.replicates)):
            distribution = replace(
                sample.distribution(block, weights, needs), seed=own_seed, draws=self.replicates
            )
            probe = Probe(distribution, self.truth[block])
            missed += self._count(probe, block, result)
        return missed

    def _by_counting(
        self,
        samples: int,
        outer: np.random.Generator,
        inner: np.random.Generator,
        kernels: CountKernels,
        result: Arrays,
    ) -> Integers:
        """Add the misses of samples side by side; return the columns: methods × levels × samples."""
        topics = np.array([self._draw(outer) for _ in range(samples)])
        blocks = [
            _CountedBlock.of(self, columns, topics)
            for columns in _blocks(
                len(self.population.labels), max(1, _COUNTED_BLOCK // self.replicates)
            )
        ]
        for number, sample in enumerate(topics):
            inner.integers(2**63)  # as _by_arrays draws a seed here
            drawn = inner.integers(0, self.size, (self.replicates, self.size), dtype=np.int64)
            # A topic drawn more than once has a larger weight, at no extra cost.
            occurs = np.bincount(sample, minlength=self.population.topics) > 0
            weights = np.empty((self.replicates, np.count_nonzero(occurs)))
            kernels.share_draws(drawn, (np.cumsum(occurs) - 1)[sample], weights)
            for block in blocks:
                block.count(kernels, number, np.flatnonzero(occurs), weights)
        missed = np.zeros((len(self.methods), len(self.levels), samples), np.int64)
        for block in blocks:
            missed += self._count(block.probe, block.columns, result)
        return missed

    def _draw(self, rng: np.random.Generator) -> Integers:
        if self.sampling == "with":
            return rng.integers(0, self.population.topics, self.size)
        return rng.permutation(self.population.topics)[: self.size]

    def _count(self, probe: Probe, columns: slice, result: Arrays) -> Integers:
        """Add misses to the result; return how many columns: methods × levels × samples.

        The probe holds these columns of one sample, or of several side by side.
        """
        distribution, truth, estimate = probe.distribution, probe.value, probe.distribution.estimate
        by_sample = (-1, columns.stop - columns.start)
        scored, known = ~np.isnan(truth), ~np.isnan(estimate)
        deviation = np.where(known, estimate - truth, 0.0)
        result["deviation"][columns] += deviation.reshape(by_sample).sum(axis=0)
        result["estimates"][columns] += known.reshape(by_sample).sum(axis=0)
        nearer = np.where(truth < estimate - tie_distance(truth), BELOW, ABOVE)
        missed = []
        for m, method in enumerate(self.methods):
            for v, level in enumerate(self.levels):
                with np.errstate(divide="ignore", invalid="ignore"):
                    side = method.side(probe, level)
                undefined = np.abs(side) == UNDEFINED  # mirrored by a sign or not
                if not method.any_sample:
                    undefined |= distribution.degenerate
                side = np.where(undefined, nearer, side)
                for name, flags in (
                    ("undefined", undefined),
                    ("below", side == BELOW),
                    ("above", side == ABOVE),
                ):
                    result[name][m, v, columns] += flags.reshape(by_sample).sum(axis=0)
                missed.append((scored & (side != INSIDE)).reshape(by_sample).sum(axis=1))
                if self.widths:
                    width = _width(method, distribution, level, undefined)
                    result["width"][m, v, columns] += width.reshape(by_sample).sum(axis=0)
        return np.array(missed).reshape(len(self.methods), len(self.levels), -1)


@dataclass(frozen=True, slots=True, eq=False)
class _CountedBlock:
    """Some columns of samples side by side, whose replicates are counted.

    Attributes
    ----------
    columns
        Which columns.
    values
        The variable averaged: topics of the population × columns.
    probe
        Probe of the truth in all samples.
    studentised
        Whether replicates are studentised as well.
    """

    columns: slice
    values: Floats
    probe: CountedProbe
    studentised: bool

    @classmethod
    def of(cls, counter: MissCounter, columns: slice, topics: Integers) -> _CountedBlock:
        """Return the columns of samples, each a row of topics."""
        population = counter.population.chosen(columns)
        distribution = population.drawn_often(topics).distribution(slice(None), None, ())
        studentised = any("replicate_se" in method.needs for method in counter.methods)
        probe = CountedProbe(
            distribution,
            np.tile(counter.truth[columns], len(topics)),
            replicates=counter.replicates,
            studentised=studentised,
        )
        return cls(columns, population.values[0], probe, studentised)

    def count(self, kernels: CountKernels, sample: int, topics: Integers, weights: Floats) -> None:
        """Count the replicates of one sample, given the weights of its topics."""
        width = self.values.shape[1]
        columns = slice(sample * width, (sample + 1) * width)
        powers = self.values[topics] - self.probe.distribution.estimate[columns]
        if self.studentised:
            powers = np.concatenate([powers, np.square(powers)], axis=1)
        self.probe.count(kernels, columns, powers.T @ weights.T)


def can_count(methods: Sequence[Method], cells: int) -> bool:
    """Whether counts suffice for all methods, with enough replicates for compiled code to pay off."""
    resampled = any("replicates" in method.needs for method in methods)
    if not resampled or not all(method.counts for method in methods):
        return False
    loaded = compile_kernels.cache_info().currsize > 0
    return (loaded or cells >= _WORTH_COMPILING) and compile_kernels() is not None


def _blocks(columns: int, largest: int) -> list[slice]:
    """Return slices of nearly equal size that cover the columns."""
    number = -(-columns // largest)
    edges = [part * columns // number for part in range(number + 1)]
    return [slice(*ends) for ends in pairwise(edges)]


def _width(
    method: Method, distribution: SamplingDistribution, level: float, undefined: Booleans
) -> Floats:
    """Return the widths of intervals, 0 where undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = method.compute(distribution, level)
        return np.where(undefined, 0.0, high - low)
