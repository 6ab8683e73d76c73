"""Samples of lm-eval, ``samples_{task}_{date}.jsonl``: a line of JSON per document.

Each line has a ``doc_id``, the ``filter`` of the answers, and the value of every metric; newer
versions name the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confir.data.files import name_from_path
from confir.data.formats.format import Format
from confir.data.formats.json_files import JsonFile, as_id
from confir.data.tables.input_table import InputTable, score_table

_SAMPLE_LINES = '{"doc_id": topic, "filter": …, "metrics": ["acc"], "acc": score, …}'
_NO_METRICS = {"doc_id", "doc_hash", "prompt_hash", "target_hash", "target"}


def _read_samples(content: bytes, source: str) -> InputTable:
    """Return the metrics of each sample; of several filters, each makes a measure of its own."""
    file, run = JsonFile(source, f"expected lines of {_SAMPLE_LINES}"), name_from_path(source)
    records = {f"record {i}": one for i, one in enumerate(file.records(content), start=1)}
    filters = {what: _filter(record, what, source) for what, record in records.items()}
    several = len(set(filters.values())) > 1
    rows: list[tuple[Any, ...]] = []
    for what, record in records.items():
        topic = file.id(record, "doc_id", what)
        for metric in _metrics(record, what, source):
            measure = f"{metric},{filters[what]}" if several else metric
            rows.append((run, measure, topic, file.field(record, metric, what)))
    if not rows:
        raise file.error("no metrics")
    return score_table(rows, source)


def _filter(record: Mapping[str, Any], what: str, source: str) -> str | None:
    """Return the name of the filter of a record's answers, None where it has none."""
    name = record.get("filter")
    return None if name is None else as_id(name, f"'filter' of {what}", source)


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


LM_EVAL_SAMPLES = Format(
    "lm-eval samples",
    _SAMPLE_LINES,
    keys=[("doc_id", "resps"), ("doc_id", "filtered_resps")],
    read_scores=_read_samples,
)
