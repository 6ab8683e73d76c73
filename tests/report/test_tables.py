"""Tables for readers: every format, and text that is nothing but text."""

import re

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.report.records import format_result, write_result
from confir.report.tables import (
    Cell,
    Table,
    interval_table,
    interval_text,
    mean_table,
    number_text,
    to_html,
    to_latex,
    to_markdown,
    to_text,
    topic_table,
)

HOSTILE = "<b>&_%$#{}~^\\|`*\"'"


@pytest.fixture
def scores():
    values = np.array([[[0.1, 3.0], [0.5, 4.0]], [[0.3, 5.0], [0.7, np.nan]]])
    return Scores(("1", "2"), ("low", "high"), ("AP", "NumRet"), values)


def test_best_run_comes_first_and_the_best_of_each_measure_stands_out(scores):
    table = mean_table(scores)
    assert [row[0].text for row in table.rows] == ["high", "low"]
    assert table.rows[0][1] == Cell("0.6000", strong=True)
    assert table.rows[1][1] == Cell("0.2000")


def test_intervals_stand_in_brackets_after_the_mean(scores):
    interval = confir.confidence_interval(scores.select(measures=["AP"]), method="t")
    (first, _) = interval_table([interval]).rows
    low, high = interval.low[1, 0], interval.high[1, 0]
    assert first[1].text == f"0.6000 [{low:.4f}, {high:.4f}]"


@pytest.mark.parametrize(
    ("value", "text"), [(0.21754, "0.2175"), (-0.5, "-0.5000"), (1000.0, "1000.0"), (np.nan, "–")]
)
def test_numbers_have_four_decimals_and_counts_one(value, text):
    assert number_text(value) == text


def test_unknown_limits_leave_the_mean_alone():
    assert interval_text(0.5, np.nan, np.nan) == "0.5000"


def test_scores_by_topic_have_a_row_for_every_run_and_topic(scores):
    table = topic_table(scores)
    assert [(row[0].text, row[1].text) for row in table.rows] == [
        ("low", "1"),
        ("low", "2"),
        ("high", "1"),
        ("high", "2"),
    ]


def test_text_from_input_is_escaped_everywhere():
    table = Table(("run", HOSTILE), ((Cell(HOSTILE), Cell("0.5", strong=True)),), HOSTILE)
    html = to_html(table)
    assert "<b>" not in html
    assert html.count("&lt;b&gt;&amp;") == 3
    latex = to_latex(table)
    body = [line for line in latex.splitlines() if not line.startswith("%")]
    unescaped = re.sub(r"\\[&%$#_{}]|\\text\w+\{\}", "", "\n".join(body))
    assert not re.search(r"[%$#_~^]", unescaped)
    markdown = to_markdown(table)
    assert r"\<b\>" in markdown
    assert r"\|" in markdown
    assert all(line.count("|") - line.count(r"\|") == 3 for line in markdown.splitlines()[:3])


def test_latex_has_booktabs_and_bold_for_the_best(scores):
    latex = to_latex(mean_table(scores))
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lrr}"):
        assert part in latex
    assert r"\textbf{0.6000}" in latex


def test_a_wide_table_is_not_folded_where_there_is_no_terminal():
    table = Table(("run", *(f"measure{i}" for i in range(60))), ((Cell("x"),) + (Cell("1"),) * 60,))
    assert len(to_text(table).splitlines()) == 2
    assert len(to_text(table, width=80).splitlines()) > 2


def test_records_and_tables_agree_in_every_text_format(scores):
    interval = confir.confidence_interval(scores.select(measures=["AP"]), method="t")
    records, table = interval.to_records(), interval_table([interval])
    for kind in ("csv", "tsv", "json", "jsonl"):
        assert repr(records[1]["low"]) in format_result(kind, records, table)
    for kind in ("table", "md", "tex", "html"):
        assert f"{records[1]['low']:.4f}" in format_result(kind, records, table)


def test_unknown_formats_are_named(scores, tmp_path):
    table = mean_table(scores)
    with pytest.raises(confir.errors.UnknownNameError, match="unknown format 'xls'"):
        format_result("xls", [], table)
    with pytest.raises(confir.errors.UnknownNameError, match=r"table\.xls"):
        write_result(tmp_path / "table.xls", [], table)


def test_results_show_themselves_in_notebooks(scores):
    assert "0.6000" in scores._repr_html_()
    bounded = scores.select(measures=["AP"])
    assert "0.6000 [" in confir.confidence_interval(bounded, method="t")._repr_html_()
    assert "<strong>1 [" in confir.rank_runs(bounded, rng=1)._repr_html_()
