"""One set of rules for every table: the same content and the same errors in every format."""

# ruff: noqa: PD011 - the values of Scores, not of a data frame
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confir.data.effect_files import read_effects
from confir.data.score_files import read_scores
from confir.data.score_writers import write_scores
from confir.data.scores import Scores
from confir.errors import FormatError, InputWarning
from strategies import at_most

NAMES = ("run", "measure", "topic", "score")


def assert_equal(one: Scores, other: Scores) -> None:
    assert (one.topics, one.runs, one.measures) == (other.topics, other.runs, other.measures)
    np.testing.assert_array_equal(one.values, other.values)


def separated(header, rows, separator, decimal="."):
    """Returns a table as text, with every name in quotes."""

    def text(cell):
        if isinstance(cell, str):
            return f'"{cell}"'
        return "" if cell is None else str(cell).replace(".", decimal)

    return "".join(separator.join(map(text, line)) + "\n" for line in [header, *rows])


def write_every_format(folder, header, rows):
    """Yields the path of a table in every format, and frames with it."""
    records = [dict(zip(header, row, strict=True)) for row in rows]
    arrow = pa.table({name: [row[i] for row in rows] for i, name in enumerate(header)})
    texts = {
        "comma.csv": separated(header, rows, ","),
        "semicolon.csv": separated(header, rows, ";"),
        "german.csv": separated(header, rows, ";", ","),
        "tab.tsv": separated(header, rows, "\t"),
        "unnamed": separated(header, rows, ";", ","),
        "list.json": json.dumps(records),
        "lines.jsonl": "# a comment\n" + "\n\n# another\n".join(map(json.dumps, records)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        yield folder / name
    pq.write_table(arrow, folder / "table.parquet")
    yield folder / "table.parquet"
    yield arrow
    yield arrow.to_pandas()
    yield pl.from_arrow(arrow)


IDS = st.text("ab1é漢 =-'.,;", min_size=1, max_size=3).filter(
    lambda name: re.match("'+[=+@-]", name) is None and name == name.strip()
)
# -1 alone below 0 would be taken for a missing score
CELLS = st.one_of(st.floats(-2, 2).filter(lambda value: value != -1.0), st.none())


@st.composite
def tables(draw):
    axes = [draw(st.lists(IDS, min_size=1, max_size=4, unique=True)) for _ in range(3)]
    keys = [(run, measure, topic) for run in axes[0] for measure in axes[1] for topic in axes[2]]
    cells = draw(st.lists(CELLS, min_size=len(keys), max_size=len(keys)))
    rows = [(*key, cell) for key, cell in zip(keys, cells, strict=True)]
    rows = draw(st.permutations(rows)).copy()
    rows[0] = (*rows[0][:3], 0.5)
    return rows


@settings(max_examples=at_most(40))
@given(rows=tables())
def test_the_same_long_table_gives_the_same_scores_in_every_format(tmp_path, rows):
    first, *others = map(read_scores, write_every_format(tmp_path, NAMES, rows))
    expected = {key: cell for *key, cell in rows for key in [tuple(key)] if cell is not None}
    found = {(r["run"], r["measure"], r["topic"]): r["score"] for r in first.to_records()}
    assert found == expected
    assert first.runs == tuple(dict.fromkeys(row[0] for row in rows))
    for other in others:
        assert_equal(first, other)


@settings(max_examples=at_most(40))
@given(
    runs=st.lists(IDS, min_size=1, max_size=4, unique=True),
    topics=st.lists(IDS, min_size=1, max_size=4, unique=True),
    seed=st.integers(0, 9),
)
def test_the_same_wide_table_gives_the_same_scores_in_every_format(tmp_path, runs, topics, seed):
    values = np.random.default_rng(seed).random((len(topics), len(runs)))
    rows = [(topic, *row) for topic, row in zip(topics, values.tolist(), strict=True)]
    for source in write_every_format(tmp_path, ("topic", *runs), rows):
        scores = read_scores(source, measure="AP")
        assert (scores.topics, scores.runs) == (tuple(sorted(topics)), tuple(runs))
        order = np.argsort(np.array(topics, object))
        np.testing.assert_array_equal(scores.values[:, :, 0], values[order])


def test_the_same_effects_are_read_from_every_format(tmp_path):
    rows = [("a", 0.25, 0.5, None), ("b", -1.5, 1.0, "x"), ("c", 0.125, 0.25, "x")]
    for source in write_every_format(tmp_path, ("Study", "effect", "se", "run"), rows):
        if hasattr(source, "exists"):
            table = read_effects([str(source)])
            assert table.studies == ("a", "b", "c")
            assert [group.run for group in table.groups] == [None, "x"]
            np.testing.assert_array_equal(
                table.effects, [[0.25, np.nan], [np.nan, -1.5], [np.nan, 0.125]]
            )


# faults, in every format in which they can occur


def faults_in(tmp_path, rows, header=NAMES):
    """Returns the message for a faulty table in each format, without its place."""
    found = {}
    for source in write_every_format(tmp_path, header, rows):
        with pytest.raises(FormatError) as caught:
            read_scores(source)
        name = getattr(source, "name", "frame")
        assert str(caught.value).startswith((str(source), "frame: row"))
        found[name] = re.sub(r"line|row", "row", caught.value.problem)
    return found


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (("a", "AP", "1", 0.5), "a second score of run 'a', measure 'AP', topic '1'"),
        (("a", "AP", "2", float("inf")), "'?inf'? under 'score' is not a finite number"),
        (("", "AP", "2", 0.5), "run '' is not an id"),
        (("a", "", "2", 0.5), "measure '' is not an id"),
        (("a", "AP", "", 0.5), "topic '' is not an id"),
    ],
)
def test_a_fault_is_the_same_in_every_format(tmp_path, row, problem):
    found = faults_in(tmp_path, [("a", "AP", "1", 0.5), row])
    for name, message in found.items():
        assert re.match(rf"(row 2: )?{problem}", message), name


