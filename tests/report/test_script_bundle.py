"""The scripts of a page are bundled in parallel, or here if that fails."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from confir.report import script_bundle
from confir.report.script_bundle import ScriptBundle


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def nothing_made(monkeypatch, cache):
    monkeypatch.setattr(ScriptBundle, "_made", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


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


def test_without_vl_convert_there_are_no_scripts(monkeypatch):
    monkeypatch.setattr(script_bundle, "find_spec", lambda _: None)
    with ScriptBundle() as bundle:
        assert bundle.text() == ""


def test_the_scripts_of_a_version_are_kept(monkeypatch, cache):
    monkeypatch.setattr(script_bundle, "_make", lambda: "scripts")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with ScriptBundle() as bundle:
        made = bundle.text()
    (kept,) = (cache / "confir").iterdir()
    assert version("vl-convert-python") in kept.name
    assert kept.read_text() == made
    monkeypatch.setattr(ScriptBundle, "_made", None)
    monkeypatch.setattr(script_bundle, "_make", None)
    monkeypatch.setattr(subprocess, "Popen", None)
    with ScriptBundle() as bundle:
        assert bundle.text() == made


@pytest.mark.parametrize("damage", [b"", b"(function(){scr", b"\xff\xfe"])
def test_kept_scripts_that_are_damaged_are_made_again(monkeypatch, cache, damage):
    monkeypatch.setattr(script_bundle, "_make", lambda: "scripts")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with ScriptBundle() as bundle:
        made = bundle.text()
    (kept,) = (cache / "confir").iterdir()
    kept.write_bytes(damage)
    monkeypatch.setattr(ScriptBundle, "_made", None)
    with ScriptBundle() as bundle:
        assert bundle.text() == made
    assert kept.read_text() == made


def test_scripts_that_cannot_be_kept_cost_time_only(monkeypatch, cache):
    cache.write_text("no folder")
    monkeypatch.setattr(script_bundle, "_make", lambda: "scripts")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with ScriptBundle() as bundle:
        assert bundle.text() == "(function(){scripts\n})();"
