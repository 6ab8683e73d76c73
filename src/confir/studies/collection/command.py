"""``confir collection``: how much would scores change with another collection of the same kind?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from confir.cli import options
from confir.cli.explicit_options import refuse_options
from confir.cli.groups import Instead, Without
from confir.cli.input import Inputs
from confir.errors import InvalidValueError, counted

if TYPE_CHECKING:
    from confir.cli.terminal import Answer
    from confir.data.experiment import Experiment
    from confir.resampling.document_replicates import DocumentReplicates

_STATISTICS = "Statistics"

# Said where a command that resamples documents has nothing to read.
DOCUMENTS_NEEDED = "; documents are needed, so that a score table will not do"

MeasuresOption = Annotated[
    list[str] | None,
    typer.Option(
        "-m",
        "--measure",
        metavar="NAME",
        help="A measure in [0, 1] (repeatable; confir measures lists them). Default AP.",
        rich_help_panel="Input",
    ),
]
SmallROption = Annotated[
    bool,
    typer.Option(
        "--small-r/--no-small-r",
        help="Correct AP near 0 and 1 for few relevant documents.",
        rich_help_panel=_STATISTICS,
    ),
]


def collection_command(
    *,
    inputs: Annotated[Inputs, Without("scores", "bounded"), Instead(measure=MeasuresOption)],
    per_topic: Annotated[
        bool, typer.Option("-q", "--per-topic", help="Print every topic's score with interval.")
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Compare the other runs with this one: its name or its file. With --per-topic, "
            "on every topic.",
        ),
    ] = None,
    variance: Annotated[
        bool,
        typer.Option(
            "--variance",
            help="Print how much of the variance comes from topics, from documents, and from "
            "their interaction; with --baseline, of differences.",
        ),
    ] = False,
    pairing: Annotated[
        str,
        options.choice(
            *("paired", "independent", "both"),
            help="With --baseline: both runs on the same collections, or each on its own.",
            panel=_STATISTICS,
        ),
    ] = "paired",
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="For means: bootstrap (default), parametric, bootstrap-with-topics (repeatable). "
            "With --per-topic: a method over documents (default logit; confir methods lists them).",
            rich_help_panel=_STATISTICS,
        ),
    ] = None,
    small_r: SmallROption = True,
    statistics: options.DocumentStatistics,
    out: options.Output,
) -> None:
    """Estimate how much scores would change with another collection of the same kind (Cormack 2006).

    Example: `confir collection qrels.txt bm25.run dense.run`
    """
    out.prepare()
    has_baseline = baseline is not None
    _check_view(inputs.context, per_topic=per_topic, variance=variance, has_baseline=has_baseline)
    chosen = _check_methods(method or [], per_topic=per_topic)
    measures = inputs.measure or ["AP"]
    check_settings(statistics, measures, inputs.rel)
    experiment = inputs.experiment(
        measures,
        baseline=baseline,
        instead=DOCUMENTS_NEEDED,
        example="confir collection qrels.txt bm25.run dense.run",
    )
    jackknife = chosen == ["bca"]
    sample = resample(experiment, statistics, jackknife=jackknife, quiet=out.quiet)
    against = inputs.find_baseline(baseline, sample.runs)
    if variance:
        answer = _variance(sample, against, statistics)
    elif against is not None:
        answer = _differences(sample, against, pairing, statistics, per_topic=per_topic)
    elif per_topic:
        answer = _topics(sample, chosen[0], statistics, small_r=small_r)
    else:
        answer = _means(sample, chosen, statistics, small_r=small_r)
    out.deliver(answer)


def _check_view(
    context: typer.Context, *, per_topic: bool, variance: bool, has_baseline: bool
) -> None:
    """Raise where options ask for what the view does not show."""
    if variance and per_topic:
        raise InvalidValueError("--variance and --per-topic cannot be combined")
    if variance or has_baseline:
        reason = "is for means and topics, not for differences or variance"
        refuse_options(context, ("method", "small_r"), reason)
    if variance:
        refuse_options(context, ("level", "pairing"), "is for intervals, which --variance lacks")
    if not has_baseline:
        refuse_options(context, ["pairing"], "is for differences; expected --baseline RUN")


def check_settings(
    statistics: options.DocumentStatistics, measures: Sequence[str], rel: int
) -> None:
    """Raise before any work where a level, an epsilon or a measure will not do."""
    from confir.intervals.documents import check_epsilon
    from confir.intervals.interval import check_level
    from confir.measures.evaluation import parse_measures
    from confir.studies.collection.collection import check_bounded_measure

    check_level(statistics.level)
    check_epsilon(statistics.epsilon)
    for measure in parse_measures(list(measures), rel):
        check_bounded_measure(str(measure))


def _check_methods(methods: list[str], *, per_topic: bool) -> list[str]:
    """Return the methods asked for, or the default ones; raise before any work where unknown."""
    from confir.cli.input import check_choice
    from confir.intervals.catalogue import DEFAULT_SCORE_METHOD, methods_over
    from confir.studies.collection.collection import DEFAULT_MEAN_METHODS, MEAN_METHODS

    known = tuple(methods_over("documents")) if per_topic else tuple(MEAN_METHODS)
    for name in methods:
        check_choice("--method", name, known)
    if per_topic and len(methods) > 1:
        raise InvalidValueError("--per-topic takes one --method")
    return methods or ([DEFAULT_SCORE_METHOD] if per_topic else list(DEFAULT_MEAN_METHODS))


def resample(
    experiment: Experiment,
    statistics: options.DocumentStatistics,
    *,
    jackknife: bool = False,
    quiet: bool,
) -> DocumentReplicates:
    """Return the scores on resampled collections that a command's options ask for."""
    from confir.cli.terminal import Progress
    from confir.resampling.documents import resample_documents

    with Progress("resampling the collection", total=None, quiet=quiet) as progress:
        return resample_documents(
            experiment,
            replicates=statistics.replicates,
            rng=statistics.seed,
            jackknife=jackknife,
            progress=progress,
        )


