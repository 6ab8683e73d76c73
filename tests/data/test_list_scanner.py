"""Lists read from files are those of the reference reader, document by document."""

import dataclasses
import itertools
import threading
from collections import deque

import numpy as np
import pytest
from hypothesis import given

from confir.data.formats.format import RunSource
from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.data.ids import Docids
from confir.data.qrels import Qrels
from confir.data.scanning.id_numbers import IdNumbers
from confir.data.scanning.list_reader import build_lists, read_lists
from confir.data.scanning.run_scanners import ListScanner
from confir.data.scanning.scan_kernels import LONGEST_SEARCH, load_kernels
from confir.errors import FormatError, InvalidValueError, UnreadableError
from run_files import (
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

QRELS = make_qrels({t: {"doc3": 1, "doc17": 0, "doc39": -1, "no": 2} for t in "123"})


def scan(qrels, sources, **how):
    """What the scanner makes of files, None where it gives way to the reader."""
    scanner = ListScanner(qrels, load_kernels())
    found = list(scanner.scan_lists(sources, **how))
    if None in found:
        return None
    judged = scanner.numbers.number(qrels.documents)
    return build_lists(qrels, judged, deque(found), scanner.numbers.docids())


def read_by_reference(qrels, sources):
    return read_lists(qrels, [read_run(source.path, name=source.name) for source in sources])


def assert_same(one, other):
    """Two results are equal in everything, the types of their arrays included."""
    for field in dataclasses.fields(one):
        value, expected = getattr(one, field.name), getattr(other, field.name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, expected, strict=True, err_msg=field.name)
        elif isinstance(value, Qrels):
            assert value is expected
        elif isinstance(value, Docids):
            assert list(value) == list(expected)
        else:
            assert value == expected, field.name


def plain_lists(lists):
    """Run → topic → docids, by one look-up after another."""
    bounds = lists.offsets.tolist()
    names = [(run, topic) for run in lists.runs for topic in lists.qrels.topics]
    return {
        name: [lists.docids[d] for d in lists.documents[bounds[n] : bounds[n + 1]].tolist()]
        for n, name in enumerate(names)
    }


# Real files


@pytest.mark.parametrize(
    ("qrels", "runs"),
    [
        ("trec-robust-2003/qrels.txt", ["input.pircRBa1.gz", "input.uwmtCR0.gz"]),
        ("clef-ehealth-2015/qrels.txt", ["CUNI_EN_Run.2.dat.gz"]),
        ("trec-covid-r5/qrels.txt", ["sab20.5.dfo.xz", "BioInfo-run3.xz"]),
    ],
)
def test_real_runs_are_scanned_as_the_reference_reads_them(real_data, qrels, runs):
    judged = read_qrels(real_data / qrels)
    folder = (real_data / qrels).parent / "runs"
    sources = [RunSource(str(folder / run)) for run in runs]
    expected = read_by_reference(judged, sources)
    assert_same(scan(judged, sources), expected)
    whole = [read_run(source.path) for source in sources]
    assert expected.mentioned == len(
        {docid for run in whole for docid in run.documents} | set(judged.documents)
    )
    assert plain_lists(expected) == {
        (run.name, topic): [docid for docid, _ in run[topic]] if topic in run.topics else []
        for run in whole
        for topic in judged.topics
    }


# Generated files


@pytest.mark.filterwarnings("ignore::confir.errors.IdenticalIdWarning")
@fuzz
@given(experiment=experiments(), how=scan_options)
def test_every_valid_file_is_scanned_as_the_reference_reads_it(tmp_path, experiment, how):
    qrels, content = experiment
    sources = [write(tmp_path, content), write(tmp_path, lists(), "other.run")]
    assert_same(scan(qrels, sources, **how), read_by_reference(qrels, sources))


@pytest.mark.filterwarnings("ignore::confir.errors.IdenticalIdWarning")
@fuzz
@given(experiment=damaged_experiments(), how=scan_options)
@pytest.mark.usefixtures("always_scanned")
def test_damaged_files_have_the_errors_and_results_of_the_reference(tmp_path, experiment, how):
    qrels, content = experiment
    sources = [write(tmp_path, lists(), "other.run"), write(tmp_path, content)]
    expected, messages = outcome(read_by_reference, qrels, sources)
    scanned = scan(qrels, sources, **how)
    if scanned is not None:
        assert not messages
        assert_same(scanned, expected)
    result, same_messages = outcome(read_lists, qrels, sources)
    assert same_messages == messages
    if isinstance(result, tuple):
        assert result == expected
    else:
        assert_same(result, expected)


@pytest.mark.slow
def test_no_byte_outside_a_block_or_a_table_is_touched(tmp_path):
    assert_passing_with_bounds_checked(
        tmp_path,
        __file__,
        test_every_valid_file_is_scanned_as_the_reference_reads_it,
        test_damaged_files_have_the_errors_and_results_of_the_reference,
    )


def test_many_docids_of_many_lengths_keep_their_numbers(tmp_path):
    rng = np.random.default_rng(7)
    docids = [f"{'x' * int(rng.integers(0, 40))}{n}" for n in range(3000)]
    sources = []
    for name in ("one.run", "two.run"):
        drawn = rng.permutation(docids)[:2500].tolist()
        topics = ["1"] * 1200 + ["2"] * 1300
        lines = [
            f"{t} Q0 {d} 1 {3000 - n} tag"
            for n, (t, d) in enumerate(zip(topics, drawn, strict=True))
        ]
        sources.append(write(tmp_path, lines, name))
    for threads in (1, 3):
        scanned = scan(QRELS, sources, block_size=5000, threads=threads)
        assert_same(scanned, read_by_reference(QRELS, sources))


def test_docids_that_were_made_to_collide_have_the_numbers_of_the_reference(tmp_path):
    """Each list has few of them; all lists together have more than a search looks at."""
    docids = colliding_docids(2 * LONGEST_SEARCH)
    topics = [str(n // 40) for n in range(len(docids))]
    lines = [f"{t} Q0 {d} 1 {-n} t" for n, (t, d) in enumerate(zip(topics, docids, strict=True))]
    sources = [
        write(tmp_path, lines, "one.run"),
        write(tmp_path, lists(), "two.run"),
        write(tmp_path, lines[::-3], "three.run"),
    ]
    qrels = make_qrels({"1": {docids[40]: 1, "doc3": 1}, "2": {docids[80]: 1, "doc 4": 1}})
    for threads in (1, 3):
        scanned = scan(qrels, sources, block_size=5000, threads=threads)
        assert_same(scanned, read_by_reference(qrels, sources))


def test_numbers_go_on_where_docids_begin_to_collide():
    numbers = IdNumbers(load_kernels())
    docids = ["a", "b c", *colliding_docids(2 * LONGEST_SEARCH), "z", "b c"]
    given = numbers.number(docids[:100]).tolist()
    given += numbers.number(docids[100:]).tolist()
    assert numbers.number(docids).tolist() == given
    assert [numbers.docids()[number] for number in given] == docids
    assert sorted(set(given)) == list(range(len(docids) - 1))


# What becomes of files and objects together


@pytest.mark.usefixtures("always_scanned")
def test_files_and_objects_share_their_documents(tmp_path):
    scanned = write(tmp_path, lists(["1", "2"]), "scanned.run")
    odd = write(tmp_path, [*lists(["2"]), "1 Q0 doc3 1 5", "1 Q0 other 2 4"], "odd.run")
    run = {"3": {"doc17": 2.0, "new": 1.0}, "9": {"far": 1.0}}
    with pytest.warns(UserWarning, match="five columns"):
        read = read_lists(QRELS, {"a": scanned, "b": odd, "c": run})
    with pytest.warns(UserWarning, match="five columns"):
        runs = [read_run(scanned.path, name="a"), read_run(odd.path, name="b")]
    assert_same(read, read_lists(QRELS, {"a": runs[0], "b": runs[1], "c": run}))
    assert read.runs == ("a", "b", "c")
    assert read.unknown == ((), (), ("9",))
    assert tuple(read.docids[:4]) == QRELS.documents[:4]
    assert {"new", "other"} < set(read.docids)
    assert "far" not in read.docids
    assert read.mentioned == len(read.docids) + 1


@pytest.mark.usefixtures("always_scanned")
def test_docids_that_no_file_can_hold_have_numbers_of_their_own(tmp_path):
    scanned = write(tmp_path, lists(["1"]), "scanned.run")
    names = ["doc3", "doc3 ", "doc3\t2", "ü b", "doc3\n", "ü", "new"]
    run = {"1": {name: 9.0 - place for place, name in enumerate(names)}}
    qrels = make_qrels({"1": {"doc3": 1, "doc3 ": 2, "ü b": 0}})
    found = read_lists(qrels, {"a": scanned, "b": run, "c": run})
    assert_same(found, read_lists(qrels, {"a": read_run(scanned.path), "b": run, "c": run}))
    assert [found.docids[d] for d in found.documents[-len(names) :].tolist()] == names
    assert found.judgements[-len(names) :].tolist() == [0, 1, -1, 2, -1, -1, -1]


@pytest.mark.usefixtures("always_scanned")
def test_runs_are_named_by_file_tag_or_as_asked(tmp_path):
    source = write(tmp_path, lists())
    assert read_lists(QRELS, [source.path]).runs == ("system",)
    assert read_lists(QRELS, [source.path], name_by="tag").runs == ("tag",)
    assert read_lists(QRELS, {"mine": source.path}, name_by="tag").runs == ("mine",)
    with pytest.raises(InvalidValueError, match="two runs are named 'system'"):
        read_lists(QRELS, [source.path, source.path])


def test_progress_counts_runs(tmp_path):
    steps = []
    read_lists(QRELS, [write(tmp_path, lists()).path, {"1": {"d": 1.0}}], progress=steps.append)
    assert steps == [1, 1]


# What lists are made into


def test_rankings_are_those_of_evaluation(tmp_path):
    from confir.data.ranked_lists.rankings import JudgedPositions

    source = write(tmp_path, lists(["1", "3", "7"], 30))
    (found,) = read_lists(QRELS, [source.path]).rankings()
    expected = JudgedPositions(QRELS).rank(read_run(source.path))
    assert_same(found, expected)


def test_lists_are_cut():
    run = {"1": {"a": 3.0, "doc3": 2.0, "b": 1.0}, "2": {"doc3": 1.0}}
    short = read_lists(QRELS, run).cut(2)
    assert plain_lists(short) == {
        ("run", "1"): ["a", "doc3"],
        ("run", "2"): ["doc3"],
        ("run", "3"): [],
    }
    assert short.scores.tolist() == [3.0, 2.0, 1.0]
    assert short.judgements.tolist() == [-1, 0, 4]
    assert short.depth.tolist() == [[2, 1, 0]]


def test_some_topics_and_documents_can_be_kept():
    runs = {
        "one": {"1": {"a": 3.0, "doc3": 2.0, "no": 1.0}, "2": {"doc3": 1.0}, "3": {"no": 1.0}},
        "two": {"2": {"no": 2.0, "a": 1.0}, "3": {"doc17": 1.0}},
    }
    whole = read_lists(QRELS, runs)
    kept = np.array([docid in ("no", "a") for docid in whole.docids])
    some = whole.restrict(np.array([True, True, False]), kept)
    assert some.qrels.to_dict() == {"1": {"no": 2}, "2": {"no": 2}}
    assert plain_lists(some) == {
        ("one", "1"): ["a", "no"],
        ("one", "2"): [],
        ("two", "1"): [],
        ("two", "2"): ["no", "a"],
    }
    assert [some.docids[d] for d in some.judged.tolist()] == list(some.qrels.documents)
    assert some.judgements.tolist() == [-1, 0, 1, -1]
    bare = whole.restrict(np.ones(3, bool), np.array([d == "a" for d in whole.docids]))
    assert bare.qrels.topics == ()
    assert len(bare.documents) == 0


# Files that fail, and the order of things


@pytest.mark.usefixtures("always_scanned")
def test_an_error_stops_the_scan_of_other_files(tmp_path):
    bad = write(tmp_path, ["too few columns"], "bad.run")
    good = [write(tmp_path, lists(length=3000), f"good{n}.run") for n in range(4)]
    with pytest.raises(FormatError, match="3 columns"):
        read_lists(QRELS, [bad, *good])
    assert not [one for one in threading.enumerate() if "ThreadPool" in one.name]


def test_a_file_is_done_when_its_own_blocks_are(tmp_path, monkeypatch):
    late = [line.replace("doc", "late") for line in lists(length=400)]
    names = ["0.run", "1.run", "2.run", "3.run"]
    contents = [lists(length=400)] * 2 + [late] * 2
    sources = [write(tmp_path, *entry) for entry in zip(contents, names, strict=True)]
    scanner = ListScanner(QRELS, load_kernels())
    scan_block, go_on, waited = scanner.scan, threading.Event(), []

    def scan_late(block):
        if b"late" in bytes(block.content[:100]):
            waited.append(go_on.wait(10))
        return scan_block(block)

    monkeypatch.setattr(scanner, "scan", scan_late)
    found = scanner.scan_lists(sources, block_size=500, threads=2)
    assert [next(found).name, next(found).name] == ["0", "1"]
    go_on.set()
    assert [lists_of_run.name for lists_of_run in found] == ["2", "3"]
    assert all(waited)


def test_an_error_in_any_thread_is_raised(tmp_path, monkeypatch):
    source = write(tmp_path, lists(length=2000))
    scanner = ListScanner(QRELS, load_kernels())
    calls = itertools.count()
    scan_block = scanner.scan

    def fail_once(block):
        if next(calls) == 1:
            raise UnreadableError("the disk is gone")
        return scan_block(block)

    monkeypatch.setattr(scanner, "scan", fail_once)
    with pytest.raises(UnreadableError, match="the disk is gone"):
        list(scanner.scan_lists([source], block_size=500, threads=3))
