"""TREC files in every valid layout; errors name the line."""

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import sys
import warnings
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import confir
from confir.data import trec, trec_lines
from confir.data.files import name_from_path, read_bytes, text_bytes
from confir.data.formats.format import RunSource
from confir.data.formats.runs_and_qrels import read_qrels, read_run, write_qrels, write_run
from confir.data.formats.sources import find_runs
from confir.data.qrels import build_qrels
from confir.data.run import build_run
from confir.data.trec_lines import read_intents
from confir.errors import (
    ConfirError,
    FormatError,
    InputWarning,
    InvalidValueError,
    ReadingWarning,
    TopicMismatchError,
    UnreadableError,
)
from strategies import at_most

RUN = b"1 Q0 a 1 2.5 tag\n1 Q0 b 2 1.5 tag\n2 Q0 a 1 0.5 tag\n"
RUN_READ = {"1": {"a": 2.5, "b": 1.5}, "2": {"a": 0.5}}
QRELS = b"1 0 a 1\n1 0 b 0\n2 0 a 2\n"
QRELS_READ = {"1": {"a": 1, "b": 0}, "2": {"a": 2}}

# Everything that separates columns, as C's isspace has it.
BLANKS = " \t\r\v\f"


def write(folder, content, name="some.txt"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def same_runs(one, other):
    return (
        one.name == other.name
        and one.topics == other.topics
        and one.documents == other.documents
        and one.offsets.tolist() == other.offsets.tolist()
        and one.scores.tolist() == other.scores.tolist()
    )


def same_qrels(one, other):
    return (
        one.topics == other.topics
        and one.documents == other.documents
        and one.subtopics == other.subtopics
        and one.offsets.tolist() == other.offsets.tolist()
        and one.gains.tolist() == other.gains.tolist()
        and one.judged_documents.tolist() == other.judged_documents.tolist()
        and one.subtopic_gains.tolist() == other.subtopic_gains.tolist()
    )


LAYOUTS = {
    "as it is": lambda content: content,
    "no newline at the end": lambda content: content[:-1],
    "blanks at the end": lambda content: content + b" \t\n\r\n\n ",
    "CRLF": lambda content: content.replace(b"\n", b"\r\n"),
    "tabs": lambda content: content.replace(b" ", b"\t"),
    "double blanks": lambda content: content.replace(b" ", b" \t "),
    "vertical tabs and form feeds": lambda content: content.replace(b" ", b"\v\f"),
    "returns inside lines": lambda content: content.replace(b" ", b"\r"),
    "leading blanks": lambda content: b"  " + content.replace(b"\n", b"\n\t", 2),
    "trailing blanks": lambda content: content.replace(b"\n", b" \t\n"),
    "byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "blank lines": lambda content: b"\n" + content.replace(b"\n", b"\n \n\n"),
    "comments": lambda content: b"# 1\n" + content.replace(b"\n", b"\n  # 9 Q0 x 1 9 tag\n#\n"),
    "other order": lambda content: b"\n".join(sorted(content.splitlines(), reverse=True)),
    "one topic in pieces": lambda content: b"\n".join(content.splitlines()[i] for i in (1, 2, 0)),
}


@pytest.mark.filterwarnings("ignore:.* without a line end")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_a_file_changes_nothing(tmp_path, layout):
    run = read_run(write(tmp_path, LAYOUTS[layout](RUN)))
    assert run.to_dict() == RUN_READ
    assert run.documents == ("a", "b", "a")
    assert read_qrels(write(tmp_path, LAYOUTS[layout](QRELS))).to_dict() == QRELS_READ


def test_comments_that_look_like_entries_are_comments(tmp_path):
    run = read_run(write(tmp_path, RUN + b"#1 Q0 c 1 1 tag\n # Q0 c 1 1 tag\n# Q0 c 1 1 tag\n"))
    assert run.to_dict() == RUN_READ
    qrels = read_qrels(write(tmp_path, QRELS + b"#1 0 c 1\n # 0 c 1\n# 0 c 1\n"))
    assert qrels.to_dict() == QRELS_READ


COMPRESSORS = {
    "plain": lambda content: content,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: zstandard.ZstdCompressor().compress(content),
}


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_compressed_files_are_read(tmp_path, kind, monkeypatch):
    compress = COMPRESSORS[kind]
    assert read_run(write(tmp_path, compress(RUN))).to_dict() == RUN_READ
    assert read_qrels(write(tmp_path, compress(QRELS))).to_dict() == QRELS_READ
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(compress(RUN))))
    run = read_run("-")
    assert run.name == "stdin"
    assert run.to_dict() == RUN_READ


@pytest.mark.parametrize("kind", [kind for kind in COMPRESSORS if kind != "plain"])
def test_truncated_compressed_files_are_named(tmp_path, kind):
    path = write(tmp_path, COMPRESSORS[kind](RUN * 9)[:-3], f"x.{kind}")
    for read in (read_run, read_qrels, read_intents):
        with pytest.raises(UnreadableError, match=re.escape(f"{path}: the compressed data end")):
            read(path)


