# ruff: noqa: PD011 - the values of Scores, not of a data frame
import bz2
import csv
import gzip
import io
import json
import lzma
import re
import subprocess
import sys
import warnings
from itertools import chain
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import confir
from confir.control_characters import without_controls
from confir.data.score_files import read_scores
from confir.data.score_writers import write_scores
from confir.data.scores import Scores
from confir.data.tables.column_names import is_reserved
from confir.data.tables.measure_names import find_measures
from confir.data.tables.summary_rows import is_summary
from confir.errors import (
    ConfirError,
    FormatError,
    InputWarning,
    InvalidValueError,
    MissingDependencyError,
    ReadingWarning,
    UnknownNameError,
    UnreadableError,
)
from confir.measures.parsing import canonical_name
from score_entries import scores_from_entries
from strategies import at_most

LONG = "run,measure,topic,score\nbm25,AP,01,0.5\nbm25,AP,NA,0.25\ndense,AP,01,1\n"
WIDE = "topic,bm25,dense\n01,0.5,1\nNA,0.25,\n"
RECORDS = [
    {"run": "bm25", "measure": "AP", "topic": "01", "score": 0.5},
    {"run": "bm25", "measure": "AP", "topic": "NA", "score": 0.25},
    {"run": "dense", "measure": "AP", "topic": "01", "score": 1.0},
]
TREC_EVAL = (
    "num_ret               \t01\t1000\n"
    "map                   \t01\t0.5000\n"
    "num_ret               \t02\t900\n"
    "map                   \t02\t0.2500\n"
    "runid                 \tall\tbm25tag\n"
    "map                   \tall\t0.3750\n"
)


@pytest.fixture
def write(tmp_path):
    """Writes text, or bytes, to a file of that name; returns its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def as_entries(scores: Scores) -> dict[tuple[str, str, str], float]:
    return {(r["run"], r["measure"], r["topic"]): r["score"] for r in scores.to_records()}


EXPECTED = {(r["run"], r["measure"], r["topic"]): r["score"] for r in RECORDS}


# trec_eval


def test_trec_eval_output_is_one_run_named_after_its_file(write):
    scores = read_scores(write("bm25.eval", TREC_EVAL))
    assert scores.runs == ("bm25",)
    assert scores.measures == ("NumRet", "AP")
    assert scores.topics == ("01", "02")
    np.testing.assert_array_equal(scores.values[:, 0], [[1000, 0.5], [900, 0.25]])


def test_the_run_of_trec_eval_output_can_be_named(write):
    assert read_scores(write("bm25.eval", TREC_EVAL), run="mine").runs == ("mine",)


def test_blank_lines_comments_and_windows_line_ends_are_allowed(write):
    text = "# made by hand\n\n" + TREC_EVAL.replace("\n", "\r\n\r\n")
    assert as_entries(read_scores(write("a.eval", text))) == as_entries(
        read_scores(write("b.eval", TREC_EVAL), run="a")
    )


def test_columns_of_trec_eval_may_be_padded_by_blanks_alone(write):
    scores = read_scores(write("a", "map     301    0.5\nP_10    301    0.25\n"))
    assert as_entries(scores) == {("a", "AP", "301"): 0.5, ("a", "P@10", "301"): 0.25}


def test_only_ascii_blanks_separate_the_columns_of_trec_eval(write):
    scores = read_scores(write("a", "map\ttopic\u00a0one\t0.5\nmap\tall\t0.5\n"))
    assert scores.topics == ("topic\u00a0one",)


def test_relevance_strings_are_no_scores(write):
    text = "relstring\t301\t'0101'\nrelstring_20\t301\t01\nmap\t301\t0.5\n"
    assert read_scores(write("a", text)).measures == ("AP",)


def test_a_run_column_before_the_score_is_read(write):
    text = "RBP(0.8)\tq1\tx.dat\t0.5\nuRBP(0.8)\tq1\tx.dat\t0.25\nRBP(0.8)\tall      \t0.5\n"
    scores = read_scores(write("x.urbp", text))
    assert as_entries(scores) == {
        ("x.dat", "RBP(0.8)", "q1"): 0.5,
        ("x.dat", "uRBP(0.8)", "q1"): 0.25,
    }


def test_trec_eval_names_become_the_names_of_the_catalogue(real_data):
    path = real_data / "trec_eval-tests" / "test" / "out.test.aq"
    original = [line.split()[0] for line in path.read_text().splitlines() if "\t301\t" in line]
    original = [name for name in original if not name.startswith("relstring")]
    assert list(read_scores(path).measures) == [
        name if name == "rbp" else canonical_name(name) for name in original
    ]


@pytest.mark.parametrize(
    ("given_name", "name"),
    [("P10", "P@10"), ("R-prec", "Rprec"), ("ircl_prn.0.10", "ircl_prn.0.10"), ("rbp", "rbp")],
)
def test_names_of_old_and_new_trec_eval_are_read(write, given_name, name):
    assert read_scores(write("a", f"{given_name}  \t301\t0.5\n")).measures == (name,)


SOBOROFF_MAP = {
    "trec13.robust_apl04rsTDNfw": ("351", 0.5048, 100),
    "trec14.robust_ASUBE": ("303", 0.1409, 50),
    "trec15.terabyte-adhoc_AMRIMtp20006": ("701", 0.0353, 149),
    "trec17.blog-topicrel_B1DocOpinAZN": ("851", 0.5124, 150),
    "trec21.web_2012bpacad4": ("151", 0.0355, 50),
    "trec8.adhoc_weaver1": ("401", 0.0016, 50),
}


def test_outputs_of_every_version_of_trec_eval_are_read_and_merged(real_data):
    paths = sorted((real_data / "soboroff2014" / "trec_eval_outputs").iterdir())
    scores = read_scores(paths)
    assert scores.runs == tuple(SOBOROFF_MAP)
    entries = as_entries(scores.select(measure=["AP"]))
    for run, (topic, value, count) in SOBOROFF_MAP.items():
        assert entries[run, "AP", topic] == value
        assert sum(name == run for name, _, _ in entries) == count


def test_trec_eval_output_agrees_with_the_long_table_of_the_same_run(real_data):
    folder = real_data / "soboroff2014"
    table = as_entries(read_scores(folder / "scores" / "trec8.adhoc.csv.gz"))
    output = as_entries(
        read_scores(folder / "trec_eval_outputs" / "trec8.adhoc_weaver1.eval", run="weaver1")
    )
    shared = {key: value for key, value in table.items() if key[0] == "weaver1"}
    assert len(shared) == 300
    assert {key: output[key] for key in shared} == shared


@pytest.mark.parametrize(
    ("ending", "topics", "measures"),
    [
        ("aq", 3, 95),
        ("aqZ", 3, 95),
        ("aqc", 3, 95),
        ("aqcM", 3, 95),
        ("aql", 3, 95),
        ("meas_params", 3, 22),
        ("prefs", 24, 14),
        ("qrels_jg", 3, 20),
        ("qrels_prefs", 3, 14),
    ],
)
def test_the_expected_outputs_of_trec_eval_are_read(real_data, ending, topics, measures):
    scores = read_scores(real_data / "trec_eval-tests" / "test" / f"out.test.{ending}")
    assert scores.values.shape == (topics, 1, measures)
    assert not np.isnan(scores.values).any()


@pytest.mark.parametrize("ending", ["out.test", "out.test.a", "out.comment.test"])
def test_output_of_trec_eval_without_topics_is_an_error(real_data, ending):
    with pytest.raises(FormatError, match=r"only summaries.*with the option -q"):
        read_scores(real_data / "trec_eval-tests" / "test" / ending)


def test_measures_of_one_run_are_merged_from_three_files(real_data):
    folder = real_data / "clef-ehealth-2015" / "trec_eval_expected"
    for path in folder.glob("*.dat"):
        paths = [path, f"{path}.ndcg", f"{path}.urbp"]
        scores = read_scores(paths, run=path.name)
        assert scores.values.shape == (66, 1, 27 + 9 + 3)
        assert not np.isnan(scores.values).any()
        lines = (line.split() for line in path.read_text().splitlines())
        means = {
            name: float(value) for name, topic, value in lines if topic == "all" and name == "map"
        }
        assert scores.select(measure=["AP"]).mean()[0, 0] == pytest.approx(means["map"], abs=1e-4)


# ir_measures


@pytest.fixture(scope="module")
def ir_measures_output(real_data):
    """Returns what the command ir_measures prints for trec_eval's own test."""

    def run(*options):
        folder = real_data / "trec_eval-tests" / "test"
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "ir_measures",
            "qrels.test",
            "results.test",
        ]
        names = ["AP", "nDCG@10", "P(rel=2)@5"]
        return subprocess.run(
            [*command, *names, *options], cwd=folder, capture_output=True, check=True
        ).stdout

    return run


