"""Leaderboards of summaries equal those of the scores, up to the draws of topics."""

import itertools

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnsupportedMethodError,
)
from confir.studies.leaderboard.summarised_board import SummarisedBoard

RUNS = ("bm25", "<script>", "constructor", "d")


def make_part(topics, seed, shift):
    rng = np.random.default_rng(seed)
    hard = rng.normal(shift, 1, (topics, 1, 1))
    noise = rng.normal(0, 0.7, (topics, len(RUNS), 1)) + 0.02 * np.arange(len(RUNS))[:, None]
    ids = tuple(f"q{number:06d}" for number in range(topics))
    return Scores(ids, RUNS, ("nDCG@10",), 1 / (1 + np.exp(-(hard + noise))))


@pytest.fixture(scope="module")
def parts():
    return {
        "x": make_part(3_000, 1, 0.0),
        "y": make_part(3_500, 2, 0.3),
        "z": make_part(2_500, 3, -0.4),
    }


@pytest.fixture(scope="module")
def boards(parts):
    summaries = {name: confir.summarise_scores(part) for name, part in parts.items()}
    both = (parts, summaries)
    return [confir.make_leaderboard(one, replicates=999, rng=1) for one in both]


def test_means_intervals_and_ranks_are_those_of_the_scores(boards):
    held, summed = boards
    for name in ("mean", "low", "high", "macro", "macro_low", "macro_high", "borda"):
        one, other = getattr(held, name), getattr(summed, name)
        np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=name)
    for name in (
        "rank",
        "rank_low",
        "rank_high",
        "borda_rank",
        "borda_low",
        "borda_high",
        "topics",
    ):
        assert getattr(held, name).tolist() == getattr(summed, name).tolist(), name
    assert (held.sampling, held.datasets) == (summed.sampling, summed.datasets)


def test_neighbours_are_tested_by_the_largest_of_normal_differences(boards, parts):
    summed = boards[1]
    size = len(parts)
    matrix = sum(np.cov(part.values[:, :, 0].T) / len(part.topics) for part in parts.values())
    drawn = np.random.default_rng(5).multivariate_normal(np.zeros(4), matrix / size**2, 200_000)
    first, second = np.triu_indices(4, 1)
    variance = matrix / size**2
    se = np.sqrt(variance[first, first] + variance[second, second] - 2 * variance[first, second])
    largest = np.abs((drawn[:, first] - drawn[:, second]) / se).max(axis=1)
    order = summed.order
    for one, other in itertools.pairwise(order):
        pair = next(place for place in range(6) if {first[place], second[place]} == {one, other})
        t = abs(summed.macro[one] - summed.macro[other]) / se[pair]
        p = float(np.mean(largest >= t))
        error = 4 * np.sqrt(p * (1 - p) / 999) + 0.005
        assert summed.p_next[one] == pytest.approx(p, abs=error)


def test_the_order_of_the_runs_changes_no_replicate(parts):
    turned = {name: part.select(run=part.runs[::-1]) for name, part in parts.items()}
    first, second = (
        SummarisedBoard.of({name: confir.summarise_scores(part) for name, part in one.items()})
        for one in (parts, turned)
    )
    drawn, again = (one.draw(9, np.random.default_rng(1)) for one in (first, second))
    assert again[:, ::-1] == pytest.approx(drawn)


def test_what_a_summary_does_not_allow_is_refused(parts):
    mixed = {**parts, "z": confir.summarise_scores(parts["z"])}
    with pytest.raises(UnsupportedMethodError, match="expected datasets 'fixed'"):
        confir.make_leaderboard(mixed, datasets="random")
    mixed["x"] = parts["x"].select(run=list(RUNS[:3]))
    with pytest.raises(TopicMismatchError, match=r"1 of 12 cells has no score \(d on x\)"):
        confir.make_leaderboard(mixed)
    with pytest.warns(TopicWarning, match=r"left out 1 run \(d\)"):
        assert confir.make_leaderboard(mixed, incomplete="drop-runs", rng=1).runs == RUNS[:3]
    with pytest.warns(TopicWarning, match=r"left out 1 dataset \(x\)"):
        kept = confir.make_leaderboard(mixed, incomplete="drop-datasets", rng=1)
    assert kept.datasets == ("y", "z")


def test_a_run_and_a_dataset_of_one_name_are_not_mistaken_for_each_other():
    """Run "x" is missing on dataset "y"; dataset "x" is complete, and so is run "y"."""
    values = np.random.default_rng(1).random((5, 3, 1))
    whole = Scores(tuple("12345"), ("x", "y", "z"), ("AP",), values)
    parts = {"x": whole, "y": whole.select(run=["y", "z"]), "z": whole}
    summaries = {name: confir.summarise_scores(part) for name, part in parts.items()}
    for sources in (parts, summaries):
        with pytest.warns(TopicWarning, match=r"left out 1 run \(x\)"):
            found = confir.make_leaderboard(sources, incomplete="drop-runs", replicates=9)
        assert (found.runs, found.datasets) == (("y", "z"), ("x", "y", "z"))
        with pytest.warns(TopicWarning, match=r"left out 1 dataset \(y\)"):
            found = confir.make_leaderboard(sources, incomplete="drop-datasets", replicates=9)
        assert (found.runs, found.datasets) == (("x", "y", "z"), ("x", "z"))
        two = {name: sources[name] for name in "xy"}
        with pytest.raises(
            TopicMismatchError, match="1 dataset would be left, expected at least 2"
        ):
            confir.make_leaderboard(two, incomplete="drop-datasets")
        with pytest.raises(InvalidValueError, match=r"there is one dataset \(x\)"):
            confir.make_leaderboard({"x": sources["x"]})


def test_borda_limits_of_a_tiny_dataset_are_as_wide_as_those_of_resampled_topics():
    """Four boards of 7, 300 and 301 topics: the mean width of 16 limits, in ranks."""
    width = []
    for seed in range(4):
        parts = {str(n): make_part(n, 10 * seed + n, 0.0) for n in (7, 300, 301)}
        summaries = {name: confir.summarise_scores(part) for name, part in parts.items()}
        found = [confir.make_leaderboard(one, replicates=99, rng=1) for one in (parts, summaries)]
        width.append([float(np.mean(one.borda_high - one.borda_low)) for one in found])
    held, summed = np.mean(width, axis=0)
    assert held > 0.5  # ranks are uncertain
    assert summed == pytest.approx(held, abs=0.3)


def test_a_small_dataset_with_a_large_one_decides_what_is_significant():
    """Ten runs of one mean on 8 and 5,200 topics: 80 boards, 3 standard errors above 5%."""
    runs = tuple("abcdefghij")
    rng = np.random.default_rng(11)

    def summary(topics):
        ids = tuple(map(str, range(topics)))
        drawn = rng.normal(size=(topics, len(runs), 1))
        return confir.summarise_scores(Scores(ids, runs, ("x",), drawn))

    large, wrong = summary(5_200), 0
    for seed in range(80):
        parts = {"small": summary(8), "large": large}
        found = confir.make_leaderboard(parts, replicates=199, rng=seed)
        wrong += bool((found.rank_low > 1).any() or (found.rank_high < len(runs)).any())
    assert wrong / 80 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 80)
