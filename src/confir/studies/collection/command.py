"""``confir collection``: how much would scores vary over similar collections?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import click

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.input_options import JUDGED
from confir.cli.output import Output
from confir.cli.parameters import Instead, Option, PathRole, Without, refuse_options
from confir.cli.views import TOPICS, TopicsOption, View, Views
from confir.errors import InvalidValueError, SmallSampleWarning, counted, warn_caller

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.data.experiment import Experiment
    from confir.report.tables import Table
    from confir.resampling.document_replicates import DocumentReplicates


# Enough for a standard deviation with a relative error of 10% (Efron & Tibshirani 1993, §6.4).
LEAST_REPLICATES = 50

# The error message of commands that resample documents, if runs are missing.
DOCUMENTS_NEEDED = "; documents are resampled, so a score table is not enough"

_MEASURES = options.measures_option(
    "Measures in [0, 1] (repeatable; confir measures lists them); by default AP."
)
SmallROption = Annotated[
    bool,
    Option(
        "Correct AP near 0 and 1 for few relevant documents.",
        panel=options.STATISTICS_PANEL,
        names=("--small-r/--no-small-r",),
    ),
]

# Options of means and of differences from a baseline.
_MEANS_OPTIONS = ("baseline", "pairing", "method", "small_r", "epsilon")

VIEWS = Views(
    View("means", "means with intervals", "collection-mean", lacks=("baseline", "pairing")),
    View(
        "pairs",
        "differences from the baseline, without one of all pairs",
        "difference",
        paired="collection-difference",
        lacks=("method", "small_r"),
    ),
    View("best", "which runs may be the best", "best", lacks=_MEANS_OPTIONS),
    View(
        "groups",
        "groups of runs that do not differ significantly",
        "group",
        lacks=_MEANS_OPTIONS,
    ),
    View("ranks", "ranks with intervals", "rank", lacks=_MEANS_OPTIONS),
    View(
        TOPICS,
        "every topic, with --baseline its difference",
        "collection-topic",
        paired="collection-topic-difference",
    ),
    View(
        "variance",
        "the variance from topics, from documents and from their interaction, with --baseline that "
        "of differences",
        "collection-variance",
        lacks=("method", "small_r", "level", "pairing"),
    ),
    paired="pairs",
)

# Views of all runs, as `confir compare` has them; with a baseline, pairs are the differences from it.
_OF_RUNS = ("best", "pairs", "groups", "ranks")


def collection_command(
    *,
    inputs: Annotated[
        Inputs, Without("scores", "columns", "bounded", *JUDGED), Instead(measure=_MEASURES)
    ],
    show: Annotated[str | None, VIEWS.option()] = None,
    topics: TopicsOption = False,
    baseline: Annotated[
        str | None,
        Option(
            "Compare the other runs with this one: its name or its file.", "RUN", path=PathRole.RUN
        ),
    ] = None,
    pairing: Annotated[
        str,
        Option(
            "With --baseline: both runs on the same collections, or each on its own.",
            panel=options.STATISTICS_PANEL,
            choices=("paired", "independent", "both"),
        ),
    ] = "paired",
    method: Annotated[
        list[str] | None,
        Option(
            "For means: bootstrap (default), parametric, bootstrap-with-topics (repeatable). "
            "With --show topics: a method over documents (default logit; confir methods lists them).",
            "NAME",
            panel=options.STATISTICS_PANEL,
        ),
    ] = None,
    small_r: SmallROption = True,
    statistics: options.DocumentStatistics,
    out: Output,
) -> None:
    """Estimate how much scores would vary over similar collections (Cormack & Lynam 2006).

    For example:

    - `confir collection qrels.txt bm25.run dense.run`
    - `confir collection qrels.txt bm25.run dense.run --baseline bm25`
    - `confir collection qrels.txt bm25.run dense.run --show variance`
    """
    view = VIEWS.choose(inputs.context, show, topics=topics)
    _check_baseline(inputs.context, has_baseline=baseline is not None)
    chosen = _check_methods(method or [], statistics, per_topic=view.name == TOPICS)
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
    if view.name == "variance":
        answer = _variance(sample, statistics, against)
    elif against is not None:
        answer = _differences(view.name, sample, statistics, against, pairing)
    elif view.name in _OF_RUNS:
        answer = _runs(view.name, sample, statistics, out)
    else:
        answer = _means_or_topics(view.name, sample, statistics, chosen, small_r=small_r)
    out.deliver(answer)


def _check_baseline(context: click.Context, *, has_baseline: bool) -> None:
    """Raise if options are for differences and there are none, or for means and there are."""
    if has_baseline:
        refuse_options(
            context, ("method", "small_r"), "is for means and topics, not for differences"
        )
    else:
        refuse_options(context, ["pairing"], "is for differences; expected --baseline RUN")


def check_settings(
    statistics: options.DocumentStatistics, measures: Sequence[str], rel: int
) -> None:
    """Raise before any work if epsilon or a measure is invalid."""
    from confir.intervals.standard_error import check_epsilon, unbounded_error
    from confir.measures.parsing import definition_bound, parse_measures

    check_epsilon(statistics.epsilon)
    for measure in parse_measures(list(measures), rel):
        if definition_bound(str(measure)) is False:
            raise unbounded_error(str(measure))


def _check_methods(
    methods: list[str], statistics: options.DocumentStatistics, *, per_topic: bool
) -> list[str]:
    """Return the methods requested, or the default; raise or warn before any work."""
    from confir.arguments import as_choices
    from confir.intervals.confidence_intervals import check_tails
    from confir.intervals.method_list import DEFAULT_SCORE_METHOD, find_method
    from confir.studies.collection.collection_means import DEFAULT_MEAN_METHODS, MEAN_METHODS

    if not per_topic:
        named = methods or DEFAULT_MEAN_METHODS
        return list(as_choices("methods", named, MEAN_METHODS, "method for means"))
    if len(methods) > 1:
        raise InvalidValueError("--show topics takes one --method")
    chosen = methods or [DEFAULT_SCORE_METHOD]
    asked = find_method(chosen[0], "documents")
    if "replicates" in asked.needs and asked.counts:  # its limits are quantiles of the replicates
        check_tails(statistics.replicates, statistics.level)
    return chosen


def resample(
    experiment: Experiment,
    statistics: options.DocumentStatistics,
    *,
    jackknife: bool = False,
    quiet: bool,
) -> DocumentReplicates:
    """Return the scores on resampled collections, as the options of a command say."""
    from confir.cli.progress import Progress
    from confir.resampling.document_bootstrap import resample_documents

    if statistics.replicates < LEAST_REPLICATES:
        give = "gives" if statistics.replicates == 1 else "give"
        warn_caller(
            f"{counted(statistics.replicates, 'replicate')} of the collection {give} a rough standard "
            f"deviation; a stable interval needs {LEAST_REPLICATES} or more",
            SmallSampleWarning,
        )
    with nullcontext() if quiet else Progress("resampling the collection", total=None) as progress:
        return resample_documents(
            experiment,
            replicates=statistics.replicates,
            rng=statistics.seed,
            jackknife=jackknife,
            progress=progress,
        )


def _means_or_topics(
    view: str,
    sample: DocumentReplicates,
    statistics: options.DocumentStatistics,
    methods: list[str],
    *,
    small_r: bool,
) -> Answer:
    """Return means or scores of topics, with intervals."""
    from confir.cli.answers import result_answer
    from confir.studies.collection.collection_means import summarise_means
    from confir.studies.collection.collection_topics import summarise_topics

    scale: dict[str, Any] = {"level": statistics.level, "epsilon": statistics.epsilon}
    if view == TOPICS:
        topics = summarise_topics(sample, method=methods[0], small_r=small_r, **scale)
        answer = result_answer(topics)
    else:
        means = summarise_means(sample, methods=methods, small_r=small_r, **scale)
        answer = result_answer(means)
    return answer._replace(table=_noted(answer.table, _drawn(sample, statistics.seed)))


def _differences(
    view: str,
    sample: DocumentReplicates,
    statistics: options.DocumentStatistics,
    baseline: str,
    pairing: str,
) -> Answer:
    """Return differences of means or of topics from the baseline."""
    from confir.cli.answers import result_answer
    from confir.studies.collection.collection_differences import compare_on_collection, variants_for
    from confir.studies.collection.collection_topic_differences import compare_topics_on_collection

    scale: dict[str, Any] = {"level": statistics.level, "epsilon": statistics.epsilon}
    variants, notes = variants_for(pairing), _drawn(sample, statistics.seed)
    if view == TOPICS:
        variants = tuple(one for one in variants if not one.with_topics)
        answer = result_answer(
            compare_topics_on_collection(sample, baseline, variants=variants, **scale)
        )
    else:
        answer = result_answer(compare_on_collection(sample, baseline, variants=variants, **scale))
        notes.append("w/t/l: topics won, tied, lost")
    return answer._replace(table=_noted(answer.table, notes))


def _variance(
    sample: DocumentReplicates, statistics: options.DocumentStatistics, baseline: str | None
) -> Answer:
    from confir.arrays import best_first
    from confir.cli.answers import Answer
    from confir.studies.collection.collection_means import decompose_variance
    from confir.studies.collection.table import collection_variance_table, variance_note

    result = decompose_variance(sample, baseline=baseline, epsilon=statistics.epsilon)
    notes = [variance_note(result, len(sample.topics)), *_drawn(sample, statistics.seed)]
    ranked = [sample.runs[place] for place in best_first(sample.scores.mean()[:, 0])]
    order = [run for run in ranked if run in result.runs]
    return Answer(
        result.to_records(), collection_variance_table(result, "; ".join(notes), order), result
    )


def _runs(
    view: str,
    sample: DocumentReplicates,
    statistics: options.DocumentStatistics,
    out: Output,
) -> Answer:
    """Return a view of all runs, whose notes say what was resampled."""
    from confir.studies.comparison.command import show_runs

    answer = show_runs(view, sample, statistics, in_parts=out.in_parts)
    notes = sample.sampling_note(), *_drawn(sample, None), f"seed {statistics.seed}"
    parts = [
        part if part.table is None else part._replace(table=_noted(part.table, notes))
        for part in answer.parts
    ]
    return answer._replace(table=_noted(answer.table, notes), parts=parts)


def _noted(table: Table, notes: Iterable[str]) -> Table:
    """Return a table with further parts in its note, but for those that it has already."""
    from dataclasses import replace

    missing = [note for note in notes if note not in table.note]
    return replace(table, note="; ".join([table.note, *missing]))


def _drawn(sample: DocumentReplicates, seed: int | None) -> list[str]:
    """Return the topics left out, the number of replicates, and how many of them were undefined."""
    from confir.studies.collection.table import left_out_note

    drawn = counted(sample.replicates, "replicate")
    notes = [left_out_note(sample), drawn if seed is None else f"{drawn}, seed {seed}"]
    dropped = sample.dropped.max(axis=0)
    if dropped.any():
        undefined = counted(int(dropped.sum()), "replicate")
        notes.append(
            f"in {int((dropped > 0).sum())} of the topics, {undefined} without relevant documents "
            "left out"
        )
    return [note for note in notes if note]