@pytest.mark.parametrize(
    "score",
    ["2", "+2", "2.", "2.0e0", "2E+0", "200e-2", "02.000", "0.02e2", "2.0000000000000000001"],
)
def test_scores_may_be_written_in_any_way(tmp_path, score):
    assert read_run(write(tmp_path, f"1 Q0 a 1 {score} t\n")).to_dict() == {"1": {"a": 2.0}}


@pytest.mark.parametrize("score", ["-0.5", ".5", "1e-400", "1e308", "-1e308", "5e-324", "-0"])
def test_scores_are_read_to_the_last_bit(tmp_path, score):
    run = read_run(write(tmp_path, f"1 Q0 a 1 {score} t\n"))
    assert run.scores.tobytes() == np.float64(score).tobytes()


@pytest.mark.parametrize(
    ("gain", "expected"),
    [("1", 1), ("+1", 1), ("01", 1), ("-2", -2), ("1.0", 1), ("1.", 1), ("1.0e+00", 1), ("-0.0", 0)]
    + [(str(sign * (2**31 - 1)), sign * (2**31 - 1)) for sign in (-1, 1)],
)
def test_gains_are_whole_numbers_however_written(tmp_path, gain, expected):
    qrels = read_qrels(write(tmp_path, f"1 0 a {gain}\n1 0 b 0\n"))
    assert qrels.to_dict() == {"1": {"a": expected, "b": 0}}


IDS = [
    "01",
    "NA",
    "nan",
    "1e5",
    "1_000",
    "doc#3",
    "Ωmega",
    "文書",
    "\U0001f600",
    "a\u0085b",
    "a\u00a0b",
    "a\x1cb",
    "\x1d",
    "a\x1eb\x1fc",
    "\u2028",
    "\u3000x",
    "x\ufeff",
    '"quoted"',
    "'",
    "a,b",
    "{topic}",
    "%s",
    "\x7f",
    "\x1a",
]


@pytest.mark.parametrize("text", IDS)
def test_ids_are_text_and_stay_as_they_are(tmp_path, text):
    run = read_run(write(tmp_path, f"{text} Q0 {text} 1 1.0 {text}\n"), name_by="tag")
    assert run.to_dict() == {text: {text: 1.0}}
    assert run.name == text
    qrels = read_qrels(write(tmp_path, f"{text} {text} {text} 1\n"))
    assert qrels.to_dict() == {text: {text: 1}}
    assert qrels.subtopics == (text,)
    assert read_intents(write(tmp_path, f"{text} {text} 0.5\n")) == {text: {text: 0.5}}


def test_the_second_and_fourth_column_of_a_run_are_ignored(tmp_path):
    run = read_run(write(tmp_path, "1 x a one 1 t\n1 y b nan 2 t\n"))
    assert run["1"] == [("b", 2.0), ("a", 1.0)]


def test_the_second_column_of_qrels_is_kept_as_subtopic(tmp_path):
    qrels = read_qrels(write(tmp_path, "1 Q0 a 1\n1 x a 2\n1 Q0 b 0\n"))
    assert qrels.to_dict() == {"1": {"a": 2, "b": 0}}
    assert qrels.subtopics == ("Q0", "x", "Q0")
    assert qrels.subtopic_gains.tolist() == [1, 2, 0]


def test_five_columns_are_read_with_a_warning(tmp_path):
    path = write(tmp_path, RUN + b"# comment\n2 Q0 b 2 0.25\n3 Q0 c 1 1\n")
    with pytest.warns(InputWarning) as caught:
        run = read_run(path, name_by="tag")
    assert str(caught[0].message) == (
        f"{path}: 2 lines have five columns; read as topic Q0 docid rank score, without a tag"
    )
    assert caught[0].filename == __file__
    assert run.to_dict() == RUN_READ | {"2": {"a": 0.5, "b": 0.25}, "3": {"c": 1.0}}
    assert run.name == "tag"


def test_without_any_tag_a_run_is_named_by_its_file(tmp_path):
    path = write(tmp_path, "1 Q0 a 1 1\n", "input.bm25.run")
    with pytest.warns(InputWarning, match="1 line has five columns"):
        assert read_run(path, name_by="tag").name == "bm25"


def test_repeated_judgements_are_read_with_a_warning(tmp_path):
    path = write(tmp_path, QRELS + QRELS)
    with pytest.warns(InputWarning) as caught:
        assert read_qrels(path).to_dict() == QRELS_READ
    assert str(caught[0].message) == (
        f"{path}: 3 judgements are repeated with the same gain; each counts once"
    )
    assert caught[0].filename == __file__


