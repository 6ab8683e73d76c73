"""What do runs and qrels lack? Missing topics, unjudged documents, and tied scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from confir.arguments import as_integers
from confir.arrays import Floats, Integers, best_first
from confir.data.experiment import Experiment, as_experiment
from confir.data.ranked_lists.held_lists import TopicLists
from confir.data.ranked_lists.tied_lists import count_ties
from confir.data.result import (
    Record,
    Result,
    Variable,
    axis,
    constant,
    over,
    records_of,
    result,
)
from confir.data.run import TiePrecision
from confir.data.table_columns import Role, TableColumn, TableColumns
from confir.errors import counted
from confir.studies.data_quality.sentences import (
    MANY_TIED,
    MUCH_UNJUDGED,
    NOTHING_UNUSUAL,
    qrels_sentences,
    run_sentences,
)

DEFAULT_CUTOFFS = (5, 10, 20, 100, 1000)

# The cutoff that sentences refer to: what users see, and most papers report.
MAIN_CUTOFF = 10


@result
class DataQuality(Result):
    """What runs lack, and how much of them is judged; topics outside the qrels are ignored.

    Attributes
    ----------
    topics, runs, cutoffs
        Topics of the qrels, names of the runs, and cutoffs of the shares of unjudged documents.
    missing, unknown
        By run: the topics of the qrels that it lacks, and its topics that the qrels lack.
    lengths
        Number of documents in each list, runs × topics; 0 where the run lacks the topic.
    unjudged
        Share of the first k documents, or of a shorter list, without a judgement; mean over the
        lists: runs × cutoffs, NaN for a run without lists.
    tied
        Share of a run's documents whose score occurs more than once in the list; NaN without lists.
    largest_tie
        Size of each run's largest group of tied documents; 0 without ties.
    judged, relevant
        Number of documents of each topic that are judged, and that have gain ``rel`` or more.
    rel
        Lowest gain that counts as relevant.
    """

    topics: tuple[str, ...]
    runs: tuple[str, ...] = axis("run")
    cutoffs: tuple[int, ...] = axis("cutoff")
    missing: tuple[tuple[str, ...], ...] = over("run")
    unknown: tuple[tuple[str, ...], ...] = over("run")
    lengths: Integers = over("run")
    unjudged: Floats = over("run", "cutoff")
    tied: Floats = over("run")
    largest_tie: Integers = over("run")
    judged: Integers
    relevant: Integers
    rel: int = constant()

    row_order = ("run",)

    @property
    def main_cutoff(self) -> int:
        """The cutoff that sentences refer to and that runs are ordered by."""
        lower = [cutoff for cutoff in self.cutoffs if cutoff <= MAIN_CUTOFF]
        return max(lower) if lower else min(self.cutoffs)

    @property
    def without_relevant(self) -> tuple[str, ...]:
        """The topics that have no relevant document."""
        return tuple(t for t, n in zip(self.topics, self.relevant, strict=True) if n == 0)

    @property
    def with_one_relevant(self) -> tuple[str, ...]:
        """The topics that have one relevant document."""
        return tuple(t for t, n in zip(self.topics, self.relevant, strict=True) if n == 1)

    def sentences(self) -> list[str]:
        """Return what a reader of scores should know; "nothing unusual" if there is nothing."""
        return [*qrels_sentences(self), *run_sentences(self)] or [NOTHING_UNUSUAL]

    def variables(self) -> list[Variable]:
        """Return lists, topics and ties of each run, and a share unjudged per cutoff."""
        missing = [len(topics) for topics in self.missing]
        lengths: Any = np.ma.masked_equal(self.lengths, 0)
        middle: Any = np.ma.median(lengths, axis=1)  # type: ignore[no-untyped-call]  # numpy.ma has no types
        columns = {
            "run": self.runs,
            "lists": [len(self.topics) - count for count in missing],
            "missing_topics": missing,
            "unknown_topics": [len(topics) for topics in self.unknown],
            "shortest": lengths.min(axis=1).filled(0),
            "median": middle.filled(np.nan),
            "longest": lengths.max(axis=1).filled(0),
            "tied": self.tied,
            "largest_tie": self.largest_tie,
            **{f"unjudged_{k}": self.unjudged[:, place] for place, k in enumerate(self.cutoffs)},
        }
        return [Variable(name, ("run",), values) for name, values in columns.items()]

    def table_columns(self) -> TableColumns:
        """Return how the columns read; what the sentences mention is bold."""
        unjudged = {f"unjudged_{k}": TableColumn(Role.SHARE, f"unjudged@{k}") for k in self.cutoffs}
        main = f"unjudged_{self.main_cutoff}"
        unjudged[main] = unjudged[main]._replace(bold=lambda r: r[main] >= MUCH_UNJUDGED)
        return {
            "run": TableColumn(Role.NAME),
            "lists": TableColumn(Role.COUNT),
            "missing_topics": TableColumn(
                Role.COUNT, "missing", bold=lambda r: r["missing_topics"] > 0
            ),
            "unknown_topics": TableColumn(
                Role.COUNT, "unknown", bold=lambda r: r["unknown_topics"] > 0
            ),
            "median": TableColumn(Role.NUMBER, "length", text=_lengths_text),
            "tied": TableColumn(Role.SHARE, bold=lambda r: r["tied"] >= MANY_TIED),
            "largest_tie": TableColumn(Role.COUNT),
            **unjudged,
        }

    def table_records(self) -> list[Record]:
        """Return the records, the most unjudged run first."""
        records = self.to_records()
        order = best_first(self.unjudged[:, self.cutoffs.index(self.main_cutoff)])
        return [records[place] for place in order]

    def note(self) -> str:
        """Return what the columns are."""
        return (
            f"missing: of the {counted(len(self.topics), 'topic')} of the qrels; unknown: topics that "
            "the qrels lack; length: shortest/median/longest list; tied: documents with the score of another "
            "in the list; unjudged@k: share of the first k documents, mean over the lists"
        )

    def topic_records(self) -> list[Record]:
        """Return a record (topic, judged, relevant) per topic of the qrels."""
        numbers = {"judged": self.judged.tolist(), "relevant": self.relevant.tolist()}
        return records_of({"topic": self.topics, **numbers})

    def qrels_record(self) -> Record:
        """Return statistics of the qrels: topics, judged and relevant documents per topic."""
        return {
            "topics": len(self.topics),
            **_spread("judged", self.judged),
            **_spread("relevant", self.relevant),
            "without_relevant": len(self.without_relevant),
            "with_one_relevant": len(self.with_one_relevant),
        }


def _lengths_text(record: Record) -> str:
    if not record["lists"]:
        return "–"
    median = record["median"]
    return f"{record['shortest']}/{median:.{1 if median % 1 else 0}f}/{record['longest']}"


def inspect_data(
    qrels: Experiment | Any,
    runs: Any = None,
    *,
    cutoffs: Sequence[int] = DEFAULT_CUTOFFS,
    rel: int = 1,
) -> DataQuality:
    """Return what runs and qrels lack: topics, judgements, and distinct retrieval scores.

    Parameters
    ----------
    qrels, runs
        Files or objects, as in `evaluate`, or an `Experiment` alone.
    cutoffs
        Cutoff or cutoffs for the share of unjudged documents.
    rel
        Lowest gain that counts as relevant.

    Examples
    --------
    >>> qrels = {"1": {"d1": 1, "d2": 0}, "2": {"d3": 2}}
    >>> runs = {"a": {"1": {"d1": 2.0, "d9": 1.0}, "2": {"d3": 1.0}}}
    >>> confir.inspect_data(qrels, runs)
    DataQuality(run: 1, cutoff: 5, rel=1)
    """
    ranks = as_integers("cutoffs", cutoffs)
    experiment = as_experiment(qrels, runs, {"rel": rel})
    rules = experiment.rules
    return inspect_lists(
        experiment.lists_by_topic(), ranks, rel=rules.rel, tie_precision=rules.tie_precision
    )


def inspect_lists(
    lists: TopicLists,
    cutoffs: Sequence[int] = DEFAULT_CUTOFFS,
    *,
    rel: int = 1,
    tie_precision: TiePrecision = "double",
) -> DataQuality:
    """Return what `inspect_data` does, for lists already read."""
    qrels, depth = lists.qrels, lists.depth
    ranks = tuple(sorted({int(cutoff) for cutoff in cutoffs}))
    levels, counts = qrels.count_by_gain()
    tied, largest_tie = count_ties(lists, tie_precision)
    with np.errstate(invalid="ignore"):
        share_tied = tied / depth.sum(axis=1)
    unjudged = np.full((len(lists.runs), len(ranks)), np.nan)
    for shares, rankings in zip(unjudged, lists.rankings(), strict=True):
        present = rankings.present[0]
        for place, cutoff in enumerate(ranks if present.any() else ()):
            seen = np.minimum(rankings.depth, cutoff)[0, present, 0]
            judged = rankings.total(rankings.copies_within(cutoff))[0, present, 0]
            shares[place] = ((seen - judged) / seen).mean()
    return DataQuality(
        topics=qrels.topics,
        runs=lists.runs,
        cutoffs=ranks,
        missing=tuple(
            tuple(qrels.topics[t] for t in np.flatnonzero(lengths == 0).tolist())
            for lengths in depth
        ),
        unknown=lists.unknown,
        lengths=depth,
        unjudged=unjudged,
        tied=share_tied,
        largest_tie=largest_tie,
        judged=counts.sum(axis=1),
        relevant=counts[:, levels >= rel].sum(axis=1),
        rel=rel,
    )


def _spread(name: str, counts: Integers) -> Record:
    return {
        f"{name}_min": int(counts.min()),
        f"{name}_median": float(np.median(counts)),
        f"{name}_max": int(counts.max()),
    }
