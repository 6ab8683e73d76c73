"""Files that say which team submitted which run: tables, or lines of run and team."""

from __future__ import annotations

import io

from confir.data.files import PathLike
from confir.data.tables.input_table import InputTable
from confir.data.tables.separated_text import folded_cells, separated_table
from confir.data.tables.table_kind import TableKind
from confir.data.tables.table_reader import read_table
from confir.errors import FormatError, counted

_EXPECTED = "expected a run and its team"
_NAMES = {"run": ("run", "tag", "runtag", "run_id"), "team": ("team", "group", "participant")}


def read_teams(path: PathLike) -> dict[str, str]:
    """Return the team of each run: run → team.

    Parameters
    ----------
    path
        A table with the columns run and team; or lines of a run and its team without a header,
        separated by blanks, tabs or commas. Comments (#) and blank lines are left out.
    """
    table = read_table(path, _TEAMS)
    pairs = zip(table.texts(table.need("run")), table.texts(table.need("team")), strict=True)
    teams: dict[str, str] = {}
    for row, (run, team) in enumerate(pairs):
        if teams.setdefault(run, team) != team:
            raise table.error(
                f"run {run!r} is of team {team!r}, and of {teams[run]!r} before; expected one team",
                row,
            )
    return teams


def _read_lines(
    content: bytes, first: bytes, separator: str | None, source: str
) -> InputTable | None:
    """Return the table of lines without a header, or whose header is separated by blanks."""
    names = folded_cells(first.decode(), separator)
    headed = all(not set(names).isdisjoint(known) for known in _NAMES.values())
    header = names if headed else list(_NAMES)
    if separator is not None:
        return None if headed else separated_table(content, separator, source, _TEAMS, header)
    split = [
        (number, line.split(None, 99)) for number, line in enumerate(io.BytesIO(content), start=1)
    ]
    lines = [held for held in split if held[1] and held[1][0][:1] != b"#"][headed:]
    for number, fields in lines:
        if len(fields) != len(header):
            problem = f"{counted(len(fields), 'column')}; {_EXPECTED}"
            raise FormatError(problem, path=source, line=number)
    columns = [[fields[place].decode() for _, fields in lines] for place in range(len(header))]
    return InputTable(source, header, columns, [number for number, _ in lines])


_TEAMS = TableKind(_EXPECTED, _NAMES, read_lines=_read_lines)
