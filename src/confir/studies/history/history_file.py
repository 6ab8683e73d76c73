"""The file of a gate's looks: JSON Lines, one line per look, measure and candidate.

Lines are only ever appended, all those of a look at once, under a lock: builds that run at the same
time may share the file. A look that was cut short, as where a machine stopped, is left out with a
warning, and the next one takes its place.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

from confir.data.files import PathLike, read_bytes, text_bytes
from confir.data.result import Record
from confir.errors import FormatError, UnreadableError, warn_caller
from confir.whole_files import append_content

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]  # Windows has none

_NUMBER = (int, float)
# What every line has; further fields are kept. Numbers that do not exist are null.
LOOK_FIELDS: dict[str, tuple[type, ...]] = {
    "look": (int,),
    "date": (str,),
    "commit": (str, type(None)),
    "measure": (str,),
    "run": (str,),
    "against": (str,),
    "decision": (str,),
    "require": (str,),
    "margin": _NUMBER,
    "topics": (int,),
    "difference": _NUMBER,
    "low": (*_NUMBER, type(None)),
    "high": (*_NUMBER, type(None)),
    "level": _NUMBER,
    "looks": (str,),
    "look_low": (*_NUMBER, type(None)),
    "look_high": (*_NUMBER, type(None)),
    "look_level": _NUMBER,
}
# What lines of earlier versions lack: means of the run and of the baseline, the look that began its sequence,
# and what tells whether two looks saw the same.
MEANS = ("mean", "against_mean")
DIGESTS = ("qrels_digest", "topics_digest", "measures_digest", "confir_version")
LATER_FIELDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(MEANS, (*_NUMBER, type(None))),
    "first_look": (int,),
    **dict.fromkeys(DIGESTS, (str, type(None))),
}
# Fields that histories of schema 1 call otherwise.
_RENAMED = {"baseline": "against"}
# Shares that --show false-alarms keeps, with their simulation errors.
ALARM_SHARES = ("swapped", "equal_means", "spread_loss", "failing_topics")
PASSES, FAILS = DECISIONS = ("passes", "fails")
# The level of a later look would be rounded to 1.
MOST_LOOKS = 1_000_000
_LARGEST_NUMBER = 1e15
_RANGES: Mapping[str, tuple[float, float]] = {
    "look": (1, MOST_LOOKS),
    "first_look": (1, MOST_LOOKS),
    "topics": (0, _LARGEST_NUMBER),
    "margin": (0, _LARGEST_NUMBER),
    "level": (math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0)),
    "look_level": (math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0)),
}
# How text in UTF-16 and UTF-32 begins: it is full of zeros, but nothing was cut.
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")
# How every line begins.
_START = b'{"look": '


def read_looks(path: PathLike) -> list[Record]:
    """Return the lines of a history, oldest first; none where there is no such file yet."""
    if not os.path.lexists(path):
        return []
    return parse_looks(read_bytes(path), os.fspath(path))


class OpenHistory:
    """A history that waits for a look: nobody else appends until it is there, or given up.

    So reports of the look can be written first, and no look is spent where writing them fails. The
    file is made where it is not there, and goes again where nothing was appended.

    Parameters
    ----------
    path
        The file.
    next_look
        From the lines so far, those to append; nothing is written where it raises.
    """

    def __init__(
        self, path: PathLike, next_look: Callable[[list[Record]], Sequence[Record]]
    ) -> None:
        next_look(read_looks(path))  # before the file is made
        self._name = os.fspath(path)
        self._made = not os.path.lexists(self._name)
        with _writing(self._name):
            self._stream = _open_locked(self._name)
        try:
            with _writing(self._name):
                self._stream.seek(0)
                self._content = _whole_looks(self._stream.readall())
            self._lines = [_line(one) for one in next_look(_parse_lines(self._content, self._name))]
        except BaseException:
            self.close()
            raise

    def append(self) -> None:
        """Append the look, whole or not at all."""
        lines = list(self._lines)
        if lines and self._content and not self._content.endswith(b"\n"):
            lines.insert(0, b"\n")
        if lines:
            with _writing(self._name):
                append_content(self._stream, b"".join(lines), len(self._content))

    def close(self) -> None:
        """Let others append; a file that was made for nothing goes."""
        with self._stream, suppress(OSError):
            if self._made and not os.fstat(self._stream.fileno()).st_size:
                os.unlink(self._name)


def _open_locked(name: str) -> io.FileIO:
    """Open a file that nobody else appends to before it is closed."""
    while True:
        stream = open(name, "a+b", buffering=0)  # noqa: SIM115 - it stays open
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(stream.fileno()), os.stat(name)):
                return stream
        stream.close()  # whoever had it locked has taken it away


@contextmanager
def _writing(name: str) -> Iterator[None]:
    """Turn the errors of the system into one sentence with the path."""
    try:
        yield
    except OSError as error:
        raise UnreadableError(f"{name}: cannot be written ({error.strerror or error})") from None


def _line(record: Record) -> bytes:
    finite = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in record.items()
    }
    return json.dumps(finite, ensure_ascii=True).encode() + b"\n"


def parse_looks(content: bytes, name: str) -> list[Record]:
    """Return the lines of a history by its content; raise where one is not as `--history` writes it.

    A last look that was cut short is left out with a warning.
    """
    whole = _whole_looks(content)
    if len(whole) < len(content):
        warn_caller(
            f"{name}:{whole.count(10) + 1}: the look written last was cut short, as by a full disk; "
            "it is left out, and the next look takes its place"
        )
    return _parse_lines(whole, name)


def _whole_looks(content: bytes) -> bytes:
    """Return a history without a last look that was cut short while it was written.

    Its last line begins like those of `_line`, with the zeros that a file system may leave. confir must
    not remove anything else at the end of a file, nor what a file without a whole look holds, unless the
    number of the first look was written.
    """
    if content.startswith(_OTHER_ENCODINGS):
        return content
    start = content.rfind(b"\n") + 1
    last = content[start:].rstrip(b"\0")
    ours = last.startswith(_START) or _START.startswith(last)
    if not ours or _is_json(last):
        return content
    begun = last[: last.find(b",") + 1]  # with the number of the look, if that much was written
    while begun and start:
        before = content.rfind(b"\n", 0, start - 1) + 1
        if not content.startswith(begun, before):
            break
        start = before
    return content[:start] if begun or content[:start].strip() else content


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _parse_lines(content: bytes, name: str) -> list[Record]:
    """Return lines that are all whole; raise where one is malformed, or contradicts another."""
    records: list[Record] = []
    seen: dict[tuple[Any, ...], int] = {}
    for number, line in enumerate(text_bytes(content, name).split(b"\n"), 1):
        if line.strip() == b"":
            continue
        record = _checked(line, name, number)
        entry = tuple(record[field] for field in ("look", "measure", "against", "run"))
        first = seen.setdefault(entry, number)
        problem = ""
        if first != number:
            problem = f"look {record['look']} decides on {record['run']!r} a second time (first: line {first})"
        elif records and record["look"] < records[-1]["look"]:
            problem = f"look {record['look']} comes after look {records[-1]['look']}"
        if problem:
            raise FormatError(
                f"{problem}; expected lines as --history wrote them", path=name, line=number
            )
        records.append(record)
    return records


class _ConstantError(ValueError):
    """A word such as NaN, which JSON does not have."""


def _refuse(word: str) -> None:
    raise _ConstantError(word)


def _checked(line: bytes, name: str, number: int) -> Record:
    """Return a line as a record; raise where it is not one of a history."""
    try:
        record: Any = json.loads(line, parse_constant=_refuse)
        found = _problem(record)
    except _ConstantError as error:
        found = f"{error} is no number"
    except (ValueError, RecursionError):
        found = "no JSON object"
    if found:
        raise FormatError(f"{found}; expected a line that --history wrote", path=name, line=number)
    return dict(record)


def _problem(record: Any) -> str:
    """Return what is wrong with a line; empty if nothing is."""
    if not isinstance(record, dict):
        return "no JSON object"
    for old, new in _RENAMED.items():
        if old in record and new not in record:
            record[new] = record.pop(old)
    for field, kinds in (LOOK_FIELDS | LATER_FIELDS).items():
        if field not in record:
            if field in LOOK_FIELDS:
                return f"{field} is missing"
            continue
        value = record[field]
        possible = not isinstance(value, _NUMBER) or _is_possible(field, value)
        if not isinstance(value, kinds) or isinstance(value, bool) or not possible:
            return f"{field} is {_shortened(value)}"
    if record["decision"] not in (PASSES, FAILS):
        return f"look {record['look']} is said to be {record['decision']!r}"
    if record.get("first_look", 1) > record["look"]:
        return f"first_look {record['first_look']} comes after look {record['look']}"
    try:
        datetime.fromisoformat(record["date"])
    except ValueError:
        return f"date is {_shortened(record['date'])}"
    for low, high in (("low", "high"), ("look_low", "look_high")):
        if None not in (record[low], record[high]) and record[low] > record[high]:
            return f"{low} {record[low]} is above {high} {record[high]}"
    if not _are_alarms(record.get("false_alarms")):
        return "false_alarms holds no shares"
    arrived = record.get("arrived", {})
    numbers = arrived.values() if isinstance(arrived, dict) else [None]
    if not all(isinstance(value, _NUMBER) and abs(value) <= 1.0 for value in numbers):
        return "arrived holds no differences of topics"
    return ""


def _are_alarms(found: Any) -> bool:
    """Whether a line has no false alarms, or shares with their errors, losses and a measure."""
    if found is None:
        return True
    shares = [found.get(name) for name in ALARM_SHARES] if isinstance(found, dict) else [None]
    pairs = all(
        isinstance(one, list)
        and len(one) == 2
        and all(isinstance(x, _NUMBER) and 0 <= x <= 1 for x in one)
        for one in shares
    )
    return (
        pairs
        and isinstance(found.get("loss"), _NUMBER)
        and isinstance(found.get("caught"), (*_NUMBER, type(None)))
        and isinstance(found.get("measure"), str)
    )


def _is_possible(field: str, value: float) -> bool:
    """Whether a number is one that a look can have: beyond, nothing could be computed with it."""
    low, high = _RANGES.get(field, (-_LARGEST_NUMBER, _LARGEST_NUMBER))
    return low <= value <= high


def _shortened(value: Any) -> str:
    """Return a value for messages; Python refuses to print integers of thousands of digits."""
    if isinstance(value, int) and abs(value) > _LARGEST_NUMBER:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 50 else f"{text[:49]}…"
