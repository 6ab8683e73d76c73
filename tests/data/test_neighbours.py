import gzip
import json
import os
import sys
from decimal import Decimal
from typing import NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confir.data.formats.format import RunSource
from confir.data.formats.frames import build_frame
from confir.data.formats.runs_and_qrels import (
    as_qrels,
    as_run,
    read_qrels,
    read_run,
    write_qrels,
    write_run,
)
from confir.data.formats.sources import as_runs
from confir.data.qrels import build_qrels
from confir.data.run import Run
from confir.errors import (
    FormatError,
    InvalidValueError,
    MissingDependencyError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
    UnreadableError,
)
from strategies import at_most

RUN = {"01": {"NA": 1.5, "d2": 2.5}, "2": {"d3": 0.25}}
QRELS = {"01": {"NA": 1, "d2": 0}, "2": {"d3": 3}}
ROWS = [("01", "NA", 1.5), ("01", "d2", 2.5), ("2", "d3", 0.25)]
JUDGEMENTS = [("01", "NA", 1), ("01", "d2", 0), ("2", "d3", 3)]

RUN_SHAPES = [
    ("topic", "docid", "score"),
    ("topic", "document", "score"),
    ("query_id", "doc_id", "score"),
    ("qid", "docno", "score"),
    ("q_id", "doc_id", "score"),
]
QRELS_SHAPES = [
    ("topic", "docid", "gain"),
    ("topic", "document", "gain"),
    ("query_id", "doc_id", "relevance"),
    ("qid", "docno", "label"),
    ("q_id", "doc_id", "score"),
]
MAKERS = [pd.DataFrame, pl.DataFrame, pa.table]


def columns_of(names, rows):
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def run_columns(**changed):
    return columns_of(("topic", "docid", "score"), ROWS) | changed


def qrels_columns(**changed):
    return columns_of(("topic", "docid", "gain"), JUDGEMENTS) | changed


class StandInRun:
    """Has the public shape of ranx.Run."""

    def __init__(self, run, name=None):
        self.run = run
        self.name = name

    def __len__(self):
        return len(self.run)

    def __getitem__(self, topic):
        return dict(self.run[topic])

    def to_dict(self):
        return {topic: self[topic] for topic in self.run}


class StandInQrels:
    """Has the public shape of ranx.Qrels."""

    def __init__(self, qrels, name=None):
        self.qrels = qrels
        self.name = name

    def to_dict(self):
        return {topic: dict(held) for topic, held in self.qrels.items()}


StandInRun.__module__ = "ranx.data_structures.run"
StandInQrels.__module__ = "ranx.data_structures.qrels"


@pytest.fixture
def trec_run(tmp_path):
    path = tmp_path / "bm25.run"
    path.write_text("01 Q0 NA 1 1.5 tag\n01 Q0 d2 2 2.5 tag\n2 Q0 d3 1 0.25 tag\n")
    return path


@pytest.fixture
def json_run(tmp_path):
    path = tmp_path / "dense.json"
    path.write_text(json.dumps(RUN))
    return path


# One run, one set of qrels


def test_own_objects_come_back_unchanged():
    run, qrels = as_run(RUN), as_qrels(QRELS)
    assert as_run(run) is run
    assert as_qrels(qrels) is qrels


def test_own_run_takes_another_name():
    renamed = as_run(as_run(RUN), name="other")
    assert renamed.name == "other"
    assert renamed.to_dict() == RUN


def test_mapping_of_mappings_is_a_run_and_qrels():
    run = as_run(RUN, name="bm25")
    assert run.name == "bm25"
    assert run.to_dict() == RUN
    assert as_run(RUN).name == "run"
    qrels = as_qrels(QRELS)
    assert qrels.to_dict() == QRELS
    assert set(qrels.subtopics) == {"0"}


def test_topic_with_empty_mapping_is_not_in_the_run():
    assert as_run({**RUN, "3": {}}).to_dict() == RUN


def test_topic_without_judgement_is_left_out_with_a_warning():
    with pytest.warns(TopicWarning, match="qrels: topics without a judgement are left out: 3, 4$"):
        qrels = as_qrels({**QRELS, "3": {}, "4": {}})
    assert qrels.to_dict() == QRELS


def test_integer_ids_become_text_exactly():
    run = as_run({301: {np.int64(7): 1.0, 2**70: np.float32(0.5)}})
    assert run.to_dict() == {"301": {"7": 1.0, str(2**70): 0.5}}


def test_ids_of_special_types_become_plain_text():
    class Loud(str):
        __slots__ = ()

        def __str__(self):
            return self.upper()

    run = as_run({np.str_("q1"): {"d": 1.0}, Loud("q2"): {"d": 1.0}})
    assert run.topics == ("q1", "q2")
    assert {type(topic) for topic in run.topics} == {str}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("names", RUN_SHAPES, ids="-".join)
def test_frame_of_each_library_is_a_run(make, names):
    columns = columns_of(names, ROWS) | {"rank": [2, 1, 1]}
    run = as_run(make(columns), name="bm25")
    assert run.name == "bm25"
    assert run.to_dict() == RUN


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("names", QRELS_SHAPES, ids="-".join)
def test_frame_of_each_library_is_qrels(make, names):
    assert as_qrels(make(columns_of(names, JUDGEMENTS))).to_dict() == QRELS


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("names", "subtopic"),
    [
        (("topic", "docid", "gain"), "subtopic"),
        (("query_id", "doc_id", "relevance"), "iteration"),
        (("qid", "docno", "label"), "iteration"),
    ],
)
def test_frame_keeps_subtopics(make, names, subtopic):
    rows = [("1", "a", 1), ("1", "a", 2), ("1", "b", 0)]
    qrels = as_qrels(make(columns_of(names, rows) | {subtopic: ["x", "y", "x"]}))
    assert qrels.to_dict() == {"1": {"a": 2, "b": 0}}
    assert qrels.subtopics == ("x", "y", "x")
    assert qrels.subtopic_gains.tolist() == [1, 2, 0]


