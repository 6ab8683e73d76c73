"""``confir split-half``: are intervals over collections calibrated?"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.input_options import JUDGED
from confir.cli.output import Output
from confir.cli.parameters import Option, Without
from confir.defaults import SPLITS
from confir.errors import counted


def split_half_command(
    *,
    inputs: Annotated[
        Inputs, Without("scores", "columns", "measure", "missing", "bounded", *JUDGED)
    ],
    measure: Annotated[
        str,
        Option(
            "A measure in [0, 1] (confir measures lists them).",
            "NAME",
            panel=options.INPUT_PANEL,
            names=("-m", "--measure"),
            short=True,
        ),
    ] = "AP",
    method: Annotated[
        list[str] | None,
        Option(
            "A method over documents (repeatable; confir methods lists them; default all).",
            "NAME",
            panel=options.STATISTICS_PANEL,
        ),
    ] = None,
    splits: Annotated[
        int,
        Option(
            "Ways to halve the documents, over which shares are averaged; 1 is the split of "
            "Cormack 2006 alone.",
            panel=options.STATISTICS_PANEL,
            least=1,
        ),
    ] = SPLITS,
    statistics: options.DocumentStatistics,
    out: Output,
) -> None:
    """Predict each half of the documents from the other, to validate intervals (Cormack 2006).

    For example:

    - `confir split-half qrels.txt runs/`
    - `confir split-half qrels.txt runs/ --method linear --method logit`
    - `confir split-half qrels.txt runs/ -m nDCG@10 -o halves.svg`
    """
    from confir.cli.answers import Answer
    from confir.cli.progress import Progress
    from confir.errors import enumerate_names
    from confir.intervals.method_list import find_method
    from confir.studies.collection.command import check_settings
    from confir.studies.split_half.split_half import validate_split_half
    from confir.studies.split_half.table import split_half_table

    check_settings(statistics, [measure], inputs.rel)
    for name in method or ():
        find_method(name, over="documents")
    experiment = inputs.experiment([measure], example="confir split-half qrels.txt runs/")
    with nullcontext() if out.quiet else Progress("resampling both halves", total=None) as progress:
        result = validate_split_half(
            experiment,
            methods=method or None,
            **statistics.arguments,
            epsilon=statistics.epsilon,
            splits=splits,
            progress=progress,
        )
    note = (
        f"share of scores below, in and above the {100 * statistics.level:g}% interval from the other half, "
        f"over {counted(len(result.runs), 'run')} and {counted(len(result.topics), 'topic')} with relevant documents in "
        f"both halves{_over(len(result.splits))}; {counted(statistics.replicates, 'replicate')}, seed {statistics.seed}"
    )
    if result.left_out:
        of = "" if len(result.splits) == 1 else " of a split"
        note += f"; left out{of}: topics {enumerate_names(result.left_out)}"
    out.deliver(Answer(result.to_records(), split_half_table(result, note), result))


def _over(splits: int) -> str:
    """Return what shares are averaged over, and what their range is not."""
    if splits == 1:
        return ""
    return (
        f"; mean over {splits} splits, and the lowest to the highest of them (not a standard error: splits "
        "share documents)"
    )
