"""A run ranks its documents as trec_eval does, whatever the order in which they come."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confir.data.run import Run, break_ties, build_run, encode_topics
from confir.errors import FormatError, UnknownNameError

IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=3)
SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 2.0, 1e300, -1e300, 5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
)


def run_of(*entries, name="run"):
    topics, documents, scores = zip(*entries, strict=True)
    return build_run(name, topics, documents, np.array(scores, np.float64))


def ranked_one_by_one(entries):
    """The ranking by definition: score descending, then the bytes of the docid descending."""
    lists = {}
    for topic, document, score in entries:
        lists.setdefault(topic, []).append((document, score))
    return {
        topic: sorted(lists[topic], key=lambda pair: (pair[1], pair[0].encode()), reverse=True)
        for topic in sorted(lists, key=str.encode)
    }


def test_documents_are_ranked_by_score():
    run = run_of(("1", "a", 1.0), ("1", "b", 3.0), ("1", "c", 2.0))
    assert run["1"] == [("b", 3.0), ("c", 2.0), ("a", 1.0)]


def test_ties_are_ranked_by_docid_descending():
    run = run_of(("1", "a", 1.0), ("1", "c", 1.0), ("1", "b", 1.0), ("1", "z", 0.5))
    assert [document for document, _ in run["1"]] == ["c", "b", "a", "z"]


def test_ties_are_ranked_by_the_bytes_of_the_docid():
    """UTF-16 would put the emoji before U+FF21, UTF-8 has it behind."""
    run = run_of(("1", "\uff21", 1.0), ("1", "\U0001f600", 1.0), ("1", "é", 1.0), ("1", "z", 1.0))
    assert [document for document, _ in run["1"]] == ["\U0001f600", "\uff21", "é", "z"]


def test_equal_scores_of_two_topics_are_no_tie():
    run = run_of(("1", "a", 1.0), ("2", "b", 1.0))
    assert run.to_dict() == {"1": {"a": 1.0}, "2": {"b": 1.0}}


def test_topics_stand_in_bytewise_order_however_they_come():
    run = run_of(*((topic, "a", 1.0) for topic in ["10", "9", "é", "2", "1", "Z", "a"]))
    assert run.topics == ("1", "10", "2", "9", "Z", "a", "é")


def test_a_topic_in_several_pieces_is_one_list():
    run = run_of(("1", "a", 1.0), ("2", "a", 5.0), ("1", "b", 2.0), ("2", "b", 6.0))
    assert run.to_dict() == {"1": {"b": 2.0, "a": 1.0}, "2": {"b": 6.0, "a": 5.0}}
    assert run.documents == ("b", "a", "b", "a")


@given(st.data())
def test_any_entries_are_ranked_as_one_by_one(data):
    keys = data.draw(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=30, unique=True))
    if data.draw(st.booleans()):
        keys.sort()
    entries = [(topic, document, data.draw(SCORES)) for topic, document in keys]
    if data.draw(st.booleans()):
        entries = [(t, d, s) for t, pairs in ranked_one_by_one(entries).items() for d, s in pairs]
    expected = ranked_one_by_one(entries)
    run = run_of(*entries)
    assert run.topics == tuple(expected)
    assert {topic: run[topic] for topic in run} == expected
    assert run.offsets.tolist() == np.cumsum([0, *map(len, expected.values())]).tolist()
    assert run.to_dict() == {topic: dict(pairs) for topic, pairs in expected.items()}


@pytest.mark.parametrize(
    "entries",
    [
        [("1", "a", 2.0), ("1", "a", 1.0)],
        [("1", "a", 1.0), ("2", "b", 1.0), ("1", "a", 1.0)],
        [("0", "a", 3.0), ("1", "b", 3.0), ("1", "a", 2.0), ("1", "c", 1.0), ("1", "a", 0.0)],
    ],
)
def test_a_document_twice_in_a_topic_is_an_error(entries):
    with pytest.raises(FormatError) as caught:
        run_of(*entries, name="r")
    assert str(caught.value) == (
        "r: document 'a' occurs twice in topic '1'; expected each document once per topic"
    )


def test_a_document_in_two_topics_is_no_error():
    assert len(run_of(("1", "a", 1.0), ("2", "a", 1.0))) == 2


@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_an_error(score):
    with pytest.raises(FormatError) as caught:
        build_run("r", ["1", "1"], ["a", "b"], np.array([1.0, score]), path="some.run")
    assert str(caught.value) == (
        f"some.run: score of document 'b' in topic '1' is {score}; expected a finite number"
    )


def test_a_run_without_documents_is_an_error():
    with pytest.raises(FormatError, match="r: the run is empty; expected one line per retrieved"):
        build_run("r", [], [], np.zeros(0))


def test_a_topic_that_the_run_lacks_is_named_with_the_nearest():
    run = run_of(("topic-1", "a", 1.0), ("topic-3", "a", 1.0))
    for topic in ("topic-2", "topic-4", ""):
        with pytest.raises(UnknownNameError, match=f"unknown topic {topic!r}"):
            run[topic]


def test_a_run_does_not_change_with_the_scores_that_it_was_built_from():
    scores = np.array([2.0, 1.0])
    run = build_run("r", ["1", "1"], ["a", "b"], scores)
    scores[:] = 0
    assert run["1"] == [("a", 2.0), ("b", 1.0)]


def test_a_run_shows_its_size():
    run = run_of(("1", "a", 1.0), ("1", "b", 1.0), ("2", "a", 1.0), name="bm25")
    assert repr(run) == "Run('bm25', 2 topics, 3 documents)"
    assert len(run) == 2
    assert list(run) == ["1", "2"]


def test_many_topics_are_looked_up_fast_enough_to_write_them_all():
    """Each look-up is a bisection: a search from the start would take minutes here."""
    topics = [f"{i:06d}" for i in range(100_000)]
    run = build_run("r", topics, ["d"] * len(topics), np.ones(len(topics)))
    assert run.to_dict() == {topic: {"d": 1.0} for topic in topics}
    assert [run[topic] for topic in topics[::10]] == [[("d", 1.0)]] * 10_000


@given(st.lists(IDS, max_size=20))
def test_topics_are_encoded_by_their_place_in_order(topics):
    names, codes = encode_topics(topics)
    assert names == tuple(sorted(set(topics), key=str.encode))
    assert [names[code] for code in codes.tolist()] == topics
    assert codes.dtype == np.int64


def test_ties_are_broken_within_lists_only():
    documents = ["a", "b", "c", "d", "e"]
    break_ties(documents, np.array([2.0, 2.0, 1.0, 1.0, 1.0]), np.array([0, 0, 0, 1, 1]))
    assert documents == ["b", "a", "c", "e", "d"]


def test_a_run_cannot_be_changed():
    run = run_of(("1", "a", 1.0))
    with pytest.raises(AttributeError):
        run.name = "other"
    assert isinstance(run, Run)
