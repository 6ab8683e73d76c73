"""Bradley-Terry strengths: by hand, under exchange of sides, and undefined cases."""

import numpy as np
import pytest
from scipy.optimize import minimize

from confir.data.tables.input_table import encode_ids
from confir.data.votes import Votes, read_votes
from confir.errors import InvalidValueError, SmallSampleWarning, UnsupportedMethodError
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


def test_systems_are_chosen_with_their_votes_and_influence():
    found = fit_strengths(simulate_votes([0, 0.5, -0.5, 1], 200, 1))
    chosen = found.select(run=["s003", "s000"])
    assert chosen.runs == ("s003", "s000")
    np.testing.assert_array_equal(chosen.influence, found.influence[:, [3, 0]])
    np.testing.assert_array_equal(chosen.table.wins, found.table.wins[np.ix_([3, 0], [3, 0])])
