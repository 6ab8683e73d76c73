"""The data in the report: what runs and qrels lack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from confir.errors import SmallSampleWarning, UnjudgedWarning, counted, warn_caller
from confir.report.contents import Contents
from confir.report.sections import Scope, Section, Sentence
from confir.studies.data_quality.data_quality import DataQuality, inspect_lists
from confir.studies.data_quality.sentences import (
    FEW_TOPICS,
    NOTHING_UNUSUAL,
    few_topics_warning,
    moved_sentences,
    unjudged_warning,
)


def _gather(scope: Scope) -> DataQuality:
    """Return what runs and qrels lack, and warn of what may make conclusions wrong."""
    rules = scope.settings.rules
    quality = inspect_lists(
        scope.require_lists(human=True), rel=rules.rel, tie_precision=rules.tie_precision
    )
    unjudged = unjudged_warning(quality)
    if unjudged:
        warn_caller(unjudged, UnjudgedWarning)
    if len(quality.topics) < FEW_TOPICS:
        warn_caller(few_topics_warning(quality), SmallSampleWarning)
    return quality


def _context(contents: Contents) -> dict[str, Any]:
    made = list(_made_by(contents)) if contents.run_metadata else []
    return {"sentences": _found(contents), "made": made}


def _conclusion(contents: Contents) -> str:
    """Return the first of what is unusual about the data, and how much more there is."""
    first, *more = _found(contents)
    return f"{first} {counted(len(more), 'more finding')}." if more else first


def _found(contents: Contents) -> list[str]:
    """Return what is unusual about the data, as sentences."""
    quality: DataQuality = contents["data_quality"]
    moved = [
        sentence
        for study, cause in (
            ("unjudged", "unjudged documents"),
            ("ties", "the order of documents with equal scores"),
        )
        for sentence in moved_sentences(cause, (part[study] for part in contents.measures))
    ]
    unusual = [text for text in quality.sentences() if not moved or text != NOTHING_UNUSUAL]
    return [f"{text[0].upper()}{text[1:]}." for text in (*unusual, *moved)]


def _made_by(contents: Contents) -> Iterator[tuple[str, str, str]]:
    """Yield the runs with metadata, the best first: name, team or person, and method."""
    for place in contents.measures[0].order:
        run = contents.scores.runs[place]
        if run in contents.run_metadata:
            _, actor, method = contents.run_metadata[run]
            yield run, actor or "–", method or "–"


def _methods(contents: Contents) -> Iterator[Sentence]:
    quality: DataQuality = contents["data_quality"]
    complete = contents.scores.topic_counts() == len(contents.scores.topics)
    if any(quality.missing) and complete.all():
        yield Sentence(10, "A topic that a run lacks scores 0.")


SECTION: Section[Contents] = Section(
    by_measure=False,
    gather=_gather,
    anchor="quality",
    heading="The data",
    meaning="Missing topics, ties and unjudged documents can change scores before any "
    "statistics begin.",
    context=_context,
    part="quality",
    by_run=True,
    conclusion=_conclusion,
    methods=_methods,
)
