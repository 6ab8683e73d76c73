"""What do the assessors say? Judged documents of each topic, with gains and subtopics."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.run import encode_topics
from confir.errors import FormatError, InputWarning

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
        position = self.topics.index(topic)
        span = slice(self.offsets[position], self.offsets[position + 1])
        return dict(zip(self.documents[span], self.gains[span].tolist(), strict=True))

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return topic → docid → gain, the shape of pytrec_eval and ranx."""
        return {topic: self[topic] for topic in self.topics}

    @property
    def document_topics(self) -> Integers:
        """The topic (a position in ``topics``) of each judged document."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.offsets))

    def count_by_gain(self) -> tuple[Integers, Integers]:
        """Return the distinct gains, ascending, and the documents of each topic at each gain."""
        levels, codes = np.unique(self.gains, return_inverse=True)
        cells = self.document_topics * len(levels) + codes
        counts = np.bincount(cells, minlength=len(self.topics) * len(levels))
        return levels, counts.reshape(len(self.topics), len(levels))


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
    order = np.argsort(codes, kind="stable")
    ordered = order.tolist()
    documents = [documents[i] for i in ordered]
    subtopics = [subtopics[i] for i in ordered]
    gains = gains[order]
    bounds = np.searchsorted(codes[order], np.arange(len(names) + 1))
    pairs = list(pairwise(bounds.tolist()))
    if all(len(set(documents[start:stop])) == stop - start for start, stop in pairs):
        positions = np.arange(len(documents))
        return Qrels(
            names, bounds, tuple(documents), gains, positions, tuple(subtopics), gains, intents
        )
    keep = _distinct_judgements(names, pairs, subtopics, documents, gains, path)
    documents = [documents[i] for i in keep]
    subtopics = [subtopics[i] for i in keep]
    gains = gains[keep]
    return _merge_subtopics(names, codes[order][keep], subtopics, documents, gains, intents)


def _distinct_judgements(
    names: Sequence[str],
    spans: Sequence[tuple[int, int]],
    subtopics: Sequence[str],
    documents: Sequence[str],
    gains: Integers,
    path: str,
) -> list[int]:
    """Return the positions of the judgements without repetitions; raise where two conflict."""
    keep: list[int] = []
    repeated = 0
    for topic, (start, stop) in zip(names, spans, strict=True):
        seen: dict[tuple[str, str], int] = {}
        for i in range(start, stop):
            key = (subtopics[i], documents[i])
            first = seen.setdefault(key, i)
            if first == i:
                keep.append(i)
            elif gains[first] != gains[i]:
                raise FormatError(
                    f"conflicting judgements of document {documents[i]!r} in topic {topic!r}, "
                    f"subtopic {subtopics[i]!r}: {gains[first]} and {gains[i]}; expected one",
                    path=path,
                )
            else:
                repeated += 1
    if repeated:
        warnings.warn(
            f"{path}: {repeated} judgements are repeated with the same gain; each counts once",
            InputWarning,
            stacklevel=4,
        )
    return keep


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
    judged = np.empty(len(documents), np.int64)
    for i, key in enumerate(zip(codes.tolist(), documents, strict=True)):
        judged[i] = position.setdefault(key, len(position))
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
    probabilities = np.concatenate([_normalised(names) for names in listed])
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


def _normalised(names: Mapping[str, float]) -> Floats:
    weights = np.fromiter(names.values(), np.float64, len(names))
    normalised: Floats = weights / weights.sum()
    return normalised
