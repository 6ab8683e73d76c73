"""Files, plain or compressed: opened, read, and written whole or not at all."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast
from weakref import WeakSet

from confir.control_characters import as_unicode
from confir.data.compression import (
    CHUNK,
    COMPRESSED,
    COMPRESSION_ENDINGS,
    LONGEST_START,
    DamagedError,
    Decompressed,
    RefusedError,
    compress,
)
from confir.data.downloads import fetch
from confir.errors import FormatError, InvalidValueError, UnreadableError, without_passwords
from confir.whole_files import replace_file

PathLike = str | os.PathLike[str]

STDIN = "-"

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

KNOWN_ENDINGS = (
    *(".run", ".txt", ".trec", ".res", ".dat", ".eval"),
    *(".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"),
)

# How files begin that are mistaken for text, and what to do.
_NO_TEXT = {
    b"PK\x03\x04": "a zip, such as a workbook of Excel; expected text: save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel; expected text: save the sheet as CSV",
    b"version https://git-lfs.github.com/": "a pointer of Git LFS, not the file that it stands for; "
    "expected the file, as git lfs pull fetches it",
    b"SQLite format 3\0": "a database of SQLite; expected text, such as a table exported as CSV",
    b"%PDF-": "a PDF; expected text",
    b"<!DOCTYPE html": "a web page; expected text, such as the file that it shows",
    b"<html": "a web page; expected text, such as the file that it shows",
}

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.")


@contextmanager
def open_bytes(path: PathLike, *, download: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed as its first bytes say; "-" is standard input.

    An address such as ``https://…`` is opened only where ``download`` allows it.
    """
    name = os.fspath(path)
    try:
        with _open_raw(name, download) as raw:
            start = raw.read(LONGEST_START)
            if raw.seekable():
                raw.seek(-len(start), os.SEEK_CUR)
                stream = raw
            else:  # a pipe
                stream = _buffered(_Prepended(start, raw))
            found = COMPRESSED.match(start)
            yield stream if found is None else _buffered(Decompressed(stream, str(found.lastgroup)))
    except RefusedError as error:
        raise UnreadableError(f"{name}: {error}") from None
    except UnreadableError:
        raise
    except FileNotFoundError:
        raise UnreadableError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise UnreadableError(f"{name}: is a directory; expected a file") from None
    except EOFError:
        raise UnreadableError(
            f"{name}: the compressed data end too early; expected a complete file"
        ) from None
    except DamagedError as error:
        raise UnreadableError(f"{name}: the compressed data are damaged ({error})") from None
    except OSError as error:
        raise UnreadableError(f"{name}: cannot be read ({error.strerror or error})") from None


def read_bytes(path: PathLike, *, download: bool = False) -> bytes:
    """Return the content of a file, decompressed."""
    with open_bytes(path, download=download) as stream:
        return stream.read()


def is_address(path: str) -> bool:
    """Whether a path is an address, such as https://… or s3://…, and no file."""
    return _ADDRESS.match(path) is not None and not os.path.exists(path)


def format_ending(path: str) -> str:
    """Return the ending that names the format, in small letters, a compression's left out."""
    name = os.path.basename(path).lower()
    for compression in COMPRESSION_ENDINGS:
        name = name.removesuffix(compression)
    return os.path.splitext(name)[1].replace(".ndjson", ".jsonl")


def text_bytes(content: bytes, source: str) -> bytes:
    """Return the content without a byte order mark; raise where it is not UTF-8 text."""
    for start, problem in _NO_TEXT.items():
        if content[: len(start)].lower() == start.lower():
            raise FormatError(problem, path=source)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("the file is in UTF-16 or UTF-32; expected UTF-8", path=source)
    content = content.removeprefix(BYTE_ORDER_MARK)
    wrong = content.find(b"\0")
    if wrong < 0 and not content.isascii():
        try:
            content.decode()
        except UnicodeDecodeError as error:
            wrong = error.start
    if wrong >= 0:
        line = content.count(b"\n", 0, wrong) + 1
        problem = f"byte 0x{content[wrong]:02x} is not UTF-8 text; expected a text file in UTF-8"
        raise FormatError(problem, path=source, line=line)
    return content


