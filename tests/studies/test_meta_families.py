"""Families of pooled effects: Bonferroni by hand, and sentences that agree with the interval."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chart_labels import records_of
from confir.data.effect_files import Group
from confir.errors import DegenerateSampleWarning, InvalidValueError, UnknownNameError
from confir.report.result_chart import specification
from confir.studies.meta_analysis.meta_analysis import pool_effects, pool_models
from confir.studies.meta_analysis.models import MODELS
from confir.studies.meta_analysis.table import (
    MOST_IN_FULL,
    effect_sign,
    pooled_sentences,
    pooled_table,
    shown_limits,
)
from strategies import at_most

STUDIES = 5


def against(count, measures=("AP",), baseline="base"):
    return [Group(measure, f"run{r}", baseline) for measure in measures for r in range(count)]


def effects_of(groups, seed=0, shift=0.3):
    rng = np.random.default_rng(seed)
    shape = STUDIES, len(groups)
    return rng.normal(shift, 0.4, shape), rng.uniform(0.1, 0.4, shape)


def test_runs_against_one_baseline_have_bonferroni_limits_and_p_values():
    groups = against(3)
    for pooled in pool_models(*effects_of(groups), groups=groups, level=0.9).pooled:
        assert pooled.family == "baseline"
        assert pooled.tested.tolist() == [3, 3, 3]
        by_t = pooled.model.interval == "hartung-knapp"
        law = stats.t(STUDIES - 1) if by_t else stats.norm()
        reach = law.ppf(1 - 0.1 / (2 * 3)) * pooled.se
        assert pooled.p_adjusted == pytest.approx(np.minimum(1, 3 * pooled.p))
        if pooled.model.kind != "stouffer":
            assert pooled.simultaneous_low == pytest.approx(pooled.effect - reach)
            assert pooled.simultaneous_high == pytest.approx(pooled.effect + reach)
            assert (pooled.simultaneous_low < pooled.low).all()


def test_three_runs_worked_by_hand():
    # fixed effect of two studies: z = 0.5, -0.6, 0.1 over √(1/2)·0.2 = 0.141421
    effects = [[0.4, -0.5, 0.0], [0.6, -0.7, 0.2]]
    pooled = pool_effects(effects, np.full((2, 3), 0.2), model="fixed", groups=against(3))
    # z at 1 - 0.05/6: 2.393980
    assert pooled.simultaneous_low == pytest.approx(np.array([0.5, -0.6, 0.1]) - 0.338560, abs=1e-6)
    assert pooled.p_adjusted[2] == 1.0
    assert pooled.p_adjusted[0] == pytest.approx(3 * 2 * stats.norm.sf(0.5 / 0.02**0.5))


def test_measures_and_collections_are_families_of_their_own():
    groups = [*against(3), *against(2, ["RR"]), Group("AP", "run0", "base", "web")]
    pooled = pool_effects(*effects_of(groups), groups=groups)
    assert pooled.tested.tolist() == [3, 3, 3, 2, 2, 1]
    factor = np.array([3, 3, 3, 2, 2, 1])
    assert pooled.p_adjusted == pytest.approx(np.minimum(1, factor * pooled.p))
    # alone in its family: exactly its own
    assert pooled.simultaneous_low[5] == pooled.low[5]
    assert pooled.p_adjusted[5] == pooled.p[5]
    note = pooled_table(pool_models(*effects_of(groups), groups=groups)).note
    assert "simultaneous 95% interval, at most 3 pairs with base, bold" in note
    sentences = pooled_sentences(pooled)
    assert all("simultaneous 95% interval" in sentence for sentence in sentences[:5])
    assert "simultaneous" not in sentences[5]


def test_one_group_has_the_numbers_that_it_had():
    effects, sigmas = effects_of(against(1))
    for family in (None, "none", "baseline", "all-pairs"):
        pooled = pool_effects(effects, sigmas, groups=against(1), family=family)
        assert pooled.family == (family or "none")
        assert pooled.p_adjusted[0] == pooled.p[0]
        assert shown_limits(pooled.to_records()[0]) == (pooled.low[0], pooled.high[0])
        assert "simultaneous" not in pooled_sentences(pooled)[0]
    record = pool_effects([0.1, 0.2], [0.1, 0.1]).to_records()[0]
    assert record["family"] == "none"
    assert math.isnan(record["simultaneous_low"])


def test_what_is_pooled_decides_the_family():
    pairs = [Group("AP", "b", "a"), Group("AP", "c", "a"), Group("AP", "c", "b")]
    scores = [Group("AP", "a"), Group("AP", "b")]
    for groups, family in (
        (against(2), "baseline"),
        (against(1, ["AP", "RR"]), "none"),
        (pairs, "none"),
        (scores, "none"),
        ([*against(2), *against(2, ["RR"], "other")], "baseline"),
        ([*against(2), *pairs], "none"),
    ):
        assert pool_effects(*effects_of(groups), groups=groups).family == family
    pooled = pool_effects(*effects_of(pairs), groups=pairs, family="all-pairs")
    assert pooled.p_adjusted == pytest.approx(np.minimum(1, 3 * pooled.p))
    (models,) = (pool_models(*effects_of(pairs), groups=pairs, family="all-pairs"),)
    assert "simultaneous 95% interval, all 3 pairs, bold" in pooled_table(models).note


@pytest.mark.parametrize(
    ("groups", "family", "error", "message"),
    [
        (against(2), "all-pairs", InvalidValueError, "pooled against base; expected .* baseline"),
        (
            [Group("AP", "b", "a"), Group("AP", "c", "b")],
            "baseline",
            InvalidValueError,
            "pooled against a, b; expected the family all-pairs",
        ),
        ([Group("AP", "a"), Group("AP", "b")], "baseline", InvalidValueError, "no baseline"),
        (against(2), "best", UnknownNameError, "unknown family 'best'"),
    ],
)
def test_families_that_do_not_fit_are_an_error(groups, family, error, message):
    with pytest.raises(error, match=message):
        pool_effects(*effects_of(groups), groups=groups, family=family)


def test_effects_without_an_interval_are_not_in_the_family():
    effects, sigmas = effects_of(against(3))
    effects[:, 1] = 0.2
    with pytest.warns(DegenerateSampleWarning, match="all effects are equal"):
        pooled = pool_effects(effects, sigmas, groups=against(3))
    assert pooled.tested.tolist() == [2, 2, 2]
    assert np.isnan(pooled.simultaneous_low).tolist() == [False, True, False]
    assert pooled.p_adjusted[[0, 2]] == pytest.approx(np.minimum(1, 2 * pooled.p[[0, 2]]))
    assert "no interval" in pooled_sentences(pooled)[1]


@settings(max_examples=at_most(40))
@given(
    seed=st.integers(0, 10**6),
    runs=st.integers(1, 6),
    shift=st.sampled_from([0.0, 0.2, 0.4, -0.5, 1.0]),
    family=st.sampled_from([None, "none"]),
    level=st.sampled_from([0.5, 0.9, 0.95, 0.99]),
)
def test_words_interval_and_p_value_never_contradict(seed, runs, shift, family, level):
    groups = against(runs, ["AP", "RR"])
    models = pool_models(
        *effects_of(groups, seed, shift), groups=groups, family=family, level=level
    )
    assert models.main.family == ("baseline" if runs > 1 and family is None else "none")
    for pooled in models.pooled:
        if pooled.model.kind == "stouffer":
            continue
        sentences = pooled_sentences(pooled)
        for record, sentence in zip(pooled.to_records(), sentences, strict=True):
            low, high = shown_limits(record)
            excludes = low > 0 or high < 0
            assert excludes == (record["p_adjusted"] <= 1 - level)
            assert excludes == (effect_sign(record) != 0)
            words = "above" if low > 0 else "below"
            assert (f"significantly {words} 0" in sentence) == excludes
            assert ("not significantly different from 0" in sentence) != excludes
            # a family can only take verdicts away
            assert record["p_adjusted"] >= record["p"]


def test_a_family_takes_back_what_is_significant_alone():
    # z = 2.1 alone: p 0.0357, for two runs 0.0715
    groups = against(2)
    effects, sigmas = np.full((4, 2), 0.21), np.full((4, 2), 0.2)
    alone = pool_effects(effects, sigmas, model="fixed", groups=groups, family="none")
    together = pool_effects(effects, sigmas, model="fixed", groups=groups)
    assert [effect_sign(record) for record in alone.to_records()] == [1, 1]
    assert [effect_sign(record) for record in together.to_records()] == [0, 0]
    assert "95% interval [+0.0140, +0.4060]: significantly above 0" in pooled_sentences(alone)[0]
    expected = "simultaneous 95% interval [-0.0141, +0.4341]: not significantly different from 0"
    assert expected in pooled_sentences(together)[0]


def test_the_table_shows_the_family_or_that_there_is_none():
    groups = against(2)
    together = pooled_table(pool_models(*effects_of(groups), groups=groups))
    assert together.columns[5:7] == ("p", "adj. p")
    assert "simultaneous 95% interval, 2 pairs with base, bold" in together.note
    assert "adj. p by Bonferroni's bound" in together.note
    alone = pooled_table(pool_models(*effects_of(groups), groups=groups, family="none"))
    assert "adj. p" not in alone.columns
    assert "95% interval (of each effect alone), bold" in alone.note
    record = pool_effects(*effects_of(groups), groups=groups).to_records()[1]
    assert f"{record['simultaneous_low']:+.4f}" in together.rows[2 * len(MODELS) - 3][4].text


def test_stouffer_has_an_adjusted_p_value():
    groups = against(2)
    pooled = pool_effects(
        [[0.2, 0.1], [0.3, 0.1]], np.full((2, 2), 0.2), model="stouffer", groups=groups
    )
    z = np.array([2.5, 1.0]) / math.sqrt(2)
    assert pooled.p_adjusted == pytest.approx(np.minimum(1, 4 * stats.norm.sf(z)))
    assert pooled_sentences(pooled)[0].startswith(
        "AP, run0 against base: effect above 0, adjusted p = .15"
    )


@pytest.mark.parametrize("runs", [2, MOST_IN_FULL + 1])
def test_charts_show_the_intervals_that_hold_together(runs):
    groups = against(runs)
    pooled = pool_effects(*effects_of(groups), groups=groups)
    drawing = specification(pooled)
    rows = records_of(drawing)
    shown = [row["low"] for row in rows if row.get("kind", "pooled") == "pooled"]
    assert sorted(shown) == pytest.approx(sorted(pooled.simultaneous_low))
    assert "simultaneous 95% interval" in str(drawing)


def test_a_selected_run_keeps_the_interval_of_its_family():
    groups = against(3)
    pooled = pool_effects(*effects_of(groups), groups=groups)
    one = pooled.select(run="run1")
    assert one.tested.tolist() == [3]
    assert one.simultaneous_low[0] == pooled.simultaneous_low[1]
    assert pooled_sentences(one)[0] == pooled_sentences(pooled)[1]


def test_families_hold_at_their_level_in_simulation():
    # 8 runs share a baseline whose error is in all differences; no true effect
    rng = np.random.default_rng(11)
    trials, studies, runs = 1500, 8, 8
    base = rng.normal(size=(studies, trials, 1))
    effects = rng.normal(size=(studies, trials, runs)) - base
    groups = [Group(f"m{trial}", f"run{r}", "base") for trial in range(trials) for r in range(runs)]
    pooled = pool_effects(
        effects.reshape(studies, -1), np.full((studies, trials * runs), 2**0.5), groups=groups
    )
    low, high = pooled.simultaneous_low.reshape(trials, runs), pooled.simultaneous_high
    missed = (low > 0) | (high.reshape(trials, runs) < 0)
    alone = (pooled.p <= 0.05).reshape(trials, runs)
    assert alone.any(axis=1).mean() > 0.15
    # Bonferroni's bound holds, and is not far off
    assert 0.02 < missed.any(axis=1).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)
