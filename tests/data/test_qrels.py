"""Qrels have each judged document once per topic, and each judgement by subtopic."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confir.data.qrels import build_qrels, subtopic_judgements
from confir.errors import FormatError, InputWarning, TopicMismatchError, UnknownNameError

IDS = st.text("ab1é\u00a0", min_size=1, max_size=2)


def qrels_of(*entries, intents=None):
    topics, subtopics, documents, gains = zip(*entries, strict=True)
    return build_qrels(topics, subtopics, documents, np.array(gains, np.int64), intents=intents)


def judgements(qrels):
    """Every judgement as (topic, subtopic, docid, gain)."""
    topics = qrels.document_topics[qrels.judged_documents]
    return [
        (qrels.topics[topic], subtopic, qrels.documents[document], gain)
        for topic, subtopic, document, gain in zip(
            topics.tolist(),
            qrels.subtopics,
            qrels.judged_documents.tolist(),
            qrels.subtopic_gains.tolist(),
            strict=True,
        )
    ]


def test_judged_documents_are_kept_by_topic_in_bytewise_order():
    qrels = qrels_of(("9", "0", "a", 1), ("10", "0", "b", 0), ("9", "0", "c", -1))
    assert qrels.topics == ("10", "9")
    assert qrels.to_dict() == {"10": {"b": 0}, "9": {"a": 1, "c": -1}}
    assert qrels["9"] == {"a": 1, "c": -1}
    assert qrels.documents == ("b", "a", "c")
    assert qrels.offsets.tolist() == [0, 1, 3]


def test_documents_of_a_topic_keep_their_order():
    qrels = qrels_of(*((str(i % 3), "0", f"d{(7 * i) % 100}", 0) for i in range(100)))
    for topic in qrels:
        number = int(topic)
        assert list(qrels[topic]) == [f"d{(7 * i) % 100}" for i in range(number, 100, 3)]


def test_a_document_has_the_highest_gain_of_its_subtopics():
    qrels = qrels_of(
        ("1", "x", "a", 0), ("1", "y", "b", -2), ("1", "y", "a", 3), ("1", "x", "b", -1)
    )
    assert qrels.to_dict() == {"1": {"a": 3, "b": -1}}
    assert judgements(qrels) == [
        ("1", "x", "a", 0),
        ("1", "y", "b", -2),
        ("1", "y", "a", 3),
        ("1", "x", "b", -1),
    ]


@given(st.dictionaries(st.tuples(IDS, IDS, IDS), st.integers(-2, 4), min_size=1, max_size=30))
def test_any_judgements_are_kept_as_one_by_one(judged):
    entries = [(*key, gain) for key, gain in judged.items()]
    expected = {}
    for topic, _, document, gain in entries:
        gains = expected.setdefault(topic, {})
        gains[document] = max(gain, gains.get(document, gain))
    qrels = qrels_of(*entries)
    assert qrels.topics == tuple(sorted(expected))
    assert qrels.to_dict() == expected
    assert sorted(judgements(qrels)) == sorted(entries)
    levels, counts = qrels.count_by_gain()
    for i, topic in enumerate(qrels.topics):
        gains = list(expected[topic].values())
        assert counts[i].tolist() == [gains.count(level) for level in levels.tolist()]


def test_a_repeated_judgement_counts_once_with_a_warning():
    with pytest.warns(InputWarning, match="qrels: 2 judgements are repeated with the same gain"):
        qrels = qrels_of(
            ("1", "0", "a", 1), ("1", "0", "b", 0), ("1", "0", "a", 1), ("1", "0", "a", 1)
        )
    assert judgements(qrels) == [("1", "0", "a", 1), ("1", "0", "b", 0)]
    with pytest.warns(InputWarning, match="1 judgement is repeated with the same gain"):
        qrels_of(("1", "0", "a", 1), ("1", "0", "a", 1))


def test_the_same_document_in_two_topics_is_no_repetition():
    assert qrels_of(("1", "0", "a", 1), ("2", "0", "a", 0)).to_dict() == {
        "1": {"a": 1},
        "2": {"a": 0},
    }


def test_conflicting_judgements_are_an_error():
    with pytest.raises(FormatError) as caught:
        qrels_of(("1", "0", "a", 1), ("2", "0", "a", 0), ("1", "0", "a", 0))
    assert str(caught.value) == (
        "qrels: conflicting judgements of document 'a' in topic '1', subtopic '0': 1 and 0; "
        "expected one"
    )


def test_qrels_without_judgements_are_an_error():
    with pytest.raises(FormatError, match="qrels: the qrels are empty; expected one line per"):
        build_qrels([], [], [], np.zeros(0, np.int64))


def test_a_topic_that_the_qrels_lack_is_an_error():
    with pytest.raises(UnknownNameError, match="unknown topic '3'"):
        qrels_of(("1", "0", "a", 1), ("2", "0", "a", 1))["3"]


def test_qrels_tell_their_size():
    qrels = qrels_of(("1", "x", "a", 1), ("1", "y", "a", 1), ("2", "x", "b", 0))
    assert repr(qrels) == "Qrels(2 topics, 2 judged documents)"
    assert len(qrels) == 2
    assert list(qrels) == ["1", "2"]


def test_subtopics_count_alike_without_intents():
    qrels = qrels_of(("1", "x", "a", 1), ("1", "y", "a", 0), ("1", "y", "b", 2), ("2", "x", "a", 1))
    held = subtopic_judgements(qrels)
    assert held.offsets.tolist() == [0, 2, 3]
    assert held.probabilities.tolist() == [0.5, 0.5, 1.0]
    assert held.document.tolist() == [0, 1, 2]
    assert held.subtopic.tolist() == [0, 1, 2]
    assert held.gain.tolist() == [1, 2, 1]


def test_intents_say_which_subtopics_there_are_and_their_weights():
    intents = {"1": {"z": 1.0, "x": 3.0}, "9": {"x": 1.0}}
    qrels = qrels_of(
        ("1", "x", "a", 1),
        ("1", "y", "b", 1),
        ("2", "x", "a", 1),
        ("2", "y", "a", 1),
        intents=intents,
    )
    held = subtopic_judgements(qrels)
    assert held.offsets.tolist() == [0, 2, 4]
    assert held.probabilities.tolist() == [0.25, 0.75, 0.5, 0.5]
    assert held.document.tolist() == [0, 2, 2]
    assert held.subtopic.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "probabilities",
    [
        {"x": -0.5, "y": 1.5},
        {"x": math.nan},
        {"x": math.inf},
        {"x": 0.0, "y": 0.0},
        {"x": 1e308, "y": 1e308},
        {"x": "0.5"},
        {"x": None},
        {},
    ],
)
def test_intents_without_a_distribution_are_an_error(probabilities):
    with pytest.raises(FormatError) as caught:
        qrels_of(("1", "x", "a", 1), intents={"1": probabilities})
    assert str(caught.value) == (
        f"qrels: the intent probabilities of topic '1' are {probabilities}; expected numbers of 0 "
        "or more, not all 0"
    )


def test_intents_of_other_topics_are_an_error():
    with pytest.raises(TopicMismatchError, match="the intents are of other topics than the qrels"):
        qrels_of(("1", "x", "a", 1), intents={"01": {"x": 1.0}})


@given(
    entries=st.lists(st.tuples(IDS, IDS, IDS), min_size=1, unique=True),
    kept=st.lists(st.booleans(), min_size=30, max_size=30),
)
def test_qrels_of_some_documents_keep_their_judgements(entries, kept):
    qrels = qrels_of(*((*entry, place % 4) for place, entry in enumerate(entries)))
    chosen = np.resize(np.array(kept), len(qrels.documents))
    names = zip(qrels.document_topics.tolist(), qrels.documents, chosen.tolist(), strict=True)
    left = {(qrels.topics[topic], docid) for topic, docid, keeps in names if keeps}
    some = qrels.only(chosen)
    assert judgements(some) == [
        entry for entry in judgements(qrels) if (entry[0], entry[2]) in left
    ]
    assert some.topics == tuple(topic for topic in qrels.topics if topic in dict(left))
    assert {(topic, docid): gain for topic in some for docid, gain in some[topic].items()} == {
        (topic, docid): qrels[topic][docid] for topic, docid in left
    }


@given(entries=st.lists(st.tuples(IDS, IDS, IDS), min_size=1, unique=True))
def test_the_qrels_of_a_topic_are_those_of_its_documents(entries):
    qrels = qrels_of(*((*entry, place % 4) for place, entry in enumerate(entries)))
    for number, topic in enumerate(qrels.topics):
        one, expected = (
            qrels.of_topics(number, number + 1),
            qrels.only(qrels.document_topics == number),
        )
        assert judgements(one) == judgements(expected)
        assert one.to_dict() == expected.to_dict() == {topic: qrels[topic]}
        assert one.offsets.tolist() == expected.offsets.tolist()
