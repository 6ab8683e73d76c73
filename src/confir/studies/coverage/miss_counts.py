"""The simulation behind coverage and Type I error: how often intervals miss the mean.

Samples are drawn from a population of topics with a known mean; an interval is computed from each
by each method, and the intervals that miss the mean are counted, on each side.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from confir.arguments import as_choice, as_generator, as_integer, as_levels, check_replicates
from confir.arrays import Floats, Integers
from confir.data.sampling_designs.design import refuse_design
from confir.defaults import LEVEL, SAMPLE_REPLICATES, SAMPLES
from confir.errors import InvalidValueError, counted
from confir.parallel import Progress, run_tasks, task_seeds
from confir.resampling.kinds import as_sample
from confir.resampling.replicates import Rng
from confir.resampling.topic_sample import ScoresLike, TopicSample
from confir.studies.coverage.miss_counter import MissCounter, Sampling, can_count
from confir.studies.coverage.studied_methods import MethodLike, chosen_methods

# Samples per task: fixed, so results do not depend on the number of workers.
_SAMPLES_PER_TASK = 20


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
        Number of intervals with the truth below or above them: methods × levels × C. A sample
        without an interval is a miss on the side of the truth; above if the estimate equals it.
    undefined
        Number of samples without an interval: methods × levels × C.
    mean_error_se
        Standard error of the error averaged over the columns, which share the samples: methods ×
        levels; NaN for a single sample.
    bias
        Mean of the samples' estimates minus the truth (C).
    width
        Mean width of the defined intervals, if requested: methods × levels × C.
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
        "with" or "without" replacement.
    widths
        Whether to report mean widths, for which limits must be computed.
    statistic, baseline
        As in `bootstrap_topics`.
    rng, jobs, progress, resume
        Seed; threads; called after each task; folder for results (see `confir.parallel`).
    """
    population = as_sample(scores, statistic=statistic, baseline=baseline)
    size = population.topics if topics is None else topics
    claimed = as_levels(levels)
    check_replicates(replicates)
    as_integer("samples", samples)
    check_size(size, population.topics, sampling)
    if sampling == "without" or size != population.topics:
        refuse_design(population.scheme.words or None, "a study of samples of another size")
    chosen = chosen_methods(methods, population, claimed)
    if resume is not None and rng is None:
        raise InvalidValueError("a resumable study needs a seed; set rng to a number")
    counts = [
        min(_SAMPLES_PER_TASK, samples - start) for start in range(0, samples, _SAMPLES_PER_TASK)
    ]
    seeds = task_seeds(as_generator(rng), 2 * len(counts))
    truth = population.population_means()
    if np.isnan(truth).all():
        raise InvalidValueError("there are no scores; expected at least two topics with a score")
    cells = samples * replicates * len(population.labels)
    counter = MissCounter(
        population=cast("TopicSample", population),  # other kinds are neither counted nor closed
        truth=truth,
        methods=chosen,
        levels=claimed,
        size=size,
        replicates=replicates,
        sampling=sampling,
        widths=widths,
        counted=not widths and population.averages and can_count(chosen, cells),
        closed=population.independent and all(method.closed_form for method in chosen),
    )
    options = {"statistic": statistic, "baseline": baseline, "seed": str(seeds[0].entropy)}
    parts = run_tasks(
        counter.run,
        list(zip(counts, seeds[::2], seeds[1::2], strict=True)),
        jobs=jobs,
        progress=progress,
        resume=resume,
        study=None if resume is None else counter.describe() | options | {"samples": samples},
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
    """Return the number of times `count_misses` reports progress."""
    return -(-samples // _SAMPLES_PER_TASK)


def check_size(size: int, topics: int, sampling: Sampling) -> None:
    """Raise if samples of this size cannot be drawn, or have no interval."""
    as_choice("sampling", sampling, ("with", "without"), "way of sampling")
    if as_integer("topics", size, lowest=0) < 2:
        raise InvalidValueError(
            f"a sample of {counted(size, 'topic')} has no interval; expected 2 or more"
        )
    if sampling == "without" and size > topics:
        raise InvalidValueError(f"{size} topics cannot be drawn without replacement from {topics}")


def _mean(total: Floats, count: Integers) -> Floats:
    """Return totals divided by counts, NaN where the count is 0."""
    mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return mean


def _standard_error(total: Integers, squares: Integers, count: int) -> Floats:
    """Return the standard error of a mean of integers, from their sum and sum of squares."""
    if count < 2:
        return np.full(total.shape, np.nan)
    variance = (squares - total * (total / count)) / (count - 1)
    return np.sqrt(np.maximum(variance, 0.0) / count)
