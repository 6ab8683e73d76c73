"""Properties of every interval method."""

import warnings
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import confir
import confir.parallel
from confir.data.scores import Scores
from confir.errors import DegenerateSampleWarning
from confir.intervals import confidence_intervals
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.interval import side_of_limits
from confir.intervals.method_list import METHODS as CATALOGUE
from confir.intervals.method_list import methods_over
from confir.intervals.probe import Probe
from confir.resampling.statistics import STATISTICS
from confir.resampling.topic_bootstrap import bootstrap_topics
from score_entries import scores_from_entries

METHODS = methods_over("topics")
LEVELS = (0.2, 0.5, 0.8, 0.95, 0.98)
AFFINE = ("t", "percentile", "bca", "bootstrap-t", "symmetric-t")
DRAWING = [
    name
    for name, method in METHODS.items()
    if "replicates" in method.needs or method.draws or name == "betting"
]
WITHOUT_RESAMPLING = [name for name, method in METHODS.items() if "replicates" not in method.needs]
BOUNDED = [name for name, method in METHODS.items() if method.bounded]
COUNTING = [name for name, method in METHODS.items() if method.count_side]
REPLICATES = 1_999


def columns():
    """Scores of many kinds, 25 topics each; none constant."""
    rng = np.random.default_rng(8)
    kinds = [
        rng.beta(2, 2, (25, 6)),
        rng.beta(0.3, 2, (25, 6)),
        rng.beta(2, 0.3, (25, 6)),
        np.where(rng.random((25, 6)) < 0.8, 0.0, rng.random((25, 6))),
        (rng.random((25, 6)) < 0.3).astype(float),
        rng.integers(0, 11, (25, 6)) / 10,
        np.where(np.arange(25) < 1, 0.7, 0.0)[:, None],
        np.where(np.arange(25) < 1, 0.3, 1.0)[:, None],
    ]
    return np.column_stack(kinds)


@pytest.fixture(scope="module")
def scores():
    values = columns()
    topics = tuple(str(101 + i) for i in range(25))
    runs = tuple(f"run{i}" for i in range(values.shape[1] // 2))
    return Scores(topics, runs, ("AP", "RR"), values.reshape(25, -1, 2))


@pytest.fixture(scope="module")
def intervals(scores):
    """Method → level → interval."""
    found = limits_of(scores, method=list(METHODS), level=list(LEVELS))
    return {
        name: {interval.level: interval for interval in found if interval.method == name}
        for name in METHODS
    }


def limits_of(scores, **options):
    settings = {"replicates": REPLICATES, "rng": 12} | options
    return confidence_interval(scores, **settings)


def assert_same(one, other):
    for name in ("estimate", "low", "high"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), one.method)


def assert_close(one, other, tolerance=1e-12):
    for name in ("estimate", "low", "high"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=0, atol=tolerance, err_msg=one.method
        )


def test_methods_say_what_they_serve():
    assert list(methods_over("documents")) == ["linear", "logit", "percentile", "bca"]
    both = [method.name for method in confir.METHODS.values() if len(method.uses) > 1]
    assert both == ["percentile", "bca"]


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.closed_form])
def test_a_closed_form_takes_a_column_for_itself_and_no_seed(name):
    distribution = bootstrap_topics(columns(), replicates=9, rng=1)
    assert "replicates" not in METHODS[name].needs
    whole = METHODS[name].compute(replace(distribution, seed=1, replicates=None), 0.9)
    for column in (0, 20, 37):
        alone = bootstrap_topics(columns()[:, column], replicates=9, rng=2)
        found = METHODS[name].compute(alone, 0.9)
        assert (found.low[0], found.high[0]) == pytest.approx(
            (whole.low[column], whole.high[column]), abs=1e-14
        )


