"""Tables of topics: how hard they are, and where a run fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from confir.arrays import Floats
from confir.data.result import Record
from confir.errors import counted
from confir.number_text import number_text
from confir.order import TIE, best_first
from confir.report.tables import Cell, Table
from confir.studies.topic_difficulty.topic_difficulty import TopicDifficulty

_NUMBERS = ("lowest", "median", "highest", "discrimination")
_OF_RUN = ("score", "shortfall")

# Numbers that agree to this many digits are equal up to rounding.
_DIGITS = 12

# The lists of an overview, and the values that they are sorted by, descending.
_LISTS: dict[str, Callable[[TopicDifficulty], Floats]] = {
    "hardest": lambda topics: -topics.median,
    "easiest": lambda topics: topics.median,
    "discriminating": lambda topics: topics.discrimination,
}


def difficulty_table(topics: TopicDifficulty) -> Table:
    """Return a table of topics, hardest first: range, median and discrimination of the runs."""
    rows = [(r, (r["measure"], r["topic"], f"{r['runs']:,}")) for r in topics.to_records()]
    table = _table(topics, rows, ("measure", "topic", "runs"))
    return replace(table, names=table.names - 1)  # the number of runs is none


def overview_table(topics: TopicDifficulty, most: int) -> Table:
    """Return the hardest, easiest and most discriminating topics, and those where the run fails.

    Parameters
    ----------
    topics
        What `describe_topics` returns.
    most
        Number of topics in each list.
    """
    records = {(r["measure"], r["topic"]): r for r in topics.to_records()}
    rows = [
        (records[measure, topic], (measure, kind, topic))
        for measure, kind, topic in _listed(topics, most)
    ]
    return _table(topics, rows, ("measure", "list", "topic"))


def _table(
    topics: TopicDifficulty, rows: Sequence[tuple[Record, tuple[str, ...]]], names: tuple[str, ...]
) -> Table:
    """Return records with what is before their numbers; one measure is no column."""
    first = 0 if len(topics.measures) > 1 else 1
    numbers = _NUMBERS if topics.run is None else _NUMBERS + _OF_RUN
    cells = tuple(
        (*map(Cell, before[first:]), *(Cell(number_text(record[name])) for name in numbers))
        for record, before in rows
    )
    # short enough for a narrow terminal
    heads = ["discr." if name == "discrimination" else name for name in numbers]
    shown = names[first:]
    return Table((*shown, *heads), cells, difficulty_note(topics), names=len(shown))


def difficulty_note(topics: TopicDifficulty) -> str:
    """Return the note below a table of topics."""
    note = (
        f"lowest, median and highest score of {counted(len(topics.scores.runs), 'run')}; discr.: "
        "discrimination, the correlation of the topic's scores with the means over the other topics"
    )
    if topics.run is None:
        return note
    return f"{note}; score of {topics.run}, and its shortfall from the best run of the topic"


def _listed(topics: TopicDifficulty, most: int) -> Iterator[tuple[str, str, str]]:
    """Yield measure, list and topic of each row of an overview; tied topics in their own order."""
    lists = dict(_LISTS)
    if topics.run is not None:
        lists[f"{topics.run} fails"] = lambda chosen: np.where(
            chosen.shortfall > TIE, chosen.shortfall, np.nan
        )
    for m, measure in enumerate(topics.measures):
        for kind, values in lists.items():
            column = values(topics)[:, m]
            known = [t for t in best_first(np.round(column, _DIGITS)) if not np.isnan(column[t])]
            yield from ((measure, kind, topics.topics[t]) for t in known[:most])
