"""Tests, corrections, equivalence and planning against scipy and statsmodels."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from confir.data.score_files import read_scores
from confir.errors import InputWarning
from confir.pairs.compare import compare_runs
from confir.pairs.families import adjust_p_values
from confir.pairs.power import Criterion
from confir.studies.planning.planning import plan_topics
from studies.score_tables import table


@pytest.fixture(scope="module")
def robust(real_data):
    """AP of a few runs of TREC 2004 Robust on 249 topics."""
    scores = read_scores(real_data / "robust2004_ap.csv")
    return scores.select(run=scores.runs[::10])


@pytest.fixture(scope="module")
def precision(real_data):
    """P@20 of runs of the TREC 2010 Web track: many ties and zeros."""
    with pytest.warns(InputWarning, match="no column of topics"):
        scores = read_scores(real_data / "urbano2018" / "web2010_p20.csv")
    return scores.select(run=scores.runs[::8])


def compared(scores, test, replicates=9_999):
    comparison = compare_runs(scores, test=test, replicates=replicates, correction="none", rng=1)
    columns = scores.values[:, :, 0].T
    for k, p in enumerate(comparison.p[0, :, 0]):
        yield columns[comparison.first[k]], columns[comparison.second[k]], p


@pytest.mark.parametrize("collection", ["robust", "precision"])
def test_paired_t_against_scipy(collection, request):
    for first, second, p in compared(request.getfixturevalue(collection), "t"):
        assert p == pytest.approx(stats.ttest_rel(second, first).pvalue, rel=1e-9)


@pytest.mark.parametrize("collection", ["robust", "precision"])
def test_sign_test_against_scipy(collection, request):
    for first, second, p in compared(request.getfixturevalue(collection), "sign"):
        difference = np.round(second - first, 10)
        won, lost = int((difference > 0).sum()), int((difference < 0).sum())
        assert p == pytest.approx(stats.binomtest(won, won + lost).pvalue, rel=1e-9)


def test_wilcoxon_against_scipy_beyond_fifty_topics(robust):
    for first, second, p in compared(robust, "wilcoxon"):
        expected = stats.wilcoxon(np.round(second - first, 10), method="asymptotic").pvalue
        assert p == pytest.approx(expected, rel=1e-9)


def test_wilcoxon_against_scipy_without_ties():
    values = np.random.default_rng(0).normal([0.0, 0.1, 0.3, 0.6], 1.0, (50, 4))
    for first, second, p in compared(table(values), "wilcoxon"):
        assert p == pytest.approx(stats.wilcoxon(second - first, method="exact").pvalue, rel=1e-9)


def test_wilcoxon_against_scipy_with_ties_and_zeros(precision):
    # scipy enumerates all flips of tied ranks for few topics, slowly
    few = table(precision.values[20:30, :4, 0])
    for first, second, p in compared(few, "wilcoxon"):
        expected = stats.wilcoxon(np.round(second - first, 10)).pvalue
        assert p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("collection", ["robust", "precision"])
def test_exact_randomisation_against_scipy(collection, request):
    scores = request.getfixturevalue(collection)
    few = table(scores.values[:12, :5, 0])
    for first, second, p in compared(few, "randomisation"):
        expected = stats.permutation_test(
            (np.round(second - first, 10),),
            np.sum,
            permutation_type="samples",
            n_resamples=np.inf,
            alternative="two-sided",
        ).pvalue
        assert p == pytest.approx(expected, rel=1e-9)


def test_drawn_randomisation_against_scipy(robust):
    replicates = 4_999
    few = robust.select(run=robust.runs[:4])
    for first, second, p in compared(few, "randomisation", replicates):
        expected = stats.permutation_test(
            (second - first,),
            lambda d, axis: np.mean(d, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=replicates,
            rng=2,
        ).pvalue
        spread = np.sqrt(2 * max(p * (1 - p), 1e-4) / replicates)
        # scipy doubles the smaller tail, which spreads twice as much
        assert p == pytest.approx(expected, abs=8 * spread + 2 / replicates)


@pytest.mark.parametrize(
    ("correction", "name"),
    [("holm", "holm"), ("bonferroni", "bonferroni"), ("benjamini-hochberg", "fdr_bh")],
)
def test_corrections_against_statsmodels(correction, name):
    rng = np.random.default_rng(3)
    for size in (1, 2, 17, 400):
        p = rng.beta(0.3, 2.0, size).round(3)  # with ties
        expected = multipletests(p, method=name)[1]
        assert adjust_p_values(p[:, None], correction)[:, 0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("margin", [0.005, 0.02, 0.1])
def test_equivalence_against_statsmodels(robust, margin):
    comparison = compare_runs(robust, margin=margin, correction="none")
    for k in range(len(comparison.first)):
        first, second = (
            robust.values[:, place[k], 0] for place in (comparison.first, comparison.second)
        )
        expected = ttost_paired(second, first, -margin, margin)[0]
        assert comparison.p_equivalence[k, 0] == pytest.approx(expected, rel=1e-8, abs=1e-300)


def test_intervals_agree_with_the_t_test(robust):
    comparison = compare_runs(robust, level=0.9)
    excludes = (comparison.low[:, 0] > 0) | (comparison.high[:, 0] < 0)
    assert np.array_equal(excludes, comparison.p[0, :, 0] < 0.1)
    assert 0 < excludes.sum() < len(excludes)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_power_against_statsmodels(level):
    peer = TTestPower()
    for effect in (0.05, 0.2, 0.5, 1.0, 3.0):
        for topics in (3, 10, 50, 200):
            expected = peer.power(effect, topics, 1 - level)
            found = Criterion(level).power_function(np.array([1.0]), np.array([topics]))(effect)[0]
            if np.isnan(expected):  # statsmodels gives up where the power is nearly 1
                expected = 1.0
            assert found == pytest.approx(expected, abs=1e-9 if expected < 1 else 2e-5)


def test_detectable_difference_against_statsmodels():
    peer = TTestPower()
    for topics in (5, 20, 50, 249):
        expected = peer.solve_power(nobs=topics, alpha=0.05, power=0.8)
        found = Criterion(0.95).detectable(np.array([2.0]), np.array([topics]), 0.8)[0]
        assert found == pytest.approx(2.0 * expected, rel=1e-6)


def test_topics_for_power_against_statsmodels(robust):
    plan = plan_topics(robust, baseline=robust.runs[0], difference=0.02, power=0.9, family="none")
    peer = TTestPower()
    for sd, topics in zip(plan.sd[:, 0], plan.topics[:, 0], strict=True):
        expected = peer.solve_power(effect_size=0.02 / sd, alpha=0.05, power=0.9)
        assert topics == np.ceil(np.atleast_1d(expected)[0])
