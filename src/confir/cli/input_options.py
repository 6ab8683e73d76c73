"""The options that name the input of a command: qrels and runs or score tables, and how they are read."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import click

from confir.cli import options
from confir.cli.parameters import Argument, Option
from confir.errors import ConfirError, InvalidValueError, UnreadableError

# Options that say how topics were drawn, of files and of score tables alike.
DESIGN: tuple[Any, ...] = ("design", "dataset", "stratum", "cluster", "weight", "datasets")

# Options that choose runs, of files and of score tables alike.
CHOOSING = ("select", "top")


@dataclass(frozen=True, eq=False, repr=False)
class InputOptions:
    """Qrels and runs, or score tables; the measures; and the rules for reading them."""

    context: click.Context
    qrels: Annotated[
        str | None,
        Argument(metavar="QRELS", help="Qrels file, or irds:DATASET; - is standard input."),
    ] = None
    runs: Annotated[
        list[str] | None,
        Argument(
            metavar="RUN...",
            help="Runs: files, globs, directories, or NAME=PATH, which names a run. May be compressed (gz, "
            "bz2, xz, zst).",
        ),
    ] = None
    scores: Annotated[
        list[str] | None,
        Option(
            "--scores",
            metavar="FILE",
            help="A score table instead of QRELS RUN...: output of trec_eval -q or ir_measures, CSV, "
            "JSON, Parquet, results of nuggetizer or AutoJudge, or a folder of these (repeatable).",
            panel=options.INPUT_PANEL,
        ),
    ] = None
    columns: Annotated[
        str | None,
        Option(
            metavar="ROLE=NAME,...",
            help="Which columns of a score table hold topic, value, run and measure, if their names do "
            "not say it: topic=qid,value=nDCG@10,value=AP; without names, all columns in order: "
            "run,measure,topic,value.",
            panel=options.INPUT_PANEL,
        ),
    ] = None
    measure: options.MeasuresOption = None
    select: options.SelectOption = None
    top: options.TopOption = None
    rel: Annotated[
        int,
        Option(
            "-l",
            "--rel",
            help="Lowest relevance grade that counts as relevant.",
            callback=options.at_least(1),
            panel=options.INPUT_PANEL,
        ),
    ] = 1
    depth: Annotated[
        int | None,
        Option(
            "-M",
            "--depth",
            help="Use only the first documents of each list, up to this rank.",
            callback=options.at_least(1),
            panel=options.INPUT_PANEL,
        ),
    ] = None
    missing: Annotated[
        str,
        options.choice(
            *("zero", "drop", "error"),
            help="A topic that a run lacks scores 0, is left out of the run's mean, or is an error.",
            panel=options.INPUT_PANEL,
        ),
    ] = "zero"
    intents: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Intent probabilities, for measures of diversity: topic subtopic probability.",
            panel=options.INPUT_PANEL,
        ),
    ] = None
    name_by: Annotated[
        str,
        options.choice(
            "file",
            "tag",
            help="Name runs by their file or by their tag.",
            panel=options.INPUT_PANEL,
        ),
    ] = "file"
    tie_precision: Annotated[
        str,
        options.choice(
            *("double", "single"),
            help="Precision in which retrieval scores tie: single as in trec_eval 9 and pytrec_eval.",
            panel=options.INPUT_PANEL,
        ),
    ] = "double"
    subset: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="The subset of files that hold several, such as predictions of MTEB; of a Quepid "
            "book, the judge.",
            panel=options.INPUT_PANEL,
        ),
    ] = None
    split: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="The split of files that hold several, such as predictions of MTEB.",
            panel=options.INPUT_PANEL,
        ),
    ] = None
    download: Annotated[
        bool,
        Option(
            "--download",
            help="Fetch what is not here: https://… or http://…, irds:DATASET.",
            panel=options.INPUT_PANEL,
        ),
    ] = False
    exclude: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Documents that do not count, taken from runs and qrels: topic docid, qrels, or JSON "
            "of topic and docids.",
            panel=options.INPUT_PANEL,
        ),
    ] = None
    exclude_identical: Annotated[
        bool | None,
        Option(
            "--exclude-identical/--no-exclude-identical",
            help="Take documents with the id of their topic from runs, as BEIR does; if neither is "
            "given, a warning tells of them.",
            show_default=False,
            panel=options.INPUT_PANEL,
        ),
    ] = None
    design: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="How topics were drawn: a table with a column topic and any of dataset, stratum, "
            "cluster, weight.",
            panel=options.DESIGN_PANEL,
        ),
    ] = None
    dataset: options.DesignColumn = None
    stratum: options.DesignColumn = None
    cluster: options.DesignColumn = None
    weight: options.DesignColumn = None
    datasets: Annotated[
        str,
        options.generalise_to(
            help="Whether conclusions are about these datasets, or about similar ones."
        ),
    ] = "fixed"
    bounded: Annotated[
        bool | None,
        Option(
            "--bounded/--unbounded",
            help="Whether unknown measures lie in [0, 1]; by default they do if all "
            "of their scores do.",
            show_default=False,
            panel=options.STATISTICS_PANEL,
        ),
    ] = None
    scheduler: options.SchedulerOption = None  # used around the whole command

    def __post_init__(self) -> None:
        for given in filter(None, (self.qrels, *(self.runs or ()))):
            _check_is_no_measure(given, self.measure or [])
        for given in filter(None, (self.qrels, *(self.scores or ()))):
            _check_is_no_pattern(given)


def _check_is_no_measure(given: str, measures: Sequence[str]) -> None:
    """Raise where a measure stands in the place of a file, as after ``-m AP nDCG@10``."""
    from confir.data.files import STDIN, is_address

    if given == STDIN or os.path.lexists(given) or is_address(given) or "=" in given:
        return
    from confir.measures.measure_list import parse_measure

    try:
        parse_measure(given)
    except ConfirError:
        return
    several = " ".join(f"-m {name}" for name in (*measures, given))
    raise InvalidValueError(
        f"{given} is a measure where a file was expected; expected each measure after its own -m: "
        f"{several}"
    )


def _check_is_no_pattern(given: str) -> None:
    """Raise where a pattern fits no file; the shell passes such a one on as it is."""
    if glob.has_magic(given) and not os.path.lexists(given) and not glob.glob(given):
        raise UnreadableError(f"{given}: no file matches this pattern")
