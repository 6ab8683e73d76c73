"""The bootstrap over topics against drawing topics one by one."""

import re
from itertools import product

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import confir
from confir.arguments import MOST_REPLICATES, check_replicates
from confir.data.scores import Scores
from confir.errors import FormatError, InvalidValueError, UnknownNameError
from confir.resampling import replicates as weights_module
from confir.resampling.kinds import as_topic_sample
from confir.resampling.replicates import draw_topics, resampled_means
from confir.resampling.statistics import STATISTICS
from confir.resampling.topic_bootstrap import bootstrap_topics

TOPICS, REPLICATES, SEED = 12, 150, 11
COMPARING = [name for name, statistic in STATISTICS.items() if statistic.compares]

# Each statistic as a function of topic weights that sum to 1 and of two runs' scores.
PLAIN = {
    "mean": lambda w, x, _: w @ x,
    "geometric-mean": lambda w, x, _: np.exp(w @ np.log(np.maximum(x, 1e-5))),
    "logit-mean": lambda w, x, _: w @ plain_logit(np.clip(x, 1e-6, 1 - 1e-6)),
    "difference": lambda w, x, y: w @ (x - y),
    "ratio": lambda w, x, y: (w @ x) / (w @ y),
    "logit-difference": lambda w, x, y: plain_logit(w @ x) - plain_logit(w @ y),
}


def plain_logit(p):
    return np.log(p / (1 - p))


def scores_of(values):
    topics, runs, measures = values.shape
    return Scores(
        tuple(f"{t:03}" for t in range(topics)),
        tuple("abcdefgh"[:runs]),
        ("AP", "P@10", "RR")[:measures],
        values,
    )


@pytest.fixture(scope="module")
def complete():
    values = np.random.default_rng(4).beta(0.8, 1.5, (TOPICS, 3, 2))
    values[:4, 1, 1] = 0.0
    values[5, 1, 1] = 1.0
    return scores_of(values)


@pytest.fixture(scope="module")
def gappy(complete):
    """One column keeps two scores, so that some replicates draw none of them."""
    values = complete.values.copy()
    values[2:, 1, 0] = np.nan
    values[[0, 3, 7], 2, 1] = np.nan
    values[[5, 7], 0, 1] = np.nan
    return scores_of(values)


def options(statistic):
    return {"statistic": statistic} | ({"baseline": "c"} if statistic in COMPARING else {})


def pairs(scores, statistic):
    """The scores of each column, and those of the baseline; topics without both left out."""
    runs = scores.runs[:2] if statistic in COMPARING else scores.runs
    for r, m in product(range(len(runs)), range(len(scores.measures))):
        x = scores.values[:, r, m]
        y = scores.values[:, scores.runs.index("c"), m] if statistic in COMPARING else x
        yield x, y, ~np.isnan(x) & ~np.isnan(y)


def influence(function, w, x, y):
    """Numeric derivative of a statistic towards each topic."""
    step = 1e-6
    towards = np.eye(len(w)) - w
    up = [function(w + step * d, x, y) for d in towards]
    down = [function(w - step * d, x, y) for d in towards]
    return (np.array(up) - np.array(down)) / (2 * step)


def test_weights_count_the_draws_of_the_generator():
    weights = draw_topics(7, 50, np.random.default_rng(3)).shares()
    drawn = np.random.default_rng(3).integers(0, 7, (50, 7))
    counts = [[(row == topic).sum() for topic in range(7)] for row in drawn]
    np.testing.assert_allclose(weights * 7, counts, rtol=0, atol=1e-14)


def test_weights_are_multinomial():
    n, replicates = 10, 40_000
    counts = draw_topics(n, replicates, np.random.default_rng(8)).shares() * n
    np.testing.assert_allclose(counts.sum(axis=1), n, rtol=0, atol=1e-12)
    covariance = np.cov(counts.T)
    expected = np.eye(n) - 1 / n
    # The fourth moment of a count is below 5: five Monte-Carlo errors.
    assert np.abs(counts.mean(axis=0) - 1).max() < 5 / np.sqrt(replicates)
    assert np.abs(covariance - expected).max() < 5 * np.sqrt(5 / replicates)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("table", ["complete", "gappy"])
