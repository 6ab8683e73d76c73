"""Do judges label items as humans do? Agreement, sensitivity, specificity and bias of each judge.

Items of one topic are labelled alike or unlike together: with topics, all intervals are over topics.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from confir.arrays import TIE, Booleans, Floats, Integers
from confir.data.result import Record, Result, axis, constant, over, result
from confir.intervals.quantiles import normal_quantile, t_quantile
from confir.resampling.replicates import draw_topics
from confir.studies.judgements.grade_agreement import (
    PAIR_PARTS,
    GradeConfusion,
    resampled_limits,
)
from confir.studies.judgements.grade_coefficients import (
    cohen_kappa,
    count_grades,
    drawn_counts,
    moment_agreement,
    ordinal_alpha,
)
from confir.studies.judgements.labels import BINARY, GRADED, SCORED, Labels, select_judge

# Coefficients that are resampled, by the kind of labels.
_COEFFICIENTS = {
    BINARY: ("kappa", "krippendorff_alpha"),
    GRADED: ("kappa", "weighted_kappa", "krippendorff_alpha"),
    SCORED: ("correlation", "krippendorff_alpha"),
}
_ENDS = ("", "_low", "_high")
_OF_PAIRS = ("same_label", "kappa", "weighted_kappa", "krippendorff_alpha", "correlation", "bias")
_OF_THRESHOLDS = ("sensitivity", "specificity")

# More units than this are put together at random, which leaves intervals valid.
_MOST_UNITS = 1000


@result
class LabelAgreement(Result):
    """How far judges label items as the human reference does: arrays are by pair and threshold.

    Attributes
    ----------
    pairs
        The reference and the judge of each pair.
    thresholds
        The lowest labels that pass: "pass", each grade but the lowest, or the scores that were named;
        "" where none was.
    kind, words
        Whether labels are "pass/fail", "grades" or "scores"; what grades are called, where by words.
    items, missing, topics
        Items that both labelled, those without a label by the judge, and topics; 0 without topics.
    unlabelled
        Items without a human label, which are left out.
    same_label
        Share of the items to which both give the same label, with limits; NaN for scores.
    kappa, weighted_kappa
        Cohen's κ, unweighted and with quadratic weights (grades), with limits; else NaN.
    krippendorff_alpha
        Krippendorff's α for ordinal labels, or for scores on an interval scale, with limits.
    correlation
        Pearson's correlation of scores, with limits; else NaN.
    bias
        Mean label by the judge less that by the reference (of pass and fail: the share that passes).
    passed, failed
        Items that pass or fail by the reference, by threshold.
    sensitivity, specificity
        Share of the items that pass, or fail, by the reference in which the judge agrees, with limits.
    confusion
        Which grades both gave; None for scores.
    level
        Confidence level of the limits.
    """

    pairs: tuple[tuple[str, str], ...] = axis("judge_pair")
    thresholds: tuple[str, ...] = axis("threshold")
    kind: str = constant()
    words: tuple[str, ...]
    items: Integers = over("judge_pair")
    missing: Integers = over("judge_pair")
    topics: int = constant()
    unlabelled: int = constant()
    same_label: Floats = over("judge_pair")
    same_label_low: Floats = over("judge_pair")
    same_label_high: Floats = over("judge_pair")
    kappa: Floats = over("judge_pair")
    kappa_low: Floats = over("judge_pair")
    kappa_high: Floats = over("judge_pair")
    weighted_kappa: Floats = over("judge_pair")
    weighted_kappa_low: Floats = over("judge_pair")
    weighted_kappa_high: Floats = over("judge_pair")
    krippendorff_alpha: Floats = over("judge_pair")
    krippendorff_alpha_low: Floats = over("judge_pair")
    krippendorff_alpha_high: Floats = over("judge_pair")
    correlation: Floats = over("judge_pair")
    correlation_low: Floats = over("judge_pair")
    correlation_high: Floats = over("judge_pair")
    bias: Floats = over("judge_pair")
    bias_low: Floats = over("judge_pair")
    bias_high: Floats = over("judge_pair")
    passed: Integers = over("judge_pair", "threshold")
    failed: Integers = over("judge_pair", "threshold")
    sensitivity: Floats = over("judge_pair", "threshold")
    sensitivity_low: Floats = over("judge_pair", "threshold")
    sensitivity_high: Floats = over("judge_pair", "threshold")
    specificity: Floats = over("judge_pair", "threshold")
    specificity_low: Floats = over("judge_pair", "threshold")
    specificity_high: Floats = over("judge_pair", "threshold")
    confusion: GradeConfusion | None
    level: float = constant()

    label_parts: ClassVar[Any] = PAIR_PARTS


def agreement_of_labels(
    labels: Labels, replicates: int, rng: np.random.Generator, level: float
) -> LabelAgreement:
    """Return the agreement of each judge with the human labels, with limits.

    Shares have Wilson's interval, with the effective number of items where topics or weights are
    given (`clustered_share`); bias as `paired_difference` says; coefficients are resampled.
    """
    units, size = _units(labels, rng)
    weights = draw_topics(size, replicates, rng).shares()
    found = [_of_judge(labels, judge, units, weights, level) for judge in range(len(labels.judges))]
    pairs = tuple((labels.reference, judge) for judge in labels.judges)
    names = tuple(f"{one:g}" for one in labels.thresholds) or ("",)
    if labels.words:
        names = tuple(labels.words[int(one)] for one in labels.thresholds)
    if labels.kind == BINARY:
        names = ("pass",)
    confusion = None
    if labels.kind != SCORED:
        grades = tuple(range(len(labels.scale)))
        if all(one.is_integer() for one in labels.scale):
            grades = tuple(int(one) for one in labels.scale)
        counts = np.array([one.pop("counts") for one in found])
        called = labels.words or (("fail", "pass") if labels.kind == BINARY else ())
        confusion = GradeConfusion(pairs, grades, grades, counts, "items", called)
    arrays = {name: np.array([one[name] for one in found]) for name in found[0]}
    return LabelAgreement(
        pairs=pairs,
        thresholds=names,
        kind=labels.kind,
        words=labels.words,
        topics=labels.clusters if labels.by_topic else 0,
        unlabelled=labels.unlabelled,
        confusion=confusion,
        level=level,
        **arrays,
    )


def _units(labels: Labels, rng: np.random.Generator) -> tuple[Integers, int]:
    """Return the unit of each item that is resampled as a whole, and how many there are."""
    if labels.clusters <= _MOST_UNITS:
        return labels.cluster, labels.clusters
    return (rng.permutation(labels.clusters) % _MOST_UNITS)[labels.cluster], _MOST_UNITS


def _of_judge(
    every: Labels, judge: int, unit_of_each: Integers, weights: Floats, level: float
) -> Record:
    """Return all numbers of one judge, by the names of the result's fields."""
    labels, missing = select_judge(every, judge)
    unit = unit_of_each[~np.isnan(every.judged[:, judge])]
    human, given = labels.human, labels.judged[:, 0]
    found: Record = {"items": len(human), "missing": missing}
    found |= {f"{name}{end}": np.nan for name in _OF_PAIRS for end in _ENDS}
    if every.kind == SCORED:
        coefficients = _resampled_moments(human, given, labels.weight, unit, weights, level)
    else:
        first, second = (np.searchsorted(labels.scale, one) for one in (human, given))
        size, units = len(labels.scale), weights.shape[1]
        counted = count_grades(unit, first, second, units, size, labels.weight)
        every_item = count_grades(np.zeros_like(unit), first, second, 1, size)
        found["counts"] = every_item[0].astype(np.int64)
        coefficients = _resampled_grades(counted, weights, level, len(_COEFFICIENTS[every.kind]))
        same = clustered_share(given == human, np.ones(len(human), np.bool_), labels, level)
        found |= dict(zip((f"same_label{end}" for end in _ENDS), same, strict=True))
    for name, limits in zip(_COEFFICIENTS[every.kind], coefficients, strict=True):
        found |= dict(zip((f"{name}{end}" for end in _ENDS), limits, strict=True))
    bias = paired_difference(given - human, labels, level)
    found |= dict(zip((f"bias{end}" for end in _ENDS), bias, strict=True))
    thresholds = (1.0,) if every.kind == BINARY else every.thresholds or (np.nan,)
    passes = [(human >= one, given >= one) for one in thresholds]
    fails = [(human < one, given < one) for one in thresholds]
    found["passed"] = [int(reference.sum()) for reference, _ in passes]
    found["failed"] = [int(reference.sum()) for reference, _ in fails]
    for name, both in zip(_OF_THRESHOLDS, (passes, fails), strict=True):
        shares = [clustered_share(own, reference, labels, level) for reference, own in both]
        found |= {
            f"{name}{end}": list(part)
            for end, part in zip(_ENDS, zip(*shares, strict=True), strict=True)
        }
    return found


