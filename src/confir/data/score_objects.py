"""Scores from paths and objects: tables in files and frames, dicts, arrays by run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from confir.arguments import as_path, as_reals, invalid, is_from
from confir.data.formats.labelled_arrays import is_labelled_array, labelled_columns
from confir.data.formats.mteb import is_mteb_object, mteb_object_rows
from confir.data.score_files import SCORES, read_scores, scores_from_table
from confir.data.scores import Scores
from confir.data.tables.column_names import CORE_NAMES
from confir.data.tables.measure_names import (
    confir_name,
    find_measures,
    is_text_measure,
    topics_come_first,
)
from confir.data.tables.table_reader import column_table, has_columns
from confir.errors import FormatError, InvalidValueError, type_name

_ACCEPTED = (
    "Scores, a path to a table of scores or several, a frame with the columns of one, results of "
    "ir_measures, pytrec_eval, ranx or MTEB, an array of xarray, or a mapping run → topic → score, run → measure → topic → "
    "score, or run → array, or the columns of a table"
)

# What `as_scores` takes.
ScoresSource: TypeAlias = Any

# The measure of scores whose measure has no name, and the run of results that name none.
_UNNAMED = "score"
_UNNAMED_RUN = "run"
_METRIC_FIELDS = ("query_id", "measure", "value")

Row = tuple[Any, Any, Any, Any]


def make_scores(source: Any, name: str) -> Scores:
    """Return the scores that an object or a file holds; ``name`` is the parameter's in messages."""
    scores = source if isinstance(source, Scores) else _from_source(source, name)
    return scores.filled(name)


def is_score_source(source: Any) -> bool:
    """Whether an object holds scores that `as_scores` can make of it, rather than a plain array."""
    if isinstance(source, list | tuple) and source:
        return all(map(_is_table, source)) or _is_listed_result(source[0])
    return (
        isinstance(source, Mapping | Iterator)
        or _is_table(source)
        or _is_evaluated(source)
        or is_mteb_object(source)
        or is_labelled_array(source)
    )


def _from_source(source: Any, name: str) -> Scores:
    if isinstance(source, Iterator):
        source = list(source)
    if is_labelled_array(source):
        return scores_from_table(column_table(labelled_columns(source, name), name, SCORES))
    if isinstance(source, Mapping):
        return _from_mapping(source, name)
    if _is_evaluated(source) or is_mteb_object(source):
        source = [source]
    if isinstance(source, list | tuple) and source and _is_listed_result(source[0]):
        return _from_rows(_listed_rows(source, name), name)
    if is_score_source(source):
        return read_scores(as_path(name, source) if _is_path(source) else source)
    raise invalid(name, source, _ACCEPTED)


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def _is_table(source: Any) -> bool:
    return _is_path(source) or has_columns(source)


def _is_evaluated(source: Any) -> bool:
    """Whether an object is a run of ranx, which keeps its scores."""
    return is_from("ranx", source) and hasattr(source, "run") and hasattr(source, "scores")


def _is_metric(entry: Any) -> bool:
    """Whether an object is a score as ir_measures returns them."""
    return isinstance(entry, tuple) and set(_METRIC_FIELDS) <= set(getattr(entry, "_fields", ()))


def _is_listed_result(entry: Any) -> bool:
    return _is_metric(entry) or _is_evaluated(entry) or is_mteb_object(entry)


def _from_mapping(mapping: Mapping[Any, Any], name: str) -> Scores:
    columns = set(mapping) == set(CORE_NAMES)
    if columns and not any(isinstance(x, Mapping) for x in mapping.values()):
        return scores_from_table(column_table(mapping, name, SCORES))
    if _is_by_topic(mapping):
        mapping = {_UNNAMED_RUN: mapping}
    rows = list(_rows(mapping, name))
    scored = {run for run, *_ in rows}
    # a run without scores is still a run
    rows += [(run, *rows[0][1:3], None) for run in mapping if rows and run not in scored]
    return _from_rows(iter(rows), name)