RUN_EXPECTS = "expected 6: topic Q0 docid rank score tag"
NOT_FINITE = "is not a finite number; expected topic Q0 docid rank score tag"
BAD_SCORES = "nan NaN inf -inf infinity 1e400 -1e400 1e 0x10 1_000 1,5 1.2.3 -- . e5 score ٣ １ 1\x1c \u00a01"
BAD_RUN_LINES = [
    (
        "1 Q0 a 1\n",
        f"4 columns; {RUN_EXPECTS} (this looks like qrels, not a run)",
    ),
    ("1 Q0 a b\n", f"4 columns; {RUN_EXPECTS}"),
    ("1 Q0 a b 1 tag more\n", f"7 columns; {RUN_EXPECTS}"),
    ("1 Q0 a 1 b tag more\n", f"7 columns; {RUN_EXPECTS}"),
    ("1 Q0 a 1 5 tag1 Q0 b 2 4 tag\n", f"11 columns; {RUN_EXPECTS}"),
    ("1\n", f"1 column; {RUN_EXPECTS}"),
    ("1,Q0,a,1,1.0,tag\n", f"1 column; {RUN_EXPECTS}"),
    ("1 Q0 a 1 5 tag 1 Q0 b 2 4 tag\n", f"12 columns; {RUN_EXPECTS}"),
    ("1 Q0 y 1 5 tag x 1 Q0 z 2 4 tag\n", f"13 columns; {RUN_EXPECTS}"),
    (
        "1 Q0 a 9 0.1 tag\n",
        "document 'a' occurs twice in topic '1' (first on line 3); expected each document once per topic",
    ),
    (f"1 Q0 z 1 {'x' * 100} tag\n", f"score '{'x' * 60}…' {NOT_FINITE}"),
    *(
        (f"1 Q0 z 1 {score} tag\n", f"score {score!r} {NOT_FINITE}")
        for score in BAD_SCORES.split(" ")
    ),
]


# Two lines, irregular or not: what is read by line from the start, and what is read by block.
STARTS = {"comment": "# comment\n\n", "regular": "0 Q0 a 1 1 tag\n0 Q0 b 1 1 tag\n"}


@pytest.mark.parametrize(("line", "problem"), BAD_RUN_LINES)
@pytest.mark.parametrize("start", STARTS)
def test_a_bad_line_of_a_run_is_named(tmp_path, start, line, problem):
    path = write(tmp_path, f"{STARTS[start]}{RUN.decode()}{line}9 Q0 a 1 1 tag\n")
    with pytest.raises(FormatError) as caught:
        read_run(path)
    assert str(caught.value) == f"{path}:6: {problem}"


QRELS_EXPECT = "expected 4: topic subtopic docid gain"
NOT_WHOLE = (
    "is not a whole number between -2147483647 and 2147483647; expected topic subtopic docid gain"
)
BAD_GAINS = (
    "0.5 1.5 nan inf 1_0 0x1 1e 1e400 1e-400 x ٣ 2147483648 -2147483648 -9223372036854775808 "
    "9223372036854775808 1000000000000000000000000000000 0.99999999999999999999 1e99999999999999999999"
)
BAD_QRELS_LINES = [
    ("1 0 a\n", f"3 columns; {QRELS_EXPECT}"),
    (
        "1 0 a 1 1\n",
        f"5 columns; {QRELS_EXPECT} (this looks like a run, not qrels)",
    ),
    ("1 0 a 1 x\n", f"5 columns; {QRELS_EXPECT}"),
    ("1 0 y 1 x 1 0 z 1\n", f"9 columns; {QRELS_EXPECT}"),
    (
        "1 Q0 a 1 0.5 tag\n",
        f"6 columns; {QRELS_EXPECT} (this looks like a run, not qrels)",
    ),
    (
        "1 0 a 0\n",
        "document 'a' of topic '1', subtopic '0', is judged 0 here and 1 on line 3; expected one judgement",
    ),
    (f"1 0 z {'9' * 5000}\n", f"gain '{'9' * 60}…' {NOT_WHOLE}"),
    *((f"1 0 z {gain}\n", f"gain {gain!r} {NOT_WHOLE}") for gain in BAD_GAINS.split(" ")),
]


@pytest.mark.parametrize(("line", "problem"), BAD_QRELS_LINES)
@pytest.mark.parametrize(
    "start", ["# comment\n\n", "0 0 a 1\n0 0 b 1\n"], ids=["comment", "regular"]
)
def test_a_bad_line_of_qrels_is_named(tmp_path, start, line, problem):
    path = write(tmp_path, f"{start}{QRELS.decode()}{line}9 0 a 1\n")
    with pytest.raises(FormatError) as caught:
        read_qrels(path)
    assert str(caught.value) == f"{path}:6: {problem}"


def test_a_short_and_a_long_line_do_not_cancel(tmp_path):
    path = write(tmp_path, "1 Q0 a 1 1.0\ntag 2 Q0 b 1 1.0 tag\n")
    with pytest.raises(FormatError, match=r":2: 7 columns; expected 6"):
        read_run(path)
    path = write(tmp_path, "1 0\na 1 1 0 b 1\n")
    with pytest.raises(FormatError, match=r":1: 2 columns; expected 4"):
        read_qrels(path)


