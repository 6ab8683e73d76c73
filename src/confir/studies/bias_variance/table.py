"""Tables of bias, variance and total error: the smallest of each is bold within a measure."""

from __future__ import annotations

import math

import numpy as np

from confir.data.result import Record
from confir.errors import counted
from confir.number_text import number_text, percent, topics_text
from confir.order import best_first, is_best
from confir.report.tables import Cell, Table, topics_column
from confir.studies.bias_variance.bias_variance import BiasVariance

_PARTS = ("bias", "variance", "total")


def bias_variance_table(result: BiasVariance, note: str | None = None) -> Table:
    """Return a table with one row per measure and run, smallest total error first."""
    note = bias_variance_note(result) if note is None else note
    several = len(result.measures) > 1
    names = ("measure", "run") if several else ("run",)
    extra = _extra_columns(result)
    heading, _ = topics_column(result.topics)
    rows = []
    for measure in result.measures:
        records = [record for record in result.to_records() if record["measure"] == measure]
        sizes = {part: np.abs([record[part] for record in records]) for part in _PARTS}
        best = {part: is_best(-size) for part, size in sizes.items()}
        for place in best_first(-sizes["total"]):
            record = records[place]
            rows.append(
                (
                    *(Cell(record[name]) for name in names),
                    *(Cell(f"{record[name]:,}") for name in heading),
                    Cell(number_text(record["mean"])),
                    *(_part_cell(part, record, bool(best[part][place])) for part in _PARTS),
                    *(Cell(_plain_text(record[field])) for _, field in extra),
                )
            )
    columns = (*names, *heading, "mean", *_PARTS, *(name for name, _ in extra))
    return Table(columns, tuple(rows), note, names=len(names))


def _extra_columns(result: BiasVariance) -> list[tuple[str, str]]:
    """Return headings and fields of the columns that only some results have."""
    columns = []
    if result.robustness is not None:
        columns += [("RI", "robustness_index"), ("<Init", "hurt")]
        if result.robustness.loss is not None:
            columns.append((f"R-Loss@{result.robustness.loss_depth}", "loss"))
    if result.sweeps:
        swept = dict.fromkeys(sweep.parameter for sweep in result.sweeps)
        columns.append((" / ".join(swept), "parameter_value"))
    return columns


def _part_cell(part: str, record: Record, best: bool) -> Cell:
    return Cell(number_text(record[part], record[f"{part}_low"], record[f"{part}_high"]), best)


def _plain_text(value: float | None) -> str:
    """Return a count or a share in few digits."""
    return "–" if value is None or math.isnan(value) else f"{value:.4g}"


def bias_variance_note(result: BiasVariance) -> str:
    """Return the note below the table: what was decomposed, and how."""
    what = "score" if result.variable == "score" else "rho = target - score"
    topics = topics_text(result.topics)
    note = (
        f"error of the {what} against target {result.target}: bias² + variance = total, over "
        f"{topics}, with {percent(result.level)} interval by {result.method}"
    )
    cut = int(result.cut.sum())
    if not cut:
        return note
    intervals = counted(cut, "interval")
    return f"{note}; {intervals} clipped to the possible range (a variance is at least 0)"
