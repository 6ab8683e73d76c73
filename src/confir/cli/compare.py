"""``confir compare``: is one run better than another? Also a gate for continuous integration."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from confir.cli import options
from confir.cli.given import is_given, refuse_options
from confir.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from confir.data.scores import Scores
    from confir.studies.comparison import Comparison
    from confir.studies.gate import Gate, Requirement

_STATISTICS = "Statistics"
_GATE = "Gate"


def compare_command(
    context: typer.Context,
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    scores: options.ScoresOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Compare the other runs with this one: its name or its file. Without it, all "
            "pairs are compared.",
        ),
    ] = None,
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
            help="Exit with 1 where a run is significantly worse than the baseline, by more than "
            "MARGIN (repeatable).",
            rich_help_panel=_GATE,
        ),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            metavar="non-inferior|superior",
            help="Demand more: exit with 1 unless the difference is significantly above -MARGIN, or "
            "above 0.",
            rich_help_panel=_GATE,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            help="Differences up to this do not matter; also tests for equivalence.",
            rich_help_panel=_GATE,
        ),
    ] = None,
    measure: options.MeasuresOption = None,
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    intents: options.IntentsOption = None,
    name_by: options.NameByOption = "file",
    tie_precision: options.TiePrecisionOption = "double",
    level: options.LevelOption = 0.95,
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
        str,
        typer.Option(
            metavar="NAME",
            help="Correction for several pairs: holm, bonferroni, benjamini-hochberg or none.",
            rich_help_panel=_STATISTICS,
        ),
    ] = "holm",
    replicates: options.ReplicatesOption = 9_999,
    seed: options.SeedOption = options.DEFAULT_SEED,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
    quiet: options.QuietOption = False,
) -> None:
    """Say whether runs differ: difference, interval, test and verdict in words.

    Example: `confir compare qrels.txt a.run b.run --baseline a --fail-if-worse nDCG@10`
    """
    from confir.cli.input import load_scores
    from confir.cli.streams import print_message
    from confir.cli.terminal import be_quiet, check_output
    from confir.data.trec_files import find_runs
    from confir.intervals.catalogue import DEFAULT_METHOD
    from confir.intervals.interval import check_level
    from confir.studies.comparison import compare_runs
    from confir.studies.mean_differences import find_difference_method
    from confir.studies.paired_tests import DEFAULT_TEST
    from confir.studies.pairs import check_differences

    check_output(output, kind)
    gates = list(fail_if_worse or [])
    tests = test or [DEFAULT_TEST]
    _check_gate(gates, require, baseline, margin)
    _check_view(context, tests, per_topic=per_topic, groups=groups, effects=effects)
    check_level(level)
    find_difference_method(method or DEFAULT_METHOD)
    _check_tests(context, tests, correction, margin, baseline)
    measures = _with_gates(measure or [], gates, from_table=bool(scores))
    if runs and baseline is None:
        check_differences(len(find_runs(runs)), len(measures), len(tests))
    if quiet:
        be_quiet()
    table = load_scores(
        qrels,
        add_baseline(runs or [], baseline),
        score_files=scores or [],
        measures=measures,
        rel=rel,
        depth=depth,
        missing=missing,
        intents=intents,
        name_by=name_by,
        tie_precision=tie_precision,
        quiet=quiet,
        context=context,
        example="confir compare qrels.txt bm25.run dense.run --baseline bm25",
    )
    comparison = compare_runs(
        table,
        baseline=find_baseline(baseline, table, runs or []),
        test=tests,
        correction=correction,
        margin=margin or None,
        level=level,
        method=method or DEFAULT_METHOD,
        replicates=replicates,
        rng=seed,
    )
    guards = _find_measures(table, gates, rel, from_table=bool(scores))
    judged = _judge(comparison, guards, margin, require)
    if per_topic or groups or effects:
        _show_view(comparison, per_topic, groups, output=output, kind=kind)
        with_gates = False
    else:
        with_gates = _show(comparison, judged, seed, output=output, kind=kind)
    for gate in judged:
        if not with_gates:
            print_message(f"confir: {gate.sentence()}")
    if any(gate.closed for gate in judged):
        raise typer.Exit(1)


def add_baseline(runs: Sequence[str], baseline: str | None) -> list[str]:
    """Return the runs, and before them a baseline that is a file and not among them yet."""
    from confir.data.trec_files import find_runs

    if baseline is None or not runs or not Path(baseline).is_file():
        return list(runs)
    sources = find_runs(runs)
    known = any(
        baseline in (source.label(), source.path) or _is_file(source.path, baseline)
        for source in sources
    )
    return list(runs) if known else [baseline, *runs]


def find_baseline(baseline: str | None, scores: Scores, runs: Sequence[str]) -> str | None:
    """Return the name of the baseline, which may be given as a file."""
    from confir.data.trec_files import find_runs, name_from_path

    if baseline is None or baseline in scores.runs:
        return baseline
    if runs and Path(baseline).is_file():
        for place, source in enumerate(find_runs(add_baseline(runs, baseline))):
            if _is_file(source.path, baseline):
                return scores.runs[place]
    if name_from_path(baseline) in scores.runs:
        return name_from_path(baseline)
    raise UnknownNameError("run", baseline, scores.runs)


def _is_file(path: str, baseline: str) -> bool:
    """Whether a run comes from the baseline's file; standard input is no file."""
    from confir.data.files import STDIN

    return path != STDIN and Path(path).samefile(baseline)


