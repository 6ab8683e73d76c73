"""Plans of human judgements in addition to a model's: against brute force and simulation."""

import numpy as np
import pytest
from scipy import stats

import confir
from confir.errors import InvalidValueError

NAMES = tuple(f"{place:04}" for place in range(430))


def population(topics, seed, correlation=0.8):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(topics, 2)) * [1.0, 0.5]
    f = correlation * y + np.sqrt(1 - correlation**2) * rng.normal(size=y.shape) * [1.0, 0.5] + 0.4
    return y, f


def judged(y, f, human):
    names = NAMES[: len(f)]
    runs, measures = ("a", "b"), ("score",)
    model = confir.Scores(names, runs, measures, f[:, :, None])
    return confir.results.JudgedScores(
        names[:human], runs, measures, y[:human, :, None], model=model
    )


@pytest.fixture(scope="module")
def pilot():
    return judged(*population(430, seed=1), 30)


def test_scores_by_two_judges_are_taken_only_where_they_are_combined(pilot):
    with pytest.raises(InvalidValueError, match="which this does not combine"):
        confir.as_scores(pilot)
    assert confir.as_scores(pilot, human=True) is pilot


def test_with_human_judgements_of_all_topics_the_model_changes_nothing():
    both = judged(*population(40, seed=1), 40)
    found, alone = (
        confir.confidence_interval(scores, method="percentile", replicates=999, rng=1)
        for scores in (both, both.human)
    )
    np.testing.assert_allclose(found.low, alone.low, rtol=1e-9)
    np.testing.assert_allclose(found.high, alone.high, rtol=1e-9)


def half_width(y, f, every, n, more):
    """Half width of a plan by the formulas, for one run."""
    var_y, var_f = y.var(ddof=1), every.var(ddof=1)
    covariance = np.corrcoef(y, f)[0, 1] * np.sqrt(var_y * var_f)
    weight = min(max(covariance / var_f * more / (n + more), 0.0), 1.0)
    rest = var_y - 2 * weight * covariance + weight**2 * var_f
    variance = rest / n + (weight**2 * var_f / more if more else 0.0)
    return stats.t.ppf(0.975, n - 2 if weight > 0 else n - 1) * np.sqrt(variance)


def test_the_fewest_human_topics_against_brute_force(pilot):
    plan = confir.plan_human_topics(pilot, half_width=0.2, model_topics=300)
    y, f, g = pilot.judged()
    for run in range(2):
        every = np.concatenate([f, g])[:, run, 0]
        column = y[:, run, 0], f[:, run, 0], every
        fitting = [n for n in range(3, 301) if half_width(*column, n, 300 - n) <= 0.2]
        assert plan.human_topics[run, 0] == fitting[0]
        alone = [n for n in range(2, 999) if half_width(*column, n, 0) <= 0.2]
        assert plan.human_alone[run, 0] == alone[0]
    assert (plan.human_topics < plan.human_alone).all()
    assert (plan.model_topics == 300).all()


@pytest.mark.slow
def test_the_cheapest_mix_against_brute_force(pilot):
    plan = confir.plan_human_topics(pilot, half_width=0.25, human_cost=10, model_cost=0.5)
    y, f, g = pilot.judged()
    for run in range(2):
        every = np.concatenate([f, g])[:, run, 0]
        column = y[:, run, 0], f[:, run, 0], every
        costs = []
        for n in range(3, 120):
            fits = (more for more in (0, *range(2, 400)) if half_width(*column, n, more) <= 0.25)
            more = next(fits, None)  # more only cost more
            if more is not None:
                costs.append(10 * n + 0.5 * ((n + more) if more else 0))
        assert plan.cost[run, 0] == pytest.approx(min(costs), rel=0.01)
        assert plan.cost_alone[run, 0] == 10 * plan.human_alone[run, 0]
    assert (plan.cost <= plan.cost_alone).all()


def test_a_model_that_costs_as_much_as_human_judgements_is_not_used(pilot):
    plan = confir.plan_human_topics(pilot, half_width=0.25, human_cost=1, model_cost=1)
    assert (plan.model_topics == 0).all()
    np.testing.assert_array_equal(plan.human_topics, plan.human_alone)


def test_the_plan_holds_in_new_samples(pilot):
    plan = confir.plan_human_topics(pilot, half_width=0.3, model_topics=200)
    n = int(plan.human_topics[0, 0])
    widths = []
    for seed in range(100):
        drawn = judged(*population(200, seed=[5, seed]), n)
        interval = confir.confidence_interval(drawn, method="t")
        widths.append((interval.high - interval.low)[0, 0] / 2)
    assert np.mean(widths) == pytest.approx(0.3, rel=0.2)  # the pilot's variances are estimates


def test_goals_that_the_model_cannot_reach_have_no_plan(pilot):
    plan = confir.plan_human_topics(pilot, half_width=0.01)
    assert np.isnan(plan.human_topics).all()
    assert np.isfinite(plan.human_alone).all()
    best = confir.plan_human_topics(pilot, half_width=0.5, family="best", model_topics=400)
    pair = confir.plan_human_topics(
        pilot, half_width=0.25, baseline="a", model_topics=400, level=0.9
    )
    assert best.human_topics[0, 0] == pair.human_topics[0, 0]  # of two runs: one-sided, twice


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"half_width": 0}, "half_width is 0"),
        ({"half_width": 0.1, "human_cost": 1}, "one cost is given"),
        ({"half_width": 0.1, "human_cost": 1, "model_cost": -1}, "cost is -1"),
        (
            {"half_width": 0.1, "human_cost": 1, "model_cost": 1, "model_topics": 9},
            "follows from the costs",
        ),
        ({"half_width": 0.1, "model_topics": 2}, "model_topics is 2"),
    ],
)
def test_what_cannot_be_planned_is_refused(pilot, options, message):
    with pytest.raises(InvalidValueError, match=message):
        confir.plan_human_topics(pilot, **options)
    with pytest.raises(InvalidValueError, match="the scores are by one judge"):
        confir.plan_human_topics(pilot.human, half_width=0.1)


def test_a_model_that_is_not_needed_has_no_weight_and_one_that_cannot_help_none_known():
    contrary = judged(*population(60, seed=5, correlation=-0.8), 30)
    plan = confir.plan_human_topics(contrary, half_width=0.3, human_cost=10, model_cost=0.5)
    assert (plan.model_topics == 0).all()
    assert (plan.weight == 0).all()
    assert (plan.human_topics == plan.human_alone).all()
    never = confir.plan_human_topics(contrary, half_width=0.01)
    assert np.isnan(never.human_topics).all()
    assert np.isnan(never.weight).all()


@pytest.mark.parametrize(
    ("family", "baseline", "said"),
    [("baseline", None, "needs a baseline"), ("best", "a", "takes no baseline")],
)
def test_a_family_that_does_not_go_with_the_baseline_is_refused(pilot, family, baseline, said):
    with pytest.raises(InvalidValueError, match=said):
        confir.plan_human_topics(pilot, half_width=0.1, family=family, baseline=baseline)
