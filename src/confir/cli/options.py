"""The options that commands share: spelt alike everywhere, and in groups where they go together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confir.cli.explicit_options import is_given
from confir.defaults import (
    CHART_ENDINGS,
    DOCUMENT_REPLICATES,
    ENDINGS,
    LEVEL,
    LOGIT_EPSILON,
    OUTPUT_FORMATS,
    REPLICATES,
    SEED,
)
from confir.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from confir.cli.terminal import Answer

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


def choice(*choices: str, help: str, panel: str) -> Any:  # noqa: A002
    """Return an option whose value is one of some words, checked as soon as it is read."""

    def check(parameter: typer.CallbackParam, value: str) -> str:
        if value not in choices:
            option = max(parameter.opts, key=len)
            raise UnknownNameError(f"value of {option}", value, choices)
        return value

    return typer.Option(metavar="|".join(choices), help=help, callback=check, rich_help_panel=panel)


def formats_text() -> str:
    """Return the formats for a help text: table, csv, … or html."""
    return f"{', '.join(OUTPUT_FORMATS[:-1])} or {OUTPUT_FORMATS[-1]}"


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
        metavar="RUN...",
        help="Runs: files, directories, or NAME=PATH; may be compressed (gz, bz2, xz, zst).",
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
        help="Lowest relevance grade that counts as relevant.",
        callback=at_least(1),
        rich_help_panel=_INPUT,
    ),
]
DepthOption = Annotated[
    int | None,
    typer.Option(
        "-M",
        "--depth",
        help="Use only the first documents of each list, up to this rank.",
        callback=at_least(1),
        rich_help_panel=_INPUT,
    ),
]
MissingOption = Annotated[
    str,
    choice(
        *("zero", "drop", "error"),
        help="A topic that a run lacks scores 0, is left out of the run's mean, or is an error.",
        panel=_INPUT,
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
    choice("file", "tag", help="Name runs by their file or by their tag.", panel=_INPUT),
]
TiePrecisionOption = Annotated[
    str,
    choice(
        *("double", "single"),
        help="Precision in which retrieval scores tie: single as in trec_eval 9 and pytrec_eval.",
        panel=_INPUT,
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
        help="Whether unknown measures lie in [0, 1]; by default they do if all "
        "of their scores do.",
        show_default=False,
        rich_help_panel=_STATISTICS,
    ),
]
ReplicatesOption = Annotated[
    int,
    typer.Option(
        help="Number of bootstrap replicates.", callback=at_least(1), rich_help_panel=_STATISTICS
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        help="Seed of the random number generator.",
        callback=at_least(0),
        rich_help_panel=_STATISTICS,
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        help="Number of threads; by default all cores. The results do not depend on it.",
        callback=at_least(1),
        rich_help_panel=_STATISTICS,
    ),
]
ResumeOption = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Save partial results there, and resume from them after an interruption.",
        rich_help_panel=_STATISTICS,
    ),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help=f"Write to a file: {' '.join((*ENDINGS, *CHART_ENDINGS))}",
        callback=_print_or_write,
        rich_help_panel=_OUTPUT,
    ),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help=f"What to print: {formats_text()}.",
        callback=_print_or_write,
        rich_help_panel=_OUTPUT,
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", help="Show neither progress nor warnings.", rich_help_panel=_OUTPUT),
]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Confidence level, replicates and seed."""

    level: LevelOption = LEVEL
    replicates: ReplicatesOption = REPLICATES
    seed: SeedOption = SEED


EpsilonOption = Annotated[
    float,
    typer.Option(
        help="Clip scores this far from 0 and 1 before the logit.", rich_help_panel=_STATISTICS
    ),
]


@dataclass(frozen=True, slots=True)
class DocumentStatistics:
    """Confidence level, replicates and seed of intervals over collections."""

    level: LevelOption = LEVEL
    epsilon: EpsilonOption = LOGIT_EPSILON
    replicates: ReplicatesOption = DOCUMENT_REPLICATES
    seed: SeedOption = SEED


@dataclass(frozen=True, slots=True)
class Output:
    """Where a result is written, and whether progress is shown."""

    output: OutputOption = None
    kind: FormatOption = "table"
    quiet: QuietOption = False

    def prepare(self) -> None:
        """Raise before any work where a result could not be written; be quiet where asked to."""
        from confir.cli.terminal import be_quiet, check_output

        check_output(self.output, self.kind)
        if self.quiet:
            be_quiet()

    def deliver(self, answer: Answer) -> None:
        """Write an answer to the file that is named, else print it."""
        from confir.cli.terminal import deliver

        deliver(answer, output=self.output, kind=self.kind)
