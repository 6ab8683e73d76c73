"""The data in the report: what runs and qrels lack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from confir.errors import InputWarning, warn_caller
from confir.report.contents import Contents
from confir.report.sections import Scope, Section, Sentence, own_chart, own_table
from confir.studies.data_quality.data_quality import DataQuality, inspect_lists
from confir.studies.data_quality.sentences import NOTHING_UNUSUAL, moved_sentences, unjudged_warning


def _gather(scope: Scope) -> DataQuality:
    """Return what runs and qrels lack, and warn of what may lower scores."""
    quality = inspect_lists(scope.require_lists(human=True), rel=scope.settings.rules.rel)
    text = unjudged_warning(quality)
    if text:
        warn_caller(text, InputWarning)
    return quality


def _context(contents: Contents) -> dict[str, Any]:
    quality: DataQuality = contents["data_quality"]
    moved = [
        sentence
        for study, cause in (
            ("unjudged", "unjudged documents"),
            ("ties", "the order of documents with equal scores"),
        )
        for sentence in moved_sentences(cause, (part[study] for part in contents.measures))
    ]
    told = [text for text in quality.sentences() if not moved or text != NOTHING_UNUSUAL]
    return {"sentences": [f"{text[0].upper()}{text[1:]}." for text in (*told, *moved)]}


def _methods(contents: Contents) -> Iterator[Sentence]:
    quality: DataQuality | None = contents["data_quality"]
    lacking = quality is not None and any(quality.missing)
    complete = contents.scores.topic_counts() == len(contents.scores.topics)
    if lacking and complete.all():
        yield Sentence(10, "A topic that a run lacks scores 0.")


SECTION: Section[Contents] = Section(
    by_measure=False,
    gather=_gather,
    anchor="quality",
    title="Data",
    heading="The data",
    meaning="Missing topics, ties and unjudged documents can change scores before any "
    "statistics begin.",
    context=_context,
    figures=own_chart("data_quality", "quality", by_run=True),
    tables=own_table("data_quality", "quality"),
    methods=_methods,
)
