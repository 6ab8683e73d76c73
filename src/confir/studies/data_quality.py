"""How good are the data? Topics that are missing, documents never judged, and tied scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.data.files import PathLike
from confir.data.neighbours import as_qrels, frame_from_records
from confir.data.qrels import Qrels
from confir.data.rankings import JudgedPositions
from confir.data.run import Run
from confir.data.scores import Record
from confir.errors import InvalidValueError
from confir.measures.binary import judged_share
from confir.resampling.documents import read_runs
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
        Ranks down to which the share of unjudged documents is counted.
    rel
        Lowest gain that counts as relevant.
    """
    if not cutoffs or min(cutoffs) < 1:
        raise InvalidValueError(f"cutoffs are {list(cutoffs)}; expected whole numbers from 1")
    ranks = tuple(sorted({int(cutoff) for cutoff in cutoffs}))
    judgements, read = as_qrels(qrels), read_runs(runs)
    positions = JudgedPositions(judgements)
    findings = [_inspect_run(positions, run, ranks) for run in read]
    levels, counts = judgements.count_by_gain()
    return DataQuality(
        topics=judgements.topics,
        runs=tuple(run.name for run in read),
        cutoffs=ranks,
        missing=tuple(finding.missing for finding in findings),
        unknown=tuple(finding.unknown for finding in findings),
        lengths=np.stack([finding.lengths for finding in findings]),
        unjudged=np.array([finding.unjudged for finding in findings]),
        tied=np.array([finding.tied for finding in findings]),
        largest_tie=np.array([finding.largest_tie for finding in findings], np.int64),
        judged=counts.sum(axis=1),
        relevant=counts[:, levels >= rel].sum(axis=1),
        rel=rel,
    )


class _RunFindings(NamedTuple):
    """What one run lacks."""

    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    lengths: Integers
    unjudged: list[float]
    tied: float
    largest_tie: int


def _inspect_run(positions: JudgedPositions, run: Run, cutoffs: Sequence[int]) -> _RunFindings:
    topics = positions.qrels.topics
    rankings = positions.rank(run)
    present = rankings.present[0]
    if not present.any():
        return _RunFindings(
            topics, run.topics, rankings.depth[0, :, 0], [np.nan] * len(cutoffs), np.nan, 0
        )
    shares = [judged_share(rankings, cutoff=cutoff)[0, present, 0] for cutoff in cutoffs]
    known = set(topics)
    tied, largest_tie = _ties(run, np.array([topic in known for topic in run.topics]))
    return _RunFindings(
        missing=tuple(topics[t] for t in np.flatnonzero(~present).tolist()),
        unknown=tuple(topic for topic in run.topics if topic not in known),
        lengths=rankings.depth[0, :, 0],
        unjudged=[1.0 - float(share.mean()) for share in shares],
        tied=tied,
        largest_tie=largest_tie,
    )


def _ties(run: Run, counted: Booleans) -> tuple[float, int]:
    """Return the share of tied documents in the counted lists, and the largest tied group."""
    first = np.ones(len(run.scores), bool)  # documents that start a group of equal scores
    np.not_equal(run.scores[1:], run.scores[:-1], out=first[1:])
    first[run.offsets[:-1]] = True
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=len(run.scores))
    sizes = sizes[np.repeat(counted, np.diff(run.offsets))[starts]]
    tied = sizes[sizes > 1]
    return float(tied.sum() / sizes.sum()), int(tied.max(initial=0))


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
