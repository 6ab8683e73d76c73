"""The command ``confir``: one file per command; each parses, calls the library, and prints.

Only the command that is named is imported, and it imports the library when it runs.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer

from confir.errors import ConfirError, ConfirWarning

DAILY, STUDIES, LISTS = "Daily", "Studies", "Lists"

# Each command's module, which holds its function ``<name>_command``, and its panel in the help.
COMMANDS = {
    "evaluate": ("evaluate", DAILY),
    "compare": ("compare", DAILY),
    "report": ("report", DAILY),
    "demo": ("demo", DAILY),
    "coverage": ("coverage", STUDIES),
    "type-one": ("coverage", STUDIES),
    "collection": ("collection", STUDIES),
    "split-half": ("split_half", STUDIES),
    "chance": ("chance", STUDIES),
    "plan": ("plan", STUDIES),
    "bias-variance": ("bias_variance", STUDIES),
    "simulate": ("simulate", STUDIES),
    "meta": ("meta", STUDIES),
    "measures": ("lists", LISTS),
    "methods": ("lists", LISTS),
}

# The exit code of what Ctrl-C stopped.
INTERRUPTED = 130

# How many objects are made before Python looks for garbage among them; its default is 700.
_OBJECTS_PER_COLLECTION = 100_000


def build_app(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the command line with the named commands."""
    app = typer.Typer(
        name="confir",
        help="How far can an information-retrieval evaluation score be trusted?",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(root)
    for name in names:
        module, panel = COMMANDS[name]
        function = f"{name.replace('-', '_')}_command"
        command = getattr(import_module(f"confir.cli.{module}"), function)
        app.command(name, rich_help_panel=panel)(command)
    return app


def root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """How far can an information-retrieval evaluation score be trusted?"""
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"confir {installed('confir')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line; exit with 0, 1 (a closed gate), 2 (an error) or 130 (interrupted)."""
    _start_fast()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # what an encoding lacks is shown as a question mark
            stream.reconfigure(errors="replace")
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConfirWarning)
        warnings.showwarning = _show_warning
        code = _run()
    sys.exit(code)


def _start_fast() -> None:
    """Spare a short command what would take a fifth of its time, and would be in vain.

    Imports make many objects and no garbage. And confir keeps matrix products to a thread each
    (`confir.parallel`), so that numpy need not start more.
    """
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    atexit.register(gc.freeze)  # or Python would look through all objects once more
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run() -> int:
    """Run the command that the arguments name, and return the exit code."""
    named = [word for word in sys.argv[1:2] if word in COMMANDS]
    try:
        app = build_app(named or COMMANDS)
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except typer.Exit as stop:
        code = stop.exit_code
    except ConfirError as error:
        code = _fail(str(error))
    except typer.TyperException as error:
        help_page = " ".join(["confir", *named, "--help"])
        code = _fail(f"{error.format_message()} ({help_page} tells more)")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except MemoryError:
        code = _fail("there is not enough memory for this; fewer --replicates need less")
    except Exception as error:  # a bug is told in one sentence, too
        if os.environ.get("CONFIR_TRACEBACK"):
            raise
        code = _fail(
            f"this is a bug in confir: {type(error).__name__}: {error} "
            "(CONFIR_TRACEBACK=1 shows where)"
        )
    if code == INTERRUPTED:
        _fail("interrupted")
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    sys.stdout.flush()
    print(f"confir: error: {message}", file=sys.stderr)  # noqa: T201
    return 2


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print confir's warnings in one line; those of other packages are for developers."""
    if issubclass(category, ConfirWarning):
        print(f"confir: warning: {message}", file=sys.stderr)  # noqa: T201
