"""Simulated scores: the true mean, and similarity to the scores to which they were fitted."""

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from confir.data.score_files import read_scores
from confir.data.scores import Scores
from confir.errors import InvalidValueError
from confir.studies.simulation.fitted_scores import _smooth_knots
from confir.studies.simulation.score_simulation import fit_population, simulate_scores

MANY = 40_000


def table(values) -> Scores:
    values = np.asarray(values, float)
    topics, runs, measures = values.shape
    return Scores(
        tuple(f"{number:03d}" for number in range(topics)),
        tuple(f"run{number}" for number in range(runs)),
        tuple(f"measure{number}" for number in range(measures)),
        values,
    )


def mixed_scores(topics: int = 60) -> Scores:
    """Three runs by three measures: AP-like with zeros and ones, P@10-like, and unbounded."""
    rng = np.random.default_rng(7)
    hardness = rng.standard_normal(topics)
    latent = hardness[:, None] + 0.7 * rng.standard_normal((topics, 3)) + [-0.5, 0.0, 0.6]
    continuous = np.clip(1.4 / (1.0 + np.exp(0.7 - latent)) - 0.15, 0.0, 1.0)
    discrete = np.round(10.0 / (1.0 + np.exp(-latent))) / 10.0
    return table(np.stack([continuous, discrete, 20.0 * latent - 3.0], axis=2))


@pytest.fixture(scope="module")
def scores():
    return mixed_scores()


@pytest.fixture(scope="module")
def population(scores):
    return fit_population(scores)


@pytest.fixture(scope="module")
def drawn(population):
    return population.draw(MANY, 11)


def test_the_truth_is_the_mean_of_a_huge_draw(population, drawn):
    error = drawn.values.std(axis=0) / np.sqrt(MANY)
    assert (np.abs(drawn.mean() - population.truth) < 4.0 * error).all()


def test_the_truth_is_near_the_mean_of_the_real_scores(scores, population):
    error = scores.values.std(axis=0) / np.sqrt(len(scores.topics))
    assert (np.abs(population.truth - scores.mean()) < 0.15 * error).all()


def test_spread_and_skewness_are_near_those_of_the_real_scores(scores, drawn):
    def skewness(values):
        deviation = values - values.mean(axis=0)
        return (deviation**3).mean(axis=0) / deviation.std(axis=0) ** 3

    ratio = drawn.values.std(axis=0) / scores.values.std(axis=0)
    assert (np.abs(ratio - 1.0) < 0.06).all()
    assert (np.abs(skewness(drawn.values) - skewness(scores.values)) < 0.2).all()


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_the_shares_of_zero_and_one_are_kept(scores, drawn, end):
    share = (scores.values[:, :, :2] == end).mean(axis=0)
    assert share.max() > 0.01
    error = np.sqrt(share * (1.0 - share) / MANY)
    seen = (drawn.values[:, :, :2] == end).mean(axis=0)
    assert (np.abs(seen - share) <= 4.0 * error).all()


def test_a_discrete_measure_keeps_its_support(scores, drawn):
    support = np.unique(scores.values[:, :, 1])
    assert len(support) < 12
    for run in range(3):
        assert np.isin(drawn.values[:, run, 1], support).all()


def test_a_quarter_of_a_discrete_frequency_moves_to_the_next_values_and_the_mean_stays():
    values = np.tile([0.2, 0.3, 0.6], 10).repeat(2).reshape(30, 2, 1)
    values[:, 1, 0] = 0.3
    values[0, 1, 0] = 0.2
    population = fit_population(table(values))
    assert population.truth[:, 0] == pytest.approx(values[:, :, 0].mean(axis=0), abs=1e-12)
    share = (population.draw(MANY, 3).values[:, 1, 0] == 0.6).mean()
    expected = 0.25 * 29 / 30 * 0.1 / 0.4  # the nearer neighbour gets the more
    assert share == pytest.approx(expected, abs=4 * np.sqrt(expected / MANY))


def test_a_continuous_measure_takes_values_between_the_real_ones(drawn):
    seen = np.unique(drawn.values[:, 0, 0])
    assert len(seen) > MANY / 2
    assert seen[0] >= 0.0
    assert seen[-1] <= 1.0


