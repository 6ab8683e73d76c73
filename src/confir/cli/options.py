"""The options that commands share: spelt alike everywhere, and in groups where they go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import click

from confir.cli.completion import measure_names, method_names
from confir.cli.parameters import Panel, PathRole, SharedPanel
from confir.defaults import (
    CHART_ENDINGS,
    DOCUMENT_REPLICATES,
    ENDINGS,
    INTERVAL_STYLES,
    LEVEL,
    LOGIT_EPSILON,
    OUTPUT_FORMATS,
    REPLICATES,
    SEED,
    TABLE_WIDTHS,
)
from confir.errors import InvalidValueError

INPUT_PANEL = SharedPanel("Input")
DESIGN_PANEL = Panel("Topics that are not a simple random sample")
STATISTICS_PANEL = SharedPanel("Statistics")
HUMAN_PANEL = Panel("Human judgements")
JUDGEMENTS_PANEL = Panel("Judgements")
_OUTPUT_PANEL = SharedPanel("Output")
_PAPER_PANEL = Panel("For papers")
# What --rows takes for no limit.
ALL_ROWS = "all"

# The option that may be given without a value, and the value that it then has: the usual names.
REPEATS, _USUAL_NAMES = "--repeats", "usual"

# What conclusions are about, by the word of the option: `Design.datasets`.
GENERALISE_TO = {"these": "fixed", "similar": "random"}


def split_measures(
    _: click.Context, __: click.Parameter, values: list[str] | None
) -> list[str] | None:
    """Return the measures of -m, which may name several at once: ``AP,nDCG@10``."""
    if not values:
        return values
    return [name for value in values for name in split_names(value)]


def split_names(text: str) -> list[str]:
    """Return names separated by commas; those within brackets and quotes separate nothing.

    Quotes around a whole name are removed: ``"a,b",AP`` are the measures ``a,b`` and ``AP``.
    """
    names, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth <= 0:
            names.append("")
            continue
        names[-1] += sign
    if quote or depth:
        return [text]  # no list, and the name of a measure at most
    stripped = [name.strip() for name in names]
    if "" in stripped:
        raise InvalidValueError(f"-m {text!r} names an empty measure; expected names such as AP,RR")
    return [
        name[1:-1]
        if len(name) > 2 and name[0] == name[-1] in "\"'" and name.count(name[0]) == 2
        else name
        for name in stripped
    ]


def formats_text() -> str:
    """Return the formats for a help text: table, csv, … or html."""
    return f"{', '.join(OUTPUT_FORMATS[:-1])} or {OUTPUT_FORMATS[-1]}"


MeasuresOption = Annotated[
    list[str] | None,
    INPUT_PANEL(
        "Measures such as AP,nDCG@10 (repeatable; confir measures lists them); by default AP, nDCG@10, "
        "P@10, RR and R@1000, and for a score table all in it.",
        "NAME",
        names=("-m", "--measure"),
        callback=split_measures,
        complete=measure_names,
        short=True,
    ),
]


def measures_option(about: str) -> Any:
    """Return -m with another help, for a command that takes other measures (`Instead`)."""
    names, complete = ("-m", "--measure"), measure_names
    option = INPUT_PANEL(
        about, "NAME", names=names, callback=split_measures, complete=complete, short=True
    )
    return Annotated[list[str] | None, option]


SelectOption = Annotated[
    list[str] | None,
    INPUT_PANEL(
        "Use only the runs with these names: 'bm25*' (repeatable; a baseline is kept).",
        "PATTERN",
        short=True,
    ),
]
TopOption = Annotated[
    int | None,
    INPUT_PANEL(
        "Use only the runs with the N highest means by the first measure (a baseline is kept).",
        "N",
        least=1,
    ),
]
RepeatsOption = Annotated[
    str | None,
    INPUT_PANEL(
        "Runs are repeats of systems, such as several seeds of one model: results are of the systems, "
        "and count that repeats vary. Names such as system@1, system_seed1 and system-s1 are known; "
        "PATTERN describes others: '{system}-v{repeat}'.",
        "[PATTERN]",
    ),
]
DesignColumn = Annotated[
    str | None, DESIGN_PANEL("Name of this column of the design, if it is another one.", "COLUMN")
]
ByOption = Annotated[
    str | None,
    DESIGN_PANEL(
        "Results for each group of topics: a column of the table that --design names, which may "
        "have no other column but topic.",
        "COLUMN",
    ),
]


def _between_0_and_1(_: click.Context, __: click.Parameter, value: float) -> float:
    """Check a confidence level as soon as it is read."""
    from confir.arguments import as_level

    return as_level(value)


LevelOption = Annotated[
    float, STATISTICS_PANEL("Confidence level.", callback=_between_0_and_1, short=True)
]
MethodsOption = Annotated[
    list[str] | None,
    STATISTICS_PANEL(
        "Interval method (repeatable, to see several side by side; confir methods lists them).",
        "NAME",
        names=("--method",),
        complete=method_names,
    ),
]
MethodOption = Annotated[
    str | None,
    STATISTICS_PANEL(
        "Interval method (confir methods lists them).",
        "NAME",
        names=("--method",),
        complete=method_names,
    ),
]
ReplicatesOption = Annotated[int, STATISTICS_PANEL("Number of bootstrap replicates.", least=1)]
SeedOption = Annotated[int, STATISTICS_PANEL("Seed of the random number generator.", least=0)]
JobsOption = Annotated[
    int | None,
    STATISTICS_PANEL(
        "Number of threads; by default all cores. The results do not depend on it.",
        least=1,
    ),
]
SchedulerOption = Annotated[
    str | None,
    STATISTICS_PANEL(
        "Work on a Dask cluster: tcp://host:8786, or local:4 for four processes here. The "
        "results do not depend on it.",
        "ADDRESS",
    ),
]
ResumeOption = Annotated[
    str | None,
    STATISTICS_PANEL(
        "Save partial results there, and resume from them after an interruption.",
        "DIR",
        path=PathRole.RESUME,
    ),
]
OutputOption = Annotated[
    str | None,
    _OUTPUT_PANEL(
        f"Write to a file: {' '.join((*ENDINGS, *CHART_ENDINGS))}",
        "FILE",
        names=("-o", "--output"),
        path=PathRole.WRITE,
        short=True,
    ),
]
FormatOption = Annotated[
    str,
    _OUTPUT_PANEL(
        f"What to print: {formats_text()}.",
        "FORMAT",
        names=("--format",),
        choices=OUTPUT_FORMATS,
        short=True,
    ),
]
QuietOption = Annotated[bool, _OUTPUT_PANEL("Show neither progress nor warnings.")]
ProvenanceOption = Annotated[
    bool,
    _OUTPUT_PANEL(
        "Also write FILE.provenance.json: version, seed, command, and digests of all files."
    ),
]


def _count_or_all(_: click.Context, __: click.Parameter, value: str) -> str:
    """Check a number of rows as soon as it is read."""
    if value != ALL_ROWS and not (value.isdecimal() and int(value) > 0):
        raise InvalidValueError(f"--rows is {value!r}; expected a number from 1, or {ALL_ROWS}")
    return value


RowsOption = Annotated[
    str,
    _OUTPUT_PANEL(
        "Rows of a table in the terminal; files have all of them.",
        "N|all",
        callback=_count_or_all,
    ),
]


def most_rows(rows: str) -> int | None:
    """Return how many rows --rows asks for; None for all."""
    return None if rows == ALL_ROWS else int(rows)


WidthOption = Annotated[
    str | None,
    _PAPER_PANEL(
        "Make a LaTeX table fit a column or a page: fewer decimals, stacked intervals, wrapped names "
        "and measures.",
        choices=TABLE_WIDTHS,
    ),
]
IntervalsOption = Annotated[
    str | None,
    _PAPER_PANEL(
        "How a LaTeX table shows intervals: 0.41 [0.38, 0.45], below the mean, or 0.41 ± 0.03.",
        choices=INTERVAL_STYLES,
    ),
]
DecimalsOption = Annotated[
    int | None,
    _PAPER_PANEL("Decimals of scores in tables; by default 4.", "N", least=1),
]
FigureWidthOption = Annotated[
    float | None,
    _PAPER_PANEL(
        "Width of a chart in mm, such as 85 for a column: panels get narrower, the font size stays.",
        "MM",
    ),
]
FigureHeightOption = Annotated[
    float | None, _PAPER_PANEL("Height of a chart in mm: rows get lower or higher.", "MM")
]
FigureTitleOption = Annotated[
    bool, _PAPER_PANEL("Write the title into a chart; a paper has a caption instead.")
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Statistics:
    """Confidence level, replicates and seed."""

    level: LevelOption = LEVEL
    replicates: ReplicatesOption = REPLICATES
    seed: SeedOption = SEED

    @property
    def arguments(self: Statistics | DocumentStatistics) -> dict[str, Any]:
        """The arguments of verbs that these options are."""
        return {"level": self.level, "replicates": self.replicates, "rng": self.seed}


EpsilonOption = Annotated[
    float, STATISTICS_PANEL("Clip scores to this distance from 0 and 1 before taking the logit.")
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DocumentStatistics:
    """Confidence level, replicates and seed of intervals over collections."""

    level: LevelOption = LEVEL
    epsilon: EpsilonOption = LOGIT_EPSILON
    replicates: ReplicatesOption = DOCUMENT_REPLICATES
    seed: SeedOption = SEED

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of verbs that these options are, but for epsilon."""
        return {"level": self.level, "replicates": self.replicates, "rng": self.seed}


def with_patterns(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command line with a value for each --repeats that has none.

    A pattern holds {system}, which tells it from the name of a file.
    """
    words = list(arguments)
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word == REPEATS and "{system}" not in following:
            words[place] = f"{REPEATS}={_USUAL_NAMES}"
    return words


def pattern_of(repeats: str | None) -> str | None:
    """Return the pattern that --repeats gives; None for the usual names."""
    return None if repeats == _USUAL_NAMES else repeats
