"""The contents of a report: the results of all studies of one experiment, computed once.

A part that is not possible (one topic, one run, no documents) is left out, and the report says why.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from confir.arguments import as_choice, as_integer, as_level, invalid
from confir.arrays import Floats, Integers
from confir.data.formats.run_metadata import RunMetadata
from confir.data.lists.held_lists import HeldLists
from confir.data.lists.topic_lists import TopicLists
from confir.data.qrels import Qrels
from confir.data.reading_rules import ReadingRules
from confir.data.sampling.topic_groups import TopicGroups
from confir.data.scanning.list_scanner import read_lists
from confir.data.scanning.stored_lists import StoredLists
from confir.data.scores import Scores
from confir.data.tables.cost_files import Cost
from confir.defaults import LEVEL, LEVELS, REPLICATES, SEED
from confir.errors import (
    ConfirError,
    ConfirWarning,
    DegenerateSampleWarning,
    InvalidValueError,
    enumerate_names,
    place_by_importance,
)
from confir.intervals.method_list import find_method
from confir.measures.random_rankings import MOST_DOCUMENTS
from confir.measures.score_summary import ScoreSummary
from confir.order import best_first
from confir.parallel import Progress, name_stage
from confir.report.all_measures import compute_for_all, try_again
from confir.report.merged_warnings import merge_warnings
from confir.report.sections import Scope, Section
from confir.resampling.replicates import check_replicates
from confir.resampling.shared_draws import shared_draws
from confir.studies import find_sections

# The page holds the scores of this many topics, those on which runs differ most.
TOPICS_SHOWN = 1_000

Sections = dict[str, Section[Any]]

# The squares of larger scores would overflow.
_LARGEST_SCORE = 1e100


@dataclass(frozen=True, slots=True)
class Settings:
    """How a report is made.

    Attributes
    ----------
    level, method
        Confidence level and method of the intervals; the default method depends on the measure.
    replicates, seed
        Of the bootstrap.
    documents
        Number of documents in the collection; by default those that occur in qrels and runs.
    rules
        How qrels and runs are read.
    judges, grades
        Qrels of other judges, and how their grades compare, as ``--grades`` of ``confir judges``.
    baseline
        The run that the others are compared with; by default all pairs are compared.
    groups
        Groups of topics to compare runs in; None for none.
    costs
        What runs cost, as in `compare_costs`; none of it where that is empty.
    """

    level: float = LEVEL
    method: str | None = None
    replicates: int = REPLICATES
    seed: int = SEED
    documents: int | None = None
    rules: ReadingRules = field(default_factory=ReadingRules)
    judges: Mapping[str, Any] | Sequence[Any] = ()
    grades: Sequence[str] = ()
    baseline: str | None = None
    groups: TopicGroups | None = None
    costs: tuple[Cost, ...] = ()

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels that the reader can choose from, including the requested one."""
        return tuple(sorted({*LEVELS, self.level}))

    @property
    def drawing(self) -> dict[str, Any]:
        """Replicates and seed, as arguments of the studies' functions."""
        return {"replicates": self.replicates, "rng": self.seed}


class _Results:
    """Results by study; some may be left out."""

    __slots__ = ()
    results: Mapping[str, Any]

    def __getitem__(self, study: str) -> Any:
        """Return the result of a study; None if it was left out."""
        return self.results[study]


@dataclass(frozen=True, slots=True, eq=False)
class MeasureContents(_Results):
    """The results by one measure.

    Attributes
    ----------
    scores
        The scores, by this measure alone.
    results
        By study; None for those left out.
    left_out
        Studies that are left out, and why.
    topics_shown
        Positions of the topics whose scores the page holds; the same for all measures.
    settings
        How the report is made.
    """

    scores: Scores | ScoreSummary
    results: Mapping[str, Any]
    left_out: Mapping[str, str]
    topics_shown: Integers
    settings: Settings

    @property
    def measure(self) -> str:
        """Name of the measure."""
        return self.scores.measures[0]

    def comparable_means(self) -> Floats:
        """Return the means by which runs are ranked: over the topics that all runs have."""
        return self.scores.comparable_means()[:, 0]

    def order(self) -> list[int]:
        """Return the indices of the runs, best first; runs without a mean last."""
        return best_first(self.comparable_means())

    def reference(self, baseline: str | None) -> int:
        """Return the index of the run that the others are held against: the baseline, or the best."""
        return self.order()[0] if baseline is None else self.scores.runs.index(baseline)


