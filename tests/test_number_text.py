"""Numbers have the same format everywhere."""

import math

import pytest

from confir.errors import counted
from confir.number_text import (
    count_words,
    difference_text,
    difference_words,
    level_text,
    limits_words,
    number_text,
    p_text,
    p_words,
    percent,
    score_words,
    share_text,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.21754, "0.2175"), (-0.5, "-0.5000"), (1000.0, "1,000.0"), (math.nan, "–")],
)
def test_numbers_have_four_decimals_and_counts_one(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0.2175, 0.1484, 0.2866), "0.2175 [0.1484, 0.2866]"),
        ((9.9348, 7.681, 12.1886), "9.9 [7.7, 12.2]"),
        ((2.5, -11.0, 16.0), "2.5 [-11.0, 16.0]"),
        ((0.5, 0.25, math.inf), "0.5000 [0.2500, inf]"),
        ((0.5, math.nan, math.nan), "0.5000"),
    ],
)
def test_the_numbers_of_an_interval_have_the_same_decimals(numbers, text):
    assert number_text(*numbers) == text


def test_a_difference_and_its_limits_have_the_same_decimals():
    assert number_text(6.9333, -1.7358, 15.6, is_signed=True) == "+6.9 [-1.7, +15.6]"
    assert number_text(-6.9, -13.4, 0.0, is_signed=True) == "-6.9 [-13.4, 0.0]"
    assert number_text(0.0123, -13.4, 15.6, is_signed=True) == "+0.0123 [-13.4, +15.6]"


def test_differences_show_what_is_known():
    assert difference_text(0.1, -0.05, 0.25) == "+0.1000 [-0.0500, +0.2500]"
    assert difference_text(0.1, math.nan, math.nan) == "+0.1000"
    assert difference_text(math.nan, -0.05, 0.25) == "[-0.0500, +0.2500]"
    assert difference_text(math.nan, math.nan, math.nan) == "–"


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.95, 10, "95%"),
        (0.999, 10, "99.9%"),
        (0.613, 2, "61%"),
        (0.04567, 2, "4.6%"),
        (0.997, 2, "99.7%"),
        (2 / 3 + 0.33, 2, "99.7%"),
        (1.0, 2, "100%"),
        (0.9423, 3, "94.2%"),
        (0.0, 2, "0%"),
        (1e-7, 2, "0.00001%"),
        (math.nan, 2, "–"),
    ],
)
def test_percents_in_sentences_have_so_many_digits_and_no_exponent(share, digits, text):
    assert percent(share, digits) == text


def test_percents_in_columns_have_the_same_decimals():
    assert [share_text(share) for share in (0.8341, 0.0, 1.0)] == ["83.4%", "0.0%", "100.0%"]
    assert share_text(0.805, 0) == "80%"
    assert share_text(math.nan) == "–"


def test_p_values_are_never_shown_as_zero():
    assert p_text(1e-30) == "<0.0001"
    assert p_text(0.00009) == "<0.0001"
    assert p_text(0.0001) == "0.0001"
    assert p_text(0.05) == "0.0500"
    assert p_text(math.nan) == "–"
    assert [p_text(p, 3) for p in (0.0009, 0.001, 0.0516)] == ["<0.001", "0.001", "0.052"]


def test_p_values_of_sentences_are_those_of_tables_without_the_0_before_the_point():
    assert [p_words(p) for p in (0.0214, 0.0042, 0.0009, 1e-30, 0.9996, 1.0, math.nan)] == [
        *("p = .021", "p = .004", "p < .001", "p < .001"),
        *("p = 1.000", "p = 1", "no p-value"),
    ]


def test_one_thing_has_no_plural():
    assert counted(1, "topic") == "1 topic"
    assert counted(0, "topic") == "0 topics"
    assert counted(1200, "topic") == "1,200 topics"
    assert [counted(number, "study", "studies") for number in (1, 2)] == ["1 study", "2 studies"]


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (0.95, "95%"),
        (0.9995, "99.95%"),
        (1 - 0.05 * 6 / math.pi**2, "97.0%"),
        (1 - 0.05 * 6 / (math.pi * 3) ** 2, "99.7%"),
        (0.99999, "99.999%"),
        (1 - 1e-12, "99.9999999999%"),
        (1.0, "100%"),
    ],
)
def test_levels_have_as_many_decimals_as_they_need(level, text):
    assert level_text(level) == text


def test_numbers_of_sentences_are_rounded_to_what_they_mean():
    assert score_words(0.37755) == "0.378"
    assert limits_words(0.3077, 0.4535) == "[0.308, 0.454]"
    assert difference_words(-0.0991, -0.1879, -0.0101) == "−0.099 [−0.188, −0.010]"
    assert difference_words(0.0004, 0.0, math.nan) == "+0.0004"
    assert difference_words(0.05, 0.0, 0.1, 1) == "+0.050 (0.000, +0.100]"
    assert [count_words(n) for n in (43, 1287, 93_412)] == ["43", "1,300", "93,000"]
    assert percent(0.4894, 2) == "49%"
