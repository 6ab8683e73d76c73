"""How are TREC runs and qrels read and written?

This is the reference reader: it knows every rule, and its errors name file and line. Regular lines
are split a block at a time; at the first irregular thing the file is read again line by line.
"""

from __future__ import annotations

import glob
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from confir.arguments import as_path, invalid
from confir.arrays import Floats, Integers
from confir.data.files import COMPRESSION_ENDINGS, STDIN, PathLike, read_bytes, write_whole
from confir.data.qrels import Intents, Qrels, build_qrels
from confir.data.run import Run, build_run
from confir.errors import FormatError, InvalidValueError, UnreadableError, counted, warn_caller

KNOWN_ENDINGS = (
    *(".run", ".txt", ".trec", ".res", ".dat", ".eval"),
    *(".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"),
)

RUN_COLUMNS = "topic Q0 docid rank score tag"
QRELS_COLUMNS = "topic subtopic docid gain"
HIGHEST_GAIN = 2**31 - 1
# Matched by its digits, not its value: as a float, 0.99999999999999999999 would be 1.
WHOLE_NUMBER = re.compile(rb"[+-]?\d+(?:\.0*)?(?:[eE][+-]?0+)?")

# Blocks whose fields stay in the processor's cache are split fastest.
SPLIT_SIZE = 1 << 16

# What is read back as it was written: no blanks as in C, nothing lost as a comment or a byte order
# mark, and no half of a surrogate pair, which UTF-8 does not have.
WRITABLE_ID = re.compile("[^ \t\n\r\v\f\0\ud800-\udfff]+")
WRITABLE_TOPIC = re.compile(f"(?![#\ufeff]){WRITABLE_ID.pattern}")

NameBy = Literal["file", "tag"]
NAMINGS: tuple[NameBy, ...] = get_args(NameBy)


class RunSource(NamedTuple):
    """A file that holds a run, and the name that the user gave it, if any."""

    path: str
    name: str | None = None

    def label(self) -> str:
        """Return the run's name as far as it is known without reading the file."""
        return self.name or name_from_path(self.path)


def read_trec_run(path: PathLike, *, name: str | None = None, name_by: NameBy = "file") -> Run:
    """Return the run in a TREC file; parameters as in `read_run`."""
    source = os.fspath(path)
    content = text_bytes(read_bytes(path), source)
    try:
        return _read_regular_run(content, source, name, name_by)
    except (_IrregularError, FormatError):
        return _read_run_by_line(content, source, name, name_by)


def read_trec_qrels(path: PathLike, *, intents: Intents | None = None) -> Qrels:
    """Return the judgements in a TREC qrels file; parameters as in `read_qrels`."""
    source = os.fspath(path)
    content = text_bytes(read_bytes(path), source)
    try:
        return build_qrels(*_regular_judgements(content), path=source, intents=intents)
    except (_IrregularError, FormatError):
        judgements = _judgements_by_line(content, source)
    return build_qrels(*judgements, path=source, intents=intents)


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
    for number, fields in _lines(text_bytes(read_bytes(path), source)):
        if len(fields) != 3:
            raise FormatError(
                f"{len(fields)} columns; expected 3: topic subtopic probability",
                path=source,
                line=number,
            )
        probability = _parse_number(fields[2])
        if probability is None or not 0 <= probability < math.inf:
            raise FormatError(
                f"probability {_shown(fields[2])} is not a number of 0 or more",
                path=source,
                line=number,
            )
        topic = intents.setdefault(fields[0].decode(), {})
        if topic.setdefault(fields[1].decode(), probability) != probability:
            raise FormatError(
                f"a second probability for subtopic {_shown(fields[1])}",
                path=source,
                line=number,
            )
    for name, subtopics in intents.items():
        if sum(subtopics.values()) == 0:
            raise FormatError(f"the probabilities of topic {name!r} are all 0", path=source)
    if not intents:
        raise FormatError(
            "the file is empty; expected lines of topic subtopic probability", path=source
        )
    return intents