@pytest.mark.parametrize("cell", ["٠.٥", "1_0", "0,5,5", "½", "Infinity", "1e999", "0x1", "five"])
def test_what_is_no_number_is_refused_by_every_reader(tmp_path, cell):
    sources = write_every_format(tmp_path, ("topic", "score"), [("1", "1"), ("2", cell)])
    for source in sources:
        with pytest.raises(FormatError, match=r"(:3:|:5:|row 2:).*under 'score' is not a finite"):
            read_scores(source)
    for name in ("effects.csv", "effects.tsv", "effects.json", "effects.parquet"):
        frame = pd.DataFrame({"study": ["a", "b"], "effect": ["1", cell], "se": [1, 1]})
        path = tmp_path / name
        if name.endswith("parquet"):
            frame.to_parquet(path)
        elif name.endswith("json"):
            frame.to_json(path, orient="records")
        else:
            frame.to_csv(path, sep="\t" if name.endswith("tsv") else ",", index=False)
        with pytest.raises(FormatError, match=r"(:3:|row 2:).*under 'effect' is not a finite"):
            read_effects([str(path)])


TEXTS = {
    "t.csv": "topic,score\n1,0.5\n2,0.25\n",
    "t.tsv": "topic\tscore\n1\t0.5\n2\t0.25\n",
    "s.csv": "topic;score\n1;0.5\n2;0.25\n",
    "t.jsonl": '{"topic": 1, "score": 0.5}\n{"topic": 2, "score": 0.25}\n',
    "t.eval": "map   \t1\t0.5\nmap   \t2\t0.25\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_comments_and_blank_lines_are_allowed_anywhere(tmp_path, name):
    lines = TEXTS[name].splitlines()
    text = "\n# head\n" + "\n  \n # between, 1, 2\n\r\n#\n".join(lines) + "\n# end"
    (tmp_path / name).write_text(text)
    np.testing.assert_array_equal(read_scores(tmp_path / name).values[:, 0, 0], [0.5, 0.25])


@pytest.mark.parametrize("name", TEXTS)
def test_a_byte_order_mark_in_mid_file_is_an_error_that_names_its_line(tmp_path, name):
    content = TEXTS[name].encode("utf-8-sig")
    (tmp_path / name).write_bytes(content)
    assert read_scores(tmp_path / name).topics == ("1", "2")
    (tmp_path / name).write_bytes(content + content)
    line = content.count(b"\n") + 1
    with pytest.raises(FormatError, match=rf"{name}:{line}: a byte order mark in the middle"):
        read_scores(tmp_path / name)


def test_comments_within_quotes_are_text(tmp_path):
    (tmp_path / "t.csv").write_text('topic,score\n"1\n# no comment\n\ufeff\n",0.5\n"#2",0.25\n')
    assert read_scores(tmp_path / "t.csv").topics == ("#2", "1\n# no comment\n\ufeff\n")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("e.csv", "study,effect,se\na,1,1\n# b,1,1\n\na,2,1\n", ":5: a second effect of study 'a'"),
        ("e.jsonl", '{"study": "a", "effect": 1, "se": 1,\n "se": 2}', ":1: not JSON"),
        ("e.json", '[{"study": "a", "effect": 1, "se": 1,\n "se": 2}]', ":2: 'se' occurs twice"),
        ("e.csv", "study,effect,se,SE\na,1,1,1\n", ":1: two columns are named 'se'"),
        ("e.csv", 'study,effect,se\n"a,1,1\n', ":2: the columns cannot be read"),
        ("e.csv", "study,effect,se\na,1,1\n\ufeffstudy,effect,se\n", ":3: a byte order mark"),
        ("e.json", '[{"study": "a", "effect": 1, "se": 1}, {"study": 2}]', ": row 2: a record of"),
    ],
)
def test_effects_are_read_by_the_rule_of_scores(tmp_path, name, content, problem):
    (tmp_path / name).write_text(content)
    with pytest.raises(FormatError) as caught:
        read_effects([str(tmp_path / name)])
    assert str(caught.value).startswith(f"{tmp_path / name}{problem}")


