"""Variance components and joint replicates against the two-way model."""

import numpy as np
import pytest
from scipy import stats

from confir.resampling import variance_components
from confir.resampling.variance_components import (
    estimate_components,
    joint_replicates,
    mean_over_topics,
    spread,
)

TOPICS = 30


def estimated(between, within, of_mean, count=TOPICS):
    return estimate_components(*map(np.atleast_1d, (between, within, of_mean, count)))


def test_components_are_solved_from_the_three_variances():
    a, b, e = 0.5, 0.2, 0.3
    found = estimated(a + e, b + e, b + e / TOPICS)
    assert found.topics[0] == pytest.approx(a / TOPICS)
    assert found.documents[0] == pytest.approx(b)
    assert found.interaction[0] == pytest.approx(e / TOPICS)
    assert found.total[0] == pytest.approx((a + e) / TOPICS + b)
    sampled = (a + e) / TOPICS
    assert found.df[0] == pytest.approx(found.total[0] ** 2 / (sampled**2 / (TOPICS - 1)))


def test_the_interaction_is_at_most_the_variance_between_topics():
    found = estimated(0.1, 0.5, 0.5 / TOPICS)
    assert found.topics[0] == 0.0
    assert found.interaction[0] == pytest.approx(0.1 / TOPICS)
    assert found.total[0] == pytest.approx(0.5 / TOPICS)


def test_components_are_never_negative():
    found = estimated(0.4, 0.1, 0.2)
    assert found.interaction[0] == 0.0
    assert found.topics[0] == pytest.approx(0.4 / TOPICS)
    assert found.documents[0] == pytest.approx(0.2)
    alone = estimated(0.4, 0.3, 0.005)
    assert alone.documents[0] == 0.0


def test_scores_that_do_not_vary_over_topics_leave_the_normal_distribution():
    assert estimated(0.0, 0.2, 0.2).df[0] == np.inf
    nothing = estimated(0.0, 0.0, 0.0)
    assert (nothing.total[0], nothing.df[0]) == (0.0, np.inf)


def test_one_topic_has_no_components():
    found = estimated(np.nan, 0.1, 0.1, 1)
    assert np.isnan([found.topics[0], found.interaction[0], found.total[0], found.df[0]]).all()


@pytest.mark.parametrize(
    ("a", "b", "e", "lowest", "highest"),
    [
        (1.0, 0.0, 0.5, 0.94, 0.96),
        (1.0, 0.05, 1.0, 0.94, 0.96),
        (0.2, 0.5, 0.2, 0.94, 0.96),
        # Without an effect of topics the total is the larger of two estimates.
        (0.0, 0.0, 1.0, 0.945, 0.985),
    ],
)
def test_intervals_from_the_total_hold_the_mean_as_often_as_claimed(a, b, e, lowest, highest):
    samples = 10_000
    rng = np.random.default_rng(4)
    scores = (
        np.sqrt(a) * rng.standard_normal((samples, TOPICS))
        + np.sqrt(b) * rng.standard_normal((samples, 1))
        + np.sqrt(e) * rng.standard_normal((samples, TOPICS))
    )
    known = np.full(samples, b + e), np.full(samples, b + e / TOPICS), np.full(samples, TOPICS)
    found = estimate_components(scores.var(axis=1, ddof=1), *known)
    half = stats.t.ppf(0.975, found.df) * np.sqrt(found.total)
    assert lowest <= (np.abs(scores.mean(axis=1)) <= half).mean() <= highest
    true = (a + e) / TOPICS + b
    assert found.total.mean() == pytest.approx(true, rel=0.01 if a else 0.12)


def simulated_replicates(replicates):
    rng = np.random.default_rng(2)
    scores = rng.beta(1, 3, (2, TOPICS))
    scores[1, :4] = np.nan
    weights = rng.multinomial(TOPICS, np.full(TOPICS, 1 / TOPICS), replicates) / TOPICS
    means = 0.3 + 0.04 * rng.standard_normal((2, replicates))
    between = np.square(spread(scores))
    components = estimate_components(
        between, np.array([0.02, 0.02]), np.square(spread(means)), np.array([TOPICS, TOPICS - 4])
    )
    return scores, means, weights, components


def test_joint_replicates_vary_as_much_as_the_total():
    scores, means, weights, components = simulated_replicates(40_000)
    found = joint_replicates(scores, means, weights, components)
    np.testing.assert_allclose(found.var(axis=1, ddof=1), components.total, rtol=0.05)
    np.testing.assert_allclose(found.mean(axis=1), np.nanmean(scores, axis=1), atol=1e-3)


def test_a_joint_replicate_is_a_mean_of_topics_and_a_deviation_of_the_collection():
    scores, means, weights, components = simulated_replicates(50)
    found = joint_replicates(scores, means, weights, components)
    for column, kept in ((0, slice(None)), (1, slice(4, None))):
        of_topics = scores[column, kept]
        drawn = weights[:, kept] @ of_topics / weights[:, kept].sum(axis=1)
        scale = np.sqrt(len(of_topics) / (len(of_topics) - 1))
        share = np.sqrt(components.documents[column] / means[column].var(ddof=1))
        expected = (
            of_topics.mean()
            + scale * (drawn - of_topics.mean())
            + share * (means[column] - means[column].mean())
        )
        np.testing.assert_allclose(found[column], expected, atol=1e-12)


def test_a_collection_that_changes_nothing_leaves_the_topics_alone():
    scores = np.array([[0.1, 0.5, 0.9]])
    still = np.full((1, 4), 0.5)
    weights = np.eye(3)[[0, 1, 2, 2]]
    components = estimated(0.16, 0.0, 0.0, 3)
    found = joint_replicates(scores, still, weights, components)
    np.testing.assert_allclose(found[0], 0.5 + np.sqrt(1.5) * np.array([-0.4, 0.0, 0.4, 0.4]))


@pytest.mark.parametrize("cells", [3, 4_000_000])
def test_the_spread_is_that_of_numpy_in_one_and_in_more_dimensions(cells, monkeypatch):
    monkeypatch.setattr(variance_components, "_CELLS", cells)
    values = np.random.default_rng(1).random((2, 3, 5))
    np.testing.assert_allclose(spread(values), values.std(axis=-1, ddof=1), rtol=1e-13)
    assert spread(values[0, 0]) == pytest.approx(values[0, 0].std(ddof=1), rel=1e-13)


def test_means_leave_out_what_is_missing():
    values = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(mean_over_topics(values), [2.0, np.nan])
