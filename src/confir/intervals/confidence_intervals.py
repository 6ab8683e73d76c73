"""Confidence intervals of all columns: the method of each, limits block by block, and warnings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from confir.arguments import as_generator, as_levels, as_texts, check_replicates, check_rng
from confir.arrays import TIE, Floats, Integers
from confir.data.experiment import on_its_scheduler
from confir.data.run_scores import RunScores
from confir.data.scores import Scores
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import (
    DegenerateSampleWarning,
    InvalidValueError,
    SmallSampleWarning,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.intervals.interval import Interval, Limits
from confir.intervals.method import Method, Source
from confir.intervals.method_list import (
    DEFAULT_BOUNDED_METHOD,
    DEFAULT_DEPENDENT_METHOD,
    DEFAULT_DOCUMENT_METHOD,
    DEFAULT_METHOD,
    METHODS,
    check_fit,
    find_method,
)
from confir.measures.parsing import assumed_bounded
from confir.parallel import run_blocks, run_in_threads
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.kinds import as_sample, as_scores_or_array
from confir.resampling.replicates import DrawnWeights, Rng, own_seed
from confir.resampling.topic_sample import ScoresLike

if TYPE_CHECKING:
    from confir.data.votes import Votes
    from confir.resampling.sample import Sample
    from confir.resampling.statistics import WeightedStatistic

# With fewer replicates beyond a limit, the limit is mostly chance.
_LEAST_IN_TAIL = 10

# Columns resampled together: few enough for the processor's cache, fixed so that the number of
# threads changes no bit of the result.
_BLOCK = 64

# The same where limits have a closed form, so that there are no replicates to keep there.
_CLOSED_BLOCK = 1024

# The method of each column.
Choice = tuple[Method, ...]


@overload
def confidence_interval(
    scores: ScoresLike | RunScores | Votes | Sample | SamplingDistribution,
    *,
    level: float = ...,
    method: str | None = ...,
    replicates: int | None = ...,
    rng: Rng = ...,
    statistic: str | WeightedStatistic = ...,
    baseline: str | None = ...,
) -> Interval: ...


@overload
def confidence_interval(
    scores: ScoresLike | RunScores | Votes | Sample | SamplingDistribution,
    *,
    level: float | Sequence[float] = ...,
    method: str | Sequence[str] | None = ...,
    replicates: int | None = ...,
    rng: Rng = ...,
    statistic: str | WeightedStatistic = ...,
    baseline: str | None = ...,
) -> list[Interval]: ...


@on_its_scheduler
def confidence_interval(
    scores: ScoresLike | RunScores | Votes | Sample | SamplingDistribution,
    *,
    level: float | Sequence[float] = LEVEL,
    method: str | Sequence[str] | None = None,
    replicates: int | None = None,
    rng: Rng = SEED,
    statistic: str | WeightedStatistic = "mean",
    baseline: str | None = None,
) -> Interval | list[Interval]:
    """Return confidence intervals of a statistic, for all runs and measures.

    Topics are a sample: an interval says how far a mean over others like them may lie from this one.

    Parameters
    ----------
    scores
        What `as_scores` takes; an array of scores, topics or topics × columns; scores of any other
        kind (docs/kinds.md); or a sampling distribution.
    level
        Confidence level; or several, which give a list of intervals from the same replicates.
    method
        Name of a method in METHODS, or several; by default for each measure the one that suits it:
        `calibrated-beta` for means of scores in [0, 1], with a design `logit-t`; `t` for all else,
        `linear` over documents.
    replicates
        Number of replicates, B: by default 9,999, of a summary 999.
    rng
        Seed or generator.
    statistic, baseline
        As in `bootstrap_topics`.

    Examples
    --------
    >>> confir.confidence_interval([0.3, 0.5, 0.4, 0.6], method="t")
    Interval(0.4500 [0.2446, 0.6554], level=0.95, method='t')
    """
    levels = as_levels(level)
    check_rng(rng)
    if not isinstance(scores, Scores | SamplingDistribution):
        scores = as_scores_or_array(scores)
    if replicates is None:
        replicates = getattr(scores, "default_replicates", REPLICATES)
    check_replicates(replicates)
    several = not isinstance(level, Real) or not (method is None or isinstance(method, str))
    source: Source
    if isinstance(scores, SamplingDistribution):
        source = scores
    else:
        source = as_sample(scores, statistic=statistic, baseline=baseline)
        if source.topics < 2:
            raise InvalidValueError("there is one topic; an interval needs at least 2")
    choices = _choose(source, None if method is None else as_texts("method", method))
    over_topics = source.over == "topics"
    methods: set[Method] = set().union(*choices)
    if over_topics and any("replicates" in one.needs or one.draws for one in methods):
        check_tails(source.scheme.replicates or replicates, max(levels))
    intervals = find_intervals(source, choices, levels, replicates, rng)
    if source.scheme.uneven:
        _warn_uneven(source, methods)
    for interval in intervals[:: len(levels)] if over_topics else ():
        if np.isnan(interval.low).any():
            _warn_degenerate(source, interval)
    assumed = assumed_bounded(scores) if isinstance(scores, RunScores) else ()
    if assumed:
        intervals = [_with_assumed(interval, assumed) for interval in intervals]
    return intervals if several else intervals[0]


def _choose(source: Source, names: Sequence[str] | None) -> list[Choice]:
    """Return the method of every column: by each name, else by the kind of scores in the column."""
    if names is not None:
        methods = [find_method(name, source.over) for name in names]
        for method in methods:
            check_fit(method, source)
        return [(method,) * len(source.labels) for method in methods]
    if source.over == "documents":
        return [(METHODS[DEFAULT_DOCUMENT_METHOD],) * len(source.labels)]
    bounded, dependent = METHODS[DEFAULT_BOUNDED_METHOD], METHODS[DEFAULT_DEPENDENT_METHOD]
    columns = zip(source.simple_columns().tolist(), source.support.tolist(), strict=True)
    wanted = [(bounded if simple else dependent, inside) for simple, inside in columns]
    provided, other = source.provided, METHODS[DEFAULT_METHOD]
    return [
        tuple(
            method if inside and provided.issuperset(method.needs) else other
            for method, inside in wanted
        )
    ]


def find_intervals(
    source: Source, choices: Sequence[Choice], levels: Sequence[float], replicates: int, rng: Rng
) -> list[Interval]:
    """Return an interval for each choice of methods and level, in that order.

    Columns that are resampled here share the replicates.
    """
    shape, drawn = source.shape, source.scheme.replicates
    if isinstance(source, SamplingDistribution):
        blocks = [_limits(source, choices, levels)]
    else:
        blocks = _resample(source, choices, levels, replicates, rng)
        drawn = drawn or replicates
    # Over documents a standard error comes from replicates, too.
    always = source.over == "documents"
    known = [block.effective for block in blocks if block.effective is not None]
    effective = np.concatenate(known).reshape(shape) if known else None
    return [
        Interval(
            labels=source.labels,
            estimate=np.concatenate([block.estimate for block in blocks]).reshape(shape),
            low=np.concatenate([block.limits[place].low for block in blocks]).reshape(shape),
            high=np.concatenate([block.limits[place].high for block in blocks]).reshape(shape),
            topics=np.concatenate([block.topics for block in blocks]).reshape(shape),
            level=level,
            methods=tuple(method.name for method in choice),
            replicates=drawn
            if always or any("replicates" in method.needs for method in choice)
            else 0,
            effective=effective,
            design=source.scheme.words,
        )
        for place, (choice, level) in enumerate((c, v) for c in choices for v in levels)
    ]


class _Block(NamedTuple):
    """What is kept of a block of columns."""

    estimate: Floats
    topics: Integers
    limits: list[Limits]
    effective: Floats | None


def _resample(
    source: Sample, choices: Sequence[Choice], levels: Sequence[float], replicates: int, rng: Rng
) -> list[_Block]:
    """Return the limits of columns, block by block, whose topics are resampled here.

    Methods in closed form need no random numbers.
    """
    methods: set[Method] = set().union(*choices)
    closed = all(method.closed_form for method in methods)
    needs = {need for method in methods for need in method.needs}
    seed, drawn = 0, None
    if not closed:
        generator = as_generator(rng)
        seed = own_seed(generator)
        if "replicates" in needs:
            drawn = DrawnWeights(lambda own: source.draw(replicates, own, needs), generator)

    def task(columns: slice) -> _Block:
        block = source.distribution(columns, None if drawn is None else drawn.weights, needs)
        own = [choice[columns] for choice in choices]
        return _limits(replace(block, seed=seed, draws=replicates), own, levels)

    size = _CLOSED_BLOCK if closed else _BLOCK
    blocks = [slice(start, start + size) for start in range(0, len(source.labels), size)]
    return run_in_threads(task, blocks) if source.threaded else run_blocks(task, blocks)


def _limits(
    distribution: SamplingDistribution, choices: Sequence[Choice], levels: Sequence[float]
) -> _Block:
    """Return the limits of a block of columns by each choice and level.

    Equal scores have none unless the method has them: they say little about other topics. A score
    that no other collection changes is certain.
    """
    limits = []
    for choice in choices:
        for level in levels:
            low, high = np.full((2, len(choice)), np.nan)
            for method in dict.fromkeys(choice):
                chosen = np.array([one is method for one in choice])
                if not (method.any_sample or distribution.over == "documents"):
                    chosen &= ~distribution.degenerate
                lower, upper = method.compute(distribution, level)
                low, high = np.where(chosen, lower, low), np.where(chosen, upper, high)
            limits.append(Limits(low, high))
    return _Block(distribution.estimate, distribution.count, limits, distribution.effective)


def _with_assumed(interval: Interval, assumed: Sequence[str]) -> Interval:
    """Return an interval that names the measures whose method rests on an assumed range."""
    pairs = zip(interval.labels, interval.methods, strict=True)
    bounded = {measure for (_, measure), name in pairs if METHODS[name].bounded}
    return replace(interval, assumed=tuple(name for name in assumed if name in bounded))


def check_tails(replicates: int, level: float) -> None:
    """Warn where too few replicates lie beyond the limits of an interval."""
    expected = (replicates + 1) * (1.0 - level) / 2.0
    if expected < _LEAST_IN_TAIL - TIE:
        needed = int(np.ceil(2.0 * _LEAST_IN_TAIL / (1.0 - level) - TIE)) - 1
        leave = "leaves" if replicates == 1 else "leave"
        warn_caller(
            f"{counted(replicates, 'replicate')} {leave} {expected:.1f} beyond each limit at level "
            f"{level:g}; a stable interval needs {needed} or more",
            SmallSampleWarning,
        )


def _warn_uneven(source: Source, methods: Collection[Method]) -> None:
    """Warn where clusters weigh so differently that methods without their own se* are too narrow."""
    narrow = sorted(method.name for method in methods if "replicate_se" not in method.needs)
    if narrow:
        fitting = "symmetric-t-logit" if source.support.all() else "symmetric-t"
        warn_caller(
            f"a few of the clusters have much of the weight: intervals by {enumerate_names(narrow)} may "
            f"be too narrow; expected the method {fitting}, or more clusters",
            SmallSampleWarning,
        )


def _warn_degenerate(source: Source, interval: Interval) -> None:
    """Warn of columns without limits, by method and cause; name the methods that have limits."""
    missing = np.flatnonzero(np.isnan(interval.low)).tolist()
    others = [other.name for other in METHODS.values() if other.any_sample]
    few = interval.topics.reshape(-1) < 2
    causes = [(interval.methods[i], bool(few[i])) for i in missing]
    for method, too_few in dict.fromkeys(causes):
        columns = [
            i for i, cause in zip(missing, causes, strict=True) if cause == (method, too_few)
        ]
        cause = "fewer than two scores" if too_few else "the scores are all equal, or nearly so"
        names = [" ".join(source.labels[i]) for i in columns]
        answered = all(source.support[i] for i in columns) and "sample" in source.provided
        hint = f"; {', '.join(others)} give one" if answered and method not in others else ""
        warn_caller(
            f"no {method} interval for {enumerate_names(names, 5)}: {cause}{hint}",
            DegenerateSampleWarning,
        )
