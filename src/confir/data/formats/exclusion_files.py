"""Documents that do not count, as a file or a mapping names them.

Lines of topic and docid, or of qrels (topic, subtopic, docid, gain: whatever the gain); or JSON,
topic → docids, as the ``excluded_ids`` of BRIGHT (Su et al. 2025).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from confir.arguments import as_path, invalid
from confir.data.exclusions import Exclusions
from confir.data.files import STDIN, read_bytes, text_bytes
from confir.data.formats.json_files import JsonFile, as_id
from confir.data.formats.json_runs import JSON
from confir.data.trec_lines import content_lines
from confir.errors import FormatError

ExcludedSource = str | os.PathLike[str] | Mapping[str, Any] | Exclusions

_LINES = "lines of topic docid, or of topic subtopic docid gain"
_JSON = "expected JSON of the shape {topic: [docid, …]}"


def as_exclusions(source: Any) -> Exclusions:
    """Return the documents that a file or a mapping topic → docids excludes."""
    if isinstance(source, Exclusions):
        return source
    if isinstance(source, str | os.PathLike):
        return _read_exclusions(as_path("exclude", source))
    if not isinstance(source, Mapping):
        raise invalid("exclude", source, "a path, or a mapping topic → docids")
    return Exclusions(_from_mapping(source, "exclude", "expected a mapping topic → docids"))


def _read_exclusions(path: str) -> Exclusions:
    if path == STDIN:
        raise invalid("exclude", path, "a file, which can be read again")
    content = read_bytes(path)
    if JSON.fits(path, content):
        file = JsonFile(path, _JSON)
        held = file.load(content)
        if not isinstance(held, dict):
            raise file.error("no JSON object")
        return Exclusions(_from_mapping(held, path, _JSON), source=path)
    pairs: dict[str, set[str]] = {}
    for number, fields in content_lines(text_bytes(content, path), path):
        if len(fields) not in (2, 4):
            raise FormatError(
                f"{len(fields)} columns; expected 2 or 4: {_LINES}", path=path, line=number
            )
        document = fields[1] if len(fields) == 2 else fields[2]
        pairs.setdefault(fields[0].decode(), set()).add(document.decode())
    if not pairs:
        raise FormatError(f"the file is empty; expected {_LINES}", path=path)
    return Exclusions({topic: frozenset(own) for topic, own in pairs.items()}, source=path)


def _from_mapping(held: Mapping[Any, Any], source: str, expected: str) -> dict[str, frozenset[str]]:
    """Return topic → docids; raise where a topic or a document is no id."""
    if not held:
        raise FormatError(f"no topics; {expected}", path=source)
    found: dict[str, frozenset[str]] = {}
    for topic, documents in held.items():
        name = as_id(topic, "a topic", source)
        if isinstance(documents, str | bytes) or not hasattr(documents, "__iter__"):
            raise FormatError(f"topic {name!r} has no list of docids; {expected}", path=source)
        found[name] = frozenset(
            as_id(one, f"a docid of topic {name!r}", source) for one in documents
        )
    return found
