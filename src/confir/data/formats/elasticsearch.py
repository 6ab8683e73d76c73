"""Answers of Elasticsearch: ``_rank_eval``, and the search responses of topics.

An answer of ``_rank_eval`` has a score per topic, the documents that were found, and the ratings of
those that have one: scores, a run, and judgements of retrieved documents alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from confir.data.formats.entries import qrels_from_object
from confir.data.formats.json_files import load_json, run_from_mapping
from confir.data.formats.json_shapes import (
    LISTED,
    as_object,
    as_objects,
    has_keys,
    held_by,
    id_held_by,
    key_paths,
)
from confir.data.formats.run_sources import NameBy, RunSource, name_from_path
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.input_table import InputTable
from confir.errors import FormatError, enumerate_names, warn_caller

RANK_EVAL = '{"metric_score": …, "details": {topic: {"metric_score": …, "hits": [{"hit": …}]}}}'
SEARCH_RESPONSES = '{topic: {"took": …, "hits": {"hits": [{"_id": docid, "_score": …}]}}}'

# What a response has under "hits"; and what it has beside them, unless a filter took it away.
_HITS = ("hits", "hits", LISTED)
_RESPONSE_KEYS = {"took", "hits", "_shards"}

is_rank_eval = has_keys("metric_score", "details")


def is_search_responses(_: str, content: bytes) -> bool:
    """Whether a file maps topics to responses, or is a response itself, which lacks its topic."""
    paths = key_paths(content)
    inside = {path[1] for path in paths if len(path) == 2}
    return _HITS in paths or any(path[1:] == _HITS for path in paths) or inside >= _RESPONSE_KEYS


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
        topic: _ratings(hits, topic, source.path)
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
    if _is_response(held):
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


def _is_response(held: Mapping[str, Any]) -> bool:
    hits = held.get("hits")
    return isinstance(hits, dict) and isinstance(hits.get("hits"), list)


def _ratings(hits: Sequence[Mapping[str, Any]], topic: str, path: str) -> dict[str, Any]:
    """Return the ratings of a topic's documents that have one."""
    rated = [one for one in hits if one.get("rating") is not None]
    documents = _documents([one["hit"] for one in rated], topic, path, f"expected {RANK_EVAL}")
    return dict(zip(documents, (one["rating"] for one in rated), strict=True))


def _documents(
    hits: Sequence[Mapping[str, Any]], topic: str, path: str, expected: str
) -> list[str]:
    """Return the ids of a topic's documents, each of which occurs once."""
    what = f"a hit of topic {topic!r}"
    documents = [id_held_by(hit, "_id", what, path, expected) for hit in hits]
    twice = [name for name, count in Counter(documents).items() if count > 1]
    if twice:
        raise FormatError(
            f"document {twice[0]!r} occurs twice in topic {topic!r}; expected it once",
            path=path,
        )
    return documents


def _scored(
    hits: Sequence[Mapping[str, Any]], topic: str, path: str, expected: str
) -> dict[str, Any]:
    """Return the score of each document; by rank where a search sorted by something else."""
    documents = _documents(hits, topic, path, expected)
    scores = [hit.get("_score") for hit in hits]
    if any(score is None for score in scores):
        scores = [len(hits) - rank for rank in range(len(hits))]
    return dict(zip(documents, scores, strict=True))
