"""JSON in tables: text parsed, and records or nested objects as columns.

Records stand one per line or in a list; nested objects map the levels of a table, such as
run → measure → topic → score.
"""

from __future__ import annotations

import io
import json
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, Literal

from confir.data.files import format_ending, name_from_path
from confir.data.tables.input_table import InputTable
from confir.data.tables.table_kind import TableKind
from confir.errors import FormatError, enumerate_names

# The beginning of a list that has entries; what stands after one: another, or the end.
_LIST_START = re.compile(r"\s*+\[(?P<more>\s*+(?!\]))")
_AFTER_ENTRY = re.compile(r"\s*+(?:(?P<more>,\s*+)|\]\s*+\Z)")
# An empty object takes 3 bytes of text, and 72 in memory.
_MOST_CONTAINERS = 4_000_000
# Records are held as objects so many at a time, before they become columns.
_RECORDS_AT_ONCE = 1 << 14
_KEYS_AND_BRACES = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?|[{}]')


def is_json_text(start: bytes, source: str) -> bool:
    """Whether text is JSON, by its ending or, where that is not CSV's or TSV's, by how it begins."""
    ending = format_ending(source)
    begins = start.lstrip()[:1] in (b"[", b"{") and ending not in (".csv", ".tsv")
    return ending in (".json", ".jsonl") or begins


def json_table(content: bytes, start: bytes, source: str, kind: TableKind) -> InputTable:
    """Return the table in text; ``start`` is the text without blank lines before it."""
    before = content.count(b"\n", 0, len(content) - len(start))
    if _is_json_lines(start, source):
        return _record_table(_read_lines(start, before, source, kind), source, "line", kind)
    text = start.decode()
    if text.lstrip().startswith("["):
        records = enumerate(list_entries(text, source, kind.expected, before), start=1)
        return _record_table(records, source, "row", kind)
    document = parse_json(text, source, expected=kind.expected, before=before)
    if kind.is_one_run(document):
        document = {name_from_path(source): document}
    lists = (
        [name for name, cell in document.items() if isinstance(cell, list)]
        if isinstance(document, dict)
        else []
    )
    if lists:
        names = enumerate_names(map(repr, lists), 3)
        problem = f"one object with lists ({names}), in a layout that is not known"
        raise FormatError(f"{problem}; {kind.expected}", path=source)
    if isinstance(document, dict) and any(isinstance(cell, dict) for cell in document.values()):
        return _nested_table(document, source, kind)
    return _record_table(iter([(1, document)]), source, "row", kind)


def _is_json_lines(start: bytes, source: str) -> bool:
    """Whether every line is a record: the ending says so, or the first line is one."""
    if format_ending(source) == ".jsonl":
        return True
    if not start.lstrip().startswith(b"{"):
        return False
    try:
        first = json.loads(start.lstrip().split(b"\n", maxsplit=1)[0])
    except (ValueError, RecursionError):
        return False
    return not any(isinstance(cell, dict) for cell in first.values())


def _read_lines(
    start: bytes, before: int, source: str, kind: TableKind
) -> Iterator[tuple[int, Any]]:
    """Yield the records of JSON Lines with the numbers of their lines; ``before`` lines come before."""
    lines = enumerate(io.TextIOWrapper(io.BytesIO(start), "utf-8", newline="\n"), start=before + 1)
    texts = (
        (number, line.rstrip()) for number, line in lines if line.lstrip()[:1] not in ("", "#")
    )
    while piece := dict(islice(texts, _RECORDS_AT_ONCE)):
        yield from zip(piece, _load_lines(piece, source, kind), strict=True)


def _load_lines(texts: dict[int, str], source: str, kind: TableKind) -> list[Any]:
    """Return the records, all loaded at once; line by line where that fails, to name the line."""
    try:
        together = "[" + ",".join(texts.values()) + "]"
        records = parse_json(together, source, expected=kind.expected)
    except FormatError:
        records = []
    if len(records) == len(texts):
        return list(records)
    return [
        parse_json(text, source, expected=kind.expected, before=line - 1)
        for line, text in texts.items()
    ]


def _record_table(
    records: Iterator[tuple[int, Any]], source: str, unit: Literal["line", "row"], kind: TableKind
) -> InputTable:
    """Return the table of numbered records, which all have the same keys; they are read in pieces."""
    lines = array("q")
    table = InputTable(source, [], [], lines, unit, kind=kind)
    while piece := list(islice(records, _RECORDS_AT_ONCE)):
        lines.extend(line for line, _ in piece)
        for row, (_, record) in enumerate(piece, start=len(lines) - len(piece)):
            if not isinstance(record, dict) or not record:
                raise table.error(f"not a record; {kind.expected}", row)
            if not row:
                columns: list[list[Any]] = [[] for _ in record]
                line = lines[0] if unit == "line" else None
                table = replace(table, header=list(record), columns=columns, header_line=line)
            if len(record) != len(table.header) or any(key not in record for key in table.header):
                raise table.error(
                    f"a record of {', '.join(record)}; expected {', '.join(table.header)} as in the first",
                    row,
                )
        for name, column in zip(table.header, table.columns, strict=True):
            column.extend(record[name] for _, record in piece)
    if not lines:
        raise FormatError(f"no records; {kind.expected}", path=source)
    return table


