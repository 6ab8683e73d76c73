"""``confir split-half``: do intervals over collections keep their word?"""

from __future__ import annotations

from typing import Annotated, Literal, cast

import typer

from confir.cli import options
from confir.cli.collection import MarginOption
from confir.errors import InvalidValueError

_STATISTICS = "Statistics"


def split_half_command(
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    measure: Annotated[
        str,
        typer.Option(
            "-m",
            "--measure",
            metavar="NAME",
            help="A measure in [0, 1] (confir measures lists them).",
            rich_help_panel="Input",
        ),
    ] = "AP",
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    intents: options.IntentsOption = None,
    name_by: options.NameByOption = "file",
    tie_precision: options.TiePrecisionOption = "double",
    level: options.LevelOption = 0.95,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="linear, logit, percentile or bca (repeatable; default all).",
            rich_help_panel=_STATISTICS,
        ),
    ] = None,
    margin: MarginOption = 1e-6,
    replicates: options.ReplicatesOption = 2_000,
    seed: options.SeedOption = options.DEFAULT_SEED,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
    quiet: options.QuietOption = False,
) -> None:
    """Let each half of the documents predict the other (Cormack 2006).

    Example: `confir split-half qrels.txt runs/ --method linear --method logit`
    """
    from confir.cli.collection import check_settings
    from confir.cli.input import check_reading
    from confir.cli.terminal import Answer, Progress, be_quiet, check_output, deliver
    from confir.data.neighbours import as_qrels
    from confir.errors import enumerate_names
    from confir.intervals.documents import DOCUMENT_METHODS, find_document_method
    from confir.report.split_half_tables import split_half_table
    from confir.studies.split_half import validate_split_half

    check_output(output, kind)
    check_reading("zero", name_by, tie_precision)
    check_settings(level, margin, [measure], rel)
    methods = method or tuple(DOCUMENT_METHODS)
    for name in methods:
        find_document_method(name)
    if quiet:
        be_quiet()
    if qrels is None or not runs:
        raise InvalidValueError(
            "expected QRELS and at least one RUN; for example: confir split-half qrels.txt runs/"
        )
    with Progress("resampling both halves", total=None, quiet=quiet) as progress:
        result = validate_split_half(
            as_qrels(qrels, intents=intents),
            runs,
            measure,
            methods=methods,
            level=level,
            replicates=replicates,
            rng=seed,
            rel=rel,
            depth=depth,
            margin=margin,
            name_by=cast("Literal['file', 'tag']", name_by),
            tie_precision=cast("Literal['double', 'single']", tie_precision),
            progress=progress,
        )
    note = (
        f"share of scores below, in and above the {100 * level:g} % interval from the other half, "
        f"over {len(result.runs)} runs and {len(result.topics)} topics with relevant documents in "
        f"both halves; {replicates} replicates, seed {seed}"
    )
    if result.left_out:
        note += f"; left out: topics {enumerate_names(result.left_out)}"
    deliver(
        Answer(result.to_records(), split_half_table(result, note), result),
        output=output,
        kind=kind,
    )
