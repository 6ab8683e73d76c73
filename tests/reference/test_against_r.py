"""Statistics against R: values that the scripts in validation/ wrote, so that no test needs R.

`make references` regenerates them. What does not agree, and why, is in validation/README.md.
"""

from __future__ import annotations

import json
import runpy
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.scores import Scores
from confir.intervals.method_list import METHODS
from confir.pairs.power import Criterion
from confir.resampling.kinds import as_topic_sample
from confir.studies.meta_analysis.meta_analysis import pool_effects

FOLDER = Path(__file__).parents[2] / "validation"
MODELS = {
    "DL": ("dersimonian-laird", "normal"),
    "DL+knha": ("dersimonian-laird", "hartung-knapp"),
    "PM": ("paule-mandel", "normal"),
    "PM+knha": ("paule-mandel", "hartung-knapp"),
    "REML": ("reml", "normal"),
    "REML+knha": ("reml", "hartung-knapp"),
}


@cache
def reference(name):
    """Return the cases that an R script wrote."""
    return json.loads((FOLDER / "reference_values" / f"{name}.json").read_text())["cases"]


POOLED = sorted(reference("metafor"))


@cache
def sample_scores(measure):
    """Return the sample collection's scores by a measure, as R read them."""
    return confir.read_scores(FOLDER / "inputs" / f"sample_{measure}.csv", measure=measure)


def make_scores(values, runs=None):
    """Return scores by AP, topics × runs."""
    values = np.asarray(values, float)
    topics = tuple(f"{place:03}" for place in range(len(values)))
    runs = tuple(runs or (f"r{place}" for place in range(values.shape[1])))
    return Scores(topics, runs, ("AP",), values[:, :, None])


def test_each_script_has_its_values_and_each_value_a_test():
    scripts = {path.stem for path in FOLDER.glob("*.R")} - {"write_reference"}
    by_python = {"ranx", "beir", "nuggetizer", "ntcireval"}
    values = {path.stem for path in (FOLDER / "reference_values").glob("*.json")} - by_python
    here = Path(__file__).read_text(encoding="utf-8")
    assert scripts == values
    assert [name for name in sorted(values) if f'reference("{name}")' not in here] == []


def test_scores_that_r_read_are_those_of_the_sample_collection():
    script = runpy.run_path(str(FOLDER / "sample_scores.py"))
    for measure, text in script["sample_tables"]().items():
        stored = (script["INPUTS"] / f"sample_{measure}.csv").read_text(encoding="utf-8")
        assert stored == text


def test_all_data_sets_of_metadat_are_pooled():
    assert len(POOLED) == 83 + 2  # in metadat 1.2.0, and two by formula
    assert {"bcg", "raudenbush1985", "egger2001", "scattered", "alike"} <= set(POOLED)


@pytest.mark.parametrize("name", POOLED)
def test_random_effects_against_metafor(name):
    case = reference("metafor")[name]
    for theirs, (tau2, interval) in MODELS.items():
        expected = case["models"][theirs]
        sigmas = np.sqrt(case["variances"])
        found = pool_effects(case["effects"], sigmas, tau2=tau2, interval=interval)
        for field in ("tau2", "effect", "se", "low", "high", "p", "q", "q_p"):
            ours = float(getattr(found, field))
            assert ours == pytest.approx(expected[field], rel=1e-6, abs=1e-9), (theirs, field)


@pytest.mark.parametrize("name", POOLED)
def test_fixed_effect_against_metafor(name):
    case = reference("metafor")[name]
    found = pool_effects(case["effects"], np.sqrt(case["variances"]), model="fixed")
    for field, expected in case["models"]["fixed"].items():
        assert float(getattr(found, field)) == pytest.approx(expected, rel=1e-9, abs=1e-12), field


