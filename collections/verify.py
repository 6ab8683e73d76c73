"""Check of the collections that tests and reproductions read: which are present and identical.

    python collections/verify.py data

Each collection is published elsewhere (sources.csv says where, and at which commit); none is part of
confir. Put a collection's files below a folder of its name, compressed or not; this script lists what is
missing or different. `--write` records the digests of the files.
"""

from __future__ import annotations

import argparse
import bz2
import csv
import gzip
import hashlib
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DIGESTS = HERE / "digests.sha256"
READERS: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
NOTES = ("SOURCE.md", "README.md", "LICENSE.md")


def main() -> None:
    """Say of each collection where it is published, and whether the local copy is the same."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, help="folder of the collections")
    parser.add_argument("--write", action="store_true", help="record the digests of what is there")
    options = parser.parse_args()
    here = files(options.data)
    if options.write:
        text = "".join(f"{digest(path)}  {name}\n" for name, path in sorted(here.items()))
        DIGESTS.write_text(text, encoding="utf-8")
    lines = (line.split(maxsplit=1) for line in DIGESTS.read_text("utf-8").splitlines())
    known = {name: value for value, name in lines}
    found = {name: digest(path) for name, path in here.items() if name in known}
    faults = 0
    with (HERE / "sources.csv").open(encoding="utf-8", newline="") as stream:
        for source in csv.DictReader(stream):
            state = compare(source["collection"], known, found)
            faults += state != "complete"
            print(
                f"{source['collection']}: {state}\n  {source['content']}\n  {source['published']}"
            )
    if faults:
        raise SystemExit(
            f"{options.data}: {faults} collections are not complete; only tests on real data and "
            "reproductions need them.\nPut the files of each below a folder of its name there, and "
            "repeat this to verify them."
        )


def files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their path in it, without the ending of a compression."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name not in NOTES)
    return {plain_name(path.relative_to(folder)): path for path in paths}


def plain_name(path: Path) -> str:
    """Return a path with slashes, without the ending of a compression."""
    return (path.with_suffix("") if path.suffix in READERS else path).as_posix()


def digest(path: Path) -> str:
    """Return the SHA-256 digest of a file's content, decompressed; of a damaged file, none."""
    try:
        with READERS.get(path.suffix, Path.open)(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, EOFError, lzma.LZMAError):
        return "damaged"


def compare(collection: str, known: dict[str, str], found: dict[str, str]) -> str:
    """Return whether a collection is complete, and what is not as it should be."""
    expected = {name: value for name, value in known.items() if name.split("/")[0] == collection}
    missing = [name for name in expected if name not in found]
    changed = [name for name in expected if found.get(name, expected[name]) != expected[name]]
    if len(missing) == len(expected):
        return "not here"
    parts = [
        f"{len(names)} {word} ({names[0]})"
        for names, word in ((missing, "missing"), (changed, "different"))
        if names
    ]
    return "; ".join(parts) or "complete"


if __name__ == "__main__":
    main()
