"""The small-R correction against the paper's enumeration."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from confir.errors import InvalidValueError
from confir.intervals.interval import Limits
from confir.intervals.small_r import (
    correct_small_r,
    largest_unseen_share,
    lead_balloon_limit,
    silver_bullet_limit,
)


def expected_ap_by_dynamic_programming(depth, relevant, share):
    """E(AP') where each relevant document is retrieved with a chance, at a uniform distinct rank.

    Ranks are gone through one by one; the state is how many silver bullets stand above.
    """
    total = 0.0
    for bullets in range(1, relevant + 1):
        chance = (
            np.prod([(relevant - i) / (i + 1) for i in range(bullets)])
            * share**bullets
            * (1 - share) ** (relevant - bullets)
        )
        states, expected = {0: 1.0}, 0.0
        for rank in range(1, depth + 1):
            after: dict[int, float] = {}
            for above, weight in states.items():
                here = (bullets - above) / (depth - rank + 1)
                if here > 0:
                    expected += weight * here * (above + 1) / rank
                    after[above + 1] = after.get(above + 1, 0.0) + weight * here
                if here < 1:
                    after[above] = after.get(above, 0.0) + weight * (1 - here)
            states = after
        total += chance * expected / relevant
    return total


def expected_ap_by_listing(depth, relevant, share):
    """The same, every choice of ranks written out, in exact fractions."""
    total = Fraction(0)
    for bullets in range(1, relevant + 1):
        sets = list(combinations(range(1, depth + 1), bullets))
        sums = [
            sum((Fraction(i, rank) for i, rank in enumerate(ranks, 1)), Fraction(0))
            for ranks in sets
        ]
        ways = Fraction(int(np.prod([(relevant - i) / (i + 1) for i in range(bullets)]).round()))
        chance = ways * share**bullets * (1 - share) ** (relevant - bullets)
        total += chance * sum(sums, Fraction(0)) / len(sets) / relevant
    return total


@pytest.mark.parametrize("depth", [2, 5, 37, 200])
@pytest.mark.parametrize("relevant", [1, 2, 4, 5])
def test_closed_form_of_the_limit_equals_the_enumeration(depth, relevant):
    if relevant > depth:
        return
    share = float(largest_unseen_share(np.array(relevant), 0.95))
    expected = expected_ap_by_dynamic_programming(depth, relevant, share)
    found = silver_bullet_limit(np.array([relevant]), np.array([depth]), 0.95)
    assert found[0] == pytest.approx(expected, abs=1e-13)


def test_enumeration_equals_every_choice_written_out():
    share = Fraction(1, 3)
    listed = expected_ap_by_listing(6, 3, share)
    assert expected_ap_by_dynamic_programming(6, 3, 1 / 3) == pytest.approx(float(listed))


def test_published_share_of_silver_bullets_of_four_documents():
    assert round(float(largest_unseen_share(np.array(4), 0.95)), 2) == 0.53


def test_limits_of_lists_of_a_thousand_documents():
    limits = silver_bullet_limit(np.array([1, 2, 4, 8]), np.full(4, 1_000), 0.95)
    assert limits.round(5).tolist() == [0.00711, 0.00641, 0.00477, 0.00302]


def test_limits_of_empty_lists_and_of_single_documents():
    limits = silver_bullet_limit(np.array([4, 4]), np.array([0, 1]), 0.95)
    assert limits[0] == 0.0
    assert limits[1] == largest_unseen_share(np.array(4), 0.95)


def test_limit_never_exceeds_1_for_more_relevant_documents_than_ranks():
    limits = silver_bullet_limit(np.array([500]), np.array([2]), 0.999999)
    assert limits[0] <= 1.0


def test_lead_balloons_leave_the_root_of_the_error():
    np.testing.assert_allclose(lead_balloon_limit(np.array([1, 4]), 0.95), [0.05, 0.05**0.25])


def corrected(estimate, low, high, relevant, depth):
    arrays = [np.array([value]) for value in (low, high)]
    limits, applied = correct_small_r(
        Limits(*arrays), np.array([estimate]), np.array([relevant]), np.array([depth]), 0.95
    )
    return limits.low[0], limits.high[0], bool(applied[0])


def test_zero_and_one_get_the_intervals_of_the_correction():
    upper = silver_bullet_limit(np.array([4]), np.array([1_000]), 0.95)[0]
    assert corrected(0.0, 0.0, 0.0, 4, 1_000) == (0.0, upper, True)
    assert corrected(1.0, 1.0, 1.0, 4, 1_000) == pytest.approx((0.05**0.25, 1.0, True))


def test_scores_near_0_get_the_smallest_interval_that_holds_both():
    assert corrected(0.004, 0.001, 0.2, 4, 1_000) == (0.0, 0.2, True)
    assert corrected(0.0049, 0.001, 0.2, 4, 1_000) == (0.001, 0.2, False)


def test_an_interval_without_limits_is_replaced():
    assert corrected(0.9, np.nan, np.nan, 4, 1_000)[0] == pytest.approx(0.05**0.25)


def test_a_short_list_may_be_near_0_and_near_1():
    assert corrected(0.5, 0.4, 0.6, 1, 1) == (0.0, 1.0, True)


def test_a_level_outside_0_and_1_is_refused():
    with pytest.raises(InvalidValueError, match="level is 1"):
        silver_bullet_limit(np.array([1]), np.array([1]), 1.0)


def test_the_upper_limit_is_at_most_1_at_levels_next_to_1():
    """20 relevant documents with a share of 0.5 each, in a list of two."""
    level = 1.0 - 1e-6
    assert largest_unseen_share(np.array([20]), level) == pytest.approx(0.5, abs=2e-3)
    assert silver_bullet_limit(np.array([20]), np.array([2]), level) == [1.0]
