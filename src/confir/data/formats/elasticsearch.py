"""Answers of Elasticsearch: ``_rank_eval``, and the search responses of topics.

An answer of ``_rank_eval`` has a score per topic, the documents that were found, and the ratings of
those that have one: scores, a run, and judgements of retrieved documents alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confir.data.files import name_from_path
from confir.data.formats.entries import qrels_from_object
from confir.data.formats.format import Format, NameBy, RunSource
from confir.data.formats.json_files import JsonFile
from confir.data.formats.json_runs import run_from_mapping
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.input_table import InputTable, score_table
from confir.errors import enumerate_names, warn_caller

_RANK_EVAL = '{"metric_score": …, "details": {topic: {"metric_score": …, "hits": [{"hit": …}]}}}'
_RESPONSES = '{topic: {"took": …, "hits": {"hits": [{"_id": docid, "_score": …}]}}}'


def _read_rank_eval_run(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the run in an answer of ``_rank_eval``: the documents that were found."""
    file = _rank_eval(source.path)
    lists = {
        topic: _scored([one["hit"] for one in hits], topic, file)
        for topic, hits in _hits(content, file).items()
    }
    return [run_from_mapping(lists, source)]


def _read_rank_eval_qrels(content: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the ratings in an answer of ``_rank_eval``, with a warning that they are partial."""
    file = _rank_eval(source.path)
    rated = {topic: _ratings(hits, topic, file) for topic, hits in _hits(content, file).items()}
    warn_caller(
        f"{source.path}: an answer of _rank_eval has the ratings of retrieved documents alone; "
        "recall and what is normalised by it are too high"
    )
    return qrels_from_object({t: held for t, held in rated.items() if held}, source.path, intents)


def _read_rank_eval_scores(content: bytes, source: str) -> InputTable:
    """Return the score of each topic in an answer of ``_rank_eval``."""
    file, run = _rank_eval(source), name_from_path(source)
    rows = []
    for topic, detail in _details(content, file).items():
        kinds = detail.get("metric_details")
        measure = next(iter(kinds)) if isinstance(kinds, dict) and kinds else "metric_score"
        rows.append((run, measure, topic, file.field(detail, "metric_score", f"topic {topic!r}")))
    return score_table(rows, source)


def _read_search_responses(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the run in search responses by topic."""
    file = JsonFile(source.path, f"expected {_RESPONSES}")
    held = file.load_object(content)
    hits = held.get("hits")
    if isinstance(hits, dict) and isinstance(hits.get("hits"), list):
        raise file.error("one search response, without its topic")
    lists = {}
    for topic, response in held.items():
        what = f"hits of topic {topic!r}"
        inside = file.object(file.object(response, f"topic {topic!r}").get("hits"), what)
        lists[topic] = _scored(file.objects(inside.get("hits"), what), topic, file)
    return [run_from_mapping(lists, source)]


def _rank_eval(path: str) -> JsonFile:
    return JsonFile(path, f"expected {_RANK_EVAL}")


def _details(content: bytes, file: JsonFile) -> dict[str, Mapping[str, Any]]:
    """Return what an answer says of each topic; a warning names those that failed."""
    held = file.load_object(content)
    details = file.object(held["details"], "details")
    if not details:
        raise file.error("no topics")
    failures = held.get("failures")
    if isinstance(failures, dict) and failures:
        warn_caller(f"{file.path}: the search failed for topics {enumerate_names(failures)}")
    return {topic: file.object(one, f"topic {topic!r}") for topic, one in details.items()}


def _hits(content: bytes, file: JsonFile) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Return the hits of each topic, which each hold a ``hit``."""
    found: dict[str, Sequence[Mapping[str, Any]]] = {}
    for topic, detail in _details(content, file).items():
        listed = file.field(detail, "hits", f"topic {topic!r}")
        found[topic] = file.objects(listed, f"hits of topic {topic!r}")
        for one in found[topic]:
            file.object(one.get("hit"), f"a hit of topic {topic!r}")
    return found


def _ratings(hits: Sequence[Mapping[str, Any]], topic: str, file: JsonFile) -> dict[str, Any]:
    """Return the ratings of a topic's documents that have one."""
    rated = [(one["hit"], one["rating"]) for one in hits if one.get("rating") is not None]
    return _by_document(rated, topic, file)


def _scored(hits: Sequence[Mapping[str, Any]], topic: str, file: JsonFile) -> dict[str, Any]:
    """Return the score of each document; by rank where a search sorted by something else."""
    scores = [hit.get("_score") for hit in hits]
    if any(score is None for score in scores):
        scores = [len(hits) - rank for rank in range(len(hits))]
    return _by_document(zip(hits, scores, strict=True), topic, file)


def _by_document(
    hits: Iterable[tuple[Mapping[str, Any], Any]], topic: str, file: JsonFile
) -> dict[str, Any]:
    """Return what goes with each hit by its document, of which each occurs once."""
    found: dict[str, Any] = {}
    for hit, value in hits:
        document = file.id(hit, "_id", f"a hit of topic {topic!r}")
        problem = f"document {document!r} occurs twice in topic {topic!r}; expected it once"
        file.enter(found, document, value, problem)
    return found


RANK_EVAL = Format(
    "Elasticsearch _rank_eval",
    _RANK_EVAL,
    keys=[("metric_score", "details")],
    read_runs=_read_rank_eval_run,
    read_qrels=_read_rank_eval_qrels,
    read_scores=_read_rank_eval_scores,
)
# Responses by topic, or one without its topic; what they have beside hits, a filter may take away.
SEARCH_RESPONSES = Format(
    "Elasticsearch search responses",
    _RESPONSES,
    keys=[("hits.hits.[]",), ("*.hits.hits.[]",), ("*.took", "*.hits", "*._shards")],
    read_runs=_read_search_responses,
)