def _nested_table(document: dict[str, Any], source: str, kind: TableKind) -> InputTable:
    """Return the table of nested objects, such as run → measure → topic → score.

    An empty object has an empty cell, so that a run without scores is still a run.
    """
    rows: list[tuple[Any, ...]] = [((), document)]
    empty: list[tuple[Any, ...]] = []
    for _ in kind.levels[:-1]:
        deeper = []
        for path, found in rows:
            if not isinstance(found, dict):
                place, wanted = " → ".join(path), " → ".join(kind.levels)
                problem = f"no object at {place}; expected {wanted}"
                if isinstance(found, int | float):
                    problem = f"a number at {place}, which may be a mean; expected {wanted}"
                raise FormatError(problem, path=source)
            deeper += [((*path, key), cell) for key, cell in found.items()]
            empty += [] if found else [path]
        rows = deeper
    if not kind.levels or not rows:
        raise FormatError(f"no records; {kind.expected}", path=source)
    rows += [((*path, *rows[0][0][len(path) :]), None) for path in empty]
    levels = kind.levels
    if kind.order_levels is not None:
        levels = kind.order_levels(list(document.values()), source)
    columns = list(zip(*((*path, cell) for path, cell in rows), strict=True))
    return InputTable(source, list(levels), columns, range(1, len(rows) + 1), "row", kind=kind)


def parse_json(
    text: str,
    source: str,
    expected: str,
    before: int = 0,
    *,
    parse_constant: Callable[[str], Any] | None = None,
) -> Any:
    """Return what JSON text holds; a key that occurs twice in an object is an error.

    Parameters
    ----------
    text, source, expected
        The text; the file and what was expected there, for messages.
    before
        How many lines of the file come before the text.
    parse_constant
        What makes a value of NaN, Infinity and -Infinity; by default they are floats.
    """
    if text.count("{") + text.count("[") > _MOST_CONTAINERS:
        raise FormatError(
            f"more than {_MOST_CONTAINERS:,} objects and lists in one JSON value; expected fewer, or "
            "JSON Lines (.jsonl), which are read line by line",
            path=source,
        )
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=parse_constant)
    except FormatError:
        raise
    except _RepeatedKeyError:
        key, line = _find_repeated_key(text)
        problem = f"{key!r} occurs twice in one JSON object; expected it once"
    except json.JSONDecodeError as error:
        problem, line = f"not JSON ({error.msg}); {expected}", error.lineno
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        cause = "nested too deeply" if deep else "a whole number of thousands of digits"
        problem, line = f"not readable as JSON ({cause}); {expected}", 1
        if "\n" in text:
            raise FormatError(problem, path=source) from None
    raise FormatError(problem, path=source, line=before + line)


def list_entries(text: str, source: str, expected: str, before: int = 0) -> Iterator[Any]:
    """Yield the entries of a JSON list one by one, of which only one need be held; see `parse_json`."""
    scan = json.JSONDecoder(object_pairs_hook=_distinct).raw_decode
    found = _LIST_START.match(text)
    number = 0
    try:
        while found and found["more"] is not None:
            entry, end = scan(text, found.end())
            found = _AFTER_ENTRY.match(text, end)
            if found:
                yield entry
                number += 1
    except (ValueError, RecursionError, _RepeatedKeyError):
        found = None
    if not found:  # a fault, or an empty list: the whole is parsed, which says what is wrong
        yield from parse_json(text, source, expected, before)[number:]


class _RepeatedKeyError(Exception):
    """Raised while an object is read, before its place is known."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        raise _RepeatedKeyError
    return held


def _find_repeated_key(text: str) -> tuple[str, int]:
    """Return the first key that occurs twice in its object, and the line of the second."""
    held: list[set[str]] = []
    for token in _KEYS_AND_BRACES.finditer(text):
        if token[0] == "{":
            held.append(set())
        elif token[0] == "}":
            held.pop()
        elif token["colon"]:
            key = json.loads(token["text"])
            if key in held[-1]:
                return key, text.count("\n", 0, token.start()) + 1
            held[-1].add(key)
    raise ValueError("no key occurs twice")