def write_trec_run(run: Run, path: PathLike) -> None:
    """Write a run as a TREC file, compressed as the ending says."""
    target = os.fspath(path)
    _check_ids("topic", run.topics, target)
    _check_ids("docid", run.documents, target)
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
    _check_ids("topic", qrels.topics, target)
    _check_ids("subtopic", qrels.subtopics, target)
    _check_ids("docid", qrels.documents, target)
    topics = qrels.document_topics[qrels.judged_documents].tolist()
    entries = zip(
        topics,
        qrels.subtopics,
        qrels.judged_documents.tolist(),
        qrels.subtopic_gains.tolist(),
        strict=True,
    )
    lines = [
        f"{qrels.topics[topic]} {subtopic} {qrels.documents[document]} {gain}\n"
        for topic, subtopic, document, gain in entries
    ]
    write_whole(path, "".join(lines).encode())


def _check_ids(kind: str, ids: Iterable[str], target: str) -> None:
    """Raise where an id would be read back as something else."""
    allowed = WRITABLE_TOPIC if kind == "topic" else WRITABLE_ID
    wrong = next((text for text in ids if not allowed.fullmatch(text)), None)
    if wrong is not None:
        raise FormatError(
            f"{kind} {wrong!r} cannot stand in a TREC file; expected text without blanks"
            f"{', not starting with #' if kind == 'topic' else ''}",
            path=target,
        )


def name_from_path(path: PathLike) -> str:
    """Return a run's name: its file's without endings, and without a leading ``input.``."""
    name = Path(path).name
    if name == STDIN:
        return "stdin"
    for endings in (COMPRESSION_ENDINGS, KNOWN_ENDINGS):
        for ending in endings:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
                break
    shorter = name.removeprefix("input.") or name
    return shorter.encode(errors="replace").decode()  # a file's name need not be valid text


def find_runs(sources: Iterable[PathLike]) -> list[RunSource]:
    """Return the files that a list of paths, globs, directories and ``NAME=PATH`` stands for."""
    found: list[RunSource] = []
    for source in sources:
        found.extend(_expand(os.fspath(source)))
    first: dict[str, str] = {}
    for run in found:
        label = run.label()
        if label in first:
            raise InvalidValueError(
                f"two runs are named {label!r}: {first[label]} and {run.path}; give one of them "
                f"another name, as in other={run.path}"
            )
        first[label] = run.path
    return found


def find_files(source: str) -> list[str]:
    """Return the files that a source of runs stands for, itself where there are none."""
    try:
        return [run.path for run in _expand(source)]
    except UnreadableError:
        return [source]


