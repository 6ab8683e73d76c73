"""``confir compare``: is one run better than another? Also a gate for continuous integration."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.input_options import MISSING, BoundsOption
from confir.cli.output import Output
from confir.cli.parameters import Instead, Option, PathRole, Without, refuse_options
from confir.cli.views import TOPICS, TopicsOption, View, Views
from confir.defaults import BEST, ROWS
from confir.errors import InvalidValueError, TopicWarning
from confir.studies.gate.command import (
    GATE_OPTIONS,
    GATE_PANEL,
    GateRecords,
    alarms_answer,
    require_option,
    simulated_alarms,
)

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.data.scores import Scores
    from confir.measures.missing_scores import Ranges
    from confir.measures.score_summary import ScoreSummary
    from confir.pairs.compare import Asked
    from confir.pairs.comparison import Comparison
    from confir.pairs.gate import Gate

    AnyStatistics = options.Statistics | options.DocumentStatistics

# Options of intervals and verdicts on pairs, of the tests, and of pairs at all.
_INTERVALS = ("level", "replicates", "seed", "method", "margin")
_TESTS = ("family", "test", "correction")
_PAIRS = ("baseline", "method", "margin", *_TESTS, *GATE_OPTIONS)

VIEWS = Views(
    View("best", "which runs may be the best", "best", lacks=("teams", *_PAIRS)),
    View("pairs", "differences, the better run first", "difference"),
    View(
        "groups",
        "groups of runs that do not differ significantly",
        "group",
        lacks=("teams", "baseline"),
    ),
    View("ranks", "ranks with intervals", "rank", lacks=("teams", *_PAIRS)),
    View(
        "effects",
        "effect sizes: d_z, Hedges' g, share won, RI",
        "effect",
        lacks=("teams", *_INTERVALS, *_TESTS),
    ),
    View(
        TOPICS,
        "the difference on every topic",
        "topic-difference",
        lacks=("teams", *_INTERVALS, *_TESTS),
    ),
    View(
        "unjudged",
        "how far judging unjudged documents could move differences from the baseline",
        "unjudged-difference",
        needs=("baseline",),
        lacks=("teams", "scores", "human", *_INTERVALS, *_TESTS),
    ),
    View(
        "missing",
        "how far missing scores could move differences from the baseline, and whether verdicts are robust",
        "missing-difference",
        needs=("baseline",),
        lacks=("teams", "missing", "human", "repeats"),
    ),
    View(
        "false-alarms",
        "how often this gate would be wrong, and what it would catch",
        "false-alarm",
        needs=("baseline", "fail_if_worse"),
        lacks=("teams", "human", "repeats"),
    ),
    View(
        "teams",
        "the best run of each team (default with --teams)",
        "team",
        needs=("teams",),
        lacks=_PAIRS,
    ),
    paired="pairs",
    gate="fail_if_worse",
    gated=_INTERVALS,
)


def compare_command(
    *,
    inputs: Annotated[Inputs, Without("bounded"), Instead(missing=MISSING)],
    bounds: BoundsOption = None,
    baseline: Annotated[
        str | None,
        Option(
            "Compare the other runs with this one: its name or its file.", "RUN", path=PathRole.RUN
        ),
    ] = None,
    family: Annotated[
        str | None,
        Option(
            "Family for which the error rate is controlled: the pairs with the baseline or, without "
            "one, all pairs; none adjusts nothing. NAME: all-pairs, baseline, none.",
            "NAME",
            short=False,
        ),
    ] = None,
    show: Annotated[str | None, VIEWS.option()] = None,
    topics: TopicsOption = False,
    teams: Annotated[
        str | None,
        Option(
            "Lines of run and team: print the best run of each team, and which teams may have the "
            "best; with --show pairs, the pairs of these runs by the first measure.",
            "FILE",
            panel=options.INPUT_PANEL,
            path=PathRole.READ,
        ),
    ] = None,
    fail_if_worse: Annotated[
        list[str] | None,
        Option(
            "Exit with 1 if a run is significantly worse than the baseline, by more than "
            "MARGIN; several as AP,nDCG@10 (repeatable).",
            "MEASURE",
            panel=GATE_PANEL,
            measures=True,
            short=True,
        ),
    ] = None,
    require: Annotated[str | None, require_option()] = None,
    margin: Annotated[
        float | None,
        Option(
            "Equivalence margin: smaller differences do not matter; also tests for equivalence.",
            panel=GATE_PANEL,
            short=True,
        ),
    ] = None,
    records: GateRecords,
    by: options.ByOption = None,
    method: options.MethodOption = None,
    test: Annotated[
        list[str] | None,
        Option(
            "Paired test: t, randomisation, bootstrap-shift, wilcoxon, sign or, for all "
            "pairs, tukey-hsd (repeatable).",
            "NAME",
            panel=options.STATISTICS_PANEL,
        ),
    ] = None,
    correction: Annotated[
        str | None,
        Option(
            "Single tests instead of a family, with an unadjusted interval of each pair: holm "
            "(default of tests other than t), bonferroni, benjamini-hochberg or none.",
            "NAME",
            panel=options.STATISTICS_PANEL,
        ),
    ] = None,
    statistics: options.Statistics,
    rows: options.RowsOption = str(ROWS),
    out: Output,
) -> None:
    """Compare runs: difference, interval, test, and a verdict in words.

    For example:

    - `confir compare qrels.txt runs/ -m nDCG@10`
    - `confir compare qrels.txt main.run branch.run --baseline main`
    - `confir compare qrels.txt main.run branch.run --baseline main --fail-if-worse nDCG@10`
    """
    from confir.data.tables.team_files import read_teams
    from confir.measures.missing_scores import parse_ranges, treat_missing
    from confir.pairs.compare import compare_runs
    from confir.pairs.differences import check_differences
    from confir.pairs.gate import GateRule
    from confir.pairs.missing_pairs import warn_of_unequal_failure

    inputs.check_human()
    if by is not None:
        inputs.refuse_worst("--by")
        from confir.studies.topic_groups.command import compare_by

        compare_by(inputs, by, baseline, statistics, out)
        return
    if inputs.missing == "worst" and baseline is None:
        raise InvalidValueError("--missing worst needs --baseline, the run to compare with")
    ranges = parse_ranges(bounds or ())
    gates = list(fail_if_worse or [])
    if require is not None and not gates:
        raise InvalidValueError("--require needs --fail-if-worse MEASURE, which names the measure")
    records.check(gates, baseline)
    if family == BEST:
        raise InvalidValueError("--family best is now --show best")
    by_team = "teams" if teams is not None and baseline is None else ""
    view = VIEWS.choose(inputs.context, show, topics=topics, default=by_team).name
    if view == "false-alarms":
        records.check_false_alarms()
    submitted = {} if teams is None else read_teams(teams)
    if view == "groups" and len(set(test or ())) > 1:
        raise InvalidValueError("--show groups uses one test; expected one --test")
    how: dict[str, Any] = {
        "family": family,
        "test": test or None,
        "correction": correction,
        "margin": margin or None,
        "method": method,
    }
    asked = _check_tests(inputs, baseline, statistics.level, how)
    measures = _with_gates(inputs, gates)
    if inputs.runs and baseline is None:
        size = inputs.run_count, len(measures), len(asked.tests)
        check_differences(*size, may_name_baseline=True)
    # what runs lack is not scored 0 where its bounds are shown
    read = replace(inputs, missing="drop") if view == "missing" else inputs
    load = inputs.load_scores if view == TOPICS else read.load_scores_or_summary
    example = "confir compare qrels.txt bm25.run dense.run --baseline bm25"
    scores = load(measures, baseline=baseline, quiet=out.quiet, example=example)
    if baseline is None:
        size = len(scores.runs), len(scores.measures), len(asked.tests)
        check_differences(*size, may_name_baseline=True)
    warn_of_unequal_failure(scores)
    if inputs.missing == "worst":
        against = inputs.find_baseline(baseline, scores.runs)
        scores = treat_missing(scores.listed(), "worst", against, ranges)
    judged: list[Gate] = []
    if view in ("best", "teams"):
        brief = not inputs.measure and out.output is None  # a file holds all measures
        answer = _board(scores, statistics, submitted, brief=brief, in_parts=out.in_parts)
    elif view == "ranks":
        answer = _ranks(scores, statistics)
    else:
        if "replicates" in asked.method.needs:
            statistics = inputs.statistics_of(scores, statistics)
        against = inputs.find_baseline(baseline, scores.runs)
        comparison = compare_runs(scores, baseline=against, **how, **statistics.arguments)
        if submitted:
            comparison = _among_teams(comparison, submitted)
        deciding = _find_measures(scores, gates, inputs)
        rule = GateRule.of(require, margin, inputs.missing, ranges)
        simulate = None
        if view == "false-alarms":
            simulate = simulated_alarms(comparison, deciding, rule, statistics.seed)
        of_gate = inputs.context, comparison, deciding, rule, statistics.seed, simulate
        judged = records.judge(*of_gate)
        if simulate is not None:
            answer = alarms_answer(simulate(judged[0].level))
        else:
            answer = _answer(view, comparison, judged, statistics.seed, inputs, ranges)
    out.deliver(
        _after_cautions(answer, scores, inputs.scores or ())._replace(rows=options.most_rows(rows))
    )
    records.announce(judged, shown=view == "pairs" and out.output is None and out.in_parts)


def _after_cautions(answer: Answer, scores: Any, tables: Sequence[str]) -> Answer:
    """Return an answer that says before any verdict how runs and tables differ besides their scores."""
    from confir.cli.provenance import unlike_origins
    from confir.measures.missing_scores import lacking_text
    from confir.report.tables import AnswerPart

    said = unlike_origins(tables)
    lacking = lacking_text(scores)
    if lacking:
        said.append(
            f"Not all runs have the same topics: {lacking}; pairs are compared on those that both have."
        )
    if not (said and answer.parts):
        return answer
    return answer._replace(parts=[AnswerPart("Before the verdicts", tuple(said)), *answer.parts])


def _check_tests(
    inputs: Inputs, baseline: str | None, level: float, how: Mapping[str, Any]
) -> Asked:
    """Return what the options of tests and intervals ask for; raise where they do not fit together."""
    from confir.pairs.compare import check_options

    asked = check_options(baseline=baseline, level=level, **how)
    if how["margin"] is None and all(one.corrected for one in asked.tests):
        itself = " and ".join(one.name for one in asked.tests)
        reason = f"is for other tests; {itself} corrects by itself"
        refuse_options(inputs.context, ["correction"], reason)
    return asked


def _with_gates(inputs: Inputs, gates: Sequence[str]) -> list[str]:
    """Return the measures to compute, those of the gates included."""
    from confir.measures.measure_list import DEFAULT_MEASURES

    if inputs.scores and not inputs.measure:
        return []
    return list(dict.fromkeys([*(inputs.measure or DEFAULT_MEASURES), *gates]))


def _find_measures(
    scores: Scores | ScoreSummary, gates: Sequence[str], inputs: Inputs
) -> list[str]:
    """Return the measures of the gates by their names in the scores, each once."""
    from confir.cli.selection import select_measures
    from confir.measures.parsing import parse_measures

    if not gates:
        return []
    if inputs.scores:
        # either kind of scores is selected from; the type variable allows no union of them
        known: Any = scores
        return list(select_measures(known, gates).measures)
    return [str(measure) for measure in parse_measures(gates, inputs.rel)]


def _board(
    scores: Scores | ScoreSummary,
    statistics: AnyStatistics,
    teams: Mapping[str, str],
    *,
    brief: bool,
    in_parts: bool,
) -> Answer:
    """Return the board of runs or teams; where it is read, with what is said of their pairs."""
    from confir.cli.answers import Answer
    from confir.pairs.best_runs import find_best, rank_teams
    from confir.pairs.compare import compare_runs
    from confir.report.tables import with_design_note
    from confir.studies.best.table import best_table, teams_table
    from confir.studies.comparison.table import board_parts, team_parts

    if len(scores.runs) < 2:
        raise InvalidValueError("there is one run; a comparison needs at least 2")
    seed = statistics.seed
    best = find_best(scores, **statistics.arguments)
    board = rank_teams(best, teams) if teams else None
    if board is None:
        table = with_design_note(best_table(best, seed), scores.design_words)
        answer = Answer(best.to_records(), table, best)
    else:
        answer = Answer(board.to_records(), teams_table(board), best)
    if not in_parts:
        return answer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TopicWarning)  # the best run has its own
        comparison = compare_runs(scores, **statistics.arguments)
    if board is not None:
        return answer._replace(parts=team_parts(board, best, comparison, seed))
    return answer._replace(parts=board_parts(best, comparison, seed, brief=brief))


def _ranks(scores: Scores | ScoreSummary, statistics: AnyStatistics) -> Answer:
    """Return the ranks of the runs with intervals."""
    from confir.cli.answers import Answer
    from confir.pairs.ranking import rank_runs
    from confir.report.result_table import result_table
    from confir.report.tables import with_design_note, with_seed

    ranking = rank_runs(scores, **statistics.arguments)
    table = with_seed(result_table(ranking), statistics.seed)
    table = with_design_note(table, scores.design_words)
    return Answer(ranking.to_records(), table, ranking)


def show_runs(view: str, scores: Any, statistics: AnyStatistics, *, in_parts: bool) -> Answer:
    """Return a view of runs of any kind of scores, without a baseline: best, pairs, groups or ranks."""
    from confir.pairs.compare import compare_runs

    if view == "best":
        return _board(scores, statistics, {}, brief=False, in_parts=in_parts)
    if view == "ranks":
        return _ranks(scores, statistics)
    comparison = compare_runs(scores, **statistics.arguments)
    return _answer(view, comparison, (), statistics.seed)


def _answer(
    view: str,
    comparison: Comparison,
    gates: Sequence[Gate],
    seed: int,
    inputs: Any = None,
    ranges: Ranges | None = None,
) -> Answer:
    """Return a view of the pairs: differences, groups, effect sizes, topics, or bounds of differences."""
    from confir.cli.answers import Answer, result_answer
    from confir.studies.comparison import table

    if view == "groups":
        grouped = comparison.group_runs()
        shown = table.group_table(grouped, margin=comparison.margin)
        return Answer(grouped.to_records(), shown, grouped)
    if view == "effects":
        return Answer(comparison.effect_records(), table.effect_table(comparison), comparison)
    if view == TOPICS:
        return result_answer(comparison.topic_differences())
    if view == "unjudged":
        from confir.studies.unjudged.unjudged_differences import bound_differences

        baseline = str(comparison.baseline)
        experiment = inputs.experiment(comparison.measures, baseline=baseline, example="")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TopicWarning)  # the comparison has its own
            return result_answer(bound_differences(experiment, baseline=baseline))
    if view == "missing":
        from confir.studies.unjudged.missing_bounds import bound_missing_differences

        return result_answer(bound_missing_differences(comparison, bounds=ranges, rng=seed))
    parts = table.comparison_parts(comparison, gates, seed)
    shown = table.comparison_table(comparison, seed)
    return Answer(comparison.to_records(), shown, comparison, parts)


def _among_teams(comparison: Comparison, teams: Mapping[str, str]) -> Comparison:
    """Return the pairs of the teams' best runs by the first measure, and those with the baseline."""
    from confir.arrays import best_first

    best: dict[str, str] = {}
    for place in best_first(comparison.scores.mean()[:, 0]):
        run = comparison.runs[place]
        best.setdefault(teams.get(run, run), run)
    kept = {*best.values(), comparison.baseline}
    return comparison.select(pair=[pair for pair in comparison.pairs if kept.issuperset(pair)])
