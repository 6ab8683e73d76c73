"""Shapes of JSON: the keys at the start of a file, its records, and what their values may be."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NoReturn

from confir.data.files import text_bytes
from confir.data.formats.json_files import load_json, parse_json
from confir.data.tables.input_table import is_unicode
from confir.errors import FormatError, enumerate_names

# Stands in a path of keys for the entries of a list.
LISTED = "[]"

# So much of a file tells its shape, by keys that lie at most so deep.
_START = 1 << 16
_DEEPEST = 4

# Each byte is part of one token, and is looked at once: nothing is given back. A text that does not
# end goes up to the end.
TOKEN = re.compile(
    rb'(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+(?P<end>")?+)|(?P<sign>[{}\[\]:])|[^"{}\[\]:]++',
    re.DOTALL,
)
_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:\[\s*+)?+\{")


def has_keys(*names: str) -> Any:
    """Return what recognises files whose first object has some keys: of a path and content."""
    return lambda _, content: set(names) <= top_keys(content)


def top_keys(content: bytes) -> set[str]:
    """Return the keys of the first JSON object at the start of a file, or in a list there.

    Only those that the first block of the file shows; none where it is no JSON.
    """
    return {path[0] for path in key_paths(content)}


def key_paths(content: bytes) -> frozenset[tuple[str, ...]]:
    """Return where the keys of the first object at the start of a file stand, outermost key first.

    A key whose value is a list has a second path, which ends in LISTED. As `top_keys`, it reads the
    first block alone; formats that are tried one after another share what was found there.
    """
    return _paths_in(content[:_START])


@lru_cache(maxsize=4)
def _paths_in(start: bytes) -> frozenset[tuple[str, ...]]:
    opened = _OBJECT.match(start)
    if opened is None:
        return frozenset()
    paths: set[tuple[str, ...]] = set()
    above: list[str] = []
    last, key = b"", LISTED
    for token in TOKEN.finditer(start, opened.end()):
        sign = token["sign"]
        if token["text"]:
            last = token["text"]
        elif sign == b":":
            key = ""
            if len(above) < _DEEPEST:
                key = _text(last)
                paths.add((*above, key))
        elif sign in (b"{", b"["):
            above.append(key)
            if sign == b"[" and len(above) < _DEEPEST:
                paths.add((*above, LISTED))
            key = LISTED
        elif sign is not None:
            if not above:
                break
            above.pop()
            key = LISTED
    return frozenset(paths)


def read_records(content: bytes, source: str, expected: str) -> list[Mapping[str, Any]]:
    """Return the objects of a file: one, a list of them, one per line, or hits with a ``_source``."""
    text = text_bytes(content, source).decode()
    # not by splitlines: texts in JSON may hold other line ends, such as U+2028
    lines = {i: line for i, line in enumerate(text.split("\n"), start=1) if line.strip()}
    if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines.values()):
        held: Any = [
            parse_json(line, source, expected=expected, before=i - 1) for i, line in lines.items()
        ]
    else:
        held = load_json(content, source, expected)
    if isinstance(held, dict):
        hits = held.get("hits")
        listed = hits.get("hits") if isinstance(hits, dict) else None
        if isinstance(listed, list):
            held = [one.get("_source") if isinstance(one, dict) else one for one in listed]
        else:
            held = [held]
    if not held:
        raise FormatError(f"no records; {expected}", path=source)
    return [as_object(one, f"record {i}", source, expected) for i, one in enumerate(held, start=1)]


def numbered_records(
    content: bytes, source: str, expected: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the objects of JSON Lines, whose numbers are finite, each with its line."""
    found = False
    for number, line in enumerate(text_bytes(content, source).decode().split("\n"), start=1):
        if not line.strip():
            continue

        def reject(constant: str, number: int = number) -> NoReturn:
            problem = f"{constant} stands where a finite number was expected"
            raise FormatError(problem, path=source, line=number)

        held = parse_json(line, source, expected=expected, before=number - 1, parse_constant=reject)
        if not isinstance(held, dict):
            raise FormatError(f"no JSON object; {expected}", path=source, line=number)
        found = True
        yield number, held
    if not found:
        raise FormatError(f"no records; {expected}", path=source)


def as_object(value: Any, what: str, source: str, expected: str) -> Mapping[str, Any]:
    """Return a JSON object; raise where a value is none."""
    if not isinstance(value, dict):
        raise FormatError(f"{what} is not a JSON object; {expected}", path=source)
    return value


def as_objects(value: Any, what: str, source: str, expected: str) -> Sequence[Mapping[str, Any]]:
    """Return a list of JSON objects; raise where a value is none."""
    if not isinstance(value, list):
        raise FormatError(f"{what} is not a list; {expected}", path=source)
    return [
        as_object(one, f"entry {i} of {what}", source, expected) for i, one in enumerate(value, 1)
    ]


def held_by(
    record: Mapping[str, Any],
    key: str,
    what: str,
    source: str,
    expected: str,
    line: int | None = None,
) -> Any:
    """Return what a record holds under a key; raise where it lacks it."""
    if key not in record:
        raise FormatError(f"{what} lacks {key!r}; {expected}", path=source, line=line)
    return record[key]


def id_held_by(
    record: Mapping[str, Any],
    key: str,
    what: str,
    source: str,
    expected: str,
    line: int | None = None,
) -> str:
    """Return the id that a record holds under a key; raise where it holds none."""
    value = held_by(record, key, what, source, expected, line)
    return as_id(value, f"{key!r} of {what}", source, line)


def as_id(value: Any, what: str, source: str, line: int | None = None) -> str:
    """Return an id: text, or a whole number as text; raise where a value is anything else.

    Every value of JSON that becomes the name of a topic, document, run, measure or judge comes
    here, before it is looked up: a list cannot be, and null is nobody's name.
    """
    if isinstance(value, str) and value and is_unicode(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise FormatError(
        f"{what} is {reprlib.repr(value)}; expected text or a whole number", path=source, line=line
    )


def choose_part(
    parts: Mapping[str, Any], chosen: str | None, kind: str, source: str, option: str
) -> Any:
    """Return the part of a file that is wanted, the only one where none is named.

    Parameters
    ----------
    parts, chosen
        The parts by name, and the name of the wanted one.
    kind, source
        What a part is called, and the file, for messages.
    option
        The option that names a part, such as "subset".
    """
    if not parts:
        raise FormatError(f"has no {kind}s; expected one or more", path=source)
    names = enumerate_names(map(repr, parts))
    if chosen is None:
        if len(parts) != 1:
            raise FormatError(
                f"holds {len(parts)} {kind}s ({names}); expected --{option} ({option}=) to name one",
                path=source,
            )
        return next(iter(parts.values()))
    if chosen not in parts:
        raise FormatError(f"has no {kind} {chosen!r}; expected one of {names}", path=source)
    return parts[chosen]


def _text(token: bytes) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return ""
