"""Wins on datasets as votes, which need no common scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confir.arrays import TIE, Floats
from confir.data.tables.input_table import encode_ids
from confir.data.votes import Votes
from confir.errors import InvalidValueError
from confir.measures.score_sources import as_run_scores, as_scores
from confir.studies.leaderboard.board_sources import one_measure


def votes_of_datasets(sources: Any, *, measure: str | None = None) -> Votes:
    """Return one vote per dataset and pair of runs, for the run with the higher mean.

    A run that lacks a dataset has no vote on it. Votes on one dataset depend on each other: fit them
    with ``cluster="topic"``, whose topics are the datasets.

    Parameters
    ----------
    sources
        A mapping dataset → scores, or what `as_scores` takes, or a `ScoreSummary`; or scores whose
        topics are datasets, as of a table of means; or scores with a design of datasets.
    measure
        By default the one that all datasets have.

    Examples
    --------
    >>> means = {"a": [0.5, 0.4, 0.9], "b": [0.1, 0.6, 0.7]}
    >>> votes_of_datasets(means).winner
    array([1., 0., 1.])
    """
    means = _means(sources, measure)
    runs = sorted({run for held in means.values() for run in held})
    if len(runs) < 2:
        raise InvalidValueError("there is one run; wins need at least 2")
    table = np.array([[held.get(run, np.nan) for run in runs] for held in means.values()])
    first, second = (side.astype(np.int64) for side in np.triu_indices(len(runs), 1))
    apart = table[:, first] - table[:, second]
    dataset, pair = np.nonzero(~np.isnan(apart))
    difference = apart[dataset, pair]
    if not len(difference):
        raise InvalidValueError("no two runs have scores on the same dataset")
    names = list(means)
    topics = encode_ids([names[place] for place in dataset.tolist()]).in_order()
    return Votes(
        systems=tuple(runs),
        left=first[pair],
        right=second[pair],
        winner=np.where(np.abs(difference) <= TIE, 0.5, np.where(difference > 0, 1.0, 0.0)),
        topic=topics,
        topic_kind="dataset",
        source="wins on datasets",
        has_sides=False,
    )


def _means(sources: Any, measure: str | None) -> dict[str, dict[str, float]]:
    """Return the mean of each run on each dataset."""
    by_dataset = isinstance(sources, Mapping) and all(
        isinstance(part, Mapping | str) or hasattr(part, "runs") for part in sources.values()
    )
    if by_dataset:
        held = {
            str(name): one_measure(as_run_scores(part), measure) for name, part in sources.items()
        }
        return {name: _by_run(part.runs, part.mean()) for name, part in held.items()}
    scores = one_measure(as_scores(sources), measure)
    labels = scores.dataset_design.dataset if scores.datasets else scores.topics
    ids = encode_ids(list(labels or ()))
    of_dataset = (scores.values[ids.codes == place] for place in range(len(ids.names)))
    with np.errstate(invalid="ignore"):  # a run may lack the dataset
        means = [np.nansum(own, axis=0) / (~np.isnan(own)).sum(axis=0) for own in of_dataset]
    return {name: _by_run(scores.runs, own) for name, own in zip(ids.names, means, strict=True)}


def _by_run(runs: Sequence[str], means: Floats) -> dict[str, float]:
    """Return the means of runs by the one measure; those that a run lacks are left out."""
    pairs = zip(runs, means[:, 0].tolist(), strict=True)
    return {run: mean for run, mean in pairs if not np.isnan(mean)}
