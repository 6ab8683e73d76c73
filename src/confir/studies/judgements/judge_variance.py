"""Components of the variance of means that are due to topics, to judges and to both."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confir.arrays import Floats
from confir.data.result import Record, Result, Variable, axis, over, result
from confir.data.table_columns import MEASURE_AND_RUN, Role, TableColumn, TableColumns
from confir.resampling.variance_components import estimate_components


@result
class JudgeVariance(Result):
    """Where the variance of a run's mean over new topics and another judge comes from.

    Two-way random effects, as for documents in `VarianceComponents`: arrays are runs × measures.

    Attributes
    ----------
    runs, measures
        Names.
    topics
        Some topics are easier than others, whoever judges.
    judges
        A judge is lenient or strict on all topics.
    interaction
        What a judge changes for each topic by itself.
    judge_count
        Number of judges.
    """

    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    topics: Floats = over("run", "measure")
    judges: Floats = over("run", "measure")
    interaction: Floats = over("run", "measure")
    judge_count: int

    record_columns = ("run", "measure", "topics", "judges", "interaction", "total")

    def derived(self) -> Iterator[Variable]:
        """Yield the variance of the mean."""
        yield Variable("total", ("run", "measure"), self.total)

    @property
    def total(self) -> Floats:
        """The variance of the mean of one judge's scores."""
        return self.topics + self.judges + self.interaction

    def table_columns(self) -> TableColumns:
        """Return how the columns read: shares of the variance, and its root."""
        parts = dict.fromkeys(("topics", "judges", "interaction"), TableColumn(Role.SHARE))
        return {**MEASURE_AND_RUN, **parts, "total": TableColumn(Role.SCORE, "total sd")}

    def table_records(self) -> list[Record]:
        """Return the records with shares of the total in place of variances."""
        return [
            record
            | {
                name: record[name] / (record["total"] or np.nan)
                for name in self.record_columns[2:5]
            }
            | {"total": record["total"] ** 0.5}
            for record in self.to_records()
        ]

    def note(self) -> str:
        """Return what the shares are of."""
        return (
            f"share of the variance of a mean by one of {self.judge_count} judges that comes "
            "from topics, from judges, and from their interaction; and the standard deviation over "
            "new topics and another judge. More topics reduce the first and the third part"
        )


def split_variance(
    values: Floats, runs: tuple[str, ...], measures: tuple[str, ...]
) -> JudgeVariance:
    """Return the components of the variance of means under one judge.

    Parameters
    ----------
    values
        Scores by each judge: judges × topics × runs × measures.
    runs, measures
        Names.
    """
    judges, topics = values.shape[:2]
    parts = estimate_components(
        between=values.var(axis=1, ddof=1).mean(axis=0),
        within=values.var(axis=0, ddof=1).mean(axis=0),
        of_mean=values.mean(axis=1).var(axis=0, ddof=1),
        count=np.full(values.shape[2:], topics),
    )
    return JudgeVariance(runs, measures, parts.topics, parts.documents, parts.interaction, judges)