def test_replicates_are_the_statistic_of_topics_drawn_one_by_one(statistic, table, request):
    scores = request.getfixturevalue(table)
    found = bootstrap_topics(scores, replicates=REPLICATES, rng=SEED, **options(statistic))
    drawn = np.random.default_rng(SEED).integers(0, TOPICS, (REPLICATES, TOPICS))
    for column, (x, y, present) in enumerate(pairs(scores, statistic)):
        expected = []
        for row in drawn:
            kept = row[present[row]]
            even = np.full(len(kept), 1 / max(len(kept), 1))
            expected.append(PLAIN[statistic](even, x[kept], y[kept]) if len(kept) else np.nan)
        np.testing.assert_allclose(found.replicates[:, column], expected, rtol=0, atol=1e-12)
        assert found.dropped[column] == np.isnan(expected).sum()
        assert found.count[column] == present.sum()
        assert found.df[column] == present.sum() - 1
    assert found.dropped.any() == (table == "gappy")


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("table", ["complete", "gappy"])
def test_estimate_se_and_acceleration_agree_with_numeric_influence(statistic, table, request):
    scores = request.getfixturevalue(table)
    found = bootstrap_topics(scores, replicates=1, rng=SEED, **options(statistic))
    for column, (x, y, present) in enumerate(pairs(scores, statistic)):
        n = present.sum()
        even = np.full(n, 1 / n)
        values = influence(PLAIN[statistic], even, x[present], y[present])
        squares = (values**2).sum()
        assert found.estimate[column] == pytest.approx(
            PLAIN[statistic](even, x[present], y[present]), abs=1e-12
        )
        assert found.se[column] == pytest.approx(np.sqrt(squares / n / (n - 1)), rel=1e-6)
        assert found.acceleration[column] == pytest.approx(
            (values**3).sum() / 6 / squares**1.5, rel=1e-5, abs=1e-8
        )


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("table", ["complete", "gappy"])
def test_replicate_se_agrees_with_numeric_influence_on_each_replicate(statistic, table, request):
    scores = request.getfixturevalue(table)
    found = bootstrap_topics(scores, replicates=30, rng=SEED, **options(statistic))
    weights = draw_topics(TOPICS, 30, np.random.default_rng(SEED)).shares()
    for column, (x, y, present) in enumerate(pairs(scores, statistic)):
        for replicate, row in enumerate(weights):
            drawn = np.rint(row[present].sum() * TOPICS)
            if drawn == 0:
                assert np.isnan(found.replicate_se[replicate, column])
                continue
            w = row[present] / row[present].sum()
            values = influence(PLAIN[statistic], w, x[present], y[present])
            expected = np.sqrt((w @ values**2) / max(drawn - 1, 1))
            assert found.replicate_se[replicate, column] == pytest.approx(
                expected, rel=1e-6, abs=1e-8
            )


def test_se_of_a_mean_is_that_of_the_explicit_jackknife(complete):
    found = bootstrap_topics(complete, replicates=1, rng=SEED)
    for column, (x, _, _) in enumerate(pairs(complete, "mean")):
        without = np.array([np.delete(x, i).mean() for i in range(TOPICS)])
        expected = np.sqrt((TOPICS - 1) / TOPICS * ((without - without.mean()) ** 2).sum())
        assert found.se[column] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("table", ["complete", "gappy"])
def test_replicate_moments_are_those_of_the_drawn_scores(table, request):
    scores = request.getfixturevalue(table)
    found = bootstrap_topics(scores, replicates=REPLICATES, rng=SEED)
    drawn = np.random.default_rng(SEED).integers(0, TOPICS, (REPLICATES, TOPICS))
    for column, (x, _, present) in enumerate(pairs(scores, "mean")):
        for replicate, row in enumerate(drawn):
            values = x[row[present[row]]]
            if len(values) == 0:
                continue
            if np.ptp(values) == 0:
                assert found.replicate_se[replicate, column] == 0
                assert found.replicate_skewness[replicate, column] == 0
                continue
            d = values - values.mean()
            assert found.replicate_se[replicate, column] == pytest.approx(
                values.std(ddof=1) / np.sqrt(len(values)), abs=1e-12
            )
            assert found.replicate_skewness[replicate, column] == pytest.approx(
                (d**3).mean() / (d**2).mean() ** 1.5, abs=1e-9
            )


