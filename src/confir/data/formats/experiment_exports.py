"""Exports of experiments and test runs: DeepEval, LangSmith, Phoenix, Langfuse, TruLens, and tables in JSON.

Each is one run, named after its file, unless the file names it. An example of the dataset is a topic, an evaluator
a measure, a repetition a repeat. Evaluations that failed are missing.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from confir.data.files import name_from_path, text_bytes
from confir.data.formats.evaluation_samples import (
    ScoredAnswer,
    answer_format,
    as_score,
    as_topic,
    left_out,
    load_json,
    load_records,
    optional_id,
)
from confir.data.formats.format import Format
from confir.data.formats.json_files import JsonFile
from confir.data.tables.input_table import InputTable

Scores = dict[str, float | None]

_DEEPEVAL = (
    '{"testCases": [{"name": …, "input": topic, "metricsData": [{"name": measure, "score": …}]}]}'
)
_LANGSMITH = '[{"reference_example_id": topic, "feedback_stats": {measure: {"avg": …}}}]'
_LANGSMITH_UPLOAD = '{"experiment_name": run, "results": [{"row_id": topic, "evaluation_scores": [{"key": measure, "score": …}]}]}'
_LANGSMITH_TABLE = "columns example_id, feedback.MEASURE"
_PHOENIX = '[{"example_id": topic, "repetition_number": repeat, "annotations": [{"name": measure, "score": …}]}]'
_PHOENIX_TABLE = "columns example_id, repetition_number, annotation_MEASURE_score"
_LANGFUSE = '{"data": [{"traceId": topic, "name": measure, "value": …, "dataType": "NUMERIC"}]}'
_SPLIT = '{"columns": [name, …], "data": [[cell, …], …]}'
_TRULENS = "columns app_name, app_version, record_id, input, MEASURE and MEASURE_calls"

_FEEDBACK, _INPUTS = "feedback.", "inputs."
_ANNOTATION = re.compile(r"annotation_(.+)_score")
_CALLS = "_calls"


# DeepEval ----------------------------------------------------------------------------------------


def _read_deepeval(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return the metrics of test cases and conversations; also of versions with ``metricsMetadata``."""
    file = JsonFile(source, f"expected a test run of DeepEval: {_DEEPEVAL}")
    held = file.object(load_json(content, file), "the file")
    held = file.object(held.get("testRunData", held), "'testRunData'")
    cases = [
        *file.objects(_first(held, "testCases", "test_cases", "test_results") or [], "testCases"),
        *file.objects(held.get("conversationalTestCases") or [], "conversationalTestCases"),
    ]
    run = name_from_path(source).removeprefix(".")
    samples = []
    for number, case in enumerate(cases, start=1):
        what = f"test case {number}"
        asked = next((case[key] for key in ("input", "scenario", "name") if case.get(key)), None)
        scores: Scores = {}
        metrics = _first(case, "metricsData", "metrics_data", "metricsMetadata") or []
        for metric in file.objects(metrics, f"metrics of {what}"):
            key = "name" if "name" in metric else "metric"
            name = file.id(metric, key, f"a metric of {what}")
            score = as_score(metric.get("score"), f"the score of {what} by {name!r}", file)
            file.enter(scores, name, score, f"{what} has two scores by {name!r}; expected one")
        topic = as_topic(asked, f"'input' of {what}", file)
        metadata = file.object(case.get("metadata") or {}, f"metadata of {what}")
        samples.append(ScoredAnswer(run, topic, scores, metadata=metadata))
    return samples


def _first(record: Mapping[str, Any], *keys: str) -> Any:
    """Return what a record holds under the first of some keys that it has."""
    return next((record[key] for key in keys if key in record), None)


# LangSmith ---------------------------------------------------------------------------------------


