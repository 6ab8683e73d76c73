"""The random baseline against [Bestgen2015]: its tables, its function, its statements, its errata."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from confir.measures.random_rankings import (
    expected_random_ap,
    random_score_moments,
)


def double_sum(documents: int, relevant: int) -> Fraction:
    """RandomAPExact of the paper: dhyper(i, R, N-R, n) (i/n)², over i and n, divided by R."""
    total = Fraction(0)
    for i in range(1, relevant + 1):
        for n in range(i, documents - relevant + i + 1):
            density = Fraction(
                comb(relevant, i) * comb(documents - relevant, n - i), comb(documents, n)
            )
            total += density * Fraction(i, n) ** 2
    return total / relevant


def test_table_1_lists_every_ranking_of_5_documents_with_2_relevant():
    printed = [1.00, 0.83, 0.75, 0.70, 0.58, 0.50, 0.45, 0.42, 0.37, 0.33]
    exact = [Fraction(1, a) / 2 + Fraction(2, b) / 2 for a, b in combinations(range(1, 6), 2)]
    assert [float(ap) for ap in exact] == pytest.approx(printed, abs=0.0051)
    assert sum(exact) == Fraction(5925, 1000)  # printed 5.93, the sum of rounded numbers
    assert expected_random_ap(5, 2) == pytest.approx(0.5925, abs=1e-15)  # printed 0.593
    assert random_score_moments("AP", 5, 2)[1] == pytest.approx(0.0442840, abs=5e-8)


def test_table_2_contributions_sum_to_the_expectation():
    printed = [0.400, 0.150, 0.067, 0.025, 0.100, 0.134, 0.150, 0.160]
    terms = [
        Fraction(comb(2, i) * comb(3, n - i), comb(5, n)) * Fraction(i, n) ** 2
        for i in (1, 2)
        for n in range(i, 4 + i)
    ]
    assert [float(term) for term in terms] == pytest.approx(printed, abs=0.0011)
    assert sum(terms) / 2 == Fraction(5925, 10_000)  # printed 1.186 / 2
    # the probabilities of each i sum to 1, as the paper's footnote says
    for i in (1, 2):
        final = [
            Fraction(comb(2, i) * comb(3, n - i), comb(5, n)) * Fraction(i, n)
            for n in range(i, 4 + i)
        ]
        assert sum(final) == 1


def test_the_function_call_of_the_paper():
    assert expected_random_ap(10, 4) == pytest.approx(0.5285979, abs=5e-8)
    assert random_score_moments("AP", 10, 4)[1] == pytest.approx(0.0244394, abs=5e-8)


@pytest.mark.parametrize("documents", [1, 2, 3, 5, 10, 23, 40])
def test_the_closed_form_equals_the_double_sum(documents):
    for relevant in range(1, documents + 1):
        exact = float(double_sum(documents, relevant))
        assert expected_random_ap(documents, relevant) == pytest.approx(exact, rel=1e-14)


def test_the_closed_form_equals_the_double_sum_for_its_first_timing():
    # 0.011 seconds in the paper
    assert expected_random_ap(100, 10) == pytest.approx(float(double_sum(100, 10)), rel=1e-14)


def excess_over_prevalence(documents, relevant):
    return expected_random_ap(documents, relevant) - relevant / documents


def test_the_expectation_exceeds_prevalence_but_for_relevant_documents_alone():
    documents = np.arange(1, 60)
    for n in documents:
        relevant = np.arange(1, n + 1)
        gap = excess_over_prevalence(n, relevant)
        assert (gap[:-1] > 1e-3).all()
        assert gap[-1] == pytest.approx(0, abs=1e-14)


def test_the_difference_falls_with_documents_and_with_prevalence():
    sizes = np.arange(100, 2_001, 100)
    by_share = [excess_over_prevalence(sizes, (sizes * share).astype(int)) for share in (0.05, 0.4)]
    for gaps in by_share:
        assert (np.diff(gaps) < 0).all()
    assert (by_share[0] > by_share[1]).all()


def test_the_difference_is_below_a_hundredth_from_597_documents_on():
    # the paper: from 600, for the values that it tested
    sizes = np.arange(2, 3_000)
    below = excess_over_prevalence(sizes, 1) < 0.01
    assert sizes[below][0] == 597
    assert below[sizes >= 597].all()


def test_erratum_the_double_sum_has_r_times_n_minus_r_plus_1_terms():
    terms = sum(len(range(i, 100 - 10 + i + 1)) for i in range(1, 11))
    assert terms == 910 == 10 * (100 - 10 + 1)
    assert terms != 10 * (10 + 100 - 1)  # as printed in general
