"""Ties in the report: sentences of the data name what their order could change."""

from __future__ import annotations

from collections.abc import Iterator

from confir.report.contents import Contents, MeasureContents
from confir.report.sections import FromLists, Section, Sentence
from confir.studies.ties.tie_bounds import no_order, study_ties


def _methods(contents: Contents) -> Iterator[Sentence]:
    if any(part["ties"] is not None and part["ties"].tied.any() for part in contents.measures):
        yield Sentence(
            71,
            "Bounds over ties are the lowest and highest means over all orders of documents with "
            "equal scores (McSherry & Najork 2008).",
            ("McSherryNajork2008",),
        )


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    from_lists=FromLists(study_ties, no_order),
    methods=_methods,
)
