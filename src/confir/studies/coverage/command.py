"""``confir coverage`` and ``confir type-one``: are the intervals calibrated?"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.output import Output
from confir.cli.parameters import Instead, Option
from confir.defaults import LEVEL, SAMPLE_REPLICATES, SAMPLES, SEED
from confir.errors import counted

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.data.scores import Scores
    from confir.studies.coverage.type_one_error import TypeOneError


@dataclass(frozen=True, slots=True)
class Sampling:
    """Number of samples and replicates, seed, threads, and where parts are stored."""

    samples: Annotated[
        int, Option("Number of samples of topics.", panel=options.STATISTICS_PANEL, least=1)
    ] = SAMPLES
    replicates: Annotated[
        int,
        Option(
            "Number of bootstrap replicates per sample.", panel=options.STATISTICS_PANEL, least=1
        ),
    ] = SAMPLE_REPLICATES
    seed: options.SeedOption = SEED
    jobs: options.JobsOption = None
    resume: options.ResumeOption = None

    def arguments(self) -> dict[str, Any]:
        """Return the options as arguments of the study."""
        given = asdict(self)
        return {"rng": given.pop("seed"), **given}


def _check_methods(names: list[str]) -> list[str]:
    """Check the names of methods as soon as they are read."""
    from confir.studies.coverage.miss_counts import as_method

    for name in names:
        as_method(name)
    return names


def _check_levels(levels: list[float]) -> tuple[float, ...]:
    """Check levels as soon as they are read."""
    from confir.arguments import as_levels

    return as_levels(levels)


StudiedMethodsOption = Annotated[
    list[str] | None,
    Option(
        "Interval method (repeatable; default all that apply; confir methods lists them).",
        "NAME",
        panel=options.STATISTICS_PANEL,
        convert=_check_methods,
    ),
]
_MEASURE = options.measures_option(
    "The measure, such as nDCG@10. By default AP; for a score table, the one in it."
)


def coverage_command(
    *,
    inputs: Inputs,
    level: options.LevelOption = LEVEL,
    method: StudiedMethodsOption = None,
    per_tail: Annotated[
        str,
        Option(
            "published adds the bootstrap-t of Soboroff 2014, with α instead of α/2 in each tail.",
            panel=options.STATISTICS_PANEL,
            choices=("half", "published"),
        ),
    ] = "half",
    sampled: Sampling,
    out: Output,
) -> None:
    """Estimate the coverage of intervals on these scores (Soboroff 2014).

    For example:

    - `confir coverage qrels.txt runs/ -m AP`
    - `confir coverage --scores scores.csv -m AP --method t --method logit-t`
    - `confir coverage --scores scores.csv --samples 5000 -o coverage.svg`
    """
    from confir.cli.answers import Answer
    from confir.cli.progress import Progress
    from confir.report.result_table import result_table
    from confir.report.tables import with_design_note
    from confir.studies.coverage.coverage import estimate_coverage
    from confir.studies.coverage.miss_counts import (
        PUBLISHED_BOOTSTRAP_T,
        fitting_methods,
        number_of_tasks,
    )

    scores = inputs.load_scores(
        quiet=out.quiet, example="confir coverage qrels.txt bm25.run dense.run"
    )
    if per_tail == "published":
        method = [*(method or fitting_methods(scores)), PUBLISHED_BOOTSTRAP_T.name]
    total = number_of_tasks(sampled.samples)
    with nullcontext() if out.quiet else Progress("drawing samples", total=total) as progress:
        coverage = estimate_coverage(
            scores, methods=method, level=level, progress=progress, **sampled.arguments()
        )
    note = coverage.note(
        f"; {_size(scores)}; {counted(sampled.samples, 'sample')}, "
        f"{counted(sampled.replicates, 'replicate')}, seed {sampled.seed}\n"
        "truth below, above: share of intervals with the mean below or above them; "
        f"{(1 - level) / 2:.4g} of each is nominal"
    )
    table = with_design_note(result_table(coverage, note), scores.design_words)
    out.deliver(Answer(coverage.to_records(), table, coverage))


def type_one_command(
    *,
    inputs: Annotated[Inputs, Instead(measure=_MEASURE)],
    topics: Annotated[
        list[int] | None,
        Option(
            "Topics in a sample (repeatable; default 5, 10, 20).",
            "N",
            panel=options.STATISTICS_PANEL,
        ),
    ] = None,
    level: Annotated[
        list[float] | None,
        Option(
            "Confidence level (repeatable; default 0.95, 0.90, … 0.50).",
            "LEVEL",
            panel=options.STATISTICS_PANEL,
            convert=_check_levels,
            short=True,
        ),
    ] = None,
    method: StudiedMethodsOption = None,
    sampling: Annotated[
        str,
        Option(
            "Draw topics without replacement, as Park 2011 did, or with.",
            panel=options.STATISTICS_PANEL,
            choices=("without", "with"),
        ),
    ] = "without",
    per_run: Annotated[
        bool, Option("Print each run's skewness, bias and errors, not the mean.")
    ] = False,
    sampled: Sampling,
    out: Output,
) -> None:
    """Estimate how often intervals from few topics miss the mean over all topics (Park 2011).

    For example:

    - `confir type-one qrels.txt runs/ -m AP`
    - `confir type-one --scores robust2004_ap.csv --topics 10 --method percentile`
    - `confir type-one --scores scores.csv --topics 5 --topics 25 -o errors.csv`
    """
    from confir.cli.progress import Progress
    from confir.cli.selection import check_single
    from confir.studies.coverage.miss_counts import number_of_tasks
    from confir.studies.coverage.type_one_error import (
        PARK_LEVELS,
        PARK_TOPICS,
        estimate_type_one_error,
    )

    check_single(inputs.measure or ())
    scores = inputs.load_scores(
        inputs.measure or ([] if inputs.scores else ["AP"]),
        quiet=out.quiet,
        example="confir type-one qrels.txt runs/ -m AP",
    )
    check_single(scores.measures)
    sizes = tuple(dict.fromkeys(topics or PARK_TOPICS))
    total = number_of_tasks(sampled.samples) * len(sizes)
    with nullcontext() if out.quiet else Progress("drawing samples", total=total) as progress:
        error = estimate_type_one_error(
            scores,
            methods=method,
            topics=sizes,
            levels=level or PARK_LEVELS,
            sampling="without" if sampling == "without" else "with",
            progress=progress,
            **sampled.arguments(),
        )
    drawn = (
        f"samples {sampling} replacement, {sampled.samples} of each size, "
        f"{counted(sampled.replicates, 'replicate')}, seed {sampled.seed}"
    )
    out.deliver(_type_one_answer(error, _size(scores), drawn, per_run=per_run))


def _type_one_answer(error: TypeOneError, size: str, drawn: str, *, per_run: bool) -> Answer:
    """Return the errors of each run at the first level, or their means; with what was drawn."""
    from confir.cli.answers import Answer
    from confir.report.result_table import result_table
    from confir.studies.coverage.table import type_one_run_table

    if per_run:
        note = (
            f"share of {100 * error.levels[0]:g}% intervals that miss the mean over all; {size}, most "
            f"skewed first; bias: mean of the sample means minus the mean over all; {drawn}"
        )
        return Answer(error.by_run(), type_one_run_table(error, note), error)
    note = (
        f"share of intervals that miss the mean over all topics, and the nominal share; {size}; "
        f"Monte-Carlo standard error at most {error.mean_error_se.max():.4f}; {drawn}"
    )
    return Answer(error.to_records(), result_table(error, note), error)


def _size(scores: Scores) -> str:
    """Return the numbers of runs, measures and topics as text."""
    counts = (("run", scores.runs), ("measure", scores.measures), ("topic", scores.topics))
    return ", ".join(counted(len(of), name) for name, of in counts)
