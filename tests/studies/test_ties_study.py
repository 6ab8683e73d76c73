"""Bounds over ties contain the scores of any order of tied documents."""

import numpy as np
import pytest

import confir
from confir.errors import UnsupportedMethodError
from samples import short_sample

MEASURES = ["AP", "nDCG@10", "P@10", "RR", "R@1000", "Q", "ERR"]


@pytest.fixture(scope="module")
def tied():
    """A run whose scores are rounded: most documents are tied."""
    sample = short_sample()
    run = next(run for run in sample.runs if run.name == "dense").to_dict()
    rounded = {
        t: {d: float(np.round(s, 1)) for d, s in listed.items()} for t, listed in run.items()
    }
    return sample.qrels, {"rounded": rounded}


def test_any_order_scores_within_the_bounds_and_the_expected_score_in_the_mean(tied):
    qrels, runs = tied
    bounds = confir.bound_ties(qrels, runs, MEASURES)
    assert bounds.tied[0] > 0.5
    rng = np.random.default_rng(5)
    found = []
    for _ in range(60):
        jittered = {
            topic: dict(
                zip(
                    listed,
                    np.array(list(listed.values())) + rng.random(len(listed)) * 1e-6,
                    strict=True,
                )
            )
            for topic, listed in runs["rounded"].items()
        }
        found.append(confir.evaluate(qrels, {"rounded": jittered}, MEASURES).values)
    scores = np.stack(found)
    assert (scores >= bounds.lowest_scores.values - 1e-12).all()
    assert (scores <= bounds.highest_scores.values + 1e-12).all()
    means = scores.mean(axis=1)[:, 0]
    error = means.std(axis=0) / np.sqrt(len(means)) + 1e-12
    assert (np.abs(means.mean(axis=0) - bounds.expected[0]) < 4.5 * error).all()
    assert (bounds.lowest <= bounds.expected).all()
    assert (bounds.expected <= bounds.highest).all()


def test_a_constant_score_is_a_random_order():
    """Expected P@1 is the share of relevant documents; the bounds are 0 and 1."""
    run = {"1": dict.fromkeys("abcd", 1.0)}
    bounds = confir.bound_ties({"1": {"a": 1, "b": 0}}, run, ["P@1", "RR"])
    np.testing.assert_allclose(bounds.lowest, [[0.0, 0.25]])
    np.testing.assert_allclose(bounds.highest, 1.0)
    np.testing.assert_allclose(bounds.expected, [[0.25, (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4]])
    assert bounds.tied[0] == 1.0


def test_without_ties_nothing_moves():
    run = {"1": {"a": 2.0, "b": 1.0}}
    bounds = confir.bound_ties({"1": {"b": 1}}, run, MEASURES)
    for side in (bounds.lowest, bounds.expected, bounds.highest):
        np.testing.assert_allclose(side, bounds.mean, atol=1e-15)


def test_precision_decides_what_is_tied():
    run = {"1": {"a": 1.0, "b": 1.0 + 1e-12}}
    double, single = (
        confir.bound_ties({"1": {"a": 1}}, run, "RR", tie_precision=precision)
        for precision in ("double", "single")
    )
    assert (double.lowest[0, 0], double.highest[0, 0]) == (0.5, 0.5)
    assert (single.lowest[0, 0], single.highest[0, 0]) == (0.5, 1.0)


def test_measures_of_subtopics_are_refused():
    with pytest.raises(UnsupportedMethodError, match="alpha_nDCG@10: no rule for tied documents"):
        confir.bound_ties({"1": {"a": 1}}, {"1": {"a": 1.0}}, ["alpha_nDCG@10"])