def _check_gate(
    gates: Sequence[str], require: str | None, baseline: str | None, margin: float | None
) -> None:
    """Raise where a gate would not know what to judge."""
    if gates and baseline is None:
        raise InvalidValueError("--fail-if-worse needs --baseline, the run to compare with")
    if require is not None and not gates:
        raise InvalidValueError("--require needs --fail-if-worse MEASURE, which says by what")
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
        raise InvalidValueError("--groups rests on one test; expected one --test")
    if per_topic or effects:
        view = "--per-topic" if per_topic else "--effects"
        shown = f"which {view} does not print"
        refuse_options(context, ("test", "correction"), f"is for p-values, {shown}")
        if not is_given(context, "fail_if_worse"):
            names = ("level", "method", "margin", "replicates", "seed")
            refuse_options(context, names, f"is for intervals and verdicts, {shown}")


def _check_tests(
    context: typer.Context,
    tests: Sequence[str],
    correction: str,
    margin: float | None,
    baseline: str | None,
) -> None:
    """Raise for tests and corrections that there are not, or that do not fit together."""
    from confir.studies.comparability import check_options
    from confir.studies.paired_tests import find_test

    chosen = [find_test(name) for name in tests]
    check_options(chosen, correction, margin or None, baseline)
    if not margin and all(test.corrected for test in chosen):
        names = " and ".join(test.name for test in chosen)
        refuse_options(context, ["correction"], f"is for other tests; {names} corrects by itself")


def _with_gates(measures: Sequence[str], gates: Sequence[str], *, from_table: bool) -> list[str]:
    """Return the measures to compute, those of the gates included."""
    from confir.measures.catalogue import DEFAULT_MEASURES

    if from_table and not measures:
        return []
    return list(dict.fromkeys([*(measures or DEFAULT_MEASURES), *gates]))


def _find_measures(
    scores: Scores, gates: Sequence[str], rel: int, *, from_table: bool
) -> list[str]:
    """Return the measures of the gates by their names in the scores, each once."""
    from confir.cli.input import select_measures
    from confir.measures.evaluation import parse_measures

    if not gates:
        return []
    if from_table:
        return list(select_measures(scores, gates).measures)
    return [str(measure) for measure in parse_measures(gates, rel)]


def _judge(
    comparison: Comparison, measures: Sequence[str], margin: float | None, require: str | None
) -> list[Gate]:
    from confir.studies.gate import judge_gate

    requirement = cast("Requirement", require or "not-worse")
    return [
        judge_gate(comparison, name, margin=margin or 0.0, require=requirement) for name in measures
    ]


def _show(
    comparison: Comparison, gates: Sequence[Gate], seed: int, *, output: str | None, kind: str
) -> bool:
    """Write or print the comparison; return whether that named the gates."""
    from confir.cli.streams import print_text
    from confir.cli.terminal import Answer, deliver
    from confir.data.files import write_whole
    from confir.report.comparison_tables import (
        comparison_sections,
        comparison_table,
        sections_to_markdown,
        sections_to_text,
    )

    if output is not None and Path(output).suffix.lower() == ".md":
        sections = comparison_sections(comparison, gates, seed)
        write_whole(output, sections_to_markdown(sections).encode())
        return False
    if output is None and kind in ("table", "md"):
        sections = comparison_sections(comparison, gates, seed)
        terminal = sys.stdout.isatty() and kind == "table"
        width = shutil.get_terminal_size().columns if terminal else None
        if kind == "md":
            print_text(sections_to_markdown(sections))
        else:
            sys.stdout.write(sections_to_text(sections, colour=terminal, width=width))
        return True
    table = comparison_table(comparison, seed)
    deliver(Answer(comparison.to_records(), table, comparison), output=output, kind=kind)
    return False


def _show_view(
    comparison: Comparison, per_topic: bool, groups: bool, *, output: str | None, kind: str
) -> None:
    """Write or print differences by topic, groups of runs, or effect sizes."""
    from confir.cli.terminal import Answer, deliver
    from confir.report.comparison_tables import effect_table, group_table, topic_difference_table

    if per_topic:
        topics = comparison.topic_differences()
        answer = Answer(topics.to_records(), topic_difference_table(topics), topics)
    elif groups:
        grouped = comparison.group_runs()
        answer = Answer(grouped.to_records(), group_table(grouped), grouped)
    else:
        answer = Answer(comparison.effect_records(), effect_table(comparison), comparison)
    deliver(answer, output=output, kind=kind)
