"""The options that commands share: spelt alike everywhere, and in groups where they go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from confir.cli.completion import measure_names, method_names
from confir.cli.parameters import Option, PathRole
from confir.defaults import (
    DOCUMENT_REPLICATES,
    LEVEL,
    LOGIT_EPSILON,
    OUTPUT_FORMATS,
    REPLICATES,
    SEED,
)
from confir.errors import InvalidValueError

# Panels that most commands have: on the short help page, their options come last.
SHARED_PANELS = INPUT_PANEL, STATISTICS_PANEL, OUTPUT_PANEL = "Input", "Statistics", "Output"
DESIGN_PANEL = "Topics that are not a simple random sample"
HUMAN_PANEL = "Human judgements"
JUDGEMENTS_PANEL = "Judgements"

# What --rows takes for no limit.
ALL_ROWS = "all"

# The option that may be given without a value, and the value that it then has: the usual names.
REPEATS, _USUAL_NAMES = "--repeats", "usual"

# What conclusions are about, by the word of the option: `Design.datasets`.
GENERALISE_TO = {"these": "fixed", "similar": "random"}


# For help texts: table, csv, … or html.
LISTED_FORMATS = f"{', '.join(OUTPUT_FORMATS[:-1])} or {OUTPUT_FORMATS[-1]}"


def measures_option(about: str) -> Option:
    """Return -m with its help."""
    return Option(
        about,
        "NAME",
        panel=INPUT_PANEL,
        names=("-m", "--measure"),
        measures=True,
        complete=measure_names,
        short=True,
    )


MeasuresOption = Annotated[
    list[str] | None,
    measures_option(
        "Measures such as AP,nDCG@10 (repeatable; confir measures lists them); by default AP, nDCG@10, "
        "P@10, RR and R@1000, and for a score table all in it."
    ),
]
DesignColumn = Annotated[
    str | None,
    Option(
        "Name of this column of the design, if it is another one.", "COLUMN", panel=DESIGN_PANEL
    ),
]
ByOption = Annotated[
    str | None,
    Option(
        "Results for each group of topics: a column of the table that --design names, which may "
        "have no other column but topic.",
        "COLUMN",
        panel=DESIGN_PANEL,
    ),
]


def _checked_level(value: float) -> float:
    """Return a confidence level; raise as soon as it is read where it is none."""
    from confir.arguments import as_level

    return as_level(value)


LevelOption = Annotated[
    float,
    Option("Confidence level.", panel=STATISTICS_PANEL, convert=_checked_level, short=True),
]
_METHOD = Option(
    "Interval method (confir methods lists them).",
    "NAME",
    panel=STATISTICS_PANEL,
    complete=method_names,
)
MethodOption = Annotated[str | None, _METHOD]
MethodsOption = Annotated[
    list[str] | None,
    _METHOD._replace(
        help="Interval method (repeatable, to see several side by side; confir methods lists them)."
    ),
]
ReplicatesOption = Annotated[
    int, Option("Number of bootstrap replicates.", panel=STATISTICS_PANEL, least=1)
]
SeedOption = Annotated[
    int, Option("Seed of the random number generator.", panel=STATISTICS_PANEL, least=0)
]
JobsOption = Annotated[
    int | None,
    Option(
        "Number of threads; by default all cores. The results do not depend on it.",
        panel=STATISTICS_PANEL,
        least=1,
    ),
]
ResumeOption = Annotated[
    str | None,
    Option(
        "Save partial results there, and resume from them after an interruption.",
        "DIR",
        panel=STATISTICS_PANEL,
        path=PathRole.RESUME,
    ),
]
QuietOption = Annotated[bool, Option("Show neither progress nor warnings.", panel=OUTPUT_PANEL)]
ProvenanceOption = Annotated[
    bool,
    Option(
        "Also write FILE.provenance.json: version, seed, command, and digests of all files.",
        panel=OUTPUT_PANEL,
    ),
]


def _count_or_all(value: str) -> str:
    """Return a number of rows; raise as soon as it is read where it is none."""
    if value != ALL_ROWS and not (value.isdecimal() and int(value) > 0):
        raise InvalidValueError(f"--rows is {value!r}; expected a number from 1, or {ALL_ROWS}")
    return value


RowsOption = Annotated[
    str,
    Option(
        "Rows of a table in the terminal; files have all of them.",
        "N|all",
        panel=OUTPUT_PANEL,
        convert=_count_or_all,
    ),
]


def most_rows(rows: str) -> int | None:
    """Return how many rows --rows asks for; None for all."""
    return None if rows == ALL_ROWS else int(rows)


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
    float,
    Option(
        "Clip scores to this distance from 0 and 1 before taking the logit.", panel=STATISTICS_PANEL
    ),
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DocumentStatistics:
    """Confidence level, replicates and seed of intervals over collections."""

    level: LevelOption = LEVEL
    epsilon: EpsilonOption = LOGIT_EPSILON
    replicates: ReplicatesOption = DOCUMENT_REPLICATES
    seed: SeedOption = SEED

    arguments = Statistics.arguments  # all but epsilon


def with_patterns(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command line with a value for each --repeats that has none.

    A pattern contains {system}, which file names do not.
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
