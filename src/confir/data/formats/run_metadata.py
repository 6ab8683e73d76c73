"""Who made a run, and how? Metadata beside it, as ir_metadata defines them (Breuer et al. 2022)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from confir.data.files import read_bytes, text_bytes
from confir.errors import FormatError

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
_ENTRY = re.compile(r"""([ ]*(?:-[ ]+)*)(["']?)([^\s"'#:-][^"'#:]*?)\2[ ]*:(?:\s+(.*))?""")
_PLAIN_VALUE = re.compile(r"""\"([^\"\\]+)\"|'([^']+)'|([^\s#"'\[\]{}>|&*!%@`][^#]*?)(?:\s+#.*)?""")


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


def read_metadata(path: str) -> RunMetadata:
    """Return the metadata in a YAML file: plain values alone, of which only the tag must be one."""
    found: dict[str, list[str]] = {"tag": [], "actor": [], "method": []}
    for keys, value, line in _entries(text_bytes(read_bytes(path), path).decode()):
        field = _PLACES.get(keys)
        if field is None:
            continue
        matched = _PLAIN_VALUE.fullmatch(value)
        plain = "" if matched is None else "".join(filter(None, matched.groups()))
        if field == "tag" and not plain:
            raise FormatError(f"the tag is {value!r}; expected plain text", path=path, line=line)
        if plain and plain not in found[field]:
            found[field].append(plain)
    tag = found["tag"][0] if found["tag"] else ""
    return RunMetadata(tag, ", ".join(found["actor"]), ", ".join(found["method"]))


def _entries(text: str) -> Iterator[tuple[tuple[str, ...], str, int]]:
    """Yield the entries of YAML: the keys that lead to each, by indentation; its value and line."""
    above: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            continue
        indent = len(entry[1])
        above = [(place, key) for place, key in above if place < indent]
        above.append((indent, entry[3]))
        yield tuple(key for _, key in above), (entry[4] or "").strip(), number
