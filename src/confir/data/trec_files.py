"""How are TREC runs and qrels read and written?

This is the reference reader: it knows every rule, and its errors name file and line. A file of
regular lines is split in one go; at the first irregular thing it is read again line by line.
"""

from __future__ import annotations

import glob
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from confir.arrays import Floats, Integers
from confir.data.files import COMPRESSION_ENDINGS, STDIN, PathLike, read_bytes, write_whole
from confir.data.qrels import Intents, Qrels, build_qrels
from confir.data.run import Run, build_run
from confir.errors import FormatError, InputWarning, InvalidValueError, UnreadableError

KNOWN_ENDINGS = (".run", ".txt", ".trec", ".res", ".dat", ".eval", ".csv", ".json", ".parquet")

RUN_COLUMNS = "topic Q0 docid rank score tag"
QRELS_COLUMNS = "topic subtopic docid gain"
HIGHEST_GAIN = 2**31 - 1

NameBy = Literal["file", "tag"]


class RunSource(NamedTuple):
    """A file that holds a run, and the name that the user gave it, if any."""

    path: str
    name: str | None = None

    def label(self) -> str:
        """Return the run's name as far as it is known without reading the file."""
        return self.name or name_from_path(self.path)


def read_run(path: PathLike, *, name: str | None = None, name_by: NameBy = "file") -> Run:
    """Return the run in a TREC file, plain or compressed.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    name
        The run's name; by default that of the file without its endings.
    name_by
        "tag" takes the run's tag, the last column of its first line, as its name.
    """
    source = os.fspath(path)
    content = text_bytes(read_bytes(path), source)
    columns = _split_regular(content, 6)
    scores = None if columns is None else _parse_scores(columns[4])
    if columns is None or scores is None:
        return _read_run_by_line(content, source, name, name_by)
    run_name = name or (columns[5][0].decode() if name_by == "tag" else name_from_path(source))
    topics, documents = _decode(content, columns[0]), _decode(content, columns[2])
    try:
        return build_run(run_name, topics, documents, scores, path=source)
    except FormatError:
        return _read_run_by_line(content, source, name, name_by)


