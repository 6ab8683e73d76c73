"""``confir evaluate``: scores with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confir.cli import options
from confir.cli.given import refuse_options
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.cli.terminal import Answer
    from confir.data.scores import Record, Scores
    from confir.intervals.interval import Interval
    from confir.report.tables import Table
    from confir.studies.comparison import Comparison


def evaluate_command(
    context: typer.Context,
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    scores: options.ScoresOption = None,
    measure: options.MeasuresOption = None,
    per_topic: Annotated[
        bool, typer.Option("-q", "--per-topic", help="Print the score of every topic.")
    ] = False,
    ranks: Annotated[
        bool,
        typer.Option(
            "--ranks",
            help="Print each run's rank, its interval, and the share of resampled sets of topics "
            "in which it is best.",
        ),
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Mark the runs that are significantly better (▲) or worse (▼) than this one: its "
            "name or its file.",
        ),
    ] = None,
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    intents: options.IntentsOption = None,
    name_by: options.NameByOption = "file",
    tie_precision: options.TiePrecisionOption = "double",
    level: options.LevelOption = 0.95,
    method: options.MethodsOption = None,
    bounded: options.BoundedOption = None,
    replicates: options.ReplicatesOption = 9_999,
    seed: options.SeedOption = options.DEFAULT_SEED,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
    quiet: options.QuietOption = False,
) -> None:
    """Score runs, and say how far each mean can be trusted.

    Example: `confir evaluate qrels.txt bm25.run dense.run.gz -m AP -m nDCG@10`
    """
    from confir.cli.compare import add_baseline, find_baseline
    from confir.cli.input import load_scores
    from confir.cli.terminal import be_quiet, check_output, deliver
    from confir.intervals.catalogue import find_method
    from confir.intervals.interval import check_level

    check_output(output, kind)
    _check_view(context, per_topic=per_topic, ranks=ranks, baseline=baseline)
    check_level(level)
    for name in method or ():
        find_method(name)
    if output is not None:
        _check_chart(output, method or [], baseline)
    if quiet:
        be_quiet()
    table = load_scores(
        qrels,
        add_baseline(runs or [], baseline),
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
        example="confir evaluate qrels.txt bm25.run",
    )
    if per_topic:
        answer = _per_topic(table)
    elif ranks:
        answer = _ranks(table, level, replicates, seed)
    else:
        answer = mean_answer(
            table,
            level=level,
            methods=method,
            replicates=replicates,
            seed=seed,
            baseline=find_baseline(baseline, table, runs or []),
        )
    deliver(answer, output=output, kind=kind)


def _check_view(
    context: typer.Context, *, per_topic: bool, ranks: bool, baseline: str | None
) -> None:
    """Raise where options ask for what the view does not show."""
    if per_topic and ranks:
        raise InvalidValueError("--per-topic and --ranks cannot be had at once")
    if baseline is not None and (per_topic or ranks):
        raise InvalidValueError(
            "--baseline marks means: leave it out, or --per-topic and --ranks; confir compare "
            "--per-topic shows differences from a baseline"
        )
    if per_topic:
        names = ("level", "method", "bounded", "replicates", "seed")
        refuse_options(context, names, "is for intervals, which --per-topic does not print")
    if ranks:
        reason = "is for means; --ranks has percentile intervals"
        refuse_options(context, ["method", "bounded"], reason)


def _check_chart(output: str, methods: Sequence[str], baseline: str | None) -> None:
    """Raise where a chart would not show all that is asked for."""
    from confir.report.records import CHART_ENDINGS

    if Path(output).suffix.lower() not in CHART_ENDINGS:
        return
    if len(set(methods)) > 1:
        raise InvalidValueError(
            f"{output}: a chart shows one method; expected one --method, or a table to write"
        )
    if baseline is not None:
        raise InvalidValueError(
            f"{output}: a chart of means has no marks; confir compare --baseline draws differences"
        )


def _per_topic(scores: Scores) -> Answer:
    from confir.cli.terminal import Answer
    from confir.report.tables import topic_table

    return Answer(scores.to_records(), topic_table(scores), scores)


def _ranks(scores: Scores, level: float, replicates: int, seed: int) -> Answer:
    from confir.cli.terminal import Answer
    from confir.report.numbers import topics_text
    from confir.report.tables import ranking_table
    from confir.studies.ranking import rank_runs

    ranking = rank_runs(scores, level=level, replicates=replicates, rng=seed)
    note = (
        f"rank with {100 * level:g} % interval, and the share of {replicates} resampled sets of "
        f"{topics_text(ranking.topics)} in which the run is best; seed {seed}"
    )
    return Answer(ranking.to_records(), ranking_table(ranking, note), ranking)


def mean_answer(
    scores: Scores,
    *,
    level: float = 0.95,
    methods: Sequence[str] | None = None,
    replicates: int = 9_999,
    seed: int,
    baseline: str | None = None,
) -> Answer:
    """Return means with intervals as records and as a table; one topic gives means alone."""
    from confir.cli.terminal import Answer
    from confir.intervals.catalogue import confidence_interval, means_alone
    from confir.report.tables import interval_table

    if len(scores.topics) < 2:
        intervals = [means_alone(scores, level)]
    else:
        intervals = confidence_interval(
            scores, level=[level], method=methods or None, replicates=replicates, rng=seed
        )
    records = [record for interval in intervals for record in interval.to_records()]
    table = interval_table(intervals, _note(intervals, seed))
    if baseline is not None:
        from confir.studies.comparison import compare_runs

        comparison = compare_runs(
            scores, baseline=baseline, level=level, replicates=replicates, rng=seed
        )
        records, table = _with_verdicts(records, table, comparison)
    return Answer(records, table, intervals[0])


def _with_verdicts(
    records: Sequence[Record], table: Table, comparison: Comparison
) -> tuple[list[Record], Table]:
    """Return records and table with the verdict on each run; the baseline itself has none."""
    from confir.report.comparison_tables import marked_table, verdicts_by_run

    verdicts = verdicts_by_run(comparison)
    judged = [
        {
            **record,
            "baseline": comparison.baseline,
            "verdict": verdicts.get((record["run"], record["measure"])),
        }
        for record in records
    ]
    return judged, marked_table(table, comparison)


def _note(intervals: Sequence[Interval], seed: int) -> str:
    """Return the line below the table: what the intervals are, and how to get them again."""
    topics = intervals[0].topics
    if topics.max() < 2:
        return "score of the one topic; an interval needs at least 2"
    from confir.report.tables import means_note

    drawn = max(interval.replicates for interval in intervals)
    return means_note(intervals, topics) + (f"; {drawn} replicates, seed {seed}" if drawn else "")
