"""Runs read in blocks are those read line by line, in every way in which blocks are read."""

import dataclasses
import errno
import gzip
import io
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from confir.data import trec
from confir.data.exclusions import Exclusions
from confir.data.files import open_bytes
from confir.data.formats.format import Reading, RunSource
from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.data.formats.sources import read_source
from confir.data.ids import Docids, DocumentNumbers, KeyTable
from confir.data.qrels import Qrels
from confir.data.ranked_lists import list_reader
from confir.data.ranked_lists.list_reader import read_lists, read_rankings
from confir.data.ranked_lists.stored_lists import store_lists
from confir.data.trec_kernel import load_kernel
from confir.errors import FormatError, InputWarning, InvalidValueError, UnreadableError
from judged_positions import JudgedPositions
from requirements import ON_UNIX
from run_files import (
    NUMBERS,
    WAYS_TO_READ,
    assert_passing_with_bounds_checked,
    colliding_docids,
    damaged_experiments,
    experiments,
    fuzz,
    lists,
    make_qrels,
    outcome,
    read_by_line,
    read_in,
    ways_to_read,
    write,
)

PLAIN_QRELS = make_qrels({t: {"doc3": 1, "doc17": 0, "doc39": -1, "no": 2} for t in "123"})

every_way = pytest.mark.parametrize(
    "how", WAYS_TO_READ, ids=["numpy", "numpy-stream", "kernel", "kernel-stream"]
)


def ranked(qrels, source, how, **options):
    """The rankings of a run, read in a way, and its unknown topics."""
    with read_in(**how):
        return read_rankings(qrels, [source], **options)[0]


def reference(
    qrels, source, *, tie_precision="double", lowest_gain=None, name_by="file", **options
):
    """What dictionaries of Python find in a run read line by line."""
    del options
    with read_by_line():
        run = read_source(source, name_by)
    rankings = JudgedPositions(qrels).rank(run, tie_precision)
    if lowest_gain is not None:
        rankings = rankings.at_least(lowest_gain)
    return rankings, tuple(one for one in run.topics if one not in qrels.topics)


def assert_same(one, other):
    """Two results are equal in everything, the types of their arrays included."""
    rankings, missing = one
    others, other_missing = other
    assert missing == other_missing
    for field in dataclasses.fields(rankings):
        value, expected = getattr(rankings, field.name), getattr(others, field.name)
        if isinstance(value, np.ndarray):
            assert value.dtype == expected.dtype, field.name
            np.testing.assert_array_equal(value, expected, strict=True, err_msg=field.name)
        elif isinstance(value, Qrels):
            assert value is expected
        else:
            assert value == expected, field.name


def documents_of(found):
    """Run and topic → docid, score, and judged document of each listed one."""
    bounds = found.offsets.tolist()
    names = [(run, topic) for run in found.runs for topic in found.qrels.topics]
    rows = list(
        zip(
            (found.docids[d] for d in found.documents.tolist()),
            found.scores.tolist(),
            (None if j < 0 else found.qrels.documents[j] for j in found.judgements.tolist()),
            strict=True,
        )
    )
    return {name: rows[bounds[n] : bounds[n + 1]] for n, name in enumerate(names)}


def assert_lists(found, runs, tie_precision="double"):
    """Lists are those of runs that were read whole: document by document, in Python's order."""
    qrels = found.qrels
    listed, seen = {}, dict.fromkeys(qrels.documents)
    for run in runs:
        for topic in qrels.topics:
            judged = qrels.to_dict()[topic]
            pairs = run[topic] if topic in run.topics else []
            if tie_precision == "single":
                with np.errstate(over="ignore"):
                    pairs = sorted(
                        pairs, key=lambda one: (np.float32(one[1]), one[0]), reverse=True
                    )
            listed[run.name, topic] = [(d, s, d if d in judged else None) for d, s in pairs]
            seen.update(dict.fromkeys(d for d, _ in pairs))
    assert found.runs == tuple(run.name for run in runs)
    assert documents_of(found) == listed
    assert list(found.docids) == list(seen)
    assert [found.docids[d] for d in found.judged.tolist()] == list(qrels.documents)
    assert found.mentioned == len({d for run in runs for d in run.documents} | {*qrels.documents})
    assert found.unknown == tuple(
        tuple(one for one in run.topics if one not in qrels.topics) for run in runs
    )


# Real files


