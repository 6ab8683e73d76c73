"""The kinds of samples, and the one function that knows them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import numpy as np

from confir.arguments import as_choice, as_reals
from confir.data.experiment import Experiment
from confir.data.run_scores import RunScores
from confir.data.scores import Scores, check_size, lie_in_unit_interval
from confir.errors import (
    FormatError,
    InvalidValueError,
    UnsupportedMethodError,
    enumerate_names,
)
from confir.measures.parsing import bounded_measures
from confir.measures.score_sources import as_run_scores
from confir.resampling.sample import Knowledge, Sample, names
from confir.resampling.statistics import STATISTICS, Statistic, WeightedStatistic
from confir.resampling.topic_sample import ScoresLike, TopicSample, prepare_topics

if TYPE_CHECKING:
    from confir.data.votes import Votes

Given = ParamSpec("Given")
Found = TypeVar("Found")


def as_sample(
    scores: ScoresLike | RunScores | Votes | Sample,
    *,
    statistic: str | WeightedStatistic = "mean",
    baseline: str | None = None,
) -> Sample:
    """Return scores of any kind as a sample of a statistic, one column per run and measure.

    Parameters
    ----------
    scores
        Anything that `as_scores` takes, an array of scores, a `ScoreSummary`, published means or a table
        of them, `Strengths`, `Votes`, or a sample, which is returned as it is.
    statistic, baseline
        As in `bootstrap_topics`; a difference is that of each run from the baseline.
    """
    if isinstance(scores, Sample):
        return scores
    if type(scores) is Scores:  # the usual kind: the modules of others are not loaded for it
        return as_topic_sample(scores, statistic=statistic, baseline=baseline)
    from confir.resampling.kind_list import MAKERS

    given = as_scores_or_array(scores)
    kind = kind_of(given)
    if kind not in MAKERS:
        return as_topic_sample(given, statistic=statistic, baseline=baseline)
    if statistic not in _LINEAR:
        raise UnsupportedMethodError(
            f"the statistic {statistic!r} needs the scores of single topics, by one judge and of one "
            "repeat; expected the mean, or the difference from a baseline"
        )
    if (statistic == "difference") != (baseline is not None):
        raise InvalidValueError(f"the statistic is {statistic!r} and the baseline {baseline!r}")
    sample = MAKERS[kind](given)
    return sample if baseline is None else against(sample, baseline)


def as_scores_or_array(source: Any) -> Any:
    """Return scores of any kind, as `as_run_scores` does; a sample, or what may be an array, as it is."""
    from confir.data.score_objects import is_score_source
    from confir.data.votes import Votes

    named = isinstance(source, RunScores | Experiment | Votes) or is_score_source(source)
    return as_run_scores(source) if named else source


def kind_of(scores: Any) -> type[Sample]:
    """Return the kind of sample that scores make, without making it; plain of all else."""
    if type(scores) is not Scores:
        from confir.resampling.kind_list import GIVEN

        for given, kind in GIVEN.items():
            if isinstance(scores, given):
                return kind(scores)
    if getattr(scores, "design", None) is None:
        return TopicSample
    from confir.resampling.clustered_sample import ClusteredSample

    return ClusteredSample


def require_knowledge(scores: Any, need: Knowledge, what: str, also: Collection[str] = ()) -> None:
    """Raise where scores are of a kind that lacks what a study needs.

    Parameters
    ----------
    scores
        Scores of any kind.
    need
        What is needed.
    what
        What needs it: "the study of the Type I error".
    also
        Kinds that lack it, for which the study has statistics of its own.
    """
    kind = kind_of(scores)
    if need not in kind.knowledge and kind.kind not in also:
        from confir.resampling.kind_list import KINDS

        fitting = [one.kind for one in KINDS if need in one.knowledge or one.kind in also]
        raise UnsupportedMethodError(
            f"{what} needs {need}, which {kind.kind} lack{kind.reason and f': {kind.reason}'}; "
            f"expected {enumerate_names(fitting, 3)}"
        )


def needs(
    need: Knowledge, what: str, also: Collection[str] = ()
) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """Return what declares that a verb needs something of the scores, its first argument.

    The verb gets what `as_run_scores` makes of them. Its attributes ``needs`` and ``also`` are what it needs,
    for the table of verbs and kinds.

    Parameters
    ----------
    need, what, also
        As in `require_knowledge`.
    """

    def declare(verb: Callable[Given, Found]) -> Callable[Given, Found]:
        first = next(iter(inspect.signature(verb).parameters))

        @wraps(verb)
        def asked(*given: Given.args, **keywords: Given.kwargs) -> Found:
            found = inspect.signature(verb).bind_partial(*given, **keywords)
            if first in found.arguments:  # else the verb says that it is missing
                found.arguments[first] = as_run_scores(found.arguments[first])
                require_knowledge(found.arguments[first], need, what, also)
            return verb(*found.args, **found.kwargs)

        cast("Any", asked).needs, cast("Any", asked).also = need, frozenset(also)
        return asked

    return declare


def need_of(verb: Callable[..., Any]) -> Knowledge | None:
    """Return what a verb declares that it needs; None where every kind will do."""
    need: Knowledge | None = getattr(verb, "needs", None)
    return need


def takes(verb: Callable[..., Any], kind: type[Sample]) -> bool:
    """Whether a verb takes scores of a kind, by what it declares."""
    need = need_of(verb)
    return need is None or need in kind.knowledge or kind.kind in getattr(verb, "also", ())


def as_topic_sample(
    scores: ScoresLike, *, statistic: str | WeightedStatistic = "mean", baseline: str | None = None
) -> TopicSample:
    """Return scores prepared for the bootstrap of a statistic over topics."""
    chosen: Statistic | WeightedStatistic
    if callable(statistic) and not isinstance(statistic, type):
        chosen = statistic
    else:
        chosen = STATISTICS[as_choice("statistic", statistic, STATISTICS)]
    compares = isinstance(chosen, Statistic) and chosen.compares
    if compares and (baseline is None or not isinstance(scores, Scores)):
        raise InvalidValueError(f"{statistic!r} compares runs: it needs Scores and a baseline")
    if baseline is not None and not compares:
        raise InvalidValueError(f"{statistic!r} compares no runs: it takes no baseline")
    if not isinstance(scores, Scores):
        return _array_sample(scores, chosen)
    scores = scores.filled().in_id_order().clipped(bounded_measures)
    reference = scores.values
    if baseline is not None:
        reference = scores.select(run=[as_choice("baseline", baseline, scores.runs, "run")]).values
        scores = scores.select(run=[run for run in scores.runs if run != baseline])
        if not scores.runs:
            raise InvalidValueError(f"there is no run to compare with the baseline {baseline!r}")
    flat = scores.values.reshape(len(scores.topics), -1)
    other = np.broadcast_to(reference, scores.values.shape).reshape(flat.shape)
    labels = tuple((run, measure) for run in scores.runs for measure in scores.measures)
    support = np.tile(bounded_measures(scores), len(scores.runs))
    sample = prepare_topics(chosen, labels, scores.values.shape[1:], support, flat, other)
    if scores.design is None:
        return sample
    from confir.resampling.clustered_sample import ClusteredSample
    from confir.resampling.clusters import Clusters

    return ClusteredSample(**sample.fields(), clusters=Clusters.of(scores.design))


def _array_sample(scores: Any, statistic: Statistic | WeightedStatistic) -> TopicSample:
    array = as_reals(
        "scores", scores, "anything that as_scores takes, or an array, topics × columns"
    )
    if array.ndim == 0 or array.size == 0:
        raise FormatError(f"scores have shape {array.shape}; expected topics, or topics × columns")
    check_size(array)
    flat = array.reshape(len(array), -1)
    labels = tuple((f"column {i + 1}", "score") for i in range(flat.shape[1]))
    # An unknown measure: bounded if all of its scores are, as in a table.
    bounded = bool(lie_in_unit_interval(flat).all())
    flat = np.clip(flat, 0.0, 1.0) if bounded else flat
    support = np.full(flat.shape[1], bounded)
    return prepare_topics(statistic, labels, array.shape[1:], support, flat, flat)


# Statistics that are means of one variable, whose contrasts are differences.
_LINEAR = ("mean", "difference")


AnySample = TypeVar("AnySample", bound=Sample)


def against(sample: AnySample, baseline: str) -> AnySample:
    """Return the differences of all other runs from one, by each measure."""
    runs, measures = names(sample)
    place = runs.index(as_choice("baseline", baseline, runs, "run"))
    plus = np.delete(np.arange(len(sample.labels)).reshape(sample.shape), place, axis=0)
    if not plus.size:
        raise InvalidValueError(f"there is no run to compare with the baseline {baseline!r}")
    minus = place * len(measures) + np.arange(len(measures))
    return sample.contrast(plus, minus)
