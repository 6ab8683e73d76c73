"""Qrels: judged documents of each topic, with gains and subtopics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from confir.arrays import Booleans, Floats, Integers, distinct
from confir.data.run import encode_topics, find_topic, pick
from confir.errors import FormatError, TopicMismatchError, counted, warn_caller

Intents = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Qrels:
    """Judged documents of each topic.

    Attributes
    ----------
    topics
        Topic ids in bytewise order.
    offsets
        The judged documents of topic ``t`` are ``offsets[t]:offsets[t + 1]``.
    documents
        Docids, each once per topic.
    gains
        The gain of each document: its highest one where subtopics differ.
    judged_documents, subtopics, subtopic_gains
        One entry per judgement: the document (a position in ``documents``), the subtopic it was
        judged for (the second column of the file), and the gain.
    intents
        Topic → subtopic → probability, where given; uniform otherwise.
    """

    topics: tuple[str, ...]
    offsets: Integers
    documents: tuple[str, ...]
    gains: Integers
    judged_documents: Integers
    subtopics: tuple[str, ...]
    subtopic_gains: Integers
    intents: Intents | None = None

    def __len__(self) -> int:
        return len(self.topics)

    def __iter__(self) -> Iterator[str]:
        return iter(self.topics)

    def __repr__(self) -> str:
        return f"Qrels({len(self.topics)} topics, {len(self.documents)} judged documents)"

    def __getitem__(self, topic: str) -> dict[str, int]:
        """Return docid → gain of a topic."""
        return self._judged(find_topic(self.topics, topic))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame with the columns topic, subtopic, docid, gain, one row per judgement.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow"; by default the first of them that is installed.
        """
        from confir.data.formats.entries import JUDGEMENT_COLUMNS, judgements
        from confir.data.formats.frames import build_frame

        *columns, gains = judgements(self)
        named = dict(zip(JUDGEMENT_COLUMNS, [*columns, gains.tolist()], strict=True))
        return build_frame(named, backend)

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return topic → docid → gain, the shape of pytrec_eval and ranx."""
        return {topic: self._judged(i) for i, topic in enumerate(self.topics)}

    def _judged(self, position: int) -> dict[str, int]:
        span = slice(self.offsets[position], self.offsets[position + 1])
        return dict(zip(self.documents[span], self.gains[span].tolist(), strict=True))

    @property
    def document_topics(self) -> Integers:
        """The topic (a position in ``topics``) of each judged document."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.offsets))

    def count_by_gain(self) -> tuple[Integers, Integers]:
        """Return the distinct gains, ascending, and the documents of each topic at each gain."""
        levels = distinct(self.gains)
        cells = self.document_topics * len(levels) + np.searchsorted(levels, self.gains)
        counts = np.bincount(cells, minlength=len(self.topics) * len(levels))
        return levels, counts.reshape(len(self.topics), len(levels))

    def of_topics(self, begin: int, end: int) -> Qrels:
        """Return the qrels of some consecutive topics."""
        offsets = self.offsets[begin : end + 1]
        start, stop = offsets[[0, -1]].tolist()
        # Judgements stand by topic: in order where topics end, if not in between.
        first, last = np.searchsorted(self.judged_documents, [start, stop]).tolist()
        return Qrels(
            topics=self.topics[begin:end],
            offsets=offsets - start,
            documents=self.documents[start:stop],
            gains=self.gains[start:stop],
            judged_documents=self.judged_documents[first:last] - start,
            subtopics=self.subtopics[first:last],
            subtopic_gains=self.subtopic_gains[first:last],
            intents=self.intents,
        )

    def only(self, kept: Booleans) -> Qrels:
        """Return the qrels of some documents only; a topic left without any is no topic."""
        judgements = np.flatnonzero(kept[self.judged_documents])
        topics = self.document_topics[kept]
        held = np.unique(topics)
        return Qrels(
            topics=tuple(self.topics[t] for t in held.tolist()),
            offsets=np.append(np.searchsorted(topics, held), len(topics)),
            documents=tuple(self.documents[d] for d in np.flatnonzero(kept).tolist()),
            gains=self.gains[kept],
            judged_documents=(np.cumsum(kept) - 1)[self.judged_documents[judgements]],
            subtopics=tuple(self.subtopics[j] for j in judgements.tolist()),
            subtopic_gains=self.subtopic_gains[judgements],
            intents=self.intents,
        )


@dataclass(frozen=True, slots=True, eq=False)
class SubtopicJudgements:
    """Positive judgements by subtopic, as flat arrays over all topics.

    Attributes
    ----------
    offsets
        The subtopics of topic ``t`` are ``offsets[t]:offsets[t + 1]``.
    probabilities
        The intent probability of each subtopic; those of a topic sum to 1.
    document, subtopic, gain
        One entry per positive judgement: positions of document and subtopic, and the gain.
    """

    offsets: Integers
    probabilities: Floats
    document: Integers
    subtopic: Integers
    gain: Integers


