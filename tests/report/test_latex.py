"""Tables for papers: widths, and intervals in three formats. `make verify` compiles them."""

import re
from dataclasses import replace

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.number_text import difference_text, number_text
from confir.report.latex import Paper, to_latex
from confir.report.tables import Cell, Table
from confir.studies.means.table import interval_table

LONG = [f"multilingual-dense-retriever-v{i:03d}-large" for i in range(4)]


def table(names=("a", "b"), measures=("AP", "nDCG@10", "P@10", "RR", "R@1000")):
    rng = np.random.default_rng(3)
    values = rng.random((12, len(names), len(measures)))
    scores = Scores(tuple(map(str, range(12))), tuple(names), tuple(measures), values)
    return interval_table(confir.confidence_interval(scores, method="beta-logit"))


def one(low=0.40, high=0.60, *, strong=False, mark=""):
    cell = Cell(number_text(0.5, low, high), strong, mark)
    return Table(("run", "AP"), ((Cell("x"), cell),), "note", bold="highest mean")


def test_a_column_has_fewer_decimals_and_stacked_intervals():
    latex = to_latex(one(strong=True, mark="▲"), Paper("column"))
    mark = r"\rlap{\textsuperscript{\ding{115}}}"
    below = r"{\scriptsize [0.400, 0.600]}"
    assert rf"[t]{{@{{}}r@{{}}}}\textbf{{0.500}}{mark}\\[-2pt]{below}\end{{tabular}}" in latex
    assert r"\ifdim\wd0>\linewidth" in latex
    assert "bold: highest mean" in latex


@pytest.mark.parametrize("style", [None, "plus-minus"])
def test_an_interval_that_is_open_at_0_has_limits_too(style):
    cell = Cell(difference_text(0.05, 0.0, 0.09, open_end=1))
    assert cell.text.endswith("]")
    assert "[" not in cell.text
    latex = to_latex(Table(("run", "AP"), ((Cell("x"), cell),)), Paper("column", style))
    assert "+0.05" in latex


def test_plus_minus_shows_one_distance_or_both():
    assert r"0.500\,{\scriptsize$\pm$\,0.100}" in to_latex(one(), Paper("page", "plus-minus"))
    skewed = to_latex(one(0.41, 0.62), Paper(None, "plus-minus", 2))
    assert "0.50$^{+0.12}_{-0.09}$" in skewed
    assert "distance from the mean to the limits" in skewed.replace("\n", " ").replace(
        r"} \\ \multicolumn{2}{l}{\footnotesize ", " "
    )


def test_brackets_and_decimals_may_be_asked_for():
    assert "0.50 [0.40, 0.60]" in to_latex(one(), Paper("column", "brackets", 2))
    assert "0.500000 [0.400000, 0.600000]" in to_latex(one(), Paper(None, None, 6))


@pytest.mark.parametrize(("width", "parts"), [("column", 2), ("page", 1)])
def test_measures_without_room_stand_below_each_other(width, parts):
    latex = to_latex(table(LONG), Paper(width))
    headings = [line for line in latex.splitlines() if line.startswith("run & ")]
    assert len(headings) == parts
    assert " ".join(headings).replace(r"\\", "").count("&") >= 5
    rows = [line for line in latex.splitlines() if line.startswith("multilingual-")]
    assert len(rows) == parts * len(LONG)
    columns = {line.count("&") for line in [*headings, *rows]}
    assert len(columns) == 1


def test_long_names_are_broken_and_short_ones_are_not():
    assert r"dense-\allowbreak{}retriever" in to_latex(table(LONG), Paper("column"))
    assert r"\allowbreak" not in to_latex(table(), Paper("column"))
    unbroken = to_latex(table(["x" * 40, "y"]), Paper("column"))
    assert max(map(len, re.findall("x+", unbroken))) <= 12