@pytest.mark.parametrize(
    "options",
    [("-q",), ("-q", "-n"), ("-q", "-o", "jsonl"), ("-q", "-p", "-1"), ("-q", "-n", "-o", "jsonl")],
)
@pytest.mark.filterwarnings("ignore:.*summaries are left out")
def test_output_of_ir_measures_is_read(write, ir_measures_output, options):
    scores = read_scores(write("bm25.txt", ir_measures_output(*options)))
    assert scores.runs == ("bm25",)
    assert set(scores.measures) == {"AP", "nDCG@10", "P(rel=2)@5"}
    assert scores.topics == ("301", "302", "303")
    ap = scores.select(measure=["AP"]).values[:, 0, 0]
    np.testing.assert_allclose(ap, [0.0324, 0.4175, 0.0858], atol=5e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [((), "looks like summaries of measures"), (("-o", "jsonl"), "no column of topics")],
)
def test_output_of_ir_measures_without_topics_is_an_error(
    write, ir_measures_output, options, message
):
    with pytest.raises(FormatError, match=message):
        read_scores(write("bm25.txt", ir_measures_output(*options)))


def test_endings_are_left_out_of_a_run_s_name(write):
    text = "301\tAP\t0.5\nall\tAP\t0.5\n"
    for name in ("bm25.tsv", "bm25.txt", "bm25.tsv.gz", "bm25"):
        content = gzip.compress(text.encode()) if name.endswith("gz") else text
        assert read_scores(write(name, content)).runs == ("bm25",)


@pytest.mark.parametrize(
    ("text", "topics", "measures"),
    [
        ("all\tx\t1\n9\tx\t1\n", ("9",), ("x",)),
        ("x\tall\t1\nx\t9\t1\n", ("9",), ("x",)),
        ("x   \t9\t1\n", ("9",), ("x",)),
        ("9\tnDCG@10\t1\n9\tx\t1\n", ("9",), ("nDCG@10", "x")),
        ("nDCG@10\t9\t1\nx\t9\t1\n", ("9",), ("nDCG@10", "x")),
        ("R101\tR@5\t1\n", ("R101",), ("R@5",)),
    ],
)
def test_the_column_of_topics_is_recognised_by_content(write, text, topics, measures):
    scores = read_scores(write("a", text))
    assert (scores.topics, scores.measures) == (topics, measures)


def test_columns_that_cannot_be_distinguished_are_an_error(write):
    with pytest.raises(FormatError, match="columns of topics and measures cannot be distinguished"):
        read_scores(write("a", "x\ty\t0.5\n"))


# CSV and TSV, long


def test_a_long_table_is_read_and_ids_stay_text(write):
    scores = read_scores(write("t.csv", LONG))
    assert as_entries(scores) == EXPECTED
    assert np.isnan(scores.values[1, 1, 0])


@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t", "t.data"])
def test_a_long_table_needs_no_ending(write, name):
    assert as_entries(read_scores(write(name, LONG))) == EXPECTED


@pytest.mark.parametrize("name", ["t.tsv", "t.csv", "t.txt"])
def test_columns_may_be_separated_by_tabs(write, name):
    assert as_entries(read_scores(write(name, LONG.replace(",", "\t")))) == EXPECTED


@pytest.mark.parametrize(
    "header",
    [
        "Run,Measure,Topic,Score",
        "system,metric,query_id,value",
        "run_id,measure,qid,value",
        "tag,metric,topic_id,score",
        "name,measure,query,value",
        '"run", "measure", "topic", "score"',
        "run,measure,q_id,score",
    ],
)
def test_columns_have_several_names(write, header):
    assert (
        as_entries(read_scores(write("t.csv", LONG.replace("run,measure,topic,score", header))))
        == EXPECTED
    )


def test_columns_come_in_any_order_and_others_are_ignored(write):
    frame = pd.DataFrame(RECORDS)[["score", "topic", "run", "measure"]]
    frame["note"] = "x"
    text = frame.to_csv()
    assert text.startswith(",score")
    with pytest.warns(ReadingWarning, match="not used: columns note$"):
        assert as_entries(read_scores(write("t.csv", text))) == EXPECTED


@pytest.mark.parametrize(
    ("text", "names", "entry"),
    [
        ("topic,score\n1,0.5\n", {}, ("t_ap", "AP", "1")),
        ("topic,score\n1,0.5\n", {"run": "r", "measure": "RR"}, ("r", "RR", "1")),
        ("measure,topic,score\nRR,1,0.5\n", {}, ("t_ap", "RR", "1")),
        ("run,topic,score\nr,1,0.5\n", {}, ("r", "AP", "1")),
        ("run,topic,score\nr,1,0.5\n", {"run": "s"}, ("s", "AP", "1")),
    ],
)
def test_run_and_measure_may_be_given_or_taken_from_the_file_s_name(write, text, names, entry):
    assert as_entries(read_scores(write("t_ap.csv", text), **names)) == {entry: 0.5}


@pytest.mark.parametrize("names", [{"run": "x"}, {"measure": "x"}])
def test_several_runs_or_measures_cannot_get_one_name(write, names):
    kind = next(iter(names))
    path = write("t.csv", LONG + "dense,RR,01,1\n")
    with pytest.raises(InvalidValueError, match=f"holds 2 {kind}s; {kind}='x' can name"):
        read_scores(path, **names)


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "nan", " NA "])
def test_a_missing_score_is_missing(write, cell):
    scores = read_scores(write("t.csv", f"run,measure,topic,score\na,AP,1,{cell}\na,AP,2,0.5\n"))
    np.testing.assert_array_equal(scores.values[:, 0, 0], [np.nan, 0.5])


SUMMARIES = ("all", "ALL", "mean", "Average", "amean", "Total", " mean ")


@pytest.mark.parametrize("name", SUMMARIES)
def test_summaries_are_left_out_of_long_tables_with_a_warning(write, name):
    path = write("t.csv", LONG + f'bm25,AP,"{name}",0.4\n')
    message = rf"t\.csv: summaries are left out: topic '{name}' \(line 5\)"
    with pytest.warns(InputWarning, match=message) as seen:
        assert as_entries(read_scores(path)) == EXPECTED
    assert seen[0].filename == __file__


def test_quoted_cells_may_hold_commas_quotes_and_line_ends(write):
    text = 'run,measure,topic,score\n"a,""b""\nc",AP,1,0.5\n'
    assert read_scores(write("t.csv", text)).runs == ('a,"b"\nc',)


LONG_COLLECTIONS = {
    "trec13.robust": (100, 83, 6),
    "trec14.robust": (50, 74, 6),
    "trec15.terabyte-adhoc": (149, 61, 6),
    "trec17.blog-topicrel": (150, 232, 6),
    "trec21.web": (50, 48, 6),
    "trec8.adhoc": (50, 129, 6),
}


@pytest.mark.parametrize("name", LONG_COLLECTIONS)
def test_the_long_tables_of_soboroff_are_read(real_data, name):
    path = real_data / "soboroff2014" / "scores" / f"{name}.csv.gz"
    scores = read_scores(path)
    assert scores.values.shape == LONG_COLLECTIONS[name]
    assert scores.measures == ("AP", "Rprec", "RR", "P@10", "P@30", "P@1000")
    by_pandas = pd.read_csv(path, dtype={"run": str, "topic": str}, keep_default_na=False)
    means = by_pandas.groupby(["run", "measure"])["score"].mean()
    assert means["2012bpacad4" if "web" in name else scores.runs[0], "AP"] == pytest.approx(
        scores.mean()[0, 0]
    )
    assert len(by_pandas) == len(scores.to_records())


