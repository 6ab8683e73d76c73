"""Sums along lists equal those of a plain loop, for one replicate and for many."""

from itertools import pairwise

import numpy as np
import pytest

from confir.data.qrels import build_qrels
from confir.data.ranked_lists.rankings import Rankings


def make_rankings(replicates, offsets=(0, 3, 3, 9, 40, 40, 42)):
    """Three runs on two topics; some lists are empty."""
    rng = np.random.default_rng(replicates)
    size = offsets[-1]
    return Rankings(
        qrels=build_qrels(["1", "2"], ["0", "0"], ["a", "b"], np.array([1, 1])),
        runs=("x", "y", "z"),
        present=np.ones((3, 2), bool),
        depth=np.zeros((3, 2, replicates), np.int64),
        offsets=np.array(offsets),
        documents=np.zeros(size, np.int64),
        gain=rng.integers(0, 3, size),
        before=rng.integers(0, 50, (size, replicates)),
        copies=rng.poisson(1.0, (size, replicates)),
        levels=np.arange(3),
        counts=np.zeros((2, 3, replicates), np.int64),
        judged_copies=np.ones((2, replicates), np.int64),
    )


REPLICATES = pytest.mark.parametrize("replicates", [1, 2, 70])


@REPLICATES
def test_sums_are_added_from_the_top(replicates):
    rankings = make_rankings(replicates)
    values = np.random.default_rng(1).random((42, replicates))
    expected = np.zeros((6, replicates))
    for place, (start, stop) in enumerate(pairwise(rankings.offsets)):
        for row in values[start:stop]:
            expected[place] += row
    assert rankings.total(values).tolist() == expected.reshape(3, 2, replicates).tolist()


@REPLICATES
def test_minima_of_empty_lists_are_the_value_given(replicates):
    rankings = make_rankings(replicates)
    expected = [
        rankings.before[start:stop].min(axis=0, initial=99)
        for start, stop in pairwise(rankings.offsets)
    ]
    found = rankings.least(rankings.before, 99)
    assert found.tolist() == np.reshape(expected, (3, 2, replicates)).tolist()


@REPLICATES
def test_copies_above_are_counted_within_each_list(replicates):
    rankings = make_rankings(replicates)
    counted, seen = rankings.gain == 1, rankings.gain == 2
    every, some = np.zeros((2, 42, replicates), np.int64)
    for start, stop in pairwise(rankings.offsets):
        for row in range(start + 1, stop):
            every[row] = rankings.copies[start:row].sum(axis=0)
            some[row] = rankings.copies[start:row][counted[start:row]].sum(axis=0)
    assert rankings.copies_above().tolist() == every.tolist()
    assert rankings.copies_above(counted).tolist() == some.tolist()
    assert rankings.copies_above(counted, seen).tolist() == some[seen].tolist()


@REPLICATES
def test_lists_without_documents(replicates):
    rankings = make_rankings(replicates, offsets=(0,) * 7)
    assert rankings.copies_above().shape == (0, replicates)
    assert (rankings.total(rankings.copies) == 0).all()
    assert (rankings.least(rankings.before, 7) == 7).all()
