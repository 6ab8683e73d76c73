"""Means over repeats against plain loops, a mixed model and simulations with known truth."""

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicMismatchError
from confir.resampling.kinds import as_sample
from confir.resampling.repeat_sample import RepeatSample

TOPICS = 12


def made(values, names=None):
    """Scores of topics × systems × repeats."""
    topics, systems, repeats = values.shape
    runs = names or [f"s{s}@{r}" for s in range(systems) for r in range(repeats)]
    labels = tuple(f"t{place:03}" for place in range(topics))
    return Scores(labels, tuple(runs), ("NumRet",), values.reshape(topics, -1, 1))


def simulated(rng, systems, repeats, spread, topics=TOPICS):
    base = rng.normal(0, 0.2, (topics, 1, 1)) + rng.normal(0, 0.1, (topics, systems, 1))
    effect = rng.normal(0, spread, (1, systems, repeats))
    return base + effect + rng.normal(0, 0.1, (topics, systems, repeats))


def plain_variance(values):
    """s²(topic means)/T + σ_b²/K by loops: topics × repeats."""
    topics, repeats = values.shape
    by_topic = [sum(row) / repeats for row in values.tolist()]
    by_repeat = [sum(column) / topics for column in values.T.tolist()]
    grand = sum(by_topic) / topics
    residual = sum(
        (values[t, r] - by_topic[t] - by_repeat[r] + grand) ** 2
        for t in range(topics)
        for r in range(repeats)
    ) / ((topics - 1) * (repeats - 1))
    of_repeats = sum((one - grand) ** 2 for one in by_repeat) / (repeats - 1)
    effect = max(0.0, of_repeats - residual / topics)
    over_topics = sum((one - grand) ** 2 for one in by_topic) / (topics - 1) / topics
    return over_topics, effect / repeats


def test_standard_errors_are_those_of_loops():
    values = simulated(np.random.default_rng(1), 3, 4, 0.1)
    found = as_sample(made(values).with_repeats()).distribution(slice(None), None, ("se",))
    usual = sum(plain_variance(values[:, system])[1] for system in range(3)) / 3
    for system in range(3):
        parts = plain_variance(values[:, system])
        assert found.se[system] ** 2 == pytest.approx(sum(parts), rel=1e-12)
        df = min(
            (parts[0] + part) ** 2 / (parts[0] ** 2 / (TOPICS - 1) + part**2 / 3)
            for part in (parts[1], usual)
        )
        assert found.df[system] == pytest.approx(df, rel=1e-12)
        assert found.estimate[system] == pytest.approx(values[:, system].mean(), rel=1e-12)


def test_standard_errors_by_several_measures_are_those_of_loops():
    rng = np.random.default_rng(2)
    values = [simulated(rng, 3, 4, spread) for spread in (0.1, 0.2)]
    one, other = (made(each) for each in values)
    both = np.concatenate([one.values, other.values], axis=2)
    scores = Scores(one.topics, one.runs, ("NumRet", "NumRel"), both).with_repeats()
    found = as_sample(scores).distribution(slice(None), None, ("se",)).require("se")
    for (system, measure), se in np.ndenumerate(found.reshape(3, 2)):
        assert se**2 == pytest.approx(sum(plain_variance(values[measure][:, system])), rel=1e-12)


def test_a_difference_has_the_repeats_of_both_systems_and_the_topics_of_their_means():
    values = simulated(np.random.default_rng(2), 2, 3, 0.1)
    compared = confir.compare_runs(made(values).with_repeats(), baseline="s0")
    means = values.mean(axis=2)
    over_topics = stats.tstd(means[:, 1] - means[:, 0]) ** 2 / TOPICS
    parts = sum(plain_variance(values[:, system])[1] for system in range(2))
    assert compared.se[0, 0] ** 2 == pytest.approx(over_topics + parts, rel=1e-12)


