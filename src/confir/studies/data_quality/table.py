"""A table of data quality by run: lists, ties, and unjudged documents."""

from __future__ import annotations

from confir.errors import counted
from confir.number_text import share_text
from confir.order import best_first
from confir.report.tables import Cell, Table
from confir.studies.data_quality.data_quality import DataQuality
from confir.studies.data_quality.sentences import MANY_TIED, MUCH_UNJUDGED


def quality_table(quality: DataQuality, note: str = "") -> Table:
    """Return a table of runs: lists, ties, and shares unjudged; the most unjudged run first.

    Values that the sentences mention are in bold.
    """
    unjudged = [f"unjudged_{cutoff}" for cutoff in quality.cutoffs]
    main = f"unjudged_{quality.main_cutoff}"
    records = quality.to_records()
    shares = quality.unjudged[:, quality.cutoffs.index(quality.main_cutoff)]
    rows = []
    for r in best_first(shares):
        record = records[r]
        lengths = f"{record['shortest']}/{_count_text(record['median'])}/{record['longest']}"
        rows.append(
            (
                Cell(record["run"]),
                Cell(f"{record['lists']:,}"),
                *(
                    Cell(f"{record[field]:,}", record[field] > 0)
                    for field in ("missing_topics", "unknown_topics")
                ),
                Cell(lengths if record["lists"] else "–"),
                Cell(share_text(record["tied"]), record["tied"] >= MANY_TIED),
                Cell(f"{record['largest_tie']:,}"),
                *(
                    Cell(
                        share_text(record[field]),
                        field == main and record[field] >= MUCH_UNJUDGED,
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
        f"missing: of the {counted(len(quality.topics), 'topic')} of the qrels; unknown: topics that "
        "the qrels lack; length: shortest/median/longest list; tied: documents with the score of another "
        "in the list; unjudged@k: share of the first k documents, mean over the lists"
    )
    return Table(columns, tuple(rows), f"{explained}. {note}" if note else explained)


def _count_text(value: float) -> str:
    return f"{value:.1f}" if value % 1 else f"{value:.0f}"
