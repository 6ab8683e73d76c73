"""What a command answers: records, a table, and the result behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from confir.data.result import Record

if TYPE_CHECKING:
    from confir.report.tables import AnswerPart, Table


class Answer(NamedTuple):
    """The answer of a command, in the forms that readers and programs need.

    Attributes
    ----------
    records
        For CSV, JSON and Parquet; they may be made only when they are written.
    table
        For the terminal, Markdown, LaTeX and HTML.
    result
        For charts: the result itself.
    parts
        For the terminal and Markdown, in place of the table: several, with sentences.
    rows
        How many rows of a table are printed in the terminal; None for all.
    """

    records: Iterable[Record]
    table: Table
    result: Any = None
    parts: Sequence[AnswerPart] = ()
    rows: int | None = None


def result_answer(result: Any) -> Answer:
    """Return a result with its records and the table that its study makes of it."""
    from confir.report.result_table import table_of

    return Answer(result.to_records(), table_of(result), result)
