"""Fuzz tests of the readers with atheris: every file is read, or refused in one sentence.

    make fuzz SECONDS=60                          all readers, as long for each
    python hardening/fuzz_readers.py scores --seconds 60    one of them

A reader may return, or raise a `ConfirError` of one line; any other error or warning is a finding,
and so is a run that the reader by blocks ranks differently than the reader by line. Each input has a
budget of memory and of processor time, of which a linear reader needs a fraction even while atheris
traces every branch. atheris writes findings as `crash-…`, `timeout-…` or `oom-…` to the current
folder; each finding becomes a test of its reader.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import atheris

# Kernels are left alone: numba compiles them from their own bytecode.
with atheris.instrument_imports(include=["confir.data"], exclude=["confir.data.trec_kernel"]):
    from confir.data.effect_files import read_effects
    from confir.data.formats.exclusion_files import as_exclusions
    from confir.data.formats.format import RunSource
    from confir.data.formats.run_metadata import read_metadata
    from confir.data.formats.runs_and_qrels import as_qrels, read_qrels, read_run
    from confir.data.ranked_lists.list_reader import read_rankings
    from confir.data.sampling_designs.topic_groups import read_topic_groups
    from confir.data.score_files import read_scores
    from confir.data.tables.cost_files import read_costs
    from confir.data.tables.published_files import read_published_means
    from confir.data.votes import read_votes

from confir.data.tables.team_files import read_teams
from confir.errors import ConfirError, ConfirWarning
from confir.studies.reusability.contributions import read_contributors

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from foreign_files import METADATA, QRELS, RUNS, SCORES, WRONG_VALUES, places, with_value
from judged_positions import JudgedPositions
from run_files import read_in

# The first byte of a file chooses its ending, and so its reader.
ENDINGS = (".txt", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".gz", ".xz", ".zst")
Reader = Callable[[Path], object]

# The longest input, and its budget: seconds of processor time, and additional megabytes.
LONGEST = 100_000
SECONDS = 3.0
MEGABYTES = 400
# What atheris inserts into files in addition to bytes: values of a wrong type, and special characters.
TOKENS = (
    *("null", "[]", "{}", '["a"]', '{"a":1}', "true", "1e400", "1_0", '""', '"', '\\"', "\\", ":"),
    *("    ", "\t", "\n", "#", "- ", "(", "[", ",", "@1", "nan", "\u0661", "\ufeff", "\u2028"),
)
# One in so many inputs is also extended to the maximum length, to detect superlinear time.
GROWN = 40


def read_in_blocks(path: Path) -> None:
    """Read a run by blocks, compiled and not, and by line; what all rank is the same."""
    qrels, sources = JUDGED, [RunSource(str(path))]
    found: list[Any] = []
    try:
        run = read_run(path)
    finally:  # which has to raise where this raises
        for compiled in (False, True):
            with read_in(compiled=compiled, streamed=True, block_size=256):
                try:
                    found += read_rankings(qrels, sources)
                except ConfirError as error:
                    found.append(error)
    expected = JudgedPositions(qrels).rank(run, "double")
    for one in found:
        assert not isinstance(one, ConfirError)
        assert one[0].documents.tolist() == expected.documents.tolist()
        assert one[0].before.tolist() == expected.before.tolist()


JUDGED = as_qrels({"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1}})
TREC_RUN = b"1 Q0 a 1 3.5 tag\n1 Q0 b 2 3.5 tag\n2 Q0 a 1 -1e-3 tag\n"
JSON_RUN = b'{"1": {"a": 1.5, "b": 0}, "2": {"c": 1}}'
TREC_QRELS = b"1 0 a 1\n1 0 b 0\n2 0 a 2\n"
LONG = b"topic,run,measure,score\n1,x,AP,0.5\n2,x,AP,0.25\n1,y,AP,0\n2,y,AP,1\n"
TREC_EVAL = b"runid\tall\tx\nmap\t1\t0.5\nmap\t2\t0.25\nmap\tall\t0.375\n"
TOT = b"x\tf1\t28\t0.5\ny\tf1\t28\t1\nx\tf1\tall\t0.5\n"
RANKING = b"28 Q0 x 0 0.5 f1\n28 Q0 y 0 1 f1\nall Q0 x 0 0.5 f1\n"
EXCLUDED = b"1 a\n1 0 b 1\n2 c\n"
EXCLUDED_JSON = b'{"1": ["a", "b"], "2": {"c": 1}}'
COSTS = b"run,topic,latency,price\nx,1,2.5,1\nx,2,3,1\ny,1,0,2\ny,2,1e3,2\n"
GROUPS = b"topic,length,cluster\n1,long,a\n2,short,a\n3,long,b\n"
MEANS = (
    b"run,measure,mean,low,high,level,topics\na,AP,0.1,0.05,0.15,0.9,50\nb,AP,0.2,0.1,0.3,0.9,50\n"
)
EFFECTS = b"collection,difference,se\na,0.1,0.02\nb,-0.1,0.05\n"
TEAMS = b"bm25 ours\n# theirs\ndense theirs\n"
CONTRIBUTORS = b"1 0 a 1 2 ours theirs\n1 0 b 0 0\n2 0 a 2 1 ours\n"
VOTES = b"model_a,model_b,winner,judge\na,b,model_a,x\nb,c,tie (bothbad),y\nc,a,c,\n"
VOTE_COUNTS = b"left,right,left_wins,right_wins,ties,query\na,b,3,1,2,q1\na,b,0,2,,q2\n"


def seeds_of(files: Mapping[str, tuple[str, str]]) -> tuple[bytes, ...]:
    """Return files of other tools, one of each shape, as they are fed: the ending's number first."""
    return tuple(
        bytes([ENDINGS.index(Path(name).suffix)]) + text.encode() for name, text in files.values()
    )


