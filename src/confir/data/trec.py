"""TREC runs and qrels, read in blocks of whole topics, and written.

numpy splits a block into fields, or a compiled kernel where there is much to read. What is irregular is left to
`confir.data.trec_lines`, which reads line by line, knows every rule, and names the line of an error.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import IO, NamedTuple

import numpy as np

from confir.arrays import Booleans, Bytes, Floats, Integers
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
from confir.data.ids import WORD, Docids, Words, mix_words, words_of
from confir.data.qrels import Intents, Qrels, build_qrels
from confir.data.run import Run, build_run
from confir.data.text_numbers import warn_of_cut_number
from confir.data.trec_kernel import FindFields
from confir.data.trec_lines import (
    HIGHEST_GAIN,
    Judgements,
    judgements_by_line,
    read_run_by_line,
)
from confir.errors import FormatError

# Large enough to make little of Python's work per block, small enough for the processor's cache.
BLOCK_SIZE = 1 << 19

_TAB, _NEWLINE, _RETURN, _SPACE = b"\t\n\r "
_PLUS, _MINUS, _POINT, _ZERO, _NUMBER_SIGN = b"+-.0#"
_COMMENTS = re.compile(rb"(?m)^[ \t\v\f\r]*#.*\n")
# Topic, docid, score and tag; and all columns of qrels.
_RUN_COLUMNS, _QRELS_COLUMNS = (0, 2, 4, 5), (0, 1, 2, 3)
# What kernels and words of eight bytes may reach beyond the lines of a block.
PADDING = b"\n" * WORD
_MOST_DIGITS = 15  # of which a float holds every number
_TENS = 10.0 ** np.arange(_MOST_DIGITS + 1)
_IN_NUMBERS = np.isin(np.arange(256), list(b"0123456789+-.eE"))
_GAIN = re.compile(r"[+-]?[0-9]{1,10}")
# How far back the start of a block's last topic is looked for at first.
_REACH = 1 << 16

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


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a block of a run.

    Attributes
    ----------
    topics, bounds
        The topics; the first line of each, and after the last one the number of lines.
    docids, keys, scores
        Docid, its key, and score of each line.
    tag
        The tag of the block's first line.
    """

    topics: list[str]
    bounds: Integers
    docids: Docids
    keys: Words
    scores: Floats
    tag: str

    @cached_property
    def lists(self) -> Integers:
        """The list of each line: the place of its topic."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.bounds))

    def only(self, kept: Booleans) -> Lines:
        """Return the lines that are kept, without topics that have none left."""
        if kept.all():
            return self
        ends = np.concatenate(([0], np.cumsum(kept)))[self.bounds]
        held = np.flatnonzero(np.diff(ends))
        topics = [self.topics[place] for place in held.tolist()]
        places, bounds = np.flatnonzero(kept), np.append(ends[held], ends[-1])
        return replace(self, topics=topics, bounds=bounds).at(places)

    def repeat_documents(self) -> bool:
        """Whether a topic has a document twice, as far as keys tell, or lines in two places."""
        own = mix_words(np.arange(len(self.topics), dtype=np.uint64))[self.lists]
        pairs = np.sort(self.keys ^ own)
        return bool((pairs[1:] == pairs[:-1]).any()) or len(set(self.topics)) < len(self.topics)

    def find_identical(self) -> Integers:
        """Return which lines have a document with the id of the topic."""
        names, lists = Docids.of(self.topics), self.lists
        places = np.flatnonzero(names.keys()[lists] == self.keys)
        same: Integers = places[names[lists[places]].equal(self.docids[places])]
        return same

    def at(self, places: Integers) -> Lines:
        """Return the documents at some places, the same topics and bounds."""
        return replace(
            self, docids=self.docids[places], keys=self.keys[places], scores=self.scores[places]
        )


def read_lines(block: bytes, find_fields: FindFields | None = None) -> Lines | None:
    """Return the lines of a block of a run in their order; None where one is irregular.

    ``find_fields`` is the compiled kernel, which does the same.
    """
    found = _split(block, _RUN_COLUMNS, find_fields)
    if found is None:
        return None
    (_, docids, score, tag), scores = found.fields, found.scores
    odd = np.flatnonzero(np.isnan(scores))
    if len(odd):
        parsed = _parse(score) if found.keys is None else _parse_each(score[odd])
        if parsed is None or not np.isfinite(parsed).all():
            return None
        scores[odd] = parsed
    keys = docids.keys() if found.keys is None else found.keys
    return Lines(found.topics, found.bounds, docids, keys, scores, docids_as_text(tag[:1])[0])


def rank_lines(lines: Lines, *, single: bool = False) -> Lines:
    """Return lines by score, then by docid, both descending.

    Parameters
    ----------
    lines
        Lines of whole topics.
    single
        Whether scores are compared in single precision.
    """
    with np.errstate(over="ignore"):
        scores = lines.scores.astype(np.float32) if single else lines.scores
    lists, order = lines.lists, None
    same = lists[1:] == lists[:-1]
    if (same & (scores[1:] > scores[:-1])).any():
        order = np.lexsort((-scores, lists))
        scores = scores[order]
    tied = same & (scores[1:] == scores[:-1])
    if tied.any():
        order = np.arange(len(lists)) if order is None else order
        places = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
        own = lines.docids[order[places]]
        tie = np.cumsum(np.append(True, ~tied))[places]
        steps = range(int(own.sizes.max() - 1) // WORD * WORD, -1, -WORD)
        words = [~words_of(own.content, own.starts, own.sizes, step).byteswap() for step in steps]
        order[places] = order[places][np.lexsort((*words, tie))]
    return lines if order is None else lines.at(order)


def docids_as_text(docids: Docids) -> list[str]:
    """Return docids without line breaks as text, all at once."""
    return docids.joined().tobytes().decode().split("\n")[:-1]


class _Split(NamedTuple):
    """A block split into fields: its topics and where they begin, and the columns that are needed.

    And what the kernel finds: docids' keys and scores, NaN where it leaves them.
    """

    topics: list[str]
    bounds: Integers
    fields: list[Docids]
    keys: Words | None
    scores: Floats


def _split(
    block: bytes, columns: Sequence[int], find_fields: FindFields | None = None
) -> _Split | None:
    """Return the fields of a block; None where it has irregular lines, or is no UTF-8 text.

    Parameters
    ----------
    block
        Whole lines, and eight line ends after the last one.
    columns
        Those that are needed; the last of them is the last one of each line.
    find_fields
        The compiled kernel for runs, if it is to be used.
    """
    if b"\0" in block or not _is_plain(block):
        return None
    found = _split_lines(block, columns, find_fields)
    if found is None and b"#" in block:
        without = _COMMENTS.sub(b"", block)
        found = None if len(without) == len(block) else _split_lines(without, columns, find_fields)
    return found


def _is_plain(block: bytes) -> bool:
    """Whether a block is UTF-8 text without byte order marks."""
    if block.isascii():
        return True
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return BYTE_ORDER_MARK not in block


def _split_lines(
    block: bytes, columns: Sequence[int], find_fields: FindFields | None
) -> _Split | None:
    """Return the fields of a block without comments; None where lines are irregular."""
    text, keys, new = np.frombuffer(block, np.uint8), None, None
    if find_fields is not None:
        lines = int(np.count_nonzero(text == _NEWLINE)) - WORD
        shape = len(columns), lines
        starts, sizes = np.empty(shape, np.int64), np.empty(shape, np.int32)
        new, keys, scores = np.empty(lines, bool), np.empty(lines, np.uint64), np.empty(lines)
        if not find_fields(text, starts, sizes, new, keys, scores):
            keys, new = None, None
    if new is None:
        edges = _edges(text[:-WORD], columns[-1] + 1)
        if edges is None:
            return None
        starts = np.stack([edges[2 * column] for column in columns])
        ends = np.stack([edges[2 * column + 1] for column in columns])
        sizes, scores = (ends - starts).astype(np.int32), np.full(starts.shape[1], np.nan)
        new = Docids(text, starts[0], sizes[0]).differ()
    fields = [Docids(text, *column) for column in zip(starts, sizes, strict=True)]
    first = np.flatnonzero(new)
    if not len(first) or (text[starts[0, first]] == _NUMBER_SIGN).any():
        return None
    topics = docids_as_text(fields[0][first])
    return _Split(topics, np.append(first, len(new)), fields, keys, scores)


def _edges(text: Bytes, width: int) -> Integers | None:
    """Return where the fields of all lines start and end; None unless each line has so many fields."""
    blank = (text == _SPACE) | ((text >= _TAB) & (text <= _RETURN))
    if (blank != (text <= _SPACE)).any():  # other control characters
        return None
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    if len(blank) and not blank[0]:
        edges = np.append(0, edges)
    if not len(edges) or len(edges) % (2 * width):
        return None
    by_line = edges.reshape(-1, 2 * width).T
    breaks = np.flatnonzero(text == _NEWLINE)
    if (
        len(breaks) > by_line.shape[1]
    ):  # blank lines: of line ends after the same field, the last one
        fields = np.searchsorted(edges, breaks, side="right")
        if (fields % (2 * width)).any():  # a line ends between its fields
            return None
        breaks = breaks[np.append(fields[1:] > fields[:-1], True)][-by_line.shape[1] :]
    if len(breaks) < by_line.shape[1]:
        return None
    ended = (breaks >= by_line[-1]).all() and (breaks[:-1] < by_line[0, 1:]).all()
    return by_line if ended else None


def _parse(fields: Docids) -> Floats | None:
    """Return the numbers in fields; None where one is none that C and Python read."""
    text, starts, sizes = fields.content, fields.starts, fields.sizes
    lead = text[starts]
    signed = (lead == _MINUS) | (lead == _PLUS)
    begins, lengths = starts + signed, sizes - signed
    mantissa = np.zeros(len(starts), np.int64)
    points, point = np.zeros((2, len(starts)), np.int8)
    odd = lengths > _MOST_DIGITS + 1
    for place in range(min(int(lengths.max(initial=0)), _MOST_DIGITS + 1)):
        if place % WORD == 0:
            cells = words_of(text, begins, lengths, place).view(np.uint8).reshape(-1, WORD)
        byte = np.ascontiguousarray(cells[:, place % WORD])  # zero after the field
        digit = byte - np.uint8(_ZERO)
        number, pointed = digit < 10, byte == _POINT
        np.copyto(mantissa, 10 * mantissa + digit, where=number)
        points += pointed
        point += np.int8(place) * pointed
        odd |= ~(number | pointed | (byte == 0))
    digits = lengths - points
    odd |= (points > 1) | (digits < 1) | (digits > _MOST_DIGITS)
    fraction = np.where(points > 0, lengths - 1 - point, 0)
    values: Floats = mantissa / _TENS[np.clip(fraction, 0, _MOST_DIGITS)]
    values[lead == _MINUS] *= -1.0
    places = np.flatnonzero(odd)
    others = _parse_each(fields[places])
    if others is None:
        return None
    values[places] = others
    return values


def _parse_each(fields: Docids) -> Floats | None:
    """Return the numbers in fields, by Python; None where one is none."""
    joined = fields.joined()
    if not (_IN_NUMBERS[joined] | (joined == _NEWLINE)).all():
        return None
    try:
        numbers: Floats = np.fromiter(map(float, joined.tobytes().split()), np.float64, len(fields))
    except ValueError:
        return None
    return numbers


def read_blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a file in blocks that hold whole topics, each with PADDING after it.

    A topic larger than a block makes its block grow.
    """
    carried = stream.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)
    stop = None
    while read := stream.read(max(BLOCK_SIZE, len(carried))):
        stop = _last_topic(read)
        if stop:
            yield b"".join((carried, memoryview(read)[:stop], PADDING))
            carried = b""
        carried += read[stop:]
    if carried or stop is None:
        yield carried + (b"" if carried.endswith(b"\n") else b"\n") + PADDING


