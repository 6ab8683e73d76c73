"""The scores of several datasets as one table, with one design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from confir.arrays import Booleans, Floats
from confir.data.sampling_designs.design import Design
from confir.data.sampling_designs.judged_scores import RANDOM_TOPICS, JudgedScores, as_judged
from confir.data.sampling_designs.sampled_document_scores import SampledScores, as_sampled
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
from confir.measures.score_summary import ScoreSummary

AnyScores = TypeVar("AnyScores", Scores, ScoreSummary)

# What is done where a run lacks a dataset; MODEL predicts the missing cells.
MODEL = "model"
INCOMPLETE = ("error", "drop-runs", "drop-datasets", MODEL)


def join_datasets(parts: Mapping[str, Scores], datasets: str, incomplete: str) -> Scores:
    """Return the scores of all datasets in one table; topics are named by their dataset.

    Where human judgements correct a model's scores, runs or datasets with gaps are left out before they are
    joined, as ``incomplete`` says.
    """
    if any(part.corrected for part in parts.values()):
        return _join_judged(parts, datasets, incomplete)
    measures = _joint_measure(parts)
    runs = tuple(dict.fromkeys(run for part in parts.values() for run in part.runs))
    labels = [(f"{name}/{topic}", name) for name, part in parts.items() for topic in part.topics]
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
    values = _stacked([(part, part.values) for part in parts.values()], runs)[order]
    scores = Scores(topics, runs, measures, values, design=design)
    if all(part.in_range for part in parts.values()):
        return scores
    _refuse_single_judges([name for name, part in parts.items() if part.in_range])
    return _with_document_variance(scores, parts, order)


def _joint_measure(parts: Mapping[str, Scores]) -> tuple[str, ...]:
    """Return the one measure of all datasets; raise where they cannot be joined."""
    if any(len(part.repeat_tables()) > 1 for part in parts.values()):
        raise UnsupportedMethodError(
            "a repeat is one run on all datasets, and these have repeats of their own; expected scores "
            "of the runs, which are grouped when datasets are joined (in Python: repeats=True)"
        )
    measures = dict.fromkeys(part.measures[0] for part in parts.values())
    if len(measures) > 1:
        raise InvalidValueError(
            f"the datasets have different measures ({enumerate_names(measures, 5)}); expected one"
        )
    return tuple(measures)


def _with_document_variance(
    scores: Scores, parts: Mapping[str, Scores], order: Sequence[int]
) -> SampledScores:
    """Return scores with the variance that they have from the documents that were judged.

    Parameters
    ----------
    scores, parts
        Joined scores, and those of each dataset.
    order
        The place of each topic among those of the datasets, one dataset after the other.
    """
    drawn = [as_sampled(part) for part in parts.values()]
    variance = _stacked([(part, part.document_variance) for part in drawn], scores.runs)[order]
    runs = len(scores.runs)
    return SampledScores(
        **{one.name: getattr(scores, one.name) for one in fields(Scores)},
        document_variance=variance,
        human_documents=sum(part.human_documents for part in drawn),
        model_documents=sum(part.model_documents for part in drawn),
        draw_replicates=max(part.draw_replicates for part in drawn),
        draw_rates=np.zeros(0),  # each dataset has its own
        draw_documents=np.zeros(0),
        draw_covariance=np.zeros((0, runs, runs, 1)),
    )


def _stacked(parts: Sequence[tuple[Scores, Floats]], runs: tuple[str, ...]) -> Floats:
    """Return numbers of datasets one below the other, for all runs; NaN where a run lacks a dataset."""
    stacked = []
    for part, numbers in parts:
        own = np.full((len(part.topics), len(runs), 1), np.nan)
        own[:, [runs.index(run) for run in part.runs]] = numbers
        stacked.append(own)
    return np.concatenate(stacked)


def _refuse_single_judges(alone: Sequence[str]) -> None:
    """Raise where datasets have scores of one judge, beside others by model and human judgements."""
    if alone:
        raise UnsupportedMethodError(
            f"dataset {enumerate_names(map(repr, alone), 3)} has scores of one judge, others have those by "
            "model and human judgements; expected both of every dataset"
        )


def _join_judged(parts: Mapping[str, Scores], datasets: str, incomplete: str) -> JudgedScores:
    """Return the scores by human and model judgements on all datasets."""
    _refuse_single_judges([name for name, part in parts.items() if not part.corrected])
    if incomplete == MODEL:
        raise UnsupportedMethodError(
            "the model of runs that miss datasets needs the covariance of their means, which corrected "
            "means lack: each pair of runs has its own weight of the judging model; expected drop-runs or "
            "drop-datasets"
        )
    judged = {name: as_judged(part) for name, part in same_runs(parts, incomplete).items()}
    human, model = (
        join_datasets(
            {name: getattr(part, judge) for name, part in judged.items()}, datasets, "error"
        )
        for judge in ("human", "model")
    )
    kept = {one.name: getattr(human, one.name) for one in fields(Scores)}
    (sample, *others) = dict.fromkeys(part.human_sample for part in judged.values())
    return JudgedScores(**kept, model=model, human_sample=RANDOM_TOPICS if others else sample)


def same_runs(parts: Mapping[str, AnyScores], incomplete: str) -> dict[str, AnyScores]:
    """Return the datasets with the same runs in the same order; ``incomplete`` as in `make_leaderboard`."""
    runs = tuple(dict.fromkeys(run for part in parts.values() for run in part.runs))
    has = np.array([[run in part.runs for run in runs] for part in parts.values()])
    runs, names = kept_cells(has, runs, tuple(parts), incomplete)
    return {name: parts[name].select(run=list(runs)) for name in names}


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
        if part.datasets:
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
    """Return the scores without incomplete runs or datasets; ``incomplete`` as in `make_leaderboard`."""
    if not scores.datasets:
        return scores
    names = scores.datasets
    runs, whole = kept_cells(present_cells(scores), scores.runs, names, incomplete)
    if len(whole) < len(names):
        labels, kept = scores.dataset_design.dataset or (), set(whole)
        pairs = zip(scores.topics, labels, strict=True)
        return scores.select(topic=[topic for topic, name in pairs if name in kept])
    return scores if len(runs) == len(scores.runs) else scores.select(run=list(runs))


def present_cells(scores: Scores) -> Booleans:
    """Return which dataset has scores of which run, by one measure: datasets × runs."""
    if scores.corrected:  # each dataset has all runs
        return np.ones((len(scores.datasets), len(scores.runs)), np.bool_)
    labels = np.array(scores.dataset_design.dataset)
    there = ~np.isnan(scores.values[:, :, 0])
    return np.stack([there[labels == name].any(axis=0) for name in scores.datasets])


def kept_cells(
    has: Booleans, runs: tuple[str, ...], names: tuple[str, ...], incomplete: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the runs and the datasets that are left where all of them are to have each other.

    Parameters
    ----------
    has
        Which dataset has scores of which run: datasets × runs.
    runs, names
        Of the runs, and of the datasets.
    incomplete
        What is left out, with a warning, as in `make_leaderboard`.
    """
    if len(names) < 2:
        raise InvalidValueError(f"there is one dataset ({names[0]}); expected at least 2")
    if has.all():
        return runs, names
    lacking = [f"{runs[r]} on {names[d]}" for d, r in np.argwhere(~has).tolist()]
    verb = "has" if len(lacking) == 1 else "have"
    said = f"{len(lacking)} of {has.size} cells {verb} no score ({enumerate_names(lacking, 3)})"
    if incomplete == "error":
        raise TopicMismatchError(
            f"{said}; expected all runs on all datasets, or incomplete (--incomplete) drop-runs, drop-datasets or "
            "model"
        )
    if incomplete == "drop-runs":
        return _without_gaps(has.T, runs, "run", said, fewest=1), names
    return runs, _without_gaps(has, names, "dataset", said, fewest=2)


def _without_gaps(
    has: Booleans, names: tuple[str, ...], what: str, said: str, *, fewest: int
) -> tuple[str, ...]:
    """Return the runs or datasets that have all of the others, and warn of those left out."""
    kept = tuple(name for name, row in zip(names, has, strict=True) if row.all())
    if len(kept) < fewest:
        raise TopicMismatchError(
            f"{said}; {counted(len(kept), what)} would be left, expected at least {fewest}"
        )
    left = [name for name, row in zip(names, has, strict=True) if not row.all()]
    warn_caller(
        f"{said}: left out {counted(len(left), what)} ({enumerate_names(left, 5)})", TopicWarning
    )
    return kept
