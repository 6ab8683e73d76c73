"""Tables of coverage and Type I error."""

from __future__ import annotations

import math
from collections.abc import Sequence

from confir.errors import enumerate_names
from confir.number_text import number_text, percent
from confir.order import best_first
from confir.report.tables import Cell, Table
from confir.studies.coverage.coverage import Coverage
from confir.studies.coverage.type_one_error import TypeOneError

_OUTLIERS_SHOWN = 10
_METHODS_SHOWN = 4


def coverage_table(coverage: Coverage, note: str | None = None) -> Table:
    """Return a table by method: mean coverage, its range, and the misses on each side."""
    columns = (
        "method",
        "mean coverage",
        "lowest",
        "highest",
        "truth below",
        "truth above",
        "no interval",
    )
    rows = tuple(
        (
            Cell(record["method"]),
            Cell(_with_error(record["coverage"], record["se"])),
            *(
                Cell(number_text(record[key]))
                for key in ("least", "greatest", "below", "above", "undefined")
            ),
        )
        for record in coverage.summary()
    )
    note = coverage_note(coverage) if note is None else note
    return Table(columns, rows, "\n".join([note, *_outlier_lines(coverage)]).strip())


def type_one_table(
    error: TypeOneError, note: str = "share of intervals that miss the mean over all topics"
) -> Table:
    """Return a table as in [Park2011]: one row per method and level, one column per sample size."""
    mean = error.mean_error
    nominal = _nominal_texts(error.levels)
    rows = tuple(
        (
            Cell(method),
            Cell(text),
            *(Cell(number_text(mean[k, t, v])) for t in range(len(error.topics))),
        )
        for k, method in enumerate(error.methods)
        for v, text in enumerate(nominal)
    )
    sizes = tuple(f"n = {size:,}" for size in error.topics)
    return Table(("method", "nominal", *sizes), rows, note, names=2)


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
    headings = (
        "run",
        "skewness",
        *(f"bias, n = {size:,}" for size in error.topics),
        *(f"{method}, n = {size:,}" for method in error.methods for size in error.topics),
    )
    return Table(headings, tuple(rows), note)


def _nominal_texts(levels: Sequence[float]) -> list[str]:
    """Return the nominal errors of some levels: two decimals, more if needed."""
    needed = [len(f"{1.0 - level:.10f}".rstrip("0")) - len("0.") for level in levels]
    decimals = max(2, *needed)
    return [f"{1.0 - level:.{decimals}f}" for level in levels]


def _with_error(mean: float, error: float) -> str:
    return number_text(mean) if math.isnan(error) else f"{mean:.4f} ± {error:.4f}"


def _outlier_lines(coverage: Coverage) -> list[str]:
    """Return the runs with unusually low coverage, with the reason."""
    by_run: dict[tuple[str, str, str], list[str]] = {}
    for record in coverage.outliers():
        key = (record["run"], record["measure"], record["reason"])
        by_run.setdefault(key, []).append(f"{record['method']} {record['coverage']:.3f}")
    if not by_run:
        return ["no run has unusually low coverage"]
    lines = [
        f"  {run} {measure} ({reason}): {enumerate_names(methods, _METHODS_SHOWN)}"
        for (run, measure, reason), methods in list(by_run.items())[:_OUTLIERS_SHOWN]
    ]
    more = len(by_run) - len(lines)
    return [
        "runs with unusually low coverage:",
        *lines,
        *([f"  and {more} more"] if more else []),
    ]


def coverage_note(coverage: Coverage) -> str:
    """Return the note below the table: what was counted."""
    return (
        f"share of {percent(coverage.level)} intervals that contain the mean of all topics, ± "
        "Monte-Carlo standard error"
    )
