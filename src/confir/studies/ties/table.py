"""Tables of means beside what the order of tied documents could make of them."""

from __future__ import annotations

from confir.number_text import limits_text, number_text
from confir.report.tables import RowBeside
from confir.studies.ties.tie_bounds import TieBounds
from confir.studies.unjudged.table import texts


def tie_rows(ties: TieBounds, treatment: str) -> list[RowBeside]:
    """Return a row to stand below each run's means: the bounds, or the expected mean."""
    if treatment == "bounds":
        shown = texts(limits_text, ties.lowest, ties.highest)
    else:
        shown = texts(number_text, ties.expected)
    return [RowBeside("ties", ties.runs, shown)]
