"""Samples of lm-eval, ``samples_{task}_{date}.jsonl``: a line of JSON per document.

Each line has a ``doc_id``, the ``filter`` of the answers, and the value of every metric; newer
versions name the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confir.data.files import name_from_path
from confir.data.formats.evaluation_samples import (
    ScoredAnswer,
    answer_format,
    as_score,
    left_out,
)
from confir.data.formats.json_files import JsonFile, as_id

_SAMPLE_LINES = '{"doc_id": topic, "filter": …, "metrics": ["acc"], "acc": score, …}'
_NO_METRICS = {"doc_id", "doc_hash", "prompt_hash", "target_hash", "target"}


def _read_samples(content: bytes, source: str) -> list[ScoredAnswer]:
    """Return the metrics of each sample; of several filters, each makes a measure of its own.

    Metrics of a whole corpus, such as BLEU, have no score per sample, but the texts that it is computed of.
    """
    file, run = JsonFile(source, f"expected lines of {_SAMPLE_LINES}"), name_from_path(source)
    records = {f"record {i}": one for i, one in enumerate(file.records(content), start=1)}
    filters = {what: _filter(record, what, source) for what, record in records.items()}
    several = len(set(filters.values())) > 1
    skipped: set[str] = set()
    answers: dict[str, ScoredAnswer] = {}
    for what, record in records.items():
        topic = file.id(record, "doc_id", what)
        document = record.get("doc")
        metadata = document if isinstance(document, dict) else {}
        answer = answers.setdefault(topic, ScoredAnswer(run, topic, {}, metadata=metadata))
        for metric in _metrics(record, what, source):
            measure = f"{metric},{filters[what]}" if several else metric
            value = file.field(record, metric, what)
            if isinstance(value, list | dict):
                skipped.add(measure)
                continue
            score = as_score(value, f"{metric!r} of {what}", file)
            problem = f"{what}: a second score of run {run!r}, measure {measure!r}, topic {topic!r}"
            file.enter(answer.scores, measure, score, f"{problem}; expected one")
    left_out(skipped, source, "of the whole corpus, not of single samples")
    return list(answers.values())


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


LM_EVAL_SAMPLES = answer_format(
    "lm-eval samples",
    _SAMPLE_LINES,
    _read_samples,
    "samples",
    keys=[("doc_id", "resps"), ("doc_id", "filtered_resps")],
)
