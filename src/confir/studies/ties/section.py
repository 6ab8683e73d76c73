"""Ties in the report: sentences of the data name what their order could change."""

from __future__ import annotations

from collections.abc import Iterator

from confir.measures.evaluation import as_scores
from confir.measures.scored_lists import scored_lists, with_usable_scores
from confir.report.contents import Contents, MeasureContents
from confir.report.sections import Scope, Section, Sentence
from confir.studies.ties.ties import TieBounds, bound_scored_ties, no_order


def _gather(scope: Scope) -> TieBounds:
    rules = scope.settings.rules
    lists, own = scope.require_lists(), as_scores(scope.scores)
    scored_lists(lists, own, rules, no_order)  # raises where this measure cannot be used

    def bound() -> TieBounds:
        everything = as_scores(scope.all_scores)
        return bound_scored_ties(with_usable_scores(lists, everything, rules, no_order))

    return scope.shared.once("ties", bound).select(measure=own.measures)


def _methods(contents: Contents) -> Iterator[Sentence]:
    if any(part["ties"] is not None and part["ties"].tied.any() for part in contents.measures):
        yield Sentence(
            71,
            "Bounds over ties are the lowest and highest means over all orders of documents with "
            "equal scores (McSherry & Najork 2008).",
            ("McSherryNajork2008",),
        )


SECTION: Section[MeasureContents] = Section(by_measure=True, gather=_gather, methods=_methods)
