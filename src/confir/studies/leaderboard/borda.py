"""Borda counts of runs over datasets, and how far their ranks vary with topics and datasets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from confir.arrays import TIE, Floats, Integers
from confir.data.sampling_designs.design import Design
from confir.data.scores import Scores
from confir.intervals.interval import Limits
from confir.resampling.cluster_distribution import Ratios
from confir.resampling.clusters import Clusters, cluster_counts
from confir.resampling.kinds import as_sample
from confir.resampling.normal_draws import draw_normal_means
from confir.studies.leaderboard.additive_fit import AdditiveFit, DatasetCells

# Replicates whose means by dataset are ranked at once: replicates × runs × datasets.
_NUMBERS_AT_ONCE = 1 << 22


def borda_counts(mean: Floats) -> Floats:
    """Return the Borda count of runs, as MTEB has it: from … × runs × datasets.

    On each dataset a run gets the number of runs less its rank, where ties share their mean rank;
    that is the number of runs that it beats, a tie counting half.
    """
    below, with_ties = _places(np.moveaxis(mean, -2, -1))
    counts: Floats = ((below + with_ties) / 2.0).sum(axis=-2)
    return counts


def descending_ranks(values: Floats) -> Integers:
    """Return ranks along the last axis, 1 the highest; tied ones share the better rank."""
    below, _ = _places(-np.round(values, 9))
    return below + 1


def _places(values: Floats) -> tuple[Integers, Integers]:
    """Return how many values along the last axis are smaller, and how many others are not larger."""
    order = values.argsort(axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    numbers = np.broadcast_to(np.arange(values.shape[-1]), values.shape)
    steps = np.diff(ordered, axis=-1) != 0
    edge = np.ones((*values.shape[:-1], 1), np.bool_)
    first = np.where(np.concatenate([edge, steps], axis=-1), numbers, 0)
    last = np.where(np.concatenate([steps, edge], axis=-1), numbers, values.shape[-1])
    first = np.maximum.accumulate(first, axis=-1)
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    below, with_ties = np.empty_like(order), np.empty_like(order)
    np.put_along_axis(below, order, first, axis=-1)
    np.put_along_axis(with_ties, order, last, axis=-1)
    return below, with_ties


def ranked_limits(means: Floats, level: float) -> Limits:
    """Return the middle part of the Borda rank over replicates of means: replicates × runs × datasets."""
    return _middle(descending_ranks(borda_counts(_rounded(means))), level)


def _rounded(means: Floats) -> Floats:
    """Return replicates of means in which rounding makes no difference."""
    return np.where(np.abs(means) <= TIE, 0.0, np.round(means, 12))


def _middle(ranks: npt.NDArray[np.signedinteger[Any]], level: float) -> Limits:
    """Return the middle part of ranks over replicates."""
    tail = (1.0 - level) / 2.0
    low = np.quantile(ranks, tail, axis=0, method="lower")
    return Limits(low, np.quantile(ranks, 1.0 - tail, axis=0, method="higher"))


def borda_limits(
    scores: Scores,
    names: tuple[str, ...],
    mean: Floats,
    replicates: int,
    rng: np.random.Generator,
    level: float,
) -> Limits:
    """Return the middle part of the Borda rank over replicates of datasets, or of their topics.

    Repeats of systems are drawn along: they move a system on all datasets at once.
    """
    design = scores.dataset_design
    repeats, own = _RepeatMoves.of(scores, names), rng.spawn(1)[0]
    if scores.corrected and not design.random_datasets:
        own_means = [
            as_sample(scores.on_dataset(name)).without_repeats.replicate_means(replicates, seeds)
            for name, seeds in zip(names, rng.spawn(len(names)), strict=True)
        ]
        means = np.stack(own_means, axis=-1) + repeats.draw(replicates, own)
        return ranked_limits(means, level)
    clusters = Clusters.of(design)
    ranks = np.empty((replicates, len(scores.runs)), np.int32)
    block = max(1, _NUMBERS_AT_ONCE // mean.size)
    ratios = None if design.random_datasets else Ratios(clusters, (scores.values[:, :, 0],))
    places = [_strata_of(design, name) for name in names]
    for start in range(0, replicates, block):
        drawn = cluster_counts(clusters, min(block, replicates - start), rng)
        moved = mean + repeats.draw(len(drawn), own)
        if ratios is None:
            each = borda_counts(np.moveaxis(moved, -1, -2)[..., None])  # on each dataset
            counts: Floats = (drawn[:, None, :] @ each)[:, 0]
        else:
            # a run without a score on the topics drawn keeps its mean
            moves = [np.nan_to_num(ratios.moves(drawn, strata)) for strata in places]
            counts = borda_counts(_rounded(moved + np.stack(moves, axis=-1)))
        ranks[start : start + block] = descending_ranks(counts)
    return _middle(ranks, level)


def completed_borda_limits(
    datasets: DatasetCells,
    fit: AdditiveFit,
    replicates: int,
    rng: np.random.Generator,
    level: float,
    *,
    random: bool,
) -> Limits:
    """Return the middle part of the Borda rank over replicates, missing cells predicted.

    Random datasets are resampled as they are filled; of fixed ones, the means of cells are drawn as
    normal over topics, and the model is fitted anew.
    """
    filled = fit.filled(fit.mean[fit.present])
    if random:
        each = np.stack([borda_counts(row[:, None]) for row in filled])
        drawn = rng.multinomial(fit.datasets, np.full(fit.datasets, 1.0 / fit.datasets), replicates)
        return _middle(descending_ranks(drawn.astype(np.float64) @ each), level)
    moves = [
        draw_normal_means(
            np.atleast_2d(np.cov(part, rowvar=False)) / len(part),
            replicates,
            rng,
            [datasets.runs[run] for run in np.flatnonzero(has)],
        )
        for part, has in zip(datasets.scores, datasets.present, strict=True)
    ]
    cells = fit.mean[fit.present] + np.concatenate(moves).T
    block = max(1, _NUMBERS_AT_ONCE // filled.size)
    ranks = np.empty((replicates, fit.runs), np.int32)
    for start in range(0, replicates, block):
        means = np.moveaxis(fit.filled(cells[start : start + block]), -2, -1)
        ranks[start : start + block] = descending_ranks(borda_counts(_rounded(means)))
    return _middle(ranks, level)


class _RepeatMoves(NamedTuple):
    """How far repeats move the means of runs on datasets.

    Attributes
    ----------
    apart
        Means of each repeat, less their mean: repeats × runs × datasets; 0 where there is none.
    scale
        √(1/(K(K-1))) of each run with K repeats, so that normal multiples vary as their mean does.
    """

    apart: Floats
    scale: Floats

    @staticmethod
    def of(scores: Scores, names: tuple[str, ...]) -> _RepeatMoves:
        """Return the moves of scores; none where each run has one repeat."""
        tables = scores.repeat_tables()
        if len(tables) == 1:
            return _RepeatMoves(np.zeros((0, 1, 1)), np.zeros(1))
        means = np.stack(
            [
                np.stack([table.on_dataset(name).mean()[:, 0] for name in names], axis=1)
                for table in tables
            ]
        )
        count = scores.repeat_counts
        apart = np.nan_to_num(means - np.nanmean(means, axis=0))
        return _RepeatMoves(apart, 1.0 / np.sqrt(count * (count - 1.0)))

    def draw(self, replicates: int, rng: np.random.Generator) -> Floats:
        """Return moves in replicates: replicates × runs × datasets, or 0."""
        repeats, runs = self.apart.shape[:2]
        if not repeats:
            return np.zeros((1, 1, 1))
        weights = rng.standard_normal((replicates, repeats, runs)) * self.scale
        moves: Floats = np.einsum("bkr,krd->brd", weights, self.apart)
        return moves


def _strata_of(design: Design, name: str) -> list[int]:
    """Return the numbers of a dataset's strata."""
    stratum = design.layout().stratum
    inside = [own == name for own in design.dataset or ()]
    numbers: list[int] = np.unique(stratum[inside]).tolist()
    return numbers
