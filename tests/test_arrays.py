"""Order of numbers: highest first, missing values last, equality up to rounding error."""

import numpy as np
import pytest

from confir.arrays import best_first, is_best

NAN = float("nan")


def test_the_highest_comes_first_and_gaps_last():
    assert best_first(np.array([0.2, NAN, 0.9, -1.0, NAN])) == [2, 0, 3, 1, 4]


def test_equal_values_keep_their_order():
    assert best_first(np.array([0.5, 0.7, 0.5, 0.7])) == [1, 3, 0, 2]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.3, 0.1 + 0.2, 0.29], [True, True, False]),
        ([NAN, 0.2, NAN], [False, True, False]),
        ([NAN, NAN], [False, False]),
        ([1e6, 1e6 * (1 + 1e-15), 999_999.9], [True, True, False]),
        ([-2.0, -1.0], [False, True]),
        ([0.5, 0.5 - 1e-9], [True, False]),
    ],
)
def test_the_best_are_equal_but_for_rounding(values, expected):
    assert is_best(np.array(values)).tolist() == expected
