"""What is a run? One system's ranked list of documents for each topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from confir.arrays import Booleans, Floats, Integers
from confir.errors import FormatError


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
        position = self.topics.index(topic)
        span = slice(self.offsets[position], self.offsets[position + 1])
        return list(zip(self.documents[span], self.scores[span].tolist(), strict=True))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return topic → docid → score, the shape of pytrec_eval and ranx."""
        return {topic: dict(self[topic]) for topic in self.topics}


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
    order = np.lexsort((-scores, codes))
    codes = codes[order]
    offsets = np.searchsorted(codes, np.arange(len(names) + 1))
    scores = scores[order]
    ranked = [documents[i] for i in order.tolist()]
    break_ties(ranked, scores, codes)
    for topic, (start, stop) in zip(names, pairwise(offsets.tolist()), strict=True):
        if len(set(ranked[start:stop])) < stop - start:
            duplicate = _first_duplicate(ranked[start:stop])
            raise FormatError(
                f"document {duplicate!r} stands twice in topic {topic!r}; expected each document "
                "once per topic",
                path=source,
            )
    return Run(name, names, offsets, tuple(ranked), scores)


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
    names = tuple(sorted(set(topics)))
    position = {name: i for i, name in enumerate(names)}
    codes = np.fromiter(map(position.__getitem__, topics), np.int64, len(topics))
    return names, codes


def _first_duplicate(documents: Sequence[str]) -> str:
    seen: set[str] = set()
    for document in documents:
        if document in seen:
            return document
        seen.add(document)
    raise AssertionError("no duplicate")