def test_lines_that_fill_each_other_up_are_not_taken_for_one(tmp_path):
    """Together they have the columns of a regular line, with a line end in the place of one."""
    path = write(tmp_path, "1 Q0 a 1 1.0 tag\n1 Q0\nb 2 0.5\n")
    with pytest.raises(FormatError, match=r":2: 2 columns; expected 6"):
        read_run(path)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b" \t\r\n\n", b"# only\n  # comments", b"\xef\xbb\xbf"]
)
@pytest.mark.parametrize(
    ("read", "problem"),
    [
        (read_run, "the run is empty; expected one line per retrieved document"),
        (read_qrels, "the qrels are empty; expected one line per judgement"),
        (read_intents, "the file is empty; expected lines of topic subtopic probability"),
    ],
)
def test_a_file_without_entries_is_named(tmp_path, content, read, problem):
    path = write(tmp_path, content)
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: {problem}"


@pytest.mark.parametrize("read", [read_run, read_qrels, read_intents])
def test_what_is_no_utf8_text_is_named(tmp_path, read):
    accented = "1 0 a 1\n1 0 café 1\n"
    path = write(tmp_path, accented.encode("latin-1"))
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path}:2: byte 0xe9 is not UTF-8 text; expected a text file in UTF-8"
    )
    for encoding in ("utf-16", "utf-32"):
        with pytest.raises(FormatError, match="the file is in UTF-16 or UTF-32; expected UTF-8"):
            read(write(tmp_path, accented.encode(encoding)))
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-be"):
        with pytest.raises(FormatError, match=":1: byte 0x00 is not UTF-8 text"):
            read(write(tmp_path, accented.encode(encoding)))
    with pytest.raises(FormatError, match=":2: byte 0x00 is not UTF-8 text"):
        read(write(tmp_path, b"1 0 a 1\n1 0 b\0 1\n"))


def test_text_is_given_back_without_its_mark():
    assert text_bytes(b"\xef\xbb\xbf1 \xc3\xa9", "x") == b"1 \xc3\xa9"
    assert text_bytes(b"1 a", "x") == b"1 a"


@pytest.mark.parametrize("read", [read_run, read_qrels, read_intents])
def test_a_missing_file_and_a_directory_are_named(tmp_path, read):
    with pytest.raises(UnreadableError, match=re.escape(f"{tmp_path}/x: no such file")):
        read(tmp_path / "x")
    with pytest.raises(UnreadableError, match=re.escape(f"{tmp_path}: is a directory")):
        read(tmp_path)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1 x\n", "2 columns; expected 3: topic subtopic probability"),
        ("1 y -0.1\n", "probability '-0.1' is not a number of 0 or more"),
        ("1 y nan\n", "probability 'nan' is not a number of 0 or more"),
        ("1 y inf\n", "probability 'inf' is not a number of 0 or more"),
        ("1 y 1_0\n", "probability '1_0' is not a number of 0 or more"),
        ("1 y half\n", "probability 'half' is not a number of 0 or more"),
        ("1 x 0.6\n", "a second probability for subtopic 'x'"),
    ],
)
def test_a_bad_line_of_intents_is_named(tmp_path, line, problem):
    path = write(tmp_path, "# intents\n1 x 0.5\n" + line)
    with pytest.raises(FormatError) as caught:
        read_intents(path)
    assert str(caught.value) == f"{path}:3: {problem}"


def test_intents_that_are_all_zero_are_named(tmp_path):
    path = write(tmp_path, "1 x 0.5\n2 x 0\n2 y 0\n")
    with pytest.raises(FormatError) as caught:
        read_intents(path)
    assert str(caught.value) == f"{path}: the probabilities of topic '2' are all 0"


def test_qrels_are_read_with_intents_from_a_file_or_a_mapping(tmp_path):
    path = write(tmp_path, QRELS)
    intents = {"1": {"0": 0.25, "x": 0.75}}
    for given_as in (intents, write(tmp_path, "1 0 0.25\n1 x 0.75\n", "intents")):
        assert read_qrels(path, intents=given_as).intents == intents
    assert read_qrels(path).intents is None
    with pytest.raises(TopicMismatchError, match="the intents are of other topics"):
        read_qrels(path, intents={"9": {"0": 1.0}})
    with pytest.raises(FormatError, match="the intent probabilities of topic '1' are"):
        read_qrels(path, intents={"1": {"0": -1.0}})


NAMES = [
    ("bm25", "bm25"),
    ("runs/input.bm25.gz", "bm25"),
    ("input.bm25.run.gz", "bm25"),
    ("INPUT.bm25.RUN.GZ", "INPUT.bm25"),
    *((f"bm25{ending}", "bm25") for ending in (".run", ".txt", ".trec", ".res", ".dat", ".eval")),
    *((f"bm25{ending}", "bm25") for ending in (".csv", ".json", ".parquet")),
    *((f"bm25.txt{ending}", "bm25") for ending in (".gz", ".bz2", ".xz", ".zst")),
    ("bm25.run.txt", "bm25.run"),
    ("bm25.gz.gz", "bm25.gz"),
    ("bm25.k1=0.9.run", "bm25.k1=0.9"),
    ("bm25.runs", "bm25.runs"),
    ("input.run", "input"),
    ("input.", "input."),
    (".run", ".run"),
    (".gz", ".gz"),
    ("-", "stdin"),
    ("caf\udce9.run", "caf?"),
]


