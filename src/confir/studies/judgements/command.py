"""``confir judges``: how far judges agree, and what the choice of a judge changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confir.cli import options
from confir.cli.explicit_options import refuse_options
from confir.cli.groups import Without
from confir.cli.input import CHOOSING, Inputs, reading_options
from confir.errors import InvalidValueError, counted

if TYPE_CHECKING:
    from confir.cli.terminal import Answer
    from confir.data.formats.run_sources import RunSource
    from confir.report.tables import Table
    from confir.studies.judgements.judgement_comparison import JudgementComparison

_JUDGES = "Judges"
_EXAMPLE = "confir judges people.qrels model.qrels runs/"


def judges_command(
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QRELS QRELS... RUN...",
            help="Qrels of two judges or more, and runs: files, directories, or NAME=PATH. Files "
            "of four columns are qrels; the first judge is the reference of the others.",
        ),
    ] = None,
    inputs: Annotated[Inputs, Without("qrels", "runs", "scores", "bounded")],
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QRELS",
            help="The qrels of a judge, as a path or NAME=PATH (repeatable); all other files are "
            "then runs. For JSON and pipes, which are not recognised.",
            rich_help_panel=_JUDGES,
        ),
    ] = None,
    grades: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCALE",
            help="The common scale, if judges use different grades: 0,1,2,3 lists all of them; "
            "NAME=0:0,1:2 maps the grades of one judge (repeatable).",
            rich_help_panel=_JUDGES,
        ),
    ] = None,
    confusion: Annotated[
        bool, typer.Option("--confusion", help="Print which grades the judges gave.")
    ] = False,
    by_run: Annotated[
        bool,
        typer.Option("--by-run", help="Print which runs gain from which judge, most first."),
    ] = False,
    variance: Annotated[
        bool,
        typer.Option(
            "--variance",
            help="Print how much of the variance of a mean comes from topics, from judges, and "
            "from their interaction; for three judges or more.",
        ),
    ] = False,
    statistics: options.Statistics,
    out: options.Output,
) -> None:
    """Compare judges: agreement on grades, bias of means, leaderboards, and verdicts on runs.

    Example: `confir judges people.qrels model.qrels runs/ -m nDCG@10`
    """
    from confir.cli.terminal import Answer, Progress, result_answer
    from confir.intervals.interval import check_level
    from confir.studies.judgements.grade_agreement import measure_agreement
    from confir.studies.judgements.input_files import parse_grades, sort_files
    from confir.studies.judgements.judgement_comparison import compare_judgements
    from confir.studies.judgements.table import agreement_table, judgement_note, judgement_table

    out.prepare()
    check_level(statistics.level)
    if confusion + by_run + variance > 1:
        raise InvalidValueError("expected one of --confusion, --by-run and --variance at a time")
    judges, runs = sort_files(files or [], judge or [], _EXAMPLE)
    scale, maps = parse_grades(grades or [])
    drawing: dict[str, Any] = {
        "level": statistics.level,
        "replicates": statistics.replicates,
        "rng": statistics.seed,
    }
    drawn = f"{counted(statistics.replicates, 'replicate')}, seed {statistics.seed}"
    if not runs:
        refuse_options(inputs.context, CHOOSING, "selects runs, but there are none")
        if by_run or variance:
            raise InvalidValueError(f"--by-run and --variance need runs; for example: {_EXAMPLE}")
        agreement = measure_agreement(judges, grades=scale, grade_maps=maps, **drawing)
        if confusion:
            out.deliver(result_answer(agreement.confusion))
        else:
            table = agreement_table(agreement)
            out.deliver(Answer(agreement.to_records(), _noted(table, drawn), agreement))
        return
    chosen: Sequence[Any] = runs
    if inputs.select or inputs.top is not None:
        chosen = _choose(inputs, judges[0], runs)
    rules: dict[str, Any] = {name: getattr(inputs, name) for name in reading_options()}
    with Progress("reading runs", total=len(chosen), quiet=out.quiet) as progress:
        comparison = compare_judgements(
            judges,
            chosen,
            list(inputs.measure or []) or None,
            grades=scale,
            grade_maps=maps,
            progress=progress,
            **rules,
            **drawing,
        )
    if confusion:
        answer = result_answer(comparison.agreement.confusion)
    elif by_run:
        answer = result_answer(comparison.runs)
    elif variance:
        answer = _variance(comparison)
    else:
        first, _, rest = judgement_note(comparison).partition("\n")
        table = judgement_table(comparison, f"{first}; {drawn}\n{rest}")
        answer = Answer(comparison.to_records(), table, comparison)
    out.deliver(answer)


def _choose(inputs: Inputs, reference: RunSource, runs: Sequence[RunSource]) -> Sequence[Any]:
    """Return the runs that --select and --top choose; the best are those by the first judge."""
    named = [run.path if run.name is None else f"{run.name}={run.path}" for run in runs]
    asked = replace(inputs, qrels=reference.path, runs=named)
    return asked.experiment(example=_EXAMPLE).sources


def _noted(table: Table, drawn: str) -> Table:
    """Return a table whose note says how to get it again."""
    return replace(table, note=f"{table.note}; {drawn}")


def _variance(comparison: JudgementComparison) -> Answer:
    from confir.cli.terminal import result_answer
    from confir.studies.judgements.judgement_comparison import LEAST_JUDGES

    if comparison.variance is None:
        raise InvalidValueError(
            f"--variance needs {LEAST_JUDGES} judges or more; there are {len(comparison.judges)}"
        )
    return result_answer(comparison.variance)
