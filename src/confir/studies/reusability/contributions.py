"""Which teams contributed the judged documents: by a file of contributors, or by the runs' own pool."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import invalid
from confir.arrays import Integers
from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.tables.team_files import read_teams
from confir.data.trec_lines import read_fields
from confir.errors import (
    FormatError,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
    nearest_names,
    warn_caller,
)

TEAM_COLUMNS = "run team"
CONTRIBUTOR_COLUMNS = "topic 0 docid gain number-of-teams team..."


class Contributions(NamedTuple):
    """Who contributed the judged documents of qrels.

    Attributes
    ----------
    teams
        Names of the teams.
    number
        How many teams contributed each document of the qrels.
    only
        The team that alone contributed it, a place in ``teams``; -1 where none or several did.
    """

    teams: tuple[str, ...]
    number: Integers
    only: Integers


def as_teams(source: Any) -> Mapping[str, str]:
    """Return run → team: a mapping, or a file with lines of run and team."""
    if isinstance(source, str | os.PathLike):
        return read_teams(os.fspath(source))
    if not isinstance(source, Mapping) or not all(isinstance(one, str) for one in source.values()):
        raise invalid("teams", source, "a path, or a mapping run → team")
    return source


def teams_of(runs: Sequence[str], teams: Mapping[str, str]) -> tuple[str, ...]:
    """Return the team of each run; raise where a run has none."""
    lacking = [run for run in runs if run not in teams]
    if lacking:
        raise InvalidValueError(
            f"no team is named for {counted(len(lacking), 'run')} ({enumerate_names(lacking, 5)}); "
            f"expected a line of the teams' file for each run: {TEAM_COLUMNS}"
        )
    return tuple(teams[run] for run in runs)


def pool_contributions(lists: HeldLists, teams: Sequence[str], depth: int) -> Contributions:
    """Return who contributed each judged document to the pool of the first documents of the lists.

    Parameters
    ----------
    lists
        The whole lists of the runs.
    teams
        The team of each run.
    depth
        Documents down to this rank are in the pool.
    """
    names = tuple(dict.fromkeys(teams))
    top = lists.cut(depth)
    team_of_run = np.array([names.index(team) for team in teams])
    team = np.repeat(team_of_run, np.add.reduce(top.depth, axis=1))
    judged = top.judgements >= 0
    return _count(names, top.judgements[judged].astype(np.int64), team[judged], lists.qrels)


def read_contributions(source: Any, qrels: Qrels, teams: Sequence[str]) -> Contributions:
    """Return who contributed each judged document, by a file or a mapping.

    Parameters
    ----------
    source
        A file with lines of topic, 0, docid, gain, number of teams, and their names; or a mapping
        topic → docid → teams.
    qrels
        The judgements. Their documents that the source lacks have no contributor.
    teams
        The teams of the runs: each must have contributed.
    """
    held, where = source, "contributors"
    if isinstance(source, str | os.PathLike):
        where = os.fspath(source)
        held = read_contributors(where)
    elif not isinstance(source, Mapping) or not all(map(_is_contributed, source.values())):
        raise invalid("contributors", source, "a path, or a mapping topic → docid → teams")
    judged: list[int] = []
    named: list[str] = []
    for topic, (start, stop) in zip(qrels.topics, pairwise(qrels.offsets.tolist()), strict=True):
        documents = held.get(topic, {})
        for place, docid in enumerate(qrels.documents[start:stop], start):
            own = documents.get(docid, ())
            judged += [place] * len(own)
            named += own
    if not named:
        raise TopicMismatchError(f"{where}: has none of the judged documents of the qrels")
    names = tuple(sorted({*named}))
    unknown = [team for team in dict.fromkeys(teams) if team not in names]
    if unknown:
        near = nearest_names(unknown[0], names)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InvalidValueError(
            f"{where}: {counted(len(unknown), 'team')} of the runs contributed no document "
            f"({enumerate_names(unknown, 5)}), so leaving them out shows nothing{hint}"
        )
    places = {name: place for place, name in enumerate(names)}
    codes = np.fromiter(map(places.__getitem__, named), np.int64, len(named))
    return _count(names, np.array(judged, np.int64), codes, qrels)


def _is_contributed(documents: Any) -> bool:
    """Whether an object says which teams contributed the documents of a topic."""
    return isinstance(documents, Mapping) and not any(
        isinstance(teams, str)
        or not isinstance(teams, Iterable)
        or not all(isinstance(team, str) for team in teams)
        for teams in documents.values()
    )


def read_contributors(path: str) -> dict[str, dict[str, list[str]]]:
    """Return topic → docid → teams of a file."""
    held: dict[str, dict[str, list[str]]] = {}
    for line, fields in read_fields(path):
        if len(fields) < 5 or fields[4] != str(len(fields) - 5):
            what = ", the fifth of which is no count of those after it" if len(fields) >= 5 else ""
            raise FormatError(
                f"{counted(len(fields), 'column')}{what}; expected {CONTRIBUTOR_COLUMNS}",
                path=path,
                line=line,
            )
        documents = held.setdefault(fields[0], {})
        if fields[2] in documents:
            raise FormatError(
                f"document {fields[2]!r} of topic {fields[0]!r} occurs twice; expected it once",
                path=path,
                line=line,
            )
        documents[fields[2]] = fields[5:]
    if not held:
        raise FormatError(f"the file is empty; expected lines of {CONTRIBUTOR_COLUMNS}", path=path)
    return held


def _count(
    names: tuple[str, ...], documents: Integers, teams: Integers, qrels: Qrels
) -> Contributions:
    """Return the contributions, given a document and a team for each; repeated ones count once."""
    pairs = np.unique(documents * len(names) + teams)
    number = np.bincount(pairs // len(names), minlength=len(qrels.documents))
    only = np.full(len(qrels.documents), -1)
    only[pairs // len(names)] = pairs % len(names)  # right where there is one
    return Contributions(names, number, np.where(number == 1, only, -1))


def keep_topics(
    lists: HeldLists, given: Contributions, teams: Sequence[str], rel: int
) -> tuple[HeldLists, Contributions, tuple[str, ...]]:
    """Return lists and contributions of topics that keep relevant documents, and the other topics.

    Topics are kept whichever of the teams is left out; a warning names the others.
    """
    qrels = lists.qrels
    size, topic, is_relevant = len(qrels.topics), qrels.document_topics, qrels.gains >= rel
    total = np.bincount(topic[is_relevant], minlength=size)
    alone = is_relevant & (given.only >= 0)
    cells = topic[alone] * len(given.teams) + given.only[alone]
    lost = np.bincount(cells, minlength=size * len(given.teams)).reshape(size, -1)
    of_runs = [given.teams.index(team) for team in dict.fromkeys(teams)]
    kept = np.all(total[:, None] > lost[:, of_runs], axis=1)
    dropped = tuple(t for t, keep in zip(qrels.topics, kept, strict=True) if not keep)
    if not dropped:
        return lists, given, dropped
    what = "without relevant documents once a team is left out"
    if len(dropped) == size:
        raise TopicMismatchError(
            f"every topic is {what}; expected topics with relevant documents of several teams"
        )
    names = enumerate_names(dropped, 5)
    warn_caller(
        f"{counted(len(dropped), 'topic')} ({names}) of {size} left out: {what}", TopicWarning
    )
    inside = kept[topic]
    left = given._replace(number=given.number[inside], only=given.only[inside])
    return lists.restrict(kept), left, dropped
