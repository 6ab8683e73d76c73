"""Run files: valid ones in every layout that the format allows, and damaged ones."""

import os
import subprocess
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from confir.data import trec
from confir.data.formats.format import RunSource
from confir.data.ids import STEP, mix_words
from confir.data.qrels import build_qrels
from confir.data.ranked_lists import list_reader
from confir.errors import ConfirError, IdenticalIdWarning, InputWarning
from strategies import at_most

fuzz = settings(max_examples=at_most(100))


def make_qrels(judgements):
    """Qrels from topic → docid → gain."""
    entries = [(t, d, g) for t, gains in judgements.items() for d, g in gains.items()]
    topics, documents, gains = zip(*entries, strict=True)
    return build_qrels(topics, ["0"] * len(topics), documents, np.array(gains))


def lists(judged_topics=("1", "2", "3"), length=40):
    """Lines of a plain run, every list of it in order."""
    return [
        f"{topic} Q0 doc{place} {place} {length - place} tag"
        for topic in judged_topics
        for place in range(length)
    ]


def write(folder, content, name="system.run"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else "\n".join(content).encode())
    return RunSource(str(path))


def outcome(read, *arguments):
    """What a reader returns or the error that it raises, and its warnings of what it read.

    Ids of documents that are those of their topics are a coincidence in generated files.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = read(*arguments)
        except ConfirError as error:
            result = (type(error), str(error))
    said = [w for w in caught if issubclass(w.category, InputWarning)]
    messages = [str(w.message) for w in said if w.category is not IdenticalIdWarning]
    return result, messages


DOCIDS = st.text("abAB01-.#_é漢😀\xa0", min_size=1, max_size=20)
TOPICS = DOCIDS.filter(lambda topic: not topic.startswith("#"))
NUMBERS = st.one_of(
    st.integers(-3, 3).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(0, 100, width=32).map(repr),
    st.sampled_from(
        ["0.1", "0.10000000000000001", "0.1000000000000000055", ".5", "5.", "+5", "-0"]
    ),
    st.sampled_from(["1", "1.00000001", "0.99999999", "1.0000001", "1e40", "1e41"]),
    st.sampled_from(["1e-30", "1E+2", "1e02", "00001", "3.4e38", "3.5e38", "9007199254740993"]),
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
)


@st.composite
def experiments(draw):
    """Qrels, and the bytes of a valid run in which every freedom of the format is taken."""
    documents = draw(st.lists(DOCIDS, min_size=1, max_size=12, unique=True))
    topics = draw(st.lists(TOPICS, min_size=1, max_size=4, unique=True))
    scores = st.sampled_from(draw(st.lists(NUMBERS, min_size=1, max_size=6)))
    whims = draw(st.randoms(use_true_random=True))
    retrieved = {
        topic: draw(st.dictionaries(st.sampled_from(documents), scores, min_size=1))
        for topic in topics
    }
    judged = draw(st.lists(st.sampled_from([*topics, "never"]), min_size=1, unique=True))
    qrels = make_qrels(
        {
            topic: {document: whims.randint(-2, 3) for document in whims.sample(documents, 1)}
            | {document: 1 for document in documents if whims.random() < 0.5}
            for topic in judged
        }
    )
    return qrels, compose(retrieved, whims)


def compose(retrieved, whims):
    """The bytes of a run of topic → docid → score, with blanks and endings by whim."""

    def blanks(least):
        return "".join(whims.choices(" \t\v\f\r", k=whims.choice([least, least, 1, 2])))

    parts = [whims.choice(["", "\ufeff"])]
    for topic, scores in retrieved.items():
        for document, score in scores.items():
            fields = (topic, "Q0", document, whims.choice(["1", "-"]), score, "some-tag")
            line = blanks(0) + "".join(field + blanks(1) for field in fields[:-1]) + fields[-1]
            parts += [line, blanks(0), "\n"]
            parts.append(whims.choice([""] * 5 + ["\n", " \r\n", "# a 1 comment\n", "\t#é\n"]))
    return "".join(parts).removesuffix(whims.choice(["", "\n"])).encode()


SPECIAL_BYTES = st.lists(
    st.sampled_from(b"\0\x01\x1c\x7f\x80\xc3\xe2\xff#_ \t\r\n\n\n-+.eEn0159a"), max_size=4
).map(bytes)


@st.composite
def damaged_experiments(draw):
    """Qrels, and a run with some bytes changed, repeated, taken away or put in."""
    qrels, content = draw(experiments())
    for place in draw(st.lists(st.integers(0, len(content)), min_size=1, max_size=3)):
        length = draw(st.integers(0, 30))
        inserted = draw(st.one_of(st.just(content[place:][:length] * 2), SPECIAL_BYTES))
        content = content[:place] + inserted + content[place + length :]
    return qrels, content


# Ways in which the reader by blocks reads a file: whole or from a stream, compiled or not, in blocks of any size.
ways_to_read = st.fixed_dictionaries(
    {
        "compiled": st.booleans(),
        "streamed": st.booleans(),
        "block_size": st.sampled_from([1, 30, 100, 300, 1 << 20]),
    }
)
WAYS_TO_READ = [
    {"compiled": compiled, "streamed": streamed, "block_size": size}
    for compiled in (False, True)
    for streamed, size in ((False, 1 << 20), (True, 60))
]


@contextmanager
def read_in(compiled, streamed, block_size):
    """Let files be read in one of these ways."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec, "BLOCK_SIZE", block_size)
        patch.setattr(list_reader, "HELD_SIZE", 0 if streamed else 1 << 40)
        patch.setattr(list_reader, "COMPILED_SIZE", -1 if compiled else 1 << 40)
        yield


@contextmanager
def read_by_line():
    """Let runs be read line by line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec, "read_lines", lambda *_: None)
        yield


def assert_passing_with_bounds_checked(folder, file, *tests):
    """Run tests of a file again with kernels that raise if they reach beyond an array."""
    process = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *(f"{file}::{test.__name__}" for test in tests),
        ],
        env=os.environ
        | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0", "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout
    assert f"{len(tests)} passed" in process.stdout
    assert list(folder.rglob("*.nbi")), "the kernels were compiled for this test"


def colliding_docids(count):
    """Docids of sixteen letters whose hashes are all the same: made from what the hash does.

    After eight letters, the next eight are chosen so that they lead to one state.
    """
    letters = np.frombuffer(
        b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", np.uint8
    )
    draws = np.random.default_rng(1)
    found = []
    wanted = np.frombuffer(b"collides", np.uint64)
    first = letters[draws.integers(0, len(letters), (1, 8))].view(np.uint64).ravel()
    state = _mixed(first) ^ wanted
    while sum(map(len, found)) < count:
        starts = letters[draws.integers(0, len(letters), (1 << 18, 8))].view(np.uint64).ravel()
        ends = (_mixed(starts) ^ state).view(np.uint8).reshape(-1, 8)
        shown = ((ends > ord(" ")) & (ends < 127) & (ends != ord("#"))).all(axis=1)
        pairs = np.hstack([starts.view(np.uint8).reshape(-1, 8), ends])[shown]
        found.append([bytes(one).decode() for one in pairs])
    return list(dict.fromkeys(docid for part in found for docid in part))[:count]


def _mixed(words):
    """The state of the hash of docids after the first eight bytes of sixteen."""
    return mix_words((mix_words(np.array([16], np.uint64) + STEP) ^ words) + STEP)
