"""Bounds of scores against all completions of the judgements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confir.data.experiment import Experiment
from confir.data.ranked_lists.unjudged_documents import find_unjudged
from confir.measures import score_bounds
from confir.measures.measure_list import MEASURES
from confir.measures.parsing import parse_measure
from measures.completed_scores import BOUNDED, below_the_list, completed_scores
from reference.plain_measures import PlainList, plain_score
from strategies import examples, tied_topics

depths = st.none() | st.integers(1, 4)


def bounds(topic, measure, depth):
    """Return the bounds of each run, and the number of its unjudged documents that may be judged."""
    lists = Experiment(topic.qrels, topic.runs).lists()
    for unjudged in find_unjudged(lists, depth):
        rule = measure.definition.bounds
        yield rule(unjudged.cut(measure.cutoff), measure)


@given(topic=tied_topics(unjudged=3), depth=depths)
@examples(20)
def test_bounds_are_those_of_all_completions(topic, depth):
    for measure in BOUNDED:
        scores = np.array(list(completed_scores(topic, measure, depth)))
        found = list(bounds(topic, measure, depth))
        lowest = [float(one.lowest[0]) for one in found]
        highest = np.array([float(one.highest[0]) for one in found])
        if measure.definition.name == "RBP" and measure.cutoff is None and depth is None:
            highest -= below_the_list(topic, measure)
        np.testing.assert_allclose(lowest, scores.min(axis=0), atol=1e-12, err_msg=str(measure))
        np.testing.assert_allclose(highest, scores.max(axis=0), atol=1e-12, err_msg=str(measure))


@given(topic=tied_topics(judged=3, unjudged=4, least_runs=2), depth=depths)
@examples(40)
@pytest.mark.parametrize("name", ["AP", "nDCG@3", "nDCG", "R@3"])
def test_bounds_of_ratios_are_those_of_all_completions(name, topic, depth):
    """With a second run, whose documents are outside the first one's list."""
    measure = parse_measure(name)
    scores = np.array(list(completed_scores(topic, measure, depth)))
    found = list(bounds(topic, measure, depth))
    lowest, highest = [one.lowest[0] for one in found], [one.highest[0] for one in found]
    np.testing.assert_allclose(lowest, scores.min(axis=0), atol=1e-12)
    np.testing.assert_allclose(highest, scores.max(axis=0), atol=1e-12)


def test_neither_all_relevant_nor_none_need_be_the_extreme_of_ap():
    """One relevant document at rank 2 of 6: the best is one more, the worst neither end."""
    qrels = {"1": {"a": 1}}
    run = {"1": {name: -float(i) for i, name in enumerate(["u1", "a", "u2", "u3", "u4", "u5"])}}
    lists = Experiment(qrels, run).lists()
    (unjudged,) = find_unjudged(lists)
    measure = parse_measure("AP")
    found = measure.definition.bounds(unjudged, measure)
    assert found.highest[0] == pytest.approx(1.0)
    # a and the last two: (1/2 + 2/5 + 3/6) / 3
    assert found.lowest[0] == pytest.approx(min(1 / 2, (1 / 2 + 2 / 6) / 2, (0.5 + 0.4 + 0.5) / 3))


def test_the_highest_ap_of_a_list_that_may_be_perfect_is_1_and_never_more():
    """Only the last document is known to be relevant: the sum of precisions is rounded."""
    measure = parse_measure("AP")
    for length in range(2, 60):
        run = {"1": {f"d{place}": -float(place) for place in range(length)}}
        qrels = {"1": {f"d{length - 1}": 1}}
        (unjudged,) = find_unjudged(Experiment(qrels, run).lists())
        (highest,) = measure.definition.bounds(unjudged, measure).highest.tolist()
        assert 1.0 - 1e-12 < highest <= 1.0


def test_the_highest_ndcg_leaves_out_what_stands_too_low():
    """The first document makes the list ideal; the last one, relevant as well, would spoil it."""
    qrels = {"1": {"a": 1, "b": 0}}
    run = {"1": {name: -float(i) for i, name in enumerate(["u", "a", "b", "v"])}}
    (unjudged,) = find_unjudged(Experiment(qrels, run).lists())
    measure = parse_measure("nDCG")
    found = measure.definition.bounds(unjudged, measure)
    assert found.highest[0] == pytest.approx(1.0, abs=1e-12)


def test_residual_of_rbp_follows_moffat_and_zobel():
    """Weight (1-p) p^(r-1) of the unjudged ranks, and p^depth below the list."""
    qrels = {"1": {"a": 1, "b": 0}}
    run = {"1": {name: -float(i) for i, name in enumerate(["u", "a", "v", "b"])}}
    (unjudged,) = find_unjudged(Experiment(qrels, run).lists())
    for p in (0.5, 0.8, 0.95):
        measure = parse_measure(f"RBP(p={p},rel=1)")
        found = measure.definition.bounds(unjudged, measure)
        residual = (1 - p) * (1 + p**2) + p**4
        assert found.lowest[0] == pytest.approx((1 - p) * p)
        assert found.highest[0] - found.lowest[0] == pytest.approx(residual)
        cut = parse_measure(f"RBP(p={p},rel=1)@3")
        found = cut.definition.bounds(unjudged.cut(3), cut)
        assert found.highest[0] - found.lowest[0] == pytest.approx((1 - p) * (1 + p**2))


@given(topic=tied_topics(), seed=st.integers(0, 99))
@examples(30)
def test_completed_rankings_score_as_completed_judgements_do(topic, seed):
    """Several completions in one call, as the resampling draws them."""
    lists = Experiment(topic.qrels, topic.runs).lists()
    found = find_unjudged(lists)
    pool = found[0].pool
    ranked = [topic.ranked(run) for run in range(len(topic.scores))]
    names = sorted(
        {one for docs in ranked for one in docs if one not in topic.gains},
        key=lists.docids.index,
    )
    rng = np.random.default_rng(seed)
    gains = rng.choice(np.append(0, pool.grades), (len(pool.topics), 3))
    for measure in BOUNDED:
        for unjudged, documents in zip(found, ranked, strict=True):
            completions = pool.completions(gains, topic.qrels)
            scores = measure(unjudged.cut(measure.cutoff).complete(completions))[0, 0]
            for replicate in range(3):
                added = dict(zip(names, gains[:, replicate].tolist(), strict=True))
                judged = {**topic.gains, **added}
                expected = plain_score(measure, PlainList(documents, list(judged), judged))
                assert scores[replicate] == pytest.approx(expected, abs=1e-12), measure


def test_measures_without_a_rule_say_why():
    refused = {name: one.bounds for name, one in MEASURES.items() if not callable(one.bounds)}
    assert {"Q", "Bpref", "Rprec", "nERR", "Judged", "alpha_nDCG"} <= set(refused)
    assert all(reason and "confir has no rule" not in reason for reason in refused.values())


def test_sums_restart_in_each_list():
    sums = score_bounds._sums_down(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 2, 2, 4]))
    assert sums.tolist() == [1.0, 3.0, 3.0, 7.0]
