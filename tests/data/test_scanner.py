"""The compiled scanner finds what the reference reader finds, or falls back to it."""

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
from functools import cache, lru_cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from confir.data.exclusions import Exclusions
from confir.data.files import open_bytes
from confir.data.formats.format import Reading, RunSource
from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.data.qrels import Qrels
from confir.data.scanning import block_scanner, file_scans, list_reader, scan_kernels
from confir.data.scanning.list_reader import read_rankings
from confir.data.scanning.run_scanners import JudgedScanner, ScanRules, scan_rankings
from confir.data.scanning.scan_kernels import load_kernels
from confir.errors import FormatError, InputWarning, UnreadableError
from requirements import ON_UNIX
from run_files import (
    NUMBERS,
    assert_passing_with_bounds_checked,
    colliding_docids,
    damaged_experiments,
    experiments,
    fuzz,
    lists,
    make_qrels,
    outcome,
    scan_options,
    write,
)

PLAIN_QRELS = make_qrels({t: {"doc3": 1, "doc17": 0, "doc39": -1, "no": 2} for t in "123"})


def scan(wanted, source, **options):
    """What the scanner makes of a file, None where it gives way."""
    kernels = load_kernels()
    assert kernels is not None
    (result,) = scan_rankings(wanted, [source], kernels, **options)
    return result


def read_by_reference(wanted, source, identical=None):
    found = {} if identical is None else identical
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(list_reader, "choose_kernels", lambda _: None)
        qrels, *options = wanted
        named = dict(zip(ScanRules._fields[1:], options, strict=True))
        (result,) = read_rankings(qrels, [source], **named, identical=found)
    return result


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
def test_real_runs_are_scanned_as_the_reference_reads_them(real_data, qrels, run, tie_precision):
    judged = read_qrels(real_data / qrels)
    source = RunSource(str(real_data / run))
    everything = ScanRules(judged, tie_precision)
    expected, missing = read_by_reference(everything, source)
    assert_same(scan(everything, source), (expected, missing))
    relevant = ScanRules(judged, tie_precision, lowest_gain=1)
    assert_same(scan(relevant, source), (expected.at_least(1), missing))


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
@given(experiment=experiments(), options=wanted_options, how=scan_options)
def test_every_valid_file_is_scanned_as_the_reference_reads_it(tmp_path, experiment, options, how):
    qrels, content = experiment
    wanted = ScanRules(qrels, **options)
    source = write(tmp_path, content)
    expected, _ = outcome(read_by_reference, wanted, source)
    assert_same(scan(wanted, source, **how), expected)


@fuzz
@given(data=st.data(), experiment=experiments(), options=wanted_options, how=scan_options)
def test_documents_that_do_not_count_are_those_of_the_reference(
    tmp_path, data, experiment, options, how
):
    qrels, content = experiment
    source = write(tmp_path, content)
    run = read_run(source.path)
    known = st.frozensets(st.sampled_from(sorted({*run.documents, *qrels.documents})), max_size=4)
    excluded = data.draw(st.dictionaries(st.sampled_from(qrels.topics), known, max_size=3))
    exclusions = Exclusions(excluded, data.draw(st.sampled_from([None, False, True])))
    try:
        left = exclusions.drop_judged(qrels)
    except FormatError:  # of qrels without any others
        assume(False)
    wanted = ScanRules(left, **options, exclusions=exclusions)
    source = source._replace(reading=Reading(exclusions=exclusions))
    here, there = {}, {}
    scanned = scan(wanted, source, identical=here, **how)
    expected, unknown = read_by_reference(wanted, source, there)
    if scanned is not None:
        # the scanner does not look into lists of topics that the qrels lack: an emptied one is left
        assert set(unknown) <= set(scanned[1])
        assert_same(scanned, (expected, scanned[1]))
        assert here == there


@pytest.mark.filterwarnings("ignore::confir.errors.IdenticalIdWarning")
@fuzz
@given(experiment=damaged_experiments(), options=wanted_options, how=scan_options)
@pytest.mark.usefixtures("always_scanned")
def test_damaged_files_have_the_errors_and_results_of_the_reference(
    tmp_path, experiment, options, how
):
    qrels, content = experiment
    wanted = ScanRules(qrels, **options)
    source = write(tmp_path, content)
    expected, messages = outcome(read_by_reference, wanted, source)
    scanned = scan(wanted, source, **how)
    if scanned is not None:
        assert not messages
        assert_same(scanned, expected)
    result, same_messages = outcome(lambda: read_rankings(qrels, [source], **options)[0])
    assert same_messages == messages
    if isinstance(result[0], type):
        assert result == expected
    else:
        assert_same(result, expected)


