"""``confir coverage`` and ``confir type-one``: do the intervals keep their word?"""

from __future__ import annotations

from typing import Annotated

import typer

from confir.cli import options
from confir.errors import InvalidValueError

_STATISTICS = "Statistics"

SamplesOption = Annotated[
    int, typer.Option(help="Samples of topics to draw.", rich_help_panel=_STATISTICS)
]
InnerReplicatesOption = Annotated[
    int, typer.Option(help="Bootstrap replicates of each sample.", rich_help_panel=_STATISTICS)
]


def coverage_command(
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    scores: options.ScoresOption = None,
    measure: options.MeasuresOption = None,
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    level: options.LevelOption = 0.95,
    method: options.MethodsOption = None,
    per_tail: Annotated[
        str,
        typer.Option(
            metavar="half|published",
            help="published adds the bootstrap-t of Soboroff 2014, with the whole error in each "
            "tail.",
            rich_help_panel=_STATISTICS,
        ),
    ] = "half",
    samples: SamplesOption = 1_000,
    replicates: InnerReplicatesOption = 1_000,
    seed: options.SeedOption = options.DEFAULT_SEED,
    jobs: options.JobsOption = None,
    resume: options.ResumeOption = None,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
    quiet: options.QuietOption = False,
) -> None:
    """Measure how many intervals hold the mean, on these very scores (Soboroff 2014).

    Example: `confir coverage --scores scores.csv -m AP --method t --method logit-t`
    """
    from confir.cli.input import check_choice, load_scores
    from confir.cli.terminal import Answer, Progress, be_quiet, check_output, deliver
    from confir.report.coverage_tables import coverage_table
    from confir.studies.coverage import estimate_coverage
    from confir.studies.misses import number_of_tasks
    from confir.studies.studied_methods import PUBLISHED_BOOTSTRAP_T, fitting_methods

    check_output(output, kind)
    check_choice("--per-tail", per_tail, ("half", "published"))
    if quiet:
        be_quiet()
    table = load_scores(
        qrels,
        runs or [],
        score_files=scores or [],
        measures=measure or [],
        rel=rel,
        depth=depth,
        missing=missing,
        quiet=quiet,
    )
    methods = list(method) if method else None
    if per_tail == "published":
        methods = [*(methods or fitting_methods(table)), PUBLISHED_BOOTSTRAP_T.name]
    total = number_of_tasks(samples)
    with Progress("drawing samples", total=total, quiet=quiet) as progress:
        coverage = estimate_coverage(
            table,
            methods=methods,
            level=level,
            samples=samples,
            replicates=replicates,
            rng=seed,
            jobs=jobs,
            progress=progress,
            resume=resume,
        )
    note = (
        f"share of {100 * level:g} % intervals that hold the mean, over {len(table.runs)} runs and "
        f"{len(table.measures)} measures, {len(table.topics)} topics; {samples} samples, "
        f"{replicates} replicates, seed {seed}"
    )
    answer = Answer(coverage.to_records(), coverage_table(coverage, note), coverage)
    deliver(answer, output=output, kind=kind)


def type_one_command(
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    scores: options.ScoresOption = None,
    measure: options.MeasuresOption = None,
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    topics: Annotated[
        list[int] | None,
        typer.Option(
            "--topics",
            metavar="N",
            help="Topics in a sample (repeatable; default 5, 10, 20).",
            rich_help_panel=_STATISTICS,
        ),
    ] = None,
    level: Annotated[
        list[float] | None,
        typer.Option(
            "--level",
            metavar="LEVEL",
            help="Confidence level (repeatable; default 0.95, 0.90, … 0.50).",
            rich_help_panel=_STATISTICS,
        ),
    ] = None,
    method: options.MethodsOption = None,
    sampling: Annotated[
        str,
        typer.Option(
            metavar="without|with",
            help="Draw topics without replacement, as Park 2011 did, or with.",
            rich_help_panel=_STATISTICS,
        ),
    ] = "without",
    samples: SamplesOption = 1_000,
    replicates: InnerReplicatesOption = 1_000,
    seed: options.SeedOption = options.DEFAULT_SEED,
    jobs: options.JobsOption = None,
    resume: options.ResumeOption = None,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
    quiet: options.QuietOption = False,
) -> None:
    """Measure how often intervals from few topics miss the mean over all (Park 2011).

    Example: `confir type-one --scores robust2004_ap.csv --topics 10 --method percentile`
    """
    from confir.cli.input import check_choice, load_scores
    from confir.cli.terminal import Answer, Progress, be_quiet, check_output, deliver
    from confir.report.coverage_tables import type_one_table
    from confir.studies.misses import number_of_tasks
    from confir.studies.type_one_error import PARK_LEVELS, PARK_TOPICS, estimate_type_one_error

    check_output(output, kind)
    check_choice("--sampling", sampling, ("without", "with"))
    if quiet:
        be_quiet()
    table = load_scores(
        qrels,
        runs or [],
        score_files=scores or [],
        measures=measure or [],
        rel=rel,
        depth=depth,
        missing=missing,
        quiet=quiet,
    )
    sizes = tuple(topics or PARK_TOPICS)
    if len(table.measures) > 1:
        raise InvalidValueError(
            f"the scores are by {len(table.measures)} measures; name one of them with -m"
        )
    total = number_of_tasks(samples) * len(sizes)
    with Progress("drawing samples", total=total, quiet=quiet) as progress:
        error = estimate_type_one_error(
            table,
            methods=list(method) if method else None,
            topics=sizes,
            levels=tuple(level or PARK_LEVELS),
            sampling="without" if sampling == "without" else "with",
            samples=samples,
            replicates=replicates,
            rng=seed,
            jobs=jobs,
            progress=progress,
            resume=resume,
        )
    note = (
        f"share of intervals that miss the mean over all {len(table.topics)} topics, averaged over "
        f"{len(table.runs)} runs; samples {sampling} replacement, {samples} of each size, "
        f"{replicates} replicates, seed {seed}"
    )
    deliver(
        Answer(error.to_records(), type_one_table(error, note), error), output=output, kind=kind
    )
