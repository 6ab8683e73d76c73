"""Charts of comparisons and plans show the records, and nothing else."""

from itertools import combinations

import numpy as np
import pytest

from chart_labels import names_of, records_of
from confir import compare_runs, plan_topics
from confir.errors import InvalidValueError, UnknownNameError
from confir.report.result_chart import specification as chart
from confir.studies.comparison.chart import difference_chart, matrix_chart, topic_chart
from studies.score_tables import table


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    values = rng.random((30, 1, 2)) / 2 + rng.normal(0.0, 0.05, (30, 4, 2))
    values[:, 3] += 0.2
    return table(values, ["a", "b", "c", "d"])


def test_differences_from_a_baseline(scores):
    comparison = compare_runs(scores, baseline="a", margin=0.05)
    drawing = chart(comparison)
    shown = {(r["measure"], r["run"]): r for r in records_of(drawing)}
    assert len(shown) == 6
    for record in comparison.to_records():
        drawn = shown[record["measure"], record["run"]]
        limits = {side: record[f"simultaneous_{side}"] for side in ("low", "high")}
        assert {key: drawn[key] for key in record} == record | limits
    assert drawing["title"] == "Differences from a, over 30 topics"
    assert {(record["below"], record["above"]) for record in shown.values()} == {(-0.05, 0.05)}


def test_the_legend_has_the_verdicts_that_occur(scores):
    comparison = compare_runs(scores, baseline="a")
    layers = chart(comparison)["spec"]["layer"]
    shown = layers[1]["encoding"]["color"]["scale"]
    occurring = set(comparison.verdict.reshape(-1).tolist())
    assert set(shown["domain"]) == occurring == {"better", "inconclusive"}
    assert shown["range"] == ["#0072B2", "#767676"]


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_a_run_without_scores_has_the_last_row(scores):
    scores.values[:, 1] = np.nan
    layers = chart(compare_runs(scores, baseline="a"))["spec"]["layer"]
    assert names_of(layers[1]["encoding"]["y"]) == ["d", "c", "b"]


def test_differences_of_all_pairs_name_both_runs(scores):
    names = {record["name"] for record in records_of(difference_chart(compare_runs(scores)))}
    assert {frozenset(name.split(" - ")) for name in names} == {
        *map(frozenset, combinations("abcd", 2))
    }
    assert len(names) == 6
    assert {"d - a", "d - b", "d - c"} <= names  # the better run by the first measure first


def test_the_matrix_shows_every_pair_twice(scores):
    comparison = compare_runs(scores)
    cells = {(r["measure"], r["row"], r["column"]): r for r in records_of(chart(comparison))}
    assert len(cells) == 2 * 12
    for record in comparison.to_records():
        measure, run, baseline = record["measure"], record["run"], record["against"]
        cell, mirrored = cells[measure, run, baseline], cells[measure, baseline, run]
        assert cell["difference"] == record["difference"] == -mirrored["difference"]
        assert (
            cell["significant"]
            == mirrored["significant"]
            == (record["verdict"] in ("better", "worse"))
        )
    assert cells["m0", "d", "a"]["verdict"] == "better"
    assert cells["m0", "a", "d"]["verdict"] == "worse"
    with pytest.raises(InvalidValueError, match="without a baseline"):
        matrix_chart(compare_runs(scores, baseline="a"))


def test_bars_of_one_pair_topic_by_topic(scores):
    differences = compare_runs(scores).topic_differences()
    first = records_of(chart(differences))
    assert {(r["run"], r["against"], r["measure"]) for r in first} == {("d", "c", "m0")}
    chosen = records_of(topic_chart(differences, run="d", measure="m1", baseline="c"))
    assert {(r["run"], r["against"], r["measure"]) for r in chosen} == {("d", "c", "m1")}
    assert len(chosen) == 30
    values = [record["difference"] for record in chosen]
    assert values == sorted(values, reverse=True)
    turned = records_of(topic_chart(differences, run="c", measure="m1", baseline="d"))
    assert {(r["run"], r["against"]) for r in turned} == {("c", "d")}
    assert [r["difference"] for r in turned] == [-value for value in sorted(values)]
    with pytest.raises(UnknownNameError, match="unknown pair 'e'"):
        topic_chart(differences, run="e")
    with pytest.raises(UnknownNameError, match=r"unknown pair 'd e m1'.*d c m1"):
        topic_chart(differences, run="d", measure="m1", baseline="e")


def test_bars_of_many_topics_have_no_labels():
    values = np.random.default_rng(1).random((200, 2))
    spec = chart(compare_runs(table(values)).topic_differences())
    assert spec["encoding"]["x"]["axis"]["labels"] is False


def test_groups_are_drawn_from_first_to_last_run(scores):
    groups = compare_runs(scores).group_runs()
    records = records_of(chart(groups))
    bars = [record for record in records if "first" in record]
    grouped = groups.by_measure[0]
    start, stop = grouped.groups[0]
    assert bars[0]["first"] == grouped.runs[start]
    assert bars[0]["last"] == grouped.runs[stop]
    means = [record["mean"] for record in records if "mean" in record][:4]
    assert means == list(grouped.means)


@pytest.mark.parametrize(
    ("options", "title"),
    [
        ({"half_width": 0.02}, "Half width of the 95% interval of the mean"),
        (
            {"half_width": 0.02, "baseline": "a"},
            "Half width of the simultaneous 95% interval of the difference from a",
        ),
        (
            {"difference": 0.02, "baseline": "a"},
            "Power to detect a difference of 0.02 from a (family: baseline)",
        ),
        (
            {"baseline": "a", "family": "none", "topics": 30},
            "Difference from a that is detected with power 0.8",
        ),
        (
            {"baseline": "a", "family": "baseline", "topics": 30, "assurance": 0.8},
            "Difference from a that is detected with power 0.8 (family: baseline), with assurance 0.8",
        ),
        (
            {"baseline": "a", "difference": "observed", "topics": 60},
            "Power to detect the observed difference from a (family: baseline)",
        ),
        (
            {"half_width": 0.05, "family": "best"},
            "Largest distance from the best run in its 95% confidence set",
        ),
        (
            {"topics": 60, "family": "all-pairs"},
            "Half width of the simultaneous 95% interval of the difference of two runs",
        ),
    ],
)
def test_a_plan_is_a_curve_with_its_answer(scores, options, title):
    plan = plan_topics(scores, **options)
    drawing = chart(plan)
    records = records_of(drawing)
    assert drawing["title"] == title
    curve = [record for record in records if not record["goal"]]
    assert len(curve) == len(plan.curve_records())
    goals = [record for record in records if record["goal"]]
    assert [record["topics"] for record in goals] == [r["topics"] for r in plan.to_records()]


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_what_is_not_known_is_left_blank(scores):
    scores.values[:, 1] = scores.values[:, 0]
    records = records_of(chart(compare_runs(scores, baseline="a")))
    assert next(r for r in records if r["run"] == "b")["low"] is None
    chart(compare_runs(scores))
    goals = [
        r for r in records_of(chart(plan_topics(scores, baseline="a", topics=30))) if r["goal"]
    ]
    assert {record["run"] for record in goals} == {"c", "d"}
