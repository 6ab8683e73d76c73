"""Tables of differences by group of topics, and of other results by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

import numpy as np

from confir.data.result import Record
from confir.data.table_columns import LIMITS, Role, TableColumn
from confir.errors import counted
from confir.number_text import p_text, percent
from confir.report.result_table import records_table
from confir.report.tables import Cell, Table
from confir.studies.topic_groups.group_differences import GroupComparison

# More pairs are no longer said in sentences: the table has them all.
_MOST_SENTENCES = 12


def group_difference_table(comparison: GroupComparison, seed: int | None = None) -> Table:
    """Return one row per measure, pair and group, after one for all topics.

    Parameters
    ----------
    comparison
        What `compare_groups` returns.
    seed
        Seed of the replicates, for the note.
    """
    name, bold = TableColumn(Role.NAME), itemgetter("whole")
    columns = {
        **dict.fromkeys(("measure", "against", "run"), name),
        "group": name._replace(title=comparison.column),
        "topics": TableColumn(Role.COUNT),
        "difference": TableColumn(Role.DIFFERENCE, others=(*LIMITS, "open")),
        "verdict": TableColumn(Role.VERDICT, others=("borderline",)),
        "p_groups_adjusted": TableColumn(Role.P, "p of groups", text=_p_of_groups),
    }
    bold_rows = {one: column._replace(bold=bold) for one, column in columns.items()}
    return records_table(comparison.records_with_overall(), bold_rows, _note(comparison, seed))


def _p_of_groups(record: Record) -> str:
    if not record["whole"]:
        return ""
    unclear = ", borderline" if record["groups_borderline"] else ""
    return f"{p_text(record['p_groups_adjusted'])}{unclear}"


def _note(comparison: GroupComparison, seed: int | None) -> str:
    """Return the answers in words, and what the columns are."""
    said = [f"{sentence}." for sentence in comparison.sentences()]
    if len(said) > _MOST_SENTENCES:
        tested = counted(int((~np.isnan(comparison.p_adjusted)).sum()), "difference")
        found = int(comparison.significant.sum())
        said = [f"{found:,} of {tested} tested depend on {comparison.column}."]
    note = (
        f"difference with {percent(comparison.level)} interval, simultaneous over the pairs and the "
        f"{counted(len(comparison.groups), 'group')}, for all topics over the pairs; p of groups: "
        "Welch's F that the difference is the same in all groups of five topics or more, by "
        f"{counted(comparison.replicates, 'permutation')}, Holm's correction for the pairs"
    )
    marks = comparison.borderline, comparison.groups_borderline, comparison.overall.borderline
    if any(part.any() for part in marks):
        note += "; borderline: another seed might change the decision"
    return "\n".join([*said, note if seed is None else f"{note}; seed {seed}"])


def join_tables(column: str, parts: Sequence[tuple[str, Table]], note: str = "") -> Table:
    """Return tables of the same kind, one per group, as one with a column of groups before.

    Columns that only some of them have are left empty elsewhere.
    """
    first = parts[0][1]
    names = first.columns[: first.names]
    numbers = tuple(
        dict.fromkeys(name for _, table in parts for name in table.columns[table.names :])
    )
    rows = []
    for group, table in parts:
        for row in table.rows:
            held = dict(zip(table.columns, row, strict=True))
            rows.append((Cell(group), *(held.get(name, Cell("")) for name in (*names, *numbers))))
    notes = dict.fromkeys(table.note for _, table in parts)
    text = note or "\n".join(dict.fromkeys(line for one in notes for line in one.split("\n")))
    return replace(
        first, columns=(column, *names, *numbers), rows=tuple(rows), note=text, names=len(names) + 1
    )