@pytest.mark.slow
def test_no_byte_outside_a_block_is_touched(tmp_path):
    assert_passing_with_bounds_checked(
        tmp_path,
        __file__,
        test_every_valid_file_is_scanned_as_the_reference_reads_it,
        test_damaged_files_have_the_errors_and_results_of_the_reference,
    )


# Scores


def parse_scores(fields):
    """The scores of as many lines, and how many of them the kernel left to Python."""
    kernels = load_kernels()
    lines = "".join(f"t Q0 d{n} 1 {field} tag\n" for n, field in enumerate(fields)).encode()
    block = np.frombuffer(bytearray(lines + b"\n" * scan_kernels.WORD), np.uint8)
    table, _ = scan_kernels.index_ids(["t"], np.array([0, 1]), kernels)
    parsed = kernels.scan_lines(block, len(lines), table, table)
    assert parsed.understood
    left = len(parsed.odd_lines)
    assert block_scanner.complete_scores(block, parsed)
    return parsed.scores, left


def assert_exact(scores, fields):
    """The scores are Python's to the last bit, minus zero included."""
    expected = np.array([float(field) for field in fields])
    np.testing.assert_array_equal(scores.view(np.int64), expected.view(np.int64))


@fuzz
@given(st.lists(NUMBERS.filter(lambda field: np.isfinite(float(field))), min_size=1))
def test_scores_are_those_that_python_reads(fields):
    assert_exact(parse_scores(fields)[0], fields)


def test_scores_next_to_halfway_between_floats_are_exact():
    rng = np.random.default_rng(20140706)
    wholes = (rng.integers(2**53, 10**18, 3000) & ~0xFF) + rng.choice([1, 32, 33, 63, 64, 65], 3000)
    points = rng.integers(0, 16, 3000)
    fields = [
        f"{whole // 10**point}.{whole % 10**point:0{point}d}"
        for whole, point in zip(wholes.tolist(), points.tolist(), strict=True)
    ]
    assert_exact(parse_scores(fields)[0], fields)


def test_scores_as_programs_print_them_are_read_without_python():
    rng = np.random.default_rng(20040726)
    doubles = np.exp(rng.normal(0, 4, 4000)) * rng.choice([-1, 1], 4000)
    singles = doubles.astype(np.float32).astype(float)
    fields = [repr(x) for x in (*doubles.tolist(), *singles.tolist(), *(1 / np.arange(61.0, 999)))]
    fields = [field.removeprefix("np.float64(").removesuffix(")") for field in fields]
    scores, left = parse_scores(fields)
    assert_exact(scores, fields)
    assert left == 0


def test_scores_that_differ_only_in_double_precision_tie_in_single(tmp_path):
    source = write(tmp_path, ["1 Q0 doc3 1 1.00000001 tag", "1 Q0 doc39 2 1 tag"])
    for tie_precision, order in (("double", ["doc3", "doc39"]), ("single", ["doc39", "doc3"])):
        rankings, _ = scan(ScanRules(PLAIN_QRELS, tie_precision), source)
        assert [PLAIN_QRELS.documents[i] for i in rankings.documents] == order


# Blocks and threads


def test_blocks_hold_whole_topics_and_are_no_larger_than_need_be(tmp_path):
    lines = [*lists(["1", "2"], 100), "# comment", "", *lists(["3", "4"], 50)]
    source = write(tmp_path, lines)
    contents = [
        bytes(block.content[: block.stop])
        for block in file_scans.read_blocks(source.path, load_kernels(), 500)
    ]
    assert b"".join(contents) == "\n".join(lines).encode() + b"\n"
    topics = [{line.split()[0] for line in block.split(b"\n") if line} for block in contents]
    assert [block - {b"#"} for block in topics] == [{b"1"}, {b"2", b"3"}, {b"4"}]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("block_size", [1, 25, 500, 3000, 1 << 20])
def test_neither_threads_nor_blocks_change_the_result(tmp_path, block_size, threads):
    lines = lists(["3", "unknown", "1", "2", "other"])
    source = write(tmp_path, lines[20:40] + lines[:20] + lines[40:])
    wanted = ScanRules(PLAIN_QRELS)
    scanned = scan(wanted, source, block_size=block_size, threads=threads)
    assert_same(scanned, read_by_reference(wanted, source))
    assert scanned[1] == ("other", "unknown")


