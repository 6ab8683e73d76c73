"""Bounds, condensed and resampled means against the definitions of their treatments."""

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given

import confir
from confir.data.experiment import Experiment
from confir.data.ranked_lists import held_lists
from confir.data.ranked_lists.unjudged_documents import find_unjudged
from confir.errors import InvalidValueError, UnknownNameError, UnsupportedMethodError
from confir.studies.unjudged.simulated_judgements import draw_judgements, drawing_depth, gain_rates
from samples import short_sample
from strategies import collections, examples

pytestmark = pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")

MEASURES = ["AP", "nDCG@10", "P@10", "RR", "R@20"]


@pytest.fixture(scope="module")
def sample():
    whole = short_sample()
    return whole.qrels, [run for run in whole.runs if run.name in ("bm25", "dense", "splade")]


@pytest.fixture(scope="module")
def partly_judged(sample):
    """Qrels without every third document: much is unjudged at the top."""
    qrels, runs = sample
    kept = {
        topic: {d: g for i, (d, g) in enumerate(judged.items()) if i % 3}
        for topic, judged in qrels.to_dict().items()
    }
    return kept, runs


def test_bounds_hold_the_mean_and_are_none_of_a_fully_judged_depth(sample):
    bounds = confir.bound_unjudged(*sample, ["P@5", "AP"])
    assert bounds.depths == (5, None)
    np.testing.assert_array_equal(bounds.judged[:, 0], 1.0)
    np.testing.assert_array_equal(bounds.lowest[:, 0], bounds.highest[:, 0])
    assert (bounds.lowest[:, 1] < bounds.mean[:, 1]).all()
    assert (bounds.highest[:, 1] > bounds.mean[:, 1]).all()
    np.testing.assert_array_equal(bounds.mean, confir.evaluate(*sample, ["P@5", "AP"]).mean())


@pytest.mark.filterwarnings("ignore:RBP.* is up to")
def test_the_score_under_the_full_judgements_lies_within_the_bounds(sample, partly_judged):
    """The removed judgements are one of the completions, where they are in the pool."""
    truth = confir.evaluate(*sample, ["P@10", "RR@10", "RBP@10", "ERR@10"]).values
    bounds = confir.bound_unjudged(*partly_judged, ["P@10", "RR@10", "RBP@10", "ERR@10"])
    assert (bounds.lowest_scores.values <= truth + 1e-12).all()
    assert (bounds.highest_scores.values >= truth - 1e-12).all()
    assert (bounds.highest - bounds.lowest > 0.01).all()


@pytest.mark.parametrize("find", [confir.bound_unjudged, confir.bound_ties])
def test_bounds_do_not_depend_on_how_many_topics_are_worked_on_at_a_time(
    find, partly_judged, monkeypatch
):
    qrels, runs = partly_judged
    for topic in list(qrels)[::4]:  # a grade that most blocks of topics lack
        qrels = qrels | {topic: qrels[topic] | {"best": 9}}
    once = find(qrels, runs, MEASURES)
    monkeypatch.setattr(held_lists, "_BLOCK", 300)
    experiment = Experiment(qrels, runs)
    assert len(held_lists.topic_blocks(experiment.lists().depth)) > 5
    again = find(experiment, measures=MEASURES)
    for name in ("lowest_scores", "highest_scores"):
        expected = getattr(once, name).values
        np.testing.assert_allclose(getattr(again, name).values, expected, rtol=1e-11)


def test_a_deeper_pool_widens_the_bounds(partly_judged):
    narrow, wide = (
        confir.bound_unjudged(*partly_judged, MEASURES, pool_depth=depth) for depth in (3, 50)
    )
    assert narrow.depths == (3,) * 5
    assert (wide.lowest_scores.values <= narrow.lowest_scores.values + 1e-12).all()
    assert (wide.highest_scores.values >= narrow.highest_scores.values - 1e-12).all()


def test_further_runs_only_widen_the_bounds(partly_judged):
    qrels, runs = partly_judged
    alone = confir.bound_unjudged(qrels, runs[:1], MEASURES)
    among = confir.bound_unjudged(qrels, runs, MEASURES).select(run=alone.runs)
    assert (among.lowest <= alone.lowest + 1e-12).all()
    assert (among.highest >= alone.highest - 1e-12).all()


