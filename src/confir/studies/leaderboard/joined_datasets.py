"""How do the scores of several datasets become one table, with one design?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confir.arrays import Booleans
from confir.data.sampling.design import Design
from confir.data.scores import Scores
from confir.errors import (
    FormatError,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnsupportedMethodError,
    counted,
    enumerate_names,
    warn_caller,
)


def join_datasets(parts: Mapping[str, Scores], datasets: str) -> Scores:
    """Return the scores of all datasets in one table; topics are named by their dataset."""
    measures = dict.fromkeys(part.measures[0] for part in parts.values())
    if len(measures) > 1:
        raise InvalidValueError(
            f"the datasets have different measures ({enumerate_names(measures, 5)}); expected one"
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
    inside = {
        role: tuple(column[place] for place in order)
        for role, column in _designs_inside(parts).items()
    }
    weight = inside.pop("weight", None)
    design = Design(
        topics,
        dataset=tuple(labels[place][1] for place in order),
        weight=None if weight is None else np.array(weight),
        datasets=datasets,
        **inside,
    )
    return Scores(topics, runs, tuple(measures), values[order], design=design)


def _designs_inside(parts: Mapping[str, Scores]) -> dict[str, list[Any]]:
    """Return strata, clusters and weights of the datasets' own designs, as far as any has some.

    A dataset without a design is one stratum of single topics that count alike.
    """
    columns: dict[str, list[Any]] = {}
    for role in ("stratum", "cluster", "weight"):
        own = [getattr(part.design, role, None) for part in parts.values()]
        if any(column is not None for column in own):
            columns[role] = [
                one
                for part, column in zip(parts.values(), own, strict=True)
                for one in (_plain(part, role) if column is None else column)
            ]
    for name, part in parts.items():
        if part.design is not None and part.design.dataset is not None:
            raise UnsupportedMethodError(
                f"the scores of dataset {name!r} have datasets of their own"
            )
    return columns


def _plain(part: Scores, role: str) -> Sequence[Any]:
    """Return a column of a design that says nothing."""
    if role == "cluster":
        return part.topics
    return [1.0 if role == "weight" else ""] * len(part.topics)


def complete_cells(scores: Scores, incomplete: str) -> Scores:
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
    verb = "has" if len(lacking) == 1 else "have"
    said = f"{len(lacking)} of {has.size} cells {verb} no score ({shown})"
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
        warn_caller(
            f"{said}: left out {counted(len(left), 'run')} ({enumerate_names(left, 5)})",
            TopicWarning,
        )
        return scores.select(run=kept)
    of_all: Booleans = np.all(has, axis=1)
    whole = {names[place] for place in np.flatnonzero(of_all)}
    if not whole:
        raise TopicMismatchError(f"{said}; no dataset has all runs")
    left = [name for name in names if name not in whole]
    warn_caller(
        f"{said}: left out {counted(len(left), 'dataset')} ({enumerate_names(left, 5)})",
        TopicWarning,
    )
    pairs = zip(scores.topics, design.dataset, strict=True)
    return scores.select(topic=[topic for topic, name in pairs if name in whole])
