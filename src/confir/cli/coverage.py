"""``confir coverage`` and ``confir type-one``: do the intervals keep their word?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from confir.cli import options
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.data.scores import Scores

_STATISTICS = "Statistics"

SamplesOption = Annotated[
    int,
    typer.Option(
        help="Samples of topics to draw.",
        callback=options.at_least(1),
        rich_help_panel=_STATISTICS,
    ),
]
InnerReplicatesOption = Annotated[
    int,
    typer.Option(
        help="Replicates of the bootstrap, of each sample.",
        callback=options.at_least(1),
        rich_help_panel=_STATISTICS,
    ),
]
StudiedMethodsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Interval method (repeatable; default all that fit; confir methods lists them).",
        rich_help_panel=_STATISTICS,
    ),
]


def coverage_command(
    context: typer.Context,
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    scores: options.ScoresOption = None,
    measure: options.MeasuresOption = None,
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    intents: options.IntentsOption = None,
    name_by: options.NameByOption = "file",
    tie_precision: options.TiePrecisionOption = "double",
    level: options.LevelOption = 0.95,
    method: StudiedMethodsOption = None,
    per_tail: Annotated[
        str,
        typer.Option(
            metavar="half|published",
            help="published adds the bootstrap-t of Soboroff 2014, with the whole error in each "
            "tail.",
            rich_help_panel=_STATISTICS,
        ),
    ] = "half",
    bounded: options.BoundedOption = None,
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
    from confir.report.coverage_tables import coverage_note, coverage_table
    from confir.studies.coverage import estimate_coverage
    from confir.studies.misses import number_of_tasks
    from confir.studies.studied_methods import PUBLISHED_BOOTSTRAP_T, fitting_methods

    check_output(output, kind)
    check_choice("--per-tail", per_tail, ("half", "published"))
    _check_early(method, [level])
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
        intents=intents,
        name_by=name_by,
        tie_precision=tie_precision,
        bounded=bounded,
        quiet=quiet,
        context=context,
        example="confir coverage qrels.txt bm25.run dense.run",
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
        f"{coverage_note(coverage)}; {_size(table)}; {samples} samples, {replicates} replicates, seed {seed}\n"
        "truth below, above: so often the mean lies below or above the whole interval; "
        f"{(1 - level) / 2:.4g} of each was promised"
    )
    answer = Answer(coverage.to_records(), coverage_table(coverage, note), coverage)
    deliver(answer, output=output, kind=kind)


def type_one_command(
    context: typer.Context,
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    scores: options.ScoresOption = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            metavar="NAME",
            help="The measure, such as nDCG@10. By default AP; for a score table, the one in it.",
            rich_help_panel="Input",
        ),
    ] = None,
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    intents: options.IntentsOption = None,
    name_by: options.NameByOption = "file",
    tie_precision: options.TiePrecisionOption = "double",
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
    method: StudiedMethodsOption = None,
    sampling: Annotated[
        str,
        typer.Option(
            metavar="without|with",
            help="Draw topics without replacement, as Park 2011 did, or with.",
            rich_help_panel=_STATISTICS,
        ),
    ] = "without",
    per_run: Annotated[
        bool,
        typer.Option("--per-run", help="Print each run's skewness, bias and errors, not the mean."),
    ] = False,
    bounded: options.BoundedOption = None,
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
    from confir.measures.evaluation import parse_measures
    from confir.report.coverage_tables import type_one_run_table, type_one_table
    from confir.studies.misses import number_of_tasks
    from confir.studies.type_one_error import PARK_LEVELS, PARK_TOPICS, estimate_type_one_error

    check_output(output, kind)
    check_choice("--sampling", sampling, ("without", "with"))
    levels = tuple(level or PARK_LEVELS)
    _check_early(method, levels)
    if measure and not scores:
        _check_single([str(one) for one in parse_measures(measure, rel)])
    if quiet:
        be_quiet()
    table = load_scores(
        qrels,
        runs or [],
        score_files=scores or [],
        measures=measure or ([] if scores else ["AP"]),
        rel=rel,
        depth=depth,
        missing=missing,
        intents=intents,
        name_by=name_by,
        tie_precision=tie_precision,
        bounded=bounded,
        quiet=quiet,
        context=context,
        example="confir type-one qrels.txt runs/ -m AP",
    )
    _check_single(table.measures)
    sizes = tuple(dict.fromkeys(topics or PARK_TOPICS))
    total = number_of_tasks(samples) * len(sizes)
    with Progress("drawing samples", total=total, quiet=quiet) as progress:
        error = estimate_type_one_error(
            table,
            methods=list(method) if method else None,
            topics=sizes,
            levels=levels,
            sampling="without" if sampling == "without" else "with",
            samples=samples,
            replicates=replicates,
            rng=seed,
            jobs=jobs,
            progress=progress,
            resume=resume,
        )
    drawn = (
        f"samples {sampling} replacement, {samples} of each size, {replicates} replicates, "
        f"seed {seed}"
    )
    if per_run:
        note = (
            f"share of {100 * levels[0]:g} % intervals that miss the mean over all; {_size(table)}, "
            f"most skewed first; bias: mean of the samples' means less the mean over all; {drawn}"
        )
        answer = Answer(error.by_run(), type_one_run_table(error, note), error)
    else:
        note = (
            "share of intervals that miss the mean over all, beside the share claimed; "
            f"{_size(table)}; Monte-Carlo standard error at most "
            f"{error.mean_error_se.max():.4f}; {drawn}"
        )
        answer = Answer(error.to_records(), type_one_table(error, note), error)
    deliver(answer, output=output, kind=kind)


def _check_early(methods: Sequence[str] | None, levels: Sequence[float]) -> None:
    """Raise for misspelt methods and levels before runs are read."""
    from confir.intervals.interval import check_level
    from confir.studies.studied_methods import as_method

    for name in methods or ():
        as_method(name)
    for level in levels:
        check_level(level)


def _check_single(measures: Sequence[str]) -> None:
    """Raise where there are several measures."""
    if len(measures) > 1:
        raise InvalidValueError(
            f"the scores are by {len(measures)} measures ({', '.join(measures)}); name one of them "
            "with -m"
        )


def _size(scores: Scores) -> str:
    """Return how many runs, measures and topics there are, in words."""
    counts = (("run", scores.runs), ("measure", scores.measures), ("topic", scores.topics))
    return ", ".join(f"{len(of)} {name}{'' if len(of) == 1 else 's'}" for name, of in counts)
