"""Variance components and repeats, against analyses of variance made by other routes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.scores import Scores
from confir.errors import (
    DegenerateSampleWarning,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
)
from confir.studies.components.analysis import MeanSquares, absolute_limits, relative_limits
from requirements import required

TOPICS = tuple(f"{place:02}" for place in range(12))


def make_scores(values, runs):
    """Return scores by AP: topics × runs."""
    topics = tuple(f"{place:03}" for place in range(len(values)))
    return Scores(topics, tuple(runs), ("AP",), np.asarray(values, float)[:, :, None])


def simulate(seed, systems=6, topics=12, levels=1, *, nested=False):
    """Return systems × levels × topics from known components."""
    rng = np.random.default_rng(seed)
    s = rng.normal(0, 0.3, (systems, 1, 1))
    t = rng.normal(0, 0.4, (1, 1, topics))
    r = rng.normal(0, 0.2, (systems if nested else 1, levels, 1))
    st = rng.normal(0, 0.25, (systems, 1, topics))
    return 2 + s + t + r + st + rng.normal(0, 0.1, (systems, levels, topics))


def anova(cube, formula):
    """Return the mean squares of statsmodels, by effect."""
    pandas = required("pandas")
    smf = required("statsmodels.formula.api")
    from statsmodels.stats.anova import anova_lm

    index = np.indices(cube.shape).reshape(3, -1)
    frame = pandas.DataFrame(
        {"x": cube.reshape(-1), "s": index[0], "r": index[1], "t": index[2]}
    ).astype({"s": str, "r": str, "t": str})
    table = anova_lm(smf.ols(formula, frame).fit())
    return table["sum_sq"] / table["df"], table["df"]


def test_systems_and_topics_against_statsmodels():
    cube = simulate(1)
    squares, df = anova(cube, "x ~ s + t")
    scores = make_scores(cube[:, 0].T, "abcdef")
    found = confir.decompose_scores(scores, topics=[12, 50])
    e = squares["Residual"]
    expected = [(squares["s"] - e) / 12, (squares["t"] - e) / 6, e]
    np.testing.assert_allclose(found.variance, expected, rtol=1e-9)
    np.testing.assert_allclose(found.df, [df["s"], df["t"], df["Residual"]])
    s, t, e = expected
    np.testing.assert_allclose(found.relative[:, 0], [s / (s + e / n) for n in (12, 50)], rtol=1e-9)
    np.testing.assert_allclose(
        found.absolute[:, 0], [s / (s + (t + e) / n) for n in (12, 50)], rtol=1e-9
    )


# Brennan (2001), Generalizability Theory, Table 3.2, synthetic data set 4 as persons × items (p. 182):
# one row per item, one column per person. gt4ireval ships it, and tests itself by the same numbers.
SYNTHETIC_4 = """
    5 9 3 7 9 3 7 5 9 4   6 3 4 5 2 4 3 8 9 4   5 7 3 5 9 3 7 5 8 4   5 7 3 3 7 5 7 7 8 3
    5 7 5 3 7 3 7 7 6 3   3 5 3 1 7 3 5 5 6 5   4 5 3 4 3 6 5 5 6 6   5 5 5 3 7 3 7 4 5 5
    6 7 6 5 2 4 5 3 5 5   7 7 5 3 7 5 5 2 8 7   3 5 1 3 5 1 5 1 1 1   3 2 6 5 3 2 4 1 1 1
