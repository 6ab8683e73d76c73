"""Scores in lines without a header, as trec_eval, ir_measures, gdeval and AutoJudge print them.

The order of their columns is inferred from their content. Measures of trec_eval are given confir's
names where they are the same. Lines of AutoJudge are those of ``autojudge_evaluate.eval_results.io``
(trec-auto-judge/auto-judge-evaluate 0.3): ``tot`` (run measure topic value), ``ir_measures`` (run topic
measure value) and ``ranking`` (topic Q0 run rank value measure, a TREC run whose documents are runs).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence

import numpy as np

from confir.data.tables.column_names import CORE_NAMES
from confir.data.tables.column_roles import EXPECTED
from confir.data.tables.input_table import InputTable
from confir.data.tables.measure_names import (
    begins_like_a_measure,
    confir_name,
    find_measures,
    is_text_measure,
)
from confir.data.tables.separated_text import folded_cells
from confir.data.tables.summary_rows import drop_rows
from confir.data.text_numbers import parse_number
from confir.errors import FormatError

_SUMMARY = "all"

_SHAPES = (("run", "measure", "topic"), ("run", "topic", "measure"), ("measure", "topic", "run"))
_RANKING = ("topic", "-", "run", "-", "value", "measure")
# Names of measures that are no names of usual ones: those of nuggetizer, of which one is "all".
_NUGGETS = frozenset({"vital", "strict_vital", "strict_all"})
# A line is split no further: each field takes some 50 bytes.
_MOST_FIELDS = 1_000
_THREE_COLUMNS = ["measure", "topic", "score"]


def read_lines(
    content: bytes, first: bytes, separator: str | None, source: str
) -> InputTable | None:
    """Return the table of lines without a header; None where the first line is a header."""
    if separator == "," or not _is_bare(first, separator, source):
        return None
    lines, rows = _split_lines(content, source)
    columns: list[Sequence[str]] = list(zip(*rows, strict=True))
    if len(columns) == 3:
        if _topics_come_first(columns[0], columns[1], content, source):
            columns = [columns[1], columns[0], columns[2]]
        else:
            columns[0] = [confir_name(name) for name in columns[0]]
        return _without_summaries(InputTable(source, _THREE_COLUMNS, columns, lines))
    if len(columns) == 6:
        if not _is_ranking(columns):
            raise _mistaken_run(source)
        return _ordered(columns, _RANKING, lines, source)
    return _ordered(columns, _order_of_four(columns, source), lines, source)


def read_ordered_lines(
    roles: Sequence[str], content: bytes, _: bytes, separator: str | None, source: str
) -> InputTable | None:
    """Return the table of lines whose columns hold what the user says, in this order."""
    if separator == ",":
        return None
    lines, rows = _split_lines(content, source, len(roles))
    return _ordered(list(zip(*rows, strict=True)), roles, lines, source)


def _ordered(
    columns: Sequence[Sequence[str]], roles: Sequence[str], lines: Sequence[int], source: str
) -> InputTable:
    """Return the columns that have a role; a measure of trec_eval is given confir's name."""
    used = [(role, column) for role, column in zip(roles, columns, strict=True) if role != "-"]
    header = ["score" if role == "value" else role for role, _ in used]
    cells = [
        [confir_name(name) for name in column] if role == "measure" else column
        for role, column in used
    ]
    return _without_summaries(InputTable(source, header, cells, lines))


def _without_summaries(table: InputTable) -> InputTable:
    topics = table.columns[list(table.header).index("topic")]
    kept = np.array([topic != _SUMMARY for topic in topics])
    return table if kept.all() else drop_rows(table, kept, f"topic {_SUMMARY!r}")


def _is_bare(line: bytes, separator: str | None, source: str) -> bool:
    """Whether a first line holds a score, rather than names of columns.

    Lines of a run, of qrels or of summaries are errors, as far as one line shows it.
    """
    if not set(CORE_NAMES["topic"]).isdisjoint(folded_cells(line.decode(), separator)):
        return False
    fields = [field.decode() for field in line.split()]
    count = len(fields)
    numeric = [_is_numeric(field) for field in fields]
    measured = begins_like_a_measure(fields[0])
    mistaken = None
    if count == 2 and measured and numeric[1]:
        mistaken = "summaries of measures (written without the option -q?)"
    if count == 4 and _may_be_qrels(fields):
        mistaken = "qrels"
    if mistaken:
        raise FormatError(f"this looks like {mistaken}; {EXPECTED}", path=source)
    if count >= 5 and numeric[3] and numeric[4]:
        if count == 6:
            return True
        raise _mistaken_run(source)
    if count == 4:
        return numeric[3]
    return count == 3 and (numeric[2] or is_text_measure(fields[0]))


def _may_be_qrels(fields: Sequence[str]) -> bool:
    """Whether four fields are those of a judgement: no name is a measure's, and the gain is whole.

    Runs and topics of a score may be any text; a number or "Q0" comes second in qrels.
    """
    if not re.fullmatch(r"[+-]?\d+", fields[3]):
        return False
    second = _is_numeric(fields[1]) or fields[1] in ("Q0", "-")
    return second and not any(map(begins_like_a_measure, (fields[0], fields[2])))


