"""Means of scores with those of the same lists judged or ordered otherwise: what results share."""

from __future__ import annotations

from typing import Any, ClassVar

from confir.arrays import Floats, Integers
from confir.data.result import Result, axis, over, result
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns


@result
class ComparedMeans(Result):
    """Means of scores as they are, with bounds or estimates: arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    scores, topics, mean
        The scores as they are, the number of topics of each mean, and their means.
    beside
        Names of the bounds or estimates, each a field.
    share
        The share of documents that the table shows.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    scores: Scores
    topics: Integers = over("run", "measure")
    mean: Floats = over("run", "measure")

    beside: ClassVar[tuple[str, ...]] = ("lowest", "highest")
    share: ClassVar[str] = "judged"

    row_order = ("measure", "run")
    best_by = "mean"

    def table_columns(self) -> TableColumns:
        """Return how the columns read: the mean, its bounds or estimates, and a share of documents."""
        return {
            "measure": TableColumn(Role.NAME),
            "run": TableColumn(Role.NAME),
            **dict.fromkeys(("mean", *self.beside), TableColumn(Role.SCORE)),
            self.share: TableColumn(Role.SHARE),
        }


def compare_means(scores: Scores, **others: Scores) -> dict[str, Any]:
    """Return the fields that results share: names, scores and their means, and those of others.

    ``lowest=…`` gives the fields ``lowest_scores`` and ``lowest``.
    """
    return {
        "runs": scores.runs,
        "measures": scores.measures,
        "scores": scores,
        "topics": scores.topic_counts(),
        "mean": scores.mean(),
        **{f"{name}_scores": one for name, one in others.items()},
        **{name: one.mean() for name, one in others.items()},
    }