@pytest.mark.parametrize("tie_precision", ["double", "single"])
@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ("trec-robust-2003/qrels.txt", "trec-robust-2003/runs/input.pircRBa1.gz"),
        ("trec-robust-2003/qrels.txt", "trec-robust-2003/runs/input.uwmtCR0.gz"),
        ("clef-ehealth-2015/qrels.txt", "clef-ehealth-2015/runs/CUNI_EN_Run.2.dat.gz"),
        ("trec_eval-tests/test/qrels.test", "trec_eval-tests/test/results.comment.test"),
        ("trec-covid-r5/qrels.txt", "trec-covid-r5/runs/sab20.5.dfo.xz"),
    ],
)
def test_real_runs_are_read_as_by_line(real_data, qrels, run, tie_precision):
    judged = read_qrels(real_data / qrels)
    source = RunSource(str(real_data / run))
    expected, missing = reference(judged, source, tie_precision=tie_precision)
    for compiled in (False, True):
        for streamed in (False, True):
            how = {"compiled": compiled, "streamed": streamed, "block_size": 1 << 19}
            options = {"tie_precision": tie_precision}
            assert_same(ranked(judged, source, how, **options), (expected, missing))
            relevant = ranked(judged, source, how, lowest_gain=1, **options)
            assert_same(relevant, (expected.at_least(1), missing))


@pytest.mark.parametrize(
    ("qrels", "runs"),
    [
        ("trec-robust-2003/qrels.txt", ["input.pircRBa1.gz", "input.uwmtCR0.gz"]),
        ("clef-ehealth-2015/qrels.txt", ["CUNI_EN_Run.2.dat.gz"]),
        ("trec-covid-r5/qrels.txt", ["sab20.5.dfo.xz", "BioInfo-run3.xz"]),
    ],
)
def test_lists_of_real_runs_are_read_as_by_line(real_data, qrels, runs):
    judged = read_qrels(real_data / qrels)
    paths = [(real_data / qrels).parent / "runs" / run for run in runs]
    with read_by_line():
        whole = [read_run(path) for path in paths]
    assert_lists(read_lists(judged, paths), whole)


# Generated files

wanted_options = st.fixed_dictionaries(
    {
        "tie_precision": st.sampled_from(["double", "single"]),
        "lowest_gain": st.sampled_from([None, 1]),
        "name_by": st.sampled_from(["file", "tag"]),
    }
)


@pytest.mark.filterwarnings("ignore::confir.errors.IdenticalIdWarning")
@fuzz
@given(experiment=experiments(), options=wanted_options, how=ways_to_read)
def test_every_valid_file_is_read_as_by_line(tmp_path, experiment, options, how):
    qrels, content = experiment
    source = write(tmp_path, content)
    expected, _ = outcome(lambda: reference(qrels, source, **options))
    assert_same(ranked(qrels, source, how, **options), expected)


@pytest.mark.filterwarnings("ignore::confir.errors.IdenticalIdWarning")
@fuzz
@given(experiment=experiments(), how=ways_to_read, precision=st.sampled_from(["double", "single"]))
def test_lists_of_every_valid_file_are_read_as_by_line(tmp_path, experiment, how, precision):
    qrels, content = experiment
    sources = [write(tmp_path, content), write(tmp_path, lists(), "other.run")]
    with read_by_line():
        runs = [read_run(source.path) for source in sources]
    with read_in(**how):
        found = read_lists(qrels, [source.path for source in sources], tie_precision=precision)
        stored = store_lists(qrels, sources, tie_precision=precision)
    assert_lists(found, runs, precision)
    assert documents_of(stored.of_topics(0, len(qrels.topics))) == documents_of(found)
    assert (stored.mentioned, stored.unknown) == (found.mentioned, found.unknown)


@fuzz
@given(data=st.data(), experiment=experiments(), options=wanted_options, how=ways_to_read)
def test_documents_that_do_not_count_are_those_of_files_without_them(
    tmp_path, data, experiment, options, how
):
    qrels, content = experiment
    source = write(tmp_path, content)
    run = read_run(source.path)
    known = st.frozensets(st.sampled_from(sorted({*run.documents, *qrels.documents})), max_size=4)
    topics = st.sampled_from([*qrels.topics, *run.topics])
    excluded = data.draw(st.dictionaries(topics, known, max_size=3))
    exclusions = Exclusions(excluded, data.draw(st.sampled_from([None, False, True])))
    try:
        left = exclusions.drop_judged(qrels)
    except FormatError:  # of qrels without any others
        assume(False)
    source = source._replace(reading=Reading(exclusions=exclusions))
    here = {}
    found = ranked(left, source, how, **options, exclusions=exclusions, identical=here)
    assert_same(found, reference(left, source, **options))
    with read_by_line():
        kept = read_source(source, options["name_by"])
    _, same = JudgedPositions(left).rank_and_count(kept, options["tie_precision"])
    assert here == ({kept.name: same} if same and exclusions.watches else {})


