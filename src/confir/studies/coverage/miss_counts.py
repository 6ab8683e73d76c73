"""How often intervals miss the mean: the experiment behind coverage and Type I error.

Samples of topics are drawn from a population of topics whose mean is known; each gives an interval
by each method, and the intervals that miss the mean are counted, on each side.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from confir.arguments import as_choice, as_generator, as_integer, as_levels
from confir.arrays import Booleans, Floats, Integers
from confir.defaults import LEVEL, SAMPLE_REPLICATES, SAMPLES
from confir.errors import InvalidValueError
from confir.intervals.count_kernels import CountKernels, compile_kernels
from confir.intervals.method import Method
from confir.intervals.probe import (
    ABOVE,
    BELOW,
    INSIDE,
    UNDEFINED,
    CountedProbe,
    Probe,
    tie_distance,
)
from confir.parallel import Arrays, Progress, digest, run_tasks, task_seeds
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.topics import (
    Rng,
    ScoresLike,
    TopicSample,
    check_replicates,
    topic_draws,
    topic_sample,
    topic_weights,
)
from confir.studies.coverage.studied_methods import MethodLike, chosen_methods, method_identity

Sampling = Literal["with", "without"]

# Samples in a task, and replicates of all columns resampled together: fixed, so that neither the
# number of workers nor the machine changes a number.
_SAMPLES_PER_TASK = 20
_BLOCK = 1 << 18

# The same where replicates are counted and not kept, which stay in the processor's cache; and
# scores of samples that are worked on side by side.
_COUNTED_BLOCK = 1 << 17
_SIDE_BY_SIDE = 1 << 22

# From this many replicates of all columns and samples on, loading compiled code pays off.
_WORTH_COMPILING = 50_000_000


@dataclass(frozen=True, slots=True, eq=False)
class MissCounts:
    """How often intervals missed the mean of the population.

    Attributes
    ----------
    labels
        (run, measure) of each column.
    methods, levels
        Names of the methods, and the levels.
    samples
        Number of samples drawn.
    truth
        The population's mean (C).
    below, above
        Intervals that the truth lies below or above: methods × levels × C. A sample without an
        interval is a miss, on the side of the truth; above where the estimate equals the truth.
    undefined
        Samples without an interval among them: methods × levels × C.
    mean_error_se
        Standard error of the error averaged over the columns, which share the samples: methods ×
        levels; NaN for a single sample.
    bias
        Mean of the samples' estimates less the truth (C).
    width
        Mean width of the intervals that there are, where asked for: methods × levels × C.
    """

    labels: tuple[tuple[str, str], ...]
    methods: tuple[str, ...]
    levels: tuple[float, ...]
    samples: int
    truth: Floats
    below: Integers
    above: Integers
    undefined: Integers
    mean_error_se: Floats
    bias: Floats
    width: Floats | None

    @property
    def error(self) -> Floats:
        """Share of the samples whose interval misses: methods × levels × C."""
        return self.share(self.below + self.above)

    def share(self, counts: Integers) -> Floats:
        """Return counts as shares of the samples; NaN for columns without a score."""
        return np.where(np.isnan(self.truth), np.nan, counts / self.samples)


def count_misses(
    scores: ScoresLike,
    *,
    methods: MethodLike | Iterable[MethodLike] | None = None,
    levels: float | Sequence[float] = (LEVEL,),
    topics: int | None = None,
    samples: int = SAMPLES,
    replicates: int = SAMPLE_REPLICATES,
    sampling: Sampling = "with",
    widths: bool = False,
    statistic: str = "mean",
    baseline: str | None = None,
    rng: Rng = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> MissCounts:
    """Return how often intervals from samples of topics miss the mean of all topics.

    Parameters
    ----------
    scores
        The population: `Scores`, or an array, topics × columns.
    methods
        Names; `Method` objects or users' functions, from a sampling distribution and a level
        to limits; by default all that fit. The samples are the same whatever the methods.
    levels
        Confidence levels.
    topics
        Topics in a sample; by default as many as the population has.
    samples, replicates
        Samples drawn, and bootstrap replicates of each.
    sampling
        "with" replacement, or "without".
    widths
        Whether to report mean widths, which takes the intervals' limits.
    statistic, baseline
        As in `bootstrap_topics`.
    rng, jobs, progress, resume
        Seed; threads; called after each task; folder for results (see `confir.parallel`).
    """
    population = topic_sample(scores, statistic=statistic, baseline=baseline)
    size = population.topics if topics is None else topics
    claimed = as_levels(levels)
    _check(population, size, samples, replicates, sampling)
    chosen = chosen_methods(methods, population, claimed)
    if resume is not None and rng is None:
        raise InvalidValueError("a study that may be resumed needs a seed; give rng a number")
    counts = [
        min(_SAMPLES_PER_TASK, samples - start) for start in range(0, samples, _SAMPLES_PER_TASK)
    ]
    seeds = task_seeds(as_generator(rng), 2 * len(counts))
    truth = population.distribution(slice(None), None, ()).estimate
    if np.isnan(truth).all():
        raise InvalidValueError("there are no scores; expected at least two topics with one")
    cells = samples * replicates * population.columns
    experiment = _Experiment(
        population=population,
        truth=truth,
        methods=chosen,
        levels=claimed,
        size=size,
        replicates=replicates,
        sampling=sampling,
        widths=widths,
        counted=not widths and population.averages and _can_count(chosen, cells),
        closed=all(method.closed_form for method in chosen),
    )
    options = {"statistic": statistic, "baseline": baseline, "seed": str(seeds[0].entropy)}
    parts = run_tasks(
        experiment.run,
        list(zip(counts, seeds[::2], seeds[1::2], strict=True)),
        jobs=jobs,
        progress=progress,
        resume=resume,
        study=None if resume is None else experiment.describe() | options | {"samples": samples},
    )
    total = {name: np.sum([part[name] for part in parts], axis=0) for name in parts[0]}
    return MissCounts(
        labels=population.labels,
        methods=tuple(method.name for method in chosen),
        levels=claimed,
        samples=samples,
        truth=truth,
        below=total["below"],
        above=total["above"],
        undefined=total["undefined"],
        mean_error_se=_standard_error(total["missed"], total["missed_squared"], samples)
        / (~np.isnan(truth)).sum(),
        bias=_mean(total["deviation"], total["estimates"]),
        width=_mean(total["width"], samples - total["undefined"]) if widths else None,
    )


def number_of_tasks(samples: int) -> int:
    """Return how many times `count_misses` reports progress."""
    return -(-samples // _SAMPLES_PER_TASK)


def check_size(size: int, topics: int, sampling: Sampling) -> None:
    """Raise where samples of a size cannot be drawn from the topics, or have no interval."""
    as_choice("sampling", sampling, ("with", "without"), "way of sampling")
    if as_integer("topics", size, lowest=0) < 2:
        raise InvalidValueError(
            f"a sample of {size} topic{'' if size == 1 else 's'} has no interval; expected 2 or more"
        )
    if sampling == "without" and size > topics:
        raise InvalidValueError(f"{size} topics cannot be drawn without replacement from {topics}")


def _check(
    population: TopicSample,
    size: int,
    samples: int,
    replicates: int,
    sampling: Sampling,
) -> None:
    check_replicates(replicates)
    as_integer("samples", samples)
    check_size(size, population.topics, sampling)


@dataclass(frozen=True, slots=True, eq=False)
class _Experiment:
    """What all tasks share."""

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

    def describe(self) -> dict[str, Any]:
        """Return what identifies this experiment, for a folder that keeps its results."""
        from importlib.metadata import version

        return {
            "confir": version("confir"),
            "scores": digest(*self.population.values),
            "methods": [method_identity(method) for method in self.methods],
            "levels": self.levels,
            "topics": self.size,
            "replicates": self.replicates,
            "sampling": self.sampling,
            "widths": self.widths,
        }

    def run(self, task: tuple[int, np.random.SeedSequence, np.random.SeedSequence]) -> Arrays:
        """Return the misses of some samples, summed."""
        samples, of_samples, of_replicates = task
        outer, inner = np.random.default_rng(of_samples), np.random.default_rng(of_replicates)
        shape = (len(self.methods), len(self.levels), self.population.columns)
        result: Arrays = {
            "below": np.zeros(shape, np.int64),
            "above": np.zeros(shape, np.int64),
            "undefined": np.zeros(shape, np.int64),
            "width": np.zeros(shape),
            "missed": np.zeros(shape[:2], np.int64),
            "missed_squared": np.zeros(shape[:2], np.int64),
            "deviation": np.zeros(shape[2]),
            "estimates": np.zeros(shape[2], np.int64),
        }
        kernels = compile_kernels() if self.counted else None
        side_by_side = self.closed or kernels is not None
        size = self.size * self.population.columns
        together = max(1, _SIDE_BY_SIDE // size) if side_by_side else 1
        for start in range(0, samples, together):
            number = min(together, samples - start)
            if self.closed:
                missed = self._by_moments(number, outer, result)
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
        sample = self.population.drawn(self._draw(outer))
        own_seed = int(inner.integers(2**63))
        weights = None
        if "replicates" in needs:
            weights = topic_weights(self.size, self.replicates, inner)
        missed = np.zeros((len(self.methods), len(self.levels), 1), np.int64)
        for block in _blocks(self.population.columns, max(1, _BLOCK // self.replicates)):
            distribution = replace(
                sample.distribution(block, weights, needs), seed=own_seed, draws=self.replicates
            )
            probe = Probe(distribution, self.truth[block])
            missed += self._count(probe, block, result)
        return missed

    def _by_moments(self, samples: int, outer: np.random.Generator, result: Arrays) -> Integers:
        """Add the misses of samples side by side; return the columns: methods × levels × samples."""
        drawn = self.population.drawn_often(np.array([self._draw(outer) for _ in range(samples)]))
        distribution = drawn.distribution(slice(None), None, ("se",))
        probe = Probe(distribution, np.tile(self.truth, samples))
        return self._count(probe, slice(0, self.population.columns), result)

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
                self.population.columns, max(1, _COUNTED_BLOCK // self.replicates)
            )
        ]
        for number, sample in enumerate(topics):
            inner.integers(2**63)  # the seed of methods that draw, of which there is none
            drawn = topic_draws(self.size, self.replicates, inner)
            # A topic that stands in the sample more than once weighs more, and costs no more.
            stands = np.bincount(sample, minlength=self.population.topics) > 0
            weights = np.empty((self.replicates, np.count_nonzero(stands)))
            kernels.share_draws(drawn, (np.cumsum(stands) - 1)[sample], weights)
            for block in blocks:
                block.count(kernels, number, np.flatnonzero(stands), weights)
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

        The probe has these columns of one sample, or those of several side by side.
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
        What is averaged: topics of the population × columns.
    probe
        The truth in all samples.
    studentised
        Whether they are studentised too.
    """

    columns: slice
    values: Floats
    probe: CountedProbe
    studentised: bool

    @classmethod
    def of(cls, experiment: _Experiment, columns: slice, topics: Integers) -> _CountedBlock:
        """Return the columns of samples, each a row of topics."""
        population = experiment.population.selected(columns)
        distribution = population.drawn_often(topics).distribution(slice(None), None, ())
        studentised = any("replicate_se" in method.needs for method in experiment.methods)
        probe = CountedProbe(
            distribution,
            np.tile(experiment.truth[columns], len(topics)),
            replicates=experiment.replicates,
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


def _can_count(methods: Sequence[Method], cells: int) -> bool:
    """Whether methods need counts alone, of enough replicates for compiled code to pay off."""
    if not any(method.resamples for method in methods):
        return False
    if not all(method.counts for method in methods):
        return False
    loaded = compile_kernels.cache_info().currsize > 0
    return (loaded or cells >= _WORTH_COMPILING) and compile_kernels() is not None


def _blocks(columns: int, largest: int) -> list[slice]:
    """Return parts of nearly equal size that columns fall into."""
    number = -(-columns // largest)
    edges = [part * columns // number for part in range(number + 1)]
    return [slice(*ends) for ends in pairwise(edges)]


def _width(
    method: Method, distribution: SamplingDistribution, level: float, undefined: Booleans
) -> Floats:
    """Return the widths of intervals, 0 where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = method.compute(distribution, level)
        return np.where(undefined, 0.0, high - low)


def _mean(total: Floats, count: Integers) -> Floats:
    """Return totals over counts, NaN where nothing was counted."""
    mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def _standard_error(total: Integers, squares: Integers, count: int) -> Floats:
    """Return the standard error of a mean of integers, given their sum and that of squares."""
    if count < 2:
        return np.full(total.shape, np.nan)
    variance = (squares - total * (total / count)) / (count - 1)
    return np.sqrt(np.maximum(variance, 0.0) / count)