def test_variances_of_differences_rest_on_as_many_units_as_topics_and_repeats_give():
    """1/n = (1 - s)²/T + s²/K, s the repeats' share of the mean variance over all pairs, by loops."""
    values = simulated(np.random.default_rng(5), 4, 3, 0.1)
    sample = as_sample(made(values).with_repeats())
    means = values.mean(axis=2)
    pairs = [(one, other) for one in range(4) for other in range(one)]
    of_topics = np.mean(
        [stats.tstd(means[:, one] - means[:, other]) ** 2 / TOPICS for one, other in pairs]
    )
    own = [plain_variance(values[:, system])[1] for system in range(4)]
    of_repeats = np.mean([own[one] + own[other] for one, other in pairs])
    share = of_repeats / (of_topics + of_repeats)
    expected = 1.0 / ((1.0 - share) ** 2 / TOPICS + share**2 / 3)
    assert 3 < expected < TOPICS
    contrast = sample.contrast(np.array([1, 2]), np.array([0, 3]))
    np.testing.assert_allclose(contrast.unit_counts(np.array([TOPICS] * 2)), expected, rtol=1e-12)
    np.testing.assert_allclose(sample.unit_counts(np.array([TOPICS])), expected, rtol=1e-12)


def test_expected_mean_squares_against_statsmodels():
    """σ_b² is the repeats' component of a two-way analysis of variance."""
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    values = simulated(np.random.default_rng(3), 1, 5, 0.2)[:, 0]
    long = pd.DataFrame(
        [(t, r, values[t, r]) for t in range(TOPICS) for r in range(5)],
        columns=["topic", "repeat", "x"],
    )
    table = anova_lm(ols("x ~ C(topic) + C(repeat)", long).fit())
    squares = table["mean_sq"]
    component = (squares["C(repeat)"] - squares["Residual"]) / TOPICS
    sample = as_sample(made(values[:, None]).with_repeats())
    assert sample.fixed_variance()[0] == pytest.approx(component / 5, rel=1e-9)


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_drawn_variances_of_repeats_are_those_of_chi_squares_cut_at_0(spread):
    sample = as_sample(made(simulated(np.random.default_rng(9), 2, 4, spread)).with_repeats())
    assert isinstance(sample, RepeatSample)
    drawn = sample.draw(20_000, np.random.default_rng(1)).parts
    for system, (part, residual) in enumerate(
        zip(sample.repeat_variance(), sample.residual_variance(), strict=True)
    ):
        scaled = stats.gamma(3 / 2, scale=2 * (part + residual) / 3)  # (σ_b² + MS_e/T)/K · χ²/3
        expected = scaled.expect(lambda x, least=residual: x - least, lb=residual)
        assert drawn[:, system].mean() == pytest.approx(expected, rel=0.05)
        assert np.mean(drawn[:, system] == 0) == pytest.approx(scaled.cdf(residual), abs=0.015)


@pytest.mark.parametrize(
    "names",
    [
        ["bm25@1", "bm25@2", "dense@1", "dense@2"],
        ["bm25_seed1", "bm25_seed2", "dense_seed13", "dense_seed42"],
        ["bm25-s1", "bm25-s2", "dense-s1", "dense-s2"],
        ["bm25.run1", "bm25.run2", "dense.run1", "dense.run2"],
    ],
)
def test_names_of_repeats_are_found(names):
    values = np.random.default_rng(4).random((TOPICS, 2, 2))
    assert made(values, names).with_repeats().runs == ("bm25", "dense")


def test_a_pattern_names_repeats():
    values = np.random.default_rng(4).random((TOPICS, 2, 2))
    names = ["a-v1", "a-v2", "b-v1", "b-v2"]
    assert made(values, names).with_repeats("{system}-v{repeat}").runs == ("a", "b")
    with pytest.raises(InvalidValueError, match="run 'a-v1' names no repeat; expected names such"):
        made(values, names).with_repeats()
    for pattern in ("{system}", "v{repeat}-{system}", "", "{system}{system}{repeat}"):
        with pytest.raises(InvalidValueError, match="the pattern of repeats is"):
            made(values, names).with_repeats(pattern)