def test_means_of_replicates_of_scores_in_the_unit_interval_stay_in_it():
    rng = np.random.default_rng(0)
    scores = np.where(rng.random((25, 200)) < 0.06, rng.random((25, 200)), 0.0)
    weights = draw_topics(25, 300, np.random.default_rng(1)).shares()
    for values in (scores, 1 - scores):
        found = bootstrap_topics(values, replicates=300, rng=1).replicates
        assert found.min() >= 0
        assert found.max() <= 1
    only_zeros = weights @ (scores > 0) == 0
    assert only_zeros.any()
    found = bootstrap_topics(scores, replicates=300, rng=1).replicates
    assert (found[only_zeros] == 0).all()
    found = bootstrap_topics(1 - scores, replicates=300, rng=1).replicates
    assert (found[only_zeros] == 1).all()


def test_replicates_that_draw_only_scores_of_0_or_of_1_are_exact_despite_rounding():
    """Of 25 topics, replicates draw the first 13, which score 0 or 1; -1 and 2 are no ends."""
    values = np.random.default_rng(3).uniform(0.4, 0.6, (25, 4, 50))
    values[:13] = np.array([0.0, 1.0, -1.0, 2.0])[:, None]
    counts = np.random.default_rng(1).multinomial(25, np.repeat([1 / 13, 0.0], [13, 12]), 40)
    sample = as_topic_sample(values.reshape(25, 200))
    found = sample.distribution(slice(None), counts / 25).replicates.reshape(40, 4, 50)
    assert (found[:, 0] == 0.0).all()
    assert (found[:, 1] == 1.0).all()
    np.testing.assert_allclose(found[:, 2], -1.0, rtol=1e-12)
    np.testing.assert_allclose(found[:, 3], 2.0, rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 2.0**-40])
def test_two_topics_have_the_standard_errors_of_two_numbers(scale):
    values = scale * np.array([[0.2], [0.9]])
    half = scale * 0.35
    mean = bootstrap_topics(values, replicates=20, rng=1)
    function = bootstrap_topics(values, statistic=lambda w, x: w @ x, replicates=20, rng=1)
    for found in (mean, function):
        assert found.se[0] == pytest.approx(half, rel=1e-9, abs=0)
    one_each = draw_topics(2, 20, np.random.default_rng(1)).shares()[:, 0] == 0.5
    expected = np.where(one_each, half, 0.0)
    assert 0 < one_each.sum() < 20
    np.testing.assert_allclose(mean.replicate_se[:, 0], expected, rtol=1e-9)


def test_runs_stay_paired(complete):
    means = bootstrap_topics(complete, replicates=20, rng=5).replicates.reshape(20, 3, 2)
    differences = bootstrap_topics(
        complete, statistic="difference", baseline="b", replicates=20, rng=5
    ).replicates.reshape(20, 2, 2)
    np.testing.assert_allclose(differences, means[:, [0, 2]] - means[:, [1]], rtol=0, atol=1e-12)


def test_columns_are_runs_by_measures_and_contiguous(complete):
    found = bootstrap_topics(complete, replicates=20, rng=5)
    assert found.labels == tuple(product("abc", ("AP", "P@10")))
    assert found.replicates.flags.f_contiguous
    assert found.resampled == {"topics"}
    assert found.sample is not None
    assert found.independent


def test_a_distribution_provides_what_it_has_and_the_skewness_of_its_sample(complete):
    found = as_topic_sample(complete).distribution(slice(None), None)
    assert found.sample is not None
    assert "skewness" in found.provided
    assert "se" in found.provided
    assert "replicates" not in found.provided
    assert "replicate_se" not in found.provided


def test_only_means_of_independent_topics_without_gaps_are_plain_averages(complete, gappy):
    assert as_topic_sample(complete).averages
    assert not as_topic_sample(gappy).averages
    assert not as_topic_sample(complete, statistic="geometric-mean").averages


@pytest.mark.parametrize(
    ("statistic", "bounded"),
    [
        ("mean", True),
        ("geometric-mean", True),
        ("logit-mean", False),
        ("difference", False),
        ("ratio", False),
        ("logit-difference", False),
    ],
)
def test_support_says_which_statistics_lie_in_the_unit_interval(complete, statistic, bounded):
    found = bootstrap_topics(complete, replicates=1, rng=5, **options(statistic))
    assert (found.support == bounded).all()


def test_the_sample_is_kept_only_where_the_statistic_is_its_mean(complete):
    for statistic in STATISTICS:
        found = bootstrap_topics(complete, replicates=1, rng=5, **options(statistic))
        if found.sample is None:
            assert statistic not in ("mean", "difference")
        else:
            np.testing.assert_allclose(found.sample.mean(axis=0), found.estimate, atol=1e-12)


