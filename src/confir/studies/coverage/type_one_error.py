"""How often do intervals from few topics miss? Type I error ([Park2011] §2).

A run's scores on all topics are the population. Samples of few topics are drawn from it, and the
intervals that miss the population's mean are counted, averaged over the runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from confir.arguments import as_generator, as_integers, as_path
from confir.arrays import Floats
from confir.data.experiment import on_its_scheduler
from confir.data.result import Record, Result, Variable, axis, constant, over, result
from confir.data.score_objects import ScoresSource
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import SAMPLE_REPLICATES, SAMPLES, SEED
from confir.errors import InvalidValueError
from confir.measures.score_sources import as_scores
from confir.parallel import Progress
from confir.resampling.kinds import needs
from confir.resampling.replicates import Rng
from confir.resampling.sample import Knowledge
from confir.studies.coverage.miss_counter import Sampling
from confir.studies.coverage.miss_counts import MethodLike, check_size, count_misses

# [Park2011] §2: nominal errors 0.05 to 0.50 in steps of 0.05, as levels.
PARK_LEVELS = tuple(round(1.0 - 0.05 * step, 2) for step in range(1, 11))
PARK_TOPICS = (5, 10, 20)


@result
class TypeOneError(Result):
    """The share of intervals that miss the population's mean.

    Attributes
    ----------
    columns
        (run, measure) of each population.
    methods, topics, levels
        Names of the methods, sizes of the samples, levels of the intervals.
    error
        Share of intervals that miss: methods × topics × levels × columns.
    below, above
        Share of intervals with the truth below them, and above.
    undefined
        Share of samples without an interval, which count as misses.
    mean_error_se
        Standard error of the error averaged over the columns: methods × topics × levels.
    skewness
        Skewness of each population (columns).
    bias
        Mean of the sample means minus the population's, topics × columns.
    sampling
        "with" or "without" replacement.
    samples, replicates
        Samples of each size, and replicates of each sample.
    """

    columns: tuple[tuple[str, str], ...] = axis("column")
    methods: tuple[str, ...] = axis("method")
    topics: tuple[int, ...] = axis("topics")
    levels: tuple[float, ...] = axis("level")
    error: Floats = over("method", "topics", "level", "column")
    below: Floats = over("method", "topics", "level", "column")
    above: Floats = over("method", "topics", "level", "column")
    undefined: Floats = over("method", "topics", "level", "column")
    mean_error_se: Floats = over("method", "topics", "level")
    skewness: Floats = over("column")
    bias: Floats = over("topics", "column")
    sampling: Sampling = constant()
    samples: int
    replicates: int

    label_parts: ClassVar[Mapping[str, tuple[str, ...]]] = {"column": ("run", "measure")}
    record_columns = ("method", "topics", "level", "error", "sampling")
    row_order = ("method", "topics", "level")

    @property
    def mean_error(self) -> Floats:
        """The error averaged over the columns: methods × topics × levels."""
        scored = ~np.isnan(self.skewness)
        mean: Floats = self.error[..., scored].mean(axis=3)
        return mean

    def derived(self) -> Iterator[Variable]:
        """Yield the error averaged over the populations."""
        yield Variable("error", ("method", "topics", "level"), self.mean_error)

    def table_columns(self) -> TableColumns:
        """Return how the columns read, as in [Park2011]: an error for each size of samples."""
        names = dict.fromkeys(("method", "nominal"), TableColumn(Role.NAME))
        return names | {f"n = {size:,}": TableColumn(Role.SCORE) for size in self.topics}

    def table_records(self) -> list[Record]:
        """Return a record per method and level; nominal errors have two decimals or more."""
        needed = [len(f"{1.0 - level:.10f}".rstrip("0")) - len("0.") for level in self.levels]
        decimals, mean = max(2, *needed), self.mean_error
        return [
            {"method": method, "nominal": f"{1.0 - level:.{decimals}f}"}
            | {f"n = {size:,}": float(mean[k, t, v]) for t, size in enumerate(self.topics)}
            for k, method in enumerate(self.methods)
            for v, level in enumerate(self.levels)
        ]

    def note(self) -> str:
        """Return what was counted."""
        return "share of intervals that miss the mean over all topics"

    def by_run(self) -> list[Record]:
        """Return a record (run, measure, skewness, bias, then as in `to_records`) per column."""
        return [
            {
                "run": run,
                "measure": measure,
                "skewness": float(self.skewness[c]),
                "bias": float(self.bias[t, c]),
                "method": method,
                "topics": size,
                "level": level,
                "error": float(self.error[k, t, v, c]),
                "sampling": self.sampling,
            }
            for c, (run, measure) in enumerate(self.columns)
            for k, method in enumerate(self.methods)
            for t, size in enumerate(self.topics)
            for v, level in enumerate(self.levels)
        ]


@on_its_scheduler
@needs(Knowledge.VALUES, "the study of the Type I error")
def estimate_type_one_error(
    scores: ScoresSource,
    *,
    methods: MethodLike | Iterable[MethodLike] | None = None,
    topics: int | Sequence[int] = PARK_TOPICS,
    levels: float | Sequence[float] = PARK_LEVELS,
    sampling: Sampling = "without",
    samples: int = SAMPLES,
    replicates: int = SAMPLE_REPLICATES,
    rng: Rng = SEED,
    jobs: int | None = None,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> TypeOneError:
    """Return how often intervals from samples of few topics miss the mean over all topics.

    Methods that agree for 50 topics differ for 10. Samples from a large set of topics, whose mean is
    known, show which of them can be trusted with how few ([Park2011]).

    Parameters
    ----------
    scores
        Anything that `as_scores` takes; each run's scores are a population of topics.
    methods
        Names, `Method` objects or functions; by default all that apply.
    topics, levels
        Sizes of the samples, and levels of the intervals.
    sampling
        "without" replacement, as in the paper, or "with": independent draws.
    samples, replicates
        Samples of each size, and bootstrap replicates of each.
    rng, jobs, progress, resume
        Seed or generator; number of threads; called after each part; folder that stores parts.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.estimate_type_one_error(scores, methods="t", topics=3, samples=200)
    TypeOneError(column: 2, method: 1, topics: 1, level: 10, sampling='without')
    """
    scores = as_scores(scores)
    sizes = tuple(dict.fromkeys(as_integers("topics", topics, lowest=0)))
    folder = None if resume is None else Path(as_path("resume", resume))
    if resume is not None and rng is None:
        raise InvalidValueError("a resumable study needs a seed; set rng to a number")
    for size in sizes:
        check_size(size, len(scores.topics), sampling)
    start = int(as_generator(rng).integers(2**63))
    parts = [
        count_misses(
            scores,
            methods=methods,
            levels=levels,
            topics=size,
            samples=samples,
            replicates=replicates,
            sampling=sampling,
            rng=np.random.default_rng([start, size]),  # independent of the other sizes
            jobs=jobs,
            progress=progress,
            resume=None if folder is None else folder / f"topics-{size}",
        )
        for size in sizes
    ]
    shares = {
        name: np.stack([part.share(getattr(part, name)) for part in parts], axis=1)
        for name in ("below", "above", "undefined")
    }
    return TypeOneError(
        columns=parts[0].labels,
        methods=parts[0].methods,
        topics=sizes,
        levels=parts[0].levels,
        error=np.stack([part.error for part in parts], axis=1),
        mean_error_se=np.stack([part.mean_error_se for part in parts], axis=1),
        skewness=_skewness(scores),
        bias=np.stack([part.bias for part in parts]),
        sampling=sampling,
        samples=samples,
        replicates=replicates,
        **shares,
    )


def _skewness(scores: Scores) -> Floats:
    """Return the population skewness of each run and measure; NaN without a score."""
    values = scores.values.reshape(len(scores.topics), -1)
    count = (~np.isnan(values)).sum(axis=0)
    deviation = np.nan_to_num(values - scores.mean().reshape(-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        second, third = ((deviation**power).sum(axis=0) / count for power in (2, 3))
        skewness = third / second**1.5
    varies = np.fmax.reduce(values) > np.fmin.reduce(values)
    return np.where(varies, skewness, np.where(count > 0, 0.0, np.nan))
