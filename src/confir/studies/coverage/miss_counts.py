"""The simulation behind coverage and Type I error: how often intervals miss, by which methods.

Samples are drawn from a population of topics with a known mean; an interval is computed from each
by each method, and the intervals that miss the mean are counted, on each side.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from confir.arguments import (
    as_choice,
    as_generator,
    as_integer,
    as_levels,
    as_list,
    check_replicates,
    invalid,
)
from confir.arrays import Floats, Integers
from confir.data.sampling_designs.design import refuse_design
from confir.defaults import LEVEL, SAMPLE_REPLICATES, SAMPLES
from confir.errors import InvalidValueError, counted
from confir.intervals.bootstrap_t import BOOTSTRAP_T
from confir.intervals.interval import Limits
from confir.intervals.method import Method, Use
from confir.intervals.method_list import check_fit, find_method, fits, methods_over
from confir.intervals.probe import Probe
from confir.parallel import Progress, run_tasks, task_seeds
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.kinds import as_sample
from confir.resampling.replicates import Rng
from confir.resampling.sample import Sample
from confir.resampling.topic_sample import ScoresLike, TopicSample
from confir.stored_results import Arrays, digest
from confir.studies.coverage.miss_counter import MissCounter, Sampling, can_count

# Samples per task: fixed, so results do not depend on the number of workers.
_SAMPLES_PER_TASK = 20


MethodLike = str | Method | Callable[[SamplingDistribution, float], Limits]

# The fields that a user-defined method may read.
_ALL_FIELDS = ("se", "acceleration", "replicates", "replicate_se")


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
    generator = as_generator(rng)
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
    sizes = [
        min(_SAMPLES_PER_TASK, samples - start) for start in range(0, samples, _SAMPLES_PER_TASK)
    ]
    seeds = task_seeds(generator, 2 * len(sizes))
    options = {"statistic": statistic, "baseline": baseline, "seed": str(seeds[0].entropy)}
    parts = run_tasks(
        counter.run,
        list(zip(sizes, seeds[::2], seeds[1::2], strict=True)),
        jobs=jobs,
        progress=progress,
        resume=resume,
        study=None if resume is None else _describe(counter) | options | {"samples": samples},
    )
    return _add_up(counter, samples, parts)


def _describe(counter: MissCounter) -> dict[str, Any]:
    """Return what identifies a simulation, for a folder that stores its results."""
    from importlib.metadata import version

    return {
        "confir": version("confir"),
        "scores": digest(*counter.population.values),
        "methods": [method_identity(method) for method in counter.methods],
        "levels": counter.levels,
        "topics": counter.size,
        "replicates": counter.replicates,
        "sampling": counter.sampling,
        "widths": counter.widths,
    }


def _add_up(counter: MissCounter, samples: int, parts: Sequence[Arrays]) -> MissCounts:
    """Return the counts of all tasks, and what follows from their sums."""
    total = {name: np.sum([part[name] for part in parts], axis=0) for name in parts[0]}
    error_se = np.full(total["missed"].shape, np.nan)
    if samples > 1:
        deviation = total["missed_squared"] - total["missed"] * (total["missed"] / samples)
        error_se = np.sqrt(np.maximum(deviation / (samples - 1), 0.0) / samples)
    with np.errstate(invalid="ignore"):  # without an estimate or interval, 0 / 0
        bias = total["deviation"] / total["estimates"]
        width = total["width"] / (samples - total["undefined"]) if counter.widths else None
    return MissCounts(
        labels=counter.population.labels,
        methods=tuple(method.name for method in counter.methods),
        levels=counter.levels,
        samples=samples,
        truth=counter.truth,
        below=total["below"],
        above=total["above"],
        undefined=total["undefined"],
        mean_error_se=error_se / (~np.isnan(counter.truth)).sum(),
        bias=bias,
        width=width,
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
        raise InvalidValueError(
            f"{size} topics cannot be drawn without replacement from {topics}; expected samples of "
            f"{topics} topics at most (--topics)"
        )


def as_method(method: MethodLike) -> Method:
    """Return the method of a name or of a function.

    "bootstrap-t-published" is that of [Soboroff2014] as printed. A function is named after itself,
    and must also handle samples of equal scores: it returns NaN if it has no interval.
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        return _FOR_STUDIES.get(method) or find_method(method)
    if not callable(method) or isinstance(method, type):
        raise invalid("method", method, "a name, a Method or a function")
    name = getattr(method, "__name__", type(method).__name__)
    return Method(name, _OwnMethod(method), _ALL_FIELDS, topics=Use(), any_sample=True)


@dataclass(frozen=True, slots=True)
class _OwnMethod:
    """A user-defined function, whose limits are checked."""

    function: Callable[[SamplingDistribution, float], Limits]

    def __call__(self, distribution: SamplingDistribution, level: float) -> Limits:
        """Return the limits of every column."""
        limits = self.function(distribution, level)
        try:
            low, high = limits
        except (TypeError, ValueError):
            raise invalid("the result of a function in methods", limits, "two arrays") from None
        return Limits(np.asarray(low), np.asarray(high))


def fitting_methods(scores: ScoresLike) -> list[str]:
    """Return the names of the methods that apply to the mean of scores."""
    population = as_sample(scores)
    return [method.name for method in _fitting(population)]


def _fitting(population: Sample) -> list[Method]:
    return [method for method in methods_over("topics").values() if fits(method, population)]


def _published_limits(distribution: SamplingDistribution, level: float) -> Limits:
    """The bootstrap-t of [Soboroff2014], with α instead of α/2 in each tail."""
    return BOOTSTRAP_T.compute(distribution, 2.0 * level - 1.0)


def _published_side(probe: Probe, level: float) -> Integers:
    return BOOTSTRAP_T.side(probe, 2.0 * level - 1.0)


PUBLISHED_BOOTSTRAP_T = replace(
    BOOTSTRAP_T,
    name="bootstrap-t-published",
    compute=_published_limits,
    count_side=_published_side,
    level_above=0.5,  # below, the two tails overlap
)

# Methods that can be studied by name, but are not offered for intervals.
_FOR_STUDIES = {method.name: method for method in (PUBLISHED_BOOTSTRAP_T,)}


def chosen_methods(
    methods: MethodLike | Iterable[MethodLike] | None,
    population: Sample,
    levels: Sequence[float],
) -> list[Method]:
    """Return the methods requested, checked against scores and levels."""
    if methods is None:
        return _fitting(population)
    if isinstance(methods, str | Method) or callable(methods):
        methods = [methods]
    chosen = list(dict.fromkeys(as_method(method) for method in as_list("methods", methods)))
    if not chosen:
        raise InvalidValueError("no method is named; expected at least one")
    for method in chosen:
        check_fit(method, population)
        if [other.name for other in chosen].count(method.name) > 1:
            raise InvalidValueError(f"two methods have the name {method.name!r}")
        if min(levels) <= method.level_above:
            raise InvalidValueError(
                f"the tails of {method.name} overlap at level "
                f"{min(levels):g}; expected a level above {method.level_above:g}"
            )
    return chosen


def method_identity(method: Method) -> str:
    """Return a string that distinguishes methods of the same name."""
    function = method.compute.function if isinstance(method.compute, _OwnMethod) else method.compute
    home, name = (getattr(function, key, "") for key in ("__module__", "__qualname__"))
    return f"{method.name} ({home}.{name})"