def test_docno_of_pyterrier_wins_over_its_internal_docid():
    frame = pd.DataFrame(
        {"qid": ["1"], "docid": [17], "docno": ["d1"], "rank": [0], "score": [1.0], "query": ["x"]}
    )
    assert as_run(frame).to_dict() == {"1": {"d1": 1.0}}


@pytest.mark.parametrize(
    "dtype",
    [
        "str",
        "string",
        "object",
        "category",
        pd.StringDtype("python"),
        pd.StringDtype("pyarrow"),
        pd.ArrowDtype(pa.string()),
        pd.ArrowDtype(pa.large_string()),
    ],
    ids=str,
)
def test_every_text_type_of_pandas_is_read(dtype):
    frame = pd.DataFrame(run_columns()).astype({"topic": dtype, "docid": dtype})
    assert as_run(frame).to_dict() == RUN


@pytest.mark.parametrize("dtype", ["int64", "Int64", "int64[pyarrow]", "category", "uint16"])
def test_integer_columns_of_pandas_are_ids(dtype):
    frame = pd.DataFrame({"qid": pd.Series([301, 302], dtype=dtype), "docno": [7, 8], "score": 1.0})
    assert as_run(frame).to_dict() == {"301": {"7": 1.0}, "302": {"8": 1.0}}


@pytest.mark.parametrize(
    "dtype", [pl.String, pl.Categorical, pl.Enum(["01", "2", "NA", "d2", "d3"])]
)
def test_every_text_type_of_polars_is_read(dtype):
    frame = pl.DataFrame(run_columns()).with_columns(pl.col("topic", "docid").cast(dtype))
    assert as_run(frame).to_dict() == RUN


@pytest.mark.parametrize(
    "encode",
    [
        pa.array,
        lambda values: pa.array(values, pa.large_string()),
        lambda values: pa.array(values, pa.string_view()),
        lambda values: pa.array(values).dictionary_encode(),
        lambda values: pa.chunked_array([values[:1], values[1:]]),
    ],
    ids=["string", "large_string", "string_view", "dictionary", "chunks"],
)
def test_every_text_type_of_arrow_is_read(encode):
    columns = run_columns()
    for name in ("topic", "docid"):
        columns[name] = encode(columns[name])
    assert as_run(pa.table(columns)).to_dict() == RUN


@pytest.mark.parametrize(
    "scores",
    [
        pl.Series([1, 2, 3]),
        pl.Series([1, 2, 3], dtype=pl.Float32),
        pl.Series([Decimal(1), Decimal(2), Decimal(3)]),
    ],
    ids=lambda series: str(series.dtype),
)
def test_every_type_of_number_is_a_score(scores):
    run = as_run(pl.DataFrame(run_columns(score=scores)))
    assert run.to_dict() == {"01": {"NA": 1.0, "d2": 2.0}, "2": {"d3": 3.0}}


def test_whole_floats_are_gains():
    assert as_qrels(pd.DataFrame(qrels_columns(gain=[1.0, 0.0, 3.0]))).to_dict() == QRELS


@pytest.mark.parametrize("collect", [list, tuple, iter, set])
def test_named_tuples_of_ir_measures_are_read(collect):
    run = as_run(collect([ir_measures.ScoredDoc(*row) for row in ROWS]))
    qrels = as_qrels(collect([ir_measures.Qrel(*row) for row in JUDGEMENTS]))
    assert run.to_dict() == RUN
    assert qrels.to_dict() == QRELS


def test_iteration_of_ir_measures_is_the_subtopic():
    entries = (ir_measures.Qrel("1", "a", gain, it) for gain, it in [(1, "x"), (2, "y")])
    qrels = as_qrels(entries)
    assert qrels.subtopics == ("x", "y")
    assert qrels.to_dict() == {"1": {"a": 2}}


def test_ir_measures_reads_its_own_files_for_us(trec_run):
    assert as_run(ir_measures.read_trec_run(str(trec_run))).to_dict() == RUN


def test_plain_tuples_are_read():
    assert as_run(ROWS).to_dict() == RUN
    assert as_qrels(iter(JUDGEMENTS)).to_dict() == QRELS


def test_objects_of_ranx_are_known_without_ranx(monkeypatch):
    monkeypatch.setitem(sys.modules, "ranx", None)
    run = as_run(StandInRun(RUN, "bm25"))
    assert run.name == "bm25"
    assert run.to_dict() == RUN
    assert as_run(StandInRun(RUN)).name == "run"
    assert as_run(StandInRun(RUN, "bm25"), name="other").name == "other"
    assert as_qrels(StandInQrels(QRELS, "web")).to_dict() == QRELS


def test_class_made_from_one_of_ranx_is_known():
    class Special(StandInRun):
        pass

    assert as_run(Special(RUN)).to_dict() == RUN


def test_run_and_qrels_of_ranx_are_not_mistaken_for_each_other():
    with pytest.raises(FormatError, match=r"type ranx\.\S*\.StandInQrels; expected"):
        as_run(StandInQrels(QRELS))
    with pytest.raises(FormatError, match=r"type ranx\.\S*\.StandInRun; expected"):
        as_qrels(StandInRun(RUN))


