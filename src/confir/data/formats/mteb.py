"""Predictions and results of MTEB.

Predictions, ``{Task}_predictions.json``, hold runs: subset → split → topic → docid → score beside
``mteb_model_meta``. Results hold means only, a list of scores per split.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from confir.data.files import read_bytes, text_bytes
from confir.data.formats.entries import RUN
from confir.data.formats.json_files import load_json, load_object, parse_json, run_from_mapping
from confir.data.formats.json_shapes import (
    as_id,
    as_object,
    as_objects,
    choose_part,
    has_keys,
    held_by,
    id_held_by,
)
from confir.data.formats.run_sources import NameBy, RunSource, name_from_path
from confir.data.run import Run
from confir.data.tables.input_table import InputTable
from confir.errors import FormatError, warn_caller

PREDICTIONS = '{"mteb_model_meta": …, subset: {split: {topic: {docid: score}}}}'
RESULTS = "means of datasets, without scores per topic"

_META = "mteb_model_meta"
# The score of a task that its authors chose; results do not say which measure it is.
MAIN_SCORE = "main_score"
MODEL_FILE = "model_meta.json"
_EXPECTED = "expected results of MTEB, scores: {split: [{hf_subset, main_score, …}]}"

is_mteb_predictions = has_keys(_META)
is_mteb_results = has_keys("mteb_version", "task_name", "scores")


def read_mteb_predictions(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the run in predictions of MTEB, of the subset and the split that are wanted."""
    expected = f"expected {PREDICTIONS}"
    held = dict(load_object(content, source.path, RUN))
    del held[_META]
    path, reading = source.path, source.reading
    subset = choose_part(held, reading.subset, "subset", path, "subset")
    splits = as_object(subset, "a subset", path, expected)
    split = choose_part(splits, reading.split, "split", path, "split")
    return [run_from_mapping(as_object(split, "a split", path, expected), source)]


def read_mteb_results(content: bytes, source: str) -> InputTable:
    """Return a table of the main scores of datasets, which stand for topics, with a warning."""
    # MTEB writes NaN where a score is not defined, such as for the area under a curve of one point
    text = text_bytes(content, source).decode()
    parsed = parse_json(text, source, expected=_EXPECTED, parse_constant=lambda _: None)
    held = as_object(parsed, "the file", source, _EXPECTED)
    rows = _dataset_scores(held, source)
    _warn_of_means(source)
    datasets, values = (list(column) for column in zip(*rows, strict=True))
    columns = [[_model(source)] * len(rows), [MAIN_SCORE] * len(rows), datasets, values]
    header = ["run", "measure", "topic", "score"]
    return InputTable(source, header, columns, range(1, len(rows) + 1), "row")


def is_mteb_object(source: Any) -> bool:
    """Whether an object is what ``mteb.evaluate`` returns, or one of its results."""
    module = type(source).__module__.partition(".")[0]
    return module == "mteb" and (hasattr(source, "task_results") or hasattr(source, "task_name"))


def mteb_object_rows(source: Any, run: str | None, name: str) -> list[tuple[str, str, str, Any]]:
    """Return run, measure, dataset and score of an object of MTEB; the run is the model.

    ``name`` is the parameter's in messages.
    """
    model = run or str(getattr(source, "model_name", "run"))
    results = getattr(source, "task_results", [source])
    rows = [row for result in results for row in _dataset_scores(result.to_dict(), name)]
    if not rows:
        raise FormatError("no results of MTEB; expected those of a task or more", path=name)
    _warn_of_means(name)
    return [(model, MAIN_SCORE, dataset, score) for dataset, score in rows]


def _warn_of_means(source: str) -> None:
    warn_caller(f"{source}: results of MTEB are means; their datasets stand for topics")


def _dataset_scores(held: Mapping[str, Any], source: str) -> list[tuple[str, Any]]:
    """Return the main score of each dataset in the results of one task."""
    scores = as_object(held["scores"], "scores", source, _EXPECTED)
    task = as_id(held["task_name"], "'task_name'", source)
    if not scores:
        raise FormatError(f"no splits; {_EXPECTED}", path=source)
    rows: list[tuple[str, Any]] = []
    for split, entries in scores.items():
        for entry in as_objects(entries, f"split {split!r}", source, _EXPECTED):
            what = f"an entry of split {split!r}"
            subset = id_held_by(entry, "hf_subset", what, source, _EXPECTED)
            score = held_by(entry, MAIN_SCORE, what, source, _EXPECTED)
            rows.append((_dataset(task, subset, split, len(scores) > 1), score))
    if not rows:
        raise FormatError(f"no scores; {_EXPECTED}", path=source)
    return rows


def _dataset(task: str, subset: str, split: str, several: bool) -> str:
    """Return what a dataset is called: its task, its subset unless default, one of several splits."""
    parts = [task] if subset == "default" else [task, subset]
    return "/".join([*parts, split] if several else parts)


def _model(source: str) -> str:
    """Return the model's name, which MTEB writes beside its results; else that of the file."""
    beside = os.path.join(os.path.dirname(source), MODEL_FILE)
    if not os.path.isfile(beside):
        return name_from_path(source)
    held = load_json(read_bytes(beside), beside, "expected the model's name")
    name = held.get("name") if isinstance(held, dict) else None
    return name if isinstance(name, str) and name else name_from_path(source)