def _from_rows(rows: Iterator[Row], name: str) -> Scores:
    """Return the scores in rows of run, measure, topic and score."""
    columns = dict(zip(CORE_NAMES, zip(*rows, strict=True), strict=False))
    if not columns:
        raise FormatError("no scores; expected one per run and topic", path=name)
    return scores_from_table(column_table(columns, name, SCORES))


def _is_by_topic(mapping: Mapping[Any, Any]) -> bool:
    """Whether a mapping is one run's topic → measure → score, as pytrec_eval returns it."""
    parts = list(mapping.values())
    return (
        bool(parts)
        and all(isinstance(part, Mapping) for part in parts)
        and not any(isinstance(score, Mapping) for part in parts for score in part.values())
        and bool(find_measures({measure: None for part in parts for measure in part}))
        and not find_measures(mapping)
    )


def _is_nested(held: Any) -> bool:
    """Whether a run is measure → topic → score, or topic → measure → score."""
    return (
        isinstance(held, Mapping)
        and bool(held)
        and all(isinstance(part, Mapping) for part in held.values())
    )


def _rows(mapping: Mapping[Any, Any], name: str) -> Iterator[Row]:
    """Yield run, measure, topic and score of each score that a mapping of runs holds."""
    sizes: set[tuple[int, ...]] = set()
    nested = list(filter(_is_nested, mapping.values()))
    by_topic = bool(nested) and topics_come_first(nested, name)
    for run, source in mapping.items():
        held = list(source) if isinstance(source, Iterator) else source
        listed = isinstance(held, list | tuple) and any(map(_is_listed_result, held))
        if listed or _is_evaluated(held) or is_mteb_object(held):
            yield from _listed_rows(held if listed else [held], name, run)
        elif not isinstance(held, Mapping):
            yield from _numbered_rows(run, held, name, sizes)
        elif _is_nested(held) and by_topic:
            for topic, scores in held.items():
                numbers = {m: score for m, score in scores.items() if not is_text_measure(m)}
                yield from ((run, confir_name(m), topic, score) for m, score in numbers.items())
        else:
            for measure, topics in held.items() if _is_nested(held) else [(_UNNAMED, held)]:
                yield from ((run, measure, topic, score) for topic, score in topics.items())


def _numbered_rows(run: Any, held: Any, name: str, sizes: set[tuple[int, ...]]) -> Iterator[Row]:
    """Yield the scores in an array, whose topics are numbered; all arrays have one size."""
    values = as_reals(f"run {run!r} of {name}", held)
    sizes.add(values.shape)
    if values.ndim != 1 or len(sizes) > 1:
        raise InvalidValueError(
            f"{name} map runs to arrays of the shapes {sorted(sizes)}; expected one score "
            "per topic, of the same topics for every run"
        )
    width = len(str(len(values)))
    for number, score in enumerate(values.tolist(), start=1):
        yield run, _UNNAMED, f"{number:0{width}}", score


def _listed_rows(entries: Sequence[Any], name: str, run: Any = None) -> Iterator[Row]:
    """Yield the scores in a list: those of ir_measures, one each, or of runs of ranx, some each."""
    for number, entry in enumerate(entries, start=1):
        if _is_metric(entry):
            yield run or _UNNAMED_RUN, str(entry.measure), entry.query_id, entry.value
        elif is_mteb_object(entry):
            yield from mteb_object_rows(entry, run, name)
        elif not _is_evaluated(entry):
            raise FormatError(
                f"entry {number} is {type_name(entry)}; expected scores of ir_measures, runs of "
                "ranx, or results of MTEB",
                path=name,
            )
        elif not entry.scores:
            raise FormatError(
                f"run {entry.name!r} of ranx has no scores; expected one after ranx.evaluate, which "
                "keeps them there",
                path=name,
            )
        else:
            called = run or entry.name or (_UNNAMED_RUN if len(entries) == 1 else f"run{number}")
            for measure, scores in entry.scores.items():
                yield from ((called, str(measure), t, s) for t, s in scores.items())
