"""How does chance read? Tables of random baselines, with runs beside them."""

from __future__ import annotations

import math

from confir.data.scores import Record
from confir.report.tables import Cell, Table, number_text
from confir.studies.random_baseline import Chance

# Where double precision ends: smaller p-values are not worth their digits.
_SMALLEST_P = 1e-300


def chance_table(chance: Chance, note: str = "") -> Table:
    """Return a table of means: a row a run, best first, then chance; or a row a measure."""
    return _run_table(chance, note) if chance.runs else _measure_table(chance, note)


def chance_topic_table(chance: Chance, note: str = "") -> Table:
    """Return a table with a row for each topic, measure and run."""
    names = ("measure", "run", "topic") if chance.runs else ("measure", "topic")
    numbers = ("relevant", "expected", "sd", *(("score", "corrected", "p") if chance.runs else ()))
    rows = tuple(
        (
            *(Cell(record[name]) for name in names),
            Cell(str(record["relevant"])),
            *(Cell(_text(name, record)) for name in numbers[1:]),
        )
        for record in chance.to_records(per_topic=True)
    )
    return Table((*names, *numbers), rows, note, names=len(names))


def _measure_table(chance: Chance, note: str) -> Table:
    fields = ("expected", "sd", "prevalence")
    rows = tuple(
        (Cell(record["measure"]), *(Cell(f"{record[field]:.6g}") for field in fields))
        for record in chance.to_records()
    )
    return Table(("measure", *fields), rows, note)


def _run_table(chance: Chance, note: str) -> Table:
    """Return a row a run: score (chance-corrected) by each measure, and the p of AP."""
    records = {(record["run"], record["measure"]): record for record in chance.to_records()}
    tested = [
        measure
        for measure in chance.measures
        if any(not math.isnan(records[run, measure]["p"]) for run in chance.runs)
    ]
    best = {
        measure: max(records[run, measure]["score"] for run in chance.runs)
        for measure in chance.measures
    }
    ranked = sorted(chance.runs, key=lambda run: -records[run, chance.measures[0]]["score"])
    rows = [
        (
            Cell(run),
            *(
                Cell(
                    f"{number_text(records[run, measure]['score'])} "
                    f"({number_text(records[run, measure]['corrected'])})",
                    bool(records[run, measure]["score"] == best[measure]),
                )
                for measure in chance.measures
            ),
            *(Cell(_text("p", records[run, measure])) for measure in tested),
        )
        for run in ranked
    ]
    baseline = [records[ranked[0], measure] for measure in chance.measures]
    rows.append(
        (
            Cell("chance"),
            *(Cell(f"{_text('expected', r)} ± {_text('sd', r)}") for r in baseline),
            *(Cell("") for _ in tested),
        )
    )
    columns = ("run", *chance.measures, *(f"p of {measure}" for measure in tested))
    return Table(columns, tuple(rows), note)


def _text(field: str, record: Record) -> str:
    """Return a number with the digits that it deserves: chance may be very small."""
    value = float(record[field])
    if math.isnan(value):
        return "–"
    if field in ("score", "corrected"):
        return number_text(value)
    if field == "p":
        return f"<{_SMALLEST_P:g}" if value < _SMALLEST_P else f"{value:.2g}"
    return f"{value:.4g}"