def _read_langsmith(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return the feedback of runs, as the API lists them, alone or within their examples."""
    file = JsonFile(source, f"expected runs of LangSmith: {_LANGSMITH}")
    run, samples = name_from_path(source), []
    for number, record in enumerate(load_records(content, file), start=1):
        what = f"record {number}"
        inner = record.get("runs")
        runs = [record] if inner is None else file.objects(inner, f"runs of {what}")
        for one in runs:
            key = "reference_example_id" if inner is None else "id"
            topic = file.id(record, key, what)
            stats = file.object(one.get("feedback_stats") or {}, f"feedback_stats of {what}")
            failed = one.get("error") is not None
            scores = {
                name: None
                if failed
                else as_score(file.object(held, repr(name)).get("avg"), f"{name!r} of {what}", file)
                for name, held in stats.items()
            }
            samples.append(ScoredAnswer(run, topic, scores))
    return _with_repeats(samples)


def _read_langsmith_upload(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return the scores of an experiment in the shape in which LangSmith takes it."""
    file = JsonFile(source, f"expected an experiment of LangSmith: {_LANGSMITH_UPLOAD}")
    held = file.load_object(content)
    run, samples = file.id(held, "experiment_name", "the file"), []
    for number, row in enumerate(file.objects(held["results"], "results"), start=1):
        what = f"result {number}"
        topic = (
            file.id(row, "row_id", what)
            if row.get("row_id") is not None
            else as_topic(row.get("inputs"), f"inputs of {what}", file)
        )
        scores: Scores = {}
        for one in file.objects(row.get("evaluation_scores") or [], f"scores of {what}"):
            name = file.id(one, "key", f"a score of {what}")
            value = None if row.get("error") is not None else one.get("score")
            score = as_score(value, f"{name!r} of {what}", file)
            file.enter(scores, name, score, f"{what} has two scores by {name!r}; expected one")
        samples.append(ScoredAnswer(run, topic, scores))
    return _with_repeats(samples)


def _read_langsmith_table(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return the feedback in a table as ``ExperimentResults.to_pandas()`` gives it."""
    file = JsonFile(source, f"expected a table of LangSmith: {_LANGSMITH_TABLE}")
    run, samples, skipped = name_from_path(source), [], set()
    records = _rows(content, file)
    measures = [name for name in records[0] if name.startswith(_FEEDBACK)]
    for number, row in enumerate(records, start=1):
        scores: Scores = {}
        for column in measures:
            place = file._replace(line=number + 1)
            score = row[column] if not row.get("error") else ""
            if _is_text(score):
                skipped.add(column)
                continue
            scores[column.removeprefix(_FEEDBACK)] = as_score(_truth(score), repr(column), place)
        inputs = {name: cell for name, cell in row.items() if name.startswith(_INPUTS)}
        topic = file.id(row, "example_id", f"row {number}")
        samples.append(ScoredAnswer(run, topic, scores, metadata=inputs))
    left_out(skipped, source, "text, not numbers")
    skipped_names = {column.removeprefix(_FEEDBACK) for column in skipped}
    samples = [
        one._replace(scores={k: v for k, v in one.scores.items() if k not in skipped_names})
        for one in samples
    ]
    return _with_repeats(samples)


def _with_repeats(samples: Sequence[ScoredAnswer]) -> list[ScoredAnswer]:
    """Return samples of which those of one example, in order, are its repeats."""
    seen: dict[tuple[str, str], int] = {}
    numbered = []
    for one in samples:
        seen[one.run, one.topic] = seen.get((one.run, one.topic), 0) + 1
        numbered.append(one._replace(repeat=str(seen[one.run, one.topic])))
    return numbered


# Phoenix -----------------------------------------------------------------------------------------


def _read_phoenix(content: bytes, source: str) -> list[ScoredAnswer]:
    file = JsonFile(source, f"expected an experiment of Phoenix: {_PHOENIX}")
    run, samples, labels = name_from_path(source), [], set()
    for number, record in enumerate(load_records(content, file), start=1):
        what = f"record {number}"
        scores: Scores = {}
        for one in file.objects(
            file.field(record, "annotations", what) or [], f"annotations of {what}"
        ):
            name = file.id(one, "name", f"an annotation of {what}")
            if one.get("score") is None and one.get("label") is not None:
                labels.add(name)
                continue
            failed = record.get("error") or one.get("error")
            score = as_score(None if failed else one.get("score"), f"{name!r} of {what}", file)
            file.enter(scores, name, score, f"{what} has two scores by {name!r}; expected one")
        topic = file.id(record, "example_id", what)
        repeat = optional_id(record, "repetition_number", what, file) or "1"
        samples.append(ScoredAnswer(run, topic, scores, repeat))
    left_out(labels, source, "labels without a score")
    return samples


def _read_phoenix_table(content: bytes, source: str) -> list[ScoredAnswer]:
    file = JsonFile(source, f"expected an experiment of Phoenix: {_PHOENIX_TABLE}")
    run, samples = name_from_path(source), []
    records = _rows(content, file)
    measures = {
        column: match[1] for column in records[0] if (match := _ANNOTATION.fullmatch(column))
    }
    for number, row in enumerate(records, start=1):
        scores = {
            name: as_score("" if row.get("error") else row[column], repr(column), file)
            for column, name in measures.items()
        }
        topic = file.id(row, "example_id", f"row {number}")
        samples.append(ScoredAnswer(run, topic, scores, row.get("repetition_number") or "1"))
    return samples


# Langfuse ----------------------------------------------------------------------------------------


def _read_langfuse(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return the scores of traces; those of observations and sessions are of what they name."""
    file = JsonFile(source, f"expected scores of Langfuse: {_LANGFUSE}")
    held = load_json(content, file)
    records = held.get("data") if isinstance(held, dict) else held
    run, skipped = name_from_path(source), set()
    traces: dict[str, Scores] = {}
    for number, one in enumerate(file.objects(records, "data"), start=1):
        what = f"score {number}"
        name = file.id(one, "name", what)
        if one.get("dataType", "NUMERIC") not in ("NUMERIC", "BOOLEAN"):
            skipped.add(name)
            continue
        topic = file.id(one, "traceId", what)
        score = as_score(one.get("value"), f"the value of {what}", file)
        problem = (
            f"trace {topic!r} has two scores by {name!r}; expected one: export the scores of one source "
            "or annotator"
        )
        file.enter(traces.setdefault(topic, {}), name, score, problem)
    left_out(skipped, source, "categories and texts, not numbers")
    return [ScoredAnswer(run, t, scores) for t, scores in traces.items()]


# TruLens -----------------------------------------------------------------------------------------


def _read_trulens(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return the feedback of records, each app and version a run, as ``get_records_and_feedback()`` has it."""
    file = JsonFile(source, f"expected records of TruLens: {_TRULENS}")
    samples = []
    records = _rows(content, file)
    measures = [name for name in records[0] if f"{name}{_CALLS}" in records[0]]
    for number, row in enumerate(records, start=1):
        place = file._replace(line=number + 1)
        named = [row[key] for key in ("app_name", "app_version") if row.get(key)]
        run = " ".join(named) or row.get("app_id") or name_from_path(source)
        scores = {name: as_score(row[name], repr(name), place) for name in measures}
        samples.append(ScoredAnswer(run, as_topic(row["input"], f"row {number}", place), scores))
    return _with_repeats(samples)


# Tables ------------------------------------------------------------------------------------------


def _read_split(content: bytes, source: str) -> InputTable:
    """Return a table of Weights & Biases, MLflow or pandas (``orient="split"``): names, then rows of cells."""
    file = JsonFile(source, f"expected a table: {_SPLIT}")
    held = file.load_object(content)
    names, rows = held["columns"], held["data"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise file.error("'columns' is not a list of names")
    if not isinstance(rows, list) or not rows:
        raise file.error("'data' has no rows")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, list) or len(row) != len(names):
            raise file.error(f"row {number} of 'data' is not a list of {len(names)} cells")
    columns = [list(column) for column in zip(*rows, strict=True)]
    return InputTable(source, names, columns, range(1, len(rows) + 1), "row")


def _rows(content: bytes, file: JsonFile) -> Sequence[Mapping[str, str]]:
    """Return the rows of CSV by the names of their columns."""
    text = text_bytes(content, file.path).decode()
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise file.error(f"no CSV ({error})") from None
    for number, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise file._replace(line=number).error("a row of another length than the header")
    if not rows:
        raise file.error("no rows")
    return rows


def _is_text(cell: str) -> bool:
    try:
        as_score(_truth(cell), "", JsonFile("", ""))
    except ValueError:
        return True
    return False


def _truth(cell: str) -> Any:
    """Return true and false as such, as Python writes them to CSV."""
    return {"True": True, "False": False}.get(cell, cell)


DEEPEVAL = answer_format(
    "DeepEval test run",
    _DEEPEVAL,
    _read_deepeval,
    "test cases",
    keys=[
        ("testCases.[].input",),
        ("testCases.[].metricsData",),
        ("testCases", "metricsScores"),
        ("testRunData.testCases",),
        ("test_results.[].metrics_data",),
    ],
)
LANGSMITH = answer_format(
    "LangSmith runs",
    _LANGSMITH,
    _read_langsmith,
    "examples",
    keys=[("reference_example_id", "feedback_stats"), ("dataset_id", "runs.[].feedback_stats")],
)
LANGSMITH_UPLOAD = answer_format(
    "LangSmith experiment",
    _LANGSMITH_UPLOAD,
    _read_langsmith_upload,
    "examples",
    keys=[("experiment_name", "results.[].evaluation_scores")],
)
LANGSMITH_TABLE = answer_format(
    "LangSmith table",
    _LANGSMITH_TABLE,
    _read_langsmith_table,
    "examples",
    columns=[("example_id", "execution_time")],
)
PHOENIX = answer_format(
    "Phoenix experiment",
    _PHOENIX,
    _read_phoenix,
    "examples",
    keys=[
        ("example_id", "repetition_number", "input"),
        ("example_id", "trace_id", "annotations"),
    ],
)
PHOENIX_TABLE = answer_format(
    "Phoenix table",
    _PHOENIX_TABLE,
    _read_phoenix_table,
    "examples",
    columns=[("example_id", "latency_ms", "trace_id")],
)
LANGFUSE = answer_format(
    "Langfuse scores",
    _LANGFUSE,
    _read_langfuse,
    "traces",
    keys=[
        ("data.[].traceId", "data.[].dataType", "data.[].name"),
        ("traceId", "dataType", "name", "source", "value"),
    ],
)
TRULENS = answer_format(
    "TruLens records",
    _TRULENS,
    _read_trulens,
    "records",
    columns=[("record_id", "app_id", "input"), ("record_id", "app_name", "input")],
)
JSON_TABLE = Format(
    "table of columns and data", _SPLIT, keys=[("columns", "data.[]")], read_scores=_read_split
)