# Blanks around cells, and faults at the start of large files


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("topic", [" 1", "1 ", " 1  ", '"1"', '"1" ', ' "1"'])
def test_blanks_around_ids_are_no_part_of_them(write, separator, topic):
    rows = [["run ", " measure", "topic", " score "], ["a ", " AP", topic, "0.5 "]]
    text = "".join(separator.join(row) + "\r\n" for row in rows)
    scores = read_scores(write("t.csv", text))
    assert (scores.runs, scores.measures, scores.topics) == (("a",), ("AP",), ("1",))


def test_blanks_within_quotes_are_part_of_an_id(write):
    scores = read_scores(write("t.csv", 'topic,a\n" 1 ,\n2 ",0.5 \n'))
    assert scores.topics == (" 1 ,\n2 ",)


def test_ids_that_differ_by_blanks_alone_are_one(write):
    path = write("t.csv", "run,measure,topic,score\na,AP, 1,0.5\na,AP,1 ,0.5\n")
    with pytest.raises(FormatError, match=r"t\.csv:3: a second score of run 'a', .*topic '1'"):
        read_scores(path)
    with pytest.raises(FormatError, match="two columns are named 'a'"):
        read_scores(write("u.csv", "topic,a,a \n1,0.5,0.5\n"))


@pytest.mark.parametrize("header", ["qid,topic,a", "topic,query,a", "query_id,Topic,score"])
def test_of_two_columns_of_the_same_topics_one_is_used(write, header):
    unused = next(name for name in header.split(",") if name in ("qid", "query", "query_id"))
    path = write("t.csv", f"{header}\n1,x,0.5\n2,y,0.5\n")
    with pytest.warns(ReadingWarning, match=f"not used: columns {unused}$"):
        assert len(read_scores(path).topics) == 2


@pytest.mark.parametrize("header", ["qid,topic,a", "item_id,task_id,a"])
def test_two_columns_of_different_topics_are_both_named(write, header):
    first, second = header.split(",")[:2]
    path = write("t.csv", f"{header}\n1,x,0.5\n1,y,0.5\n2,x,0.25\n")
    with pytest.raises(
        FormatError, match=r"t\.csv:1: columns .* may each hold the topics"
    ) as error:
        read_scores(path)
    assert {*re.findall(r"topic=(\w+)", str(error.value))} == {first, second}


FAULTS = {
    "number": ("topic,a,b\n1,0.5,x\n", "2,0.5,0.5\n", "line 2|:2: 'x' under 'b'"),
    "twice": ("topic,a,b\n1,0.5,0.5\n1,0.5,0.5\n", "2,0.5,0.5\n", ":3: a second score"),
    "longer": ("topic,a,b\n1,0.5,0.5,0.5\n", "2,0.5,0.5\n", ":2: 4 columns; expected 3"),
    "shorter": ("run,topic,score\na,1\n", "a,2,0.5\n", ":2: 2 columns; expected 3"),
    "line": ("map\t1\t0.5\nmap\t2\n", "map\t3\t0.5\n", ":2: 2 columns; expected 3 as before"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_at_the_start_of_a_large_file_does_not_wait_for_the_rest(write, monkeypatch, name):
    """What is split is counted: cells of tables by csv, lines by their decoding."""
    start, line, message = FAULTS[name]
    path = write("t.eval" if name == "line" else "t.csv", start + line * 600_000)
    seen = []
    reader = csv.reader
    monkeypatch.setattr(
        "confir.data.tables.separated_text.csv.reader",
        lambda lines, **how: reader((seen.append(1) or line for line in lines), **how),
    )
    monkeypatch.setattr(
        "confir.data.tables.score_lines.is_text_measure", lambda _: bool(seen.append(1))
    )
    with pytest.raises(FormatError, match=message):
        read_scores(path)
    assert 0 < len(seen) < 20_000


def test_the_start_of_a_large_file_is_not_taken_for_the_whole(write):
    """All of its scores are missing, or its rows too short: the rest may mend it."""
    missing = "topic,a,b\n" + "".join(f"{n},,\n" for n in range(9_999))
    path = write("t.csv", missing + "".join(f"{n},0.5,0.25\n" for n in range(10_000, 400_000)))
    assert read_scores(path).values[-1, :, 0].tolist() == [0.5, 0.25]


# Columns that are measures, and columns that the user names


ANSWERS = "qid,strict_vital_score,all_score\n1,0.5,0.25\n2,0.75,1\n"
MEASURED = {
    "a.csv": "qid,AP,RR\n1,0.5,0.25\n",
    "a.tsv": "topic\tnDCG@10\n1\t0.5\n",
    "a.jsonl": '{"query_id": "1", "ndcg_cut_10": 0.5, "P_5": 1}\n',
    **{
        f"{number}.csv": f"topic,faithfulness,{name}\n1,0.5,1\n"
        for number, name in enumerate(
            ("P10", "MRR", "hit_rate", "Hit Rate", "hits@1", "recall", "R-prec", "nDCG10", "map")
        )
    },
}


@pytest.mark.parametrize("name", MEASURED)
def test_columns_that_are_all_named_like_measures_are_those_of_one_run(write, name):
    with pytest.warns(ReadingWarning, match="columns are measures of one run"):
        scores = read_scores(write(name, MEASURED[name]))
    assert scores.runs == (name.partition(".")[0],)
    assert f"{scores.measures[0]}" in MEASURED[name]


@pytest.mark.parametrize(
    "header",
    ["qid,strict_vital_score,all_score", "topic,nDCG@10,bm25", "id,gpt_score,faithfulness"],
)
def test_columns_that_may_be_measures_or_runs_are_an_error(write, header):
    path = write("a.csv", f"{header}\n1,0.5,0.25\n2,0.75,1\n")
    message = r"a\.csv:1: columns are named like measures \(.*--columns topic=.*value=.*run="
    with pytest.raises(FormatError, match=message):
        read_scores(path)
    topic, *names = header.split(",")
    as_runs = read_scores(path, columns={"topic": topic, "run": names})
    assert as_runs.runs == tuple(names)
    assert as_runs.mean().ravel().tolist() == [0.625, 0.625]
    as_measures = read_scores(path, columns=f"topic={topic},value={names[0]},value={names[1]}")
    assert (as_measures.runs, as_measures.measures) == (("a",), tuple(names))


@pytest.mark.parametrize(
    "runs", ["G,P1", "bm25@1,bm25@2", "p,q", "r1,r2,r3,r5", "P5,P10,P11", "bm25,ap2", "r1,dense3"]
)
def test_columns_that_may_be_runs_are_runs(write, runs):
    path = write("a.csv", f"topic,{runs}\n1{',0.5' * len(runs.split(','))}\n")
    assert ",".join(read_scores(path).runs) == runs


def test_nested_objects_may_have_topics_above_measures(write):
    path = write(
        "a.json", '{"bm25": {"q1": {"map": 0.5, "foo": 1}, "q2": {"map": 0.25, "foo": 0}}}'
    )
    scores = read_scores(path)
    assert (scores.topics, scores.measures) == (("q1", "q2"), ("map", "foo"))


def test_runs_that_are_named_like_measures_are_runs_with_a_column_of_measures(write):
    path = write("a.csv", "topic,measure,map,bm25\n1,RR,0.5,0.25\n")
    assert read_scores(path).runs == ("map", "bm25")


def test_measures_under_a_column_of_runs_are_measures(write):
    path = write("a.csv", "topic,run,nDCG@10,AP\n1,x,0.5,0.25\n")
    assert read_scores(path).measures == ("nDCG@10", "AP")


@pytest.mark.parametrize(
    "columns",
    [
        "topic=qid,value=strict_vital_score,value=all_score",
        {"topic": "qid", "value": ["strict_vital_score", "ALL_SCORE"]},
    ],
)
def test_the_columns_of_a_table_can_be_named(write, columns):
    scores = read_scores(write("rag.csv", ANSWERS), columns=columns)
    measures = scores.measures[0], scores.measures[1].lower()
    assert (scores.runs, measures) == (("rag",), ("strict_vital_score", "all_score"))
    assert scores.values[:, 0].tolist() == [[0.5, 0.25], [0.75, 1.0]]


def test_long_tables_of_any_names_are_read_by_them(write):
    text = "who;what;weight;which;n\nx;AP;0,5;1;7\nx;AP;0,25;2;7\ny;AP;1;1;7\ny;AP;;2;7\n"
    columns = "run=who, measure=what, topic=which, value=weight"
    scores = read_scores(write("a.csv", text), columns=columns)
    assert (scores.runs, scores.measures, scores.topics) == (("x", "y"), ("AP",), ("1", "2"))
    np.testing.assert_array_equal(scores.values[:, :, 0], [[0.5, 1.0], [0.25, np.nan]])


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (
            "topic=qid",
            InvalidValueError,
            "columns names no column of values; expected one, as in topic=qid,value=nDCG@10",
        ),
        ("run,topic,value", InvalidValueError, "expected which columns hold topic, value, run"),
        ("topic=qid,score=a", InvalidValueError, "expected which columns hold topic, value, run"),
        ("topic=a,topic=b,value=c", InvalidValueError, "names two columns of topics; expected one"),
        (7, InvalidValueError, "expected which columns hold topic"),
        ({"topic": 1, "value": "a"}, InvalidValueError, "expected which columns hold topic"),
        (
            {"topic": "a", "value": ["b", "c"], "measure": "d"},
            InvalidValueError,
            "a column of measures, and several of values; expected one of values",
        ),
        (
            "topic=qid,value=b",
            FormatError,
            "a.csv:1: no column 'b'; expected one of 'qid', 'strict_",
        ),
        ("topic=all_score,value=qid", FormatError, "a second score of|is not an id"),
    ],
)
def test_columns_that_are_named_wrongly_are_refused(write, columns, error, message):
    text = ANSWERS + "3,0.5,1\n"
    with pytest.raises(error, match=message):
        read_scores(write("a.csv", text), columns=columns)


