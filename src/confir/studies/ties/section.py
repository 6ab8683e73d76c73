"""Ties in the report: sentences of the data name what their order could change."""

from __future__ import annotations

from collections.abc import Iterator

from confir.measures.evaluation import as_scores
from confir.measures.scored_lists import check_measures, with_usable_scores
from confir.report.contents import Contents, MeasureContents
from confir.report.sections import Scope, Section, Sentence
from confir.studies.ties.ties import TieBounds, bound_scored_ties, no_order


def _gather_all(scope: Scope) -> TieBounds:
    lists, scores = scope.require_lists(), as_scores(scope.scores)
    return bound_scored_ties(with_usable_scores(lists, scores, scope.settings.rules, no_order))


def _gather(scope: Scope) -> TieBounds:
    scope.require_lists()
    check_measures(scope.scores.measures, scope.settings.rules, no_order)
    bounds: TieBounds = scope.own_part("ties")
    return bounds


def _methods(contents: Contents) -> Iterator[Sentence]:
    if any(part["ties"] is not None and part["ties"].tied.any() for part in contents.measures):
        yield Sentence(
            71,
            "Bounds over ties are the lowest and highest means over all orders of documents with "
            "equal scores (McSherry & Najork 2008).",
            ("McSherryNajork2008",),
        )


SECTION: Section[MeasureContents] = Section(
    by_measure=True, gather=_gather, gather_all=_gather_all, methods=_methods
)