@pytest.mark.filterwarnings("ignore::confir.errors.IdenticalIdWarning")
@fuzz
@given(experiment=damaged_experiments(), options=wanted_options, how=ways_to_read)
def test_damaged_files_have_the_errors_and_results_of_reading_by_line(
    tmp_path, experiment, options, how
):
    qrels, content = experiment
    source = write(tmp_path, content)
    expected, messages = outcome(lambda: reference(qrels, source, **options))
    result, same_messages = outcome(lambda: ranked(qrels, source, how, **options))
    assert same_messages == messages
    if isinstance(result[0], type):
        assert result == expected
    else:
        assert_same(result, expected)


@pytest.mark.slow
def test_the_kernel_touches_no_byte_outside_a_block(tmp_path):
    assert_passing_with_bounds_checked(
        tmp_path,
        __file__,
        test_every_valid_file_is_read_as_by_line,
        test_damaged_files_have_the_errors_and_results_of_reading_by_line,
    )


# Scores


def parse_scores(fields, compiled):
    """The scores of as many lines."""
    lines = "".join(f"t Q0 d{n} 1 {field} tag\n" for n, field in enumerate(fields)).encode()
    return trec.read_lines(lines + trec.PADDING, load_kernel() if compiled else None).scores


def assert_exact(fields):
    """Scores are Python's to the last bit, minus zero included."""
    expected = np.array([float(field) for field in fields])
    for compiled in (False, True):
        scores = parse_scores(fields, compiled)
        np.testing.assert_array_equal(scores.view(np.int64), expected.view(np.int64))


@fuzz
@given(st.lists(NUMBERS.filter(lambda field: np.isfinite(float(field))), min_size=1))
def test_scores_are_those_that_python_reads(fields):
    assert_exact(fields)


def test_scores_next_to_halfway_between_floats_are_exact():
    rng = np.random.default_rng(20140706)
    wholes = (rng.integers(2**53, 10**18, 3000) & ~0xFF) + rng.choice([1, 32, 33, 63, 64, 65], 3000)
    points = rng.integers(0, 16, 3000)
    assert_exact(
        [
            f"{whole // 10**point}.{whole % 10**point:0{point}d}"
            for whole, point in zip(wholes.tolist(), points.tolist(), strict=True)
        ]
    )


def test_scores_as_programs_print_them_are_exact():
    rng = np.random.default_rng(20040726)
    doubles = np.exp(rng.normal(0, 4, 4000)) * rng.choice([-1, 1], 4000)
    singles = doubles.astype(np.float32).astype(float)
    digits = 10.0 ** rng.integers(-8, 9, 4000) * rng.integers(0, 2**53 + 9, 4000)
    values = (*doubles.tolist(), *singles.tolist(), *digits.tolist())
    assert_exact([repr(value) for value in values])
    assert_exact([f"{value:.6f}" for value in values])


@every_way
def test_scores_that_differ_only_in_double_precision_tie_in_single(tmp_path, how):
    source = write(tmp_path, ["1 Q0 doc3 1 1.00000001 tag", "1 Q0 doc39 2 1 tag"])
    for tie_precision, order in (("double", ["doc3", "doc39"]), ("single", ["doc39", "doc3"])):
        rankings, _ = ranked(PLAIN_QRELS, source, how, tie_precision=tie_precision)
        assert [PLAIN_QRELS.documents[i] for i in rankings.documents] == order


# Blocks and threads


def test_blocks_hold_whole_topics_and_are_no_larger_than_need_be(monkeypatch):
    lines = [*lists(["1", "2"], 100), "# comment", "", *lists(["3", "4"], 50)]
    monkeypatch.setattr(trec, "BLOCK_SIZE", 500)
    content = "\n".join(lines).encode()
    blocks = [block.removesuffix(trec.PADDING) for block in trec.read_blocks(io.BytesIO(content))]
    assert b"".join(blocks) == content + b"\n"
    topics = [{line.split()[0] for line in block.split(b"\n") if line} for block in blocks]
    assert [block - {b"#"} for block in topics] == [{b"1"}, {b"2", b"3"}, {b"4"}]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("block_size", [1, 25, 500, 3000, 1 << 20])
def test_blocks_do_not_change_the_result(tmp_path, block_size, compiled):
    lines = lists(["3", "unknown", "1", "2", "other"])
    source = write(tmp_path, lines[20:40] + lines[:20] + lines[40:])
    how = {"compiled": compiled, "streamed": True, "block_size": block_size}
    found = ranked(PLAIN_QRELS, source, how)
    assert_same(found, reference(PLAIN_QRELS, source))
    assert found[1] == ("other", "unknown")


