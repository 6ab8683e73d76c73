"""Records of OpenSearch's search relevance workbench.

``evaluation_result`` holds the documents and the metrics of a search configuration on a query, and
``judgment`` the ratings of queries: one record, a list, a line each, or hits of a search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from confir.data.formats.entries import qrels_from_object
from confir.data.formats.json_files import run_from_mapping
from confir.data.formats.json_shapes import (
    as_id,
    as_objects,
    held_by,
    id_held_by,
    read_records,
    top_keys,
)
from confir.data.formats.run_sources import NameBy, RunSource
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.input_table import InputTable
from confir.errors import FormatError

EVALUATION_RESULT = (
    '{"searchConfigurationId": run, "searchText": topic, "documentIds": […], '
    '"metrics": [{"metric": …, "value": …}]}'
)
JUDGMENT = '{"judgmentRatings": [{"query": topic, "ratings": [{"docId": …, "rating": …}]}]}'

_CONFIGURATION, _TOPIC, _DOCUMENTS = "searchConfigurationId", "searchText", "documentIds"
_RATINGS = "judgmentRatings"
_START = 1 << 16


def is_evaluation_result(_: str, content: bytes) -> bool:
    """Whether a file holds evaluation results."""
    return _holds(content, _CONFIGURATION, _TOPIC)


def is_judgment(_: str, content: bytes) -> bool:
    """Whether a file holds judgments."""
    return _holds(content, _RATINGS)


def read_evaluation_runs(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return a run per search configuration; documents are ranked as they are listed."""
    path = source.path
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for run, topic, record in _results(content, path):
        listed = _field(record, _DOCUMENTS, topic, path)
        what = f"an entry of {_DOCUMENTS} of topic {topic!r}"
        documents = [as_id(d, what, path) for d in listed] if isinstance(listed, list) else None
        if documents is None or len(set(documents)) < len(documents):
            raise FormatError(
                f"{_DOCUMENTS} of topic {topic!r} is not a list of different documents; expected one",
                path=path,
            )
        lists = runs.setdefault(run, {})
        if topic in lists:
            raise FormatError(
                f"topic {topic!r} occurs twice in run {run!r}; expected it once", path=path
            )
        lists[topic] = {document: float(-rank) for rank, document in enumerate(documents, 1)}
    named = source.name is not None and len(runs) == 1
    return [
        run_from_mapping(lists, source if named else source._replace(name=run))
        for run, lists in runs.items()
    ]


def read_evaluation_scores(content: bytes, source: str) -> InputTable:
    """Return the metrics of each search configuration on each topic."""
    rows: list[tuple[Any, ...]] = []
    expected = f"expected {EVALUATION_RESULT}"
    for run, topic, record in _results(content, source):
        metrics = _field(record, "metrics", topic, source)
        for one in as_objects(metrics, f"metrics of topic {topic!r}", source, expected):
            measure = id_held_by(one, "metric", f"topic {topic!r}", source, expected)
            rows.append((run, measure, topic, one.get("value")))
    if not rows:
        raise FormatError(f"no metrics; {expected}", path=source)
    columns = [list(column) for column in zip(*rows, strict=True)]
    header = ["run", "measure", "topic", "score"]
    return InputTable(source, header, columns, range(1, len(rows) + 1), "row")


def read_judgment(content: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the ratings in a judgment, which are whole numbers, written as such or as text."""
    path, expected = source.path, f"expected {JUDGMENT}"
    qrels: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(read_records(content, path, expected), start=1):
        listed = held_by(record, _RATINGS, f"record {number}", path, expected)
        for one in as_objects(listed, _RATINGS, path, expected):
            topic = id_held_by(one, "query", "an entry", path, expected)
            ratings = held_by(one, "ratings", f"query {topic!r}", path, expected)
            gains = qrels.setdefault(topic, {})
            for rating in as_objects(ratings, f"ratings of {topic!r}", path, expected):
                document = id_held_by(rating, "docId", f"query {topic!r}", path, expected)
                gain = held_by(rating, "rating", f"query {topic!r}", path, expected)
                if document in gains:
                    raise FormatError(
                        f"document {document!r} is rated twice in topic {topic!r}; expected once",
                        path=path,
                    )
                gains[document] = gain
    return qrels_from_object(qrels, path, intents)


def _holds(content: bytes, *keys: str) -> bool:
    """Whether records have some keys, be they the sources of hits."""
    names = top_keys(content)
    start = content[:_START]
    hits = "hits" in names and all(f'"{key}"'.encode() in start for key in keys)
    return set(keys) <= set(names) or hits


def _results(content: bytes, path: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield run and topic of each record, and the record."""
    expected = f"expected {EVALUATION_RESULT}"
    for number, record in enumerate(read_records(content, path, expected), start=1):
        run = id_held_by(record, _CONFIGURATION, f"record {number}", path, expected)
        topic = id_held_by(record, _TOPIC, f"record {number}", path, expected)
        yield run, topic, record


def _field(record: Mapping[str, Any], key: str, topic: str, path: str) -> Any:
    return held_by(record, key, f"topic {topic!r}", path, f"expected {EVALUATION_RESULT}")
