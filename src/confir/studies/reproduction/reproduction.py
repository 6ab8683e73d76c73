"""Is a run reproduced? Its lists and its scores, compared with those of reproductions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from confir.arguments import as_choice, as_function, as_integer, as_level, as_list, as_real
from confir.arrays import Booleans, Floats, Integers
from confir.data.formats.objects import as_runs
from confir.data.formats.run_readers import read_source
from confir.data.reading_rules import ReadingOptions, ReadingRules, takes_rules
from confir.data.result import Result, Variable, axis, constant, over, result
from confir.data.run import Run
from confir.data.sampling.design import refuse_design
from confir.data.scores import Scores
from confir.defaults import LEVEL, OVERLAP_DEPTH, PERSISTENCE, SEED
from confir.errors import (
    DegenerateSampleWarning,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.measures.evaluation import evaluate
from confir.parallel import Progress
from confir.resampling.topic_bootstrap import Rng
from confir.studies.comparison.compare import compare_runs
from confir.studies.comparison.verdicts import EQUIVALENT, IDENTICAL, OPPOSITE, Words
from confir.studies.reproduction.effect_ratio import EffectRatio, effect_ratio
from confir.studies.reproduction.list_overlap import (
    TIE_VARIANTS,
    ListOverlap,
    TieVariant,
    compare_lists,
)

IDENTICAL_LISTS, IDENTICAL_SCORES = "identical lists", "identical scores"
DIFFERENT, DIFFERENT_LISTS, INCONCLUSIVE = "different", "different lists", "inconclusive"
# Verdicts of a run that is reproduced, within the margin.
REPRODUCED = (IDENTICAL_LISTS, EQUIVALENT, IDENTICAL_SCORES)
AGREEMENTS = (*REPRODUCED, DIFFERENT, INCONCLUSIVE, DIFFERENT_LISTS)


class ScoreDifferences(NamedTuple):
    """Scores of reproductions less those of the original: arrays are runs × measures.

    Attributes
    ----------
    topics
        Topics that both runs have.
    rmse
        Root mean square of the differences over topics.
    difference, low, high, open_end
        Mean difference with its interval, simultaneous for several reproductions; 1 or -1 where
        its lower or upper end is 0 and excluded.
    largest, largest_topic
        The difference that is largest in absolute value, and its topic.
    p_equivalence
        Of two one-sided t tests against the margin, adjusted for several reproductions; NaN
        without a margin.
    reason
        What interval and verdict leave open, in words; mostly empty.
    words
        The comparison's verdict: better, worse, equivalent, identical or inconclusive.
    """

    topics: Integers
    rmse: Floats
    difference: Floats
    low: Floats
    high: Floats
    open_end: Integers
    largest: Floats
    largest_topic: Words
    p_equivalence: Floats
    reason: Any
    words: Words


@result
class Reproduction(Result):
    """How far reproductions agree with an original run.

    Attributes
    ----------
    original, runs, measures
        Names of the original, of its reproductions, and of the measures; none without qrels.
    lists
        How far the lists agree on every topic; ``identical``, ``overlap`` and ``rbo`` are means
        over the topics that either run has.
    scores
        Scores of the original and of its reproductions; None without qrels.
    differences
        What `ScoreDifferences` says; None without qrels.
    effects
        Effect ratio with limits and ΔRI of each reproduction; None without baseline runs.
    margin
        Margin of equivalence; None without one.
    level
        Confidence level.
    """

    original: str = constant()
    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    lists: ListOverlap
    scores: Scores | None
    differences: ScoreDifferences | None = over("run", "measure")
    effects: EffectRatio | None = over("run", "measure")
    margin: float | None = constant()
    level: float = constant()

    record_columns = (
        *("original", "run", "measure", "verdict", "lists", "identical", "overlap"),
        *("overlap_depth", "rbo", "persistence", "topics", "rmse", "difference", "low", "high"),
        *("level", "open", "largest", "largest_topic", "margin", "p_equivalence", "reason"),
        *("effect_ratio", "effect_ratio_low", "effect_ratio_high", "delta_ri"),
    )
    optional_columns = (
        *("measure", "topics", "rmse", "difference", "low", "high", "open", "largest"),
        *("largest_topic", "p_equivalence", "reason", *record_columns[-4:]),
    )

    def axes(self) -> dict[str, Sequence[Any]]:
        """Return runs and, with qrels, measures."""
        return {"run": self.runs, **({"measure": self.measures} if self.measures else {})}

    def derived(self) -> Iterator[Variable]:
        """Yield verdicts, what the lists show, and what the scores show."""
        by_run, by_measure = ("run",), ("run", "measure")
        yield Variable("verdict", by_measure if self.measures else by_run, self.verdict)
        yield Variable("lists", by_run, (~np.isnan(self.lists.rbo)).sum(axis=0))
        for name in ("identical", "overlap", "rbo"):
            yield Variable(name, by_run, getattr(self, name))
        yield Variable("overlap_depth", (), self.lists.depth)
        yield Variable("persistence", (), self.lists.persistence)
        if self.differences is not None:
            ends = np.array([None, "low", "high"], object)  # high for -1
            for name in ScoreDifferences._fields[:-1]:
                if name != "open_end":
                    yield Variable(name, by_measure, getattr(self.differences, name))
            yield Variable("open", by_measure, ends[self.differences.open_end])
        if self.effects is not None:
            names = ("effect_ratio", "effect_ratio_low", "effect_ratio_high", "delta_ri")
            for name, values in zip(names, self.effects, strict=True):
                yield Variable(name, by_measure, values)

    @property
    def identical(self) -> Floats:
        """Share of identical lists, by run."""
        return _mean(self.lists.identical)

    @property
    def overlap(self) -> Floats:
        """Mean overlap of the first documents, by run."""
        return _mean(self.lists.overlap)

    @property
    def rbo(self) -> Floats:
        """Mean rank-biased overlap, by run."""
        return _mean(self.lists.rbo)

    @property
    def verdict(self) -> Words:
        """The verdict on each reproduction, by measure with qrels: the first that is true."""
        same = self.identical == 1.0
        if self.differences is None:
            return np.where(same, IDENTICAL_LISTS, DIFFERENT_LISTS)
        found = self.differences.words
        differs = np.isin(found, tuple(OPPOSITE))
        return np.select(
            [
                np.broadcast_to(same[:, None], found.shape),
                found == EQUIVALENT,
                found == IDENTICAL,
                differs,
            ],
            [IDENTICAL_LISTS, EQUIVALENT, IDENTICAL_SCORES, DIFFERENT],
            INCONCLUSIVE,
        )

    @property
    def reproduced(self) -> Booleans:
        """Whether each reproduction passes as one, by measure with qrels.

        Its lists are identical; with a margin, or its scores identical or equivalent; without a
        margin, or its scores not significantly different.
        """
        verdict = self.verdict
        strict = self.differences is None or self.margin is not None
        passing: Booleans = np.isin(verdict, REPRODUCED) if strict else verdict != DIFFERENT
        return passing


@takes_rules
def compare_reproduction(
    original: Any,
    runs: Any,
    qrels: Any = None,
    measures: Any = None,
    *,
    baseline_runs: Sequence[Any] | None = None,
    margin: float | None = None,
    overlap_depth: int = OVERLAP_DEPTH,
    persistence: float = PERSISTENCE,
    ties: TieVariant | None = None,
    level: float = LEVEL,
    replicates: int | None = None,
    rng: Rng = SEED,
    progress: Progress | None = None,
    **rules: Unpack[ReadingOptions],
) -> Reproduction:
    """Return how far the lists and scores of reproductions agree with those of a run.

    Parameters
    ----------
    original, runs
        The run, and its reproductions, as `evaluate` takes runs.
    qrels, measures, progress, **rules
        As in `evaluate`; without qrels, only the lists are compared.
    baseline_runs
        The baseline that the original improves on, and its reproduction: for effect ratio and ΔRI.
    margin
        Mean differences smaller than this do not matter: equivalence is tested (TOST).
    overlap_depth
        Documents of each list whose overlap is measured.
    persistence, ties
        p of RBO, and its variant for tied documents: "a" or "b" (Corsi & Urbano 2024); by default
        ties are broken as trec_eval breaks them.
    level, replicates, rng
        As in `compare_runs`.

    Examples
    --------
    >>> original, new = {"1": {"d": 2.0, "e": 1.0}}, {"1": {"d": 1.0, "e": 2.0}}
    >>> confir.compare_reproduction(original, new).rbo
    array([0.9])
    """
    reading = ReadingRules(**rules)
    about_scores = (measures, baseline_runs, margin)
    if qrels is None and any(one is not None for one in about_scores):
        raise InvalidValueError(
            "measures, baseline_runs and margin are about scores; expected qrels with them"
        )
    if baseline_runs is not None:
        refuse_design(reading.design, "the effect ratio")
    level = as_level(level)
    as_function("progress", progress)
    as_integer("overlap_depth", overlap_depth)
    as_real("persistence", persistence, above=0.0, below=1.0)
    if ties is not None:
        as_choice("ties", ties, TIE_VARIANTS)
    if margin is not None:
        as_real("margin", margin, above=0.0)
    read = _read_all(original, runs, baseline_runs, reading, progress)
    _check_topics(read.original, read.runs)
    lists = compare_lists(
        read.original,
        read.runs,
        depth=overlap_depth,
        persistence=persistence,
        ties=ties,
        cut=reading.depth,
        tie_precision=reading.tie_precision,
    )
    scores = differences = effects = None
    if qrels is not None:
        every = [read.original, *read.runs, *read.baselines]
        found = evaluate(qrels, every, measures, **rules)
        scores = found.select(run=found.runs[: 1 + len(read.runs)])
        compared = {"margin": margin, "level": level, "replicates": replicates, "rng": rng}
        differences = _compare_scores(scores, compared)
        if read.baselines:
            effects = _effects(found.values, level)
    return Reproduction(
        original=read.original.name,
        runs=lists.runs,
        measures=() if scores is None else scores.measures,
        lists=lists,
        scores=scores,
        differences=differences,
        effects=effects,
        margin=margin,
        level=level,
    )


def _mean(values: Floats) -> Floats:
    """Return the mean of each column over the topics that have a list, summed column by column."""
    mean: Floats = np.nanmean(np.ascontiguousarray(values.T), axis=1)
    return mean


class _ReadRuns(NamedTuple):
    """The original, its reproductions, and either two baseline runs or none."""

    original: Run
    runs: list[Run]
    baselines: list[Run]


def _read_all(
    original: Any,
    runs: Any,
    baseline_runs: Sequence[Any] | None,
    rules: ReadingRules,
    progress: Progress | None,
) -> _ReadRuns:
    """Return all runs under names of their own: reproductions are often called as the original."""
    reproductions = _read(runs, rules, progress)
    names = [run.name for run in reproductions]
    first = _read_one("original", original, rules, progress)
    first = replace(first, name=_other_name(first.name, names, "original"))
    baselines = [] if baseline_runs is None else as_list("baseline_runs", baseline_runs)
    if baselines and len(baselines) != 2:
        raise InvalidValueError(
            f"baseline_runs has {counted(len(baselines), 'run')}; expected the original baseline and "
            "its reproduction"
        )
    read: list[Run] = []
    for kind, source in zip(("baseline", "reproduced baseline"), baselines, strict=False):
        run = _read_one("baseline_runs", source, rules, progress)
        taken = [first.name, *names, *(one.name for one in read)]
        read.append(replace(run, name=_other_name(run.name, taken, kind)))
    return _ReadRuns(first, reproductions, read)


def _read(source: Any, rules: ReadingRules, progress: Progress | None) -> list[Run]:
    """Return the runs that a source stands for."""
    found = []
    for run in as_runs(source, rules.reading, rules.name_by):
        found.append(run if isinstance(run, Run) else read_source(run, rules.name_by))
        if progress is not None:
            progress(1)
    return found


def _read_one(name: str, source: Any, rules: ReadingRules, progress: Progress | None) -> Run:
    """Return the one run that a source stands for."""
    found = _read(source, rules, progress)
    if len(found) != 1:
        raise InvalidValueError(
            f"{name} stands for {len(found)} runs ({enumerate_names([run.name for run in found], 5)}); "
            "expected one"
        )
    return found[0]


def _other_name(name: str, taken: Sequence[str], kind: str) -> str:
    """Return a name that no other run has: its own, or that with its kind."""
    while name in taken:
        name = f"{name} ({kind})"
    return name


def _check_topics(original: Run, runs: Sequence[Run]) -> None:
    """Raise where two runs share no topic; warn where one lacks some of the other's."""
    for run in runs:
        if not set(original.topics) & set(run.topics):
            raise TopicMismatchError(
                f"runs {original.name!r} and {run.name!r} have no topic in common; expected runs on the "
                "same topics"
            )
        for one, other in ((original, run), (run, original)):
            lacking = sorted(set(other.topics) - set(one.topics))
            if lacking:
                warn_caller(
                    f"run {one.name!r} lacks {counted(len(lacking), 'topic')} "
                    f"({enumerate_names(lacking, 5)}) of {other.name!r}: its lists there are empty",
                    TopicWarning,
                )