def test_measures_in_frames_of_pyterrier_have_the_names_that_they_have_elsewhere():
    rows = [("bm25", "1", m, 0.5) for m in ("map", "ndcg_cut_10", "P.5", "nDCG@20", "ndcg_rel")]
    frame = pd.DataFrame(rows, columns=["name", "qid", "measure", "value"])
    assert read_scores(frame).measures == ("AP", "nDCG@10", "P@5", "nDCG@20", "ndcg_rel")
    other = frame.rename(columns={"name": "run"})
    assert read_scores(other).measures == ("map", "ndcg_cut_10", "P.5", "nDCG@20", "ndcg_rel")


# Files that end too early


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "topic,a,b\n1,0.5,0.25\n2,0.5,0.2"),
        ("a.csv", "topic,a\r\n1,0.5\r\n2,0.2"),
        ("a.tsv", "topic\ta\n1\t0.2"),
        ("a.eval", "map\t1\t0.5\nmap\t2\t0.2"),
    ],
)
def test_a_table_that_ends_in_a_number_without_a_line_end_is_read_with_a_warning(write, name, text):
    path = write(name, text)
    with pytest.warns(InputWarning, match=rf"^{path}: the file ends in 0\.2 without a line end"):
        assert read_scores(path).values[-1, -1, -1] == 0.2
    read_scores(write(name, text + "\n"))


@pytest.mark.parametrize("text", ["topic,a,note\n1,0.5,x", 'topic,"a"\n1,"0.5"\n2,"0.5"'])
def test_what_else_a_file_may_end_in_needs_no_line_end(write, text):
    columns = "topic=topic,value=a"
    assert read_scores(write("a.csv", text), columns=columns).topics[0] == "1"


# CSV and TSV, wide


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("name", ["t", "t.csv"])
def test_a_wide_table_is_read(write, separator, name):
    scores = read_scores(write(name, WIDE.replace(",", separator)), measure="AP")
    assert as_entries(scores) == EXPECTED


def test_headers_as_r_writes_them_are_read(write):
    text = '"topic","sys 1","2"\n"01",0.5,NA\n"NA",7e-04,1\n'
    scores = read_scores(write("t.csv", text))
    assert (scores.runs, scores.topics, scores.measures) == (
        ("sys 1", "2"),
        ("01", "NA"),
        ("score",),
    )
    np.testing.assert_array_equal(scores.values[:, :, 0], [[0.5, np.nan], [0.0007, 1]])


def test_row_names_are_topics(write):
    scores = read_scores(write("t.csv", '"","a"\n"301",0.5\n"302",1\n'))
    assert (scores.topics, scores.runs) == (("301", "302"), ("a",))


def test_row_names_with_topics_are_ignored(write):
    scores = read_scores(write("t.csv", '"","topic","a"\n"1",301,0.5\n"2",302,1\n'))
    assert (scores.topics, scores.runs) == (("301", "302"), ("a",))


@pytest.mark.parametrize("name", SUMMARIES)
def test_summaries_are_left_out_of_wide_tables_with_a_warning(write, name):
    path = write("t.csv", WIDE + f'"{name}",0.4,#DIV/0!\n')
    with pytest.warns(InputWarning, match=r"summaries are left out.*\(line 4\)"):
        assert as_entries(read_scores(path, measure="AP")) == EXPECTED


def test_a_topic_of_trec_eval_output_that_sums_up_is_left_out_with_a_warning(write):
    path = write("a.eval", TREC_EVAL + "map\tamean\t0.3750\n")
    with pytest.warns(InputWarning, match="topic 'amean'"):
        assert read_scores(path).topics == ("01", "02")


def test_a_table_of_one_run_without_topics_is_read(write):
    with pytest.warns(InputWarning, match="no column of topics"):
        scores = read_scores(write("t.csv", 'bm25\n0.5\n""\n1\n'))
    np.testing.assert_array_equal(scores.values[:, 0, 0], [0.5, np.nan, 1])


def test_rows_without_topics_are_numbered_in_order_with_a_warning(write):
    text = "a,b\n" + "".join(f"{i / 16},0\n" for i in range(12))
    path = write("t.csv", text)
    with pytest.warns(
        InputWarning, match=r"t\.csv: no column of topics; its rows are numbered 01 to 12"
    ) as seen:
        scores = read_scores(path)
    assert seen[0].filename == __file__
    assert scores.topics == tuple(f"{i:02}" for i in range(1, 13))
    np.testing.assert_array_equal(scores.values[:, 0, 0], np.arange(12) / 16)


def test_a_few_short_rows_of_a_wide_table_are_left_out_with_a_warning(write):
    path = write("t.csv", "topic,a,b\n1,0.5,0.5\n2,1\n3,0.25,0.25\n")
    with pytest.warns(InputWarning, match=r"t\.csv: rows with fewer columns.*\(line 3\)") as seen:
        scores = read_scores(path)
    assert seen[0].filename == __file__
    assert scores.topics == ("1", "3")
    np.testing.assert_array_equal(scores.values[:, :, 0], [[0.5, 0.5], [0.25, 0.25]])


WIDE_FILES = {
    "ntcir10intentDRC.D#-nDCG@10.csv.gz": ("D#-nDCG@10", 100, 24),
    "ntcir10intentDRC.D-nDCG@10.csv.gz": ("D-nDCG@10", 100, 24),
    "ntcir7ir4qa.AP@1000.csv.gz": ("AP@1000", 97, 40),
    "ntcir7ir4qa.MSnDCG@1000.csv.gz": ("MSnDCG@1000", 97, 40),
    "ntcir7ir4qa.Q@1000.csv.gz": ("Q@1000", 97, 40),
    "ntcir7ir4qa.nERR@1000.csv.gz": ("nERR@1000", 97, 40),
}


@pytest.mark.parametrize("name", WIDE_FILES)
def test_the_wide_tables_of_soboroff_are_read(real_data, name):
    measure, topics, runs = WIDE_FILES[name]
    path = real_data / "soboroff2014" / "scores" / name
    scores = read_scores(path)
    assert scores.measures == (measure,)
    assert scores.values.shape == (topics, runs, 1)
    by_pandas = pd.read_csv(path, index_col="topic")
    np.testing.assert_allclose(scores.mean()[:, 0], by_pandas.mean())


