"""``confir measures``: the list of measures, or how well they separate the runs."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.lists import deliver_measures
from confir.cli.output import Output
from confir.cli.parameters import Option, Without, refuse_options
from confir.errors import InvalidValueError


def measures_command(
    *,
    inputs: Annotated[Inputs, Without("bounded")],
    power: Annotated[
        bool,
        Option(
            "Which measure separates these runs best: discriminative power and swap rates.",
            names=("--power",),
        ),
    ] = False,
    statistics: options.Statistics,
    out: Output,
) -> None:
    """List the measures; with --power, show which of them separates runs best.

    For example:

    - `confir measures`
    - `confir measures --power qrels.txt runs/ -m AP,nDCG@10,P@10`
    - `confir measures --power --scores scores.csv -o power.csv`
    """
    if not power:
        if inputs.files():
            raise InvalidValueError("QRELS RUN... are for --power; without it, measures are listed")
        for_power = [one.name for one in (*fields(Inputs), *fields(options.Statistics))]
        refuse_options(inputs.context, for_power, "has no effect without --power")
        deliver_measures(out)
        return
    from confir.cli.answers import Answer
    from confir.report.result_table import result_table
    from confir.report.tables import with_design_note, with_seed
    from confir.studies.discrimination.discrimination import compare_measures

    scores = inputs.load_scores(
        quiet=out.quiet, example="confir measures --power qrels.txt runs/ -m AP,nDCG@10"
    )
    found = compare_measures(scores, **statistics.arguments)
    table = with_design_note(with_seed(result_table(found), statistics.seed), scores.design_words)
    out.deliver(Answer(found.to_records(), table, found))
