"""Are the intervals calibrated? Coverage on the given scores ([Soboroff2014] §3).

A run's scores are taken as the population; samples of the same size are drawn from it with
replacement, and the intervals that contain the population's mean are counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from confir.arguments import as_level
from confir.arrays import Floats
from confir.data.experiment import on_its_scheduler
from confir.data.result import Record, Result, axis, constant, over, result
from confir.data.score_objects import ScoresSource
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.defaults import LEVEL, SAMPLE_REPLICATES, SAMPLES, SEED
from confir.errors import enumerate_names
from confir.intervals.interval import tail_probabilities
from confir.measures.score_sources import as_scores
from confir.number_text import number_text, percent
from confir.parallel import Progress
from confir.resampling.kinds import needs
from confir.resampling.replicates import Rng
from confir.resampling.sample import Knowledge
from confir.studies.coverage.miss_counts import MethodLike, count_misses

# The coverage of an outlier is more than this many standard errors too low.
_OUTLYING = 4.0
_OUTLIERS_SHOWN, _METHODS_SHOWN = 10, 4


@result
class Coverage(Result):
    """The share of intervals that contain the mean: all arrays are methods × runs × measures.

    Attributes
    ----------
    runs, measures, methods
        Names.
    level
        Nominal level of the intervals.
    coverage
        Share of intervals that contain the population's mean.
    low, high
        Wilson's 95% interval of that share.
    below, above
        Share of intervals with the truth below them, and above.
    undefined
        Share of samples that had no interval; they count as misses.
    mean_se
        Standard error of each method's mean coverage over runs and measures, which share the
        samples (methods).
    reasons
        What is unusual about the scores, in words: runs × measures.
    samples, replicates
        Samples drawn, and replicates of each.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    methods: tuple[str, ...] = axis("method")
    level: float = constant()
    coverage: Floats = over("method", "run", "measure")
    low: Floats = over("method", "run", "measure")
    high: Floats = over("method", "run", "measure")
    below: Floats = over("method", "run", "measure")
    above: Floats = over("method", "run", "measure")
    undefined: Floats = over("method", "run", "measure")
    mean_se: Floats = over("method")
    reasons: tuple[tuple[str, ...], ...] = over("run", "measure")
    samples: int
    replicates: int

    record_columns = ("run", "measure", "method", "level", "coverage", "low", "high")

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
                **{
                    name: float(getattr(self, name)[k][scored].mean())
                    for name in ("below", "above", "undefined")
                },
            }
            for k, method in enumerate(self.methods)
        ]

    def outliers(self) -> list[Record]:
        """Return runs and methods whose coverage is far below the level and the method's median.

        The median is of runs of which some sample has an interval. The lowest coverage comes first.
        """
        error = np.sqrt(self.level * (1.0 - self.level) / self.samples)
        served = [
            own[share < 1.0] for own, share in zip(self.coverage, self.undefined, strict=True)
        ]
        usual = [np.median(own) if len(own) else self.level for own in served]
        median = np.reshape(usual, (-1, 1, 1))
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

    def table_columns(self) -> TableColumns:
        """Return how the columns read, of the table by method."""
        titles = {
            "coverage": "mean coverage",
            "least": "lowest",
            "greatest": "highest",
            "below": "truth below",
            "above": "truth above",
            "undefined": "no interval",
        }
        columns = {name: TableColumn(Role.SCORE, title) for name, title in titles.items()}
        columns["coverage"] = columns["coverage"]._replace(text=_with_error)
        return {"method": TableColumn(Role.NAME), **columns}

    table_records = summary

    def note(self, details: str = "") -> str:
        """Return what was counted, with some details, and the runs with unusually low coverage."""
        what = f"share of {percent(self.level)} intervals that contain the mean of all topics"
        lines = [f"{what}, ± Monte-Carlo standard error{details}"]
        by_run: dict[str, list[str]] = {}
        for one in self.outliers():
            name = f"  {one['run']} {one['measure']} ({one['reason']})"
            by_run.setdefault(name, []).append(f"{one['method']} {one['coverage']:.3f}")
        shown = list(by_run.items())[:_OUTLIERS_SHOWN]
        lines.append(
            "runs with unusually low coverage:" if shown else "no run has unusually low coverage"
        )
        lines += [f"{name}: {enumerate_names(own, _METHODS_SHOWN)}" for name, own in shown]
        if len(by_run) > len(shown):
            lines.append(f"  and {len(by_run) - len(shown)} more")
        return "\n".join(lines)


@on_its_scheduler
@needs(
    Knowledge.UNITS,
    "the study of coverage",
    also=["scores by human and model judgements", "means over repeats"],
)
def estimate_coverage(
    scores: ScoresSource,
    *,
    methods: MethodLike | Iterable[MethodLike] | None = None,
    level: float = LEVEL,
    samples: int = SAMPLES,
    replicates: int = SAMPLE_REPLICATES,
    rng: Rng = SEED,
    jobs: int | None = None,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> Coverage:
    """Return the share of intervals that contain the mean, for every run, measure and method.

    An interval assumes something about scores, which may be skewed, mostly 0, or few. Whether its
    level holds for scores like yours is seen only by drawing samples from them, whose mean is known.

    Parameters
    ----------
    scores
        Anything that `as_scores` takes; each run's scores are a population of topics. Of human and
        model judgements it is the topics that both judged; of repeats, topics and each system's repeats.
    methods
        Names, including "bootstrap-t-published", `Method` objects or functions; by default all
        that apply.
    level
        The level of the intervals.
    samples, replicates
        Samples drawn from the population, and bootstrap replicates of each.
    rng, jobs, progress, resume
        Seed or generator; number of threads; called after each part; folder that stores parts.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.estimate_coverage(scores, methods="t", samples=200)
    Coverage(run: 2, measure: 1, method: 1, level=0.95)
    """
    scores = as_scores(scores, human=True)
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
    counts = {
        "coverage": samples - misses.below - misses.above,
        "below": misses.below,
        "above": misses.above,
        "undefined": misses.undefined,
    }
    shares = {name: misses.share(n)[:, 0].reshape(shape) for name, n in counts.items()}
    low, high = wilson_interval(shares["coverage"], samples)
    reasons = [[_reason(column) for column in run.T] for run in scores.values.swapaxes(0, 1)]
    return Coverage(
        runs=scores.runs,
        measures=scores.measures,
        methods=misses.methods,
        level=level,
        **shares,
        low=low,
        high=high,
        mean_se=misses.mean_error_se[:, 0],
        reasons=tuple(map(tuple, reasons)),
        samples=samples,
        replicates=replicates,
    )


def _with_error(record: Record) -> str:
    """Return a mean coverage with its standard error, if there is one."""
    if np.isnan(record["se"]):
        return number_text(record["coverage"])
    return f"{record['coverage']:.4f} ± {record['se']:.4f}"


def wilson_interval(share: Floats, count: int, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return Wilson's interval of a binomial share (Wilson 1927)."""
    from scipy.special import ndtri

    z = float(ndtri(tail_probabilities(level)[1]))
    shrink = 1.0 + z**2 / count
    centre = (share + z**2 / (2.0 * count)) / shrink
    reach = z / shrink * np.sqrt(share * (1.0 - share) / count + (z / (2.0 * count)) ** 2)
    return np.maximum(centre - reach, 0.0), np.minimum(centre + reach, 1.0)


def _reason(values: Floats) -> str:
    """Return what makes intervals difficult for scores, in words."""
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
