"""How are files opened and written? Plain or compressed; written whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import secrets
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, cast
from weakref import WeakSet

from confir.errors import FormatError, MissingDependencyError, UnreadableError

PathLike = str | os.PathLike[str]

STDIN = "-"

COMPRESSION_ENDINGS = (".gz", ".bz2", ".xz", ".zst")

# What compressed data begin with. None of it can begin a text; of bzip2, whose first letters could,
# the start of its first block, or of its end when it is empty, belongs to it.
_COMPRESSED = re.compile(
    rb"(?P<gzip>\x1f\x8b)"
    rb"|(?P<bzip2>BZh[1-9](?:1AY&SY|\x17rE8P\x90))"
    rb"|(?P<xz>\xfd7zXZ\x00)"
    rb"|(?P<zstandard>\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)"
)
_LONGEST_START = 10

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.")

_CHUNK = 1 << 17
_LARGEST_WINDOW = 1 << 31
_GZIP_WINDOW = 16 + zlib.MAX_WBITS

# Run files shrink to a tenth or so; data that shrink to less than a thousandth are an attack on the
# reader's memory, or no text. As long as there are few of them, they do no harm.
_LARGEST_RATIO = 1_000
_TRUSTED_SIZE = 64 << 20
_UNLIMITED = "CONFIR_DECOMPRESS"
# Decompressed at once.
_LARGEST_PIECE = 1 << 20
# What may hold zeros: Parquet, and UTF-16, which has an error of its own.
_WITH_ZEROS = (b"PAR1", b"\xff\xfe", b"\xfe\xff")


@contextmanager
def open_bytes(path: PathLike, *, download: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed as its first bytes say; "-" is standard input.

    An address such as ``https://…`` is opened only where ``download`` allows it.
    """
    name = os.fspath(path)
    if is_address(name) and not download:
        raise UnreadableError(
            f"{name}: an address, and nothing is fetched unasked; expected --download "
            "(download=True) beside it, or a file"
        )
    opened = _open_address(name) if is_address(name) else _open_raw(name)
    with _readable(name), opened as raw:
        start = raw.read(_LONGEST_START)
        compressed = _COMPRESSED.match(start)
        stream = _rewound(raw, start)
        if compressed:
            stream = _buffered(_Decompressed(stream, str(compressed.lastgroup)))
        yield stream


def read_bytes(path: PathLike, *, download: bool = False) -> bytes:
    """Return the content of a file, decompressed."""
    with open_bytes(path, download=download) as stream:
        return stream.read()


def is_address(path: str) -> bool:
    """Whether a path is an address of http, s3 or another file system of fsspec, and no file."""
    return _ADDRESS.match(path) is not None and not os.path.exists(path)


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


def write_whole(path: PathLike, content: bytes) -> None:
    """Write a file so that it is there whole or not at all, compressed as its ending says."""
    name = os.fspath(path)
    content = _compress(content, os.path.splitext(name)[1].lower())
    with _writable(name):
        if _is_special(name):
            with open(name, "ab") as stream:
                stream.write(content)
        else:
            _replace(os.path.realpath(name), content)


def _replace(target: str, content: bytes) -> None:
    """Write beside the target, then rename; what stood there keeps its permissions."""
    beside = os.path.join(os.path.dirname(target), f".confir-{secrets.token_hex(8)}")
    try:
        with open(beside, "xb") as stream:
            stream.write(content)
        if os.path.exists(target):
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def _is_special(name: str) -> bool:
    """Return whether a path is a device, a pipe or a link to one, such as /dev/stdout.

    The links there stand for open files: to replace what they lead to would cut it off.
    """
    if os.path.islink(name) and os.path.abspath(name).startswith(("/dev/", "/proc/")):
        return True
    return os.path.exists(name) and not os.path.isfile(name)


# Standard inputs of which nothing is left.
_read_through: WeakSet[Any] = WeakSet()


@contextmanager
def _open_raw(name: str) -> Iterator[IO[bytes]]:
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
        stream = open(name, "rb")  # noqa: SIM115
    except ValueError as error:
        raise UnreadableError(f"{name!r}: no such file ({error})") from None
    with stream:
        yield stream


@contextmanager
def _open_address(name: str) -> Iterator[IO[bytes]]:
    try:
        import fsspec
    except ImportError:
        raise MissingDependencyError("fsspec", f"{name}: an address", None) from None
    try:
        with fsspec.open(name, "rb") as stream:
            content: bytes = stream.read()
    except FileNotFoundError:
        raise
    except Exception as error:  # noqa: BLE001 - each file system has errors of its own
        problem = " ".join(str(error).split()) or type(error).__name__
        raise UnreadableError(f"{name}: cannot be fetched ({problem})") from None
    yield io.BytesIO(content)


def _rewound(stream: IO[bytes], start: bytes) -> IO[bytes]:
    """Return a stream from which ``start`` was read as it was before, be it a pipe."""
    if stream.seekable():
        stream.seek(-len(start), os.SEEK_CUR)
        return stream
    return _buffered(_Prepended(start, stream))


