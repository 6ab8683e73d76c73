"""Tables for papers compile and fit. Run by ``make verify``; without LaTeX these tests fail."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.report.latex import Paper, to_latex
from confir.report.result_table import result_table
from confir.report.tables import Cell, Table
from confir.studies.comparison.table import comparison_table, marked_table
from confir.studies.means.table import interval_table

CLASSES = {
    "acmart": r"\documentclass[sigconf,nonacm]{acmart}",
    "article": r"\documentclass[twocolumn]{article}",
}
MEASURES = ("AP", "nDCG@10", "P@10", "RR", "R@1000")


def named(names):
    """Return scores of runs with these names by five measures, on 30 topics."""
    rng = np.random.default_rng(1)
    level = rng.normal(0.4, 0.1, (30, 1, 1)) + rng.normal(0.0, 0.05, (1, len(names), 1))
    values = np.clip(level + rng.normal(0.0, 0.1, (30, len(names), len(MEASURES))), 0.0, 1.0)
    return Scores(tuple(map(str, range(30))), tuple(names), MEASURES, values)


LONG = [f"multilingual-dense-retriever-v{i:03d}-large"[:40] for i in range(5)]
UNBROKEN = [f"{'x' * 37}{i:03d}" for i in range(3)]
HOSTILE = [r"a_b%c$d#e{f}g~h^i\\j|k", "<script>", "constructor", "[2pt]", "*"]
NAMES = {"long": LONG, "unbroken": UNBROKEN, "hostile": HOSTILE, "short": ["bm25", "dense", "rm3"]}


def compiled(tmp_path, tables, class_name, environment):
    """Return the log of a document with tables, and raise if it does not compile."""
    if shutil.which("pdflatex") is None:
        pytest.fail("pdflatex is missing; expected TeX Live with acmart (see Makefile, verify)")
    packages = {
        name
        for latex in tables
        for name in re.findall(r"usepackage\{(\w+)\}", latex.splitlines()[0])
    }
    parts = [CLASSES[class_name], *(rf"\usepackage{{{name}}}" for name in sorted(packages))]
    author = r"\author{A}" + (r"\affiliation{\country{B}}" if class_name == "acmart" else "")
    parts += [r"\begin{document}", r"\title{Paper}", author, r"\maketitle", "Text."]
    for latex in tables:
        parts += [rf"\begin{{{environment}}}\caption{{Means.}}", latex, rf"\end{{{environment}}}"]
        parts += [r"\clearpage"]
    (tmp_path / "paper.tex").write_text("\n".join([*parts, r"\end{document}"]), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300, check=False)
    log = (tmp_path / "paper.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-2000:]
    return log


def overfull(log):
    """Return the boxes that are too wide, by more than the eye sees."""
    return [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]


def tables_of(names):
    """Return a table of means with marks, one of differences, and one of ranks."""
    scores = named(names)
    interval = confir.confidence_interval(scores, method="t")
    comparison = confir.compare_runs(scores, baseline=names[0], replicates=199, rng=1)
    ranks = confir.rank_runs(scores, replicates=199, rng=1)
    means = marked_table(interval_table(interval), comparison)
    return [means, comparison_table(comparison), result_table(ranks)]


@pytest.mark.parametrize("class_name", CLASSES)
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("width", ["column", "page"])
def test_a_table_made_to_fit_compiles_and_fits(tmp_path, class_name, kind, width):
    environment = "table" if width == "column" else "table*"
    styles = (None, "brackets", "stacked", "plus-minus")
    papers = [Paper(width, intervals) for intervals in styles]
    tables = [to_latex(table, paper) for table in tables_of(NAMES[kind]) for paper in papers]
    assert not overfull(compiled(tmp_path, tables, class_name, environment))


def test_letters_keep_their_size_in_a_column_of_acmart(tmp_path):
    for table in tables_of(LONG)[::2]:
        latex = to_latex(table, Paper("column"))
        shown = latex.replace(
            r"\ifdim\wd0", r"\typeout{wide: \the\wd0 of \the\linewidth}\ifdim\wd0"
        )
        log = compiled(tmp_path, [shown], "acmart", "table")
        wide, room = map(float, re.search(r"wide: ([\d.]+)pt ?of ([\d.]+)pt", log).groups())
        assert wide <= room, table.columns


def test_a_table_that_is_not_made_to_fit_is_found_too_wide(tmp_path):
    (means, *_) = tables_of(LONG)
    assert overfull(compiled(tmp_path, [to_latex(means)], "article", "table"))


def test_a_table_with_a_hostile_note_compiles(tmp_path):
    cells = tuple((Cell(name), Cell("0.5", strong=True, mark="▲")) for name in HOSTILE)
    table = Table(("run", r"_%$#{}~^\\|"), cells, "; ".join(HOSTILE) + " ± τ α ▲ ▼", bold="best")
    fitted = [to_latex(table, Paper(width)) for width in ("column", "page")]
    for class_name in CLASSES:
        assert not overfull(compiled(tmp_path, fitted, class_name, "table"))
        assert compiled(tmp_path, [to_latex(table)], class_name, "table")
