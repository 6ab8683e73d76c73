"""Shell completion: of commands, options, and the names of measures, methods and formats."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Annotated, Any

import click

from confir.cli import FAILED
from confir.cli.parameters import Argument
from confir.errors import UnknownNameError

# The variable in which a shell asks for completions.
COMPLETE = "_CONFIR_COMPLETE"

SHELLS = ("bash", "zsh", "fish")


def completion_command(
    *,
    shell: Annotated[
        str,
        Argument(
            metavar="|".join(SHELLS),
            help="The shell.",
            complete=lambda: SHELLS,
        ),
    ],
) -> None:
    """Print the script that makes a shell complete commands, options and names.

    Example: `eval "$(confir completion bash)"` in ~/.bashrc, or `confir completion fish | source`
    """
    from confir.cli.streams import print_text

    if shell not in SHELLS:
        raise UnknownNameError("shell", shell, SHELLS)
    print_text(_completer(shell, None).source())


def complete(app: click.Command) -> int:
    """Print what a shell asks for, and return the exit code."""
    from confir.cli.streams import print_text

    shell, _, asked = os.environ[COMPLETE].partition("_")
    if shell not in SHELLS or asked != "complete":
        return FAILED
    print_text(f"{_completer(shell, app).complete()}\n")
    return 0


def _completer(shell: str, app: click.Command | None) -> Any:
    """Return what click has for a shell."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise UnknownNameError("shell", shell, SHELLS)
    return kind(app or click.Command("confir"), {}, "confir", COMPLETE)


def measure_names() -> Iterable[str]:
    """Return the measures: the usual ones first."""
    from confir.measures.measure_list import DEFAULT_MEASURES, MEASURES

    return dict.fromkeys([*DEFAULT_MEASURES, *MEASURES])


def method_names() -> Iterable[str]:
    """Return the interval methods."""
    from confir.intervals.method_list import METHODS

    return METHODS
