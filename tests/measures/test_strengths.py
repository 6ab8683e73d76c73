"""Bradley-Terry strengths: by hand, under exchange of sides, and undefined cases."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from confir.data.tables.input_table import encode_ids
from confir.data.votes import Votes, read_votes
from confir.errors import (
    InvalidValueError,
    SmallSampleWarning,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.measures.strengths import fit_strengths
from vote_samples import simulate_votes


def named(*rows):
    return read_votes([dict(zip(("left", "right", "winner"), row, strict=True)) for row in rows])


EVEN = [("a", "b", "a"), ("b", "a", "b")] * 6


def test_two_systems_have_the_logit_of_their_share():
    votes = {"left": ["x"] * 40, "right": ["y"] * 40, "winner": ["x"] * 30 + ["y"] * 10}
    found = fit_strengths(votes)
    np.testing.assert_allclose(found.strength, np.log(3.0) / 2 * np.array([1, -1]))
    # variance of a logit of n votes is 1/(n p q), here times n/(n-1)
    difference = found.covariance()[0, 0] * 4
    assert difference == pytest.approx(40 / 39 / (40 * 0.75 * 0.25))
    np.testing.assert_allclose(found.share(), [0.75, 0.25])


def test_influence_values_sum_to_0_over_units_and_systems():
    votes = simulate_votes([0, 0.5, -0.5, 1], 200, 1, ties=0.4, judges=20, judge_sd=1)
    for cluster in (None, "judge"):
        for prior in (None, 2.0):
            found = fit_strengths(votes, cluster=cluster, prior=prior)
            np.testing.assert_allclose(found.count @ found.influence, 0, atol=1e-12)
            np.testing.assert_allclose(found.influence.sum(axis=1), 0, atol=1e-12)
            assert found.units == (200 if cluster is None else 20)


def test_neither_sides_nor_order_of_votes_matter():
    votes = simulate_votes([0, 0.5, -0.5, 1], 200, 2, ties=0.4, judges=20)
    order = np.random.default_rng(1).permutation(200)
    turned = votes.where(order)
    turned = Votes(turned.systems, turned.right, turned.left, 1 - turned.winner, judge=turned.judge)
    for cluster in (None, "judge"):
        one, other = fit_strengths(votes, cluster=cluster), fit_strengths(turned, cluster=cluster)
        np.testing.assert_allclose(one.strength, other.strength, atol=1e-12)
        np.testing.assert_allclose(one.influence, other.influence, atol=1e-12)


def test_rows_of_equal_votes_are_those_of_single_votes():
    votes = simulate_votes([0, 0.5, -0.5], 60, 3, ties=0.4)
    topics = encode_ids([f"{number:03}" for number in range(60)])
    by_vote = Votes(votes.systems, votes.left, votes.right, votes.winner, topic=topics)
    few, many = fit_strengths(votes), fit_strengths(by_vote, cluster="topic")
    assert len(few.count) < len(many.count) == 60
    np.testing.assert_allclose(few.covariance(), many.covariance(), atol=1e-14)


def test_votes_without_a_judge_are_units_of_their_own():
    judges = ["x", "x", None, None, "y"]
    rows = [
        {"left": "a", "right": "b", "winner": winner, "judge": judge}
        for winner, judge in zip("aabab", judges, strict=True)
    ]
    with pytest.warns(SmallSampleWarning, match="there are 4 judges"):
        assert fit_strengths(rows, cluster="judge").units == 4


def test_a_prior_is_ties_with_a_system_of_strength_0():
    rows = [("a", "b", "a")] * 3 + [("b", "c", "b")] * 2 + [("a", "c", "tie")] * 7
    votes, prior = named(*rows), 1.5
    points = votes.table().points

    def loss(strength):
        apart = strength[:, None] - strength
        anchored = np.logaddexp(0, -strength) + np.logaddexp(0, strength)
        return (points * np.logaddexp(0, -apart)).sum() + prior / 2 * anchored.sum()

    expected = minimize(loss, np.zeros(3), tol=1e-14, method="BFGS").x
    found = fit_strengths(votes, prior=prior).strength
    np.testing.assert_allclose(found, expected - expected.mean(), atol=1e-6)


def test_dropped_ties_leave_the_votes_with_a_winner():
    votes = simulate_votes([0, 0.5, -0.5], 300, 4, ties=0.8)
    kept = fit_strengths(votes.where(~votes.tied))
    np.testing.assert_array_equal(fit_strengths(votes, ties="drop").strength, kept.strength)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([*EVEN, ("c", "a", "c")], "'c' only wins; expected further votes"),
        ([*EVEN, ("c", "a", "a"), ("d", "b", "b")], "'c', 'd' only lose; expected"),
        ([*EVEN, ("c", "a", "c"), ("d", "b", "b")], "'c' only wins and 'd' only loses"),
        ([*EVEN, ("c", "d", "c"), ("c", "d", "d")], "no votes connect 'c', 'd' with the other"),
        (
            [*EVEN, ("c", "d", "c"), ("c", "d", "d"), ("a", "c", "c")],
            "'a', 'b' never win against the others",
        ),
    ],
)
def test_strengths_that_do_not_exist_are_refused_by_name_and_a_prior_helps(rows, problem):
    with pytest.raises(UnsupportedMethodError, match="strengths do not exist") as caught:
        fit_strengths(named(*rows))
    assert problem in str(caught.value)
    assert np.isfinite(fit_strengths(named(*rows), prior=1).strength).all()


def test_one_vote_and_one_judge_show_no_variance():
    with pytest.raises(InvalidValueError, match="there is one vote"):
        fit_strengths([{"left": "a", "right": "b", "winner": "tie"}])
    with pytest.raises(InvalidValueError, match="there is one judge"):
        fit_strengths({"left": "ab", "right": "ba", "winner": "ab", "judge": "xx"}, cluster="judge")
    with pytest.raises(InvalidValueError, match="votes name no topic; expected a column topic"):
        fit_strengths(named(*EVEN), cluster="topic")


def test_all_ties_are_even_and_cannot_be_dropped():
    rows = named(*[("a", "b", "tie")] * 12)
    assert fit_strengths(rows).strength.tolist() == [0, 0]
    with pytest.raises(InvalidValueError, match="all 12 votes are ties"):
        fit_strengths(rows, ties="drop")


SIDES = [("a", "b", "a"), ("b", "a", "a"), ("a", "b", "b"), ("b", "a", "b")] * 3


def with_covariate(votes, values):
    return replace(votes, covariates={"length": np.array(values, float)})


def test_a_position_that_follows_from_the_systems_is_refused_by_name():
    always = named(*[("base", "a", "left"), ("base", "b", "right")] * 4, ("base", "a", "right"))
    both = named(*[("base", "b", "left"), ("base", "a", "left")] * 4, ("base", "a", "right"))
    for votes, prior in ((always, 1.0), (both, 1.0)):
        with pytest.raises(
            UnsupportedMethodError, match="the side follows from the systems: 'a', 'b'"
        ):
            fit_strengths(votes, position="adjust", prior=prior)
    two = [("a", "b", winner) for winner in "aab"] * 4
    with pytest.raises(UnsupportedMethodError, match="expected votes in both orders"):
        fit_strengths(named(*two), position="adjust")


@pytest.mark.parametrize("prior", [None, 1.0])
def test_a_position_that_decides_every_vote_is_refused(prior):
    rows = [(*side, winner) for side in ("ab", "ba") for winner in ("left", "tie")]
    votes = named(*rows * 4)
    fit_strengths(votes, prior=prior)
    decided = votes.where(~votes.tied)
    with pytest.raises(UnsupportedMethodError, match="the left side wins every vote"):
        fit_strengths(decided, position="adjust", prior=prior)
    assert np.isfinite(fit_strengths(votes, position="adjust", prior=prior).effects.estimate).all()


@pytest.mark.parametrize("prior", [None, 1.0])
def test_a_covariate_that_decides_every_vote_is_refused(prior):
    votes = named(*SIDES)
    longer = with_covariate(votes, np.where(votes.winner == 1, 3, -2))
    with pytest.raises(UnsupportedMethodError, match="length and strengths predict every vote"):
        fit_strengths(longer, covariates=["length"], prior=prior)
    turned = longer.covariates["length"].copy()
    turned[0] *= -1
    found = fit_strengths(with_covariate(votes, turned), covariates=["length"], prior=prior)
    assert 0 < found.effects.estimate[0] < 20


def test_an_almost_separating_direction_of_a_chain_of_systems_is_finite():
    """Strengths so far apart that chances are 0 or 1 up to rounding exist nevertheless."""
    rows = [
        row
        for a, b in itertools.pairwise("abcdefgh")
        for row in [(a, b, a)] * 150 + [(b, a, a)] * 150 + [(a, b, b), (b, a, b)]
    ]
    votes = named(*rows, ("a", "h", "left"), ("h", "a", "right"))
    found = fit_strengths(votes, position="adjust")
    assert np.ptp(found.strength) > 30
    assert abs(found.effects.estimate[0]) < 3


def drawn_votes(seed):
    """Return a few votes, mostly for the left side in every third draw."""
    rng = np.random.default_rng(seed)
    systems, size = int(rng.integers(2, 6)), int(rng.integers(4, 30))
    left = rng.integers(0, systems, size)
    right = (left + rng.integers(1, systems, size)) % systems
    chances = [[0.4, 0.4, 0.2], [0.85, 0.15, 0.0], [0.3, 0.1, 0.6]][seed % 3]
    votes = Votes(tuple("abcdef"[:systems]), left, right, rng.choice([1, 0, 0.5], size, p=chances))
    return with_covariate(votes, rng.integers(-3, 4, size))


@pytest.mark.filterwarnings("ignore::confir.errors.SmallSampleWarning")
def test_what_is_refused_against_ranks_and_linear_programs():
    """The maximum exists where no direction separates the votes, and is one where the rank is full."""
    found = Counter()
    for seed in range(200):
        votes = drawn_votes(seed)
        covariates = ["length"] if seed // 2 % 2 else []
        rows, systems = np.arange(len(votes)), len(votes.systems)
        design = np.zeros((len(votes), systems + 1 + len(covariates)))
        design[rows, votes.left], design[rows, votes.right] = 1.0, -1.0
        design[:, systems] = 1.0
        if covariates:
            design[:, systems + 1] = votes.covariates["length"]
        signed = np.concatenate([design[votes.winner > 0], -design[votes.winner < 1]])
        solved = linprog(
            -signed.sum(axis=0),
            A_ub=-signed,
            b_ub=np.zeros(len(signed)),
            bounds=[(-1, 1)] * design.shape[1],
        )
        exists = -solved.fun <= 1e-6 and np.linalg.matrix_rank(design) == design.shape[1] - 1
        try:
            fit_strengths(votes, position="adjust", covariates=covariates)
            assert exists, seed
        except UnsupportedMethodError as error:
            assert not exists, seed
            found["infinite" if "infinite" in str(error) else "other"] += 1
        found["exists"] += exists
    assert min(found.values()) > 20


def test_covariates_that_follow_from_the_systems_or_are_0_are_refused():
    votes = named(*SIDES)
    size = np.where(votes.left == 0, 7.0, -7.0)
    with pytest.raises(UnsupportedMethodError, match="covariate 'length' follows from the systems"):
        fit_strengths(with_covariate(votes, size), covariates=["length"])
    with pytest.raises(InvalidValueError, match="covariate 'length' is 0 in all votes"):
        fit_strengths(with_covariate(votes, 0 * size), covariates=["length"])
    with pytest.raises(UnknownNameError, match="unknown covariate 'width'"):
        fit_strengths(with_covariate(votes, size), covariates=["width"])
    named_alike = replace(votes, covariates={"position": size})
    with pytest.raises(InvalidValueError, match="'position' has the name of the effect"):
        fit_strengths(named_alike, covariates=["position"])


def test_votes_without_sides_have_no_position():
    votes = replace(named(*SIDES), has_sides=False)
    with pytest.raises(InvalidValueError, match="do not say which answer stood left"):
        fit_strengths(votes, position="adjust")


def test_exchanged_sides_change_the_sign_of_the_position_alone():
    votes = simulate_votes([0, 0.5, -0.5, 1], 300, 2, ties=0.4, judges=20, position=0.5, length=0.3)
    turned = Votes(
        votes.systems,
        votes.right,
        votes.left,
        1 - votes.winner,
        judge=votes.judge,
        covariates={"length": -votes.covariates["length"]},
    )
    for options in ({"cluster": "judge"}, {"prior": 2.0}, {"covariates": ["length"]}):
        one, other = (
            fit_strengths(given, position="adjust", **options) for given in (votes, turned)
        )
        np.testing.assert_allclose(one.strength, other.strength, atol=1e-10)
        np.testing.assert_allclose(one.covariance(), other.covariance(), atol=1e-10)
        signs = np.array([-1.0, 1.0])[: len(one.effects.names)]
        np.testing.assert_allclose(one.effects.estimate, signs * other.effects.estimate, atol=1e-10)


def test_ties_of_a_prior_stand_on_no_side():
    votes = simulate_votes([0, 0.5, -0.5], 200, 3, position=0.8)

    def loss(found):
        logits = found[votes.left] - found[votes.right] + found[3]
        anchored = np.logaddexp(0, -found[:3]) + np.logaddexp(0, found[:3])
        return np.logaddexp(0, logits).sum() - votes.winner @ logits + 1.5 / 2 * anchored.sum()

    expected = minimize(loss, np.zeros(4), tol=1e-12, method="BFGS").x
    found = fit_strengths(votes, position="adjust", prior=1.5)
    np.testing.assert_allclose(found.strength, expected[:3] - expected[:3].mean(), atol=1e-5)
    np.testing.assert_allclose(found.effects.estimate, expected[3:], atol=1e-5)


def test_systems_are_chosen_with_their_votes_and_influence():
    found = fit_strengths(simulate_votes([0, 0.5, -0.5, 1], 200, 1))
    chosen = found.select(run=["s003", "s000"])
    assert chosen.runs == ("s003", "s000")
    np.testing.assert_array_equal(chosen.influence, found.influence[:, [3, 0]])
    np.testing.assert_array_equal(chosen.table.wins, found.table.wins[np.ix_([3, 0], [3, 0])])
