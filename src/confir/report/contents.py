"""What does a report tell? The results of all studies of one experiment, gathered once.

A part that the experiment does not allow (one topic, one run, no documents) is left out, and the
report says why.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from confir.arguments import as_integer, invalid
from confir.arrays import Floats
from confir.data.common_topics import comparable_means
from confir.data.list_scanner import read_lists
from confir.data.qrels import Qrels
from confir.data.ranked_lists import RankedLists
from confir.data.rules import ReadingRules
from confir.data.scores import Scores
from confir.errors import ConfirError, ConfirWarning, InvalidValueError, enumerate_names
from confir.intervals.catalogue import confidence_interval, find_method, means_alone
from confir.intervals.interval import Interval, check_level
from confir.measures.bounds import bounded_measures
from confir.measures.catalogue import as_rel
from confir.measures.chance import MOST_DOCUMENTS
from confir.measures.evaluation import check_depth, check_missing
from confir.order import TIE, best_first
from confir.parallel import Progress, run_in_threads
from confir.resampling.documents import resample_lists, resampled_measures
from confir.resampling.topics import DEFAULT_REPLICATES, check_replicates
from confir.studies.bias_variance import BiasVariance, decompose_error
from confir.studies.collection import CollectionMeans, summarise_means
from confir.studies.collection_differences import CollectionVariance, decompose_variance
from confir.studies.comparison import Comparison, compare_runs
from confir.studies.coverage import Coverage, estimate_coverage
from confir.studies.data_quality import DataQuality, inspect_lists
from confir.studies.planning import Plan, plan_topics
from confir.studies.random_baseline import Chance, compare_with_chance
from confir.studies.ranking import Ranking, rank_runs

DEFAULT_SEED = 2006

# The reader may switch between these and the level asked for.
LEVELS = (0.9, 0.95, 0.99)

# Enough that a coverage is known to about a percent, and a share of variance to a few.
COVERAGE_SAMPLES, COVERAGE_REPLICATES = 500, 500
COLLECTION_REPLICATES = 400

# The squares of larger scores are none that a page can hold.
_LARGEST_SCORE = 1e100

Part = TypeVar("Part")

# Steps of the progress: the results of a measure and its charts; and those of all measures.
_STEPS_PER_MEASURE = 6 + 1
_STEPS_OF_ALL = 3


@dataclass(frozen=True, slots=True)
class Settings:
    """How a report is made.

    Attributes
    ----------
    level, method
        Confidence level and method of the intervals; by default what suits the measure.
    replicates, seed
        Of the bootstrap.
    documents
        Number of documents in the collection; by default those that qrels and runs mention.
    rules
        How qrels and runs were read for the scores, and are read for all other parts.
    """

    level: float = 0.95
    method: str | None = None
    replicates: int = DEFAULT_REPLICATES
    seed: int = DEFAULT_SEED
    documents: int | None = None
    rules: ReadingRules = field(default_factory=ReadingRules)

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels that the reader may choose from, the one asked for among them."""
        return tuple(sorted({*LEVELS, self.level}))


@dataclass(frozen=True, slots=True, eq=False)
class MeasureContents:
    """What is known of the runs by one measure.

    Attributes
    ----------
    scores
        The scores, by this measure alone.
    intervals, rankings, comparisons
        Results by level; of runs compared in all pairs.
    coverage, bias_variance, chance
        Of the interval used; against the best score of each topic; of random rankings.
    left_out
        Parts that are not there, and why.
    """

    scores: Scores
    intervals: dict[float, Interval]
    rankings: dict[float, Ranking]
    comparisons: dict[float, Comparison]
    coverage: Coverage | None
    bias_variance: BiasVariance | None
    chance: Chance | None
    left_out: dict[str, str]

    @property
    def measure(self) -> str:
        """Name of the measure."""
        return self.scores.measures[0]

    def comparable_means(self) -> Floats:
        """Return the means by which runs are put in order: over the topics that all of them have."""
        means: Floats = comparable_means(self.scores)[:, 0]
        return means

    def order(self) -> list[int]:
        """Return the places of the runs, best first; runs without a mean last."""
        return best_first(self.comparable_means())


@dataclass(frozen=True, slots=True, eq=False)
class CollectionContents:
    """How far documents matter: means over other collections, and where variance comes from.

    Attributes
    ----------
    means
        Means with intervals over collections, of one measure.
    variance
        Of the means.
    difference_variance
        Of the other runs' differences from the best; None for one run.
    """

    means: CollectionMeans
    variance: CollectionVariance
    difference_variance: CollectionVariance | None

    def order(self) -> list[str]:
        """Return the runs, best first; runs without a mean last."""
        return [self.means.runs[place] for place in best_first(self.means.mean[0, :, 0])]


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """All that a report tells.

    Attributes
    ----------
    scores, settings
        What was evaluated, and how.
    measures
        The results of each measure.
    plan
        Topics needed to tell the best run from the next, by the first measure.
    collection, quality
        What needs runs and qrels; None without them.
    documents, documents_counted
        Size of the collection, and whether it was counted in qrels and runs.
    warnings
        What confir warned of.
    left_out
        Parts that are not there, and why.
    """

    scores: Scores
    settings: Settings
    measures: tuple[MeasureContents, ...]
    plan: Plan | None
    collection: CollectionContents | None
    quality: DataQuality | None
    documents: int | None
    documents_counted: bool
    warnings: tuple[str, ...]
    left_out: dict[str, str] = field(default_factory=dict)


