"""Do the intervals keep their word? Coverage on the very scores at hand ([Soboroff2014] §3).

A run's scores are taken for the population; samples of as many topics are drawn from it with
replacement, and the intervals that contain the population's mean are counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from confir.arguments import as_level
from confir.arrays import Floats
from confir.data.frames import frame_from_records
from confir.data.score_objects import ScoresSource, as_scores
from confir.data.scores import Record, Scores
from confir.intervals.interval import tail_probabilities
from confir.parallel import Progress
from confir.resampling.topics import Rng
from confir.studies.misses import count_misses
from confir.studies.studied_methods import MethodLike

COVERAGE_COLUMNS = ("run", "measure", "method", "level", "coverage", "low", "high")

# An outlier's coverage is too low by more than this many of its standard errors.
_OUTLYING = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """The share of intervals that contain the mean: all arrays are methods × runs × measures.

    Attributes
    ----------
    runs, measures, methods
        Names.
    level
        The level that the intervals claim.
    coverage
        Share of intervals that contain the population's mean.
    low, high
        Wilson's 95 % interval of that share.
    below, above
        Share of intervals that the truth lies below, and above.
    undefined
        Share of samples that had no interval; they count as misses.
    mean_se
        Standard error of each method's mean coverage over runs and measures, which share the
        samples (methods).
    reasons
        What is unusual about the scores of each run and measure, in words: runs × measures.
    samples, replicates
        Samples drawn, and replicates of each.
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    methods: tuple[str, ...]
    level: float
    coverage: Floats
    low: Floats
    high: Floats
    below: Floats
    above: Floats
    undefined: Floats
    mean_se: Floats
    reasons: tuple[tuple[str, ...], ...]
    samples: int
    replicates: int

    def __repr__(self) -> str:
        return (
            f"Coverage({len(self.runs)} runs × {len(self.measures)} measures × "
            f"{len(self.methods)} methods, level={self.level:g})"
        )

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

    def to_records(self) -> list[Record]:
        """Return a record (run, measure, method, level, coverage, low, high) per interval."""
        return [
            dict(
                zip(
                    COVERAGE_COLUMNS,
                    (
                        run,
                        measure,
                        method,
                        self.level,
                        float(self.coverage[k, r, m]),
                        float(self.low[k, r, m]),
                        float(self.high[k, r, m]),
                    ),
                    strict=True,
                )
            )
            for r, run in enumerate(self.runs)
            for m, measure in enumerate(self.measures)
            for k, method in enumerate(self.methods)
        ]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the records as columns."""
        records = self.to_records()
        return {name: [record[name] for record in records] for name in COVERAGE_COLUMNS}

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)

    def summary(self) -> list[Record]:
        """Return a record per method: mean, least and greatest coverage, and misses on each side."""
        scored = ~np.isnan(self.coverage[0])
        return [
            {
                "method": method,
                "level": self.level,
                "coverage": float(self.coverage[k][scored].mean()),
                "se": float(self.mean_se[k]),
                "least": float(self.coverage[k][scored].min()),
                "greatest": float(self.coverage[k][scored].max()),
                "below": float(self.below[k][scored].mean()),
                "above": float(self.above[k][scored].mean()),
                "undefined": float(self.undefined[k][scored].mean()),
            }
            for k, method in enumerate(self.methods)
        ]

    def outliers(self) -> list[Record]:
        """Return what is covered far less than the level and the method's median, and why.

        The lowest coverage comes first.
        """
        error = np.sqrt(self.level * (1.0 - self.level) / self.samples)
        median = np.nanmedian(self.coverage, axis=(1, 2), keepdims=True)
        far = np.argwhere(self.coverage < np.minimum(median, self.level) - _OUTLYING * error)
        records = [
            {
                "run": self.runs[r],
                "measure": self.measures[m],
                "method": self.methods[k],
                "coverage": float(self.coverage[k, r, m]),
                "reason": self.reasons[r][m],
            }
            for k, r, m in far.tolist()
        ]
        return sorted(records, key=lambda record: record["coverage"])


def estimate_coverage(
    scores: ScoresSource,
    *,
    methods: MethodLike | Iterable[MethodLike] | None = None,
    level: float = 0.95,
    samples: int = 1_000,
    replicates: int = 1_000,
    rng: Rng = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> Coverage:
    """Return the share of intervals that contain the mean, for every run, measure and method.

    Parameters
    ----------
    scores
        What `as_scores` takes; each run's scores are the population of its topics.
    methods
        Names of methods, "bootstrap-t-published" among them; `Method` objects or functions of one's
        own; by default all that fit.
    level
        The level of the intervals.
    samples, replicates
        Samples drawn from the population, and bootstrap replicates of each.
    rng, jobs, progress, resume
        Seed or generator; threads; called after each part; a folder that keeps parts.
    """
    scores = as_scores(scores)
    level = as_level(level)
    misses = count_misses(
        scores,
        methods=methods,
        levels=level,
        samples=samples,
        replicates=replicates,
        rng=rng,
        jobs=jobs,
        progress=progress,
        resume=resume,
    )
    shape = (len(misses.methods), len(scores.runs), len(scores.measures))
    coverage, below, above, undefined = (
        misses.share(counts)[:, 0].reshape(shape)
        for counts in (
            samples - misses.below - misses.above,
            misses.below,
            misses.above,
            misses.undefined,
        )
    )
    low, high = wilson_interval(coverage, samples)
    return Coverage(
        runs=scores.runs,
        measures=scores.measures,
        methods=misses.methods,
        level=level,
        coverage=coverage,
        low=low,
        high=high,
        below=below,
        above=above,
        undefined=undefined,
        mean_se=misses.mean_error_se[:, 0],
        reasons=_reasons(scores),
        samples=samples,
        replicates=replicates,
    )


def wilson_interval(share: Floats, count: int, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return Wilson's interval of a binomial share (Wilson 1927)."""
    from scipy.special import ndtri

    z = float(ndtri(tail_probabilities(level)[1]))
    shrink = 1.0 + z**2 / count
    centre = (share + z**2 / (2.0 * count)) / shrink
    reach = z / shrink * np.sqrt(share * (1.0 - share) / count + (z / (2.0 * count)) ** 2)
    return np.maximum(centre - reach, 0.0), np.minimum(centre + reach, 1.0)


def _reasons(scores: Scores) -> tuple[tuple[str, ...], ...]:
    """Return in words what makes each run's scores hard for intervals."""
    return tuple(
        tuple(_reason(scores.values[:, r, m]) for m in range(len(scores.measures)))
        for r in range(len(scores.runs))
    )


def _reason(values: Floats) -> str:
    present = values[~np.isnan(values)]
    if len(present) == 0:
        return "no scores"
    common, count = np.unique(present, return_counts=True)
    most = int(count.argmax())
    if count[most] > len(present) / 3:
        return f"{count[most]} of {len(present)} topics score {common[most]:g}"
    deviation = present - present.mean()
    skewness = float(np.mean(deviation**3) / np.mean(deviation**2) ** 1.5)
    return f"skewness {skewness:.1f} over {len(present)} topics"
