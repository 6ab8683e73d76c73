"""Which intervals are there? METHODS is the one list; `confidence_interval` applies them."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import NamedTuple, overload

import numpy as np

from confir.arguments import as_choice, as_generator, as_levels, as_texts
from confir.arrays import Booleans, Floats, Integers
from confir.data.scores import Scores
from confir.errors import (
    DegenerateSampleWarning,
    InputWarning,
    InvalidValueError,
    UnsupportedMethodError,
    enumerate_names,
)
from confir.intervals.bca import bca_interval, bca_side
from confir.intervals.beta_logit import beta_logit_interval
from confir.intervals.bootstrap_t import (
    bootstrap_t_interval,
    bootstrap_t_logit_interval,
    bootstrap_t_logit_side,
    bootstrap_t_side,
    hall_logit_interval,
    hall_logit_side,
    symmetric_t_interval,
    symmetric_t_logit_interval,
    symmetric_t_logit_side,
    symmetric_t_side,
)
from confir.intervals.bounded import betting_interval, gaffke_interval
from confir.intervals.documents import document_intervals
from confir.intervals.interval import Interval, Limits, check_level
from confir.intervals.percentile import (
    percentile_interval,
    percentile_side,
    studentised_logit_interval,
)
from confir.intervals.probe import Probe, side_of_limits
from confir.intervals.standard import logit_t_interval, t_interval
from confir.measures.bounds import assumed_bounded
from confir.order import TIE
from confir.parallel import run_in_threads
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.statistics import WeightedStatistic
from confir.resampling.topics import (
    DEFAULT_REPLICATES,
    Rng,
    ScoresLike,
    TopicSample,
    check_replicates,
    own_seed,
    topic_sample,
    topic_weights,
)

# Columns resampled together: few enough for the processor's cache, fixed so that the number of
# threads changes no bit of the result.
_BLOCK = 64

# With fewer replicates beyond a limit, the limit is mostly chance.
_LEAST_IN_TAIL = 10


@dataclass(frozen=True, slots=True)
class Method:
    """An interval method: a line of the catalogue.

    Attributes
    ----------
    name
        Its name in options and results.
    compute
        From a sampling distribution and a level to limits.
    needs
        The fields of the distribution that it reads.
    bounded
        Whether it holds for statistics in [0, 1] only.
    any_sample
        Whether it answers for a sample of equal scores too.
    assumes, source, fails
        What it assumes, where it comes from, and when it fails: one line each.
    count_side
        The side of a value found by counting, where that is faster than by the limits.
    """

    name: str
    compute: Callable[[SamplingDistribution, float], Limits]
    needs: tuple[str, ...]
    assumes: str
    source: str
    fails: str
    bounded: bool = False
    any_sample: bool = False
    count_side: Callable[[Probe, float], Integers] | None = None

    def side(self, probe: Probe, level: float) -> Integers:
        """Return on which side of the interval the probe's values lie: BELOW, INSIDE or ABOVE."""
        if self.count_side is not None:
            return self.count_side(probe, level)
        return side_of_limits(self.compute(probe.distribution, level), probe.value)

    @property
    def summary(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    @property
    def resamples(self) -> bool:
        """Whether it needs replicates of the topics."""
        return "replicates" in self.needs

    @property
    def cost(self) -> str:
        """What it costs, in words."""
        products = sum(need.startswith("replicate") for need in self.needs)
        if self.name == "betting":
            return "no resampling; a search"
        return ("none", "one product, a sort", "two products, a sort", "three products, a sort")[
            products if self.name != "gaffke" else 1
        ]


_ALL = (
    Method(
        "t",
        t_interval,
        needs=("se",),
        assumes="the mean is nearly normal",
        source="Student 1908; Soboroff 2014",
        fails="few topics or skewed scores: too many misses on one side; limits may leave [0, 1]",
    ),
    Method(
        "percentile",
        percentile_interval,
        count_side=percentile_side,
        needs=("replicates",),
        assumes="the bootstrap means spread around m as m does around the truth",
        source="Efron 1979; Park 2011, Soboroff 2014",
        fails="few topics: too narrow",
    ),
    Method(
        "bca",
        bca_interval,
        count_side=bca_side,
        needs=("replicates", "acceleration"),
        assumes="as percentile, after a correction of bias and skewness",
        source="Efron 1987; Park 2011, Soboroff 2014",
        fails="few topics: too narrow",
    ),
    Method(
        "bootstrap-t",
        bootstrap_t_interval,
        count_side=bootstrap_t_side,
        needs=("se", "replicates", "replicate_se"),
        assumes="(m*-m)/se* spreads as (m-μ)/se does",
        source="Efron 1981; Soboroff 2014 (its 95 % interval was a 90 % one)",
        fails="nearly constant scores: very wide; limits may leave [0, 1]",
    ),
    Method(
        "symmetric-t",
        symmetric_t_interval,
        count_side=symmetric_t_side,
        needs=("se", "replicates", "replicate_se"),
        assumes="as bootstrap-t, for the two tails together",
        source="Hall 1988",
        fails="skewed scores: right on average, not in each tail",
    ),
    Method(
        "studentised-logit",
        studentised_logit_interval,
        needs=("replicates",),
        assumes="the logit of the mean is nearly normal",
        source="Park 2011",
        fails="few topics: too narrow",
        bounded=True,
    ),
    Method(
        "logit-t",
        logit_t_interval,
        needs=("se",),
        assumes="the logit of the mean is nearly normal",
        source="delta method",
        fails="scores that are nearly all 0 or 1",
        bounded=True,
    ),
    Method(
        "beta-logit",
        beta_logit_interval,
        needs=("sample", "se"),
        assumes="as logit-t, corrected for a skewness near that of a beta distribution",
        source="confir, after Hall 1992",
        fails="scores that are 0 but for a rare topic: too many misses on one side",
        bounded=True,
        any_sample=True,
    ),
    Method(
        "bootstrap-t-logit",
        bootstrap_t_logit_interval,
        count_side=bootstrap_t_logit_side,
        needs=("se", "replicates", "replicate_se"),
        assumes="as bootstrap-t, on the logit scale",
        source="confir",
        fails="nearly constant scores: up to the whole of [0, 1]",
        bounded=True,
    ),
    Method(
        "symmetric-t-logit",
        symmetric_t_logit_interval,
        count_side=symmetric_t_logit_side,
        needs=("se", "replicates", "replicate_se"),
        assumes="as bootstrap-t-logit, for the two tails together",
        source="confir, after Hall 1988",
        fails="skewed scores: right on average, not in each tail",
        bounded=True,
    ),
    Method(
        "hall-logit",
        hall_logit_interval,
        count_side=hall_logit_side,
        needs=("se", "acceleration", "replicates", "replicate_se", "replicate_skewness"),
        assumes="as bootstrap-t-logit, after a correction of skewness",
        source="confir, after Hall 1992",
        fails="nearly constant scores: up to the whole of [0, 1]",
        bounded=True,
    ),
    Method(
        "betting",
        betting_interval,
        needs=("sample",),
        assumes="scores lie in [0, 1], topics are drawn independently: nothing else",
        source="Waudby-Smith & Ramdas 2023",
        fails="never, but it is wide: coverage is guaranteed",
        bounded=True,
        any_sample=True,
    ),
    Method(
        "gaffke",
        gaffke_interval,
        needs=("sample",),
        assumes="scores lie in [0, 1], topics are drawn independently: nothing else",
        source="Gaffke 2005; Learned-Miller & Thomas 2019",
        fails="no failure is known; its coverage is conjectured, not proven",
        bounded=True,
        any_sample=True,
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in _ALL}

# The method of each column.
Choice = tuple[Method, ...]

DEFAULT_LEVEL = 0.95
DEFAULT_METHOD = "t"  # for differences, counts and all that is no mean of scores in [0, 1]
DEFAULT_BOUNDED_METHOD = "beta-logit"  # for means of scores in [0, 1]


@overload
def confidence_interval(
    scores: ScoresLike | SamplingDistribution,
    *,
    level: float = ...,
    method: str | None = ...,
    replicates: int = ...,
    rng: Rng = ...,
    statistic: str | WeightedStatistic = ...,
    baseline: str | None = ...,
) -> Interval: ...


@overload
def confidence_interval(
    scores: ScoresLike | SamplingDistribution,
    *,
    level: float | Sequence[float] = ...,
    method: str | Sequence[str] | None = ...,
    replicates: int = ...,
    rng: Rng = ...,
    statistic: str | WeightedStatistic = ...,
    baseline: str | None = ...,
) -> list[Interval]: ...


def confidence_interval(
    scores: ScoresLike | SamplingDistribution,
    *,
    level: float | Sequence[float] = DEFAULT_LEVEL,
    method: str | Sequence[str] | None = None,
    replicates: int = DEFAULT_REPLICATES,
    rng: Rng = None,
    statistic: str | WeightedStatistic = "mean",
    baseline: str | None = None,
) -> Interval | list[Interval]:
    """Return confidence intervals of a statistic over topics, for all runs and measures.

    Parameters
    ----------
    scores
        What `as_scores` takes; an array of scores, topics or topics × columns; or a sampling
        distribution.
    level
        Confidence level; or several, which give a list of intervals from the same replicates.
    method
        Name of a method in METHODS, or several; by default for each measure the one that suits it:
        `beta-logit` for means of scores in [0, 1], `t` for all else. A sampling distribution over
        documents has linear (the default), logit, percentile and bca.
    replicates
        Number of replicates, B.
    rng
        Seed or generator.
    statistic, baseline
        As in `bootstrap_topics`.
    """
    levels = as_levels(level)
    generator = as_generator(rng)
    check_replicates(replicates)
    several = not isinstance(level, Real) or not (method is None or isinstance(method, str))
    if isinstance(scores, SamplingDistribution) and "documents" in scores.resampled:
        over_documents = document_intervals(scores, levels, method)
        return over_documents if several else over_documents[0]
    sample = _Columns.of(scores, statistic, baseline)
    choices = sample.choose(None if method is None else as_texts("method", method))
    drawn = replicates if sample.replicates is None else sample.replicates
    if any(one.resamples or one.name == "gaffke" for one in set().union(*choices)):
        _check_tails(drawn, max(levels))
    intervals = sample.intervals(choices, levels, replicates, generator)
    return intervals if several else intervals[0]


def means_alone(scores: Scores, level: float) -> Interval:
    """Return the means of scores with limits that are not known, as for a single topic."""
    check_level(level)
    mean = scores.mean()
    return Interval(
        labels=tuple((run, measure) for run in scores.runs for measure in scores.measures),
        estimate=mean,
        low=np.full(mean.shape, np.nan),
        high=np.full(mean.shape, np.nan),
        topics=(~np.isnan(scores.values)).sum(axis=0),
        level=level,
        methods=("none",) * mean.size,
    )


def find_method(name: str) -> Method:
    """Return the method of a name; an unknown one raises, with the nearest names."""
    return METHODS[as_choice("method", name, METHODS)]


def _check_tails(replicates: int, level: float) -> None:
    expected = (replicates + 1) * (1.0 - level) / 2.0
    if expected < _LEAST_IN_TAIL - TIE:
        needed = int(np.ceil(2.0 * _LEAST_IN_TAIL / (1.0 - level) - TIE)) - 1
        warnings.warn(
            f"{replicates} replicates leave {expected:.1f} beyond each limit at level {level:g}; "
            f"{needed} or more are needed for a steady interval",
            InputWarning,
            stacklevel=3,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """Columns for which intervals are wanted: yet to be resampled, or resampled already."""

    labels: tuple[tuple[str, str], ...]
    shape: tuple[int, ...]
    support: Booleans
    source: TopicSample | SamplingDistribution
    assumed: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        scores: ScoresLike | SamplingDistribution,
        statistic: str | WeightedStatistic,
        baseline: str | None,
    ) -> _Columns:
        if isinstance(scores, SamplingDistribution):
            return cls(scores.labels, (len(scores.labels),), scores.support, scores)
        sample = topic_sample(scores, statistic=statistic, baseline=baseline)
        if sample.topics < 2:
            raise InvalidValueError("there is one topic; an interval needs at least 2")
        assumed = assumed_bounded(scores) if isinstance(scores, Scores) else ()
        return cls(sample.labels, sample.shape, sample.support, sample, assumed)

    @property
    def replicates(self) -> int | None:
        """Replicates that are there already."""
        done = self.source.replicates if isinstance(self.source, SamplingDistribution) else None
        return None if done is None else len(done)

    def choose(self, names: str | Sequence[str] | None) -> list[Choice]:
        """Return the method of every column: by each name, else by what the column holds."""
        if names is not None:
            methods = [find_method(name) for name in ([names] if isinstance(names, str) else names)]
            for method in methods:
                self.check(method)
            return [(method,) * len(self.labels) for method in methods]
        bounded, other = METHODS[DEFAULT_BOUNDED_METHOD], METHODS[DEFAULT_METHOD]
        fits = all(self._provides(need) for need in bounded.needs)
        return [tuple(bounded if fits and inside else other for inside in self.support.tolist())]

    def check(self, method: Method) -> None:
        """Raise where a method does not fit the columns, naming those that do."""
        lacking = [need for need in method.needs if not self._provides(need)]
        outside = [self.labels[i] for i in np.flatnonzero(~self.support)] if method.bounded else []
        if not lacking and not outside:
            return
        fitting = [
            other.name
            for other in METHODS.values()
            if all(self._provides(need) for need in other.needs)
            and (not other.bounded or self.support.all())
        ]
        reason = f"it needs {' and '.join(lacking)}, which this distribution lacks"
        if outside:
            run, measure = outside[0]
            reason = f"it is for statistics in [0, 1], which {measure} of {run} is not"
        raise UnsupportedMethodError(
            f"method {method.name!r} does not fit: {reason}; methods that fit: "
            f"{enumerate_names(fitting, 20)}"
        )

    def _provides(self, need: str) -> bool:
        if isinstance(self.source, SamplingDistribution):
            return getattr(self.source, need) is not None
        return self.source.provides(need)

    def intervals(
        self,
        choices: Sequence[Choice],
        levels: Sequence[float],
        replicates: int,
        rng: np.random.Generator,
    ) -> list[Interval]:
        """Return an interval for each choice of methods and level, in that order."""
        seed = own_seed(rng)
        if isinstance(self.source, SamplingDistribution):
            parts = [_limits(self.source, choices, levels)]
            done = 0 if self.source.replicates is None else len(self.source.replicates)
        else:
            source = self.source
            methods = set().union(*choices)
            resamples = any(method.resamples for method in methods)
            weights = topic_weights(source.topics, replicates, rng) if resamples else None
            needs = {need for method in methods for need in method.needs}

            def task(columns: slice) -> _Block:
                block = source.distribution(columns, weights, needs)
                own = [choice[columns] for choice in choices]
                return _limits(replace(block, seed=seed, draws=replicates), own, levels)

            starts = range(0, source.columns, _BLOCK)
            parts = run_in_threads(task, [slice(start, start + _BLOCK) for start in starts])
            done = replicates
        intervals = [
            self._join(parts, i, choice, level, done)
            for i, (choice, level) in enumerate((c, v) for c in choices for v in levels)
        ]
        for interval in intervals[:: len(levels)]:
            missing = np.flatnonzero(np.isnan(interval.low)).tolist()
            for method in dict.fromkeys(interval.methods[i] for i in missing):
                self._warn(method, [i for i in missing if interval.methods[i] == method])
        return intervals

    def _warn(self, method: str, degenerate: Sequence[int]) -> None:
        names = [" ".join(self.labels[i]) for i in degenerate]
        answered = all(self.support[i] for i in degenerate) and self._provides("sample")
        others = [other.name for other in METHODS.values() if other.any_sample]
        hint = f"; {', '.join(others)} give one" if answered and method not in others else ""
        warnings.warn(
            f"no {method} interval for {enumerate_names(names, 5)}: the scores are all equal "
            f"or too few{hint}",
            DegenerateSampleWarning,
            stacklevel=4,
        )

    def _join(
        self, parts: Sequence[_Block], place: int, choice: Choice, level: float, replicates: int
    ) -> Interval:
        limits = [part.limits[place] for part in parts]
        bounded = {m for (_, m), method in zip(self.labels, choice, strict=True) if method.bounded}
        return Interval(
            labels=self.labels,
            estimate=np.concatenate([part.estimate for part in parts]).reshape(self.shape),
            low=np.concatenate([limit.low for limit in limits]).reshape(self.shape),
            high=np.concatenate([limit.high for limit in limits]).reshape(self.shape),
            topics=np.concatenate([part.topics for part in parts]).reshape(self.shape),
            level=level,
            methods=tuple(method.name for method in choice),
            replicates=replicates if any(method.resamples for method in choice) else 0,
            assumed=tuple(name for name in self.assumed if name in bounded),
        )


class _Block(NamedTuple):
    """What is kept of a block of columns."""

    estimate: Floats
    topics: Integers
    limits: list[Limits]


def _limits(
    distribution: SamplingDistribution, choices: Sequence[Choice], levels: Sequence[float]
) -> _Block:
    """Return the limits of a block of columns by each choice and level; NaN where degenerate."""
    limits = []
    for choice in choices:
        for level in levels:
            low, high = np.empty((2, len(choice)))
            for method in dict.fromkeys(choice):
                chosen = np.array([one is method for one in choice])
                found = _method_limits(method, distribution, level)
                low, high = np.where(chosen, found.low, low), np.where(chosen, found.high, high)
            limits.append(Limits(low, high))
    return _Block(distribution.estimate, distribution.count, limits)


def _method_limits(method: Method, distribution: SamplingDistribution, level: float) -> Limits:
    low, high = method.compute(distribution, level)
    degenerate = distribution.degenerate & (not method.any_sample)
    return Limits(np.where(degenerate, np.nan, low), np.where(degenerate, np.nan, high))
