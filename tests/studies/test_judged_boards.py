"""Leaderboards over datasets judged by a model, with human judgements of some topics."""

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.errors import TopicMismatchError, UnsupportedMethodError
from confir.resampling.kinds import as_sample
from confir.studies.leaderboard.board_sources import board_scores
from confir.studies.leaderboard.borda import borda_counts

RUNS = ("a", "b", "c")


def dataset(number, *, people=10, topics=40, spread=0.1):
    """Scores by a model, whose scale differs by dataset, and human ones of the first topics."""
    rng = np.random.default_rng([7, number])
    human = 0.4 + rng.normal(0, spread, (topics, 1)) + rng.normal(0, 0.05, (topics, len(RUNS)))
    human[:, 2] += 0.1
    model = (0.6 + 0.1 * number) * human + 0.05 * number + rng.normal(0, 0.03, human.shape)
    ids = tuple(f"t{place:02}" for place in range(topics))
    by_model = Scores(ids, RUNS, ("AP",), np.clip(model, 0, 1)[:, :, None])
    by_people = Scores(ids[:people], RUNS, ("AP",), np.clip(human, 0, 1)[:people, :, None])
    return by_model.with_human(by_people, "random-topics")


@pytest.fixture(scope="module")
def parts():
    return {f"d{number}": dataset(number, people=8 + 2 * number) for number in range(4)}


def board(parts, **options):
    return confir.make_leaderboard(parts, **{"replicates": 199, "rng": 1} | options)


def corrected(part, plus, minus=None):
    """Corrected mean, variance and df of a run or difference on one dataset, by the sample of it alone."""
    sample = as_sample(part)
    if minus is not None:
        sample = sample.contrast(np.array([plus]), np.array([minus]))
        plus = 0
    found = sample.distribution(slice(None), None, ("se",))
    return found.estimate[plus], found.se[plus] ** 2, found.df[plus]


def added(cells):
    """Mean over datasets, its variance and degrees of freedom by the formula of fixed datasets."""
    mean, variance, df = (np.array(column) for column in zip(*cells, strict=True))
    whole = variance.sum() ** 2 / (variance**2 / (df + 2)).sum() - 2
    return mean.mean(), variance.sum() / len(mean) ** 2, whole


def test_each_dataset_is_corrected_by_itself_and_variances_add_up(parts):
    sample = as_sample(board_scores(parts, None, None, "error"))
    found = sample.distribution(slice(None), None, ("se",))
    for run in range(len(RUNS)):
        expected = added([corrected(part, run) for part in parts.values()])
        assert (found.estimate[run], found.se[run] ** 2, found.df[run]) == pytest.approx(expected)
    made = board(parts)
    np.testing.assert_allclose(made.macro, found.estimate, rtol=1e-12)
    means = np.array([part.mean()[:, 0] for part in parts.values()])
    np.testing.assert_allclose(made.mean, means, rtol=1e-12)
    np.testing.assert_allclose(made.borda, borda_counts(means.T))
    assert made.topics.tolist() == [8, 10, 12, 14]
    assert made.model_topics.tolist() == [32, 30, 28, 26]


def test_a_difference_has_weights_of_its_own_on_each_dataset(parts):
    sample = as_sample(board_scores(parts, None, None, "error"))
    found = sample.contrast(np.array([2, 1]), np.array([0, 0])).distribution(slice(None), None, ())
    for column, run in enumerate((2, 1)):
        expected = added([corrected(part, run, 0) for part in parts.values()])
        seen = found.estimate[column], found.se[column] ** 2, found.df[column]
        assert seen == pytest.approx(expected)


