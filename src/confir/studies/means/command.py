"""``confir evaluate``: scores with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confir.cli import options
from confir.cli.explicit_options import refuse_options
from confir.cli.input import Inputs
from confir.errors import InvalidValueError, counted

if TYPE_CHECKING:
    from confir.cli.terminal import Answer
    from confir.data.result import Record
    from confir.data.scores import Scores
    from confir.intervals.interval import Interval
    from confir.report.tables import Table
    from confir.studies.comparison.comparison import Comparison


def evaluate_command(
    *,
    inputs: Inputs,
    per_topic: Annotated[
        bool, typer.Option("-q", "--per-topic", help="Print the score of every topic.")
    ] = False,
    ranks: Annotated[
        bool,
        typer.Option(
            "--ranks",
            help="Print each run's rank, its interval, and the share of bootstrap samples of the "
            "topics in which it is first.",
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
    method: options.MethodsOption = None,
    statistics: options.Statistics,
    out: options.Output,
) -> None:
    """Evaluate runs: mean scores with confidence intervals.

    Example: `confir evaluate qrels.txt bm25.run dense.run.gz -m AP -m nDCG@10`
    """
    from confir.intervals.catalogue import find_method
    from confir.intervals.interval import check_level

    out.prepare()
    _check_view(inputs.context, per_topic=per_topic, ranks=ranks, baseline=baseline)
    check_level(statistics.level)
    for name in method or ():
        find_method(name)
    if out.output is not None:
        _check_chart(out.output, method or [], baseline)
    scores = inputs.load_scores(
        baseline=baseline, quiet=out.quiet, example="confir evaluate qrels.txt bm25.run"
    )
    if per_topic:
        answer = _per_topic(scores)
    elif ranks:
        answer = _ranks(scores, statistics)
    else:
        against = inputs.find_baseline(baseline, scores.runs)
        answer = mean_answer(scores, statistics, methods=method, baseline=against)
    out.deliver(answer)


def _check_view(
    context: typer.Context, *, per_topic: bool, ranks: bool, baseline: str | None
) -> None:
    """Raise where options ask for what the view does not show."""
    if per_topic and ranks:
        raise InvalidValueError("--per-topic and --ranks cannot be combined")
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
    from confir.defaults import CHART_ENDINGS

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
    from confir.studies.means.table import topic_table

    return Answer(scores.to_records(), topic_table(scores), scores)


def _ranks(scores: Scores, statistics: options.Statistics) -> Answer:
    from confir.cli.terminal import Answer
    from confir.report.numbers import topics_text
    from confir.studies.ranks.ranking import rank_runs
    from confir.studies.ranks.table import ranking_table

    level, replicates, seed = statistics.level, statistics.replicates, statistics.seed
    ranking = rank_runs(scores, level=level, replicates=replicates, rng=seed)
    note = (
        f"rank with {100 * level:g} % interval, and the share of {replicates:,} bootstrap samples of "
        f"{topics_text(ranking.topics)} in which the run is best; seed {seed}"
    )
    return Answer(ranking.to_records(), ranking_table(ranking, note), ranking)


def mean_answer(
    scores: Scores,
    statistics: options.Statistics,
    *,
    methods: Sequence[str] | None = None,
    baseline: str | None = None,
) -> Answer:
    """Return means with intervals as records and as a table; one topic gives means alone."""
    from confir.cli.terminal import Answer
    from confir.intervals.catalogue import confidence_interval, means_alone
    from confir.studies.means.table import interval_table

    level, replicates, seed = statistics.level, statistics.replicates, statistics.seed
    if len(scores.topics) < 2:
        intervals = [means_alone(scores, level)]
    else:
        intervals = confidence_interval(
            scores, level=[level], method=methods or None, replicates=replicates, rng=seed
        )
    records = [record for interval in intervals for record in interval.to_records()]
    table = interval_table(intervals, _note(intervals, seed))
    if baseline is not None:
        from confir.studies.comparison.comparison import compare_runs

        comparison = compare_runs(
            scores, baseline=baseline, level=level, replicates=replicates, rng=seed
        )
        records, table = _with_verdicts(records, table, comparison)
    return Answer(records, table, intervals[0])


def _with_verdicts(
    records: Sequence[Record], table: Table, comparison: Comparison
) -> tuple[list[Record], Table]:
    """Return records and table with the verdict on each run; the baseline itself has none."""
    from confir.studies.comparison.table import marked_table, verdicts_by_run

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
    from confir.studies.means.table import means_note

    drawn = max(interval.replicates for interval in intervals)
    return means_note(intervals, topics) + (
        f"; {counted(drawn, 'replicate')}, seed {seed}" if drawn else ""
    )