def test_methods_that_draw_depend_on_the_seed_without_replicates():
    distribution = replace(bootstrap_topics(columns(), replicates=9, rng=1), replicates=None)
    for name in WITHOUT_RESAMPLING:
        one, other = (
            METHODS[name].compute(replace(distribution, seed=seed, draws=99), 0.9).low
            for seed in (1, 2)
        )
        assert (one != other).any() == (METHODS[name].draws or name == "betting")


@pytest.mark.parametrize("method", METHODS)
def test_low_is_not_above_high(intervals, method):
    for interval in intervals[method].values():
        assert (interval.low <= interval.high).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_higher_level_gives_an_interval_that_holds_the_lower_ones(intervals, method):
    found = [intervals[method][level] for level in LEVELS]
    for narrow, wide in pairwise(found):
        assert (wide.low <= narrow.low + 1e-12).all()
        assert (wide.high >= narrow.high - 1e-12).all()


@pytest.mark.parametrize("method", BOUNDED)
def test_bounded_methods_stay_in_the_unit_interval(intervals, method):
    for interval in intervals[method].values():
        assert (interval.low >= 0).all()
        assert (interval.high <= 1).all()


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_quantiles_of_means_stay_in_the_unit_interval(intervals, method):
    for interval in intervals[method].values():
        assert (interval.low >= 0).all()
        assert (interval.high <= 1).all()


@pytest.mark.parametrize("method", METHODS)
def test_several_levels_at_once_are_those_taken_one_by_one(scores, intervals, method):
    for level in (0.5, 0.95):
        assert_same(limits_of(scores, method=method, level=level), intervals[method][level])


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(scores, method):
    first = limits_of(scores, method=method)
    assert_same(first, limits_of(scores, method=method))
    other = limits_of(scores, method=method, rng=13)
    if method in DRAWING:
        assert (first.low != other.low).any()
    else:
        assert_same(first, other)


@pytest.mark.parametrize("method", METHODS)
def test_a_seed_and_its_generator_give_the_same_numbers(scores, method):
    by_generator = limits_of(scores, method=method, rng=np.random.default_rng(12))
    assert_same(limits_of(scores, method=method), by_generator)


@pytest.mark.parametrize("shuffle", [1, 2])
def test_the_order_in_which_topics_come_is_irrelevant(scores, shuffle):
    """Topics are held in the order of their ids, so that replicates are the same."""
    entries = scores.to_records()
    last_topic = [entry for entry in entries if entry["topic"] == scores.topics[-1]]
    mixed = [entries[i] for i in np.random.default_rng(shuffle).permutation(len(entries))]
    # Runs and measures keep the order of their first entry.
    mixed = last_topic + [entry for entry in mixed if entry["topic"] != scores.topics[-1]]
    shuffled = scores_from_entries(
        {(entry["run"], entry["measure"], entry["topic"]): entry["score"] for entry in mixed}
    )
    for one, other in zip(
        limits_of(scores, method=list(METHODS)),
        limits_of(shuffled, method=list(METHODS)),
        strict=True,
    ):
        assert_same(one, other)


@pytest.mark.parametrize("method", ["t", "logit-t", "beta-logit", "calibrated-beta", "gaffke"])
def test_the_order_of_rows_is_irrelevant_without_resampling(method):
    x = columns()
    rows = np.random.default_rng(4).permutation(25)
    assert_close(limits_of(x, method=method), limits_of(x[rows], method=method))


def test_only_betting_among_the_methods_without_resampling_depends_on_the_order_of_rows():
    order_free = {"t", "logit-t", "beta-logit", "calibrated-beta", "gaffke"}
    assert set(WITHOUT_RESAMPLING) == order_free | {"betting"}


@pytest.mark.parametrize("method", AFFINE)
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 3.0), (5.0, 0.25), (-2.0, 1e6)])
def test_unbounded_methods_follow_shift_and_scale(method, shift, scale):
    x = columns()
    plain, moved = limits_of(x, method=method), limits_of(shift + scale * x, method=method)
    tolerance = 1e-11 * max(scale, 1)
    np.testing.assert_allclose(moved.low, shift + scale * plain.low, rtol=0, atol=tolerance)
    np.testing.assert_allclose(moved.high, shift + scale * plain.high, rtol=0, atol=tolerance)


