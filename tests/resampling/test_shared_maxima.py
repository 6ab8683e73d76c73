"""The largest t* of all pairs, computed once for the best run, ranks and pairs."""

import numpy as np
import pytest

import confir
from confir.pairs.run_pairs import compare_all_runs
from confir.resampling.kinds import as_sample
from confir.resampling.pair_draws import BorrowedVariance, PairDraws
from confir.resampling.replicates import shared_draws
from confir.resampling.studentised_maxima import largest_statistics, studentised_maxima
from confir.resampling.unit_draws import UnitDraws
from contracts.test_samples import EXAMPLES, plain

ONE, EVERY = BorrowedVariance(3, 0.01), BorrowedVariance(6, 0.01)


def never(*_):
    raise AssertionError("computed again")


@pytest.fixture
def once(monkeypatch):
    """The largest t* of all pairs cannot be computed by themselves."""
    for one in (PairDraws, UnitDraws):
        monkeypatch.setattr(one, "largest", never)


def maxima_of(sample, seed=1):
    return studentised_maxima(sample, 99, np.random.default_rng(seed), EVERY, ONE)


def largest_of(sample, borrowed=EVERY, seed=1):
    return largest_statistics(sample, 99, np.random.default_rng(seed), borrowed)


@pytest.mark.usefixtures("once")
def test_maxima_of_equal_draws_are_computed_once():
    sample, same = (as_sample(plain()).of_measure(0) for _ in range(2))
    with shared_draws():
        found = maxima_of(sample).largest
        np.testing.assert_array_equal(largest_of(same), found)
        np.testing.assert_array_equal(largest_of(same, EVERY._replace(median=0.01 + 1e-17)), found)


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize(
    ("seed", "borrowed", "change"), [(2, EVERY, 0), (1, ONE, 0), (1, EVERY, 0.1)]
)
def test_maxima_of_other_draws_are_recomputed(seed, borrowed, change):
    values = plain().values[:, :, 0]
    with shared_draws():
        maxima_of(as_sample(values))
        values[3, 1] += change
        with pytest.raises(AssertionError, match="computed again"):
            largest_of(as_sample(values), borrowed, seed)


@pytest.mark.usefixtures("once")
def test_nothing_is_kept_after_the_studies_that_share():
    with shared_draws():
        maxima_of(as_sample(plain()).of_measure(0))
    with pytest.raises(AssertionError, match="computed again"):
        largest_of(as_sample(plain()).of_measure(0))


@pytest.mark.parametrize("kind", [kind for kind in EXAMPLES if kind != "published means"])
@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_pairs_are_the_same_whether_their_maxima_are_shared_or_not(kind):
    scores = EXAMPLES[kind]()
    alone = confir.compare_runs(scores, replicates=99, rng=1)
    with shared_draws():
        compare_all_runs(scores, 99, 1, what="ranks", level=0.95)
        shared = confir.compare_runs(scores, replicates=99, rng=1)
    np.testing.assert_array_equal(shared.p_adjusted, alone.p_adjusted)
    np.testing.assert_array_equal(shared.verdict, alone.verdict)


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("kind", ["plain", "clusters", "human and model judgements", "repeats"])
@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_pairs_take_the_maxima_of_the_best_run(kind):
    scores = EXAMPLES[kind]().select(measure=["AP"])
    with shared_draws():
        compare_all_runs(scores, 99, 1, what="ranks", level=0.95)
        assert len(confir.compare_runs(scores, replicates=99, rng=1).families[0].maxima) >= 99
