"""The table of Type I error: a row per run, a column per method and number of topics."""

from __future__ import annotations

from confir.arrays import best_first
from confir.number_text import number_text
from confir.report.tables import Cell, Table
from confir.studies.coverage.type_one_error import TypeOneError


def type_one_run_table(error: TypeOneError, note: str = "") -> Table:
    """Return a table by run: skewness, bias of the mean, and the error of each method and size.

    Errors are those at the first level.
    """
    several = len({measure for _, measure in error.columns}) > 1
    rows = []
    for c in best_first(error.skewness):
        run, measure = error.columns[c]
        numbers = [error.skewness[c], *error.bias[:, c], *error.error[:, :, 0, c].reshape(-1)]
        name = f"{run} {measure}" if several else run
        rows.append((Cell(name), *(Cell(number_text(float(number))) for number in numbers)))
    of_sizes = [
        f"{what}, n = {size:,}" for what in ("bias", *error.methods) for size in error.topics
    ]
    return Table(("run", "skewness", *of_sizes), tuple(rows), note)
