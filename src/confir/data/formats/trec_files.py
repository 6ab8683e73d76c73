"""TREC runs and qrels, read and written.

Regular lines are split a block at a time; at the first irregular thing a file is read again line by
line, as `confir.data.formats.trec_lines` does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.files import (
    BYTE_ORDER_MARK,
    PathLike,
    format_ending,
    name_from_path,
    text_bytes,
    write_whole,
)
from confir.data.formats.entries import COLUMNS, judgements
from confir.data.formats.format import Format, NameBy, RunSource
from confir.data.formats.trec_lines import (
    HIGHEST_GAIN,
    Judgements,
    judgements_by_line,
    read_run_by_line,
)
from confir.data.qrels import Intents, Qrels, build_qrels
from confir.data.run import Run, build_run
from confir.data.text_numbers import warn_of_cut_number
from confir.errors import FormatError, collect_warnings

# Blocks whose fields stay in the processor's cache are split fastest.
SPLIT_SIZE = 1 << 16

# Files of more bytes take long enough to split that a fault at their start is looked for first.
_LARGE = 1 << 22

# The first line, after blank lines and comments, where it has at least three columns and then a number,
# as gains and ranks are, and is no JSON. Enough of a long line is looked at.
_TREC_LINE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*+(?:#[^\r\n]*+)?\r?\n)*+"
    rb"[ \t]*+(?P<line>[^\s{\[#]\S*+[ \t]++\S++[ \t]++\S++[ \t]++[+-]?\d[^\n]{0,4096})"
)
_WORD_ENDS = re.compile(rb"[\s,;\"]+")
# Files with these endings are what they are called, whatever they hold.
_ENDINGS_OF_OTHERS = (".csv", ".json")

# What is read back as it was written: no blanks as in C, nothing lost as a comment or a byte order
# mark, and no half of a surrogate pair, which UTF-8 does not have.
WRITABLE_ID = re.compile("[^ \t\n\r\v\f\0\ud800-\udfff]+")
WRITABLE_TOPIC = re.compile(f"(?![#\ufeff]){WRITABLE_ID.pattern}")


def _has_trec_line(path: str, content: bytes) -> bool:
    """Whether a file begins with a line of TREC, rather than with names of columns or with JSON."""
    found = _TREC_LINE.match(content)
    if found is None or format_ending(path) in _ENDINGS_OF_OTHERS:
        return False
    words = {word.decode(errors="replace") for word in _WORD_ENDS.split(found["line"].lower())}
    return not any(columns <= words for columns in COLUMNS)


def read_trec_run(content: bytes, source: RunSource, name_by: NameBy = "file") -> list[Run]:
    """Return the run in the content of a TREC file."""
    path, name = source.path, source.name
    text = text_bytes(content, path)
    if len(text) > _LARGE:
        with collect_warnings():
            _check_start(text, lambda start: read_run_by_line(start, path, name, name_by))
    try:
        return [_read_regular_run(text, path, name, name_by)]
    except (_IrregularError, FormatError):
        return [read_run_by_line(text, path, name, name_by)]


def read_trec_qrels(content: bytes, source: RunSource, intents: Intents | None = None) -> Qrels:
    """Return the judgements in the content of a TREC qrels file."""
    text = text_bytes(content, source.path)
    if not text.endswith(b"\n"):
        warn_of_cut_number(text, source.path)
    if len(text) > _LARGE:
        _check_start(text, lambda start: judgements_by_line(start, source.path))
    try:
        return build_qrels(*_regular_judgements(text), path=source.path, intents=intents)
    except (_IrregularError, FormatError):
        judged = judgements_by_line(text, source.path)
    return build_qrels(*judged, path=source.path, intents=intents)


def _check_start(text: bytes, read_by_line: Callable[[bytes], object]) -> None:
    """Read the first lines of a large file by line: raise where there is a fault in them.

    It need not wait for the rest, which may be far larger than the file where that is compressed.
    """
    start = text[: text.find(b"\n", SPLIT_SIZE) + 1]
    if start.strip():
        read_by_line(start)


def write_trec_run(run: Run, path: PathLike) -> None:
    """Write a run as a TREC file, compressed as the ending says."""
    target = os.fspath(path)
    _check_ids(target, topic=run.topics, docid=run.documents)
    tag = re.sub(r"[\s\0]+", "_", run.name) or "run"
    scores = run.scores.tolist()
    lines = [
        f"{topic} Q0 {run.documents[i]} {i - start + 1} {scores[i]!r} {tag}\n"
        for topic, (start, stop) in zip(run.topics, pairwise(run.offsets.tolist()), strict=True)
        for i in range(start, stop)
    ]
    write_whole(path, "".join(lines).encode(errors="replace"))


def write_trec_qrels(qrels: Qrels, path: PathLike) -> None:
    """Write qrels as a TREC file, compressed as the ending says."""
    target = os.fspath(path)
    _check_ids(target, topic=qrels.topics, subtopic=qrels.subtopics, docid=qrels.documents)
    *columns, gains = judgements(qrels)
    rows = zip(*columns, gains.tolist(), strict=True)
    lines = [f"{topic} {subtopic} {docid} {gain}\n" for topic, subtopic, docid, gain in rows]
    write_whole(path, "".join(lines).encode())


def _check_ids(target: str, **ids: Iterable[str]) -> None:
    """Raise where an id would be read back as something else."""
    for kind, texts in ids.items():
        allowed = WRITABLE_TOPIC if kind == "topic" else WRITABLE_ID
        wrong = next((text for text in texts if not allowed.fullmatch(text)), None)
        if wrong is not None:
            problem = (
                f"{kind} {wrong!r} cannot be written to a TREC file; expected text without blanks"
            )
            hint = ", not starting with #" if kind == "topic" else ""
            raise FormatError(f"{problem}{hint}", path=target)


class _IrregularError(Exception):
    """Something that only the reading by line understands, or knows how to refuse."""


def _read_regular_run(content: bytes, source: str, name: str | None, name_by: NameBy) -> Run:
    topics: list[str] = []
    documents: list[str] = []
    scores: list[Floats] = []
    tag = b""
    for own_topics, own_documents, columns in _regular_blocks(content, 6):
        topics += own_topics
        documents += own_documents
        if b"_" in b" ".join(columns[4]):  # which Python reads in numbers, and C does not
            raise _IrregularError
        try:
            scores.append(np.fromiter(map(float, columns[4]), np.float64, len(columns[4])))
        except ValueError:
            raise _IrregularError from None
        if not np.isfinite(scores[-1]).all():
            raise _IrregularError
        tag = tag or columns[5][0]
    run_name = name or (tag.decode() if name_by == "tag" else name_from_path(source))
    return build_run(run_name, topics, documents, np.concatenate(scores), path=source)


def _regular_judgements(content: bytes) -> Judgements:
    topics: list[str] = []
    subtopics: list[str] = []
    documents: list[str] = []
    gains: list[Integers] = []
    text = _Texts()
    for own_topics, own_documents, columns in _regular_blocks(content, 4):
        topics += own_topics
        subtopics += map(text.__getitem__, columns[1])
        documents += own_documents
        try:
            gain = {field: int(field) for field in set(columns[3])}
        except ValueError:
            raise _IrregularError from None
        if b"_" in b" ".join(gain) or max(map(abs, gain.values())) > HIGHEST_GAIN:
            raise _IrregularError
        gains.append(np.fromiter(map(gain.__getitem__, columns[3]), np.int64, len(columns[3])))
    return topics, subtopics, documents, np.concatenate(gains)


class _Texts(dict[bytes, str]):
    """The text of each field that was looked up: few distinct fields fill a column."""

    def __missing__(self, field: bytes) -> str:
        text = self[field] = field.decode()
        return text


def _regular_blocks(
    content: bytes, width: int
) -> Iterator[tuple[Iterable[str], list[str], list[list[bytes]]]]:
    """Yield topics, documents and all columns of one block of lines after another.

    Raises where a line is irregular.

    Every line end is made a field of its own, NUL, which no text holds. Where these, and no other
    fields, stand at the end of every ``width + 1`` fields, each line has ``width`` columns: the
    number of fields alone would not show it, since a short and a long line can cancel out.
    """
    content = content.rstrip() + b"\n"
    text = _Texts()
    start = 0
    while start < len(content):
        stop = content.find(b"\n", start + SPLIT_SIZE) + 1 or len(content)
        block = content[start:stop]
        fields = block.replace(b"\n", b" \0 ").split()
        lines = block.count(b"\n")
        if len(fields) != lines * (width + 1) or fields[width :: width + 1].count(b"\0") != lines:
            raise _IrregularError
        columns = [fields[i :: width + 1] for i in range(width)]
        for sign in (b"#", BYTE_ORDER_MARK):
            if sign in block and any(field.startswith(sign) for field in set(columns[0])):
                raise _IrregularError
        documents = b" ".join(columns[2]).decode().split(" ")  # at once, as fields hold no blank
        yield map(text.__getitem__, columns[0]), documents, columns
        start = stop


TREC = Format(
    "TREC",
    "lines of topic, Q0, docid, rank, score, tag; or of topic, subtopic, docid, gain",
    recognises=_has_trec_line,
    read_runs=read_trec_run,
    read_qrels=read_trec_qrels,
    write_run=write_trec_run,
    write_qrels=write_trec_qrels,
    scanned=True,
)