def test_random_datasets_vary_as_their_corrected_means_do(parts):
    sample = as_sample(board_scores(parts, None, "random", "error"))
    means = np.array([part.mean()[:, 0] for part in parts.values()])
    found = sample.distribution(slice(None), None, ("se",))
    np.testing.assert_allclose(found.se, means.std(axis=0, ddof=1) / 2)
    assert (found.df == 3).all()
    apart = [corrected(part, 2, 0)[0] for part in parts.values()]
    contrast = sample.contrast(np.array([2]), np.array([0])).distribution(slice(None), None, ())
    assert contrast.estimate[0] == pytest.approx(np.mean(apart))
    assert contrast.se[0] == pytest.approx(np.std(apart, ddof=1) / 2)


@pytest.mark.parametrize("datasets", ["fixed", "random"])
def test_replicates_of_differences_vary_as_their_standard_errors(parts, datasets):
    sample = as_sample(board_scores(parts, None, datasets, "error")).of_measure(0)
    (draws, size), *_ = sample.pair_draws(4000, np.random.default_rng(1))
    others = np.array([1, 2])
    moves = draws.moves(0, others, slice(0, size)).of_means()
    se = sample.contrast(others, np.zeros(2, int)).distribution(slice(None), None, ()).se
    np.testing.assert_allclose(moves.deviation.std(axis=1), se, rtol=0.15)
    np.testing.assert_allclose(np.sqrt(moves.variance.mean(axis=1)), se, rtol=0.2)


def test_one_dataset_would_give_what_its_scores_give():
    part = dataset(1)
    design = {"topic": list(part.model.topics), "dataset": ["d"] * len(part.model.topics)}
    whole, alone = as_sample(part.with_design(design)), as_sample(part)
    one, other = (s.distribution(slice(None), None, ("se",)) for s in (whole, alone))
    np.testing.assert_allclose(one.se, other.se)
    np.testing.assert_allclose(one.df, other.df)


def test_human_judgements_of_all_topics_give_their_own_means(parts):
    every = {
        name: part.model.with_human(part.model, "all") for name, part in parts.items()
    }  # the same judge twice
    plain = {name: part.model for name, part in parts.items()}
    one, other = board(every), board(plain)
    np.testing.assert_allclose(one.macro, other.macro)
    np.testing.assert_allclose(one.macro_low, other.macro_low, atol=1e-10)
    assert one.model_topics.tolist() == [0] * 4


def test_clusters_inside_datasets_count(parts):
    clustered = {}
    for name, part in parts.items():
        cluster = [str(place // 2) for place in range(len(part.model.topics))]
        clustered[name] = part.with_design({"topic": list(part.model.topics), "cluster": cluster})
    sample = as_sample(board_scores(clustered, None, None, "error"))
    found = sample.distribution(slice(None), None, ("se",))
    expected = added([corrected(part, 0) for part in clustered.values()])
    assert (found.estimate[0], found.se[0] ** 2, found.df[0]) == pytest.approx(expected)
    assert board(clustered).runs == RUNS  # by Bonferroni's t


def test_standardised_scores_are_corrected_on_the_new_scale(parts):
    made = board(parts, standardise=True)
    np.testing.assert_allclose(made.mean.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(made.mean.std(axis=1, ddof=1), 1)


def test_gaps_are_left_out_or_refused(parts):
    gappy = {**parts, "d0": parts["d0"].select(run=["a", "b"])}
    with pytest.raises(TopicMismatchError, match="c on d0"):
        board(gappy)
    with pytest.warns(confir.errors.TopicWarning, match="left out 1 run"):
        assert board(gappy, incomplete="drop-runs").runs == ("a", "b")
    with pytest.raises(UnsupportedMethodError, match="each pair of runs has its own weight"):
        board(gappy, incomplete="model")
    with pytest.raises(UnsupportedMethodError, match="'d0' has scores of one judge"):
        board({**parts, "d0": parts["d0"].model})
    design = {"topic": list(parts["d0"].model.topics), "dataset": ["x"] * 8 + ["y"] * 32}
    with pytest.raises(TopicMismatchError, match="dataset 'y' has 0 human-judged topics"):
        board(parts["d0"].with_design(design))