READERS: dict[str, tuple[Reader, tuple[bytes, ...]]] = {
    "runs": (
        read_in_blocks,
        (b"\0" + TREC_RUN, b"\3" + JSON_RUN, b"\1topic,docid,score\n1,a,2\n", *seeds_of(RUNS)),
    ),
    "qrels": (
        read_qrels,
        (b"\0" + TREC_QRELS, b"\3" + JSON_RUN, b"\1topic,docid,gain\n1,a,2\n", *seeds_of(QRELS)),
    ),
    "scores": (
        read_scores,
        (
            *(b"\1" + LONG, b"\0" + TREC_EVAL, b'\4{"topic":"1","score":0.5}\n'),
            *(b"\0" + TOT, b"\0" + RANKING, *seeds_of(SCORES)),
        ),
    ),
    "effects": (read_effects, (b"\1" + EFFECTS,)),
    "means": (read_published_means, (b"\1" + MEANS,)),
    "teams": (lambda path: read_teams(str(path)), (b"\0" + TEAMS,)),
    "contributors": (lambda path: read_contributors(str(path)), (b"\0" + CONTRIBUTORS,)),
    "exclusions": (as_exclusions, (b"\0" + EXCLUDED, b"\3" + EXCLUDED_JSON)),
    "costs": (read_costs, (b"\1" + COSTS, b'\4{"run":"x","price":1}\n')),
    "groups": (lambda path: read_topic_groups("length", path), (b"\1" + GROUPS,)),
    "votes": (read_votes, (b"\1" + VOTES, b"\1" + VOTE_COUNTS)),
    "metadata": (lambda path: read_metadata(str(path)), (b"\0" + METADATA.encode(),)),
}


def try_reader(read: Reader, content: bytes, folder: Path) -> None:
    """Read a file of this content; raise unless it is read, or refused in one sentence, in its budget."""
    path = folder / f"file{ENDINGS[content[0] % len(ENDINGS)] if content else ''}"
    path.write_bytes(content[1:])
    held, started = _megabytes(), time.process_time()
    _read_or_refuse(read, path)
    taken, more = time.process_time() - started, _megabytes() - held
    if taken > SECONDS:
        raise AssertionError(f"{len(content):,} bytes took {taken:.1f} s of the processor")
    if more > MEGABYTES:
        raise AssertionError(f"{len(content):,} bytes took {more:,.0f} MB of memory")


def grown(content: bytes) -> bytes:
    """Return an input in which a few bytes are repeated until it is as long as inputs may be."""
    draw = random.Random(sum(content))  # noqa: S311 - the same again for the same input
    place = draw.randint(1, max(1, len(content)))
    own = content[place : place + draw.randint(1, 8)]
    piece = own if own and draw.random() < 0.5 else draw.choice(TOKENS).encode()
    return content[:place] + piece * (LONGEST // len(piece)) + content[place:]


def damaged(content: bytes, longest: int, seed: int) -> bytes:
    """Return an input that is changed: a value of JSON for one of another kind, or some bytes."""
    draw = random.Random(seed)  # noqa: S311
    try:
        lines = [json.loads(line) for line in content[1:].splitlines()]
        place = draw.choice(list(places(lines))) if draw.random() < 0.5 else None
    except (ValueError, IndexError, RecursionError):
        place = None
    if place is None:
        return bytes(atheris.Mutate(content, longest))
    changed = with_value(lines, place, draw.choice(WRONG_VALUES))
    listed = changed if isinstance(changed, list) else [changed]
    return (content[:1] + "".join(f"{json.dumps(one)}\n" for one in listed).encode())[:longest]


def _megabytes() -> float:
    """Return the most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _read_or_refuse(read: Reader, path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConfirWarning)
        try:
            read(path)
        except ConfirError as error:
            if "\n" in str(error):
                raise AssertionError(f"more than one line: {error}") from error
        finally:
            path.unlink()


def main() -> None:
    """Feed one reader for some time."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    read, seeds = READERS[options.reader]
    with tempfile.TemporaryDirectory() as name:
        corpus, folder = Path(name, "corpus"), Path(name, "files")
        corpus.mkdir()
        folder.mkdir()
        for number, seed in enumerate(seeds):
            (corpus / str(number)).write_bytes(seed)
            try_reader(read, seed, folder)  # what needs compiling is compiled before the clock runs

        def test_one_input(content: bytes) -> Any:
            try_reader(read, content, folder)
            if sum(content) % GROWN == 0:
                try_reader(read, grown(content), folder)

        words = Path(name, "tokens")
        quoted = ("".join(f"\\x{byte:02x}" for byte in token.encode()) for token in TOKENS)
        words.write_text("".join(f'"{token}"\n' for token in quoted), encoding="ascii")
        limits = [
            f"-dict={words}",
            f"-max_total_time={options.seconds}",
            f"-max_len={LONGEST}",
            "-timeout=60",  # of what never ends; what ends too late is found by the processor's time
            "-rss_limit_mb=3000",
            "-print_final_stats=1",
        ]
        given = [sys.argv[0], str(corpus), *limits]
        atheris.Setup(given, test_one_input, custom_mutator=damaged)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
