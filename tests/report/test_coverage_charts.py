"""Charts and tables of coverage and Type I error show the records, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from chart_labels import names_of, records_of, without_numbers
from confir.report.chart_files import save_chart
from confir.report.result_chart import specification as chart
from confir.report.result_table import result_table
from confir.report.tables import to_text
from confir.studies.coverage.chart import (
    bias_chart,
    coverage_chart,
    population_chart,
    skewness_chart,
    type_one_chart,
)
from confir.studies.coverage.coverage import estimate_coverage
from confir.studies.coverage.table import type_one_run_table
from confir.studies.coverage.type_one_error import estimate_type_one_error
from studies.score_tables import table


def skewed(runs, measures=1):
    values = np.random.default_rng(5).beta(0.5, 3, (30, runs, measures))
    values[:, 0, 0] = np.where(np.arange(30) < 29, 0.0, 0.9)
    return table(values)


@pytest.fixture(scope="module")
def few():
    return estimate_coverage(skewed(3, 2), methods=["t", "bca"], samples=100, replicates=50, rng=1)


@pytest.fixture(scope="module")
def many():
    return estimate_coverage(skewed(12), methods=["t", "bca"], samples=40, replicates=50, rng=1)


@pytest.fixture(scope="module")
def error():
    return estimate_type_one_error(
        skewed(6), methods=["t", "bca"], topics=(3, 8), levels=(0.9, 0.8), samples=20, rng=1
    )


def marks(drawing):
    """The marks of the layers of a chart's panels."""
    return [layer["mark"]["type"] for layer in drawing["spec"]["layer"]]


def test_many_runs_are_box_plots_of_their_records(many):
    drawing = chart(many)
    assert without_numbers(records_of(drawing)) == many.to_records()
    assert marks(drawing) == ["boxplot", "rule"]
    title = drawing["title"]
    assert title == "Coverage of 95% intervals (dashed: nominal), box plots over 12 runs"


def test_few_runs_are_named_with_their_intervals(few):
    drawing = chart(few)
    assert without_numbers(records_of(drawing)) == few.to_records()
    assert marks(drawing) == ["rule", "point", "rule"]
    runs = drawing["spec"]["layer"][1]["encoding"]["color"]
    assert names_of(runs, "legend") == list(few.runs)


def test_what_has_no_coverage_is_not_drawn(few):
    coverage = few.coverage.copy()
    coverage[:, 1, 0] = np.nan
    shown = records_of(coverage_chart(replace(few, coverage=coverage)))
    assert len(shown) == 2 * (3 * 2 - 1)
    assert ("run1", "m0") not in {(record["run"], record["measure"]) for record in shown}


def test_errors_made_stand_against_errors_claimed(error):
    shown = records_of(type_one_chart(error))
    for record, drawn in zip(error.to_records(), shown, strict=True):
        assert {key: drawn[key] for key in record} == record
        assert drawn["nominal"] == pytest.approx(1 - record["level"])
    encoding = chart(error)["spec"]["layer"][1]["encoding"]
    assert encoding["x"]["scale"]["domain"] == encoding["y"]["scale"]["domain"]


def test_lines_of_the_same_colour_are_dashed_apart(error):
    methods = tuple(f"method {number}" for number in range(12))
    names = ("error", "below", "above", "undefined", "mean_error_se")
    arrays = {name: np.repeat(getattr(error, name), 6, axis=0) for name in names}
    wider = replace(error, methods=methods, **arrays)
    encoding = chart(wider)["spec"]["layer"][1]["encoding"]
    colours = encoding["color"]["scale"]["range"]
    dashes = [tuple(dash) for dash in encoding["strokeDash"]["scale"]["range"]]
    assert len(set(colours)) == 8
    assert len(set(zip(colours, dashes, strict=True))) == 12


def test_bias_is_a_histogram_for_each_size(error):
    shown = records_of(bias_chart(error))
    assert [record["value"] for record in shown] == error.bias.ravel().tolist()
    assert [record["group"] for record in shown] == ["n = 3"] * 6 + ["n = 8"] * 6


def test_skewness_is_one_histogram(error):
    shown = records_of(skewness_chart(error))
    assert [record["value"] for record in shown] == error.skewness.tolist()
    assert skewness_chart(error)["mark"]["type"] == "bar"


def test_populations_are_those_of_least_median_and_greatest_skewness(error):
    scores = skewed(6)
    shown = records_of(population_chart(error, scores))
    order = np.argsort(error.skewness)
    groups = list(dict.fromkeys(record["group"] for record in shown))
    for group, place, name in zip(
        groups, order[[0, 2, 5]], ("least", "median", "greatest"), strict=True
    ):
        assert group == f"run{place}: {name} skewness, {error.skewness[place]:.2f}"
        values = [record["value"] for record in shown if record["group"] == group]
        assert values == scores.values[:, place, 0].tolist()


def test_populations_leave_missing_scores_out(error):
    scores = skewed(6)
    values = scores.values.copy()
    values[:10, np.argmin(error.skewness)] = np.nan
    shown = records_of(population_chart(error, replace(scores, values=values)))
    assert len(shown) == 3 * 30 - 10