@pytest.mark.parametrize("measure", ["alpha-nDCG", "nERR-IA"])
def test_tables_of_soboroff_with_three_short_rows_are_read_without_them(real_data, measure):
    path = real_data / "soboroff2014" / "scores" / f"ntcir10intentDRC.{measure}.csv.gz"
    with pytest.warns(InputWarning, match="lines 35, 82, 98"):
        scores = read_scores(path)
    assert scores.measures == (measure,)
    assert scores.values.shape == (97, 24, 1)
    assert not {"34", "81", "97"} & set(scores.topics)
    assert not np.isnan(scores.values).any()


def test_a_folder_s_tables_cover_every_score_file_of_soboroff(real_data):
    names = {path.name for path in (real_data / "soboroff2014" / "scores").iterdir()}
    short = {f"ntcir10intentDRC.{measure}.csv.gz" for measure in ("alpha-nDCG", "nERR-IA")}
    assert names == {*WIDE_FILES, *short, *(f"{name}.csv.gz" for name in LONG_COLLECTIONS)}


URBANO = {
    "adhoc8_ap.csv": ("AP", 50, 129),
    "adhoc8_p10.csv": ("P@10", 50, 129),
    "adhoc8_rr.csv": ("RR", 50, 129),
    "web2010_ap.csv": ("AP", 48, 88),
    "web2010_err20.csv": ("ERR@20", 48, 88),
    "web2010_ndcg20.csv": ("nDCG@20", 48, 88),
    "web2010_p20.csv": ("P@20", 48, 88),
    "web2010_rr.csv": ("RR", 48, 88),
}


@pytest.mark.parametrize("name", URBANO)
def test_the_tables_of_urbano_without_topics_are_read(real_data, name):
    measure, topics, runs = URBANO[name]
    path = real_data / "urbano2018" / name
    with pytest.warns(InputWarning, match=f"numbered 01 to {topics}"):
        scores = read_scores(path)
    assert scores.measures == (measure,)
    np.testing.assert_array_equal(scores.values[:, :, 0], pd.read_csv(path))
    assert scores.values.shape == (topics, runs, 1)


@pytest.mark.parametrize(
    ("name", "measure"), [("urbano2018/robust2004_p10.csv", "P@10"), ("robust2004_ap.csv", "AP")]
)
def test_the_tables_of_robust_2004_are_read(real_data, name, measure):
    scores = read_scores(real_data / name)
    assert scores.measures == (measure,)
    assert scores.values.shape == (249, 110, 1)
    np.testing.assert_array_equal(
        scores.values[:, :, 0], pd.read_csv(real_data / name, index_col="topic")
    )


def test_every_table_of_urbano_is_tried(real_data):
    names = {path.name for path in (real_data / "urbano2018").iterdir()}
    assert names == {*URBANO, "robust2004_p10.csv"}


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("c.AP@1000.csv", "AP@1000"),
        ("c.1.MSnDCG@5.tsv", "MSnDCG@5"),
        ("c.map.csv", "AP"),
        ("c_ndcg20.csv.xz", "nDCG@20"),
        ("c_Rprec.csv", "Rprec"),
        ("c_p.csv", "score"),
        ("c_d_ap.csv", "score"),
        ("alpha_ndcg.csv", "nDCG"),
        ("ap.csv", "score"),
        ("c.v2.csv", "score"),
        ("c_new.csv", "score"),
    ],
)
def test_the_measure_is_taken_from_the_end_of_the_file_s_name(write, name, measure):
    text = WIDE.replace(",", "\t") if ".tsv" in name else WIDE
    content = lzma.compress(text.encode()) if name.endswith("xz") else text
    assert read_scores(write(name, content)).measures == (measure,)


# JSON


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.json", "t"])
def test_a_record_per_line_is_read(write, name):
    text = "\n" + "\n\n".join(map(json.dumps, RECORDS)) + "\n"
    assert as_entries(read_scores(write(name, text))) == EXPECTED


@pytest.mark.parametrize("name", ["t.json", "t"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_of_records_is_read(write, name, indent):
    assert as_entries(read_scores(write(name, json.dumps(RECORDS, indent=indent)))) == EXPECTED


@pytest.mark.parametrize("name", ["t.json", "t"])
@pytest.mark.parametrize("indent", [None, 2])
def test_the_dictionary_of_scores_is_read(write, name, indent):
    scores = read_scores(write("t.csv", LONG))
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for run, measure, topic, score in zip(*scores.to_dict().values(), strict=True):
        nested.setdefault(run, {}).setdefault(measure, {})[topic] = score
    text = json.dumps(nested, indent=indent)
    assert as_entries(read_scores(write(name, text))) == EXPECTED


def test_records_have_the_names_of_columns(write):
    text = '{"query_id": 301, "metric": "AP", "value": 0.5}\n{"query_id": 302, "metric": "AP", "value": null}\n'
    scores = read_scores(write("bm25.jsonl", text))
    assert (scores.runs, scores.topics, scores.measures) == (("bm25",), ("301", "302"), ("AP",))
    np.testing.assert_array_equal(scores.values[:, 0, 0], [0.5, np.nan])


@pytest.mark.parametrize("name", ["bm25.tsv", "bm25.jsonl", "bm25.ndjson"])
def test_a_run_is_named_by_its_file_without_endings(write, name):
    text = "topic\tscore\n1\t0.5\n" if name == "bm25.tsv" else '{"topic": 1, "score": 0.5}\n'
    assert read_scores(write(name, text)).runs == ("bm25",)


def test_records_may_be_wide(write):
    text = pd.read_csv(io.StringIO(WIDE), dtype={"topic": str}, keep_default_na=False).to_json(
        orient="records"
    )
    assert as_entries(read_scores(write("t.json", text), measure="AP")) == EXPECTED


# Parquet


def test_a_long_table_in_parquet_is_read(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame(RECORDS).to_parquet(path)
    assert as_entries(read_scores(path)) == EXPECTED


def test_parquet_is_recognised_without_its_ending(tmp_path):
    path = tmp_path / "t"
    pl.DataFrame(RECORDS).write_parquet(path)
    assert as_entries(read_scores(path)) == EXPECTED


def test_a_wide_table_in_parquet_is_read(tmp_path):
    frame = pd.DataFrame({"bm25": [0.5, 0.25], "dense": [1, None]}, index=["01", "NA"])
    for name, index_name in (("named", "topic"), ("unnamed", None)):
        path = tmp_path / f"{name}.parquet"
        frame.rename_axis(index_name).to_parquet(path)
        assert as_entries(read_scores(path, measure="AP")) == EXPECTED


def test_ids_in_parquet_may_be_whole_numbers_or_categories(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"run": ["a", "a"], "topic": [2, 10], "score": np.float32([0.5, 0.25])})
    frame["run"] = frame["run"].astype("category")
    frame.to_parquet(path)
    assert as_entries(read_scores(path)) == {("a", "score", "2"): 0.5, ("a", "score", "10"): 0.25}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"topic": [1.5], "score": [0.5]}, r"row 1: topic 1\.5 is not an id"),
        ({"topic": ["1", None], "score": [0.5, 1]}, "row 2: topic None is not an id"),
        ({"topic": ["1", "2"], "score": [0.5, float("inf")]}, "row 2: inf under 'score'"),
        (
            {"topic": ["1", "2"], "score": ["True", "2"]},
            "row 1: 'True' under 'score' is not a finite number",
        ),
        ({"topic": ["1", "1"], "score": [0.5, 1]}, r"row 2: a second score.*the first: row 1\)"),
        ({"topic": pa.array([], pa.string()), "score": pa.array([], pa.float64())}, "without rows"),
        ({}, "without rows"),
    ],
)
def test_bad_parquet_is_an_error_that_names_the_row(tmp_path, table, message):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(table), path)
    with pytest.raises(FormatError, match=rf"t\.parquet: .*{message}"):
        read_scores(path)


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1 and then nothing PAR1", b"no Parquet at all"])
def test_damaged_parquet_is_an_error(write, content):
    with pytest.raises(FormatError, match=r"t\.parquet: cannot be read as Parquet"):
        read_scores(write("t.parquet", content))