def _last_topic(block: bytes) -> int:
    """Return where the lines of the last topic begin, which may go on in the next block; 0 if unknown."""
    text, end = np.frombuffer(block, np.uint8), block.rfind(b"\n") + 1
    reach, first = _REACH, end
    while first:
        first = max(end - reach, 0)
        starts = first + 1 + np.flatnonzero(text[first : max(end - 1, 0)] == _NEWLINE)
        starts = starts[(text[starts] > _SPACE) & (text[starts] != _NUMBER_SIGN)]
        if len(starts):
            topic = block[starts[-1] : end].split(None, 1)[0]
            same = text[np.minimum(starts + len(topic), end - 1)] <= _SPACE
            for place, byte in enumerate(topic):
                same &= text[np.minimum(starts + place, end - 1)] == byte
            others = np.flatnonzero(~same)
            if len(others):
                return int(starts[others[-1] + 1])
        reach *= 4
    return 0


def run_by_block(content: bytes, source: str, name: str | None, name_by: NameBy) -> Run | None:
    """Return the run in the content of a file; None where a line is irregular."""
    topics: list[str] = []
    documents: list[str] = []
    scores: list[Floats] = []
    tag = ""
    for block in read_blocks(io.BytesIO(content)):
        lines = read_lines(block)
        if lines is None or lines.repeat_documents():
            return None
        lines = rank_lines(lines)
        for topic, size in zip(lines.topics, np.diff(lines.bounds).tolist(), strict=True):
            topics += [topic] * size
        documents += docids_as_text(lines.docids)
        scores.append(lines.scores)
        tag = tag or lines.tag
    run_name = name or (tag if name_by == "tag" else name_from_path(source))
    try:
        return build_run(run_name, topics, documents, np.concatenate(scores), path=source)
    except (FormatError, ValueError):
        return None


