"""Variance components of repeats: what they add to a mean over topics, estimated from their means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from confir.arrays import Floats
from confir.data.sampling_designs.prediction_powered import Judged
from confir.data.sampling_designs.repeated_scores import RepeatedJudgedScores
from confir.resampling.distribution import SamplingDistribution
from confir.resampling.judged_datasets import JudgedDatasets
from confir.resampling.judged_sample import JudgedSample
from confir.resampling.topic_distribution import ROUNDING
from confir.resampling.topic_sample import TopicSample


def repeat_variances(over_topics: TopicSample, values: Floats) -> Floats:
    """Return σ_b² of one system, ``max(0, s²(repeat means) - MS_e/T)``, and MS_e/T: 2 × measures.

    MS_e/T, the variance over topics of one repeat's mean beyond what repeats share, is that of its
    deviations from the repeats' mean: so it holds by a design, too. Values are topics × repeats ×
    measures.
    """
    topics, repeats, measures = values.shape

    def found(cells: Floats) -> SamplingDistribution:
        columns = replace(
            over_topics,
            labels=(("", ""),) * (repeats * measures),
            shape=(repeats, measures),
            values=(np.ascontiguousarray(cells.reshape(topics, -1)),),
            support=np.zeros(repeats * measures, np.bool_),
        )
        return columns.distribution(slice(None), None, ("se",))

    means = found(values).estimate.reshape(repeats, measures)
    deviations = found(values - values.mean(axis=1, keepdims=True))
    squares = np.square(deviations.require("se")).reshape(repeats, measures)
    return _beyond_topics(means, squares)


def _beyond_topics(means: Floats, squares: Floats) -> Floats:
    """Return σ_b² and MS_e/T from means of repeats and variances of their deviations: repeats × measures."""
    residual = squares.sum(axis=0) / (len(means) - 1.0)
    effect = means.var(axis=0, ddof=1) - residual
    rounding = ROUNDING * np.square(means).max(axis=0)
    return np.stack([np.where(effect > rounding, effect, 0.0), residual])


def judged_repeat_variances(
    over_topics: JudgedSample | JudgedDatasets, scores: RepeatedJudgedScores, system: int
) -> Floats:
    """Return what `repeat_variances` does of one system, by human and model judgements."""
    measures = len(scores.measures)
    own = slice(system * measures, (system + 1) * measures)
    tables = [scores.on_dataset(name) for name in scores.datasets] or [scores]
    found = []
    for sample, table in zip(over_topics.parts, tables, strict=True):
        cells = table.judged_repeats(system)
        repeats = cells.human.shape[1]
        weight = np.tile(sample.values.corrected().weight[own], repeats)
        deviations = Judged(*(part - part.mean(axis=1, keepdims=True) for part in cells))
        means, _ = sample.with_weight(cells.flat(), weight)
        moves, squares = sample.with_weight(deviations.flat(), weight)
        found.append([each.reshape(repeats, measures) for each in (means, moves, squares)])
    means, moves, squares = (np.stack(each) for each in zip(*found, strict=True))
    number = len(found)
    if over_topics.random:
        return _beyond_topics(means.mean(axis=0), moves.var(axis=0, ddof=1) / number)
    return _beyond_topics(means.mean(axis=0), squares.sum(axis=0) / number**2)


def repeat_shares(
    over_topics: TopicSample | JudgedSample | JudgedDatasets, parts: Floats, shape: tuple[int, int]
) -> Floats:
    """Return the share of repeats in the variance of differences between systems, for each column.

    The variance over topics of a difference is on average 2S/(S-1) times that of deviations from the
    mean of all S systems.
    """
    systems, measures = shape

    def centred(values: Floats) -> Floats:
        cells = values.reshape(-1, *shape)
        moved = cells - cells.mean(axis=1, keepdims=True)  # on the same topic, by the same judge
        return np.ascontiguousarray(moved.reshape(values.shape))

    found = over_topics.with_values(centred)
    squares = np.square(found.distribution(slice(None), None, ("se",)).require("se"))
    of_topics = squares.reshape(systems, measures).sum(axis=0) / max(systems - 1, 1)
    of_repeats = parts.reshape(systems, measures).mean(axis=0)
    total = of_topics + of_repeats
    share = np.divide(of_repeats, total, out=np.zeros(measures), where=total > 0)
    return np.tile(share, systems)
