"""Plans without a goal, against statsmodels, brute force, simulation and plans for the same goal."""

import math
import re

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from confir import chart, confidence_interval, plan_topics
from confir.data.scores import Scores
from confir.errors import DegenerateSampleWarning, InvalidValueError
from confir.report.result_table import table_of
from confir.studies.planning.goals import USUAL_DIFFERENCES, USUAL_WIDTHS

WIDE, POWER = "half width", "power"


def pilot(runs, measures=("AP",), topics=40, seed=0):
    rng = np.random.default_rng(seed)
    spread = np.linspace(0.05, 0.2, runs)[:, None]
    values = (
        0.5
        + rng.normal(0.0, 0.1, (topics, 1, 1))
        + rng.normal(0.0, 1.0, (topics, runs, len(measures))) * spread
    )
    names = tuple(f"run{number}" for number in range(runs))
    return Scores(tuple(map(str, range(topics))), names, measures, np.clip(values, 0, 1))


def records(plan, spread="median", **wanted):
    return [
        record
        for record in plan.to_records()
        if record.get("spread", "median") == spread
        and all(record[name] == value for name, value in wanted.items())
    ]


@pytest.mark.parametrize("power", [0.8, 0.9])
def test_topics_for_differences_of_two_runs_are_those_of_statsmodels(power):
    scores = pilot(2)
    sd = np.diff(scores.values[:, :, 0], axis=1).std(ddof=1)
    plan = plan_topics(scores, power=power)
    found = records(plan, goal=POWER)
    assert [record["difference"] for record in found] == list(USUAL_DIFFERENCES)
    for record in found:
        exact = TTestPower().solve_power(record["difference"] / sd, power=power, alpha=0.05)
        assert record["topics"] == math.ceil(exact)
        assert record["power"] == power
        assert (record["run"], record["baseline"]) == ("run0", "run1")
    (at_hand,) = records(plan, goal="detectable difference")
    effect = TTestPower().solve_power(nobs=40, power=power, alpha=0.05)
    assert at_hand["difference"] == pytest.approx(effect * sd)
    assert at_hand["topics"] == 40


def test_topics_for_half_widths_are_the_fewest_that_do():
    scores = pilot(3)
    sds = scores.values[:, :, 0].std(axis=0, ddof=1)
    for spread, sd in (("median", np.median(sds)), ("largest", sds.max())):
        for record in records(plan_topics(scores), spread, goal=WIDE):
            sizes = np.arange(2, 20_000)
            widths = stats.t.ppf(0.975, sizes - 1) * sd / np.sqrt(sizes)
            assert record["topics"] == sizes[widths <= record["difference"]][0]
    (at_hand,) = records(plan_topics(scores), goal="achieved half width")
    own = confidence_interval(scores.select(run=at_hand["run"]), method="t")
    assert at_hand["difference"] == pytest.approx((own.high - own.low).item() / 2)
    assert {r["difference"] for r in records(plan_topics(scores), goal=WIDE)} == {*USUAL_WIDTHS}


def test_planned_topics_have_the_planned_power_in_simulated_experiments():
    scores = pilot(2)
    sd = np.diff(scores.values[:, :, 0], axis=1).std(ddof=1)
    rng = np.random.default_rng(5)
    for record in records(plan_topics(scores), goal=POWER)[1:]:
        drawn = rng.normal(record["difference"], sd, (record["topics"], 3000))
        rejected = stats.ttest_1samp(drawn, 0.0).pvalue < 0.05
        assert rejected.mean() == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 3000))


@pytest.mark.parametrize("family", ["all-pairs", "none"])
def test_pairs_are_the_median_and_the_widest_and_their_topics_those_of_a_plan_for_them(family):
    scores = pilot(5, ("AP", "RR"))
    plan = plan_topics(scores, family=family)
    for m, measure in enumerate(scores.measures):
        pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
        sds = [(scores.values[:, a, m] - scores.values[:, b, m]).std(ddof=1) for a, b in pairs]
        order = sorted(zip(sds, pairs, strict=True))
        for spread, (_, (a, b)) in (("median", order[4]), ("largest", order[-1])):
            for record in records(plan, spread, goal=POWER, measure=measure):
                assert (record["run"], record["baseline"]) == (f"run{a}", f"run{b}")
                one = plan_topics(
                    scores, baseline=f"run{b}", difference=record["difference"], family=family
                ).select(run=[f"run{a}"], measure=[measure])
                for name in ("topics", "low", "high"):
                    assert record[name] == getattr(one, name).item()
                assert record["family"] == family


def test_several_runs_are_planned_for_the_family_in_which_they_are_compared():
    scores = pilot(4)
    assert plan_topics(scores).family == "all-pairs"
    assert plan_topics(scores, baseline="run0").family == "baseline"
    assert plan_topics(scores.select(run=["run0", "run1"])).family == "none"
    from_first = plan_topics(scores, baseline="run0")
    for record in records(from_first, "largest", goal=POWER):
        one = plan_topics(scores, baseline="run0", difference=record["difference"])
        assert record["topics"] == one.topics.max()
        assert record["baseline"] == "run0"


