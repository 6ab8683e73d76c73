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
    main = f"unjudged_{quality.main_cutoff}"
    records = quality.to_records()
    rows = []
    for r in best_first(quality.unjudged[:, quality.cutoffs.index(quality.main_cutoff)]):
        record = records[r]
        lengths = f"{record['shortest']}/{_count_text(record['median'])}/{record['longest']}"
        lacking = (record[field] for field in ("missing_topics", "unknown_topics"))
        unjudged = {f"unjudged_{k}": record[f"unjudged_{k}"] for k in quality.cutoffs}
        rows.append(
            (
                Cell(record["run"]),
                Cell(f"{record['lists']:,}"),
                *(Cell(f"{count:,}", count > 0) for count in lacking),
                Cell(lengths if record["lists"] else "–"),
                Cell(share_text(record["tied"]), record["tied"] >= MANY_TIED),
                Cell(f"{record['largest_tie']:,}"),
                *(
                    Cell(share_text(share), field == main and share >= MUCH_UNJUDGED)
                    for field, share in unjudged.items()
                ),
            )
        )
    columns = (
        *("run", "lists", "missing", "unknown", "length", "tied", "largest tie"),
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
