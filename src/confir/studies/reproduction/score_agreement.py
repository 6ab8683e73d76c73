"""Agreement of scores with those of an original: differences, and improvements over a baseline."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.scores import Scores
from confir.errors import DegenerateSampleWarning, TopicMismatchError
from confir.intervals.quantiles import t_quantile
from confir.pairs.compare import compare_runs
from confir.pairs.decisions import INCONCLUSIVE, Words


class ScoreDifferences(NamedTuple):
    """Scores of reproductions less those of the original: arrays are runs × measures.

    Attributes
    ----------
    topics
        Topics that both runs have.
    rmse
        Root mean square of the differences over topics.
    difference, low, high, open_end
        Mean difference with its interval, simultaneous for several reproductions; 1 or -1 where
        its lower or upper end is 0 and excluded.
    largest, largest_topic
        The difference that is largest in absolute value, and its topic.
    p_equivalence
        Of two one-sided t tests against the margin, adjusted for several reproductions; NaN
        without a margin.
    reason
        What interval and verdict leave open, in words; mostly empty.
    words
        The comparison's verdict: better, worse, equivalent, identical or inconclusive.
    """

    topics: Integers
    rmse: Floats
    difference: Floats
    low: Floats
    high: Floats
    open_end: Integers
    largest: Floats
    largest_topic: Words
    p_equivalence: Floats
    reason: Any
    words: Words


class EffectRatio(NamedTuple):
    """Effect ratio with its limits, and ΔRI, of each column."""

    ratio: Floats
    low: Floats
    high: Floats
    delta_ri: Floats


def compare_scores(scores: Scores, compared: dict[str, Any]) -> ScoreDifferences:
    """Return the differences of all runs from the first, and the comparison's verdicts on them."""
    values = scores.values[:, 1:] - scores.values[:, :1]
    there = ~np.isnan(values)
    topics = there.sum(axis=0)
    absolute = np.where(there, np.abs(values), 0.0)
    with np.errstate(invalid="ignore"):
        rmse = np.sqrt((absolute**2).sum(axis=0) / topics)
    worst = absolute.argmax(axis=0)
    largest = np.take_along_axis(values, worst[None], axis=0)[0]
    names = np.array(scores.topics, object)[worst]
    none = np.full(topics.shape, np.nan)
    if (topics < 2).all():  # nothing to estimate a variance from
        words = np.full(topics.shape, INCONCLUSIVE)
        mean = np.where(topics > 0, largest, np.nan)
        untested = (mean, none, none, np.zeros(topics.shape, np.int64))
        reason = np.full(topics.shape, "a single topic", object)
        return ScoreDifferences(topics, rmse, *untested, largest, names, none, reason, words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateSampleWarning)  # verdicts and reasons say it
        comparison = compare_runs(scores, baseline=scores.runs[0], **compared)
    return ScoreDifferences(
        topics,
        rmse,
        comparison.difference,
        *comparison.limits,
        comparison.open_end,
        largest,
        names,
        none if comparison.p_equivalence_adjusted is None else comparison.p_equivalence_adjusted,
        comparison.reasons[0],
        comparison.verdict[0],
    )


def effect_ratios(values: Floats, level: float) -> EffectRatio:
    """Return the effect ratios of all reproductions, on topics on which every run has scores.

    Parameters
    ----------
    values
        Of the original, its reproductions, the baseline and its reproduction: topics × runs ×
        measures.
    level
        Confidence level.
    """
    complete = values[~np.isnan(values).any(axis=(1, 2))]
    original, baseline, new_baseline = (complete[:, [place]] for place in (0, -2, -1))
    if not len(complete):
        raise TopicMismatchError("no topic on which the runs and their baselines all have scores")
    return effect_ratio(original, baseline, complete[:, 1:-2], new_baseline, level)


def effect_ratio(
    advanced: Floats, baseline: Floats, new_advanced: Floats, new_baseline: Floats, level: float
) -> EffectRatio:
    """Return ER = mean(B' - A')/mean(B - A) with Fieller's interval, and ΔRI ([Breuer2020]).

    Fieller's interval holds every ρ for which the mean of (B' - A') - ρ(B - A) does not differ from
    0 by a paired t test ([Fieller1954]). There is none unless the original improvement differs
    significantly from 0, since it would not be bounded.

    Parameters
    ----------
    advanced, baseline
        Scores of the original run B and its baseline A: topics × columns.
    new_advanced, new_baseline
        Those of their reproductions B' and A'.
    level
        Confidence level.
    """
    original, new = advanced - baseline, new_advanced - new_baseline
    topics = len(original)
    mean, new_mean = original.mean(axis=0), new.mean(axis=0)
    deviation, new_deviation = original - mean, new - new_mean
    df = max(topics - 1, 1)
    spread = t_quantile(np.array(float(df)), level) ** 2 / (df * topics)
    # ρ²·square - 2ρ·cross + new_square <= 0
    square = mean**2 - spread * (deviation**2).sum(axis=0)
    cross = mean * new_mean - spread * (deviation * new_deviation).sum(axis=0)
    new_square = new_mean**2 - spread * (new_deviation**2).sum(axis=0)
    root = np.sqrt(np.maximum(cross**2 - square * new_square, 0.0))
    bounded = (square > 0) & (topics > 1)
    relative = _ratio(mean, baseline.mean(axis=0))
    new_relative = _ratio(new_mean, new_baseline.mean(axis=0))
    return EffectRatio(
        _ratio(new_mean, mean),
        np.where(bounded, _ratio(cross - root, square), np.nan),
        np.where(bounded, _ratio(cross + root, square), np.nan),
        relative - new_relative,
    )


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return a ratio; NaN where there is none."""
    none: Floats = np.full(numerator.shape, np.nan)
    return np.divide(numerator, denominator, out=none, where=denominator != 0)
