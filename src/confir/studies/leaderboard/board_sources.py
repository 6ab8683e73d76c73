"""Where do the scores of many datasets come from? Folders, tables with a dataset column, means."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from confir.arguments import as_choice
from confir.arrays import Booleans
from confir.data.experiment import Experiment, ReadingOptions
from confir.data.sampling.design import Design
from confir.data.scores import Scores
from confir.data.tables.columns import InputTable
from confir.data.tables.score_files import read_score_table, read_scores, scores_from_table
from confir.data.tables.score_objects import make_scores
from confir.errors import (
    FormatError,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
    UnreadableError,
    UnsupportedMethodError,
    enumerate_names,
    warn_caller,
)
from confir.measures.catalogue import canonical_name
from confir.measures.evaluation import evaluate

BoardSource: TypeAlias = Any

INCOMPLETE = ("error", "drop-runs", "drop-datasets")

# What a run's list is scored by where nothing else is said, as embedding benchmarks are.
DEFAULT_MEASURE = "nDCG@10"


def read_folder(
    folder: str, measures: Sequence[str], qrels: str | None, **rules: Any
) -> dict[str, Scores]:
    """Return the scores in a folder, by dataset: of its runs by its qrels, or in its score tables.

    Parameters
    ----------
    folder
        The folder of a dataset, after which that is named.
    measures
        What runs are scored by; none for the default.
    qrels
        Name of the qrels file; by default the file whose name starts with "qrels". With
        ``{subset}`` or ``{split}`` in it, each such part of the runs' files is a dataset.
    **rules
        How runs are read, as in `ReadingRules`.
    """
    dataset = Path(folder).resolve().name
    inside = sorted(path for path in Path(folder).iterdir() if not path.name.startswith("."))
    if not inside:
        raise UnreadableError(f"{folder}: the folder is empty; expected a qrels file and runs")
    found = {path: part for path in inside if (part := _part_judged(path, qrels)) is not None}
    if len(found) > 1 and not any(found.values()):
        raise InvalidValueError(
            f"{folder}: several qrels files ({enumerate_names([p.name for p in found])}); expected "
            "one, or its name with --qrels"
        )
    if not found:
        if qrels is not None:
            raise UnreadableError(f"{folder}: no file {qrels!r}; expected the qrels there")
        return {dataset: read_scores([str(path) for path in inside if path.is_file()])}
    runs = [str(path) for path in inside if path not in found]
    if not runs:
        first = next(iter(found)).name
        raise UnreadableError(f"{folder}: no runs beside {first}; expected at least one")
    named = list(measures) or [DEFAULT_MEASURE]
    return {
        "/".join([dataset, *part.values()]): evaluate(
            str(path), runs, named, **cast("ReadingOptions", rules | part)
        )
        for path, part in found.items()
    }


def _part_judged(path: Path, qrels: str | None) -> dict[str, str] | None:
    """Return which subset and split a qrels file judges, by its name; None of any other file."""
    if qrels is None:
        return {} if path.is_file() and path.name.lower().startswith("qrels") else None
    pattern = re.escape(qrels)
    for part in ("subset", "split"):
        pattern = pattern.replace(re.escape(f"{{{part}}}"), f"(?P<{part}>.+?)", 1)
    matched = re.fullmatch(pattern, path.name)
    return None if matched is None else matched.groupdict()


def read_dataset_table(path: str, column: str = "dataset") -> dict[str, Scores] | Scores:
    """Return the scores of each dataset in one table; without topics, the datasets' means.

    Parameters
    ----------
    path
        A table with a column of datasets, and one of topics or none.
    column
        Name of the column of datasets.
    """
    table = read_score_table(path)
    names = [name.lower() for name in table.header]
    if column.lower() not in names:
        raise UnknownNameError("column of datasets", column, table.header)
    place = names.index(column.lower())
    ids = table.ids(place)
    rest = _without(table, place)
    if rest.find(("topic", "topic_id", "query_id", "qid", "q_id", "query")) is None:
        return scores_from_table(_as_topics(table, place))
    parts = {}
    for code, name in enumerate(ids.names):
        parts[name] = scores_from_table(rest.where(ids.codes == code))
    return parts


def _without(table: InputTable, place: int) -> InputTable:
    """Return a table without one of its columns."""
    kept = [p for p in range(len(table.header)) if p != place]
    header, columns = [table.header[p] for p in kept], [table.columns[p] for p in kept]
    return replace(table, header=header, columns=columns)


def _as_topics(table: InputTable, place: int) -> InputTable:
    """Return a table of means, whose datasets take the place of topics."""
    return replace(
        table, header=["topic" if p == place else name for p, name in enumerate(table.header)]
    )


def board_scores(
    sources: BoardSource, measure: str | None, datasets: str | None, incomplete: str
) -> Scores:
    """Return scores by one measure on the topics of all datasets, with their design.

    The parameters are those of `make_leaderboard`.
    """
    as_choice("incomplete", incomplete, INCOMPLETE)
    if datasets is not None:
        as_choice("datasets", datasets, ("fixed", "random"))
    if isinstance(sources, Mapping) and sources and all(map(_is_dataset, sources.values())):
        parts = {str(name): _one_measure(_scores(each), measure) for name, each in sources.items()}
        scores = _joined(parts, datasets or "fixed")
    else:
        scores = _one_measure(_scores(sources), measure)
        if scores.design is None or scores.design.dataset is None:
            scores = _of_means(scores, datasets)
        elif datasets is not None:
            scores = replace(scores, design=replace(scores.design, datasets=datasets))
    return _complete(scores, incomplete)


def _scores(source: Any) -> Scores:
    """Return scores; a message about what is none names the argument."""
    return evaluate(source) if isinstance(source, Experiment) else make_scores(source, "sources")


def _is_dataset(source: Any) -> bool:
    """Whether a value of a mapping is a dataset's scores, not those of a run."""
    return isinstance(source, Scores | Experiment | str | os.PathLike) or hasattr(source, "columns")


