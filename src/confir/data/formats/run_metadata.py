"""Metadata beside a run: who made it, and how, as ir_metadata defines them (Breuer et al. 2022)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from confir.data.files import read_bytes, text_bytes
from confir.data.formats.format import RunSource
from confir.errors import FormatError, UnreadableError

_METADATA_FILES = ("ir-metadata.yml", "ir-metadata.yaml", ".ir-metadata.yml")
_RUN_FILES = ("run.txt", "run.txt.gz")

# Where ir_metadata and TIREx write what is used here: keys in YAML, the outermost first.
_PLACES = {
    ("tag",): "tag",
    ("actor",): "actor",
    ("actor", "team"): "actor",
    ("actor", "name"): "actor",
    ("method",): "method",
    ("method", "name"): "method",
    ("method", "retrieval", "name"): "method",
}
# Deeper keys are never among them.
_DEEPEST = 1 + max(map(len, _PLACES))
_INDENTATION = re.compile(r"[ ]*+(?:-[ ]++)*+")
_QUOTES = ('"', "'")
# What no key holds, and what no plain value begins with.
_NOT_IN_KEYS = set("\"'#")
_NOT_PLAIN = set("#\"'[]{}>|&*!%@`")


class RunMetadata(NamedTuple):
    """What the metadata of a run say of it; "" where they are silent.

    Attributes
    ----------
    tag
        Name of the run.
    actor, method
        The team or person that made it, and the names of its retrieval methods.
    """

    tag: str = ""
    actor: str = ""
    method: str = ""


def described_run(folder: str) -> RunSource | None:
    """Return the run of a folder as TIRA and TIREx write it, named by the tag of its metadata.

    None where a folder has no metadata: ``ir-metadata.yml``, as ir_metadata defines it (Breuer et
    al. 2022), beside ``run.txt`` or ``run.txt.gz``.
    """
    metadata = next(
        filter(os.path.isfile, (os.path.join(folder, n) for n in _METADATA_FILES)), None
    )
    if metadata is None:
        return None
    run = next(filter(os.path.isfile, (os.path.join(folder, name) for name in _RUN_FILES)), None)
    if run is None:
        raise UnreadableError(f"{folder}: metadata without a run; expected run.txt or run.txt.gz")
    said = read_metadata(metadata)
    return RunSource(run, said.tag or Path(folder).resolve().name, metadata=said)


def read_metadata(path: str) -> RunMetadata:
    """Return the metadata in a YAML file: plain values alone, of which only the tag must be one."""
    found: dict[str, dict[str, None]] = {"tag": {}, "actor": {}, "method": {}}
    for keys, value, line in _entries(text_bytes(read_bytes(path), path).decode()):
        field = _PLACES.get(keys)
        if field is None:
            continue
        plain = _plain_value(value)
        if field == "tag" and not plain:
            raise FormatError(f"the tag is {value!r}; expected plain text", path=path, line=line)
        if plain:
            found[field][plain] = None
    return RunMetadata(
        next(iter(found["tag"]), ""), ", ".join(found["actor"]), ", ".join(found["method"])
    )


def _entries(text: str) -> Iterator[tuple[tuple[str, ...], str, int]]:
    """Yield the entries of YAML: the keys that lead to each, by indentation; its value and line."""
    above: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        start = _INDENTATION.match(line)
        indent = start.end() if start else 0
        head, colon, value = line[indent:].partition(":")
        key = _key(head)
        if not colon or not key or value[:1].strip():
            continue
        while above and above[-1][0] >= indent:
            above.pop()
        above.append((indent, key))
        yield tuple(key for _, key in above[:_DEEPEST]), value.strip(), number


def _key(head: str) -> str:
    """Return the key before a colon, which may stand in quotes; "" where there is none."""
    key = head.rstrip(" ")
    if key.startswith(_QUOTES):
        key = key[1:-1] if len(key) > 1 and key[-1] == key[0] else ""
    is_key = bool(key) and not key[0].isspace() and key[0] != "-" and _NOT_IN_KEYS.isdisjoint(key)
    return key if is_key else ""


def _plain_value(text: str) -> str:
    """Return a value without quotes and comment; "" where it is no plain text."""
    if text.startswith(_QUOTES):
        inside = text[1:-1] if len(text) > 1 and text[-1] == text[0] else ""
        escaped = text[0] in inside or (text[0] == '"' and "\\" in inside)
        return "" if escaped else inside
    plain, sign, _ = text.partition("#")
    if not plain or plain[0] in _NOT_PLAIN or (sign and not plain[-1].isspace()):
        return ""
    return plain.rstrip()
