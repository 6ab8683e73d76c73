"""Preferences: the same families, best set and ranks as for scores, and statistics of votes alone."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, t

import confir
from confir.data.tables.input_table import Ids
from confir.data.votes import Votes
from confir.errors import (
    ConfirError,
    DegenerateSampleWarning,
    InvalidValueError,
    SmallSampleWarning,
)
from confir.measures import strengths as strengths_module
from confir.measures.strengths import fit_strengths
from confir.pairs.gate import judge_gate
from confir.pairs.run_groups import RunGroups
from confir.studies.leaderboard.dataset_votes import votes_of_datasets
from confir.studies.preferences.early_looks import share_sequence
from confir.studies.preferences.model_fit import check_fit
from confir.studies.preferences.preferences import rate_preferences
from confir.studies.preferences.table import effect_sentences
from confir.studies.preferences.vote_plan import plan_votes
from vote_samples import simulate_votes

STRENGTH = (1.0, 0.4, 0.0, -0.4, -1.0)


@pytest.fixture(scope="module")
def votes():
    return simulate_votes(STRENGTH, 800, 1, ties=0.4, judges=40, judge_sd=0.3)


@pytest.fixture(scope="module")
def rated(votes):
    return rate_preferences(votes, cluster="judge", replicates=999, rng=1)


def test_intervals_are_t_over_clusters(votes, rated):
    strengths = fit_strengths(votes, cluster="judge")
    half = t.ppf(0.975, 39) * np.sqrt(strengths.covariance().diagonal())
    np.testing.assert_allclose(rated.high - rated.strength, half)
    np.testing.assert_allclose(rated.strength - rated.low, half)
    assert (rated.units, rated.cluster, rated.total) == (40, "judge", 800)


def test_pairs_best_set_and_ranks_are_those_of_the_other_verbs(votes, rated):
    strengths = fit_strengths(votes, cluster="judge")
    compared = confir.compare_runs(strengths, replicates=999, rng=1)
    np.testing.assert_allclose(rated.comparison.p_adjusted, compared.p_adjusted)
    np.testing.assert_allclose(rated.comparison.simultaneous_low, compared.simultaneous_low)
    np.testing.assert_array_equal(rated.comparison.verdict, compared.verdict)
    best = confir.find_best(strengths, replicates=999, rng=1)
    np.testing.assert_array_equal(rated.may_be_best, best.in_set[:, 0])
    ranks = confir.rank_runs(strengths, replicates=999, rng=1)
    np.testing.assert_array_equal(rated.rank_low, ranks.simultaneous_low[:, 0])
    assert isinstance(rated.group_runs(), RunGroups)


def test_verbs_about_runs_take_votes_as_they_are(votes):
    one = confir.compare_runs(votes, replicates=99, rng=1)
    other = confir.compare_runs(fit_strengths(votes), replicates=99, rng=1)
    np.testing.assert_array_equal(one.p_adjusted, other.p_adjusted)
    assert confir.find_best(votes, replicates=99, rng=1).runs == votes.systems
    assert confir.rank_runs(votes, replicates=99, rng=1).rank.tolist() == [[1], [2], [3], [4], [5]]


def test_strengths_have_intervals_of_every_method_for_influence_values(votes, rated):
    found = confir.confidence_interval(fit_strengths(votes, cluster="judge"), method="t")
    np.testing.assert_allclose(found.low[:, 0], rated.low)
    assert confir.confidence_interval(votes, method="bca", rng=1).low.shape == (5, 1)


def test_verbs_about_single_topics_refuse_votes(votes, tmp_path):
    for refused in (
        lambda: confir.plan_topics(votes, half_width=0.1),
        lambda: confir.write_report(tmp_path / "x.html", votes),
        lambda: confir.describe_topics(votes),
        lambda: confir.compare_runs(votes, replicates=99).topic_differences(),
    ):
        with pytest.raises(
            ConfirError, match=r"which (strengths by votes lack: .*|a set of votes lacks); expected"
        ):
            refused()


def test_a_baseline_is_a_family_and_a_gate(votes):
    rated = rate_preferences(votes, baseline="s002", replicates=999, rng=1)
    assert rated.comparison.family == "baseline"
    gate = confir.judge_gate(rated.comparison, "strength")
    assert gate.closed
    assert [one.run for one in gate.candidates if not one.passes] == ["s003", "s004"]
    wide = confir.judge_gate(rated.comparison, "strength", margin=3.0)
    assert not wide.closed


def test_pairs_have_observed_and_predicted_shares_the_stronger_first(rated):
    pairs = rated.pairs()
    assert (pairs.difference >= 0).all()
    table = rated.strengths.table
    records = {(r["run"], r["against"]): r for r in pairs.to_records()}
    found = records["s000", "s003"]
    assert found["votes"] == table.votes[0, 3]
    assert found["observed"] == pytest.approx(
        (table.wins[0, 3] + table.ties[0, 3] / 2) / table.votes[0, 3]
    )
    apart = rated.strength[0] - rated.strength[3]
    assert found["predicted"] == pytest.approx(1 / (1 + np.exp(-apart)))
    assert found["verdict"] == "better"
    assert found["low"] <= found["difference"] <= found["high"]


def test_limits_of_pairs_are_turned_with_their_sign(rated):
    comparison, pairs = rated.comparison, rated.pairs()
    expected = {}
    for pair, (baseline, run) in enumerate(comparison.pairs):
        low, high = (float(limit[pair, 0]) for limit in comparison.limits)
        expected[run, baseline], expected[baseline, run] = (low, high), (-high, -low)
    found = zip(pairs.low.tolist(), pairs.high.tolist(), strict=True)
    assert [expected[pair] for pair in pairs.pairs] == list(found)


def test_share_won_is_of_the_votes_between_both(rated):
    comparison = rated.comparison
    decided = comparison.wins + comparison.ties + comparison.losses
    np.testing.assert_allclose(
        comparison.share_won, (comparison.wins + comparison.ties / 2) / decided
    )


def test_share_of_wins_is_the_mean_against_the_others(rated):
    apart = rated.strength[:, None] - rated.strength
    won = 1 / (1 + np.exp(-apart))
    expected = [np.delete(row, place).mean() for place, row in enumerate(won)]
    np.testing.assert_allclose(rated.share, expected)


def test_deviance_is_that_of_the_table_and_its_p_value_near_chi_square():
    votes = simulate_votes(STRENGTH, 4_000, 3)
    strengths = fit_strengths(votes)
    fit = check_fit(strengths, np.random.default_rng(1))
    expected = 0.0
    for i in range(5):
        for j in range(i):
            won, lost = strengths.table.wins[i, j], strengths.table.wins[j, i]
            share = 1 / (1 + np.exp(strengths.strength[j] - strengths.strength[i]))
            together = won + lost
            expected += 2 * won * np.log(won / together / share)
            expected += 2 * lost * np.log(lost / together / (1 - share))
    assert fit.deviance == pytest.approx(expected)
    assert fit.df == 10 - 4
    assert fit.p == pytest.approx(chi2.sf(fit.deviance, fit.df), abs=0.05)


def circle(size):
    """Votes of which a mostly beats b, b beats c, and c beats a."""
    left, right = np.tile([0, 1, 2], size), np.tile([1, 2, 0], size)
    won = np.where(np.arange(3 * size) % 10 < 8, 1.0, 0.0)
    return Votes(("a", "b", "c"), left, right, won)


def test_a_circle_does_not_fit_and_is_counted():
    fit = check_fit(fit_strengths(circle(100)), np.random.default_rng(1))
    assert fit.p == 0.001
    assert (fit.cycles, fit.df) == (1, 1)
    assert fit.expected_cycles < 0.5


def test_two_systems_leave_nothing_to_test():
    votes = {"left": "ab" * 6, "right": "ba" * 6, "winner": "ab" * 6}
    assert np.isnan(check_fit(fit_strengths(votes), np.random.default_rng(1)).p)


@pytest.mark.parametrize("ties", [0.0, 0.8])
def test_the_model_is_rarely_rejected_where_it_holds(ties):
    p = [
        check_fit(
            fit_strengths(simulate_votes(STRENGTH, 600, seed, ties=ties)),
            np.random.default_rng(seed),
        ).p
        for seed in range(40)
    ]
    # P(Binomial(40, .05) > 6) = .003; the mean of 40 uniform numbers is .5 ± .046
    assert sum(one <= 0.05 for one in p) <= 6
    assert np.mean(p) == pytest.approx(0.5, abs=0.15)


def test_planned_votes_reach_the_half_width():
    votes = simulate_votes(STRENGTH, 2_000, 5)
    plan = plan_votes(votes, half_width=0.1)
    assert plan.goal == "half-width"
    most = int(plan.votes.max())
    more = simulate_votes(STRENGTH, 2_000 + most, 6)
    rated = rate_preferences(more, replicates=99, rng=1)
    half = rated.high - rated.strength
    assert half.max() == pytest.approx(0.1, rel=0.1)


def test_votes_on_the_named_pair_separate_neighbours():
    votes = simulate_votes([0.3, 0.0, -1.0], 300, 7)
    plan = plan_votes(votes)
    assert plan.contrasts == (("s000", "s001"), ("s001", "s002"))
    assert plan.ask[0] == ("s000", "s001")
    assert plan.ask_votes[0] < plan.votes[0]
    more = int(plan.ask_votes[0])
    strengths = fit_strengths(votes)
    share = strengths.predicted()[0, 1]
    won = np.repeat([1.0, 0.0], [round(more * share), more - round(more * share)])
    joined = Votes(
        votes.systems,
        np.concatenate([votes.left, np.zeros(more, np.int64)]),
        np.concatenate([votes.right, np.ones(more, np.int64)]),
        np.concatenate([votes.winner, won]),
    )
    covariance = fit_strengths(joined).covariance()
    se = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert t.ppf(0.975, 299) * se == pytest.approx(plan.target[0], rel=0.02)


def test_no_votes_are_needed_where_the_goal_is_reached():
    plan = plan_votes(simulate_votes([1.0, -1.0], 500, 1), half_width=2.0)
    assert plan.votes.tolist() == plan.ask_votes.tolist() == [0, 0]


def test_the_pair_to_ask_is_the_best_of_all_by_search():
    strengths = fit_strengths(simulate_votes([0.5, 0.2, 0.0, -0.7], 120, 9, weights=[9, 1, 1, 1]))
    plan = plan_votes(
        simulate_votes([0.5, 0.2, 0.0, -0.7], 120, 9, weights=[9, 1, 1, 1]), half_width=0.1
    )
    predicted = strengths.predicted()
    information = np.linalg.inv(strengths.inverse)
    for place, (run, _) in enumerate(plan.contrasts):
        contrast = np.eye(4)[strengths.runs.index(run)] - 0.25
        after = {}
        for i in range(4):
            for j in range(i + 1, 4):
                e = np.eye(4)[i] - np.eye(4)[j]
                more = information + predicted[i, j] * predicted[j, i] * np.outer(e, e)
                after[i, j] = contrast @ np.linalg.solve(more, contrast)
        best = min(after, key=after.get)
        assert plan.ask[place] == tuple(strengths.runs[i] for i in best)


def test_a_share_sequence_is_that_of_arriving_topics():
    votes = simulate_votes([0.6, -0.6], 300, 1, ties=0.3, names=("new", "old"))
    found = share_sequence(votes, baseline="old")
    won = np.where(votes.left == 0, votes.winner, 1 - votes.winner)
    assert found.share == pytest.approx(won.mean())
    assert 0.5 < found.low < found.share < found.high
    assert found.sentence == "new is preferred to old"
    turned = share_sequence(votes, baseline="new")
    assert (turned.low, turned.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-6)


def test_units_of_a_sequence_are_means_in_order_of_arrival():
    votes = Votes(
        ("a", "b"),
        np.zeros(5, np.int64),
        np.ones(5, np.int64),
        np.array([1.0, 0.0, 1.0, 0.5, 1.0]),
        topic=Ids(["q1", "q2"], np.array([1, 1, 0, 0, 1])),
    )
    found = share_sequence(votes, baseline="b", cluster="topic")
    assert (found.units, found.votes) == (2, 5)
    assert found.share == pytest.approx((2 / 3 + 0.75) / 2)


def test_a_sequence_is_of_two_systems(votes):
    with pytest.raises(InvalidValueError, match="there are 5 systems"):
        share_sequence(votes)


def coverage(strength, votes, samples, **options):
    """Return the coverage of intervals of strengths, with clusters and without, and of sets and ranks."""
    strength = np.asarray(strength) - np.mean(strength)
    true_rank = 1 + (strength[:, None] < strength).sum(axis=1)
    hits, naive, best, ranks = [], [], [], []
    for seed in range(samples):
        drawn = simulate_votes(strength, votes, seed, **options)
        cluster = "judge" if options.get("judges") else None
        rated = rate_preferences(drawn, cluster=cluster, replicates=199, rng=seed)
        hits.append((rated.low <= strength) & (strength <= rated.high))
        best.append(rated.may_be_best[np.argmax(strength)])
        ranks.append(((rated.rank_low <= true_rank) & (true_rank <= rated.rank_high)).all())
        alone = fit_strengths(drawn)
        half = t.ppf(0.975, votes - 1) * np.sqrt(alone.covariance().diagonal())
        naive.append(np.abs(alone.strength - strength) <= half)
    return np.mean(hits), np.mean(naive), np.mean(best), np.mean(ranks)


@pytest.mark.slow
def test_intervals_ranks_and_best_sets_hold_as_often_as_they_say():
    hits, naive, best, ranks = coverage(STRENGTH, 400, 400, ties=0.4)
    # 400 samples of 5 strengths: the Monte-Carlo error of coverage is about .007
    assert hits == naive == pytest.approx(0.95, abs=0.02)
    assert best >= 0.93
    assert ranks >= 0.93


@pytest.mark.slow
def test_clustered_votes_need_clusters():
    """A judge's taste of sd 1 shrinks shares: strengths are those that its average predicts."""
    hits, naive, _, _ = coverage((0.0,) * 5, 1_000, 300, judges=30, judge_sd=1.0)
    assert hits == pytest.approx(0.95, abs=0.02)
    assert naive < 0.85


