"""Scores of random rankings, and how runs compare with them: the result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Self

import numpy as np

from confir.arrays import Floats, Integers, best_first, is_best
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
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.errors import counted
from confir.measures.chance_tail import ERROR_LEVEL, Tail, combine_tails
from confir.number_text import (
    number_text,
    percent,
    runs_differ_in_topics,
    topic_counts_text,
    topics_text,
)

# The name of a chance-corrected measure.
CORRECTED = "{} (corrected)"

# Smaller p-values are near the end of double precision.
_SMALLEST_P = 1e-300

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
        corrected = chosen.corrected.select(measure=list(map(CORRECTED.format, chosen.measures)))
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
        p = (math.nan, math.nan, math.nan)
        if self.draws:
            # a topic on which every ranking scores the same is uninformative
            informative = kept[self.sd[kept, measure] > 0]
            tables = [table for table in (self.p, self.p_low, self.p_high) if table is not None]
            tail = Tail(*(table[informative, run, measure] for table in tables))
            p = combine_tails(tail, self.draws)
        return {
            **record,
            "run": self.runs[run],
            "topics": len(kept),
            "score": _mean_of_known(scored[kept]),
            "corrected": _mean_of_known(self.corrected.values[kept, run, measure]),
            **dict(zip(("p", "p_low", "p_high"), p, strict=True)),
        }

    @property
    def is_shared(self) -> bool:
        """Whether all runs share one baseline: they have scores on the same topics."""
        known = {
            (record["measure"], record["expected"], record["sd"])
            for record in self.to_records()
            if not math.isnan(record["expected"])
        }
        return len(known) <= len(self.measures)

    def table_columns(self) -> TableColumns:
        """Return how the columns read: of runs, a column per measure; without runs, of measures."""
        if self.scores is None:
            numbers = dict.fromkeys(("expected", "sd", "prevalence"), TableColumn(Role.NUMBER))
            columns = {name: column._replace(format=".6g") for name, column in numbers.items()}
            return {"measure": TableColumn(Role.NAME), **columns}
        columns, shown = {"run": TableColumn(Role.NAME)}, self.table_records()[0]
        own, p = ([f"{what} {m}" for m in self.measures] for what in ("chance,", "p of"))
        for name in ("topics", *self.measures, *own, *p):
            if name in shown:
                bold = itemgetter(f"best {name}") if name in self.measures else None
                text = itemgetter(name)
                columns[name] = TableColumn(Role.NUMBER, name, bold=bold, text=text)
        return columns

    def table_records(self) -> list[Record]:
        """Return the rows: a run each, best first, then chance where all share it; or measures.

        If runs lack different topics, each has its own baseline, in further columns.
        """
        records = self.to_records()
        if self.scores is None:
            return records
        topics, shared = self.scores.topic_counts(), self.is_shared
        differ = runs_differ_in_topics(topics)
        rows: list[Record] = [{"run": run} for run in self.runs]
        chance: Record = {"run": "chance"}
        if differ.any():
            rows = [
                row | {"topics": topic_counts_text(counts)}
                for row, counts in zip(rows, topics.tolist(), strict=True)
            ]
        for m, measure in enumerate(self.measures):
            own = [record for record in records if record["measure"] == measure]
            best = is_best(np.array([record["score"] for record in own])) & ~differ[m]
            tested = any(not math.isnan(record["p"]) for record in own)
            for row, record, is_bold in zip(rows, own, best.tolist(), strict=True):
                text = f"{number_text(record['score'])} ({number_text(record['corrected'])})"
                row[measure] = "–" if math.isnan(record["score"]) else text
                row[f"best {measure}"] = is_bold
                if not shared:
                    row[f"chance, {measure}"] = _chance_text(record)
                if tested:
                    row[f"p of {measure}"] = p_or_bound(record)
            scored = [record for record in own if not math.isnan(record["score"])]
            chance.update({measure: _chance_text([*scored, own[0]][0]), f"best {measure}": False})
        first = [record["score"] for record in records if record["measure"] == self.measures[0]]
        ordered = [rows[place] for place in best_first(np.array(first))]
        return [*ordered, dict.fromkeys(ordered[0], "") | chance] if shared else ordered

    def note(self, seed: int | None = None) -> str:
        """Return how the baseline is defined, and what the columns are.

        With the seed of the draws, also how p was simulated.
        """
        lists = "" if self.depth == self.documents else f", the first {self.depth:,} kept"
        note = f"chance: random rankings of {counted(self.documents, 'document')}{lists}"
        every = np.array([len(self.topics)])
        if len(self.topics) > 1:
            counts = every if self.scores is None else self.scores.topic_counts()
            note += f"; means over {topics_text(counts)}"
        if self.scores is None:
            return f"{note}; expected score, its standard deviation, and R/N"
        note += "; score (corrected for chance); chance with its standard deviation"
        if seed is None or not self.draws:
            return note
        return (
            f"{note}; p: probability that random rankings reach the AP, {self.draws:,} draws per "
            f"topic, seed {seed}; < is a bound that holds with {percent(ERROR_LEVEL)} confidence"
        )


def _mean_of_known(values: Floats | Integers) -> float:
    """Return the mean of the values, missing ones left out."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def p_or_bound(record: Record) -> str:
    """Return p, or an upper bound if on some topic no draw reached the run's AP."""
    value = record["p_high"] if record["p_low"] == 0 else record["p"]
    if math.isnan(record["p"]):
        return "–"
    if value < _SMALLEST_P:
        return f"<{_SMALLEST_P:g}"
    return f"{'<' if record['p_low'] == 0 else ''}{value:.2g}"


def _chance_text(record: Record) -> str:
    """Return the baseline with enough digits: expected scores may be very small."""
    if math.isnan(record["expected"]):
        return "–"
    return f"{record['expected']:.4g} ± {record['sd']:.4g}"


# The columns of a table with a row per topic, measure and run.
TOPIC_COLUMNS = {
    **{name: TableColumn(Role.NAME) for name in ("measure", "run", "topic")},
    "relevant": TableColumn(Role.COUNT),
    "expected": TableColumn(Role.NUMBER),
    "sd": TableColumn(Role.NUMBER),
    "score": TableColumn(Role.SCORE),
    "corrected": TableColumn(Role.SCORE),
    "p": TableColumn(Role.P, text=p_or_bound),
}
