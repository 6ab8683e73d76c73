"""Weights drawn once for several studies equal those that each would draw."""

import numpy as np
import pytest

from confir.parallel import run_in_threads
from confir.resampling import replicates as module
from confir.resampling.replicates import draw_rows, draw_topics, shared_draws
from confir.studies.preferences.preferences import rate_preferences
from vote_samples import simulate_votes


def drawn_twice(rng):
    return [draw_topics(7, 20, rng).shares(), draw_topics(7, 20, rng).shares(), rng.random(3)]


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937])
def test_shared_weights_and_all_that_is_drawn_after_them_are_equal(kind):
    alone = drawn_twice(np.random.Generator(kind(3)))
    with shared_draws():
        first = drawn_twice(np.random.Generator(kind(3)))
        again = drawn_twice(np.random.Generator(kind(3)))
        other = draw_topics(7, 20, np.random.Generator(kind(4))).shares()
    for found in (first, again):
        for one, expected in zip(found, alone, strict=True):
            np.testing.assert_array_equal(one, expected)
    assert not draw_topics(7, 20, np.random.Generator(kind(3))).counts.flags.writeable
    assert not np.array_equal(other, first[0])


def test_other_numbers_of_topics_draws_and_replicates_are_redrawn():
    with shared_draws():
        found = [
            draw_topics(*size, np.random.default_rng(1), draws)
            for size, draws in (((7, 20), None), ((8, 20), None), ((7, 21), None), ((7, 20), 6))
        ]
    assert len({id(weights) for weights in found}) == 4


def test_threads_draw_the_same_once(monkeypatch):
    calls = []
    draw = module._draw
    monkeypatch.setattr(module, "_draw", lambda *size: calls.append(size) or draw(*size))
    with shared_draws():
        run_in_threads(lambda _: draw_topics(5, 9, np.random.default_rng(1)).shares(), range(6))
    assert len(calls) == 1
    draw_topics(5, 9, np.random.default_rng(1)).shares()
    assert len(calls) == 2


def test_rows_of_equal_units_are_drawn_once_and_as_numpy_draws_them():
    count = np.array([5, 400, 3])
    expected = np.random.default_rng(1).multinomial(408, count / 408, 50) / 408
    with shared_draws():
        first, again = (draw_rows(count, 50, np.random.default_rng(1)) for _ in range(2))
        other = draw_rows(np.array([5, 3, 400]), 50, np.random.default_rng(1))
    assert first is again
    assert first is not other
    np.testing.assert_array_equal(first.shares(), expected)


def test_a_rating_draws_the_votes_of_all_pairs_once(monkeypatch):
    draws = []
    draw = np.random.Generator.multinomial

    class Counting(np.random.Generator):
        def multinomial(self, units, shares, size=None):
            if np.ndim(size) == 0:  # of rows of votes, not of simulated votes of pairs
                draws.append(size)
            return draw(self, units, shares, size)

    monkeypatch.setattr(np.random, "Generator", Counting)
    monkeypatch.setattr(np.random, "default_rng", lambda seed=None: Counting(np.random.PCG64(seed)))
    rate_preferences(simulate_votes([0.5, 0.0, -0.5], 300, 1, ties=0.2), replicates=99, rng=1)
    assert draws == [99]  # strengths by themselves are drawn by a copy, a generator of numpy's own