@dataclass(frozen=True, slots=True, eq=False)
class Contents(_Results):
    """The contents of a report.

    Attributes
    ----------
    scores, settings
        The scores, and how the report is made.
    measures
        The results of each measure.
    results
        Results of studies of all measures together; None for those left out.
    lists
        The ranked lists behind the scores; None if only the scores are known.
    documents, documents_counted
        Size of the collection, and whether it is the number of documents in qrels and runs.
    warnings, remarks
        The warnings of confir that may concern the results, the most important first; and those
        about samples without an interval.
    left_out
        Studies of all measures that are left out, and why.
    run_metadata
        Who made the runs that have metadata, and how, by name.
    """

    scores: Scores | ScoreSummary
    settings: Settings
    measures: tuple[MeasureContents, ...]
    results: Mapping[str, Any]
    lists: TopicLists | None
    documents: int | None
    documents_counted: bool
    warnings: tuple[str, ...]
    remarks: tuple[str, ...]
    left_out: Mapping[str, str]
    run_metadata: Mapping[str, RunMetadata]

    def reasons(self, study: str) -> list[tuple[str | None, str]]:
        """Return why a study is left out: by which measure (None for all), and the reason."""
        if study in self.left_out:
            return [(None, self.left_out[study])]
        return [(m.measure, m.left_out[study]) for m in self.measures if study in m.left_out]

    def viewed(self, measure: int, level: float) -> Contents:
        """Return the contents as a reader sees them who chose a measure and a level."""
        chosen = self.measures[measure]
        rest = tuple(part for part in self.measures if part is not chosen)
        return replace(self, measures=(chosen, *rest), settings=replace(self.settings, level=level))

    def has(self, study: str) -> bool:
        """Whether there is a result of a study, by at least one measure."""
        found = [self.results, *(measured.results for measured in self.measures)]
        return any(results.get(study) is not None for results in found)


def present_sections(contents: Contents | MeasureContents) -> Sections:
    """Return the sections that have a result, by study."""
    found = contents.results
    return {study: s for study, s in find_sections().items() if found.get(study) is not None}


def number_of_steps(measures: int, *, figures: bool = False) -> int:
    """Return the number of steps of a report, for a progress bar."""
    each = [section.by_measure for section in find_sections().values()]
    steps_of_measure = each.count(True) + 1 + figures  # with its charts, for the page and as files
    return steps_of_measure * measures + each.count(False)