def text_bytes(content: bytes, source: str) -> bytes:
    """Return the content without a byte order mark; raise where it is not UTF-8 text."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("the file is in UTF-16 or UTF-32; expected UTF-8", path=source)
    content = content.removeprefix(b"\xef\xbb\xbf")
    problem = content.find(b"\0")
    if problem < 0 and not content.isascii():
        try:
            content.decode()
        except UnicodeDecodeError as error:
            problem = error.start
    if problem >= 0:
        line = content.count(b"\n", 0, problem) + 1
        raise FormatError(
            f"byte 0x{content[problem]:02x} is not UTF-8 text; expected a text file in UTF-8",
            path=source,
            line=line,
        )
    return content


def _expand(source: str) -> list[RunSource]:
    if source == STDIN:
        return [RunSource(source)]
    if os.path.isdir(source):
        return _expand_directory(source)
    if _exists(source):
        return [RunSource(source)]
    name, equals, path = source.partition("=")
    if equals and name and (path == STDIN or os.path.exists(path)):
        return [RunSource(path, name)]
    matches = [] if "\0" in source else sorted(filter(os.path.isfile, glob.glob(source)))
    if not matches:
        raise UnreadableError(f"{path if name and path else source}: no such file")
    return [RunSource(match) for match in matches]


def _exists(path: str) -> bool:
    """Whether a file exists; raise where permissions do not allow to find out."""
    try:
        os.stat(path)
    except PermissionError as error:
        raise UnreadableError(f"{path}: cannot be read ({error.strerror})") from None
    except (OSError, ValueError):
        return False
    return True


def _expand_directory(source: str) -> list[RunSource]:
    try:
        names = sorted(os.listdir(source))
    except OSError as error:
        raise UnreadableError(f"{source}: cannot be read ({error.strerror})") from None
    paths = [os.path.join(source, name) for name in names if not name.startswith(".")]
    files = [RunSource(path) for path in paths if os.path.isfile(path)]
    if not files:
        raise UnreadableError(f"{source}: the directory has no files; expected runs")
    return files


class _IrregularError(Exception):
    """Something that only the reading by line understands, or knows how to refuse."""


def _read_regular_run(content: bytes, source: str, name: str | None, name_by: NameBy) -> Run:
    topics: list[str] = []
    documents: list[str] = []
    scores: list[Floats] = []
    tag = b""
    text = _DecodedFields()
    for columns in _regular_blocks(content, 6):
        topics += map(text.__getitem__, columns[0])
        documents += _decode(columns[2])
        scores.append(_parse_scores(columns[4]))
        tag = tag or columns[5][0]
    run_name = name or (tag.decode() if name_by == "tag" else name_from_path(source))
    return build_run(run_name, topics, documents, np.concatenate(scores), path=source)


# topic, subtopic, docid and gain of each judgement
_Judgements = tuple[list[str], list[str], list[str], Integers]


def _regular_judgements(content: bytes) -> _Judgements:
    topics: list[str] = []
    subtopics: list[str] = []
    documents: list[str] = []
    gains: list[Integers] = []
    text, parsed = _DecodedFields(), _ParsedGains()
    for columns in _regular_blocks(content, 4):
        topics += map(text.__getitem__, columns[0])
        subtopics += map(text.__getitem__, columns[1])
        documents += _decode(columns[2])
        found = map(parsed.__getitem__, columns[3])
        gains.append(np.fromiter(found, np.int64, len(columns[3])))
    return topics, subtopics, documents, np.concatenate(gains)


def _regular_blocks(content: bytes, width: int) -> Iterator[list[list[bytes]]]:
    """Yield the columns of one block of lines after another; raise where a line is irregular.

    Every line end is made a field of its own, NUL, which no text holds. Where these, and no other
    fields, stand at the end of every ``width + 1`` fields, each line has ``width`` columns: the
    number of fields alone would not show it, since a short and a long line can cancel out.
    """
    content = content.rstrip() + b"\n"
    start = 0
    while start < len(content):
        stop = content.find(b"\n", start + SPLIT_SIZE) + 1 or len(content)
        block = content[start:stop]
        fields = block.replace(b"\n", b" \0 ").split()
        lines = block.count(b"\n")
        if len(fields) != lines * (width + 1) or fields[width :: width + 1].count(b"\0") != lines:
            raise _IrregularError
        columns = [fields[i :: width + 1] for i in range(width)]
        if b"#" in block and any(field.startswith(b"#") for field in set(columns[0])):
            raise _IrregularError
        yield columns
        start = stop


def _decode(column: Sequence[bytes]) -> list[str]:
    """Return a column as text; fields hold no blank, so that they can be decoded together."""
    return b" ".join(column).decode().split(" ")


class _DecodedFields(dict[bytes, str]):
    """The text of each field that was looked up: for columns that repeat few distinct fields."""

    def __missing__(self, field: bytes) -> str:
        text = self[field] = field.decode()
        return text


class _ParsedGains(dict[bytes, int]):
    """The gain in each field that was looked up, a plain whole number: few distinct ones repeat."""

    def __missing__(self, field: bytes) -> int:
        try:
            gain = int(field)
        except ValueError:
            raise _IrregularError from None
        if b"_" in field or abs(gain) > HIGHEST_GAIN:
            raise _IrregularError
        self[field] = gain
        return gain


def _parse_scores(column: Sequence[bytes]) -> Floats:
    """Return the scores of a column of finite numbers."""
    if b"_" in b" ".join(column):
        raise _IrregularError
    try:
        scores = np.fromiter(map(float, column), np.float64, len(column))
    except ValueError:
        raise _IrregularError from None
    if not np.isfinite(scores).all():
        raise _IrregularError
    return scores


def _parse_number(field: bytes) -> float | None:
    """Return the number in a field as C reads it: Python's ``1_000`` is none."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def _lines(content: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Yield number and fields of the lines that are neither blank nor comments."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            yield number, fields


