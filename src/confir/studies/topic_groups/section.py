"""Groups of topics in the report, where a column of the topics' table names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from confir.data.sampling_designs.topic_groups import TopicGroups
from confir.errors import counted
from confir.number_text import percent
from confir.report.contents import Contents, MeasureContents
from confir.report.sections import Scope, Section, Sentence
from confir.studies.topic_groups.group_differences import GroupComparison, compare_groups
from confir.studies.topic_groups.sentences import group_sentence

# The most sentences about pairs; the table has all of them.
_MOST_SENTENCES = 8


def _gather(scope: Scope) -> GroupComparison:
    settings = scope.settings
    return compare_groups(
        scope.scores,
        by=cast("TopicGroups", settings.groups),
        baseline=settings.baseline,
        level=settings.level,
        **settings.drawing,
    )


def _sentences(found: GroupComparison) -> list[str]:
    """Return the answers on pairs, those whose difference depends on the group first."""
    order = sorted(range(len(found.first)), key=lambda pair: float(found.p_adjusted[pair, 0]))
    return [group_sentence(found, pair, 0) for pair in order[:_MOST_SENTENCES]]


def _context(contents: Contents) -> dict[str, Any]:
    found: GroupComparison | None = contents.measures[0]["topic_groups"]
    return {"sentences": [] if found is None else _sentences(found)}


def _conclusion(contents: Contents) -> str:
    """Return whether differences depend on the group."""
    found: GroupComparison | None = contents.measures[0]["topic_groups"]
    if found is None:
        return ""
    if len(found.first) == 1:
        return f"{group_sentence(found, 0, 0)}."
    count, pairs = int(found.significant.sum()), counted(len(found.first), "pair")
    return f"The difference depends on {found.column} for {count:,} of {pairs}."


def _methods(contents: Contents) -> Iterator[Sentence]:
    found: GroupComparison | None = contents.measures[0]["topic_groups"]
    if found is None:
        return
    yield Sentence(
        41,
        f"Topics are grouped by {found.column}. Each of the Γ groups is a family of comparisons of "
        f"its own at level^(1/Γ), so that all intervals hold with {percent(found.level)} confidence. "
        "Whether a difference is the same in all groups of five topics or more is tested by Welch's F, "
        f"with p-values by {counted(found.replicates, 'permutation')} of the topics' groups and "
        "Holm's correction for the pairs.",
    )


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    several_runs="a comparison needs at least 2",
    setting="groups",
    anchor="groups",
    heading="Does the difference depend on the kind of topic?",
    meaning="A run may help one kind of topic and hurt another; here is what the topics show of it, and "
    "what they leave open.",
    context=_context,
    part="groups",
    conclusion=_conclusion,
    methods=_methods,
)
