"""Which measure separates runs: against enumeration and simulated runs."""

from __future__ import annotations

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.errors import InvalidValueError


def make_scores(*tables):
    """Return scores by measures m0, m1, …: each topics × runs."""
    values = np.stack(tables, axis=2)
    topics = tuple(f"{place:03}" for place in range(len(values)))
    runs = tuple(f"r{place}" for place in range(values.shape[1]))
    return Scores(topics, runs, tuple(f"m{n}" for n in range(values.shape[2])), values)


def noisy(seed, spread, topics=40, runs=8):
    """Return scores of runs 0.02 apart, with a spread over topics."""
    rng = np.random.default_rng(seed)
    return 0.3 + 0.02 * np.arange(runs) + rng.normal(0, spread, (topics, runs))


def test_a_measure_with_less_noise_separates_more_pairs_and_swaps_fewer():
    found = confir.compare_measures(make_scores(noisy(1, 0.2), noisy(1, 0.02)), rng=1)
    assert found.power[1] > found.power[0]
    assert found.swap_rate[1] < found.swap_rate[0]
    assert found.pairs == 28


def test_power_is_the_share_of_verdicts_of_all_pairs():
    scores = make_scores(noisy(3, 0.05))
    found = confir.compare_measures(scores, rng=1)
    compared = confir.compare_runs(scores, rng=1)
    share = np.isin(compared.verdict[0, :, 0], ["better", "worse"]).mean()
    assert found.power[0] == share
    assert 0 < share < 1


def test_swaps_against_all_halves_of_six_topics():
    from itertools import combinations

    values = np.random.default_rng(5).random((6, 3))
    swaps = []
    for chosen in combinations(range(6), 3):
        rest = [t for t in range(6) if t not in chosen]
        one, other = values[list(chosen)].mean(axis=0), values[rest].mean(axis=0)
        swaps.append(
            [(one[j] - one[i]) * (other[j] - other[i]) < 0 for i, j in combinations(range(3), 2)]
        )
    found = confir.compare_measures(make_scores(values), splits=4000, rng=2)
    assert found.swap_rate[0] == pytest.approx(np.mean(swaps), abs=0.02)


def test_swaps_by_a_design_against_all_halves_of_the_clusters_of_two_strata():
    from itertools import combinations, product

    rng = np.random.default_rng(8)
    values, weight = rng.random((16, 3)), rng.integers(1, 4, 16).astype(float)
    cluster = np.arange(16) // 2  # 4 clusters of two topics in each of two strata
    scores = make_scores(values)
    columns = {
        "topic": scores.topics,
        "cluster": [f"c{c}" for c in cluster],
        "stratum": ["ab"[c // 4] for c in cluster],
        "weight": weight,
    }
    swaps = []
    for first, second in product(combinations(range(4), 2), combinations(range(4, 8), 2)):
        means = []
        for chosen in (first + second, tuple(set(range(8)) - set(first + second))):
            mean = np.zeros(3)
            for stratum in (range(8), range(8, 16)):
                own = [t for t in stratum if cluster[t] in chosen]
                share = weight[list(stratum)].sum() / weight.sum()
                mean += share * np.average(values[own], axis=0, weights=weight[own])
            means.append(mean)
        one, other = means
        swaps.append(
            [(one[j] - one[i]) * (other[j] - other[i]) < 0 for i, j in combinations(range(3), 2)]
        )
    with pytest.warns(confir.errors.InputWarning, match="8 clusters"):
        found = confir.compare_measures(scores.with_design(columns), splits=4000, rng=2)
    assert found.swap_rate[0] == pytest.approx(np.mean(swaps), abs=0.02)


@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_swaps_are_unknown_where_missing_scores_leave_too_few_clusters():
    """Of the four clusters of a stratum, two runs share two, and all three share one by m1, two by m2."""
    whole, one, two = (noisy(seed, 0.1, topics=24, runs=3) for seed in (1, 2, 3))
    cluster = np.arange(24) // 2  # 4 clusters of two topics in one stratum, 8 in the other
    for run, lacks in enumerate((1, 2, 3)):
        one[cluster == lacks, run] = np.nan
        two[cluster == min(lacks, 2), run] = np.nan
    scores = make_scores(whole, one, two)
    columns = {
        "topic": scores.topics,
        "cluster": [f"c{c}" for c in cluster],
        "stratum": ["a" if c < 4 else "b" for c in cluster],
    }
    found = confir.compare_measures(scores.with_design(columns), rng=1)
    assert np.isnan(found.swap_rate).tolist() == [False, True, False]


def test_identical_runs_are_ties():
    values = np.repeat(np.random.default_rng(5).random((6, 1)), 2, axis=1)
    with pytest.warns(confir.errors.DegenerateSampleWarning):
        found = confir.compare_measures(make_scores(values), splits=9, rng=2)
    assert (found.power[0], found.swap_rate[0]) == (0.0, 0.5)
    assert np.isnan(found.separated_swap_rate[0])


def test_runs_that_always_win_never_swap():
    base = np.random.default_rng(1).random((10, 1))
    found = confir.compare_measures(make_scores(base + np.array([0.0, 1.0]) * (1 + base)), rng=1)
    assert (found.power[0], found.swap_rate[0]) == (1.0, 0.0)


def test_bad_input_is_refused():
    with pytest.raises(InvalidValueError, match="there is one run"):
        confir.compare_measures(make_scores(np.ones((5, 1))))
    with pytest.raises(InvalidValueError, match="there is one topic; two halves need at least 4"):
        confir.compare_measures(make_scores(np.ones((1, 2))))
    with pytest.raises(InvalidValueError, match="at least 4 topics"):
        confir.compare_measures(make_scores(np.ones((3, 2))))
    scores = make_scores(noisy(1, 0.1, topics=30))
    design = {topic: topic[:2] for topic in scores.topics}
    with pytest.raises(InvalidValueError, match="at least 4 clusters"):
        confir.compare_measures(scores.with_design(design))
