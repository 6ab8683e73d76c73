"""The options that name the input of a command: qrels and runs or score tables, and how they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import click

from confir.cli import options
from confir.cli.parameters import Argument, Option, PathRole

# Options that say how topics were drawn, of files and of score tables alike.
DESIGN: tuple[Any, ...] = ("design", "dataset", "stratum", "cluster", "weight", "datasets")

# Options that choose runs, of files and of score tables alike.
CHOOSING = ("select", "top")

# Options of scores by several judges, or of several runs of each system.
JUDGED = ("human", "human_sample", "repeats")

# --missing of commands for which missing scores may have their worst value, and the range of that.
MISSING = Option(
    "A topic that a run lacks scores 0 (zero; default of runs), is left out of the run's mean (drop; default "
    "of score tables), is an error, or has the lowest possible score, of the baseline the highest (worst).",
    panel=options.INPUT_PANEL,
    choices=("zero", "drop", "error", "worst"),
)
BoundsOption = Annotated[
    list[str] | None,
    Option(
        "The lowest and the highest score of measures that confir does not know, which missing scores could "
        "have: 0,5 or faithfulness=0,5 (repeatable).",
        "LOW,HIGH",
        panel=options.INPUT_PANEL,
        names=("--bounds",),
    ),
]


@dataclass(frozen=True, eq=False, repr=False)
class InputOptions:
    """Qrels and runs, or score tables; the measures; and the rules for reading them.

    Qrels may be a model's, with human judgements of some topics; runs may be repeats of systems.
    """

    context: click.Context
    qrels: Annotated[
        str | None,
        Argument(
            metavar="QRELS",
            help="Qrels file, or irds:DATASET; - is standard input.",
            path=PathRole.READ,
        ),
    ] = None
    runs: Annotated[
        list[str] | None,
        Argument(
            metavar="RUN...",
            help="Runs: files, globs, directories, or NAME=PATH, which names a run. May be compressed (gz, "
            "bz2, xz, zst).",
            path=PathRole.READ,
        ),
    ] = None
    scores: Annotated[
        list[str] | None,
        Option(
            "A score table instead of QRELS RUN...: output of trec_eval -q or ir_measures, CSV, "
            "JSON, Parquet, results of nuggetizer or AutoJudge, or a folder of these (repeatable).",
            "FILE",
            panel=options.INPUT_PANEL,
            path=PathRole.READ,
            short=True,
        ),
    ] = None
    columns: Annotated[
        str | None,
        Option(
            "Which columns of a score table hold topic, value, run and measure, if their names do "
            "not say it: topic=qid,value=nDCG@10,value=AP; without names, all columns in order: "
            "run,measure,topic,value.",
            "ROLE=NAME,...",
            panel=options.INPUT_PANEL,
        ),
    ] = None
    measure: options.MeasuresOption = None
    select: Annotated[
        list[str] | None,
        Option(
            "Use only the runs with these names: 'bm25*' (repeatable; a baseline is kept).",
            "PATTERN",
            panel=options.INPUT_PANEL,
            short=True,
        ),
    ] = None
    top: Annotated[
        int | None,
        Option(
            "Use only the runs with the N highest means by the first measure (a baseline is kept).",
            "N",
            panel=options.INPUT_PANEL,
            least=1,
        ),
    ] = None
    rel: Annotated[
        int,
        Option(
            "Lowest relevance grade that counts as relevant.",
            panel=options.INPUT_PANEL,
            names=("-l", "--rel"),
            least=1,
        ),
    ] = 1
    depth: Annotated[
        int | None,
        Option(
            "Use only the first documents of each list, up to this rank.",
            panel=options.INPUT_PANEL,
            names=("-M", "--depth"),
            least=1,
        ),
    ] = None
    missing: Annotated[
        str | None,
        Option(
            "A topic that a run lacks scores 0 (zero; default of runs), is left out of the run's mean (drop; "
            "default of score tables), or is an error.",
            panel=options.INPUT_PANEL,
            choices=("zero", "drop", "error"),
        ),
    ] = None
    intents: Annotated[
        str | None,
        Option(
            "Intent probabilities, for measures of diversity: topic subtopic probability.",
            "FILE",
            panel=options.INPUT_PANEL,
            path=PathRole.READ,
        ),
    ] = None
    name_by: Annotated[
        str,
        Option(
            "Name runs by their file or by their tag.",
            panel=options.INPUT_PANEL,
            choices=("file", "tag"),
        ),
    ] = "file"
    tie_precision: Annotated[
        str,
        Option(
            "Precision in which retrieval scores tie: single as in trec_eval 9 and pytrec_eval.",
            panel=options.INPUT_PANEL,
            choices=("double", "single"),
        ),
    ] = "double"
    subset: Annotated[
        str | None,
        Option(
            "The subset of files that hold several, such as predictions of MTEB; of a Quepid "
            "book, the judge.",
            "NAME",
            panel=options.INPUT_PANEL,
        ),
    ] = None
    split: Annotated[
        str | None,
        Option(
            "The split of files that hold several, such as predictions of MTEB.",
            "NAME",
            panel=options.INPUT_PANEL,
        ),
    ] = None
    download: Annotated[
        bool,
        Option(
            "Fetch what is not here: https://… or http://…, irds:DATASET.",
            panel=options.INPUT_PANEL,
        ),
    ] = False
    exclude: Annotated[
        str | None,
        Option(
            "Documents that do not count, taken from runs and qrels: topic docid, qrels, or JSON "
            "of topic and docids.",
            "FILE",
            panel=options.INPUT_PANEL,
            path=PathRole.READ,
        ),
    ] = None
    exclude_identical: Annotated[
        bool | None,
        Option(
            "Take documents with the id of their topic from runs, as BEIR does; if neither is "
            "given, a warning tells of them.",
            panel=options.INPUT_PANEL,
            names=("--exclude-identical/--no-exclude-identical",),
        ),
    ] = None
    design: Annotated[
        str | None,
        Option(
            "How topics were drawn: a table with a column topic and any of dataset, stratum, "
            "cluster, weight.",
            "FILE",
            panel=options.DESIGN_PANEL,
            path=PathRole.READ,
        ),
    ] = None
    dataset: options.DesignColumn = None
    stratum: options.DesignColumn = None
    cluster: options.DesignColumn = None
    weight: options.DesignColumn = None
    datasets: Annotated[
        str,
        Option(
            "Whether conclusions are about these datasets, or about similar ones.",
            panel=options.DESIGN_PANEL,
            names=("--generalise-to",),
            choices=options.GENERALISE_TO,
        ),
    ] = "fixed"
    bounded: Annotated[
        bool | None,
        Option(
            "Whether unknown measures lie in [0, 1]; by default they do if all of their scores do.",
            panel=options.STATISTICS_PANEL,
            names=("--bounded/--unbounded",),
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        Option(
            "Work on a Dask cluster: tcp://host:8786, or local:4 for four processes here. The "
            "results do not depend on it.",
            "ADDRESS",
            panel=options.STATISTICS_PANEL,
        ),
    ] = None  # used around the whole command
    human: Annotated[
        str | None,
        Option(
            "Human judgements of some topics, if QRELS are a model's: results are what human "
            "judgements would give, estimated from both. With --scores, a score table by human judgements.",
            "QRELS",
            panel=options.HUMAN_PANEL,
            path=PathRole.READ,
        ),
    ] = None
    human_sample: Annotated[
        str | None,
        Option(
            "How topics or documents were selected for human judging: a random sample of topics, or of "
            "documents with their inclusion probabilities in a fifth column, can correct the model; a "
            "choice by hand cannot. WORD: random-topics, random-documents, all, chosen.",
            "WORD",
            panel=options.HUMAN_PANEL,
        ),
    ] = None

    repeats: Annotated[
        str | None,
        Option(
            "Runs are repeats of systems, such as several seeds of one model: results are of the systems, "
            "and count that repeats vary. Names such as system@1, system_seed1 and system-s1 are known; "
            "PATTERN describes others: '{system}-v{repeat}'.",
            "[PATTERN]",
            panel=options.INPUT_PANEL,
        ),
    ] = None
