"""Imports at the start of a command: what it needs, and nothing else.

What is not imported cannot be slow: these tests replace a measurement of time.
"""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import confir
from confir.cli.commands import COMMANDS

HEAVY = {
    *("scipy", "numba", "dask", "pandas", "polars", "pyarrow", "narwhals"),
    *("altair", "vl_convert", "jinja2", "zstandard", "ir_measures"),
}
TELL = """
import json, sys
from confir.cli import main
try:
    main()
finally:
    json.dump(sorted(sys.modules), sys.stderr)
"""


def modules_after(*arguments: object) -> set[str]:
    """Return the modules in a fresh process that has run a command."""
    command = [sys.executable, "-c", TELL, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def heavy(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules} & HEAVY


def test_help_needs_neither_numpy_nor_heavy_packages():
    modules = modules_after("--help")
    assert "numpy" not in modules
    assert not heavy(modules)


LIGHT = ("t", "logit-t", "bootstrap-t", "bootstrap-t-logit", "symmetric-t-logit", "hall-logit")


@pytest.mark.parametrize("methods", [(), LIGHT], ids=["default", "by name"])
def test_a_small_evaluation_needs_no_heavy_package(sample_files, methods):
    chosen = [word for method in methods for word in ("--method", method)]
    modules = modules_after("evaluate", sample_files / "qrels.txt", sample_files / "runs", *chosen)
    assert "numpy" in modules  # or the process printed nothing
    assert not heavy(modules)


# What takes a tenth of a short command's time, and serves other commands.
UNNEEDED = {
    *("numpy.ma", "numpy.random", "statistics", "logging", "importlib.metadata", "hashlib"),
    *("threadpoolctl", "concurrent.futures", "rich"),
}


def test_a_small_evaluation_loads_what_it_needs(sample_files):
    modules = modules_after("evaluate", sample_files / "qrels.txt", sample_files / "runs/bm25.txt")
    assert not UNNEEDED & modules
    assert 100 < len([name for name in modules if name.startswith("confir.")]) < 165


def test_a_closed_form_needs_no_heavy_package():
    assert not heavy(modules_after("chance", "--documents", 1000, "--relevant", 10))


def test_a_command_leaves_the_others_alone():
    modules = modules_after("chance", "--documents", 10, "--relevant", 1)
    assert "confir.studies.chance.command" in modules
    assert (
        not {
            "confir.studies.means.command",
            "confir.studies.meta_analysis.command",
            "confir.studies.coverage.command",
        }
        & modules
    )


def test_help_lists_every_command(confir_command):
    outcome = confir_command("--help")
    assert outcome.code == 0
    listed = {line.split()[1] for line in outcome.out.splitlines() if line.startswith("│ ")}
    assert set(COMMANDS) <= listed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(confir_command, name):
    outcome = confir_command(name, "--help")
    assert outcome.code == 0
    assert f"confir {name} [OPTIONS]" in outcome.out


def test_every_command_is_listed():
    folder = Path(confir.__file__).parent
    found = {
        (".".join(path.relative_to(folder.parent).with_suffix("").parts), node.name)
        for path in (*folder.glob("cli/*.py"), *folder.glob("studies/*/command.py"))
        if path.name != "commands.py"  # which finds commands and has none
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and re.fullmatch("[a-z].*_command", node.name)
    }
    listed = {
        (module, f"{name.replace('-', '_')}_command") for name, (module, _) in COMMANDS.items()
    }
    assert found == listed


def test_an_unknown_command_is_rejected_with_the_known_ones(confir_command):
    outcome = confir_command("evaluat")
    assert outcome.code == 2
    assert "Did you mean 'evaluate'" in outcome.err


def test_help_reads_the_options_of_no_command(confir_command, monkeypatch):
    monkeypatch.setattr("confir.cli.commands.read_parameters", pytest.fail)
    assert confir_command("--help").code == 0
    assert confir_command().code == 2


def test_a_command_after_two_dashes_runs(confir_command):
    outcome = confir_command("--", "methods", "--format", "csv")
    assert outcome.code == 0
    assert outcome.out.startswith("method,over")


@pytest.mark.parametrize(
    ("module", "arguments"),
    [("click", ("--version",)), ("numpy", ("evaluate", "--scores", "scores.csv"))],
)
def test_a_package_that_cannot_be_imported_is_no_closed_gate(tmp_path, module, arguments):
    (tmp_path / f"{module}.py").write_text("raise ImportError('libfoo.so.1:\\n no such file')\n")
    (tmp_path / "scores.csv").write_text("topic,a,b\n1,0.5,0.5\n2,0.4,0.6\n")
    paths = [str(tmp_path), str(Path(confir.__file__).parent.parent)]
    done = subprocess.run(
        [sys.executable, "-m", "confir", *arguments],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("confir: error: ")
    assert "libfoo.so.1: no such file" in done.stderr
    assert "expected an installation with all it needs" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("error", [ImportError("no such module"), RuntimeError("no such thing")])
def test_what_keeps_the_command_line_from_starting_is_no_closed_gate(
    confir_command, monkeypatch, error
):
    def broken():
        raise error

    monkeypatch.setattr("confir.cli.start.run", broken)
    outcome = confir_command("--version")
    assert outcome.code == 2
    assert outcome.err.startswith(
        f"confir: error: confir cannot be started ({type(error).__name__}"
    )
    assert outcome.err.count("\n") == 1


def test_an_interrupt_while_a_class_is_made_is_an_interrupt(confir_command, monkeypatch):
    def interrupted():
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("confir.cli.start.run", interrupted)
    outcome = confir_command("--version")
    assert (outcome.code, outcome.err) == (130, "confir: error: interrupted\n")


@pytest.mark.parametrize("part", ["print_message", "release_streams"])
def test_streams_that_fail_at_the_end_do_not_change_the_exit_code(
    confir_command, monkeypatch, part
):
    def broken(*_):
        raise RuntimeError("boom")

    monkeypatch.setattr(f"confir.cli.streams.{part}", broken)
    monkeypatch.setattr("confir.cli.start.run", broken)
    assert confir_command("--version").code == 2


@pytest.fixture(scope="module")
def without_docstrings(tmp_path_factory):
    """A folder in which Python keeps what it compiles without docstrings."""
    return str(tmp_path_factory.mktemp("compiled"))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--help",), 0, "evaluate"),
        (("measures",), 0, "nDCG"),
        (("evaluate", "--scores", "scores.csv"), 0, "mean with 95% confidence interval"),
        (("evaluate", "--scores", "scores.csv", "-o", "x.svg"), 0, ""),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_python_without_docstrings_runs_commands(
    tmp_path, without_docstrings, arguments, code, said
):
    (tmp_path / "scores.csv").write_text("topic,a,b\n1,0.5,0.5\n2,0.4,0.6\n3,0.1,0.2\n")
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "confir", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPYCACHEPREFIX": without_docstrings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert "bug" not in done.stderr
