"""``confir simulate``: scores with known true means, or a whole collection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from confir.cli import options
from confir.cli.output import Output
from confir.cli.parameters import Option, PathRole, refuse_options
from confir.defaults import ENDINGS, OUTPUT_FORMATS, SEED
from confir.errors import InvalidValueError, UnknownNameError, counted

_SCORES = "Scores"
_COLLECTION = "Collection"
_DEFAULT_TOPICS, _DEFAULT_RUNS, _DEFAULT_DEPTH = 50, 8, 1000


def simulate_command(
    context: click.Context,
    scores: Annotated[
        list[str] | None,
        Option(
            "A score table from which a population of topics is fitted (repeatable).",
            "FILE",
            panel=_SCORES,
            path=PathRole.READ,
            short=True,
        ),
    ] = None,
    measure: options.MeasuresOption = None,
    output: Annotated[
        str | None,
        Option(
            "File for the simulated scores: .csv .tsv .json .jsonl .parquet",
            "FILE",
            panel=_SCORES,
            names=("-o", "--output"),
            path=PathRole.WRITE,
            short=True,
        ),
    ] = None,
    truth: Annotated[
        str | None,
        Option(
            "File for the true means (.csv .json .md …); by default they are printed.",
            "FILE",
            panel=_SCORES,
            path=PathRole.WRITE,
        ),
    ] = None,
    collection: Annotated[
        str | None,
        Option(
            "Write a simulated collection to this folder: qrels.txt, and the runs in runs/.",
            "FOLDER",
            panel=_COLLECTION,
            path=PathRole.FOLDER,
        ),
    ] = None,
    runs: Annotated[
        int | None, Option("Number of runs; by default 8.", panel=_COLLECTION, least=1)
    ] = None,
    depth: Annotated[
        int | None,
        Option("Documents per list; by default 1000.", panel=_COLLECTION, least=1),
    ] = None,
    topics: Annotated[
        int | None,
        Option("Number of topics; by default as many as the score table has, else 50.", least=1),
    ] = None,
    seed: options.SeedOption = SEED,
    kind: Annotated[
        str,
        Option(
            f"How to print the true means: {options.LISTED_FORMATS}.",
            "FORMAT",
            panel=_SCORES,
            names=("--format",),
            choices=OUTPUT_FORMATS,
            short=True,
        ),
    ] = "table",
    quiet: options.QuietOption = False,  # noqa: ARG001 - acts on the whole command
    provenance: options.ProvenanceOption = False,  # noqa: ARG001 - written after the command
) -> None:
    """Simulate scores with known true means, or runs and qrels.

    For example:

    - `confir simulate --scores scores.csv --topics 250 -o simulated.csv --truth truth.csv`
    - `confir simulate --scores scores.csv --topics 50 --seed 7 -o simulated.csv`
    - `confir simulate --collection folder --runs 5 --topics 50`
    """
    if (scores is None) == (collection is None):
        raise InvalidValueError(
            "expected either --scores FILE or --collection FOLDER; for example: "
            "confir simulate --scores scores.csv -o simulated.csv"
        )
    if collection is not None:
        names = ("output", "truth", "measure", "kind")
        refuse_options(context, names, "goes with --scores, not with --collection")
        _simulate_collection(collection, topics, runs, depth, seed)
        return
    refuse_options(context, ("runs", "depth"), "goes with --collection, not with --scores")
    if output is None:
        raise InvalidValueError("expected -o FILE for the simulated scores")
    if truth is not None:
        refuse_options(context, ["kind"], "is for true means that are printed; --truth writes them")
        if Path(truth).suffix.lower() not in ENDINGS:
            raise UnknownNameError("ending of a file of true means", Path(truth).name, ENDINGS)
        from confir.cli.file_checks import check_output

        check_output(truth)
    answered = Output(context, output=truth, kind=kind)
    _simulate_scores(scores or [], measure or [], output, topics, seed, answered)


def _simulate_scores(
    files: list[str],
    measures: list[str],
    output: str,
    topics: int | None,
    seed: int,
    out: Output,
) -> None:
    from confir.cli.answers import Answer
    from confir.cli.selection import select_measures
    from confir.data.score_files import read_scores
    from confir.data.score_writers import write_scores
    from confir.number_text import number_text
    from confir.report.tables import Cell, Table
    from confir.studies.simulation.score_simulation import fit_population

    real = select_measures(read_scores(files), measures)
    population = fit_population(real)
    simulated = population.draw(len(real.topics) if topics is None else topics, seed)
    write_scores(simulated, output)
    note = (
        f"true means of the population fitted to {counted(len(real.topics), 'topic')}; the scores of "
        f"{counted(len(simulated.topics), 'topic')} drawn from it are in {output}, seed {seed}"
    )
    means, known = real.mean().tolist(), population.truth.tolist()
    records = [
        {"run": run, "measure": measure, "truth": known[r][m], "mean": means[r][m]}
        for r, run in enumerate(real.runs)
        for m, measure in enumerate(real.measures)
    ]
    order = sorted(range(len(real.runs)), key=lambda r: -known[r][0])
    rows = tuple((Cell(real.runs[r]), *(Cell(number_text(one)) for one in known[r])) for r in order)
    table = Table(("run", *real.measures), rows, note)
    out.deliver(Answer(records, table))


def _simulate_collection(
    folder: str, topics: int | None, runs: int | None, depth: int | None, seed: int
) -> None:
    from confir.cli.streams import print_text
    from confir.data.simulation import simulate_collection, write_collection

    made = simulate_collection(  # options are None, or 1 and more
        topics=topics or _DEFAULT_TOPICS,
        runs=runs or _DEFAULT_RUNS,
        depth=depth or _DEFAULT_DEPTH,
        rng=seed,
    )
    write_collection(made, folder)
    print_text(
        f"{counted(len(made.runs), 'run')} on {counted(len(made.qrels.topics), 'topic')} are in {folder}, seed {seed}; "
        f"try: confir evaluate {folder}/qrels.txt {folder}/runs\n"
    )