def _one_measure(scores: Scores, measure: str | None) -> Scores:
    """Return the scores by the measure named, which may go by another name."""
    if measure is None:
        if len(scores.measures) > 1:
            raise InvalidValueError(
                f"there are several measures ({enumerate_names(scores.measures, 5)}); expected one: "
                "name it"
            )
        return scores
    known = {canonical_name(name): name for name in scores.measures}
    known |= {name: name for name in scores.measures}
    found = known.get(measure) or known.get(canonical_name(measure))
    if found is None:
        raise UnknownNameError("measure", measure, scores.measures)
    return scores.select(measure=[found])


def _of_means(scores: Scores, datasets: str | None) -> Scores:
    """Return means of datasets, each a topic, as scores by a design of random datasets."""
    if datasets == "fixed":
        raise UnsupportedMethodError(
            "means of datasets say nothing about their topics, which vary where datasets are fixed; "
            "expected datasets 'random', or scores by topic"
        )
    return replace(scores, design=Design(scores.topics, dataset=scores.topics, datasets="random"))


def _joined(parts: Mapping[str, Scores], datasets: str) -> Scores:
    """Return the scores of all datasets in one table; topics are named by their dataset."""
    measures = dict.fromkeys(part.measures[0] for part in parts.values())
    if len(measures) > 1:
        raise InvalidValueError(
            f"the datasets have different measures ({enumerate_names(measures, 5)}); expected one"
        )
    for name, part in parts.items():
        if part.design is not None:
            raise UnsupportedMethodError(
                f"the scores of dataset {name!r} have a design of their own"
            )
    runs = tuple(dict.fromkeys(run for part in parts.values() for run in part.runs))
    labels = [(f"{name}/{topic}", name) for name, part in parts.items() for topic in part.topics]
    values = np.full((len(labels), len(runs), 1), np.nan)
    start = 0
    for part in parts.values():
        places = [runs.index(run) for run in part.runs]
        values[start : start + len(part.topics), places] = part.values
        start += len(part.topics)
    order = sorted(range(len(labels)), key=lambda place: labels[place][0])
    topics = tuple(labels[place][0] for place in order)
    if len(set(topics)) < len(topics):
        raise FormatError("two topics of the datasets have the same name; rename a dataset")
    design = Design(topics, dataset=tuple(labels[place][1] for place in order), datasets=datasets)
    return Scores(topics, runs, tuple(measures), values[order], design=design)


def _complete(scores: Scores, incomplete: str) -> Scores:
    """Return the scores without runs or datasets that lack the other, as it is stated."""
    design = scores.design
    if design is None or design.dataset is None:
        return scores
    present = ~np.isnan(scores.values[:, :, 0])
    names = list(dict.fromkeys(design.dataset))
    codes = np.array([names.index(name) for name in design.dataset])
    has = np.stack([present[codes == code].any(axis=0) for code in range(len(names))])
    if has.all():
        return scores
    lacking = [(scores.runs[r], names[d]) for d, r in np.argwhere(~has).tolist()]
    shown = enumerate_names([f"{run} on {name}" for run, name in lacking], 3)
    said = f"{len(lacking)} of {has.size} cells have no score ({shown})"
    if incomplete == "error":
        raise TopicMismatchError(
            f"{said}; expected all runs on all datasets, or incomplete drop-runs or drop-datasets"
        )
    if incomplete == "drop-runs":
        full: Booleans = np.all(has, axis=0)
        kept = [scores.runs[place] for place in np.flatnonzero(full)]
        left = [run for run in scores.runs if run not in set(kept)]
        if not kept:
            raise TopicMismatchError(f"{said}; no run has all datasets")
        warn_caller(f"{said}: left out {len(left)} runs ({enumerate_names(left, 5)})", TopicWarning)
        return scores.select(run=kept)
    of_all: Booleans = np.all(has, axis=1)
    whole = {names[place] for place in np.flatnonzero(of_all)}
    if not whole:
        raise TopicMismatchError(f"{said}; no dataset has all runs")
    left = [name for name in names if name not in whole]
    warn_caller(f"{said}: left out {len(left)} datasets ({enumerate_names(left, 5)})", TopicWarning)
    pairs = zip(scores.topics, design.dataset, strict=True)
    return scores.select(topic=[topic for topic, name in pairs if name in whole])
