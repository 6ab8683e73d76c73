"""Sums over many ranks, against direct summation and exact rational arithmetic."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from confir.measures.long_sums import (
    discount_sum,
    harmonic,
    harmonic_between,
    harmonic_squares,
    log_miss_probability,
)


def floats(numbers):
    return np.array(numbers, float)


COUNTS = [0, 1, 2, 3, 10, 62, 63, 64, 65, 66, 100, 1_000, 54_321]


@pytest.mark.parametrize("count", COUNTS)
def test_harmonic_numbers_equal_the_added_terms(count):
    added = math.fsum(1 / r for r in range(1, count + 1))
    squares = math.fsum(1 / r**2 for r in range(1, count + 1))
    assert harmonic(floats([count]))[0] == pytest.approx(added, rel=1e-15, abs=0)
    assert harmonic_squares(floats([count]))[0] == pytest.approx(squares, rel=1e-15, abs=0)


def test_the_harmonic_number_of_a_million_million_is_right():
    # ln n + γ + 1/(2n) at 40 digits
    with localcontext() as context:
        context.prec = 40
        n = Decimal(10) ** 12
        exact = n.ln() + Decimal("0.5772156649015328606065120900824024310422") + 1 / (2 * n)
    assert harmonic(floats([1e12]))[0] == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 0), (0, 7), (3, 70), (63, 64), (64, 64), (64, 65), (64, 70), (500, 501), (999, 5_000)],
)
def test_differences_of_harmonic_numbers_equal_the_added_terms(low, high):
    added = math.fsum(1 / r for r in range(low + 1, high + 1))
    found = harmonic_between(floats([low]), floats([high]))[0]
    assert found == pytest.approx(added, rel=1e-13, abs=1e-18)


def test_neighbouring_large_harmonic_numbers_do_not_cancel():
    found = harmonic_between(floats([1e12 - 1]), floats([1e12]))[0]
    assert found == pytest.approx(1e-12, rel=1e-12)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 2, 10, 4_095, 4_096, 4_097, 5_000, 300_000])
def test_discount_sums_equal_the_added_terms(count, power):
    added = math.fsum(math.log2(r + 1) ** -power for r in range(1, count + 1))
    assert discount_sum(floats([count]), power)[0] == pytest.approx(added, rel=1e-13, abs=0)


@pytest.mark.parametrize("power", [1, 2])
def test_long_discount_sums_grow_by_the_terms_between(power):
    start, stop = 10**9, 10**9 + 200_000
    terms = math.fsum(math.log2(r + 1) ** -power for r in range(start + 1, stop + 1))
    low, high = discount_sum(floats([start, stop]), power)
    # what the difference of two sums of 3e7 can hold
    assert high - low == pytest.approx(terms, abs=1e-7)


def exact_log_miss(documents: int, relevant: int, drawn: int) -> float:
    fewer, more = sorted((relevant, drawn))
    with localcontext() as context:
        context.prec = 50
        product = Decimal(1)
        for i in range(fewer):
            product *= Decimal(documents - more - i) / Decimal(documents - i)
        return float(product.ln())


@pytest.mark.parametrize(
    ("documents", "relevant", "drawn"),
    [
        (1, 0, 1),
        (1, 1, 0),
        (2, 1, 1),
        (5, 2, 2),
        (20, 10, 10),
        (100, 1, 99),
        (100, 99, 1),
        (100, 30, 60),
        (1_000, 400, 17),
        (10**6, 3_000, 3_000),
        (10**12, 5 * 10**11, 3),
        (10**12, 10**6, 10),
        (10**12, 7, 10**11),
        (10**12, 2_000, 10**9),
    ],
)
def test_the_probability_of_a_miss_equals_the_product(documents, relevant, drawn):
    found = log_miss_probability(floats([documents]), floats([relevant]), floats([drawn]))
    exact = exact_log_miss(documents, relevant, drawn)
    assert found[0] == pytest.approx(exact, rel=1e-13, abs=1e-15)


def test_the_probability_of_a_miss_is_exact_for_all_small_numbers():
    for n in range(1, 12):
        for r in range(n + 1):
            for k in range(n + 1):
                exact = float(Fraction(math.comb(n - r, k), math.comb(n, k)))
                found = np.exp(log_miss_probability(floats([n]), floats([r]), floats([k])))[0]
                assert found == pytest.approx(exact, rel=1e-13, abs=0)