@pytest.mark.usefixtures("always_scanned")
@pytest.mark.parametrize("block_size", [30, 1 << 20])
def test_a_byte_order_mark_within_a_run_is_an_error(tmp_path, block_size):
    lines = lists(["1", "2"], length=50)
    lines[50] = f"\ufeff{lines[50]}"
    source = write(tmp_path, lines)
    assert scan(ScanRules(PLAIN_QRELS), source, block_size=block_size) is None
    with pytest.raises(FormatError, match=r":51: a byte order mark in the middle"):
        read_rankings(PLAIN_QRELS, [source])


@pytest.mark.usefixtures("always_scanned")
def test_many_files_by_many_threads_come_back_in_order(tmp_path):
    sources = [write(tmp_path, lists(length=n), f"system{n}.run") for n in range(1, 30)]
    done = []
    results = read_rankings(PLAIN_QRELS, sources, progress=done.append)
    assert done == [1] * len(sources)
    for source, result in zip(sources, results, strict=True):
        assert_same(result, read_by_reference(ScanRules(PLAIN_QRELS), source))


@pytest.mark.usefixtures("always_scanned")
@pytest.mark.parametrize("block_size", [30, 400, 1 << 20])
@pytest.mark.parametrize("topic", ["2", "unknown"])
def test_a_document_twice_in_a_topic_is_an_error(tmp_path, topic, block_size):
    lines = lists(["1", topic], length=5000)
    lines[-1] = lines[5001]
    source = write(tmp_path, lines)
    assert scan(ScanRules(PLAIN_QRELS), source, block_size=block_size) is None
    with pytest.raises(FormatError, match=r":10000: document 'doc1' occurs twice .* line 5002\)"):
        read_rankings(PLAIN_QRELS, [source])


def test_the_same_document_in_two_topics_is_no_duplicate(tmp_path):
    source = write(tmp_path, lists(["1", "2"], length=5000))
    wanted = ScanRules(PLAIN_QRELS)
    assert_same(scan(wanted, source), read_by_reference(wanted, source))


@pytest.mark.usefixtures("always_scanned")
@pytest.mark.parametrize("topic", ["2", "unknown"])
def test_a_topic_in_two_places_is_left_to_the_reference(tmp_path, topic):
    lines = lists([topic, "1"])
    source = write(tmp_path, lines[1:] + lines[:1])
    wanted = ScanRules(PLAIN_QRELS)
    for block_size in (25, 1 << 20):
        assert scan(wanted, source, block_size=block_size) is None
    (result,) = read_rankings(PLAIN_QRELS, [source])
    assert_same(result, read_by_reference(wanted, source))


@pytest.fixture
def streams(monkeypatch):
    """The files that are opened from here on."""
    opened = []

    @contextmanager
    def remember(path):
        with open_bytes(path) as stream:
            opened.append(stream)
            yield stream

    monkeypatch.setattr(file_scans, "open_bytes", remember)
    return opened


def test_a_file_that_cannot_be_scanned_is_closed(tmp_path, monkeypatch, streams):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(JudgedScanner, "record", fail)
    sources = [write(tmp_path, lists())]
    scans = scan_rankings(ScanRules(PLAIN_QRELS), sources, load_kernels(), block_size=25, threads=1)
    with pytest.raises(OSError, match="No space"):
        next(scans)
    assert streams[0].closed


def test_a_file_that_is_given_up_is_closed(tmp_path, streams):
    source = write(tmp_path, ["too few columns", *lists()])
    sources = [source, write(tmp_path, lists(), "good.run")]
    scans = scan_rankings(ScanRules(PLAIN_QRELS), sources, load_kernels(), block_size=25, threads=1)
    assert next(scans) is None
    assert streams[0].closed
    scans.close()


@pytest.mark.usefixtures("always_scanned")
def test_json_that_looks_like_lines_of_a_run_is_left_to_its_reader(tmp_path):
    source = write(tmp_path, b'{ "1": { "doc1": 1.5 }}')
    assert scan(ScanRules(PLAIN_QRELS), source) is None
    ((rankings, unknown),) = read_rankings(PLAIN_QRELS, [source])
    assert (rankings.depth[0].sum(), unknown) == (1, ())


# Files as they come