def gather_contents(
    scores: Scores | ScoreSummary,
    *,
    qrels: Qrels | None = None,
    runs: Any = None,
    run_metadata: Mapping[str, RunMetadata] | None = None,
    warned: Iterable[ConfirWarning] = (),
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Contents:
    """Return the results that a report shows.

    Parameters
    ----------
    scores
        Scores of the runs.
    qrels, runs
        Qrels and runs behind the scores; without them, parts about documents are left out.
    run_metadata
        Who made the runs, and how, by name; where that is known.
    warned
        Warnings about the input so far.
    settings
        How the report is made.
    progress
        Called with 1 after each part.
    """
    chosen = settings or Settings()
    check_settings(chosen)
    if chosen.baseline is not None:
        as_choice("baseline", chosen.baseline, scores.runs, "run")
    scores = scores.in_id_order()
    largest = scores.largest()
    if largest > _LARGEST_SCORE:
        raise InvalidValueError(f"a score is {largest:g}; expected at most {_LARGEST_SCORE:g}")
    with collected_warnings(shown=False) as messages, shared_draws():
        lists = _lists(scores, qrels, runs, chosen.rules)
        known = None  # how many documents occur: a lower bound on the size of the collection
        if lists is not None:
            known = lists.mentioned
        elif qrels is not None:
            known = len(set(qrels.documents))
        documents = known if chosen.documents is None else chosen.documents
        if known is not None and documents is not None and documents < known:
            raise InvalidValueError(
                f"documents is {documents}; expected at least the {known} that occur in qrels and runs"
            )
        sections = find_sections()  # imported here, not by several threads at once
        name_stage(progress, "all measures at once")
        whole = Scope(scores, chosen, qrels, lists, documents, {})
        whole = replace(whole, of_all=compute_for_all(sections, whole))
        of_measure = partial(_of_measure, sections, whole, progress)
        measures = tuple(scores.for_each(of_measure, scores.measures))
        results, left_out = _gather(sections, replace(whole, measures=measures), progress)
    return Contents(
        scores=scores,
        settings=chosen,
        measures=measures,
        results=results,
        lists=lists,
        documents=documents,
        documents_counted=chosen.documents is None,
        **by_importance([*warned, *messages]),
        left_out=left_out,
        run_metadata=run_metadata or {},
    )


def check_settings(settings: Settings) -> None:
    """Raise if a setting is invalid."""
    as_level(settings.level)
    check_replicates(settings.replicates)
    if not isinstance(settings.rules, ReadingRules):
        raise invalid("rules", settings.rules, "ReadingRules")
    as_integer("seed", settings.seed, lowest=0, highest=2**128)
    if settings.method is not None:
        find_method(settings.method)
    if settings.documents is not None:
        as_integer("documents", settings.documents, highest=MOST_DOCUMENTS)


def _of_measure(
    sections: Sections, whole: Scope, progress: Progress | None, measure: str
) -> MeasureContents:
    scope = replace(whole, scores=whole.scores.select(measure=[measure]))
    scope = try_again(sections, scope)
    gathered = _gather(sections, scope, progress)
    topics = most_different_topics(whole.scores.listed(), TOPICS_SHOWN)
    return MeasureContents(scope.scores, *gathered, topics, scope.settings)


def most_different_topics(scores: Scores, most: int) -> Integers:
    """Return the positions of the topics on which scores lie furthest apart, in their order."""
    if len(scores.topics) <= most:
        return np.arange(len(scores.topics))
    present = ~np.isnan(scores.values)
    highest = np.where(present, scores.values, -np.inf).max(axis=1)
    lowest = np.where(present, scores.values, np.inf).min(axis=1)
    spread = np.where(present.any(axis=1), highest - lowest, 0.0).max(axis=1)
    chosen: Integers = np.sort(np.argsort(-spread, kind="stable")[:most])
    return chosen


def _gather(
    sections: Sections, scope: Scope, progress: Progress | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the results of the sections of one measure, or of all, and why any are left out."""
    results: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    scope = replace(scope, results=results)
    for study, section in sections.items():
        if section.by_measure == bool(scope.measures):
            continue
        name_stage(progress, (section.heading or study).lower().replace("_", " "))
        try:
            results[study] = section.gather(scope)
        except ConfirError as error:
            if section.needed:
                raise
            results[study], left_out[study] = None, str(error)
        if progress is not None:
            progress(1)
    return results, left_out


def _lists(
    scores: Scores | ScoreSummary, qrels: Qrels | None, runs: Any, rules: ReadingRules
) -> TopicLists | None:
    """Return the ranked lists behind the scores; raise if their runs have other names."""
    if isinstance(runs, HeldLists | StoredLists):
        lists: TopicLists = runs
    elif qrels is None or runs is None:
        return None
    else:
        lists = read_lists(
            qrels,
            runs,
            name_by=rules.name_by,
            tie_precision=rules.tie_precision,
            exclusions=rules.exclusions,
        )
    unknown = [run for run in scores.runs if run not in lists.runs]
    if unknown:
        raise InvalidValueError(
            f"the scores are of {enumerate_names(unknown, 3)}, but the runs are named "
            f"{enumerate_names(lists.runs, 3)}; expected the reading rules used for the scores"
        )
    return lists


@contextmanager
def collected_warnings(*, shown: bool) -> Iterator[list[ConfirWarning]]:
    """Collect confir's warnings for the page; they are also shown as usual, or not at all."""
    collected: list[ConfirWarning] = []
    with warnings.catch_warnings():
        show = warnings.showwarning
        if not shown:
            warnings.simplefilter("always", ConfirWarning)

        def collect(message: Warning | str, *rest: Any, **options: Any) -> None:
            if isinstance(message, ConfirWarning):
                collected.append(message)
            if shown:
                show(message, *rest, **options)

        warnings.showwarning = collect
        yield collected


def by_importance(messages: Iterable[ConfirWarning]) -> dict[str, tuple[str, ...]]:
    """Return the texts of warnings, the most important first, and of remarks; each once."""
    found = {"warnings": set(), "remarks": set()}  # type: dict[str, set[tuple[int, str]]]
    for message in messages:
        text = f"{message}: {message.advice}" if message.advice else str(message)
        minor = isinstance(message, DegenerateSampleWarning)
        found["remarks" if minor else "warnings"].add((place_by_importance(type(message)), text))
    return {
        "warnings": tuple(merge_warnings(sorted(found["warnings"]))),
        "remarks": tuple(text for _, text in sorted(found["remarks"])),
    }