def test_condensed_scores_against_trec_eval_of_filtered_runs(partly_judged):
    qrels, runs = partly_judged
    names = {"AP": "map", "nDCG@10": "ndcg_cut_10", "P@10": "P_10", "RR": "recip_rank"}
    estimate = confir.estimate_unjudged(qrels, runs, list(names), tie_precision="single")
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut", "P", "recip_rank"})
    for place, run in enumerate(runs):
        filtered = {
            topic: {d: s for d, s in listed.items() if d in qrels.get(topic, {})}
            for topic, listed in run.to_dict().items()
        }
        expected = evaluator.evaluate({t: listed for t, listed in filtered.items() if listed})
        for m, name in enumerate(names.values()):
            scores = [expected.get(t, {}).get(name, 0.0) for t in estimate.scores.topics]
            found = estimate.estimated_scores.values[:, place, m]
            np.testing.assert_allclose(found, scores, atol=1e-9)


def test_condensed_lists_of_fully_judged_documents_are_the_lists(sample):
    estimate = confir.estimate_unjudged(*sample, ["P@5", "RR@5"])
    np.testing.assert_allclose(estimate.estimate, estimate.mean, atol=1e-12)
    assert np.isnan(estimate.low).all()


def test_resampled_means_lie_within_the_bounds(partly_judged):
    bounds = confir.bound_unjudged(*partly_judged, MEASURES)
    estimate = confir.estimate_unjudged(
        *partly_judged, MEASURES, treatment="resample", replicates=50, rng=1
    )
    assert (estimate.low >= bounds.lowest - 1e-12).all()
    assert (estimate.high <= bounds.highest + 1e-12).all()
    assert (estimate.low <= estimate.estimate).all()
    assert (estimate.estimate <= estimate.high).all()
    assert (estimate.high - estimate.low)[:, 2].min() > 0.001


def test_resampled_precision_is_nearer_to_the_truth_than_precision(sample, partly_judged):
    """Documents were left out of the judgements at random: the pool's rates are those of all."""
    truth = confir.evaluate(*sample, ["P@10"]).mean()
    estimate = confir.estimate_unjudged(
        *partly_judged, ["P@10"], treatment="resample", replicates=100, rng=1
    )
    assert (np.abs(estimate.estimate - truth) < 0.4 * np.abs(estimate.mean - truth)).all()


def test_the_expected_precision_is_that_of_the_rates(partly_judged):
    """P@k is linear: its expectation follows from each document's rate, without drawing."""
    lists = Experiment(*partly_judged).lists()
    depth = drawing_depth(lists)
    assert depth >= 10
    found = find_unjudged(lists, depth)
    pool = found[0].pool
    generator = np.random.default_rng(2)
    drawn = draw_judgements(lists, pool, 2_000, generator)
    rates = gain_rates(lists, pool.grades)
    np.testing.assert_allclose(rates.sum(axis=2), 1.0)
    ranks = np.maximum(np.arange(int(lists.depth.max()) + 1), 1)
    bands = np.unique(np.floor(2 * np.log2(ranks)), return_inverse=True)[1]
    expected = 1.0 - rates[pool.topics, bands[pool.best_rank], 0]
    error = np.sqrt(expected * (1 - expected) / 2_000) + 1e-9
    assert (np.abs((drawn > 0).mean(axis=1) - expected) < 5.5 * error).all()


def test_rates_depend_neither_on_names_nor_on_the_order_of_judgements():
    """The only relevant document is the first of the judgements, then the last."""
    rates = []
    for name, judged in (("a", ("a", "b", "c")), ("z", ("b", "c", "z"))):
        qrels = {"1": {one: int(one == name) for one in judged}}
        run = {"1": {name: 4.0, "b": 3.0, "u": 2.0, "c": 1.0}}
        rates.append(gain_rates(Experiment(qrels, run).lists(), np.array([1])))
    np.testing.assert_array_equal(*rates)


def test_the_same_seed_draws_the_same_judgements(partly_judged):
    settings = {"treatment": "resample", "rng": 3}
    few = confir.estimate_unjudged(*partly_judged, ["P@10"], replicates=1, **settings)
    assert few.replicates == 1
    np.testing.assert_array_equal(few.low, few.high)
    again = confir.estimate_unjudged(*partly_judged, ["P@10"], replicates=1, **settings)
    np.testing.assert_array_equal(few.estimate, again.estimate)


def test_sparse_judgements_draw_nothing():
    """One judged document of ten: those judged say nothing about the others."""
    run = {"1": {f"d{i}": float(-i) for i in range(10)}}
    estimate = confir.estimate_unjudged(
        {"1": {"d0": 1}}, run, ["AP"], treatment="resample", replicates=5, rng=1
    )
    assert estimate.depths == (1,)
    assert estimate.estimate[0, 0] == estimate.mean[0, 0] == 1.0


