"""Pooled effects against statsmodels, PyMARE, and published results of metafor."""

import gc
import math
import warnings

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from confir.studies.meta_analysis.meta_analysis import pool_effects

with warnings.catch_warnings():
    # PyMARE leaves a file open when it is imported
    warnings.simplefilter("ignore", ResourceWarning)
    from pymare import Dataset
    from pymare.estimators import VarianceBasedLikelihoodEstimator

    gc.collect()

# Colditz et al. 1994: 13 trials of the BCG vaccine, tuberculosis yes and no with and without it;
# the example of Viechtbauer 2010 (metafor), log risk ratios.
BCG = np.array(
    [
        [4, 119, 11, 128],
        [6, 300, 29, 274],
        [3, 228, 11, 209],
        [62, 13536, 248, 12619],
        [33, 5036, 47, 5761],
        [180, 1361, 372, 1079],
        [8, 2537, 10, 619],
        [505, 87886, 499, 87892],
        [29, 7470, 45, 7232],
        [17, 1699, 65, 1600],
        [186, 50448, 141, 27197],
        [5, 2493, 3, 2338],
        [27, 16886, 29, 17825],
    ],
    float,
)

# Raudenbush 1984: 19 studies of teachers' expectations, standardised mean differences, variances.
TEACHERS = np.array(
    [
        [0.03, 0.0156],
        [0.12, 0.0216],
        [-0.14, 0.0279],
        [1.18, 0.1391],
        [0.26, 0.1362],
        [-0.06, 0.0106],
        [-0.02, 0.0106],
        [-0.32, 0.0484],
        [0.27, 0.0269],
        [0.80, 0.0630],
        [0.54, 0.0912],
        [0.18, 0.0497],
        [-0.02, 0.0835],
        [0.23, 0.0841],
        [-0.18, 0.0253],
        [-0.06, 0.0279],
        [0.30, 0.0193],
        [0.07, 0.0088],
        [-0.07, 0.0303],
    ]
).T


def risk_ratios():
    a, b, c, d = BCG.T
    return np.log(a / (a + b) * (c + d) / c), 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)


def odds_ratios():
    # DerSimonian & Kacker 2007, Table 1: CLASP, events and patients with and without treatment
    a, n = np.array([5, 5, 12, 69, 9, 313.0]), np.array([156, 303, 565, 1570, 103, 4659.0])
    c, m = np.array([8, 17, 9, 94, 11, 352.0]), np.array([74, 303, 477, 1565, 105, 4650.0])
    return np.log(a / (n - a) * (m - c) / c), 1 / a + 1 / (n - a) + 1 / c + 1 / (m - c)


def simulated(seed):
    rng = np.random.default_rng(seed)
    v = np.exp(rng.normal(-2, 1, 8))
    return rng.normal(0.3, np.sqrt(v + 0.5)), v


DATA = {
    "BCG": risk_ratios(),
    "CLASP": odds_ratios(),
    "teachers": TEACHERS,
    **{f"simulated {seed}": simulated(seed) for seed in range(3)},
}


def limits(pooled):
    return float(pooled.low), float(pooled.high)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(("tau2", "method"), [("dersimonian-laird", "dl"), ("paule-mandel", "pm")])
def test_moment_estimators_against_statsmodels(name, tau2, method):
    y, v = DATA[name]
    # with a finer tolerance statsmodels may take rounding for a Q below its expectation, τ² = 0
    theirs = combine_effects(y, v, method, **({"atol": 1e-9} if method == "pm" else {}))
    fixed, random, _, _ = theirs.conf_int()
    knapp = theirs.conf_int(use_t=True)[3]
    ours = pool_effects(y, np.sqrt(v), tau2=tau2)
    assert float(ours.tau2) == pytest.approx(theirs.tau2, rel=1e-7)
    assert float(ours.effect) == pytest.approx(theirs.mean_effect_re, rel=1e-7)
    assert limits(ours) == pytest.approx(tuple(knapp), rel=1e-7)
    assert ours.weights == pytest.approx(theirs.weights_rel_re, rel=1e-7)
    normal = pool_effects(y, np.sqrt(v), tau2=tau2, interval="normal")
    assert limits(normal) == pytest.approx(tuple(random), rel=1e-7)
    assert limits(pool_effects(y, np.sqrt(v), model="fixed")) == pytest.approx(tuple(fixed))
    homogeneity = theirs.test_homogeneity()
    assert float(ours.q) == pytest.approx(homogeneity.statistic, rel=1e-7)
    assert float(ours.q_p) == pytest.approx(homogeneity.pvalue, rel=1e-7)
    assert float(ours.i2) == pytest.approx(theirs.i2, rel=1e-7)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("interval", ["normal", "hartung-knapp"])
