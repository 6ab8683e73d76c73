"""``confir judges``: how far judges agree, and what the choice of a judge changes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs, reading_options
from confir.cli.input_options import CHOOSING
from confir.cli.output import Output
from confir.cli.parameters import Argument, Option, PathRole, Without, refuse_options
from confir.cli.views import View, Views
from confir.errors import InvalidValueError, counted

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.data.formats.format import RunSource
    from confir.studies.judgements.grade_agreement import GradeAgreement
    from confir.studies.judgements.judgement_comparison import JudgementComparison

_JUDGES = "Judges"
_EXAMPLE = "confir judges people.qrels model.qrels runs/"

VIEWS = Views(
    View("summary", "agreement, bias, leaderboards and verdicts of each judge", "judges"),
    View(
        "agreement",
        "agreement on grades or labels alone (default without runs)",
        "judges-agreement",
        "judges-labels",
    ),
    View("confusion", "which grades the judges gave", "judges-confusion"),
    View("runs", "which runs gain from which judge, most first", "judges-run"),
    View(
        "variance",
        "the variance of a mean from topics, from judges and from their interaction, for three judges "
        "or more",
        "judges-variance",
    ),
)
# Views that need no runs.
_WITHOUT_RUNS = ("agreement", "confusion")


def judges_command(
    *,
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="QRELS QRELS... RUN...",
            help="Qrels of two judges or more, and runs: files, directories, or NAME=PATH. Files "
            "of four columns are qrels; the first judge is the reference of the others.",
            path=PathRole.READ,
        ),
    ] = None,
    inputs: Annotated[
        Inputs, Without("qrels", "runs", "scores", "bounded", "human", "human_sample")
    ],
    judge: Annotated[
        list[str] | None,
        Option(
            "The qrels of a judge, as a path or NAME=PATH (repeatable); all other files are "
            "then runs. For JSON and pipes, which are not recognised. With --labels, a judge's column.",
            "QRELS",
            panel=_JUDGES,
            path=PathRole.READ,
            short=True,
        ),
    ] = None,
    labels: Annotated[
        str | None,
        Option(
            "In place of qrels, a table with one row per item: columns human and judge, and item, topic, "
            "weight and further judges (judge_b) where known. Labels are pass or fail, grades or scores.",
            "FILE",
            panel=_JUDGES,
            path=PathRole.READ,
            short=True,
        ),
    ] = None,
    threshold: Annotated[
        list[float] | None,
        Option(
            "With --labels, the lowest grade or score that passes, for sensitivity and specificity "
            "(repeatable).",
            "X",
            panel=_JUDGES,
        ),
    ] = None,
    grades: Annotated[
        list[str] | None,
        Option(
            "The common scale, if judges use different grades: 0,1,2,3 lists all of them; "
            "NAME=0:0,1:2 maps the grades of one judge (repeatable). With --labels, all labels, "
            "lowest first.",
            "SCALE",
            panel=_JUDGES,
        ),
    ] = None,
    show: Annotated[str | None, VIEWS.option()] = None,
    statistics: options.Statistics,
    out: Output,
) -> None:
    """Compare judges: agreement on grades, bias of means, leaderboards, and verdicts on runs.

    For example:

    - `confir judges people.qrels model.qrels runs/ -m nDCG@10`
    - `confir judges --labels labels.csv`
    - `confir judges people.qrels model.qrels runs/ -m nDCG@10 --show runs`
    """
    from confir.cli.progress import Progress
    from confir.studies.judgements.grade_agreement import measure_agreement
    from confir.studies.judgements.input_files import parse_grades, sort_files
    from confir.studies.judgements.judgement_comparison import compare_judgements

    if labels is not None:
        out.deliver(_of_labels(inputs, labels, files, show, judge, grades, threshold, statistics))
        return
    refuse_options(inputs.context, ["threshold"], "is for labels; expected --labels FILE")
    judges, runs = sort_files(files or [], judge or [], _EXAMPLE)
    view = VIEWS.choose(inputs.context, show, default="summary" if runs else "agreement").name
    scale, maps = parse_grades(grades or [])
    drawn = _drawn(statistics)
    if not runs:
        refuse_options(inputs.context, CHOOSING, "selects runs; expected RUN... beside the qrels")
        of_scores = ["measure", "repeats", *reading_options()]
        refuse_options(
            inputs.context, of_scores, "is for scores of runs; expected RUN... beside the qrels"
        )
        if view not in _WITHOUT_RUNS:
            raise InvalidValueError(f"--show {view} needs runs; for example: {_EXAMPLE}")
        agreement = measure_agreement(judges, grades=scale, grade_maps=maps, **statistics.arguments)
        out.deliver(_of_grades(agreement, view, drawn))
        return
    named = bool(inputs.select) or inputs.top is not None
    chosen: Sequence[Any] = _choose(inputs, judges[0], runs) if named else runs
    rules: dict[str, Any] = inputs.reading_rules()
    with nullcontext() if out.quiet else Progress("reading runs", total=len(chosen)) as progress:
        comparison = compare_judgements(
            judges,
            chosen,
            list(inputs.measure or []) or None,
            grades=scale,
            grade_maps=maps,
            repeats=options.pattern_of(inputs.repeats) or inputs.repeats is not None,
            progress=progress,
            **rules,
            **statistics.arguments,
        )
    out.deliver(_of_comparison(comparison, view, drawn))


def _of_labels(
    inputs: Inputs,
    labels: str,
    files: list[str] | None,
    show: str | None,
    judges: list[str] | None,
    grades: list[str] | None,
    thresholds: list[float] | None,
    statistics: options.Statistics,
) -> Answer:
    """Return how far judges label items as humans do, or which labels they gave."""
    from confir.cli.answers import Answer, result_answer
    from confir.studies.judgements.grade_agreement import measure_agreement
    from confir.studies.judgements.table import label_table

    view = VIEWS.choose(inputs.context, show, default="agreement").name
    if files or view not in _WITHOUT_RUNS:
        given = f"--show {view}" if not files else files[0]
        raise InvalidValueError(f"--labels is for items without runs; {given} needs qrels and runs")
    of_runs = [*CHOOSING, "measure", "repeats", *reading_options()]
    refuse_options(inputs.context, of_runs, "is for runs; --labels is for items without runs")
    if len(grades or []) > 1:
        raise InvalidValueError(
            "--grades is given twice; with --labels, expected all labels once, lowest first"
        )
    scale = grades[0].split(",") if grades else None
    agreement = measure_agreement(
        judges, labels=labels, grades=scale, thresholds=thresholds, **statistics.arguments
    )
    if view == "agreement":
        table = label_table(agreement)
        first, _, rest = table.note.partition("\n")
        table = replace(table, note=f"{first}; {_drawn(statistics)}\n{rest}")
        return Answer(agreement.to_records(), table, agreement)
    if agreement.confusion is None:
        raise InvalidValueError(
            "--show confusion is for pass or fail and for grades; these are scores"
        )
    return result_answer(agreement.confusion)


def _drawn(statistics: options.Statistics) -> str:
    """Return how replicates were drawn, for notes."""
    return f"{counted(statistics.replicates, 'replicate')}, seed {statistics.seed}"


def _choose(inputs: Inputs, reference: RunSource, runs: Sequence[RunSource]) -> Sequence[Any]:
    """Return the runs that --select and --top choose; the best are those by the first judge."""
    named = [run.path if run.name is None else f"{run.name}={run.path}" for run in runs]
    asked = replace(inputs, qrels=reference.path, runs=named)
    return asked.experiment(example=_EXAMPLE).sources


def _of_comparison(comparison: JudgementComparison, view: str, drawn: str) -> Answer:
    """Return a view of the comparison of judgements."""
    from confir.cli.answers import Answer, result_answer
    from confir.studies.judgements.judgement_comparison import LEAST_JUDGES
    from confir.studies.judgements.table import judgement_note, judgement_table

    if view in _WITHOUT_RUNS:
        return _of_grades(comparison.agreement, view, drawn)
    if view == "runs":
        return result_answer(comparison.runs)
    if view == "variance":
        if comparison.variance is None:
            raise InvalidValueError(
                f"--show variance needs {LEAST_JUDGES} judges or more; there are {len(comparison.judges)}"
            )
        return result_answer(comparison.variance)
    first, _, rest = judgement_note(comparison).partition("\n")
    table = judgement_table(comparison, f"{first}; {drawn}\n{rest}")
    return Answer(comparison.to_records(), table, comparison)


def _of_grades(agreement: GradeAgreement, view: str, drawn: str) -> Answer:
    """Return how far judges agree on grades, or which grades they gave."""
    from confir.cli.answers import Answer, result_answer
    from confir.studies.judgements.table import agreement_table

    if view == "confusion":
        return result_answer(agreement.confusion)
    table = agreement_table(agreement)
    table = replace(table, note=f"{table.note}; {drawn}")
    return Answer(agreement.to_records(), table, agreement)
