"""TREC files, read line by line.

This is the reference reader: it knows every rule, and its errors name file and line.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from confir.arguments import as_path, invalid
from confir.arrays import Integers
from confir.data.files import BYTE_ORDER_MARK, PathLike, name_from_path, read_bytes, text_bytes
from confir.data.formats.format import NameBy
from confir.data.qrels import Intents
from confir.data.run import Run, build_run
from confir.data.text_numbers import parse_number
from confir.errors import FormatError, ReadingWarning, counted, enumerate_numbers, warn_caller

RUN_COLUMNS = "topic Q0 docid rank score tag"
QRELS_COLUMNS = "topic subtopic docid gain"
# Enough of a file to tell how its lines end.
_START = 1 << 12
HIGHEST_GAIN = 2**31 - 1
# Matched by its digits, not its value: as a float, 0.99999999999999999999 would be 1.
WHOLE_NUMBER = re.compile(rb"[+-]?\d+(?:\.0*)?(?:[eE][+-]?0+)?")

# topic, subtopic, docid and gain of each judgement
Judgements = tuple[list[str], list[str], list[str], Integers]


def read_run_by_line(content: bytes, source: str, name: str | None, name_by: NameBy) -> Run:
    """Return the run in the text of a file; every error names its line."""
    topics: list[str] = []
    documents: list[str] = []
    scores: list[float] = []
    lines: defaultdict[str, dict[str, int]] = defaultdict(dict)
    tag: str | None = None
    untagged = 0
    longer: list[int] = []
    for number, fields in content_lines(content, source):
        if len(fields) < 5 or (len(fields) > 6 and not _ends_in_text(fields)):
            _check_line_ends(content, source)
            raise _wrong_run_columns(fields, source, number)
        untagged += len(fields) == 5
        if len(fields) > 6:
            longer.append(number)
        topic, document = fields[0].decode(), fields[2].decode()
        score = parse_number(fields[4])
        if score is None or not math.isfinite(score):
            problem = f"score {_shown(fields[4])} is not a finite number; expected {RUN_COLUMNS}"
            raise FormatError(problem, path=source, line=number)
        first = lines[topic].setdefault(document, number)
        if first != number:
            raise FormatError(
                f"document {document!r} occurs twice in topic {topic!r} (first on line {first}); "
                "expected each document once per topic",
                path=source,
                line=number,
            )
        if tag is None and len(fields) > 5:
            tag = fields[5].decode()
        topics.append(topic)
        documents.append(document)
        scores.append(score)
    if untagged:
        warn_caller(
            f"{source}: {counted(untagged, 'line')} {'has' if untagged == 1 else 'have'} "
            "five columns; read as topic Q0 docid rank score, without a tag"
        )
    if longer:
        warn_caller(
            f"{source}: text after the tag is left out, as trec_eval does "
            f"({enumerate_numbers('line', longer)})",
            ReadingWarning,
        )
    run_name = name or (tag if name_by == "tag" else None) or name_from_path(source)
    return build_run(run_name, topics, documents, np.array(scores, np.float64), path=source)


def _ends_in_text(fields: Sequence[bytes]) -> bool:
    """Whether a long line is one of a run with text after its tag, rather than two lines joined.

    A second line has rank and score, two numbers, after two other columns at least.
    """
    numbers = [parse_number(field) is not None for field in fields]
    return numbers[3] and numbers[4] and not any(map(all, pairwise(numbers[8:])))


def _wrong_run_columns(fields: Sequence[bytes], source: str, number: int) -> FormatError:
    problem = f"{counted(len(fields), 'column')}; expected 6: {RUN_COLUMNS}"
    if len(fields) == 4 and _whole_number(fields[3]) is not None:
        problem += " (this looks like qrels, not a run)"
    if fields[0].startswith(b"{"):
        problem += " (this looks like JSON, which is read from files, not from a pipe)"
    return FormatError(problem, path=source, line=number)


def judgements_by_line(content: bytes, source: str) -> Judgements:
    """Return the judgements in the text of a qrels file; every error names its line."""
    topics: list[str] = []
    subtopics: list[str] = []
    documents: list[str] = []
    gains: list[int] = []
    lines: list[int] = []
    judged: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for number, fields in content_lines(content, source):
        if len(fields) != 4:
            _check_line_ends(content, source)
            raise _wrong_qrels_columns(fields, source, number)
        gain = _whole_number(fields[3])
        if gain is None:
            raise FormatError(
                f"gain {_shown(fields[3])} is not a whole number between -{HIGHEST_GAIN} and "
                f"{HIGHEST_GAIN}; expected {QRELS_COLUMNS}",
                path=source,
                line=number,
            )
        topic, subtopic, document = (field.decode() for field in fields[:3])
        first = judged[topic, subtopic].setdefault(document, len(gains))
        topics.append(topic)
        subtopics.append(subtopic)
        documents.append(document)
        gains.append(gain)
        lines.append(number)
        if gains[first] != gain:
            raise FormatError(
                f"document {document!r} of topic {topic!r}, subtopic {subtopic!r}, is judged "
                f"{gain} here and {gains[first]} on line {lines[first]}; expected one judgement",
                path=source,
                line=number,
            )
    return topics, subtopics, documents, np.array(gains, np.int64)


def _wrong_qrels_columns(fields: Sequence[bytes], source: str, number: int) -> FormatError:
    problem = f"{counted(len(fields), 'column')}; expected 4: {QRELS_COLUMNS}"
    if len(fields) >= 5 and parse_number(fields[4]) is not None:
        problem += " (this looks like a run, not qrels)"
    return FormatError(problem, path=source, line=number)


def as_intents(source: Any) -> Intents | None:
    """Return the intent probabilities that a file or a mapping holds, if any."""
    if source is None:
        return None
    if isinstance(source, str | os.PathLike):
        return read_intents(as_path("intents", source))
    if not isinstance(source, Mapping) or not all(
        isinstance(held, Mapping) for held in source.values()
    ):
        raise invalid("intents", source, "a path, or a mapping topic → subtopic → probability")
    return source


def read_intents(path: PathLike) -> dict[str, dict[str, float]]:
    """Return the intent probabilities in a file: topic → subtopic → probability."""
    source = os.fspath(path)
    intents: dict[str, dict[str, float]] = {}
    for number, fields in content_lines(text_bytes(read_bytes(path), source), source):
        if len(fields) != 3:
            problem = f"{counted(len(fields), 'column')}; expected 3: topic subtopic probability"
            raise FormatError(problem, path=source, line=number)
        probability = parse_number(fields[2])
        if probability is None or not 0 <= probability < math.inf:
            problem = f"probability {_shown(fields[2])} is not a number of 0 or more"
            raise FormatError(problem, path=source, line=number)
        topic = intents.setdefault(fields[0].decode(), {})
        if topic.setdefault(fields[1].decode(), probability) != probability:
            raise FormatError(
                f"a second probability for subtopic {_shown(fields[1])}", path=source, line=number
            )
    for name, subtopics in intents.items():
        if sum(subtopics.values()) == 0:
            raise FormatError(f"the probabilities of topic {name!r} are all 0", path=source)
    if not intents:
        raise FormatError(
            "the file is empty; expected lines of topic subtopic probability", path=source
        )
    return intents


def read_fields(path: PathLike) -> Iterator[tuple[int, list[str]]]:
    """Yield number and fields of the lines of a file that are neither blank nor comments."""
    source = os.fspath(path)
    for number, fields in content_lines(text_bytes(read_bytes(path), source), source):
        yield number, [field.decode() for field in fields]


def first_fields(content: bytes, source: str) -> tuple[int, list[bytes]]:
    """Return number and fields of the first line that is neither blank nor a comment."""
    for number, fields in content_lines(content.removeprefix(BYTE_ORDER_MARK), source):
        return number, fields
    raise FormatError("the file is empty; expected qrels or a run", path=source)


def content_lines(content: bytes, source: str) -> Iterator[tuple[int, list[bytes]]]:
    """Yield number and fields of the lines that are neither blank nor comments.

    They are split one by one: a fault near the beginning of a large file is found at once.
    """
    for number, line in enumerate(io.BytesIO(content), start=1):
        fields = line.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if fields[0].startswith(BYTE_ORDER_MARK):
            raise FormatError(
                "a byte order mark in the middle, as in concatenated files; expected one at the "
                "start at most",
                path=source,
                line=number,
            )
        yield number, fields


def _check_line_ends(content: bytes, source: str) -> None:
    """Raise where carriage returns alone end the lines, as on old Macintoshes."""
    start = content[:_START].strip()
    if b"\r" in start and b"\n" not in start:
        raise FormatError(
            "the lines end in carriage returns (CR) alone; expected LF, or CR LF", path=source
        )


def _whole_number(field: bytes) -> int | None:
    """Return the gain in a field; "1.0" is 1, and "0.5" is none."""
    number = float(field) if WHOLE_NUMBER.fullmatch(field) else math.inf
    return int(number) if abs(number) <= HIGHEST_GAIN else None


def _shown(field: bytes) -> str:
    """Return a field as it stands in messages: quoted, and cut where it is long."""
    text = field.decode()
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