def test_counts_are_not_bounded_even_when_they_are_small():
    scores = Scores(("1", "2"), ("a",), ("NumRel", "AP"), np.array([[[1.0, 0.5]], [[0.0, 0.7]]]))
    assert bootstrap_topics(scores, replicates=1).support.tolist() == [False, True]


def test_a_function_of_weights_agrees_with_the_statistic_of_that_name(complete):
    given = bootstrap_topics(complete, statistic=lambda w, x: w @ x, replicates=30, rng=2)
    named = bootstrap_topics(complete, replicates=30, rng=2)
    for field in ("estimate", "se", "acceleration", "replicates"):
        np.testing.assert_allclose(getattr(given, field), getattr(named, field), atol=1e-12)
    assert not given.support.any()
    assert given.replicate_se is None


def test_se_of_a_function_is_that_of_the_explicit_jackknife():
    x = np.random.default_rng(6).random((9, 2))
    found = bootstrap_topics(
        x, statistic=lambda w, s: w @ s**2 - (w @ s) ** 2, replicates=10, rng=1
    )
    drawn = np.random.default_rng(1).integers(0, 9, (10, 9))
    for column in range(2):
        without = np.array([np.delete(x[:, column], i).var() for i in range(9)])
        d = without.mean() - without
        assert found.estimate[column] == pytest.approx(x[:, column].var(), rel=1e-12)
        assert found.se[column] == pytest.approx(np.sqrt(8 / 9 * (d**2).sum()), rel=1e-10)
        assert found.acceleration[column] == pytest.approx(
            (d**3).sum() / 6 / (d**2).sum() ** 1.5, rel=1e-10
        )
        expected = [x[row, column].var() for row in drawn]
        np.testing.assert_allclose(found.replicates[:, column], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda w, x: (w @ x).T, (2, 1)),
        (lambda w, x: (w @ x)[:, 0], (1,)),
        (lambda w, x: 0.5, ()),  # noqa: ARG005
    ],
)
def test_a_function_that_returns_another_shape_is_refused(function, shape):
    with pytest.raises(InvalidValueError, match=re.escape(f"array of shape {shape}")) as caught:
        bootstrap_topics(np.random.default_rng(0).random((5, 2)), statistic=function)
    assert "(1, 2): replicates × columns" in str(caught.value)


@pytest.mark.parametrize("returned", ["text", [["a", "b"]], [[1.0], [2.0, 3.0]], [[1j, 2.0]]])
def test_a_function_that_returns_no_numbers_is_refused(returned):
    with pytest.raises(
        InvalidValueError, match=r"what the statistic returned is .*an array of num"
    ):
        bootstrap_topics(
            np.random.default_rng(0).random((5, 2)),
            statistic=lambda w, x: returned,  # noqa: ARG005
        )


def test_a_function_takes_no_missing_scores():
    with pytest.raises(InvalidValueError, match="no missing scores"):
        bootstrap_topics([0.1, np.nan, 0.3], statistic=lambda w, x: w @ x)


def test_a_generator_and_its_seed_draw_the_same(complete):
    by_seed = bootstrap_topics(complete, replicates=9, rng=21).replicates
    by_generator = bootstrap_topics(complete, replicates=9, rng=np.random.default_rng(21))
    assert (by_seed == by_generator.replicates).all()
    other = bootstrap_topics(complete, replicates=9, rng=22).replicates
    assert (by_seed != other).any()


def test_threads_of_the_matrix_product_change_no_bit():
    x = np.random.default_rng(0).beta(0.5, 1.5, (25, 13))
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            found.append(bootstrap_topics(x, replicates=1_999, rng=1))
    assert (found[0].replicates == found[1].replicates).all()
    assert (found[0].replicate_se == found[1].replicate_se).all()


def test_an_array_keeps_the_shape_of_its_columns():
    assert as_topic_sample(np.ones((4, 2, 3))).shape == (2, 3)
    assert as_topic_sample([0.1, 0.2]).shape == ()
    assert as_topic_sample(np.ones((4, 2))).labels == (("column 1", "score"), ("column 2", "score"))


def test_an_unknown_statistic_is_named_with_the_nearest(complete):
    with pytest.raises(UnknownNameError, match="did you mean geometric-mean"):
        bootstrap_topics(complete, statistic="geometricmean")


