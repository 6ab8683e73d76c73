"""Comparison of runs read in blocks with the same runs read line by line.

    python hardening/compare_readers.py --files 9000
    python hardening/compare_readers.py --files 20000 --seed 2 --data FOLDER

With a folder of collections (CONFIR_DATA by default), all runs in them, then generated files, regular and
odd ones, are read in every way: whole or from a stream, by numpy or by the compiled kernel, in blocks of any
size. Ranks, whole lists, lists on disk, runs, warnings and errors have to be the same, word for word.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import confir
from confir.data.exclusions import Exclusions
from confir.data.formats.format import Reading, RunSource
from confir.data.formats.sources import read_source
from confir.data.qrels import Qrels
from confir.data.ranked_lists.list_reader import read_rankings, read_source_lists
from confir.data.ranked_lists.stored_lists import store_lists

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from judged_positions import JudgedPositions
from run_files import outcome, read_by_line, read_in

JUDGED = {f"t{i}": {f"d{j}": (i + j) % 3 for j in range(0, 40, 3)} for i in range(6)}
GENERATED = confir.as_qrels(JUDGED | {"é": {"dé7": 1, "d1": 0}, "d5": {"d5": 1, "d6": 1}})
ODD_NUMBERS = ("nan", "inf", "1_0", "0x1", "1e", "e5", "--1", "1.2.3", "٣", ".")
NUMBERS = (
    *("+1.5", "-0", "-.5", "5.", "00012.50", "1E3", "0.1234567890123456789", "1e-400"),
    *("123456789012345678", "9007199254740993", "0.30000000000000004", "1.0000000000000001"),
)


def number(draw: random.Random) -> str:
    """Return a score as programs and people write them."""
    kind = draw.random()
    if kind < 0.5:
        return f"{draw.random() * 9:.2f}"
    if kind < 0.6:
        return str(draw.randint(-3, 3))
    if kind < 0.7:
        return repr(draw.random() * 10.0 ** draw.randint(-8, 8))
    if kind < 0.8:
        return f"{draw.random():.3e}"
    if kind < 0.85:
        return draw.choice(NUMBERS)
    return draw.choice(ODD_NUMBERS) if kind < 0.853 else "1.0"


def generated(draw: random.Random) -> bytes:
    """Return a run in some layout, which may be odd in a few places."""
    names = ["t0", "t1", "t2", "t3", "t4", "é", "zz", "d5", "x" * draw.choice([1, 7, 8, 9, 17])]
    lines = []
    for topic in draw.sample(names, draw.randint(1, 5)):
        more = ["dé7", "doc_" + "y" * draw.choice([3, 4, 12, 13]), "d1x", "#d", "d\xa0d"]
        listed = draw.sample([*(f"d{j}" for j in range(60)), *more], draw.randint(1, 12))
        for docid in [*listed, listed[0]] if draw.random() < 0.02 else listed:
            fields = [topic, "Q0", docid, "1", number(draw), "tag"]
            if draw.random() < 0.004:
                fields.pop()
            if draw.random() < 0.004:
                fields.append("more")
            odd = draw.random() < 0.1
            line = draw.choice(("  ", " \t", "\v", "\f") if odd else " \t").join(fields)
            lines.append(line + draw.choice(" \r") * (draw.random() < 0.02))
            if draw.random() < 0.01:
                lines[-1] = " " + lines[-1]
            if draw.random() < 0.02:
                lines.append(draw.choice(["", "# c", "#a b c d e f", "  ", "\t#x y", "\r"]))
    if draw.random() < 0.05:
        draw.shuffle(lines)
    end = draw.choice(["\n", "\n", "\n", "\r\n"])
    content = (end.join(lines) + end * draw.choice([1, 1, 1, 0, 2])).encode()
    for old, new, share in (
        *((b"\n", b"\n\xef\xbb\xbf", 0.01), (b"d", b"\xff", 0.01), (b"d", b"\x00", 0.01)),
        *((b"d", b"\x1f", 0.01), (b" ", b"\n", 0.01), (b"\n", b"\r", 0.01)),
    ):
        if draw.random() < share:
            place = draw.randrange(len(content))
            content = content[:place] + content[place:].replace(old, new, 1)
    return b"\xef\xbb\xbf" * draw.choice([0] * 30 + [1, 2]) + content


def ways(size: int, draw: random.Random) -> Iterator[dict[str, Any]]:
    """Yield the ways in which a file is read."""
    for compiled in (False, True):
        for streamed in (False, True):
            block = max(1, size // draw.choice([1, 3, 10, 50]))
            yield {"compiled": compiled, "streamed": streamed, "block_size": block}


def by_line(qrels: Qrels, source: RunSource, precision: Any, lowest: int | None) -> Any:
    """Return what a run says that is read line by line, by dictionaries of Python."""
    with read_by_line():
        run = read_source(source, "tag")
    rankings, same = JudgedPositions(qrels).rank_and_count(run, precision)
    if lowest is not None:
        rankings = rankings.at_least(lowest)
    unknown = tuple(topic for topic in run.topics if topic not in qrels.topics)
    same *= source.reading.exclusions.watches
    return said(rankings), unknown, {run.name: same} if same else {}


def said(rankings: Any) -> Any:
    """Return what rankings say, to be compared."""
    names = ("depth", "offsets", "documents", "gain", "before")
    return rankings.runs, [getattr(rankings, name).tolist() for name in names]


def in_blocks(qrels: Qrels, source: RunSource, precision: Any, lowest: int | None) -> Any:
    """Return the same, by the reader of blocks."""
    identical: dict[str, int] = {}
    ((rankings, unknown),) = read_rankings(
        qrels,
        [source],
        tie_precision=precision,
        lowest_gain=lowest,
        name_by="tag",
        exclusions=source.reading.exclusions,
        identical=identical,
    )
    return said(rankings), unknown, identical


def whole_run(source: RunSource) -> Any:
    """Return a run as text."""
    run = read_source(source, "tag")
    return run.name, run.topics, run.documents, run.scores.tolist()


def whole_lists(qrels: Qrels, source: RunSource, precision: Any) -> Any:
    """Return whole lists as text, which have to be the same on disk."""
    exclusions = source.reading.exclusions
    held = read_source_lists(qrels, [source], "tag", precision, None, exclusions)
    stored = store_lists(qrels, [source], "tag", precision, None, exclusions)
    assert stored is not None
    again = stored.of_topics(0, len(qrels.topics))
    found = []
    for lists in (held, again):
        named = [lists.docids[place] for place in lists.documents.tolist()]
        judged = [lists.docids[place] for place in lists.judged.tolist()]
        found.append((named, judged, lists.scores.tolist(), lists.judgements.tolist()))
    assert found[0] == found[1]
    assert (held.mentioned, held.unknown) == (stored.mentioned, stored.unknown)
    return found[0], held.depth.tolist(), held.unknown, held.mentioned, list(held.docids)


def compare(qrels: Qrels, source: RunSource, draw: random.Random, size: int) -> bool:
    """Compare all readings of a file; return whether it was refused."""
    precision, lowest = draw.choice(["double", "single"]), draw.choice([None, 1])
    readings: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
        (
            lambda: by_line(qrels, source, precision, lowest),
            lambda: in_blocks(qrels, source, precision, lowest),
        ),
        (lambda: whole_run(source), lambda: whole_run(source)),
        (lambda: whole_lists(qrels, source, precision),) * 2,
    ]
    refused = False
    for reference, read in readings:
        with read_by_line():
            expected = outcome(reference)
        refused = isinstance(expected[0][0], type)
        for how in ways(size, draw):
            with read_in(**how):
                found = outcome(read)
            if found != expected:
                raise SystemExit(
                    f"{source.path}, {how}: {found!r:.2000}\nexpected {expected!r:.2000}"
                )
    return refused


def main() -> None:
    """Compare files; stop at the first that differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=1000, help="generated files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", default=os.environ.get("CONFIR_DATA", ""))
    parser.add_argument("--every", type=int, default=1, help="each so-many-th run of a collection")
    options = parser.parse_args()
    draw = random.Random(options.seed)  # noqa: S311 - the same files again
    np.seterr(over="ignore")
    compared = 0
    for folder in sorted(Path(options.data).glob("*/runs")) if options.data else ():
        judged = sorted(folder.parent.glob("qrels*"))
        for path in sorted(folder.iterdir())[:: options.every] if judged else ():
            qrels = confir.read_qrels(judged[compared % len(judged)])
            compare(qrels, RunSource(str(path)), draw, 1 << 20)
            compared += 1
    print(f"{compared} runs of collections are the same")
    refused = 0
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "some.run")
        for _ in range(options.files):
            content = generated(draw)
            path.write_bytes(content)
            excluded = {"t0": frozenset({"d3", "d4"}), "zz": frozenset({"d1"})}
            exclusions = Exclusions(
                draw.choice([{}, excluded]), draw.choice([None, None, False, True])
            )
            qrels = exclusions.drop_judged(GENERATED)
            source = RunSource(str(path), None, Reading(exclusions=exclusions))
            refused += compare(qrels, source, draw, len(content))
    print(f"{options.files:,} generated files are the same, {refused:,} of them refused")


if __name__ == "__main__":
    main()
