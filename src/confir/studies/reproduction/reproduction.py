"""Is a run reproduced? Its lists and its scores, compared with those of reproductions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from confir.arguments import as_choice, as_function, as_integer, as_level, as_real
from confir.arrays import Booleans, Floats
from confir.data.reading_rules import ReadingOptions, ReadingRules, takes_rules
from confir.data.result import Record, Result, Variable, axis, constant, over, result
from confir.data.sampling_designs.design import refuse_design
from confir.data.scores import Scores
from confir.data.table_columns import LIMITS, Role, TableColumn, TableColumns
from confir.defaults import LEVEL, OVERLAP_DEPTH, PERSISTENCE, SEED
from confir.errors import InvalidValueError, counted
from confir.measures.evaluation import evaluate
from confir.number_text import bracketed, number_text, percent, share_text, signed, topics_text
from confir.pairs.decisions import EQUIVALENT, IDENTICAL, INCONCLUSIVE, OPPOSITE, Words
from confir.pairs.pair_results import open_words
from confir.parallel import Progress
from confir.resampling.replicates import Rng
from confir.studies.reproduction.compared_runs import check_shared_topics, read_compared_runs
from confir.studies.reproduction.list_overlap import (
    TIE_VARIANTS,
    ListOverlap,
    TieVariant,
    compare_lists,
)
from confir.studies.reproduction.score_agreement import (
    EffectRatio,
    ScoreDifferences,
    compare_scores,
    effect_ratios,
)

IDENTICAL_LISTS, IDENTICAL_SCORES = "identical lists", "identical scores"
DIFFERENT, DIFFERENT_LISTS = "different", "different lists"
# Verdicts of a run that is reproduced, within the margin.
REPRODUCED = (IDENTICAL_LISTS, EQUIVALENT, IDENTICAL_SCORES)
AGREEMENTS = (*REPRODUCED, DIFFERENT, INCONCLUSIVE, DIFFERENT_LISTS)  # named by cli/records.json

_TIES = {
    None: "ties broken as trec_eval does",
    "a": "averaged over the orders of ties",
    "b": "corrected for ties",
}


class ReproductionCheck(NamedTuple):
    """Whether a run passes as a reproduction by a measure ("lists" without qrels), and why."""

    run: str
    measure: str
    said: str
    passes: bool


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
            for name, values in self.differences._asdict().items():
                yield Variable(name, by_measure, values)
            yield Variable("open", by_measure, open_words(self.differences.open_end))
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
        every = np.broadcast_to(same[:, None], found.shape)
        return np.select(
            [every, found == EQUIVALENT, found == IDENTICAL, differs],
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

    def checks(self) -> list[ReproductionCheck]:
        """Return whether each run passes, by each measure: the gate of `confir reproduce`."""
        passing = self.reproduced.reshape(-1).tolist()
        return [
            ReproductionCheck(
                record["run"], record.get("measure", "lists"), self._described(record), passes
            )
            for record, passes in zip(self.to_records(), passing, strict=True)
        ]

    def _described(self, record: Record) -> str:
        """Return the verdict on a reproduction, and what it rests on."""
        lists = f"{100 * record['identical']:.4g}% of {record['lists']} lists identical, RBO {record['rbo']:.4f}"
        if "measure" not in record:
            return f"{record['verdict']}: {lists}"
        limits = ""
        if not math.isnan(record["low"]):
            end = {"low": 1, "high": -1}.get(record["open"], 0)
            shown = bracketed(signed(record["low"]), signed(record["high"]), end)
            limits = f", {self._simultaneous}{percent(self.level)} interval {shown}"
        reason = f" ({record['reason']})" if record["reason"] else ""
        return (
            f"{record['verdict']}{reason}: difference {signed(record['difference'])}{limits}, RMSE "
            f"{record['rmse']:.4f}; {lists}"
        )

    @property
    def _simultaneous(self) -> str:
        return "simultaneous " if len(self.runs) > 1 else ""

    def table_columns(self) -> TableColumns:
        """Return how the columns read; what the lists show is in the first row of each run."""
        lists = self.lists

        def of_lists(name: str, title: str, write: Callable[[float], str]) -> TableColumn:
            first = {None, *self.measures[:1]}
            return TableColumn(
                *(Role.NUMBER, title),
                text=lambda record: write(record[name]) if record.get("measure") in first else "",
            )

        columns = {
            "run": TableColumn(Role.NAME),
            "measure": TableColumn(Role.NAME),
            "verdict": TableColumn(Role.VERDICT),
            "difference": TableColumn(Role.DIFFERENCE, others=(*LIMITS, "open")),
            "rmse": TableColumn(Role.SCORE, "RMSE"),
            "largest": TableColumn(Role.NUMBER, text=_largest),
            "effect_ratio": TableColumn(
                Role.SCORE, "ER", ("effect_ratio_low", "effect_ratio_high")
            ),
            "delta_ri": TableColumn(Role.DIFFERENCE, "ΔRI"),
            "identical": of_lists("identical", "identical", share_text),
            "overlap": of_lists("overlap", f"overlap@{lists.depth}", number_text),
            "rbo": of_lists("rbo", f"RBO^{lists.ties}" if lists.ties else "RBO", number_text),
        }
        known = {one.column for one in self.variables()}  # without qrels, no scores
        return {name: column for name, column in columns.items() if name in known}

    def note(self, seed: int | None = None) -> str:
        """Return what the columns are, with the seed where something was drawn."""
        lists, parts = self.lists, []
        if self.differences is not None:
            parts.append(
                f"mean difference from {self.original} with {self._simultaneous}{percent(self.level)} "
                f"confidence interval (CI), over {topics_text(self.differences.topics)}; largest "
                "difference and its topic"
            )
            if self.margin is not None:
                parts.append(f"equivalent: within ±{self.margin:g} by two one-sided t tests")
            if self._simultaneous and seed is not None:
                parts.append(f"seed {seed}")
        if self.effects is not None:
            parts.append(
                "ER: reproduced over original improvement, with Fieller's interval; ΔRI: original less "
                "reproduced relative improvement"
            )
        compared = f"compared with {self.original}" if self.differences is None else "lists"
        parts.append(
            f"{compared}: share of identical ones among {counted(len(lists.topics), 'topic')}, overlap "
            f"of the first {lists.depth}, extrapolated RBO (p = {lists.persistence:g}, "
            f"{_TIES[lists.ties]})"
        )
        if self.scores is not None and self.scores.design_words:
            parts.append(f"by the design, {self.scores.design_words}")
        return "; ".join(parts)


def _largest(record: Record) -> str:
    """Return the largest difference with its topic; a dash where all are 0 or missing."""
    value = record["largest"]
    missing = math.isnan(value) or value == 0
    return "–" if missing else f"{signed(value)} ({record['largest_topic']})"


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

    Equal means may hide other documents and opposite changes on single topics. So lists are compared
    first, then scores topic by topic, then means with an interval and a verdict, and with baseline
    runs whether the improvement itself is reproduced ([Breuer2020]).

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
    first, others, baselines = read_compared_runs(original, runs, baseline_runs, reading, progress)
    check_shared_topics(first, others)
    lists = compare_lists(
        first,
        others,
        depth=overlap_depth,
        persistence=persistence,
        ties=ties,
        cut=reading.depth,
        tie_precision=reading.tie_precision,
    )
    scores = differences = effects = None
    if qrels is not None:
        found = evaluate(qrels, [first, *others, *baselines], measures, **rules)
        scores = found.select(run=found.runs[: 1 + len(others)])
        compared = {"margin": margin, "level": level, "replicates": replicates, "rng": rng}
        differences = compare_scores(scores, compared)
        if baselines:
            effects = effect_ratios(found.values, level)
    return Reproduction(
        original=first.name,
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