def test_one_repeat_and_missing_scores_are_refused():
    values = np.random.default_rng(5).random((TOPICS, 2, 2))
    with pytest.raises(InvalidValueError, match="there is one repeat of b"):
        made(values, ["a@1", "a@2", "b@1", "c@1"]).with_repeats()
    values[0, 0, 0] = np.nan
    with pytest.raises(TopicMismatchError, match="a score is missing"):
        made(values).with_repeats()


def test_systems_may_have_different_numbers_of_repeats():
    values = simulated(np.random.default_rng(6), 2, 3, 0.1)
    runs = ["a@1", "a@2", "a@3", "b@1", "b@2", "c@1"]
    scores = made(values, runs).select(run=runs[:5]).with_repeats()
    assert scores.repeat_counts.tolist() == [3, 2]
    found = as_sample(scores).distribution(slice(None), None, ("se",))
    parts = plain_variance(values[:, 1, :2])
    assert found.se[1] ** 2 == pytest.approx(sum(parts), rel=1e-12)


def test_repeats_that_differ_count_where_all_topics_show_one_difference():
    flat = np.tile(np.linspace(0.2, 0.6, TOPICS)[:, None, None], (1, 2, 2))
    flat[:, 1, 0] += 0.05
    flat[:, 1, 1] += 0.15
    found = confir.compare_runs(made(flat).with_repeats(), baseline="s0")
    assert found.difference[0, 0] == pytest.approx(0.1)
    assert found.se[0, 0] == pytest.approx(np.sqrt(0.005 / 2))
    assert found.df[0, 0] == pytest.approx(1.0)
    assert found.verdict[0, 0, 0] == "inconclusive"


def test_more_topics_do_not_make_up_for_few_repeats():
    rng = np.random.default_rng(7)
    scores = made(simulated(rng, 2, 3, 0.3, topics=40)).with_repeats()
    plan = confir.plan_topics(scores, half_width=0.05)
    assert np.isnan(plan.topics).all()
    wide = confir.plan_topics(scores, half_width=1.5)
    assert np.isfinite(wide.topics).all()


@pytest.mark.slow
@pytest.mark.parametrize(("repeats", "spread", "most"), [(3, 0.05, 0.09), (5, 0.15, 0.08)])
def test_intervals_cover_and_families_err_rarely_where_repeats_vary(repeats, spread, most):
    rng = np.random.default_rng(8)
    covered, wrong, samples = 0.0, 0, 300
    for _ in range(samples):
        scores = made(simulated(rng, 5, repeats, spread, topics=25)).with_repeats()
        interval = confir.confidence_interval(scores)
        covered += np.mean((interval.low <= 0) & (interval.high >= 0))
        wrong += (confir.compare_runs(scores, rng=1, replicates=299).p_adjusted <= 0.05).any()
    assert covered / samples == pytest.approx(0.95, abs=0.025)
    assert wrong / samples <= most


def test_differences_are_not_contrasted_again():
    values = np.random.default_rng(1).random((9, 6, 1))
    names = tuple(f"{system}@{repeat}" for system in "abc" for repeat in (1, 2))
    sample = as_sample(
        Scores(tuple(map(str, range(9))), names, ("AP",), values).with_repeats()
    ).contrast(np.array([1, 2]), np.array([0, 1]))
    with pytest.raises(InvalidValueError, match="differences already"):
        sample.contrast(np.array([1]), np.array([0]))


@pytest.mark.parametrize("seed", range(12))
def test_twice_the_repeats_lower_the_standard_error_by_a_root_of_two_at_most(seed):
    """The residual is estimated apart from the topics' variance, of which it is a part, and may exceed it."""
    rng = np.random.default_rng(seed)
    cells = rng.normal(0.5, 0.1, (8, 3))
    scores = {f"a@{repeat}": cells[:, repeat].tolist() for repeat in range(3)}
    found = confir.summarise_repeats(scores)
    ratio = (found.se_twice_repeats / found.se).item()
    assert np.sqrt(0.5) - 1e-12 <= ratio <= 1.0 + 1e-12
