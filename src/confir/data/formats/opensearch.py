"""Records of OpenSearch's search relevance workbench.

``evaluation_result`` holds the documents and the metrics of a search configuration on a query, and
``judgment`` the ratings of queries: one record, a list, a line each, or hits of a search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from confir.data.formats.entries import qrels_from_object
from confir.data.formats.format import Format, NameBy, RunSource
from confir.data.formats.json_files import JsonFile, as_id
from confir.data.formats.json_runs import run_from_mapping
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run
from confir.data.tables.input_table import InputTable, score_table
from confir.errors import FormatError

_EVALUATION_RESULT = (
    '{"searchConfigurationId": run, "searchText": topic, "documentIds": […], '
    '"metrics": [{"metric": …, "value": …}]}'
)
_JUDGMENT = '{"judgmentRatings": [{"query": topic, "ratings": [{"docId": …, "rating": …}]}]}'

_CONFIGURATION, _TOPIC, _DOCUMENTS = "searchConfigurationId", "searchText", "documentIds"
_RATINGS = "judgmentRatings"
# Where a hit of a search holds a record.
_SOURCE = "hits.hits.[]._source"


def _read_evaluation_runs(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return a run per search configuration; documents are ranked as they are listed."""
    file = _evaluation(source.path)
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for run, topic, record in _results(content, file):
        listed = file.field(record, _DOCUMENTS, f"topic {topic!r}")
        what = f"an entry of {_DOCUMENTS} of topic {topic!r}"
        named = isinstance(listed, list)
        documents = [as_id(one, what, source.path) for one in listed] if named else []
        if not named or len(set(documents)) < len(documents):
            what = f"{_DOCUMENTS} of topic {topic!r}"
            problem = f"{what} is not a list of different documents; expected one"
            raise FormatError(problem, path=source.path)
        ranked = {document: float(-rank) for rank, document in enumerate(documents, 1)}
        problem = f"topic {topic!r} occurs twice in run {run!r}; expected it once"
        file.enter(runs.setdefault(run, {}), topic, ranked, problem)
    single = source.name is not None and len(runs) == 1
    return [
        run_from_mapping(lists, source if single else source._replace(name=run))
        for run, lists in runs.items()
    ]


def _read_evaluation_scores(content: bytes, source: str) -> InputTable:
    """Return the metrics of each search configuration on each topic."""
    file = _evaluation(source)
    rows: list[tuple[Any, ...]] = []
    for run, topic, record in _results(content, file):
        what = f"topic {topic!r}"
        metrics = file.objects(file.field(record, "metrics", what), f"metrics of {what}")
        rows += [(run, file.id(one, "metric", what), topic, one.get("value")) for one in metrics]
    if not rows:
        raise file.error("no metrics")
    return score_table(rows, source)


def _evaluation(path: str) -> JsonFile:
    return JsonFile(path, f"expected {_EVALUATION_RESULT}")


def _results(content: bytes, file: JsonFile) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield run and topic of each record, and the record."""
    for number, record in enumerate(file.records(content), start=1):
        what = f"record {number}"
        yield file.id(record, _CONFIGURATION, what), file.id(record, _TOPIC, what), record


def _read_judgment(content: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the ratings in a judgment, which are whole numbers, written as such or as text."""
    file = JsonFile(source.path, f"expected {_JUDGMENT}")
    qrels: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(file.records(content), start=1):
        for one in file.objects(file.field(record, _RATINGS, f"record {number}"), _RATINGS):
            topic = file.id(one, "query", "an entry")
            what, gains = f"query {topic!r}", qrels.setdefault(topic, {})
            for rating in file.objects(file.field(one, "ratings", what), f"ratings of {topic!r}"):
                document = file.id(rating, "docId", what)
                gain = file.field(rating, "rating", what)
                problem = f"document {document!r} is rated twice in topic {topic!r}; expected once"
                file.enter(gains, document, gain, problem)
    return qrels_from_object(qrels, source.path, intents)


EVALUATION_RESULTS = Format(
    "OpenSearch evaluation results",
    _EVALUATION_RESULT,
    keys=[(_CONFIGURATION, _TOPIC), (f"{_SOURCE}.{_CONFIGURATION}", f"{_SOURCE}.{_TOPIC}")],
    read_runs=_read_evaluation_runs,
    read_scores=_read_evaluation_scores,
)
JUDGMENTS = Format(
    "OpenSearch judgment",
    _JUDGMENT,
    keys=[(_RATINGS,), (f"{_SOURCE}.{_RATINGS}",)],
    read_qrels=_read_judgment,
)
