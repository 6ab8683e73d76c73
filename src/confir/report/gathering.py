"""How the results of a report are gathered: those of all measures at once, then measure by measure.

A part that is not possible (one topic, one run, no documents) is left out, and the report says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Integers, best_first
from confir.data.formats.run_metadata import RunMetadata
from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import HeldLists, TopicLists
from confir.data.ranked_lists.list_reader import read_lists
from confir.data.ranked_lists.stored_lists import StoredLists
from confir.data.reading_rules import ReadingRules
from confir.data.scores import Scores
from confir.errors import (
    ConfirError,
    ConfirWarning,
    InvalidValueError,
    enumerate_names,
)
from confir.measures.lists_and_scores import BlockStudy, block_tasks
from confir.measures.score_summary import ScoreSummary
from confir.parallel import Progress, name_stage, run_in_threads
from confir.report.contents import Contents, MeasureContents, Sections, Settings
from confir.report.messages import by_importance, collected_warnings
from confir.report.sections import Scope, Section
from confir.resampling.replicates import shared_draws
from confir.studies import find_sections

# The page holds the scores of this many topics, those on which runs differ most.
TOPICS_SHOWN = 1_000


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
    if chosen.baseline is not None:
        as_choice("baseline", chosen.baseline, scores.runs, "run")
    scores = scores.in_id_order()
    listed = scores.listed()
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
        topics = most_different_topics(listed, TOPICS_SHOWN)
        of_measure = partial(_of_measure, sections, whole, topics, progress)
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


def _of_measure(
    sections: Sections, whole: Scope, topics: Integers, progress: Progress | None, measure: str
) -> MeasureContents:
    """Return the results by one measure; what failed for all at once is computed for it alone."""
    scope = replace(whole, scores=whole.scores.select(measure=[measure]))
    failed = {
        study: section
        for study, section in sections.items()
        if section.by_measure and isinstance(whole.of_all.get(study), ConfirError)
    }
    if failed:
        scope = replace(scope, of_all={**whole.of_all, **compute_for_all(failed, scope)})
    gathered = _gather(sections, scope, progress)
    means = scope.scores.comparable_means()[:, 0]
    return MeasureContents(
        measure, scope.scores, means, best_first(means), *gathered, topics, scope.settings
    )


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
            results[study] = section.result(study, scope)
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
            exclusions=rules.reading.exclusions,
        )
    unknown = [run for run in scores.runs if run not in lists.runs]
    if unknown:
        raise InvalidValueError(
            f"the scores are of {enumerate_names(unknown, 3)}, but the runs are named "
            f"{enumerate_names(lists.runs, 3)}; expected the reading rules used for the scores"
        )
    return lists


def compute_for_all(sections: Mapping[str, Section[Any]], scope: Scope) -> dict[str, Any]:
    """Return what sections compute of all measures at once, by study; or why they cannot."""
    at_once = {
        study: partial(_or_error, one.gather_all, scope)
        for study, one in sections.items()
        if one.gather_all and (len(scope.scores.runs) > 1 or not one.several_runs)
    }
    found = {
        study: _or_error(one.from_lists.prepare, scope)
        for study, one in sections.items()
        if one.from_lists
    }
    by_block = {
        study: one._replace(compute=partial(_or_error, one.compute))
        for study, one in found.items()
        if isinstance(one, BlockStudy)
    }
    tasks: list[Callable[[], Any]] = [
        *at_once.values(),
        *block_tasks(list(by_block.values())),
    ]
    results = run_in_threads(lambda task: task(), tasks)
    joined = {}
    for (study, one), *parts in zip(by_block.items(), *results[len(at_once) :], strict=True):
        errors = (part for part in parts if isinstance(part, ConfirError))
        joined[study] = next(errors, None) or _or_error(one.finish, np.concatenate(parts, axis=-1))
    return {**found, **joined, **dict(zip(at_once, results, strict=False))}


def _or_error(compute: Callable[..., Any], *given: Any) -> Any:
    """Return a result, or the error of confir that there is instead."""
    try:
        return compute(*given)
    except ConfirError as error:
        return error