@pytest.mark.parametrize("name", POOLED)
def test_prediction_intervals_have_another_quantile_than_metafors(name):
    """Ours: t with k - 2, and the standard error without Hartung-Knapp; metafor's: z, or t with k - 1."""
    case = reference("metafor")[name]
    studies, sigmas = len(case["effects"]), np.sqrt(case["variances"])
    for theirs, (tau2, interval) in MODELS.items():
        expected = case["models"][theirs]
        found = pool_effects(case["effects"], sigmas, tau2=tau2, interval=interval)
        knapp = interval == "hartung-knapp"
        quantile = stats.t.ppf(0.975, studies - 1) if knapp else stats.norm.ppf(0.975)
        own = np.hypot(np.sqrt(expected["tau2"]), expected["se"])
        assert expected["predicted_high"] - expected["effect"] == pytest.approx(quantile * own)
        plain = case["models"][theirs.removesuffix("+knha")]
        half = stats.t.ppf(0.975, studies - 2) * np.hypot(np.sqrt(plain["tau2"]), plain["se"])
        assert float(found.predicted_high - found.effect) == pytest.approx(half, rel=1e-6)


def test_variance_components_against_lme4():
    cases = reference("lme4")
    for scores, case in (
        (sample_scores("AP"), cases["sample"]),
        (make_scores(cases["small"]["scores"]), cases["small"]),
    ):
        found = confir.decompose_scores(scores)
        expected = [case["components"][name] for name in ("system", "topic", "Residual")]
        np.testing.assert_allclose(found.variance, expected, rtol=2e-6)


def test_variance_components_with_repeats_against_lme4():
    case = reference("lme4")["repeats"]
    systems, repeats, _ = case["shape"]
    values = np.array(case["scores"]).reshape(systems * repeats, -1).T
    runs = [f"s{system}@{repeat}" for system in range(systems) for repeat in range(repeats)]
    found = confir.decompose_scores(make_scores(values, runs), repeats=True)
    names = {"systems": "system", "topics": "topic", "systems × topics": "system:topic"}
    names |= {"repeats": "system:repeats", found.sources[-1]: "Residual"}
    expected = [case["components"][names[source]] for source in found.sources]
    np.testing.assert_allclose(found.variance, expected, rtol=2e-5)


@pytest.mark.parametrize("name", reference("survey"))
def test_means_and_standard_errors_against_survey(name):
    """Shares of strata are known here: svymean agrees where no weight or cluster differs in size."""
    case = reference("survey")[name]
    scores = make_scores(np.array(case["scores"])[:, None])
    columns = {key: list(map(str, case[key])) for key in ("cluster", "stratum") if key in case}
    table = {"topic": scores.topics, "weight": case["weight"], **columns}
    found = as_topic_sample(scores.with_design(table)).distribution(slice(None), None)
    assert found.estimate[0] == pytest.approx(case["mean"], rel=1e-12)
    known = case.get("se_known_shares", case["se"])
    assert found.se[0] == pytest.approx(known, rel=1e-10)
    assert found.se[0] == pytest.approx(case["se"], rel=0.07)
    if "stratum" not in case:
        assert found.df[0] == case["df"]


@pytest.mark.parametrize("measure", ["P@10", "AP"])
def test_signed_rank_and_sign_tests_against_coin(measure):
    """Differences of P@10 that are equal are ties, although some differ in the last bit."""
    found = confir.compare_runs(
        sample_scores(measure), test=["wilcoxon", "sign"], family="none", replicates=99, rng=1
    )
    places = {pair: place for place, pair in enumerate(found.pairs)}
    cases = [case for case in reference("coin").values() if case["measure"] == measure]
    assert len(cases) == len(places) == 28
    for case in cases:
        place = places[case["first"], case["second"]]
        for test, name in enumerate(found.tests):
            assert found.p[test, place, 0] == pytest.approx(case[name], rel=1e-9), case


