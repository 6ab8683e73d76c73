"""Samples of lm-eval, ``samples_{task}_{date}.jsonl``: a line of JSON per document.

Each line has a ``doc_id``, the ``filter`` of the answers, and the value of every metric; newer
versions name the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confir.data.formats.json_shapes import as_id, held_by, id_held_by, read_records, top_keys
from confir.data.formats.run_sources import name_from_path
from confir.data.tables.input_table import InputTable
from confir.errors import FormatError

SAMPLE_LINES = '{"doc_id": topic, "filter": …, "metrics": ["acc"], "acc": score, …}'

_ANSWERS = {"resps", "filtered_resps"}
_NO_METRICS = {"doc_id", "doc_hash", "prompt_hash", "target_hash", "target"}


def is_samples(_: str, content: bytes) -> bool:
    """Whether a file holds samples of lm-eval."""
    keys = set(top_keys(content))
    return "doc_id" in keys and bool(keys & _ANSWERS)


def read_samples(content: bytes, source: str) -> InputTable:
    """Return the metrics of each sample; of several filters, each makes a measure of its own."""
    expected = f"expected lines of {SAMPLE_LINES}"
    records = read_records(content, source, expected)
    filters = [_filter(record, number, source) for number, record in enumerate(records, start=1)]
    several = len(set(filters)) > 1
    rows: list[tuple[str, str, Any]] = []
    for number, (record, answers) in enumerate(zip(records, filters, strict=True), start=1):
        what = f"record {number}"
        topic = id_held_by(record, "doc_id", what, source, expected)
        for metric in _metrics(record, what, source):
            measure = f"{metric},{answers}" if several else metric
            rows.append((measure, topic, held_by(record, metric, what, source, expected)))
    if not rows:
        raise FormatError(f"no metrics; {expected}", path=source)
    columns = [list(column) for column in zip(*rows, strict=True)]
    runs = [name_from_path(source)] * len(rows)
    header = ["run", "measure", "topic", "score"]
    return InputTable(source, header, [runs, *columns], range(1, len(rows) + 1), "row")


def _filter(record: Mapping[str, Any], number: int, source: str) -> str | None:
    """Return the name of the filter of a record's answers, None where it has none."""
    name = record.get("filter")
    return None if name is None else as_id(name, f"'filter' of record {number}", source)


def _metrics(record: Mapping[str, Any], what: str, source: str) -> list[str]:
    """Return the metrics that a record names, or else all of its numbers but ids and hashes."""
    named = record.get("metrics")
    if isinstance(named, list):
        return [as_id(name, f"an entry of 'metrics' of {what}", source) for name in named]
    return [
        name
        for name, value in record.items()
        if name not in _NO_METRICS and isinstance(value, int | float)
    ]