@pytest.mark.parametrize(("path", "name"), NAMES)
def test_a_run_is_named_by_its_file_without_endings(path, name):
    assert name_from_path(path) == name
    assert RunSource(path).label() == name
    assert RunSource(path, "other").label() == "other"


def test_a_run_is_named_by_file_tag_or_wish(tmp_path):
    path = write(tmp_path, RUN, "input.bm25.run")
    assert read_run(path).name == "bm25"
    assert read_run(path, name_by="tag").name == "tag"
    assert read_run(path, name="mine").name == "mine"
    assert read_run(path, name="mine", name_by="tag").name == "mine"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with runs and more."""
    for name in ("b.run", "a.run", ".hidden", "c=d.run", "run[1].txt"):
        write(tmp_path, RUN, name)
    (tmp_path / "inner").mkdir()
    write(tmp_path / "inner", RUN, "e.run.gz")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        (["a.run"], [("a.run", "a")]),
        (["b.run", "a.run"], [("b.run", "b"), ("a.run", "a")]),
        (["mine=a.run", "a.run"], [("a.run", "mine"), ("a.run", "a")]),
        (["x=y=a.run"], None),
        (["c=d.run"], [("c=d.run", "c=d")]),
        (["x=c=d.run"], [("c=d.run", "x")]),
        (["run[1].txt"], [("run[1].txt", "run[1]")]),
        (["[ab].run"], [("a.run", "a"), ("b.run", "b")]),
        (["inner"], [("inner/e.run.gz", "e")]),
        (["in*/*"], [("inner/e.run.gz", "e")]),
        (["-", "x=-"], [("-", "stdin"), ("-", "x")]),
        (["mine=-"], [("-", "mine")]),
        ([], []),
    ],
)
@pytest.mark.usefixtures("folder")
def test_runs_are_found_by_path_name_glob_and_directory(sources, found):
    if found is None:
        with pytest.raises(UnreadableError, match=r"y=a.run: no such file"):
            find_runs(sources)
    else:
        assert [(run.path, run.label()) for run in find_runs(sources)] == found


def test_a_directory_means_its_files(folder):
    found = find_runs([folder])
    assert [run.label() for run in found] == ["a", "b", "c=d", "run[1]"]
    assert [run.path for run in found[:2]] == [str(folder / "a.run"), str(folder / "b.run")]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("z.run", "z.run: no such file"),
        ("mine=z.run", "z.run: no such file"),
        ("=z.run", "=z.run: no such file"),
        ("mine=", "mine=: no such file"),
        ("z*.run", r"z\*.run: no file matches this pattern"),
        ("inn*", r"inn\*: no file matches this pattern"),
        ("a\0b", "a\0b: no such file"),
        ("a\0b/*", "no file matches this pattern"),
        ("empty", "empty: the directory has no files; expected runs"),
        ("", ": no such file"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_source_without_runs_is_named(source, problem):
    with pytest.raises(UnreadableError, match=problem):
        find_runs([source])


def test_a_directory_without_permission_is_named(folder, monkeypatch):
    def refuse(_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(UnreadableError) as caught:
        find_runs([folder])
    assert str(caught.value) == f"{folder}: cannot be read (Permission denied)"


def test_two_runs_of_one_name_are_an_error(folder):
    write(folder / "inner", RUN, "a.txt")
    with pytest.raises(InvalidValueError) as caught:
        find_runs(["a.run", "b.run", "inner/a.txt"])
    assert str(caught.value) == (
        "two runs are named 'a': a.run and inner/a.txt; give one of them another name, as in "
        "other=inner/a.txt"
    )
    assert len(find_runs(["a.run", "other=inner/a.txt"])) == 2


READABLE_IDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\n" + BLANKS), min_size=1, max_size=4
)
TOPICS = READABLE_IDS.filter(lambda text: text[0] not in "#\ufeff")
SCORES = st.floats(allow_nan=False, allow_infinity=False)
FINITE_RUNS = st.dictionaries(st.tuples(TOPICS, READABLE_IDS), SCORES, min_size=1, max_size=12)
JUDGEMENTS = st.dictionaries(
    st.tuples(TOPICS, READABLE_IDS, READABLE_IDS),
    st.integers(-(2**31) + 1, 2**31 - 1),
    min_size=1,
    max_size=12,
)
BLANK = st.text(BLANKS, min_size=1, max_size=2)
NO_LINE = st.sampled_from(["", " ", "\r", "\t\f", "# 1 Q0 a 1 1.0 tag", " #", "#x"])


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("files") / "some.run"


@st.composite
def laid_out(draw, rows):
    """Draw a file of the rows: any order, any blanks, comments and blank lines anywhere."""
    lines = []
    for row in draw(st.permutations(rows)):
        blank = draw(BLANK)
        lines += draw(st.lists(NO_LINE, max_size=1))
        lines.append(
            draw(st.sampled_from(["", blank]))
            + blank.join(row)
            + draw(st.sampled_from(["", " ", "\r"]))
        )
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return (mark + "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))).encode()


@settings(max_examples=at_most(100))
@given(st.data())
def test_any_run_is_read_whatever_its_layout(scratch, data):
    entries = data.draw(FINITE_RUNS)
    rows = [
        (topic, "Q0", docid, "1", repr(score), "t") for (topic, docid), score in entries.items()
    ]
    scratch.write_bytes(data.draw(laid_out(rows)))
    expected = {}
    for (topic, docid), score in entries.items():
        expected.setdefault(topic, {})[docid] = score
    with mock.patch.object(trec, "BLOCK_SIZE", data.draw(st.sampled_from([1, 40, 1 << 16]))):
        run = read_run(scratch)
    assert run.to_dict() == expected
    for topic in run:
        keys = [(score, docid.encode()) for docid, score in run[topic]]
        assert keys == sorted(keys, reverse=True)


@pytest.mark.filterwarnings("ignore:.* without a line end")
@settings(max_examples=at_most(100))
@given(st.data())
def test_any_qrels_are_read_whatever_their_layout(scratch, data):
    entries = data.draw(JUDGEMENTS)
    rows = [(*key, str(gain)) for key, gain in entries.items()]
    scratch.write_bytes(data.draw(laid_out(rows)))
    with mock.patch.object(trec, "BLOCK_SIZE", data.draw(st.sampled_from([1, 40, 1 << 16]))):
        qrels = read_qrels(scratch)
    topics = qrels.document_topics[qrels.judged_documents].tolist()
    read = {
        (qrels.topics[topic], subtopic, qrels.documents[document]): gain
        for topic, subtopic, document, gain in zip(
            topics, qrels.subtopics, qrels.judged_documents, qrels.subtopic_gains, strict=True
        )
    }
    assert read == entries


@settings(max_examples=at_most(100))
@given(FINITE_RUNS, st.text(max_size=5))
def test_a_run_is_read_back_as_it_was_written(scratch, entries, name):
    topics, documents = zip(*entries, strict=True)
    run = build_run("some", topics, documents, np.array(list(entries.values())))
    write_run(run, scratch)
    assert same_runs(read_run(scratch), run)
    renamed = build_run(name, topics, documents, np.array(list(entries.values())))
    write_run(renamed, scratch)
    assert read_run(scratch).to_dict() == run.to_dict()


@settings(max_examples=at_most(100))
@given(JUDGEMENTS)
def test_qrels_are_read_back_as_they_were_written(scratch, entries):
    topics, subtopics, documents = zip(*entries, strict=True)
    qrels = build_qrels(topics, subtopics, documents, np.array(list(entries.values())))
    write_qrels(qrels, scratch)
    assert same_qrels(read_qrels(scratch), qrels)


@pytest.mark.parametrize("text", ["", "a b", "a\tb", "a\n", "\r", "\0", "\ud800"])
def test_an_id_that_no_file_can_hold_is_not_written(tmp_path, text):
    target = tmp_path / "out"
    one = np.ones(1, np.int64)
    writes = [
        lambda: write_run(build_run("r", [text], ["a"], one * 1.0), target),
        lambda: write_run(build_run("r", ["1"], [text], one * 1.0), target),
        lambda: write_qrels(build_qrels([text], ["0"], ["a"], one), target),
        lambda: write_qrels(build_qrels(["1"], [text], ["a"], one), target),
        lambda: write_qrels(build_qrels(["1"], ["0"], [text], one), target),
    ]
    for attempt in writes:
        with pytest.raises(FormatError, match="cannot be written to a TREC file; expected text"):
            attempt()
    assert not target.exists()


@pytest.mark.parametrize("topic", ["#1", "\ufeff1"])
def test_a_topic_that_would_be_lost_is_not_written(tmp_path, topic):
    run = build_run("r", [topic], ["#a"], np.ones(1))
    with pytest.raises(
        FormatError, match=re.escape(f"topic {topic!r} cannot be written to a TREC")
    ):
        write_run(run, tmp_path / "out")


# Bytes that mean something to one reader or another, and some that mean nothing.
PIECES = [
    *(blank.encode() for blank in BLANKS),
    *(b"\n", b"\r\n", b"#", b"_", b"\0", b"\x1c", b"\x1f", b"\x85", b"\xc2\x85", b"\xc2\xa0"),
    *(b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xff", b"\xd9\xa3", b"+", b"-", b".", b"e", b"e999"),
    *(b"nan", b"inf", b"0x", b"1", b"0", b"a", b"Q0", b"tag", b"1.5", b"99999999999999999999"),
]
REGULAR = {
    "run": [b"1", b"Q0", b"a", b"1", b"2.5", b"tag"],
    "qrels": [b"1", b"0", b"a", b"1"],
}


@st.composite
def mutated(draw, kind):
    """Draw a regular file with some bytes inserted, replaced or removed."""
    row = REGULAR[kind]
    lines = []
    for i in range(draw(st.integers(1, 5))):
        fields = list(row)
        fields[0] = draw(st.sampled_from([b"1", b"2"]))
        fields[2] = b"d%d" % i
        lines.append(draw(st.sampled_from([b" ", b"\t", b"  "])).join(fields) + b"\n")
    content = b"".join(lines)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(content)))
        stop = start + draw(st.integers(0, 2))
        content = content[:start] + draw(st.sampled_from([b"", *PIECES])) + content[stop:]
    return content


def is_run_line(row):
    """Whether a line has five or six columns; or more, of which the rest is no other line."""
    number = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    joined = re.search(rf" {number} {number}( |$)", " " + " ".join(row[8:]))
    ranked = re.fullmatch(rf"{number} {number}", " ".join(row[3:5]))
    return len(row) in (5, 6) or (len(row) > 6 and ranked is not None and not joined)


def parsed_by_definition(content, is_line, value):
    """Return the fields of every line that is none or a comment, by other means than the reader.

    None where something is wrong with a line.
    """
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text or content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    rows = [re.findall(rf"[^{BLANKS}]+", line) for line in text.split("\n")]
    rows = [row for row in rows if row and not row[0].startswith("#")]
    marked = [row for row in rows if row[0].startswith("\ufeff")]  # as in concatenated files
    wrong = [*marked, *(row for row in rows if not is_line(row) or value(row) is None)]
    return rows if rows and not wrong else None


def score_of(row):
    try:
        finite = re.fullmatch(r"[-+.0-9eE]+", row[4]) and np.isfinite(float(row[4]))
    except ValueError:
        return None
    return float(row[4]) if finite else None


def gain_of(row):
    match = re.fullmatch(r"([-+]?[0-9]+)(\.0*)?([eE][-+]?0+)?", row[3])
    return int(match[1]) if match and abs(int(match[1])) < 2**31 else None


def read_or_refuse(read, *args):
    """Return what was read, or None where it was refused; any other error is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        try:
            return read(*args)
        except ConfirError as error:
            assert str(error)  # noqa: PT017
            return None


