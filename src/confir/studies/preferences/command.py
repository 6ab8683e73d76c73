"""``confir preferences``: which system do people prefer? Also a gate for continuous integration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import click

from confir.cli import options
from confir.cli.explicit_options import refuse_options
from confir.cli.parameters import Argument, Option
from confir.defaults import DEFAULT_POWER
from confir.errors import InvalidValueError
from confir.studies.history.command import GATE_PANEL

if TYPE_CHECKING:
    from confir.cli.terminal import Answer
    from confir.studies.comparison.gate import Requirement
    from confir.studies.preferences.preferences import Preferences

_VIEWS = ("strengths", "pairs", "ranks", "best", "groups", "sequence", "plan")
_VOTES_PANEL = "Votes"
_PLAN_PANEL = "Plan"
_GATE = ("fail_if_worse", "require", "margin")


def preferences_command(
    *,
    context: click.Context,
    votes: Annotated[
        str | None,
        Argument(
            metavar="VOTES",
            help="CSV, TSV, JSON, JSON Lines or Parquet with the columns left, right and winner, or "
            "model_a, model_b and winner; also topic and judge where known.",
        ),
    ] = None,
    show: Annotated[
        str,
        options.choice(
            *_VIEWS,
            help="What to print: sequence is for two systems whose votes arrive while you look; plan "
            "is how many more votes are needed.",
            panel="Output",
        ),
    ] = "strengths",
    baseline: Annotated[
        str | None,
        Option(metavar="SYSTEM", help="Compare the other systems with this one."),
    ] = None,
    cluster: Annotated[
        str | None,
        options.choice(
            *("judge", "topic"),
            help="Votes of one judge, or on one topic, may depend on each other.",
            panel=_VOTES_PANEL,
        ),
    ] = None,
    ties: Annotated[
        str,
        options.choice(
            *("half", "drop"),
            help="A tie is half a win for each, or is left out.",
            panel=_VOTES_PANEL,
        ),
    ] = "half",
    prior: Annotated[
        float | None,
        Option(
            metavar="N",
            help="Add N ties of every system with an average one, such as 1: for systems that only "
            "win or only lose.",
            panel=_VOTES_PANEL,
        ),
    ] = None,
    fail_if_worse: Annotated[
        bool,
        Option(
            "--fail-if-worse",
            help="Exit with 1 if a system is significantly weaker than the baseline, by more than "
            "MARGIN.",
            panel=GATE_PANEL,
        ),
    ] = False,
    require: Annotated[
        str | None,
        options.choice(
            *("non-inferior", "superior"),
            help="A stricter gate: exit with 1 unless the difference is significantly above -MARGIN, "
            "or above 0.",
            panel=GATE_PANEL,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        Option(help="A loss of strength up to this does not matter.", panel=GATE_PANEL),
    ] = None,
    half_width: Annotated[
        float | None,
        Option(
            help="With --show plan: an interval no wider than ± this; by default, neighbours are to "
            "differ significantly.",
            panel=_PLAN_PANEL,
        ),
    ] = None,
    power: Annotated[
        float,
        Option(help="With --show plan: power of the test of neighbours.", panel=_PLAN_PANEL),
    ] = DEFAULT_POWER,
    statistics: options.Statistics,
    out: options.Output,
) -> None:
    """Rate systems by votes between two of them: Bradley-Terry strengths, best set, ranks, pairs.

    Example: `confir preferences votes.json --cluster judge`
    """
    from confir.cli.streams import print_message
    from confir.data.votes import read_votes
    from confir.intervals.interval import check_level
    from confir.studies.comparison.gate import judge_gate
    from confir.studies.preferences.preferences import rate_preferences

    out.prepare()
    check_level(statistics.level)
    _check(context, show, baseline, fail_if_worse=fail_if_worse)
    if votes is None:
        raise InvalidValueError("expected VOTES; for example: confir preferences votes.csv")
    held = read_votes(votes)
    if show == "sequence":
        from confir.cli.terminal import result_answer
        from confir.studies.preferences.early_looks import share_sequence

        out.deliver(
            result_answer(
                share_sequence(held, baseline=baseline, cluster=cluster, level=statistics.level)
            )
        )
        return
    if show == "plan":
        from confir.cli.terminal import result_answer
        from confir.studies.preferences.vote_plan import plan_votes

        plan = plan_votes(
            held,
            half_width=half_width,
            baseline=baseline,
            power=power,
            level=statistics.level,
            cluster=cluster,
            ties=ties,
            prior=prior,
        )
        out.deliver(result_answer(plan))
        return
    found = rate_preferences(
        held,
        baseline=baseline,
        cluster=cluster,
        ties=ties,
        prior=prior,
        level=statistics.level,
        replicates=statistics.replicates,
        rng=statistics.seed,
    )
    out.deliver(preferences_answer(found, show, statistics.seed))
    if fail_if_worse:
        gate = judge_gate(
            found.comparison,
            found.comparison.measures[0],
            margin=margin or 0.0,
            require=cast("Requirement", require or "not-worse"),
        )
        print_message(f"confir: {gate.sentence()}")
        if gate.closed:
            raise click.exceptions.Exit(1)


def _check(context: click.Context, show: str, baseline: str | None, *, fail_if_worse: bool) -> None:
    """Raise where options are for another view, or a gate lacks its baseline."""
    if fail_if_worse and baseline is None:
        raise InvalidValueError("--fail-if-worse needs --baseline, the system to compare with")
    if not fail_if_worse:
        refuse_options(context, ("require", "margin"), "needs --fail-if-worse")
    if show != "plan":
        refuse_options(context, ("half_width", "power"), "is for --show plan")
    else:
        refuse_options(context, (*_GATE, "replicates", "seed"), "is not for --show plan")
    if show == "sequence":
        others = ("ties", "prior", *_GATE, "replicates", "seed")
        refuse_options(context, others, "is not for --show sequence")
    if show == "groups":
        refuse_options(context, ("baseline",), "is not for --show groups, which need all pairs")


def preferences_answer(found: Preferences, show: str, seed: int) -> Answer:
    """Return a view of preferences, with its records and its chart."""
    from confir.cli.terminal import Answer
    from confir.studies.comparison.table import group_table
    from confir.studies.preferences import table

    if show == "pairs":
        pairs = found.pairs()
        return Answer(pairs.to_records(), table.preference_pairs_table(pairs, seed), pairs)
    if show == "groups":
        groups = found.group_runs()
        return Answer(groups.to_records(), group_table(groups), groups)
    if show == "ranks":
        return Answer(found.ranking.to_records(), table.preference_ranks_table(found, seed), found)
    if show == "best":
        return Answer(found.best.to_records(), table.preference_best_table(found, seed), found)
    return Answer(found.to_records(), table.preferences_table(found, seed), found)
