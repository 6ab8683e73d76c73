"""Help pages: they fit on a screen, and their examples are valid commands."""

import re
import shlex

import pytest

from confir.cli.commands import COMMANDS, build_command
from confir.studies import STUDIES

ANSWERING = [name for study in STUDIES for name in study.commands] + ["report"]


def help_of(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        build_command(name).main(["--help"], prog_name=f"confir {name}")
    return capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_at_most_40_lines(name, capsys, monkeypatch):
    assert len(help_of(name, capsys, monkeypatch).splitlines()) <= 40


@pytest.mark.parametrize("name", ANSWERING)
def test_the_three_commonest_uses_are_shown_and_understood(name, capsys, monkeypatch):
    shown = help_of(name, capsys, monkeypatch)
    examples = re.findall(r"^ +• (confir [^\n]*(?:\n    [^\n•╭]+)*)", shown, re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        program, command, *words = shlex.split(" ".join(example.split()))
        assert (program, command) == ("confir", name)
        build_command(name).make_context(name, words)  # raises where an option is unknown


def test_every_example_of_reusability_names_the_teams_that_it_needs(capsys, monkeypatch):
    shown = help_of("reusability", capsys, monkeypatch)
    examples = re.findall(r"• confir (?:[^•╭]+)", shown)
    assert all("--teams " in example for example in examples)
    assert re.search(r"^│ --teams FILE ", shown, re.MULTILINE)
