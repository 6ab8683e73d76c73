"""``confir compare``: is one run better than another? Also a gate for continuous integration."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from confir.cli import options
from confir.cli.explicit_options import is_given, refuse_options
from confir.cli.groups import Without
from confir.cli.input import Inputs
from confir.cli.judged_input import JudgedInputs
from confir.errors import InvalidValueError, TopicMismatchError, TopicWarning, UnknownNameError
from confir.studies.history.command import GATE_PANEL, GateRecords

if TYPE_CHECKING:
    from confir.cli.terminal import Answer
    from confir.data.scores import Scores
    from confir.measures.score_summary import ScoreSummary
    from confir.studies.best.best_runs import BestRuns
    from confir.studies.comparison.comparison import Comparison
    from confir.studies.comparison.gate import Gate, Requirement
    from confir.studies.comparison.paired_tests import PairedTest
    from confir.studies.comparison.table import TitledTable
    from confir.studies.unjudged.differences import UnjudgedDifferences

_STATISTICS = "Statistics"
# What unjudged documents add to the records of a comparison.
_BOUNDS = ("lowest", "highest")


def compare_command(
    *,
    inputs: Annotated[JudgedInputs, Without("bounded")],
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Compare the other runs with this one: its name or its file. Without it, all "
            "pairs are compared.",
        ),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Family for which the error rate is controlled: the pairs with the baseline or, without "
            "one, all pairs; best is the same as --best; none adjusts nothing. NAME: all-pairs, "
            "baseline, best, none.",
        ),
    ] = None,
    best: Annotated[bool, typer.Option("--best", help="Print which runs may be the best.")] = False,
    per_topic: Annotated[
        bool, typer.Option("-q", "--per-topic", help="Print the difference on every topic.")
    ] = False,
    groups: Annotated[
        bool,
        typer.Option("--groups", help="Print groups of runs that do not differ significantly."),
    ] = False,
    effects: Annotated[
        bool, typer.Option("--effects", help="Print effect sizes: d_z, Hedges' g, share won, RI.")
    ] = False,
    fail_if_worse: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE",
            help="Exit with 1 if a run is significantly worse than the baseline, by more than "
            "MARGIN; several as AP,nDCG@10 (repeatable).",
            callback=options.split_measures,
            rich_help_panel=GATE_PANEL,
        ),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            metavar="non-inferior|superior",
            help="A stricter gate: exit with 1 unless the difference is significantly above -MARGIN, or "
            "above 0.",
            rich_help_panel=GATE_PANEL,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            help="Equivalence margin: smaller differences do not matter; also tests for equivalence.",
            rich_help_panel=GATE_PANEL,
        ),
    ] = None,
    unjudged: Annotated[
        str | None,
        options.choice(
            "bounds",
            help="With --baseline, also print the lowest and highest difference that judging unjudged "
            "documents could give.",
            panel="Judgements",
        ),
    ] = None,
    records: GateRecords,
    by: options.ByOption = None,
    method: options.MethodOption = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Paired test: t, randomisation, bootstrap-shift, wilcoxon, sign or, for all "
            "pairs, tukey-hsd (repeatable).",
            rich_help_panel=_STATISTICS,
        ),
    ] = None,
    correction: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Single tests instead of a family, with an unadjusted interval of each pair: holm "
            "(default of tests other than t), bonferroni, benjamini-hochberg or none.",
            rich_help_panel=_STATISTICS,
        ),
    ] = None,
    statistics: options.Statistics,
    out: options.Output,
) -> None:
    """Compare runs: difference, interval, test, and a verdict in words.

    Example: `confir compare qrels.txt a.run b.run --baseline a --fail-if-worse nDCG@10`
    """
    from confir.cli.streams import print_message
    from confir.defaults import BEST
    from confir.intervals.catalogue import DEFAULT_METHOD
    from confir.intervals.interval import check_level
    from confir.studies.comparison.compare import compare_runs
    from confir.studies.comparison.families import choose_family
    from confir.studies.comparison.gate import GateRule
    from confir.studies.comparison.mean_differences import find_difference_method
    from confir.studies.comparison.paired_tests import DEFAULT_TEST
    from confir.studies.comparison.pairs import check_differences

    out.prepare()
    inputs.check_human()
    if by is not None:
        from confir.studies.topic_groups.command import compare_by

        compare_by(inputs, by, baseline, statistics, out)
        return
    gates = list(fail_if_worse or [])
    tests = test or [DEFAULT_TEST]
    if best or family == BEST:
        _check_best(inputs.context, best=best)
        _show_best(inputs, statistics, out)
        return
    _check_gate(gates, require, baseline, margin)
    records.check(gates)
    _check_view(inputs.context, tests, per_topic=per_topic, groups=groups, effects=effects)
    _check_unjudged(inputs, unjudged, baseline)
    check_level(statistics.level)
    interval_method = find_difference_method(method or DEFAULT_METHOD)
    chosen = _check_tests(inputs, tests, correction, margin, baseline)
    choose_family(family, correction, baseline, chosen, interval_method)
    measures = _with_gates(inputs, gates)
    if inputs.runs and baseline is None:
        check_differences(inputs.run_count, len(measures), len(tests))
    load = inputs.load_scores if per_topic else inputs.load_scores_or_summary
    scores = load(
        measures,
        baseline=baseline,
        quiet=out.quiet,
        example="confir compare qrels.txt bm25.run dense.run --baseline bm25",
    )
    if interval_method.resamples:
        statistics = inputs.statistics_of(scores, statistics)
    comparison = compare_runs(
        scores,
        baseline=inputs.find_baseline(baseline, scores.runs),
        family=family,
        test=test or None,
        correction=correction,
        margin=margin or None,
        level=statistics.level,
        method=method or DEFAULT_METHOD,
        replicates=statistics.replicates,
        rng=statistics.seed,
    )
    rule = GateRule(cast("Requirement", require or "not-worse"), margin or 0.0)
    deciding = _find_measures(scores, gates, inputs)
    judged = records.judge(inputs.context, comparison, deciding, rule, statistics.seed)
    if per_topic or groups or effects:
        out.deliver(_view(comparison, per_topic=per_topic, groups=groups))
        with_gates = False
    else:
        bounds = _bound(inputs, comparison) if unjudged is not None else None
        with_gates = _show(comparison, judged, statistics.seed, out, bounds)
    for gate in judged:
        if not with_gates:
            print_message(f"confir: {gate.sentence()}")
    if any(gate.closed for gate in judged):
        raise typer.Exit(1)


def _check_best(context: typer.Context, *, best: bool) -> None:
    """Raise where options do not go with the confidence set of the best run."""
    shown = ("per_topic", "groups", "effects", *(["family"] if best else []))
    gate = ("fail_if_worse", "require", "history", "looks", "commit", "junit")
    tested = ("method", "test", "correction", "margin", *gate)
    others = ("baseline", *shown, *tested)
    refuse_options(context, others, "cannot be combined with the confidence set of the best run")


def _show_best(inputs: Inputs, statistics: options.Statistics, out: options.Output) -> None:
    """Write or print which runs may be the best."""
    from confir.cli.terminal import Answer
    from confir.report.tables import with_design_note
    from confir.studies.best.best_runs import find_best
    from confir.studies.best.table import best_table

    scores = inputs.load_scores_or_summary(
        quiet=out.quiet, example="confir compare qrels.txt bm25.run dense.run --best"
    )
    found = find_best(
        scores, level=statistics.level, replicates=statistics.replicates, rng=statistics.seed
    )
    table = with_design_note(best_table(found, statistics.seed), scores.design)
    out.deliver(Answer(found.to_records(), table, found))


def _check_gate(
    gates: Sequence[str], require: str | None, baseline: str | None, margin: float | None
) -> None:
    """Raise where a gate lacks a baseline or a measure."""
    if gates and baseline is None:
        raise InvalidValueError("--fail-if-worse needs --baseline, the run to compare with")
    if require is not None and not gates:
        raise InvalidValueError("--require needs --fail-if-worse MEASURE, which names the measure")
    if require not in (None, "non-inferior", "superior"):
        raise UnknownNameError("value of --require", str(require), ("non-inferior", "superior"))
    if margin is not None and not 0.0 <= margin < float("inf"):
        raise InvalidValueError(f"--margin is {margin}; expected a number of 0 or more")


def _check_view(
    context: typer.Context, tests: Sequence[str], *, per_topic: bool, groups: bool, effects: bool
) -> None:
    """Raise where options ask for what the view does not show."""
    if per_topic + groups + effects > 1:
        raise InvalidValueError("expected one of --per-topic, --groups and --effects")
    if groups and is_given(context, "baseline"):
        raise InvalidValueError("groups of runs need all pairs: leave --baseline out")
    if groups and len(set(tests)) > 1:
        raise InvalidValueError("--groups uses one test; expected one --test")
    if per_topic or effects:
        view = "--per-topic" if per_topic else "--effects"
        shown = f"which {view} does not print"
        refuse_options(context, ("family", "test", "correction"), f"is for p-values, {shown}")
        if not is_given(context, "fail_if_worse"):
            names = ("level", "method", "margin", "replicates", "seed")
            refuse_options(context, names, f"is for intervals and verdicts, {shown}")


def _check_unjudged(inputs: JudgedInputs, unjudged: str | None, baseline: str | None) -> None:
    """Raise where bounds over unjudged documents cannot stand beside the differences."""
    if unjudged is None:
        return
    if baseline is None:
        raise InvalidValueError("--unjudged bounds differences from a run: expected --baseline")
    names = ("scores", "human", "per_topic", "groups", "effects")
    refuse_options(inputs.context, names, "cannot be combined with --unjudged")


def _bound(inputs: JudgedInputs, comparison: Comparison) -> UnjudgedDifferences:
    """Return how far the differences could move if unjudged documents were judged."""
    from confir.studies.unjudged.differences import bound_differences

    baseline = str(comparison.baseline)
    experiment = inputs.experiment(comparison.measures, baseline=baseline, example="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TopicWarning)  # the comparison has its own
        return bound_differences(experiment, baseline=baseline)


def _check_tests(
    inputs: JudgedInputs,
    tests: Sequence[str],
    correction: str | None,
    margin: float | None,
    baseline: str | None,
) -> list[PairedTest]:
    """Return the tests; raise where there are none such, or they do not fit with the rest."""
    from confir.studies.comparison.comparability import check_options
    from confir.studies.comparison.paired_tests import find_test

    chosen = [find_test(name) for name in tests]
    check_options(chosen, correction, margin or None, baseline)
    if not margin and all(test.corrected for test in chosen):
        names = " and ".join(test.name for test in chosen)
        reason = f"is for other tests; {names} corrects by itself"
        refuse_options(inputs.context, ["correction"], reason)
    return chosen


def _with_gates(inputs: Inputs, gates: Sequence[str]) -> list[str]:
    """Return the measures to compute, those of the gates included."""
    from confir.measures.catalogue import DEFAULT_MEASURES

    if inputs.scores and not inputs.measure:
        return []
    return list(dict.fromkeys([*(inputs.measure or DEFAULT_MEASURES), *gates]))


def _find_measures(
    scores: Scores | ScoreSummary, gates: Sequence[str], inputs: Inputs
) -> list[str]:
    """Return the measures of the gates by their names in the scores, each once."""
    from confir.cli.input import select_measures
    from confir.measures.parsing import parse_measures

    if not gates:
        return []
    if inputs.scores:
        # either kind of scores is selected from; the type variable allows no union of them
        return list(select_measures(scores, gates).measures)  # type: ignore[type-var]
    return [str(measure) for measure in parse_measures(gates, inputs.rel)]


def _show(
    comparison: Comparison,
    gates: Sequence[Gate],
    seed: int,
    out: options.Output,
    bounds: UnjudgedDifferences | None = None,
) -> bool:
    """Write or print the comparison; return whether that named the gates."""
    from confir.cli.streams import print_text
    from confir.cli.terminal import Answer, terminal_width
    from confir.data.files import write_whole
    from confir.studies.comparison.table import (
        comparison_table,
        sections_to_markdown,
        sections_to_text,
    )

    if out.output is not None and Path(out.output).suffix.lower() == ".md":
        sections = _sections(comparison, gates, seed, out, bounds)
        write_whole(out.output, sections_to_markdown(sections).encode())
        return False
    if out.output is None and out.kind in ("table", "md"):
        sections = _sections(comparison, gates, seed, out, bounds)
        terminal = sys.stdout.isatty() and out.kind == "table"
        width = terminal_width() if terminal else None
        if out.kind == "md":
            print_text(sections_to_markdown(sections))
        else:
            sys.stdout.write(sections_to_text(sections, colour=terminal, width=width))
        return True
    table = comparison_table(comparison, seed)
    records = comparison.to_records()
    if bounds is not None:
        moved = {(one["run"], one["measure"]): one for one in bounds.to_records()}
        records = [
            {**record, **{name: moved[record["run"], record["measure"]][name] for name in _BOUNDS}}
            for record in records
        ]
    out.deliver(Answer(records, table, comparison))
    return False


def _sections(
    comparison: Comparison,
    gates: Sequence[Gate],
    seed: int,
    out: options.Output,
    bounds: UnjudgedDifferences | None,
) -> list[TitledTable]:
    """Return the tables of a comparison, with the decimals that were asked for."""
    from confir.report.tables import rounded
    from confir.studies.comparison.table import TitledTable, comparison_sections
    from confir.studies.unjudged.table import unjudged_difference_table

    sections = comparison_sections(comparison, gates, seed, _find_best(comparison, seed))
    if bounds is not None:
        sections.append(TitledTable("Unjudged documents", unjudged_difference_table(bounds)))
    return [part._replace(table=rounded(part.table, out.decimals)) for part in sections]


def _find_best(comparison: Comparison, seed: int) -> BestRuns | None:
    """Return which runs may be the best, where all pairs were compared as a family."""
    from confir.defaults import ALL_PAIRS
    from confir.studies.best.best_runs import find_best

    if comparison.family != ALL_PAIRS or len(comparison.runs) < 3:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TopicWarning)  # the comparison has its own
        try:
            return find_best(
                comparison.scores,
                level=comparison.level,
                replicates=comparison.replicates,
                rng=seed,
            )
        except TopicMismatchError:  # too few topics that all runs have
            return None


def _view(comparison: Comparison, *, per_topic: bool, groups: bool) -> Answer:
    """Return differences by topic, groups of runs, or effect sizes."""
    from confir.cli.terminal import Answer
    from confir.studies.comparison.table import effect_table, group_table, topic_difference_table

    if per_topic:
        topics = comparison.topic_differences()
        return Answer(topics.to_records(), topic_difference_table(topics), topics)
    if groups:
        grouped = comparison.group_runs()
        return Answer(grouped.to_records(), group_table(grouped, margin=comparison.margin), grouped)
    return Answer(comparison.effect_records(), effect_table(comparison), comparison)
