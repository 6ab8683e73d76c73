"""Shell completion: of commands, options, and the names of measures, methods and formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import typer

from confir.errors import UnknownNameError

# The variable in which a shell asks for completions, and those that hold the words typed so far.
COMPLETE = "_CONFIR_COMPLETE"
_WORDS = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")

SHELLS = ("bash", "zsh", "fish")

Completer = Callable[[str], list[str]]


def completion_command(
    *,
    shell: Annotated[
        str,
        typer.Argument(
            metavar="|".join(SHELLS),
            help="The shell.",
            autocompletion=among(lambda: SHELLS),
        ),
    ],
) -> None:
    """Print the script that makes a shell complete commands, options and names.

    Example: `eval "$(confir completion bash)"` in ~/.bashrc, or `confir completion fish | source`
    """
    # typer has these functions, but does not list them as public
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    from confir.cli.streams import print_text

    if shell not in SHELLS:
        raise UnknownNameError("shell", shell, SHELLS)
    script = get_completion_script(prog_name="confir", complete_var=COMPLETE, shell=shell)
    print_text(f"{script}\n")


def complete(app: Callable[[Sequence[str]], Any]) -> int:
    """Print what a shell asks for, and return the exit code.

    Parameters
    ----------
    app
        Returns the command line with the options of some commands.
    """
    # as above
    from typer.completion import (  # type: ignore[attr-defined]
        completion_init,
        shell_complete,
    )

    typed = " ".join(os.environ.get(name, "") for name in _WORDS).split()
    completion_init()
    try:
        return shell_complete(app(typed), {}, "confir", COMPLETE, os.environ[COMPLETE])
    except SystemExit as ended:  # how fish learns whether there is anything but files to complete
        return 0 if ended.code in (None, 0) else 1


def among(names: Callable[[], Iterable[str]]) -> Completer:
    """Return what completes a word by names, which are looked up when they are needed."""

    def completions(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return completions


def measure_names() -> Iterable[str]:
    """Return the measures: the usual ones first."""
    from confir.measures.catalogue import DEFAULT_MEASURES, MEASURES

    return dict.fromkeys([*DEFAULT_MEASURES, *MEASURES])


def method_names() -> Iterable[str]:
    """Return the interval methods."""
    from confir.intervals.catalogue import METHODS

    return METHODS
