"""``confir tradeoff``: which runs are worth their cost?"""

from __future__ import annotations

from typing import Annotated

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.output import Output
from confir.cli.parameters import Option, PathRole, Without
from confir.errors import InvalidValueError


def tradeoff_command(
    *,
    inputs: Annotated[Inputs, Without("bounded")],
    cost: Annotated[
        list[str] | None,
        Option(
            "What runs cost: a table with columns run, topic (if costs vary by topic), and one per "
            "cost, such as latency or tokens; lower is better (repeatable).",
            "FILE",
            path=PathRole.READ,
        ),
    ] = None,
    statistics: options.Statistics,
    out: Output,
) -> None:
    """Show which runs are worth their cost: on the frontier, dominated, or undecided.

    For example:

    - `confir tradeoff qrels.txt runs/ -m nDCG@10 --cost latency.csv`
    - `confir tradeoff --scores scores.csv --cost latency.csv`
    - `confir tradeoff qrels.txt runs/ -m nDCG@10 --cost latency.csv -o tradeoff.svg`
    """
    from confir.cli.answers import Answer
    from confir.data.tables.cost_files import read_costs
    from confir.report.result_table import result_table
    from confir.report.tables import with_design_note
    from confir.studies.tradeoff.cost_comparison import compare_costs

    inputs.check_human()
    example = "confir tradeoff qrels.txt runs/ --cost latency.csv"
    scores = inputs.load_scores(quiet=out.quiet, example=example)
    if not cost:
        raise InvalidValueError(f"expected --cost FILE, what the runs cost; for example: {example}")
    costs = read_costs(cost)
    if inputs.select or inputs.top is not None:
        costs = [one.of_runs(scores.runs) for one in costs]
    found = compare_costs(scores, costs, **statistics.arguments)
    table = with_design_note(result_table(found, found.note(statistics.seed)), scores.design_words)
    out.deliver(Answer(found.to_records(), table, found))
