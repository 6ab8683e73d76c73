"""Diversity measures on lists scored by hand, and undefined scores."""

from math import log2

import pytest

from confir.errors import InvalidValueError
from confir.measures.parsing import parse_measure
from strategies import Collection

SERVED = {"a": {"1": 1, "2": 1}, "b": {"2": 3}, "c": {"3": 2}, "n": {"1": 0, "2": -2}}
RANKED = ["b", "x", "a", "n"]


def score(name, ranked=RANKED, served=SERVED, intents=None):
    intents = {} if intents is None else {"t": intents}
    return parse_measure(name)(
        Collection({"t": served}, ({"t": ranked},), intents).rankings()
    ).item()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # b serves subtopic 2; a serves it again, and 1. The greedy ideal is a, c, b.
        ("alpha_nDCG", (1 + 1.5 / 2) / (2 + 1 / log2(3) + 0.5 / 2)),
        ("alpha_nDCG@2", 1 / (2 + 1 / log2(3))),
        ("alpha_nDCG(alpha=0)", (1 + 2 / 2) / (2 + 1 / log2(3) + 1 / 2)),
        ("alpha_nDCG(alpha=1)", (1 + 1 / 2) / (2 + 1 / log2(3))),
        ("alpha_nDCG(rel=2)@1", 1.0),
        ("nERR_IA@3", (1 + 1.5 / 3) / (2 + 1 / 2 + 0.5 / 3)),
        ("nERR_IA@1", 1 / 2),
        ("ERR_IA@3", (1 + 1.5 / 3) / (3 * (1 + 0.5 / 2 + 0.25 / 3))),
        ("ERR_IA", (1 + 1.5 / 3) / (3 * (1 + 0.5 / 2 + 0.25 / 3 + 0.125 / 4))),
        ("ERR_IA@1", 1 / 3),
        ("StRecall@1", 1 / 3),
        ("StRecall@3", 2 / 3),
        ("StRecall", 2 / 3),
        ("StRecall(rel=3)", 1 / 3),
        # Global gains, each intent a third: a 2/3, b 1, c 2/3.
        ("D_nDCG@1", 1.0),
        ("D_nDCG", (1 + 2 / 3 / 2) / (1 + 2 / 3 / log2(3) + 2 / 3 / 2)),
        ("D_nDCG(gains='3:1')@1", 1 / 2),
        ("DS_nDCG@1", 0.5 * 1 / 3 + 0.5 * 1.0),
        ("DS_nDCG(gamma=0.2)@1", 0.2 * 1 / 3 + 0.8 * 1.0),
        ("DS_nDCG(gamma=1)@3", 2 / 3),
        ("DS_nDCG(gamma=0,gains='3:1')@1", 1 / 2),
    ],
)
def test_list_worked_by_hand(name, expected):
    assert score(name) == pytest.approx(expected, rel=1e-14)


def test_err_ia_divides_by_the_best_of_any_collection():
    assert score("ERR_IA@5", ["a"], {"a": {"1": 1}}) == pytest.approx(0.7262, abs=5e-5)


@pytest.mark.parametrize("cutoff", ["", "@1", "@2", "@3", "@7"])
@pytest.mark.parametrize("subtopics", [1, 3, 6])
def test_documents_that_serve_every_subtopic_score_exactly_1(cutoff, subtopics):
    served = {name: {str(i): 1 for i in range(subtopics)} for name in "abcdefg"}
    for measure in ("ERR_IA", "nERR_IA", "alpha_nDCG", "D_nDCG", "DS_nDCG", "StRecall"):
        assert score(f"{measure}{cutoff}", list(served), served) == 1.0, measure


def test_the_order_of_the_judgements_does_not_change_a_bit():
    served = {"a": {"1": 1, "2": 2, "3": 3}, "b": {"3": 3, "2": 2, "1": 1}}
    for ranked in (["a", "b"], ["b", "a"]):
        assert score("D_nDCG", ranked, served, {"1": 0.1, "2": 0.2, "3": 0.3}) == 1.0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Global gains: a 0.75 · 1, b 0.25 · 3, c 0.75 + 0.25.
        ("D_nDCG@2", (0.75 + 1 / log2(3)) / (1 + 0.75 / log2(3))),
        ("StRecall@1", 1 / 2),
        ("DS_nDCG@2", 0.5 * 1 + 0.5 * (0.75 + 1 / log2(3)) / (1 + 0.75 / log2(3))),
        ("alpha_nDCG@1", 1 / 2),
    ],
)
def test_intent_probabilities_weigh_global_gains_only(name, expected):
    served = {"a": {"1": 1}, "b": {"2": 3}, "c": {"1": 1, "2": 1}}
    scored = score(name, ["b", "c"], served, intents={"1": 3.0, "2": 1.0})
    assert scored == pytest.approx(expected, rel=1e-14)


def test_intents_without_judgements_count_as_unserved():
    served = {"a": {"1": 1}}
    assert score("StRecall@1", ["a"], served, intents={"1": 1.0, "2": 1.0}) == 0.5
    assert score("D_nDCG@1", ["a"], served, intents={"1": 1.0, "2": 1.0}) == 1.0
    assert score("alpha_nDCG@1", ["a"], served, intents={"1": 1.0, "2": 1.0}) == 1.0


def test_judgements_for_unlisted_intents_do_not_count():
    served = {"a": {"1": 1}, "b": {"2": 1}}
    assert score("StRecall", ["b"], served, intents={"1": 1.0}) == 0.0
    assert score("alpha_nDCG", ["b"], served, intents={"1": 1.0}) == 0.0
    assert score("D_nDCG", ["b"], served, intents={"1": 1.0}) == 0.0


def test_equally_new_documents_are_taken_by_docid_from_the_last():
    # All three serve two subtopics. After c no other brings two new ones, after a or b one does.
    served = {"a": {"1": 1, "2": 1}, "b": {"3": 1, "4": 1}, "c": {"1": 1, "3": 1}}
    ideal = 2 + 1.5 / log2(3)
    assert score("alpha_nDCG@2", ["a", "b"], served) == pytest.approx((2 + 2 / log2(3)) / ideal)


@pytest.mark.parametrize("name", ["alpha_nDCG(alpha=1.1)", "ERR_IA(alpha=-1)", "nERR_IA(alpha=2)"])
def test_alpha_outside_0_to_1_is_refused(name):
    with pytest.raises(InvalidValueError, match="expected a number from 0 to 1"):
        score(name)


def test_gamma_outside_0_to_1_is_refused():
    with pytest.raises(InvalidValueError, match=r"DS_nDCG's gamma is 1\.5"):
        score("DS_nDCG(gamma=1.5)")


@pytest.mark.parametrize("alpha", [0.5, 0.01, 1.0])
def test_a_cutoff_beyond_all_lists_is_the_limit(alpha):
    far = score(f"ERR_IA(alpha={alpha})@{2**31 - 1}")
    assert far == pytest.approx(score(f"ERR_IA(alpha={alpha})@20000"), rel=1e-14)
    assert far > 0