def one_sided(votes, share, seed):
    """Return votes between four systems of which the left one wins this share, whatever it is."""
    drawn = simulate_votes([0.0] * 4, votes, seed)
    won = np.random.default_rng(seed).random(votes) < share
    return replace(drawn, winner=won.astype(float))


def test_the_left_side_that_wins_most_votes_is_said_in_the_first_lines():
    found = rate_preferences(one_sided(400, 0.7, 1), replicates=99, rng=1)
    (effect,) = found.effects.to_records()
    assert effect["effect"] == "position"
    assert not effect["adjusted"]
    assert effect["low"] < np.log(0.7 / 0.3) < effect["high"]
    assert effect["p"] < 1e-6
    assert (found.position, found.position_low) == (effect["estimate"], effect["low"])
    (said,) = effect_sentences(found)
    assert re.match(r"The left side wins (6|7)\d\.\d% of the votes between equal systems", said)
    assert said.endswith("strengths ignore this: add --position adjust")
    adjusted = rate_preferences(one_sided(400, 0.7, 1), position="adjust", replicates=99, rng=1)
    assert effect_sentences(adjusted)[0].endswith("strengths are adjusted for it")
    assert "adjusted for position" in adjusted.about
    right = rate_preferences(one_sided(400, 0.3, 1), replicates=99, rng=1)
    assert effect_sentences(right)[0].startswith("The right side wins")


