"""How are runs and qrels read and written as JSON, {topic: {docid: score or gain}}?"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from confir.data.entries import (
    RUN,
    Kind,
    most_frequent,
    read_entries,
    type_name,
)
from confir.data.files import (
    COMPRESSION_ENDINGS,
    STDIN,
    PathLike,
    open_bytes,
    read_bytes,
    write_whole,
)
from confir.data.qrels import Qrels
from confir.data.run import Run, build_run
from confir.data.trec_files import name_from_path, text_bytes
from confir.errors import FormatError, InvalidValueError

_JSON_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*["}]')


def read_json_run(path: PathLike, *, name: str | None = None) -> Run:
    """Return the run in a JSON file, {topic: {docid: score}}, plain or compressed."""
    source = os.fspath(path)
    entries = read_entries(load_json(path, RUN), RUN, source)
    run_name = name or name_from_path(source)
    return build_run(run_name, entries.topics, entries.documents, entries.values, path=source)


def write_json_run(run: Run, path: PathLike) -> None:
    """Write a run as JSON, {topic: {docid: score}}, compressed as the ending says."""
    _write_json(run.to_dict(), path)


def write_json_qrels(qrels: Qrels, path: PathLike) -> None:
    """Write qrels as JSON, {topic: {docid: gain}}, compressed as the ending says.

    Qrels that judge a document for several subtopics do not fit, and are an error.
    """
    if len(qrels.judged_documents) > len(qrels.documents):
        raise InvalidValueError(
            f"{os.fspath(path)}: documents are judged for several subtopics, and JSON holds one "
            "gain per document; write them as a TREC file"
        )
    _write_json(qrels.to_dict(), path)


def is_json(path: PathLike) -> bool:
    """Tell JSON by its ending or its start; pipes are not looked into, since that empties them."""
    name = os.fspath(path)
    ending = next((end for end in COMPRESSION_ENDINGS if name.lower().endswith(end)), "")
    if name.lower().removesuffix(ending).endswith(".json"):
        return True
    if name == STDIN or not os.path.isfile(name):
        return False
    with open_bytes(name) as stream:
        return _JSON_START.match(stream.read(256)) is not None


def load_json(path: PathLike, kind: Kind) -> Mapping[str, Any]:
    """Return the mapping in a JSON file; what its values hold is not looked at."""
    source = os.fspath(path)
    expected = f"expected JSON of the shape {{topic: {{docid: {kind.value}}}}}"

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if len(held) < len(pairs):
            twice = most_frequent(key for key, _ in pairs)
            raise FormatError(
                f"{twice!r} stands twice in one JSON object; expected it once", path=source
            )
        return held

    def reject(constant: str) -> NoReturn:
        raise FormatError(f"{constant} stands where a finite number was expected", path=source)

    content = text_bytes(read_bytes(path), source)
    try:
        held = json.loads(content, object_pairs_hook=distinct, parse_constant=reject)
    except FormatError:
        raise
    except json.JSONDecodeError as error:
        raise FormatError(
            f"not JSON ({error.msg}); {expected}", path=source, line=error.lineno
        ) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not readable as JSON ({error}); {expected}", path=source) from None
    if not isinstance(held, dict):
        raise FormatError(f"a JSON value of type {type_name(held)}; {expected}", path=source)
    return held


def _write_json(held: Mapping[str, Mapping[str, float]], path: PathLike) -> None:
    write_whole(path, json.dumps(held, allow_nan=False).encode() + b"\n")