@contextmanager
def keeping_inputs() -> Iterator[None]:
    """Until the end, let no output replace a file that was opened for reading meanwhile."""
    _inputs_kept.append(set())
    try:
        yield
    finally:
        _inputs_kept.pop()


def write_whole(path: PathLike, content: bytes) -> None:
    """Write a file so that it is there whole or not at all, compressed as its ending says."""
    name = os.fspath(path)
    check_no_input(name)
    ending = os.path.splitext(name)[1].lower()
    content = compress(content, ending) if ending in COMPRESSION_ENDINGS else content
    # The links in /dev and /proc stand for open files: to replace what they lead to would cut it off.
    is_link = os.path.islink(name) and os.path.abspath(name).startswith(("/dev/", "/proc/"))
    try:
        if is_link or (os.path.exists(name) and not os.path.isfile(name)):  # a device or a pipe
            with open(name, "ab") as stream:
                stream.write(content)
        else:
            replace_file(os.path.realpath(name), content)
    except OSError as error:
        raise UnreadableError(f"{name}: cannot be written ({error.strerror or error})") from None
    except ValueError as error:
        raise UnreadableError(f"{name!r}: cannot be written ({error})") from None


def check_no_input(name: str) -> None:
    """Raise where a file was read that is to be kept, under whatever name."""
    try:
        found = os.stat(name)
    except (OSError, ValueError):  # no such file yet
        return
    if any((found.st_dev, found.st_ino) in kept for kept in _inputs_kept):
        raise InvalidValueError(
            f"{name}: the command reads this file; expected another one to write"
        )


# The files that were opened for reading, by device and inode, for each that keeps them.
_inputs_kept: list[set[tuple[int, int]]] = []

# Standard inputs of which nothing is left.
_read_through: WeakSet[Any] = WeakSet()


@contextmanager
def _open_raw(name: str, download: bool) -> Iterator[IO[bytes]]:
    """Open a file, an address or standard input as it is; remember files that are to be kept."""
    if is_address(name):
        yield io.BytesIO(fetch(name, allowed=download))
        return
    if name == STDIN:
        stdin = getattr(sys.stdin, "buffer", None)
        if stdin is None or stdin.closed:
            raise UnreadableError(f"{name}: standard input is closed; expected data there")
        if stdin in _read_through:
            raise UnreadableError(f"{name}: standard input was read already; name it only once")
        yield stdin
        _read_through.add(stdin)
        return
    try:
        stream = open(name, "rb")  # noqa: SIM115 - closed below
    except ValueError as error:
        raise UnreadableError(f"{name!r}: no such file ({error})") from None
    with stream:
        found = os.fstat(stream.fileno())
        if stat.S_ISCHR(found.st_mode) and not stream.isatty() and stream.read(1):
            raise UnreadableError(f"{name}: is a device, which may have no end; expected a file")
        if _inputs_kept and stat.S_ISREG(found.st_mode):
            for kept in _inputs_kept:
                kept.add((found.st_dev, found.st_ino))
        yield stream


def _buffered(stream: io.RawIOBase) -> IO[bytes]:
    return cast("IO[bytes]", io.BufferedReader(stream, CHUNK))


class _Prepended(io.RawIOBase):
    """Reads the given bytes, then those of a stream."""

    def __init__(self, start: bytes, stream: IO[bytes]) -> None:
        self._start = start
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._start[: len(buffer)] or self._stream.read(len(buffer))
        self._start = self._start[len(chunk) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)


def name_from_path(path: PathLike) -> str:
    """Return a run's name: its file's without endings, and without a leading ``input.``."""
    name = Path(without_passwords(os.fspath(path))).name
    if name == STDIN:
        return "stdin"
    for endings in (COMPRESSION_ENDINGS, KNOWN_ENDINGS):
        for ending in endings:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
                break
    named = name.removeprefix("input.") or name
    return named if named.isprintable() else as_unicode(named)  # it need not be valid text


def split_name(source: str) -> tuple[str | None, str]:
    """Return the name and the path of ``NAME=PATH``; of a path alone, None and the path."""
    name, equals, path = source.partition("=")
    if equals and name and not os.path.lexists(source) and (path == STDIN or os.path.exists(path)):
        return as_unicode(name), path
    return None, source