def test_a_side_that_wins_all_votes_is_said_though_its_effect_is_infinite():
    found = rate_preferences(one_sided(60, 1.0, 1), replicates=99, rng=1)
    assert found.position is None
    assert effect_sentences(found) == [
        "The left side wins all 60 votes, which may show the position, not the systems"
    ]


def test_a_position_without_effect_is_shown_and_not_said():
    found = rate_preferences(simulate_votes(STRENGTH, 400, 1), replicates=99, rng=1)
    assert effect_sentences(found) == []
    assert "; effect of standing left: " in found.note()


def test_strengths_are_shown_though_a_position_does_not_fit_into_memory(monkeypatch):
    votes = simulate_votes(STRENGTH, 400, 1)
    rows = len(fit_strengths(votes).count)
    monkeypatch.setattr(strengths_module, "_MOST_NUMBERS", 5 * rows)
    found = rate_preferences(votes, replicates=99, rng=1)
    assert found.position is None
    assert "pairs and outcomes by 5 systems" in found.effects.reason


def test_wins_on_datasets_have_no_position():
    means = {"a": [0.5, 0.4, 0.9, 0.3], "b": [0.1, 0.6, 0.7, 0.4], "c": [0.2, 0.5, 0.3, 0.6]}
    with pytest.warns(SmallSampleWarning):
        found = rate_preferences(votes_of_datasets(means), cluster="topic", replicates=99, rng=1)
    assert (found.position, found.effects.effects, found.effects.reason) == (None, (), "")