def test_what_runs_and_qrels_of_ranx_hold_is_read():
    # as Run.run, Run.to_dataframe() and Qrels.to_dataframe() are; tests/verify reads ranx's own
    run, qrels = StandInRun(RUN, "bm25"), StandInQrels(QRELS)
    assert as_run(run.run).to_dict() == RUN
    names = ("q_id", "doc_id")
    assert as_run(pd.DataFrame(columns_of((*names, "score"), ROWS))).to_dict() == RUN
    assert as_qrels(pd.DataFrame(columns_of((*names, "score"), JUDGEMENTS))).to_dict() == QRELS
    assert as_qrels(qrels.qrels).to_dict() == QRELS


def test_paths_are_read_as_trec_files(trec_run):
    assert as_run(str(trec_run)).to_dict() == RUN
    assert as_run(trec_run).name == "bm25"
    assert as_run(trec_run, name="other").name == "other"
    assert as_run(RunSource(str(trec_run), "mine")).name == "mine"


def test_qrels_path_is_read_as_a_trec_file(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("01 0 NA 1\n01 0 d2 0\n2 0 d3 3\n")
    assert as_qrels(path).to_dict() == QRELS


@pytest.mark.parametrize("ending", [".json", ".JSON", ".json.gz"])
def test_json_is_recognised_by_its_ending(tmp_path, ending):
    path = tmp_path / f"dense{ending}"
    content = json.dumps(RUN).encode()
    path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    run = as_run(path)
    assert run.to_dict() == RUN
    assert run.name == "dense"


def test_json_is_recognised_by_its_start(tmp_path):
    path = tmp_path / "dense.run"
    path.write_bytes(b'\xef\xbb\xbf \n{ "1": {"d": 2}}')
    assert as_run(path, name="other").to_dict() == {"1": {"d": 2.0}}
    path.write_text('{"1": {"d": 2}}')
    assert as_qrels(path).to_dict() == {"1": {"d": 2}}


def test_topic_that_starts_with_a_brace_is_not_json(tmp_path):
    path = tmp_path / "odd.run"
    path.write_text("{1} Q0 d 1 2.0 tag\n")
    assert as_run(path).to_dict() == {"{1}": {"d": 2.0}}


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="needs pipes that have a path")
def test_pipe_is_not_looked_into_before_it_is_read(trec_run):
    reading, writing = os.pipe()
    os.write(writing, trec_run.read_bytes())
    os.close(writing)
    path = f"/dev/fd/{reading}"
    try:
        assert as_runs(path) == [RunSource(path)]
        assert as_run(path).to_dict() == RUN
    finally:
        os.close(reading)


def test_intents_reach_the_qrels(tmp_path):
    intents = {"01": {"0": 1.0}}
    (tmp_path / "intents.txt").write_text("01 0 1.0\n")
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    (tmp_path / "qrels.txt").write_text("01 0 NA 1\n")
    sources = (QRELS, as_qrels(QRELS), tmp_path / "qrels.json", tmp_path / "qrels.txt")
    for source in sources:
        assert as_qrels(source, intents=intents).intents == intents
        assert as_qrels(source, intents=tmp_path / "intents.txt").intents == intents
        assert as_qrels(source).intents is None


def test_intents_keep_the_judgements_of_own_qrels():
    qrels = build_qrels(["2", "1", "1"], ["x", "y", "x"], ["b", "a", "a"], np.array([0, 2, 1]))
    other = as_qrels(qrels, intents={"1": {"x": 0.5, "y": 0.5}})
    assert other.to_dict() == qrels.to_dict()
    assert other.subtopics == qrels.subtopics
    assert other.subtopic_gains.tolist() == qrels.subtopic_gains.tolist()


def test_intents_of_other_topics_are_an_error():
    for source in (QRELS, as_qrels(QRELS)):
        with pytest.raises(TopicMismatchError, match="the intents are of other topics"):
            as_qrels(source, intents={"3": {"0": 1.0}})


@settings(max_examples=at_most(50))
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
        st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
            st.floats(allow_nan=False, allow_infinity=False),
            min_size=1,
        ),
        min_size=1,
    )
)
def test_dict_goes_through_a_run_and_back(scores):
    run = as_run(scores)
    assert run.to_dict() == scores
    assert as_run(run.to_frame("polars")).to_dict() == scores
    assert as_run(run.to_frame("pyarrow")).to_dict() == scores


# What is wrong with them


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("nan"),
        301.0,
        True,
        np.True_,
        b"q1",
        pd.NA,
        ("q", 1),
    ],
    ids=repr,
)
def test_ids_are_text_or_integers(value):
    no_id = f"{value!r} is not an id; expected text"
    for source, message in [
        ({"1": {"d": 1}, value: {"d": 1}}, f"topic {value!r}, document 'd': topic {no_id}"),
        ({"1": {"d": 1, value: 2}}, f"topic '1', document {value!r}: docid {no_id}"),
        ([("1", "d", 1), (value, "d", 1)], f"row 2: topic {no_id}"),
        ([("1", "d", 1), ("1", value, 1)], f"row 2: docid {no_id}"),
    ]:
        for convert, name in [(as_run, "run"), (as_qrels, "qrels")]:
            with pytest.raises(FormatError) as caught:
                convert(source)
            assert str(caught.value) == f"{name}: {message}"


def test_subtopics_are_text_or_integers():
    with pytest.raises(FormatError, match="row 3: subtopic None is not an id"):
        as_qrels(pl.DataFrame(qrels_columns(subtopic=["1", "2", None])))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("ids", "described"),
    [
        (["1", None, "2"], "None"),
        ([1.0, 2.0, 3.0], r"1\.0"),
        ([True, False, True], "True"),
    ],
)
def test_ids_in_frames_are_text_or_integers(make, ids, described):
    for name in ("topic", "docid"):
        with pytest.raises(FormatError, match=rf"^run: row \d: {name} {described} is not an id;"):
            as_run(make(run_columns(**{name: ids})))


