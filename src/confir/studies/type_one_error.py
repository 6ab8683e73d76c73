"""How often do intervals from few topics miss? Type I error ([Park2011] §2).

A run's scores on all topics are the population. Samples of few topics are drawn from it, and the
intervals that miss the population's mean are counted, averaged over the runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.data.neighbours import frame_from_records
from confir.data.scores import Record, Scores
from confir.errors import InvalidValueError
from confir.parallel import Progress
from confir.resampling.topics import Rng
from confir.studies.misses import Sampling, count_misses
from confir.studies.studied_methods import MethodLike

# [Park2011] §2: the proposed errors, 0.05 to 0.50 in steps of 0.05, as levels.
PARK_LEVELS = tuple(round(1.0 - 0.05 * step, 2) for step in range(1, 11))
PARK_TOPICS = (5, 10, 20)

TYPE_ONE_COLUMNS = ("method", "topics", "level", "error", "sampling")


@dataclass(frozen=True, slots=True, eq=False)
class TypeOneError:
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
        The same for the misses of each side.
    undefined
        Share of samples without an interval, which count as misses.
    skewness
        Skewness of each population (columns).
    bias
        Mean of the samples' means less the population's, topics × columns.
    sampling
        "with" or "without" replacement.
    samples, replicates
        Samples of each size, and replicates of each sample.
    """

    columns: tuple[tuple[str, str], ...]
    methods: tuple[str, ...]
    topics: tuple[int, ...]
    levels: tuple[float, ...]
    error: Floats
    below: Floats
    above: Floats
    undefined: Floats
    skewness: Floats
    bias: Floats
    sampling: Sampling
    samples: int
    replicates: int

    def to_records(self) -> list[Record]:
        """Return a record (method, topics, level, error, sampling), averaged over the runs."""
        mean = self.error.mean(axis=3)
        return [
            dict(
                zip(
                    TYPE_ONE_COLUMNS,
                    (method, size, level, float(mean[k, t, v]), self.sampling),
                    strict=True,
                )
            )
            for k, method in enumerate(self.methods)
            for t, size in enumerate(self.topics)
            for v, level in enumerate(self.levels)
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        records = self.to_records()
        return {name: [record[name] for record in records] for name in TYPE_ONE_COLUMNS}

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)


def estimate_type_one_error(
    scores: Scores,
    *,
    methods: MethodLike | Iterable[MethodLike] | None = None,
    topics: Sequence[int] = PARK_TOPICS,
    levels: Sequence[float] = PARK_LEVELS,
    sampling: Sampling = "without",
    samples: int = 1_000,
    replicates: int = 1_000,
    rng: Rng = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    resume: str | None = None,
) -> TypeOneError:
    """Return how often intervals from samples of few topics miss the mean over all topics.

    Parameters
    ----------
    scores
        The populations: each run's scores on all topics.
    methods
        Names of methods; `Method` objects or functions of one's own; by default all that fit.
    topics, levels
        Sizes of the samples, and levels of the intervals.
    sampling
        "without" replacement, as in the paper, or "with": independent draws.
    samples, replicates
        Samples of each size, and bootstrap replicates of each.
    rng, jobs, progress, resume
        Seed or generator; threads; called after each part; a folder that keeps parts.
    """
    if not topics:
        raise InvalidValueError("no sample size is named; expected at least one")
    generator = np.random.default_rng(rng)
    parts = [
        count_misses(
            scores,
            methods=methods,
            levels=levels,
            topics=size,
            samples=samples,
            replicates=replicates,
            sampling=sampling,
            rng=generator,
            jobs=jobs,
            progress=progress,
            resume=None if resume is None else f"{resume}/topics-{size}",
        )
        for size in topics
    ]
    below, above, undefined = (
        np.stack([getattr(part, name) for part in parts], axis=1) / samples
        for name in ("below", "above", "undefined")
    )
    return TypeOneError(
        columns=parts[0].labels,
        methods=parts[0].methods,
        topics=tuple(topics),
        levels=tuple(levels),
        error=below + above,
        below=below,
        above=above,
        undefined=undefined,
        skewness=_skewness(scores),
        bias=np.stack([part.bias for part in parts]),
        sampling=sampling,
        samples=samples,
        replicates=replicates,
    )


def _skewness(scores: Scores) -> Floats:
    """Return the population skewness of each run and measure."""
    values = scores.values.reshape(len(scores.topics), -1)
    present = ~np.isnan(values)
    count = present.sum(axis=0)
    mean = np.where(present, values, 0.0).sum(axis=0) / count
    deviation = np.where(present, values - mean, 0.0)
    variance = (deviation**2).sum(axis=0) / count
    third = (deviation**3).sum(axis=0) / count
    skewness: Floats = np.divide(third, variance**1.5, out=np.zeros_like(third), where=variance > 0)
    return skewness