@settings(max_examples=at_most(300))
@given(mutated("run") | st.binary(max_size=60))
def test_any_bytes_are_read_as_the_definition_says_or_refused_as_run(scratch, content):
    scratch.write_bytes(content)
    run = read_or_refuse(read_run, scratch)
    rows = parsed_by_definition(content, is_run_line, score_of)
    keys = [(row[0], row[2]) for row in rows or ()]
    if rows is None or len(set(keys)) < len(keys):
        assert run is None
    else:
        expected = {}
        for row in rows:
            expected.setdefault(row[0], {})[row[2]] = score_of(row)
        assert run is not None
        assert run.to_dict() == expected


@settings(max_examples=at_most(300))
@given(mutated("qrels") | st.binary(max_size=60))
def test_any_bytes_are_read_as_the_definition_says_or_refused_as_qrels(scratch, content):
    scratch.write_bytes(content)
    qrels = read_or_refuse(read_qrels, scratch)
    rows = parsed_by_definition(content, lambda row: len(row) == 4, gain_of)
    judged = {}
    for row in rows or ():
        judged.setdefault(tuple(row[:3]), set()).add(gain_of(row))
    if rows is None or any(len(gains) > 1 for gains in judged.values()):
        assert qrels is None
    else:
        expected = {}
        for (topic, _, docid), (gain,) in judged.items():
            gains = expected.setdefault(topic, {})
            gains[docid] = max(gain, gains.get(docid, gain))
        assert qrels is not None
        assert qrels.to_dict() == expected


