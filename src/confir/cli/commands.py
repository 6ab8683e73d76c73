"""The commands: which there are, and how click calls one; only that which is called is imported."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from confir.cli import FAILED
from confir.cli.file_checks import check_outputs, check_packages, input_files
from confir.cli.help_pages import Entry, entries, help_page, long_help_page, short_help_page
from confir.cli.parameters import Command, DeclaredOption, read_parameters
from confir.errors import ConfirWarning, nearest_names
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

# The key under which the context of a command keeps the steps of `run_last`.
_LAST = "confir.last"


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


class OneCommand(click.Command):
    """A command with a short and a long help page, which overwrites nothing that it reads."""

    def get_help(self, ctx: click.Context) -> str:
        """Return the short page."""
        return short_help_page(ctx)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return what the line of usage lists; what can be left out is in brackets."""
        arguments = [one for one in self.get_params(ctx) if isinstance(one, click.Argument)]
        return [
            "[OPTIONS]",
            *(str(one.metavar) if one.required else f"[{one.metavar}]" for one in arguments),
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments and options; raise where one that takes one value is given twice."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for one in order:
            if not isinstance(one, DeclaredOption) or one.multiple:
                continue
            decides = one.secondary_opts or not one.is_flag  # --quiet --quiet says the same twice
            if decides and order.count(one) > 1 and not ctx.resilient_parsing:
                option = max(one.opts, key=len)
                raise click.UsageError(f"{option} is given twice; expected it once", ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Check the inputs and outputs that the arguments name, then run the command.

        Inputs are described before the command, which may change files; the provenance is written after
        it, and the steps of `run_last` come at the end.
        """
        from confir.data.files import keeping_inputs

        check_packages(ctx)
        with ExitStack() as last, ExitStack() as around:
            ctx.meta[_LAST] = last
            records = []
            if ctx.params.get("provenance"):
                from confir.cli.provenance import Provenance, describe_files, provenance_path

                records = [provenance_path(ctx)]
            check_outputs(ctx, *records)
            for path in records:
                around.enter_context(Provenance(path, ctx, describe_files(input_files(ctx))))
            around.enter_context(keeping_inputs())
            if ctx.params.get("quiet"):
                warnings.simplefilter("ignore", ConfirWarning)
            if ctx.params.get("scheduler") is not None:
                from confir.scheduler import use_scheduler

                around.enter_context(use_scheduler(ctx.params["scheduler"]))
            return super().invoke(ctx)


def run_last(context: click.Context, step: AbstractContextManager[None]) -> None:
    """Enter a context that ends last, when all else is written, and learns whether that failed."""
    last: ExitStack = context.meta[_LAST]
    last.enter_context(step)


def _printing(name: str, text: Callable[[click.Context], str], about: str) -> click.Option:
    """Return an option that prints a text in place of running the command."""

    def print_text(context: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            click.echo(text(context))
            context.exit()

    return click.Option(
        [name], is_flag=True, is_eager=True, expose_value=False, callback=print_text, help=about
    )


def _version(_: click.Context) -> str:
    from importlib.metadata import version

    return f"confir {version('confir')}"


_VERSION = _printing("--version", _version, "Print the version and exit.")
_HELP_ALL = _printing("--help-all", long_help_page, "Show all options and exit.")


def build_app() -> Commands:
    """Return the command line."""
    return Commands(
        "confir",
        help=_PURPOSE,
        params=[_VERSION],
        callback=_print_help,
        invoke_without_command=True,
        subcommand_metavar="COMMAND [ARGS]...",
        context_settings=_HELP_NAMES,
    )


def build_command(name: str) -> click.Command:
    """Return a command with its arguments and options."""
    command = find_command(name)
    parameters, called = read_parameters(command)
    return OneCommand(
        name,
        params=[*parameters, _HELP_ALL],
        callback=called,
        help=command.__doc__,
        context_settings=_HELP_NAMES,
    )


def _summary(name: str) -> str:
    """Return the first sentence about a command."""
    return str(find_command(name).__doc__).partition("\n\n")[0].strip()


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
