"""The command ``confir``: one file per command; each parses, calls the library, and prints.

Commands import the library when they run, so that ``confir --help`` starts at once.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import typer

from confir.cli import (
    bias_variance,
    chance,
    collection,
    compare,
    coverage,
    demo,
    evaluate,
    lists,
    meta,
    plan,
    simulate,
    split_half,
)
from confir.errors import ConfirError, ConfirWarning

DAILY, STUDIES, LISTS = "Daily", "Studies", "Lists"

app = typer.Typer(
    name="confir",
    help="How far can an information-retrieval evaluation score be trusted?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("evaluate", rich_help_panel=DAILY)(evaluate.evaluate_command)
app.command("compare", rich_help_panel=DAILY)(compare.compare_command)
app.command("demo", rich_help_panel=DAILY)(demo.demo_command)
app.command("coverage", rich_help_panel=STUDIES)(coverage.coverage_command)
app.command("type-one", rich_help_panel=STUDIES)(coverage.type_one_command)
app.command("collection", rich_help_panel=STUDIES)(collection.collection_command)
app.command("split-half", rich_help_panel=STUDIES)(split_half.split_half_command)
app.command("chance", rich_help_panel=STUDIES)(chance.chance_command)
app.command("plan", rich_help_panel=STUDIES)(plan.plan_command)
app.command("bias-variance", rich_help_panel=STUDIES)(bias_variance.bias_variance_command)
app.command("simulate", rich_help_panel=STUDIES)(simulate.simulate_command)
app.command("meta", rich_help_panel=STUDIES)(meta.meta_command)
app.command("measures", rich_help_panel=LISTS)(lists.measures_command)
app.command("methods", rich_help_panel=LISTS)(lists.methods_command)


@app.callback(invoke_without_command=True)
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
    """Run the command line; exit with 0, 1 (a gate that is closed) or 2 (an error)."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConfirWarning)
        warnings.showwarning = _show_warning
        code = _run()
    sys.exit(code)


def _run() -> int:
    """Run the command that the arguments name, and return the exit code."""
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except typer.Exit as stop:
        code = stop.exit_code
    except ConfirError as error:
        code = _fail(str(error))
    except typer.TyperException as error:
        code = _fail(f"{error.format_message()} (confir --help tells more)")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("interrupted")
    except Exception as error:  # a bug is told in one sentence, too
        if os.environ.get("CONFIR_TRACEBACK"):
            raise
        code = _fail(
            f"this is a bug in confir: {type(error).__name__}: {error} "
            "(CONFIR_TRACEBACK=1 shows where)"
        )
    return code if isinstance(code, int) else 0


def _fail(message: str) -> int:
    sys.stdout.flush()
    print(f"confir: error: {message}", file=sys.stderr)  # noqa: T201
    return 2


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print confir's warnings in one line; those of other packages are for developers."""
    if issubclass(category, ConfirWarning):
        print(f"confir: warning: {message}", file=sys.stderr)  # noqa: T201
