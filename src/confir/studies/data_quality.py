"""How good are the data? Topics that are missing, documents never judged, and tied scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_integers
from confir.arrays import Booleans, Floats, Integers
from confir.data.files import PathLike
from confir.data.frames import frame_from_records
from confir.data.list_scanner import read_lists
from confir.data.neighbours import as_qrels
from confir.data.qrels import Qrels
from confir.data.ranked_lists import RankedLists
from confir.data.rankings import Rankings
from confir.data.run import Run
from confir.data.scores import Record
from confir.measures.catalogue import as_rel
from confir.studies.quality_sentences import tell_quality

DEFAULT_CUTOFFS = (5, 10, 20, 100, 1000)

# Where users look, and what most reports score: the cutoff that sentences speak of.
TOLD_CUTOFF = 10


@dataclass(frozen=True, slots=True, eq=False)
class DataQuality:
    """What runs lack, and how much of them was judged. Only lists of topics of the qrels count.

    Attributes
    ----------
    topics, runs, cutoffs
        Topics of the qrels, names of the runs, and the ranks down to which shares are counted.
    missing, unknown
        By run: the topics of the qrels that it lacks, and its topics that the qrels lack.
    lengths
        Number of documents in each list, runs × topics; 0 where the run lacks the topic.
    unjudged
        Share of the first k documents, or of a shorter list, without a judgement; mean over the
        lists: runs × cutoffs, NaN for a run without lists.
    tied
        Share of a run's documents whose score another one has in the same list; NaN without lists.
    largest_tie
        Number of documents in each run's largest group of equal scores; 0 where none are equal.
    judged, relevant
        Number of documents of each topic that are judged, and that have gain ``rel`` or more.
    rel
        Lowest gain that counts as relevant.
    """

    topics: tuple[str, ...]
    runs: tuple[str, ...]
    cutoffs: tuple[int, ...]
    missing: tuple[tuple[str, ...], ...]
    unknown: tuple[tuple[str, ...], ...]
    lengths: Integers
    unjudged: Floats
    tied: Floats
    largest_tie: Integers
    judged: Integers
    relevant: Integers
    rel: int

    def _repr_html_(self) -> str:
        from confir.report.notebook import notebook_html

        return notebook_html(self)

    @property
    def told_cutoff(self) -> int:
        """The cutoff that sentences speak of and that runs are ordered by."""
        lower = [cutoff for cutoff in self.cutoffs if cutoff <= TOLD_CUTOFF]
        return max(lower) if lower else min(self.cutoffs)

    @property
    def without_relevant(self) -> tuple[str, ...]:
        """The topics that have no relevant document."""
        return self._topics(self.relevant == 0)

    @property
    def with_one_relevant(self) -> tuple[str, ...]:
        """The topics that have one relevant document."""
        return self._topics(self.relevant == 1)

    def sentences(self) -> list[str]:
        """Return what a reader of scores should know, in words; "nothing unusual" if nothing."""
        return tell_quality(self)

    def to_records(self) -> list[Record]:
        """Return a record per run: its lists, topics, ties, and a share unjudged per cutoff."""
        return [
            {
                "run": run,
                "lists": len(self.topics) - len(self.missing[r]),
                "missing_topics": len(self.missing[r]),
                "unknown_topics": len(self.unknown[r]),
                **_list_lengths(self.lengths[r])._asdict(),
                "tied": float(self.tied[r]),
                "largest_tie": int(self.largest_tie[r]),
                **{
                    f"unjudged_{cutoff}": float(share)
                    for cutoff, share in zip(self.cutoffs, self.unjudged[r], strict=True)
                },
            }
            for r, run in enumerate(self.runs)
        ]

    def topic_records(self) -> list[Record]:
        """Return a record (topic, judged, relevant) per topic of the qrels."""
        columns = zip(self.topics, self.judged.tolist(), self.relevant.tolist(), strict=True)
        return [
            {"topic": topic, "judged": judged, "relevant": relevant}
            for topic, judged, relevant in columns
        ]

    def qrels_record(self) -> Record:
        """Return the qrels in numbers: topics, judged and relevant documents of a topic."""
        return {
            "topics": len(self.topics),
            **_spread("judged", self.judged),
            **_spread("relevant", self.relevant),
            "without_relevant": len(self.without_relevant),
            "with_one_relevant": len(self.with_one_relevant),
        }

    def to_dict(self) -> dict[str, Record]:
        """Return run → record."""
        return {record["run"]: record for record in self.to_records()}

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow."""
        return frame_from_records(self.to_records(), backend)

    def _topics(self, chosen: Booleans) -> tuple[str, ...]:
        return tuple(self.topics[t] for t in np.flatnonzero(chosen).tolist())