def read_by_blocks(monkeypatch):
    """Let no file be read by line any more."""
    monkeypatch.setattr(list_reader, "read_source", None)


@every_way
@pytest.mark.parametrize(
    "layout",
    ["{}", "{}\r", "{}  ", "{}\n\n", "# a b c d e f\n{}", "\t# a b\n{}", "{}\n \r"],
    ids=["plain", "CRLF", "blanks after", "blank lines", "comments", "short comments", "both"],
)
def test_regular_files_are_read_in_blocks(tmp_path, monkeypatch, how, layout):
    """Or all of this would only ever test the reading by line."""
    lines = [layout.format(line) for line in lists(["unknown", "3", "1"])]
    expected = reference(PLAIN_QRELS, write(tmp_path, lines))
    read_by_blocks(monkeypatch)
    found = ranked(PLAIN_QRELS, write(tmp_path, lines), how | {"block_size": 1 << 20})
    assert_same(found, expected)


def test_many_files_by_many_threads_come_back_in_order(tmp_path):
    sources = [write(tmp_path, lists(length=n), f"system{n}.run") for n in range(1, 30)]
    done = []
    with read_in(compiled=False, streamed=False, block_size=10):
        results = read_rankings(PLAIN_QRELS, sources, progress=done.append)
    assert done == [1] * len(sources)
    for source, result in zip(sources, results, strict=True):
        assert_same(result, reference(PLAIN_QRELS, source))


@every_way
@pytest.mark.parametrize("topic", ["2", "unknown"])
def test_a_document_twice_in_a_topic_is_an_error(tmp_path, topic, how):
    lines = lists(["1", topic], length=5000)
    lines[-1] = lines[5001]
    with pytest.raises(FormatError, match=r":10000: document 'doc1' occurs twice .* line 5002\)"):
        ranked(PLAIN_QRELS, write(tmp_path, lines), how)


@every_way
@pytest.mark.parametrize("topic", ["2", "unknown"])
def test_a_topic_may_stand_in_two_places(tmp_path, topic, how):
    lines = lists([topic, "1"])
    source = write(tmp_path, lines[1:] + lines[:1])
    assert_same(ranked(PLAIN_QRELS, source, how), reference(PLAIN_QRELS, source))
    with pytest.raises(FormatError, match="occurs twice"):
        ranked(PLAIN_QRELS, write(tmp_path, lines + lines[:1]), how)


@pytest.fixture
def streams(monkeypatch):
    """The files that are opened from here on."""
    opened = []

    @contextmanager
    def remember(path):
        with open_bytes(path) as stream:
            opened.append(stream)
            yield stream

    monkeypatch.setattr(list_reader, "open_bytes", remember)
    return opened


def test_a_file_that_cannot_be_read_on_is_closed(tmp_path, monkeypatch, streams):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(list_reader.PairTable, "find", fail)
    source = write(tmp_path, lists())
    with pytest.raises(OSError, match="No space"):
        ranked(PLAIN_QRELS, source, {"compiled": False, "streamed": True, "block_size": 25})
    assert streams[0].closed


def test_an_error_stops_the_reading_of_other_files(tmp_path):
    bad = write(tmp_path, ["too few columns"], "bad.run")
    good = [write(tmp_path, lists(length=3000), f"good{n}.run") for n in range(4)]
    with (
        read_in(compiled=False, streamed=True, block_size=300),
        pytest.raises(FormatError, match="3 columns"),
    ):
        read_lists(PLAIN_QRELS, [one.path for one in (bad, *good)])
    assert not [one for one in threading.enumerate() if "ThreadPool" in one.name]


# Files as they come


@every_way
def test_json_that_looks_like_lines_of_a_run_is_left_to_its_reader(tmp_path, how):
    source = write(tmp_path, b'{ "1": { "doc1": 1.5 }}')
    rankings, unknown = ranked(PLAIN_QRELS, source, how)
    assert (rankings.depth[0].sum(), unknown) == (1, ())


@every_way
def test_compressed_files_are_read(tmp_path, how):
    content = "\n".join(lists()).encode()
    source = write(tmp_path, gzip.compress(content), "system.run.gz")
    expected = reference(PLAIN_QRELS, write(tmp_path, content))
    assert_same(ranked(PLAIN_QRELS, source, how), expected)


