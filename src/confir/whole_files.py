"""Files that are replaced or appended to whole, or not at all, whatever fails meanwhile.

A file is written under another name first: ``.confir-HOST-PROCESS-RANDOM.part``. A process that is
killed leaves it there; by its name and age it is recognised as nobody's any more.
"""

from __future__ import annotations

import io
import os
import re
import stat
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from functools import partial

# An unfinished file; earlier versions named neither host nor process.
_UNFINISHED = re.compile(
    r"\.confir-(?:(?P<host>[0-9a-f]{8})-(?P<process>[0-9]+)-)?[0-9a-f]{16}\.part"
)
# Of a process that cannot be asked whether it lives: nothing is written for so many seconds.
_ABANDONED_AFTER = 24 * 3600.0
# The unfinished files of this process.
_being_written: set[str] = set()

_NEW_FILE_MODE = 0o666  # less what the umask takes away


def replace_file(target: str | os.PathLike[str], content: bytes) -> None:
    """Write a temporary file in the same folder, then rename it; a file that is replaced keeps its mode.

    A link at the target is replaced, not followed. The content is on the disk before it has the
    name: a machine that stops leaves the old file or the new one.
    """
    name = os.fspath(target)
    own = f".confir-{_host()}-{os.getpid()}-{os.urandom(8).hex()}.part"
    beside = os.path.join(os.path.dirname(name), own)
    kept = None  # the permissions of a file that is replaced; a link has none of its own
    with suppress(FileNotFoundError):
        found = os.lstat(name).st_mode
        kept = stat.S_IMODE(found) if stat.S_ISREG(found) else None
    _being_written.add(own)
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
    finally:
        _being_written.discard(own)


def is_unfinished(path: str | os.PathLike[str]) -> bool:
    """Whether a path has the name of an unfinished file of confir."""
    return _UNFINISHED.fullmatch(os.path.basename(path)) is not None


def is_abandoned(path: str | os.PathLike[str]) -> bool:
    """Whether a file is unfinished, and the process that wrote it is gone."""
    found = _UNFINISHED.fullmatch(os.path.basename(path))
    try:
        state = os.lstat(path)
    except OSError:
        return False
    if found is None or not stat.S_ISREG(state.st_mode):
        return False
    if found["host"] == _host() and os.name == "posix":
        process = int(found["process"])
        if process == os.getpid():  # the number may have been another's before
            return found[0] not in _being_written
        try:
            os.kill(process, 0)  # does nothing but look
        except (ProcessLookupError, OverflowError):
            return True
        except OSError:  # it belongs to someone else
            pass
    return time.time() - state.st_mtime > _ABANDONED_AFTER


def remove_abandoned(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Remove the files that killed processes left unfinished."""
    for path in filter(is_abandoned, paths):
        with suppress(OSError):
            os.unlink(path)


def _host() -> str:
    """Return eight letters for the name of this machine."""
    import platform

    return f"{zlib.crc32(platform.node().encode()):08x}"


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