def test_integers_that_a_gap_made_floats_are_no_ids():
    frame = pd.DataFrame({"qid": [301, None], "docno": ["a", "b"], "score": [1.0, 2.0]})
    with pytest.raises(FormatError, match=r"row 1: qid 301\.0 is not an id"):
        as_run(frame)


def test_missing_value_of_a_nullable_column_is_no_id():
    frame = pd.DataFrame(run_columns(topic=pd.array([1, None, 2], "Int64")))
    with pytest.raises(FormatError, match="row 2: topic None is not an id"):
        as_run(frame)


def test_empty_ids_and_half_characters_are_errors():
    with pytest.raises(FormatError, match="topic '' is not an id; expected text"):
        as_run({"": {"d": 1.0}})
    with pytest.raises(FormatError, match="topic '1', document '': docid '' is not an id"):
        as_run({"1": {"": 1.0}})
    with pytest.raises(FormatError, match="the docid is not Unicode text"):
        as_run({"1": {"é\ud800": 1.0}})


def test_text_and_number_that_become_one_id_are_an_error():
    with pytest.raises(FormatError, match="topic '1' occurs twice, as text and as number"):
        as_run({"1": {"a": 1.0}, "2": {"a": 1.0}, 1: {"b": 1.0}})
    with pytest.raises(FormatError, match="document '7' occurs twice in topic '1'"):
        as_run({"1": {"7": 1.0, 7: 2.0}})
    with pytest.raises(FormatError, match="conflicting judgements of document '7' in topic '1'"):
        as_qrels({"1": {"7": 1, 7: 2}})


@pytest.mark.parametrize(
    ("value", "described"),
    [
        (None, "None"),
        ("1,5", "'1,5'"),
        (True, "True"),
        (1j, "1j"),
        ({"d": 1.0}, "{'d': 1.0}"),
        (np.array([1.0, 2.0]), "array([1., 2.])"),
    ],
    ids=repr,
)
def test_scores_and_gains_are_numbers(value, described):
    for convert, what in [(as_run, "run: score"), (as_qrels, "qrels: gain")]:
        with pytest.raises(FormatError) as caught:
            convert({"1": {"a": 1, "b": value}})
        name, number = what.split(": ")
        problem = f"{described} under {number!r} is not a finite number"
        if value is None:
            problem = f"the {number} is missing; expected a number"
        assert str(caught.value) == f"{name}: topic '1', document 'b': {problem}"


def test_first_of_several_faults_is_named():
    faults = [True, 1j, b"x", [], {}, ()]
    for turn in range(len(faults)):
        turned = [*faults[turn:], *faults[:turn]]
        with pytest.raises(FormatError, match="topic '1', document '0':"):
            as_run({"1": {str(i): fault for i, fault in enumerate(turned)}})
        with pytest.raises(FormatError, match="row 1: docid"):
            as_run([("1", fault, 1.0) for fault in turned])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), np.float64("nan")])
def test_scores_are_finite(value):
    with pytest.raises(FormatError) as caught:
        as_run({"1": {"a": value}}, name="bm25")
    problem = (
        "the score is missing" if np.isnan(value) else f"{value} under 'score' is not a finite"
    )
    assert str(caught.value).startswith(f"bm25: topic '1', document 'a': {problem}")


def test_number_beyond_floats_is_an_error():
    with pytest.raises(FormatError, match=r"document 'a': 1000.*0 under 'score' is not a"):
        as_run({"1": {"a": 10**400}})


@pytest.mark.parametrize("value", [0.5, 2**31, -(2**31), Decimal("0.1")])
def test_gains_are_whole_numbers(value):
    with pytest.raises(FormatError) as caught:
        as_qrels({"1": {"a": 1, "b": value}})
    assert str(caught.value) == (
        f"qrels: gain of document 'b' in topic '1' is {float(value)}; expected a whole number of "
        "at most 2147483647"
    )


@pytest.mark.parametrize("make", MAKERS)
def test_numbers_in_frames_are_strict(make):
    for scores, problem in [
        ([1.0, None, 2.0], "row 2: the score is missing; expected a"),
        (["1,0", "2.0", "3.0"], "row 1: '1,0' under 'score' is not a finite number"),
        ([True, False, True], "row 1: True under 'score' is not a finite number"),
    ]:
        with pytest.raises(FormatError, match=f"^run: {problem}"):
            as_run(make(run_columns(score=scores)))
    with pytest.raises(FormatError, match=r"gain of document 'NA' in topic '01' is 0\.5; expected"):
        as_qrels(make(qrels_columns(gain=[0.5, 1, 2])))
    with pytest.raises(FormatError, match=r"row 2: the gain is missing;"):
        as_qrels(make(qrels_columns(gain=[1, None, 2])))


@pytest.mark.parametrize("make", MAKERS)
def test_missing_columns_are_named_with_what_is_expected(make):
    with pytest.raises(FormatError) as caught:
        as_run(make({"topic": ["1"], "docno": ["d"], "points": [1.0]}))
    assert str(caught.value) == (
        "run: the columns are topic, docno, points; expected topic, docid, score or topic, "
        "document, score or query_id, doc_id, score or qid, docno, score or q_id, doc_id, score"
    )
    with pytest.raises(FormatError) as caught:
        as_qrels(make({"topic": ["1"], "docid": ["d"]}))
    assert str(caught.value) == (
        "qrels: the columns are topic, docid; expected topic, docid, gain or topic, document, gain "
        "or query_id, doc_id, relevance or qid, docno, label or q_id, doc_id, score or query-id, "
        "corpus-id, score or query, docid, rating"
    )


