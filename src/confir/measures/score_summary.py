"""Summaries of scores on any number of topics: moments and counts, which verbs take for Scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from confir.arrays import TIE, Floats, Integers
from confir.control_characters import check_told_apart
from confir.data.long_tables.block_statistics import (
    ColumnTotals,
    Comoments,
    Moments,
    PairTotals,
    TotalsWithPairs,
)
from confir.data.long_tables.score_blocks import Known, ScoreBlocks, TopicBlock
from confir.data.result import Result, Variable, axis, result
from confir.data.run_scores import Found, Item, RunScores
from confir.data.scores import RANGE_TOLERANCE, Scores
from confir.defaults import SUMMARY_REPLICATES
from confir.errors import (
    FormatError,
    MissingTopicWarning,
    ReadingWarning,
    counted,
    enumerate_names,
    warn_caller,
)
from confir.measures.parsing import bounded_measures
from confir.number_text import share_words


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Scores in blocks, and what was found in earlier passes over them."""

    held: ScoreBlocks
    kept: dict[tuple[Any, ...], Any] = field(default_factory=dict)


@result
class ScoreSummary(RunScores, Result):
    """Scores on any number of topics, of which memory holds moments, counts and a sample.

    Verbs take it in place of `Scores` where they need no single topic: `confidence_interval`,
    `compare_runs`, `find_best`, `rank_runs`, `plan_topics`, `write_report`. Each pass over the
    data is made when something needs it first.

    Attributes
    ----------
    runs, measures
        Names.
    bounded
        Whether measures that confir does not know lie in [0, 1]; None where their scores decide.
    """

    in_memory: ClassVar[bool] = False
    is_summary: ClassVar[bool] = True
    title: ClassVar[str] = "a summary of a long table"
    default_replicates: ClassVar[int] = SUMMARY_REPLICATES
    design: ClassVar[None] = None  # topics are one simple random sample

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    _table: _Table
    bounded: bool | None = None
    _common: bool = False
    _warns: bool = False

    def derived(self) -> Iterator[Variable]:
        """Yield the number of topics with a score, their mean and standard deviation."""
        moments, shape = self.moments, (len(self.runs), len(self.measures))
        with np.errstate(divide="ignore", invalid="ignore"):
            sd = np.sqrt(moments.second / (moments.count - 1.0)).reshape(shape)
        for name, values in (("topics", self.topic_counts()), ("mean", self.mean()), ("sd", sd)):
            yield Variable(name, ("run", "measure"), values)

    @property
    def topics(self) -> range:
        """The topics by number: only a sample of their ids is kept."""
        return range(self._columns().sample.topics)

    @property
    def inside(self) -> tuple[bool, ...]:
        """Whether all scores by each measure lie in [0, 1], in the table."""
        every = self._columns().moments
        shape = len(self._table.held.runs), len(self._table.held.measures)
        low = every.least.reshape(shape).min(axis=0) >= -RANGE_TOLERANCE
        high = every.most.reshape(shape).max(axis=0) <= 1.0 + RANGE_TOLERANCE
        return tuple((low & high)[self._measure_places].tolist())

    @property
    def moments(self) -> Moments:
        """Moments of the scores: runs × measures, flattened."""
        if self._common:
            key = ("common", self.runs, self.measures, self._clipped)
            if key not in self._table.kept:
                self._table.kept[key] = self.gather(lambda block: Moments.of(block.values))
            found: Moments = self._table.kept[key]
            return found
        return self._columns(self._clipped).moments.select(self._column_places)

    @property
    def sample(self) -> Scores:
        """The scores on a random sample of the topics, which no order of the rows changes."""
        drawn = self._columns(self._clipped).sample
        named = self._table.held.name_topics(drawn.keys)
        order = sorted(range(len(named)), key=named.__getitem__)
        values = drawn.values[self._column_places][:, order]
        shape = (len(self.runs), len(self.measures), len(order))
        return Scores(
            tuple(named[i] for i in order),
            self.runs,
            self.measures,
            np.ascontiguousarray(values.reshape(shape).transpose(2, 0, 1)),
            self.bounded,
            self.inside,
        )

    def topic_counts(self) -> Integers:
        """Return how many topics have a score: runs × measures."""
        return self.moments.count.astype(np.int64).reshape(len(self.runs), -1)

    def mean(self) -> Floats:
        """Return the mean over the topics that have a score: runs × measures."""
        moments = self.moments
        mean = np.where(moments.count > 0, moments.mean, np.nan)
        return mean.reshape(len(self.runs), -1)

    def comparable_means(self) -> Floats:
        """Return means that can be ranked, over the topics that all runs have: runs × measures."""
        return self.over_common_topics().mean()

    def common_topic_count(self) -> tuple[int, bool]:
        """Return how many topics all runs have, and whether no run has others."""
        counts = self.topic_counts()
        common = int(self.over_common_topics().topic_counts().max())
        return common, bool(((counts == common) | (counts == 0)).all())

    def pair_means(self, first: int, second: int) -> Floats | None:
        """Return the means of two runs; None where they may be over different topics."""
        both = self.select(run=[self.runs[first], self.runs[second]])
        return both.mean() if np.ptp(both.topic_counts(), axis=0).max(initial=0) == 0 else None

    def listed(self) -> Scores:
        """Return scores topic by topic: those of a sample."""
        return self.sample

    def for_each(self, compute: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
        """Return what a function finds of each item, in turn: a pass made for one serves the next."""
        return list(map(compute, items))

    def over_common_topics(self) -> Self:
        """Return the summary of the topics that all runs have, by each measure."""
        counts = self.topic_counts()
        return self if (counts == len(self.topics)).all() else replace(self, _common=True)

    @property
    def on_common_topics(self) -> bool:
        """Whether only topics that all runs have count."""
        return self._common

    def warning_of_missing_topics(self) -> Self:
        """Return the summary, which warns where runs lack topics, as soon as a pass is made."""
        if ("columns", ()) in self._table.kept:
            _warn_of_missing_counts(self)
            return self
        return replace(self, _warns=True)

    def pair_totals(self, first: Integers, second: Integers) -> PairTotals:
        """Return summary statistics of pairs of runs, by their numbers; one pass at most."""
        by_run = self._by_run
        runs = (self.runs, self.measures, first.tobytes(), second.tobytes(), self._common)
        if not self._common and ("columns", ()) not in self._table.kept:
            # one pass for everything, where nothing turns out to be clipped or large
            places, ties = self._column_places, self._ties(first, 1.0)
            both = self._table.held.gather(
                lambda block: TotalsWithPairs(
                    ColumnTotals.of(block),
                    PairTotals.of(by_run(block.values[places]), first, second, ties),
                )
            )
            self._keep_columns(both.columns)
            if not self._clipped and (self._largest() <= 1.0).all():
                self._table.kept["pairs", runs, ()] = both.pairs
        key = ("pairs", runs, self._clipped)
        if key not in self._table.kept:
            largest = np.maximum(self._largest(), 1.0)
            ties = self._ties(first, np.maximum(largest[first], largest[second]))
            self._table.kept[key] = self.gather(
                lambda block: PairTotals.of(by_run(block.values), first, second, ties)
            )
        found: PairTotals = self._table.kept[key]
        return found

    def comoments(self) -> Comoments:
        """Return how the runs vary together, by each measure; one pass at most.

        Every pass over pairs of runs finds it, whichever pairs these are.
        """
        for key, kept in self._table.kept.items():
            if key[0] == "pairs" and key[2] == self._clipped:
                runs, measures, *_, common = key[1]
                if (runs, measures, common) == (self.runs, self.measures, self._common):
                    found: Comoments = kept.runs
                    return found
        last = np.array([len(self.runs) - 1])
        return self.pair_totals(np.zeros(1, np.int64), last).runs

    def gather(self, describe: Callable[[TopicBlock], Known]) -> Known:
        """Return the merged statistics of all blocks, whose columns are these runs × measures."""
        view = self._view()
        return self._table.held.gather(lambda block: describe(view(block)))

    def _view(self) -> Callable[[TopicBlock], TopicBlock]:
        """Return a function from the table's blocks to these columns, as far as they count."""
        places, clipped, common = self._column_places, self._clipped, self._common
        by_run = self._by_run
        rows = np.isin(np.arange(len(places)) % len(self.measures), clipped)
        scored = self._columns().moments.select(places).count > 0
        without = ~scored.reshape(len(self.runs), len(self.measures), 1)

        def view(block: TopicBlock) -> TopicBlock:
            values = block.values[places]
            if clipped:
                values[rows] = np.clip(values[rows], 0.0, 1.0)
            if common:
                cells = by_run(values)
                lacking = (np.isnan(cells) & ~without).any(axis=0)
                values = np.where(lacking, np.nan, cells).reshape(values.shape)
            return TopicBlock(block.keys, values)

        return view

    @property
    def _by_run(self) -> Callable[[Floats], Floats]:
        """A function from columns × topics to runs × measures × topics, for any process."""
        return partial(_shape_by_run, len(self.runs), len(self.measures))

    def _ties(self, first: Integers, scale: Floats | float) -> Floats:
        """Return how near two scores are equal: pairs × measures."""
        return np.broadcast_to(TIE * np.asarray(scale), (len(first), len(self.measures)))

    def _largest(self) -> Floats:
        """Return the largest absolute score: runs × measures."""
        moments = self._columns().moments.select(self._column_places)
        largest = np.maximum(np.abs(moments.least), np.abs(moments.most))
        return np.where(moments.count > 0, largest, 0.0).reshape(len(self.runs), -1)

    def _columns(self, clipped: tuple[int, ...] = ()) -> ColumnTotals:
        """Return moments of all columns of the table, and its sample; at most one pass."""
        key = ("columns", clipped and (self.runs, self.measures, clipped))
        if key not in self._table.kept:
            if clipped:
                self._table.kept[key] = self._table.held.gather(self._clip())
            else:
                self._keep_columns(self._table.held.gather(ColumnTotals.of))
        found: ColumnTotals = self._table.kept[key]
        return found

    def _keep_columns(self, found: ColumnTotals) -> None:
        """Keep what the first pass found."""
        self._table.kept["columns", ()] = found
        if self._warns:
            _warn_of_missing_counts(self)

    def _clip(self) -> Callable[[TopicBlock], ColumnTotals]:
        """Return a function from blocks to their moments, with these columns as they count."""
        view, places = replace(self, _common=False)._view(), self._column_places  # noqa: SLF001

        def clip(block: TopicBlock) -> ColumnTotals:
            values = block.values.copy()
            values[places] = view(block).values
            return ColumnTotals.of(TopicBlock(block.keys, values))

        return clip

    @property
    def _clipped(self) -> tuple[int, ...]:
        """Numbers of the bounded measures with scores outside [0, 1] by rounding; raise beyond."""
        moments = self._columns().moments.select(self._column_places)
        bounded = np.tile(bounded_measures(self), len(self.runs))
        distance = np.maximum(-moments.least, moments.most - 1.0)
        distance = np.where(bounded & (moments.count > 0), distance, 0.0)
        worst = int(distance.argmax())
        if distance[worst] <= 0.0:
            return ()
        run, measure = divmod(worst, len(self.measures))
        low = -moments.least[worst] > moments.most[worst] - 1.0
        value = moments.least[worst] if low else moments.most[worst]
        what = f"{self.measures[measure]} of run {self.runs[run]!r} is {value:.10g} on a topic"
        if distance[worst] > RANGE_TOLERANCE:
            raise FormatError(f"{what}; expected a score in [0, 1]", path=self._table.held.source)
        if distance[worst] > TIE and ("warned",) not in self._table.kept:
            self._table.kept["warned",] = True
            warn_caller(f"scores outside [0, 1] by rounding are clipped: {what}", ReadingWarning)
        outside = (distance > 0.0).reshape(len(self.runs), -1).any(axis=0)
        return tuple(np.flatnonzero(outside).tolist())

    @property
    def _measure_places(self) -> list[int]:
        return [self._table.held.measures.index(name) for name in self.measures]

    @property
    def _column_places(self) -> Integers:
        """Which columns of the table these are: runs × measures, flattened."""
        held = self._table.held
        runs = np.array([held.runs.index(name) for name in self.runs], np.int64)
        measures = np.array(self._measure_places, np.int64)
        return (runs[:, None] * len(held.measures) + measures).reshape(-1)


def _warn_of_missing_counts(summary: ScoreSummary) -> None:
    """Warn where runs lack topics, by their number."""
    counts = summary.topic_counts()
    lacking, most = (counts.max(axis=0) - counts).max(axis=1), int(counts.max(initial=0))
    named = [
        f"run {run!r} lacks {number:,} of {counted(most, 'topic')} ({share_words(number / most)})"
        for run, number in zip(summary.runs, lacking.tolist(), strict=True)
        if number
    ]
    if named:
        means = "the run's means" if len(named) == 1 else "their means"
        warn_caller(
            f"{enumerate_names(named, 5)} that other runs have, left out of {means}; the "
            "means of the runs are over different topics",
            MissingTopicWarning,
        )


def summary_of(held: ScoreBlocks, bounded: bool | None = None) -> ScoreSummary:
    """Return the summary of scores that come in blocks."""
    check_told_apart("runs", held.runs)
    return ScoreSummary(held.runs, held.measures, _Table(held), bounded)


def _shape_by_run(runs: int, measures: int, values: Floats) -> Floats:
    return values.reshape(runs, measures, -1)
