"""Groups of options that commands share."""

from dataclasses import dataclass
from typing import Annotated

import click
import pytest
from click.testing import CliRunner

from confir.cli.commands import OneCommand
from confir.cli.parameters import Argument, Instead, Option, Without, read_parameters
from confir.errors import InvalidValueError


@dataclass(frozen=True)
class Inputs:
    context: click.Context
    qrels: Annotated[str | None, Argument("QRELS")] = None
    runs: Annotated[list[str] | None, Argument("RUN...")] = None
    rel: Annotated[int, Option("Lowest gain.", names=("-l", "--rel"))] = 1


@dataclass(frozen=True)
class Output:
    quiet: Annotated[bool, Option(names=("--quiet",))] = False


def made_of(function):
    parameters, called = read_parameters(function)
    return OneCommand("do", params=parameters, callback=called, help=function.__doc__)


@pytest.fixture
def seen():
    return []


@pytest.fixture
def app(seen):
    def command(*, inputs: Inputs, top: Annotated[int, Option()] = 3, output: Output) -> None:
        """Do something."""
        seen.append((inputs, top, output))

    return made_of(command)


def run(app, *words):
    outcome = CliRunner().invoke(app, [*words], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def test_values_arrive_in_their_group(app, seen):
    run(app, "q.txt", "a.run", "b.run", "-l", "2", "--top", "7", "--quiet")
    ((inputs, top, output),) = seen
    assert (inputs.qrels, inputs.runs, inputs.rel) == ("q.txt", ["a.run", "b.run"], 2)
    assert (top, output) == (7, Output(quiet=True))
    assert inputs.context.params["rel"] == 2


def test_what_is_not_given_has_the_default_of_its_group(app, seen):
    run(app)
    ((inputs, top, output),) = seen
    assert (inputs.qrels, inputs.runs, inputs.rel, top, output) == (None, None, 1, 3, Output())


def test_the_help_shows_the_options_of_all_groups(app):
    text = run(app, "--help")
    for word in ("QRELS", "RUN...", "--rel", "Lowest gain.", "--top", "--quiet", "Do something."):
        assert word in text


def test_a_command_can_leave_out_options_of_a_group_and_describe_others_itself():
    seen = []

    def command(
        *,
        inputs: Annotated[
            Inputs,
            Without("runs"),
            Instead(rel=Option("Another help.", names=("--rel",))),
        ],
    ) -> None:
        """Do something."""
        seen.append(inputs)

    made = made_of(command)
    run(made, "q.txt", "--rel", "3")
    assert (seen[0].qrels, seen[0].runs, seen[0].rel) == ("q.txt", None, 3)
    text = run(made, "--help")
    assert "RUN..." not in text
    assert "Another help." in text
    assert CliRunner().invoke(made, ["q.txt", "a.run"]).exit_code == 2


def typed(value, *words):
    """Return what the option --x of a type is, where words are given."""
    seen = []

    def command(*, x=None):
        seen.append(x)

    command.__annotations__["x"] = Annotated[value, Option(names=("--x",))]

    run(made_of(command), *words)
    return seen[0]


@pytest.mark.parametrize(
    ("value", "words", "expected"),
    [
        (int | None, ["--x", "7"], 7),
        (float, ["--x", "1e-3"], 0.001),
        (str | None, ["--x="], ""),
        (list[str] | None, ["--x", "a", "--x", "b"], ["a", "b"]),
        (list[float] | None, ["--x", "1", "--x", "2"], [1.0, 2.0]),
        (list[int] | None, [], None),
        (tuple[str, str] | None, ["--x", "a", "b"], ("a", "b")),
        (tuple[str, str] | None, [], None),
        (bool, ["--x"], True),
        (bool | None, [], None),
    ],
)
def test_the_type_of_a_parameter_says_how_its_text_is_read(value, words, expected):
    found = typed(value, *words)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [(int, "1.5", "a whole number"), (int, "٣", "a whole number"), (float, "ten", "a number")],
)
def test_what_is_no_number_is_named(value, text, expected):
    with pytest.raises(InvalidValueError, match=f"^--x is {text!r}; expected {expected}$"):
        typed(value, "--x", text)


def test_an_argument_without_a_default_is_required():
    def command(*, file: Annotated[str, Argument("FILE")]) -> None:
        """Do something."""

    outcome = CliRunner().invoke(made_of(command), [])
    assert outcome.exit_code == 2
    assert "Missing argument" in outcome.output


@pytest.mark.parametrize(
    ("default", "names", "shown"),
    [
        (0.5, (), "[default: 0.5]"),
        (None, (), ""),
        (True, ("--x/--no-x",), "[default: x]"),
        (False, ("--x/--no-x",), "[default: no-x]"),
        (False, ("--x",), ""),
    ],
)
def test_help_says_what_holds_without_an_option(default, names, shown):
    value = bool if names else float | None

    def command(*, x=default):
        """Do something."""

    command.__annotations__["x"] = Annotated[value, Option("It.", names=names)]

    (line,) = [line for line in run(made_of(command), "--help").splitlines() if "It." in line]
    assert line.strip("│ ").partition("It.")[2].strip() == shown
