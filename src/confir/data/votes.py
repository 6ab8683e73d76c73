"""Votes between two systems: who was preferred, on which topic, and by which judge."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_choice, as_path, invalid
from confir.arrays import Booleans, Floats, Integers
from confir.control_characters import check_told_apart
from confir.data.formats.sources import recognise
from confir.data.tables.column_names import TOPIC_NAMES
from confir.data.tables.input_table import Ids, InputTable
from confir.data.tables.table_kind import TableKind, fold
from confir.data.tables.table_reader import column_table, has_columns, read_table
from confir.errors import FormatError, InvalidValueError, ReadingWarning, counted, warn_caller

# What columns of both systems may be called; the names of a pair belong together.
_SYSTEMS = (
    ("left", "right"),
    ("model_a", "model_b"),
    ("system_a", "system_b"),
    ("first", "second"),
)
# Names that say nothing about where an answer stood: formats that merge both orders use them.
_NO_SIDES = ("first", "second")
# Counts of votes, or 1 under the side that won.
_COUNTS = {
    "left_wins": ("left_wins", "winner_model_a"),
    "right_wins": ("right_wins", "winner_model_b"),
    "ties": ("ties", "winner_tie"),
}

# What a winner may be called, beside the name of a system: the share of the vote that is the left one's.
_WORDS = {
    **dict.fromkeys(("left", "model_a", "system_a"), 1.0),
    **dict.fromkeys(("right", "model_b", "system_b"), 0.0),
    **dict.fromkeys(("tie", "draw", "both", "bothbad", "both bad", "both_bad"), 0.5),
    **dict.fromkeys(("tie (bothbad)", "tie (both bad)", "tie (inconsistent)"), 0.5),
}
# What stands in place of a winner where a judge gave no verdict.
_NO_VERDICT = ("", "error", "-1")

_EXPECTED = (
    "expected columns left, right and winner (or model_a, model_b and winner), or left, right, "
    "left_wins and right_wins; also topic and judge where known"
)


def _read_format(content: bytes, source: str) -> InputTable | None:
    """Return the votes in a file of a format that holds some; None where it is a table."""
    held = recognise(source, content).read_votes
    if held is None and all(
        map(_ONE_VERDICT.fullmatch, content[:_START].splitlines()[:-1] or [b""])
    ):
        raise FormatError(
            f"one verdict per line, which does not name the two systems; {_EXPECTED}", path=source
        )
    return None if held is None else held(content, source)


_VOTES = TableKind(
    _EXPECTED,
    {
        "left": [left for left, _ in _SYSTEMS],
        "right": [right for _, right in _SYSTEMS],
        "winner": ["winner"],
        **_COUNTS,
        "topic": [*TOPIC_NAMES, "question_id"],
        "judge": ["judge", "judge_id", "user", "user_id", "annotator", "assessor"],
    },
    read_format=_read_format,
)

_ACCEPTED = (
    "Votes, a path to a table of votes, a frame with the columns of one, a list of dicts, or a mapping "
    "column → cells"
)
_NAME = "votes"
# One word per line, in so much of a file.
_START = 1 << 12
_ONE_VERDICT = re.compile(rb"[\w.\- ]+")

# Of more votes, a table of counts is a mistake.
_MOST_VOTES = 100_000_000


class VoteTable(NamedTuple):
    """How often systems won against each other: systems × systems, the row's wins.

    Attributes
    ----------
    wins
        Votes for the row's system against the column's.
    ties
        Ties between both, the same in both places.
    """

    wins: Integers
    ties: Integers

    @property
    def votes(self) -> Integers:
        """Number of votes between two systems."""
        votes: Integers = self.wins + self.wins.T + self.ties
        return votes

    @property
    def points(self) -> Floats:
        """Wins of the row's system, a tie counting half."""
        points: Floats = self.wins + self.ties / 2.0
        return points

    @property
    def share(self) -> Floats:
        """Share of the votes that the row's system won, a tie counting half; NaN without votes."""
        votes = self.votes
        share: Floats = np.divide(
            self.points, votes, out=np.full(votes.shape, np.nan), where=votes > 0
        )
        return share


