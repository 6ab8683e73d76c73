"""``confir bias-variance``: the error of runs, split into bias and variance over topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.output import Output
from confir.cli.parameters import Option, PathRole, Without
from confir.errors import InvalidValueError, counted

if TYPE_CHECKING:
    from confir.data.scores import Scores

_TARGET = "Target"


def bias_variance_command(
    *,
    inputs: Annotated[Inputs, Without("bounded")],
    target: Annotated[
        str,
        Option(
            "The score to reach: 1 on every topic, the best score of each topic, the scores of "
            "a run, or a mean score.",
            "perfect|best|RUN|MEAN",
            panel=_TARGET,
        ),
    ] = "perfect",
    variable: Annotated[
        str,
        Option(
            "Decompose the score, or rho, the difference from the target on each topic.",
            panel=_TARGET,
            choices=("score", "rho"),
        ),
    ] = "score",
    baseline: Annotated[
        str | None,
        Option(
            "Compare with this run, its name or its file: adds robustness index and proportion "
            "of topics hurt (<Init).",
            "RUN",
            panel=_TARGET,
            path=PathRole.RUN,
        ),
    ] = None,
    loss_depth: Annotated[
        int | None,
        Option(
            "Add R-Loss@K: relevant documents lost among the first K, relative to the baseline.",
            "K",
            panel=_TARGET,
            least=1,
        ),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        Option(
            "Runs that differ in a parameter, joined in charts: a value for each run in order "
            "(lambda=0.1,0.2,0.3), or a run's name with {} for the value (lambda=rm3-{}); "
            "repeatable.",
            "NAME=VALUES",
            panel=_TARGET,
        ),
    ] = None,
    method: Annotated[
        str,
        Option(
            "Interval method (confir methods lists them).", "NAME", panel=options.STATISTICS_PANEL
        ),
    ] = "bootstrap-t",
    statistics: options.Statistics,
    out: Output,
) -> None:
    """Split the error of runs into bias (effectiveness) and variance (stability over topics).

    For example:

    - `confir bias-variance qrels.txt runs/ -m AP`
    - `confir bias-variance qrels.txt runs/ -m AP --target best --baseline bm25`
    - `confir bias-variance --scores scores.csv -o stability.svg`
    """
    from confir.cli.answers import Answer
    from confir.intervals.method_list import find_method
    from confir.measures.measure_list import DEFAULT_MEASURES
    from confir.measures.parsing import canonical_name
    from confir.report.result_table import result_table
    from confir.studies.bias_variance.bias_variance import decompose_error

    find_method(method)
    if loss_depth is not None and baseline is None:
        raise InvalidValueError(
            "--loss-depth counts documents lost relative to a baseline; expected --baseline RUN"
        )
    wanted = list(inputs.measure or ([] if inputs.scores else DEFAULT_MEASURES))
    counting = [] if loss_depth is None else [f"P@{loss_depth}"]
    scores = inputs.load_scores(
        [*wanted, *counting] if wanted else [],
        baseline=baseline,
        quiet=out.quiet,
        example="confir bias-variance qrels.txt bm25.run dense.run",
    )
    precision, shown = None, scores
    if loss_depth is not None:
        precision = _precision(scores, loss_depth)
        # a P@k that is only for counting is not shown
        if wanted and counting[0] not in map(canonical_name, wanted):
            rest = [name for name in scores.measures if name not in precision.measures]
            shown = scores.select(measure=rest)
    result = decompose_error(
        shown,
        target=_read_target(target, scores),
        variable="rho" if variable == "rho" else "score",
        baseline=inputs.find_baseline(baseline, scores.runs),
        precision=precision,
        parameters=parameter or (),
        method=method,
        **statistics.arguments,
    )
    drawn = f"{counted(statistics.replicates, 'replicate')}, seed {statistics.seed}"
    note = f"{result.note()}; {drawn}"
    if result.robustness is not None:
        note += f"; RI, <Init and R-Loss against {result.robustness.baseline}"
    out.deliver(Answer(result.to_records(), result_table(result, note), result))


def _precision(scores: Scores, depth: int) -> Scores:
    """Return the scores by P@depth, from which lost documents are counted."""
    from confir.errors import UnknownNameError
    from confir.measures.parsing import parse_measure

    for name in scores.measures:
        try:
            parsed = parse_measure(name)
        except (UnknownNameError, InvalidValueError):
            continue
        if parsed.definition.name == "P" and parsed.cutoff == depth:
            return scores.select(measure=[name])
    raise InvalidValueError(
        f"--loss-depth {depth} counts relevant documents from P@{depth}, which the score table "
        f"lacks; it has {', '.join(scores.measures)}"
    )


def _read_target(target: str, scores: Scores) -> str | float:
    """Return a target: a mean score if it is a number and not the name of a run."""
    if target in scores.runs:
        return target
    try:
        return float(target)
    except ValueError:
        from confir.data.files import name_from_path

        name = name_from_path(target)
        return name if name in scores.runs else target
