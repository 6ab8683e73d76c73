"""Leaderboards over many datasets, against closed forms, MTEB's Borda count and brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.scores import Scores
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnsupportedMethodError,
)
from confir.pairs.run_pairs import compare_all_runs
from confir.studies.leaderboard.board_making import _neighbours, make_leaderboard
from confir.studies.leaderboard.borda import borda_counts, descending_ranks
from confir.studies.leaderboard.table import board_part, leaderboard_table
from requirements import required

RUNS = ("a", "b", "<script>", "constructor")


def make_datasets(seed=4, sizes=(30, 12, 8)):
    """Return scores of four runs on three simulated datasets."""
    rng = np.random.default_rng(seed)
    parts = {}
    for name, size in zip(("x", "y", "z"), sizes, strict=True):
        base = rng.beta(2, 3, (size, 1))
        values = np.clip(base + rng.normal(0, 0.1, (size, 4)) + [0.0, 0.05, 0.12, 0.3], 0, 1)
        topics = tuple(f"{place:02}" for place in range(size))
        parts[name] = Scores(topics, RUNS, ("AP",), values[:, :, None])
    return parts


def mteb_borda(table):
    """Return Borda counts and their ranks as MTEB's leaderboard computes them, from runs × tasks."""
    pandas = required("pandas")
    frame = pandas.DataFrame(table)
    counts = frame.apply(
        lambda column: len(column) - column.rank(method="average", ascending=False)
    )
    total = counts.sum(axis=1)
    return total.to_numpy(), total.rank(method="min", ascending=False).astype(int).to_numpy()


def test_borda_counts_are_those_of_mteb():
    rng = np.random.default_rng(1)
    table = np.round(rng.random((40, 15)), 1)  # with many ties
    counts, ranks = mteb_borda(table)
    np.testing.assert_allclose(borda_counts(table), counts, atol=1e-9)
    np.testing.assert_array_equal(descending_ranks(borda_counts(table)), ranks)


def test_fixed_datasets_have_the_variance_of_their_topics():
    parts = make_datasets()
    board = make_leaderboard(parts, rng=1, replicates=99)
    assert board.sampling == "fixed"
    values = [part.values[:, 0, 0] for part in parts.values()]
    errors = np.array([v.var(ddof=1) / len(v) for v in values])
    mean, se = np.mean([v.mean() for v in values]), np.sqrt(errors.sum()) / 3
    squares = sum(e**2 / (len(v) + 1) for e, v in zip(errors, values, strict=True))
    df = errors.sum() ** 2 / squares - 2
    half = stats.t.ppf(0.975, df) * se / (mean * (1 - mean))
    limits = 1 / (1 + np.exp(-(np.log(mean / (1 - mean)) + np.array([-half, half]))))
    assert board.macro[0] == pytest.approx(mean, abs=1e-13)
    assert (board.macro_low[0], board.macro_high[0]) == pytest.approx(tuple(limits), abs=1e-10)
    own = confir.confidence_interval(parts["y"])
    np.testing.assert_array_equal(board.low[1], own.low[:, 0])
    assert board.topics.tolist() == [30, 12, 8]


def test_clusters_inside_datasets_are_those_of_each_dataset():
    """V is the mean of the datasets' variances over their number; "y" has no clusters."""
    parts = make_datasets()
    for name in ("x", "z"):
        labels = [f"c{place // 3}" for place in range(len(parts[name].topics))]
        parts[name] = parts[name].with_design({"topic": parts[name].topics, "cluster": labels})
    board = make_leaderboard(parts, rng=1, replicates=99)
    variances, spare = [], []
    for name, part in parts.items():
        apart = part.values[:, 0, 0] - part.values[:, 0, 0].mean()
        step = 1 if name == "y" else 3
        sums = np.add.reduceat(apart, np.arange(0, len(apart), step))
        groups = len(sums)
        variances.append(groups / (groups - 1) * np.square(sums).sum() / len(apart) ** 2)
        spare.append(groups - 1)
        own = confir.confidence_interval(part)
        np.testing.assert_array_equal(board.low[board.datasets.index(name)], own.low[:, 0])
    variance = np.sum(variances)
    df = variance**2 / np.sum(np.square(variances) / np.add(spare, 2)) - 2
    mean = board.macro[0]
    half = stats.t.ppf(0.975, df) * np.sqrt(variance) / 3 / (mean * (1 - mean))
    low = 1 / (1 + np.exp(-(np.log(mean / (1 - mean)) - half)))
    assert board.macro_low[0] == pytest.approx(low, abs=1e-10)