def qrels_by_block(content):
    judged = trec.judgements_by_block(content)
    return None if judged is None else build_qrels(*judged, path="x")


def qrels_by_line(content):
    return build_qrels(*trec_lines.judgements_by_line(content, "x"), path="x")


@settings(max_examples=at_most(300))
@given(st.data())
def test_reading_by_block_and_by_line_agree(data):
    """The quick way gives up or is right: what it reads, the reading by line reads the same."""
    kind = data.draw(st.sampled_from(["run", "qrels"]))
    whole = data.draw(mutated(kind))
    content = read_or_refuse(text_bytes, whole, "x")
    if content is None:
        return
    arguments = ("x", None, "tag") if kind == "run" else ()
    same = same_runs if kind == "run" else same_qrels
    by_block, by_line = trec.run_by_block, trec_lines.read_run_by_line
    if kind == "qrels":
        by_block, by_line = qrels_by_block, qrels_by_line
    size = data.draw(st.sampled_from([1, 20, 1 << 16]))
    with mock.patch.object(trec, "BLOCK_SIZE", size):
        quick = read_or_refuse(by_block, whole, *arguments)
    careful = read_or_refuse(by_line, content, *arguments)
    assert quick is None or same(quick, careful)


@pytest.mark.parametrize("layout", ["as it is", "CRLF", "tabs", "double blanks", "trailing blanks"])
def test_regular_files_are_read_by_block(layout):
    """Or all of this would only ever test the reading by line."""
    content = LAYOUTS[layout](RUN)
    assert trec.run_by_block(content, "x", None, "file").to_dict() == RUN_READ
    content = LAYOUTS[layout](QRELS)
    assert qrels_by_block(content).to_dict() == QRELS_READ


def real_files(folder, pattern):
    paths = sorted(folder.glob(pattern))
    assert paths
    return paths


