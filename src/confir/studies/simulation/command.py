"""``confir simulate``: scores with known true means, or a whole collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from confir.cli import options
from confir.cli.parameters import Option, refuse_options
from confir.defaults import SEED
from confir.errors import InvalidValueError, UnknownNameError, counted

if TYPE_CHECKING:
    from confir.cli.terminal import Answer
    from confir.data.scores import Scores
    from confir.studies.simulation.score_simulation import ScorePopulation

_SCORES = "Scores"
_COLLECTION = "Collection"
_DEFAULT_TOPICS, _DEFAULT_RUNS, _DEFAULT_DEPTH = 50, 8, 1000


def simulate_command(
    context: click.Context,
    scores: Annotated[
        list[str] | None,
        Option(
            "--scores",
            metavar="FILE",
            help="A score table from which a population of topics is fitted (repeatable).",
            panel=_SCORES,
        ),
    ] = None,
    measure: options.MeasuresOption = None,
    output: Annotated[
        str | None,
        Option(
            "-o",
            "--output",
            metavar="FILE",
            help="File for the simulated scores: .csv .tsv .json .jsonl .parquet",
            panel=_SCORES,
        ),
    ] = None,
    truth: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="File for the true means (.csv .json .md …); by default they are printed.",
            panel=_SCORES,
        ),
    ] = None,
    collection: Annotated[
        str | None,
        Option(
            metavar="FOLDER",
            help="Write a simulated collection to this folder: qrels.txt, and the runs in runs/.",
            panel=_COLLECTION,
        ),
    ] = None,
    runs: Annotated[
        int | None,
        Option(
            help="Number of runs; by default 8.",
            callback=options.at_least(1),
            panel=_COLLECTION,
        ),
    ] = None,
    depth: Annotated[
        int | None,
        Option(
            help="Documents per list; by default 1000.",
            callback=options.at_least(1),
            panel=_COLLECTION,
        ),
    ] = None,
    topics: Annotated[
        int | None,
        Option(
            help="Number of topics; by default as many as the score table has, else 50.",
            callback=options.at_least(1),
        ),
    ] = None,
    seed: options.SeedOption = SEED,
    kind: Annotated[
        str,
        Option(
            "--format",
            metavar="FORMAT",
            help=f"How to print the true means: {options.formats_text()}.",
            panel=_SCORES,
        ),
    ] = "table",
    quiet: options.QuietOption = False,
    provenance: options.ProvenanceOption = False,  # noqa: ARG001 - written after the command
) -> None:
    """Simulate scores with known true means, or runs and qrels.

    For example:

    - `confir simulate --scores scores.csv --topics 250 -o simulated.csv --truth truth.csv`
    - `confir simulate --scores scores.csv --topics 50 --seed 7 -o simulated.csv`
    - `confir simulate --collection folder --runs 5 --topics 50`
    """
    from confir.cli.terminal import be_quiet, check_output

    check_output(None, kind)
    if (scores is None) == (collection is None):
        raise InvalidValueError(
            "expected either --scores FILE or --collection FOLDER; for example: "
            "confir simulate --scores scores.csv -o simulated.csv"
        )
    if quiet:
        be_quiet()
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
        _check_truth(truth)
    _simulate_scores(scores or [], measure or [], output, truth, topics, seed, kind)


def _check_truth(truth: str) -> None:
    """Raise before any work if the true means could not be written."""
    from confir.cli.terminal import check_output
    from confir.defaults import ENDINGS

    if Path(truth).suffix.lower() not in ENDINGS:
        raise UnknownNameError("ending of a file of true means", Path(truth).name, ENDINGS)
    check_output(truth)


def _simulate_scores(
    files: list[str],
    measures: list[str],
    output: str,
    truth: str | None,
    topics: int | None,
    seed: int,
    kind: str,
) -> None:
    from confir.cli.input import select_measures
    from confir.cli.terminal import deliver
    from confir.data.tables.score_files import read_scores
    from confir.data.tables.score_writers import write_scores
    from confir.studies.simulation.score_simulation import fit_population

    real = select_measures(read_scores(files), measures)
    population = fit_population(real)
    simulated = population.draw(len(real.topics) if topics is None else topics, seed)
    write_scores(simulated, output)
    note = (
        f"true means of the population fitted to {counted(len(real.topics), 'topic')}; the scores of "
        f"{counted(len(simulated.topics), 'topic')} drawn from it are in {output}, seed {seed}"
    )
    deliver(_truth_answer(population, real, note), output=truth, kind=kind)


def _truth_answer(population: ScorePopulation, real: Scores, note: str) -> Answer:
    """Return the true means: records with the real means, and a table, best run first."""
    from confir.cli.terminal import Answer
    from confir.number_text import number_text
    from confir.report.tables import Cell, Table

    truth, mean = population.truth.tolist(), real.mean().tolist()
    records = [
        {"run": run, "measure": measure, "truth": truth[r][m], "mean": mean[r][m]}
        for r, run in enumerate(real.runs)
        for m, measure in enumerate(real.measures)
    ]
    order = sorted(range(len(real.runs)), key=lambda r: -truth[r][0])
    rows = tuple(
        (Cell(real.runs[r]), *(Cell(number_text(value)) for value in truth[r])) for r in order
    )
    return Answer(records, Table(("run", *real.measures), rows, note))


def _simulate_collection(
    folder: str, topics: int | None, runs: int | None, depth: int | None, seed: int
) -> None:
    from confir.cli.streams import print_text
    from confir.data.simulation import simulate_collection, write_collection

    made = simulate_collection(
        topics=_DEFAULT_TOPICS if topics is None else topics,
        runs=_DEFAULT_RUNS if runs is None else runs,
        depth=_DEFAULT_DEPTH if depth is None else depth,
        rng=seed,
    )
    write_collection(made, folder)
    print_text(
        f"{counted(len(made.runs), 'run')} on {counted(len(made.qrels.topics), 'topic')} are in {folder}, seed {seed}; "
        f"try: confir evaluate {folder}/qrels.txt {folder}/runs\n"
    )
