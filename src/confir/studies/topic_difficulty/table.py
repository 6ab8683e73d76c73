"""Tables of topics: how hard they are, and where a run fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from confir.arrays import Floats
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


def difficulty_table(topics: TopicDifficulty, note: str | None = None) -> Table:
    """Return a table of topics, hardest first: range, median and discrimination of the runs."""
    several = len(topics.measures) > 1
    numbers = _numbers(topics)
    rows = tuple(
        (
            *([Cell(record["measure"])] if several else []),
            Cell(record["topic"]),
            Cell(f"{record['runs']:,}"),
            *(Cell(number_text(record[name])) for name in numbers),
        )
        for record in topics.to_records()
    )
    names = ("measure", "topic") if several else ("topic",)
    note = difficulty_note(topics) if note is None else note
    headings = map(_heading, numbers)
    return Table((*names, "runs", *headings), rows, note, names=len(names))


def overview_table(topics: TopicDifficulty, most: int) -> Table:
    """Return the hardest, easiest and most discriminating topics, and those where the run fails.

    Parameters
    ----------
    topics
        What `describe_topics` returns.
    most
        Number of topics in each list.
    """
    several = len(topics.measures) > 1
    numbers = _numbers(topics)
    records = {(r["measure"], r["topic"]): r for r in topics.to_records()}
    rows = tuple(
        (
            *([Cell(measure)] if several else []),
            Cell(kind),
            Cell(topic),
            *(Cell(number_text(records[measure, topic][name])) for name in numbers),
        )
        for measure, kind, topic in _listed(topics, most)
    )
    names = ("measure", "list", "topic") if several else ("list", "topic")
    headings = map(_heading, numbers)
    return Table((*names, *headings), rows, difficulty_note(topics), names=len(names))


def difficulty_note(topics: TopicDifficulty) -> str:
    """Return the note below a table of topics."""
    note = (
        f"lowest, median and highest score of {counted(len(topics.scores.runs), 'run')}; discr.: "
        "discrimination, the correlation of the topic's scores with the means over the other topics"
    )
    if topics.run is None:
        return note
    return f"{note}; score of {topics.run}, and its shortfall from the best run of the topic"


def _heading(name: str) -> str:
    """Return the heading of a column, short enough for a narrow terminal."""
    return "discr." if name == "discrimination" else name


def _numbers(topics: TopicDifficulty) -> tuple[str, ...]:
    return _NUMBERS if topics.run is None else _NUMBERS + _OF_RUN


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