def _resampled_grades(counts: Floats, weights: Floats, level: float, columns: int) -> Any:
    """Return κ, with quadratic weights where there are three columns, and α, each with limits."""

    def statistic(drawn: Floats) -> Floats:
        own = drawn_counts(drawn, counts)
        kappas = [cohen_kappa(own, power=power) for power in (0, 2)[: columns - 1]]
        return np.stack([*kappas, ordinal_alpha(own + own.transpose(0, 2, 1))], axis=1)

    estimate, limits = resampled_limits(statistic, weights, columns, level)
    return zip(estimate, *limits, strict=True)


def _resampled_moments(
    human: Floats, given: Floats, weight: Floats, unit: Integers, weights: Floats, level: float
) -> Any:
    """Return Pearson's correlation and α of scores, with limits."""
    centre = np.concatenate([human, given]).mean()
    x, y = human - centre, given - centre
    parts = [np.ones(len(x)), x, y, x * x, y * y, x * y]
    units = weights.shape[1]
    sums = np.stack([np.bincount(unit, weights=weight * part, minlength=units) for part in parts])

    def statistic(drawn: Floats) -> Floats:
        return np.stack(moment_agreement(units * (drawn @ sums.T)), axis=1)

    estimate, limits = resampled_limits(statistic, weights, 2, level)
    return zip(estimate, *limits, strict=True)