def test_scores_outside_zero_to_one_are_not_bounded(scores, drawn):
    assert drawn.values[:, :, 2].min() < scores.values[:, :, 2].min()
    assert drawn.values[:, :, 2].max() > scores.values[:, :, 2].max()


def test_rank_correlations_of_runs_and_measures_are_kept(scores, drawn):
    real = spearmanr(scores.values.reshape(len(scores.topics), -1)).statistic
    seen = spearmanr(drawn.values.reshape(MANY, -1)).statistic
    # the sampling error of the real ones is (1 - r²)/√60, up to 0.06 here
    assert np.abs(seen - real).max() < 0.04


def test_correlations_of_heavily_tied_scores_are_kept():
    rng = np.random.default_rng(5)
    latent = rng.multivariate_normal([0, 0, 0], [[1, 0.8, 0.5], [0.8, 1, 0.5], [0.5, 0.5, 1]], 400)
    tied = np.column_stack(
        [latent[:, 0] > 1.0, np.digitize(latent[:, 1], [0.0, 0.7]) / 2.0, latent[:, 2] > -0.3]
    )
    scores = table(tied[:, :, None].astype(float))
    drawn = simulate_scores(scores, topics=MANY, rng=1)
    real, seen = (np.corrcoef(rankdata(part.values[:, :, 0], axis=0).T) for part in (scores, drawn))
    assert np.abs(seen - real).max() < 0.03


def test_latent_correlation_of_halves_against_sheppard():
    """Sheppard 1899: normal variables cut at their medians correlate by (2/π) arcsin ρ."""
    cells = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [75, 25, 25, 75], axis=0)
    loadings = fit_population(table(cells[:, :, None])).loadings
    expected = 0.99 * np.sin(np.pi / 2.0 * 0.5)
    assert (loadings @ loadings.T)[0, 1] == pytest.approx(expected, abs=0.003)


def test_latent_correlation_of_distinct_scores_against_pearson():
    """Pearson 1907: a rank correlation r of normal variables means ρ = 2 sin(πr/6)."""
    rng = np.random.default_rng(4)
    values = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 3_000)
    loadings = fit_population(table(values[:, :, None])).loadings
    expected = 0.99 * 2.0 * np.sin(np.pi / 6.0 * spearmanr(values).statistic)
    assert (loadings @ loadings.T)[0, 1] == pytest.approx(expected, abs=0.001)


def test_a_mirrored_table_has_the_mirrored_population(scores):
    bounded = scores.values[:, :, :2]
    truth = fit_population(table(bounded)).truth
    mirrored = fit_population(table(1.0 - bounded)).truth
    assert mirrored == pytest.approx(1.0 - truth, abs=1e-6)


def test_negative_correlation_is_kept():
    x = np.random.default_rng(2).random(200)
    drawn = simulate_scores(table(np.stack([x, 1.0 - x], axis=1)[:, :, None]), topics=5_000, rng=1)
    assert spearmanr(drawn.values[:, 0, 0], drawn.values[:, 1, 0]).statistic < -0.97


def test_the_same_seed_gives_the_same_scores_and_another_seed_others(scores, population):
    first, again = population.draw(300, 1), simulate_scores(scores, topics=300, rng=1)
    assert np.array_equal(first.values, again.values)
    assert not np.array_equal(first.values, population.draw(300, 2).values)


def test_topics_are_named_by_number_in_bytewise_order(population, scores):
    drawn = population.draw(120, 1)
    assert drawn.topics[0] == "001"
    assert list(drawn.topics) == sorted(drawn.topics)
    assert drawn.runs == scores.runs
    assert drawn.measures == scores.measures


def test_a_constant_run_stays_constant():
    values = mixed_scores().values.copy()
    values[:, 1, 0] = 0.25
    values[:, 2, 1] = 0.5
    values[:, 0, 2] = -7.0
    population = fit_population(table(values))
    drawn = population.draw(500, 1)
    assert (drawn.values[:, 1, 0] == 0.25).all()
    assert (drawn.values[:, 2, 1] == 0.5).all()
    assert (drawn.values[:, 0, 2] == -7.0).all()
    assert population.truth[[1, 2, 0], [0, 1, 2]].tolist() == [0.25, 0.5, -7.0]
    assert (population.points[7] == 0.5).all()


