"""The qrels of several judges, on the topics that all of them judged, by one scale."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from confir.arguments import as_integer, as_list, as_text, invalid
from confir.arrays import Integers
from confir.data.files import PathLike, name_from_path, read_bytes
from confir.data.formats.format import RunSource
from confir.data.formats.json_files import has_json_ending
from confir.data.formats.quepid import QUEPID_BOOK, read_judges
from confir.data.formats.sources import find_runs, qrels_called, read_judgements
from confir.data.ids import DocumentNumbers
from confir.data.qrels import Qrels
from confir.data.reading_rules import ReadingRules
from confir.data.trec_lines import HIGHEST_GAIN
from confir.errors import (
    FormatError,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
    counted,
    enumerate_names,
    warn_caller,
)

GradeMap = Mapping[int, int]

# More grades than this are no grades, but scores: their confusion is a table that nobody reads.
MOST_GRADES = 50


@dataclass(frozen=True, slots=True, eq=False)
class Judges:
    """Judgements of the same topics by several judges.

    Attributes
    ----------
    names
        Names of the judges.
    qrels
        What each of them judged: all have the same topics.
    grades
        The grades of their common scale, ascending.
    """

    names: tuple[str, ...]
    qrels: tuple[Qrels, ...]
    grades: tuple[int, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that all of them judged."""
        return self.qrels[0].topics

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Numbers of the two judges of each pair, the earlier one first."""
        return list(combinations(range(len(self.names)), 2))

    @property
    def pair_names(self) -> tuple[tuple[str, str], ...]:
        """Names of the two judges of each pair: the reference and the judge."""
        return tuple((self.names[a], self.names[b]) for a, b in self.pairs)

    def graded_documents(self) -> tuple[Integers, Integers]:
        """Return the topic of each judged document, and its grade by each judge.

        Grades are places in ``grades``, documents × judges; -1 where a judge has none.
        """
        numbers = DocumentNumbers()
        found = [numbers.number(one.documents) for one in self.qrels]
        size = len(numbers.docids())
        keys = [
            one.document_topics * size + documents
            for one, documents in zip(self.qrels, found, strict=True)
        ]
        units = np.unique(np.concatenate(keys))
        grades = np.full((len(units), len(self.qrels)), -1, np.int64)
        for judge, (one, key) in enumerate(zip(self.qrels, keys, strict=True)):
            places = np.searchsorted(np.array(self.grades), one.gains)
            grades[np.searchsorted(units, key), judge] = places
        return units // size, grades


def gather_judges(
    source: Any,
    *,
    grades: Sequence[int] | None = None,
    grade_maps: Mapping[str, GradeMap] | None = None,
    rules: ReadingRules | None = None,
) -> Judges:
    """Return the judgements of two judges or more, on the topics that all of them have.

    Parameters
    ----------
    source
        Judge → qrels, as a path or an object that `as_qrels` takes; or a list of these, in which
        paths may be ``NAME=PATH``. Without a name, a judge is named by the file, or by the place.
    grades
        The scale that all judges share, where some do not use all of its grades.
    grade_maps
        Judge → grade → grade of the common scale; must keep the order of the grades.
    rules
        How qrels are read; by default as `evaluate` reads them.
    """
    named = name_judges(source)
    if len(named) < 2:
        raise InvalidValueError(
            f"there {'is 1 judge' if named else 'are no judges'}; expected the qrels of two or more"
        )
    maps = {} if grade_maps is None else grade_maps
    if not isinstance(maps, Mapping):
        raise invalid("grade_maps", maps, "a mapping judge → grade → grade")
    how = (None, None) if rules is None else (rules.intents, rules.reading)
    read = {name: qrels_called(f"judge {name}", one, *how) for name, one in named.items()}
    for name, mapping in maps.items():
        if name not in read:
            raise UnknownNameError("judge", str(name), read)
        read[name] = _mapped(name, read[name], mapping)
    kept = _on_common_topics(read)
    return Judges(tuple(read), kept, _common_scale(read, grades, maps))


def judge_name(path: PathLike) -> str:
    """Return a judge's name: that of a run's file, without ``qrels`` at either end."""
    name = name_from_path(path)
    for end in (".qrels", "-qrels", "_qrels"):
        name = name.removesuffix(end) or name
    for start in ("qrels.", "qrels-", "qrels_"):
        name = name.removeprefix(start) or name
    return name


def name_judges(source: Any) -> dict[str, Any]:
    """Return the sources of qrels by the names of their judges."""
    if isinstance(source, Mapping):
        pairs = [(as_text("judge", name), one) for name, one in source.items()]
    else:
        listed = enumerate(as_list("judges", source), start=1)
        pairs = [pair for number, one in listed for pair in _expanded(one, f"judge{number}")]
    named: dict[str, Any] = {}
    for name, one in pairs:
        if name in named:
            hint = f", as in other={one}" if isinstance(one, str) else ""
            raise InvalidValueError(
                f"two judges are named {name!r}; give one of them another name{hint}"
            )
        named[name] = one
    return named


def _expanded(source: Any, default: str) -> list[tuple[str, Any]]:
    """Return the name of qrels that are given as a path or an object, and their source."""
    if not isinstance(source, RunSource | str | os.PathLike):
        return [(default, source)]
    files = [source] if isinstance(source, RunSource) else find_runs([source])
    return [pair for file in files for pair in _judges_in(file)]


def _judges_in(file: RunSource) -> list[tuple[str, Any]]:
    """Return the qrels of a file by the judge's name; a book of Quepid holds several judges."""
    name = file.name or judge_name(file.path)
    if not has_json_ending(file.path) or not os.path.isfile(file.path):
        return [(name, file.path)]
    content = read_bytes(file.path)
    if not QUEPID_BOOK.fits(file.path, content):
        return [(name, read_judgements(file, None, content))]
    judges = read_judges(content, file.path)
    return [(name, next(iter(judges.values())))] if len(judges) == 1 else list(judges.items())