def clustered_share(
    agreed: Booleans, counted: Booleans, labels: Labels, level: float
) -> tuple[float, float, float]:
    """Return the share of some items in which a judge agrees, with Wilson's interval.

    Independent items of equal weight have Wilson's own ([Wilson1927]). Else n is the effective number
    of items ``p(1-p)/V``, at most Kish's ``(Σw)²/Σw²``, with V the variance over topics (CR1), and z
    is Student's t with one degree of freedom less than topics ([Korn1998]). Where all or none agree,
    V is 0, and each topic counts as one item. NaN without items, limits also for a single topic.
    """
    if not counted.any():
        return np.nan, np.nan, np.nan
    chosen = agreed[counted].astype(np.float64)
    share, number, quantile = _effective(chosen, counted, labels, level)
    middle = share + quantile**2 / (2.0 * number)
    half = quantile * np.sqrt(share * (1.0 - share) / number + (quantile / (2.0 * number)) ** 2)
    scale = 1.0 + quantile**2 / number
    low, high = (max(min((middle + side * half) / scale, 1.0), 0.0) for side in (-1, 1))
    return share, min(low, share), max(high, share)  # not beyond the share by rounding


def paired_difference(
    difference: Floats, labels: Labels, level: float
) -> tuple[float, float, float]:
    """Return the mean difference of a judge's labels from the reference's, with limits.

    Grades and scores have Student's interval over topics (over items without topics). Pass and fail
    have Bonett and Price's of paired shares, which adds one item to each kind of disagreement
    ([Bonett2012]), with the effective number of items as for shares.
    """
    every = np.ones(len(difference), np.bool_)
    mean, number, quantile = _effective(difference, every, labels, level)
    if labels.kind != BINARY:
        variance, groups = _variance(difference - mean, labels.weight, labels.cluster)
        half = float(t_quantile(np.array(groups - 1.0), level)) * np.sqrt(variance)
        half = half if variance > 0 else np.nan
        return mean, mean - half, mean + half
    apart = float(np.average(np.abs(difference), weights=labels.weight))
    middle, apart = number * mean / (number + 2.0), (number * apart + 2.0) / (number + 2.0)
    half = quantile * np.sqrt(max(apart - middle**2, 0.0) / (number + 2.0))
    return mean, max(min(middle - half, mean), -1.0), min(max(middle + half, mean), 1.0)


def _effective(
    values: Floats, counted: Booleans, labels: Labels, level: float
) -> tuple[float, float, float]:
    """Return the weighted mean of the items that count, their effective number, and the quantile."""
    weight, cluster = labels.weight[counted], labels.cluster[counted]
    mean = float(np.average(values, weights=weight))
    number = float(weight.sum() ** 2 / np.square(weight).sum())
    if not labels.by_topic and (weight == weight[0]).all():
        return mean, number, normal_quantile((1.0 - level) / 2.0)
    variance, groups = _variance(values - mean, weight, cluster)
    if groups < 2:
        return mean, np.nan, np.nan
    quantile = float(t_quantile(np.array(groups - 1.0), level))
    own = float(np.average(np.square(values - mean), weights=weight))
    if own <= TIE:
        number = min(number, float(groups))
    elif variance * number > own:
        number = own / variance
    return mean, number, quantile


def _variance(residual: Floats, weight: Floats, cluster: Integers) -> tuple[float, int]:
    """Return the variance of a weighted mean over clusters (CR1), and the number of clusters."""
    codes = np.unique(cluster, return_inverse=True)[1].reshape(-1)
    sums = np.bincount(codes, weights=weight * residual)
    groups = len(sums)
    if groups < 2:
        return np.nan, groups
    return float(groups / (groups - 1.0) * np.square(sums).sum() / weight.sum() ** 2), groups
