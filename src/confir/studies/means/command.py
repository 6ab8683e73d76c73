"""``confir evaluate``: scores with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.input_options import MISSING, BoundsOption
from confir.cli.output import Output
from confir.cli.parameters import Instead, Option, PathRole, refuse_options
from confir.cli.views import TOPICS, TopicsOption, View, Views
from confir.errors import InvalidValueError, counted
from confir.studies.targets.command import TargetOptions
from confir.studies.ties.command import Ties
from confir.studies.unjudged.command import Missing, Unjudged
from confir.studies.unjudged.compared_means_command import (
    COMPARED_MEANS_OPTIONS,
    ComparedMeansOutput,
    ComparedMeansView,
)

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.data.result import Record
    from confir.data.scores import Scores
    from confir.intervals.method import Method
    from confir.measures.missing_scores import Ranges
    from confir.measures.score_summary import ScoreSummary
    from confir.studies.targets.targets import Target

# The views that compare the means with other means, in rows below.
_COMPARED_VIEWS: dict[str, type[ComparedMeansView]] = {one.view: one for one in (Unjudged, Ties)}

VIEWS = Views(
    View(
        "means",
        "means with intervals",
        "mean",
        paired="mean-with-verdict",
        lacks=("threshold", *COMPARED_MEANS_OPTIONS),
    ),
    View(
        TOPICS,
        "the score on every topic",
        "score",
        lacks=(
            *("baseline", "level", "method", "bounded", "replicates", "seed", "threshold"),
            *COMPARED_MEANS_OPTIONS,
        ),
    ),
    View(
        "unjudged",
        "what unjudged documents could do to the means",
        "mean-and-unjudged",
        lacks=("baseline", "threshold"),
    ),
    View(
        "ties",
        "what the order of documents with equal scores could do to them",
        "mean-and-ties",
        lacks=("baseline", "pool_depth", "threshold"),
    ),
    View(
        "missing",
        "what missing scores could do to the means",
        "mean-and-missing",
        lacks=("baseline", "missing", "threshold", "human", "repeats", *COMPARED_MEANS_OPTIONS),
    ),
    View(
        "targets",
        "whether means reach targets (default with --at-least and --fail-below)",
        "target",
        lacks=("baseline", "threshold", *COMPARED_MEANS_OPTIONS),
    ),
    View(
        "pass",
        "pass@k, pass^k and the worst of k repeats",
        "mean",
        needs=("repeats",),
        lacks=("baseline", *COMPARED_MEANS_OPTIONS),
    ),
)


def evaluate_command(
    *,
    inputs: Annotated[Inputs, Instead(missing=MISSING)],
    bounds: BoundsOption = None,
    show: Annotated[str | None, VIEWS.option()] = None,
    topics: TopicsOption = False,
    baseline: Annotated[
        str | None,
        Option(
            "Mark the runs that are significantly better (▲) or worse (▼) than this one: its "
            "name or its file.",
            "RUN",
            path=PathRole.RUN,
        ),
    ] = None,
    treatment: Annotated[
        str | None,
        Option(
            "How --show unjudged and ties bound or estimate means: the lowest and highest mean "
            "(bounds, the default); the mean without unjudged documents (condensed); the expected mean "
            "with judgements drawn for them (resample); the expected mean over all orders of tied "
            "documents (expected).",
            panel=options.JUDGEMENTS_PANEL,
            choices=tuple(
                dict.fromkeys(way for one in _COMPARED_VIEWS.values() for way in one.treatments)
            ),
        ),
    ] = None,
    pool_depth: Annotated[
        int | None,
        Option(
            "With --show unjudged, consider documents ranked above this depth by at least one run; "
            "by default the measure's cutoff, or whole lists.",
            panel=options.JUDGEMENTS_PANEL,
            least=1,
        ),
    ] = None,
    goals: TargetOptions,
    by: options.ByOption = None,
    threshold: Annotated[
        float,
        Option("With --show pass, the lowest score of a repeat that is a success.", "SCORE"),
    ] = 1.0,
    method: options.MethodsOption = None,
    statistics: options.Statistics,
    out: Output,
) -> None:
    """Evaluate runs: mean scores with confidence intervals.

    For example:

    - `confir evaluate qrels.txt runs/`
    - `confir evaluate qrels.txt bm25.run dense.run.gz -m AP,nDCG@10 -o table.tex`
    - `confir evaluate qrels.txt bm25.run --at-least nDCG@10=0.3`
    """
    from confir.cli.answers import Answer
    from confir.intervals.method_list import find_method
    from confir.measures.missing_scores import parse_ranges, treat_missing
    from confir.studies.means.table import topic_table

    targets = goals.targets()
    usual = "targets" if targets else ""
    view = VIEWS.choose(inputs.context, show, topics=topics, default=usual).name
    if bool(targets) != (view == "targets"):
        raise InvalidValueError(
            "--show targets needs --at-least MEASURE=TARGET"
            if not targets
            else f"--at-least and --fail-below have no effect on --show {view}"
        )
    compared_view = (
        _COMPARED_VIEWS[view].of(inputs, treatment, pool_depth) if view in _COMPARED_VIEWS else None
    )
    methods = [find_method(name) for name in method or ()]
    if out.output is not None:
        _check_chart(out.output, method or [], baseline)
    if by is not None:
        inputs.refuse_worst("--by")
        from confir.studies.topic_groups.command import evaluate_by

        evaluate_by(inputs, by, lambda one: mean_answer(one, statistics, methods=method), out)
        return
    read: dict[str, Any] = {"quiet": out.quiet, "example": "confir evaluate qrels.txt bm25.run"}
    if view == "targets":
        _judge(inputs, goals, targets, methods, statistics, parse_ranges(bounds or ()), out)
        return
    if view == "pass":
        from confir.studies.repeats.successes import score_successes

        tries = score_successes(inputs.load_scores(**read), threshold=threshold)
        show_means = _corrected if tries.corrected else mean_answer
        answer = show_means(tries, statistics, methods=method)
    elif inputs.repeats is not None and view == "means":
        names = ("method", "replicates", "seed")
        refuse_options(inputs.context, names, "cannot be combined with --repeats")
        inputs.check_human()
        answer = _repeats(inputs.load_scores(**read), baseline, statistics.level)
    else:
        if inputs.check_human():
            _check_judged(inputs, view, method or [])
        if view == Missing.view:
            every, found = Missing.gather(inputs, bounds or (), statistics, out, read["example"])
            answer = mean_answer(every, statistics, methods=method, compared=found)
        elif compared_view is not None:
            every, compared = compared_view.gather(inputs, statistics, out, read["example"])
            answer = mean_answer(every, statistics, methods=method, compared=compared)
        elif view == TOPICS:
            every = inputs.load_scores(baseline=baseline, **read)
            answer = Answer(every.to_records(), topic_table(every), every)
        else:
            scores = inputs.load_scores_or_summary(baseline=baseline, **read)
            _check_failing(scores)
            if inputs.missing == "worst":
                against = inputs.find_baseline(baseline, scores.runs)
                scores = treat_missing(
                    scores.listed(), "worst", against, parse_ranges(bounds or ())
                )
            if any("replicates" in one.needs for one in methods):
                statistics = inputs.statistics_of(scores, statistics)
            if scores.corrected:
                answer = _corrected(scores, statistics, methods=method)
            else:
                against = inputs.find_baseline(baseline, scores.runs)
                answer = mean_answer(scores, statistics, methods=method, baseline=against)
                if inputs.scores:
                    answer = _with_nuggets(answer, inputs.scores, scores)
    out.deliver(answer)


def _check_failing(scores: Scores | ScoreSummary) -> None:
    """Warn where failing is not the same for all runs; nothing is loaded where no score is missing."""
    empty = scores.missing_cells()
    if empty is not None and empty.any():
        from confir.pairs.missing_pairs import warn_of_unequal_failure

        warn_of_unequal_failure(scores)


def _judge(
    inputs: Inputs,
    goals: TargetOptions,
    targets: Sequence[Target],
    methods: Sequence[Method],
    statistics: options.Statistics,
    ranges: Ranges,
    out: Output,
) -> None:
    """Deliver whether means reach targets, and close the gate where they do not."""
    if len(methods) > 1:
        raise InvalidValueError("targets take one --method")
    wanted = [*(inputs.measure or ()), *(target.measure for target in targets)]
    read: dict[str, Any] = {"quiet": out.quiet, "example": "confir evaluate qrels.txt bm25.run"}
    if inputs.missing == "drop":
        raise InvalidValueError(
            "--missing drop has no effect on targets: missing scores count as the lowest possible"
        )
    if inputs.scores and inputs.missing is None:
        inputs = replace(inputs, missing="worst")
    named = [] if inputs.scores and not inputs.measure else list(dict.fromkeys(wanted))
    scores = inputs.load_scores(named, **read)
    method = methods[0].name if methods else None
    answer, gates = goals.judge(
        inputs.context,
        scores,
        targets,
        level=statistics.level,
        method=method,
        bounds=ranges,
        seed=statistics.seed,
    )
    out.deliver(answer)
    goals.announce(gates, shown=out.output is None and out.in_parts)


def _with_nuggets(answer: Answer, files: Sequence[str], scores: Scores | ScoreSummary) -> Answer:
    """Return an answer whose note also says what the choice of nuggets contributes, if files have some."""
    from confir.studies.nuggets.nugget_variance import find_nugget_variance

    found = find_nugget_variance(files)
    note = "" if found is None else found.sentence(scores.runs, scores.measures)
    if not note:
        return answer
    return answer._replace(table=replace(answer.table, note=f"{answer.table.note}\n{note}"))


def _repeats(scores: Scores, baseline: str | None, level: float) -> Answer:
    """Return the means of systems over their repeats."""
    from confir.cli.answers import result_answer
    from confir.report.tables import with_design_note
    from confir.studies.repeats.repeat_means import summarise_repeats

    answer = result_answer(summarise_repeats(scores, baseline=baseline, level=level))
    if scores.corrected:
        by = f"means by human judgements, also from {scores.model_topics:,} topics judged by the model alone"
        answer = answer._replace(table=replace(answer.table, note=f"{answer.table.note}\n{by}"))
    return answer._replace(table=with_design_note(answer.table, scores.design_words))


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


def _check_judged(inputs: Inputs, view: str, methods: Sequence[str]) -> None:
    """Raise if options do not apply to means by human and model judgements."""
    from confir.data.sampling_designs.judged_scores import RANDOM_DOCUMENTS

    by_document = inputs.human_sample == RANDOM_DOCUMENTS
    if view in _COMPARED_VIEWS or (view == TOPICS and not by_document):
        raise InvalidValueError(
            f"--show {view} cannot be combined with --human, which corrects means, not single topics"
        )
    if by_document:
        return
    refuse_options(inputs.context, ["baseline"], "cannot be combined with --human")
    if len(methods) > 1:
        raise InvalidValueError("--human takes one --method")


def _corrected(
    scores: Scores | ScoreSummary, statistics: options.Statistics, *, methods: Sequence[str] | None
) -> Answer:
    """Return means by human judgements, estimated from these and the model's."""
    from confir.cli.answers import result_answer
    from confir.data.sampling_designs.judged_scores import as_judged
    from confir.studies.corrected_means.corrected_means import correct_scores

    means = correct_scores(
        as_judged(scores.listed()),
        level=statistics.level,
        method=methods[0] if methods else None,
        replicates=statistics.replicates,
        rng=statistics.seed,
    )
    return result_answer(means)


