"""Samples of influence values: for means of scores they give the same as plain scores."""

import numpy as np
import pytest

import confir
from confir.data.run_scores import RunScores
from confir.data.scores import Scores
from confir.errors import UnsupportedMethodError
from confir.intervals.method_list import find_method
from confir.measures.strengths import fit_strengths
from confir.resampling import kind_list
from confir.resampling.influence_sample import InfluenceSample, Wins
from confir.resampling.kinds import as_sample
from confir.resampling.pair_draws import BorrowedVariance
from confir.resampling.studentised_maxima import studentised_maxima
from vote_samples import simulate_votes

NOT_BOUNDED = np.random.default_rng(5).normal(size=(30, 4))


def of_means(values, count=None):
    """The means of columns as a sample of influence values: (x - mean)/n."""
    rows, columns = values.shape
    count = np.ones(rows, np.int64) if count is None else count
    mean = count @ values / count.sum()
    none = np.zeros((columns, columns), np.int64)
    labels = tuple((name, "score") for name in "abcd"[:columns])
    influence = (values - mean) / count.sum()
    return InfluenceSample(
        labels, (columns, 1), np.zeros(columns, bool), mean, influence, count, Wins(none, none)
    )


def plain(values):
    topics = tuple(f"{number:03}" for number in range(len(values)))
    return as_sample(Scores(topics, tuple("abcd"), ("score",), values[:, :, None]))


def test_means_and_contrasts_have_the_errors_of_plain_scores():
    one, other = of_means(NOT_BOUNDED), plain(NOT_BOUNDED)
    plus, minus = np.array([1, 2]), np.array([0, 3])
    for mine, theirs in ((one, other), (one.contrast(plus, minus), other.contrast(plus, minus))):
        found, expected = (s.distribution(slice(None), None, ("se",)) for s in (mine, theirs))
        for name in ("estimate", "se", "df", "acceleration", "count"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    np.testing.assert_allclose(one.covariance(), other.covariance(), rtol=1e-12)


@pytest.mark.parametrize("method", ["t", "bca", "percentile", "bootstrap-t"])
def test_intervals_are_those_of_plain_scores(method):
    chosen = find_method(method)
    limits = []
    for sample in (of_means(NOT_BOUNDED), plain(NOT_BOUNDED)):
        drawn = sample.draw(999, np.random.default_rng(1), chosen.needs)
        found = sample.distribution(slice(None), drawn, chosen.needs)
        limits.append(chosen.compute(found, 0.95))
    np.testing.assert_allclose(*limits, rtol=1e-10)


def test_maxima_are_those_of_plain_scores():
    borrowed = BorrowedVariance(6, 1.0), BorrowedVariance(3, 1.0)
    found, expected = (
        studentised_maxima(sample.of_measure(0), 600, np.random.default_rng(1), *borrowed)
        for sample in (of_means(NOT_BOUNDED), plain(NOT_BOUNDED))
    )
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def test_rows_of_several_units_are_drawn_as_often_as_these():
    values, count = NOT_BOUNDED[:3], np.array([5, 1, 4])
    few, many = of_means(values, count), of_means(values.repeat(count, axis=0))
    assert (few.topics, few.rows) == (10, 3)
    one, other = (s.distribution(slice(None), None, ("se",)) for s in (few, many))
    np.testing.assert_allclose(one.se, other.se, rtol=1e-12)
    drawn = few.replicate_means(40_000, np.random.default_rng(2))
    np.testing.assert_allclose(drawn.mean(axis=0), few.estimate, atol=0.01)
    np.testing.assert_allclose(drawn.std(axis=0), other.se * np.sqrt(0.9), rtol=0.02)
    borrowed = BorrowedVariance(6, 1.0), BorrowedVariance(3, 1.0)
    maxima = [
        studentised_maxima(s.of_measure(0), 9_999, np.random.default_rng(3), *borrowed).largest
        for s in (few, many)
    ]
    quantiles = [np.quantile(one, (0.5, 0.9)) for one in maxima]
    np.testing.assert_allclose(*quantiles, rtol=0.06)


def test_many_rows_are_normal():
    values = np.random.default_rng(1).normal(size=(6_000, 3)) * [1, 2, 3]
    sample = of_means(values).of_measure(0)
    drawn = sample.replicate_means(20_000, np.random.default_rng(2))
    np.testing.assert_allclose(np.cov(drawn.T), sample.covariance() / 6_000, atol=6e-5)
    ((pairs, size),) = sample.pair_draws(99, np.random.default_rng(1))
    assert (type(pairs).__name__, size) == ("NormalDraws", 99)


def test_units_of_which_few_matter_to_a_column_are_resampled():
    many = np.array([20_000, 20_000])
    even = of_means(np.array([[1.0, 2.0], [3.0, 1.0]]), many)
    values = np.array([[1.0, 0.0], [2.0, 0.0], [1.5, 50.0]])
    rare = of_means(values, np.array([20_000, 20_000, 20]))
    kinds = [
        type(next(sample.pair_draws(9, np.random.default_rng(1)))[0]).__name__
        for sample in (even, rare)
    ]
    assert kinds == ["NormalDraws", "UnitDraws"]


def test_a_new_kind_of_influence_values_is_planned_from_like_plain_scores(monkeypatch):
    class Means(RunScores):
        design, in_range = None, False
        runs, measures, topics = tuple("abcd"), ("score",), tuple(map(str, range(30)))

    monkeypatch.setitem(kind_list.GIVEN, Means, lambda _: InfluenceSample)
    monkeypatch.setitem(kind_list.MAKERS, InfluenceSample, lambda _: of_means(NOT_BOUNDED))
    table = dict(zip("abcd", NOT_BOUNDED.T.tolist(), strict=True))
    for goal in ({"half_width": 0.2}, {"baseline": "b", "difference": 0.3}):
        found, expected = (confir.plan_topics(scores, **goal) for scores in (Means(), table))
        np.testing.assert_array_equal(found.topics, expected.topics)
        np.testing.assert_allclose(found.sd, expected.sd, rtol=1e-12)


def test_signs_are_not_flipped():
    strengths = fit_strengths(simulate_votes([0, 0.5, -0.5], 100, 1))
    for test in ("randomisation", "sign", "wilcoxon"):
        with pytest.raises(UnsupportedMethodError, match="strengths by votes lack"):
            confir.compare_runs(strengths, test=test)
    assert not confir.compare_runs(strengths, rng=1).self_normalised.any()


def test_wins_of_a_contrast_are_those_between_its_columns():
    strengths = fit_strengths(simulate_votes([0, 0.5, -0.5], 100, 1, ties=0.5))
    contrast = as_sample(strengths).contrast(np.array([2]), np.array([0]))
    table = strengths.table
    assert [int(part[0]) for part in contrast.wins()] == [
        table.wins[2, 0],
        table.ties[2, 0],
        table.wins[0, 2],
    ]


def test_a_contrast_of_equal_columns_is_identical():
    values = np.stack([NOT_BOUNDED[:, 0]] * 2 + [NOT_BOUNDED[:, 0] + 1], axis=1)
    contrast = of_means(values).contrast(np.array([1, 2]), np.array([0, 0]))
    least, most = contrast.extremes()
    assert (least[0], most[0]) == (0, 0)
    assert least[1] == most[1] > 0
