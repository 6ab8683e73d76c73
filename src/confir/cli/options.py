"""The options that commands share: spelt alike everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from confir.cli.given import is_given
from confir.errors import InvalidValueError

DEFAULT_SEED = 2006

_INPUT = "Input"
_STATISTICS = "Statistics"
_OUTPUT = "Output"


def at_least(least: int) -> Callable[[typer.CallbackParam, int | None], int | None]:
    """Return what checks a count as soon as it is read."""

    def check(parameter: typer.CallbackParam, value: int | None) -> int | None:
        if value is not None and value < least:
            option = max(parameter.opts, key=len)
            raise InvalidValueError(f"{option} is {value}; expected {least} or more")
        return value

    return check


def _print_or_write(
    context: typer.Context, parameter: typer.CallbackParam, value: str | None
) -> str | None:
    """Check, at the latter of --format and --output, that they are not given both."""
    other = "kind" if parameter.name == "output" else "output"
    if is_given(context, str(parameter.name)) and is_given(context, other):
        raise InvalidValueError(
            "--format says how to print; --output writes a file as its ending says"
        )
    return value


QrelsArgument = Annotated[
    str | None, typer.Argument(metavar="QRELS", help="Qrels file; - is standard input.")
]
RunsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN...", help="Runs: files, directories, or NAME=PATH; gz, bz2, xz and zst too."
    ),
]
ScoresOption = Annotated[
    list[str] | None,
    typer.Option(
        "--scores",
        metavar="FILE",
        help="A score table instead of QRELS RUN...: output of trec_eval -q or ir_measures, CSV, "
        "JSON or Parquet (repeatable).",
        rich_help_panel=_INPUT,
    ),
]
MeasuresOption = Annotated[
    list[str] | None,
    typer.Option(
        "-m",
        "--measure",
        metavar="NAME",
        help="A measure such as nDCG@10 (repeatable; confir measures lists them). By default AP, "
        "nDCG@10, P@10, RR and R@1000; for a score table, all in it.",
        rich_help_panel=_INPUT,
    ),
]
RelOption = Annotated[
    int,
    typer.Option(
        "-l",
        "--rel",
        help="Lowest gain that counts as relevant.",
        callback=at_least(1),
        rich_help_panel=_INPUT,
    ),
]
DepthOption = Annotated[
    int | None,
    typer.Option(
        "-M",
        "--depth",
        help="Look only at so many documents a list.",
        callback=at_least(1),
        rich_help_panel=_INPUT,
    ),
]
MissingOption = Annotated[
    str,
    typer.Option(
        metavar="zero|drop|error",
        help="A topic that a run lacks scores 0, is left out of the run's mean, or is an error.",
        rich_help_panel=_INPUT,
    ),
]
IntentsOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Intent probabilities, for measures of diversity: topic subtopic probability.",
        rich_help_panel=_INPUT,
    ),
]
NameByOption = Annotated[
    str,
    typer.Option(
        metavar="file|tag",
        help="Name runs by their file or by their tag.",
        rich_help_panel=_INPUT,
    ),
]
TiePrecisionOption = Annotated[
    str,
    typer.Option(
        metavar="double|single",
        help="single compares retrieval scores as trec_eval 9 and pytrec_eval do.",
        rich_help_panel=_INPUT,
    ),
]
LevelOption = Annotated[float, typer.Option(help="Confidence level.", rich_help_panel=_STATISTICS)]
MethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Interval method (repeatable, to see several side by side; confir methods lists "
        "them).",
        rich_help_panel=_STATISTICS,
    ),
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Interval method (confir methods lists them).",
        rich_help_panel=_STATISTICS,
    ),
]
BoundedOption = Annotated[
    bool | None,
    typer.Option(
        "--bounded/--unbounded",
        help="Whether measures that confir does not know lie in [0, 1]; by default they do if all "
        "of their scores do.",
        show_default=False,
        rich_help_panel=_STATISTICS,
    ),
]
ReplicatesOption = Annotated[
    int,
    typer.Option(
        help="Replicates of the bootstrap.", callback=at_least(1), rich_help_panel=_STATISTICS
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        help="Seed of the random numbers.", callback=at_least(0), rich_help_panel=_STATISTICS
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        help="Threads at work at once; by default all cores. The numbers do not depend on it.",
        callback=at_least(1),
        rich_help_panel=_STATISTICS,
    ),
]
ResumeOption = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Keep parts of the work there, and go on from them after an interruption.",
        rich_help_panel=_STATISTICS,
    ),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write to a file: .csv .tsv .json .jsonl .md .tex .html .parquet .svg .pdf .png",
        callback=_print_or_write,
        rich_help_panel=_OUTPUT,
    ),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="What to print: table, csv, tsv, json, jsonl, md, tex or html.",
        callback=_print_or_write,
        rich_help_panel=_OUTPUT,
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", help="No progress and no warnings.", rich_help_panel=_OUTPUT),
]
