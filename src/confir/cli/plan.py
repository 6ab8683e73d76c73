"""``confir plan``: how many topics are needed?"""

from __future__ import annotations

from typing import Annotated

import typer

from confir.cli import options
from confir.cli.compare import add_baseline, find_baseline
from confir.cli.given import refuse_options

_GOAL = "Goal"


def plan_command(
    context: typer.Context,
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    scores: options.ScoresOption = None,
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
        typer.Option(help="A true difference of this size shall be shown.", rich_help_panel=_GOAL),
    ] = None,
    topics: Annotated[
        int | None,
        typer.Option(
            help="The smallest difference that so many topics show; by default the pilot's.",
            callback=options.at_least(2),
            rich_help_panel=_GOAL,
        ),
    ] = None,
    power: Annotated[
        float,
        typer.Option(
            help="Probability that a paired t test shows the difference.", rich_help_panel=_GOAL
        ),
    ] = 0.8,
    measure: options.MeasuresOption = None,
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    intents: options.IntentsOption = None,
    name_by: options.NameByOption = "file",
    tie_precision: options.TiePrecisionOption = "double",
    level: options.LevelOption = 0.95,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
    quiet: options.QuietOption = False,
) -> None:
    """Say how many topics an experiment needs, from the scores of a pilot.

    Example: `confir plan qrels.txt a.run b.run --baseline a --difference 0.02 --power 0.8`
    """
    from confir.cli.input import load_scores
    from confir.cli.terminal import Answer, be_quiet, check_output, deliver
    from confir.intervals.interval import check_level
    from confir.report.plan_tables import plan_table
    from confir.studies.planning import plan_topics

    check_output(output, kind)
    check_level(level)
    if half_width is not None:
        refuse_options(context, ["power"], "is for differences to show, not for a half width")
    if quiet:
        be_quiet()
    table = load_scores(
        qrels,
        add_baseline(runs or [], baseline),
        score_files=scores or [],
        measures=measure or [],
        rel=rel,
        depth=depth,
        missing=missing,
        intents=intents,
        name_by=name_by,
        tie_precision=tie_precision,
        quiet=quiet,
        context=context,
        example="confir plan qrels.txt bm25.run dense.run --baseline bm25",
    )
    plan = plan_topics(
        table,
        baseline=find_baseline(baseline, table, runs or []),
        half_width=half_width,
        difference=difference,
        topics=topics,
        power=power,
        level=level,
    )
    deliver(Answer(plan.to_records(), plan_table(plan), plan), output=output, kind=kind)
