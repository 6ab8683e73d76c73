"""Groups of options reach commands whole."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from confir.cli.groups import Instead, Without, expand


@dataclass(frozen=True)
class Inputs:
    context: typer.Context
    qrels: Annotated[str | None, typer.Argument(metavar="QRELS")] = None
    runs: Annotated[list[str] | None, typer.Argument(metavar="RUN...")] = None
    rel: Annotated[int, typer.Option("-l", "--rel", help="Lowest gain.")] = 1


@dataclass(frozen=True)
class Output:
    quiet: Annotated[bool, typer.Option("--quiet")] = False


@pytest.fixture
def seen():
    return []


@pytest.fixture
def app(seen):
    def command(
        *, inputs: Inputs, top: Annotated[int, typer.Option("--top")] = 3, output: Output
    ) -> None:
        """Do something."""
        seen.append((inputs, top, output))

    made = typer.Typer()
    made.callback()(lambda: None)
    made.command("do")(expand(command))
    return made


def run(app, *words):
    outcome = CliRunner().invoke(app, ["do", *words])
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def test_values_arrive_in_their_group(app, seen):
    run(app, "q.txt", "a.run", "b.run", "-l", "2", "--top", "7", "--quiet")
    ((inputs, top, output),) = seen
    assert (inputs.qrels, inputs.runs, inputs.rel) == ("q.txt", ["a.run", "b.run"], 2)
    assert (top, output) == (7, Output(quiet=True))


def test_what_is_not_given_has_the_default_of_its_group(app, seen):
    run(app)
    ((inputs, top, output),) = seen
    assert (inputs.qrels, inputs.runs, inputs.rel, top, output) == (None, None, 1, 3, Output())


def test_the_help_shows_the_options_of_all_groups(app):
    text = run(app, "--help")
    for word in ("QRELS", "RUN...", "--rel", "Lowest gain.", "--top", "--quiet", "Do something."):
        assert word in text


def test_a_command_without_groups_stays_as_it_is():
    def command(top: Annotated[int, typer.Option()] = 3) -> None:
        """Do something."""

    assert expand(command) is command


def test_a_command_can_leave_out_options_of_a_group_and_describe_others_itself():
    seen = []

    def command(
        *,
        inputs: Annotated[
            Inputs,
            Without("runs"),
            Instead(rel=Annotated[int, typer.Option("--rel", help="Another help.")]),
        ],
    ) -> None:
        """Do something."""
        seen.append(inputs)

    made = typer.Typer()
    made.callback()(lambda: None)
    made.command("do")(expand(command))
    run(made, "q.txt", "--rel", "3")
    assert (seen[0].qrels, seen[0].runs, seen[0].rel) == ("q.txt", None, 3)
    text = run(made, "--help")
    assert "RUN..." not in text
    assert "Another help." in text
    assert CliRunner().invoke(made, ["do", "q.txt", "a.run"]).exit_code == 2