def _buffered(stream: io.RawIOBase) -> IO[bytes]:
    return cast("IO[bytes]", io.BufferedReader(stream, _CHUNK))


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


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn the errors of the system and of decompression into one sentence with the path."""
    try:
        yield
    except _RefusedError as error:
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
    except _DamagedError as error:
        raise UnreadableError(f"{name}: the compressed data are damaged ({error})") from None
    except OSError as error:
        raise UnreadableError(f"{name}: cannot be read ({error.strerror or error})") from None


@contextmanager
def _writable(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnreadableError(f"{name}: cannot be written ({error.strerror or error})") from None
    except ValueError as error:
        raise UnreadableError(f"{name!r}: cannot be written ({error})") from None


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingDependencyError("zstandard", "reading or writing .zst", "zst") from None
    return zstandard


class _DamagedError(Exception):
    """What a decompressor says of data that it cannot make sense of."""


class _RefusedError(Exception):
    """What is wrong with compressed data that are not read on."""


class _Decompressed(io.RawIOBase):
    """Reads compressed data, of one part or several put together, up to their very end.

    The readers of the standard library take anything after the first part of bzip2 and xz data
    that is not another part for a harmless trailer, and so would lose damaged parts in silence.
    """

    def __init__(self, stream: IO[bytes], kind: str) -> None:
        self._stream = stream
        self._start_part, self._error = _decompressor(kind)
        self._part = self._start_part()
        self._within = True
        self._ready = memoryview(b"")
        self._waiting = b""
        self._read = self._written = 0
        self._limited = os.environ.get(_UNLIMITED) != "any"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._ready:
            self._ready = memoryview(self._next())
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def readall(self) -> bytes:
        return b"".join([self._ready, *iter(self._next, b"")])

    def _next(self) -> bytes:
        """Return some of the data, b"" at their end."""
        content = b""
        while not content:
            if not self._waiting and not (self._within and self._part.has_more):
                self._waiting = self._stream.read(self._part.chunk)
                self._read += len(self._waiting)
                if not self._waiting:
                    if self._within:
                        raise EOFError
                    break
            content = self._decompress()
        if self._limited:
            self._check(content)
        self._written += len(content)
        return content

    def _decompress(self) -> bytes:
        """Decompress some of what waits; one part may end and another begin, zeros between."""
        if not self._within:
            self._waiting = self._waiting.lstrip(b"\0")
            if not self._waiting:
                return b""
            self._part = self._start_part()
            self._within = True
        try:
            content = self._part.decompress(self._waiting)
        except self._error as error:
            raise _DamagedError(error) from None
        self._within = not self._part.ended
        self._waiting = self._part.rest
        return content

    def _check(self, content: bytes) -> None:
        """Raise where the data are no text, or so many that they must be an attack."""
        if not self._written and b"\0" in content and not content.startswith(_WITH_ZEROS):
            raise _RefusedError("the compressed data are not text; expected text in UTF-8")
        written = self._written + len(content)
        if written > max(_TRUSTED_SIZE, _LARGEST_RATIO * self._read):
            raise _RefusedError(
                f"{self._read:,} compressed bytes hold more than {written:,}; "
                f"{_UNLIMITED}=any in the environment reads them all the same"
            )


class _Part:
    """Decompresses one part of the data, a limited number of bytes at a time.

    Attributes
    ----------
    chunk
        How much it should be given at a time.
    ended
        Whether the part is complete.
    rest
        What was given and is not used yet, to be given again.
    has_more
        Whether there is more to come without more being given.
    """

    chunk = _CHUNK

    def __init__(self, decompressor: Any) -> None:
        self._decompressor = decompressor
        self.ended = False
        self.rest = b""
        self.has_more = False

    def decompress(self, content: bytes) -> bytes:
        """Return some of what the content holds: for bzip2 and xz."""
        found: bytes = self._decompressor.decompress(content, _LARGEST_PIECE)
        self._conclude(b"", more=not self._decompressor.needs_input)
        return found

    def _conclude(self, rest: bytes, *, more: bool) -> None:
        self.ended = self._decompressor.eof
        self.rest = self._decompressor.unused_data if self.ended else rest
        self.has_more = more and not self.ended


class _GzipPart(_Part):
    def decompress(self, content: bytes) -> bytes:
        found: bytes = self._decompressor.decompress(content, _LARGEST_PIECE)
        more = len(found) == _LARGEST_PIECE
        self._conclude(self._decompressor.unconsumed_tail, more=more)
        return found


class _ZstandardPart(_Part):
    """Takes little at a time, since the package does not limit how much comes out."""

    chunk = 1 << 11

    def decompress(self, content: bytes) -> bytes:
        found: bytes = self._decompressor.decompress(content)
        self._conclude(b"", more=False)
        return found


def _decompressor(kind: str) -> tuple[Callable[[], _Part], type[Exception]]:
    """Return what makes a decompressor for one part of the data, and the error it raises."""
    if kind == "gzip":
        return lambda: _GzipPart(zlib.decompressobj(wbits=_GZIP_WINDOW)), zlib.error
    if kind == "bzip2":
        return lambda: _Part(bz2.BZ2Decompressor()), OSError
    if kind == "xz":
        return lambda: _Part(lzma.LZMADecompressor(lzma.FORMAT_XZ)), lzma.LZMAError
    module = _zstandard()
    decompressor = module.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    return lambda: _ZstandardPart(decompressor.decompressobj()), module.ZstdError


def _compress(content: bytes, ending: str) -> bytes:
    if ending == ".gz":
        return gzip.compress(content, mtime=0)
    if ending == ".bz2":
        return bz2.compress(content)
    if ending == ".xz":
        return lzma.compress(content)
    if ending == ".zst":
        compressed: bytes = _zstandard().ZstdCompressor().compress(content)
        return compressed
    return content
