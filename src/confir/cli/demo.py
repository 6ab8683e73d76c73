"""``confir demo``: the built-in sample collection, evaluated."""

from __future__ import annotations

from typing import Annotated

import typer

from confir.cli import options


def demo_command(
    write: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Also write the sample's qrels and runs, to try commands on."
        ),
    ] = None,
    seed: options.SeedOption = options.DEFAULT_SEED,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
) -> None:
    """Evaluate the built-in sample collection.

    Example: `confir demo --write sample` and then `confir evaluate sample/qrels.txt sample/runs`
    """
    from confir.cli.evaluate import mean_answer
    from confir.cli.terminal import deliver
    from confir.data.simulation import sample_collection, write_collection
    from confir.measures.evaluation import evaluate

    collection = sample_collection()
    if write is not None:
        write_collection(collection, write)
    scores = evaluate(collection.qrels, collection.runs)
    deliver(mean_answer(scores, seed=seed), output=output, kind=kind)
