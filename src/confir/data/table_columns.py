"""The columns of a result's table: heading, kind of number, and what is shown with it.

A result declares them once, in the order of its table::

    def table_columns(self) -> TableColumns:
        return {
            "run": TableColumn(Role.NAME),
            "mean": TableColumn(Role.SCORE, others=LIMITS),
            "rank_low": TableColumn(Role.RANGE, "rank", ("rank_high",)),
        }

Tables for terminal, Markdown, HTML and LaTeX and the interval chart follow from the declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class Role(StrEnum):
    """What the values of a column are, which decides how they are written."""

    NAME = "name"
    VERDICT = "verdict"
    SCORE = "score"
    DIFFERENCE = "difference"
    SHARE = "share"
    FREQUENCY = "frequency"
    P = "p"
    COUNT = "count"
    NUMBER = "number"
    RANGE = "range"
    FLAG = "flag"
    WINS = "wins"


class TableColumn(NamedTuple):
    """How a column reads.

    Attributes
    ----------
    role
        What its values are.
    title
        Its heading; by default the column's name, with blanks.
    others
        Further columns in the same cell: the limits of an estimate and its open end, the end of a
        range, the ties and losses after the wins, or whether a verdict is borderline.
    format
        Format of a NUMBER, as for `format`.
    bold
        Says of a record whether its cell is bold.
    if_several
        Whether the column is left out where all rows have the same value, such as one measure.
    words
        What is written for some values.
    text
        Writes the cell of a record, where no role does.
    """

    role: Role
    title: str = ""
    others: tuple[str, ...] = ()
    format: str = ".4g"
    bold: Callable[[dict[str, Any]], bool] | None = None
    if_several: bool = False
    words: Mapping[Any, str] | None = None
    text: Callable[[dict[str, Any]], str] | None = None


# The columns of a table in their order, by name.
TableColumns = Mapping[str, TableColumn]

# An estimate with its limits, under their usual names.
LIMITS = ("low", "high")
# The columns of names that most results have: the measure, if there are several, and the run.
MEASURE_AND_RUN = {
    "measure": TableColumn(Role.NAME, if_several=True),
    "run": TableColumn(Role.NAME),
}
