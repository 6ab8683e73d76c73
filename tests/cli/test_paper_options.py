"""Options for papers, missing packages, help pages, completion and warnings of the command line."""

import importlib.util
import os
import shutil
import subprocess
import sys
import warnings

import pytest

from confir.cli import file_checks
from confir.cli.commands import COMMANDS
from confir.cli.start import warnings_at_the_end
from confir.errors import DegenerateSampleWarning, InputWarning, TopicWarning
from confir.report.messages import merge_warnings
from requirements import ON_LINUX, missing_requirement


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--width", "column"], "--width is for LaTeX; expected -o FILE.tex"),
        (["--intervals", "stacked", "-o", "x.md"], "--intervals is for LaTeX"),
        (["--width", "colum", "-o", "x.tex"], "did you mean column?"),
        (["--figure-width", 85], "--figure-width is for charts; expected -o FILE with .svg"),
        (
            ["--figure-width", 8, "-o", "x.svg"],
            "the width of a figure is 8; expected 40 to 1000 mm",
        ),
        (["--figure-height", 60], "--figure-height is for charts; expected -o FILE with .svg"),
        (
            ["--figure-height", 2000, "-o", "x.svg"],
            "the height of a figure is 2000; expected 40 to 1000 mm",
        ),
        (["--figure-title", "-o", "x.md"], "--figure-title is for charts"),
        (["--decimals", 2, "-o", "x.svg"], "--decimals is for tables"),
        (["--decimals", 0], "--decimals is 0; expected 1 or more"),
    ],
)
def test_options_without_effect_are_named_before_anything_is_read(confir_command, options, said):
    outcome = confir_command("evaluate", "nowhere.txt", "nowhere.run", *options)
    assert outcome.code == 2
    assert said in outcome.err


def test_a_report_takes_a_width_for_its_figures_only(confir_command):
    outcome = confir_command("report", "nowhere.txt", "nowhere.run", "--figure-width", 85)
    assert "--figure-width is for --figures DIR" in outcome.err


def test_a_table_is_printed_with_fewer_decimals(confir_command, whole_files):
    runs = [whole_files / "runs" / f"{name}.txt" for name in ("bm25", "dense")]
    given = ("evaluate", whole_files / "qrels.txt", *runs, "-m", "AP", "--decimals", 2)
    assert "bm25   0.20 [0.15, 0.25]" in confir_command(*given).out
    latex = confir_command(*given, "--format", "tex", "--width", "column").out
    assert r"[t]{@{}r@{}}0.20\\[-2pt]{\scriptsize [0.15, 0.25]}\end{tabular}" in latex


@pytest.mark.parametrize(
    ("missing", "options", "said"),
    [
        ("vl_convert", ["-o", "x.pdf"], "saving charts needs the package vl-convert-python"),
        ("pyarrow", ["-o", "x.parquet"], "writing Parquet needs the package pyarrow"),
    ],
)
def test_a_missing_package_is_named_before_anything_is_read(
    confir_command, monkeypatch, missing, options, said
):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        file_checks, "find_spec", lambda name: None if name == missing else found(name)
    )
    outcome = confir_command("evaluate", "nowhere.txt", "nowhere.run", *options)
    assert outcome.code == 2
    assert said in outcome.err


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_no_help_page_shows_types_of_python(confir_command, command):
    shown = confir_command(*filter(None, [command]), "--help").out
    assert "--help" in shown
    assert not any(word in shown for word in ("<bool>", "<str>", "<int>", "<float>", "<list"))
    lists = [word for word in shown.split() if word.count("|") > 0]
    assert not [word for word in lists if len(word) > 22], "a list of words would be broken"


def completed(words: str, shell: str = "bash") -> list[str]:
    """Return the completions of the last of some words that a shell gets."""
    last = words.rsplit(" ", maxsplit=1)[-1] if shell == "fish" else str(len(words.split(" ")) - 1)
    asked = {"_CONFIR_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": last}
    command = [sys.executable, "-m", "confir"]
    done = subprocess.run(
        command, env=os.environ | asked, capture_output=True, text=True, check=True
    )
    return done.stdout.split("\n")


def test_shells_complete_commands_options_and_names():
    assert completed("confir eva") == ["plain,evaluate", ""]
    assert {"plain,--measure", "plain,--method"} <= set(completed("confir evaluate --me"))
    assert "plain,nDCG@10" in completed("confir evaluate -m nD")
    assert "plain,calibrated-beta" in completed("confir evaluate --method cal")
    assert "plain,column" in completed("confir evaluate --width ")
    assert completed("confir eva", "zsh")[:2] == ["plain", "evaluate"]
    assert "evaluate" in completed("confir eva", "fish")[0]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_files_where_nothing_else_fits(shell):
    (kind, *_) = "".join(completed("confir evaluate qre", shell)[:1]).split(",")
    assert kind == "file"
    assert completed("confir evaluate --level ", shell) == ["", ""]


@ON_LINUX
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_valid(confir_command, shell, tmp_path):
    outcome = confir_command("completion", shell)
    assert "_CONFIR_COMPLETE" in outcome.out
    if shutil.which(shell) is None:
        missing_requirement(f"{shell} is missing")
    (tmp_path / "script").write_text(outcome.out)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


def test_an_unknown_shell_is_named(confir_command):
    assert "unknown shell 'tcsh'" in confir_command("completion", "tcsh").err


def test_warnings_come_most_important_first_and_each_once(capsys):
    with warnings_at_the_end():
        warnings.simplefilter("always")
        warnings.warn("no interval", DegenerateSampleWarning, stacklevel=1)
        for run in ("a", "b", "c", "d", "e"):
            warnings.warn(f"run '{run}' lacks 2 topics", TopicWarning, stacklevel=1)
        for _ in range(3):
            warnings.warn("x.run: no tag", InputWarning, stacklevel=1)
        warnings.warn("for developers", UserWarning, stacklevel=1)
    assert capsys.readouterr().err.splitlines() == [
        "confir: warning: x.run: no tag (3 times)",
        "confir: warning: run 'a' lacks 2 topics",
        "confir: warning: run 'b' lacks 2 topics",
        "confir: warning: run 'c' lacks 2 topics",
        "confir: warning: 2 more warnings like the one before",
        "confir: warning: no interval",
    ]


def test_no_warning_hides_an_error(confir_command, sample_files, tmp_path):
    run = (sample_files / "runs" / "bm25.txt").read_text().splitlines()
    (tmp_path / "a.run").write_text("\n".join(line.rsplit(maxsplit=1)[0] for line in run))
    qrels = sample_files / "qrels.txt"
    alone = confir_command("evaluate", qrels, tmp_path / "a.run", "-m", "AP")
    assert alone.err.startswith("confir: warning: ")
    failed = confir_command("compare", qrels, tmp_path / "a.run", "-m", "AP")
    assert failed.code == 2
    (only,) = failed.err.splitlines()
    assert only.startswith("confir: error: ")


def test_what_warnings_say_of_one_finding_is_said_together():
    found = [
        (1, "2 topics (a, b), which score 0"),
        (0, "2 topics (a, b), which are left out"),
        (2, "x"),
    ]
    assert merge_warnings(found) == ["2 topics (a, b), which score 0; which are left out", "x"]
    advised = [(place, f"{text}: check them") for place, text in found]
    together, _ = merge_warnings(advised)
    assert together == "2 topics (a, b), which score 0; which are left out: check them"
