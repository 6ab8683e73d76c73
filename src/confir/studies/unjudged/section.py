"""Unjudged documents in the report: bounds of the means, in the part about the data."""

from __future__ import annotations

from collections.abc import Iterator

from confir.report.contents import MeasureContents
from confir.report.result_chart import draw_intervals
from confir.report.sections import Figure, FromLists, Section, Sentence
from confir.studies.unjudged.unjudged_bounds import UnjudgedBounds, no_rule, study_unjudged


def _figures(contents: MeasureContents, levels: tuple[float, ...]) -> Iterator[Figure]:
    bounds: UnjudgedBounds = contents["unjudged"]
    for level in levels:
        drawing = draw_intervals(bounds.interval_chart(contents["means"][level]))
        yield Figure("unjudged", drawing, level, by_run=True)


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    from_lists=FromLists(study_unjudged, no_rule),
    figures=_figures,
    part="unjudged",
    methods=Sentence(
        70,
        "Bounds over unjudged documents are the lowest and highest means that any judgements of "
        "the unjudged documents retrieved by these runs could give, down to the measure's cutoff.",
    ),
)
