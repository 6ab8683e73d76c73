"""Predictions of sentence-transformers.

``InformationRetrievalEvaluator(write_predictions=True)`` writes a line of JSON per topic.
"""

from __future__ import annotations

from typing import Any

from confir.data.formats.json_files import run_from_mapping
from confir.data.formats.json_shapes import (
    as_objects,
    has_keys,
    held_by,
    id_held_by,
    read_records,
)
from confir.data.formats.run_sources import NameBy, RunSource
from confir.data.run import Run
from confir.errors import FormatError

PREDICTION_LINES = '{"query_id": topic, "query": …, "results": [{"corpus_id": docid, "score": …}]}'

is_predictions = has_keys("query_id", "results")


def read_predictions(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the run in predictions, one line per topic."""
    path, expected = source.path, f"expected lines of {PREDICTION_LINES}"
    lists: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(read_records(content, path, expected), start=1):
        what = f"record {number}"
        topic = id_held_by(record, "query_id", what, path, expected)
        if topic in lists:
            raise FormatError(f"topic {topic!r} occurs twice; expected it once", path=path)
        results = held_by(record, "results", what, path, expected)
        listed = as_objects(results, f"results of {what}", path, expected)
        lists[topic] = ranked = {}
        for entry in listed:
            document = id_held_by(entry, "corpus_id", f"a result of {what}", path, expected)
            if document in ranked:
                raise FormatError(
                    f"document {document!r} occurs twice in topic {topic!r}; expected it once",
                    path=path,
                )
            ranked[document] = held_by(entry, "score", f"a result of {what}", path, expected)
    return [run_from_mapping(lists, source)]
