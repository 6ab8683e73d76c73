"""Tables of means beside what the order of tied documents could make of them."""

from __future__ import annotations

import numpy as np

from confir.number_text import limits_text, number_text
from confir.report.tables import RowBeside, Table
from confir.studies.ties.ties import TieBounds
from confir.studies.unjudged.table import means_table, texts

TIE_NOTE = {
    "bounds": "ties: lowest and highest mean over all orders of documents with equal scores",
    "expected": "ties: expected mean when documents with equal scores are in random order",
}


def tie_table(ties: TieBounds) -> Table:
    """Return a table of means over ties: one row per run and measure, best first."""
    names = ("lowest", "expected", "highest")
    shares = np.broadcast_to(ties.tied[:, None], ties.mean.shape)
    note = f"{TIE_NOTE['bounds']}; expected: in random order; mean: ties broken by docid, as in trec_eval"
    return means_table(ties, names, shares, "tied", note)


def tie_rows(ties: TieBounds, treatment: str) -> list[RowBeside]:
    """Return a row to stand below each run's means: the bounds, or the expected mean."""
    if treatment == "bounds":
        shown = texts(limits_text, ties.lowest, ties.highest)
    else:
        shown = texts(number_text, ties.expected)
    return [RowBeside("ties", ties.runs, shown)]
