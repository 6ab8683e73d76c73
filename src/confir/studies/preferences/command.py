"""``confir preferences``: which system do people prefer? Also a gate for continuous integration."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import click

from confir.cli import options
from confir.cli.output import Output
from confir.cli.parameters import Argument, Option, PathRole, refuse_options
from confir.cli.views import View, Views
from confir.defaults import DEFAULT_POWER
from confir.errors import ConfirWarning, InvalidValueError, UnsupportedMethodError
from confir.studies.gate.command import GATE_OPTIONS, GATE_PANEL, GateRecords, require_option

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.report.tables import Table
    from confir.studies.preferences.preferences import Preferences

_VOTES_PANEL = "Votes"
_PLAN_PANEL = "Plan"
_GATE = ("margin", *GATE_OPTIONS)
_PLAN = ("half_width", "power")
_RESAMPLING = ("replicates", "seed")

_NOT_OF_ALL = ("baseline", *_GATE, *_PLAN)

VIEWS = Views(
    View("strengths", "strengths, ranks and the best set", "preference", lacks=_NOT_OF_ALL),
    View("pairs", "observed and predicted shares, differences", "preference-pair", lacks=_PLAN),
    View("ranks", "ranks with intervals", "rank", lacks=_NOT_OF_ALL),
    View("best", "which systems may be the best", "best", lacks=_NOT_OF_ALL),
    View(
        *("groups", "groups of systems that do not differ significantly", "group"),
        lacks=_NOT_OF_ALL,
    ),
    View(
        "sequence",
        "limits that hold at every look, for two systems whose votes arrive while you look",
        "share-sequence",
        lacks=("ties", "prior", "position", "covariate", *_GATE, *_PLAN, *_RESAMPLING),
    ),
    View(
        "effects",
        "effects of the side and of covariates on who wins",
        "preference-effect",
        lacks=_NOT_OF_ALL,
    ),
    View("plan", "how many more votes are needed", "vote-plan", lacks=(*_GATE, *_RESAMPLING)),
    paired="pairs",
)


def preferences_command(
    *,
    context: click.Context,
    votes: Annotated[
        str | None,
        Argument(
            metavar="VOTES",
            help="CSV, TSV, JSON, JSON Lines or Parquet with the columns left, right and winner, or "
            "model_a, model_b and winner; also topic and judge where known.",
            path=PathRole.READ,
        ),
    ] = None,
    show: Annotated[str | None, VIEWS.option()] = None,
    baseline: Annotated[
        str | None,
        Option("Compare the other systems with this one.", "SYSTEM", path=PathRole.RUN),
    ] = None,
    cluster: Annotated[
        str | None,
        Option(
            "Votes of one judge, or on one topic, may depend on each other.",
            panel=_VOTES_PANEL,
            choices=("judge", "topic"),
        ),
    ] = None,
    ties: Annotated[
        str,
        Option(
            "A tie is half a win for each, or is left out.",
            panel=_VOTES_PANEL,
            choices=("half", "drop"),
        ),
    ] = "half",
    prior: Annotated[
        float | None,
        Option(
            "Add N ties of every system with an average one, such as 1: for systems that only "
            "win or only lose.",
            "N",
            panel=_VOTES_PANEL,
        ),
    ] = None,
    position: Annotated[
        str,
        Option(
            "Estimate whether the left answer wins more often, or adjust strengths for it too.",
            panel=_VOTES_PANEL,
            choices=("estimate", "adjust"),
        ),
    ] = "estimate",
    covariate: Annotated[
        list[str] | None,
        Option(
            "Adjust strengths for what differs between answers, such as their length: the columns "
            "NAME_left and NAME_right, or NAME, the left answer's less the right one's; repeatable.",
            "NAME",
            panel=_VOTES_PANEL,
        ),
    ] = None,
    fail_if_worse: Annotated[
        bool,
        Option(
            "Exit with 1 if a system is significantly weaker than the baseline, by more than "
            "MARGIN.",
            panel=GATE_PANEL,
        ),
    ] = False,
    require: Annotated[str | None, require_option()] = None,
    margin: Annotated[
        float | None, Option("A loss of strength up to this does not matter.", panel=GATE_PANEL)
    ] = None,
    records: GateRecords,
    half_width: Annotated[
        float | None,
        Option(
            "With --show plan: an interval no wider than ± this; by default, neighbours are to "
            "differ significantly.",
            panel=_PLAN_PANEL,
        ),
    ] = None,
    power: Annotated[
        float, Option("With --show plan: power of the test of neighbours.", panel=_PLAN_PANEL)
    ] = DEFAULT_POWER,
    statistics: options.Statistics,
    out: Output,
) -> None:
    """Rate systems by votes between two of them: Bradley-Terry strengths, best set, ranks, pairs.

    For example:

    - `confir preferences votes.json --cluster judge`
    - `confir preferences votes.json --show pairs -o pairs.csv`
    - `confir preferences votes.json --baseline main --fail-if-worse`
    """
    from confir.cli.answers import result_answer
    from confir.measures.strengths import STRENGTH
    from confir.pairs.gate import GateRule
    from confir.report.tables import AnswerPart
    from confir.studies.comparison.table import comparison_parts
    from confir.studies.preferences.early_looks import share_sequence
    from confir.studies.preferences.preferences import rate_preferences
    from confir.studies.preferences.table import effect_sentences
    from confir.studies.preferences.vote_plan import plan_votes

    gates = [STRENGTH] if fail_if_worse else []
    if not gates:
        refuse_options(context, ("require", "margin"), "needs --fail-if-worse")
    records.check(gates, baseline, "system")
    if records.looks != "candidates":
        raise InvalidValueError(
            "--looks topics is for scores; of votes that arrive, --show sequence gives limits that "
            "hold at every look"
        )
    view = VIEWS.choose(context, show).name
    if votes is None:
        raise InvalidValueError("expected VOTES; for example: confir preferences votes.csv")
    given: dict[str, Any] = {"baseline": baseline, "cluster": cluster}
    if view == "sequence":
        out.deliver(result_answer(share_sequence(votes, level=statistics.level, **given)))
        return
    given |= {"ties": ties, "prior": prior, "position": position, "covariates": covariate or []}
    if view == "plan":
        given |= {"half_width": half_width, "power": power, "level": statistics.level}
        out.deliver(result_answer(plan_votes(votes, **given)))
        return
    is_page = show is None and (out.output or "").lower().endswith(".html")
    with _page_warnings(out) if is_page else nullcontext([]) as warned:
        found = rate_preferences(votes, **statistics.arguments, **given)
    rule = GateRule.of(require, margin)
    judged = records.judge(context, found.comparison, gates, rule, statistics.seed)
    if is_page:
        _write_page(out, votes, warned, found=found, gates=judged, seed=statistics.seed)
    else:
        answer = preferences_answer(found, view, statistics.seed)
        if judged:
            parts = comparison_parts(found.comparison, judged, statistics.seed)
            said = tuple(effect_sentences(found))
            answer = answer._replace(parts=[AnswerPart("", said), *parts] if said else parts)
        out.deliver(answer)
    records.announce(judged, shown=out.in_parts and out.output is None)


def _page_warnings(out: Output) -> AbstractContextManager[list[ConfirWarning]]:
    """Return what collects warnings for the page; raise where its charts could not be drawn."""
    from confir.cli.file_checks import check_drawing
    from confir.report.messages import collected_warnings

    check_drawing()
    return collected_warnings(shown=not out.quiet)


def _write_page(out: Output, votes: str, warned: Sequence[ConfirWarning], **contents: Any) -> None:
    """Write the page about votes; further arguments are those of `preferences_page`."""
    from confir.cli.report import command_line_with_seed
    from confir.data.files import write_whole
    from confir.report.report_page import Origin
    from confir.studies.preferences.page import preferences_page

    origin = Origin((votes,), command_line_with_seed(contents["seed"]), tuple(warned))
    write_whole(str(out.output), preferences_page(**contents, origin=origin).encode())


def preferences_answer(found: Preferences, show: str, seed: int) -> Answer:
    """Return a view of preferences, with its records and its chart."""
    from confir.cli.answers import Answer
    from confir.report.result_table import result_table
    from confir.report.tables import AnswerPart, with_seed
    from confir.studies.comparison.table import group_table
    from confir.studies.preferences import table

    effects = tuple(table.effect_sentences(found))

    def answer(result: Any, shown: Table) -> Answer:
        seeded = with_seed(shown, seed)
        parts = [AnswerPart("", effects, seeded)] if effects else []
        return Answer(result.to_records(), seeded, result, parts)

    if show == "pairs":
        pairs = found.pairs()
        return answer(pairs, result_table(pairs))
    if show == "groups":
        groups = found.group_runs()
        return Answer(groups.to_records(), group_table(groups, what="system"), groups)
    if show == "effects":
        if not found.effects.effects:
            raise UnsupportedMethodError(
                found.effects.reason
                or "these votes have no sides and no covariate; expected columns left "
                "and right, or --covariate"
            )
        shown = result_table(found.effects)
        parts = [AnswerPart("Effects", effects, shown)]
        return Answer(found.effects.to_records(), shown, found.effects, parts)
    if show == "ranks":
        return answer(found.ranking, table.preference_ranks_table(found))._replace(result=found)
    said = table.best_sentence(found)
    if show == "best":
        best = with_seed(table.preference_best_table(found), seed)
        parts = [AnswerPart("Best", (said, *effects), best)]
        return Answer(found.best.to_records(), best, found, parts)
    strengths = with_seed(result_table(found), seed)
    parts = [AnswerPart("Strengths", (said, *effects, table.fit_sentence(found)), strengths)]
    return Answer(found.to_records(), table.strengths_table(found), found, parts)