def test_adjusted_strengths_fit_pairs_in_both_orders():
    votes = simulate_votes(STRENGTH, 4_000, 3, position=1.0)
    plain = check_fit(fit_strengths(votes), np.random.default_rng(1))
    strengths = fit_strengths(votes, position="adjust")
    fit = check_fit(strengths, np.random.default_rng(1))
    assert (plain.df, fit.df) == (10 - 4, 20 - 5)
    won, shown = np.zeros((5, 5)), np.zeros((5, 5))
    np.add.at(won, (votes.left, votes.right), votes.winner)
    np.add.at(shown, (votes.left, votes.right), 1)
    expected = 0.0
    for i, j in itertools.permutations(range(5), 2):
        logit = strengths.strength[i] - strengths.strength[j] + strengths.effects.estimate[0]
        share, predicted = won[i, j] / shown[i, j], 1 / (1 + np.exp(-logit))
        expected += 2 * won[i, j] * np.log(share / predicted)
        expected += 2 * (shown[i, j] - won[i, j]) * np.log((1 - share) / (1 - predicted))
    assert fit.deviance == pytest.approx(expected)
    assert fit.p == pytest.approx(chi2.sf(fit.deviance, fit.df), abs=0.05)


def test_votes_with_covariates_are_not_tested_for_fit():
    votes = simulate_votes(STRENGTH, 400, 3, length=0.5)
    found = rate_preferences(votes, covariates=["length"], replicates=99, rng=1)
    assert np.isnan(found.fit.p)
    assert found.effects.effects == ("position", "length")
    assert found.effects.adjusted.tolist() == [False, True]
    rms = np.sqrt(np.mean(votes.covariates["length"] ** 2))
    assert found.effects.unit.tolist() == [1, rms]