def test_summaries_are_left_out_of_effects_with_a_warning(tmp_path):
    (tmp_path / "e.csv").write_text("study,effect,se\na,1,1\nb,2,1\nTotal,1.5,0.7\n")
    with pytest.warns(InputWarning, match=r"summaries are left out: study 'Total' \(line 4\)"):
        assert read_effects([str(tmp_path / "e.csv")]).studies == ("a", "b")


# the header


@pytest.mark.parametrize("name", ["run", "measure", "index", "Unnamed: 0", "Unnamed: 3", "System"])
def test_reserved_names_with_topics_are_never_runs(tmp_path, name):
    (tmp_path / "t.csv").write_text(f"topic,{name},bm25\n1,7,0.5\n2,8,0.25\n")
    scores = read_scores(tmp_path / "t.csv")
    assert name not in scores.runs
    assert scores.topics == ("1", "2")


@pytest.mark.parametrize("name", ["dataset", "Cluster", "weight"])
@pytest.mark.parametrize("column", ["bm25", "score"])
def test_columns_that_are_not_used_are_named(tmp_path, name, column):
    (tmp_path / "t.csv").write_text(f"topic,{name},{column}\n1,7,0.5\n2,8,0.25\n")
    hint = "; confir leaderboard compares datasets" if name == "dataset" else ""
    with pytest.warns(InputWarning, match=rf"t\.csv: not used: columns {name}{hint}$"):
        scores = read_scores(tmp_path / "t.csv")
    np.testing.assert_array_equal(scores.values[:, :, 0], [[0.5], [0.25]])


@pytest.mark.parametrize(
    "name", ["query_id", "qid", "index", "Unnamed: 0", "", "__index_level_0__"]
)
@pytest.mark.parametrize("column", ["bm25", "score"])
def test_names_of_topics_and_rows_are_topics(tmp_path, name, column):
    (tmp_path / "bm25.csv").write_text(f"{name},{column}\n301,0.5\n302,0.25\n")
    scores = read_scores(tmp_path / "bm25.csv")
    assert (scores.topics, scores.runs) == (("301", "302"), ("bm25",))


def test_a_column_of_scores_alone_is_one_run_named_by_its_file(tmp_path):
    (tmp_path / "bm25.csv").write_text("score\n0.5\n0.25\n")
    with pytest.warns(InputWarning, match="numbered 1 to 2"):
        assert read_scores(tmp_path / "bm25.csv").runs == ("bm25",)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("topic,Score,score", "two columns are named 'score'"),
        ("Topic,topic,a", "two columns are named 'topic'"),
        ("run,measure,bm25", "no column of scores"),
        ("run,score,note", "no column of topics"),
        ("measure,bm25,dense", "no column of topics"),
        ("run,AP,RR", "no column of topics"),
        ("topic,run,measure", "no column of scores"),
        ("topic,qid,index", "no column of scores"),
    ],
)
def test_a_header_that_is_not_one_of_scores_is_an_error(tmp_path, header, problem):
    (tmp_path / "t.csv").write_text(f"# by hand\n{header}\n1,1,1\n")
    with pytest.raises(FormatError, match=rf"t\.csv:2: {problem}"):
        read_scores(tmp_path / "t.csv")


def test_a_column_of_measures_goes_with_a_column_per_run(tmp_path):
    (tmp_path / "t.csv").write_text("topic,measure,a,b\n1,AP,0.5,0.25\n1,RR,1,\n")
    scores = read_scores(tmp_path / "t.csv")
    assert (scores.runs, scores.measures) == (("a", "b"), ("AP", "RR"))
    np.testing.assert_array_equal(scores.values, [[[0.5, 1], [0.25, np.nan]]])


