"""Planned topics give the planned width and power, in simulation and on real scores."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from confir import confidence_interval, plan_topics
from confir.data.score_files import read_scores
from confir.data.scores import Scores
from confir.errors import DegenerateSampleWarning, InvalidValueError, UnknownNameError
from confir.pairs.power import Criterion
from confir.report.result_table import result_table
from confir.resampling.kinds import as_topic_sample
from confir.studies.planning.pilot import measure_pilot
from studies.score_tables import table


@pytest.fixture
def pilot():
    """Three runs on 40 topics by two measures."""
    rng = np.random.default_rng(0)
    return table(rng.random((40, 1, 2)) / 2 + rng.normal(0.0, 0.1, (40, 3, 2)))


def rejections(differences, level=0.95):
    """The share of samples (topics × samples) in which a paired t test shows a difference."""
    comparison = confidence_interval(differences, method="t", level=level)
    return np.mean((comparison.low > 0) | (comparison.high < 0))


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("difference", [0.03, 0.1])
def test_planned_power_is_had_in_simulation(pilot, power, difference):
    plan = plan_topics(pilot, baseline="run0", difference=difference, power=power, family="none")
    rng = np.random.default_rng(2)
    for sd, topics in zip(plan.sd[:, 0], plan.topics[:, 0].astype(int), strict=True):
        samples = rng.normal(difference, sd, (topics, 4000))
        slack = 4 * np.sqrt(power * (1 - power) / 4000)
        found = rejections(samples)
        # the next smaller number of topics would not do
        assert found >= power - slack
        assert (
            found
            <= Criterion(0.95).power_function(np.array([sd]), np.array([topics + 1]))(difference)
            + slack
        )


def test_planned_power_is_had_on_real_scores(real_data):
    scores = read_scores(real_data / "robust2004_ap.csv")
    runs = [scores.runs[k] for k in (0, 20, 60, 100)]
    plan = plan_topics(scores.select(run=runs), baseline=runs[0], difference=0.03, family="none")
    rng = np.random.default_rng(3)
    for r, run in enumerate(plan.runs):
        pair = scores.select(run=[runs[0], run]).values[:, :, 0]
        differences = pair[:, 1] - pair[:, 0]
        topics = int(plan.topics[r, 0])
        drawn = rng.integers(0, len(differences), (topics, 3000))
        samples = differences[drawn] - differences.mean() + 0.03
        assert rejections(samples) == pytest.approx(0.8, abs=0.03)


def test_the_detectable_difference_is_detected(pilot):
    plan = plan_topics(pilot, baseline="run1", topics=25, power=0.9, family="none")
    assert (plan.topics == 25).all()
    rng = np.random.default_rng(4)
    for sd, difference in zip(plan.sd.flat, plan.difference.flat, strict=True):
        samples = rng.normal(difference, sd, (25, 4000))
        assert rejections(samples) == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 4000))


def test_goals_are_each_others_inverse(pilot):
    at_hand = plan_topics(pilot, baseline="run0", topics=40)
    assert (at_hand.topics == 40).all()
    for r, m in np.ndindex(at_hand.difference.shape):
        back = plan_topics(pilot, baseline="run0", difference=at_hand.difference[r, m] * (1 + 1e-9))
        assert back.topics[r, m] == 40


@pytest.mark.parametrize("baseline", [None, "run0"])
def test_planned_width_is_the_smallest_that_does(pilot, baseline):
    plan = plan_topics(pilot, baseline=baseline, half_width=0.015, family="none")
    topics = plan.topics.astype(int)
    assert (Criterion(0.95).half_width(plan.sd, topics) <= 0.015).all()
    assert (Criterion(0.95).half_width(plan.sd, topics - 1) > 0.015).all()


def test_the_width_at_hand_needs_the_topics_at_hand(pilot):
    interval = confidence_interval(pilot, method="t")
    width = (interval.high - interval.low) / 2
    for r, m in np.ndindex(width.shape):
        assert plan_topics(pilot, half_width=width[r, m] * (1 + 1e-9)).topics[r, m] == 40


def test_easy_goals_need_two_topics(pilot):
    assert (plan_topics(pilot, half_width=1e6).topics == 2).all()
    assert (plan_topics(pilot, baseline="run0", difference=1e6).topics == 2).all()


def test_hard_goals_need_many_topics(pilot):
    plan = plan_topics(pilot, baseline="run0", difference=1e-4, family="none")
    normal = ((1.959964 + 0.841621) * plan.sd / 1e-4) ** 2
    assert plan.topics == pytest.approx(normal, rel=1e-4)
    impossible = plan_topics(pilot, baseline="run0", difference=1e-9)
    assert np.isnan(impossible.topics).all()
    assert "more topics than can be judged" in impossible.sentences()[0]


@pytest.mark.parametrize(("topics", "least", "most"), [(10, 0.93, 0.98), (50, 0.92, 0.97)])
def test_the_range_covers_the_truth(topics, least, most):
    rng = np.random.default_rng(5)
    values = np.zeros((topics, 2, 1000))
    values[:, 1] = rng.normal(0.0, 0.2, (topics, 1000))
    plan = plan_topics(table(values), baseline="run0", difference=0.05)
    assert (plan.low <= plan.topics).all()
    assert (plan.topics <= plan.high).all()
    side = 0.2 / math.sqrt(2)
    exact = table(np.array([[0.0, side], [0.0, -side]]))  # its standard deviation is 0.2
    truth = plan_topics(exact, baseline="run0", difference=0.05).topics[0, 0]
    assert least <= np.mean((plan.low <= truth) & (truth <= plan.high)) <= most


@pytest.mark.slow
def test_the_range_covers_the_truth_of_real_scores(real_data):
    scores = read_scores(real_data / "robust2004_ap.csv")
    values = scores.values[:, :, 0]
    rng = np.random.default_rng(6)
    shares = []
    for first, second in ((0, 10), (3, 50), (20, 70), (90, 33), (5, 6), (100, 60)):
        differences = values[:, second] - values[:, first]
        drawn = differences[rng.integers(0, 249, (50, 400))]
        pilots = table(np.stack([np.zeros_like(drawn), drawn], axis=1))
        plan = plan_topics(pilots, baseline="run0", topics=50)
        truth = Criterion(0.95).detectable(np.array([differences.std()]), np.array([50]), 0.8)
        shares.append(np.mean((plan.low <= truth) & (truth <= plan.high)))
    assert 0.88 <= np.mean(shares) <= 0.97


def test_the_range_against_bonett():
    # worked out step by step from the formula, for ten numbers
    values = np.array([15.8, 13.6, 15.6, 15.7, 16.1, 12.9, 15.8, 13.2, 14.5, 15.3])
    n, s2 = 10, values.var(ddof=1)
    centre = np.sort(values)[2:-2].mean()  # 10 / (2 √6) = 2.04 are trimmed on either side
    kurtosis = n * ((values - centre) ** 4).sum() / ((values - values.mean()) ** 2).sum() ** 2
    c = n / (n - 1.959964)
    se = c * np.sqrt((kurtosis - (n - 3) / n) / (n - 1))
    limits = np.sqrt(np.exp(np.log(c * s2) + np.array([-1, 1]) * 1.959964 * se))
    pilot = table(np.stack([np.zeros(10), values], axis=1))
    plan = plan_topics(pilot, baseline="run0", topics=40)
    found = np.array([plan.low[0, 0], plan.high[0, 0]]) / plan.difference[0, 0]
    assert found == pytest.approx(limits / np.sqrt(s2), rel=1e-6)


def test_a_tiny_pilot_has_no_range(pilot):
    plan = plan_topics(table(pilot.values[:4]), baseline="run0", difference=0.05)
    assert np.isnan(plan.low).all()
    assert not np.isnan(plan.topics).any()
    assert "allows" not in plan.sentences()[0]
    assert not np.isnan(plan_topics(table(pilot.values[:5]), half_width=0.1).low).any()


def test_missing_scores_are_left_out(pilot):
    pilot.values[:8, 1, 0] = np.nan
    plan = plan_topics(pilot, baseline="run0", half_width=0.02)
    both = pilot.values[8:, 1, 0] - pilot.values[8:, 0, 0]
    assert plan.sd[0, 0] == pytest.approx(both.std(ddof=1))
    assert plan.pilot[0].tolist() == [32, 40]


def test_the_curve_passes_through_the_answer(pilot):
    for options in ({"difference": 0.05}, {"half_width": 0.03}, {"topics": 60}):
        plan = plan_topics(pilot, baseline="run0", family="none", **options)
        rising = "difference" in options
        steps = np.diff(plan.curve, axis=0)
        assert (steps >= 0 if rising else steps < 0).all()
        assert plan.curve_topics[0] >= 2
        assert plan.curve_topics[-1] >= 1.9 * plan.topics.max()
        record = plan.curve_records()[0]
        assert list(record) == ["measure", "run", "topics", "value"]
    value = Criterion(0.95).detectable(plan.sd[0], np.array([plan.curve_topics[7]]), 0.8)
    assert plan.curve[7, 0] == pytest.approx(value)


def test_records_have_the_promised_fields(pilot):
    power = plan_topics(pilot, baseline="run0", difference=0.05).to_records()
    fields = ["measure", "run", "baseline", "goal", "topics", "power", "difference", "low", "high"]
    fields += ["half_width", "family", "assurance"]
    assert [list(record) for record in power] == [fields] * 4
    assert power[0] | {"topics": 0, "low": 0, "high": 0, "half_width": 0} == {
        "measure": "m0",
        "run": "run1",
        "baseline": "run0",
        "goal": "power",
        "topics": 0,
        "power": 0.8,
        "difference": 0.05,
        "low": 0,
        "high": 0,
        "half_width": 0,
        "family": "baseline",
        "assurance": None,
    }
    assert type(power[0]["topics"]) is int
    width = plan_topics(pilot, half_width=0.05)
    assert width.to_dict()["goal"] == ["half width"] * 6
    assert all(math.isnan(value) for value in width.to_dict()["power"])
    assert len(width.to_frame("pandas")) == 6


def test_sentences_say_what_was_planned(pilot):
    one = pilot.select(run=["run0", "run1"], measure=["m0"])
    width = plan_topics(one, half_width=0.05).sentences()[0]
    assert width.startswith("run0 by m0: ")
    assert width.endswith(" for a 95% interval of ±0.05")
    power = plan_topics(one, baseline="run0", difference=0.05, power=0.9)
    assert power.sentences()[0].startswith(f"run1 against run0 by m0: {power.topics[0, 0]:.0f} top")
    assert power.sentences()[0].endswith(" to detect a true difference of 0.05 with power 0.9")
    assert "(range " in power.sentences()[0]
    assert repr(power) == f"Plan({power.sentences()[0]})"
    endless = replace(power, high=np.full_like(power.high, np.nan))
    assert re.search(r"\(range \d+ or more\)", endless.sentences()[0])
    shown = plan_topics(one, baseline="run0", topics=40)
    assert "with 40 topics, a true difference of 0." in shown.sentences()[0]
    assert repr(plan_topics(pilot, half_width=0.05)) == (
        "Plan(run: 3, measure: 2, baseline=None, goal='half width', power=nan, level=0.95)"
    )
    assert "<table>" in power._repr_html_()


@pytest.mark.parametrize("goal", [{"half_width": 1e-8}, {"baseline": "run0", "difference": 1e-8}])
def test_topics_that_are_too_many_are_said_to_be(pilot, goal):
    plan = plan_topics(pilot, **goal)
    assert np.isnan(plan.topics).all()
    assert "–: more topics than can be judged, over 1,073,741,824" in result_table(plan).note


def test_a_constant_pilot_plans_nothing(pilot):
    pilot.values[:, 1] = pilot.values[:, 0]
    with pytest.warns(
        DegenerateSampleWarning, match="planned for run1 m0.* or differences are all equal"
    ):
        plan = plan_topics(pilot, baseline="run0", difference=0.05)
    assert np.isnan(plan.topics[0]).all()
    assert not np.isnan(plan.topics[1]).any()
    assert plan.sentences()[0].endswith("nothing can be planned")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"family": "baseline"}, InvalidValueError, "needs a baseline"),
        ({"difference": 0.1}, InvalidValueError, "needs a baseline.*--baseline RUN"),
        ({"half_width": 0.1, "topics": 9}, InvalidValueError, "several goals"),
        ({"half_width": 0.0}, InvalidValueError, "half width is 0.0; expected a number above 0"),
        ({"baseline": "run0", "difference": -1.0}, InvalidValueError, "difference is -1.0"),
        ({"baseline": "run0", "topics": 1}, InvalidValueError, "topics is 1; expected 2 or more"),
        ({"baseline": "run0", "power": 1.0}, InvalidValueError, "power is 1.0"),
        (
            {"baseline": "run0", "power": 0.05},
            InvalidValueError,
            "power is 0.05.*more than α = 0.05",
        ),
        ({"baseline": "x"}, UnknownNameError, "unknown run 'x'"),
        ({"half_width": 0.1, "level": 1.0}, InvalidValueError, "level is 1.0"),
        ({"half_width": 0.1, "assurance": 1.0}, InvalidValueError, "assurance is 1.0"),
        ({"half_width": 0.1, "family": "baseline"}, InvalidValueError, "needs a baseline"),
        ({"half_width": 0.1, "family": "holm"}, UnknownNameError, "unknown family 'holm'"),
        ({"baseline": "run0", "family": "best"}, InvalidValueError, "takes no baseline"),
        ({"difference": 0.1, "family": "best"}, InvalidValueError, "no difference"),
        ({"baseline": "run0", "difference": "x"}, InvalidValueError, "difference is 'x'.*observed"),
        ({"baseline": "run0", "judgements": 100}, InvalidValueError, "need judgements per topic"),
        (
            {"baseline": "run0", "topics": 9, "judgements": 100, "judgements_per_topic": 9},
            InvalidValueError,
            "in place of topics",
        ),
        (
            {"baseline": "run0", "judgements": 19, "judgements_per_topic": 10},
            InvalidValueError,
            "judgements is 19, fewer than 2 topics with 10 each take",
        ),
    ],
)
def test_wrong_options_are_named(pilot, options, error, message):
    with pytest.raises(error, match=message):
        plan_topics(pilot, **options)


def test_one_topic_is_no_pilot(pilot):
    with pytest.raises(InvalidValueError, match="a pilot needs at least 2"):
        plan_topics(table(pilot.values[:1]), half_width=0.1)
    with pytest.raises(InvalidValueError, match="a pilot needs at least 2"):
        plan_topics(table(pilot.values[:1]))


def small_pilot(measure):
    values = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.5]])
    return Scores(("1", "2", "3"), ("a", "b"), (measure,), values[:, :, None])


def test_a_difference_beyond_the_measure_is_not_promised():
    sd = np.std([0.8, -0.6, 0.2], ddof=1)
    needed = float(Criterion(0.95).detectable(np.array([sd]), np.array([3]), 0.8)[0])
    assert needed > 1
    plan = plan_topics(small_pilot("AP"), baseline="a", topics=3)
    assert math.isnan(plan.difference[0, 0])
    (sentence,) = plan.sentences()
    assert sentence.startswith("b against a by AP: with 3 topics, no difference in [0, 1] is large")
    assert result_table(plan).rows[0][2].text == "none"
    assert "none: it would exceed 1" in result_table(plan).note
    assert (np.isnan(plan.curve) | (plan.curve <= 1)).all()
    counts = plan_topics(small_pilot("NumRet"), baseline="a", topics=3)
    assert counts.difference[0, 0] == pytest.approx(needed)
    assert "none" not in result_table(counts).note


def test_a_range_may_reach_beyond_the_measure():
    differences = np.array([0.8, -0.6, 0.2, 0.6, 0.7, 0.0])
    values = np.stack([0.6 - differences / 2, 0.6 + differences / 2], axis=1)[:, :, None] * 0.8
    pilot = Scores(tuple("123456"), ("a", "b"), ("AP",), values)
    plan = plan_topics(pilot, baseline="a", topics=6)
    assert plan.low[0, 0] < plan.difference[0, 0] < 1
    assert math.isnan(plan.high[0, 0])
    assert " or more) is detected" in plan.sentences()[0]
    assert result_table(plan).rows[0][3].text.endswith(" to none")


def test_a_goal_beyond_the_measure_is_refused():
    with pytest.raises(InvalidValueError, match=r"1.2, but two means by AP, .* more than 1"):
        plan_topics(small_pilot("AP"), baseline="a", difference=1.2)
    assert plan_topics(small_pilot("AP"), baseline="a", difference=1.0).topics[0, 0] > 3
    assert plan_topics(small_pilot("NumRet"), baseline="a", difference=1.2).topics[0, 0] > 3


def test_strata_of_equal_variances_plan_as_independent_topics_do():
    """Ten strata of two topics that vary alike have 28 degrees of freedom, more than topics."""
    topics = tuple(f"{place:02}" for place in range(20))
    values = np.tile([0.4, 0.6], 10) + np.repeat(np.linspace(-0.2, 0.2, 10), 2)
    scores = Scores(topics, ("a",), ("AP",), values[:, None, None])
    design = {"topic": topics, "stratum": [str(place // 2) for place in range(20)]}
    pilot = measure_pilot(as_topic_sample(scores.with_design(design)))
    assert pilot.df[0] == pytest.approx(28)
    _, df = Criterion(0.95, freedom=pilot.freedom).critical_value(np.array([40]))
    assert df.tolist() == [39]


@pytest.mark.parametrize("asked", [{}, {"baseline": "run2", "difference": 0.05}])
def test_the_order_of_runs_and_topics_changes_nothing(asked):
    rng = np.random.default_rng(1)
    scores = table(rng.random((30, 1, 1)) / 2 + rng.normal(0.0, 0.1, (30, 6, 1)))
    runs = [f"run{number}" for number in (4, 0, 5, 2, 1, 3)]
    other = scores.select(run=runs, topic=scores.topics[::-1])
    plans = [plan_topics(s, **asked).to_records() for s in (scores, other)]
    one, turned = (sorted((r["topics"], round(r["difference"], 9)) for r in p) for p in plans)
    assert one == turned