def test_ties_of_equal_differences_are_broken_by_scipy_and_r():
    case = reference("coin")["P@10 bm25 dense"]
    scores = sample_scores("P@10").select(run=["bm25", "dense"]).values[:, :, 0]
    assert case["wilcoxon"] == pytest.approx(0.5484, abs=5e-5)
    assert stats.wilcoxon(scores[:, 1] - scores[:, 0]).pvalue == pytest.approx(0.3205, abs=5e-5)
    assert case["wilcox_test"] == pytest.approx(0.32, abs=0.01)


def test_reliability_and_its_exact_limits_against_psych():
    cases = reference("psych")
    for scores, case in (
        (sample_scores("AP"), cases["sample"]),
        (make_scores(cases["small"]["scores"]), cases["small"]),
    ):
        topics = [len(scores.topics)]
        found = confir.decompose_scores(scores, topics=topics, level=case["level"])
        for field in ("relative", "relative_low", "relative_high", "absolute"):
            ours = float(getattr(found, field)[0, 0])
            assert ours == pytest.approx(case[field], abs=1e-9), field


@pytest.mark.parametrize("judges", [reference("psych")["judges"], reference("vcd")["judges"]])
def test_kappa_against_psych_and_vcd(judges):
    sides = [{"1": {f"d{d}": g for d, g in enumerate(judges[s])}} for s in ("first", "second")]
    for side in sides:  # intervals need a second topic, which counts in κ as well
        side["2"] = dict(side["1"])
    found = confir.measure_agreement(dict(zip("ab", sides, strict=True)), replicates=9, rng=1)
    assert found.kappa[0] == pytest.approx(judges["kappa"], abs=1e-12)
    assert found.weighted_kappa[0] == pytest.approx(judges["weighted_kappa"], abs=1e-12)


def test_power_and_topics_against_pwr():
    for case in reference("pwr").values():
        sd, effect = np.ones(1), case["effect"]
        if "needed" in case:
            enough = [
                Criterion(0.95).power_function(sd, np.array([n]))(effect)[0]
                for n in needed_around(case)
            ]
            assert enough[0] < 0.8 <= enough[1]
        else:
            power = Criterion(case["level"]).power_function(sd, np.array([case["topics"]]))(effect)
            assert power[0] == pytest.approx(case["power"], abs=1e-5)


def needed_around(case):
    """Return the number of topics just too few, and the number that pwr gives."""
    return case["needed"] - 1, case["needed"]


def test_t_tests_and_corrections_against_base_r():
    case = reference("stats")["pairs"]
    names = {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "bh"}
    for correction, theirs in names.items():
        found = confir.compare_runs(
            sample_scores("AP"), test="t", correction=correction, replicates=99, rng=1
        )
        pairs = list(zip(case["first"], case["second"], strict=True))
        places = [found.pairs.index(pair) for pair in pairs]
        assert pairs == list(combinations(sample_scores("AP").runs, 2))
        np.testing.assert_allclose(found.p[0, places, 0], case["p"], rtol=1e-9)
        np.testing.assert_allclose(found.p_adjusted[0, places, 0], case[theirs], rtol=1e-9)
        for field in ("difference", "low", "high"):
            ours = getattr(found, field)[places, 0]
            np.testing.assert_allclose(ours, case[field], rtol=1e-9, atol=1e-12)


def test_bootstrap_means_and_acceleration_against_boot():
    """boot.ci interpolates between order statistics on the normal scale: limits differ by little."""
    case = reference("boot")["mean"]
    scores = make_scores(np.array(case["scores"])[:, None])
    counts = np.array([row.split() for row in case["counts"]], float)
    found = as_topic_sample(scores).distribution(
        slice(None), counts / counts.shape[1], ("replicates", "acceleration")
    )
    np.testing.assert_allclose(found.replicates[:, 0], case["replicates"], rtol=1e-12)
    assert found.acceleration[0] == pytest.approx(case["acceleration"], rel=1e-6)
    gap = np.diff(np.sort(case["replicates"])).max()
    for method in ("percentile", "bca"):
        low, high = METHODS[method].compute(found, case["level"])
        assert (low[0], high[0]) == pytest.approx(tuple(case[method]), abs=gap)
