"""Bounds over missing scores, against all completions, filled tables and simulations with known truth."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.studies.unjudged.missing_bounds import bound_missing, bound_missing_differences

NAMES = ("base", "x", "y")


def table(values, measures=("AP",)):
    values = np.asarray(values, float)
    topics = tuple(f"t{place:03d}" for place in range(len(values)))
    return Scores(topics, NAMES[: values.shape[1]], measures, values)


def with_gaps(seed=0, topics=12, gaps=((1, 1), (4, 1), (4, 0), (7, 2), (9, 0))):
    values = np.random.default_rng(seed).random((topics, 3, 1))
    for topic, run in gaps:
        values[topic, run] = np.nan
    return table(values)


def compared(scores, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return confir.compare_runs(scores, baseline="base", rng=1, **options)


def completions(scores, ends=(0.0, 0.3, 1.0)):
    """All tables in which missing scores have one of a few values."""
    cells = np.argwhere(np.isnan(scores.values)).tolist()
    for chosen in itertools.product(ends, repeat=len(cells)):
        values = scores.values.copy()
        for cell, value in zip(cells, chosen, strict=True):
            values[tuple(cell)] = value
        yield values


def test_means_and_differences_are_bounded_by_all_completions():
    scores = with_gaps()
    means = np.array([values.mean(axis=0) for values in completions(scores)])
    found = bound_missing(scores)
    assert found.lowest == pytest.approx(means.min(axis=0))
    assert found.highest == pytest.approx(means.max(axis=0))
    assert found.missing[:, 0] == pytest.approx([2 / 12, 2 / 12, 1 / 12])
    differences = means[:, 1:] - means[:, :1]
    bounds = bound_missing_differences(compared(scores), rng=1)
    assert bounds.lowest == pytest.approx(differences.min(axis=0))
    assert bounds.highest == pytest.approx(differences.max(axis=0))
    assert bounds.missing[:, 0] == pytest.approx([3 / 12, 3 / 12])


@pytest.mark.parametrize("method", [None, "t"])
def test_intervals_are_those_of_the_filled_tables(method):
    scores = with_gaps()
    found = bound_missing(scores, method=method)
    low, high = (
        confir.confidence_interval(replace(scores, values=filled), method=method)
        for filled in (np.nan_to_num(scores.values, nan=end) for end in (0.0, 1.0))
    )
    assert np.array_equal(found.bounds_low, low.low)
    assert np.array_equal(found.bounds_high, high.high)
    worst = np.where(np.isnan(scores.values), np.array([1.0, 0, 0])[None, :, None], scores.values)
    best = np.where(np.isnan(scores.values), np.array([0.0, 1, 1])[None, :, None], scores.values)
    bounds = bound_missing_differences(compared(scores), rng=1)
    ends = [compared(replace(scores, values=filled)) for filled in (worst, best)]
    assert np.array_equal(bounds.bounds_low, ends[0].simultaneous_low)
    assert np.array_equal(bounds.bounds_high, ends[1].simultaneous_high)
    assert np.array_equal(bounds.verdict_lowest, ends[0].verdict[0])
    assert np.array_equal(bounds.robust, ends[0].verdict[0] == ends[1].verdict[0])


def test_without_missing_scores_the_bounds_are_the_estimates():
    scores = with_gaps(gaps=())
    found, interval = bound_missing(scores), confir.confidence_interval(scores)
    assert np.array_equal(found.bounds_low, interval.low)
    assert np.array_equal(found.lowest, found.mean)
    comparison = compared(scores)
    bounds = bound_missing_differences(comparison, rng=1)
    assert bounds.robust.all()
    assert np.array_equal(bounds.verdict, comparison.verdict[0])


@pytest.mark.parametrize("skew", [1.0, 4.0])
def test_the_interval_covers_the_mean_when_failing_depends_on_the_score(skew):
    """300 samples of 40 topics; low scores fail four times as often. Without bounds too few are covered."""
    rng = np.random.default_rng(5)
    values = rng.beta(1.0, skew, (40, 1, 300))
    truth = 1.0 / (1.0 + skew)
    fails = rng.random(values.shape) < np.where(values < truth, 0.4, 0.1)
    scores = table(np.where(fails, np.nan, values), tuple(f"m{place}" for place in range(300)))
    found = bound_missing(scores, bounds={"": (0, 1)}, method="t")
    covered = (found.bounds_low <= truth) & (truth <= found.bounds_high)
    assert covered.mean() >= 0.95
    plain = confir.confidence_interval(scores, method="t")
    assert ((plain.low <= truth) & (truth <= plain.high)).mean() < 0.90


def test_ranges_are_stated_or_refused():
    scores = replace(with_gaps(), measures=("faithfulness",))
    with pytest.raises(
        InvalidValueError, match="the range of faithfulness, which lacks scores, is not k"
    ):
        bound_missing(scores)
    assert bound_missing(replace(scores, bounded=True)).lowest == pytest.approx(
        bound_missing(scores, bounds={"faithfulness": (0, 1)}).lowest
    )
    wide = bound_missing(scores, bounds={"": (-1, 3)})
    assert (wide.lowest <= bound_missing(with_gaps()).lowest).all()
    with pytest.raises(
        InvalidValueError, match="--bounds names 'other'; expected one of faithfulness"
    ):
        bound_missing(scores, bounds={"": (0, 1), "other": (0, 1)})
    whole = with_gaps(gaps=()).select(run=["x", "y"])
    repeated = replace(whole, runs=("x@1", "x@2")).with_repeats()
    with pytest.raises(UnsupportedMethodError, match="expected no repeats and no human judgements"):
        bound_missing(repeated)
