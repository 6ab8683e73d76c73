"""Scores of random rankings, and how runs compare with them: the result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.formats.frames import build_frame
from confir.data.result import (
    Columns,
    Record,
    Result,
    Variable,
    axis,
    constant,
    over,
    records_of,
    result,
)
from confir.data.scores import Scores
from confir.measures.chance_tail import Tail, combine_tails

# The topic id in records of means.
ALL_TOPICS = "all"


@result
class Chance(Result):
    """What random rankings score on each topic, and how runs compare with that.

    Attributes
    ----------
    topics, measures, runs
        Names; no runs where none are compared.
    documents
        Number of documents ranked.
    depth
        Length of the lists.
    relevant
        Number of relevant documents, as each measure counts them: topics × measures.
    expected, sd
        Exact mean and standard deviation of the score of a random ranking: topics × measures.
    prevalence
        Proportion of relevant documents R/N, the usual approximation of the expected AP: topics ×
        measures.
    scores, corrected
        The runs' scores, and ``(score - expected) / (1 - expected)``, by measures such as "AP
        (corrected)", which may be below 0; None without runs.
    p, p_low, p_high
        Probability that a random ranking has at least the run's AP, with limits for the simulation
        error: topics × runs × measures, NaN for measures other than AP. None without runs.
    draws
        Random rankings per topic where p is simulated.
    """

    topics: tuple[str, ...] = axis("topic")
    measures: tuple[str, ...] = axis("measure")
    runs: tuple[str, ...] = axis("run")
    documents: int = constant()
    depth: int = constant()
    relevant: Integers = over("topic", "measure")
    expected: Floats = over("topic", "measure")
    sd: Floats = over("topic", "measure")
    prevalence: Floats = over("topic", "measure")
    scores: Scores | None = None
    corrected: Scores | None = None
    p: Floats | None = over("topic", "run", "measure", default=None)
    p_low: Floats | None = over("topic", "run", "measure", default=None)
    p_high: Floats | None = over("topic", "run", "measure", default=None)
    draws: int = 0

    row_order = ("measure", "run", "topic")
    record_columns = (
        *("topic", "documents", "relevant", "depth", "measure", "expected", "sd", "prevalence"),
        *("run", "score", "corrected", "p", "p_low", "p_high"),
    )
    optional_columns = ("run", "score", "corrected")

    def axes(self) -> dict[str, Sequence[str]]:
        """Return topics and measures, and the runs if there are any."""
        found = Result.axes(self)
        return found if self.runs else {name: found[name] for name in ("topic", "measure")}

    def derived(self) -> Iterator[Variable]:
        """Yield the scores of the runs."""
        for name, table in (("score", self.scores), ("corrected", self.corrected)):
            if table is not None:
                yield Variable(name, ("topic", "run", "measure"), table.values)

    def to_dict(self, *, per_topic: bool = False) -> Columns:
        """Return the columns of means over topics by measure and run, or one row per topic.

        The columns: topic, documents, relevant, depth, measure, expected, sd, prevalence; with runs
        also run, score, corrected, p, p_low, p_high, and for means topics. The p of a mean combines
        those of the topics by Fisher's method, with limits for the error of all simulations.
        """
        if per_topic:
            return Result.to_dict(self)
        runs: Sequence[int | None] = range(len(self.runs)) if self.runs else [None]
        means = [self._mean(m, run) for m in range(len(self.measures)) for run in runs]
        return {name: [mean[name] for mean in means] for name in means[0]}

    def to_records(self, *, per_topic: bool = False) -> list[Record]:
        """Return one record per measure and run: means over topics, or one per topic as well."""
        return records_of(self.to_dict(per_topic=per_topic))

    def to_frame(self, backend: str | None = None, *, per_topic: bool = False) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return build_frame(self.to_dict(per_topic=per_topic), backend)

    def select(self, **labels: Any) -> Self:
        """Return the comparison for some topics, measures and runs."""
        chosen = Result.select(self, **labels)
        if chosen.corrected is None:
            return chosen
        corrected = chosen.corrected.select(measure=list(map(corrected_name, chosen.measures)))
        return replace(chosen, corrected=corrected)

    def _mean(self, measure: int, run: int | None) -> Record:
        """Return the means of a measure over the topics that a run has scores for."""
        scored = None if run is None or self.scores is None else self.scores.values[:, run, measure]
        kept = np.arange(len(self.topics)) if scored is None else np.flatnonzero(~np.isnan(scored))
        record: Record = {
            "topic": ALL_TOPICS,
            "documents": self.documents,
            "relevant": _mean_of_known(self.relevant[kept, measure]),
            "depth": self.depth,
            "measure": self.measures[measure],
            "expected": _mean_of_known(self.expected[kept, measure]),
            "sd": float(np.sqrt(np.square(self.sd[kept, measure]).sum())) / max(len(kept), 1),
            "prevalence": _mean_of_known(self.prevalence[kept, measure]),
        }
        if run is None or scored is None or self.corrected is None:
            return record
        return {
            **record,
            "run": self.runs[run],
            "topics": len(kept),
            "score": _mean_of_known(scored[kept]),
            "corrected": _mean_of_known(self.corrected.values[kept, run, measure]),
            **dict(zip(("p", "p_low", "p_high"), self._tail(kept, run, measure), strict=True)),
        }

    def _tail(self, topics: Integers, run: int, measure: int) -> tuple[float, float, float]:
        """Return the combined probability of all topics, with its limits; NaN without draws."""
        if not self.draws:
            return math.nan, math.nan, math.nan
        tables = [table for table in (self.p, self.p_low, self.p_high) if table is not None]
        # a topic on which every ranking scores the same is uninformative
        informative = topics[self.sd[topics, measure] > 0]
        return combine_tails(
            Tail(*(table[informative, run, measure] for table in tables)), self.draws
        )


def corrected_name(measure: str) -> str:
    """Return the name of a chance-corrected measure."""
    return f"{measure} (corrected)"


def _mean_of_known(values: Floats | Integers) -> float:
    """Return the mean of the values, missing ones left out."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
