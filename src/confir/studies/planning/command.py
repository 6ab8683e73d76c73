"""``confir plan``: how many topics are needed?"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from confir.cli import options
from confir.cli.explicit_options import refuse_options
from confir.cli.groups import Without
from confir.cli.input import Inputs
from confir.defaults import DEFAULT_POWER, FAMILIES, LEVEL, OBSERVED
from confir.errors import InvalidValueError

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
            help="An interval no wider than ± this, of the mean or, with a baseline, the difference.",
            rich_help_panel=_GOAL,
        ),
    ] = None,
    difference: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|observed",
            help="A true difference of this size is to be detected; observed is the pilot's, with the "
            "range of its interval.",
            rich_help_panel=_GOAL,
        ),
    ] = None,
    topics: Annotated[
        int | None,
        typer.Option(
            help="What this many topics give: the smallest difference that they detect (by default those "
            "of the pilot), the power at --difference or, without a baseline, the half width.",
            callback=options.at_least(2),
            rich_help_panel=_GOAL,
        ),
    ] = None,
    judgements: Annotated[
        int | None,
        typer.Option(
            help="As --topics, for a budget of judgements.",
            callback=options.at_least(1),
            rich_help_panel=_GOAL,
        ),
    ] = None,
    judgements_per_topic: Annotated[
        int | None,
        typer.Option(
            help="Judgements that a topic takes; the plan then counts judgements, too.",
            callback=options.at_least(1),
            rich_help_panel=_GOAL,
        ),
    ] = None,
    power: Annotated[
        float,
        typer.Option(help="Power of the paired t test.", rich_help_panel=_GOAL),
    ] = DEFAULT_POWER,
    assurance: Annotated[
        float | None,
        typer.Option(
            help="Probability that the goal is reached though the pilot's sd is an estimate, such as 0.8; "
            "by default the plan takes the sd as it is, and holds in about half of all cases.",
            rich_help_panel=_GOAL,
        ),
    ] = None,
    family: Annotated[
        str | None,
        options.choice(
            *FAMILIES,
            help="Differences that are to hold together: all pairs, those from the baseline (the default "
            "for several runs with one), or the confidence set of the best run (with --half-width: no "
            "run in it lies further below the best).",
            panel=_GOAL,
        ),
    ] = None,
    level: options.LevelOption = LEVEL,
    out: options.Output,
) -> None:
    """Estimate how many topics an experiment needs, from the scores of a pilot.

    Example: `confir plan qrels.txt a.run b.run --baseline a --difference 0.02 --assurance 0.8`
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
    size = _parse_difference(difference)
    scores = inputs.load_scores(
        baseline=baseline,
        quiet=out.quiet,
        example="confir plan qrels.txt bm25.run dense.run --baseline bm25",
    )
    plan = plan_topics(
        scores,
        baseline=inputs.find_baseline(baseline, scores.runs),
        half_width=half_width,
        difference=size,
        topics=topics,
        judgements=judgements,
        judgements_per_topic=judgements_per_topic,
        power=power,
        level=level,
        family=family,
        assurance=assurance,
    )
    out.deliver(Answer(plan.to_records(), plan_table(plan), plan))


def _parse_difference(text: str | None) -> float | Literal["observed"] | None:
    """Return the difference that an option names: a number, or the observed one."""
    if text is None or text == OBSERVED:
        return text
    try:
        return float(text)
    except ValueError:
        raise InvalidValueError(
            f"--difference is {text!r}; expected a number above 0, or {OBSERVED}"
        ) from None
