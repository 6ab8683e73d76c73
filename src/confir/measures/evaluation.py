"""Evaluation: from qrels and runs to scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Unpack, cast

import numpy as np

from confir.arguments import as_function
from confir.arrays import Floats
from confir.data.common_topics import name_topics, warn_of_left_out_topics
from confir.data.experiment import Experiment, as_experiment, on_its_scheduler
from confir.data.files import PathLike
from confir.data.formats.format import RunSource
from confir.data.formats.sources import read_source
from confir.data.qrels import Qrels
from confir.data.ranked_lists.held_lists import HeldLists
from confir.data.ranked_lists.list_reader import Ranked, read_rankings
from confir.data.ranked_lists.rankings import Rankings, stack_rankings
from confir.data.reading_rules import Missing, ReadingOptions, ReadingRules, takes_rules
from confir.data.run import Run
from confir.data.scores import Scores
from confir.defaults import SEED
from confir.errors import (
    InvalidValueError,
    MissingTopicWarning,
    NothingRelevantWarning,
    TopicMismatchError,
    UnknownTopicWarning,
    enumerate_names,
    warn_caller,
)
from confir.measures.foreign_measures import ForeignMeasure, rank_for_ir_measures
from confir.measures.measure import AnyMeasure, Measure
from confir.measures.measure_list import DEFAULT_MEASURES
from confir.measures.parsing import parse_measures
from confir.parallel import CURRENT_SCHEDULER, Progress, run_in_threads

# Judged documents measured together: enough to spread the cost of a numpy call, few enough for the
# processor's cache.
_JUDGED_PER_BATCH = 200_000


@on_its_scheduler
@takes_rules
def evaluate(
    qrels: Experiment | Qrels | PathLike | Mapping[str, Any] | Any,
    runs: Run | PathLike | Sequence[Any] | Mapping[str, Any] | Any = None,
    measures: str | Measure | Sequence[str | Measure | Callable[..., float]] | None = None,
    *,
    human: Any = None,
    human_sample: str | None = None,
    rng: int | np.random.Generator | None = SEED,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> Scores:
    """Return the scores of runs by measures on every topic of the qrels.

    Scores by topic, rather than means, are what all else needs: intervals, comparisons and plans
    follow from how they vary. Runs and measures are scored together, so that all share the topics.

    Parameters
    ----------
    qrels, runs
        Files, or objects: dicts, data frames, and those of ranx and ir_measures. Runs may also be
        a glob, a directory, a list, or a mapping of names to any of these. Or an `Experiment`
        alone, which has both and its own rules.
    measures
        Names such as "nDCG@10"; measures of confir or ir_measures; or functions of one list: the
        gains in rank order, NaN where unjudged, and the gains of all judged documents of the topic.
        By default those of the experiment, else DEFAULT_MEASURES.
    human, human_sample
        Human judgements of some topics, where ``qrels`` are a model's, and how these were sampled:
        "random-topics", or "all" topics. This gives `JudgedScores`, whose means, differences and
        ranks are those by human judgements, estimated from both. With "random-documents", human judgements
        have the probability with which each document was drawn (a fifth column; a mapping topic →
        docid → (gain, probability)), and scores are `SampledScores`.
    rng
        Seed or generator of the replicates of that draw, which tell how far scores that are ratios
        vary by it.
    progress
        Called with the number of runs, or of parts of a Parquet dataset, that have been read since
        the last call.
    **rules
        How qrels and runs are read, and topics scored: the keywords of `ReadingRules`.

    Examples
    --------
    >>> qrels = {"1": {"d1": 1, "d2": 0}, "2": {"d3": 2}}
    >>> runs = {"a": {"1": {"d1": 2.0, "d9": 1.0}, "2": {"d3": 1.0}}}
    >>> confir.evaluate(qrels, runs, ["AP", "P@2"]).mean()
    array([[1. , 0.5]])
    """
    judged = (human, human_sample)
    experiment = as_experiment(qrels, runs, rules, judged, rng=rng)
    wanted = chosen_measures(experiment, measures)
    as_function("progress", progress)
    if measures is None and "scores" in experiment.kept:
        return cast("Scores", experiment.kept["scores"])
    if "lists" not in experiment.kept:  # studies of lists use the rules for more than scores
        warn_of_unused_rules(experiment.rules, wanted, chosen_measures(experiment, measures, rel=1))
    if experiment.human is not None:
        from confir.measures.human_evaluation import evaluate_human_judged

        scores = evaluate_human_judged(experiment, wanted, progress)
    else:
        scores = _evaluate(experiment, wanted, progress, whole=experiment is qrels)
        scores = experiment.rules.with_design(scores)
        if not all(scores.inside):
            warn_of_gains_above_one(scores, wanted)
    if measures is None:
        experiment.kept["scores"] = scores
    return scores


def _evaluate(
    experiment: Experiment, wanted: list[AnyMeasure], progress: Progress | None, *, whole: bool
) -> Scores:
    """Return the scores by one judge; lists are kept where the ``whole`` of them may be needed."""
    if experiment.judgement_dataset is None:
        judged = experiment.qrels  # whose faults are named before those of runs
    if experiment.run_datasets:
        from confir.measures.partitioned_evaluation import evaluate_partitions

        return evaluate_partitions(experiment, wanted).hold(progress)
    judged = experiment.qrels
    if (
        CURRENT_SCHEDULER.get() is not None
        and "lists" not in experiment.kept
        and experiment.is_in_files
    ):
        from confir.measures.worker_evaluation import evaluate_on_workers

        return evaluate_on_workers(experiment, wanted, progress)
    if whole and "lists" not in experiment.kept and experiment.reads_lists_at_once:
        experiment.lists(progress)
    lists, rules = experiment.kept.get("lists"), experiment.rules
    foreign = any(isinstance(measure, ForeignMeasure) for measure in wanted)
    runs: Sequence[Run] = ()  # whole ones, at which ir_measures looks
    if lists is None or (foreign and not isinstance(lists, HeldLists)):
        ranked, runs = rank_sources(judged, experiment.sources, wanted, rules, progress)
    else:
        ranked = list(zip(lists.rankings(), lists.unknown, strict=True))
        if foreign and isinstance(lists, HeldLists):
            held = map(lists.run, range(len(lists.runs)))
            runs = [rank_for_ir_measures(run, rules) for run in held]
    return score_rankings(
        judged, ranked, wanted, depth=rules.depth, missing=rules.missing, runs=runs
    )


def evaluate_lists(experiment: Experiment, progress: Progress | None = None) -> Scores:
    """Return what `evaluate` does, from whole lists: for studies that need these as well.

    They look at some topics at a time, unless there are human judgements, too.
    """
    chosen_measures(experiment)  # whose names are checked before anything is read
    if experiment.human is None:
        experiment.lists_by_topic(progress)
    else:
        experiment.lists(progress)
    return evaluate(experiment)


def score_lists(lists: HeldLists, measures: Any, rules: ReadingRules) -> Scores:
    """Return the scores of lists that were read already, by the judgements that they have."""
    experiment = Experiment(lists.qrels, (), measures, **rules.keywords())
    experiment.kept.update(lists=lists, sources=())
    return evaluate(experiment)


def chosen_measures(
    experiment: Experiment,
    measures: Any = None,
    default: Sequence[str] = DEFAULT_MEASURES,
    *,
    rel: int | None = None,
) -> list[AnyMeasure]:
    """Return the measures that a verb was given, or else those of the experiment, or the default.

    They take the ``rel`` of the experiment by default.
    """
    named = experiment.measures if measures is None else measures
    rel = experiment.rules.rel if rel is None else rel
    return parse_measures(default if named is None else named, rel)


def score_rankings(
    qrels: Qrels,
    ranked: Sequence[Ranked],
    measures: Sequence[AnyMeasure],
    *,
    depth: int | None,
    missing: Missing,
    runs: Sequence[Run] = (),
) -> Scores:
    """Return the scores of runs whose judged documents are known.

    Parameters
    ----------
    qrels, ranked
        The judgements; the rankings of each run, and its topics that the qrels lack.
    measures, depth, missing
        As in `evaluate`.
    runs
        The runs themselves if measures of ir_measures look at them, as `rank_for_ir_measures`
        returns them.
    """
    parts = [part for part, _ in ranked]
    check_ranked(qrels, ranked, measures, missing)
    values = measure_rankings(qrels, parts, measures, depth=depth, missing=missing, runs=runs)
    return Scores(
        topics=qrels.topics,
        runs=tuple(name for part in parts for name in part.runs),
        measures=tuple(str(measure) for measure in measures),
        values=np.ascontiguousarray(values.transpose(2, 1, 0)),
    )


def measure_rankings(
    qrels: Qrels,
    parts: Sequence[Rankings],
    measures: Sequence[AnyMeasure],
    *,
    depth: int | None,
    missing: Missing,
    runs: Sequence[Run] = (),
) -> Floats:
    """Return the scores of rankings, measures × runs × topics; parameters as in `score_rankings`."""
    parts = [part if depth is None else part.cut(depth) for part in parts]
    few = sum(len(part.documents) for part in parts) < _JUDGED_PER_BATCH
    batches = [stack_rankings(batch) for batch in ([parts] if few else _batches(parts))]
    relevant = [batch.at_least(1) for batch in batches]

    def scored(measure: AnyMeasure) -> Floats:
        if isinstance(measure, ForeignMeasure):
            return np.stack([measure(qrels, run) for run in runs])
        seen = batches if measure.looks_at_judged else relevant
        return np.concatenate([measure(batch)[:, :, 0] for batch in seen])

    foreign = any(isinstance(measure, ForeignMeasure) for measure in measures)
    in_turn = foreign or few
    values = np.stack(list(map(scored, measures)) if in_turn else run_in_threads(scored, measures))
    present = np.concatenate([part.present for part in parts])
    if missing == "drop":
        values[:, ~present] = np.nan
    return values


def rank_sources(
    qrels: Qrels,
    sources: Sequence[Run | RunSource],
    measures: Sequence[AnyMeasure],
    rules: ReadingRules,
    progress: Progress | None = None,
    identical: dict[str, int] | None = None,
) -> tuple[list[Ranked], list[Run]]:
    """Return the rankings of each run with its topics that the qrels lack, and whole runs.

    The latter are for ir_measures, and none if it looks at none. ``identical`` is as in
    `read_rankings`.
    """
    whole: list[Run] = []
    if any(isinstance(measure, ForeignMeasure) for measure in measures):
        sources = whole = [read_source(source, rules.name_by) for source in sources]
    ranked = read_rankings(
        qrels,
        sources,
        tie_precision=rules.tie_precision,
        lowest_gain=None if any(measure.looks_at_judged for measure in measures) else 1,
        name_by=rules.name_by,
        progress=progress,
        exclusions=rules.reading.exclusions,
        identical=identical,
    )
    return ranked, [rank_for_ir_measures(run, rules) for run in whole]


def _batches(parts: Sequence[Rankings]) -> Iterable[list[Rankings]]:
    batch: list[Rankings] = []
    size = 0
    for part in parts:
        if batch and size + len(part.documents) > _JUDGED_PER_BATCH:
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += len(part.documents)
    yield batch


def check_ranked(
    qrels: Qrels, ranked: Sequence[Ranked], measures: Sequence[AnyMeasure], missing: Missing
) -> None:
    """Raise or warn where runs share a name, or where runs, qrels and measures do not fit."""
    names = [name for part, _ in ranked for name in part.runs]
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise InvalidValueError(
            f"several runs are named {repeated[0]!r}, by their tags or otherwise; name them as in "
            "one=PATH other=PATH"
        )
    check_topics(qrels, ranked, missing)
    levels, counts = qrels.count_by_gain()
    without = counts[:, levels >= 1].sum(axis=1) == 0
    highest = int(levels.max(initial=0))
    if without.any() or any(measure.lowest_gain > max(highest, 1) for measure in measures):
        topics = [qrels.topics[place] for place in np.flatnonzero(without)]
        shares = f"{len(topics)} of {len(qrels.topics)} topics ({enumerate_names(topics)})"
        warn_of_nothing_relevant(shares if topics else "", highest, measures)


def warn_of_unused_rules(
    rules: ReadingRules, wanted: Sequence[AnyMeasure], without_rel: Sequence[AnyMeasure]
) -> None:
    """Warn if ``rel`` or ``intents`` are given, and no measure depends on them.

    ``without_rel`` are the measures as they would be without ``rel``.
    """
    shown = enumerate_names(map(str, wanted), 5)
    if rules.rel != 1 and wanted == without_rel:
        warn_caller(
            f"rel={rules.rel} has no effect on {shown}; expected a measure that takes rel and does not "
            "state it, such as AP"
        )
    needs = [one.definition.needs for one in wanted if isinstance(one, Measure)]
    if rules.intents is not None and "intents" not in needs:
        warn_caller(
            f"intents have no effect on {shown}; expected a measure with intents, such as D_nDCG@10, "
            "DS_nDCG@10 or StRecall@10"
        )


def warn_of_gains_above_one(scores: Scores, measures: Sequence[AnyMeasure]) -> None:
    """Warn of scores above 1 by RBP, whose gains are those of the qrels unless it says otherwise."""
    highest = np.nanmax(scores.values, axis=(0, 1), initial=0.0)
    for measure, score in zip(measures, highest.tolist(), strict=True):
        if score <= 1.0 or not isinstance(measure, Measure) or not measure.definition.in_gains:
            continue
        if measure.keywords.keys().isdisjoint(("rel", "gains")):
            warn_caller(
                f"{measure} is up to {score:.2f} on a topic, above 1: it takes the grades of the qrels for "
                "gains; expected a gain for each grade, as gains='1:0.5,2:1' gives, or rel"
            )


def check_topics(qrels: Qrels, ranked: Sequence[Ranked], missing: Missing) -> None:
    """Raise or warn where runs and qrels have different topics."""
    lacking: dict[str, list[str]] = {}
    unknown: dict[str, list[str]] = {}
    for rankings, extra in ranked:
        name = rankings.runs[0]
        if not rankings.present.any():
            shown = enumerate_names(extra, 3) if extra else "none"
            raise TopicMismatchError(
                f"run {name!r} and the qrels have no topic in common: the run has {shown}, "
                f"the qrels have {enumerate_names(qrels.topics, 3)}"
            )
        absent = np.flatnonzero(~rankings.present[0]).tolist()
        if absent:
            lacking[name] = [qrels.topics[i] for i in absent]
        if extra:
            unknown[name] = list(extra)
    if lacking and missing == "drop":
        present = np.concatenate([rankings.present for rankings, _ in ranked])
        same = bool((present == present[0]).all())
        warn_of_left_out_topics(lacking, "of the qrels", same=same)
    if lacking or unknown:
        without = name_topics(lacking) if lacking else ""
        report_topics(without, name_topics(unknown, verb="has") if unknown else "", missing)


def report_topics(lacking: str, unknown: str, missing: Missing) -> None:
    """Raise or warn of runs that lack topics of the qrels or have others; both are named in words."""
    if lacking and missing == "error":
        raise TopicMismatchError(f"{lacking} of the qrels; expected all of them")
    if lacking and missing == "zero":
        warn_caller(f"{lacking} of the qrels, scored 0", MissingTopicWarning)
    if unknown:
        warn_caller(f"{unknown} that the qrels lack, left out", UnknownTopicWarning)


def warn_of_nothing_relevant(without: str, highest: int, measures: Sequence[AnyMeasure]) -> None:
    """Warn of topics without relevant documents, named in words, and where ``rel`` is above every gain."""
    if without:
        warn_caller(
            f"the qrels have no relevant document for {without}, which are scored as in trec_eval, 0 "
            "by most measures",
            NothingRelevantWarning,
        )
    asking = [str(measure) for measure in measures if measure.lowest_gain > max(highest, 1)]
    if asking:
        warn_caller(
            f"no document has a gain as high as {enumerate_names(asking)} asks for: the highest is "
            f"{highest}",
            NothingRelevantWarning,
        )
