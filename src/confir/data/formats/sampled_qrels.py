"""Qrels of documents that were drawn for human judging, with the probability of each.

A TREC qrels file with a fifth column, the probability with which the document was drawn for judging;
or a mapping topic → docid → (gain, probability).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from confir.arguments import as_path, invalid
from confir.arrays import Floats
from confir.data.files import read_bytes, text_bytes
from confir.data.formats.format import Reading
from confir.data.formats.sources import qrels_called
from confir.data.qrels import Qrels, build_qrels
from confir.data.text_numbers import parse_number
from confir.data.trec_lines import judgements_by_line
from confir.errors import FormatError

_COLUMNS = "topic, subtopic, docid, gain, probability of being drawn"


class SampledJudgements(NamedTuple):
    """Judgements of documents that were drawn, and the probability of each."""

    qrels: Qrels
    probabilities: Floats


def read_sampled(source: Any, reading: Reading) -> SampledJudgements:
    """Return the judgements of drawn documents in a file of five columns, or in a mapping."""
    if isinstance(source, str | os.PathLike):
        path = as_path("human", source)
        content = text_bytes(read_bytes(path, download=reading.download), path)
        return _aligned(*_read_lines(content, path), reading)
    if not isinstance(source, Mapping) or not all(
        isinstance(judged, Mapping) for judged in source.values()
    ):
        raise invalid(
            "human",
            source,
            "a file of five columns, or a mapping topic → docid → (gain, probability)",
        )
    gains: dict[str, dict[str, Any]] = {}
    drawn: dict[tuple[str, str], float] = {}
    for topic, judged in source.items():
        for docid, entry in judged.items():
            if not isinstance(entry, tuple | list) or len(entry) != 2:
                about = f"topic {topic!r}, document {docid!r}: {entry!r}"
                raise FormatError(f"{about}; expected a pair of gain and probability")
            key = str(topic), str(docid)
            gains.setdefault(key[0], {})[key[1]] = entry[0]
            drawn[key] = _as_probability(entry[1], f"{key}")
    return _aligned(qrels_called("human", gains), drawn, reading)


def _read_lines(content: bytes, path: str) -> tuple[Qrels, dict[tuple[str, str], float]]:
    """Return judgements and probabilities in a file of five columns; every error names its line."""
    judged: list[bytes] = []
    drawn: dict[tuple[str, str], float] = {}
    for number, line in enumerate(content.split(b"\n"), start=1):
        fields = line.split()
        if not fields or fields[0].startswith(b"#"):
            judged.append(b"")
            continue
        if len(fields) != 5:
            raise FormatError(
                f"{len(fields)} columns; expected 5: {_COLUMNS}", path=path, line=number
            )
        key = fields[0].decode(), fields[2].decode()
        chance = _as_probability(fields[4].decode(), path, number)
        if drawn.setdefault(key, chance) != chance:
            raise FormatError(
                f"document {key[1]!r} of topic {key[0]!r} is drawn with probability {chance:g} here "
                f"and {drawn[key]:g} before; expected one",
                path=path,
                line=number,
            )
        judged.append(b" ".join(fields[:4]))
    return build_qrels(*judgements_by_line(b"\n".join(judged), path), path=path), drawn


def _as_probability(value: Any, about: str, line: int | None = None) -> float:
    """Return a probability above 0, at most 1."""
    number = parse_number(value) if isinstance(value, str) else value
    chance = float(number) if isinstance(number, Real) else 0.0
    if not 0.0 < chance <= 1.0:
        expected = "expected the probability of being drawn, above 0 and at most 1"
        if line is None:
            raise FormatError(f"{about}: {value!r}; {expected}")
        raise FormatError(f"{value!r} in column 5; {expected}", path=about, line=line)
    return chance


def _aligned(
    qrels: Qrels, drawn: Mapping[tuple[str, str], float], reading: Reading
) -> SampledJudgements:
    if reading.exclusions.documents:
        qrels = reading.exclusions.drop_judged(qrels)
    topics = [qrels.topics[place] for place in qrels.document_topics.tolist()]
    keys = zip(topics, qrels.documents, strict=True)
    return SampledJudgements(qrels, np.array([drawn[key] for key in keys]))
