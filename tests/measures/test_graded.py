"""Graded measures on lists scored by hand, and undefined scores."""

import tracemalloc
from math import log2

import numpy as np
import pytest

import confir
from confir.errors import InvalidValueError
from confir.measures import graded
from confir.measures.graded import mapped_gain, parse_gains
from confir.measures.parsing import parse_measure
from reference.plain_measures import plain_score
from strategies import Collection

# Gains by rank: 2, -, 0, 1, -1, 1; a document of gain 3 is not retrieved.
JUDGED = {"a": 2, "b": 1, "c": 0, "d": 1, "e": -1, "f": 3}
RANKED = ["a", "x", "c", "b", "e", "d", "y"]
BEST = 3 + 2 / log2(3) + 1 / log2(4) + 1 / log2(5)


def score(name, ranked=RANKED, judged=JUDGED):
    judgements = {"t": {document: {"0": gain} for document, gain in judged.items()}}
    return parse_measure(name)(Collection(judgements, ({"t": ranked},), {}).rankings()).item()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nDCG", (2 + 1 / log2(5) + 1 / log2(7)) / BEST),
        ("nDCG@1", 2 / 3),
        ("nDCG@4", (2 + 1 / log2(5)) / BEST),
        ("nDCG@2", 2 / (3 + 2 / log2(3))),
        ("nDCG(dcg='exp-log2')@4", (3 + 1 / log2(5)) / (7 + 3 / log2(3) + 1 / 2 + 1 / log2(5))),
        ("nDCG(gains='3:10')@1", 2 / 10),
        ("nDCG(gains='1:5,2:4,3:0')@2", 4 / (5 + 5 / log2(3))),
        ("ERR", 3 / 16 + 13 / 16 * (1 / 16 / 4 + 15 / 16 * 1 / 16 / 6)),
        ("ERR@3", 3 / 16),
        ("ERR(gmax=3)@5", 3 / 8 + 5 / 8 * (1 / 8 / 4)),
        ("ERR(gains='2:4')@1", 15 / 16),
        ("nERR@1", 3 / 7),
        ("nERR@2", (3 / 16) / (7 / 16 + 9 / 16 * 3 / 16 / 2)),
        ("RBP(p=0.5)", 0.5 * (2 + 0.5**3 + 0.5**5)),
        ("RBP(p=0.5)@4", 0.5 * (2 + 0.5**3)),
        ("RBP(p=0.5,rel=1)", 0.5 * (1 + 0.5**3 + 0.5**5)),
        ("RBP(p=0.5,rel=2)", 0.5),
        ("RBP", 0.2 * (2 + 0.8**3 + 0.8**5)),
        ("RBP(gains='1:0,2:0.5')", 0.2 * 0.5),
        ("Q", ((2 + 1) / (3 + 1) + (3 + 2) / (7 + 4) + (4 + 3) / (7 + 6)) / 4),
        ("Q@4", ((2 + 1) / (3 + 1) + (3 + 2) / (7 + 4)) / 4),
        ("Q@2", ((2 + 1) / (3 + 1)) / 2),
        ("Q(beta=0)", (1 / 1 + 2 / 4 + 3 / 6) / 4),
        ("Q(beta=10)@1", (20 + 1) / (30 + 1)),
        ("Q(gains='1:2,3:1')@1", (2 + 1) / (2 + 1)),
    ],
)
def test_list_worked_by_hand(name, expected):
    assert score(name) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 3, 4), (5, 3, 1), (7, 7, 7)])
def test_perfect_lists_of_fractional_gains_score_exactly_1(sizes):
    judged = {
        f"{level}-{number}": level
        for level, size in zip((3, 2, 1), sizes, strict=True)
        for number in range(size)
    }
    for name in ("Q", "nDCG", "nERR"):
        for cutoff in ("", "@1", "@4", "@9", "@100"):
            text = f"{name}(gains='1:0.1,2:0.2,3:0.3'){cutoff}"
            assert score(text, list(judged), judged) == 1.0, text


@pytest.mark.parametrize(
    "name",
    [
        "Q",
        "Q@5",
        "Q@30",
        "Q(beta=0)",
        "Q(beta=0.3)",
        "Q(beta=0.3)@30",
        "Q(gains='1:0.1,2:0.7,3:1.9')",
        "Q(gains='1:1,2:1000000,3:2000000')",
        "Q(gains='2:1e100')",
        "Q(gains='1:0,2:0,3:0')",
    ],
)
def test_q_of_repeated_documents_within_and_below_the_ideal_list(name):
    rng = np.random.default_rng(8)
    documents = [f"doc{number}" for number in range(120)]
    judgements = {
        topic: {documents[i]: {"0": int(rng.integers(-1, 4))} for i in rng.permutation(120)[:size]}
        for topic, size in (("few", 12), ("many", 90))
    }
    ranked = {topic: [documents[i] for i in rng.permutation(120)[:100]] for topic in judgements}
    lists = (ranked, {"many": ranked["few"]}, {"few": ranked["many"], "many": ["unjudged"]})
    counts = dict(zip([*documents, "unjudged"], rng.poisson(1.0, (121, 5)), strict=True))
    collection, measure = Collection(judgements, lists, {}), parse_measure(name)
    rankings = collection.resampled(counts)
    expected = [
        plain_score(measure, collection.plain_list(run, topic, counts, replicate))
        for run in range(3)
        for topic in rankings.qrels
        for replicate in range(5)
    ]
    assert measure(rankings).ravel() == pytest.approx(expected, rel=0, abs=1e-12)


