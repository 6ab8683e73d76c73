"""Runs and qrels as JSON, {topic: {docid: score or gain}}."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from confir.data.files import STDIN, PathLike, write_whole
from confir.data.formats.entries import QRELS, RUN, EntryKind, qrels_from_object, read_entries
from confir.data.formats.format import Format, NameBy, RunSource
from confir.data.formats.json_files import JsonFile
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run, build_run
from confir.errors import InvalidValueError, type_name

# {} alone is an empty object; a topic of a TREC file may be called so, too.
_JSON_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:"|\}\s*\Z)')


def read_json_run(content: bytes, source: RunSource, _: NameBy = "file") -> list[Run]:
    """Return the run in the content of a JSON file, {topic: {docid: score}}."""
    return [run_from_mapping(load_mapping(content, source.path, RUN), source)]


def run_from_mapping(held: Mapping[str, Any], source: RunSource) -> Run:
    """Return the run that an object of a file holds, topic → docid → score."""
    entries = read_entries(held, RUN, source.path)
    columns = (entries.topics, entries.documents, entries.values)
    return build_run(source.label(), *columns, path=source.path)


def read_json_qrels(content: bytes, source: RunSource, intents: Intents | None = None) -> Qrels:
    """Return the judgements in the content of a JSON file, {topic: {docid: gain}}."""
    return qrels_from_object(load_mapping(content, source.path, QRELS), source.path, intents)


def load_mapping(content: bytes, source: str, kind: EntryKind) -> Mapping[str, Any]:
    """Return the mapping in a JSON file; what its values hold is not looked at."""
    file = JsonFile(source, f"expected JSON of the shape {{topic: {{docid: {kind.value}}}}}")
    held = file.load(content)
    if not isinstance(held, dict):
        raise file.error(f"a JSON value of type {type_name(held)}")
    return held


def _starts_as_json(path: str, content: bytes) -> bool:
    """Whether a file is JSON by how it starts, whatever its ending; a pipe never is."""
    is_file = path != STDIN and os.path.isfile(path)
    return is_file and _JSON_START.match(content) is not None


def _write_json_run(run: Run, path: PathLike) -> None:
    _write_json(run.to_dict(), path)


def _write_json_qrels(qrels: Qrels, path: PathLike) -> None:
    """Write qrels; those that judge a document for several subtopics do not fit, and are an error."""
    if len(qrels.judged_documents) > len(qrels.documents):
        raise InvalidValueError(
            f"{os.fspath(path)}: documents are judged for several subtopics, and JSON holds one "
            "gain per document; write them as a TREC file"
        )
    _write_json(qrels.to_dict(), path)


def _write_json(held: Mapping[str, Mapping[str, float]], path: PathLike) -> None:
    write_whole(path, json.dumps(held, allow_nan=False).encode() + b"\n")


JSON = Format(
    "JSON",
    "{topic: {docid: score or gain}}",
    endings=(".json",),
    recognises=_starts_as_json,
    read_runs=read_json_run,
    read_qrels=read_json_qrels,
    write_run=_write_json_run,
    write_qrels=_write_json_qrels,
)
