"""Means of scores with those of the same lists judged or ordered otherwise: what results share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

from confir.arrays import Floats, Integers
from confir.data.chart_marks import LIMITS_LINE, IntervalChart, Mark, dot, numbers, texts
from confir.data.result import Record, Result, axis, over, result
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.intervals.interval import Interval
from confir.measures.lists_and_scores import ListsAndScores
from confir.number_text import percent

RANGE = 7  # width of a line: bounds are drawn behind intervals


@result
class ComparedMeans(Result):
    """Means of scores as they are, with bounds or estimates: arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    scores, topics, mean
        The scores as they are, the number of topics of each mean, and their means.
    others
        Names of the bounds or estimates, each a field.
    share
        The share of documents that the table shows.
    chart_title, chart_words, chart_point
        What the ranges of the chart are, how they are drawn, and a further number that is drawn.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    scores: Scores
    topics: Integers = over("run", "measure")
    mean: Floats = over("run", "measure")

    others: ClassVar[tuple[str, ...]] = ("lowest", "highest")
    share: ClassVar[str] = "judged"
    chart_title: ClassVar[str] = ""
    chart_words: ClassVar[str] = "bounds (grey)"
    chart_point: ClassVar[str] = ""

    row_order = ("measure", "run")
    best_by = "mean"

    def table_columns(self) -> TableColumns:
        """Return how the columns read: the mean, its bounds or estimates, and a share of documents."""
        return {
            "measure": TableColumn(Role.NAME),
            "run": TableColumn(Role.NAME),
            **dict.fromkeys(("mean", *self.others), TableColumn(Role.SCORE)),
            self.share: TableColumn(Role.SHARE),
        }

    def interval_chart(
        self, interval: Interval | None = None, records: Sequence[Record] | None = None
    ) -> IntervalChart:
        """Return a chart of means with ranges, and with sampling intervals where they are given.

        Parameters
        ----------
        interval
            Sampling intervals of the same means.
        records
            With the ends of the ranges, lowest and highest; by default the result's own.
        """
        drawn = self.to_records() if records is None else records
        columns = ["mean", "lowest", "highest", *([self.chart_point] if self.chart_point else [])]
        marks = [Mark("lowest", "highest", RANGE, "grey", opacity=0.45), dot("mean")]
        axis = f"mean with {self.chart_words}"
        if interval is not None:
            limits = {(r["run"], r["measure"]): r for r in interval.to_records()}
            for record in drawn:
                found = limits[record["run"], record["measure"]]
                record.update({"low": found["low"], "high": found["high"]})
            columns += ["low", "high"]
            marks.insert(1, LIMITS_LINE)
            axis = f"{axis} and {percent(interval.level)} interval ({interval.method})"
        if self.chart_point:
            marks.append(dot(self.chart_point, "orange", "diamond"))
        tooltip = (*texts("run", "measure"), *numbers(*columns))
        return IntervalChart(self.chart_title, drawn, marks, axis, tooltip)

    @classmethod
    def of(cls, scored: ListsAndScores, found: Iterable[Floats], **more: Any) -> Self:
        """Return the means of scores, and those of the same lists judged or ordered otherwise.

        Parameters
        ----------
        scored
            Lists with their scores as they are.
        found
            Scores by name in `others`, measures × runs × topics of the lists: fields ``lowest_scores`` and
            ``lowest`` for "lowest".
        more
            Further fields.
        """
        others = dict(zip(cls.others, map(scored.scores_of, found), strict=False))
        return cls(
            runs=scored.scores.runs,
            measures=scored.scores.measures,
            scores=scored.scores,
            topics=scored.scores.topic_counts(),
            mean=scored.scores.mean(),
            **{f"{name}_scores": scores for name, scores in others.items()},
            **{name: scores.mean() for name, scores in others.items()},
            **more,
        )