def mean_answer(
    scores: Scores | ScoreSummary,
    statistics: options.Statistics,
    *,
    methods: Sequence[str] | None = None,
    baseline: str | None = None,
    compared: ComparedMeansOutput | None = None,
) -> Answer:
    """Return means with intervals as records and as a table; one topic gives means alone."""
    from confir.cli.answers import Answer
    from confir.intervals.confidence_intervals import confidence_interval
    from confir.intervals.interval import means_alone
    from confir.studies.means.table import interval_table, means_note

    level, replicates, seed = statistics.level, statistics.replicates, statistics.seed
    if len(scores.topics) < 2:
        intervals = [means_alone(scores, level)]
    else:
        intervals = confidence_interval(
            scores, level=[level], method=methods or None, replicates=replicates, rng=seed
        )
    records: Iterable[Record] = (one for interval in intervals for one in interval.to_records())
    notes = [means_note(intervals, intervals[0].topics)]
    drawn = max(interval.replicates for interval in intervals)
    notes += [f"{counted(drawn, 'replicate')}, seed {seed}"] if drawn else []
    if intervals[0].topics.max() < 2:
        notes = ["score of the one topic; an interval needs at least 2"]
    note = "; ".join(filter(None, [*notes, scores.sampling_note(seed)]))
    if compared is not None:
        table = interval_table(intervals, f"{note}\n{compared.note}", compared.rows)
        shown = intervals[0] if compared.draw is None else compared.draw(intervals[0])
        joined = [one | compared.columns[one["run"], one["measure"]] for one in records]
        return Answer(joined, table, shown)
    answer = Answer(records, interval_table(intervals, note), intervals[0])
    return answer if baseline is None else _with_verdicts(answer, scores, baseline, statistics)


def _with_verdicts(
    answer: Answer,
    scores: Scores | ScoreSummary,
    baseline: str,
    statistics: options.Statistics,
) -> Answer:
    """Return means with the verdict on each run against the baseline, which has none itself."""
    from confir.pairs.compare import compare_runs
    from confir.studies.comparison.table import marked_table, verdicts_by_run

    comparison = compare_runs(scores, baseline=baseline, **statistics.arguments)
    verdicts, against = verdicts_by_run(comparison), {"against": baseline}
    records = [
        {**one, **against, "verdict": verdicts.get((one["run"], one["measure"]))}
        for one in answer.records
    ]
    return answer._replace(records=records, table=marked_table(answer.table, comparison))
