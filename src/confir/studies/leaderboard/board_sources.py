"""Scores of runs on the topics of all datasets, from what a leaderboard is given."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

import numpy as np

from confir.arguments import as_choice
from confir.arrays import TIE
from confir.data.experiment import Experiment
from confir.data.run_scores import RunScores
from confir.data.sampling_designs.design import Datasets as DatasetSampling
from confir.data.sampling_designs.design import Design
from confir.data.score_objects import make_scores
from confir.data.scores import Scores
from confir.errors import (
    InvalidValueError,
    UnknownNameError,
    UnsupportedMethodError,
    enumerate_names,
)
from confir.measures.evaluation import evaluate
from confir.measures.parsing import canonical_name
from confir.measures.score_sources import as_run_scores, as_scores
from confir.studies.leaderboard.joined_datasets import (
    INCOMPLETE,
    MODEL,
    AnyScores,
    complete_cells,
    join_datasets,
)

BoardSource: TypeAlias = Any


def datasets_of(sources: Any) -> dict[str, Any]:
    """Return scores of any kind by dataset, where sources are of several; else nothing."""
    if not isinstance(sources, Mapping) or not all(map(_is_dataset, sources.values())):
        return {}
    return {str(name): as_run_scores(each) for name, each in sources.items()}


def board_scores(
    sources: BoardSource,
    measure: str | None,
    datasets: str | None,
    incomplete: str,
    repeats: bool | str = False,
) -> Scores:
    """Return scores by one measure on the topics of all datasets, with their design.

    The parameters are those of `make_leaderboard`. A repeat is one run on all datasets: repeats are
    grouped when these are joined.
    """
    as_choice("incomplete", incomplete, INCOMPLETE)
    if datasets is not None:
        as_choice("datasets", datasets, ("fixed", "random"))
    named = datasets_of(sources)
    if named:
        parts = {
            name: one_measure(as_scores(each, human=True), measure) for name, each in named.items()
        }
        scores = join_datasets(parts, datasets or "fixed", incomplete)
    else:
        scores = one_measure(_scores(sources), measure)
        if not scores.datasets:
            scores = _of_means(scores, datasets)
        elif datasets is not None:
            scores = scores.with_datasets(cast("DatasetSampling", datasets))
    scores = scores if incomplete == MODEL else complete_cells(scores, incomplete)
    if repeats is False:
        return scores
    systems: Scores = scores.with_repeats(repeats if isinstance(repeats, str) else None)
    return systems


def standardise_scores(scores: Scores) -> Scores:
    """Return scores by one measure, whose means have mean 0 and sd 1 over the runs of each dataset."""
    moves = {}
    for name in scores.datasets:
        mean = scores.on_dataset(name).mean()[:, 0]
        known = mean[~np.isnan(mean)]
        spread = known.std(ddof=1) if len(known) > 1 else 0.0
        if not spread > TIE:
            raise InvalidValueError(
                f"the runs have the same mean on dataset {name!r}, or there is one: it cannot be "
                "standardised; expected runs that differ on every dataset"
            )
        moves[name] = float(known.mean()), float(spread)
    return scores.rescaled(moves, tuple(f"standardised {measure}" for measure in scores.measures))


def _scores(source: Any) -> Scores:
    """Return scores; messages about other objects name the argument ``sources``."""
    made = evaluate(source) if isinstance(source, Experiment) else make_scores(source, "sources")
    return as_scores(made, human=True)


def _is_dataset(source: Any) -> bool:
    """Whether a value of a mapping is a dataset's scores, not those of a run."""
    return isinstance(source, RunScores | Experiment | str | os.PathLike) or hasattr(
        source, "columns"
    )


def one_measure(scores: AnyScores, measure: str | None) -> AnyScores:
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
    if scores.corrected:
        raise UnsupportedMethodError(
            "scores by model and human judgements have no datasets here; expected a design of datasets, or such "
            "scores of each dataset"
        )
    if datasets == "fixed":
        raise UnsupportedMethodError(
            "means of datasets say nothing about their topics, which vary where datasets are fixed; "
            "expected datasets 'random' (--generalise-to similar), or scores by topic"
        )
    return replace(scores, design=Design(scores.topics, dataset=scores.topics, datasets="random"))
