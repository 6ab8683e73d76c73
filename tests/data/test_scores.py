import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confir.control_characters import without_controls
from confir.data.common_topics import name_topics
from confir.data.scores import Scores
from confir.errors import FormatError, UnknownNameError
from score_entries import scores_from_entries

RUNS = ("b", "a")
MEASURES = ("P@10", "AP")
TOPICS = ("01", "1", "NA")
VALUES = np.arange(12.0).reshape(3, 2, 2)


def with_a_gap() -> Scores:
    values = VALUES.copy()
    values[1, 0, 1] = np.nan
    return Scores(TOPICS, RUNS, MEASURES, values)


def test_values_of_another_shape_are_an_error():
    with pytest.raises(FormatError, match=r"shape \(3, 2, 2\); expected \(3, 2, 1\)"):
        Scores(TOPICS, RUNS, ("AP",), VALUES)


@pytest.mark.parametrize(
    ("kind", "topics", "runs", "measures"),
    [
        ("topics", ("1", "1", "2"), RUNS, MEASURES),
        ("runs", TOPICS, ("a", "a"), MEASURES),
        ("measures", TOPICS, RUNS, ("AP", "AP")),
    ],
)
def test_two_equal_names_are_an_error(kind, topics, runs, measures):
    with pytest.raises(FormatError, match=f"two {kind} of the scores have the same name"):
        Scores(topics, runs, measures, VALUES)


def test_the_display_shows_the_size():
    assert repr(with_a_gap()) == "Scores(topic: 3, run: 2, measure: 2)"


def test_select_keeps_the_order_asked_for():
    chosen = with_a_gap().select(run=["a", "b"], measure=["AP"])
    assert (chosen.topics, chosen.runs, chosen.measures) == (TOPICS, ("a", "b"), ("AP",))
    np.testing.assert_array_equal(chosen.values[:, :, 0], [[3, 1], [7, np.nan], [11, 9]])


def test_select_of_nothing_in_particular_is_everything():
    scores = with_a_gap()
    np.testing.assert_array_equal(scores.select().values, scores.values)


@pytest.mark.parametrize(
    ("kind", "names"), [("run", {"run": ["c"]}), ("measure", {"measure": ["ap"]})]
)
def test_select_of_an_unknown_name_is_an_error(kind, names):
    with pytest.raises(UnknownNameError, match=f"unknown {kind}"):
        with_a_gap().select(**names)


def test_the_mean_leaves_missing_scores_out():
    np.testing.assert_allclose(with_a_gap().mean(), [[4, (1 + 9) / 2], [6, 7]])


def test_the_mean_of_no_score_is_missing():
    scores = Scores(("1",), ("a",), ("AP",), np.full((1, 1, 1), np.nan))
    assert np.isnan(scores.mean()).all()


def test_records_are_the_scores_that_are_there():
    records = with_a_gap().to_records()
    assert len(records) == 11
    assert records[0] == {"run": "b", "measure": "P@10", "topic": "01", "score": 0.0}
    assert {"run": "b", "measure": "AP", "topic": "NA", "score": 9.0} in records
    assert ("b", "AP", "1") not in {(r["run"], r["measure"], r["topic"]) for r in records}


def test_the_dictionary_holds_the_columns_of_the_records():
    columns = with_a_gap().to_dict()
    assert list(columns) == ["run", "measure", "topic", "score"]
    assert columns["run"] == ["b"] * 5 + ["a"] * 6
    assert columns["score"] == [record["score"] for record in with_a_gap().to_records()]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_per_record(backend):
    frame = with_a_gap().to_frame(backend)
    assert len(frame) == 11
    assert list(getattr(frame, "column_names", None) or frame.columns) == [
        "run",
        "measure",
        "topic",
        "score",
    ]


def test_entries_in_any_order_make_the_table():
    entries = {("b", "AP", "9"): 0.5, ("a", "AP", "10"): 0.25, ("b", "P@10", "10"): 1.0}
    scores = scores_from_entries(entries)
    assert (scores.topics, scores.runs, scores.measures) == (
        ("10", "9"),
        ("b", "a"),
        ("AP", "P@10"),
    )
    np.testing.assert_array_equal(
        scores.values,
        [[[np.nan, 1.0], [0.25, np.nan]], [[0.5, np.nan], [np.nan, np.nan]]],
    )


def are_told_apart(names):
    return len(set(map(without_controls, names))) == len(names)


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("xyz"), st.sampled_from(("AP", "RR")), st.text(max_size=3)),
        st.floats(-10, 10),
        min_size=1,
        max_size=20,
    ).filter(lambda entries: are_told_apart({topic for _, _, topic in entries}))
)
def test_every_entry_is_found_again_at_its_names(entries):
    scores = scores_from_entries(entries)
    topics = {topic for _, _, topic in entries}
    assert list(scores.topics) == sorted(topics, key=str.encode)
    found = {(r["run"], r["measure"], r["topic"]): r["score"] for r in scores.to_records()}
    assert found == entries


def test_runs_with_the_same_topics_are_named_together():
    named = name_topics({"a": ["1", "2"], "b": ["1", "2"], "c": ["3"]}, verb="has")
    assert named == "2 runs ('a', 'b') have 2 topics (1, 2); run 'c' has 1 topic (3)"
    many = {f"r{n}": [str(n)] for n in range(7)}
    assert name_topics(many).endswith("run 'r4' lacks 1 topic (4); so do 2 more runs")


@pytest.mark.parametrize("pair", [("x\x01", "x\x02"), ("x\u202e", "x\u2066"), ("x\x01", "x\ufffd")])
def test_names_that_every_output_would_merge_are_refused(pair):
    values = np.zeros((2, 2, 1))
    for kind, names in (
        ("runs", (("1", "2"), pair, ("AP",))),
        ("topics", (pair, ("a", "b"), ("AP",))),
    ):
        with pytest.raises(FormatError, match=f"two {kind} are named .* control characters only"):
            Scores(*names, values)
    Scores(("1", "2"), (pair[0], "y"), ("AP",), values)
