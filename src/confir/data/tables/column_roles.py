"""What the columns of a score table hold: as the user says it, or as their names and cells show it.

A reading is taken only where it is certain: the value of every row is named, and each column besides is
known to be something else. Where there are two readings, the error has the ``--columns`` of each.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from confir.arguments import invalid
from confir.arrays import Integers
from confir.data.tables.column_names import (
    CORE_NAMES,
    ROLE_NAMES,
    is_core,
    is_never_numbered,
    is_no_run,
    is_no_score,
    is_reserved,
    is_row_name,
    is_topic_text,
    preference,
)
from confir.data.tables.input_table import InputTable, encode_ids
from confir.data.tables.measure_names import find_measures, find_sure_measures
from confir.data.tables.table_kind import fold
from confir.data.text_numbers import cell_number, parse_number
from confir.errors import (
    FormatError,
    InvalidValueError,
    ReadingWarning,
    collect_warnings,
    enumerate_names,
    warn_caller,
)

# Of a score table, in the order in which entries have them.
_ROLES = ("run", "measure", "topic", "value")
_EXAMPLE = "topic=qid,value=nDCG@10"
_ORDER = "run,measure,topic,value"
_EXPECTED = f"which columns hold topic, value, run and measure, such as {_EXAMPLE}"
EXPECTED = (
    "expected columns run, measure, topic, score, or topic and a column per run, or lines as "
    "trec_eval -q prints them"
)
_MEANS = (
    "a table of means, of which confir leaderboard --means compares the runs over datasets; expected a "
    "score per topic here"
)

# What says it: text such as _EXAMPLE or _ORDER, or a mapping with one name or, of values, several.
ColumnsSource = str | Mapping[str, str | Sequence[str]]

# So many cells show what a column holds, and so many columns are listed.
_HEAD = 100
_MOST_LISTED = 8

Kind = Literal["text", "mixed", "whole", "number", "flag", "empty", "object"]


class ColumnRoles(NamedTuple):
    """Names of the columns of a score table.

    Attributes
    ----------
    topic, values
        The columns of topics, None where rows are numbered, and of scores; each of the latter is a
        measure, unless there is a column of measures.
    run, measure, repeat
        The columns of runs, measures and repeats of runs; None where there are none.
    order
        What the columns of lines without a header hold, "-" for nothing of use; none of tables with
        a header.
    are_runs
        Whether each column of scores is a run instead.
    """

    topic: str | None
    values: tuple[str, ...]
    run: str | None = None
    measure: str | None = None
    repeat: str | None = None
    order: tuple[str, ...] = ()
    are_runs: bool = False

    def __str__(self) -> str:
        named = [(role, getattr(self, role)) for role in ("run", "topic", "measure", "repeat")]
        scores = ("run" if self.are_runs else "value", self.values)
        shown = [*scores[1][:_MOST_LISTED], *(["…"] if len(scores[1]) > _MOST_LISTED else [])]
        pairs = [(role, name) for role, name in named if name is not None]
        return "--columns " + _quoted(
            ",".join(f"{role}={name}" for role, name in [*pairs, *((scores[0], n) for n in shown)])
        )


def _quoted(text: str) -> str:
    return f"'{text}'" if set(text) & set(' ()$&;|<>*?!#~"\\') else text


def as_column_roles(given: Any) -> ColumnRoles | None:
    """Return which columns hold what, as text or a mapping says it; None for None."""
    if given is None:
        return None
    if isinstance(given, str) and "=" not in given:
        return _in_order(given)
    found: dict[str, list[str]] = {}
    for role, name in _pairs(given):
        if role not in (*_ROLES, "repeat") or not name:
            raise invalid("columns", given, _EXPECTED)
        found.setdefault(role, []).append(name)
    are_runs = "run" in found and "value" not in found and "measure" not in found
    several = {"value", "run"} if are_runs else {"value"}
    twice = [role for role, names in found.items() if len(names) > 1 and role not in several]
    if twice:
        raise InvalidValueError(f"columns names two columns of {twice[0]}s; expected one")
    if "topic" not in found or not ("value" in found or are_runs):
        role = "topic" if "topic" not in found else "value"
        raise InvalidValueError(
            f"columns names no column of {role}s; expected one, as in {_EXAMPLE}; and run=NAME where a "
            "column names the runs"
        )
    if are_runs and len(found["run"]) == 1:
        raise InvalidValueError(
            "columns names no column of values; expected one, as in run=model,topic=qid,value=score; or "
            "several runs, as in topic=qid,run=bm25,run=dense, where each is a column of scores"
        )
    if "measure" in found and len(found["value"]) > 1:
        raise InvalidValueError(
            "columns names a column of measures, and several of values; expected one of values"
        )
    if are_runs:
        return ColumnRoles(found["topic"][0], tuple(found["run"]), are_runs=True)
    one = {role: names[0] for role, names in found.items() if role != "value"}
    return ColumnRoles(
        one["topic"], tuple(found["value"]), one.get("run"), one.get("measure"), one.get("repeat")
    )


def _in_order(given: str) -> ColumnRoles:
    """Return what columns without names hold, as in ``run,measure,topic,value``."""
    roles = tuple(part.strip() for part in given.split(","))
    named = [role for role in roles if role != "-"]
    wrong = not {"topic", "value"} <= set(named) <= set(_ROLES) or len(set(named)) < len(named)
    if wrong:
        raise invalid("columns", given, f"{_EXPECTED}, or the columns in order: {_ORDER}")
    run, measure = (role if role in named else None for role in ("run", "measure"))
    return ColumnRoles("topic", ("score",), run, measure, order=roles)


def check_nameless(table: InputTable, roles: ColumnRoles) -> None:
    """Raise where a table names its columns, so that their order says nothing."""
    if table.unit == "row" or table.header_line is not None:
        raise InvalidValueError(
            f"{table.source} names its columns, where columns {','.join(roles.order)} is for lines "
            f"without names; expected {_EXPECTED}"
        )


def _pairs(given: Any) -> Iterable[tuple[str, str]]:
    """Yield role and name of the column of each part of what was given."""
    if isinstance(given, str):
        for part in given.split(","):
            role, _, name = part.partition("=")
            yield role.strip(), name.strip()
        return
    for role, names in given.items() if isinstance(given, Mapping) else [("", given)]:
        for name in names if isinstance(names, list | tuple) else [names]:
            if not isinstance(role, str) or not isinstance(name, str):
                raise invalid("columns", given, _EXPECTED)
            yield role, name


def find_roles(table: InputTable) -> ColumnRoles:
    """Return what the columns of a table hold; raise where that is not certain."""
    return _Reading(table).roles()


def separating_columns(table: InputTable, given: ColumnRoles | None) -> list[ColumnRoles]:
    """Return readings by which rows of one run, measure and topic are told apart by one column more."""
    reading = _Reading(table)
    with collect_warnings():
        roles = given or reading.roles()
    used = [name for name in (roles.run, roles.topic, roles.measure, roles.repeat) if name]
    key = [place for name in used if (place := table.named(name)) is not None]
    scores = {table.named(name) for name in roles.values}
    free = [p for p in range(len(table.header)) if p not in key and p not in scores]
    found = []
    for place in free:
        is_id = reading.kinds(place) in ("text", "mixed", "whole")
        if not is_id or reading.distinct([*key, place]) != len(table):
            continue
        name, is_repeat = table.header[place], preference("repeat", table.header[place]) is not None
        if is_repeat and roles.run and roles.repeat is None:
            found.append((0, roles._replace(repeat=name)))
        elif (
            roles.measure is None
            and len(roles.values) == 1
            and reading.distinct([place]) < len(table)
        ):
            known = any(preference(role, name) is not None for role in ROLE_NAMES)
            found.append((0 if known else 1, roles._replace(measure=name)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


@dataclass
class _Reading:
    """The columns of a table by what they may hold."""

    table: InputTable
    _kinds: dict[int, Kind] = field(default_factory=dict)
    _codes: dict[int, Integers] = field(default_factory=dict)

    @property
    def header(self) -> Sequence[str]:
        return self.table.header

    def kinds(self, place: int) -> Kind:
        """Return what the first cells of a column are."""
        if place not in self._kinds:
            self._kinds[place] = _kind_of(self.table, place)
        return self._kinds[place]

    def codes(self, place: int) -> Integers:
        """Return the number of each row's cell among the distinct ones."""
        if place not in self._codes:
            self._codes[place] = encode_ids(list(map(str, self.table.cells(place)))).codes
        return self._codes[place]

    def distinct(self, places: Sequence[int]) -> int:
        """Return how many rows differ in some columns."""
        held = np.zeros(len(self.table), np.int64)
        for place in places:
            codes = self.codes(place)
            held = np.unique(held * (codes.max() + 1) + codes, return_inverse=True)[1]
        return int(held.max()) + 1

    def _determines(self, first: int, second: int) -> bool:
        return self.distinct([first, second]) == self.distinct([first])

    def named(self, role: str) -> list[int]:
        """Return the columns whose names and cells are those of a role, the preferred name first."""
        found = []
        for place, name in enumerate(self.header):
            preferred = preference(role, name)
            if preferred is None or is_row_name(name):
                continue
            told = role in ("score", "document", "grouping", "response") or (
                role in CORE_NAMES and is_core(role, name)
            )
            numbered = role in ("topic", "repeat") and not is_never_numbered(name)
            ids = ("text", "mixed", "whole") if numbered else ("text", "mixed")
            if told or self.kinds(place) in ids:
                found.append((preferred, place))
        return [place for _, place in sorted(found)]

    def names(self, places: Iterable[int]) -> list[str]:
        return [self.header[place] for place in places]

    @cached_property
    def topic_like(self) -> list[int]:
        return self.named("topic")

    @cached_property
    def run_like(self) -> list[int]:
        found = self.named("run")
        strong = [place for place in found if fold(self.header[place]) != "name"]
        return strong or found

    @cached_property
    def numeric(self) -> list[int]:
        """The columns of numbers, or of True and False, that no name says to be something else."""
        other = {
            p
            for role in ("topic", "run", "measure", "judge", "repeat", "score")
            for p in self.named(role)
        }
        other |= {p for role in ("document", "grouping") for p in self.named(role)}
        return [
            place
            for place, name in enumerate(self.header)
            if place not in other
            and not is_row_name(name)
            and self.kinds(place) in ("number", "whole", "flag")
        ]

    def _finest(self, places: Sequence[int]) -> list[int]:
        """Return the columns of which none is told by another: of equal ones the first."""
        if len(places) < 2:
            return list(places)
        kept: list[int] = []
        for place in [p for p in places if self.distinct([p]) > 1] or places[:1]:
            if not any(self._determines(other, place) for other in kept):
                kept = [other for other in kept if not self._determines(place, other)] + [place]
        return kept

    def _topics(self) -> list[int]:
        """Return the columns that may hold the topics: ids, else texts; numbers of rows where no run repeats them."""
        found = self.topic_like
        if len(found) < 2:
            return found
        others = [p for role in ("run", "measure", "judge", "repeat") for p in self.named(role)]
        if any(self.distinct([place]) > 1 for place in others):
            rows = len(self.table)
            found = [place for place in found if self.distinct([place]) < rows] or found
        ids = [place for place in found if not is_topic_text(self.header[place])]
        return self._finest(ids or found)

    def _runs(self, topic: int | None) -> list[int]:
        """Return the columns that may name the runs; one alone where it tells rows of a topic apart."""
        found = self._finest(self.run_like)
        if len(found) < 2 or topic is None:
            return found
        measures = self.named("measure")
        rows = len(self.table)
        fitting = [run for run in found if self.distinct([topic, run, *measures]) == rows]
        return fitting if len(fitting) == 1 else found

    def roles(self) -> ColumnRoles:
        """Return the roles; raise where they are not certain."""
        self._refuse_documents()
        if all(parse_number(name) is not None for name in self.header):
            problem = f"the first row holds numbers only, no names; {EXPECTED}"
            raise self.table.header_error(problem)
        for names in CORE_NAMES.values():
            self.table.find_named(names)  # which raises where two differ by case alone
        scores = self.named("score")
        topics, measures = self._topics(), self._finest(self.named("measure"))
        if len(topics) > 1:
            raise self._undecided("topic", "topics", topics, scores)
        topic = topics[0] if topics else None
        runs = self._runs(topic)
        if len(runs) > 1:
            raise self._undecided("run", "runs", runs, scores, topic)
        if len(measures) > 1:
            raise self._undecided("measure", "measures", measures, scores, topic)
        run, measure = runs[0] if runs else None, measures[0] if measures else None
        self._refuse_numbered_rows(topic, run, scores)
        found = self._long(topic, run, measure, scores[0]) if scores else None
        return found or self._wide(topic, run, measure)

    def _undecided(
        self,
        role: str,
        plural: str,
        places: Sequence[int],
        scores: Sequence[int],
        topic: int | None = None,
    ) -> FormatError:
        """Return the error that columns may hold one thing, with the reading by each."""
        usual = {"run": self.run_like[:1], "topic": self.topic_like[:1], "measure": []}
        usual["topic"] = usual["topic"] if topic is None else [topic]
        values = scores[:1] or self.sure or self.numeric
        readings = []
        for place in places:
            by = {**{r: p[0] for r, p in usual.items() if p}, role: place}
            named = {r: self.header[p] for r, p in by.items()}
            readings.append(
                ColumnRoles(
                    named.get("topic", "…"),
                    tuple(self.names(values)) or ("…",),
                    named.get("run"),
                    named.get("measure"),
                )
            )
        names = " and ".join(map(repr, self.names(places[:4])))
        return self.table.header_error(
            f"columns {names} may each hold the {plural}; expected {_either(readings)}"
        )

    def _refuse_numbered_rows(
        self, topic: int | None, run: int | None, scores: Sequence[int]
    ) -> None:
        """Raise where several runs have no topic in common, since each row has its own."""
        header, rows = self.header, len(self.table)
        if (
            topic is None
            or run is None
            or (is_core("topic", header[topic]) and is_core("run", header[run]))
        ):
            return
        if self.distinct([run]) > 1 and self.distinct([topic]) == rows:
            values = tuple(self.names(scores or self.sure or self.numeric)) or ("…",)
            reading = ColumnRoles(header[topic], values, header[run])
            raise self.table.header_error(
                f"{header[topic]!r} is another in every row, so that no two runs of {header[run]!r} share a topic; "
                f"expected {reading} where that is so, or topic= with the column of the topics"
            )

    def _refuse_documents(self) -> None:
        documents = self.named("document")
        if documents:
            raise self.table.header_error(f"this looks like a run or qrels; {EXPECTED}")

    @cached_property
    def sure(self) -> list[int]:
        """The columns of numbers that are named like measures."""
        named = set(find_sure_measures(self.names(self.numeric)))
        return [p for p in self.numeric if self.header[p] in named]

    def _long(
        self, topic: int | None, run: int | None, measure: int | None, score: int
    ) -> ColumnRoles:
        """Return the roles of a table with a row per score."""
        held = [place for place in (topic, run, measure, score) if place is not None]
        others = [p for p in self.numeric if p not in held and not self._explained(p, topic, run)]
        rivals = [p for p in others if p in self.sure] if measure is None else []
        if fold(self.header[score]) == "value":
            rivals = others
        names = [None if p is None else self.header[p] for p in (topic, run, measure)]
        if rivals and topic is not None:
            of_value = ColumnRoles(str(names[0]), (self.header[score],), names[1], names[2])
            wider = of_value._replace(
                values=(self.header[score], *self.names(rivals)), measure=None
            )
            raise self.table.header_error(
                f"columns {enumerate_names(map(repr, self.names([score, *rivals])), 5)} may all hold "
                f"scores; expected {_either([of_value, wider])}"
            )
        if topic is None:
            self._need_topics(run, measure, [score])
        repeat = self._repeat(run)
        self._tell_unused({*held, *([] if repeat is None else [repeat])})
        return ColumnRoles(
            self._row_names() if topic is None else names[0],
            (self.header[score],),
            names[1],
            names[2],
            None if repeat is None else self.header[repeat],
        )

    def _repeat(self, run: int | None) -> int | None:
        """Return the column named ``repeat``, by which runs are named; others need --columns."""
        found = self.table.find_named(["repeat"])
        return None if run is None else found

    def _need_topics(self, run: int | None, measure: int | None, scores: Sequence[int]) -> None:
        """Raise where a table without a column of topics says more than one score per row."""
        table, rows = self.table, len(self.table)
        key = [place for place in (run, measure) if place is not None]
        rest = [
            p
            for p in range(len(self.header))
            if p not in (*key, *scores) and not is_row_name(self.header[p])
        ]
        rest = [p for p in rest if p not in self.named("grouping")]
        if key and rows and self.distinct(key) == rows:
            names = " and ".join(map(repr, self.names(key)))
            raise table.header_error(f"no column of topics, and each {names} once: {_MEANS}")
        if key and not rest:
            raise table.header_error(f"no column of topics; {EXPECTED}")
        other = {p for role in ("judge", "repeat", "run") for p in self.named(role)}
        free = [p for p in rest if self.kinds(p) in ("text", "mixed", "whole") and p not in other]
        free = [p for p in free if not is_no_score(self.header[p]) and p not in scores]
        if key or free:
            run_name = None if run is None else self.header[run]
            measure_name = None if measure is None else self.header[measure]
            readings = [
                ColumnRoles(self.header[p], tuple(self.names(scores)), run_name, measure_name)
                for p in free[:3]
            ]
            hint = f"expected {_either(readings)}" if readings else EXPECTED
            raise table.header_error(f"no column of topics; {hint}")

    def _row_names(self) -> str | None:
        """Return the column that only names the rows; None where there is none."""
        return next((name for name in self.header if is_row_name(name)), None)

    def _explained(self, place: int, topic: int | None, run: int | None) -> bool:
        """Whether numbers are known to be no scores: by their name, or since topic or run tell them."""
        if place in self.sure:
            return False
        if topic is None or is_no_score(self.header[place]):
            return is_no_score(self.header[place])
        if self.distinct([place]) == 1:
            return len(self.table) > 1
        several = [
            p for p in (topic, run) if p is not None and 1 < self.distinct([p]) < len(self.table)
        ]
        return any(self._determines(p, place) for p in several)

    def _wide(self, topic: int | None, run: int | None, measure: int | None) -> ColumnRoles:
        """Return the roles of a table with a column per run or measure."""
        table, header = self.table, self.header
        if run is not None and measure is not None:
            if self.distinct([measure]) > 1 or is_core("measure", header[measure]):
                raise table.header_error(f"no column of scores; {EXPECTED}")
            measure = None
        sure, odd = self.sure, self._odd_columns(topic, run, measure)
        scores = [p for p in self.numeric if p in sure or not is_no_score(header[p])]
        texts = [p for p in odd if p not in self.topic_like]
        if (
            topic is not None
            and is_core("topic", header[topic])
            and run is None
            and not self._text_only(texts)
        ):
            plain = {
                p
                for p in range(len(header))
                if self.kinds(p) in ("empty", "mixed") and p not in self.topic_like
            }
            scores = sorted({*scores, *(p for p in plain if not is_reserved(header[p]))})
            texts = []
        if not scores:
            self._refuse_without_scores(texts)
        if run is not None:
            return self._measures_of_runs(topic, run, scores, sure, texts)
        return self._runs_in_columns(topic, measure, scores, sure, texts)

    def _text_only(self, places: Sequence[int]) -> bool:
        """Whether a column holds text and no number, so that it is no column of scores."""
        return any(self.kinds(place) in ("text", "object") for place in places)

    def _odd_columns(self, *used: int | None) -> list[int]:
        """Return the columns that hold neither numbers nor what a role uses."""
        known = {*used, *self.numeric, *self.named("grouping")}
        return [
            place
            for place, name in enumerate(self.header)
            if place not in known and not is_row_name(name) and self.kinds(place) != "empty"
        ]

    def _refuse_without_scores(self, texts: Sequence[int]) -> None:
        """Raise where no column holds numbers that may be scores."""
        table = self.table
        for place in texts:
            cells = table.cells(place)
            row = next((row for row, cell in enumerate(cells) if cell_number(cell) is None), 0)
            raise table.error(
                f"{reprlib.repr(cells[row])} under {self.header[place]!r} is not a finite number; {EXPECTED}",
                row,
            )
        raise table.header_error(f"no column of scores; {EXPECTED}")

    def _measures_of_runs(
        self, topic: int | None, run: int, scores: list[int], sure: list[int], texts: list[int]
    ) -> ColumnRoles:
        """Return the roles of a table whose rows name their runs: its other columns are measures."""
        if topic is None:
            self._need_topics(run, None, sure or scores)
        header = self.header
        name = header[topic] if topic is not None else self._row_names()
        core = topic is not None and is_core("topic", header[topic]) and is_core("run", header[run])
        plain = core and not texts
        others = [p for p in scores if p not in sure]
        others = others if plain else [p for p in others if not self._explained(p, topic, run)]
        reading = ColumnRoles(name, tuple(self.names(sure or scores)), header[run])
        if others and not plain and (sure or texts):
            whole = reading._replace(values=tuple(self.names([*sure, *others])))
            raise self.table.header_error(
                f"columns {enumerate_names(map(repr, self.names(others)), 5)} may be measures, or not; "
                f"expected {_either([reading, whole])}"
            )
        values = [p for p in scores if p in sure or p in others] or scores
        repeat = self._repeat(run)
        used = {p for p in (topic, run, repeat) if p is not None}
        self._tell_unused({*used, *values})
        return ColumnRoles(
            name,
            tuple(self.names(values)),
            header[run],
            None,
            None if repeat is None else header[repeat],
        )

    def _runs_in_columns(
        self,
        topic: int | None,
        measure: int | None,
        scores: list[int],
        sure: list[int],
        texts: list[int],
    ) -> ColumnRoles:
        """Return the roles of a table without a column of runs: its columns are runs, or all measures."""
        header, table = self.header, self.table
        name = header[topic] if topic is not None else self._row_names()
        summaries = [p for p in scores if is_no_run(header[p])]
        runs = ColumnRoles(name, tuple(self.names(scores)), are_runs=True)
        one_run = runs._replace(are_runs=False)
        if measure is not None:
            if topic is None:
                raise table.header_error(f"no column of topics; {EXPECTED}")
            self._tell_unused({topic, measure, *scores})
            return runs._replace(measure=header[measure])
        likely = find_measures(self.names(scores))
        if topic is None:
            self._refuse_rows_without_topics(scores, likely, texts, summaries)
        if not summaries and topic is not None and not is_core("topic", header[topic]):
            summaries = scores if all(header[p].isdigit() for p in scores) else []
        if summaries:
            raise table.header_error(
                f"columns {enumerate_names(map(repr, self.names(summaries)), 3)} do not look like runs; expected "
                f"{_either([runs, one_run])}, with those of the columns that hold scores"
            )
        answers = [p for p in range(len(header)) if preference("response", header[p]) is not None]
        unsure = [
            p for p in scores if p not in sure and sure and not self._explained(p, topic, None)
        ]
        if sure and not unsure:
            used = [p for p in scores if p in sure]
            warn_caller(
                f"{table.source}: columns are measures of one run: {enumerate_names(self.names(used), 8)}",
                ReadingWarning,
            )
            self._tell_unused({*used, *([] if topic is None else [topic])})
            return one_run._replace(values=tuple(self.names(used)))
        if likely or answers or texts or sure:
            of_measures = one_run._replace(values=tuple(self.names(sure))) if sure else one_run
            if sure or likely:
                problem = f"columns are named like measures ({enumerate_names(likely, 3)})"
            else:
                shown = enumerate_names(map(repr, self.names(texts or answers)), 3)
                problem = f"besides {shown}, columns may be runs, or measures of one run"
            choices = [of_measures, one_run, runs] if sure and unsure else [one_run, runs]
            raise table.header_error(
                f"{problem}; expected a column run, or {_either(choices)} (where each is a run)"
            )
        self._tell_unused({*scores, *([] if topic is None else [topic])})
        return runs

    def _refuse_rows_without_topics(
        self, scores: list[int], likely: list[str], texts: list[int], summaries: list[int]
    ) -> None:
        """Raise where a table has no column of topics, and its rows may be something else."""
        header, table, rows = self.header, self.table, self._row_names()
        numbers_only = [p for p in range(len(header)) if p not in scores and header[p] != rows]
        if likely:
            raise table.header_error(
                f"columns are named like measures ({enumerate_names(likely, 3)}), and there is no column of "
                f"topics or runs; {EXPECTED}; if each row is a run, this is {_MEANS}"
            )
        if texts:
            if len(table) < 2:
                raise table.header_error(f"one record, not one per topic; {EXPECTED}")
            named = [p for p in texts if self.distinct([p]) == len(table)]
            readings = [
                ColumnRoles(header[p], tuple(self.names(scores)), are_runs=True) for p in named[:1]
            ]
            hint = f"expected {_either(readings)}, where each is a run" if readings else EXPECTED
            raise table.header_error(
                f"no column of topics; {hint}; if each row is a run, this is {_MEANS}"
            )
        if summaries or [p for p in numbers_only if p not in self.named("grouping")]:
            names = self.names(summaries or numbers_only)
            raise table.header_error(
                f"no column of topics, and {enumerate_names(map(repr, names), 3)} beside what may be runs; {EXPECTED}"
            )
        in_text = table.unit == "line"  # a frame's index was set by who made it
        if (
            rows is not None
            and in_text
            and not _number_rows(table, list(header).index(rows), scores)
        ):
            what = repr(rows) if rows else "without a name"
            raise table.header_error(
                f"the column {what} may hold topics or runs; expected a header with topic for it; if each row is a "
                f"run, this is {_MEANS}"
            )

    def _tell_unused(self, used: set[int]) -> None:
        """Say which columns are not used."""
        rest = [
            p for p in range(len(self.header)) if p not in used and not is_row_name(self.header[p])
        ]
        names = self.names(rest)
        if names:
            datasets = any(fold(name) == "dataset" for name in names)
            hint = "; confir leaderboard compares datasets" if datasets else ""
            warn_caller(
                f"{self.table.source}: not used: columns {enumerate_names(names, 8)}{hint}",
                ReadingWarning,
            )