def test_without_pyarrow_one_sentence_says_what_to_install(write, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"reading Parquet needs.*confir\[parquet\]"):
        read_scores(write("t.parquet", b"PAR1"))
    with pytest.raises(MissingDependencyError, match=r"writing Parquet needs.*confir\[parquet\]"):
        write_scores(read_scores(write("t.csv", LONG)), tmp_path / "u.parquet")
    assert not (tmp_path / "u.parquet").exists()


# several files, compression, standard input


def test_several_files_become_one_table(write):
    one = write("one.csv", "topic,a\n1,0.5\n2,1\n")
    two = write("two.csv", "topic,b\n2,0.25\n10,\n")
    scores = read_scores([one, two])
    assert (scores.runs, scores.topics) == (("a", "b"), ("1", "10", "2"))
    np.testing.assert_array_equal(
        scores.values[:, :, 0], [[0.5, np.nan], [np.nan, np.nan], [1, 0.25]]
    )


def test_measures_of_several_files_are_put_side_by_side(real_data):
    with pytest.warns(InputWarning):
        scores = read_scores(
            [real_data / "urbano2018" / f"adhoc8_{name}.csv" for name in ("ap", "p10", "rr")]
        )
    assert scores.values.shape == (50, 129, 3)
    assert not np.isnan(scores.values).any()


def test_a_missing_score_may_be_in_another_file(write):
    paths = [write("one.csv", "topic,a\n1,0.5\n2,\n"), write("two.csv", "topic,a\n2,1\n")]
    for order in (paths, paths[::-1]):
        np.testing.assert_array_equal(read_scores(order).values[:, 0, 0], [0.5, 1])


def test_a_score_in_two_files_is_an_error_that_names_both(write):
    paths = [
        write(f"{n}.csv", f"topic,a\n{t},1\n") for n, t in (("one", 1), ("two", 2), ("three", 1))
    ]
    with pytest.raises(
        FormatError,
        match=r"three\.csv:2: a second score of run 'a', measure 'score', topic '1' \(the first: .*one\.csv\)",
    ):
        read_scores(paths)


def test_no_files_are_an_error():
    with pytest.raises(InvalidValueError, match="no score files were given"):
        read_scores([])


@pytest.mark.parametrize(
    ("ending", "compress"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_compressed_files_are_read(write, ending, compress):
    assert as_entries(read_scores(write(f"t.csv{ending}", compress(LONG.encode())))) == EXPECTED


def test_standard_input_is_read(monkeypatch):
    stdin = SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(TREC_EVAL.encode())))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read_scores("-").runs == ("stdin",)


# errors


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", r"t\.csv: the file is empty"),
        ("t", " \n\n", "t: the file is empty"),
        ("t", "# nothing", "t: the file is empty"),
        ("t.parquet", "", r"t\.parquet: the file is empty"),
        ("t.csv", "\ntopic,a\n", r"t\.csv:2: a header without rows"),
        ("t.csv", "run,measure,topic,score\n", r"t\.csv:1: a header without rows"),
        ("t.csv", "run,measure,topic,score\na,AP,1\n", r"t\.csv:2: 3 columns; expected 4"),
        ("t.csv", LONG + "a,AP,1,0.5,6\n", r"t\.csv:5: 5 columns; expected 4 as in the header"),
        ("t.csv", WIDE + "5,1,1,1\n", r"t\.csv:4: 4 columns; expected 3"),
        ("t.csv", WIDE + "5,1\n6,1\n", r"t\.csv:4: 2 columns; expected 3"),
        ("t.csv", LONG + 'a,AP,"1\n2",x\n', r"t\.csv:5: 'x' under 'score' is not a finite number"),
        ("t.csv", LONG + '"a\nb",AP,1,1\n\na,AP,1,x\n', r"t\.csv:8: 'x' under 'score'"),
        ("t.csv", LONG + "a,AP,1,inf\n", r"t\.csv:5: 'inf' under 'score' is not a finite number"),
        ("t.csv", LONG + "a,AP,1,1e999\n", r"t\.csv:5: '1e999' under 'score'"),
        ("t.csv", LONG + "a,AP,1,1_0\n", r"t\.csv:5: '1_0' under 'score'"),
        ("t.csv", LONG + "a,AP,1,\u0661\n", r"t\.csv:5: '\u0661' under 'score'"),
        (
            "t.csv",
            WIDE + "3,x,1\n",
            r"t\.csv:4: 'x' under 'bm25' is not a finite.*; expected columns",
        ),
        ("t.csv", LONG + ",AP,1,1\n", r"t\.csv:5: run '' is not an id"),
        ("t.csv", LONG + "a,,1,1\n", r"t\.csv:5: measure '' is not an id"),
        ("t.csv", LONG + "a,AP,,1\n", r"t\.csv:5: topic '' is not an id"),
        ("t.csv", WIDE + ",1,1\n", r"t\.csv:4: topic '' is not an id"),
        (
            "t.csv",
            LONG + "bm25,AP,01,0.5\n",
            r"t\.csv:5: a second score of run 'bm25', measure 'AP', topic '01' \(the first: line 2\)",
        ),
        (
            "t.csv",
            WIDE + "\n01,1,1\n",
            r"t\.csv:5: a second score of run 'bm25', measure 'score', topic '01' \(the first: line 2\)",
        ),
        ("t.csv", "topic,a,a\n1,1,1\n", r"t\.csv:1: two columns are named 'a'"),
        ("t.csv", "topic,a,\n1,1,1\n", r"t\.csv:1: the name of column 3 is ''"),
        ("t.csv", "topic\n1\n", r"t\.csv:1: no column of scores"),
        ("t.csv", "run,measure,score\na,AP,1\n", r"t\.csv:1: no column of topics"),
        ("t.csv", "topic,docno,score\n1,d,1\n", r"t\.csv:1: this looks like a run or qrels"),
        ("t.csv", "0.5,0.25\n1,1\n", r"t\.csv:1: the first row holds numbers only"),
        ("t.csv", "topic,a\n1,\n2,NA\n", r"t\.csv: every score is missing"),
        ("t.csv", "topic,a\nall,1\n", r"t\.csv: only summaries \(topic 'all'\)"),
        ("t.csv", 'topic,a\n1,"0.5\n', r"t\.csv:2: the columns cannot be read"),
        ("t.csv", 'topic,a\n1,"0.5"x\n', r"t\.csv:2: the columns cannot be read"),
        ("t.csv", b"topic,a\n1,0.5\n\xe9,1\n", r"t\.csv:3: byte 0xe9 is not UTF-8 text"),
        ("t.csv", LONG.encode("utf-16"), r"t\.csv: the file is in UTF-16"),
        ("t", "hello world\n", "t:1: no columns;"),
        ("t", "\n301 0 d1 1\n", "t: this looks like qrels"),
        ("t", "301\t0\td1\t-1\n", "t: this looks like qrels"),
        ("t", "301 Q0 d1 1 9.5 tag\n", "t: this looks like a run"),
        ("t", "301\tQ0\td1\t1\t9.5\n", "t: this looks like a run"),
        ("t", "AP\t0.5\n", "t: this looks like summaries of measures"),
        ("t", "map   \t301\t0.5\nmap   \t302\n", "t:2: 2 columns; expected 3"),
        ("t", "map   \t301\t0.5\nmap   \t302\tx\n", "t:2: 'x' under 'score' is not a finite"),
        ("t", "map   \t301\tinf\n", "t:1: 'inf' under 'score' is not a finite"),
        ("t", "map   \t301\t1\n\nmap   \t301\t1\n", r"t:3: a second score.*\(the first: line 1\)"),
        ("t", "runid\tall\tx\n", "t: no numbers"),
        ("t", "runid\tall\tx\nm\t2,run,me", "t:2: 2 columns; expected 3, 4 or 6"),
        ("t.json", "nothing", r"t\.json:1: not JSON"),
        ("t.json", '[{"topic": 1,\n "score": }]', r"t\.json:2: not JSON \(Expecting value\)"),
        ("t.jsonl", '{"topic": 1, "score": 1}\n{"topic": 2', r"t\.jsonl:2: not JSON"),
        ("t.jsonl", '{"topic": 1, "score": 1}\n\n[1]\n', r"t\.jsonl:3: not a record"),
        ("t.jsonl", '{"topic": 1, "score": 1}, {"topic": 2, "score": 1}', r"t\.jsonl:1: not JSON"),
        (
            "t.jsonl",
            '{"topic": 1, "score": 1}\n{"topic": 2}\n',
            r"t\.jsonl:2: a record of topic; expected topic, score as in the first",
        ),
        (
            "t.jsonl",
            '{"topic": 1, "score": 1}\n{"topic": 2, "score": Infinity}\n',
            r"t\.jsonl:2: inf under 'score'",
        ),
        (
            "t.jsonl",
            '{"topic": 1, "score": 1}\n{"topic": 2, "score": [1]}\n',
            r"t\.jsonl:2: \[1\] under 'score'",
        ),
        (
            "t.jsonl",
            '{"topic": 1, "score": 1, "topic": 2}\n',
            r"t\.jsonl:1: 'topic' occurs twice in one JSON object",
        ),
        ("t.jsonl", '{"topic": true, "score": 1}\n', r"t\.jsonl:1: topic True is not an id"),
        (
            "t.jsonl",
            '{"topic": "\\ud800", "score": 1}\n',
            r"t\.jsonl:1: the topic is not Unicode text",
        ),
        ("t.jsonl", '{"topic": 1, "\\ud800": 1}\n', r"t\.jsonl:1: the name of column 2 is"),
        (
            "t.jsonl",
            '{"topic": 1, "score": 1}\n{"topic": 1, "score": 1}\n',
            r"t\.jsonl:2: a second score.*the first: line 1\)",
        ),
        ("t.json", "[]", r"t\.json: no records"),
        ("t.json", "{}", r"t\.json:1: not a record"),
        ("t.json", "[1]", r"t\.json: row 1: not a record"),
        ("t.json", "7", r"t\.json: row 1: not a record"),
        ("t.json", '{"a": {"AP": {}}}', r"t\.json: no records"),
        (
            "t.json",
            '{"a": {"AP": 0.5}}',
            r"t\.json: a number at a → AP, which may be a mean; expected run → measure → topic → score",
        ),
        ("t.json", '{"a": {"AP": {"1": "x"}}}', r"t\.json: row 1: 'x' under 'score'"),
        ("t.json", '{"a": {"AP":\n{"1": 1, "b": 0,\n"1": 2}}}', r"t\.json:3: '1' occurs twice"),
        (
            "t.json",
            '{"a": {"AP": {"1": 1, "1": 2}}}',
            r"t\.json:1: '1' occurs twice in one JSON object",
        ),
        ("t.json", "[" * 100_000, r"t\.json:1: not readable as JSON"),
        ("t.json", '[{"topic": 1, "score": 1' + "0" * 400 + "}]", r"t\.json: row 1: 1000+"),
        (
            "t.json",
            '[{"topic": 1, "score": ' + "1" * 5000 + "}]",
            r"t\.json:1: not readable as JSON",
        ),
    ],
)
def test_bad_tables_are_errors_that_say_what_and_where(write, name, content, message):
    with pytest.raises(FormatError) as caught:
        read_scores(write(name, content))
    assert re.match(rf".*/{message}", str(caught.value)), str(caught.value)


