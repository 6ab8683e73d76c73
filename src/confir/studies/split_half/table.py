"""Tables of split-half validation: shares below, in and above intervals, by direction."""

from __future__ import annotations

from confir.data.result import Record
from confir.number_text import share_text
from confir.report.tables import Cell, Table
from confir.studies.collection.collection_means import summary_name
from confir.studies.split_half.splits import DIRECTIONS, SplitHalf


def split_half_table(result: SplitHalf, note: str = "") -> Table:
    """Return a table of shares: one row per statistic, method and subset, columns by direction.

    Of several splits each share is the mean, and the one in the interval has its lowest to highest.
    """
    rows: dict[tuple[str, ...], dict[str, Record]] = {}
    for record in result.to_records():
        key = (
            _statistic(record["summary"], result.measure),
            record["method"],
            "yes" if record["corrected"] else "no",
            record["subset"],
        )
        rows.setdefault(key, {})[record["direction"]] = record
    names = ("score", "method", "small-R", "subset")
    columns = [f"{part} ({name})" for name in ("A→B", "B→A") for part in ("below", "in", "above")]
    cells = tuple(
        (
            *(Cell(name) for name in key),
            *(
                Cell(_share(found[direction], part))
                for direction in DIRECTIONS
                for part in ("below", "inside", "above")
            ),
            Cell(" / ".join(f"{found[direction]['n']:,}" for direction in DIRECTIONS)),
        )
        for key, found in rows.items()
    )
    outside = share_text((1 - result.predicted) / 2)
    model = [outside, share_text(result.predicted), outside] * 2
    last = (*(Cell(text, strong=True) for text in ("model", "", "", "", *model)), Cell(""))
    return Table((*names, *columns, "n"), (*cells, last), note, names=4)


def _share(record: Record, part: str) -> str:
    """Return a share in per cent; of several splits that in the interval with its range."""
    mean = share_text(record[part])
    if part != "inside" or record["splits"] == 1 or record["n"] == 0:
        return mean
    low, high = (100 * record[f"{part}_{end}"] for end in ("min", "max"))
    return f"{mean} ({low:.1f} to {high:.1f})"


def _statistic(summary: str, measure: str) -> str:
    return measure if summary == "topic" else summary_name(summary, (measure,))
