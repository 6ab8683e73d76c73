"""Weights drawn once for several studies equal those that each would draw."""

import numpy as np
import pytest

from confir.parallel import run_in_threads
from confir.resampling import replicates as module
from confir.resampling.replicates import draw_topics, shared_draws


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
