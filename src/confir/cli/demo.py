"""``confir demo``: the built-in sample collection, evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from confir.cli import options

if TYPE_CHECKING:
    from confir.data.scores import Scores
    from confir.data.simulation import Collection


def demo_command(
    write: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Also write the sample's qrels and runs, to try commands on."
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write an HTML page about the sample."),
    ] = None,
    seed: options.SeedOption = options.DEFAULT_SEED,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
) -> None:
    """Evaluate the built-in sample collection.

    Example: `confir demo --write sample` and then `confir evaluate sample/qrels.txt sample/runs`
    """
    from confir.cli.evaluate import mean_answer
    from confir.cli.report import check_page
    from confir.cli.terminal import check_output, deliver
    from confir.data.simulation import sample_collection, write_collection
    from confir.measures.evaluation import evaluate

    check_output(output, kind)
    if report is not None:
        check_page(report)
    collection = sample_collection()
    if write is not None:
        write_collection(collection, write)
    scores = evaluate(collection.qrels, collection.runs)
    deliver(mean_answer(scores, seed=seed), output=output, kind=kind)
    if report is not None:
        _write_report(report, collection, scores, seed)


def _write_report(path: str, collection: Collection, scores: Scores, seed: int) -> None:
    """Write the page about the sample, and say where it is."""
    from confir.cli.report import words_to_repeat
    from confir.cli.streams import print_message
    from confir.report.page import Origin, write_report

    write_report(
        path,
        scores,
        qrels=collection.qrels,
        runs=collection.runs,
        title="The sample of confir",
        seed=seed,
        origin=Origin(command=words_to_repeat(seed)),
    )
    print_message(f"{path}: a page about the sample; open it in a browser")
