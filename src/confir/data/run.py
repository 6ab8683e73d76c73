"""Runs: one system's ranked list of documents for each topic."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from operator import ne
from typing import Any, Literal, get_args

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.errors import FormatError, UnknownNameError

# In which retrieval scores are compared: trec_eval 9 and pytrec_eval do so in single precision.
TiePrecision = Literal["double", "single"]
TIE_PRECISIONS: tuple[TiePrecision, ...] = get_args(TiePrecision)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One system's ranked lists, best document first.

    Attributes
    ----------
    name
        The run's name in every result.
    topics
        Topic ids in bytewise order.
    offsets
        The documents of topic ``t`` are ``offsets[t]:offsets[t + 1]``.
    documents
        Docids in rank order: by score descending, ties by docid descending, as trec_eval ranks.
    scores
        The retrieval score of each document.
    """

    name: str
    topics: tuple[str, ...]
    offsets: Integers
    documents: tuple[str, ...]
    scores: Floats

    def __len__(self) -> int:
        return len(self.topics)

    def __iter__(self) -> Iterator[str]:
        return iter(self.topics)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {len(self.topics)} topics, {len(self.documents)} documents)"

    def __getitem__(self, topic: str) -> list[tuple[str, float]]:
        """Return the ranked (docid, score) pairs of a topic."""
        return self._ranked(find_topic(self.topics, topic))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame with the columns topic, docid, rank, score, best document first.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow"; by default the first of them that is installed.
        """
        from confir.data.formats.frames import build_frame

        sizes = np.diff(self.offsets)
        first = np.repeat(self.offsets[:-1], sizes)
        columns = {
            "topic": np.repeat(np.array(self.topics, object), sizes).tolist(),
            "docid": list(self.documents),
            "rank": (np.arange(len(first)) - first + 1).tolist(),
            "score": self.scores.tolist(),
        }
        return build_frame(columns, backend)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return topic → docid → score, the shape of pytrec_eval and ranx."""
        return {topic: dict(self._ranked(i)) for i, topic in enumerate(self.topics)}

    def _ranked(self, position: int) -> list[tuple[str, float]]:
        span = slice(self.offsets[position], self.offsets[position + 1])
        return list(zip(self.documents[span], self.scores[span].tolist(), strict=True))


def build_run(
    name: str,
    topics: Sequence[str],
    documents: Sequence[str],
    scores: Floats,
    *,
    path: str | None = None,
) -> Run:
    """Return the run made of one (topic, docid, score) entry per retrieved document.

    Entries may come in any order; a document twice in a topic is an error. Line numbers in
    messages are left to the reader: here an entry is named by topic and docid.
    """
    source = path or name
    if len(topics) == 0:
        raise FormatError("the run is empty; expected one line per retrieved document", path=source)
    if not np.isfinite(scores).all():
        first = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise FormatError(
            f"score of document {documents[first]!r} in topic {topics[first]!r} is "
            f"{scores[first]}; expected a finite number",
            path=source,
        )
    names, codes = encode_topics(topics)
    ranked = list(documents)
    next_topic = codes[1:] > codes[:-1]
    next_score = (codes[1:] == codes[:-1]) & (scores[1:] <= scores[:-1])
    if (next_topic | next_score).all():  # in order already
        scores = scores.copy()
    else:
        order = np.lexsort((-scores, codes))
        codes, scores = codes[order], scores[order]
        ranked = pick(ranked, order)
    break_ties(ranked, scores, codes)
    offsets = np.searchsorted(codes, np.arange(len(names) + 1))
    for topic, (start, stop) in zip(names, pairwise(offsets.tolist()), strict=True):
        if len(set(ranked[start:stop])) < stop - start:
            counts = Counter(ranked[start:stop])
            duplicate = next(document for document in counts if counts[document] > 1)
            raise FormatError(
                f"document {duplicate!r} occurs twice in topic {topic!r}; expected each document "
                "once per topic",
                path=source,
            )
    return Run(name, names, offsets, tuple(ranked), scores)


def pick(entries: Sequence[str], positions: Integers) -> list[str]:
    """Return the entries at the positions."""
    picked: list[str] = np.array(entries, object)[positions].tolist()
    return picked


def find_topic(topics: tuple[str, ...], topic: str) -> int:
    """Return the position of a topic among topics in order."""
    position = bisect_left(topics, topic)
    if position == len(topics) or topics[position] != topic:
        raise UnknownNameError("topic", topic, topics)
    return position


def break_ties(documents: list[str], scores: Floats, lists: Integers) -> None:
    """Order documents of equal score within a list by docid, descending, in place.

    Python compares text by code point, which for UTF-8 is the bytewise order of trec_eval.
    """
    tied: Booleans = (scores[1:] == scores[:-1]) & (lists[1:] == lists[:-1])
    if not tied.any():
        return
    bounds = np.flatnonzero(np.diff(np.concatenate(([False], tied, [False])).astype(np.int8)))
    for start, stop in zip(bounds[::2].tolist(), (bounds[1::2] + 1).tolist(), strict=True):
        documents[start:stop] = sorted(documents[start:stop], reverse=True)


def encode_topics(topics: Sequence[str]) -> tuple[tuple[str, ...], Integers]:
    """Return the distinct topics in order, and each entry's position among them."""
    if len(topics) == 0:
        return (), np.zeros(0, np.int64)
    changes = np.fromiter(map(ne, islice(topics, 1, None), topics), bool, len(topics) - 1)
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1))
    spans = [topics[start] for start in starts.tolist()]
    names = tuple(sorted(set(spans)))
    position = {name: i for i, name in enumerate(names)}
    codes = np.fromiter(map(position.__getitem__, spans), np.int64, len(spans))
    return names, np.repeat(codes, np.diff(starts, append=len(topics)))
