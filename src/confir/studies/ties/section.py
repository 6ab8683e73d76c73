"""Ties in the report: sentences of the data name what their order could change."""

from __future__ import annotations

from collections.abc import Iterator

from confir.measures.evaluation import as_scores
from confir.measures.scored_lists import scored_lists
from confir.report.contents import Contents, MeasureContents
from confir.report.sections import Scope, Section, Sentence
from confir.studies.ties.ties import (
    TieBounds,
    TieOrders,
    bound_scored_ties,
    no_order,
    order_tied_lists,
)


def _gather(scope: Scope) -> TieBounds:
    lists, rules = scope.require_lists(), scope.settings.rules
    scored = scored_lists(lists, as_scores(scope.scores), rules, no_order)

    def order(gains: str | None) -> TieOrders:
        return scope.shared.once(("ties", gains), lambda: order_tied_lists(lists, rules, gains))

    return bound_scored_ties(scored, order)


def _methods(contents: Contents) -> Iterator[Sentence]:
    if any(part["ties"] is not None and part["ties"].tied.any() for part in contents.measures):
        yield Sentence(
            71,
            "Bounds over ties are the lowest and highest means over all orders of documents with "
            "equal scores (McSherry & Najork 2008).",
            ("McSherryNajork2008",),
        )


SECTION: Section[MeasureContents] = Section(by_measure=True, gather=_gather, methods=_methods)
