"""The overview of topics: lists of the hardest, the easiest and others below each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from confir.arrays import TIE, Floats, best_first
from confir.data.table_columns import Role, TableColumn
from confir.report.result_table import records_table
from confir.report.tables import Table
from confir.studies.topic_difficulty.topic_difficulty import TopicDifficulty

# Numbers that agree to this many digits are equal up to rounding.
_DIGITS = 12

# The lists of an overview, and the values that they are sorted by, descending.
_LISTS: dict[str, Callable[[TopicDifficulty], Floats]] = {
    "hardest": lambda topics: -topics.median,
    "easiest": lambda topics: topics.median,
    "discriminating": lambda topics: topics.discrimination,
}


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
        records[measure, topic] | {"list": kind} for measure, kind, topic in _listed(topics, most)
    ]
    columns = dict(topics.table_columns())
    del columns["runs"]
    first = {"measure": columns.pop("measure"), "list": TableColumn(Role.NAME)}
    return records_table(rows, first | columns, topics.note())


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
