"""The largest t* of every run equals that of plain loops; threads and blocks change no bit."""

import itertools
import math

import numpy as np
import pytest

import confir.parallel
from confir.resampling import normal_draws
from confir.resampling import studentised_maxima as sizes
from confir.resampling import unit_draws as module
from confir.resampling.kinds import as_topic_sample
from confir.resampling.normal_draws import NORMAL_TOPICS, draw_normal_means
from confir.resampling.pair_draws import NOTHING_BORROWED, BorrowedVariance
from confir.resampling.replicates import draw_topics
from confir.resampling.studentised_maxima import largest_statistics, studentised_maxima
from requirements import required

NOTHING = NOTHING_BORROWED, NOTHING_BORROWED


def looped(values, weights, borrowed):
    """Largest t* of other runs less each run, and of each run less others, by loops."""
    topics, runs = values.shape
    above = np.full((runs, len(weights)), -np.inf)
    below = above.copy()
    for (a, b), (r, w) in itertools.product(
        itertools.permutations(range(runs), 2), enumerate(weights)
    ):
        difference = values[:, b] - values[:, a]
        there = ~np.isnan(difference)
        if not there.any() or np.ptp(difference[there]) < 1e-9:
            continue
        drawn = np.repeat(difference[there], np.rint(w[there] * topics).astype(int))
        t = statistic(drawn, difference[there], borrowed)
        above[a, r] = max(above[a, r], t)
        below[b, r] = max(below[b, r], t)
    return above, below


def statistic(drawn, observed, borrowed):
    if len(drawn) == 0:
        return 0.0
    topics = len(observed)
    share = 1 - borrowed.comparisons ** (-1 / topics)
    moved = drawn.mean() - observed.mean()
    variance = drawn.var(ddof=1) + share * borrowed.median if len(drawn) > 1 else 0.0
    if variance < 1e-20:
        return 0.0 if abs(moved) < 1e-9 else math.copysign(math.inf, moved)
    return moved / math.sqrt(variance / len(drawn)) * math.sqrt(topics / (topics - 1))


def scores(topics=7, runs=4, gaps=0, seed=1):
    rng = np.random.default_rng(seed)
    values = np.round(rng.random((topics, 1)) + rng.normal(0, 0.1, (topics, runs)), 2)
    values[: topics - 2, 1] = values[: topics - 2, 0]  # differ on two topics only
    values[rng.random(values.shape) < gaps / values.size] = np.nan
    return values


def check(values, every=NOTHING_BORROWED, one=NOTHING_BORROWED, replicates=60):
    found = studentised_maxima(
        as_topic_sample(values), replicates, np.random.default_rng(3), every, one
    )
    weights = draw_topics(len(values), replicates, np.random.default_rng(3)).shares()
    above, below = looped(values, weights, one)
    np.testing.assert_allclose(found.above, above, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(found.below, below, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(found.either, np.maximum(found.above, found.below))
    every_above, _ = looped(values, weights, every)
    np.testing.assert_allclose(found.largest, every_above.max(axis=0), rtol=1e-7, atol=1e-7)
    largest = largest_statistics(
        as_topic_sample(values), replicates, np.random.default_rng(3), every
    )
    np.testing.assert_array_equal(largest, found.largest)
    return found


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("every", "one"), [NOTHING, (BorrowedVariance(6, 0.01), BorrowedVariance(3, 0.02))]
)
@pytest.mark.parametrize("gaps", [0, 3, 8])
@pytest.mark.parametrize("seed", range(4))
def test_maxima_are_those_of_loops_over_replicates_and_pairs(gaps, seed, every, one):
    check(scores(gaps=gaps, seed=seed), every, one)


def test_a_replicate_that_shows_one_difference_counts_as_infinite_unless_it_borrows():
    values = scores(topics=5)
    assert np.isinf(check(values).either).any()
    borrowed = BorrowedVariance(6, 0.01)
    assert np.isfinite(check(values, borrowed, borrowed).either).all()


def test_pairs_without_variance_stand_outside():
    values = scores()
    values[:, 2] = values[:, 0]
    values[:, 3] = values[:, 0] + 0.1
    found = check(values)
    assert np.isfinite(found.either).any()
    alone = studentised_maxima(
        as_topic_sample(values[:, [0, 2, 3]]), 20, np.random.default_rng(1), *NOTHING
    )
    assert (alone.either == -np.inf).all()


def test_pairs_that_share_one_topic_stand_outside():
    values = scores(runs=3)
    values[:3, 1] = values[4:, 2] = np.nan  # run 1 and run 2 share topic 3, run 0 has all
    found = check(values)
    assert np.isfinite(found.either).any(axis=1).all()


def test_runs_without_scores_take_no_part():
    values = np.column_stack([scores(), np.full(7, np.nan)])
    found = studentised_maxima(as_topic_sample(values), 50, np.random.default_rng(1), *NOTHING)
    without = studentised_maxima(as_topic_sample(scores()), 50, np.random.default_rng(1), *NOTHING)
    assert (found.either[4] == -np.inf).all()
    np.testing.assert_allclose(found.above[:4], without.above, rtol=1e-9, atol=1e-12)


def test_chosen_runs_have_the_maxima_that_they_have_among_all():
    values = scores(topics=12, runs=6)
    borrowed = BorrowedVariance(4, 0.01)
    every = studentised_maxima(
        as_topic_sample(values), 700, np.random.default_rng(2), borrowed, borrowed
    )
    some = largest_statistics(
        as_topic_sample(values), 700, np.random.default_rng(2), borrowed, runs=[4, 1]
    )
    np.testing.assert_allclose(some, every.either[[4, 1]].max(axis=0), rtol=1e-9)


@pytest.mark.parametrize("runs", [None, [4, 1]])
def test_compiled_code_changes_no_bit(runs, monkeypatch):
    required("numba")
    values = scores(topics=30, runs=9)
    values[:, 5] = values[:, 3]  # pairs without variance
    every, one = BorrowedVariance(35, 0.01), BorrowedVariance(8, 0.01)
    found = {}
    for compiled in (False, True):
        monkeypatch.setattr(module, "can_compile", lambda _, compiled=compiled: compiled)
        maxima = studentised_maxima(
            as_topic_sample(values), 700, np.random.default_rng(2), every, one
        )
        largest = largest_statistics(
            as_topic_sample(values), 700, np.random.default_rng(2), every, runs
        )
        found[compiled] = [*maxima, largest]
    for plain, compiled in zip(found[False], found[True], strict=True):
        assert np.isfinite(plain).all()
        np.testing.assert_array_equal(compiled, plain)


@pytest.mark.parametrize(("together", "kept"), [(1, 0), (3, 1 << 22), (128, 0)])
def test_pairs_multiplied_together_or_one_by_one_have_the_same_maxima(monkeypatch, together, kept):
    values = scores(topics=20, runs=9)
    values[:, 5] = values[:, 3]  # a pair without variance
    borrowed = BorrowedVariance(35, 0.01)
    expected = studentised_maxima(
        as_topic_sample(values), 700, np.random.default_rng(2), borrowed, borrowed
    )
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", together)
    monkeypatch.setattr(module, "_SQUARES_KEPT", kept)
    found = studentised_maxima(
        as_topic_sample(values), 700, np.random.default_rng(2), borrowed, borrowed
    )
    for part, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-12)
    largest = largest_statistics(as_topic_sample(values), 700, np.random.default_rng(2), borrowed)
    np.testing.assert_allclose(largest, expected.largest, rtol=1e-12)


