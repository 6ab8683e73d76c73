"""Predictions and results of MTEB.

Predictions, ``{Task}_predictions.json``, hold runs: subset → split → topic → docid → score beside
``mteb_model_meta``. Results hold means only, a list of scores per split.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from confir.data.files import name_from_path, read_bytes, text_bytes
from confir.data.formats.entries import RUN
from confir.data.formats.format import Format, NameBy, RunSource
from confir.data.formats.json_files import JsonFile, as_id, choose_part
from confir.data.formats.json_runs import load_mapping, run_from_mapping
from confir.data.run import Run
from confir.data.tables.input_table import InputTable, score_table
from confir.data.tables.json_tables import parse_json
from confir.errors import FormatError, warn_caller

_PREDICTIONS = '{"mteb_model_meta": …, subset: {split: {topic: {docid: score}}}}'
_RESULTS = "means of datasets, without scores per topic"

_META = "mteb_model_meta"
# The score of a task that its authors chose; results do not say which measure it is.
MAIN_SCORE = "main_score"
MODEL_FILE = "model_meta.json"
_EXPECTED = "expected results of MTEB, scores: {split: [{hf_subset, main_score, …}]}"


def _read_predictions(content: bytes, source: RunSource, _: NameBy) -> list[Run]:
    """Return the run in predictions of MTEB, of the subset and the split that are wanted."""
    path, reading = source.path, source.reading
    file = JsonFile(path, f"expected {_PREDICTIONS}")
    held = dict(load_mapping(content, path, RUN))
    del held[_META]
    subset = choose_part(held, reading.subset, "subset", path, "subset")
    split = choose_part(file.object(subset, "a subset"), reading.split, "split", path, "split")
    return [run_from_mapping(file.object(split, "a split"), source)]


def _read_results(content: bytes, source: str) -> InputTable:
    """Return a table of the main scores of datasets, which stand for topics, with a warning."""
    # MTEB writes NaN where a score is not defined, such as for the area under a curve of one point
    text = text_bytes(content, source).decode()
    parsed = parse_json(text, source, expected=_EXPECTED, parse_constant=lambda _: None)
    held = JsonFile(source, _EXPECTED).object(parsed, "the file")
    rows, model = _dataset_scores(held, source), _model(source)
    _warn_of_means(source)
    return score_table([(model, MAIN_SCORE, *row) for row in rows], source)


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
    file = JsonFile(source, _EXPECTED)
    scores = file.object(held["scores"], "scores")
    task = as_id(held["task_name"], "'task_name'", source)
    if not scores:
        raise file.error("no splits")
    rows: list[tuple[str, Any]] = []
    for split, entries in scores.items():
        for entry in file.objects(entries, f"split {split!r}"):
            what = f"an entry of split {split!r}"
            subset = file.id(entry, "hf_subset", what)
            # a dataset is named by its task, its subset unless default, and one of several splits
            parts = [task, *([] if subset == "default" else [subset])]
            name = "/".join([*parts, split] if len(scores) > 1 else parts)
            rows.append((name, file.field(entry, MAIN_SCORE, what)))
    if not rows:
        raise file.error("no scores")
    return rows


def _model(source: str) -> str:
    """Return the model's name, which MTEB writes beside its results; else that of the file."""
    beside = os.path.join(os.path.dirname(source), MODEL_FILE)
    if not os.path.isfile(beside):
        return name_from_path(source)
    held = JsonFile(beside, "expected the model's name").load(read_bytes(beside))
    name = held.get("name") if isinstance(held, dict) else None
    return name if isinstance(name, str) and name else name_from_path(source)


MTEB_PREDICTIONS = Format(
    "MTEB predictions", _PREDICTIONS, keys=[(_META,)], read_runs=_read_predictions
)
MTEB_RESULTS = Format(
    "MTEB results",
    _RESULTS,
    keys=[("mteb_version", "task_name", "scores")],
    read_scores=_read_results,
    beside=(MODEL_FILE,),
)