def _mistaken_run(source: str) -> FormatError:
    return FormatError(
        f"this looks like a run; {EXPECTED}; of a ranking of runs by a measure, --columns "
        f"{','.join(_RANKING)}",
        path=source,
    )


def _split_lines(content: bytes, source: str, width: int = 0) -> tuple[list[int], list[list[str]]]:
    """Return the numbers of lines that hold scores, and their fields, as many in each.

    As many as ``width`` says, or else as in the first line: three, four or six.

    Lines are split at ASCII blanks only, so that any other blank stays part of an id.
    """
    lines: list[int] = []
    rows: list[list[str]] = []
    for number, line in _numbered_lines(content):
        fields = [field.decode() for field in line.split(None, _MOST_FIELDS)]
        if not fields or fields[0][0] == "#" or is_text_measure(fields[0]):
            continue
        given, width = bool(width), width or len(fields)
        if not rows and not given and width not in (3, 4, 6):
            problem = f"{_count(fields)} columns; expected 3, 4 or 6"
            raise FormatError(problem, path=source, line=number)
        if width == 4 and len(fields) == 3 and fields[1] == _SUMMARY:
            fields.insert(2, _SUMMARY)
        if len(fields) != width:
            problem = (
                f"{_count(fields)} columns; expected {width}{'' if not rows else ' as before'}"
            )
            raise FormatError(problem, path=source, line=number)
        lines.append(number)
        rows.append(fields)
    if not rows:
        raise FormatError("no numbers; expected a score per topic", path=source)
    return lines, rows


def _count(fields: Sequence[str]) -> str:
    """Return how many fields a line has, as far as it was split."""
    return f"more than {_MOST_FIELDS}" if len(fields) > _MOST_FIELDS else str(len(fields))


def _numbered_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file and their numbers, one after the other: the first fault ends it."""
    number = 0
    for held in io.BytesIO(content):
        for line in held.splitlines():  # what ends in a carriage return alone is a line, too
            number += 1
            yield number, line


def _topics_come_first(
    first: Sequence[str], second: Sequence[str], content: bytes, source: str
) -> bool:
    """Whether lines are ir_measures' (topic, measure, score), not trec_eval's (measure, topic).

    Inferred from the column in which summaries are marked, else by trec_eval's padding, else
    by the column that holds more names of usual measures.
    """
    if (_SUMMARY in first) != (_SUMMARY in second):
        return _SUMMARY in first
    if re.search(rb"^\S+ +\t", content, re.MULTILINE):
        return False
    usual = [
        sum(map(begins_like_a_measure, names)) / len(names) for names in (set(first), set(second))
    ]
    if usual[0] == usual[1]:
        raise FormatError(
            "columns of topics and measures cannot be distinguished; expected a first line that "
            "names the columns, such as topic, measure, score",
            path=source,
        )
    return usual[1] > usual[0]


def _order_of_four(columns: Sequence[Sequence[str]], source: str) -> tuple[str, ...]:
    """Return what the columns of four hold, as far as it is certain; raise where it is not.

    It is where one column alone can hold the measures, by names of usual measures, and one the
    topics, by the summary "all" or since measures are no numbers.
    """
    found = _fitting(columns)
    if found is None:
        raise FormatError(
            "the columns of runs, measures and topics cannot be distinguished; expected --columns "
            "run,measure,topic,value, in the order of the file",
            path=source,
        )
    return *found, "value"


def _fitting(columns: Sequence[Sequence[str]]) -> tuple[str, ...] | None:
    names = [set(column) for column in columns[:3]]
    likeness = [_share_of_measures(own) for own in names]
    best = max(likeness)
    summarised = [_SUMMARY in own and not own & _NUGGETS for own in names]
    # lines that begin with a measure are rare: only where it is one by its name
    shapes = [one for one in _SHAPES if one[0] == "run" or likeness[0] > 0]
    if any(summarised):
        shapes = [one for one in shapes if summarised[one.index("topic")]]
    if best > 0:
        shapes = [one for one in shapes if likeness[one.index("measure")] == best]
    elif not any(summarised) and _are_whole(columns[3]):
        return None  # which qrels have, too
    shapes = [one for one in shapes if not all(map(_is_numeric, names[one.index("measure")]))]
    return shapes[0] if len(shapes) == 1 else None


def _is_ranking(columns: Sequence[Sequence[str]]) -> bool:
    """Whether lines of six columns are a ranking of runs, rather than a run.

    It is if all tags are names of usual measures, if a topic is the summary "all", or if every
    measure ranks the same runs.
    """
    topics, measures = columns[0], columns[5]
    names = set(measures)
    if _SUMMARY in topics or _share_of_measures(names) == 1.0 or names & _NUGGETS:
        return True
    ranked = set(zip(topics, columns[2], strict=True))
    return len(names) > 1 and len(topics) == len(names) * len(ranked)


def _share_of_measures(names: set[str]) -> float:
    usual = {*find_measures(names), *filter(begins_like_a_measure, names), *(names & _NUGGETS)}
    return len(usual) / len(names)


def _is_numeric(cell: str) -> bool:
    """Whether a cell holds a number, be it an infinite one."""
    return parse_number(cell) is not None


def _are_whole(cells: Sequence[str]) -> bool:
    numbers = [parse_number(cell) for cell in cells]
    return all(number is not None and number.is_integer() for number in numbers)