@pytest.mark.filterwarnings("ignore:RBP.* is up to")
@given(collection=collections())
@examples(25)
def test_any_collection_has_bounds(collection):
    experiment = Experiment(collection.qrels, collection.runs, missing="drop")
    if not all(rankings.present.any() for rankings in experiment.lists().rankings()):
        return
    with np.errstate(all="raise"):
        bounds = confir.bound_unjudged(experiment, measures=["AP", "nDCG", "R@3", "RBP", "P@2"])
        confir.estimate_unjudged(experiment, measures=["AP", "Bpref"])
        confir.estimate_unjudged(
            experiment, measures=["AP", "nDCG@3"], treatment="resample", replicates=3, rng=1
        )
    known = ~np.isnan(bounds.scores.values)
    assert (np.isnan(bounds.lowest_scores.values) == ~known).all()
    assert (bounds.lowest_scores.values <= bounds.scores.values + 1e-12)[known].all()
    assert (bounds.highest_scores.values >= bounds.scores.values - 1e-12)[known].all()


def test_a_run_with_everything_unjudged_may_score_anything():
    run = {"1": {"u1": 2.0, "u2": 1.0}}
    bounds = confir.bound_unjudged({"1": {"a": 1}}, run, ["P@2", "RR", "AP", "nDCG@2", "R@2"])
    np.testing.assert_array_equal(bounds.mean[0], 0.0)
    np.testing.assert_array_equal(bounds.lowest[0], 0.0)
    np.testing.assert_allclose(bounds.highest[0, :2], 1.0)
    # AP: the unretrieved document stays relevant; two of three found at the top
    assert bounds.highest[0, 2] == pytest.approx(2 / 3)
    assert bounds.highest[0, 3] == pytest.approx(1.0)
    assert bounds.highest[0, 4] == pytest.approx(2 / 3)


def test_a_topic_without_relevant_documents_can_get_some():
    run = {"1": {"u": 2.0, "n": 1.0}}
    bounds = confir.bound_unjudged({"1": {"n": 0}}, run, ["AP", "nDCG@10", "R@10"])
    np.testing.assert_array_equal(bounds.mean, 0.0)
    np.testing.assert_allclose(bounds.highest, 1.0)


def test_measures_without_a_rule_are_refused_with_the_reason(sample):
    with pytest.raises(UnsupportedMethodError, match=r"Q: no bounds .* ideal list"):
        confir.bound_unjudged(*sample, ["AP", "Q"])
    with pytest.raises(UnsupportedMethodError, match="not a measure of confir's catalogue"):
        confir.bound_unjudged(*sample, [lambda *_: 1.0])
    with pytest.raises(UnsupportedMethodError, match="Bpref: judgements are drawn"):
        confir.estimate_unjudged(*sample, ["Bpref"], treatment="resample")


def test_wrong_arguments_are_named(sample):
    with pytest.raises(InvalidValueError, match="pool_depth is 0"):
        confir.bound_unjudged(*sample, pool_depth=0)
    with pytest.raises(UnknownNameError, match="treatment"):
        confir.estimate_unjudged(*sample, treatment="condense")
    with pytest.raises(InvalidValueError, match="replicates is 0"):
        confir.estimate_unjudged(*sample, replicates=0)


def test_too_many_gains_are_refused():
    qrels = {"1": {f"d{i}": i for i in range(200)}}
    run = {"1": {"u": 1.0}}
    with pytest.raises(InvalidValueError, match="199 positive gains"):
        confir.bound_unjudged(qrels, run, ["nDCG"])


def test_differences_hold_the_difference_and_are_narrower_than_those_of_both(partly_judged):
    names = ["P@10", "nDCG@10", "AP"]
    found = confir.bound_differences(*partly_judged, names, baseline="bm25")
    bounds = confir.bound_unjudged(*partly_judged, names)
    assert found.runs == ("dense", "splade")
    assert found.exact == (True, True, False)
    scores = confir.evaluate(*partly_judged, names).mean()
    np.testing.assert_allclose(found.difference, scores[1:] - scores[0], atol=1e-12)
    assert (found.lowest <= found.difference).all()
    assert (found.highest >= found.difference).all()
    apart = bounds.highest[1:] - bounds.lowest[0]
    assert (found.highest[:, :2] < apart[:, :2] - 0.001).all()
    np.testing.assert_allclose(found.highest[:, 2], apart[:, 2])


def test_differences_need_two_runs_and_a_known_baseline(sample):
    qrels, runs = sample
    with pytest.raises(InvalidValueError, match="there is one run"):
        confir.bound_differences(qrels, runs[:1], ["P@5"], baseline="bm25")
    with pytest.raises(UnknownNameError, match="unknown run 'bm52'"):
        confir.bound_differences(qrels, runs, ["P@5"], baseline="bm52")