def test_a_plan_of_adjusted_strengths_rests_on_their_variance():
    votes = simulate_votes(STRENGTH, 400, 3, position=1.5)
    plain, adjusted = (
        plan_votes(votes, half_width=0.1, position=position) for position in ("estimate", "adjust")
    )
    assert (adjusted.half_width > plain.half_width).all()


@pytest.mark.slow
@pytest.mark.parametrize("judges", [0, 60])
def test_intervals_of_effects_and_adjusted_strengths_hold_as_often_as_they_say(judges):
    """Of judges with a taste, the true effects are those of the average judge: here none has one."""
    strength = np.array(STRENGTH)
    cluster = "judge" if judges else None
    options = {"ties": 0.3, "judges": judges, "position": 0.5, "length": 0.4}
    hits, effects, naive = [], [], []
    for seed in range(400):
        drawn = simulate_votes(strength, 500, seed, **options)
        rms = np.sqrt(np.mean(np.square(drawn.covariates["length"]))) / 250.0
        found = fit_strengths(drawn, cluster=cluster, position="adjust", covariates=["length"])
        critical = t.ppf(0.975, found.units - 1)
        half = critical * np.sqrt(found.covariance().diagonal())
        hits.append(np.abs(found.strength - strength) <= half)
        true = np.array([0.5, 0.4 * rms])
        effects.append(np.abs(found.effects.estimate - true) <= critical * found.effects.se)
        plain = fit_strengths(drawn)
        half = critical * np.sqrt(plain.covariance().diagonal())
        naive.append(np.abs(plain.strength - strength) <= half)
    # 400 samples: the Monte-Carlo error of one share is .011, of the mean over strengths less
    assert np.mean(hits) == pytest.approx(0.95, abs=0.02)
    np.testing.assert_allclose(np.mean(effects, axis=0), 0.95, atol=0.035)
    assert np.mean(naive) < np.mean(hits)