def number_of_steps(measures: int, *, figures: bool = False) -> int:
    """Return how many steps a report of so many measures takes, for a progress bar."""
    return (_STEPS_PER_MEASURE + figures) * measures + _STEPS_OF_ALL


def gather_contents(
    scores: Scores,
    *,
    qrels: Qrels | None = None,
    runs: Any = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Contents:
    """Return the results that a report tells.

    Parameters
    ----------
    scores
        Scores of the runs.
    qrels, runs
        What the scores were computed from; without them, parts about documents are left out.
    settings
        How the report is made.
    progress
        Called with 1 after each part.
    """
    chosen = settings or Settings()
    check_settings(chosen)
    largest = float(np.nanmax(np.abs(scores.values), initial=0.0))
    if largest > _LARGEST_SCORE:
        raise InvalidValueError(f"a score is {largest:g}; expected at most {_LARGEST_SCORE:g}")
    parts = _Parts(progress)
    with _collected_warnings() as heard:
        lists = _lists(scores, qrels, runs, chosen.rules)
        documents = chosen.documents
        if documents is None:
            documents = _count_documents(qrels, lists)
        by_measure = tuple(
            run_in_threads(
                lambda measure: _of_measure(
                    scores.select(measures=[measure]), qrels, documents, chosen, progress
                ),
                scores.measures,
            )
        )
        plan = parts.attempt("plan", lambda: _plan(by_measure[0], chosen))
        collection = parts.attempt("collection", lambda: _collection(scores, lists, chosen))
        quality = parts.attempt(
            "quality", lambda: inspect_lists(_needed(lists), rel=chosen.rules.rel)
        )
    return Contents(
        scores=scores,
        settings=chosen,
        measures=by_measure,
        plan=plan,
        collection=collection,
        quality=quality,
        documents=documents,
        documents_counted=chosen.documents is None,
        warnings=tuple(sorted(set(heard))),
        left_out=parts.left_out,
    )


def check_settings(settings: Settings) -> None:
    """Raise where a setting cannot be used."""
    check_level(settings.level)
    check_replicates(settings.replicates)
    if not isinstance(settings.rules, ReadingRules):
        raise invalid("rules", settings.rules, "ReadingRules")
    check_depth(settings.rules.depth)
    check_missing(settings.rules.missing)
    as_rel(settings.rules.rel)
    as_integer("seed", settings.seed, lowest=0, highest=2**128)
    if settings.method is not None:
        find_method(settings.method)
    if settings.documents is not None:
        as_integer("documents", settings.documents, highest=MOST_DOCUMENTS)


class _Parts:
    """Makes the parts of a report, and keeps the reasons for those that cannot be made."""

    def __init__(self, progress: Progress | None) -> None:
        self.left_out: dict[str, str] = {}
        self._progress = progress

    def attempt(self, name: str, make: Callable[[], Part]) -> Part | None:
        """Return a part; None where the data do not allow it."""
        try:
            return make()
        except ConfirError as error:
            self.left_out[name] = str(error)
            return None
        finally:
            if self._progress is not None:
                self._progress(1)


def _of_measure(
    scores: Scores,
    qrels: Qrels | None,
    documents: int | None,
    settings: Settings,
    progress: Progress | None,
) -> MeasureContents:
    parts = _Parts(progress)
    common: dict[str, Any] = {"replicates": settings.replicates, "rng": settings.seed}
    intervals = _intervals(scores, settings, common)
    if progress is not None:
        progress(1)
    rankings = parts.attempt(
        "rankings",
        lambda: _rankings(scores, settings, common),
    )
    comparisons = parts.attempt(
        "comparisons",
        lambda: {level: compare_runs(scores, level=level, **common) for level in settings.levels},
    )
    coverage = parts.attempt(
        "coverage",
        lambda: estimate_coverage(
            scores,
            methods=[intervals[settings.level].method],
            level=settings.level,
            samples=COVERAGE_SAMPLES,
            replicates=COVERAGE_REPLICATES,
            rng=settings.seed,
        ),
    )
    bias_variance = parts.attempt(
        "bias_variance",
        lambda: _bias_variance(scores, settings, common),
    )
    chance = parts.attempt("chance", lambda: _chance(scores, qrels, documents, settings))
    return MeasureContents(
        scores=scores,
        intervals=intervals,
        rankings=rankings or {},
        comparisons=comparisons or {},
        coverage=coverage,
        bias_variance=bias_variance,
        chance=chance,
        left_out=parts.left_out,
    )


def _intervals(scores: Scores, settings: Settings, common: dict[str, Any]) -> dict[float, Interval]:
    """Return the intervals of the means by level; a single topic gives means alone."""
    levels = settings.levels
    if len(scores.topics) < 2:
        return {level: means_alone(scores, level) for level in levels}
    made = confidence_interval(scores, level=levels, method=settings.method, **common)
    return dict(zip(levels, made, strict=True))


def _rankings(scores: Scores, settings: Settings, common: dict[str, Any]) -> dict[float, Ranking]:
    _check_runs(scores, "ranks")
    made = rank_runs(scores, level=settings.levels, **common)
    return dict(zip(settings.levels, made, strict=True))


def _bias_variance(scores: Scores, settings: Settings, common: dict[str, Any]) -> BiasVariance:
    _check_runs(scores, "bias against the best run of each topic")
    return decompose_error(scores, target="best", level=settings.level, **common)


def _check_runs(scores: Scores, what: str) -> None:
    if len(scores.runs) < 2:
        raise InvalidValueError(f"there is one run; {what} would say nothing of it")


def _chance(
    scores: Scores, qrels: Qrels | None, documents: int | None, settings: Settings
) -> Chance:
    if qrels is None or documents is None:
        raise InvalidValueError(
            "chance needs the qrels, which tell how many documents are relevant"
        )
    return compare_with_chance(
        qrels, scores, documents=documents, depth=settings.rules.depth, draws=0, rng=settings.seed
    )


def _plan(contents: MeasureContents, settings: Settings) -> Plan:
    """Return the topics needed to show the difference between the best two runs."""
    scores = contents.scores
    _check_runs(scores, "a plan")
    best, next_best = (scores.runs[place] for place in contents.order()[:2])
    pair = scores.select(runs=[next_best, best])
    differences = pair.values[:, 1, 0] - pair.values[:, 0, 0]
    shared = differences[~np.isnan(differences)]
    difference = float(shared.mean()) if len(shared) else 0.0
    if difference <= TIE:
        raise InvalidValueError(
            f"{best} is not ahead of {next_best} on the topics that both have: nothing to plan for"
        )
    return plan_topics(pair, baseline=next_best, difference=difference, level=settings.level)


def _collection(
    scores: Scores, lists: RankedLists | None, settings: Settings
) -> CollectionContents:
    whole = _needed(lists)
    bounded = [scores.measures[m] for m in np.flatnonzero(bounded_measures(scores))]
    if not bounded:
        raise InvalidValueError("intervals over collections are for measures in [0, 1]")
    sample = resample_lists(
        whole,
        resampled_measures(bounded[:1]),
        replicates=COLLECTION_REPLICATES,
        rng=settings.seed,
        depth=settings.rules.depth,
        missing="drop" if np.isnan(scores.values).any() else settings.rules.missing,
    )
    means = summarise_means(
        sample, level=settings.level, summaries=("mean",), methods=("bootstrap",)
    )
    variance = decompose_variance(sample, summaries=("mean",))
    alone = CollectionContents(means, variance, None)
    if len(sample.runs) < 2:
        return alone
    best = alone.order()[0]
    return replace(
        alone,
        difference_variance=decompose_variance(sample, baseline=best, summaries=("mean",)),
    )


def _lists(
    scores: Scores, qrels: Qrels | None, runs: Any, rules: ReadingRules
) -> RankedLists | None:
    """Return the lists that the scores are of, under the same names."""
    if isinstance(runs, RankedLists):
        lists = runs
    elif qrels is None or runs is None:
        return None
    else:
        lists = read_lists(qrels, runs, name_by=rules.name_by, tie_precision=rules.tie_precision)
    unknown = [run for run in scores.runs if run not in lists.runs]
    if unknown:
        raise InvalidValueError(
            f"the scores are of {enumerate_names(unknown, 3)}, but the runs are named "
            f"{enumerate_names(lists.runs, 3)}; expected the rules by which the scores were made"
        )
    return lists


def _needed(lists: RankedLists | None) -> RankedLists:
    if lists is None:
        raise InvalidValueError("this part needs qrels and runs, not scores alone")
    return lists


def _count_documents(qrels: Qrels | None, lists: RankedLists | None) -> int | None:
    """Return how many documents qrels and runs mention: the collection has at least these."""
    if lists is not None:
        return lists.mentioned
    return None if qrels is None else len(set(qrels.documents))


@contextmanager
def _collected_warnings() -> Iterator[list[str]]:
    """Collect confir's warnings, which the report shows, instead of raising them one by one."""
    heard: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConfirWarning)
        yield heard
        heard += [
            str(entry.message) for entry in caught if issubclass(entry.category, ConfirWarning)
        ]
