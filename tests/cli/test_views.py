"""``--show``: declared views, renamed options, and help pages."""

import json
import re
from typing import Annotated

import click
import pytest

from confir.cli.commands import COMMANDS, build_command
from confir.cli.parameters import click_parameter
from confir.cli.renamed_options import RENAMED
from confir.cli.schema import declared_views
from confir.cli.views import View, Views
from confir.errors import InvalidValueError, UnknownNameError

VIEWS = dict(declared_views())
# A look as the version before kept it: the run that it compares with is its baseline.
OLD_LOOK = {
    "look": 1,
    "date": "2026-01-01T00:00:00+00:00",
    "commit": "c1",
    "measure": "nDCG@10",
    "baseline": "bm25",
    "run": "tfidf",
    "decision": "fails",
    "require": "not-worse",
    "margin": 0.0,
    "topics": 50,
    "difference": -0.14,
    "low": -0.18,
    "high": -0.09,
    "level": 0.95,
    "looks": "candidates",
    "look_low": -0.19,
    "look_high": -0.09,
    "look_level": 0.9696036449072987,
}


@pytest.mark.parametrize("renamed", RENAMED, ids=lambda one: f"{one.option} {one.commands}")
def test_a_renamed_option_is_one_sentence_that_names_the_new_one(confir_command, renamed):
    for command in renamed.commands or ("evaluate", "compare", "leaderboard"):
        outcome = confir_command(command, renamed.option, "x")
        said = f"confir: error: {renamed.option} is now {renamed.instead}\n"
        assert (outcome.code, outcome.out, outcome.err) == (2, "", said)


def test_what_replaces_an_option_exists(confir_command):
    for renamed in RENAMED:
        named = re.search(r"--show (\w+)", renamed.instead)
        for command in renamed.commands:
            owner = re.match(r"confir (\w+)", renamed.instead)
            views = VIEWS[owner[1] if owner else command].by_name
            assert named is None or named[1] in views
    assert confir_command("evaluate", "--nothing").err.startswith("confir: error: No such option")


@pytest.mark.parametrize("command", VIEWS)
def test_help_and_refusals_name_the_views(confir_command, command):
    names = list(VIEWS[command].by_name)
    page = " ".join(confir_command(command, "--help-all").out.replace("│", " ").split())
    for view in VIEWS[command].by_name.values():
        assert f"{view.name}: {view.about}" in page
    short = " ".join(confir_command(command, "--help").out.replace("│", " ").split())
    assert f"What to print: {names[0]} (default)" in short
    outcome = confir_command(command, "--show", "nothing")
    assert outcome.code == 2
    assert "unknown value of --show 'nothing'; known: " in outcome.err
    assert all(name in outcome.err for name in names)


@pytest.mark.parametrize("command", VIEWS)
def test_what_a_view_lacks_or_needs_are_parameters_of_its_command(command):
    parameters = {parameter.name for parameter in build_command(command).params}
    for view in VIEWS[command].by_name.values():
        assert {*view.lacks, *view.needs} <= parameters
    assert "show" in parameters


def test_a_view_is_chosen_by_the_options(monkeypatch):
    given = {"baseline"}
    monkeypatch.setattr("confir.cli.views.is_given", lambda _, name: name in given)
    monkeypatch.setattr("confir.cli.views.refuse_options", lambda *_: None)
    views = Views(
        View("board", "the board", "best"),
        View("pairs", "the pairs", "difference"),
        View("topics", "the topics", "score", needs=("run",)),
        paired="pairs",
    )

    def choose(show=None, baseline=None, **options):
        class Context:
            params = {"baseline": baseline}  # noqa: RUF012 - a stand-in

        return views.choose(Context, show, **options).name

    assert choose() == "board"
    assert choose(baseline="a") == "pairs"
    assert choose("board", "a") == "board"
    with pytest.raises(InvalidValueError, match="--show topics needs --run"):
        choose(topics=True)
    given.add("run")
    assert choose(topics=True) == choose("topics") == "topics"
    with pytest.raises(InvalidValueError, match="-q is --show topics"):
        choose("pairs", topics=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_a_screen_and_help_all_has_every_option(confir_command, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    short = confir_command(command, "--help")
    assert short.code == 0
    assert len(short.out.splitlines()) <= 40
    whole = confir_command(command, "--help-all")
    assert whole.code == 0
    given = [p.opts for p in build_command(command).params if isinstance(p, click.Option)]
    options = [max(names, key=len) for names in given]
    assert [name for name in options if name not in whole.out] == []
    assert set(re.findall(r"^│ (--[\w-]+)", short.out, re.MULTILINE)) <= {
        *options,
        "--help",
        "--help-all",
    }


def test_help_says_the_defaults_of_this_very_command(confir_command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "260")
    said = {
        "evaluate": "by default AP, nDCG@10, P@10, RR and R@1000",
        "leaderboard": "by default nDCG@10 of runs",
        "history": "by default all in the history",
        "collection": "by default AP",
    }
    for command, default in said.items():
        assert default in confir_command(command, "--help").out


def test_a_shell_completes_the_views(monkeypatch, capsys):
    from confir.cli.start import run

    monkeypatch.setenv("_CONFIR_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "confir compare --show ")
    monkeypatch.setenv("COMP_CWORD", "3")
    run()
    names = {line.removeprefix("plain,") for line in capsys.readouterr().out.split()}
    assert names == set(VIEWS["compare"].by_name)


def test_datasets_are_generalised_to_by_words(confir_command):
    outcome = confir_command("evaluate", "--generalise-to", "random")
    assert (outcome.code, outcome.out) == (2, "")
    assert "unknown value of --generalise-to 'random'; known: these, similar" in outcome.err


def test_a_history_of_the_version_before_is_read_and_continued(
    confir_command, sample_files, tmp_path
):
    history = tmp_path / "history.jsonl"
    history.write_text(json.dumps(OLD_LOOK) + "\n")
    (record,) = json.loads(confir_command("history", history, "--format", "json").out)
    assert (record["run"], record["against"]) == ("tfidf", "bm25")
    assert "baseline" not in record
    runs = sample_files / "runs"
    outcome = confir_command(
        *("compare", sample_files / "qrels.txt", runs / "bm25.txt", runs / "tfidf.txt", "--quiet"),
        *("--baseline", "bm25", "-m", "nDCG@10", "--fail-if-worse", "nDCG@10"),
        *("--history", history, "--commit", "c2"),
    )
    assert outcome.code == 1, outcome.err
    old, new = [json.loads(line) for line in history.read_text().splitlines()]
    assert old == OLD_LOOK  # lines are only ever appended
    assert (new["look"], new["run"], new["against"]) == (2, "tfidf", "bm25")
    shown = json.loads(confir_command("history", history, "--format", "json").out)
    assert [one["against"] for one in shown] == ["bm25", "bm25"]


def test_an_unknown_view_of_the_library_is_named():
    views = Views(View("means", "means", "mean"), View("topics", "topics", "score"))
    show = click_parameter("show", Annotated[str | None, views.option()], None)
    context = click.Context(click.Command("evaluate"))
    context.set_parameter_source("show", click.core.ParameterSource.COMMANDLINE)
    assert show.process_value(context, "topics") == "topics"
    with pytest.raises(UnknownNameError, match=r"value of --show.*did you mean topics"):
        show.process_value(context, "topic")