def test_run_and_qrels_swapped_are_reported():
    with pytest.raises(FormatError, match=r"\(this looks like qrels\)$"):
        as_run(pd.DataFrame(qrels_columns()))
    with pytest.raises(FormatError, match=r"\(this looks like a run\)$"):
        as_qrels([ir_measures.ScoredDoc("1", "d", 1.0)])


def test_columns_of_two_shapes_are_ambiguous():
    frame = pd.DataFrame({"topic": [1], "docid": [2], "qid": [3], "docno": [4], "score": [5]})
    with pytest.raises(FormatError) as caught:
        as_run(frame)
    assert str(caught.value) == (
        "run: the columns topic, docid, qid, docno, score can be read in two ways: topic, docid, "
        "score and qid, docno, score; expected one of them"
    )


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([["1", "d", 1.0, 2.0]], columns=["topic", "docid", "score", "score"]),
        pa.table([["1"], ["d"], [1.0], [2.0]], names=["topic", "docid", "score", "score"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_columns_of_one_name_are_an_error(frame):
    with pytest.raises(FormatError, match=r"two columns have one name .*'score' 2 times"):
        as_run(frame)


def test_frames_with_odd_column_names_are_refused_in_one_sentence():
    with pytest.raises(FormatError, match="the columns are 0, 1; expected topic"):
        as_run(pd.DataFrame([[1, 2]]))
    with pytest.raises(FormatError, match="a table without rows; expected topic"):
        as_run(pd.DataFrame())


def test_lazy_frames_are_collected():
    assert as_run(pl.LazyFrame(run_columns())).to_dict() == RUN
    assert as_qrels(pl.LazyFrame(qrels_columns())).to_dict() == QRELS


def test_fields_of_named_tuples_are_checked():
    class Odd(NamedTuple):
        query_id: str
        points: float

    with pytest.raises(FormatError, match="the fields are query_id, points; expected topic, docid"):
        as_run([Odd("1", 2.0)])


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([("1", "d", 1), ("1", "d")], "entry 2 has 2 fields"),
        ([("1", "0", "d", 1)], "entry 1 has 4 fields"),
        ([["1", "d", 1]], "an entry of type list"),
        ([("1", "d", 1), {"topic": "1"}], "an entry of type dict"),
        (np.array([[1, 2, 3]]), "an entry of type ndarray"),
    ],
)
def test_entries_are_tuples_of_three(entries, problem):
    for convert, name, value in [(as_run, "run", "score"), (as_qrels, "qrels", "gain")]:
        with pytest.raises(FormatError) as caught:
            convert(entries)
        expected = f"expected (topic, docid, {value}) tuples, or named ones"
        assert str(caught.value) == f"{name}: {problem}; {expected}"


def test_entries_of_several_types_are_an_error():
    with pytest.raises(FormatError, match="entries of several types: tuple, ScoredDoc; expected"):
        as_run([("1", "a", 1.0), ir_measures.ScoredDoc("1", "b", 2.0)])


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"1": {}},
        [],
        iter(()),
        StandInRun({}),
        *(make(run_columns(topic=[], docid=[], score=[])) for make in MAKERS),
    ],
    ids=lambda source: type(source).__module__ + type(source).__name__,
)
def test_empty_runs_are_errors(source):
    with pytest.raises(
        FormatError, match=r"^run: (the run is empty|a table without rows); expected"
    ):
        as_run(source)


@pytest.mark.parametrize(
    "source",
    [{}, {"1": {}}, [], *(make(qrels_columns(topic=[], docid=[], gain=[])) for make in MAKERS)],
    ids=lambda source: type(source).__module__ + type(source).__name__,
)
def test_empty_qrels_are_errors(source):
    with pytest.raises(
        FormatError, match=r"^qrels: (the qrels are empty|a table without rows); expected"
    ):
        as_qrels(source)


@pytest.mark.parametrize("make", [*MAKERS, lambda columns: zip(*columns.values(), strict=True)])
def test_document_twice_is_an_error(make):
    columns = run_columns(docid=["a", "a", "b"])
    with pytest.raises(FormatError, match=r"^run: document 'a' occurs twice in topic '01'"):
        as_run(make(columns))
    columns = qrels_columns(docid=["a", "a", "b"])
    with pytest.raises(FormatError, match=r"^qrels: conflicting judgements of document 'a'"):
        as_qrels(make(columns))


@pytest.mark.parametrize(
    ("source", "name"),
    [(3, "int"), (None, "NoneType"), (b"bm25.run", "bytes"), (object, "type")],
)
def test_objects_of_unknown_type_are_named(source, name):
    accepted = (
        "a path, a mapping topic → docid → {}, a pandas, polars or Arrow frame, the {} of confir "
        "or ranx, or (topic, docid, {}) tuples"
    )
    with pytest.raises(FormatError) as caught:
        as_run(source)
    expected = accepted.format("score", "Run", "score")
    assert str(caught.value) == f"run: an object of type {name}; expected {expected}"
    with pytest.raises(FormatError) as caught:
        as_qrels(source)
    expected = accepted.format("gain", "Qrels", "gain")
    assert str(caught.value) == f"qrels: an object of type {name}; expected {expected}"