def test_charts_are_written_as_files(tmp_path, few, many, error):
    drawings = {
        "few": chart(few),
        "many": chart(many),
        "type-one": chart(error),
        "bias": bias_chart(error),
        "skewness": skewness_chart(error),
        "population": population_chart(error, skewed(6)),
    }
    for name, drawing in drawings.items():
        save_chart(drawing, tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").read_text().count("<path") > 4


@pytest.mark.parametrize(
    ("levels", "texts"),
    [((0.9, 0.8), ["0.10", "0.20"]), ((0.999, 0.95), ["0.001", "0.050"]), ((0.995,), ["0.005"])],
)
def test_claimed_errors_have_the_decimals_that_they_need(error, levels, texts):
    names = ("error", "below", "above", "undefined", "mean_error_se")
    arrays = {name: getattr(error, name)[:, :, : len(levels)] for name in names}
    claimed = replace(error, levels=levels, **arrays)
    assert [row[1].text for row in result_table(claimed).rows] == texts * 2


def test_a_run_of_unknown_skewness_stands_last(error):
    skewness = error.skewness.copy()
    skewness[:2] = np.nan, -1.0
    rows = type_one_run_table(replace(error, skewness=skewness)).rows
    assert [row[0].text for row in rows][-2:] == ["run1", "run0"]


def test_the_table_of_coverage_has_a_row_a_method(few):
    shown = result_table(few)
    assert [row[0].text for row in shown.rows] == ["t", "bca"]
    summary = few.summary()[0]
    texts = [cell.text for cell in shown.rows[0]]
    assert texts[1] == f"{summary['coverage']:.4f} ± {summary['se']:.4f}"
    expected = [summary[key] for key in ("least", "greatest", "below", "above", "undefined")]
    assert texts[2:] == [f"{value:.4f}" for value in expected]


def test_the_table_of_coverage_names_runs_that_stand_out(few, many):
    note = result_table(few).note.splitlines()
    assert note[0].startswith(f"share of {100 * few.level:g}% intervals that contain the mean")
    assert note[1] == "runs with unusually low coverage:"
    worst = few.outliers()[0]
    assert note[2].startswith("  run0 m0 (29 of 30 topics score 0): ")
    assert f"{worst['method']} {worst['coverage']:.3f}" in note[2]
    assert len(note) == 3
    usual = replace(many, coverage=np.full_like(many.coverage, 0.95))
    assert usual.note().splitlines()[1:] == ["no run has unusually low coverage"]


def test_of_many_runs_that_stand_out_the_first_ten_are_named(many):
    coverage = np.full((1, 40, 1), 0.95)
    coverage[0, :13, 0] = np.linspace(0.1, 0.2, 13)
    runs = tuple(f"run{number}" for number in range(40))
    reasons = (("why",),) * 40
    names = ("low", "high", "below", "above", "undefined")
    nothing = dict.fromkeys(names, np.zeros((1, 40, 1))) | {"mean_se": np.zeros(1)}
    wide = replace(many, runs=runs, methods=("t",), coverage=coverage, reasons=reasons, **nothing)
    note = wide.note().splitlines()[1:]
    assert note[1] == "  run0 m0 (why): t 0.100"
    assert len(note) == 12
    assert note[-1] == "  and 3 more"


def test_one_sample_shows_no_standard_error(few):
    shown = result_table(replace(few, mean_se=np.full(2, np.nan)), "")
    assert "±" not in to_text(shown)


def test_the_table_of_errors_is_that_of_park2011(error):
    shown = result_table(error, "the note")
    assert shown.columns == ("method", "nominal", "n = 3", "n = 8")
    assert [[cell.text for cell in row[:2]] for row in shown.rows] == [
        ["t", "0.10"],
        ["t", "0.20"],
        ["bca", "0.10"],
        ["bca", "0.20"],
    ]
    assert shown.rows[3][2].text == f"{error.error[1, 0, 1].mean():.4f}"
    assert shown.note == "the note"


def test_the_table_by_run_puts_the_most_skewed_first(error):
    shown = type_one_run_table(error)
    assert shown.columns == (
        "run",
        "skewness",
        "bias, n = 3",
        "bias, n = 8",
        "t, n = 3",
        "t, n = 8",
        "bca, n = 3",
        "bca, n = 8",
    )
    order = np.argsort(-error.skewness)
    assert [row[0].text for row in shown.rows] == [f"run{place}" for place in order]
    texts = [cell.text for cell in shown.rows[0]]
    assert texts[1] == f"{error.skewness[order[0]]:.4f}"
    assert texts[5] == f"{error.error[0, 1, 0, order[0]]:.4f}"


def test_the_table_by_run_names_the_measure_where_there_are_several():
    scores = skewed(2, 2)
    error = estimate_type_one_error(scores, methods="t", topics=5, levels=0.9, samples=2, rng=1)
    names = {row[0].text for row in type_one_run_table(error).rows}
    assert names == {"run0 m0", "run0 m1", "run1 m0", "run1 m1"}
