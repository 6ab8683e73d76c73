"""``confir reproduce``: is a run reproduced? Also a gate for continuous integration."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import click

from confir.cli import options
from confir.cli.file_checks import check_junit
from confir.cli.input import Inputs
from confir.cli.input_options import DESIGN, JUDGED
from confir.cli.output import Output
from confir.cli.parameters import Argument, Instead, Option, PathRole, Without, refuse_options
from confir.defaults import OVERLAP_DEPTH, PERSISTENCE
from confir.errors import InvalidValueError
from confir.studies.gate.command import GATE_PANEL

if TYPE_CHECKING:
    from confir.studies.reproduction.reproduction import ReproductionCheck

_LISTS_PANEL = "Lists"
_EXAMPLE = "confir reproduce bm25.run new/bm25.run --qrels qrels.txt"
# Options that are about scores, and need qrels.
_OF_SCORES = ("measure", "rel", "missing", "intents", *DESIGN, "baseline_runs", "margin")

_QRELS = Option(
    "Qrels file, or irds:DATASET; without it, only the lists are compared.",
    "QRELS",
    names=("--qrels",),
    path=PathRole.READ,
)


def reproduce_command(
    *,
    original: Annotated[
        str | None,
        Argument(metavar="ORIGINAL", help="The run to be reproduced: a file.", path=PathRole.READ),
    ] = None,
    inputs: Annotated[
        Inputs,
        Without("scores", "columns", "bounded", "select", "top", *JUDGED),
        Instead(qrels=_QRELS),
    ],
    baseline_runs: Annotated[
        tuple[str, str] | None,
        Option(
            "The baseline of the original and its reproduction: prints effect ratio and ΔRI.",
            "A A'",
            path=PathRole.READ,
        ),
    ] = None,
    fail_if_different: Annotated[
        bool,
        Option(
            "Exit with 1 if a run is significantly different; with --margin, unless it is identical or "
            "equivalent; without --qrels, unless its lists are identical.",
            panel=GATE_PANEL,
        ),
    ] = False,
    margin: Annotated[
        float | None,
        Option("Equivalence margin: smaller differences do not matter.", panel=GATE_PANEL),
    ] = None,
    junit: Annotated[
        str | None,
        Option("Write the gate as JUnit XML.", "FILE", panel=GATE_PANEL, path=PathRole.WRITE),
    ] = None,
    overlap_depth: Annotated[
        int,
        Option("Print the overlap of the first K documents.", "K", panel=_LISTS_PANEL, least=1),
    ] = OVERLAP_DEPTH,
    persistence: Annotated[
        float, Option("Persistence p of rank-biased overlap.", panel=_LISTS_PANEL)
    ] = PERSISTENCE,
    ties: Annotated[
        str | None,
        Option(
            "Tied documents in rank-biased overlap: averaged over their orders (a), or corrected "
            "for them (b). By default ties are broken as trec_eval does.",
            panel=_LISTS_PANEL,
            choices=("a", "b"),
        ),
    ] = None,
    statistics: options.Statistics,
    out: Output,
) -> None:
    """Compare runs with the run that they reproduce: lists, scores, and a verdict.

    For example:

    - `confir reproduce bm25.run new/bm25.run`
    - `confir reproduce bm25.run new/bm25.run --qrels qrels.txt -m AP --margin 0.005`
    - `confir reproduce bm25.run new/*.run --qrels qrels.txt -m AP,nDCG@10 -o reproduced.md`
    """
    from confir.cli.answers import Answer
    from confir.cli.progress import Progress
    from confir.cli.streams import print_message
    from confir.report.result_table import result_table
    from confir.studies.reproduction.reproduction import compare_reproduction

    if original is None or not inputs.runs:
        raise InvalidValueError(f"expected ORIGINAL and at least one RUN; for example: {_EXAMPLE}")
    if junit is not None:
        if not fail_if_different:
            raise InvalidValueError("--junit needs --fail-if-different: it belongs to a gate")
        check_junit(junit)
    if inputs.qrels is None:
        reason = "requires --qrels, by which runs are scored"
        of_scores = [*_OF_SCORES, *(one.name for one in fields(options.Statistics))]
        refuse_options(inputs.context, of_scores, reason)
    rules: dict[str, Any] = inputs.reading_rules()
    read = len(inputs.sources) + 1 + 2 * (baseline_runs is not None)
    with nullcontext() if out.quiet else Progress("reading runs", total=read) as progress:
        found = compare_reproduction(
            original,
            inputs.sources,
            inputs.qrels,
            inputs.measure or None,
            baseline_runs=baseline_runs,
            margin=margin,
            overlap_depth=overlap_depth,
            persistence=persistence,
            ties=ties,  # type: ignore[arg-type]  # checked when it was read
            **statistics.arguments,
            progress=progress,
            **rules,
        )
    table = result_table(found, found.note(statistics.seed))
    out.deliver(Answer(found.to_records(), table, found))
    if not fail_if_different:
        return
    checks = found.checks()
    if junit is not None:
        _write_junit(junit, found.original, checks)
    failing = [check for check in checks if not check.passes]
    for check in failing:
        print_message(f"confir: gate closed: {check.run} by {check.measure}: {check.said}")
    if failing:
        raise click.exceptions.Exit(1)
    print_message(f"confir: gate open: {found.original} is reproduced")


def _write_junit(path: str, original: str, checks: list[ReproductionCheck]) -> None:
    from confir.data.files import write_whole
    from confir.report.junit_xml import Check, Suite, suites_to_junit

    sys.stdout.flush()  # or a full disk would show only after the gate is written
    by_measure: dict[str, list[Check]] = {}
    for run, measure, said, passes in checks:
        by_measure.setdefault(measure, []).append(Check(run, said, passes, "different"))
    suites = [Suite(f"{name} against {original}", name, own) for name, own in by_measure.items()]
    write_whole(path, suites_to_junit(suites))
