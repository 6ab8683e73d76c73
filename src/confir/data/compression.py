"""Compressed data, recognised, read and written: gzip, bzip2, xz and zstandard."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable
from typing import IO, Any

from confir.errors import MissingDependencyError

COMPRESSION_ENDINGS = (".gz", ".bz2", ".xz", ".zst")

# What compressed data begin with. None of it can begin a text; of bzip2, whose first letters could,
# the start of its first block, or of its end when it is empty, belongs to it. Groups are named by kind.
COMPRESSED = re.compile(
    rb"(?P<gzip>\x1f\x8b)"
    rb"|(?P<bzip2>BZh[1-9](?:1AY&SY|\x17rE8P\x90))"
    rb"|(?P<xz>\xfd7zXZ\x00)"
    rb"|(?P<zstandard>\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)"
)
LONGEST_START = 10

# Read at once.
CHUNK = 1 << 17

_LARGEST_WINDOW = 1 << 31
_GZIP_WINDOW = 16 + zlib.MAX_WBITS

# Run files shrink to a tenth or so; data that shrink to less than a thousandth are an attack on the
# reader's memory, or no text. As long as there are few of them, they do no harm: bytes of text become
# some 30 times as many in memory, cells of Parquet are counted as they are.
_LARGEST_RATIO = 1_000
_TRUSTED_SIZE = 64 << 20
_TRUSTED_TEXT = 16 << 20
_UNLIMITED = "CONFIR_DECOMPRESS"
# Decompressed at once.
_LARGEST_PIECE = 1 << 20
# What may hold zeros: Parquet, and UTF-16, which has an error of its own.
_WITH_ZEROS = (b"PAR1", b"\xff\xfe", b"\xfe\xff")


class DamagedError(Exception):
    """What a decompressor says of data that it cannot make sense of."""


class RefusedError(Exception):
    """What is wrong with compressed data that are not read on."""


def is_limited() -> bool:
    """Whether data that expand beyond reason are refused: unless the environment asks for them."""
    return os.environ.get(_UNLIMITED) != "any"


def largest_expansion(read: int) -> int:
    """Return how many bytes so many compressed ones may hold."""
    return max(_TRUSTED_SIZE, _LARGEST_RATIO * read)


def check_expansion(read: int, written: int) -> None:
    """Raise where compressed bytes hold so many that they must be an attack."""
    if written > largest_expansion(read) and is_limited():
        raise _attack(read, written)


def _attack(read: int, written: int) -> RefusedError:
    return RefusedError(
        f"{read:,} compressed bytes hold more than {written:,}; "
        f"{_UNLIMITED}=any in the environment reads them anyway"
    )


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingDependencyError("zstandard", "reading or writing .zst", "zst") from None
    return zstandard


class Decompressed(io.RawIOBase):
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
        self._limited = is_limited()

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there are data; return with how many bytes."""
        if not self._ready:
            self._ready = memoryview(self._next())
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def readall(self) -> bytes:
        """Return all data."""
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
            raise DamagedError(error) from None
        self._within = not self._part.ended
        self._waiting = self._part.rest
        return content

    def _check(self, content: bytes) -> None:
        """Raise where the data are no text, or so many that they must be an attack."""
        if not self._written and b"\0" in content and not content.startswith(_WITH_ZEROS):
            raise RefusedError("the compressed data are not text; expected text in UTF-8")
        written = self._written + len(content)
        if written > max(_TRUSTED_TEXT, _LARGEST_RATIO * self._read):
            raise _attack(self._read, written)


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

    chunk = CHUNK

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


def compress(content: bytes, ending: str) -> bytes:
    """Return the content as a file of that ending, one of a compression, holds it."""
    if ending == ".gz":
        return gzip.compress(content, mtime=0)
    if ending == ".bz2":
        return bz2.compress(content)
    if ending == ".xz":
        return lzma.compress(content)
    compressed: bytes = _zstandard().ZstdCompressor(write_checksum=True).compress(content)
    return compressed
