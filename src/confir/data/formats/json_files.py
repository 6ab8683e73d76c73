"""JSON files: their text parsed, the keys at their start, and what their records hold.

Every error names the file and what was expected there, and the line where there is one.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from confir.data.files import format_ending, text_bytes
from confir.data.tables.input_table import is_unicode
from confir.data.tables.json_tables import parse_json
from confir.errors import FormatError, enumerate_names

# Stands in a path of keys for the entries of a list; in a wanted one, ANY is any outermost key.
LISTED, ANY = "[]", "*"

# So much of a file tells its shape, by keys that lie at most so deep.
_START = 1 << 16
_DEEPEST = 5

# Each byte is part of one token, and is looked at once: nothing is given back. A text that does not
# end goes up to the end.
TOKEN = re.compile(
    rb'(?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+(?P<end>")?+)|(?P<sign>[{}\[\]:])|[^"{}\[\]:]++',
    re.DOTALL,
)
_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:\[\s*+)?+\{")


def has_json_ending(path: str) -> bool:
    """Whether a file is JSON by its ending alone, before that of a compression."""
    return format_ending(path) == ".json"


def has_keys(content: bytes, wanted: Sequence[str]) -> bool:
    """Whether the first object of a file has some keys: their paths, such as "nuggets.[].text"."""
    found = key_paths(content)
    return all(
        path in found if path[0] != ANY else any(one[1:] == path[1:] for one in found)
        for path in (tuple(one.split(".")) for one in wanted)
    )


def key_paths(content: bytes) -> frozenset[tuple[str, ...]]:
    """Return where the keys of the first object at the start of a file stand, outermost key first.

    The object may be in a list. A key whose value is a list has a second path, which ends in LISTED.
    Only the first block is read; formats that are tried one after another share what was found there.
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


def _text(token: bytes) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return ""


class JsonFile(NamedTuple):
    """A JSON file as messages name it, and the values in it: each is checked before it is used.

    Attributes
    ----------
    path, expected
        The file, and what was expected in it.
    line
        Line of the record; 0 if it has none.
    """

    path: str
    expected: str
    line: int = 0

    def error(self, problem: str) -> FormatError:
        """Return the error that says what was expected instead."""
        return FormatError(f"{problem}; {self.expected}", path=self.path, line=self.line or None)

    def load(self, content: bytes) -> Any:
        """Return what the file holds, whose numbers are finite."""
        return self._parse(text_bytes(content, self.path).decode())

    def load_object(self, content: bytes) -> Mapping[str, Any]:
        """Return the one object that the file holds."""
        return self.object(self.load(content), "the file")

    def records(self, content: bytes) -> list[Mapping[str, Any]]:
        """Return the objects of the file: one, a list, one per line, or hits with a ``_source``."""
        text = text_bytes(content, self.path).decode()
        # not by splitlines: texts in JSON may hold other line ends, such as U+2028
        lines = {i: line for i, line in enumerate(text.split("\n"), start=1) if line.strip()}
        if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines.values()):
            given = self.path, self.expected
            held: Any = [parse_json(line, *given, i - 1) for i, line in lines.items()]
        else:
            held = self.load(content)
        if isinstance(held, dict):
            hits = held.get("hits")
            listed = hits.get("hits") if isinstance(hits, dict) else None
            if isinstance(listed, list):
                held = [one.get("_source") if isinstance(one, dict) else one for one in listed]
            else:
                held = [held]
        if not held:
            raise self.error("no records")
        return [self.object(one, f"record {i}") for i, one in enumerate(held, start=1)]

    def numbered_records(self, content: bytes) -> Iterator[tuple[JsonFile, Mapping[str, Any]]]:
        """Yield the objects of JSON Lines, whose numbers are finite, each with its line."""
        place = self
        for number, line in enumerate(text_bytes(content, self.path).decode().split("\n"), start=1):
            if not line.strip():
                continue
            place = self._replace(line=number)
            held = place._parse(line)  # noqa: SLF001 - of the same class
            if not isinstance(held, dict):
                raise place.error("no JSON object")
            yield place, held
        if place is self:
            raise self.error("no records")

    def _parse(self, text: str) -> Any:
        def refuse(constant: str) -> NoReturn:
            problem = f"{constant} stands where a finite number was expected"
            raise FormatError(problem, path=self.path, line=self.line or None)

        given = self.path, self.expected, max(self.line - 1, 0)
        return parse_json(text, *given, parse_constant=refuse)

    def object(self, value: Any, what: str) -> Mapping[str, Any]:
        """Return a JSON object; raise where a value is none."""
        if not isinstance(value, dict):
            raise self.error(f"{what} is not a JSON object")
        return value

    def objects(self, value: Any, what: str) -> Sequence[Mapping[str, Any]]:
        """Return a list of JSON objects; raise where a value is none."""
        if not isinstance(value, list):
            raise self.error(f"{what} is not a list")
        return [self.object(one, f"entry {i} of {what}") for i, one in enumerate(value, 1)]

    def field(self, record: Mapping[str, Any], key: str, what: str) -> Any:
        """Return what a record holds under a key; raise where it lacks it."""
        if key not in record:
            raise self.error(f"{what} lacks {key!r}")
        return record[key]

    def enter(self, held: dict[str, Any], key: str, value: Any, problem: str) -> None:
        """Put a value under a key; raise, with the problem, where one is there already."""
        if key in held:
            raise FormatError(problem, path=self.path)
        held[key] = value

    def id(self, record: Mapping[str, Any], key: str, what: str) -> str:
        """Return the id that a record holds under a key; raise where it holds none."""
        value = self.field(record, key, what)
        return as_id(value, f"{key!r} of {what}", self.path, self.line or None)


def as_id(value: Any, what: str, source: str, line: int | None = None) -> str:
    """Return an id: text, or a whole number as text; raise where a value is anything else.

    Every value of JSON that becomes the name of a topic, document, run, measure or judge comes
    here, before it is looked up: a list cannot be, and null is no name.
    """
    if isinstance(value, str) and value and is_unicode(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    problem = f"{what} is {reprlib.repr(value)}; expected text or a whole number"
    raise FormatError(problem, path=source, line=line)


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
