"""How commands run: errors and warnings become sentences, an error an exit code as well."""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from confir.cli import FAILED, INTERRUPTED
from confir.cli.completion import COMPLETE, complete
from confir.cli.help_pages import Entry, entries, help_page
from confir.cli.options import with_patterns
from confir.cli.output_guard import GuardedCommand
from confir.cli.parameters import Command, read_parameters
from confir.cli.streams import prepare_streams, print_message
from confir.cores import Products
from confir.errors import (
    ConfirError,
    ConfirWarning,
    InvalidValueError,
    nearest_names,
    place_by_importance,
)
from confir.studies import DAILY, LISTS, STUDIES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

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

_HELP_NAMES = {"help_option_names": ["-h", "--help"]}

# The exit code of a command whose output nobody reads, as of one that SIGPIPE ended.
UNREAD = 141

# The variable in which builds state the date of what they write.
_BUILD_DATE = "SOURCE_DATE_EPOCH"

# What takes less memory, by the option that says how much is drawn.
_SMALLER = {
    "replicates": "fewer --replicates need less",
    "samples": "fewer --samples need less",
    "draws": "fewer --draws need less",
    "collection": "fewer --topics, --runs or a smaller --depth need less",
}
_DRAWING = ("confir.resampling", "confir.intervals", "confir.studies", "confir.data.simulation")


def run() -> int:
    """Run the command that the arguments name, and return the exit code.

    An error is one sentence on stderr.
    """
    _start_fast()
    prepare_streams()
    named = [word for word in sys.argv[1:2] if word in COMMANDS]
    try:
        with warnings_at_the_end():
            build_seconds()  # before numpy reads it
            code = _invoke(named, with_patterns(sys.argv[1:]))
            sys.stdout.flush()
    except ConfirError as error:
        code = _fail(str(error))
    except click.ClickException as error:
        code = _fail(_usage_sentence(error, named))
    except (BrokenPipeError, SystemExit):  # rich makes the second of the first, with the code 1
        code = UNREAD
    except MemoryError as error:
        code = _fail(_memory_advice(named, error.__traceback__))
    except Exception as error:  # noqa: BLE001 - Python would exit with 1, the code of a gate
        code = _fail_unexpectedly(error)
    return code


class Commands(click.Group):
    """All commands; the one that is called is read, and the others are only listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names of all commands."""
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a command with its options, read once; None where there is none."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.commands[cmd_name] = build_command(cmd_name)
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; raise where there is none of that name."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            close = " or ".join(map(repr, nearest_names(args[0], COMMANDS)))
            meant = f" Did you mean {close}?" if close else ""
            raise click.UsageError(f"No such command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        """Return the page that lists all commands."""
        listed = (Entry(name, _summary(name), panel) for name, (_, panel) in COMMANDS.items())
        return help_page(ctx, [*entries(ctx), *listed])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin with a word, with what they do; and options."""
        from click.shell_completion import CompletionItem

        fitting = [name for name in COMMANDS if name.startswith(incomplete)]
        items = [CompletionItem(name, help=_summary(name)) for name in fitting]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


def build_app() -> Commands:
    """Return the command line."""
    version = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_version,
        help="Print the version and exit.",
    )
    return Commands(
        "confir",
        help=_PURPOSE,
        params=[version],
        callback=_print_help,
        invoke_without_command=True,
        subcommand_metavar="COMMAND [ARGS]...",
        context_settings=_HELP_NAMES,
    )


def build_command(name: str) -> click.Command:
    """Return a command with its arguments and options."""
    command = find_command(name)
    parameters, called = read_parameters(command)
    return GuardedCommand(
        name,
        params=parameters,
        callback=called,
        help=command.__doc__,
        context_settings=_HELP_NAMES,
    )


def _summary(name: str) -> str:
    """Return the first sentence about a command."""
    return str(find_command(name).__doc__).partition("\n\n")[0].strip()


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"confir {version('confir')}")
        context.exit()


def _print_help() -> None:
    """Print what there is where no command is named, and fail."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        context.exit(FAILED)


def find_command(name: str) -> Command:
    """Return the function of a command."""
    command: Command = getattr(
        import_module(COMMANDS[name][0]), f"{name.replace('-', '_')}_command"
    )
    return command


def _start_fast() -> None:
    """Skip work that would take a fifth of a short command's time to no effect.

    Confir keeps matrix products to a thread each
    (`confir.parallel`), so that numpy need not start more.
    """
    atexit.register(gc.freeze)  # or Python would look through all objects once more
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "numpy" not in sys.modules:
        Products.single = os.environ["OPENBLAS_NUM_THREADS"] == "1"


def build_seconds() -> int | None:
    """Return the seconds since 1970 that the environment states, if any; raise if it is no date.

    Every command asks: numpy and scipy read the variable as well, and would end in a traceback.
    """
    given = os.environ.get(_BUILD_DATE, "")
    if not given:
        os.environ.pop(_BUILD_DATE, None)  # for numpy, an empty one is no number
        return None
    if not re.fullmatch("[0-9]{1,11}", given):  # dates up to the year 5138
        raise InvalidValueError(
            f"{_BUILD_DATE} is {given!r}; expected seconds since 1970, such as 1767225600"
        )
    return int(given)


@contextmanager
def warnings_at_the_end() -> Iterator[None]:
    """Collect the warnings of a command, and print them when it ends; none before an error.

    An error says what is wrong, and warnings would only hide it. Those of other packages are for
    developers.
    """
    found: list[tuple[int, str]] = []

    def keep(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, ConfirWarning):
            found.append((place_by_importance(category), str(message)))

    with warnings.catch_warnings():
        warnings.simplefilter("always", ConfirWarning)
        warnings.showwarning = keep
        yield
    if found:
        from confir.report.merged_warnings import merge_warnings

        for line in merge_warnings(found):
            print_message(f"confir: warning: {line}")


def _invoke(named: list[str], words: list[str]) -> int:
    """Run a command, or the list of all where none is named, and return the exit code.

    Not by click's own ``main``, which exits with 1, the code of a gate, when nobody reads.
    """
    if COMPLETE in os.environ:
        return complete(build_app())
    command = build_command(named[0]) if named else build_app()
    try:
        with command.make_context(" ".join(["confir", *named]), words[len(named) :]) as context:
            command.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    return 0


def _usage_sentence(error: click.ClickException, named: list[str]) -> str:
    """Return what is wrong with the arguments; versions of click word unknown options differently."""
    from confir.cli.renamed_options import new_name

    option = str(getattr(error, "option_name", ""))
    renamed = new_name(named[0], option) if named else None
    if renamed is not None:
        return renamed
    said = error.format_message()
    if isinstance(error, click.NoSuchOption):
        possible = ", ".join(sorted(error.possibilities or ()))
        said = f"No such option: {option}{f' (Possible options: {possible})' if possible else ''}"
    return f"{said} (see {' '.join(['confir', *named, '--help'])})"


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
        options = {one.name for one in build_command(named[0]).params}
        advice = next((words for name, words in _SMALLER.items() if name in options), advice)
    return f"there is not enough memory for this; {advice}"