def build_qrels(
    topics: Sequence[str],
    subtopics: Sequence[str],
    documents: Sequence[str],
    gains: Integers,
    *,
    path: str = "qrels",
    intents: Intents | None = None,
) -> Qrels:
    """Return the qrels made of one (topic, subtopic, docid, gain) entry per judgement."""
    if len(topics) == 0:
        raise FormatError("the qrels are empty; expected one line per judgement", path=path)
    names, codes = encode_topics(topics)
    if intents is not None:
        _check_intents(names, intents, path)
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        codes, gains = codes[order], gains[order]
        subtopics, documents = pick(subtopics, order), pick(documents, order)
    offsets = np.searchsorted(codes, np.arange(len(names) + 1))
    spans = list(pairwise(offsets.tolist()))
    if all(len(set(documents[start:stop])) == stop - start for start, stop in spans):
        judged = np.arange(len(documents))
        return Qrels(
            names, offsets, tuple(documents), gains, judged, tuple(subtopics), gains, intents
        )
    keep = _distinct_judgements(names, spans, subtopics, documents, gains, path)
    subtopics, documents = pick(subtopics, keep), pick(documents, keep)
    return _merge_subtopics(names, codes[keep], subtopics, documents, gains[keep], intents)


def _check_intents(topics: Sequence[str], intents: Intents, path: str) -> None:
    """Raise where the intent probabilities of a topic are none, or belong to other topics."""
    for topic, probabilities in intents.items():
        values = list(probabilities.values())
        sound = all(isinstance(value, Real) and 0 <= value < math.inf for value in values)
        if not sound or not 0 < sum(values) < math.inf:
            raise FormatError(
                f"the intent probabilities of topic {topic!r} are {dict(probabilities)}; expected "
                "numbers of 0 or more, not all 0",
                path=path,
            )
    if intents.keys().isdisjoint(topics):
        raise TopicMismatchError(f"{path}: the intents are of other topics than the qrels")


def _distinct_judgements(
    names: Sequence[str],
    spans: Sequence[tuple[int, int]],
    subtopics: Sequence[str],
    documents: Sequence[str],
    gains: Integers,
    path: str,
) -> Integers:
    """Return the positions of the judgements without repetitions; raise where two conflict."""
    keep: list[int] = []
    gain = gains.tolist()
    for topic, (start, stop) in zip(names, spans, strict=True):
        seen: dict[tuple[str, str], int] = {}
        for i in range(start, stop):
            first = seen.setdefault((subtopics[i], documents[i]), i)
            if gain[first] != gain[i]:
                raise FormatError(
                    f"conflicting judgements of document {documents[i]!r} in topic {topic!r}, "
                    f"subtopic {subtopics[i]!r}: {gain[first]} and {gain[i]}; expected one",
                    path=path,
                )
        keep.extend(seen.values())
    repeated = len(documents) - len(keep)
    if repeated:
        warn_caller(
            f"{path}: {counted(repeated, 'judgement')} {'is' if repeated == 1 else 'are'} repeated "
            "with the same gain; each counts once"
        )
    return np.array(keep, np.int64)


def _merge_subtopics(
    names: tuple[str, ...],
    codes: Integers,
    subtopics: Sequence[str],
    documents: Sequence[str],
    gains: Integers,
    intents: Intents | None,
) -> Qrels:
    """Return qrels in which a document judged for several subtopics stands once."""
    position: dict[tuple[int, str], int] = {}
    keys = zip(codes.tolist(), documents, strict=True)
    judged = np.array([position.setdefault(key, len(position)) for key in keys], np.int64)
    highest = np.full(len(position), np.iinfo(np.int64).min)
    np.maximum.at(highest, judged, gains)
    document_topics = np.fromiter((topic for topic, _ in position), np.int64, len(position))
    return Qrels(
        names,
        np.searchsorted(document_topics, np.arange(len(names) + 1)),
        tuple(document for _, document in position),
        highest,
        judged,
        tuple(subtopics),
        gains,
        intents,
    )


def subtopic_judgements(qrels: Qrels) -> SubtopicJudgements:
    """Return the positive judgements of the qrels by subtopic.

    A topic's subtopics are those that its intents list, where intents are given, and otherwise
    all that its judgements name.
    """
    topic_of = qrels.document_topics[qrels.judged_documents].tolist()
    listed: list[dict[str, float]] = [{} for _ in qrels.topics]
    for topic, subtopic in zip(topic_of, qrels.subtopics, strict=True):
        listed[topic][subtopic] = 1.0
    if qrels.intents is not None:
        for number, topic_name in enumerate(qrels.topics):
            if topic_name in qrels.intents:
                listed[number] = dict(qrels.intents[topic_name])
    offsets = np.concatenate(([0], np.cumsum([len(names) for names in listed])))
    weights = (np.fromiter(names.values(), np.float64, len(names)) for names in listed)
    probabilities = np.concatenate([own / own.sum() for own in weights])
    position = {
        (topic, subtopic): int(offsets[topic]) + place
        for topic, names in enumerate(listed)
        for place, subtopic in enumerate(names)
    }
    keys = zip(topic_of, qrels.subtopics, strict=True)
    places = np.fromiter((position.get(key, -1) for key in keys), np.int64, len(topic_of))
    positive = (qrels.subtopic_gains > 0) & (places >= 0)
    return SubtopicJudgements(
        offsets,
        probabilities,
        qrels.judged_documents[positive],
        places[positive],
        qrels.subtopic_gains[positive],
    )
