"""Whether two runs differ in which scores they lack: McNemar's exact test, against enumeration and scipy."""

import itertools

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.scores import Scores
from confir.errors import MissingTopicWarning
from confir.pairs.missing_pairs import find_unequal_failures


def table(empty, design=None):
    """Scores of ½, missing where topics × runs say so."""
    empty = np.asarray(empty, bool)
    values = np.where(empty, np.nan, 0.5 + 0.01 * np.arange(len(empty))[:, None])[:, :, None]
    topics = tuple(f"t{place:02d}" for place in range(len(empty)))
    scores = Scores(topics, tuple("abcdef"[: empty.shape[1]]), ("AP",), values)
    return scores if design is None else scores.with_design(design(topics))


@pytest.mark.parametrize(("only_a", "only_b", "both"), [(9, 1, 0), (7, 0, 3), (12, 2, 5)])
def test_a_pair_is_that_of_the_binomial_test(only_a, only_b, both):
    empty = np.zeros((40, 2), bool)
    empty[:only_a, 0] = empty[20 : 20 + only_b, 1] = empty[30 : 30 + both] = True
    (found,) = find_unequal_failures(table(empty))
    expected = stats.binomtest(only_a, only_a + only_b).pvalue
    assert found.p_adjusted == pytest.approx(expected, rel=1e-12)
    assert (found.more, found.only_more, found.only_fewer) == ("a", only_a, only_b)
    assert find_unequal_failures(table(empty[:, ::-1]))[0].more == "b"


def test_several_pairs_are_adjusted_by_holms_method():
    empty = np.zeros((40, 3), bool)
    empty[:9, 0] = empty[30:31, 1] = True
    found = {(one.more, one.fewer): one.p_adjusted for one in find_unequal_failures(table(empty))}
    # against b 9 to 1, against c 9 to 0; b against c, 1 to 0, is no third
    small, large = 2 / 2**9, stats.binomtest(9, 10).pvalue
    assert found == {("a", "c"): pytest.approx(3 * small), ("a", "b"): pytest.approx(2 * large)}


def test_whole_clusters_are_flipped_in_a_design_against_enumeration():
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(9), 4)
    empty = np.zeros((36, 2), bool)
    empty[:, 0] = (rng.random(36) < 0.7) & (cluster < 7)
    scores = table(empty, lambda topics: dict(zip(topics, map(str, cluster), strict=True)))
    excess = np.bincount(cluster, empty[:, 0])
    sums = [abs(np.dot(signs, excess)) for signs in itertools.product((-1, 1), repeat=9)]
    expected = np.mean(np.array(sums) >= abs(excess.sum()))
    (found,) = find_unequal_failures(scores)
    assert found.p_adjusted == pytest.approx(expected, rel=1e-12)
    assert expected > 2 * stats.binomtest(int(empty.sum()), int(empty.sum())).pvalue


@pytest.mark.filterwarnings("ignore:a and b do not both have", "ignore:no interval")
def test_unequal_failure_is_warned_of_and_equal_failure_is_not():
    empty = np.zeros((40, 2), bool)
    empty[:8, 0] = True
    with pytest.warns(
        MissingTopicWarning,
        match="failing is not the same for all runs: a alone lacks AP on 8 topics, b",
    ):
        confir.compare_runs(table(empty))
    empty[8:15, 1] = True
    assert find_unequal_failures(table(empty)) == []


@pytest.mark.slow
def test_equal_failure_is_warned_of_in_less_than_5_percent_of_tables():
    rng = np.random.default_rng(1)
    hard = rng.random((50, 1)) < 0.4
    warned = [
        bool(find_unequal_failures(table(hard & (rng.random((50, 4)) < 0.5)))) for _ in range(800)
    ]
    assert np.mean(warned) < 0.05
