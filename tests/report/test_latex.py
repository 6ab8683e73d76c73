"""Tables for papers: made to fit, intervals in three forms. `make verify` compiles them."""

import re

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.report.latex import Paper, to_latex
from confir.report.numbers import interval_text
from confir.report.tables import Cell, Table
from confir.studies.means.table import interval_table

LONG = [f"multilingual-dense-retriever-v{i:03d}-large" for i in range(4)]


def table(names=("a", "b"), measures=("AP", "nDCG@10", "P@10", "RR", "R@1000")):
    rng = np.random.default_rng(3)
    values = rng.random((12, len(names), len(measures)))
    scores = Scores(tuple(map(str, range(12))), tuple(names), tuple(measures), values)
    return interval_table(confir.confidence_interval(scores, method="beta-logit"))


def one(low=0.40, high=0.60, *, strong=False, mark=""):
    cell = Cell(interval_text(0.5, low, high), strong, mark)
    return Table(("run", "AP"), ((Cell("x"), cell),), "note", bold="highest mean")


def test_a_column_has_fewer_decimals_and_stacked_intervals():
    latex = to_latex(one(strong=True, mark="▲"), Paper("column"))
    mark = r"\rlap{\textsuperscript{\ding{115}}}"
    below = r"{\scriptsize [0.400, 0.600]}"
    assert rf"[t]{{@{{}}r@{{}}}}\textbf{{0.500}}{mark}\\[-2pt]{below}\end{{tabular}}" in latex
    assert r"\ifdim\wd0>\linewidth" in latex
    assert "bold: highest mean" in latex


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
    lone = Table(("run", "AP"), ((Cell("x"), Cell(interval_text(0.5, nan, nan))),))
    assert "x & 0.500" in to_latex(lone, Paper("column"))
    assert r"\bottomrule" in to_latex(Table(("run", "AP"), ()), Paper("page", "plus-minus"))
