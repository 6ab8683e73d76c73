"""Charts and tables of bias and variance show the numbers of the result."""

import numpy as np
import pytest

from chart_labels import names_of
from confir.data.scores import Scores
from confir.report.charts import round_ticks
from confir.report.result_chart import specification as chart
from confir.report.result_table import result_table
from confir.studies.bias_variance.bias_variance import decompose_error
from confir.studies.bias_variance.chart import (
    _equal_totals,
    _labels,
    total_chart,
)


def decompose(runs: int, **options):
    rng = np.random.default_rng(8)
    names = tuple(f"run{r}" for r in range(runs))
    scores = Scores(
        tuple(f"{t:02d}" for t in range(20)), names, ("AP", "RR"), rng.random((20, runs, 2))
    )
    return decompose_error(scores, replicates=999, rng=1, **options)


@pytest.fixture(scope="module")
def swept():
    return decompose(5, baseline="run4", parameters=["k=3,1,2,,"])


def layers(drawing, panel=0):
    return drawing["concat"][panel]["layer"]


def values(drawing, layer):
    return layer.get("data", drawing["concat"][0]["data"])["values"]


def test_there_is_a_panel_for_each_measure(swept):
    assert [panel["title"] for panel in chart(swept)["concat"]] == [["AP"], ["RR"]]


def test_runs_of_a_sweep_are_joined_in_the_order_of_the_parameter(swept):
    drawing = chart(swept)
    (joined,) = [x for x in layers(drawing) if "order" in x.get("encoding", {})]
    assert joined["mark"]["type"] == "line"
    assert joined["encoding"]["order"]["field"] == "parameter_value"
    assert joined["transform"] == [{"filter": "datum.group_number > 0"}]
    assert {r["run"]: r["group_number"] for r in values(drawing, joined)} == {
        "run0": 1, "run1": 1, "run2": 1, "run3": 0, "run4": 0
    }  # fmt: skip
    assert names_of(joined["encoding"]["color"], "legend") == ["runs", "k"]
    assert {r["run"]: r["label"] for r in values(drawing, joined)} == {
        "run0": "3",
        "run1": "1",
        "run2": "2",
        "run3": "run3",
        "run4": "run4",
    }


def test_without_sweeps_nothing_is_joined():
    marks = [layer["mark"]["type"] for layer in layers(total_chart(decompose(3)))]
    assert marks == ["rule", "point", "text", "text", "text"]  # threads, points, names


def test_lines_of_equal_total_error_are_just_that(swept):
    lines = _equal_totals([r for r in swept.to_records() if r["measure"] == "AP"])
    assert len(lines) >= 4
    for end in lines:
        assert end["bias_squared"] + end["variance"] == pytest.approx(float(end["total"]))


def test_steps_are_round():
    for wanted, step in ((0.0013, 0.001), (0.019, 0.02), (4.0, 5.0), (9.0, 10.0)):
        assert round_ticks(0.0, 6 * wanted, 6)[1] == step
    assert round_ticks(2.0, 2.0, 6) == [2.0]


def test_many_runs_are_named_sparingly():
    result = decompose(30)
    records = [r for r in result.to_records() if r["measure"] == "AP"]
    named = _labels(records).values()
    assert 1 <= len(named) <= 5
    assert min(records, key=lambda r: r["total"])["run"] in named


def test_the_second_figure_shows_the_total(swept):
    drawing = total_chart(swept)
    (points,) = [layer for layer in layers(drawing) if layer["mark"]["type"] == "point"]
    assert points["encoding"]["y"]["field"] == "total"
    panel = drawing["concat"][0]
    assert values(drawing, panel)[0]["total"] == swept.total.value[0, 0]


def test_the_table_has_the_smallest_total_first_and_marks_the_best(swept):
    table = result_table(swept)
    assert table.columns[:2] == ("measure", "run")
    assert table.columns[-3:] == ("RI", "<Init", "k")
    totals = [float(row[5].text.split()[0]) for row in table.rows[:5]]
    assert totals == sorted(totals)
    assert table.rows[0][5].strong
    assert {row[-1].text for row in table.rows} == {"1", "2", "3", "–"}


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_runs_that_tie_both_stand_out_and_one_without_scores_is_last():
    values = np.random.default_rng(1).random((5, 4, 1)) / 2
    values[:, 0] = np.nan
    values[:, 2] = values[::-1, 1] + [[1e-16], [0.0], [-1e-16], [0.0], [5e-17]]
    values[:, 1:3] += 0.4
    scores = Scores(tuple("12345"), ("none", "a", "b", "low"), ("AP",), values)
    rows = result_table(decompose_error(scores, target=1.0, replicates=99, rng=1)).rows
    assert [row[0].text for row in rows][2:] == ["low", "none"]
    bias, total = ([row[column].strong for row in rows] for column in (2, 4))
    assert bias == total == [True, True, False, False]


@pytest.mark.parametrize("make", [chart, total_chart])
def test_names_stand_where_the_chart_says_and_inside_of_it(make):
    drawing = make(decompose(30, target="best"))
    panel = drawing["concat"][0]
    records = values(
        drawing, next(x for x in panel["layer"] if x["mark"]["type"] == "point") | panel
    )
    named = [record for record in records if record["label"]]
    assert named
    height = "variance" if make is chart else "total"
    for field, place in (("bias_squared", "label_x"), (height, "label_y")):
        reach = [record[field] for record in records]
        room = 0.07 * (max(reach) - min(reach))
        assert all(min(reach) - room <= record[place] <= max(reach) + room for record in named)
