"""How often do intervals miss? The experiment behind coverage and Type I error.

Samples of topics are drawn from a population of topics whose mean is known; each gives an interval
by each method, and the intervals that miss the mean are counted, on each side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from confir.arrays import Floats, Integers
from confir.errors import InvalidValueError, UnknownNameError
from confir.intervals.catalogue import METHODS, Method, find_method
from confir.intervals.interval import Limits, check_level
from confir.intervals.probe import ABOVE, BELOW, Probe
from confir.parallel import Arrays, Progress, digest, run_tasks, task_seeds
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.topics import (
    Rng,
    ScoresLike,
    TopicSample,
    check_replicates,
    topic_sample,
    topic_weights,
)

Sampling = Literal["with", "without"]
MethodLike = str | Method

# Samples in a task, and columns resampled together: fixed, so that neither the number of workers nor
# the machine changes a number.
_SAMPLES_PER_TASK = 20
_BLOCK = 128


@dataclass(frozen=True, slots=True, eq=False)
class Misses:
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
        interval is a miss, on the side of the truth.
    undefined
        Samples without an interval among them: methods × levels × C.
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
    bias: Floats
    width: Floats | None

    @property
    def error(self) -> Floats:
        """Share of the samples whose interval misses: methods × levels × C."""
        error: Floats = (self.below + self.above) / self.samples
        return error


def count_misses(
    scores: ScoresLike,
    *,
    methods: Sequence[MethodLike] | None = None,
    levels: Sequence[float] = (0.95,),
    topics: int | None = None,
    samples: int = 1_000,
    replicates: int = 1_000,
    sampling: Sampling = "with",
    widths: bool = False,
    statistic: str = "mean",
    baseline: str | None = None,
    rng: Rng = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    resume: str | None = None,
) -> Misses:
    """Return how often intervals from samples of topics miss the mean of all topics.

    Parameters
    ----------
    scores
        The population: `Scores`, or an array, topics × columns.
    methods
        Names, or `Method` objects of one's own; by default all that fit.
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
    _check(population, size, samples, replicates, sampling, levels)
    chosen = _fitting(population) if methods is None else [as_method(m) for m in methods]
    truth = population.distribution(slice(None), None, ()).estimate
    generator = np.random.default_rng(rng)
    counts = [
        min(_SAMPLES_PER_TASK, samples - start) for start in range(0, samples, _SAMPLES_PER_TASK)
    ]
    seeds = task_seeds(generator, len(counts))
    experiment = _Experiment(
        population, truth, chosen, tuple(levels), size, replicates, sampling, widths
    )
    names = tuple(method.name for method in chosen)
    signature = digest(
        *population.values,
        names,
        tuple(levels),
        size,
        samples,
        replicates,
        sampling,
        widths,
        seeds[0].entropy,
    )
    parts = run_tasks(
        experiment.run,
        list(zip(counts, seeds, strict=True)),
        jobs=jobs,
        progress=progress,
        resume=resume,
        signature=signature,
    )
    return _join(population, names, tuple(levels), samples, truth, parts, widths)