def test_threads_and_rooms_of_memory_change_no_bit(monkeypatch):
    values = scores(topics=40, runs=9, gaps=5)
    results = []
    for cores in (1, 2, 7):
        monkeypatch.setattr(confir.parallel, "usable_cores", lambda cores=cores: cores)
        results.append(
            studentised_maxima(as_topic_sample(values), 2_000, np.random.default_rng(5), *NOTHING)
        )
    monkeypatch.setattr(sizes, "_NUMBERS_AT_ONCE", 1)
    parts = studentised_maxima(as_topic_sample(values), 2_000, np.random.default_rng(5), *NOTHING)
    for other in results[1:]:
        assert np.array_equal(results[0].above, other.above)
        assert np.array_equal(results[0].below, other.below)
    assert parts.above.shape == results[0].above.shape
    assert np.quantile(parts.either, 0.9) == pytest.approx(
        np.quantile(results[0].either, 0.9), rel=0.05
    )


def test_many_topics_take_the_normal_limit_of_what_resampling_gives(monkeypatch):
    rng = np.random.default_rng(6)
    values = rng.random((600, 1)) + rng.normal(0, 0.1, (600, 5)) * np.array([1, 1, 2, 3, 0.5])
    resampled = largest_statistics(
        as_topic_sample(values), 4_000, np.random.default_rng(1), NOTHING_BORROWED
    )
    monkeypatch.setattr(normal_draws, "NORMAL_TOPICS", 600)
    normal = largest_statistics(
        as_topic_sample(values), 4_000, np.random.default_rng(1), NOTHING_BORROWED
    )
    assert not np.array_equal(normal, resampled)
    for share in (0.5, 0.8, 0.95):
        assert np.quantile(normal, share) == pytest.approx(np.quantile(resampled, share), rel=0.04)
    borrowed = BorrowedVariance(10, 5.0)
    raised = largest_statistics(as_topic_sample(values), 4_000, np.random.default_rng(1), borrowed)
    assert np.quantile(raised, 0.95) < np.quantile(normal, 0.95)


def test_the_normal_limit_has_the_covariance_of_the_scores(monkeypatch):
    values = np.random.default_rng(8).random((6, 2))
    monkeypatch.setattr(normal_draws, "NORMAL_TOPICS", 6)
    borrowed = BorrowedVariance(2, 10.0)
    found = largest_statistics(as_topic_sample(values), 30, np.random.default_rng(1), borrowed)
    means = draw_normal_means(np.cov(values.T), 30, np.random.default_rng(1))
    variance = (values[:, 0] - values[:, 1]).var(ddof=1) + 10.0 * (1 - 2 ** (-1 / 6))
    np.testing.assert_allclose(found, np.abs(means[0] - means[1]) / np.sqrt(variance), rtol=1e-9)


def test_the_normal_limit_is_the_same_in_whatever_order_runs_stand(monkeypatch):
    values = np.random.default_rng(8).random((9, 4))
    monkeypatch.setattr(normal_draws, "NORMAL_TOPICS", 9)
    sample = as_topic_sample(values)
    one, turned = (
        largest_statistics(s, 30, np.random.default_rng(1), NOTHING_BORROWED)
        for s in (sample, sample.chosen(np.array([2, 0, 3, 1])))
    )
    np.testing.assert_allclose(one, turned, rtol=1e-9)


def test_many_topics_with_gaps_have_no_replicates():
    values = np.random.default_rng(7).random((NORMAL_TOPICS, 3))
    values[0, 0] = np.nan
    found = studentised_maxima(as_topic_sample(values), 99, np.random.default_rng(1), *NOTHING)
    assert found.either.shape == (3, 0)
    for runs in (None, [0]):
        largest = largest_statistics(
            as_topic_sample(values), 99, np.random.default_rng(1), NOTHING_BORROWED, runs
        )
        assert largest.shape == (0,)