@pytest.mark.slow
def test_a_position_without_effect_is_said_as_often_as_its_level():
    p = [
        fit_strengths(simulate_votes(STRENGTH, 300, seed, ties=0.3), position="adjust").effects
        for seed in range(400)
    ]
    z = np.array([abs(one.estimate[0] / one.se[0]) for one in p])
    assert np.mean(z >= t.ppf(0.975, 299)) == pytest.approx(0.05, abs=0.025)


def test_votes_that_are_all_ties_have_no_interval_and_pass_the_gate():
    votes = {"left": ["a"] * 12, "right": ["b"] * 12, "winner": ["tie"] * 12}
    with pytest.warns(DegenerateSampleWarning, match="no interval for a and b"):
        found = rate_preferences(votes, baseline="a", replicates=99, rng=1)
    assert found.strength.tolist() == [0, 0]
    assert np.isnan([*found.low, *found.high]).all()
    (candidate,) = judge_gate(found.comparison, "strength").candidates
    assert (candidate.decision.verdict, candidate.passes) == ("identical", True)


def test_neighbours_whose_votes_are_all_ties_have_a_plan():
    """Their difference and its variance are 0 up to rounding."""
    rows = [("a", "c", "tie"), ("b", "c", "tie"), ("c", "d", "c"), ("d", "c", "d"), ("c", "d", "c")]
    votes = [dict(zip(("left", "right", "winner"), row, strict=True)) for row in rows * 4]
    plan = plan_votes(votes)
    tied = [place for place, pair in enumerate(plan.contrasts) if "d" not in pair]
    assert len(tied) == 2
    np.testing.assert_allclose(plan.half_width[tied], 0, atol=1e-6)
    assert set(plan.votes[tied]) <= {0, np.inf}


def test_votes_that_are_all_ties_plan_nothing():
    votes = {"left": ["a"] * 12, "right": ["b"] * 12, "winner": ["tie"] * 12}
    with pytest.raises(
        InvalidValueError, match="nothing can be planned: strengths have no interval"
    ):
        plan_votes(votes)


def test_a_seed_of_numpy_is_the_same_seed(votes):
    shares = [
        rate_preferences(votes, replicates=99, rng=seed).best.share_first
        for seed in (7, np.int64(7))
    ]
    np.testing.assert_array_equal(*shares)


def test_votes_say_what_they_are_where_they_take_no_design(votes):
    with pytest.raises(ConfirError, match="a set of votes takes no design"):
        fit_strengths(votes).with_design({"topic": ["1"], "cluster": ["a"]})
