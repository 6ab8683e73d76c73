"""Runs and qrels as JSON, {topic: {docid: score or gain}}."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from confir.data.files import STDIN, PathLike, format_ending, text_bytes, write_whole
from confir.data.formats.entries import (
    QRELS,
    RUN,
    Kind,
    qrels_from_object,
    read_entries,
)
from confir.data.formats.run_sources import NameBy, RunSource
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run, build_run
from confir.errors import FormatError, InvalidValueError, type_name

_KEYS_AND_BRACES = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?|[{}]')
_JSON_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*["}]')


def read_json_run(content: bytes, source: RunSource, _: NameBy = "file") -> list[Run]:
    """Return the run in the content of a JSON file, {topic: {docid: score}}."""
    return [run_from_mapping(load_object(content, source.path, RUN), source)]


def run_from_mapping(held: Mapping[str, Any], source: RunSource) -> Run:
    """Return the run that an object of a file holds, topic → docid → score."""
    entries = read_entries(held, RUN, source.path)
    columns = (entries.topics, entries.documents, entries.values)
    return build_run(source.label(), *columns, path=source.path)


def read_json_qrels(content: bytes, source: RunSource, intents: Intents | None = None) -> Qrels:
    """Return the judgements in the content of a JSON file, {topic: {docid: gain}}."""
    return qrels_from_object(load_object(content, source.path, QRELS), source.path, intents)


def dump_json_run(run: Run, path: PathLike) -> None:
    """Write a run as JSON, {topic: {docid: score}}, compressed as the ending says."""
    _write_json(run.to_dict(), path)


def dump_json_qrels(qrels: Qrels, path: PathLike) -> None:
    """Write qrels as JSON, {topic: {docid: gain}}, compressed as the ending says.

    Qrels that judge a document for several subtopics do not fit, and are an error.
    """
    if len(qrels.judged_documents) > len(qrels.documents):
        raise InvalidValueError(
            f"{os.fspath(path)}: documents are judged for several subtopics, and JSON holds one "
            "gain per document; write them as a TREC file"
        )
    _write_json(qrels.to_dict(), path)


def is_json(path: str, content: bytes) -> bool:
    """Whether a file is JSON, by its ending or by how it starts; a pipe never is by the latter."""
    if has_json_ending(path):
        return True
    is_file = path != STDIN and os.path.isfile(path)
    return is_file and _JSON_START.match(content) is not None


def has_json_ending(path: str) -> bool:
    """Whether a file is JSON by its ending alone, before that of a compression."""
    return format_ending(path) == ".json"


def load_object(content: bytes, source: str, kind: Kind) -> Mapping[str, Any]:
    """Return the mapping in a JSON file; what its values hold is not looked at."""
    expected = f"expected JSON of the shape {{topic: {{docid: {kind.value}}}}}"
    held = load_json(content, source, expected)
    if not isinstance(held, dict):
        raise FormatError(f"a JSON value of type {type_name(held)}; {expected}", path=source)
    return held


def load_json(content: bytes, source: str, expected: str) -> Any:
    """Return what a JSON file holds, whose numbers are finite."""

    def reject(constant: str) -> NoReturn:
        raise FormatError(f"{constant} stands where a finite number was expected", path=source)

    text = text_bytes(content, source).decode()
    return parse_json(text, source, expected=expected, parse_constant=reject)


def parse_json(
    text: str,
    source: str,
    *,
    expected: str,
    before: int = 0,
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
        cause = "nested too deeply" if isinstance(error, RecursionError) else error
        problem, line = f"not readable as JSON ({cause}); {expected}", 1
        if "\n" in text:
            raise FormatError(problem, path=source) from None
    raise FormatError(problem, path=source, line=before + line)


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


def _write_json(held: Mapping[str, Mapping[str, float]], path: PathLike) -> None:
    write_whole(path, json.dumps(held, allow_nan=False).encode() + b"\n")
