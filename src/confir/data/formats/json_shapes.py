"""Which JSON is it? The keys at the top of a file's start, and the records of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from confir.data.files import text_bytes
from confir.data.formats.json_files import load_json, parse_json
from confir.errors import FormatError, enumerate_names

# So much of a file tells its shape.
_START = 1 << 16

_TOKEN = re.compile(rb'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?|(?P<open>[{\[])|[}\]]')
_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?P<list>\[\s*)?\{")


def top_keys(content: bytes) -> list[str]:
    """Return the keys of the first JSON object at the start of a file, or in a list there.

    Only those that the first block of the file shows; none where it is no JSON.
    """
    start = content[:_START]
    opened = _OBJECT.match(start)
    keys: list[str] = []
    depth = 1
    if opened is None:
        return keys
    for token in _TOKEN.finditer(start, opened.end()):
        if token["open"]:
            depth += 1
        elif token["text"]:
            if token["colon"] and depth == 1:
                keys.append(_text(token["text"]))
        else:
            depth -= 1
            if not depth:
                break
    return keys


def has_keys(*names: str) -> Any:
    """Return what recognises files whose first object has some keys: of a path and content."""
    return lambda _, content: set(names) <= set(top_keys(content))


def read_records(content: bytes, source: str, expected: str) -> list[Mapping[str, Any]]:
    """Return the objects of a file: one, a list of them, one per line, or hits with a ``_source``."""
    text = text_bytes(content, source).decode()
    lines = {i: line for i, line in enumerate(text.splitlines(), start=1) if line.strip()}
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


def held_by(record: Mapping[str, Any], key: str, what: str, source: str, expected: str) -> Any:
    """Return what a record holds under a key; raise where it lacks it."""
    if key not in record:
        raise FormatError(f"{what} lacks {key!r}; {expected}", path=source)
    return record[key]


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