# gdeval, semicolons and decimal commas

GDEVAL = (
    "runid,topic,ndcg@20,err@20\n"
    "UAMSA10,51,0.04323,0.00591\nUAMSA10,52,0.25000,0.10000\nUAMSA10,amean,0.14662,0.05296\n"
)


@pytest.mark.parametrize("name", ["a.csv", "a.gdeval", "a"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_output_of_gdeval_is_read(tmp_path, name, separator):
    (tmp_path / name).write_text(GDEVAL.replace(",", separator))
    with pytest.warns(InputWarning, match=r"summaries are left out: topic 'amean' \(line 4\)"):
        scores = read_scores(tmp_path / name)
    assert (scores.runs, scores.measures) == (("UAMSA10",), ("ndcg@20", "err@20"))
    assert scores.topics == ("51", "52")
    np.testing.assert_array_equal(scores.values[:, 0], [[0.04323, 0.00591], [0.25, 0.1]])


def test_a_table_without_topics_may_be_separated_by_semicolons(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n0,5;1\n0,25;NA\n")
    with pytest.warns(InputWarning, match="numbered 1 to 2"):
        scores = read_scores(tmp_path / "t.csv")
    np.testing.assert_array_equal(scores.values[:, :, 0], [[0.5, 1], [0.25, np.nan]])


def test_ids_keep_their_commas_and_points_with_decimal_commas(tmp_path):
    (tmp_path / "t.csv").write_text("run;measure;topic;score\na,b;P(rel=2,x)@5;1.2;0,5\n")
    (record,) = read_scores(tmp_path / "t.csv").to_records()
    assert record == {"run": "a,b", "measure": "P(rel=2,x)@5", "topic": "1.2", "score": 0.5}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("topic;a\n1;0,5\n2;0.25\n", r":3: '0\.25' under 'a': decimal points and decimal commas"),
        ("topic;a\n1;1.234,5\n", r":2: '1\.234,5' under 'a'"),
        ("topic;a\n1;1,234,5\n", r":2: '1,234,5' under 'a' is not a finite number"),
        ("topic\ta\n1\t1,234\n", r":2: '1,234' under 'a' is not a finite number"),
        ('topic,a\n1,"0,5"\n2,0.5\n', r":2: '0,5' under 'a' is not a finite number"),
    ],
)
def test_decimal_commas_that_are_not_clear_are_an_error(tmp_path, text, problem):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(FormatError, match=problem):
        read_scores(tmp_path / "t.csv")


def test_effects_may_have_decimal_commas(tmp_path):
    (tmp_path / "e.csv").write_text("study;effect;se\na;0,5;0,25\nb;-1;0,5\n")
    table = read_effects([str(tmp_path / "e.csv")])
    assert table.effects[:, 0].tolist() == [0.5, -1.0]
    (tmp_path / "e.csv").write_text("study;effect;se\na;0,5;0.25\n")
    with pytest.raises(FormatError, match=r":2: .* are mixed"):
        read_effects([str(tmp_path / "e.csv")])


def test_names_within_a_table_of_commas_may_hold_semicolons(tmp_path):
    scores = Scores(("1",), ("a;topic;b", "c;d"), ("AP",), np.array([[[0.5], [1.0]]]))
    write_scores(scores, tmp_path / "t.csv", layout="wide")
    assert read_scores(tmp_path / "t.csv").runs == scores.runs


# the quote that keeps a spreadsheet from taking text for a formula


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "s.csv"])
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_the_quote_before_a_formula_is_taken_off(tmp_path, name, sign):
    rows = [(f"'{sign}x", 0.5), (f"{sign}y", 0.25), ("'z", 1.0), ("'", 0.0)]
    separator = {"t.csv": ",", "t.tsv": "\t", "s.csv": ";"}[name]
    text = separated(("topic", f"'{sign}bm25"), rows, separator)
    (tmp_path / name).write_bytes(text.encode())
    scores = read_scores(tmp_path / name)
    assert scores.runs == (f"{sign}bm25",)
    assert scores.topics == tuple(sorted([f"{sign}x", f"{sign}y", "'z", "'"]))


def test_two_spellings_of_one_id_are_one(tmp_path):
    (tmp_path / "t.csv").write_text("topic,score\n'=x,0.5\n=x,0.5\n")
    with pytest.raises(FormatError, match=r":3: a second score.*topic '=x' \(the first: line 2\)"):
        read_scores(tmp_path / "t.csv")


