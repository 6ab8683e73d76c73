"""Plans with assurance, for families of differences, and from budgets, in simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from confir import compare_runs, confidence_interval, plan_topics
from confir.errors import InvalidValueError
from confir.pairs.power import Criterion
from confir.pairs.simultaneous import ComparisonFamily
from confir.report.result_table import result_table
from confir.resampling import normal_draws
from confir.resampling.kinds import as_topic_sample
from confir.studies.planning.pilot import (
    family_level,
    measure_pilot,
    planned_criterion,
    planned_differences,
)
from studies.score_tables import table

SD, DIFFERENCE = 0.2, 0.1


@pytest.fixture
def pilot():
    """Three runs on 40 topics by two measures."""
    rng = np.random.default_rng(0)
    return table(rng.random((40, 1, 2)) / 2 + rng.normal(0.0, 0.1, (40, 3, 2)))


def normal_pilots(topics, count, rng):
    """Pilots side by side, as measures: differences are normal with the same true sd."""
    values = np.zeros((topics, 2, count))
    values[:, 1] = rng.normal(0.0, SD, (topics, count))
    return table(values)


@pytest.mark.parametrize(("family", "baseline"), [("baseline", "run0"), ("best", None)])
def test_of_too_many_runs_to_draw_the_critical_value_is_bonferronis(monkeypatch, family, baseline):
    monkeypatch.setattr(normal_draws, "MOST_NORMAL_RUNS", 5)
    sample = as_topic_sample(table(np.random.default_rng(1).random((20, 6))))
    differences = planned_differences(sample, baseline, by_partner=family == "best")
    criterion = planned_criterion(sample, measure_pilot(differences), family, baseline, 0.95)
    assert np.asarray(criterion.level) == pytest.approx(family_level(0.95, family, 6))


def test_assurance_plans_with_the_published_factor():
    # spec: a pilot of 10 topics and an assurance of .80 take 1.293 times the sd
    pilots = normal_pilots(10, 20, np.random.default_rng(1))
    plan = plan_topics(pilots, baseline="run0", difference=DIFFERENCE, assurance=0.8)
    ratio = plan.planned_sd / plan.sd
    assert ratio == pytest.approx(np.sqrt(9 / stats.chi2.ppf(0.2, 9)))
    assert ratio == pytest.approx(1.293, abs=0.0005)


@pytest.mark.slow
@pytest.mark.parametrize(("topics", "assurance"), [(10, 0.8), (10, 0.95), (40, 0.8)])
def test_the_promised_power_is_reached_with_the_promised_assurance(topics, assurance):
    pilots = normal_pilots(topics, 3000, np.random.default_rng(2))
    plan = plan_topics(pilots, baseline="run0", difference=DIFFERENCE, assurance=assurance)
    planned = plan.topics[0].astype(int)
    reached = Criterion(0.95).power_function(np.array(SD), planned)(DIFFERENCE)
    share = np.mean(reached >= 0.8)
    # topics are whole numbers, so the goal is reached slightly more often
    slack = 4 * math.sqrt(assurance * (1 - assurance) / 3000)
    assert assurance - slack <= share <= assurance + slack + 0.02


@pytest.mark.slow
def test_without_assurance_the_promise_is_kept_in_half_of_the_pilots():
    pilots = normal_pilots(10, 3000, np.random.default_rng(3))
    planned = plan_topics(pilots, baseline="run0", difference=DIFFERENCE).topics[0].astype(int)
    reached = Criterion(0.95).power_function(np.array(SD), planned)(DIFFERENCE)
    assert np.mean(reached >= 0.8) == pytest.approx(0.44, abs=0.06)
    # promised .80, and .69 to .75 on average, as the specification measured
    assert 0.69 <= reached.mean() <= 0.76


def test_an_assured_half_width_is_reached_with_the_promised_assurance():
    pilots = normal_pilots(15, 3000, np.random.default_rng(4))
    plan = plan_topics(pilots, baseline="run0", half_width=0.05, assurance=0.9)
    reached = Criterion(0.95).half_width(np.array(SD), plan.topics[0].astype(int)) <= 0.05
    assert reached.mean() == pytest.approx(0.9, abs=0.03)


def test_assurance_leaves_the_range_and_says_so(pilot):
    goal = {"baseline": "run0", "difference": 0.05, "family": "none"}
    plain = plan_topics(pilot, **goal)
    assured = plan_topics(pilot, **goal, assurance=0.8)
    assert (assured.topics > plain.topics).all()
    np.testing.assert_array_equal(assured.low, plain.low)
    assert assured.sentences()[0].endswith("with power 0.8 (assurance 0.8)")
    assert "(assurance)" in result_table(assured).note
    assert "sd planned with" in result_table(assured).columns
    assert assured.to_records()[0]["assurance"] == 0.8


@pytest.mark.parametrize("runs", [2, 5, 20])
def test_bonferroni_levels_against_scipy(runs):
    df = 24
    quantile = {
        "baseline": stats.t.ppf(1 - 0.05 / (2 * (runs - 1)), df),
        "all-pairs": stats.t.ppf(1 - 0.05 / (runs * (runs - 1)), df),
        "best": stats.t.ppf(1 - 0.05 / (runs - 1), df),
        "none": stats.t.ppf(0.975, df),
    }
    for family, expected in quantile.items():
        level = family_level(0.95, family, runs)
        assert Criterion(level).half_width(np.array([1.0]), np.array([25])) == pytest.approx(
            expected / 5
        )


@pytest.mark.parametrize("runs", [2, 5, 20])
def test_plans_use_the_bound_of_the_families_that_runs_are_compared_in(runs):
    sizes = {"baseline": (runs - 1, 2), "all-pairs": (runs * (runs - 1) // 2, 2)}
    for family, (size, sides) in {**sizes, "best": (runs - 1, 1)}.items():
        bound = ComparisonFamily(size, np.empty(0), sides).critical_value(24.0, 0.9)
        level = family_level(0.9, family, runs)
        assert Criterion(level).half_width(np.array([1.0]), np.array([25])) == pytest.approx(
            bound / 5
        )


def test_one_run_has_no_family():
    with pytest.raises(InvalidValueError, match="there is one run"):
        family_level(0.95, "best", 1)
    with pytest.raises(InvalidValueError, match=r"requires more than 0\.5"):
        family_level(0.5, "best", 2)


def test_power_of_many_runs_against_a_baseline_is_had_in_simulation():
    # 8 runs share a baseline; each differs by the planned difference or not at all
    rng = np.random.default_rng(5)
    runs, true = 8, np.array([0.05, 0.05, 0.05, 0.0, 0.0, 0.0, 0.0])
    values = rng.normal(0.0, 0.1, (40, runs, 1))
    plan = plan_topics(table(values), baseline="run0", difference=0.05, family="baseline")
    topics = int(plan.topics[0, 0])
    sd = float(plan.sd[0, 0])
    single = plan_topics(table(values), baseline="run0", difference=0.05, family="none")
    assert topics > single.topics[0, 0]
    found, wrong = [], []
    critical = stats.t.ppf(1 - 0.05 / (2 * 7), topics - 1)
    for _ in range(1500):
        scores = rng.normal(0.0, sd / math.sqrt(2), (topics, runs))
        gaps = scores[:, 1:] + true - scores[:, :1]
        t = gaps.mean(axis=0) / gaps.std(axis=0, ddof=1) * math.sqrt(topics)
        found.append((np.abs(t[:3]) > critical).mean())
        wrong.append((np.abs(t[3:]) > critical).any())
    assert np.mean(found) == pytest.approx(0.8, abs=0.03)
    assert np.mean(wrong) <= 0.05


def test_dunnett_needs_no_more_topics_than_planned():
    # Dunnett's p for independent samples of a common variance is no larger than Bonferroni's
    rng = np.random.default_rng(6)
    groups = rng.normal(0.0, 1.0, (6, 30))
    exact = stats.dunnett(*groups[1:], control=groups[0], random_state=np.random.default_rng(7))
    pooled = math.sqrt(groups.var(axis=1, ddof=1).mean() * 2 / 30)
    t = (groups[1:].mean(axis=1) - groups[0].mean()) / pooled
    bonferroni = np.minimum(1.0, 5 * 2 * stats.t.sf(np.abs(t), 6 * 29))
    assert (exact.pvalue <= bonferroni + 1e-3).all()
    level = family_level(0.95, "baseline", 6)
    assert level == pytest.approx(0.99)


@pytest.mark.parametrize(
    ("spread", "assurance", "least"), [(0.0, None, 0.85), (0.02, None, 0.85), (0.02, 0.95, 0.97)]
)
def test_no_run_in_the_best_set_lies_further_below_than_planned(spread, assurance, least):
    rng = np.random.default_rng(8)
    runs, limit = 6, 0.08
    pilot = table(rng.normal(0.0, 0.1, (60, runs, 1)))
    plan = plan_topics(pilot, half_width=limit, family="best", assurance=assurance)
    topics = int(plan.topics.max())
    # runs are independent: the largest of the others above one, over √2, as t with these topics
    normal = rng.normal(size=(100_000, runs))
    above = np.quantile((normal[:, 1:].max(axis=1) - normal[:, 0]) / math.sqrt(2), 0.95)
    critical = stats.t.ppf(stats.norm.cdf(above), topics - 1)
    borrowed = 1.0 - (runs - 1) ** (-1.0 / topics)
    true = -spread * np.arange(runs)
    sd = plan.sd.max() / math.sqrt(2)
    kept_truth, largest = [], []
    for _ in range(600):
        scores = true + rng.normal(0.0, sd, (topics, runs))
        gaps = scores[:, None, :] - scores[:, :, None]  # of j less i
        mean = gaps.mean(axis=0)
        variance = gaps.var(axis=0, ddof=1)
        median = np.median(variance[np.triu_indices(runs, 1)])
        error = np.sqrt((variance + borrowed * median) / topics)
        np.fill_diagonal(error, np.inf)
        kept = (mean / error <= critical).all(axis=1)
        np.fill_diagonal(error, 0.0)
        distance = (mean + critical * error).max(axis=1)
        kept_truth.append(kept[0])
        largest.append(distance[kept].max())
        # with the sample's own errors it is a bound; the plan's are those of the pilot
        assert largest[-1] <= 2 * critical * error.max()
    assert np.mean(kept_truth) >= 0.94
    assert np.mean(np.array(largest) <= limit) >= least


def test_the_plan_of_a_best_set_is_two_half_widths_of_the_worst_pair(pilot):
    plan = plan_topics(pilot, half_width=0.05, family="best")
    assert plan.runs == pilot.runs
    sample = as_topic_sample(pilot)
    differences = planned_differences(sample, None, by_partner=True)
    criterion = planned_criterion(sample, measure_pilot(differences), "best", None, 0.95)
    for r, m in np.ndindex(plan.topics.shape):
        others = [o for o in range(3) if o != r]
        sds = [(pilot.values[:, r, m] - pilot.values[:, o, m]).std(ddof=1) for o in others]
        assert plan.sd[r, m] == pytest.approx(max(sds))
    topics = plan.topics.reshape(-1).astype(np.int64)
    width = 2 * criterion.half_width(plan.sd.reshape(-1), topics)
    assert (width <= 0.05).all()
    assert (2 * criterion.half_width(plan.sd.reshape(-1), topics - 1) > 0.05).all()
    assert plan.half_width.reshape(-1) == pytest.approx(width / 2)
    assert "confidence set of the best of 3 runs" in result_table(plan).note
    assert "confidence set of the best run with a largest distance of 0.05" in plan.sentences()[0]
    given = plan_topics(pilot, family="best", topics=100)
    assert given.goal == "achieved half width"
    assert given.difference == pytest.approx(2 * given.half_width)
    assert result_table(given).columns[2] == "largest distance"


def test_partners_are_found_where_scores_are_missing(pilot):
    pilot.values[:15, 1, 0] = np.nan
    # the others do better on topics that run 1 lacks, which says nothing about differences
    pilot.values[:15, [0, 2], 0] += 0.8
    pilot.values[:, 2, 0] += np.random.default_rng(9).normal(0.0, 0.15, 40)
    sample = planned_differences(as_topic_sample(pilot), None, by_partner=True)
    for column, (run, measure) in zip(sample.values[0].T, sample.labels, strict=True):
        m, r = pilot.measures.index(measure), pilot.runs.index(run)
        scores = pilot.values[:, :, m]
        sds = {o: np.nanstd(scores[:, r] - scores[:, o], ddof=1) for o in range(3) if o != r}
        worst = max(sds, key=sds.get)
        np.testing.assert_allclose(column, scores[:, r] - scores[:, worst])


def test_all_pairs_take_more_topics_than_a_baseline(pilot):
    numbers = [
        plan_topics(pilot, baseline="run0", difference=0.05, family=family).topics
        for family in ("none", "baseline", "all-pairs")
    ]
    assert (numbers[0] < numbers[1]).all()
    assert (numbers[1] < numbers[2]).all()
    widths = plan_topics(pilot, half_width=0.05, family="all-pairs")
    assert "simultaneous 95% t interval of any difference of two runs" in result_table(widths).note
    assert "(family all-pairs: 3 pairs)" in result_table(widths).note


def test_a_budget_says_what_it_buys(pilot):
    alone = {"baseline": "run0", "family": "none"}
    detectable = plan_topics(pilot, **alone, topics=100)
    power = plan_topics(pilot, **alone, topics=100, difference=0.03)
    assert power.goal == "achieved power"
    for r, m in np.ndindex(power.topics.shape):
        sd, n = np.array([power.sd[r, m]]), np.array([100])
        assert power.achieved_power[r, m] == Criterion(0.95).power_function(sd, n)(0.03)
        assert power.half_width[r, m] == Criterion(0.95).half_width(sd, n)
        assert detectable.half_width[r, m] == power.half_width[r, m]
    assert power.to_dict()["power"] == power.achieved_power.T.reshape(-1).tolist()
    assert (power.low <= power.achieved_power).all()
    assert (power.achieved_power <= power.high).all()
    again = plan_topics(pilot, **alone, topics=100, difference=float(detectable.difference[0, 0]))
    assert again.achieved_power[0, 0] == pytest.approx(0.8)
    means = plan_topics(pilot, topics=40)
    interval = confidence_interval(pilot, method="t")
    assert means.difference == pytest.approx((interval.high - interval.low) / 2)
    assert "with 40 topics, a 95% interval of ±" in means.sentences()[0]
    assert "is detected with power 0." in power.sentences()[0]


def test_judgements_are_topics_times_judgements_per_topic(pilot):
    of_topics = plan_topics(pilot, baseline="run0", topics=83)
    bought = plan_topics(pilot, baseline="run0", judgements=5009, judgements_per_topic=60)
    np.testing.assert_array_equal(bought.difference, of_topics.difference)
    assert set(bought.to_dict()["judgements"]) == {83 * 60}
    needed = plan_topics(pilot, baseline="run0", difference=0.05, judgements_per_topic=60)
    for record in needed.to_records():
        assert record["judgements"] == 60 * record["topics"]
    assert f"{60 * int(needed.topics[0, 0])} judgements" in needed.sentences()[0]
    assert result_table(needed).columns[4] == "judgements"


def test_several_runs_against_a_baseline_are_a_family_by_default(pilot):
    goal = {"baseline": "run0", "difference": 0.05}
    default, family = plan_topics(pilot, **goal), plan_topics(pilot, **goal, family="baseline")
    assert default.family == "baseline"
    assert default.pairs == 2
    np.testing.assert_array_equal(default.topics, family.topics)
    assert (default.topics > plan_topics(pilot, **goal, family="none").topics).all()
    assert "(α = 0.05, family baseline: 2 pairs)" in result_table(default).note
    # the family that compare_runs forms
    assert compare_runs(pilot, baseline="run0").family == default.family
    assert result_table(default.select(run="run1")).note == result_table(default).note


def test_one_run_against_a_baseline_and_means_are_no_family(pilot):
    two = pilot.select(run=["run0", "run1"])
    goal = {"baseline": "run0", "difference": 0.05}
    assert plan_topics(two, **goal).family == "none"
    np.testing.assert_array_equal(
        plan_topics(two, **goal).topics, plan_topics(two, **goal, family="none").topics
    )
    assert "family" not in result_table(plan_topics(two, **goal)).note
    assert plan_topics(pilot, half_width=0.05).family == "none"


@pytest.mark.parametrize("family", ["none", "baseline"])
def test_the_observed_difference_has_the_range_of_its_interval(pilot, family):
    shift = pilot.values.copy()
    shift[:, 1] += 0.2
    scores = table(shift)
    plan = plan_topics(scores, baseline="run0", difference="observed", family=family)
    level = 0.95 if family == "none" else 0.975  # 1 - 0.05/2 for two runs
    found = confidence_interval(
        scores, method="t", statistic="difference", baseline="run0", level=level
    )
    assert plan.difference == pytest.approx(np.abs(found.estimate))
    for r, m in np.ndindex(plan.topics.shape):
        ends = sorted(np.abs([found.low[r, m], found.high[r, m]]))
        least, most = (
            plan_topics(scores, baseline="run0", difference=float(end), family=family).topics[r, m]
            for end in ends
        )
        # the family's critical value is a little below Bonferroni's
        assert plan.low[r, m] == pytest.approx(most, abs=1)
        if found.low[r, m] > 0 or found.high[r, m] < 0:
            assert plan.high[r, m] == pytest.approx(least, abs=1)
        else:
            assert math.isnan(plan.high[r, m])
    assert not np.isnan(plan.high[0]).any()
    assert np.isnan(plan.high[1]).any()
    together = "" if family == "none" else "simultaneous "
    assert f"over the {together}interval of the difference" in plan.sentences()[0]
    assert f"or more over the {together}interval" in "".join(plan.sentences())
    assert f"that of the {together}95% interval of the observed" in result_table(plan).note
    shown = result_table(plan)
    assert "observed |difference|" in shown.columns
    assert "the interval contains 0" in shown.note
    power = plan_topics(scores, baseline="run0", difference="observed", topics=40)
    assert (power.low <= power.achieved_power).all()
    assert (power.achieved_power <= power.high).all()


def families_with_one_close_run(topics, gap, rng):
    """21 runs against one: the difference of the first varies ten times less than the others'."""
    values = np.empty((topics, 22, 1))
    values[:, 0, 0] = rng.uniform(0.3, 0.6, topics)
    spread = np.array([0.02] + [0.2] * 20)
    values[:, 1:, 0] = values[:, :1, 0] + rng.normal(0.0, 1.0, (topics, 21)) * spread
    values[:, 1, 0] += gap
    return table(values)


