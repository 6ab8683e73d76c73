"""How are answers of Elasticsearch read? ``_rank_eval``, and the search responses of topics.

An answer of ``_rank_eval`` has a score per topic, the documents that were found, and the ratings of
those that have one: scores, a run, and judgements of retrieved documents alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confir.data.formats.entries import qrels_from_object
from confir.data.formats.json_files import load_json, run_from_mapping
from confir.data.formats.json_shapes import as_object, as_objects, has_keys, held_by, top_keys
from confir.data.formats.run_sources import NameBy, RunSource, name_from_path
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.columns import InputTable
from confir.errors import FormatError, enumerate_names, warn_caller

RANK_EVAL = '{"metric_score": …, "details": {topic: {"metric_score": …, "hits": [{"hit": …}]}}}'
SEARCH_RESPONSES = '{topic: {"took": …, "hits": {"hits": [{"_id": docid, "_score": …}]}}}'

_RESPONSE_KEYS = (b'"took"', b'"hits"', b'"_shards"')
_START = 1 << 12

is_rank_eval = has_keys("metric_score", "details")


def is_search_responses(_: str, content: bytes) -> bool:
    """Whether a file maps topics to responses, or is a response itself, which lacks its topic."""
    start = content[:_START]
    return bool(top_keys(start)) and all(key in start for key in _RESPONSE_KEYS)


def read_rank_eval_run(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the run in an answer of ``_rank_eval``: the documents that were found."""
    path, expected = source.path, f"expected {RANK_EVAL}"
    lists = {
        topic: _scored([one["hit"] for one in hits], topic, path, expected)
        for topic, hits in _hits(content, path).items()
    }
    return [run_from_mapping(lists, source)]


def read_rank_eval_qrels(content: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the ratings in an answer of ``_rank_eval``, with a warning that they are partial."""
    rated = {
        topic: {_id(one["hit"], topic, source.path): one["rating"] for one in hits if _rated(one)}
        for topic, hits in _hits(content, source.path).items()
    }
    warn_caller(
        f"{source.path}: an answer of _rank_eval has the ratings of retrieved documents alone; "
        "recall and what is normalised by it are too high"
    )
    return qrels_from_object({t: held for t, held in rated.items() if held}, source.path, intents)


def read_rank_eval_scores(content: bytes, source: str) -> InputTable:
    """Return the score of each topic in an answer of ``_rank_eval``."""
    expected = f"expected {RANK_EVAL}"
    topics, measures, scores = [], [], []
    for topic, detail in _details(content, source).items():
        kinds = detail.get("metric_details")
        topics.append(topic)
        measures.append(next(iter(kinds)) if isinstance(kinds, dict) and kinds else "metric_score")
        scores.append(held_by(detail, "metric_score", f"topic {topic!r}", source, expected))
    runs = [name_from_path(source)] * len(topics)
    header = ["run", "measure", "topic", "score"]
    rows = range(1, len(topics) + 1)
    return InputTable(source, header, [runs, measures, topics, scores], rows, "row")


def read_search_responses(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the run in search responses by topic."""
    path, expected = source.path, f"expected {SEARCH_RESPONSES}"
    held = as_object(load_json(content, path, expected), "the file", path, expected)
    if "took" in held and "_shards" in held:
        raise FormatError(f"one search response, without its topic; {expected}", path=path)
    lists = {}
    for topic, response in held.items():
        outer = as_object(response, f"topic {topic!r}", path, expected)
        hits = as_object(outer.get("hits"), f"hits of topic {topic!r}", path, expected)
        listed = as_objects(hits.get("hits"), f"hits of topic {topic!r}", path, expected)
        lists[topic] = _scored(listed, topic, path, expected)
    return [run_from_mapping(lists, source)]


def _details(content: bytes, path: str) -> dict[str, Mapping[str, Any]]:
    """Return what an answer says of each topic; a warning names those that failed."""
    expected = f"expected {RANK_EVAL}"
    held = as_object(load_json(content, path, expected), "the file", path, expected)
    details = as_object(held["details"], "details", path, expected)
    if not details:
        raise FormatError(f"no topics; {expected}", path=path)
    failures = held.get("failures")
    if isinstance(failures, dict) and failures:
        warn_caller(f"{path}: the search failed for topics {enumerate_names(failures)}")
    return {
        topic: as_object(detail, f"topic {topic!r}", path, expected)
        for topic, detail in details.items()
    }


def _hits(content: bytes, path: str) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return the hits of each topic, which each hold a ``hit``."""
    expected = f"expected {RANK_EVAL}"
    found: dict[str, Sequence[Mapping[str, Any]]] = {}
    for topic, detail in _details(content, path).items():
        listed = held_by(detail, "hits", f"topic {topic!r}", path, expected)
        found[topic] = as_objects(listed, f"hits of topic {topic!r}", path, expected)
        for one in found[topic]:
            as_object(one.get("hit"), f"a hit of topic {topic!r}", path, expected)
    return found


def _rated(entry: Mapping[str, Any]) -> bool:
    return entry.get("rating") is not None


def _id(hit: Mapping[str, Any], topic: str, path: str) -> str:
    return str(held_by(hit, "_id", f"a hit of topic {topic!r}", path, f"expected {RANK_EVAL}"))


def _scored(
    hits: Sequence[Mapping[str, Any]], topic: str, path: str, expected: str
) -> dict[str, Any]:
    """Return the score of each document; by rank where a search sorted by something else."""
    documents = [held_by(hit, "_id", f"a hit of topic {topic!r}", path, expected) for hit in hits]
    if len(set(documents)) < len(documents):
        raise FormatError(
            f"a document occurs twice in topic {topic!r}; expected it once", path=path
        )
    scores = [hit.get("_score") for hit in hits]
    if any(score is None for score in scores):
        scores = [len(hits) - rank for rank in range(len(hits))]
    return dict(zip(documents, scores, strict=True))
