"""The scripts of a page are bundled in parallel, or here if that fails."""

import subprocess
import sys

import pytest

from confir.errors import MissingDependencyError
from confir.report import script_bundle
from confir.report.script_bundle import ScriptBundle


@pytest.fixture(autouse=True)
def nothing_made(monkeypatch):
    monkeypatch.setattr(ScriptBundle, "_made", None)


@pytest.fixture(scope="module")
def made_here():
    before, ScriptBundle._made = ScriptBundle._made, None
    made = ScriptBundle().text()
    ScriptBundle._made = before
    return made


@pytest.fixture
def forbid_making_here(monkeypatch):
    monkeypatch.setattr(script_bundle, "_make", None)


def test_the_scripts_are_complete(made_here):
    assert "vegaEmbed" in made_here
    assert "</script" not in made_here


@pytest.mark.usefixtures("forbid_making_here")
def test_a_process_makes_the_same_scripts_and_runs_no_module_of_the_folder_at_hand(
    made_here, tmp_path, monkeypatch
):
    (tmp_path / "vl_convert.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    with ScriptBundle() as bundle:
        assert bundle.text() == made_here


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false"])
def test_without_a_process_the_scripts_are_made_here(monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    monkeypatch.setattr(script_bundle, "_make", lambda: "scripts")
    with ScriptBundle() as bundle:
        assert bundle.text() == "(function(){scripts\n})();"


def test_scripts_are_made_once(monkeypatch):
    monkeypatch.setattr(script_bundle, "_make", lambda: "scripts")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with ScriptBundle() as bundle:
        made = bundle.text()
    monkeypatch.setattr(script_bundle, "_make", None)
    monkeypatch.setattr(subprocess, "Popen", None)
    with ScriptBundle() as bundle:
        assert bundle.text() == made


def test_a_page_that_fails_leaves_no_process_behind():
    with ScriptBundle() as bundle:
        process = bundle._process
        assert isinstance(process, subprocess.Popen)
        with ScriptBundle() as another:
            assert another._process is process
        assert process.poll() is None
    assert process.returncode != 0
    assert ScriptBundle._process is None


def test_what_is_missing_is_named_before_the_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingDependencyError, match="vl-convert-python"), ScriptBundle():
        pass
