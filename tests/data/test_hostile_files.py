"""Files that are made to exhaust the memory of their reader: read or refused within a budget."""

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import tracemalloc
from threading import Thread

import pytest
import zstandard

import confir
from confir.data.files import read_bytes
from confir.data.tables import json_tables, separated_text
from confir.errors import ConfirError, FormatError, UnreadableError
from requirements import ON_LINUX, ON_UNIX

TABLE = "topic,a,b\n1,.1,.2\n2,.2,.3\n"
FILLERS = {
    "comments before the header": ("t.csv", "#\n" * 1_000_000 + TABLE),
    "blank lines before the header": ("t.csv", "\n" * 1_000_000 + TABLE),
    "blank lines": ("t.csv", TABLE + "\n" * 1_000_000),
    "carriage returns": ("t.csv", TABLE + "\r" * 1_000_000),
    "comments": ("t.csv", TABLE + "#\n" * 1_000_000),
    "columns of the header": ("t.csv", "topic" + ",a" * 1_500_000 + "\n1,.1\n"),
    "columns of a row": ("t.csv", TABLE + "3" + "," * 2_000_000 + "\n"),
    "fields of a line": ("t.txt", "AP 1 .1\nAP 2 .2\n" + "ab " * 1_000_000),
    "empty objects": ("t.json", "[" + "{}," * 1_000_000 + "{}]"),
    "empty lists": ("t.json", "[" + "[]," * 1_000_000 + "[]]"),
    "empty objects by line": ("t.jsonl", "{}\n" * 1_000_000),
    "blank lines between records": (
        "t.jsonl",
        '{"topic":1,"a":1}\n' + "\n" * 1_000_000 + '{"topic":2,"a":0}\n',
    ),
    "nested lists": ("t.json", "[" * 3_000_000),
}


def read_or_refuse(path):
    """Return the peak of memory that reading a table of scores takes."""
    confir.write_scores({"a": [0.5, 0.25]}, path.with_name("warm.csv"))
    confir.read_scores(path.with_name("warm.csv"))  # imports what reading needs
    tracemalloc.start()
    try:
        confir.read_scores(path)
    except ConfirError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize("filler", FILLERS)
def test_the_memory_of_a_reader_is_a_small_multiple_of_the_file(tmp_path, filler):
    name, text = FILLERS[filler]
    path = tmp_path / name
    path.write_text(text, newline="")
    # the bytes, the same decoded, a copy without the lead, and one piece of records
    assert read_or_refuse(path) < 8 * len(text) + 8_000_000


def test_tables_between_fillers_are_read(tmp_path):
    for filler in ("comments before the header", "blank lines", "carriage returns", "comments"):
        name, text = FILLERS[filler]
        path = tmp_path / name
        path.write_text(text, newline="")
        assert confir.read_scores(path).mean()[:, 0].round(2).tolist() == [0.15, 0.25]


def test_a_line_of_too_many_columns_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(separated_text, "_MOST_COLUMNS", 100)
    path = tmp_path / "t.csv"
    path.write_text(TABLE + "3" + "," * 200 + "\n")
    with pytest.raises(FormatError, match=r"t.csv:4: more than 100 columns; expected columns run"):
        confir.read_scores(path)


@pytest.mark.parametrize("role", ["qrels", "run"])
def test_json_of_too_many_objects_is_refused_before_it_is_parsed(tmp_path, monkeypatch, role):
    monkeypatch.setattr(json_tables, "_MOST_CONTAINERS", 100)
    path = tmp_path / "x.json"
    path.write_text("[" + "{}," * 200 + "{}]")
    read = confir.read_qrels if role == "qrels" else confir.read_run
    with pytest.raises(FormatError, match="more than 100 objects and lists in one JSON value"):
        read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"topic": 1, "a": 1}, {"topic": 2, "a": 0} {"topic": 3}]', ":1: not JSON"),
        ('[{"topic": 1, "a": 1},\n {"topic": 2, "a": 0},\n]', ":3: not JSON"),
        ('[{"topic": 1, "a": 1},\n {"topic": 2, "a": 0}]\n]', ":3: not JSON"),
        ('[{"topic": 1, "a": 1},\n {"topic": 2, "topic": 0}]', ":2: 'topic' occurs twice"),
        ('[{"topic": 1, "a": 1},\n {"topic": 2, "a": ' + "[" * 9_999, "nested too deeply"),
        ("[]", "no records"),
        (' [ {"topic": 1, "a": 1} , {"topic": 2, "b": 1} ]', "row 2: a record of topic, b"),
    ],
)
def test_faults_of_a_list_of_records_are_named(tmp_path, text, message):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        confir.read_scores(path)


def test_records_that_are_read_in_pieces_are_all_read(tmp_path, monkeypatch):
    monkeypatch.setattr(json_tables, "_RECORDS_AT_ONCE", 3)
    lines = [f'{{"topic": {i}, "a": {i / 10}}}' for i in range(10)]
    (tmp_path / "t.jsonl").write_text("\n\n".join(lines))
    (tmp_path / "t.json").write_text("[" + ",\n".join(lines) + "]")
    expected = [i / 10 for i in range(10)]
    for name in ("t.jsonl", "t.json"):
        assert confir.read_scores(tmp_path / name).values[:, 0, 0].tolist() == expected
    (tmp_path / "t.jsonl").write_text("\n\n".join([*lines[:7], "{}", *lines[7:]]))
    with pytest.raises(FormatError, match=r"t.jsonl:15: not a record"):
        confir.read_scores(tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    ("ending", "compress"),
    [
        ("gz", gzip.compress),
        ("bz2", bz2.compress),
        ("xz", lzma.compress),
        ("zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_text_that_expands_a_thousandfold_is_refused_early(tmp_path, ending, compress):
    once = compress(b"\n" * (1 << 20))
    path = tmp_path / f"t.csv.{ending}"
    path.write_bytes(compress(TABLE.encode()) + once * 40)
    if len(path.read_bytes()) * 1000 > 40 << 20:  # deflate packs no better than a thousandfold
        assert len(read_bytes(path)) > 40 << 20
        return
    with pytest.raises(UnreadableError, match=r"compressed bytes hold more than 1[67],[\d,]+; "):
        read_bytes(path)


@ON_UNIX
def test_scores_are_read_from_a_pipe_that_can_be_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=(TABLE,), daemon=True)
    writer.start()
    done = subprocess.run(
        [sys.executable, "-m", "confir", "evaluate", "--scores", pipe],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "over 2 topics" in done.stdout


@ON_LINUX
def test_a_device_without_end_is_refused():
    with pytest.raises(UnreadableError, match="/dev/zero: is a device, which may have no end"):
        confir.read_scores("/dev/zero")
    with pytest.raises(FormatError, match="/dev/null: the file is empty"):
        confir.read_scores("/dev/null")


def test_a_number_of_thousands_of_digits_is_named_in_plain_words(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"topic": 1, "a": 0.5}\n{"topic": 2, "a": ' + "9" * 5000 + "}\n")
    with pytest.raises(
        FormatError, match=r"t.jsonl:2: not readable as JSON .a whole number of thousands"
    ):
        confir.read_scores(path)
