"""``confir plan``: how many topics are needed?"""

from __future__ import annotations

from typing import Annotated

import typer

from confir.cli import options
from confir.cli.explicit_options import refuse_options
from confir.cli.groups import Without
from confir.cli.input import Inputs
from confir.defaults import LEVEL

_GOAL = "Goal"


def plan_command(
    *,
    inputs: Annotated[Inputs, Without("bounded")],
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Plan for differences from this run: its name or its file.",
        ),
    ] = None,
    half_width: Annotated[
        float | None,
        typer.Option(
            help="An interval no wider than ± this, of the mean or the difference.",
            rich_help_panel=_GOAL,
        ),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(
            help="A true difference of this size is to be detected.", rich_help_panel=_GOAL
        ),
    ] = None,
    topics: Annotated[
        int | None,
        typer.Option(
            help="The smallest difference that this many topics detect; by default the pilot's.",
            callback=options.at_least(2),
            rich_help_panel=_GOAL,
        ),
    ] = None,
    power: Annotated[
        float,
        typer.Option(help="Power of the paired t test.", rich_help_panel=_GOAL),
    ] = 0.8,
    level: options.LevelOption = LEVEL,
    out: options.Output,
) -> None:
    """Estimate how many topics an experiment needs, from the scores of a pilot.

    Example: `confir plan qrels.txt a.run b.run --baseline a --difference 0.02 --power 0.8`
    """
    from confir.cli.terminal import Answer
    from confir.intervals.interval import check_level
    from confir.studies.planning.planning import plan_topics
    from confir.studies.planning.table import plan_table

    out.prepare()
    check_level(level)
    if half_width is not None:
        reason = "is for differences to detect, not for a half width"
        refuse_options(inputs.context, ["power"], reason)
    scores = inputs.load_scores(
        baseline=baseline,
        quiet=out.quiet,
        example="confir plan qrels.txt bm25.run dense.run --baseline bm25",
    )
    plan = plan_topics(
        scores,
        baseline=inputs.find_baseline(baseline, scores.runs),
        half_width=half_width,
        difference=difference,
        topics=topics,
        power=power,
        level=level,
    )
    out.deliver(Answer(plan.to_records(), plan_table(plan), plan))
