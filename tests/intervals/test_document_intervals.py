"""Intervals over documents against their formulas."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from confir.data.qrels import build_qrels
from confir.data.run import build_run
from confir.errors import InvalidValueError, UnknownNameError, UnsupportedMethodError
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.method_list import METHODS, methods_over
from confir.intervals.standard_error import check_epsilon
from confir.resampling.document_bootstrap import bootstrap_documents

RANKED = list("axbcydezf")
RELEVANT = ["x", "y", "z", "missed"]


def collection(ranked=RANKED, relevant=RELEVANT):
    qrels = build_qrels(
        ["1"] * len(relevant), ["0"] * len(relevant), relevant, np.ones(len(relevant), np.int64)
    )
    run = build_run("run", ["1"] * len(ranked), ranked, -np.arange(len(ranked), dtype=float))
    return qrels, [run]


def distribution(**change):
    return bootstrap_documents(*collection(**change), statistic="score", replicates=3_000, rng=4)


def average_precision(ranked, relevant):
    found = np.flatnonzero([d in relevant for d in ranked]) + 1
    return float(np.sum(np.arange(1, len(found) + 1) / found)) / len(relevant)


def limits(sample, method, **options):
    interval = confidence_interval(sample, method=method, **options)
    return interval.low[0], interval.high[0]


def test_linear_interval_is_the_score_and_its_spread():
    sample = distribution()
    drawn = sample.require("replicates")[:, 0]
    half = stats.norm.ppf(0.975) * np.nanstd(drawn, ddof=1)
    score = average_precision(RANKED, RELEVANT)
    assert limits(sample, "linear") == pytest.approx((score - half, score + half), abs=1e-14)


def test_logit_interval_is_linear_in_the_logits():
    sample = distribution()
    drawn = sample.require("replicates")[:, 0]
    drawn = np.clip(drawn[~np.isnan(drawn)], 0.001, 0.999)
    half = stats.norm.ppf(0.95) * np.std(np.log(drawn / (1 - drawn)), ddof=1)
    score = average_precision(RANKED, RELEVANT)
    centre = np.log(score / (1 - score))
    expected = 1 / (1 + np.exp(-(centre - half))), 1 / (1 + np.exp(-(centre + half)))
    assert limits(replace(sample, epsilon=0.001), "logit", level=0.9) == pytest.approx(
        expected, abs=1e-13
    )


def test_percentile_interval_is_made_of_quantiles():
    sample = distribution()
    drawn = sample.require("replicates")[:, 0]
    expected = np.nanquantile(drawn, [0.025, 0.975])
    assert limits(sample, "percentile") == pytest.approx(tuple(expected), abs=1e-14)


def test_bca_leaves_out_each_document_in_turn():
    sample = distribution()
    score = average_precision(RANKED, RELEVANT)
    d = np.array(
        [
            score - average_precision([x for x in RANKED if x != out], set(RELEVANT) - {out})
            for out in {*RANKED, *RELEVANT}
        ]
    )
    a = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    assert sample.require("acceleration")[0] == pytest.approx(a, abs=1e-13)
    drawn = sample.require("replicates")[:, 0]
    drawn = drawn[~np.isnan(drawn)]
    ties = np.abs(drawn - score) < 1e-12
    z0 = stats.norm.ppf(((drawn < score) & ~ties).mean() + ties.mean() / 2)
    shifted = z0 + stats.norm.ppf([0.025, 0.975])
    expected = np.quantile(drawn, stats.norm.cdf(z0 + shifted / (1 - a * shifted)))
    assert limits(sample, "bca") == pytest.approx(tuple(expected), abs=1e-12)


def test_bca_of_a_single_relevant_document_has_no_limits():
    assert np.isnan(limits(distribution(relevant=["y"]), "bca")).all()


@pytest.mark.parametrize("method", sorted(methods_over("documents")))
@pytest.mark.parametrize(("ranked", "score"), [(["a", "b"], 0.0), (["x", "y", "z", "missed"], 1.0)])
def test_scores_that_do_not_vary_are_their_own_interval(method, ranked, score):
    assert limits(distribution(ranked=ranked), method) == (score, score)


@pytest.mark.parametrize("method", sorted(methods_over("documents")))
def test_intervals_hold_the_score_and_widen_with_the_level(method):
    sample = distribution()
    narrow, wide = limits(sample, method, level=0.8), limits(sample, method, level=0.99)
    assert wide[0] < narrow[0] < sample.estimate[0] < narrow[1] < wide[1]


def test_logit_interval_holds_a_score_of_0_that_may_be_more():
    qrels, runs = collection()
    sample = bootstrap_documents(qrels, runs, "P@1", statistic="score", replicates=500, rng=1)
    assert sample.estimate[0] == 0.0 < np.nanmax(sample.require("replicates"))
    low, high = limits(sample, "logit")
    assert low == 0.0 < high


def test_methods_that_do_not_fit_are_refused_with_those_that_do():
    qrels, runs = collection()
    mean = bootstrap_documents(qrels, runs, statistic="mean", replicates=20, rng=1)
    with pytest.raises(UnsupportedMethodError, match=r"fit: linear, logit, percentile$"):
        confidence_interval(mean, method="bca")
    logits = bootstrap_documents(qrels, runs, statistic="logit-mean", replicates=20, rng=1)
    with pytest.raises(UnsupportedMethodError, match=r"fit: linear, percentile$"):
        confidence_interval(logits, method="logit")


def test_wrong_options_are_named():
    sample = distribution()
    with pytest.raises(UnknownNameError, match="did you mean logit"):
        confidence_interval(sample, method="logits")
    with pytest.raises(InvalidValueError, match="epsilon is 0"):
        check_epsilon(0.5)
    with pytest.raises(InvalidValueError, match="level is 2"):
        confidence_interval(sample, level=2)


def test_every_method_is_described_in_a_line():
    assert all(len(method.summary) > 20 for method in methods_over("documents").values())


@pytest.mark.parametrize("method", sorted(methods_over("documents")))
def test_confidence_interval_applies_the_methods_over_documents(method):
    sample = distribution()
    made = confidence_interval(sample, method=method, level=0.9)
    assert (made.low, made.high) == METHODS[method].compute(sample, 0.9)
    assert (made.method, made.level, made.replicates) == (method, 0.9, 3_000)


def test_confidence_interval_over_documents_is_linear_by_default():
    sample = distribution()
    made = confidence_interval(sample)
    assert (made.low[0], made.high[0]) == limits(sample, "linear")


def test_several_methods_and_levels_over_documents_give_a_list():
    made = confidence_interval(distribution(), method=["logit", "linear"], level=[0.9, 0.8])
    told = [(interval.method, interval.level) for interval in made]
    assert told == [("logit", 0.9), ("logit", 0.8), ("linear", 0.9), ("linear", 0.8)]


def test_a_method_over_topics_is_none_over_documents():
    with pytest.raises(UnknownNameError, match="unknown method over documents 'hall-logit'"):
        confidence_interval(distribution(), method="hall-logit")