def test_run_where_qrels_are_expected_is_named_by_type():
    with pytest.raises(FormatError, match=r"an object of type confir\.data\.run\.Run; expected"):
        as_qrels(as_run(RUN))
    with pytest.raises(FormatError, match=r"type confir\.data\.qrels\.Qrels; expected"):
        as_run(as_qrels(QRELS))
    with pytest.raises(FormatError, match=r"type confir\.data\.qrels\.Qrels; expected"):
        as_runs(as_qrels(QRELS))


def test_topic_that_holds_no_mapping_is_an_error():
    with pytest.raises(FormatError) as caught:
        as_run({"1": {"d": 1.0}, "2": ["d"]})
    assert str(caught.value) == (
        "run: topic '2' holds an object of type list; expected a mapping docid → score"
    )


# JSON


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_json_is_written_and_read(tmp_path, ending):
    write_run(as_run(RUN), tmp_path / f"bm25.json{ending}")
    write_qrels(as_qrels(QRELS), tmp_path / f"qrels.json{ending}")
    run = read_run(tmp_path / f"bm25.json{ending}")
    assert run.name == "bm25"
    assert run.to_dict() == RUN
    assert as_qrels(tmp_path / f"qrels.json{ending}").to_dict() == QRELS
    assert read_run(tmp_path / f"bm25.json{ending}", name="other").name == "other"


def test_scores_keep_every_bit_in_json(tmp_path):
    scores = {"é": {"d": 0.1 + 0.2, "\u2028": 5e-324, "x": -1.7976931348623157e308}}
    write_run(as_run(scores), tmp_path / "run.json")
    assert read_run(tmp_path / "run.json").to_dict() == scores


def test_qrels_with_subtopics_do_not_fit_json(tmp_path):
    qrels = build_qrels(["1", "1"], ["x", "y"], ["a", "a"], np.array([1, 0]))
    with pytest.raises(InvalidValueError, match="judged for several subtopics"):
        write_qrels(qrels, tmp_path / "qrels.json")
    assert not (tmp_path / "qrels.json").exists()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            '{"1": {"d": 1, "e": 3, "d": 2}}',
            ":1: 'd' occurs twice in one JSON object; expected it once",
        ),
        (
            '{"1": {"d": 1}, "1": {"e": 1}}',
            ":1: '1' occurs twice in one JSON object; expected it once",
        ),
        ('{"1": {"d": NaN}}', ": NaN stands where a finite number was expected"),
        ('{"1": {"d": -Infinity}}', ": -Infinity stands where a finite number was expected"),
        ('{"1": {"d": 1e999}}', ": topic '1', document 'd': inf under 'score' is not a finite"),
        (
            '{"1": {"d": null}}',
            ": topic '1', document 'd': the score is missing; expected a number",
        ),
        ('{"1": {"d": "x"}}', ": topic '1', document 'd': 'x' under 'score' is not a finite"),
        ('{"1": {"d": true}}', ": topic '1', document 'd': True under 'score' is not a"),
        ('{"1": {"d\\ud800": 1}}', ": topic '1', document 'd\\ud800': the docid is not Unicode"),
        ('{"1": [1]}', ": topic '1' holds an object of type list; expected a mapping docid"),
        (
            '{"1":\n {"d": 1}\n',
            ":3: not JSON (Expecting ',' delimiter); expected JSON of the shape",
        ),
        ("", ":1: not JSON (Expecting value); expected JSON of the shape {topic: {docid: score}}"),
        ("[1]", ": a JSON value of type list; expected JSON of the shape {topic: {docid: score}}"),
        ("{}", ": the run is empty; expected"),
        ('{"1": {}}', ": the run is empty; expected"),
        ('{"a":' * 100_000, ":1: not readable as JSON (nested too deeply)"),
        (
            '{"1": {"d": ' + "1" * 5000 + "}}",
            ":1: not readable as JSON (a whole number of thousands of digits",
        ),
    ],
    ids=range(17),
)
def test_faults_in_json_are_named_with_the_path(tmp_path, content, problem):
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(FormatError) as caught:
        as_run(path)
    assert str(caught.value).startswith(f"{path}{problem}")