def test_assurance_and_judgements_are_taken_into_account():
    scores = pilot(3)
    plain, assured = plan_topics(scores), plan_topics(scores, assurance=0.9)
    for goal in (POWER, WIDE):
        less = [record["topics"] for record in records(plain, goal=goal)]
        more = [record["topics"] for record in records(assured, goal=goal)]
        assert all(b > a for a, b in zip(less, more, strict=True))
    counted = plan_topics(scores, judgements_per_topic=7)
    assert all(r["judgements"] == 7 * r["topics"] for r in counted.to_records())
    assert "judgements" in table_of(counted).columns
    assert "(assurance)" in table_of(assured).note


def test_a_single_run_is_planned_for_its_mean_alone():
    plan = plan_topics(pilot(1))
    assert {record["goal"] for record in plan.to_records()} == {WIDE, "achieved half width"}
    assert plan.spreads == ("median",)
    (sentence,) = plan.sentences()
    assert sentence.startswith("40 topics give the mean AP to within ±0.0")
    assert "differences" not in chart(plan).to_dict()["title"]


def test_the_first_sentence_says_what_the_topics_detect_and_what_0_02_takes():
    plan = plan_topics(pilot(3, ("AP", "RR")))
    first, second = plan.sentences()
    (at_hand,) = records(plan, goal="detectable difference", measure="AP")
    (goal,) = records(plan, goal=POWER, difference=0.02, measure="AP")
    assert first == (
        f"40 topics detect a true difference of {at_hand['difference']:.3f} in AP with power 0.8; 0.02 "
        f"takes {goal['topics']:,} topics ({goal['low']:,.0f} to {goal['high']:,.0f})"
    )
    assert " in RR " in second


def test_the_table_has_a_row_per_measure_and_goal():
    plan = plan_topics(pilot(3, ("AP", "RR")))
    table = table_of(plan)
    assert table.columns == ("measure", "goal", "size", "topics", "range", "at the largest sd")
    assert len(table.rows) == 2 * (len(USUAL_WIDTHS) + len(USUAL_DIFFERENCES) + 2)
    assert "family all-pairs: 3 pairs" in table.note
    assert "detectable at present" in str(plan)
    assert chart(plan).to_dict()["title"].endswith("differences detected with power 0.8")


def test_identical_runs_are_left_out_of_the_choice_unless_there_are_no_others():
    scores = pilot(3)
    scores.values[:, 1] = scores.values[:, 0]
    some = plan_topics(scores)
    for spread in some.spreads:
        (record,) = records(some, spread, goal="detectable difference")
        assert "run2" in (record["run"], record["baseline"])
    with pytest.warns(
        DegenerateSampleWarning, match="nothing can be planned for run0 and run1 by AP:"
    ):
        none = plan_topics(scores.select(run=["run0", "run1"]))
    assert re.fullmatch(
        r"no difference in AP can be planned for; 40 topics give the mean AP to within ±0\.\d+ .*",
        none.sentences()[0],
    )
    assert [row[3].text for row in table_of(none).rows[4:8]] == ["–"] * 4
    scores.values[:] = 0.5
    with pytest.warns(DegenerateSampleWarning):
        nothing = plan_topics(scores)
    assert nothing.sentences() == ["from these scores in AP, nothing can be planned"]


def test_pairs_that_differ_by_a_constant_are_no_typical_pairs():
    scores = pilot(2)
    first, last = scores.values[:, 0, 0], scores.values[:, 1, 0]
    columns = np.stack([first, first + 0.1, first - 0.1, last], axis=1)[:, :, None]
    plan = plan_topics(Scores(scores.topics, ("a", "b", "c", "d"), ("AP",), columns))
    for spread in plan.spreads:
        (record,) = records(plan, spread, goal="detectable difference")
        assert "d" in (record["run"], record["baseline"])


def test_topics_that_are_too_many_are_said_to_be():
    values = np.random.default_rng(1).normal(0.0, 250.0, (40, 2, 1))
    plan = plan_topics(Scores(tuple(map(str, range(40))), ("a", "b"), ("x",), values))
    assert table_of(plan).rows[0][3].text == "–"
    assert table_of(plan).note.endswith("; –: more topics than can be judged, over 1,073,741,824")
    assert "–:" not in table_of(plan_topics(pilot(2))).note


def test_a_difference_beyond_the_measure_is_not_promised():
    values = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.5]])[:, :, None]
    plan = plan_topics(Scores(("1", "2", "3"), ("a", "b"), ("AP",), values))
    assert table_of(plan).rows[-1][2].text == "none"
    assert plan.sentences()[0].startswith("3 topics detect no difference in AP with power 0.8")


def test_a_family_that_needs_a_baseline_is_refused_without():
    with pytest.raises(InvalidValueError, match="needs a baseline"):
        plan_topics(pilot(3), family="baseline")
