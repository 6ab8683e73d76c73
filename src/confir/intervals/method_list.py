"""The interval methods: METHODS is the one list; `confidence_interval` applies them.

A method is declared in the module that computes it; it joins the list by a line here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, overload

import numpy as np

from confir.arguments import as_choice, as_level, as_levels, as_texts, check_rng
from confir.data.experiment import on_its_scheduler
from confir.data.run_scores import RunScores
from confir.defaults import LEVEL, REPLICATES, SEED
from confir.errors import (
    DegenerateSampleWarning,
    InvalidValueError,
    SmallSampleWarning,
    UnsupportedMethodError,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.intervals.beta_logit import BETA_LOGIT
from confir.intervals.bootstrap_t import (
    BOOTSTRAP_T,
    BOOTSTRAP_T_LOGIT,
    HALL_LOGIT,
    SYMMETRIC_T,
    SYMMETRIC_T_LOGIT,
)
from confir.intervals.bounded import BETTING, GAFFKE
from confir.intervals.calibrated_beta import CALIBRATED_BETA
from confir.intervals.columns import Choice, Source, find_intervals
from confir.intervals.document_intervals import LINEAR, LOGIT
from confir.intervals.interval import Interval
from confir.intervals.percentile import BCA, PERCENTILE, STUDENTISED_LOGIT
from confir.intervals.standard import LOGIT_T, T
from confir.measures.bounded_measures import assumed_bounded
from confir.measures.score_summary import ScoreSummary
from confir.order import TIE
from confir.resampling.distribution import Resampled, SamplingDistribution
from confir.resampling.kinds import as_sample, as_scores_or_array
from confir.resampling.topic_bootstrap import Rng, ScoresLike, check_replicates

if TYPE_CHECKING:
    from confir.data.scores import Scores
    from confir.intervals.method import Method
    from confir.resampling.sample import Sample
    from confir.resampling.statistics import WeightedStatistic

# With fewer replicates beyond a limit, the limit is mostly chance.
_LEAST_IN_TAIL = 10

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        T,
        LINEAR,
        LOGIT,
        PERCENTILE,
        BCA,
        BOOTSTRAP_T,
        SYMMETRIC_T,
        STUDENTISED_LOGIT,
        LOGIT_T,
        BETA_LOGIT,
        CALIBRATED_BETA,
        BOOTSTRAP_T_LOGIT,
        SYMMETRIC_T_LOGIT,
        HALL_LOGIT,
        BETTING,
        GAFFKE,
    )
}

DEFAULT_METHOD = T.name  # for differences, counts and all that is no mean of scores in [0, 1]
DEFAULT_BOUNDED_METHOD = CALIBRATED_BETA.name  # for means of scores in [0, 1]
DEFAULT_DEPENDENT_METHOD = LOGIT_T.name  # for such means of no simple random sample
DEFAULT_DOCUMENT_METHOD = LINEAR.name
DEFAULT_SCORE_METHOD = LOGIT.name  # over documents, for a topic's score in [0, 1]


def methods_over(over: Resampled) -> dict[str, Method]:
    """Return the methods that serve resampled topics, or documents, by name."""
    return {name: method for name, method in METHODS.items() if over in method.uses}


def find_method(name: str, over: Resampled = "topics") -> Method:
    """Return the method of a name; an unknown one raises, with the nearest names."""
    kind = "method" if over == "topics" else f"method over {over}"
    return METHODS[as_choice("method", name, methods_over(over), kind)]


def fields_needed(names: Iterable[str]) -> set[str]:
    """Return the fields of a sampling distribution that methods read."""
    return {need for name in names for need in METHODS[name].needs}


def fits(method: Method, source: Source) -> bool:
    """Whether a method has limits for all columns of a statistic."""
    provided = source.provided.issuperset(method.needs)
    inside = not method.bounded or bool(source.support.all())
    sampled = source.independent or not method.one_sample
    return source.over in method.uses and provided and inside and sampled


def check_fit(method: Method, source: Source) -> None:
    """Raise where a method does not fit a statistic, naming those that do."""
    if fits(method, source):
        return
    lacking = [need for need in method.needs if need not in source.provided]
    outside = [source.labels[i] for i in np.flatnonzero(~source.support)] if method.bounded else []
    reason = f"it is not for resampled {source.over}"
    if outside:
        run, measure = outside[0]
        reason = f"it is for statistics in [0, 1], which {measure} of {run} is not"
    elif method.one_sample and not source.independent:
        reason = "it is for one simple random sample of topics, which these are not"
    elif lacking:
        reason = f"it needs {' and '.join(lacking)}, which this statistic lacks"
    raise misfit(method, reason, [other for other in METHODS.values() if fits(other, source)])


def misfit(method: Method, reason: str, fitting: Iterable[Method]) -> UnsupportedMethodError:
    """Return the error that says why a method does not fit, and which ones do."""
    return UnsupportedMethodError(
        f"method {method.name!r} does not fit: {reason}; methods that fit: "
        f"{enumerate_names([other.name for other in fitting], 20)}"
    )


@overload
def confidence_interval(
    scores: ScoresLike | ScoreSummary | Sample | SamplingDistribution,
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
    scores: ScoresLike | ScoreSummary | Sample | SamplingDistribution,
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
    scores: ScoresLike | ScoreSummary | Sample | SamplingDistribution,
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
        What `as_scores` takes; an array of scores, topics or topics × columns; a `ScoreSummary`;
        or a sampling distribution.
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
    if not isinstance(scores, SamplingDistribution):
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
    if over_topics and any(one.resamples or one.draws for one in set().union(*choices)):
        made = getattr(source, "replicates", None)  # of a distribution that is there already
        check_tails(replicates if made is None else len(made), max(levels))
    intervals = find_intervals(source, choices, levels, replicates, rng)
    if source.uneven:
        _warn_uneven(source, set().union(*choices))
    if over_topics:
        for interval in intervals[:: len(levels)]:
            _warn_degenerate(source, interval)
    assumed = assumed_bounded(scores) if isinstance(scores, RunScores) else ()
    if assumed:
        intervals = [_with_assumed(interval, assumed) for interval in intervals]
    return intervals if several else intervals[0]


def means_alone(scores: Scores | ScoreSummary, level: float) -> Interval:
    """Return the means of scores with limits that are not known, as for a single topic."""
    as_level(level)
    mean = scores.mean()
    return Interval(
        labels=tuple((run, measure) for run in scores.runs for measure in scores.measures),
        estimate=mean,
        low=np.full(mean.shape, np.nan),
        high=np.full(mean.shape, np.nan),
        topics=scores.topic_counts(),
        level=level,
        methods=("none",) * mean.size,
    )


def _choose(source: Source, names: Sequence[str] | None) -> list[Choice]:
    """Return the method of every column: by each name, else by what the column holds."""
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
        warn_caller(
            f"{counted(replicates, 'replicate')} leave {expected:.1f} beyond each limit at level "
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
