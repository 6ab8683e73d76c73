"""A disk that fails at each call in turn: files must be as before or as after."""

import builtins
import errno
import io
import itertools
import os
from contextlib import ExitStack
from unittest import mock

# Calls of the operating system that change files, except writes to open files.
CALLS = ("ftruncate", "truncate", "rename", "replace", "fsync", "chmod")

_open = open


def full_disk():
    return OSError(errno.ENOSPC, "No space left on device")


class Failure:
    """A context in which a certain call fails, or it and all later ones; ``happened`` is true if it did.

    A failing write writes half of its data, as on a disk that gets full.
    """

    def __init__(self, number, *, lasting=False):
        self._left, self._lasting = number, lasting
        self.happened = False

    def __enter__(self):
        self._patches = ExitStack()
        for name in CALLS:
            self._patch(os, name, self._checked(getattr(os, name)))
        self._patch(os, "write", self._cut_short(os.write))
        for module in (builtins, io):
            self._patch(module, "open", self._opened)
        return self

    def __exit__(self, *error):
        self._patches.close()

    def _patch(self, module, name, new):
        self._patches.enter_context(mock.patch.object(module, name, new))

    def _fails(self):
        self._left -= 1
        failing = self._left == 0 or (self._lasting and self._left < 0)
        self.happened |= failing
        return failing

    def _checked(self, call):
        def called(*given, **options):
            if self._fails():
                raise full_disk()
            return call(*given, **options)

        return called

    def _cut_short(self, write):
        def written(target, content):
            if self._fails():
                content = bytes(content)
                write(target, content[: len(content) // 2])
                raise full_disk()
            return write(target, content)

        return written

    def _opened(
        self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, **how
    ):
        """Open a file; what is written to it is counted by a file of ours."""
        if not set(mode) & set("wax+"):
            return _open(file, mode, buffering, encoding, errors, newline, **how)
        raw = _CountedFile(file, mode.replace("b", "").replace("t", ""), **how)
        raw.write = self._cut_short(io.FileIO.write).__get__(raw)
        raw.truncate = self._checked(io.FileIO.truncate).__get__(raw)
        if buffering == 0:
            return raw
        stream = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw)
        return stream if "b" in mode else io.TextIOWrapper(stream, encoding, errors, newline)


class _CountedFile(io.FileIO):
    """A file whose methods can be replaced."""


def each_failure(*, lasting=False):
    """Yield failures at the first call, at the second …, until none happens any more."""
    for number in itertools.count(1):
        failure = Failure(number, lasting=lasting)
        yield failure
        if not failure.happened:
            assert number > 1, "nothing was written"
            return
