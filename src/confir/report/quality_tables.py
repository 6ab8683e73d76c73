"""How does the quality of data read? Tables of runs, of qrels, and of what to know about them."""

from __future__ import annotations

import math

import numpy as np

from confir.report.tables import Cell, Table
from confir.studies.data_quality import DataQuality
from confir.studies.quality_sentences import MANY_TIED, MUCH_UNJUDGED


def quality_table(quality: DataQuality, note: str = "") -> Table:
    """Return a table of runs: lists, ties, and shares unjudged; the most unjudged run first.

    What the sentences speak of is in bold.
    """
    unjudged = [f"unjudged_{cutoff}" for cutoff in quality.cutoffs]
    told = f"unjudged_{quality.told_cutoff}"
    records = quality.to_records()
    shares = quality.unjudged[:, quality.cutoffs.index(quality.told_cutoff)]
    rows = []
    for r in np.argsort(-np.nan_to_num(shares, nan=-1.0), kind="stable").tolist():
        record = records[r]
        lengths = f"{record['shortest']}/{_count_text(record['median'])}/{record['longest']}"
        rows.append(
            (
                Cell(record["run"]),
                Cell(str(record["lists"])),
                *(
                    Cell(str(record[field]), record[field] > 0)
                    for field in ("missing_topics", "unknown_topics")
                ),
                Cell(lengths if record["lists"] else "–"),
                Cell(percent_text(record["tied"]), record["tied"] >= MANY_TIED),
                Cell(str(record["largest_tie"])),
                *(
                    Cell(
                        percent_text(record[field]),
                        field == told and record[field] >= MUCH_UNJUDGED,
                    )
                    for field in unjudged
                ),
            )
        )
    columns = (
        "run",
        "lists",
        "missing",
        "unknown",
        "length",
        "tied",
        "largest tie",
        *(f"unjudged@{cutoff}" for cutoff in quality.cutoffs),
    )
    explained = (
        f"missing: of the {len(quality.topics)} topics of the qrels; unknown: topics that the "
        "qrels lack; length: shortest/median/longest list; tied: documents whose score another has "
        "in the list; unjudged@k: of the first k documents, mean over the lists"
    )
    return Table(columns, tuple(rows), f"{explained}. {note}" if note else explained)


def judgement_table(quality: DataQuality, note: str = "") -> Table:
    """Return a table of the qrels: judged and relevant documents of a topic."""
    record = quality.qrels_record()
    rows = tuple(
        (
            Cell(name),
            *(Cell(_count_text(record[f"{name}_{of}"])) for of in ("min", "median", "max")),
        )
        for name in ("judged", "relevant")
    )
    explained = (
        f"documents of each of {record['topics']} topics; relevant: gain {quality.rel} or more"
    )
    columns = ("documents", "fewest", "median", "most")
    return Table(columns, rows, f"{explained}. {note}" if note else explained)


def sentence_table(quality: DataQuality) -> Table:
    """Return a table of what a reader should know, a sentence a row."""
    return Table(("in words",), tuple((Cell(text),) for text in quality.sentences()))


def percent_text(share: float) -> str:
    """Return a share as text such as ``12.3 %``, a dash for none."""
    if math.isnan(share):
        return "–"
    return f"{100 * share:.1f} %"


def _count_text(value: float) -> str:
    return f"{value:.1f}" if value % 1 else f"{value:.0f}"