@pytest.mark.parametrize("name", ["<script>", "constructor", "[2pt]", "a_b%c$d#{}~^\\"])
def test_hostile_names_are_text_in_a_fitted_table(name):
    latex = to_latex(table([name, "b" * 50]), Paper("column"))
    body = "\n".join(line for line in latex.splitlines() if not line.startswith("% needs"))
    body = body.replace("}}%\n", "}}\n")  # the end of a line, hidden from LaTeX
    assert not re.search(r"(?<!\\)[%#_]", body)
    assert "<script>" not in latex


def test_a_run_without_an_interval_and_an_empty_table_are_written():
    nan = float("nan")
    lone = Table(("run", "AP"), ((Cell("x"), Cell(number_text(0.5, nan, nan))),))
    assert "x & 0.500" in to_latex(lone, Paper("column"))
    assert r"\bottomrule" in to_latex(Table(("run", "AP"), ()), Paper("page", "plus-minus"))


def pairs(rows, names=("measure", "run", "against", "verdict")):
    """A table of differences, as comparisons have it."""
    columns = (*names, "difference", "p", "adj. p", "w/t/l")
    return Table(columns, rows, "as told", len(names))


def difference(run, value, p="0.0042", adjusted="0.0312", against="bm25"):
    texts = ("AP", run, against, "worse", difference_text(value, value - 0.1, 0.0), p, adjusted)
    return tuple(map(Cell, (*texts, "3/0/27")))


def test_what_is_the_same_in_all_rows_stands_in_the_note():
    latex = to_latex(pairs((difference("x", -0.2), difference("y", -0.05))))
    assert "run & difference & p (adj.) & w/t/l" in latex
    assert "measure: AP; against: bm25; verdict: worse; as told" in latex
    one_row = to_latex(pairs((difference("x", -0.2),)))
    assert one_row.count("AP & x & bm25 & worse") == 1


def test_negative_numbers_have_minus_signs_and_names_keep_their_hyphens():
    latex = to_latex(pairs((difference("x-3", -0.2), difference("-4", -0.05))))
    assert r"x-3 & $-$0.200 [$-$0.300, 0.000] & 0.004 (0.031) & 3/0/27 \\" in latex
    stacked = to_latex(pairs((difference("x-3", -0.2), difference("y", -0.05))), Paper("column"))
    assert r"$-$0.200\\[-2pt]{\scriptsize [$-$0.300, 0.000]}" in stacked


def test_small_p_values_have_three_decimals_and_others_are_kept():
    rows = (difference("x", -0.2, "<0.0001", "0.0004"), difference("y", -0.05, "–", "–"))
    latex = to_latex(pairs(rows))
    assert r"\textless{}0.001 (\textless{}0.001)" in latex
    assert "-- (--)" in latex


@pytest.mark.parametrize("width", [None, "page"])
def test_more_rows_than_a_page_has_are_a_long_table_with_headings_on_every_page(width):
    many = table([f"run-{i:03d}" for i in range(74)], ("AP", "RR"))
    latex = to_latex(many, Paper(width))
    assert r"\usepackage{longtable}" in latex.splitlines()[0]
    assert latex.count(r"run & AP & RR \\") == 2
    assert r"\endhead" in latex
    assert latex.count("run-") == 74
    assert r"\begin{tabular}" not in latex
    assert "longtable" not in to_latex(table([f"run-{i:03d}" for i in range(45)]), Paper(width))


def test_many_rows_in_a_column_are_in_boxes_that_a_page_has_room_for():
    latex = to_latex(table([f"run-{i:03d}" for i in range(74)], ("AP", "RR")), Paper("column"))
    boxes = latex.split(r"\sbox0")[1:]
    assert [box.count("run-") for box in boxes] == [25, 25, 24]
    assert "longtable" not in latex


def test_a_long_table_in_parts_has_its_note_below_once():
    wide = table([f"run-{i:03d}-{'x' * 30}" for i in range(74)], tuple(f"R@{k}" for k in range(9)))
    latex = to_latex(replace(wide, note="first\nsecond"), Paper("page"))
    assert latex.count(r"\begin{longtable}") > 1
    assert r"\multicolumn" not in latex  # wider than a part
    assert latex.rpartition(r"\end{longtable}")[2].count("first; second") == 1
