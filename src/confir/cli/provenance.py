"""The provenance of an output: version, seed, command and digests of files, written beside it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Any

import click

from confir.data.files import STDIN, write_whole
from confir.errors import InvalidValueError, UnreadableError, without_passwords

ENDING = ".provenance.json"
# Packages whose version may move numbers.
_COMPUTING = ("numpy", "scipy", "numba")


def provenance_path(context: click.Context) -> str:
    """Return the file for the provenance of an output; raise where there is no output."""
    output = context.params.get("output")
    if output is None:
        raise InvalidValueError("--provenance is written beside an output; expected -o FILE")
    return f"{output}{ENDING}"


def describe_files(paths: Iterable[str]) -> list[dict[str, Any]]:
    """Return size and SHA-256 of each file; what is no file of this machine has neither."""
    return [_describe(path) for path in dict.fromkeys(paths)]


def _describe(path: str) -> dict[str, Any]:
    if path == STDIN or not os.path.isfile(path):
        return {"path": without_passwords(path), "bytes": None, "sha256": None}
    try:
        with open(path, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            return {"path": path, "bytes": stream.tell(), "sha256": digest}
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read ({error.strerror or error})") from None


def unlike_origins(paths: Sequence[str]) -> list[str]:
    """Return in sentences how the origins of tables differ, as far as files beside them say it.

    Tables of other qrels, or of another version of confir, may differ for that reason alone.
    """
    origins: dict[str, dict[str, Any]] = {}
    for path in paths:
        with suppress(OSError, ValueError), open(f"{path}{ENDING}", "rb") as stream:
            held = json.load(stream)
            if isinstance(held, dict):
                origins[path] = held
    found = []
    for what, read in (("qrels", _first_digest), ("confir", lambda one: one.get("confir"))):
        known = {path: read(one) for path, one in origins.items()}
        values = [value for value in known.values() if value is not None]
        if len(set(values)) > 1:
            named = ", ".join(f"{path}: {str(value)[:12]}" for path, value in known.items())
            kind = "other qrels" if what == "qrels" else "other versions of confir"
            found.append(f"The tables were computed with {kind} ({named}).")
    return found


def _first_digest(origin: dict[str, Any]) -> str | None:
    """Return the digest of the qrels of a table: the first file that its command read, if not a table."""
    inputs = origin.get("inputs")
    if "--scores" in str(origin.get("command")) or not isinstance(inputs, list) or not inputs:
        return None
    digest = inputs[0].get("sha256") if isinstance(inputs[0], dict) else None
    return digest if isinstance(digest, str) else None


@dataclass
class Provenance:
    """Writes what an output comes from after a command, also where its gate is closed.

    Where that fails, or the command after it wrote the output, an older provenance is removed: it
    would describe an output that is gone.

    Attributes
    ----------
    path
        The file.
    context
        The context of the command that writes the output.
    inputs
        The files that it reads, as they were before.
    """

    path: str
    context: click.Context
    inputs: list[dict[str, Any]]

    def __enter__(self) -> None:
        self._before = self._output_state()

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            if kind is None or issubclass(kind, click.exceptions.Exit):
                _write(self.path, self.context, self.inputs)
                self._before = self._output_state()
        finally:
            if self._output_state() != self._before:
                with suppress(OSError):
                    os.unlink(self.path)

    def _output_state(self) -> tuple[int, ...] | None:
        """Return what differs between states of the output."""
        try:
            found = os.stat(self.context.params["output"])
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns


def _write(path: str, context: click.Context, inputs: list[dict[str, Any]]) -> None:
    """Write what an output comes from, whole or not at all."""
    from confir.cli.report import command_line_with_seed
    from confir.cli.schema import VERSION

    seed = context.params.get("seed")
    record = {
        "schema": VERSION,
        "confir": version("confir"),
        "python": platform.python_version(),
        "packages": dict(_installed()),
        "command": command_line_with_seed(seed),
        "seed": seed,
        "inputs": inputs,
        "outputs": describe_files([context.params["output"]]),
    }
    write_whole(path, json.dumps(record, ensure_ascii=True, indent=1).encode() + b"\n")


def _installed() -> Iterable[tuple[str, str]]:
    for name in _COMPUTING:
        try:
            yield name, version(name)
        except PackageNotFoundError:  # what an extra would install
            continue