def read_qrels(path: PathLike, *, intents: PathLike | Intents | None = None) -> Qrels:
    """Return the judgements in a TREC qrels file, plain or compressed.

    Parameters
    ----------
    path
        The file, lines of topic, subtopic (or anything), docid, gain; "-" is standard input.
    intents
        Intent probabilities: a file with lines of topic, subtopic, probability, or a mapping
        topic → subtopic → probability. Without them, a topic's subtopics count alike.
    """
    source = os.fspath(path)
    if isinstance(intents, str | os.PathLike):
        intents = read_intents(intents)
    content = text_bytes(read_bytes(path), source)
    columns = _split_regular(content, 4)
    gains = None if columns is None else _parse_gains(columns[3])
    if columns is None or gains is None:
        return _read_qrels_by_line(content, source, intents)
    topics, subtopics, documents = (_decode(content, column) for column in columns[:3])
    try:
        return build_qrels(topics, subtopics, documents, gains, path=source, intents=intents)
    except FormatError:
        return _read_qrels_by_line(content, source, intents)


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
                f"probability {fields[2].decode()!r} is not a number of 0 or more",
                path=source,
                line=number,
            )
        topic = intents.setdefault(fields[0].decode(), {})
        if topic.setdefault(fields[1].decode(), probability) != probability:
            raise FormatError(
                f"a second probability for subtopic {fields[1].decode()!r}",
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


def write_run(run: Run, path: PathLike) -> None:
    """Write a run as a TREC file, compressed as the ending says."""
    tag = re.sub(r"\s+", "_", run.name) or "run"
    lines = [
        f"{topic} Q0 {document} {rank} {score!r} {tag}\n"
        for topic in run.topics
        for rank, (document, score) in enumerate(run[topic], start=1)
    ]
    write_whole(path, "".join(lines).encode())


def write_qrels(qrels: Qrels, path: PathLike) -> None:
    """Write qrels as a TREC file, compressed as the ending says."""
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
    shorter = name.removeprefix("input.")
    return shorter or name


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


def text_bytes(content: bytes, source: str) -> bytes:
    """Return the content without a byte order mark; raise where it is not UTF-8 text."""
    for mark, encoding in ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16")):
        if content.startswith(mark):
            raise FormatError(f"the file is in {encoding}; expected UTF-8", path=source)
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
        names = sorted(os.listdir(source))
        paths = [os.path.join(source, name) for name in names if not name.startswith(".")]
        files = [RunSource(path) for path in paths if os.path.isfile(path)]
        if not files:
            raise UnreadableError(f"{source}: the directory holds no files; expected runs")
        return files
    if os.path.exists(source):
        return [RunSource(source)]
    name, equals, path = source.partition("=")
    if equals and name and (path == STDIN or os.path.exists(path)):
        return [RunSource(path, name)]
    matches = sorted(glob.glob(source))
    if matches:
        return [RunSource(match) for match in matches if os.path.isfile(match)]
    raise UnreadableError(f"{path if equals and name else source}: no such file")


def _split_regular(content: bytes, width: int) -> list[list[bytes]] | None:
    """Return the columns of content whose lines all have ``width`` of them, else None.

    Fields are counted per line, since a short and a long line can cancel in the total.
    """
    if not content or content.startswith(b"#") or b"\n#" in content:
        return None
    data = np.frombuffer(content, np.uint8)
    blank = (data == 32) | ((data >= 9) & (data <= 13))
    starts = np.flatnonzero(~blank & np.concatenate(([True], blank[:-1])))
    ends = np.flatnonzero(data == 10)
    if not content.endswith(b"\n"):
        ends = np.append(ends, len(content))
    if len(starts) != width * len(ends):
        return None
    through = np.arange(width, len(starts) + 1, width)
    if (starts[through - 1] >= ends).any() or (starts[through[:-1]] <= ends[:-1]).any():
        return None
    if (data[starts[::width]] == ord("#")).any():
        return None
    fields = content.split()
    return [fields[i::width] for i in range(width)]


def _decode(content: bytes, column: Sequence[bytes]) -> list[str]:
    """Return a column as text; content known to be ASCII is decoded at once."""
    if content.isascii():
        return b" ".join(column).decode("ascii").split(" ")
    return [field.decode() for field in column]


def _parse_scores(column: Sequence[bytes]) -> Floats | None:
    """Return the scores of a column, or None where one is not a finite number."""
    if b"_" in b" ".join(column):
        return None
    try:
        scores = np.fromiter(map(float, column), np.float64, len(column))
    except ValueError:
        return None
    return scores if np.isfinite(scores).all() else None


def _parse_gains(column: Sequence[bytes]) -> Integers | None:
    """Return the gains of a column, or None where one is not a plain whole number."""
    if b"_" in b" ".join(column):
        return None
    try:
        gains = np.fromiter(map(int, column), np.int64, len(column))
    except (ValueError, OverflowError):
        return None
    return gains if np.abs(gains).max() <= HIGHEST_GAIN else None


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
    seen: dict[tuple[str, str], int] = {}
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
                f"score {fields[4].decode()!r} is not a finite number; expected {RUN_COLUMNS}",
                path=source,
                line=number,
            )
        first = seen.setdefault((topic, document), number)
        if first != number:
            raise FormatError(
                f"document {document!r} stands twice in topic {topic!r} (first on line {first}); "
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
        warnings.warn(
            f"{source}: {untagged} lines have five columns; read as topic Q0 docid rank score, "
            "without a tag",
            InputWarning,
            stacklevel=3,
        )
    run_name = name or (tag if name_by == "tag" else None) or name_from_path(source)
    return build_run(run_name, topics, documents, np.array(scores, np.float64), path=source)


def _wrong_run_columns(fields: Sequence[bytes], source: str, number: int) -> FormatError:
    problem = f"{len(fields)} columns; expected 6: {RUN_COLUMNS}"
    if len(fields) == 4 and _whole_number(fields[3]) is not None:
        problem += " (this looks like qrels; the qrels file comes first, then the runs)"
    return FormatError(problem, path=source, line=number)


def _read_qrels_by_line(content: bytes, source: str, intents: Intents | None) -> Qrels:
    topics: list[str] = []
    subtopics: list[str] = []
    documents: list[str] = []
    gains: list[int] = []
    seen: dict[tuple[str, str, str], tuple[int, int]] = {}
    for number, fields in _lines(content):
        if len(fields) != 4:
            raise _wrong_qrels_columns(fields, source, number)
        gain = _whole_number(fields[3])
        if gain is None:
            raise FormatError(
                f"gain {fields[3].decode()!r} is not a whole number; expected {QRELS_COLUMNS}",
                path=source,
                line=number,
            )
        key = (fields[0].decode(), fields[1].decode(), fields[2].decode())
        first, other = seen.setdefault(key, (number, gain))
        if gain != other:
            raise FormatError(
                f"document {key[2]!r} of topic {key[0]!r}, subtopic {key[1]!r}, is judged {gain} "
                f"here and {other} on line {first}; expected one judgement",
                path=source,
                line=number,
            )
        topics.append(key[0])
        subtopics.append(key[1])
        documents.append(key[2])
        gains.append(gain)
    return build_qrels(
        topics, subtopics, documents, np.array(gains, np.int64), path=source, intents=intents
    )


def _wrong_qrels_columns(fields: Sequence[bytes], source: str, number: int) -> FormatError:
    problem = f"{len(fields)} columns; expected 4: {QRELS_COLUMNS}"
    if len(fields) == 6 and _parse_number(fields[4]) is not None:
        problem += " (this looks like a run; the qrels file comes first, then the runs)"
    return FormatError(problem, path=source, line=number)


def _whole_number(field: bytes) -> int | None:
    """Return the gain in a field; "1.0" is 1, and "0.5" is none."""
    number = _parse_number(field)
    if number is None or not number.is_integer() or abs(number) > HIGHEST_GAIN:
        return None
    return int(number)