def _mapped(name: str, qrels: Qrels, mapping: Any) -> Qrels:
    """Return qrels with other grades, in the same order."""
    if not isinstance(mapping, Mapping):
        raise invalid(f"the map of the grades of {name}", mapping, "grade → grade")
    lowest = -HIGHEST_GAIN
    table = {
        as_integer("a grade", old, lowest=lowest): as_integer("a grade", new, lowest=lowest)
        for old, new in mapping.items()
    }
    used = np.unique(qrels.subtopic_gains).tolist()
    lacking = [grade for grade in used if grade not in table]
    if lacking:
        raise InvalidValueError(
            f"the map of the grades of {name} lacks {enumerate_names(map(str, lacking))}; expected "
            "all grades that the judge gives"
        )
    ordered = [table[grade] for grade in sorted(table)]
    if any(later < earlier for earlier, later in pairwise(ordered)):
        raise InvalidValueError(
            f"the map of the grades of {name} changes their order; expected higher grades for "
            "higher ones"
        )
    targets = np.array([table[grade] for grade in used], np.int64)

    def recoded(gains: Integers) -> Integers:
        return targets[np.searchsorted(np.array(used), gains)]

    return replace(qrels, gains=recoded(qrels.gains), subtopic_gains=recoded(qrels.subtopic_gains))


def _common_scale(
    read: Mapping[str, Qrels], grades: Sequence[int] | None, mapped: Collection[str]
) -> tuple[int, ...]:
    """Return the grades of all judges, ascending; raise where they are not the same scale.

    Judges whose grades were mapped need not use all of them.
    """
    used = {name: np.unique(qrels.gains).tolist() for name, qrels in read.items()}
    if grades is not None:
        lowest = -HIGHEST_GAIN
        scale = [as_integer("a grade", one, lowest=lowest) for one in as_list("grades", grades)]
        scale = sorted(set(scale))
        for name, own in used.items():
            beyond = [grade for grade in own if grade not in scale]
            if beyond:
                raise InvalidValueError(
                    f"judge {name} gives the grades {enumerate_names(map(str, beyond))}, which are "
                    f"not among {enumerate_names(map(str, scale))}"
                )
    else:
        first = next((name for name in used if name not in mapped), next(iter(used)))
        scale = used[first]
        for other, own in used.items():
            if set(own) <= set(scale) if other in mapped else own == scale:
                continue
            common = sorted({*scale, *own})[:6]
            example = _example(own, scale)
            raise FormatError(
                f"the judges use different grades: {first} {_listed(scale)}, {other} "
                f"{_listed(own)}; expected one scale: name it (grades={common}, --grades "
                f"{','.join(map(str, common))}) where equal grades mean the same, or map a judge's "
                f"grades (grade_maps={{{other!r}: {{{example}}}}}, --grades '{other}={example}')"
            )
    if len(scale) > MOST_GRADES:
        raise FormatError(
            f"there are {len(scale)} grades; expected at most {MOST_GRADES}: map them to fewer"
        )
    return tuple(scale)


def _listed(grades: Sequence[int]) -> str:
    return enumerate_names(map(str, grades), 6)


def _example(own: Sequence[int], scale: Sequence[int]) -> str:
    """Return a map of a judge's grades to a scale, for a message: lowest to lowest, and so on."""
    last = len(own) - 1
    to = [scale[round(place / max(last, 1) * (len(scale) - 1))] for place in range(len(own))]
    return ",".join(f"{old}:{new}" for old, new in zip(own[:6], to, strict=False))


def _on_common_topics(read: Mapping[str, Qrels]) -> tuple[Qrels, ...]:
    """Return the qrels of all judges on the topics that all of them have."""
    common = set.intersection(*(set(qrels.topics) for qrels in read.values()))
    if not common:
        has = "; ".join(f"{name} has {enumerate_names(q.topics, 3)}" for name, q in read.items())
        raise TopicMismatchError(f"the judges have no topic in common: {has}")
    lengths = {name: len(qrels.topics) - len(common) for name, qrels in read.items()}
    left_out = [f"{counted(n, 'topic')} of {name}" for name, n in lengths.items() if n]
    if left_out:
        warn_caller(
            f"judges are compared on the {counted(len(common), 'topic')} that all of them judged; "
            f"left out: {', '.join(left_out)}",
            TopicWarning,
        )
    kept = []
    for qrels in read.values():
        shared = np.array([topic in common for topic in qrels.topics])
        kept.append(qrels if shared.all() else qrels.only(shared[qrels.document_topics]))
    return tuple(kept)