def number_of_tasks(samples: int) -> int:
    """Return how many times `count_misses` reports progress."""
    return -(-samples // _SAMPLES_PER_TASK)


def as_method(method: MethodLike) -> Method:
    """Return the method of a name; "bootstrap-t-published" is that of [Soboroff2014] as printed."""
    if isinstance(method, Method):
        return method
    if method == PUBLISHED_BOOTSTRAP_T.name:
        return PUBLISHED_BOOTSTRAP_T
    return find_method(method)


def _published_limits(distribution: SamplingDistribution, level: float) -> Limits:
    """The bootstrap-t of [Soboroff2014], which put the whole error into each tail."""
    return METHODS["bootstrap-t"].compute(distribution, 2.0 * level - 1.0)


def _published_side(probe: Probe, level: float) -> Integers:
    return METHODS["bootstrap-t"].side(probe, 2.0 * level - 1.0)


PUBLISHED_BOOTSTRAP_T = replace(
    METHODS["bootstrap-t"],
    name="bootstrap-t-published",
    compute=_published_limits,
    count_side=_published_side,
)


def _check(
    population: TopicSample,
    size: int,
    samples: int,
    replicates: int,
    sampling: Sampling,
    levels: Sequence[float],
) -> None:
    for level in levels:
        check_level(level)
    check_replicates(replicates)
    if sampling not in ("with", "without"):
        raise UnknownNameError("way of sampling", sampling, ("with", "without"))
    if samples < 1:
        raise InvalidValueError(f"samples is {samples}; expected 1 or more")
    if size < 2:
        raise InvalidValueError(f"samples of {size} topics have no interval; expected 2 or more")
    if sampling == "without" and size > population.topics:
        raise InvalidValueError(
            f"{size} topics cannot be drawn without replacement from {population.topics}"
        )


def _fitting(population: TopicSample) -> list[Method]:
    return [
        method
        for method in METHODS.values()
        if all(population.provides(need) for need in method.needs)
        and (not method.bounded or population.support.all())
    ]


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

    def run(self, task: tuple[int, np.random.SeedSequence]) -> Arrays:
        """Return the misses of some samples, summed."""
        samples, seed = task
        rng = np.random.default_rng(seed)
        shape = (len(self.methods), len(self.levels), self.population.columns)
        result: Arrays = {
            "below": np.zeros(shape, np.int64),
            "above": np.zeros(shape, np.int64),
            "undefined": np.zeros(shape, np.int64),
            "width": np.zeros(shape),
            "deviation": np.zeros(self.population.columns),
        }
        needs = {need for method in self.methods for need in method.needs}
        resamples = "replicates" in needs
        for _ in range(samples):
            sample = self.population.drawn(self._draw(rng))
            own_seed = int(rng.integers(2**63))
            weights = topic_weights(self.size, self.replicates, rng) if resamples else None
            for start in range(0, self.population.columns, _BLOCK):
                columns = slice(start, start + _BLOCK)
                distribution = replace(
                    sample.distribution(columns, weights, needs),
                    seed=own_seed,
                    draws=self.replicates,
                )
                self._count(distribution, columns, result)
        return result

    def _draw(self, rng: np.random.Generator) -> Integers:
        if self.sampling == "with":
            return rng.integers(0, self.population.topics, self.size)
        return rng.permutation(self.population.topics)[: self.size]

    def _count(self, distribution: SamplingDistribution, columns: slice, result: Arrays) -> None:
        """Add the misses of one sample's intervals to the result."""
        truth = self.truth[columns]
        probe = Probe(distribution, truth)
        result["deviation"][columns] += np.nan_to_num(distribution.estimate - truth)
        nearer = np.where(truth < distribution.estimate, BELOW, ABOVE)
        for m, method in enumerate(self.methods):
            for v, level in enumerate(self.levels):
                with np.errstate(invalid="ignore"):
                    side = method.side(probe, level)
                if not method.any_sample:
                    side = np.where(distribution.degenerate, nearer, side)
                    result["undefined"][m, v, columns] += distribution.degenerate
                result["below"][m, v, columns] += side == BELOW
                result["above"][m, v, columns] += side == ABOVE
                if self.widths:
                    low, high = method.compute(distribution, level)
                    width = np.nan_to_num(high - low)
                    result["width"][m, v, columns] += np.where(
                        distribution.degenerate & (not method.any_sample), 0.0, width
                    )


def _join(
    population: TopicSample,
    methods: tuple[str, ...],
    levels: tuple[float, ...],
    samples: int,
    truth: Floats,
    parts: Sequence[Arrays],
    widths: bool,
) -> Misses:
    total = {name: np.sum([part[name] for part in parts], axis=0) for name in parts[0]}
    width = None
    if widths:
        defined = samples - total["undefined"]
        width = np.divide(
            total["width"], defined, out=np.full(defined.shape, np.nan), where=defined > 0
        )
    return Misses(
        labels=population.labels,
        methods=methods,
        levels=levels,
        samples=samples,
        truth=truth,
        below=total["below"],
        above=total["above"],
        undefined=total["undefined"],
        bias=total["deviation"] / samples,
        width=width,
    )