def _read_run_by_line(content: bytes, source: str, name: str | None, name_by: NameBy) -> Run:
    topics: list[str] = []
    documents: list[str] = []
    scores: list[float] = []
    lines: defaultdict[str, dict[str, int]] = defaultdict(dict)
    tag: str | None = None
    untagged = 0
    for number, fields in _lines(content):
        if len(fields) not in (5, 6):
            raise _wrong_run_columns(fields, source, number)
        untagged += len(fields) == 5
        topic, document = fields[0].decode(), fields[2].decode()
        score = _parse_number(fields[4])
        if score is None or not math.isfinite(score):
            raise FormatError(
                f"score {_shown(fields[4])} is not a finite number; expected {RUN_COLUMNS}",
                path=source,
                line=number,
            )
        first = lines[topic].setdefault(document, number)
        if first != number:
            raise FormatError(
                f"document {document!r} occurs twice in topic {topic!r} (first on line {first}); "
                "expected each document once per topic",
                path=source,
                line=number,
            )
        if tag is None and len(fields) == 6:
            tag = fields[5].decode()
        topics.append(topic)
        documents.append(document)
        scores.append(score)
    if untagged:
        warn_caller(
            f"{source}: {counted(untagged, 'line')} {'has' if untagged == 1 else 'have'} "
            "five columns; read as topic Q0 docid rank score, without a tag"
        )
    run_name = name or (tag if name_by == "tag" else None) or name_from_path(source)
    return build_run(run_name, topics, documents, np.array(scores, np.float64), path=source)


def _wrong_run_columns(fields: Sequence[bytes], source: str, number: int) -> FormatError:
    problem = f"{len(fields)} columns; expected 6: {RUN_COLUMNS}"
    if len(fields) == 4 and _whole_number(fields[3]) is not None:
        problem += " (this looks like qrels; the qrels file comes first, then the runs)"
    if fields[0].startswith(b"{"):
        problem += " (this looks like JSON, which is read from files, not from a pipe)"
    return FormatError(problem, path=source, line=number)


def _judgements_by_line(content: bytes, source: str) -> _Judgements:
    topics: list[str] = []
    subtopics: list[str] = []
    documents: list[str] = []
    gains: list[int] = []
    lines: list[int] = []
    judged: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for number, fields in _lines(content):
        if len(fields) != 4:
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
    problem = f"{len(fields)} columns; expected 4: {QRELS_COLUMNS}"
    if len(fields) in (5, 6) and _parse_number(fields[4]) is not None:
        problem += " (this looks like a run; the qrels file comes first, then the runs)"
    return FormatError(problem, path=source, line=number)


def _whole_number(field: bytes) -> int | None:
    """Return the gain in a field; "1.0" is 1, and "0.5" is none."""
    number = float(field) if WHOLE_NUMBER.fullmatch(field) else math.inf
    return int(number) if abs(number) <= HIGHEST_GAIN else None


def _shown(field: bytes) -> str:
    """Return a field as it stands in messages: quoted, and cut where it is long."""
    text = field.decode()
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
