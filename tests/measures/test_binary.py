"""Binary measures on lists scored by hand."""

import numpy as np
import pytest

from confir.measures.parsing import parse_measure
from strategies import Collection

# a, b, d and f are relevant, f is not retrieved, c is judged non-relevant, x and y are unjudged;
# e has a negative gain, which counts as unjudged for Bpref but as judged for Judged.
JUDGED = {"a": 2, "b": 1, "c": 0, "d": 1, "e": -1, "f": 3}
RANKED = ["a", "x", "c", "b", "e", "d", "y"]


def score(name, ranked=RANKED, judged=JUDGED):
    judgements = {"t": {document: {"0": gain} for document, gain in judged.items()}}
    return parse_measure(name)(Collection(judgements, ({"t": ranked},), {}).rankings()).item()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AP", (1 / 1 + 2 / 4 + 3 / 6) / 4),
        ("AP@5", (1 / 1 + 2 / 4) / 4),
        ("AP(rel=2)", (1 / 1) / 2),
        ("AP(rel=4)", 0.0),
        ("P@4", 2 / 4),
        ("P@10", 3 / 10),
        ("P(rel=2)@4", 1 / 4),
        ("R@5", 2 / 4),
        ("R@100", 3 / 4),
        ("R(rel=2)@1", 1 / 2),
        ("Rprec", 2 / 4),
        ("Rprec(rel=2)", 1 / 2),
        ("Rprec(rel=3)", 0.0),
        ("RR", 1.0),
        ("RR(rel=3)", 0.0),
        ("Success@1", 1.0),
        ("Success(rel=3)@100", 0.0),
        ("Bpref", (1 + 0 + 0) / 4),
        ("Bpref(rel=2)", (1 + 0) / 2),
        ("Judged@1", 1 / 1),
        ("Judged@3", 2 / 3),
        ("Judged", 5 / 7),
        ("Judged@100", 5 / 7),
        ("NumRet", 7),
        ("NumRel", 4),
        ("NumRel(rel=2)", 2),
        ("NumRelRet", 3),
    ],
)
def test_list_worked_by_hand(name, expected):
    assert score(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("RR", 1 / 4),
        ("RR@4", 1 / 4),
        ("RR@3", 0.0),
        ("AP", (1 / 4 + 2 / 6) / 4),
        ("Success@3", 0.0),
        ("Success@4", 1.0),
    ],
)
def test_list_without_an_early_relevant_document(name, expected):
    assert score(name, ranked=["x", "c", "y", "b", "e", "d"]) == expected


def test_bpref_bounds_the_non_relevant_documents_by_the_relevant_ones():
    # Two relevant documents and four non-relevant ones: at most two of these count against each.
    judged = {"r": 1, "s": 1, "k": 0, "l": 0, "m": 0, "n": 0}
    assert score("Bpref", ["k", "r", "l", "s"], judged) == ((1 - 1 / 2) + (1 - 2 / 2)) / 2
    assert score("Bpref", ["k", "l", "m", "r", "n", "s"], judged) == 0.0


def test_bpref_takes_negative_gains_as_unjudged():
    judged = {"r": 1, "s": 1, "k": 0, "l": 0, "m": -1}
    assert score("Bpref", ["m", "r", "k", "s"], judged) == (1 + (1 - 1 / 2)) / 2


def test_bpref_without_judged_non_relevant_documents_is_recall():
    assert score("Bpref", ["x", "r"], {"r": 1, "s": 1}) == 1 / 2


def test_scores_come_as_runs_by_topics_by_replicates():
    judgements = {"1": {"a": {"0": 1}}, "2": {"b": {"0": 1}}}
    lists = ({"1": ["a"]}, {"1": ["x", "a"], "2": ["b"]})
    scores = parse_measure("AP")(Collection(judgements, lists, {}).rankings())
    np.testing.assert_array_equal(scores, [[[1.0], [0.0]], [[0.5], [1.0]]])
