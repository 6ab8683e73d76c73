"""How do topics read? Tables of how hard they are."""

from __future__ import annotations

from confir.report.numbers import number_text
from confir.report.tables import Cell, Table
from confir.studies.topic_difficulty import TopicDifficulty

_NUMBERS = ("lowest", "median", "highest")


def difficulty_table(topics: TopicDifficulty, note: str = "scores of all runs") -> Table:
    """Return a table of topics, hardest first: lowest, median and highest score of the runs."""
    several = len(topics.scores.measures) > 1
    rows = tuple(
        (
            *([Cell(record["measure"])] if several else []),
            Cell(record["topic"]),
            Cell(str(record["runs"])),
            *(Cell(number_text(record[name])) for name in _NUMBERS),
        )
        for record in topics.to_records()
    )
    names = ("measure", "topic") if several else ("topic",)
    return Table((*names, "runs", *_NUMBERS), rows, note, names=len(names))