def test_a_cut_off_archive_is_an_error(write):
    content = gzip.compress(LONG.encode() * 100)[:-20]
    with pytest.raises(UnreadableError, match=r"t\.csv\.gz: the compressed data end too early"):
        read_scores(write("t.csv.gz", content))


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(UnreadableError, match=r"none\.csv: no such file"):
        read_scores(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("trec-robust-2003/qrels.txt", "looks like qrels"),
        ("trec-web-2012-diversity/qrels.txt.gz", "looks like qrels"),
        ("clef-ehealth-2015/qrels.graded.txt", "looks like qrels"),
        ("trec_eval-tests/test/qrels.test.with-comments", "looks like qrels"),
        ("trec_eval-tests/test/results.test", "looks like a run"),
        ("trec_eval-tests/test/results.trunc", "looks like a run"),
        ("trec-covid-r5/runs/BioInfo-run3.xz", "looks like a run"),
        ("soboroff2014/published_intervals.csv.gz", "means with their errors"),
        ("trec-covid-r5/leaderboard.csv", "no column of topics"),
        ("trec-robust-2003/official_map.tsv", "no column of topics"),
    ],
)
def test_other_files_are_not_read_as_scores(real_data, name, message):
    with pytest.raises(FormatError, match=message):
        read_scores(real_data / name)


# writing

ODD_TEXT = st.text(
    st.one_of(
        st.sampled_from(" ,;\"'\t\r\n#[]{}\\@ΩNA01\u0085\u2028\ufeff"),
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]),
    ),
    min_size=1,
    max_size=6,
)
TOPICS = ODD_TEXT.filter(lambda name: not is_summary(name))
VALUES = st.floats(-1e100, 1e100)


def stay_apart(names):
    """Whether names are still different where control characters are replaced; others are refused."""
    return len({without_controls(name) for name in names}) == len(names)


ENTRIES = st.dictionaries(
    st.tuples(ODD_TEXT, ODD_TEXT, TOPICS), VALUES, min_size=1, max_size=8
).filter(lambda entries: all(stay_apart(set(names)) for names in zip(*entries, strict=True)))
ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet")


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=at_most(60))
@given(entries=ENTRIES)
@example(entries={("NA", "nan", "01"): 5e-324, ('a"b,c\r\nd', "\t", "\r"): -0.0})
@example(entries={("#1", "#", "#2"): 1.0, ("\ufeffa", "=1", "'"): 0.5, ("-", "a;b", "\n#"): 0.0})
def test_long_tables_are_read_back_as_written(tmp_path, ending, entries):
    assume(ending not in (".csv", ".tsv") or all(map(is_plain, chain.from_iterable(entries))))
    path = tmp_path / f"t{ending}"
    write_scores(scores_from_entries(entries), path)
    assert as_entries(read_scores(path)) == entries


