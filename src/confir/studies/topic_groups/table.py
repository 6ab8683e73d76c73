"""Tables of differences by group of topics, and of other results by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from confir.arrays import Floats, Integers
from confir.errors import counted
from confir.number_text import difference_text, p_text, percent
from confir.report.tables import Cell, Table
from confir.studies.topic_groups.group_differences import GroupComparison
from confir.studies.topic_groups.sentences import group_sentences

# More pairs are no longer said in sentences: the table has them all.
_MOST_SENTENCES = 12

_ALL = "all topics"


def group_difference_table(comparison: GroupComparison, seed: int | None = None) -> Table:
    """Return one row per measure, pair and group, after one for all topics.

    Parameters
    ----------
    comparison
        What `compare_groups` returns.
    seed
        Seed of the replicates, for the note.
    """
    rows = [
        row
        for measure in range(len(comparison.scores.measures))
        for pair in range(len(comparison.first))
        for row in _rows(comparison, pair, measure)
    ]
    columns = ("measure", "against", "run", comparison.column)
    numbers = ("topics", "difference", "verdict", "p of groups")
    return Table((*columns, *numbers), tuple(rows), _note(comparison, seed), names=len(columns))


def _rows(comparison: GroupComparison, pair: int, measure: int) -> list[tuple[Cell, ...]]:
    """Return the rows of one pair: all topics, then each group."""
    overall = comparison.overall
    low, high = overall.limits
    whole = _text(overall.difference, low, high, overall.open_end, (pair, measure))
    names = (comparison.scores.measures[measure], *comparison.pairs[pair])
    p = p_text(float(comparison.p_adjusted[pair, measure]))
    topics = int(overall.topics[pair, measure])
    p += _mark(comparison.groups_borderline[pair, measure])
    place = 0, pair, measure
    verdict = f"{overall.verdict[place]}{_mark(overall.borderline[place])}"
    texts = [(_ALL, f"{topics:,}", whole, verdict, p)]
    for number, group in enumerate(comparison.groups):
        cell = number, pair, measure
        text = _text(
            comparison.difference, comparison.low, comparison.high, comparison.open_end, cell
        )
        verdict = f"{comparison.verdict[cell]}{_mark(comparison.borderline[cell])}"
        texts.append((group, f"{comparison.topics[cell]:,}", text, verdict, ""))
    return [
        tuple(Cell(text, strong=number == 0) for text in (*names, *row))
        for number, row in enumerate(texts)
    ]


def _mark(borderline: np.bool_) -> str:
    return ", borderline" if borderline else ""


def _text(
    difference: Floats, low: Floats, high: Floats, open_end: Integers, cell: tuple[int, ...]
) -> str:
    """Return one of many differences with its interval."""
    limits = float(low[cell]), float(high[cell])
    return difference_text(float(difference[cell]), *limits, open_end=int(open_end[cell]))


def _note(comparison: GroupComparison, seed: int | None) -> str:
    """Return the answers in words, and what the columns are."""
    sentences = group_sentences(comparison)
    said = [f"{sentence}." for sentence in sentences[:_MOST_SENTENCES]]
    if len(sentences) > _MOST_SENTENCES:
        said = [f"{_count(comparison)}."]
    note = (
        f"difference with {percent(comparison.level)} interval, simultaneous over the pairs and the "
        f"{counted(len(comparison.groups), 'group')}, for all topics over the pairs; p of groups: "
        "Welch's F that the difference is the same in all groups of five topics or more, by "
        f"{counted(comparison.replicates, 'permutation')}, Holm's correction for the pairs"
    )
    marks = comparison.borderline, comparison.groups_borderline, comparison.overall.borderline
    if any(part.any() for part in marks):
        note += "; borderline: other replicates or permutations might change the decision"
    return "\n".join([*said, note if seed is None else f"{note}; seed {seed}"])


def _count(comparison: GroupComparison) -> str:
    """Return how many differences depend on the group."""
    tested = int((comparison.p_adjusted == comparison.p_adjusted).sum())
    found = int(comparison.significant.sum())
    return f"{found:,} of {counted(tested, 'difference')} tested depend on {comparison.column}"


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