def inspect_data(
    qrels: Qrels | PathLike | Mapping[str, Any] | Any,
    runs: Run | PathLike | Sequence[Any] | Mapping[str, Any] | Any,
    *,
    cutoffs: Sequence[int] = DEFAULT_CUTOFFS,
    rel: int = 1,
) -> DataQuality:
    """Return what runs and qrels lack: topics, judgements, and distinct retrieval scores.

    Parameters
    ----------
    qrels, runs
        Files or objects, as in `evaluate`.
    cutoffs
        Rank or ranks down to which the share of unjudged documents is counted.
    rel
        Lowest gain that counts as relevant.
    """
    ranks, lowest = as_integers("cutoffs", cutoffs), as_rel(rel)
    return inspect_lists(read_lists(as_qrels(qrels), runs), cutoffs=ranks, rel=lowest)


def inspect_lists(
    lists: RankedLists, *, cutoffs: Sequence[int] = DEFAULT_CUTOFFS, rel: int = 1
) -> DataQuality:
    """Return what `inspect_data` does, of lists that are read already."""
    qrels, depth = lists.qrels, lists.depth
    ranks = tuple(sorted({int(cutoff) for cutoff in cutoffs}))
    levels, counts = qrels.count_by_gain()
    tied, largest_tie = _ties(lists)
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
        unjudged=np.array([_unjudged(rankings, ranks) for rankings in lists.rankings()]),
        tied=tied,
        largest_tie=largest_tie,
        judged=counts.sum(axis=1),
        relevant=counts[:, levels >= rel].sum(axis=1),
        rel=rel,
    )


def _unjudged(rankings: Rankings, cutoffs: Sequence[int]) -> list[float]:
    """Return the share of unjudged documents at each cutoff, the mean over a run's lists."""
    present = rankings.present[0]
    if not present.any():
        return [np.nan] * len(cutoffs)
    shares = []
    for cutoff in cutoffs:
        seen = np.minimum(rankings.depth, cutoff)[0, present, 0]
        judged = rankings.total(rankings.copies_within(cutoff))[0, present, 0]
        shares.append(float(((seen - judged) / seen).mean()))
    return shares


def _ties(lists: RankedLists) -> tuple[Floats, Integers]:
    """Return each run's share of tied documents, and its largest tied group."""
    first = np.ones(len(lists.scores), bool)  # documents that start a group of equal scores
    np.not_equal(lists.scores[1:], lists.scores[:-1], out=first[1:])
    first[lists.offsets[:-1][np.diff(lists.offsets) > 0]] = True
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=len(lists.scores))
    listed = lists.depth.sum(axis=1)
    run = np.repeat(np.arange(len(lists.runs)), listed)[starts]
    tied = np.where(sizes > 1, sizes, 0)
    largest = np.zeros(len(lists.runs), np.int64)
    np.maximum.at(largest, run, tied)
    with np.errstate(invalid="ignore"):
        share: Floats = np.bincount(run, tied, len(lists.runs)) / listed
    return share, largest


class _ListLengths(NamedTuple):
    """Lengths of a run's lists, under their names in records."""

    shortest: int
    median: float
    longest: int


def _list_lengths(lengths: Integers) -> _ListLengths:
    present = lengths[lengths > 0]
    if len(present) == 0:
        return _ListLengths(0, float("nan"), 0)
    return _ListLengths(int(present.min()), float(np.median(present)), int(present.max()))


def _spread(name: str, counts: Integers) -> Record:
    return {
        f"{name}_min": int(counts.min()),
        f"{name}_median": float(np.median(counts)),
        f"{name}_max": int(counts.max()),
    }
