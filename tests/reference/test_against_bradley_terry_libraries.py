"""Bradley-Terry strengths and their covariance against statsmodels, choix and evalica."""

import choix
import evalica
import numpy as np
import pytest
import statsmodels.api as sm
from scipy.linalg import block_diag

from confir.data.votes import read_votes
from confir.measures.strengths import fit_strengths
from vote_samples import simulate_votes


def design_matrix(votes):
    """One row per vote, the last system left out."""
    rows = np.arange(len(votes))
    matrix = np.zeros((len(votes), len(votes.systems)))
    matrix[rows, votes.left], matrix[rows, votes.right] = 1.0, -1.0
    return matrix[:, :-1]


def fit_by_statsmodels(votes, groups, further=None):
    """Return strengths that sum to 0, further effects, and their covariance by clusters, times G/(G-1)."""
    further = np.empty((len(votes), 0)) if further is None else further
    design = np.hstack([design_matrix(votes), further])
    model = sm.GLM(votes.winner, design, family=sm.families.Binomial())
    fitted = model.fit(
        tol=1e-14,
        cov_type="cluster",
        cov_kwds={"groups": groups, "use_correction": False},
    )
    size = len(votes.systems)
    centre = block_diag(np.eye(size)[:, :-1] - 1.0 / size, np.eye(further.shape[1]))
    number = len(np.unique(groups))
    covariance = centre @ fitted.cov_params() @ centre.T * number / (number - 1)
    return centre @ fitted.params, covariance


@pytest.mark.parametrize("ties", [0.0, 0.5])
@pytest.mark.parametrize("cluster", [None, "judge"])
def test_strengths_and_covariance_against_statsmodels(ties, cluster):
    strength = np.linspace(-1, 1, 6)
    votes = simulate_votes(
        strength, 400, 1, ties=ties, judges=25, judge_sd=0.5, weights=[5, *"11111"]
    )
    groups = np.arange(len(votes)) if cluster is None else votes.judge.codes
    expected, covariance = fit_by_statsmodels(votes, groups)
    found = fit_strengths(votes, cluster=cluster)
    np.testing.assert_allclose(found.strength, expected, atol=1e-8)
    np.testing.assert_allclose(found.covariance(), covariance, atol=1e-8)


@pytest.mark.parametrize("cluster", [None, "judge"])
@pytest.mark.parametrize("terms", [["position"], ["length"], ["position", "length"]])
def test_effects_of_position_and_length_against_statsmodels(terms, cluster):
    strength = np.linspace(-1, 1, 6)
    votes = simulate_votes(
        strength, 500, 1, ties=0.4, judges=25, judge_sd=0.5, position=0.6, length=-0.4
    )
    length = votes.covariates["length"]
    columns = {"position": np.ones(500), "length": length / np.sqrt(np.mean(length**2))}
    further = np.column_stack([columns[name] for name in terms])
    groups = np.arange(500) if cluster is None else votes.judge.codes
    expected, covariance = fit_by_statsmodels(votes, groups, further)
    covariates = [name for name in terms if name != "position"]
    position = "adjust" if "position" in terms else "estimate"
    found = fit_strengths(votes, cluster=cluster, position=position, covariates=covariates)
    estimates = np.concatenate([found.strength, found.effects.estimate])
    np.testing.assert_allclose(estimates, expected, atol=1e-8)
    np.testing.assert_allclose(found.covariance(), covariance[:6, :6], atol=1e-8)
    np.testing.assert_allclose(found.effects.se**2, covariance.diagonal()[6:], atol=1e-8)


def test_the_position_in_the_arena_of_mteb_against_statsmodels(real_data):
    votes = read_votes(real_data / "mteb-arena" / "votes.json")
    every = np.arange(len(votes))
    expected, covariance = fit_by_statsmodels(votes, every, np.ones((len(votes), 1)))
    found = fit_strengths(votes, position="adjust")
    np.testing.assert_allclose(found.strength, expected[:-1], atol=1e-8)
    np.testing.assert_allclose(found.effects.estimate, expected[-1:], atol=1e-8)
    np.testing.assert_allclose(found.effects.se**2, covariance[-1, -1:], atol=1e-8)


def test_the_arena_of_mteb_against_statsmodels(real_data):
    votes = read_votes(real_data / "mteb-arena" / "votes.json")
    expected, covariance = fit_by_statsmodels(votes, np.arange(len(votes)))
    found = fit_strengths(votes)
    np.testing.assert_allclose(found.strength, expected, atol=1e-8)
    np.testing.assert_allclose(found.covariance(), covariance, atol=1e-8)


def test_strengths_against_choix():
    votes = simulate_votes([0.4, -0.2, 1.0, -0.6, 0.0], 300, 2, ties=0.3)
    pairs = zip(votes.left.tolist(), votes.right.tolist(), votes.winner.tolist(), strict=True)
    entered = []  # wins twice, ties once each way: a tie is half a win for each
    for left, right, winner in pairs:
        entered += {
            1.0: [(left, right)] * 2,
            0.0: [(right, left)] * 2,
            0.5: [(left, right), (right, left)],
        }[winner]
    expected = choix.opt_pairwise(len(votes.systems), entered, alpha=0, tol=1e-12)
    np.testing.assert_allclose(fit_strengths(votes).strength, expected - expected.mean(), atol=2e-6)


def test_strengths_against_evalica():
    votes = simulate_votes([0.4, -0.2, 1.0, -0.6, 0.0], 300, 3, ties=0.3)
    names = np.array(votes.systems)
    outcome = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    found = evalica.bradley_terry(
        names[votes.left].tolist(),
        names[votes.right].tolist(),
        [outcome[winner] for winner in votes.winner.tolist()],
        tolerance=1e-14,
        limit=100_000,
    )
    expected = np.log([found.scores[name] for name in votes.systems])
    np.testing.assert_allclose(fit_strengths(votes).strength, expected - expected.mean(), atol=1e-8)