LEVELS = 1000


def many_levels() -> Collection:
    """Return a list of documents of which no two have the same gain, in random order."""
    order = np.random.default_rng(5).permutation(LEVELS)
    judgements = {f"doc{number}": {"0": int(number) + 1} for number in range(LEVELS)}
    return Collection({"t": judgements}, ({"t": [f"doc{number}" for number in order]},), {})


def test_q_of_as_many_gains_as_documents_agrees_with_plain_loops():
    collection = many_levels()
    for name in ("Q", "Q(beta=0.3)@700"):
        measure = parse_measure(name)
        expected = plain_score(measure, collection.plain_list(0, "t"))
        assert measure(collection.rankings()).item() == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("copies", [1, 2])
def test_q_of_as_many_gains_as_documents_takes_the_memory_of_few_columns(copies):
    collection, measure = many_levels(), parse_measure("Q")
    counts = {f"doc{number}": np.full(3, copies) for number in range(LEVELS)}
    rankings = collection.resampled(counts)
    measure(rankings)
    tracemalloc.start()
    measure(rankings)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < LEVELS * LEVELS  # bytes; an array of levels × documents has 8 times as many


def test_a_certain_stop_ends_the_list():
    # From gmax=54 on, the highest gain stops with probability 1 to the last bit.
    assert score("ERR(gmax=60)", ["a", "b"], {"a": 60, "b": 60}) == 1.0
    assert score("ERR(gmax=2000)", ["a", "b"], {"a": 2000, "b": 1}) == 1.0


def test_gains_above_gmax_are_refused():
    with pytest.raises(InvalidValueError, match=r"a gain of 5, above ERR's gmax=4.*ERR\(gmax=5\)"):
        score("ERR@10", judged={"a": 5})
    with pytest.raises(InvalidValueError, match="above"):
        score("nERR(gains='1:4.5')", judged={"a": 1})


def test_exponential_gains_that_overflow_are_refused():
    with pytest.raises(InvalidValueError, match="a gain of 1001 is too high for dcg='exp-log2'"):
        score("nDCG(dcg='exp-log2')", judged={"a": 1001})
    assert score("nDCG(dcg='exp-log2')", judged={"a": 1000}) == 1.0


@pytest.mark.parametrize("name", ["RBP(p=0)", "RBP(p=1)", "RBP(p=-0.5)", "RBP(p=1.5)"])
def test_persistence_outside_0_to_1_is_refused(name):
    with pytest.raises(InvalidValueError, match="expected a number between 0 and 1"):
        score(name)


def test_rbp_with_relevance_level_and_gain_map_is_refused():
    with pytest.raises(InvalidValueError, match="rel or gains, not both"):
        score("RBP(rel=1,gains='1:2')")


def test_negative_beta_is_refused():
    with pytest.raises(InvalidValueError, match="Q's beta is -1"):
        score("Q(beta=-1)")


def test_gain_maps_are_read():
    assert mapped_gain(np.array([2]), None).tolist() == [2.0]
    assert parse_gains("1:1, 2:3.5,0:0,-1:0") == {1: 1.0, 2: 3.5, 0: 0.0, -1: 0.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a gain map"),
        ("1", "not a gain map"),
        ("1:", "not a gain map"),
        ("1=3", "not a gain map"),
        ("a:1", "not a gain map"),
        ("1.5:1", "not a gain map"),
        ("1:2,1:3", "names level 1 twice"),
        ("1:-1", "outside"),
        ("1:nan", "outside"),
        ("1:inf", "outside"),
        ("1:1e300", "outside"),
        ("0:1", "gives level 0 a gain"),
        ("-1:1", "gives level -1 a gain"),
    ],
)
def test_gain_maps_without_meaning_are_refused(text, message):
    with pytest.raises(InvalidValueError, match=message):
        score(f"nDCG(gains='{text}')")


def test_copies_of_a_document_satisfy_as_the_cascade_says_by_table_and_by_copy():
    stop, before, copies = 0.375, 2, 3
    expected = sum(stop * (1 - stop) ** (k - 1) / (before + k) for k in range(1, copies + 1))
    table = graded._satisfaction_sums(stop, copies + 1, before + 1)
    assert table[copies, before] == pytest.approx(expected, rel=1e-14)
    cell = np.array([[before]]), np.array([[copies]])
    assert graded._satisfied_by_copy(*cell, np.array([stop]))[0, 0] == pytest.approx(expected)


def test_a_discount_is_one_division_to_the_last_bit():
    """As in trec_eval: one relevant document, at each of 60 ranks."""
    for rank in range(1, 61):
        run = {"1": {f"d{place}": -float(place) for place in range(1, 61)}}
        (found,) = confir.evaluate({"1": {f"d{rank}": 1}}, run, "nDCG").values.ravel()
        assert found == 1.0 / np.log2(rank + 1.0)
