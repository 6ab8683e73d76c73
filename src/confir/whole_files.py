"""Files that are replaced or appended to whole, or not at all, whatever fails meanwhile."""

from __future__ import annotations

import io
import os
import stat
from contextlib import suppress
from functools import partial

# How a file ends that is not finished yet.
UNFINISHED = ".part"

_NEW_FILE_MODE = 0o666  # less what the umask takes away


def replace_file(target: str | os.PathLike[str], content: bytes) -> None:
    """Write a temporary file in the same folder, then rename it; a file that is replaced keeps its mode.

    A link at the target is replaced, not followed. The content is on the disk before it has the
    name: a machine that stops leaves the old file or the new one.
    """
    name = os.fspath(target)
    beside = os.path.join(os.path.dirname(name), f".confir-{os.urandom(8).hex()}{UNFINISHED}")
    kept = None  # the permissions of a file that is replaced; a link has none of its own
    with suppress(FileNotFoundError):
        found = os.lstat(name).st_mode
        kept = stat.S_IMODE(found) if stat.S_ISREG(found) else None
    try:
        # with its permissions from the start: no moment lets others read it
        opener = partial(os.open, mode=_NEW_FILE_MODE if kept is None else kept & 0o777)
        with open(beside, "xb", buffering=0, opener=opener) as stream:
            if kept is not None:
                os.chmod(beside, kept)  # what the umask took away
            _write_all(stream, content)
            os.fsync(stream.fileno())
        os.replace(beside, name)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def append_content(stream: io.FileIO, added: bytes, size: int) -> None:
    """Append to an unbuffered file of which so many bytes count; cut off what a failure leaves.

    What a buffer holds would be written once more when the file is closed, after the cut.
    """
    try:
        stream.truncate(size)
        _write_all(stream, added)
        os.fsync(stream.fileno())
    except BaseException:
        with suppress(OSError):
            stream.truncate(size)
        raise


def _write_all(stream: io.FileIO, content: bytes) -> None:
    """Write all bytes; the system may take a part of them at a time."""
    rest = memoryview(content)
    while rest:
        rest = rest[stream.write(rest) or 0 :]
