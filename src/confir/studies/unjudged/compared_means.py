"""Means of scores, beside those of the same lists judged or ordered otherwise: what results share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from confir.arrays import Floats, Integers
from confir.data.result import Result, Variable
from confir.data.scores import Scores
from confir.data.table_columns import Role, TableColumn, TableColumns


class ComparedMeans(Result):
    """Means of scores as they are, and others beside them.

    Attributes
    ----------
    scores
        The scores as they are.
    beside
        Names of the other means, each a property.
    """

    __slots__ = ()

    scores: Scores

    beside: ClassVar[tuple[str, ...]] = ()
    # The share of documents that the table shows.
    share: ClassVar[str] = "judged"

    row_order = ("measure", "run")
    best_by = "mean"

    def table_columns(self) -> TableColumns:
        """Return how the columns read: the mean, the others beside it, and a share of documents."""
        return {
            "measure": TableColumn(Role.NAME),
            "run": TableColumn(Role.NAME),
            **dict.fromkeys(("mean", *self.beside), TableColumn(Role.SCORE)),
            self.share: TableColumn(Role.SHARE),
        }

    @property
    def topics(self) -> Integers:
        """Topics of each mean: runs × measures."""
        return self.scores.topic_counts()

    @property
    def mean(self) -> Floats:
        """Means of the scores as they are: runs × measures."""
        return self.scores.mean()

    def derived(self) -> Iterable[Variable]:
        """Yield the means."""
        for name in ("topics", "mean", *self.beside):
            yield Variable(name, ("run", "measure"), getattr(self, name))


class BoundedMeans(ComparedMeans):
    """Means of scores as they are, between the lowest and the highest that are possible.

    Attributes
    ----------
    lowest_scores, highest_scores
        The bounds on each topic.
    """

    __slots__ = ()

    lowest_scores: Scores
    highest_scores: Scores

    beside: ClassVar[tuple[str, ...]] = ("lowest", "highest")

    @property
    def lowest(self) -> Floats:
        """The lowest means: runs × measures."""
        return self.lowest_scores.mean()

    @property
    def highest(self) -> Floats:
        """The highest means: runs × measures."""
        return self.highest_scores.mean()
