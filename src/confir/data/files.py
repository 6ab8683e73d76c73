"""How are files opened and written? Plain or compressed; written whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from confir.errors import MissingDependencyError, UnreadableError

PathLike = str | os.PathLike[str]

STDIN = "-"

COMPRESSION_ENDINGS = (".gz", ".bz2", ".xz", ".zst")

_MAGIC = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstandard"),
)


@contextmanager
def open_bytes(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed as its first bytes say; "-" is standard input."""
    name = os.fspath(path)
    with _readable(name), _open_raw(name) as raw:
        buffered = io.BufferedReader(cast("io.RawIOBase", raw)) if not hasattr(raw, "peek") else raw
        start = cast("io.BufferedReader", buffered).peek(8)[:8]
        kind = next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)
        yield _DECOMPRESS[kind](buffered)


def read_bytes(path: PathLike) -> bytes:
    """Return the content of a file, decompressed."""
    with open_bytes(path) as stream:
        return stream.read()


def write_whole(path: PathLike, content: bytes) -> None:
    """Write a file so that it is there whole or not at all, compressed as its ending says."""
    target = Path(path)
    content = _compress(content, target.suffix.lower())
    with _writable(str(target)):
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        descriptor, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            os.chmod(beside, 0o666 & ~_umask())
            os.replace(beside, target)
        except BaseException:
            os.unlink(beside)
            raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


@contextmanager
def _open_raw(name: str) -> Iterator[IO[bytes]]:
    if name == STDIN:
        yield sys.stdin.buffer
    else:
        with open(name, "rb") as stream:
            yield stream


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn the errors of the system and of decompression into one sentence with the path."""
    try:
        yield
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
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise UnreadableError(f"{name}: the compressed data are damaged ({error})") from None
    except OSError as error:
        raise UnreadableError(f"{name}: cannot be read ({error.strerror or error})") from None


@contextmanager
def _writable(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnreadableError(f"{name}: cannot be written ({error.strerror or error})") from None


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingDependencyError("zstandard", "reading or writing .zst", "zst") from None
    return zstandard


class _CheckedZstandard(io.RawIOBase):
    """Reads zstandard data; data that end within a frame are an EOFError, as with gzip."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._module = _zstandard()
        self._decompressor = self._module.ZstdDecompressor().decompressobj()
        self._ready = b""
        self._within = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            chunk = self._stream.read(1 << 20)
            if not chunk:
                if self._within:
                    raise EOFError
                return 0
            self._ready = self._decompress(chunk)
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _decompress(self, chunk: bytes) -> bytes:
        """Decompress a chunk, in which one frame may end and another begin."""
        parts = []
        try:
            while chunk:
                self._within = True
                parts.append(self._decompressor.decompress(chunk))
                if not self._decompressor.eof:
                    break
                chunk = self._decompressor.unused_data
                self._within = False
                self._decompressor = self._module.ZstdDecompressor().decompressobj()
        except self._module.ZstdError as error:
            raise OSError(f"damaged zstandard data: {error}") from None
        return b"".join(parts)


_DECOMPRESS: dict[str | None, Callable[[Any], Any]] = {
    None: lambda stream: stream,
    "gzip": lambda stream: gzip.GzipFile(fileobj=stream),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstandard": lambda stream: io.BufferedReader(_CheckedZstandard(stream)),
}


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