"""


def test_components_and_limits_against_brennan2001():
    values = np.array(SYNTHETIC_4.split(), float).reshape(12, 10)
    found = confir.decompose_scores(make_scores(values, "abcdefghij"), topics=[12], level=0.8)
    np.testing.assert_allclose(found.variance, [0.6258, 0.8840, 2.7872], atol=5e-5)  # Table 6.2
    relative = (found.relative, found.relative_low, found.relative_high)
    absolute = (found.absolute, found.absolute_low, found.absolute_high)
    np.testing.assert_allclose(np.ravel(relative), [0.729, 0.541, 0.876], atol=5e-4)  # Table 6.5
    np.testing.assert_allclose(np.ravel(absolute), [0.672, 0.457, 0.845], atol=5e-4)
    again = confir.decompose_scores(
        make_scores(values, "abcdefghij"), topics=[12], level=0.8, rng=77
    )
    assert (again.absolute_low, again.absolute_high) == absolute[1:]  # no seed


def test_limits_of_differences_are_those_of_the_f_distribution():
    """Feldt 1965: MS_s/MS_e over its expectation has an F distribution."""
    cube = simulate(2, systems=15, topics=30)
    scores = make_scores(cube[:, 0].T, [f"r{n}" for n in range(15)])
    found = confir.decompose_scores(scores, topics=[30])
    squares, df = anova(cube, "x ~ s + t")
    ratio = squares["s"] / squares["Residual"]
    quantiles = stats.f.ppf([0.975, 0.025], df["s"], df["Residual"])
    limits = 1 - quantiles / ratio
    assert found.relative_low[0, 0] == pytest.approx(limits[0], abs=1e-12)
    assert found.relative_high[0, 0] == pytest.approx(limits[1], abs=1e-12)


def test_limits_of_differences_need_no_seed():
    scores = make_scores(simulate(2)[:, 0].T, "abcdef")
    one, other = (confir.decompose_scores(scores, rng=seed) for seed in (1, 2))
    np.testing.assert_array_equal(one.relative_low, other.relative_low)
    np.testing.assert_array_equal(one.relative_high, other.relative_high)


def test_limits_of_differences_contain_the_true_reliability_of_other_numbers_of_topics():
    """5,000 tables of 5 systems × 6 topics, σ_s = 1, σ_e = 2: each limit misses in 5% of them."""
    rng = np.random.default_rng(3)
    values = rng.normal(0, 1, (5000, 5, 1)) + rng.normal(0, 2, (5000, 5, 6))
    apart = values - values.mean(axis=1, keepdims=True) - values.mean(axis=2, keepdims=True)
    residual = np.square(apart + values.mean(axis=(1, 2), keepdims=True)).sum(axis=(1, 2)) / 20
    ratio = 6 * values.mean(axis=2).var(axis=1, ddof=1) / residual
    low, high = relative_limits(ratio, (4, 20), 6, np.array([50]), 0.9)
    truth = 1 / (1 + 4 / 50)
    assert np.mean(low > truth) == pytest.approx(0.05, abs=0.012)
    assert np.mean(high < truth) == pytest.approx(0.05, abs=0.012)


def test_differences_without_error_are_reliable_and_those_without_a_difference_are_not():
    steps = make_scores(np.array([[0.25, 0.5], [0.25, 0.5], [0.25, 0.5]]), "ab")
    with pytest.warns(DegenerateSampleWarning, match="no interval of Eρ² and Φ of AP: .* the same"):
        found = confir.decompose_scores(steps)
    assert (found.relative == 1).all()
    for kind in ("relative", "absolute"):
        assert np.isnan(getattr(found, f"{kind}_low")).all()
        assert np.isnan(getattr(found, f"{kind}_high")).all()
    crossed = make_scores(np.array([[0.25, 0.5], [0.5, 0.25]]), "ab")
    assert (confir.decompose_scores(crossed).relative_high == 0).all()


def test_systems_that_are_alike_have_no_reliability():
    values = np.random.default_rng(1).random(12)
    with pytest.warns(DegenerateSampleWarning, match="of AP: all systems have the same scores"):
        found = confir.decompose_scores(make_scores(np.stack([values, values], axis=1), "ab"))
    for record in found.coefficient_records():
        assert np.isnan([record["relative"], record["absolute"], record["absolute_high"]]).all()
    with pytest.warns(DegenerateSampleWarning, match="no interval of Eρ² of AP"):
        found = confir.decompose_scores(make_scores(np.stack([values, values + 0.1], axis=1), "ab"))
    assert (found.relative == 1).all()
    assert np.isnan(found.relative_high).all()
    assert (found.absolute_low < found.absolute_high).all()


def test_judges_against_statsmodels():
    cube = simulate(3, levels=3)
    squares, _ = anova(cube, "x ~ s + t + r + s:t + s:r + t:r + s:t:r - s:t:r")
    parts = [make_scores(cube[:, level].T, "abcdef") for level in range(3)]
    found = confir.decompose_scores(parts[0], judges={"j2": parts[1], "j3": parts[2]})
    e = squares["Residual"]
    st, sr, tr = squares["s:t"], squares["s:r"], squares["t:r"]
    expected = {
        "systems": (squares["s"] - st - sr + e) / 36,
        "topics": (squares["t"] - st - tr + e) / 18,
        "judges": (squares["r"] - sr - tr + e) / 72,
        "systems × topics": (st - e) / 3,
        "systems × judges": (sr - e) / 12,
        "topics × judges": (tr - e) / 6,
        "residual": e,
    }
    for name, variance in zip(found.sources, found.variance, strict=True):
        assert variance == pytest.approx(max(0.0, expected[name]), abs=1e-10), name
    assert (found.facets, found.levels) == (("judges",), (3,))
    assert {"topics", "judges"} <= set(found.coefficient_records()[0])


def test_levels_without_judges_and_repeats_are_refused():
    scores = make_scores(simulate(1)[:, 0].T, "abcdef")
    with pytest.raises(
        InvalidValueError, match="levels requires scores of several judges or repeats"
    ):
        confir.decompose_scores(scores, levels=7)


def test_repeats_are_nested_in_systems():
    cube = simulate(4, levels=4, nested=True)
    squares, _ = anova(cube, "x ~ s + t + s:t + s:r + s:t:r - s:t:r")
    runs = [f"{name}@{level}" for name in "abcdef" for level in range(4)]
    found = confir.decompose_scores(make_scores(cube.reshape(24, 12).T, runs), repeats=True)
    e, st, nested = squares["Residual"], squares["s:t"], squares["s:r"]
    expected = [
        (squares["s"] - st - nested + e) / 48,
        (squares["t"] - st) / 24,
        (st - e) / 4,
        (nested - e) / 12,
        e,
    ]
    np.testing.assert_allclose(found.variance, np.maximum(0, expected), atol=1e-10)
    assert found.sources[3] == "repeats"


def test_judges_and_repeats_together_by_hand():
    """Repeats nested in systems, crossed with topics and judges: sums of squares add up."""
    rng = np.random.default_rng(9)
    sizes = {"s": 5, "t": 8, "j": 3, "r": 2}
    x = rng.normal(0, 1, tuple(sizes.values()))
    x += 3 * rng.normal(0, 1, (5, 1, 1, 1)) + rng.normal(0, 1, (5, 1, 1, 2))
    runs = [f"{name}@{repeat}" for name in "abcde" for repeat in (1, 2)]
    parts = [make_scores(x[:, :, j].transpose(1, 0, 2).reshape(8, 10), runs) for j in range(3)]
    found = confir.decompose_scores(
        parts[0], repeats=True, judges={"j2": parts[1], "j3": parts[2]}, topics=[8]
    )

    def mean(*axes):
        return x.mean(axis=axes, keepdims=True)

    squares = {
        "repeats": 24 * ((mean(1, 2) - mean(1, 2, 3)) ** 2).sum() / 5,
        "topics × repeats": 3
        * ((mean(2) - mean(1, 2) - mean(2, 3) + mean(1, 2, 3)) ** 2).sum()
        / 35,
        "judges × repeats": 8
        * ((mean(1) - mean(1, 2) - mean(1, 3) + mean(1, 2, 3)) ** 2).sum()
        / 10,
        "residual": (
            (x - mean(1) - mean(2) - mean(3) + mean(1, 2) + mean(1, 3) + mean(2, 3) - mean(1, 2, 3))
            ** 2
        ).sum()
        / 70,
    }
    e, tr, jr = squares["residual"], squares["topics × repeats"], squares["judges × repeats"]
    expected = {
        "repeats": (squares["repeats"] - tr - jr + e) / 24,
        "topics × repeats": (tr - e) / 3,
        "judges × repeats": (jr - e) / 8,
        "residual": e,
    }
    component = dict(zip(found.sources, found.variance, strict=True))
    for name, variance in expected.items():
        assert component[name] == pytest.approx(max(0.0, variance), abs=1e-12), name
    assert found.df.sum() == x.size - 1
    assert len(found.sources) == 11
    assert [record["judges"] for record in found.coefficient_records()] == [3, 3, 6, 6]
    error = sum(
        component[source] / divisor
        for source, divisor in {
            "systems × topics": 8,
            "systems × judges": 3,
            "systems × topics × judges": 24,
            "repeats": 2,
            "topics × repeats": 16,
            "judges × repeats": 6,
            "residual": 48,
        }.items()
    )
    systems = component["systems"]
    assert found.relative[0, 0] == pytest.approx(systems / (systems + error), abs=1e-12)


@pytest.mark.slow
def test_components_are_unbiased_in_simulation():
    found = [
        confir.decompose_scores(
            make_scores(simulate(seed, systems=20, topics=40)[:, 0].T, map(str, range(20)))
        ).variance
        for seed in range(40)
    ]
    # topics, systems, and the sum of interaction, level and error
    np.testing.assert_allclose(np.mean(found, axis=0), [0.09 + 0.0, 0.16, 0.0725], rtol=0.15)


def test_reliability_grows_with_topics_and_stays_within_limits():
    scores = make_scores(simulate(5)[:, 0].T, "abcdef")
    found = confir.decompose_scores(scores, topics=[5, 10, 20, 40])
    for low, value, high in (
        (found.relative_low, found.relative, found.relative_high),
        (found.absolute_low, found.absolute, found.absolute_high),
    ):
        assert (np.diff(value[:, 0]) > 0).all()
        assert ((low <= value) & (value <= high)).all()
    assert (found.absolute <= found.relative).all()


def test_incomplete_topics_are_left_out_with_a_warning():
    values = simulate(6)[:, 0].T
    holes = values.copy()
    holes[0, 0] = np.nan
    with pytest.warns(TopicWarning, match="11 topics with all scores, of 12"):
        found = confir.decompose_scores(make_scores(holes, "abcdef"))
    expected = confir.decompose_scores(make_scores(values[1:], "abcdef"))
    np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-12)


def test_constant_and_bad_scores():
    with pytest.warns(DegenerateSampleWarning):
        found = confir.decompose_scores(make_scores(np.full((5, 3), 0.5), "abc"))
    assert found.variance.tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(found.share).all()
    with pytest.raises(TopicMismatchError, match="with all scores; there are 1 and 5"):
        confir.decompose_scores(make_scores(np.ones((5, 1)), "a"))
    scores = make_scores(np.ones((5, 2)), ["a@1", "a@2"])
    with pytest.raises(TopicMismatchError, match="with all scores; there are 1 and 5"):
        confir.decompose_scores(scores, repeats=True, judges={"x": scores})
    with pytest.raises(InvalidValueError, match="names no repeat"):
        confir.decompose_scores(make_scores(np.ones((5, 2)), "ab"), repeats=True)
    with pytest.raises(InvalidValueError, match="there is one repeat of"):
        confir.summarise_repeats(make_scores(np.ones((5, 2)), ["a@1", "b@1"]))
    uneven = ["a@1", "a@2", "b@1", "b@2", "b@3"]
    with pytest.raises(InvalidValueError, match="2 to 3 repeats"):
        confir.decompose_scores(
            make_scores(np.random.default_rng(1).random((5, 5)), uneven), repeats=True
        )


def of_any_size(values, runs):
    """Scores by a measure that may leave [0, 1], whose intervals are by t."""
    return replace(make_scores(values, runs), measures=("NumRet",))


def test_repeat_means_by_the_formula():
    cube = simulate(7, systems=2, levels=4, nested=True)
    runs = [f"{name}@{level}" for name in ("<script>", "constructor") for level in range(4)]
    found = confir.summarise_repeats(of_any_size(cube.reshape(8, 12).T, runs))
    x = cube[1]
    rest = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + x.mean()
    error = (rest**2).sum() / (11 * 3)
    sigma = max(0.0, x.mean(axis=1).var(ddof=1) - error / 12)
    of_topics = x.mean(axis=0).var(ddof=1) / 12
    assert found.mean[1, 0] == pytest.approx(x.mean())
    assert found.se_topics[1, 0] == pytest.approx(np.sqrt(of_topics))
    assert found.se_repeats[1, 0] == pytest.approx(np.sqrt(sigma / 4))
    assert found.se[1, 0] == pytest.approx(np.sqrt(of_topics + sigma / 4))
    twice = np.sqrt(of_topics - error / 4 / 12 / 2 + sigma / 8)
    assert found.se_twice_repeats[1, 0] == pytest.approx(twice)
    assert "more topics" in found.sentence(1, 0)


@pytest.mark.filterwarnings("ignore:a few of the clusters")
def test_repeat_means_by_a_design():
    """Topics' part: CR1 of the repeats' mean; σ_b²: less the mean variance of deviations from it."""
    cube = simulate(8, systems=2, levels=3, nested=True)
    runs = [f"{name}@{level}" for name in "ab" for level in range(3)]
    cluster, weight = np.arange(12) // 2, np.arange(1.0, 13.0)
    scores = of_any_size(cube.reshape(6, 12).T, runs)
    columns = {"topic": scores.topics, "cluster": [f"c{c}" for c in cluster], "weight": weight}
    found = confir.summarise_repeats(scores.with_design(columns))

    def variance(x):
        apart = weight * (x - np.average(x, weights=weight))
        sums = np.array([apart[cluster == c].sum() for c in range(6)])
        return 6 / 5 * np.square(sums).sum() / weight.sum() ** 2

    x = cube[1]  # repeats × topics
    residual = sum(variance(row - x.mean(axis=0)) for row in x) / 2
    sigma = max(0.0, np.average(x, axis=1, weights=weight).var(ddof=1) - residual)
    of_topics = variance(x.mean(axis=0))
    assert found.mean[1, 0] == pytest.approx(np.average(x.mean(axis=0), weights=weight))
    assert found.se_topics[1, 0] == pytest.approx(np.sqrt(of_topics), abs=1e-12)
    assert found.se_repeats[1, 0] == pytest.approx(np.sqrt(sigma / 3), abs=1e-12)
    spread = (of_topics + sigma / 3) ** 2 / (of_topics**2 / 5 + (sigma / 3) ** 2 / 2)
    assert found.df[1, 0] == pytest.approx(spread)
    trivial = scores.with_design({"topic": scores.topics, "cluster": scores.topics})
    plain = confir.summarise_repeats(scores)
    np.testing.assert_array_equal(confir.summarise_repeats(trivial).low, plain.low)


def test_equal_repeats_add_nothing():
    values = np.repeat(np.random.default_rng(1).random((20, 2)), 3, axis=1)
    runs = [f"{name}@{level}" for name in "ab" for level in range(3)]
    found = confir.summarise_repeats(of_any_size(values, runs))
    plain = confir.confidence_interval(of_any_size(values[:, ::3], "ab"), method="t")
    assert np.abs(found.se_repeats).max() == 0
    np.testing.assert_allclose(found.low, plain.low, rtol=1e-12)
    against = confir.summarise_repeats(of_any_size(values, runs), baseline="a")
    paired = confir.compare_runs(of_any_size(values[:, ::3], "ab"), baseline="a", rng=1)
    assert against.low[0, 0] == pytest.approx(paired.low[0, 0], abs=1e-12)


def test_intervals_over_repeats_cover_the_true_mean():
    truth, held = 0.0, 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        x = rng.normal(0, 0.2, 30)[:, None] + rng.normal(0, 0.05, 5) + rng.normal(0, 0.1, (30, 5))
        found = confir.summarise_repeats(of_any_size(x, [f"a@{k}" for k in range(5)]))
        held += found.low[0, 0] <= truth <= found.high[0, 0]
    assert 0.91 <= held / 400 <= 0.985


def test_missing_scores_and_one_topic_are_refused():
    runs = ["a@1", "a@2"]
    with pytest.raises(TopicMismatchError, match="a score is missing"):
        confir.summarise_repeats(make_scores([[0.1, np.nan], [0.2, 0.3]], runs))
    with pytest.raises(InvalidValueError, match="one topic"):
        confir.summarise_repeats(make_scores([[0.1, 0.2]], runs))


def test_a_column_of_repeats_names_the_runs(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("run,repeat,topic,AP\na,1,1,0.5\na,2,1,0.6\na,1,2,0.1\na,2,2,0.2\n")
    scores = confir.read_scores(path)
    assert scores.runs == ("a@1", "a@2")
    assert confir.summarise_repeats(scores).mean[0, 0] == pytest.approx(0.35)


def test_the_chart_of_components_is_a_valid_picture():
    """A logarithmic axis leaves labels empty, which are elements of their own kind in SVG."""
    required("altair")
    from xml.etree import ElementTree as ET

    from confir.report.chart_files import chart_bytes
    from confir.report.result_chart import specification

    scores = make_scores(simulate(1)[:, 0].T, "abcdef")
    drawn = specification(confir.decompose_scores(scores, topics=[10, 1000]))
    picture = ET.fromstring(chart_bytes(drawn, ".svg"))  # noqa: S314 - our own picture
    texts = [element for element in picture.iter() if element.tag.endswith("}text")]
    assert any(not element.text for element in texts)
    assert {element.text for element in texts} >= {"topics", "10"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("systems", "topics", "variance"),
    [(10, 12, (0.63, 0.88, 2.8)), (8, 50, (0.006, 0.04, 0.01)), (42, 53, (0.01, 0.03, 0.02))],
)
def test_limits_of_scores_miss_as_often_as_claimed(systems, topics, variance):
    """Mean squares of normal effects are χ²: 90% intervals of Φ, 1,500 samples, error ±.008."""
    of_systems, of_topics, rest = variance
    df = np.array([systems - 1.0, topics - 1.0, (systems - 1.0) * (topics - 1.0)])
    expected = np.array([topics * of_systems + rest, systems * of_topics + rest, rest])
    truth = of_systems / (of_systems + (of_topics + rest) / topics)
    drawn = expected * np.random.default_rng(1).chisquare(df, (1_500, 3)) / df
    missed = 0
    for squares in drawn:
        found = MeanSquares(squares, df, np.empty((0, 0)))
        (low,), (high,) = absolute_limits(found, systems, topics, np.array([topics]), 0.9)
        missed += not low <= truth <= high
    assert 0.07 <= missed / len(drawn) <= 0.12