@pytest.mark.parametrize("method", AFFINE)
def test_unbounded_methods_mirror_with_the_scores(method):
    x = columns()
    plain, mirrored = limits_of(x, method=method), limits_of(2.0 - 3.0 * x, method=method)
    np.testing.assert_allclose(mirrored.low, 2 - 3 * plain.high, rtol=0, atol=1e-11)
    np.testing.assert_allclose(mirrored.high, 2 - 3 * plain.low, rtol=0, atol=1e-11)


@pytest.mark.parametrize("method", [name for name in BOUNDED if name != "gaffke"])
def test_bounded_methods_mirror_at_a_half(method):
    """Gaffke's does so in distribution only: its weights belong to the places of sorted scores."""
    x = columns()
    plain, mirrored = limits_of(x, method=method), limits_of(1.0 - x, method=method)
    np.testing.assert_allclose(mirrored.low, 1 - plain.high, rtol=0, atol=1e-9)
    np.testing.assert_allclose(mirrored.high, 1 - plain.low, rtol=0, atol=1e-9)


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    x = np.random.default_rng(0).beta(0.5, 1.5, (50, 150)).round(4)
    assert x.shape[1] > 2 * confidence_intervals._BLOCK
    found = []
    for cores in (1, 2, 4):
        monkeypatch.setattr(confir.parallel, "usable_cores", lambda cores=cores: cores)
        found.append(limits_of(x, method=list(METHODS), replicates=2_999))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            assert_same(one, same)


@pytest.mark.parametrize("width", [5, 13, 38])
def test_the_number_of_threads_of_a_matrix_product_changes_no_bit(width):
    x = columns()[:, :width]
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            found.append(limits_of(x, method=list(METHODS)))
    for one, same in zip(*found, strict=True):
        assert_same(one, same)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_other_block_sizes_agree(monkeypatch, block):
    x = columns()
    usual = limits_of(x, method=list(METHODS))
    monkeypatch.setattr(confidence_intervals, "_BLOCK", block)
    for one, other in zip(usual, limits_of(x, method=list(METHODS)), strict=True):
        assert_close(one, other)


def test_several_methods_at_once_are_those_taken_one_by_one(scores):
    together = limits_of(scores, method=list(METHODS))
    for interval in together:
        assert_same(interval, limits_of(scores, method=interval.method))


def test_another_run_changes_no_numbers_of_the_others(scores):
    fewer = scores.select(run=scores.runs[:-3])
    kept = len(fewer.runs)
    for one, other in zip(
        limits_of(fewer, method=list(METHODS)),
        limits_of(scores, method=list(METHODS)),
        strict=True,
    ):
        for name in ("estimate", "low", "high"):
            cut = getattr(other, name)[:kept]
            np.testing.assert_allclose(cut, getattr(one, name), rtol=0, atol=1e-12)