def test_random_datasets_have_the_variance_of_their_means():
    parts = make_datasets()
    with pytest.warns(
        confir.errors.SmallSampleWarning, match="no run can be ruled out as the best"
    ):
        board = make_leaderboard(parts, datasets="random", rng=1, replicates=99)
    means = np.array([part.values[:, 0, 0].mean() for part in parts.values()])
    table = Scores(("x", "y", "z"), RUNS, ("AP",), board.mean[:, :, None])
    alone = make_leaderboard(table, rng=1, replicates=99)
    mean, se = means.mean(), means.std(ddof=1) / np.sqrt(3)
    half = stats.t.ppf(0.975, 2) * se / (mean * (1 - mean))
    low = 1 / (1 + np.exp(-(np.log(mean / (1 - mean)) - half)))
    for found in (board, alone):
        assert found.macro[0] == pytest.approx(mean, abs=1e-13)
        assert found.macro_low[0] == pytest.approx(low, abs=1e-10)
    np.testing.assert_array_equal(board.rank_low, alone.rank_low)
    np.testing.assert_array_equal(board.borda_high, alone.borda_high)
    assert np.isnan(alone.low).all()
    assert alone.to_records()[0]["topics"] is None
    alone_in_set = replace(board, may_be_best=np.array([False, False, False, True]))
    assert alone_in_set.sentence() == (
        "constructor is the best of the 4 runs by mean AP on datasets like these (95% confidence)"
    )
    together = replace(board, may_be_best=np.array([False, False, True, True]))
    assert "; 2 of the 4 runs may be the best on datasets like these (95%" in together.sentence()


def test_borda_ranks_of_fixed_datasets_are_those_of_resampled_topics():
    parts = make_datasets()
    board = make_leaderboard(parts, rng=1, replicates=2000, level=0.9)
    rng = np.random.default_rng(8)
    ranks = []
    for _ in range(2000):
        means = []
        for part in parts.values():
            size = len(part.topics)
            drawn = rng.integers(0, size, size - 1)
            means.append(part.values[drawn, :, 0].mean(axis=0))
        ranks.append(mteb_borda_ranks(np.stack(means, axis=1)))
    low, high = np.quantile(ranks, [0.05, 0.95], axis=0, method="inverted_cdf")
    assert np.abs(board.borda_low - low).max() <= 1
    assert np.abs(board.borda_high - high).max() <= 1
    assert board.borda_low[3] == board.borda_high[3] == 1


def mteb_borda_ranks(table):
    """Return ranks by Borda count, one run and dataset at a time."""
    counts = [
        sum((row > other).sum() + (row == other).sum() / 2 for other in table) - table.shape[1] / 2
        for row in table
    ]
    return [1 + sum(other > count for other in counts) for count in counts]


def test_neighbours_are_separable_where_all_pairs_of_the_comparison_say_so():
    parts = make_datasets()
    board = make_leaderboard(parts, rng=1)
    assert board.order[0] == 3
    assert board.separable[3]
    assert np.isnan(board.p_next[board.order[-1]])
    from confir.studies.leaderboard.board_sources import board_scores

    compared = confir.compare_runs(board_scores(parts, None, None, "error"), rng=3)
    for better, worse in zip(board.order, board.order[1:], strict=False):
        low, high = sorted((better, worse))
        pair = next(
            p
            for p, (i, j) in enumerate(zip(compared.first, compared.second, strict=True))
            if (i, j) == (low, high)
        )
        assert board.p_next[better] == pytest.approx(compared.p_adjusted[0, pair, 0], abs=0.02)


