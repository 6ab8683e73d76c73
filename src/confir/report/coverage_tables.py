"""Tables of how well intervals keep their word."""

from __future__ import annotations

from confir.report.tables import Cell, Table
from confir.studies.coverage import Coverage
from confir.studies.type_one_error import TypeOneError

_OUTLIERS_SHOWN = 10


def coverage_table(coverage: Coverage, note: str = "") -> Table:
    """Return a table by method: mean coverage, its range, and the misses of each side."""
    columns = ("method", "coverage", "least", "greatest", "truth below", "truth above", "undefined")
    rows = tuple(
        (
            Cell(record["method"]),
            *(
                Cell(f"{record[key]:.4f}")
                for key in ("coverage", "least", "greatest", "below", "above", "undefined")
            ),
        )
        for record in coverage.summary()
    )
    return Table(columns, rows, "\n".join([note, *_outlier_lines(coverage)]))


def type_one_table(error: TypeOneError, note: str = "") -> Table:
    """Return a table as in [Park2011]: a row a level and method, a column a sample size."""
    mean = error.error.mean(axis=3)
    rows = tuple(
        (
            Cell(method),
            Cell(f"{1.0 - level:.2f}"),
            *(Cell(f"{mean[k, t, v]:.4f}") for t in range(len(error.topics))),
        )
        for k, method in enumerate(error.methods)
        for v, level in enumerate(error.levels)
    )
    sizes = tuple(f"n = {size}" for size in error.topics)
    return Table(("method", "claimed error", *sizes), rows, note, names=2)


def _outlier_lines(coverage: Coverage) -> list[str]:
    """Return the intervals whose coverage is far below the level, with the reason in words."""
    outliers = coverage.outliers()
    if not outliers:
        return ["no run's coverage is far below the level"]
    lines = [
        f"{record['run']}, {record['measure']}, {record['method']}: {record['coverage']:.3f} "
        f"({record['reason']})"
        for record in outliers[:_OUTLIERS_SHOWN]
    ]
    more = len(outliers) - len(lines)
    heading = "coverage far below the level:" + ("" if not more else f" ({more} more)")
    return [heading, *(f"  {line}" for line in lines)]