def _either(readings: Sequence[ColumnRoles]) -> str:
    return ", or ".join(dict.fromkeys(map(str, readings)))


def _number_rows(table: InputTable, place: int, scores: Sequence[int]) -> bool:
    """Whether row names are those of topics: numbers, or one word with numbers where no column is a number."""
    names = [str(cell) for cell in table.cells(place)]
    if all(table.header[p].isdigit() for p in scores) and not all(map(str.isdigit, names)):
        return False
    stems = {name.rstrip("0123456789") for name in names}
    return len(stems) == 1 and all(name[-1:].isdigit() for name in names)


def _kind_of(table: InputTable, place: int) -> Kind:
    """Return what the cells of a column are, by the first that are not missing."""
    cells = [cell for cell in _head(table, place, _HEAD) if not _is_missing(cell)]
    if not cells:
        cells = list(islice((c for c in table.cells(place) if not _is_missing(c)), _HEAD))
    if not cells:
        return "empty"
    if any(isinstance(cell, list | tuple | Mapping | np.ndarray) for cell in cells):
        return "object"
    if all(
        isinstance(cell, bool | np.bool_) or str(cell).strip().casefold() in ("true", "false")
        for cell in cells
    ):
        return "flag"
    numbers = [_plain_number(cell) for cell in cells]
    found = [number for number in numbers if number is not None]
    if 2 * len(found) <= len(cells):
        return "mixed" if found else "text"
    whole = len(found) == len(cells) and all(
        isinstance(c, int | np.integer) or str(c).lstrip("+-").isdigit() for c in cells
    )
    return "whole" if whole else "number"


def _head(table: InputTable, place: int, rows: int) -> list[Any]:
    column = table.columns[place]
    if isinstance(column, Sequence):
        return list(column[:rows])
    if hasattr(column, "to_pylist"):
        return list(column[:rows].to_pylist())
    return list(column.head(rows).to_list())


def _is_missing(cell: Any) -> bool:
    if cell is None:
        return True
    number = cell_number(cell) if isinstance(cell, str | float) else 0.0
    return number is not None and math.isnan(number)


def _plain_number(cell: Any) -> float | None:
    """Return the number that a cell spells, be it with a percent sign or a comma."""
    if isinstance(cell, str):
        text = cell.strip().removesuffix("%").strip()
        is_thousands = "." in text or text.count(",") > 1
        return parse_number(text.replace(",", "" if is_thousands else "."))
    return math.inf if isinstance(cell, float) else cell_number(cell)