# Has text after the tag, which trec_eval passes over.
WITH_TEXT = "results.trunc"


@pytest.mark.parametrize("start", STARTS)
def test_text_after_the_tag_is_left_out_with_a_warning(tmp_path, start):
    lines = "1 Q0 a 1 2.5 tag more junk\n1 Q0 b 2 1 tag 7\n1 Q0 c 3 0 tag\n"
    path = write(tmp_path, STARTS[start] + lines)
    with pytest.warns(ReadingWarning) as caught:
        run = read_run(path, name_by="tag")
    assert (run.to_dict()["1"], run.name) == ({"a": 2.5, "b": 1.0, "c": 0.0}, "tag")
    assert [str(one.message) for one in caught] == [
        f"{path}: text after the tag is left out, as trec_eval does (lines 3, 4)"
    ]


def check_that_runs_are_read(paths):
    for path in paths:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert len(read_run(path).documents) == read_bytes(path).count(b"\n")
        assert bool(caught) == (path.name == WITH_TEXT)


def test_runs_of_every_real_collection_are_read(real_data):
    """Of each collection, the shortest two; tests/verify reads them all."""
    folders = {path.parent for path in real_files(real_data, "*/runs/*")}
    shortest = [
        path
        for folder in sorted(folders)
        for path in sorted(folder.iterdir(), key=lambda path: path.stat().st_size)[:2]
    ]
    assert len(shortest) >= 10
    check_that_runs_are_read(shortest + real_files(real_data, "*/test/results*"))


def test_every_real_qrels_file_is_read(real_data):
    paths = real_files(real_data, "*/qrels*") + real_files(real_data, "*/test/qrels*")
    assert len(paths) >= 14
    for path in paths:
        lines = [line for line in read_bytes(path).splitlines() if not line.startswith(b"#")]
        assert len(read_qrels(path).subtopics) == len(lines)


@pytest.mark.parametrize(
    "name",
    [
        "trec-robust-2003/runs/input.aplrob03a.gz",
        "trec_eval-tests/test/results.test",
        "trec_eval-tests/test/results.comment.test",
        "clef-ehealth-2015/runs",
        "trec-web-2012-diversity/runs",
    ],
)
def test_real_runs_are_read_alike_by_block_and_by_line(real_data, name):
    path = real_data / name
    path = min(path.iterdir()) if path.is_dir() else path
    content = read_bytes(path)
    by_block = trec.run_by_block(content, "x", None, "tag")
    assert same_runs(by_block, trec_lines.read_run_by_line(content, "x", None, "tag"))
    assert os.path.getsize(path) > 1000


def test_json_in_a_pipe_is_recognised(monkeypatch):
    content = b'{"1": {"d": 1.5, "e": 2.0, "f": 3.0, "g": 4.0}}'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(FormatError, match="looks like JSON, which is read from files"):
        read_run("-")


def test_what_may_not_be_looked_at_is_not_called_missing(monkeypatch):
    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "stat", refuse)
    with pytest.raises(
        UnreadableError, match=r"closed/a.run: cannot be read \(Permission denied\)"
    ):
        find_runs(["closed/a.run"])


@pytest.mark.parametrize("before", ["", " ", "# a comment\n"])
def test_a_byte_order_mark_in_the_middle_is_refused(tmp_path, before):
    path = tmp_path / "joined.txt"
    line = before.count("\n") + 2
    message = rf"joined\.txt:{line}: a byte order mark in the middle, as in concatenated files"
    for first, read in (("1 Q0 d1 1 0.5 t\n", read_run), ("1 0 d1 1\n", read_qrels)):
        path.write_text(
            f"\ufeff{first}{before}\ufeff{first.replace('1', '2', 1)}", encoding="utf-8"
        )
        with pytest.raises(FormatError, match=message):
            read(path)


@pytest.mark.parametrize("fault", ["1 Q0 d1 9 0.1 t\n", "1 Q0 d2 2 x t\n", "1 Q0\n"])
def test_a_fault_at_the_start_of_a_large_run_does_not_wait_for_the_rest(
    tmp_path, monkeypatch, fault
):
    path = tmp_path / "large.run"
    more = (f"{n // 100} Q0 d{n} 3 0.1 t\n" for n in range(200, 100_000))
    path.write_text("1 Q0 d1 1 0.5 t\n" + fault + "".join(more))
    read, sizes = trec.read_lines, []
    monkeypatch.setattr(trec, "read_lines", lambda block: sizes.append(len(block)) or read(block))
    with pytest.raises(FormatError, match=r"large\.run:2: "):
        read_run(path)
    assert sum(sizes) < 2 * trec.BLOCK_SIZE


def test_a_topic_named_like_an_empty_object_is_no_json(tmp_path):
    (tmp_path / "some.run").write_text("{} Q0 d1 1 2.0 tag\n")
    (tmp_path / "some.qrels").write_text("{} 0 d1 1\n")
    assert confir.read_run(tmp_path / "some.run").to_dict() == {"{}": {"d1": 2.0}}
    assert confir.read_qrels(tmp_path / "some.qrels").to_dict() == {"{}": {"d1": 1}}