@pytest.mark.parametrize(("lead", "p", "unclear"), [(0.08, 0.07, True), (0.3, 0.0, False)])
def test_a_comparison_with_the_next_run_near_the_threshold_is_borderline(lead, p, unclear):
    """The lead of one run over eleven tied ones; 190 replicates have an error of .016 at .05."""
    rng = np.random.default_rng(8)
    values = rng.uniform(-0.1, 0.1, (25, 1)) + rng.uniform(-0.14, 0.14, (25, 12))
    values += 0.4 - values.mean(axis=0) + lead * np.eye(12)[0]
    topics, runs = (tuple(f"{n:02}" for n in range(number)) for number in values.shape)
    scores = Scores(topics, runs, ("AP",), values[:, :, None])
    (pairs,) = compare_all_runs(scores, 19, 1, what="ranks", level=0.95)
    p_next, _, borderline = _neighbours(pairs, pairs.pair_p(), 0.95)
    assert p_next[0] == pytest.approx(p, abs=0.03)
    assert borderline[0] == unclear
    assert make_leaderboard(scores, rng=1, replicates=19).borderline[0] >= unclear


@pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning")
def test_a_mean_without_an_interval_is_said_without_limits():
    values = 0.1 * np.arange(4)[:, None] + np.array([0.1, 0.2])
    table = Scores(("w", "x", "y", "z"), ("a", "b"), ("AP",), values[:, :, None])
    said = make_leaderboard(table, standardise=True, rng=1).sentence()
    assert said.startswith("b has the highest mean standardised AP over 4 datasets, 0.707; each of")


def test_means_alone_have_no_fixed_datasets():
    table = Scores(("x", "y"), RUNS, ("AP",), np.random.default_rng(1).random((2, 4, 1)))
    with pytest.raises(UnsupportedMethodError, match="expected datasets 'random'"):
        make_leaderboard(table, datasets="fixed")


def test_missing_cells_are_handled_as_stated():
    parts = make_datasets()
    parts["y"] = parts["y"].select(run=["a", "b", "<script>"])
    with pytest.raises(TopicMismatchError, match="constructor on y"):
        make_leaderboard(parts)
    with pytest.warns(TopicWarning, match="left out 1 run "):
        assert make_leaderboard(parts, incomplete="drop-runs", replicates=99).runs == RUNS[:3]
    with pytest.warns(TopicWarning, match="left out 1 dataset "):
        kept = make_leaderboard(parts, incomplete="drop-datasets", replicates=99)
    assert kept.datasets == ("x", "z")
    with pytest.raises(confir.errors.UnknownNameError):
        make_leaderboard(parts, incomplete="drop")


def test_a_measure_goes_by_any_of_its_names():
    parts = make_datasets()
    one, other = (make_leaderboard(parts, measure=m, rng=1, replicates=9) for m in ("AP", "map"))
    np.testing.assert_array_equal(one.macro, other.macro)


def test_bad_boards_are_refused():
    parts = make_datasets()
    with pytest.raises(InvalidValueError, match="there is one dataset"):
        make_leaderboard({"x": parts["x"]})
    two = Scores(("1", "2"), ("a",), ("AP", "RR"), np.full((2, 1, 2), 0.5))
    with pytest.raises(InvalidValueError, match="several measures"):
        make_leaderboard({"x": two, "y": two})
    with pytest.raises(confir.errors.UnknownNameError):
        make_leaderboard(parts, measure="RR")
    one = make_datasets(sizes=(30, 1, 8))
    with pytest.raises(InvalidValueError, match="'y' has one cluster"):
        make_leaderboard(one)


