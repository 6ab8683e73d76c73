"""Expected, lowest and highest scores over ties against all orders of the tied documents."""

from itertools import groupby, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confir.data.experiment import Experiment
from confir.data.ranked_lists.rankings import stack_rankings
from confir.data.ranked_lists.tied_lists import tie_groups, tied_rankings
from confir.errors import UnsupportedMethodError
from confir.measures.measure_list import MEASURES
from confir.measures.parsing import parse_measure
from confir.measures.tied_scores import extreme_lists
from reference.plain_measures import PlainList, plain_score
from strategies import VARIANTS, examples, tied_topics

EXPECTED = [
    parse_measure(text)
    for name, variants in VARIANTS.items()
    if MEASURES[name].tied is not None
    for text in variants
]


def orders(topic, run):
    """Yield every order of a run's list that ties leave open."""
    scores = topic.scores[run]
    ranked = sorted(scores, key=lambda document: -scores[document])
    groups = [list(tied) for _, tied in groupby(ranked, key=scores.__getitem__)]
    for arranged in product(*map(permutations, groups)):
        yield [document for group in arranged for document in group]


def enumerated(topic, measure, depth=None):
    """Return the scores of each run's list in every order, by plain loops."""
    for run in range(len(topic.scores)):
        lists = (
            PlainList(one[:depth], list(topic.gains), topic.gains) for one in orders(topic, run)
        )
        yield [plain_score(measure, one) for one in lists]


def lists_of(topic):
    return Experiment(topic.qrels, topic.runs).lists()


@given(topic=tied_topics(unjudged=2, levels=3), depth=st.none() | st.integers(1, 4))
@examples(30)
def test_scores_over_ties_are_those_of_all_orders(topic, depth):
    lists = lists_of(topic)
    groups = tie_groups(lists)
    tied = tied_rankings(lists, groups, depth)
    for measure in EXPECTED:
        scores = list(enumerated(topic, measure, depth))
        try:
            expected = measure.definition.tied(tied, **measure.keywords)[:, 0, 0]
        except UnsupportedMethodError:
            assert measure.definition.name == "Bpref"
            assert depth is not None
            continue
        np.testing.assert_allclose(
            expected, list(map(np.mean, scores)), atol=1e-12, err_msg=str(measure)
        )
        found = [
            stack_rankings(one.rankings()) for one in extreme_lists(lists, groups, measure.gain_map)
        ]
        for rankings, extreme in zip(found, (min, max), strict=True):
            cut = rankings if depth is None else rankings.cut(depth)
            np.testing.assert_allclose(
                measure(cut)[:, 0, 0], list(map(extreme, scores)), atol=1e-12, err_msg=str(measure)
            )


def test_without_ties_the_expected_score_is_the_score():
    rng = np.random.default_rng(3)
    documents = [f"d{i}" for i in range(60)]
    qrels = {"1": {name: int(rng.integers(0, 4)) for name in documents[:40]}}
    run = {"1": {name: float(rng.random()) for name in documents}}
    lists = Experiment(qrels, run).lists()
    tied = tied_rankings(lists, tie_groups(lists))
    for measure in EXPECTED:
        expected = measure.definition.tied(tied, **measure.keywords)
        np.testing.assert_allclose(expected, measure(lists.rankings()[0]), atol=1e-13)


def test_a_list_of_equal_scores_is_a_random_ranking():
    """By simulation: 40 documents, all tied."""
    rng = np.random.default_rng(4)
    gains = {f"d{i}": int(rng.integers(0, 4)) for i in range(30)}
    documents = [*gains, *(f"u{i}" for i in range(10))]
    lists = Experiment({"1": gains}, {"1": dict.fromkeys(documents, 1.0)}).lists()
    tied = tied_rankings(lists, tie_groups(lists))
    shuffled = [
        PlainList(rng.permutation(documents).tolist(), list(gains), gains) for _ in range(4000)
    ]
    for name in ("AP", "nDCG@10", "RR", "ERR", "Q", "Bpref", "P@5", "Success@2", "nERR@5"):
        measure = parse_measure(name)
        scores = [plain_score(measure, one) for one in shuffled]
        expected = measure.definition.tied(tied, **measure.keywords)[0, 0, 0]
        error = np.std(scores) / np.sqrt(len(scores))
        assert abs(np.mean(scores) - expected) < 4.5 * error, name


def test_scores_that_are_equal_in_single_precision_tie_there_alone():
    run = {"1": {"a": 1.0, "b": 1.0 + 1e-12, "c": 0.5}}
    lists = Experiment({"1": {"a": 1}}, run).lists()
    assert tie_groups(lists).sizes.tolist() == [1, 1, 1]
    assert tie_groups(lists, "single").sizes.tolist() == [2, 1]


def test_equal_scores_of_different_lists_are_no_tie():
    run = {"1": {"a": 1.0}, "2": {"a": 1.0, "b": 1.0}}
    lists = Experiment({"1": {"a": 1}, "2": {"b": 1}}, run).lists()
    assert tie_groups(lists).sizes.tolist() == [1, 2]


def test_measures_of_subtopics_have_no_rule_for_ties():
    without = {name for name, one in MEASURES.items() if one.tied is None}
    assert without == {
        name for name, one in MEASURES.items() if one.needs in ("subtopics", "intents")
    }


@pytest.mark.parametrize("name", ["AP", "nDCG@10", "RR", "P@1"])
def test_a_single_document_has_one_order(name):
    lists = Experiment({"1": {"a": 2}}, {"1": {"a": 0.0}}).lists()
    measure = parse_measure(name)
    tied = tied_rankings(lists, tie_groups(lists))
    assert measure.definition.tied(tied, **measure.keywords)[0, 0, 0] == 1.0
