"""Files that say which team submitted which run: lines of run and team, or columns of these names."""

from __future__ import annotations

from collections.abc import Sequence

from confir.data.files import PathLike, read_bytes, text_bytes
from confir.errors import FormatError, counted

_EXPECTED = "expected a run and its team"
_RUN, _TEAM = ("run", "tag", "runtag", "run_id"), ("team", "group", "participant")


def read_teams(path: PathLike) -> dict[str, str]:
    """Return the team of each run: run → team.

    Parameters
    ----------
    path
        A file of lines ``run team``, separated by blanks; or with commas or tabs, where a header may
        name the columns. Comments (#) and blank lines are left out.
    """
    name = str(path)
    places, width = None, 2
    teams: dict[str, str] = {}
    for number, line in enumerate(text_bytes(read_bytes(path), name).decode().splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = _cells(line)
        if places is None:
            places = _header(cells)
            if places is not None:
                width = len(cells)
                continue
            places = (0, 1)
        if len(cells) != width:
            raise FormatError(
                f"{counted(len(cells), 'column')}; {_EXPECTED}", path=name, line=number
            )
        run, team = cells[places[0]], cells[places[1]]
        if not run or not team:
            raise FormatError(f"an empty name; {_EXPECTED}", path=name, line=number)
        if teams.setdefault(run, team) != team:
            raise FormatError(
                f"run {run!r} is of team {team!r}, and of {teams[run]!r} before; expected one team",
                path=name,
                line=number,
            )
    if not teams:
        raise FormatError(f"no run; {_EXPECTED} on each line", path=name)
    return teams


def _cells(line: str) -> list[str]:
    """Return the cells of a line: by tabs, by commas, or by blanks."""
    for separator in ("\t", ","):
        if separator in line:
            return [cell.strip().strip('"') for cell in line.split(separator)]
    return line.split()


def _header(cells: Sequence[str]) -> tuple[int, int] | None:
    """Return the places of run and team in a header; None where the line is none."""
    folded = [cell.casefold() for cell in cells]
    runs = [place for place, cell in enumerate(folded) if cell in _RUN]
    teams = [place for place, cell in enumerate(folded) if cell in _TEAM]
    return (runs[0], teams[0]) if runs and teams else None
