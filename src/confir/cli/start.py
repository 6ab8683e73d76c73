"""How commands run: an error becomes one sentence and an exit code."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from types import TracebackType

import typer

from confir.cli import FAILED, INTERRUPTED
from confir.cli.build_date import build_seconds
from confir.cli.completion import COMPLETE, complete
from confir.cli.groups import Command, expand
from confir.cli.help_pages import PlainGroup
from confir.cli.output_guard import GuardedCommand
from confir.cli.repeat_option import with_patterns
from confir.cli.streams import prepare_streams, print_message
from confir.cli.warning_summary import WarningSummary
from confir.errors import ConfirError, ConfirWarning
from confir.studies import DAILY, LISTS, STUDIES

# Each command's module, which holds its function ``<name>_command``, and its panel in the help.
COMMANDS = {
    **{
        name: (study.module("command"), study.panel) for study in STUDIES for name in study.commands
    },
    "report": ("confir.cli.report", DAILY),
    "demo": ("confir.cli.demo", DAILY),
    "methods": ("confir.cli.lists", LISTS),
    "doctor": ("confir.cli.doctor", LISTS),
    "completion": ("confir.cli.completion", LISTS),
    "schema": ("confir.cli.schema", LISTS),
}

_PURPOSE = """How far can an information-retrieval evaluation score be trusted?

Runs and qrels in, intervals and verdicts out: `confir evaluate qrels.txt runs/` gives means with
intervals, `confir compare qrels.txt runs/` says which runs are better, `confir report qrels.txt
runs/ -o page.html` writes it all on a page. `confir demo` needs no files."""

# The exit code of a command whose output nobody reads, as of one that SIGPIPE ended.
UNREAD = 141

# How many objects are made before Python looks for garbage among them; its default is 700.
_OBJECTS_PER_COLLECTION = 100_000

# What takes less memory, by the option that says how much is drawn.
_SMALLER = {
    "replicates": "fewer --replicates need less",
    "samples": "fewer --samples need less",
    "draws": "fewer --draws need less",
    "collection": "fewer --topics, --runs or a smaller --depth need less",
}
_DRAWING = ("confir.resampling", "confir.intervals", "confir.studies", "confir.data.simulation")


def run() -> int:
    """Run the command that the arguments name, and return the exit code."""
    _start_fast()
    prepare_streams()
    summary = WarningSummary()
    with warnings.catch_warnings():
        warnings.simplefilter("always", ConfirWarning)
        warnings.showwarning = summary.show
        return _run([word for word in sys.argv[1:2] if word in COMMANDS], summary)


def build_app(names: Iterable[str], listed: Iterable[str]) -> typer.core.TyperGroup:
    """Return the command line with the named commands; others are only listed in its help."""
    app = typer.Typer(
        name="confir",
        cls=PlainGroup,
        help=_PURPOSE,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(root)
    called = set(names)
    for name in (name for name in COMMANDS if name in called.union(listed)):
        command = find_command(name)
        made = expand(command) if name in called else _without_options(command)
        app.command(name, cls=GuardedCommand, rich_help_panel=COMMANDS[name][1])(made)
    return typer.main.get_group(app)


def _without_options(command: Command) -> Command:
    """Return a stand-in for a command in the list of all: its options would take time to read.

    A command that the arguments name is never replaced by one.
    """

    def stand_in() -> None:
        raise AssertionError(f"{command.__name__} is called, but its options were not read")

    stand_in.__doc__ = command.__doc__
    return stand_in


def find_command(name: str) -> Command:
    """Return the function of a command."""
    command: Command = getattr(
        import_module(COMMANDS[name][0]), f"{name.replace('-', '_')}_command"
    )
    return command


def root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    """How far can an information-retrieval evaluation score be trusted?"""
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"confir {installed('confir')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(FAILED)


def _start_fast() -> None:
    """Skip work that would take a fifth of a short command's time to no effect.

    Imports make many objects and no garbage. And confir keeps matrix products to a thread each
    (`confir.parallel`), so that numpy need not start more.
    """
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    atexit.register(gc.freeze)  # or Python would look through all objects once more
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run(named: list[str], summary: WarningSummary) -> int:
    """Run the named command, and return the exit code; an error is one sentence on stderr."""
    try:
        with summary:
            build_seconds()  # before numpy reads it
            code = _invoke(named)
            sys.stdout.flush()
    except ConfirError as error:
        code = _fail(str(error))
    except typer.TyperException as error:
        help_page = " ".join(["confir", *named, "--help"])
        code = _fail(f"{error.format_message()} (see {help_page})")
    except (BrokenPipeError, SystemExit):  # rich makes the second of the first, with the code 1
        code = UNREAD
    except MemoryError as error:
        code = _fail(_memory_advice(named, error.__traceback__))
    except Exception as error:  # noqa: BLE001 - Python would exit with 1, the code of a gate
        code = _fail_unexpectedly(error)
    return code


def _invoke(named: list[str]) -> int:
    """Run the named command, and return its exit code.

    Not by the app's own ``main``, which exits with 1, the code of a gate, when nobody reads.
    """
    if COMPLETE in os.environ:
        return complete(lambda called: build_app(called, COMMANDS))
    called = named or [word for word in sys.argv if word in COMMANDS]
    app = build_app(called, () if named else COMMANDS)
    try:
        with app.make_context("confir", with_patterns(sys.argv[1:])) as context:
            app.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    return 0


def _fail(message: str) -> int:
    print_message(f"confir: error: {message}")
    return FAILED


def _fail_unexpectedly(error: Exception) -> int:
    """Report an error that no command foresaw, and return the exit code."""
    if _was_interrupted(error):
        return INTERRUPTED
    if os.environ.get("CONFIR_TRACEBACK"):
        sys.excepthook(type(error), error, error.__traceback__)
    if isinstance(error, ImportError):
        about = " ".join(str(error).split())
        return _fail(
            f"{error.name or 'a package'} cannot be imported ({about}); expected an installation with "
            "all it needs, as pip install --force-reinstall confir makes it"
        )
    if isinstance(error, OSError):  # such as a full disk: the system's answer, and no bug
        place = error.filename or "standard output: cannot be written"
        return _fail(f"{place} ({error.strerror or error})")
    return _fail(
        f"this is a bug in confir: {type(error).__name__}: {error} (CONFIR_TRACEBACK=1 shows where)"
    )


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether an error, such as that of an import cut short, goes back to Ctrl-C."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _memory_advice(named: list[str], trace: TracebackType | None) -> str:
    """Return what to do about too little memory: draw less, or else read less at a time.

    Which of them helps is known by our innermost module: commands are studies, whatever they do.
    """
    innermost = ""
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__"))
        innermost = module if module.startswith("confir.") else innermost
        trace = trace.tb_next
    advice = "fewer runs or topics at a time need less, and long tables in Parquet, which are read in parts"
    if innermost.startswith(_DRAWING) and not innermost.endswith(".command") and named:
        options = _parameters(named[0])
        advice = next((words for name, words in _SMALLER.items() if name in options), advice)
    return f"there is not enough memory for this; {advice}"


def _parameters(name: str) -> Iterable[str]:
    return tuple(expand(find_command(name)).__annotations__)
