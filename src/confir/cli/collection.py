"""``confir collection``: how far would scores move with another collection of the same kind?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from confir.cli import options
from confir.cli.given import refuse_options
from confir.errors import InvalidValueError

if TYPE_CHECKING:
    from confir.cli.terminal import Answer
    from confir.resampling.document_replicates import DocumentReplicates

_STATISTICS = "Statistics"

MarginOption = Annotated[
    float,
    typer.Option(help="How far logits keep from 0 and 1.", rich_help_panel=_STATISTICS),
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
    context: typer.Context,
    qrels: options.QrelsArgument = None,
    runs: options.RunsArgument = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            metavar="NAME",
            help="A measure in [0, 1] (repeatable; confir measures lists them). Default AP.",
            rich_help_panel="Input",
        ),
    ] = None,
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
        typer.Option(
            metavar="paired|independent|both",
            help="With --baseline: both runs on the same collections, or each on its own.",
            rich_help_panel=_STATISTICS,
        ),
    ] = "paired",
    rel: options.RelOption = 1,
    depth: options.DepthOption = None,
    missing: options.MissingOption = "zero",
    intents: options.IntentsOption = None,
    name_by: options.NameByOption = "file",
    tie_precision: options.TiePrecisionOption = "double",
    level: options.LevelOption = 0.95,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="For means: bootstrap (default), parametric, bootstrap-with-topics (repeatable). "
            "With --per-topic: linear, logit (default), percentile or bca.",
            rich_help_panel=_STATISTICS,
        ),
    ] = None,
    small_r: SmallROption = True,
    margin: MarginOption = 1e-6,
    replicates: options.ReplicatesOption = 2_000,
    seed: options.SeedOption = options.DEFAULT_SEED,
    output: options.OutputOption = None,
    kind: options.FormatOption = "table",
    quiet: options.QuietOption = False,
) -> None:
    """Say how far scores would move with another collection of the same kind (Cormack 2006).

    Example: `confir collection qrels.txt bm25.run dense.run`
    """
    from confir.cli.compare import add_baseline, find_baseline
    from confir.cli.input import check_choice
    from confir.cli.terminal import be_quiet, check_output, deliver

    check_output(output, kind)
    check_choice("--pairing", pairing, ("paired", "independent", "both"))
    _check_view(context, per_topic=per_topic, variance=variance, has_baseline=baseline is not None)
    if quiet:
        be_quiet()
    chosen = _check_methods(method or [], per_topic=per_topic)
    check_settings(level, margin, measure or ["AP"], rel)
    sample = resample(
        qrels,
        add_baseline(runs or [], baseline),
        measure or ["AP"],
        rel=rel,
        depth=depth,
        missing=missing,
        intents=intents,
        name_by=name_by,
        tie_precision=tie_precision,
        replicates=replicates,
        seed=seed,
        jackknife=chosen == ["bca"],
        quiet=quiet,
        example="confir collection qrels.txt bm25.run dense.run",
    )
    against = find_baseline(baseline, sample.scores, runs or [])
    if variance:
        answer = _variance(sample, against, seed, margin=margin)
    elif against is not None:
        answer = _differences(
            sample, against, pairing, level, seed, per_topic=per_topic, margin=margin
        )
    elif per_topic:
        answer = _topics(sample, chosen[0], level, seed, small_r=small_r, margin=margin)
    else:
        answer = _means(sample, chosen, level, seed, small_r=small_r, margin=margin)
    deliver(answer, output=output, kind=kind)


def _check_view(
    context: typer.Context, *, per_topic: bool, variance: bool, has_baseline: bool
) -> None:
    """Raise where options ask for what the view does not show."""
    if variance and per_topic:
        raise InvalidValueError("--variance and --per-topic cannot be had at once")
    if variance or has_baseline:
        reason = "is for means and topics, not for differences or variance"
        refuse_options(context, ("method", "small_r"), reason)
    if variance:
        refuse_options(context, ("level", "pairing"), "is for intervals, which --variance lacks")
    if not has_baseline:
        refuse_options(context, ["pairing"], "is for differences; expected --baseline RUN")


def check_settings(level: float, margin: float, measures: list[str], rel: int) -> None:
    """Raise before any work where a level, a margin or a measure will not do."""
    from confir.intervals.documents import check_margin
    from confir.intervals.interval import check_level
    from confir.measures.evaluation import parse_measures
    from confir.studies.collection import check_bounded_measure

    check_level(level)
    check_margin(margin)
    for measure in parse_measures(measures, rel):
        check_bounded_measure(str(measure))


def _check_methods(methods: list[str], *, per_topic: bool) -> list[str]:
    """Return the methods asked for, or the default ones; raise before any work where unknown."""
    from confir.cli.input import check_choice
    from confir.intervals.documents import DOCUMENT_METHODS
    from confir.studies.collection import DEFAULT_MEAN_METHODS, MEAN_METHODS

    known = tuple(DOCUMENT_METHODS) if per_topic else MEAN_METHODS
    for name in methods:
        check_choice("--method", name, known)
    if per_topic and len(methods) > 1:
        raise InvalidValueError("--per-topic takes one --method")
    return methods or (["logit"] if per_topic else list(DEFAULT_MEAN_METHODS))


def resample(
    qrels: str | None,
    runs: list[str],
    measures: list[str],
    *,
    rel: int,
    depth: int | None,
    missing: str,
    intents: str | None,
    name_by: str,
    tie_precision: str,
    replicates: int,
    seed: int,
    jackknife: bool,
    quiet: bool,
    example: str,
) -> DocumentReplicates:
    """Return the scores on resampled collections that a command's arguments ask for.

    Where there is nothing to read, the example tells how to call the command.
    """
    from confir.cli.input import check_reading
    from confir.cli.terminal import Progress
    from confir.resampling.documents import resample_documents

    if qrels is None or not runs:
        raise InvalidValueError(
            "expected QRELS and at least one RUN; documents are needed, so that a score table "
            f"will not do; for example: {example}"
        )
    check_reading(missing, name_by, tie_precision)
    with Progress("resampling the collection", total=None, quiet=quiet) as progress:
        return resample_documents(
            qrels,
            runs,
            measures,
            rel=rel,
            depth=depth,
            missing=cast("Literal['zero', 'drop', 'error']", missing),
            intents=intents,
            name_by=cast("Literal['file', 'tag']", name_by),
            tie_precision=cast("Literal['double', 'single']", tie_precision),
            replicates=replicates,
            rng=seed,
            jackknife=jackknife,
            progress=progress,
        )


def _means(
    sample: DocumentReplicates,
    methods: list[str],
    level: float,
    seed: int,
    *,
    small_r: bool,
    margin: float,
) -> Answer:
    from confir.cli.terminal import Answer
    from confir.report.collection_tables import collection_note, collection_table
    from confir.studies.collection import summarise_means

    means = summarise_means(sample, level=level, methods=methods, small_r=small_r, margin=margin)
    note = f"{collection_note(means)}; {_drawn(sample, seed)}"
    return Answer(means.to_records(), collection_table(means, note), means)


def _topics(
    sample: DocumentReplicates,
    method: str,
    level: float,
    seed: int,
    *,
    small_r: bool,
    margin: float,
) -> Answer:
    from confir.cli.terminal import Answer
    from confir.report.collection_tables import collection_topic_table
    from confir.studies.collection import summarise_topics

    topics = summarise_topics(sample, level=level, method=method, small_r=small_r, margin=margin)
    note = (
        f"score with {100 * level:g} % interval over collections by {method}; relevant documents, "
        f"those in the list, and where the interval is corrected for few of them; "
        f"{_drawn(sample, seed)}"
    )
    return Answer(topics.to_records(), collection_topic_table(topics, note), topics)


def _differences(
    sample: DocumentReplicates,
    baseline: str,
    pairing: str,
    level: float,
    seed: int,
    *,
    per_topic: bool,
    margin: float,
) -> Answer:
    from confir.cli.terminal import Answer
    from confir.report.collection_tables import (
        collection_difference_table,
        collection_topic_difference_table,
    )
    from confir.studies.collection_differences import (
        compare_on_collection,
        compare_topics_on_collection,
        variants_for,
    )

    variants = variants_for(pairing)
    drawn = _drawn(sample, seed)
    what = f"from {baseline} with {100 * level:g} % interval over collections"
    if per_topic:
        alone = [variant for variant in variants if not variant.with_topics]
        topics = compare_topics_on_collection(
            sample, baseline, level=level, variants=alone, margin=margin
        )
        note = f"difference {what}, each topic by itself; {drawn}"
        return Answer(topics.to_records(), collection_topic_difference_table(topics, note), topics)
    result = compare_on_collection(sample, baseline, level=level, variants=variants, margin=margin)
    note = (
        f"difference of means over {len(sample.topics)} topics {what}, runs "
        f"{'both ways' if pairing == 'both' else pairing}; p normal, by Student's t where topics "
        f"vary too, adjusted by holm for {len(result.runs)} runs; {drawn}; w/t/l: topics won, "
        "tied, lost"
    )
    return Answer(result.to_records(), collection_difference_table(result, note), result)


def _variance(
    sample: DocumentReplicates, baseline: str | None, seed: int, *, margin: float
) -> Answer:
    from confir.cli.terminal import Answer
    from confir.order import best_first
    from confir.report.collection_tables import collection_variance_table, variance_note
    from confir.studies.collection_differences import decompose_variance

    result = decompose_variance(sample, baseline=baseline, margin=margin)
    note = f"{variance_note(result, len(sample.topics))}; {_drawn(sample, seed)}"
    ranked = [sample.runs[place] for place in best_first(sample.scores.mean()[:, 0])]
    order = [run for run in ranked if run in result.runs]
    return Answer(result.to_records(), collection_variance_table(result, note, order), result)


def _drawn(sample: DocumentReplicates, seed: int) -> str:
    """Return which topics are left out, how many replicates were drawn, and how many in vain."""
    from confir.report.collection_tables import left_out_note

    text = f"{left_out_note(sample)}{sample.replicates} replicates, seed {seed}"
    dropped = sample.dropped.max(axis=0)
    if dropped.any():
        topics = f"{int((dropped > 0).sum())} of the topics"
        text += (
            f"; in {topics}, {int(dropped.sum())} replicates without relevant documents left out"
        )
    return text
