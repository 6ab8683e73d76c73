"""Tables of scores over collections: means by summary, in columns, and shares of variance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from confir.arrays import best_first, is_best
from confir.data.table_columns import MEASURE_AND_RUN, Role, TableColumn
from confir.errors import counted
from confir.number_text import number_text, runs_differ_in_topics
from confir.report.result_table import records_table
from confir.report.tables import Cell, Table, topics_column
from confir.resampling.document_replicates import DocumentReplicates
from confir.studies.collection.collection_means import (
    CollectionMeans,
    CollectionVariance,
    summary_name,
)

# The variance components.
_PARTS = ("topics", "documents", "interaction")


def collection_table(means: CollectionMeans) -> Table:
    """Return a table of means: one row per run, measure and method, one column per summary."""
    cells = {
        (record["run"], record["measure"], record["method"], record["summary"]): record
        for record in means.to_records()
    }
    several = len(means.measures) > 1
    best = np.apply_along_axis(is_best, 0, means.mean)
    best &= ~runs_differ_in_topics(means.topics)[:, None]
    heading, counts = topics_column(means.topics)
    order = best_first(means.mean[:, 0, 0])
    rows = []
    for r in order:
        for m, measure in enumerate(means.measures):
            for method in means.methods:
                values = []
                for s, summary in enumerate(means.summaries):
                    record = cells[means.runs[r], measure, method, summary]
                    text = number_text(record["mean"], record["low"], record["high"])
                    values.append(Cell(text, bool(best[r, m, s])))
                names = [Cell(means.runs[r]), *([Cell(measure)] if several else []), Cell(method)]
                rows.append((*names, *counts[r], *values))
    columns = ["run", *(["measure"] if several else []), "method"]
    headings = [summary_name(summary, means.measures) for summary in means.summaries]
    return Table((*columns, *heading, *headings), tuple(rows), means.note(), names=len(columns))


def collection_variance_table(
    variance: CollectionVariance, note: str = "", order: Sequence[str] | None = None
) -> Table:
    """Return a table of variance components: their shares, and the total standard deviation.

    The shares sum to 100%; the standard deviation is that over new topics and a new collection.

    Parameters
    ----------
    variance
        What `decompose_variance` returns.
    note
        The note below the table.
    order
        The runs from top to bottom; by default in their own order.
    """
    places = {run: place for place, run in enumerate(order or ())}
    records = [
        record
        | {part: record[part] / (record["total"] or math.nan) for part in _PARTS}
        | {"summary": summary_name(record["summary"], variance.measures)}
        | {"total": record["total"] ** 0.5}
        for record in variance.to_records()
    ]
    records.sort(key=lambda record: places.get(record["run"], len(places)))
    columns = {
        **MEASURE_AND_RUN,
        "summary": TableColumn(Role.NAME, "mean of"),
        **dict.fromkeys(_PARTS, TableColumn(Role.SHARE)),
        "total": TableColumn(Role.SCORE, "total sd"),
    }
    return records_table(records, columns, note)


def left_out_note(sample: DocumentReplicates) -> str:
    """Return the number of topics left out for lack of relevant documents; empty if none are."""
    whole = len(sample.topics) + len(sample.left_out)
    without = (sample.relevant == 0).sum(axis=1) + len(sample.left_out)
    if not without.any():
        return ""
    numbers = list(map(str, without.tolist()))
    if len(set(numbers)) > 1:
        pairs = zip(numbers, sample.measures, strict=True)
        numbers = [f"{number} for {measure}" for number, measure in pairs]
    return (
        f"topics without relevant documents left out ({', '.join(dict.fromkeys(numbers))} of "
        f"{whole}), which confir evaluate includes, 0 by most measures"
    )


def variance_note(variance: CollectionVariance, topics: int) -> str:
    """Return the note below a table of variances: what the components are, and what reduces them."""
    of = "means" if variance.baseline is None else f"differences from {variance.baseline}"
    return (
        f"share of the variance of {of} that comes from {counted(topics, 'topic')}, from documents, "
        "and from their interaction; and the standard deviation over new topics and a new "
        "collection. More topics reduce the first and the third part, a larger collection the "
        "second and the third"
    )