class SideTable(NamedTuple):
    """Votes by the sides of the systems: the row's system left, the column's right.

    Attributes
    ----------
    votes
        Number of votes.
    points
        Wins of the left system, a tie counting half.
    """

    votes: Integers
    points: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Votes between two systems each, in the order in which they were cast.

    Attributes
    ----------
    systems
        Names, in bytewise order.
    left, right
        Numbers of the two systems of each vote.
    winner
        1 where the left system won, 0 where the right one did, ½ for a tie.
    topic, judge
        What each vote was about, and who cast it; "" where unknown, None where no vote says so.
    topic_kind
        What topics are, in words: "topic", or "dataset".
    source
        Where the votes come from, for messages.
    has_sides
        Whether left and right are where the answers stood, and not an order of no meaning.
    covariates
        By name, what differs between both answers: of each vote, the left one's less the right one's.
    """

    systems: tuple[str, ...]
    left: Integers
    right: Integers
    winner: Floats
    topic: Ids | None = None
    judge: Ids | None = None
    topic_kind: str = "topic"
    source: str = "votes"
    has_sides: bool = True
    covariates: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not len(self.left) == len(self.right) == len(self.winner):
            raise InvalidValueError(
                "left, right and winner differ in length; expected one per vote"
            )
        if not len(self.left):
            raise InvalidValueError("there are no votes; expected at least 2")
        check_told_apart("systems", self.systems)

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        return f"Votes(systems: {len(self.systems)}, votes: {len(self)})"

    def unit_codes(self, cluster: str) -> Integers:
        """Return the judge or topic of each vote as a number; a vote without one is a unit of its own."""
        named = self.judge if cluster == "judge" else self.topic
        if named is None:
            raise InvalidValueError(
                f"{self.source}: votes name no {cluster}; expected a column {cluster}, or votes that are "
                "independent"
            )
        alone = np.array([name == "" for name in named.names])[named.codes]
        codes: Integers = np.where(alone, len(named.names) + np.cumsum(alone), named.codes)
        return codes

    @property
    def tied(self) -> Booleans:
        """Which votes are ties."""
        tied: Booleans = self.winner == 0.5
        return tied

    def table(self) -> VoteTable:
        """Return how often systems won against each other, and tied."""
        size = len(self.systems)
        won = np.where(self.winner == 1.0, self.left, self.right)
        lost = np.where(self.winner == 1.0, self.right, self.left)
        decided = ~self.tied
        wins = np.bincount(won[decided] * size + lost[decided], minlength=size * size)
        both = np.bincount((self.left * size + self.right)[self.tied], minlength=size * size)
        ties = both.reshape(size, size)
        return VoteTable(wins.reshape(size, size), ties + ties.T)

    def side_table(self) -> SideTable:
        """Return how often systems stood left of others, and won."""
        size = len(self.systems)
        cell = self.left * size + self.right
        votes = np.bincount(cell, minlength=size * size).reshape(size, size)
        points = np.asarray(np.bincount(cell, self.winner, size * size), np.float64)
        return SideTable(votes, points.reshape(size, size))

    def where(self, chosen: Booleans | Integers) -> Votes:
        """Return some of the votes, which may come more than once, between the same systems."""
        topic, judge = (
            None if one is None else Ids(one.names, one.codes[chosen])
            for one in (self.topic, self.judge)
        )
        return replace(
            self,
            left=self.left[chosen],
            right=self.right[chosen],
            winner=self.winner[chosen],
            topic=topic,
            judge=judge,
            covariates={name: values[chosen] for name, values in self.covariates.items()},
        )


def read_votes(source: Any, *, covariates: Sequence[str] = ()) -> Votes:
    """Return the votes that a file or an object holds.

    Parameters
    ----------
    source
        A path to CSV, TSV, JSON, JSON Lines or Parquet, to pairwise judgments of MT-Bench, annotations of
        AlpacaEval or a test set of PandaLM; a frame; a list of dicts; or a mapping
        column → cells. Columns are left, right and winner, or model_a, model_b and winner as in
        Chatbot Arena and MTEB's arena; and topic and judge where known. A winner is left or right
        (model_a, model_b), the name of a system, or a tie ("both bad" too). In place of winner,
        left_wins, right_wins and ties count votes, as interleaving does by query.
    covariates
        Names of what else differs between both answers, such as "length": a pair of columns of
        numbers (length_left and length_right, or length_a and length_b), or one column that holds
        the left answer's less the right one's.

    Examples
    --------
    >>> read_votes([{"left": "bm25", "right": "dense", "winner": "right"}])
    Votes(systems: 2, votes: 1)
    """
    listed = isinstance(covariates, list | tuple)
    if not listed or not all(isinstance(name, str) for name in covariates):
        raise invalid("covariates", covariates, "a list of names of columns")
    if isinstance(source, Votes):
        for name in covariates:
            as_choice("covariates", name, tuple(source.covariates), "covariate")
        return source
    if isinstance(source, str | os.PathLike):
        table = read_table(as_path(_NAME, source), _VOTES)
    elif isinstance(source, Mapping):
        table = _column_table(source)
    elif isinstance(source, list | tuple) and all(isinstance(one, Mapping) for one in source):
        table = _record_table(source)
    elif has_columns(source):
        table = read_table(source, _VOTES)
    else:
        raise invalid(_NAME, source, _ACCEPTED)
    return votes_from_table(table, covariates)


def _column_table(columns: Mapping[Any, Any]) -> InputTable:
    """Return the table in a mapping of columns, which are as long as each other."""
    for name, cells in columns.items():
        listed = isinstance(cells, Sequence) or (isinstance(cells, np.ndarray) and cells.ndim == 1)
        if not isinstance(name, str) or not listed:
            raise invalid(_NAME, columns, _ACCEPTED)
    return column_table(columns, _NAME, _VOTES)


def _record_table(records: Sequence[Mapping[Any, Any]]) -> InputTable:
    """Return the table in a list of dicts; what a record lacks is missing."""
    names = dict.fromkeys(name for record in records for name in record)
    if not names:
        raise FormatError(f"no votes; {_EXPECTED}", path=_NAME)
    if not all(isinstance(name, str) for name in names):
        raise invalid(_NAME, records, _ACCEPTED)
    columns = {name: [record.get(name) for record in records] for name in names}
    return column_table(columns, _NAME, _VOTES)


def votes_from_table(table: InputTable, covariates: Sequence[str] = ()) -> Votes:
    """Return the votes in a table; the message of an error names the line."""
    table = _with_verdicts(table)
    left, right, has_sides = _systems(table)
    names = tuple(sorted({*left.names, *right.names}))
    places = {name: place for place, name in enumerate(names)}
    one, other = (
        np.array([places[name] for name in side.names], np.int64)[side.codes]
        for side in (left, right)
    )
    alone = np.flatnonzero(one == other)
    if len(alone):
        name, row = names[one[alone[0]]], int(alone[0])
        if len(alone) == len(table):
            raise table.error(f"{name!r} against itself; expected two different systems", row)
        said = "a vote" if len(alone) == 1 else f"{len(alone):,} votes"
        warn_caller(
            f"{table.source}: left out {said} of a system against itself ({name!r}, "
            f"{table.describe_row(row)}{', …'[: 3 * (len(alone) > 1)]})",
            ReadingWarning,
        )
        return votes_from_table(table.where(one != other), covariates)
    votes = Votes(
        systems=names,
        left=one,
        right=other,
        winner=np.full(len(table), 0.5),
        topic=_labels(table, "topic"),
        judge=_labels(table, "judge"),
        source=table.source,
        has_sides=has_sides,
        covariates={name: _covariate(table, name) for name in covariates},
    )
    winner = table.find("winner")
    if winner is not None:
        return replace(votes, winner=_winners(table, winner, votes))
    return _counted(table, votes)


def _systems(table: InputTable) -> tuple[Ids, Ids, bool]:
    """Return the columns of both systems, and whether their names are sides."""
    for names in _SYSTEMS:
        left, right = (table.find_named([name]) for name in names)
        if left is not None and right is not None:
            return table.ids(left), table.ids(right), names != _NO_SIDES
    if table.find_named(["votes", "count", "n"]) is not None:
        raise table.header_error(
            f"totals of votes, which do not say against which other system each was cast; {_EXPECTED}"
        )
    raise table.header_error(f"no columns of two systems; {_EXPECTED}")


def _covariate(table: InputTable, name: str) -> Floats:
    """Return the covariate of each vote: the left answer's less the right one's."""
    whole = table.named(name)
    pairs = [
        (table.named(one), table.named(other))
        for left, right in (*_SYSTEMS, ("a", "b"))
        for one, other in (
            (f"{name}_{left}", f"{name}_{right}"),
            (f"{left}_{name}", f"{right}_{name}"),
        )
    ]
    found = [pair for pair in pairs if None not in pair]
    if (whole is not None) + len(found) != 1:
        several = "several columns" if found else "no column, and no pair of columns,"
        raise table.header_error(
            f"{several} for the covariate {name!r}; expected either {name}_left and {name}_right (or "
            f"{name}_a and {name}_b), or one column {name!r} with the left answer's number less the "
            "right one's"
        )
    places = [one for one in (*(found[0] if found else ()), whole) if one is not None]
    numbers = table.numbers(places, expected="expected a number for each vote")
    for place, column in zip(places, numbers, strict=True):
        table.check_numbers(
            ~np.isnan(column), column, table.header[place], "a number for each vote"
        )
    difference: Floats = numbers[0] - numbers[1] if found else numbers[0]
    if not found and not (difference.min() < 0 < difference.max()):
        raise table.header_error(
            f"the covariate {name!r} has no numbers on both sides of 0, and is no difference between "
            f"two answers; expected the left answer's less the right one's, or {name}_left and {name}_right"
        )
    return difference


def _with_verdicts(table: InputTable) -> InputTable:
    """Return the rows with a winner; a warning counts those that have none."""
    place = table.find("winner")
    if place is None:
        return table
    kept = np.array([fold(name) not in _NO_VERDICT for name in table.texts(place, optional=True)])
    if kept.all():
        return table
    if not kept.any():
        raise table.header_error("no vote has a winner; expected one or more")
    rows = np.flatnonzero(~kept)
    warn_caller(
        f"{table.source}: {counted(len(rows), 'vote')} without a verdict, left out (the first: "
        f"{table.describe_row(int(rows[0]))})"
    )
    return table.where(kept)


def _labels(table: InputTable, role: str) -> Ids | None:
    """Return an optional column of ids in bytewise order; None where no row has one."""
    place = table.find(role)
    if place is None:
        return None
    ids = table.ids(place, optional=True).in_order()
    return None if list(ids.names) == [""] else ids


def _winners(table: InputTable, place: int, votes: Votes) -> Floats:
    """Return the share of each vote that is the left system's."""
    found = table.ids(place)
    systems = {name: number for number, name in enumerate(votes.systems)}
    by_word = np.array([_WORDS.get(fold(name), np.nan) for name in found.names])[found.codes]
    named = np.array([systems.get(name, -1) for name in found.names])[found.codes]
    by_name = np.where(named == votes.left, 1.0, np.where(named == votes.right, 0.0, np.nan))
    unknown = np.flatnonzero(np.isnan(by_word) & np.isnan(by_name))
    if len(unknown):
        row = int(unknown[0])
        left, right = votes.systems[votes.left[row]], votes.systems[votes.right[row]]
        given = found.names[found.codes[row]]
        hint = ""
        if fold(given).startswith("inconsist"):  # the judge's verdict changed with the order
            hint = (
                f": write 'tie' for {given!r} to count such votes half for each, as FastChat does, or "
                "'error' to leave them out"
            )
        raise table.error(
            f"winner {given!r} is unknown; expected left, right, model_a, model_b, tie, tie (bothbad), "
            f"{left!r} or {right!r}{hint}",
            row,
        )
    unclear = np.flatnonzero(~np.isnan(by_word) & ~np.isnan(by_name) & (by_word != by_name))
    if len(unclear):
        row = int(unclear[0])
        name = found.names[found.codes[row]]
        raise table.error(
            f"winner {name!r} is a side, or the name of the other system; expected systems with "
            "other names",
            row,
        )
    return np.where(np.isnan(by_word), by_name, by_word)


def _counted(table: InputTable, votes: Votes) -> Votes:
    """Return the votes that rows of counts stand for: wins of both systems, and ties."""
    left, right, ties = map(table.find, _COUNTS)
    if left is None or right is None:
        raise table.header_error(f"no column of winners, nor of wins; {_EXPECTED}")
    chosen = [left, right] if ties is None else [left, right, ties]
    counts = table.numbers(chosen).T
    wrong = ~(counts >= 0) | (counts != np.rint(counts))
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        given = counts[row, column]
        said = "missing" if np.isnan(given) else f"{given:g}"
        name = table.header[chosen[column]]
        raise table.error(f"{name} is {said}; expected a number of votes", row)
    if not 0 < counts.sum() <= _MOST_VOTES:
        raise table.header_error(
            f"{counts.sum():,.0f} votes; expected at least 2, and at most {_MOST_VOTES:,}"
        )
    shares = np.array([1.0, 0.0, 0.5])[: counts.shape[1]]
    repeated = counts.astype(np.int64).reshape(-1)
    every = votes.where(np.repeat(np.arange(len(table)), counts.shape[1]).repeat(repeated))
    return replace(every, winner=np.tile(shares, len(table)).repeat(repeated))