@pytest.mark.parametrize("gap", [0.02, 0.05])
def test_the_promised_power_is_had_by_the_rule_of_the_comparison(gap):
    rng = np.random.default_rng(11)
    pilot = families_with_one_close_run(2000, 0.0, rng)
    plan = plan_topics(pilot, baseline="run0", difference=gap)
    topics = int(plan.topics[0, 0])
    found = [
        compare_runs(
            families_with_one_close_run(topics, gap, rng), baseline="run0", replicates=199, rng=look
        ).verdict[0, 0, 0]
        == "better"
        for look in range(60)
    ]
    # the last topic may raise the power above the goal
    promised = float(plan.achieved_power[0, 0])
    assert abs(np.mean(found) - promised) <= 3 * math.sqrt(promised * (1 - promised) / 60) + 0.02


def test_power_in_a_family_against_simulated_variances():
    rng = np.random.default_rng(12)
    criterion = Criterion(0.99, comparisons=20, median=0.04, certain=2.9)
    for topics, sd, gap in ((12, 0.1, 0.15), (30, 0.2, 0.15), (30, 0.02, 0.03)):
        draws = rng.normal(gap, sd, (200_000, topics))
        mean, variance = draws.mean(axis=1), draws.var(axis=1, ddof=1)
        borrowed = (1.0 - 20 ** (-1.0 / topics)) * 0.04
        t = mean / np.sqrt((variance + borrowed) / topics)
        sums = draws.sum(axis=1) / np.sqrt(np.square(draws).sum(axis=1))
        hit = (np.abs(t) > stats.t.ppf(0.995, topics - 1)) | (np.abs(sums) > 2.9)
        power = criterion.power_function(np.array([sd]), np.array([topics]))(gap)
        assert power[0] == pytest.approx(hit.mean(), abs=0.004)
        found = criterion.detectable(np.array([sd]), np.array([topics]), float(power[0]))
        assert found[0] == pytest.approx(gap, rel=1e-6)