def test_missing_scores_of_one_run_change_no_numbers_of_the_others(scores):
    values = scores.values.copy()
    values[[2, 9, 17], 0] = np.nan
    gappy = replace(scores, values=values)
    for one, other in zip(
        limits_of(scores, method=list(METHODS)),
        limits_of(gappy, method=list(METHODS)),
        strict=True,
    ):
        np.testing.assert_allclose(other.low[1:], one.low[1:], rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.high[1:], one.high[1:], rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", COUNTING)
@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("near", ["typical", "estimate", "limits", "ends"])
def test_the_side_found_by_counting_is_that_of_the_limits(method, level, near):
    rng = np.random.default_rng(6)
    x = columns()
    x[:, 0] = np.where(np.arange(25) % 3, np.nan, x[:, 0])
    distribution = bootstrap_topics(x, replicates=199, rng=3)
    limits = METHODS[method].compute(distribution, level)
    values = {
        "typical": distribution.estimate + 3 * distribution.se * rng.uniform(-1, 1, x.shape[1]),
        "estimate": distribution.estimate,
        "limits": np.where(rng.random(x.shape[1]) < 0.5, limits.low, limits.high),
        "ends": rng.integers(0, 2, x.shape[1]).astype(float),
    }[near]
    if METHODS[method].bounded:
        values = np.clip(values, 0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = METHODS[method].side(Probe(distribution, values), level)
    expected = side_of_limits(limits, values)
    np.testing.assert_array_equal(found, expected)
    if near == "typical":
        assert len(set(expected.tolist())) > 1


@pytest.mark.parametrize("statistic", STATISTICS)
def test_every_method_that_fits_answers_for_every_statistic(scores, statistic):
    options = {"baseline": "run0"} if STATISTICS[statistic].compares else {}
    some = scores.select(run=scores.runs[:4])
    distribution = bootstrap_topics(some, statistic=statistic, replicates=499, rng=1, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DegenerateSampleWarning)
        for method in METHODS.values():
            fits = all(getattr(distribution, need) is not None for need in method.needs)
            if fits and (not method.bounded or distribution.support.all()):
                found = limits_of(some, method=method.name, statistic=statistic, **options)
                assert (found.low <= found.high).all()


LOGIT = {"logit", "logit-t", "studentised-logit", "bootstrap-t-logit", "symmetric-t-logit"}
BETA = {"beta-logit", "calibrated-beta"}
CLAIMS = {
    "bounded": {*LOGIT, *BETA, "hall-logit", "betting", "gaffke"},
    "any_sample": {*BETA, "betting", "gaffke"},
    "draws": {"gaffke"},
    "closed_form": {*BETA, "t", "logit-t", "linear"},
    "one_sample": {*BETA, "betting", "gaffke"},
    "logit_scale": {*LOGIT, *BETA, "hall-logit"},
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_method_claims_what_its_formula_allows(claim):
    assert {method.name for method in CATALOGUE.values() if getattr(method, claim)} == CLAIMS[claim]


def permuted(scores, seed=3):
    """The same scores, made with their topics in another order."""
    order = np.random.default_rng(seed).permutation(len(scores.topics))
    topics = tuple(scores.topics[place] for place in order)
    return Scores(topics, scores.runs, scores.measures, scores.values[order])


@pytest.mark.parametrize("method", METHODS)
def test_scores_made_with_topics_in_another_order_have_the_same_intervals(scores, method):
    drawn = {"method": method, "replicates": 399, "rng": 1}
    first, second = (confidence_interval(one, **drawn) for one in (scores, permuted(scores)))
    np.testing.assert_array_equal(first.low, second.low)
    np.testing.assert_array_equal(first.high, second.high)


@pytest.mark.parametrize(
    "verb",
    [
        confir.compare_runs,
        confir.find_best,
        confir.rank_runs,
        partial(confir.estimate_coverage, methods=["t", "percentile"], samples=20),
        partial(confir.estimate_type_one_error, methods=["t"], topics=5, samples=20),
    ],
)
def test_scores_made_with_topics_in_another_order_have_the_same_results(scores, verb):
    few = scores.select(run=["run0", "run3", "run9"])
    first, second = (verb(one, replicates=99, rng=1) for one in (few, permuted(few)))
    assert first.to_records() == second.to_records()


def test_designs_follow_topics_that_are_put_in_order(scores):
    clusters = {topic: f"c{int(topic) % 8}" for topic in scores.topics}
    first, second = (
        confidence_interval(one.with_design(clusters), method="percentile", rng=1, replicates=399)
        for one in (scores, permuted(scores))
    )
    np.testing.assert_array_equal(first.low, second.low)
