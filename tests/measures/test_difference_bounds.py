"""Bounds of the difference of two runs against all completions of the judgements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confir.data.experiment import Experiment
from confir.data.ranked_lists.unjudged_documents import find_unjudged
from confir.measures.difference_bounds import bounds_of_difference
from confir.measures.measure_list import MEASURES
from confir.measures.parsing import parse_measure
from measures.completed_scores import BOUNDED, below_the_list, completed_scores
from strategies import examples, tied_topics

depths = st.none() | st.integers(1, 4)


def found(topic, measure, depth):
    lists = Experiment(topic.qrels, topic.runs).lists()
    first, second = find_unjudged(lists, depth)
    return bounds_of_difference(first, second, measure)


@given(topic=tied_topics(unjudged=3, least_runs=2), depth=depths)
@examples(40)
def test_differences_are_those_of_all_completions(topic, depth):
    for measure in BOUNDED:
        scores = np.array(list(completed_scores(topic, measure, depth)))
        differences = scores[:, 0] - scores[:, 1]
        bounds = found(topic, measure, depth)
        lowest, highest = bounds.lowest[0], bounds.highest[0]
        if measure.definition.name == "RBP" and measure.cutoff is None and depth is None:
            first, second = below_the_list(topic, measure)
            lowest, highest = lowest + second, highest - first
        if measure.definition.differences is None:
            assert lowest <= differences.min() + 1e-12, measure
            assert highest >= differences.max() - 1e-12, measure
        else:
            assert lowest == pytest.approx(differences.min(), abs=1e-12), measure
            assert highest == pytest.approx(differences.max(), abs=1e-12), measure


@given(topic=tied_topics(unjudged=4, least_runs=2))
@examples(60)
@pytest.mark.parametrize("name", ["nDCG@3", "R@2", "RR"])
def test_differences_of_ratios_are_those_of_all_completions(name, topic):
    measure = parse_measure(name)
    scores = np.array(list(completed_scores(topic, measure, None)))
    differences = scores[:, 0] - scores[:, 1]
    bounds = found(topic, measure, None)
    assert bounds.lowest[0] == pytest.approx(differences.min(), abs=1e-12)
    assert bounds.highest[0] == pytest.approx(differences.max(), abs=1e-12)


def test_a_run_differs_from_itself_by_nothing():
    run = {"1": {"a": 3.0, "u": 2.0, "v": 1.0}}
    lists = Experiment({"1": {"a": 2, "b": 1}}, {"x": run, "y": run}).lists()
    first, second = find_unjudged(lists)
    for name in ("P@2", "nDCG@3", "R@2", "RR", "Success@1"):
        bounds = bounds_of_difference(first, second, parse_measure(name))
        assert bounds.lowest[0] == bounds.highest[0] == 0.0, name


def test_exact_rules_are_declared():
    exact = {name for name, one in MEASURES.items() if one.differences is not None}
    assert exact == {"P", "R", "RR", "nDCG", "RBP", "Success", "NumRelRet"}