def test_one_run_and_identical_runs_have_a_board():
    parts = {name: part.select(run=["a"]) for name, part in make_datasets().items()}
    assert make_leaderboard(parts, replicates=99, rng=1).rank.tolist() == [1]
    same = {
        name: Scores(part.topics, ("a", "b"), ("AP",), np.repeat(part.values, 2, axis=1))
        for name, part in parts.items()
    }
    board = make_leaderboard(same, replicates=99, rng=1)
    assert board.rank.tolist() == [1, 1]
    assert not board.separable.any()
    assert board.borda.tolist() == [1.5, 1.5]


@pytest.mark.slow
def test_rank_intervals_hold_the_true_ranks_of_simulated_datasets():
    truth = np.array([0.0, 0.02, 0.06, 0.12])
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        parts = {}
        for name in ("x", "y", "z"):
            base = rng.normal(0.4, 0.15, (25, 1))
            values = base + truth + rng.normal(0, 0.12, (25, 4))
            topics = tuple(f"{place:02}" for place in range(25))
            parts[name] = Scores(topics, RUNS, ("points",), values[:, :, None])
        board = make_leaderboard(parts, rng=seed, replicates=499)
        ranks = np.array([4, 3, 2, 1])
        held += bool(((board.rank_low <= ranks) & (ranks <= board.rank_high)).all())
    assert held >= 53  # at least 95% are expected; 53 of 60 or fewer have a chance of 2%


def test_mteb_models_on_fifteen_datasets(real_data):
    scores = confir.read_scores(real_data / "mteb-beir" / "ndcg_at_10.csv")
    board = make_leaderboard(scores, replicates=499, rng=1)
    counts, ranks = mteb_borda(scores.values[:, :, 0].T)
    np.testing.assert_allclose(board.borda, counts, atol=1e-9)
    np.testing.assert_array_equal(board.borda_rank, ranks)
    assert len(board.runs) == 197
    assert len(board.datasets) == 15
    assert board.macro[board.order[0]] == pytest.approx(scores.mean().max())
    assert (board.rank_low <= board.rank).all()
    assert (board.rank <= board.rank_high).all()


def test_a_run_ruled_out_by_one_sided_comparisons_alone_is_named_with_the_reason():
    """Two runs whose difference is significant at one-sided .05 and not at two-sided .05."""
    rng = np.random.default_rng(3)
    base = rng.uniform(0.2, 0.8, 20)
    apart = rng.normal(0, 0.05, 20)
    apart += 1.85 * apart.std(ddof=1) / np.sqrt(40) - apart.mean()  # t = 1.85 of two datasets
    close = confir.as_scores({"a": (base + apart / 2).tolist(), "b": (base - apart / 2).tolist()})
    board = confir.make_leaderboard({"x": close, "y": close}, replicates=999)
    assert board.may_be_best.tolist() == [True, False]
    assert board.ruled_out == ("b",)
    said = board_part(board, leaderboard_table(board)).sentences
    assert said[-1] == (
        "b is ruled out as the best, though inconclusive against a among all pairs: "
        "the best set makes fewer comparisons"
    )
    clear = confir.as_scores({"a": (base + 0.1).tolist(), "b": base.tolist()})
    other = confir.make_leaderboard({"x": clear, "y": clear}, replicates=999)
    assert other.ruled_out == ()
    assert len(board_part(other, leaderboard_table(other)).sentences) == 2


def test_runs_that_share_the_highest_mean_are_all_named():
    same = confir.as_scores(
        {"a": [0.3, 0.5, 0.4, 0.7], "b": [0.3, 0.5, 0.4, 0.7], "c": [0.2, 0.5, 0.4, 0.6]}
    )
    board = confir.make_leaderboard({"x": same, "y": same}, replicates=99)
    assert board.sentence().startswith("a and b have the highest mean score over 2 datasets")


def test_a_run_alone_has_no_sentence_about_pairs():
    alone = confir.as_scores({"a": [0.3, 0.5, 0.4, 0.7]})
    board = confir.make_leaderboard({"x": alone, "y": alone}, replicates=99)
    assert len(board_part(board, leaderboard_table(board)).sentences) == 1
