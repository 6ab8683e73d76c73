"""Standard streams that are closed, full, or that nobody reads.

Only modules that are loaded anyway are imported here, so that Ctrl-C is handled from the start.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

from confir.control_characters import without_controls
from confir.errors import UnreadableError, without_passwords


class _ClosedOutput(io.TextIOBase):
    """Stands in for a standard output that was closed before confir started."""

    def write(self, _: str) -> int:
        raise UnreadableError("standard output is closed; expected -o FILE, or somewhere to print")


def prepare_streams() -> None:
    """Let the standard streams take any text, and closed ones raise an error of confir.

    Files that are opened later must not take the descriptors of closed streams: what other
    libraries print would go there.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = _ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it stays open
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # what an encoding lacks is shown as a question mark
            stream.reconfigure(errors="replace")
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        # by PYTHONUNBUFFERED: a write that a reader cut short would pass for a whole one
        descriptor, encoding = sys.stdout.fileno(), sys.stdout.encoding
        sys.stdout = open(descriptor, "w", encoding=encoding, errors="replace", closefd=False)  # noqa: SIM115


def print_message(message: str) -> None:
    """Print a line on stderr, after what was printed so far; control characters are replaced.

    On a terminal, which would break words, the line is wrapped.
    """
    message = without_controls(without_passwords(message), keep_isolates=True)
    with suppress(OSError):  # there is nowhere else to report it
        sys.stdout.flush()
    with suppress(OSError):
        if sys.stderr.isatty():
            message = _wrapped(message)
        print(message, file=sys.stderr)  # noqa: T201 - where warnings go


def _wrapped(message: str) -> str:
    from shutil import get_terminal_size
    from textwrap import fill

    width = get_terminal_size().columns
    return fill(message, width, break_long_words=False, break_on_hyphens=False)


def print_text(text: str) -> None:
    """Print text on stdout; a terminal gets no control characters, which names may contain."""
    if sys.stdout.isatty():
        text = without_controls(text, keep_blanks=True, keep_isolates=True)
    sys.stdout.write(text)


def release_streams() -> None:
    """Discard what a stream does not accept, or Python would report it at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