@pytest.mark.parametrize("ending", [*ENDINGS, ".csv.gz", ".tsv.bz2", ".json.xz", ".jsonl.zst"])
def test_a_full_table_is_read_back_with_its_order(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    values = np.random.default_rng(1).normal(size=(3, 2, 2))
    scores = Scores(("01", "1", "NA"), ("b", "a"), ("RR", "AP"), values)
    write_scores(scores, path)
    again = read_scores(path)
    assert (again.topics, again.runs, again.measures) == (
        scores.topics,
        scores.runs,
        scores.measures,
    )
    np.testing.assert_array_equal(again.values, values)


RESERVED = (
    *("topic", "topic_id", "query_id", "qid", "q_id", "query"),
    *("run", "run_id", "runid", "system", "tag", "name", "measure", "metric", "score", "value"),
    *("dataset", "cluster", "weight", "index", "unnamed: 0", "unnamed: 12", "unnamed: 0.1"),
    *("docid", "docno", "doc_id", "document", "__index_level_0__"),
    *("model", "question_id", "Sample ID", "judge", "epoch", "latency_ms", "n", "std", "response"),
)


def is_free(run: str) -> bool:
    return run.strip() != "" and not is_reserved(run) and is_plain(run) and not find_measures([run])


def is_plain(name: str) -> bool:
    """Whether a name does not begin as one that is kept from being a formula."""
    return re.match("'[=+@\t\r-]", name) is None


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
@settings(max_examples=at_most(60))
@given(
    runs=st.lists(
        (ODD_TEXT | st.sampled_from(("=x", "#1", "\ufeffa", "01"))).filter(is_free),
        min_size=1,
        max_size=4,
        unique=True,
    ).filter(stay_apart),
    rows=st.dictionaries(
        TOPICS.filter(is_plain),
        st.lists(VALUES | st.just(np.nan), min_size=4, max_size=4),
        min_size=1,
    ).filter(stay_apart),
)
def test_wide_tables_are_read_back_with_their_gaps(tmp_path, ending, runs, rows):
    path = tmp_path / f"t{ending}"
    topics = sorted(rows)
    values = np.array([rows[topic][: len(runs)] for topic in topics])[:, :, None]
    if np.isnan(values).all():
        values[0, 0, 0] = 1.0
    write_scores(Scores(tuple(topics), tuple(runs), ("AP",), values), path, layout="wide")
    again = read_scores(path, measure="AP")
    assert (again.topics, again.runs, again.measures) == (tuple(topics), tuple(runs), ("AP",))
    np.testing.assert_array_equal(again.values, values)


def test_written_text_is_plain(write, tmp_path):
    scores = read_scores(write("t.csv", LONG))
    write_scores(scores, tmp_path / "u.csv")
    assert (tmp_path / "u.csv").read_text() == LONG.replace(",1\n", ",1.0\n")
    write_scores(scores, tmp_path / "u.tsv", layout="wide")
    assert (tmp_path / "u.tsv").read_text() == "topic\tbm25\tdense\n01\t0.5\t1.0\nNA\t0.25\t\n"
    write_scores(scores, tmp_path / "u.json")
    assert json.loads((tmp_path / "u.json").read_text()) == RECORDS
    write_scores(scores, tmp_path / "u.jsonl")
    assert [json.loads(line) for line in (tmp_path / "u.jsonl").read_text().splitlines()] == RECORDS
    write_scores(scores, tmp_path / "u.parquet")
    assert pl.read_parquet(tmp_path / "u.parquet").to_dicts() == RECORDS


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("t.txt", {}, InvalidValueError, r"t\.txt: the ending does not say how.*\.csv, \.tsv"),
        ("t.gz", {}, InvalidValueError, r"t\.gz: the ending does not say how"),
        ("t.parquet.gz", {}, InvalidValueError, "Parquet is compressed within"),
        ("t.csv", {"layout": "broad"}, UnknownNameError, "unknown layout 'broad'"),
        ("t.json", {"layout": "wide"}, InvalidValueError, r"written as \.csv or \.tsv only"),
        ("t.parquet", {"layout": "wide"}, InvalidValueError, r"written as \.csv or \.tsv only"),
        ("none/t.csv", {}, UnreadableError, r"none/t\.csv: cannot be written"),
    ],
)
def test_a_file_that_cannot_be_written_is_an_error(tmp_path, name, options, error, message):
    scores = scores_from_entries({("a", "AP", "1"): 0.5})
    with pytest.raises(error, match=message):
        write_scores(scores, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (("", "AP", "1"), 1.0, "run '' cannot be written as text"),
        (("a", "\0", "1"), 1.0, r"measure '\\x00' cannot be written as text"),
        (("a", "AP", "\udc80"), 1.0, r"topic '\\udc80' cannot be written as text"),
        (("a", "AP", "all"), 1.0, "topic 'all' would be read as a summary"),
        (("a", "AP", "Mean"), 1.0, "topic 'Mean' would be read as a summary"),
        (("a", "AP", "1"), float("inf"), "a score is infinite"),
        (("a", "AP", "1"), float("nan"), "there is no score to write"),
    ],
)
@pytest.mark.parametrize("ending", ENDINGS)
def test_scores_that_could_not_be_read_back_are_not_written(tmp_path, key, value, message, ending):
    with pytest.raises(InvalidValueError, match=rf"t{ending}: {message}"):
        write_scores(scores_from_entries({key: value}), tmp_path / f"t{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_names_keep_their_quotes_and_separators(tmp_path, ending, layout):
    names = ["=x", "'=x", "''=x", "'x", "a;b;c", "topic;score", "#x", " x", "-1", "'-1"]
    scores = scores_from_entries({(run, "P", topic): 0.5 for run in names for topic in names})
    write_scores(scores, tmp_path / f"t.P{ending}", layout=layout)
    read = read_scores(tmp_path / f"t.P{ending}")
    assert (read.runs, read.topics) == (scores.runs, scores.topics)


def test_a_wide_table_of_two_measures_is_not_written(tmp_path):
    scores = scores_from_entries({("a", "AP", "1"): 0.5, ("a", "RR", "1"): 0.5})
    with pytest.raises(InvalidValueError, match="holds one measure, not 2; select one"):
        write_scores(scores, tmp_path / "t.csv", layout="wide")


@pytest.mark.parametrize("run", [*RESERVED, " Score", "TOPIC", " "])
def test_a_run_named_like_a_column_is_not_written_wide(tmp_path, run):
    scores = scores_from_entries({(run, "AP", "1"): 0.5})
    with pytest.raises(InvalidValueError, match="would be read as a column's name"):
        write_scores(scores, tmp_path / "t.csv", layout="wide")


# anything at all

PIECES = st.sampled_from(
    [
        *b"topic run score measure map AP all 0.5 1 301 NA inf docid runid @10 null PAR1".split(),
        *(b"%c" % sign for sign in b',\t \n\r"{}[]:#-\0\xff\x1c'),
        b'{"topic": 1, "score": 1}',
        b'{"topic": ',
        b"\xc2\xa0",
    ]
)
CONTENT = st.one_of(st.binary(max_size=60), st.lists(PIECES, max_size=24).map(b"".join))


def outcome(path) -> Scores | ConfirError:
    """Return the scores in a file, or the error of confir; any other error is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        try:
            return read_scores(path)
        except ConfirError as error:
            return error


@settings(max_examples=at_most(400))
@given(content=CONTENT, ending=st.sampled_from(["", ".csv", ".tsv", ".json", ".jsonl", ".parquet"]))
@example(content=b"\x1c", ending="")
def test_any_content_ends_in_scores_or_in_an_error_of_confir(tmp_path, content, ending):
    path = tmp_path / f"t{ending}"
    path.write_bytes(content)
    found = outcome(path)
    if isinstance(found, Scores):
        assert np.isfinite(found.values).any()
        assert not np.isinf(found.values).any()
    else:
        assert str(path) in str(found)


@pytest.mark.parametrize("read", [read_scores, confir.read_run])
def test_a_column_of_parquet_whose_name_is_no_text_is_an_error(tmp_path, read):
    path = tmp_path / "t.parquet"
    write_scores(scores_from_entries(EXPECTED), path)
    path.write_bytes(path.read_bytes().replace(b"score", b"sco\x80e"))
    with pytest.raises(FormatError, match=r"t\.parquet: cannot be read as Parquet"):
        read(path)


@settings(max_examples=at_most(150))
@given(
    ending=st.sampled_from(ENDINGS),
    place=st.floats(0, 1, exclude_max=True),
    change=st.binary(max_size=3),
    cut=st.integers(0, 5),
)
def test_a_damaged_table_ends_in_scores_or_in_an_error_of_confir(
    tmp_path, ending, place, change, cut
):
    path = tmp_path / f"t{ending}"
    write_scores(scores_from_entries(EXPECTED), path)
    content = path.read_bytes()
    at = int(place * len(content))
    path.write_bytes(content[:at] + change + content[at + cut :])
    found = outcome(path)
    assert isinstance(found, Scores) or str(path) in str(found)


def test_a_score_too_large_to_be_squared_is_refused_where_it_stands(tmp_path):
    path = tmp_path / "large.csv"
    path.write_text("run,topic,AP\na,1,0.5\na,2,-1e155\n")
    with pytest.raises(
        FormatError, match=r"large.csv:3: the score is -1e\+155; .* at most 1e\+100"
    ):
        read_scores(path)


def test_a_run_whose_nested_object_is_empty_is_still_a_run(tmp_path):
    path = tmp_path / "scores.json"
    for empty in ({"AP": {}}, {}):
        held = {"a": {"AP": {"1": 0.5, "2": 0.25}}, "b": empty}
        path.write_text(json.dumps(held))
        for scores in (read_scores(path), confir.as_scores(held)):
            assert scores.runs == ("a", "b")
            assert np.isnan(scores.values[:, 1]).all()
