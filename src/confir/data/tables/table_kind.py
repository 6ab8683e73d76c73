"""What a table is read for: the roles of its columns, and what they may be called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confir.data.tables.input_table import InputTable


@dataclass(frozen=True, slots=True)
class TableKind:
    """What a table is read for: the roles of its columns, and what its reader must know besides.

    Attributes
    ----------
    expected
        What was expected, for messages.
    roles
        What a column may hold, and what it may be called for that, in small letters, the preferred
        name first. These names recognise a header.
    levels, order_levels
        Columns that the levels of nested JSON objects stand for; none where they are not read. What
        tells their order, given the objects and the source.
    is_one_run
        Whether nested objects lack the first level, which is then named after the source.
    read_lines
        Reader of lines without a header, given the content, its first line, what seems to separate
        it and the source; it returns None where a header is there.
    drops_short_rows
        Whether a few rows that are shorter than a header may be left out.
    read_format
        Reader of a format of its own, given the content and the source; None where it is none.
    """

    expected: str = ""
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    levels: tuple[str, ...] = ()
    order_levels: Callable[[Sequence[Any], str], tuple[str, ...]] | None = None
    is_one_run: Callable[[Any], bool] = lambda _: False
    read_lines: Callable[[bytes, bytes, str | None, str], InputTable | None] | None = None
    drops_short_rows: Callable[[Sequence[str]], bool] = lambda _: False
    read_format: Callable[[bytes, str], InputTable | None] = lambda _, __: None

    @property
    def names(self) -> set[str]:
        """All names that columns may have."""
        return {name for names in self.roles.values() for name in names}


def fold(name: str) -> str:
    """Return the name of a column as it is compared: without outer blanks and case."""
    return name.strip().casefold()