def _means(
    sample: DocumentReplicates,
    methods: list[str],
    statistics: options.DocumentStatistics,
    *,
    small_r: bool,
) -> Answer:
    from confir.cli.terminal import Answer
    from confir.studies.collection.collection import summarise_means
    from confir.studies.collection.table import collection_note, collection_table

    level, epsilon = statistics.level, statistics.epsilon
    means = summarise_means(sample, level=level, methods=methods, small_r=small_r, epsilon=epsilon)
    note = f"{collection_note(means)}; {_drawn(sample, statistics.seed)}"
    return Answer(means.to_records(), collection_table(means, note), means)


def _topics(
    sample: DocumentReplicates,
    method: str,
    statistics: options.DocumentStatistics,
    *,
    small_r: bool,
) -> Answer:
    from confir.cli.terminal import Answer
    from confir.studies.collection.collection import summarise_topics
    from confir.studies.collection.table import collection_topic_table

    level, epsilon = statistics.level, statistics.epsilon
    topics = summarise_topics(sample, level=level, method=method, small_r=small_r, epsilon=epsilon)
    note = (
        f"score with {100 * level:g} % interval over collections by {method}; relevant documents, "
        f"those in the list, and where the interval is corrected for few of them; "
        f"{_drawn(sample, statistics.seed)}"
    )
    return Answer(topics.to_records(), collection_topic_table(topics, note), topics)


def _differences(
    sample: DocumentReplicates,
    baseline: str,
    pairing: str,
    statistics: options.DocumentStatistics,
    *,
    per_topic: bool,
) -> Answer:
    from confir.cli.terminal import Answer
    from confir.studies.collection.differences import (
        compare_on_collection,
        compare_topics_on_collection,
        variants_for,
    )
    from confir.studies.collection.table import (
        collection_difference_table,
        collection_topic_difference_table,
    )

    variants = variants_for(pairing)
    level, epsilon = statistics.level, statistics.epsilon
    drawn = _drawn(sample, statistics.seed)
    what = f"from {baseline} with {100 * level:g} % interval over collections"
    if per_topic:
        alone = [variant for variant in variants if not variant.with_topics]
        topics = compare_topics_on_collection(
            sample, baseline, level=level, variants=alone, epsilon=epsilon
        )
        note = f"difference {what}, each topic by itself; {drawn}"
        return Answer(topics.to_records(), collection_topic_difference_table(topics, note), topics)
    result = compare_on_collection(
        sample, baseline, level=level, variants=variants, epsilon=epsilon
    )
    note = (
        f"difference of means over {len(sample.topics)} topics {what}, runs "
        f"{'both ways' if pairing == 'both' else pairing}; p normal, by Student's t where topics "
        f"vary too, adjusted by Holm's correction for {counted(len(result.runs), 'run')}; {drawn}; "
        "w/t/l: topics won, tied, lost"
    )
    return Answer(result.to_records(), collection_difference_table(result, note), result)


def _variance(
    sample: DocumentReplicates, baseline: str | None, statistics: options.DocumentStatistics
) -> Answer:
    from confir.cli.terminal import Answer
    from confir.order import best_first
    from confir.studies.collection.differences import decompose_variance
    from confir.studies.collection.table import collection_variance_table, variance_note

    result = decompose_variance(sample, baseline=baseline, epsilon=statistics.epsilon)
    note = f"{variance_note(result, len(sample.topics))}; {_drawn(sample, statistics.seed)}"
    ranked = [sample.runs[place] for place in best_first(sample.scores.mean()[:, 0])]
    order = [run for run in ranked if run in result.runs]
    return Answer(result.to_records(), collection_variance_table(result, note, order), result)


def _drawn(sample: DocumentReplicates, seed: int) -> str:
    """Return which topics are left out, how many replicates were drawn, and how many in vain."""
    from confir.studies.collection.table import left_out_note

    text = f"{left_out_note(sample)}{counted(sample.replicates, 'replicate')}, seed {seed}"
    dropped = sample.dropped.max(axis=0)
    if dropped.any():
        topics = f"{int((dropped > 0).sum())} of the topics"
        text += (
            f"; in {topics}, {counted(int(dropped.sum()), 'replicate')} without relevant documents "
            "left out"
        )
    return text