@pytest.mark.parametrize("statistic", COMPARING)
def test_a_comparison_needs_scores_and_a_baseline(complete, statistic):
    for scores, baseline in ((complete, None), (np.ones((3, 2)), "a")):
        with pytest.raises(InvalidValueError, match="needs Scores and a baseline"):
            bootstrap_topics(scores, statistic=statistic, baseline=baseline)


def test_a_statistic_of_one_run_takes_no_baseline(complete):
    with pytest.raises(InvalidValueError, match="takes no baseline"):
        bootstrap_topics(complete, baseline="a")


def test_an_unknown_baseline_is_named(complete):
    with pytest.raises(UnknownNameError, match="unknown run 'z'"):
        bootstrap_topics(complete, statistic="difference", baseline="z")


def test_a_baseline_alone_is_refused(complete):
    alone = complete.select(run=["a"])
    with pytest.raises(InvalidValueError, match="run"):
        bootstrap_topics(alone, statistic="difference", baseline="a")


@pytest.mark.parametrize("run", [0, 2])
def test_infinite_scores_are_refused_in_runs_and_baseline(complete, run):
    values = complete.values.copy()
    values[1, run, 0] = np.inf
    with pytest.raises(FormatError, match="infinite"):
        bootstrap_topics(scores_of(values), statistic="difference", baseline="c")


@pytest.mark.parametrize("scores", [[], [["a"]], [[0.1], [0.1, 0.2]], 0.5, None, np.ones((3, 0))])
def test_what_is_no_table_of_numbers_is_refused(scores):
    with pytest.raises((FormatError, InvalidValueError), match="expected"):
        bootstrap_topics(scores)


@pytest.mark.parametrize("replicates", [0, -5])
def test_a_bootstrap_needs_replicates(replicates):
    with pytest.raises(InvalidValueError, match=f"replicates is {replicates}"):
        bootstrap_topics([0.1, 0.2], replicates=replicates)


def test_weights_that_would_fill_the_memory_are_refused():
    with pytest.raises(
        InvalidValueError, match="1,000,000 topics are 9,999,000,000 weights; expected at most"
    ):
        draw_topics(1_000_000, 9_999, np.random.default_rng(1)).shares()


def test_weights_do_not_depend_on_how_many_are_drawn_at_once(monkeypatch):
    whole = draw_topics(7, 50, np.random.default_rng(1)).shares()
    monkeypatch.setattr(weights_module, "_DRAWN_AT_ONCE", 20)
    np.testing.assert_array_equal(draw_topics(7, 50, np.random.default_rng(1)).shares(), whole)


def test_means_over_topics_do_not_depend_on_how_many_weights_are_taken_at_once(monkeypatch):
    values = np.random.default_rng(2).random((7, 3))
    drawn = draw_topics(7, 50, np.random.default_rng(1))
    expected = (drawn.shares() @ values).T
    np.testing.assert_allclose(resampled_means(values, drawn), expected, rtol=1e-15)
    monkeypatch.setattr(weights_module, "_WEIGHTS_KEPT", 0)
    monkeypatch.setattr(weights_module, "_WEIGHTS_AT_ONCE", 20)
    in_blocks = draw_topics(7, 50, np.random.default_rng(1))
    np.testing.assert_allclose(resampled_means(values, in_blocks), expected, rtol=1e-15)
    np.testing.assert_allclose(resampled_means(values, drawn.shares()), expected, rtol=1e-15)


def test_a_topic_drawn_more_often_than_a_byte_can_say_counts_in_full():
    drawn = draw_topics(1, 3, np.random.default_rng(1), draws=300)
    assert drawn.counts.tolist() == [[300]] * 3
    assert drawn.shares().tolist() == [[1.0]] * 3
    assert draw_topics(2, 3, np.random.default_rng(1)).counts.dtype == np.uint8


def test_more_replicates_than_anybody_needs_are_refused_before_any_work():
    scores = np.array([0.1, 0.2])
    with pytest.raises(InvalidValueError, match="replicates is 100,000,000; expected at most"):
        bootstrap_topics(scores, replicates=100_000_000)
    check_replicates(MOST_REPLICATES)
    with pytest.raises(InvalidValueError, match="replicates is 10,000,001; expected at most"):
        check_replicates(MOST_REPLICATES + 1)


def test_scores_whose_squares_overflow_are_refused(complete):
    for scores in ([1e308, 1e308, -1e308], scores_of(complete.values * 1e200)):
        with pytest.raises(
            InvalidValueError, match=r"a score is .*e\+\d+; expected at most 1e\+100"
        ):
            confir.confidence_interval(scores)