def test_scores_that_are_all_constant_have_a_population():
    population = fit_population(table(np.full((5, 2, 1), 0.5)))
    assert (population.draw(10, 1).values == 0.5).all()


def test_a_run_with_one_score_above_zero_has_two_values():
    values = np.zeros((20, 1, 1))
    values[3] = 0.3
    population = fit_population(table(values))
    assert population.truth[0, 0] == pytest.approx(0.015)
    assert set(np.unique(population.draw(2_000, 1).values)) == {0.0, 0.3}


def test_scores_of_zero_and_one_only_stay_so():
    values = (np.arange(40) % 4 == 0).astype(float).reshape(20, 2, 1)
    population = fit_population(table(values))
    assert set(np.unique(population.draw(500, 1).values)) <= {0.0, 1.0}
    assert population.truth == pytest.approx(values.mean(axis=0))


def test_missing_scores_are_left_out_of_the_fit(scores):
    values = scores.values.copy()
    values[:20, 0] = np.nan
    population = fit_population(table(values))
    drawn = population.draw(5_000, 1)
    assert not np.isnan(drawn.values).any()
    assert population.truth[0, 0] == pytest.approx(values[20:, 0, 0].mean(), abs=0.02)
    correlation = spearmanr(drawn.values[:, 0, 0], drawn.values[:, 1, 0]).statistic
    real = spearmanr(values[20:, 0, 0], values[20:, 1, 0]).statistic
    assert correlation == pytest.approx(real, abs=0.1)


def test_one_topic_is_an_error_that_names_run_and_measure():
    with pytest.raises(InvalidValueError, match=r"run 'run0' has 1 score by measure0"):
        fit_population(table([[[0.5]]]))


def test_a_run_without_scores_is_an_error(scores):
    values = scores.values.copy()
    values[:, 1, 1] = np.nan
    with pytest.raises(InvalidValueError, match=r"run 'run1' has 0 scores by measure1"):
        fit_population(table(values))


def test_an_infinite_score_is_an_error(scores):
    values = scores.values.copy()
    values[0, 0, 0] = np.inf
    with pytest.raises(InvalidValueError, match="infinite"):
        fit_population(table(values))


@pytest.mark.parametrize("topics", [0, -3, 2.5])
def test_a_number_of_topics_below_one_is_an_error(population, topics):
    with pytest.raises(InvalidValueError, match="topics is"):
        population.draw(topics, 1)


def test_a_seed_below_zero_is_an_error(population):
    with pytest.raises(InvalidValueError, match="rng is"):
        population.draw(10, -1)


def test_a_population_cannot_be_changed(population):
    with pytest.raises(AttributeError):
        population.runs = ()


def test_trec8_is_resembled(real_data):
    scores = read_scores(real_data / "soboroff2014/scores/trec8.adhoc.csv.gz")
    scores = scores.select(run=scores.runs[::4])
    population = fit_population(scores)
    drawn = population.draw(8_000, 1)
    error = scores.values.std(axis=0) / np.sqrt(len(scores.topics))
    assert (np.abs(population.truth - scores.mean()) < 0.3 * error).all()
    real = spearmanr(scores.values.reshape(50, -1)).statistic
    seen = spearmanr(drawn.values.reshape(8_000, -1)).statistic
    assert abs((seen - real).mean()) < 0.03
    assert np.abs(seen - real).mean() < 0.04  # the real ones' sampling error is 0.11 on average


@pytest.mark.parametrize("bounded", [True, False])
def test_the_levels_of_a_smoothed_distribution_rise_from_0_to_1(bounded):
    inner = np.random.default_rng(1).beta(2.0, 3.0, 40)
    levels, values = _smooth_knots(inner, bounded)
    assert levels[[0, -1]].tolist() == [0.0, 1.0]
    assert (np.diff(levels) >= 0).all()
    assert (np.diff(values) > 0).all()