def judgements_by_block(content: bytes) -> Judgements | None:
    """Return the judgements in the content of a qrels file; None where a line is irregular."""
    topics: list[str] = []
    subtopics: list[str] = []
    documents: list[str] = []
    gains: list[Integers] = []
    texts: dict[str, str] = {}  # few distinct ones fill a column
    for block in read_blocks(io.BytesIO(content)):
        found = _split(block, _QRELS_COLUMNS)
        if found is None:
            return None
        for topic, size in zip(found.topics, np.diff(found.bounds).tolist(), strict=True):
            topics += [topic] * size
        subtopic, document, gain = map(docids_as_text, found.fields[1:])
        if not all(map(_GAIN.fullmatch, set(gain))):
            return None
        subtopics += map(texts.setdefault, subtopic, subtopic)
        documents += document
        gains.append(np.array(list(map(int, gain)), np.int64))
        if np.abs(gains[-1]).max() > HIGHEST_GAIN:
            return None
    return (topics, subtopics, documents, np.concatenate(gains)) if gains else None


def read_trec_run(content: bytes, source: RunSource, name_by: NameBy = "file") -> list[Run]:
    """Return the run in the content of a TREC file."""
    text, how = text_bytes(content, source.path), (source.path, source.name, name_by)
    return [run_by_block(content, *how) or read_run_by_line(text, *how)]


def read_trec_qrels(content: bytes, source: RunSource, intents: Intents | None = None) -> Qrels:
    """Return the judgements in the content of a TREC qrels file."""
    text = text_bytes(content, source.path)
    if not text.endswith(b"\n"):
        warn_of_cut_number(text, source.path)
    judged = judgements_by_block(content)
    if judged is not None:
        try:
            return build_qrels(*judged, path=source.path, intents=intents)
        except FormatError:  # whose line is named below
            pass
    return build_qrels(*judgements_by_line(text, source.path), path=source.path, intents=intents)


def _has_trec_line(path: str, content: bytes) -> bool:
    """Whether a file begins with a line of TREC, rather than with names of columns or with JSON."""
    found = _TREC_LINE.match(content)
    if found is None or format_ending(path) in _ENDINGS_OF_OTHERS:
        return False
    words = {word.decode(errors="replace") for word in _WORD_ENDS.split(found["line"].lower())}
    return not any(columns <= words for columns in COLUMNS)


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
