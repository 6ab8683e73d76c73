"""Pooled effects: worked by hand, at the edges, and on simulated studies of known truth."""

import math

import numpy as np
import pytest
from scipy import stats

from confir.data.effect_files import Group
from confir.errors import (
    DegenerateSampleWarning,
    InputWarning,
    InvalidValueError,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.report.result_chart import chart
from confir.report.tables import to_text
from confir.studies.meta_analysis.meta_analysis import pool_effects, pool_models
from confir.studies.meta_analysis.models import MODELS
from confir.studies.meta_analysis.table import MOST_IN_FULL, pooled_sentences, pooled_table

RANDOM = [name for name, model in MODELS.items() if model.kind == "random"]


def by_name(effects, sigmas, **options):
    return {pooled.model.name: pooled for pooled in pool_models(effects, sigmas, **options).pooled}


def test_three_studies_pooled_by_hand():
    # weights 1, 4, 4: mean (1 + 8 + 18)/9 = 3, residuals -2, -1, 1.5
    fixed = pool_effects([1, 2, 4.5], [1, 0.5, 0.5], model="fixed")
    assert float(fixed.effect) == pytest.approx(27 / 9)
    assert float(fixed.se) == pytest.approx(1 / 3)
    q = 1 * 2**2 + 4 * 1**2 + 4 * 1.5**2
    assert float(fixed.q) == pytest.approx(q)
    assert float(fixed.i2) == pytest.approx((q - 2) / q)
    assert fixed.weights.tolist() == pytest.approx([1 / 9, 4 / 9, 4 / 9])
    laird = pool_effects(
        [1, 2, 4.5], [1, 0.5, 0.5], tau2="dersimonian-laird", interval="normal", level=0.9
    )
    tau2 = (q - 2) / (9 - (1 + 16 + 16) / 9)
    assert float(laird.tau2) == pytest.approx(tau2)
    w = 1 / (np.array([1, 0.25, 0.25]) + tau2)
    mean, se = (w @ [1, 2, 4.5]) / w.sum(), w.sum() ** -0.5
    assert float(laird.low) == pytest.approx(mean - 1.6448536 * se)
    # a further study: t with k - 2 = 1 degree of freedom, 6.3138 at 90%
    assert float(laird.predicted_high) == pytest.approx(mean + 6.313752 * math.hypot(se, tau2**0.5))


def test_stouffer_has_the_one_sided_test_of_the_paper_with_the_two_sided():
    pooled = pool_effects([0.2, -0.1, 0.4], [0.1, 0.1, 0.2], model="stouffer")
    # z = (2 - 1 + 2)/√3 = √3
    assert float(pooled.p_greater) == pytest.approx(1 - stats.norm.cdf(math.sqrt(3)))
    assert float(pooled.p) == pytest.approx(2 * (1 - stats.norm.cdf(math.sqrt(3))))
    assert math.isnan(pooled.effect)
    assert pooled.weights.tolist() == pytest.approx([1 / 3] * 3)


def test_equal_sigmas_give_one_tau2_and_the_t_interval_of_the_mean():
    effects = np.array([0.3, 0.1, 0.2, 0.5])
    pooled = by_name(effects, np.full(4, 0.1))
    for name in RANDOM:
        assert float(pooled[name].tau2) == pytest.approx(effects.var(ddof=1) - 0.01)
    low, high = stats.t.interval(0.95, 3, effects.mean(), effects.std(ddof=1) / 2)
    for name in RANDOM[1::2]:
        assert (float(pooled[name].low), float(pooled[name].high)) == pytest.approx((low, high))


@pytest.mark.parametrize("seed", [None, *range(5)])
def test_reml_has_the_highest_restricted_likelihood_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    sigma, y = np.exp(rng.normal(0, 1.2, 5)), rng.normal(0, 1.5, 5)
    if seed is None:  # two peaks: a lower one at 0, the higher at 11.79
        y, sigma = np.array([-0.2, -0.7, -8.3, 3.0]), np.array([0.23, 1.07, 2.86, 2.0])

    def likelihood(tau2):
        w = 1 / (sigma**2 + tau2)
        residuals = y - (w @ y) / w.sum()
        return -0.5 * (np.log(sigma**2 + tau2).sum() + np.log(w.sum()) + w @ residuals**2)

    found = float(pool_effects(y, sigma, tau2="reml").tau2)
    grid = np.concatenate([[0.0], np.geomspace(1e-5, 1e4, 4000)])
    assert likelihood(found) >= max(map(likelihood, grid)) - 1e-12


def test_paule_mandel_makes_q_equal_its_degrees_of_freedom():
    y, sigma = np.array([0.0, 0.1, 5.0, -7.0]), np.array([1e-3, 0.1, 1.0, 0.2])
    pooled = pool_effects(y, sigma, tau2="paule-mandel", interval="normal")
    w = 1 / (sigma**2 + float(pooled.tau2))
    assert w @ (y - (w @ y) / w.sum()) ** 2 == pytest.approx(3, rel=1e-10)


def test_studies_that_agree_have_no_variance_between_them():
    pooled = by_name([0.1, 0.11, 0.09], [0.1, 0.2, 0.1])
    for name in RANDOM:
        assert float(pooled[name].tau2) == 0
        assert float(pooled[name].i2) == 0
        assert float(pooled[name].effect) == pytest.approx(float(pooled["fixed"].effect))


def test_huge_heterogeneity_gives_the_plain_mean():
    effects = np.array([-1e6, 1e6, 3e6])
    pooled = by_name(effects, [1e-3, 1.0, 1e2])
    for name in RANDOM[2:]:
        assert float(pooled[name].effect) == pytest.approx(1e6)
        assert float(pooled[name].tau2) == pytest.approx(effects.var(ddof=1), rel=1e-6)


def test_one_study_has_no_random_effects():
    with pytest.warns(DegenerateSampleWarning, match="need 2 studies"):
        pooled = by_name([0.3], [0.1])
    assert float(pooled["fixed"].low) == pytest.approx(0.3 - 1.959964 * 0.1)
    assert float(pooled["reml"].effect) == pytest.approx(0.3)
    assert np.isnan([pooled[name].low for name in RANDOM]).all()


def test_two_studies_have_a_hartung_knapp_interval_but_no_prediction():
    pooled = pool_effects([0.3, 0.1], [0.1, 0.1])
    # t with 1 degree of freedom: 12.7062
    assert float(pooled.high) == pytest.approx(0.2 + 12.706205 * 0.1)
    assert math.isnan(pooled.predicted_low)


@pytest.mark.parametrize("effects", [[0.3, 0.3, 0.3], [3e4, 3e4, 3e4 + 1e-9]])
def test_equal_effects_have_no_hartung_knapp_interval(effects):
    with pytest.warns(DegenerateSampleWarning, match="all effects are equal"):
        pooled = pool_effects(effects, [0.1, 0.2, 0.1])
    assert math.isnan(pooled.low)
    assert math.isnan(pooled.p)


def test_studies_without_sigma_are_left_out_and_named():
    effects = [[0.1, 0.5], [0.2, 0.4], [0.3, np.nan], [0.4, 0.1]]
    sigmas = [[0.1, 0.1], [0.0, 0.2], [np.nan, np.nan], [0.1, 0.1]]
    groups = [Group("AP", "x", "y"), Group("AP", "z", "y")]
    with pytest.warns(InputWarning, match=r"t2 \(AP, x against y\), t3 \(AP, x against y\)$"):
        pooled = pool_effects(effects, sigmas, studies=["t1", "t2", "t3", "t4"], groups=groups)
    assert pooled.count.tolist() == [2, 3]
    assert float(pooled.effect[0]) == pytest.approx(0.25)
    assert pooled.weights[:, 0].tolist() == pytest.approx([0.5, 0, 0, 0.5])
    assert [r["study"] for r in pooled.study_records()] == ["t1", "t4", "t1", "t2", "t4"]


def test_a_column_is_pooled_as_it_is_alone():
    rng = np.random.default_rng(3)
    effects, sigmas = rng.normal(size=(7, 3)), rng.uniform(0.2, 2, (7, 3))
    effects[2, 1] = sigmas[2, 1] = np.nan
    together = pool_models(effects, sigmas)
    for name, pooled in by_name(effects[:, 1], sigmas[:, 1]).items():
        wide = next(p for p in together.pooled if p.model.name == name)
        for field in ("effect", "low", "high", "p", "q", "i2", "tau2", "predicted_low"):
            assert getattr(wide, field)[1] == pytest.approx(
                float(getattr(pooled, field)), rel=1e-9, nan_ok=True
            )


@pytest.mark.parametrize(
    ("effects", "sigmas", "message"),
    [
        ([np.inf, 0.1], [0.1, 0.1], "study 1: the effect is inf"),
        ([0.2, 0.1], [0.1, -0.1], "study 2: the sigma is -0.1"),
        ([0.2, 0.1], [0.1, np.inf], "study 2: the sigma is inf"),
        ([0.2, 0.1], [0.1], "shape"),
        ([], [], "shape"),
        ([0.2], [0.0], "no study has an effect"),
        (["x"], [0.1], "expected an array of numbers"),
    ],
)
def test_impossible_effects_are_an_error(effects, sigmas, message):
    with pytest.raises(InvalidValueError, match=message):
        pool_effects(effects, sigmas)


def test_options_that_do_not_fit_are_an_error():
    with pytest.raises(UnsupportedMethodError, match="model 'fixed'"):
        pool_effects([1, 2], [1, 1], model="fixed", tau2="reml")
    with pytest.raises(UnsupportedMethodError, match="model 'stouffer'"):
        pool_effects([1, 2], [1, 1], model="stouffer", interval="hartung-knapp")
    for options in ({"model": "rondom"}, {"tau2": "dl"}, {"interval": "t"}):
        with pytest.raises(UnknownNameError):
            pool_effects([1, 2], [1, 1], **options)
    with pytest.raises(InvalidValueError, match="1 names of studies"):
        pool_effects([1, 2], [1, 1], studies=["a"])


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_taken_by_the_name_that_results_print(name):
    effects, sigmas = [0.1, 0.4, 0.2, 0.9], [0.1, 0.2, 0.1, 0.3]
    found = pool_effects(effects, sigmas, model=name)
    (expected,) = pool_models(effects, sigmas, models=[name]).pooled
    assert found.model.name == name
    np.testing.assert_array_equal([found.low, found.p], [expected.low, expected.p])


def test_a_named_model_takes_no_other_estimator_or_interval():
    with pytest.raises(
        UnsupportedMethodError, match="implies its estimator of τ² and its interval"
    ):
        pool_effects([1, 2], [1, 1], model="reml", interval="hartung-knapp")


def test_intervals_of_heterogeneous_studies_cover():
    rng = np.random.default_rng(5)
    studies, trials, tau2 = 12, 4000, 2.0
    sigmas = rng.uniform(0.7, 1.4, (studies, trials))
    effects = 0.5 + rng.normal(0, math.sqrt(tau2), (studies, trials)) + rng.normal(0, sigmas)
    further = 0.5 + rng.normal(0, math.sqrt(tau2), trials)
    pooled = by_name(effects, sigmas)

    def coverage(result):
        return ((result.low <= 0.5) & (result.high >= 0.5)).mean()

    error = 4 * math.sqrt(0.95 * 0.05 / trials)
    for name in RANDOM:
        hit = (pooled[name].predicted_low <= further) & (pooled[name].predicted_high >= further)
        assert pooled[name].tau2.mean() == pytest.approx(tau2, abs=0.1)
        # the quantile of Higgins 2009 is an approximation, a little short with 12 studies
        assert 0.9 < hit.mean() < 0.96
    for name in RANDOM[1::2]:
        assert coverage(pooled[name]) == pytest.approx(0.95, abs=error)
    assert coverage(pooled["fixed"]) < 0.8


def test_sentences_tell_effect_interval_and_heterogeneity():
    groups = [Group("AP", "x", "y"), Group("AP", "z", "y")]
    effects = np.array([[0.9, 0.101], [0.1, 0.1], [0.5, 0.1]])
    pooled = pool_effects(effects, np.full((3, 2), 0.1), groups=groups, family="none")
    apart, close = pooled_sentences(pooled)
    assert apart.startswith("AP, x against y: pooled effect +0.5000, 95% interval [-0.4937")
    assert "not significantly different from 0, over 3 studies" in apart
    assert "; significant heterogeneity between the studies (I² 94%, p < .001 by Q)" in apart
    assert "significantly above 0" in close
    assert "narrower than the normal interval [-0.0128, +0.2135]" in close
    assert "no significant heterogeneity between the studies" in close


def test_of_many_groups_the_table_shows_one_model():
    columns = MOST_IN_FULL + 1
    rng = np.random.default_rng(1)
    groups = [Group("AP", f"run{place}") for place in range(columns)]
    models = pool_models(rng.normal(size=(4, columns)), np.ones((4, columns)), groups=groups)
    assert len(pooled_table(models).rows) == columns
    assert "only paule-mandel+hartung-knapp is shown" in to_text(pooled_table(models))
    assert len(models.to_records()) == columns * len(MODELS)


def test_records_hold_the_fields_of_the_design():
    pooled = pool_effects([0.1, 0.2], [0.1, 0.1], groups=[Group("AP", "x", "y")])
    (record,) = pooled.to_records()
    fields = "measure run baseline model effect low high p q i2 tau2"
    assert " ".join(list(record)[:11]) == fields
    assert pooled.to_dict()["model"] == ["paule-mandel+hartung-knapp"]
    assert pooled.to_frame("pandas")["effect"][0] == pytest.approx(0.15)
    assert "0.1500 [" in repr(pooled)
    assert "paule-mandel" in pooled._repr_html_()


def test_the_forest_plot_has_a_row_for_every_study_and_model():
    models = pool_models([0.1, 0.2, 0.6], [0.1, 0.1, 0.1], studies=["a", "b", "c"])
    (rows,) = chart(models).to_dict()["datasets"].values()
    assert [row["row"] for row in rows if row["kind"] == "study"] == ["a", "b", "c"]
    # all models but Stouffer, which has no effect
    assert sum(row["kind"] == "pooled" for row in rows) == len(MODELS) - 1
    assert sum(row["kind"] == "further study" for row in rows) == len(RANDOM)


def test_of_many_groups_the_chart_shows_pooled_effects_alone():
    groups = [Group("AP", f"run{place}") for place in range(MOST_IN_FULL + 1)]
    effects = np.random.default_rng(1).normal(size=(4, len(groups)))
    pooled = pool_effects(effects, np.ones(effects.shape), groups=groups)
    (values,) = chart(pooled).to_dict()["datasets"].values()
    assert [row["name"] for row in values] == [group.run for group in groups]
    with pytest.raises(UnsupportedMethodError, match="no pooled effect"):
        chart(pool_effects(effects, np.ones(effects.shape), groups=groups, model="stouffer"))


def test_a_strong_negative_effect_is_significant_by_every_model():
    for name, pooled in by_name(np.array([-0.8, -1.0, -1.2, -0.9]), np.full(4, 0.1)).items():
        assert float(pooled.p) < 0.01, name
        assert float(pooled.p_greater) > 0.99, name
        assert pooled.to_records()[0]["p_greater"] == float(pooled.p_greater)


def test_one_sided_p_values_of_a_fixed_effect_are_normal_tails():
    for effect in (-0.3, 0.0, 0.2):
        fixed = pool_effects([effect] * 4, [0.2] * 4, model="fixed")
        z = effect / 0.1
        assert float(fixed.p_greater) == pytest.approx(stats.norm.sf(z))
        assert float(fixed.p) == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_stouffer_says_in_which_direction_it_is_significant():
    for effect, direction in ((-1.0, "below 0"), (1.0, "above 0")):
        pooled = pool_effects([effect, effect * 2], [0.1, 0.1], model="stouffer")
        (sentence,) = pooled_sentences(pooled)
        assert sentence.startswith(f"effect {direction}, p < .001, over 2 studies by stouffer")
        (row,) = pooled_table(pool_models([effect, effect], [0.1, 0.1], models=["stouffer"])).rows
        assert [cell.text for cell in row][:3] == ["stouffer", direction, "<0.0001"]