def _compare_scores(scores: Scores, compared: dict[str, Any]) -> ScoreDifferences:
    """Return the differences of all runs from the first, and the comparison's verdicts on them."""
    values = scores.values[:, 1:] - scores.values[:, :1]
    there = ~np.isnan(values)
    topics = there.sum(axis=0)
    absolute = np.where(there, np.abs(values), 0.0)
    with np.errstate(invalid="ignore"):
        rmse = np.sqrt((absolute**2).sum(axis=0) / topics)
    worst = absolute.argmax(axis=0)
    largest = np.take_along_axis(values, worst[None], axis=0)[0]
    names = np.array(scores.topics, object)[worst]
    none = np.full(topics.shape, np.nan)
    if (topics < 2).all():  # nothing to estimate a variance from
        words = np.full(topics.shape, INCONCLUSIVE)
        mean = np.where(topics > 0, largest, np.nan)
        untested = (mean, none, none, np.zeros(topics.shape, np.int64))
        reason = np.full(topics.shape, "a single topic", object)
        return ScoreDifferences(topics, rmse, *untested, largest, names, none, reason, words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateSampleWarning)  # verdicts and reasons say it
        comparison = compare_runs(scores, baseline=scores.runs[0], **compared)
    return ScoreDifferences(
        topics,
        rmse,
        comparison.difference,
        *comparison.limits,
        comparison.open_end,
        largest,
        names,
        none if comparison.p_equivalence_adjusted is None else comparison.p_equivalence_adjusted,
        comparison.reasons[0],
        comparison.verdict[0],
    )


def _effects(values: Floats, level: float) -> EffectRatio:
    """Return the effect ratios of all reproductions, on topics on which every run has scores.

    Parameters
    ----------
    values
        Of the original, its reproductions, the baseline and its reproduction: topics × runs ×
        measures.
    level
        Confidence level.
    """
    complete = values[~np.isnan(values).any(axis=(1, 2))]
    original, baseline, new_baseline = (complete[:, [place]] for place in (0, -2, -1))
    if not len(complete):
        raise TopicMismatchError("no topic on which the runs and their baselines all have scores")
    return effect_ratio(original, baseline, complete[:, 1:-2], new_baseline, level)