@every_way
def test_truncated_gzip_is_an_error(tmp_path, how):
    content = gzip.compress("\n".join(lists(length=3000)).encode())
    source = write(tmp_path, content[: len(content) // 2], "system.gz")
    with pytest.raises(UnreadableError, match="end too early"):
        ranked(PLAIN_QRELS, source, how)


@every_way
@pytest.mark.parametrize("content", [b"", b"\n \n", b"# only\n# comments"])
def test_a_file_without_documents_is_an_error(tmp_path, content, how):
    with pytest.raises(FormatError, match="the run is empty"):
        ranked(PLAIN_QRELS, write(tmp_path, content), how)


NOT_SCORES = ("nan", "inf", "-Infinity", "1e999", "0x10", "1_0", "１", "--1", "1e", "1e+", ".", "+")
BAD_LINES = [
    *(f"3 Q0 doc 1 {score} tag".encode() for score in (*NOT_SCORES, "1.2.3", "e5", "1-", "1.5f")),
    b"3 Q0 doc 1 2 tag 3 Q0 other 2 1 tag",
    b"3 Q0 doc first 2 tag seventh",
    b"3 0 doc 1",
    b"3",
    b"3 Q0 doc 1 2 ta\0g",
    b"# com\0ment",
    b"3 Q0 doc 1 2 \xff\xfe",
    b"# comm\xe9nt",
    b"3 Q0 \xed\xa0\x80 1 2 tag",
    b"\xef\xbb\xbf3 Q0 doc 1 2 tag",
    b"\xef\xbb\xbf\xef\xbb\xbf3 Q0 doc 1 2 tag",
    b"3 Q0 doc 1 2 tag\n3 Q0 doc 2 1 tag",
]


@every_way
@pytest.mark.parametrize("line", BAD_LINES)
@pytest.mark.parametrize("before", [0, 50, 120])
def test_bad_lines_are_named_as_by_line(tmp_path, line, before, how):
    good = [good.encode() for good in lists()]
    source = write(tmp_path, b"\n".join([*good[:before], line, *good[before:]]))
    if line.startswith(b"\xef") and not before:
        line = b"\xef\xbb\xbf" + line  # one at the start is allowed
        source = write(tmp_path, b"\n".join([line, *good]))
    with pytest.raises(FormatError) as expected:
        reference(PLAIN_QRELS, source)
    assert expected.value.line == before + 1 + line.count(b"\n")
    for read in (lambda: ranked(PLAIN_QRELS, source, how), lambda: read_run(source.path)):
        with pytest.raises(FormatError) as raised:
            read()
        assert str(raised.value) == str(expected.value)


ODD_LINES = [
    "1 Q0 doc\x1c3 0 99 tag",
    "\x01 Q0 doc3 0 1 tag",
    "# a comment of six words here",
    "\t #short",
    "\v\f\r",
    " 9 \t Q0  doc3\v0 +1.5e1 tag  \r",
    "9 Q0 doc3#7 0 00001.50000000000000000001 tag",
    "9 Q0 \ufeffdoc3 0 -0 tag",
    "9 Q0 doc\xa03 0 1e-400 tag",
    "9 # doc3 0 123456789012345678901234567890 tag",
    f"9 Q0 {'long' * 500} 0 1 tag",
    "9 Q0 doc3 0 1 tag\n9 Q0 doc4 0 1 tag\n\n9 Q0 doc40 0 1.0 tag",
]


@every_way
@pytest.mark.parametrize("line", ODD_LINES)
@pytest.mark.parametrize("before", [0, 55, 120])
def test_odd_lines_are_read_as_by_line(tmp_path, line, before, how):
    good = lists()
    content = "\n".join([*good[:before], line, *good[before:]]).encode()
    source, qrels = write(tmp_path, content), make_qrels({"1": {"doc3": 1}, "9": {"doc3": 1}})
    assert_same(ranked(qrels, source, how), reference(qrels, source))
    with read_by_line():
        run = read_run(source.path)
    with read_in(**how):
        assert_lists(read_lists(qrels, [source.path]), [run])
        again = read_run(source.path)
    assert (again.to_dict(), again.name) == (run.to_dict(), run.name)


@every_way
def test_the_first_bad_file_is_the_one_named(tmp_path, how):
    good = write(tmp_path, lists(), "good.run")
    late = write(tmp_path, [*lists(length=2000), "1 2 3"], "late.run")
    early = write(tmp_path, ["1 2 3"], "early.run")
    cut = write(tmp_path, gzip.compress("\n".join(lists(length=900)).encode())[:900], "cut.gz")
    with read_in(**how):
        with pytest.raises(FormatError, match=r"late\.run:6001: 3 columns"):
            read_rankings(PLAIN_QRELS, [good, late, cut, early, RunSource("missing.run")])
        with pytest.raises(UnreadableError, match=r"missing\.run: no such file"):
            read_rankings(PLAIN_QRELS, [good, RunSource("missing.run"), cut, early])
        with pytest.raises(UnreadableError, match=r"cut\.gz: the compressed data end too early"):
            read_rankings(PLAIN_QRELS, [good, cut, early, late])


@every_way
def test_five_columns_are_read_with_a_warning(tmp_path, how):
    lines = [line.removesuffix(" tag") for line in lists()]
    with pytest.warns(InputWarning, match="120 lines have five columns"):
        result = ranked(PLAIN_QRELS, write(tmp_path, lines), how, name_by="tag")
    assert result[0].runs == ("system",)
    assert result[0].before[:, 0].tolist() == [3, 17, 39] * 3


@every_way
def test_runs_are_named_by_the_user_by_tag_or_by_file(tmp_path, how):
    source = write(tmp_path, lists(), "input.system.txt")

    def name(source, **options):
        return ranked(PLAIN_QRELS, source, how, **options)[0].runs

    assert name(source) == ("system",)
    assert name(source, name_by="tag") == ("tag",)
    assert name(source._replace(name="mine"), name_by="tag") == ("mine",)
    with pytest.raises(InvalidValueError, match="two runs are named 'system'"):
        read_lists(PLAIN_QRELS, [source.path, source.path])


@every_way
def test_standard_input_is_read_once(tmp_path, monkeypatch, how):
    content = "\n".join(lists()).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    sources = [write(tmp_path, content), RunSource("-", "system")]
    with read_in(**how):
        file, stdin = read_rankings(PLAIN_QRELS, sources)
    assert_same(stdin, file)


@ON_UNIX
@every_way
def test_a_pipe_is_read_once(tmp_path, how):
    content = "\n".join([*lists(), "4 Q0 odd 1 1"]).encode()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    sources = [RunSource(str(pipe), "system"), write(tmp_path, content)]
    with read_in(**how), pytest.warns(InputWarning, match="1 line has five columns"):
        piped, file = read_rankings(PLAIN_QRELS, sources)
    writer.join()
    assert_same(piped, file)


@pytest.mark.parametrize("change", ["shrinks", "grows"])
def test_a_file_that_changes_while_it_is_read_is_read_or_refused(tmp_path, monkeypatch, change):
    content = "\n".join(lists(length=900)).encode()  # more than a stream buffers
    source = write(tmp_path, content)
    find, found = trec._last_topic, []

    def find_and_change(block):
        if len(found) == 1 and change == "shrinks":
            os.truncate(source.path, content.index(b"Q0", 30_000))
        elif len(found) == 1:
            write(tmp_path, content + b"\n4 Q0 doc1 1 1 tag")
        found.append(None)
        return find(block)

    monkeypatch.setattr(trec, "_last_topic", find_and_change)
    how = {"compiled": False, "streamed": True, "block_size": 300}
    result, _ = outcome(lambda: ranked(PLAIN_QRELS, source, how))
    if change == "shrinks":
        kind, message = result
        assert kind is FormatError
        assert re.match(r".*system\.run:\d+: ", message)
    else:
        assert result[1] in ((), ("4",))  # the line that came late is seen, or is not
    assert len(found) > 2


def test_ids_that_no_file_can_hold_are_found_in_none(tmp_path):
    qrels = make_qrels(
        {"1": {"": 1, "doc3 ": 1, "doc4\n": 1, "doc\ud800": 1, "doc5": 1}, "": {"d": 1}}
    )
    (rankings, _) = ranked(qrels, write(tmp_path, lists(["1"])), WAYS_TO_READ[0])
    assert [qrels.documents[i] for i in rankings.documents] == ["doc5"]


def test_a_file_named_like_standard_input_is_not_mistaken_for_it(tmp_path, monkeypatch):
    (tmp_path / "-").write_bytes(b"x" * 100)
    monkeypatch.chdir(tmp_path)
    assert RunSource("-").content_size() == 0
    assert RunSource("./-").content_size() == 100


# Objects beside files


def test_files_and_objects_share_their_documents(tmp_path):
    scanned = write(tmp_path, lists(["1", "2"]), "scanned.run")
    odd = write(tmp_path, [*lists(["2"]), "1 Q0 doc3 1 5", "1 Q0 other 2 4"], "odd.run")
    run = {"3": {"doc17": 2.0, "new": 1.0}, "9": {"far": 1.0}}
    steps = []
    with pytest.warns(UserWarning, match="five columns"):
        read = read_lists(PLAIN_QRELS, {"a": scanned, "b": odd, "c": run}, progress=steps.append)
    assert steps == [1, 1, 1]
    assert read.runs == ("a", "b", "c")
    assert read.unknown == ((), (), ("9",))
    assert tuple(read.docids[:4]) == PLAIN_QRELS.documents[:4]
    assert {"new", "other"} < set(read.docids)
    assert "far" not in read.docids
    assert read.mentioned == len(read.docids) + 1
    assert documents_of(read)["c", "3"] == [("doc17", 2.0, "doc17"), ("new", 1.0, None)]


def test_docids_that_no_file_can_hold_have_numbers_of_their_own(tmp_path):
    scanned = write(tmp_path, lists(["1"]), "scanned.run")
    names = ["doc3", "doc3 ", "doc3\t2", "ü b", "doc3\n", "doc3\0", "ü", "new"]
    run = {"1": {name: 9.0 - place for place, name in enumerate(names)}}
    qrels = make_qrels({"1": {"doc3": 1, "doc3 ": 2, "ü b": 0}})
    found = read_lists(qrels, {"a": scanned, "b": run, "c": run})
    assert [found.docids[d] for d in found.documents[-len(names) :].tolist()] == names
    assert found.judgements[-len(names) :].tolist() == [0, 1, -1, 2, -1, -1, -1, -1]


def test_rankings_of_lists_are_those_of_evaluation(tmp_path):
    source = write(tmp_path, lists(["1", "3", "7"], 30))
    (found,) = read_lists(PLAIN_QRELS, [source.path]).rankings()
    expected = JudgedPositions(PLAIN_QRELS).rank(read_run(source.path))
    assert_same((found, ()), (expected, ()))


def test_lists_are_cut():
    run = {"1": {"a": 3.0, "doc3": 2.0, "b": 1.0}, "2": {"doc3": 1.0}}
    short = read_lists(PLAIN_QRELS, run).cut(2)
    assert documents_of(short) == {
        ("run", "1"): [("a", 3.0, None), ("doc3", 2.0, "doc3")],
        ("run", "2"): [("doc3", 1.0, "doc3")],
        ("run", "3"): [],
    }
    assert short.judgements.tolist() == [-1, 0, 4]
    assert short.depth.tolist() == [[2, 1, 0]]


def test_some_topics_and_documents_can_be_kept():
    runs = {
        "one": {"1": {"a": 3.0, "doc3": 2.0, "no": 1.0}, "2": {"doc3": 1.0}, "3": {"no": 1.0}},
        "two": {"2": {"no": 2.0, "a": 1.0}, "3": {"doc17": 1.0}},
    }
    whole = read_lists(PLAIN_QRELS, runs)
    kept = np.array([docid in ("no", "a") for docid in whole.docids])
    some = whole.restrict(np.array([True, True, False]), kept)
    assert some.qrels.to_dict() == {"1": {"no": 2}, "2": {"no": 2}}
    assert documents_of(some) == {
        ("one", "1"): [("a", 3.0, None), ("no", 1.0, "no")],
        ("one", "2"): [],
        ("two", "1"): [],
        ("two", "2"): [("no", 2.0, "no"), ("a", 1.0, None)],
    }
    assert [some.docids[d] for d in some.judged.tolist()] == list(some.qrels.documents)
    bare = whole.restrict(np.ones(3, bool), np.array([d == "a" for d in whole.docids]))
    assert bare.qrels.topics == ()
    assert len(bare.documents) == 0


# Docids that were made to have one key


@pytest.fixture(scope="module")
def colliding():
    """Docids of one key."""
    docids = colliding_docids(300)
    assert len(set(docids)) == 300
    assert len(set(Docids.of(docids).keys().tolist())) == 1
    return docids


@every_way
@pytest.mark.parametrize("judged", [1, 3])
def test_documents_of_one_key_are_told_apart_by_their_bytes(tmp_path, colliding, how, judged):
    """Each list has one of them, and the qrels have the same ones or others."""
    lines = [f"{topic} Q0 {colliding[topic]} 1 1 t" for topic in range(6)]
    sources = [write(tmp_path, lines, "one.run"), write(tmp_path, lines[::-2], "two.run")]
    qrels = make_qrels(
        {str(t): dict.fromkeys(colliding[t - t % 2 :][:judged], 1) for t in range(6)}
    )
    for source in sources:
        assert_same(ranked(qrels, source, how), reference(qrels, source))
    with read_in(**how):
        found = read_lists(qrels, [source.path for source in sources])
        stored = store_lists(qrels, sources)
    assert_lists(found, [read_run(source.path) for source in sources])
    assert documents_of(stored.of_topics(0, 6)) == documents_of(found)


@every_way
def test_a_list_of_documents_of_one_key_is_read_by_line(tmp_path, colliding, how):
    source = write(tmp_path, [f"1 Q0 {d} 1 {-n} t" for n, d in enumerate(colliding)])
    for some in (colliding[:3], colliding):
        qrels = make_qrels({"1": dict.fromkeys(some, 1), "2": {"d": 1}})
        assert_same(ranked(qrels, source, how), reference(qrels, source))
        with read_in(**how):
            assert_lists(read_lists(qrels, [source.path]), [read_run(source.path)])


@every_way
def test_excluded_documents_are_told_apart_by_their_bytes(tmp_path, colliding, how):
    one, other, topic = colliding[:3]
    lines = [f"{topic} Q0 {one} 1 3 t", f"{topic} Q0 plain 2 2 t"]
    qrels = make_qrels({topic: {"plain": 1}})
    source, reading = write(tmp_path, lines), Reading
    for excluded, before in ((one, 0), (other, 1)):
        exclusions = Exclusions({topic: frozenset([excluded])}, identical=True)
        own = source._replace(reading=reading(exclusions=exclusions))
        rankings, _ = ranked(qrels, own, how, exclusions=exclusions)
        assert rankings.before.tolist() == [[before]]
    identical = {}
    ranked(qrels, source, how, identical=identical)
    assert identical == {}


def test_numbers_go_on_where_docids_begin_to_have_one_key(colliding):
    numbers = DocumentNumbers()
    docids = ["a", "b c", *colliding, "z", "b c"]
    given = numbers.number(docids[:3]).tolist()
    given += numbers.number(docids[3:100]).tolist()
    given += numbers.number(docids[100:]).tolist()
    assert numbers.number(docids).tolist() == given
    assert [numbers.docids()[number] for number in given] == docids
    assert sorted(set(given)) == list(range(len(docids) - 1))


def test_many_docids_of_many_lengths_are_numbered_as_they_come():
    rng = np.random.default_rng(7)
    numbers, known = DocumentNumbers(), {}
    for size in (0, 1, 3000, 500, 20_000):
        lengths, names = rng.integers(0, 40, size), rng.integers(0, 9_000, size)
        docids = ["x" * a + "ü" * (b % 2) + str(b) for a, b in zip(lengths, names, strict=True)]
        expected = [known.setdefault(docid, len(known)) for docid in docids]
        assert numbers.number(docids).tolist() == expected
    assert list(numbers.docids()) == list(known)


def test_keys_made_for_one_table_need_few_steps_in_another():
    """A table's factor is drawn: no ids can be made that all stand in a row of slots."""
    table, other = KeyTable(), KeyTable()
    inverse = np.uint64(pow(int(table._factor), -1, 2**64))
    keys = np.arange(4000, dtype=np.uint64) * inverse  # this table puts all into its first slot
    numbers, places = other.enter(keys)
    assert numbers.tolist() == places.tolist() == list(range(4000))
    steps = (other._search(keys)[1] - other._named(keys)) % len(other._slots)
    assert steps.max() < 200


# When numba is loaded


def test_small_input_never_loads_numba(tmp_path):
    run = write(tmp_path, lists())
    (tmp_path / "qrels").write_text("1 0 doc3 1\n")
    program = (
        "import sys\n"
        "from confir.data.formats.format import RunSource\n"
        "from confir.data.ranked_lists.list_reader import read_rankings\n"
        "from confir.data.formats.runs_and_qrels import read_qrels\n"
        f"read_rankings(read_qrels({str(tmp_path / 'qrels')!r}), [RunSource({run.path!r})])\n"
        "print('numba' in sys.modules)\n"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert output.stdout.split() == [b"False"]


def test_the_size_of_all_files_decides(tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr(list_reader, "load_kernel", lambda: loaded.append(1))
    sources = [write(tmp_path, lists(), f"{n}.run") for n in range(3)]
    size = sum(source.content_size() for source in sources)
    for least, expected in ((size, []), (size - 1, [1])):
        monkeypatch.setattr(list_reader, "COMPILED_SIZE", least)
        read_rankings(PLAIN_QRELS, [*sources, read_run(sources[0].path, name="object")])
        assert loaded == expected


def test_without_numba_the_results_are_the_same(tmp_path, monkeypatch):
    source = write(tmp_path, lists(["unknown", "3", "1"]))
    how = {"compiled": True, "streamed": False, "block_size": 100}
    compiled = ranked(PLAIN_QRELS, source, how, lowest_gain=0)
    load = cache(load_kernel.__wrapped__)
    monkeypatch.setattr(list_reader, "load_kernel", load)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert load() is None
    assert_same(ranked(PLAIN_QRELS, source, how, lowest_gain=0), compiled)