def test_faults_in_json_qrels_are_named_with_the_path(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{"1": {"d": 0.5}}')
    with pytest.raises(FormatError) as caught:
        as_qrels(path)
    assert str(caught.value).startswith(f"{path}: gain of document 'd' in topic '1' is 0.5;")
    path.write_text("[]")
    with pytest.raises(FormatError, match=r"of the shape \{topic: \{docid: gain\}\}"):
        as_qrels(path)


def test_json_in_another_encoding_is_an_error(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(RUN), encoding="utf-16")
    with pytest.raises(FormatError, match="the file is in UTF-16"):
        read_run(path)


def test_json_that_is_not_there_is_unreadable(tmp_path):
    with pytest.raises(UnreadableError, match="no such file"):
        as_run(tmp_path / "none.json")


# Several runs


def names_of(runs):
    return [run.name if isinstance(run, Run) else run.label() for run in runs]


def test_paths_of_trec_files_stay_files(trec_run):
    assert as_runs(str(trec_run)) == [RunSource(str(trec_run))]
    assert as_runs(trec_run) == [RunSource(str(trec_run))]
    assert as_runs([trec_run]) == [RunSource(str(trec_run))]
    assert as_runs(f"mine={trec_run}") == [RunSource(str(trec_run), "mine")]
    assert as_runs([RunSource(str(trec_run), "mine")]) == [RunSource(str(trec_run), "mine")]
    assert as_runs(RunSource(str(trec_run), "mine")) == [RunSource(str(trec_run), "mine")]
    assert as_runs("-") == [RunSource("-")]


def test_json_files_become_runs(json_run):
    (run,) = as_runs(str(json_run))
    assert isinstance(run, Run)
    assert run.name == "dense"
    assert run.to_dict() == RUN
    (named,) = as_runs(f"mine={json_run}")
    assert named.name == "mine"


@pytest.mark.usefixtures("trec_run", "json_run")
def test_directories_and_globs_mean_their_files(tmp_path):
    for source in (tmp_path, [tmp_path], f"{tmp_path}/*", tmp_path.glob("*")):
        runs = as_runs(source)
        assert sorted(names_of(runs)) == ["bm25", "dense"]
        assert {type(run) for run in runs} == {Run, RunSource}


@pytest.mark.parametrize(
    "source",
    [
        RUN,
        ROWS,
        iter(ROWS),
        [ir_measures.ScoredDoc(*row) for row in ROWS],
        (ir_measures.ScoredDoc(*row) for row in ROWS),
        StandInRun(RUN),
        pd.DataFrame(run_columns()),
        pl.DataFrame(run_columns()),
        pa.table(run_columns()),
    ],
    ids=lambda source: type(source).__module__ + type(source).__name__,
)
def test_single_object_without_a_name_is_called_run(source):
    (run,) = as_runs(source)
    assert run.name == "run"
    assert run.to_dict() == RUN


def test_list_of_one_object_is_called_run():
    assert names_of(as_runs([RUN])) == ["run"]


def test_objects_of_a_list_are_numbered_unless_they_have_names(trec_run, json_run):
    runs = as_runs(
        [
            RUN,
            StandInRun(RUN, "mine"),
            pd.DataFrame(run_columns()),
            trec_run,
            [ir_measures.ScoredDoc(*row) for row in ROWS],
            tuple(ROWS),
            json_run,
            iter(ROWS),
            as_run(RUN, name="ours"),
        ]
    )
    assert names_of(runs) == [
        "run1", "mine", "run3", "bm25", "run5", "run6", "dense", "run8", "ours",
    ]  # fmt: skip
    assert all(run.to_dict() == RUN for run in runs if isinstance(run, Run))


def test_tuples_of_entries_are_runs_of_a_list():
    runs = as_runs([tuple(ROWS), tuple(ir_measures.ScoredDoc(*row) for row in ROWS)])
    assert names_of(runs) == ["run1", "run2"]
    assert [run.to_dict() for run in runs] == [RUN, RUN]


def test_mapping_names_its_runs(trec_run, json_run):
    runs = as_runs(
        {
            "a": RUN,
            "b": trec_run,
            "c": str(json_run),
            "d": pl.DataFrame(run_columns()),
            "e": as_run(RUN, name="ours"),
            "f": ROWS,
            "g": StandInRun(RUN, "mine"),
            "h": RunSource(str(trec_run), "other"),
            9: f"other={trec_run}",
        }
    )
    assert names_of(runs) == ["a", "b", "c", "d", "e", "f", "g", "h", "9"]
    assert [i for i, run in enumerate(runs) if isinstance(run, RunSource)] == [1, 7, 8]
    assert all(run.to_dict() == RUN for run in runs if isinstance(run, Run))


def test_mappings_are_distinguished_by_what_they_hold(trec_run):
    assert names_of(as_runs({"1": {"d": 1.0}, "2": {}})) == ["run"]
    assert names_of(as_runs({"1": {}, "2": {"d": 1.0}})) == ["run"]
    assert names_of(as_runs({"a": {"1": {"d": 1.0}}, "b": {"1": {}, "2": {"d": 1.0}}})) == [
        "a",
        "b",
    ]
    assert names_of(as_runs({"a": {"1": {"d": 1.0}}, "b": trec_run})) == ["a", "b"]
    assert names_of(as_runs({"a": trec_run})) == ["a"]


def test_two_runs_of_one_name_are_an_error(tmp_path, trec_run, json_run):
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "bm25.txt"
    other.write_bytes(trec_run.read_bytes())
    with pytest.raises(InvalidValueError) as caught:
        as_runs([trec_run, other])
    assert str(caught.value) == (
        f"two runs are named 'bm25': {trec_run} and {other}; give one of them another name, as in "
        f"other={other}"
    )
    with pytest.raises(InvalidValueError) as caught:
        as_runs([json_run, StandInRun(RUN, "dense")])
    assert str(caught.value) == (
        f"two runs are named 'dense': {json_run} and Run('dense', 2 topics, 3 documents); give one "
        "of them another name"
    )
    with pytest.raises(InvalidValueError, match="two runs are named '1'"):
        as_runs({"1": trec_run, 1: json_run})


@pytest.mark.usefixtures("trec_run", "json_run")
def test_name_for_several_files_is_an_error(tmp_path):
    with pytest.raises(InvalidValueError) as caught:
        as_runs({"a": tmp_path})
    assert str(caught.value) == (
        f"{tmp_path} stands for 2 files; expected one for the run named 'a'"
    )


def test_faults_in_several_runs_name_the_run():
    with pytest.raises(FormatError, match=r"^run2: topic '1', document 'd': the score is missing"):
        as_runs([RUN, {"1": {"d": float("nan")}}])
    with pytest.raises(FormatError, match=r"^b: the run is empty"):
        as_runs({"a": ROWS, "b": {}})
    with pytest.raises(FormatError, match=r"^run2: an object of type int; expected a path"):
        as_runs([RUN, 3])
    with pytest.raises(FormatError, match=r"^runs: the name of a run is None"):
        as_runs({None: ROWS})
    with pytest.raises(FormatError, match=r"^run: an object of type NoneType; expected a path"):
        as_runs(None)


def test_no_runs_at_all_are_an_error():
    for source in ([], (), iter(())):
        with pytest.raises(FormatError, match=r"^runs: no runs; expected at least one$"):
            as_runs(source)
    with pytest.raises(UnreadableError, match="no such file"):
        as_runs(["nowhere.run"])


# Frames out

NATIVE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


def records_of(frame):
    if isinstance(frame, pd.DataFrame):
        return frame.to_dict("records")
    return frame.to_pylist() if isinstance(frame, pa.Table) else frame.to_dicts()


@pytest.mark.parametrize("backend", NATIVE)
def test_columns_become_a_frame(backend):
    frame = build_frame({"run": ["a", "b"], "topics": [50, 49], "mean": [1, 0.5]}, backend)
    assert isinstance(frame, NATIVE[backend])
    records = [{"run": "a", "topics": 50, "mean": 1}, {"run": "b", "topics": 49, "mean": 0.5}]
    assert records_of(frame) == records
    assert [type(record["topics"]) for record in records_of(frame)] == [int, int]


@pytest.mark.parametrize("backend", NATIVE)
def test_columns_keep_their_order_and_what_is_missing(backend):
    frame = build_frame({"b": [None, 2.0, None], "a": [1, 3, 5]}, backend)
    assert list(records_of(frame)[0]) == ["b", "a"]
    assert [record["a"] for record in records_of(frame)] == [1, 3, 5]
    assert records_of(frame)[1]["b"] == 2.0
    assert pd.isna(records_of(frame)[2]["b"])


@pytest.mark.parametrize("backend", NATIVE)
def test_numbers_of_numpy_and_mixed_numbers_become_one_column(backend):
    columns = {"x": [np.int64(1), np.float64(0.5), None], "n": [np.int64(1), 2, 3]}
    frame = build_frame(columns, backend)
    assert [record["x"] for record in records_of(frame)][:2] == [1.0, 0.5]
    assert [type(record["n"]) for record in records_of(frame)] == [int] * 3


@pytest.mark.parametrize("backend", NATIVE)
def test_columns_without_rows_give_an_empty_frame(backend):
    frame = build_frame({"run": [], "mean": []}, backend)
    assert isinstance(frame, NATIVE[backend])
    assert frame.shape == (0, 2)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == ["run", "mean"]
    assert build_frame({}, backend).shape == (0, 0)


def test_first_installed_backend_is_the_default(monkeypatch):
    assert isinstance(build_frame({"a": [1]}, None), pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(build_frame({"a": [1]}, None), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert isinstance(build_frame({"a": [1]}, None), pa.Table)


def test_missing_backend_is_named(monkeypatch):
    for name in NATIVE:
        monkeypatch.setitem(sys.modules, name, None)
    needed = "a data frame needs the package {0}: install it with pip install {0}$"
    with pytest.raises(MissingDependencyError, match=needed.format("pandas")):
        build_frame({"a": [1]}, None)
    with pytest.raises(MissingDependencyError, match=needed.format("polars")):
        build_frame({"a": [1]}, "polars")
    with pytest.raises(
        MissingDependencyError, match=r"pyarrow: .* pip install 'confir\[parquet\]'"
    ):
        build_frame({"a": [1]}, "pyarrow")


def test_unknown_backend_is_an_error():
    with pytest.raises(UnknownNameError, match="unknown backend 'panda'; did you mean pandas"):
        build_frame({"a": [1]}, "panda")


@pytest.mark.parametrize("backend", NATIVE)
def test_run_becomes_a_frame_and_back(backend):
    run = as_run(RUN)
    frame = run.to_frame(backend)
    assert records_of(frame) == [
        {"topic": "01", "docid": "d2", "rank": 1, "score": 2.5},
        {"topic": "01", "docid": "NA", "rank": 2, "score": 1.5},
        {"topic": "2", "docid": "d3", "rank": 1, "score": 0.25},
    ]
    assert as_run(frame).to_dict() == RUN


@pytest.mark.parametrize("backend", NATIVE)
def test_qrels_become_a_frame_and_back(backend):
    qrels = build_qrels(["1", "1", "0"], ["x", "y", "x"], ["a", "a", "b"], np.array([1, 2, 0]))
    frame = qrels.to_frame(backend)
    assert records_of(frame) == [
        {"topic": "0", "subtopic": "x", "docid": "b", "gain": 0},
        {"topic": "1", "subtopic": "x", "docid": "a", "gain": 1},
        {"topic": "1", "subtopic": "y", "docid": "a", "gain": 2},
    ]
    again = as_qrels(frame)
    assert again.to_dict() == {"0": {"b": 0}, "1": {"a": 2}}
    assert again.subtopics == qrels.subtopics


def test_real_run_is_the_same_from_file_dict_frame_and_json(real_data, tmp_path):
    run = read_run(real_data / "trec-robust-2003/runs/input.NLPR03vb10.gz")
    write_run(run, tmp_path / "run.json.gz")
    sources = [run.to_dict(), tmp_path / "run.json.gz"]
    sources += [run.to_frame(backend) for backend in NATIVE]
    for source in sources:
        other = as_run(source)
        assert other.topics == run.topics
        assert other.documents == run.documents
        assert other.scores.tolist() == run.scores.tolist()


@pytest.mark.parametrize("backend", NATIVE)
def test_real_qrels_with_subtopics_are_the_same_from_file_and_frame(real_data, backend):
    qrels = read_qrels(real_data / "trec-web-2012-diversity/qrels.txt.gz")
    other = as_qrels(qrels.to_frame(backend))
    assert other.to_dict() == qrels.to_dict()
    assert other.subtopics == qrels.subtopics
    assert other.subtopic_gains.tolist() == qrels.subtopic_gains.tolist()