def test_reml_against_pymare(name, interval):
    y, v = DATA[name]
    correction = {"normal": "wald", "hartung-knapp": "knapp-hartung"}[interval]
    estimator = VarianceBasedLikelihoodEstimator("REML", small_sample_correction=correction)
    theirs = estimator.fit_dataset(Dataset(y, v)).summary()
    found = theirs.get_fe_stats()
    ours = pool_effects(y, np.sqrt(v), tau2="reml", interval=interval)
    # PyMARE stops its search where the likelihood no longer distinguishes values of τ²
    assert float(ours.tau2) == pytest.approx(float(np.squeeze(theirs.tau2)), rel=1e-5)
    assert float(ours.effect) == pytest.approx(found["est"].item(), rel=1e-5)
    assert limits(ours) == pytest.approx((found["ci_l"].item(), found["ci_u"].item()), rel=1e-5)
    assert float(ours.p) == pytest.approx(found["p"].item(), rel=1e-4)
    heterogeneity = theirs.get_heterogeneity_stats()
    assert float(ours.q) == pytest.approx(heterogeneity["Q"].item(), rel=1e-9)
    assert 100 * float(ours.i2) == pytest.approx(heterogeneity["I^2"].item(), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "tau2", "effect", "low", "high"),
    [
        # Viechtbauer 2010, J. Stat. Softw. 36(3): rma(yi, vi), which is REML
        ({"tau2": "reml", "interval": "normal"}, 0.3132, -0.7145, -1.0669, -0.3622),
        # the other rows: metafor's own tests, against Stata's metan
        ({"tau2": "dersimonian-laird", "interval": "normal"}, 0.3088, -0.7141, -1.0644, -0.3638),
        ({"model": "fixed"}, 0, -0.4303, -0.5097, -0.3509),
    ],
)
def test_bcg_vaccine_against_metafor(options, tau2, effect, low, high):
    y, v = risk_ratios()
    pooled = pool_effects(y, np.sqrt(v), **options)
    found = (float(pooled.tau2), float(pooled.effect), *limits(pooled), float(pooled.q))
    assert found == pytest.approx((tau2, effect, low, high, 152.2330), abs=0.00005)
    assert 100 * float(pooled.i2) == pytest.approx(92.1173, abs=0.00005)


@pytest.mark.parametrize(
    ("tau2", "tau", "effect", "se"),
    [
        ("paule-mandel", 0.3681, -0.3811, 0.2060),
        ("dersimonian-laird", 0.2323, -0.3240, 0.1540),
        ("reml", 0.1843, -0.2980, 0.1343),
    ],
)
def test_clasp_against_dersimonian_and_kacker_2007(tau2, tau, effect, se):
    # Tables 3 and 4, in the four decimals of metafor
    y, v = odds_ratios()
    pooled = pool_effects(y, np.sqrt(v), tau2=tau2, interval="normal")
    found = (math.sqrt(pooled.tau2), float(pooled.effect), float(pooled.se))
    assert found == pytest.approx((tau, effect, se), abs=0.00006)


@pytest.mark.parametrize(
    ("tau2", "interval", "variance", "effect", "se", "low", "high"),
    [
        ("reml", "normal", 0.0188, 0.0837, 0.0516, -0.0175, 0.1849),
        ("reml", "hartung-knapp", 0.0188, 0.0837, 0.0616, -0.0457, 0.2131),
        ("dersimonian-laird", "normal", 0.0259, 0.0893, 0.0558, -0.0200, 0.1987),
        ("dersimonian-laird", "hartung-knapp", 0.0259, 0.0893, 0.0636, -0.0442, 0.2229),
    ],
)
def test_teachers_against_raudenbush_2009(tau2, interval, variance, effect, se, low, high):
    # Table 16.3 of the chapter, in the four decimals of metafor
    y, v = TEACHERS
    pooled = pool_effects(y, np.sqrt(v), tau2=tau2, interval=interval)
    found = (float(pooled.tau2), float(pooled.effect), float(pooled.se), *limits(pooled))
    assert found == pytest.approx((variance, effect, se, low, high), abs=0.00006)


def test_prediction_interval_against_metafor():
    # predict(rma(yi, vi)) of the teachers: [-0.2036, 0.3711] with the normal quantile; ours has
    # that of t with 19 - 2 degrees of freedom, as predict(..., predtype="Riley")
    y, v = TEACHERS
    pooled = pool_effects(y, np.sqrt(v), tau2="reml", interval="normal")
    half = (0.3711 + 0.2036) / 2 / 1.959964 * 2.109816
    assert float(pooled.predicted_low) == pytest.approx(0.0837 - half, abs=0.0002)
    assert float(pooled.predicted_high) == pytest.approx(0.0837 + half, abs=0.0002)