def test_compressed_files_are_scanned(tmp_path):
    content = "\n".join(lists()).encode()
    source = write(tmp_path, gzip.compress(content), "system.run.gz")
    assert_same(
        scan(ScanRules(PLAIN_QRELS), source, block_size=100),
        read_by_reference(ScanRules(PLAIN_QRELS), write(tmp_path, content)),
    )


@pytest.mark.usefixtures("always_scanned")
def test_truncated_gzip_is_an_error(tmp_path):
    content = gzip.compress("\n".join(lists(length=3000)).encode())
    source = write(tmp_path, content[: len(content) // 2], "system.gz")
    with pytest.raises(UnreadableError, match="end too early"):
        read_rankings(PLAIN_QRELS, [source])


@pytest.mark.usefixtures("always_scanned")
@pytest.mark.parametrize("content", [b"", b"\n \n", b"# only\n# comments"])
def test_a_file_without_documents_is_an_error(tmp_path, content):
    with pytest.raises(FormatError, match="the run is empty"):
        read_rankings(PLAIN_QRELS, [write(tmp_path, content)])


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
]


@pytest.mark.usefixtures("always_scanned")
@pytest.mark.parametrize("line", BAD_LINES)
@pytest.mark.parametrize("before", [0, 120])
def test_bad_lines_are_found_and_named_by_the_reference(tmp_path, line, before):
    good = [good.encode() for good in lists()]
    source = write(tmp_path, b"\n".join([*good[:before], line, *good[before:]]))
    wanted = ScanRules(PLAIN_QRELS)
    assert scan(wanted, source) is None
    with pytest.raises(FormatError) as expected:
        read_by_reference(wanted, source)
    assert expected.value.line == before + 1
    with pytest.raises(FormatError) as raised:
        read_rankings(PLAIN_QRELS, [source])
    assert str(raised.value) == str(expected.value)


@pytest.mark.usefixtures("always_scanned")
@pytest.mark.parametrize("line", ["1 Q0 doc\x1c3 0 99 tag", "\x01 Q0 doc3 0 1 tag"])
def test_control_characters_in_ids_are_left_to_the_reference(tmp_path, line):
    source = write(tmp_path, [*lists(), line])
    assert scan(ScanRules(PLAIN_QRELS), source) is None
    (result,) = read_rankings(PLAIN_QRELS, [source])
    assert_same(result, read_by_reference(ScanRules(PLAIN_QRELS), source))


@pytest.mark.usefixtures("always_scanned")
def test_the_first_bad_file_is_the_one_named(tmp_path):
    good = write(tmp_path, lists(), "good.run")
    late = write(tmp_path, [*lists(length=20000), "1 2 3"], "late.run")
    early = write(tmp_path, ["1 2 3"], "early.run")
    with pytest.raises(FormatError, match=r"late\.run:60001: 3 columns"):
        read_rankings(PLAIN_QRELS, [good, late, early, RunSource("missing.run")])
    with pytest.raises(UnreadableError, match=r"missing\.run: no such file"):
        read_rankings(PLAIN_QRELS, [good, RunSource("missing.run"), early])


@pytest.mark.usefixtures("always_scanned")
def test_five_columns_are_read_with_the_warning_of_the_reference(tmp_path):
    lines = [line.removesuffix(" tag") for line in lists()]
    source = write(tmp_path, lines)
    with pytest.warns(InputWarning, match="120 lines have five columns"):
        (result,) = read_rankings(PLAIN_QRELS, [source], name_by="tag")
    assert result[0].runs == ("system",)
    assert result[0].before[:, 0].tolist() == [3, 17, 39] * 3


@pytest.mark.usefixtures("always_scanned")
def test_runs_are_named_by_the_user_by_tag_or_by_file(tmp_path):
    source = write(tmp_path, lists(), "input.system.txt")

    def name(source, **options):
        return read_rankings(PLAIN_QRELS, [source], **options)[0][0].runs

    assert name(source) == ("system",)
    assert name(source, name_by="tag") == ("tag",)
    assert name(source._replace(name="mine"), name_by="tag") == ("mine",)


@pytest.mark.usefixtures("always_scanned")
def test_standard_input_is_read_once(tmp_path, monkeypatch):
    content = "\n".join(lists()).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    sources = [write(tmp_path, content), RunSource("-", "system")]
    file, stdin = read_rankings(PLAIN_QRELS, sources)
    assert_same(stdin, file)


@pytest.mark.usefixtures("always_scanned")
@ON_UNIX
def test_a_pipe_is_read_once(tmp_path):
    content = "\n".join(lists()).encode()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    piped, file = read_rankings(
        PLAIN_QRELS, [RunSource(str(pipe), "system"), write(tmp_path, content)]
    )
    writer.join()
    assert_same(piped, file)


@pytest.mark.usefixtures("always_scanned")
@pytest.mark.parametrize("change", ["shrinks", "grows"])
def test_a_file_that_changes_while_it_is_read_is_read_or_refused(tmp_path, monkeypatch, change):
    content = "\n".join(lists(length=900)).encode()  # more than a stream buffers
    source = write(tmp_path, content)
    fill, filled = file_scans._fill, []

    def fill_and_change(stream, view):
        if len(filled) == 1 and change == "shrinks":
            os.truncate(source.path, content.index(b"Q0", 30_000))
        elif len(filled) == 1:
            write(tmp_path, content + b"\n4 Q0 doc1 1 1 tag")
        filled.append(None)
        return fill(stream, view)

    monkeypatch.setattr(file_scans, "_fill", fill_and_change)
    monkeypatch.setattr(scan_rankings, "__kwdefaults__", {"block_size": 300, "threads": 1})
    result, _ = outcome(read_rankings, PLAIN_QRELS, [source])
    if change == "shrinks":
        kind, message = result
        assert kind is FormatError
        assert re.match(r".*system\.run:\d+: ", message)
    else:
        assert result[0][1] in ((), ("4",))  # the line that came late is seen, or is not
    assert len(filled) > 2


def test_ids_that_no_file_can_hold_are_found_in_none(tmp_path):
    qrels = make_qrels(
        {"1": {"": 1, "doc3 ": 1, "doc4\n": 1, "doc\ud800": 1, "doc5": 1}, "": {"d": 1}}
    )
    source = write(tmp_path, lists(["1"]))
    (rankings, _) = scan(ScanRules(qrels), source)
    assert [qrels.documents[i] for i in rankings.documents] == ["doc5"]


def test_documents_of_equal_hash_are_distinguished(tmp_path):
    ids = [f"{number}" for number in range(300_000)]
    table, _ = scan_kernels.index_ids(ids, np.array([0, len(ids)]), load_kernels())
    slots = table.slots
    slots = np.sort(slots[slots > 0])
    first = np.flatnonzero(slots[1:] >> np.uint64(32) == slots[:-1] >> np.uint64(32))[0]
    one, other = (ids[int(slot & np.uint64(2**32 - 1)) - 1] for slot in slots[first : first + 2])
    source = write(tmp_path, [f"1 Q0 {one} 1 2 tag", f"1 Q0 {other} 2 1 tag"])
    for judged, before in ((one, 0), (other, 1)):
        rankings, _ = scan(ScanRules(make_qrels({"1": {judged: 1}})), source)
        assert rankings.before.tolist() == [[before]]


# Docids that were made to collide


@pytest.fixture(scope="module")
def colliding():
    """More docids of one hash than a search looks at."""
    return colliding_docids(2 * scan_kernels.LONGEST_SEARCH)


def test_docids_that_were_made_to_collide_have_one_hash(colliding):
    content = np.frombuffer(bytearray("\n".join(colliding).encode() + b"\n" * 9), np.uint8)
    starts = np.arange(len(colliding)) * 17
    tags, _ = load_kernels().hash_ids(content, starts)
    assert len(set(colliding)) == len(colliding)
    assert len(set(tags.tolist())) == 1


def test_a_search_ends_before_it_has_seen_all_docids_of_one_hash():
    """The work for each docid has a bound, which no choice of docids exceeds."""
    looked_at = []

    class Slots(np.ndarray):
        def __getitem__(self, place):
            looked_at.append(place)
            return np.asarray(self)[place]

    slots = np.ones(1024, np.uint64).view(Slots)
    fill = scan_kernels._fill_slot
    assert not getattr(fill, "py_func", fill)(slots, 0, 1023, np.uint64(7), 1)
    assert len(looked_at) == scan_kernels.LONGEST_SEARCH


@pytest.mark.parametrize("used", ["", "0", "1", "0110", "1011", "1101", "111", "10011"])
def test_the_longest_search_is_that_of_the_longest_run_of_used_slots(used):
    slots = np.array(list(used), np.uint64)
    runs = re.findall("1+", used + used) if "0" in used else [used]
    found = scan_kernels._longest_run
    assert getattr(found, "py_func", found)(slots) == max(map(len, runs), default=0)


@pytest.mark.usefixtures("always_scanned")
@pytest.mark.parametrize("judged", ["few", "all"])
def test_docids_that_collide_are_left_to_the_reference(tmp_path, colliding, judged):
    relevant = colliding[:3] if judged == "few" else colliding
    qrels = make_qrels({"1": dict.fromkeys(relevant, 1), "2": {"d": 1}})
    half = len(colliding) // 2
    few, many = (
        write(tmp_path, [f"1 Q0 {d} 1 {-n} t" for n, d in enumerate(docids)], name)
        for docids, name in ((colliding[: half // 2], "few"), (colliding, "many"))
    )
    wanted = ScanRules(qrels)
    assert scan(wanted, many) is None
    for source in (few, many):
        (read,) = read_rankings(qrels, [source])
        assert_same(read, read_by_reference(wanted, source))
    if judged == "few":
        assert_same(scan(wanted, few), read_by_reference(wanted, few))


def test_docids_of_no_ill_will_stand_near_their_places():
    """Sequences as collections number their documents: far below the bound, at any size."""
    for pattern in ("doc{}", "{}", "FBIS3-{}", "clueweb09-en0000-{:05}-{:05}", "{:032x}"):
        ids = [pattern.format(n, n) for n in range(60_000)]
        table, whole = scan_kernels.index_ids(ids, np.array([0, len(ids)]), load_kernels())
        used = np.flatnonzero(table.slots)
        named = (table.slots[used] >> np.uint64(32)).astype(np.int64)
        mask = len(table.slots) - 1
        assert whole
        assert ((used - named) & mask).max() < scan_kernels.LONGEST_SEARCH // 4


# When to scan


def test_small_input_never_loads_numba(tmp_path):
    run = write(tmp_path, lists())
    (tmp_path / "qrels").write_text("1 0 doc3 1\n")
    program = (
        "import sys\n"
        "from confir.data.formats.format import RunSource\n"
        "from confir.data.scanning.list_reader import read_rankings\n"
        "from confir.data.formats.runs_and_qrels import read_qrels\n"
        f"read_rankings(read_qrels({str(tmp_path / 'qrels')!r}), [RunSource({run.path!r})])\n"
        "print('numba' in sys.modules)\n"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert output.stdout.split() == [b"False"]


def fake_loading(*, lasting):
    """A stand-in for the loading of kernels, which may forget that it has loaded them."""
    return lru_cache(maxsize=None if lasting else 0)(lambda: "kernels")


def test_the_size_of_all_files_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(list_reader, "load_kernels", fake_loading(lasting=False))
    sizes = {"one.run": 2 / 3, "two.run": 1 / 3, "three.run.xz": 1 / 4}
    for name, share in sizes.items():
        with (tmp_path / name).open("wb") as file:
            file.truncate(round(share * list_reader.COLD_BREAK_EVEN) + 1)
    one, two, three = (RunSource(str(tmp_path / name)) for name in sizes)
    assert not list_reader.choose_kernels([one])
    assert list_reader.choose_kernels([one, two])
    assert list_reader.choose_kernels([three])
    assert not list_reader.choose_kernels([RunSource("-"), RunSource("missing"), two])


def test_loaded_kernels_are_used_for_less(tmp_path, monkeypatch):
    load = fake_loading(lasting=True)
    monkeypatch.setattr(list_reader, "load_kernels", load)
    source = write(tmp_path, b"x" * list_reader.WARM_BREAK_EVEN)
    assert not list_reader.choose_kernels([source])
    load()
    assert list_reader.choose_kernels([source])


@pytest.mark.usefixtures("always_scanned")
def test_without_numba_the_results_are_the_same(tmp_path, monkeypatch):
    source = write(tmp_path, lists(["unknown", "3", "1"]))
    (scanned,) = read_rankings(PLAIN_QRELS, [source], lowest_gain=0)
    load = cache(load_kernels.__wrapped__)
    monkeypatch.setattr(list_reader, "load_kernels", load)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert load() is None
    (read,) = read_rankings(PLAIN_QRELS, [source], lowest_gain=0)
    assert_same(scanned, read)


def test_a_file_named_like_standard_input_is_not_mistaken_for_it(tmp_path, monkeypatch):
    (tmp_path / "-").write_bytes(b"x" * list_reader.WARM_BREAK_EVEN)
    monkeypatch.chdir(tmp_path)
    assert RunSource("-").content_size() == 0
    assert RunSource("./-").content_size() == list_reader.WARM_BREAK_EVEN
