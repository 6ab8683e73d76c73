"""Rows of a table that summarise the others, such as a mean over topics: they are left out."""

from __future__ import annotations

import numpy as np

from confir.arrays import Booleans
from confir.data.tables.input_table import Ids, InputTable
from confir.data.tables.table_kind import fold
from confir.errors import (
    FormatError,
    ReadingWarning,
    enumerate_names,
    enumerate_numbers,
    warn_caller,
)

# What stands in place of a topic there, in small letters.
SUMMARY_NAMES = ("all", "mean", "average", "avg", "amean", "total", "sum", "overall")


def is_summary(name: str) -> bool:
    """Whether a row of that name sums up the others."""
    return fold(name) in SUMMARY_NAMES


def drop_summaries(table: InputTable, place: int) -> tuple[InputTable, Ids]:
    """Return a table without its summaries, and its ids at a place; a warning names their rows."""
    ids = table.ids(place)
    together = "\n".join(ids.names).casefold()
    if not any(summary in together for summary in SUMMARY_NAMES):
        return table, ids  # a fast check, however many ids there are
    codes = [code for code, name in enumerate(ids.names) if is_summary(name)]
    if not codes:
        return table, ids
    names = enumerate_names(repr(ids.names[code]) for code in codes)
    summaries = np.isin(ids.codes, codes)
    kept = drop_rows(table, ~summaries, f"{table.header[place]} {names}")
    lines = np.asarray(table.lines)[summaries].tolist()
    warn_caller(
        f"{table.source}: summaries are left out: {table.header[place]} {names} "
        f"({enumerate_numbers(table.unit, lines)})",
        ReadingWarning,
    )
    return kept, kept.ids(place)


def drop_rows(table: InputTable, kept: Booleans, summaries: str) -> InputTable:
    """Return the rows of a table that are kept; raise where there are summaries only."""
    if not kept.any():
        raise FormatError(
            f"only summaries ({summaries}); expected a row per topic, as with the option -q of "
            "trec_eval and ir_measures",
            path=table.source,
        )
    return table.where(kept)
