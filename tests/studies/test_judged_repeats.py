"""Repeats of systems judged by a model, with human judgements of some topics."""

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.resampling.kinds import as_sample
from confir.studies.leaderboard.board_sources import board_scores

SYSTEMS, REPEATS, TOPICS, PEOPLE = 3, 4, 40, 12
RUNS = tuple(f"s{system}@{repeat}" for system in range(SYSTEMS) for repeat in range(REPEATS))


def made(seed=1, spread=0.05):
    """Scores of runs by a model, and human ones of the first topics."""
    rng = np.random.default_rng(seed)
    shape = (TOPICS, SYSTEMS, REPEATS)
    human = 0.4 + rng.normal(0, 0.1, (TOPICS, 1, 1)) + rng.normal(0, spread, (1, *shape[1:]))
    human = human + rng.normal(0, 0.03, shape)
    model = 0.7 * human + 0.1 + rng.normal(0, 0.03, shape)
    ids = tuple(f"t{place:02}" for place in range(TOPICS))
    values = [np.clip(one, 0, 1).reshape(TOPICS, -1, 1) for one in (human, model)]
    by_people = Scores(ids[:PEOPLE], RUNS, ("AP",), values[0][:PEOPLE])
    return Scores(ids, RUNS, ("AP",), values[1]).with_human(by_people, "random-topics")


def over_repeats(scores):
    """The same scores with the means over repeats as runs."""
    names = tuple(f"s{system}" for system in range(SYSTEMS))

    def mean(one):
        values = one.values.reshape(-1, SYSTEMS, REPEATS).mean(axis=2)
        return Scores(one.topics, names, one.measures, values[:, :, None])

    return mean(scores.model).with_human(mean(scores.human), "random-topics")


def repeat_variance(scores, system):
    """σ_b² of a system by loops, with the weight of the model in the mean over its repeats."""
    weight = as_sample(over_repeats(scores)).model_weight[system]
    own = slice(system * REPEATS, (system + 1) * REPEATS)
    y, f = scores.values[:, own, 0], scores.model.values[:, own, 0]
    f, rest = f[:PEOPLE], f[PEOPLE:]
    means = [
        np.mean(y[:, k] - weight * f[:, k]) + weight * rest[:, k].mean() for k in range(REPEATS)
    ]
    residual = 0.0
    for k in range(REPEATS):
        z = (y[:, k] - weight * f[:, k]) - (y - weight * f).mean(axis=1)
        g = weight * (rest[:, k] - rest.mean(axis=1))
        residual += (z.var(ddof=1) / PEOPLE + g.var(ddof=1) / len(rest)) / (REPEATS - 1)
    return max(0.0, np.var(means, ddof=1) - residual)


def test_the_variance_is_that_of_the_corrected_mean_and_of_the_repeats_by_loops():
    scores = made()
    found = as_sample(scores.with_repeats()).distribution(slice(None), None, ("se",))
    plain = as_sample(over_repeats(scores)).distribution(slice(None), None, ("se",))
    np.testing.assert_allclose(found.estimate, plain.estimate, rtol=1e-12)
    for system in range(SYSTEMS):
        expected = plain.se[system] ** 2 + repeat_variance(scores, system) / REPEATS
        assert found.se[system] ** 2 == pytest.approx(expected, rel=1e-10)
    assert (found.se >= plain.se).all()
    assert (found.se > plain.se).any()


def test_repeats_that_do_not_vary_add_nothing():
    scores = made(spread=0.0)
    same = scores.values.reshape(PEOPLE, SYSTEMS, REPEATS)[:, :, :1]
    model = scores.model.values.reshape(TOPICS, SYSTEMS, REPEATS)[:, :, :1]
    people, by_model = (
        Scores(one.topics, RUNS, ("AP",), np.repeat(v, REPEATS, axis=2).reshape(len(v), -1, 1))
        for one, v in ((scores.human, same), (scores.model, model))
    )
    repeated = by_model.with_human(people, "random-topics").with_repeats()
    found = confir.summarise_repeats(repeated)
    assert not found.se_repeats.any()


def test_a_judge_of_all_topics_leaves_the_repeats_of_one_judge():
    scores = made()
    both = scores.model.with_human(scores.model, "all").with_repeats()
    one, other = (confir.summarise_repeats(each) for each in (both, scores.model.with_repeats()))
    for name in ("mean", "se", "se_topics", "se_repeats", "low", "high"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9)


def test_differences_count_the_repeats_of_both_systems():
    scores = made()
    pair = np.array([1]), np.array([0])
    found, plain = (
        as_sample(each).contrast(*pair).distribution(slice(None), None, ("se",))
        for each in (scores.with_repeats(), over_repeats(scores))
    )
    added = sum(repeat_variance(scores, system) for system in (0, 1)) / REPEATS
    assert found.estimate == pytest.approx(plain.estimate)
    assert found.se[0] ** 2 == pytest.approx(plain.se[0] ** 2 + added, rel=1e-10)


@pytest.mark.parametrize("datasets", ["fixed", "random"])
def test_leaderboards_take_them(datasets):
    parts = {f"d{number}": made(seed=number) for number in range(3)}
    board = confir.make_leaderboard(
        parts, datasets=datasets, repeats=True, replicates=199, rng=1, standardise=False
    )
    means = [over_repeats(part).mean()[:, 0] for part in parts.values()]
    np.testing.assert_allclose(board.macro, np.mean(means, axis=0), rtol=1e-12)
    joined = as_sample(board_scores(parts, None, datasets, "error", repeats=True))
    alone = joined.without_repeats.distribution(slice(None), None, ("se",))
    assert (joined.distribution(slice(None), None, ("se",)).se >= alone.se).all()
    confir.make_leaderboard(parts, repeats=True, replicates=99, rng=1, standardise=True)


def test_systems_may_have_other_numbers_of_repeats():
    scores = made().select(run=list(RUNS[:-1]))
    parts = {"d0": scores, "d1": made(seed=2).select(run=list(RUNS[:-1]))}
    board = confir.make_leaderboard(parts, repeats=True, replicates=99, rng=1)
    assert board.runs == ("s0", "s1", "s2")
    assert np.isfinite(board.macro_high).all()


def test_successes_are_those_of_both_judges():
    scores = made()
    tries = confir.score_successes(scores, threshold=0.45)
    for judge in ("human", "model"):
        alone = confir.score_successes(getattr(scores, judge), threshold=0.45)
        np.testing.assert_array_equal(getattr(tries, judge).values, alone.values)
    first = tries.select(measure="pass@1")
    share = np.mean(scores.values.reshape(PEOPLE, SYSTEMS, REPEATS) >= 0.45, axis=2)
    np.testing.assert_allclose(first.values[:, :, 0], share)
    assert np.isfinite(confir.confidence_interval(first, method="t").low).all()
