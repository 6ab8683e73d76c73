"""The table of reliability by numbers of topics, judges and repeats, which are its rows."""

from __future__ import annotations

from confir.number_text import number_text, percent
from confir.report.tables import Cell, Table
from confir.studies.components.components import Components


def reliability_table(components: Components) -> Table:
    """Return one row per number of topics, of judges and of repeats: Eρ² and Φ."""
    facets = components.facets
    rows = []
    for record in components.coefficient_records():
        numbers = [record[name] for name in ("topics", *facets)]
        mine = numbers == [components.topics, *components.levels]
        cells = [f"{number:,}" for number in numbers]
        for kind in ("relative", "absolute"):
            limits = (record[kind], record[f"{kind}_low"], record[f"{kind}_high"])
            cells.append(number_text(*limits))
        rows.append(tuple(Cell(text, strong=mine) for text in cells))
    note = (
        f"with {percent(components.level)} intervals, under normal effects; Eρ²: reliability of differences "
        "between systems; Φ: of the scores themselves"
    )
    return Table(("topics", *facets, "Eρ²", "Φ"), tuple(rows), note, names=1 + len(facets))
