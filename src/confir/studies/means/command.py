"""``confir evaluate``: scores with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confir.cli import options
from confir.cli.explicit_options import refuse_options
from confir.cli.judged_input import JudgedInputs
from confir.errors import InvalidValueError, counted
from confir.studies.unjudged.command import Beside, Doubts

if TYPE_CHECKING:
    from confir.cli.terminal import Answer
    from confir.data.result import Record
    from confir.data.sampling.judged_scores import JudgedScores
    from confir.data.scores import Scores
    from confir.intervals.interval import Interval
    from confir.measures.score_summary import ScoreSummary
    from confir.report.tables import Table
    from confir.studies.comparison.comparison import Comparison


def evaluate_command(
    *,
    inputs: JudgedInputs,
    per_topic: Annotated[
        bool, typer.Option("-q", "--per-topic", help="Print the score of every topic.")
    ] = False,
    ranks: Annotated[
        bool,
        typer.Option(
            "--ranks",
            help="Print each run's mean, its rank with intervals, and the share of bootstrap samples "
            "of the topics in which it is first.",
        ),
    ] = False,
    repeats: Annotated[
        bool,
        typer.Option(
            "--repeats",
            help="Runs named system@1, system@2, … are repeats of one system: print its mean over them, "
            "and what topics and repeats contribute to its standard error; with --baseline SYSTEM, "
            "differences.",
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
    unjudged: Annotated[
        str | None,
        options.choice(
            *("bounds", "condensed", "resample"),
            help="Also print what unjudged documents could do: the lowest and highest mean; the mean "
            "without them; or the expected mean with judgements drawn for them.",
            panel="Judgements",
        ),
    ] = None,
    pool_depth: Annotated[
        int | None,
        typer.Option(
            help="With --unjudged, consider documents that any run has down to this rank; by default "
            "the measure's cutoff, or whole lists.",
            callback=options.at_least(1),
            rich_help_panel="Judgements",
        ),
    ] = None,
    ties: Annotated[
        str | None,
        options.choice(
            *("bounds", "expected"),
            help="Also print the lowest and highest mean over all orders of documents with equal "
            "scores, or the expected one.",
            panel="Judgements",
        ),
    ] = None,
    method: options.MethodsOption = None,
    statistics: options.Statistics,
    out: options.Output,
) -> None:
    """Evaluate runs: mean scores with confidence intervals.

    Example: `confir evaluate qrels.txt bm25.run dense.run.gz -m AP -m nDCG@10`
    """
    from confir.data.sampling.judged_scores import JudgedScores
    from confir.intervals.catalogue import find_method
    from confir.intervals.interval import check_level

    out.prepare()
    doubts = Doubts(unjudged, pool_depth, ties)
    _check_view(inputs.context, per_topic=per_topic, ranks=ranks, baseline=baseline)
    doubts.check(inputs, out.output, baseline)
    check_level(statistics.level)
    for name in method or ():
        find_method(name)
    if out.output is not None:
        _check_chart(out.output, method or [], baseline)
    example = "confir evaluate qrels.txt bm25.run"
    if repeats:
        _check_repeats(inputs.context)
        every = inputs.load_scores(quiet=out.quiet, example=example)
        out.deliver(_repeats(every, baseline, statistics.level))
        return
    if inputs.check_human():
        _check_judged(inputs, method or [])
    if doubts:
        every, beside = doubts.gather(inputs, statistics, out, example)
        out.deliver(mean_answer(every, statistics, methods=method, beside=beside))
        return
    if per_topic:
        every = inputs.load_scores(baseline=baseline, quiet=out.quiet, example=example)
        out.deliver(_per_topic(every))
        return
    scores = inputs.load_scores_or_summary(baseline=baseline, quiet=out.quiet, example=example)
    if any(find_method(name).resamples for name in method or ()):
        statistics = inputs.statistics_of(scores, statistics)
    if ranks:
        answer = _ranks(scores, statistics)
    elif isinstance(scores, JudgedScores):
        answer = _corrected(scores, method, statistics)
    else:
        against = inputs.find_baseline(baseline, scores.runs)
        answer = mean_answer(scores, statistics, methods=method, baseline=against)
    out.deliver(answer)


def _check_view(
    context: typer.Context, *, per_topic: bool, ranks: bool, baseline: str | None
) -> None:
    """Raise if options do not apply to the chosen output."""
    if per_topic and ranks:
        raise InvalidValueError("--per-topic and --ranks cannot be combined")
    if baseline is not None and (per_topic or ranks):
        raise InvalidValueError(
            "--baseline marks means: leave it out, or --per-topic and --ranks; confir compare "
            "--per-topic shows differences from a baseline"
        )
    if per_topic:
        names = (*("level", "method", "bounded", "replicates", "seed"), *Doubts._fields)
        refuse_options(context, names, "is for intervals, which --per-topic does not print")
    if ranks:
        reason = "is for means; --ranks compares all pairs of runs"
        refuse_options(context, ["method", "bounded", *Doubts._fields], reason)


def _check_repeats(context: typer.Context) -> None:
    """Raise if options do not apply to means over repeats."""
    names = ("per_topic", "ranks", "method", "human", "human_sample", "replicates", "seed")
    refuse_options(context, (*names, *Doubts._fields), "cannot be combined with --repeats")


def _repeats(scores: Scores, baseline: str | None, level: float) -> Answer:
    """Return the means of systems over their repeats."""
    from confir.cli.terminal import result_answer
    from confir.report.tables import with_design_note
    from confir.studies.repeats.repeat_means import summarise_repeats

    answer = result_answer(summarise_repeats(scores, baseline=baseline, level=level))
    return answer._replace(table=with_design_note(answer.table, scores.design))


def _check_chart(output: str, methods: Sequence[str], baseline: str | None) -> None:
    """Raise if a chart cannot show everything requested."""
    from confir.defaults import CHART_ENDINGS

    if Path(output).suffix.lower() not in CHART_ENDINGS:
        return
    if len(set(methods)) > 1:
        raise InvalidValueError(
            f"{output}: a chart shows one method; expected one --method, or a table to write"
        )
    if baseline is not None:
        raise InvalidValueError(
            f"{output}: a chart of means shows no verdicts; confir compare --baseline draws differences"
        )


def _check_judged(inputs: JudgedInputs, methods: Sequence[str]) -> None:
    """Raise if options do not apply to means by a model's judgements and people's."""
    from confir.data.sampling.judged_scores import RANDOM_DOCUMENTS

    by_document = inputs.human_sample == RANDOM_DOCUMENTS
    others = Doubts._fields if by_document else ("per_topic", "baseline", *Doubts._fields)
    refuse_options(inputs.context, others, "cannot be combined with --human")
    if by_document:
        return
    if len(methods) > 1:
        raise InvalidValueError("--human takes one --method")


def _corrected(
    scores: JudgedScores, methods: Sequence[str] | None, statistics: options.Statistics
) -> Answer:
    """Return means by people's judgements, estimated from the model's and from theirs."""
    from confir.cli.terminal import result_answer
    from confir.studies.corrected_means.corrected_means import correct_scores

    means = correct_scores(
        scores,
        level=statistics.level,
        method=methods[0] if methods else None,
        replicates=statistics.replicates,
        rng=statistics.seed,
    )
    return result_answer(means)


def _per_topic(scores: Scores) -> Answer:
    from confir.cli.terminal import Answer
    from confir.studies.means.table import topic_table

    return Answer(scores.to_records(), topic_table(scores), scores)


def _ranks(scores: Scores | ScoreSummary, statistics: options.Statistics) -> Answer:
    from confir.cli.terminal import Answer
    from confir.report.tables import with_design_note
    from confir.studies.ranks.ranking import rank_runs
    from confir.studies.ranks.table import ranking_note, ranking_table

    level, replicates, seed = statistics.level, statistics.replicates, statistics.seed
    ranking = rank_runs(scores, level=level, replicates=replicates, rng=seed)
    table = ranking_table(ranking, ranking_note(ranking, seed))
    table = with_design_note(table, scores.design)
    return Answer(ranking.to_records(), table, ranking)


def mean_answer(
    scores: Scores | ScoreSummary,
    statistics: options.Statistics,
    *,
    methods: Sequence[str] | None = None,
    baseline: str | None = None,
    beside: Beside | None = None,
) -> Answer:
    """Return means with intervals as records and as a table; one topic gives means alone."""
    from confir.cli.terminal import Answer
    from confir.data.sampling.judged_scores import SampledScores
    from confir.intervals.catalogue import confidence_interval, means_alone
    from confir.studies.corrected_means.table import sampled_note
    from confir.studies.means.table import interval_table

    level, replicates, seed = statistics.level, statistics.replicates, statistics.seed
    if len(scores.topics) < 2:
        intervals = [means_alone(scores, level)]
    else:
        intervals = confidence_interval(
            scores, level=[level], method=methods or None, replicates=replicates, rng=seed
        )
    records = [record for interval in intervals for record in interval.to_records()]
    rows = () if beside is None else beside.rows
    note = _note(intervals, seed)
    if isinstance(scores, SampledScores):
        note = f"{note}; {sampled_note(scores, seed)}"
    table = interval_table(intervals, note if beside is None else beside.note(note), rows)
    if beside is not None:
        return Answer(beside.records(records), table, beside.shown(intervals[0]))
    if baseline is not None:
        from confir.studies.comparison.compare import compare_runs

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
    """Return the note below the table: level and method of the intervals, replicates and seed."""
    topics = intervals[0].topics
    if topics.max() < 2:
        return "score of the one topic; an interval needs at least 2"
    from confir.studies.means.table import means_note

    drawn = max(interval.replicates for interval in intervals)
    return means_note(intervals, topics) + (
        f"; {counted(drawn, 'replicate')}, seed {seed}" if drawn else ""
    )
