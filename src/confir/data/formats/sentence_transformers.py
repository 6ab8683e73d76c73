"""Predictions of sentence-transformers.

``InformationRetrievalEvaluator(write_predictions=True)`` writes a line of JSON per topic.
"""

from __future__ import annotations

from typing import Any

from confir.data.formats.format import Format, NameBy, RunSource
from confir.data.formats.json_files import JsonFile
from confir.data.formats.json_runs import run_from_mapping
from confir.data.run import Run

_LINES = '{"query_id": topic, "query": …, "results": [{"corpus_id": docid, "score": …}]}'


def _read_predictions(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the run in predictions, one line per topic."""
    file = JsonFile(source.path, f"expected lines of {_LINES}")
    lists: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(file.records(content), start=1):
        what = f"record {number}"
        topic = file.id(record, "query_id", what)
        ranked: dict[str, Any] = {}
        file.enter(lists, topic, ranked, f"topic {topic!r} occurs twice; expected it once")
        for entry in file.objects(file.field(record, "results", what), f"results of {what}"):
            document = file.id(entry, "corpus_id", f"a result of {what}")
            score = file.field(entry, "score", f"a result of {what}")
            problem = f"document {document!r} occurs twice in topic {topic!r}; expected it once"
            file.enter(ranked, document, score, problem)
    return [run_from_mapping(lists, source)]


PREDICTIONS = Format(
    "sentence-transformers predictions",
    _LINES,
    keys=[("query_id", "results")],
    read_runs=_read_predictions,
)