def test_the_quote_before_a_formula_is_taken_off_names_of_effects(tmp_path):
    (tmp_path / "e.csv").write_text("study,effect,se\n'=a,1,1\n'b,1,1\n")
    assert read_effects([str(tmp_path / "e.csv")]).studies == ("=a", "'b")


def test_quotes_stay_in_formats_that_no_spreadsheet_opens(tmp_path):
    frame = pd.DataFrame({"topic": ["'=x"], "score": [0.5]})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_json(tmp_path / "t.json", orient="records")
    for source in (frame, tmp_path / "t.parquet", tmp_path / "t.json"):
        assert read_scores(source).topics == ("'=x",)


# frames


def test_an_index_of_pandas_holds_topics():
    frame = pd.DataFrame({"a": [0.5, None], "b": [1, 2]}, index=["01", "02"])
    for name in (None, "topic", "qid"):
        scores = read_scores(frame.rename_axis(name), measure="AP")
        assert (scores.topics, scores.runs) == (("01", "02"), ("a", "b"))
        np.testing.assert_array_equal(scores.values[:, :, 0], [[0.5, 1], [np.nan, 2]])


def test_a_pivoted_frame_is_read_like_the_long_one():
    long = pd.DataFrame({"run": [*"aabb"], "topic": [1, 2, 1, 2], "score": [0.5, 1.0, 0.25, 0.0]})
    wide = long.pivot_table(index="topic", columns="run", values="score")
    assert_equal(read_scores(wide), read_scores(long))


def test_missing_cells_of_pandas_are_missing():
    frame = pd.DataFrame({"topic": ["1", "2"], "a": pd.array([0.5, None], dtype="Float64")})
    np.testing.assert_array_equal(read_scores(frame).values[:, 0, 0], [0.5, np.nan])


def test_frames_and_files_are_merged(tmp_path):
    (tmp_path / "b.csv").write_text("topic,b\n1,0.25\n")
    frame = pl.DataFrame({"topic": ["1"], "a": [0.5]})
    assert read_scores([frame, tmp_path / "b.csv"]).runs == ("a", "b")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"topic": ["1", None], "a": [1, 1]}), "row 2: topic None is not an id"),
        (pd.DataFrame({"topic": [1.5], "a": [1]}), r"row 1: topic 1\.5 is not an id"),
        (pd.DataFrame({"topic": [], "a": []}), "a table without rows"),
        (pd.DataFrame([[1, 1]], columns=["a", "a"]), "two columns have one name"),
        (pd.DataFrame({("a", "b"): [1]}), "a column is named .*; expected text"),
        (pl.LazyFrame({"topic": [1.5], "a": [1]}), r"row 1: topic 1\.5 is not an id"),
    ],
)
def test_a_faulty_frame_is_an_error_that_says_what_and_where(frame, message):
    with pytest.raises(FormatError, match=f"^frame: {message}"):
        read_scores(frame)


# Parquet without an object for each row


@pytest.mark.parametrize(
    "types",
    [
        {"run": "category"},
        {"score": "float32"},
        {"topic": "int16"},
        {"topic": "category", "score": "int8"},
    ],
)
def test_types_of_parquet_columns_do_not_matter(tmp_path, types):
    frame = pd.DataFrame(
        {"run": [*"bbaa"], "topic": [10, 9, 10, 9], "score": [1, 0, 1, 1], "measure": "AP"}
    )
    frame.astype(types).to_parquet(tmp_path / "t.parquet")
    scores = read_scores(tmp_path / "t.parquet")
    assert (scores.topics, scores.runs) == (("10", "9"), ("b", "a"))
    np.testing.assert_array_equal(scores.values[:, :, 0], [[1, 1], [0, 1]])


def test_long_columns_of_parquet_are_never_lists(tmp_path, monkeypatch):
    from confir.data.tables.input_table import InputTable

    monkeypatch.setattr(InputTable, "cells", None)
    scores = Scores(("1", "2"), ("b", "a"), ("AP",), np.array([[[0.5], [1]], [[np.nan], [0]]]))
    write_scores(scores, tmp_path / "t.parquet")
    assert_equal(read_scores(tmp_path / "t.parquet"), scores)
    assert read_scores(tmp_path / "t.parquet", measure="RR").measures == ("RR",)


def test_a_column_of_parquet_that_is_no_text_is_an_error(tmp_path):
    broken = pa.StringArray.from_buffers(
        1, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")
    )
    pq.write_table(pa.table({"topic": broken, "score": [0.5]}), tmp_path / "t.parquet")
    with pytest.raises(FormatError, match=r"t\.parquet: (column 'topic' cannot be read|cannot be)"):
        read_scores(tmp_path / "t.parquet")
