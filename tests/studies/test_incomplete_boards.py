"""Leaderboards of runs that miss datasets: the additive model, against OLS and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

import confir
from confir.data.scores import Scores
from confir.errors import InvalidValueError, TopicMismatchError, UnsupportedMethodError
from confir.studies.leaderboard.additive_fit import DatasetCells, fit_additive
from confir.studies.leaderboard.additive_sample import additive_sample
from confir.studies.leaderboard.board_making import make_leaderboard
from confir.studies.leaderboard.board_sources import board_scores

RUNS = ("a", "b", "c", "<d>")


def means_with_gaps(seed=1, datasets=6, runs=4, missing=((0, 1), (3, 0), (4, 0), (5, 2))):
    """Means of runs on datasets, some of which are missing."""
    rng = np.random.default_rng(seed)
    mean = 0.4 + rng.normal(0, 0.1, (datasets, 1)) + 0.05 * np.arange(runs)
    mean = mean + rng.normal(0, 0.03, (datasets, runs))
    for dataset, run in missing:
        mean[dataset, run] = np.nan
    names = tuple(f"d{number}" for number in range(datasets))
    return Scores(names, RUNS[:runs], ("score",), mean[:, :, None])


def topics_with_gaps(seed=2, sizes=(20, 12, 8, 15), missing=((0, 1), (2, 0))):
    """Scores by topic on datasets, some of which some runs lack."""
    rng = np.random.default_rng(seed)
    parts = {}
    for number, size in enumerate(sizes):
        runs = [run for place, run in enumerate(RUNS) if (number, place) not in missing]
        base = rng.uniform(0.2, 0.5, (size, 1)) + 0.1 * number / len(sizes)
        values = base + [0.05 * RUNS.index(run) for run in runs]
        values = np.clip(values + rng.normal(0, 0.08, values.shape), 0, 1)
        topics = [f"t{place}" for place in range(size)]
        parts[f"d{number}"] = Scores(topics, runs, ["AP"], values[:, :, None])
    return parts


def sample_of(sources, datasets=None):
    scores = board_scores(sources, None, datasets, "model")
    held = DatasetCells.of(scores)
    return additive_sample(scores, held, fit_additive(held)), held


def fit_by_ols(mean):
    """The additive model of means (datasets × runs) by statsmodels, with a column for each run."""
    dataset, run = np.nonzero(~np.isnan(mean))
    matrix = np.zeros((len(run), mean.shape[1] + mean.shape[0] - 1))
    matrix[np.arange(len(run)), run] = 1.0
    later = dataset > 0
    matrix[np.flatnonzero(later), mean.shape[1] + dataset[later] - 1] = 1.0
    return sm.OLS(mean[dataset, run], matrix).fit()


def test_differences_and_standard_errors_over_random_datasets_are_those_of_statsmodels():
    scores = means_with_gaps()
    sample, _ = sample_of(scores)
    fit = fit_by_ols(scores.values[:, :, 0])
    first, second = np.triu_indices(4, 1)
    found = sample.contrast(second, first).distribution(slice(None), None)
    for place, (low, high) in enumerate(zip(first, second, strict=True)):
        contrast = np.zeros(len(fit.params))
        contrast[high], contrast[low] = 1.0, -1.0
        expected = fit.t_test(contrast)
        assert found.estimate[place] == pytest.approx(expected.effect.item(), rel=1e-9)
        assert found.se[place] == pytest.approx(expected.sd.item(), rel=1e-9)
        assert found.df[place] == expected.df_denom


def test_macro_means_are_the_predictions_over_all_datasets():
    scores = means_with_gaps()
    mean = scores.values[:, :, 0]
    params = fit_by_ols(mean).params
    effects = np.concatenate([[0.0], params[4:]])
    board = make_leaderboard(scores, incomplete="model", replicates=99, rng=1)
    assert board.macro == pytest.approx(params[:4] + effects.mean(), rel=1e-9)
    assert board.macro[3] == pytest.approx(mean[:, 3].mean())  # has all datasets
    assert board.cells.tolist() == [4, 5, 5, 6]
    assert np.isnan(board.mean[0, 1])


def test_fixed_datasets_have_the_variance_of_what_their_topics_add():
    """One dataset's cells replaced by the scores of one topic at a time, and the model refitted."""
    parts = topics_with_gaps()
    sample, held = sample_of(parts)
    mean = held.means()
    variance, squares = np.zeros(4), np.zeros(4)
    for number, (scores, has) in enumerate(zip(held.scores, held.present, strict=True)):
        fits = []
        for row in scores:
            moved = mean.copy()
            moved[number, has] = row
            fits.append(fit_by_ols(moved).params[:4])
        apart = np.array(fits) - np.array(fits)[:, :1]
        own = apart.var(axis=0, ddof=1) / len(scores)
        variance += own
        squares += own**2 / (len(scores) + 1)
    contrast = sample.contrast(np.arange(1, 4), np.zeros(3, int)).distribution(slice(None), None)
    assert contrast.se == pytest.approx(np.sqrt(variance[1:]), rel=1e-9)
    assert contrast.df == pytest.approx(variance[1:] ** 2 / squares[1:] - 2, rel=1e-9)


def test_without_gaps_nothing_changes():
    scores = means_with_gaps(missing=())
    board = make_leaderboard(scores, incomplete="model", replicates=99, rng=1)
    plain = make_leaderboard(scores, replicates=99, rng=1)
    assert board.cells is None
    assert board.macro_low.tolist() == plain.macro_low.tolist()


@pytest.mark.parametrize("sources", [means_with_gaps(), topics_with_gaps()])
def test_complete_runs_are_ranked_by_themselves_too(sources):
    board = make_leaderboard(sources, incomplete="model", replicates=199, rng=1)
    with pytest.warns(confir.errors.TopicWarning, match="left out"):
        whole = make_leaderboard(sources, incomplete="drop-runs", replicates=199, rng=1)
    ranks = dict(zip(whole.runs, whole.rank.tolist(), strict=True))
    expected = [ranks.get(run, 0) if len(ranks) > 1 else 0 for run in board.runs]
    assert board.complete_rank.tolist() == expected
    record = next(one for one in board.to_records() if one["run"] == "a")
    assert record["complete_rank"] is None


def test_a_run_on_one_dataset_has_the_widest_interval_and_range_of_ranks():
    gaps = tuple((dataset, 0) for dataset in range(1, 8))
    scores = means_with_gaps(datasets=8, missing=gaps)
    sample, _ = sample_of(scores)
    se = sample.contrast(np.array([0, 1, 2]), np.full(3, 3)).distribution(slice(None), None).se
    assert se[0] > 2 * se[1:].max()
    board = make_leaderboard(scores, incomplete="model", replicates=199, rng=1)
    assert np.argmax(board.rank_high - board.rank_low) == 0


def reordered(sources):
    """The same scores, their runs in another order."""
    if isinstance(sources, Scores):
        return sources.select(run=sources.runs[::-1])
    return {name: part.select(run=part.runs[::-1]) for name, part in sources.items()}


def comparable(board):
    """The records of a leaderboard in the order of the runs' names, without rounding errors."""
    records = sorted(board.to_records(), key=lambda record: record["run"])
    return [
        {name: f"{one:.9f}" if isinstance(one, float) else one for name, one in record.items()}
        for record in records
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [means_with_gaps, topics_with_gaps])
def test_the_order_of_the_runs_changes_nothing(make, seed):
    sources = make(seed)
    boards = [
        make_leaderboard(found, incomplete="model", replicates=199)
        for found in (sources, reordered(sources))
    ]
    assert comparable(boards[0]) == comparable(boards[1])


def test_runs_that_no_dataset_connects_are_refused_by_name():
    gaps = ((0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1), *((d, 2) for d in range(3)))
    scores = means_with_gaps(missing=(*gaps, *((d, 3) for d in range(3, 6))))
    with pytest.raises(
        TopicMismatchError, match=r"no dataset connects (a, c|b, <d>) with the other"
    ):
        make_leaderboard(scores, incomplete="model", replicates=99)
    alone = means_with_gaps(missing=tuple((d, 1) for d in range(6)))
    with pytest.raises(TopicMismatchError, match="b: no score on any dataset"):
        make_leaderboard(alone, incomplete="model", replicates=99)


def test_a_table_without_residuals_is_refused():
    scores = means_with_gaps(datasets=2, runs=2, missing=((0, 1),))
    with pytest.raises(TopicMismatchError, match="3 cells of 2 runs and 2 datasets leave no resid"):
        make_leaderboard(scores, incomplete="model", replicates=99)


def test_designs_single_topics_and_summaries_are_refused():
    parts = topics_with_gaps()
    clustered = {**parts, "d0": parts["d0"].with_design({t: t[:2] for t in parts["d0"].topics})}
    with pytest.raises(UnsupportedMethodError, match="simple random sample"):
        make_leaderboard(clustered, incomplete="model", replicates=99)
    short = {**parts, "d0": parts["d0"].select(topic="t1")}
    with pytest.raises(InvalidValueError, match="dataset 'd0' has one topic"):
        make_leaderboard(short, incomplete="model", replicates=99)
    summed = {name: confir.summarise_scores(part) for name, part in parts.items()}
    with pytest.raises(UnsupportedMethodError, match="which a summary lacks"):
        make_leaderboard(summed, incomplete="model")


def test_standardised_means_have_mean_0_and_sd_1_on_each_dataset():
    scores = means_with_gaps(missing=())
    board = make_leaderboard(scores, standardise=True, replicates=99, rng=1)
    mean = scores.values[:, :, 0]
    expected = (mean - mean.mean(axis=1, keepdims=True)) / mean.std(axis=1, ddof=1, keepdims=True)
    assert board.mean == pytest.approx(expected)
    assert board.macro == pytest.approx(expected.mean(axis=0))
    assert board.measure == "standardised score"


def test_topics_are_standardised_by_the_runs_means():
    parts = topics_with_gaps()
    board = make_leaderboard(parts, incomplete="model", standardise=True, replicates=99, rng=1)
    there = ~np.isnan(board.mean)
    for row, has in zip(board.mean, there, strict=True):
        assert (row[has].mean(), row[has].std(ddof=1)) == pytest.approx((0, 1), abs=1e-12)
    assert np.isfinite(board.low[there]).all()


def test_equal_runs_cannot_be_standardised():
    scores = Scores(("d", "e"), ("a", "b"), ("m",), np.array([[[0.1], [0.1]], [[0.1], [0.3]]]))
    with pytest.raises(InvalidValueError, match="same mean on dataset 'd'"):
        make_leaderboard(scores, standardise=True)


def test_one_run_alone_on_a_dataset_cannot_be_standardised():
    values = np.array([[0.2, np.nan], [0.1, 0.3], [0.4, 0.2]])[:, :, None]
    scores = Scores(("d", "e", "f"), ("a", "b"), ("m",), values)
    with pytest.raises(InvalidValueError, match="on dataset 'd', or there is one: it cannot be"):
        make_leaderboard(scores, incomplete="model", standardise=True)


def test_missing_cells_of_mteb_are_predicted_within_their_intervals(real_data):
    """Of 30 models on the 15 BEIR datasets, a fifth of the cells removed at random."""
    whole = confir.read_scores(real_data / "mteb-beir" / "ndcg_at_10.csv")
    whole = whole.select(run=list(whole.runs[::7]))
    rng = np.random.default_rng(3)
    values = whole.values.copy()
    values[rng.random(values.shape) < 0.2] = np.nan
    gaps = Scores(whole.topics, whole.runs, whole.measures, values)
    sample, _ = sample_of(gaps)
    first, second = np.triu_indices(len(whole.runs), 1)
    found = sample.contrast(second, first).distribution(slice(None), None)
    true = whole.values[:, second, 0].mean(axis=0) - whole.values[:, first, 0].mean(axis=0)
    assert (np.abs(found.estimate - true) <= 2.0 * found.se).mean() > 0.95
    estimate, mean = sample.estimate, whole.values[:, :, 0].mean(axis=0)
    assert np.corrcoef(estimate, mean)[0, 1] > 0.99


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_intervals_over_random_datasets_cover_by_simulation(seed):
    """Means and differences of runs, of which one has 3 of 10 datasets, and one 6."""
    rng = np.random.default_rng(seed)
    samples, runs, datasets = 600, 6, 10
    truth = 0.4 + 0.03 * np.arange(runs)
    hits = np.zeros(2)
    for _ in range(samples):
        mean = truth + rng.normal(0, 0.08, (datasets, 1)) + rng.normal(0, 0.04, (datasets, runs))
        mean[:7, 0] = mean[:4, 1] = np.nan
        scores = Scores([f"d{d}" for d in range(datasets)], list("abcdef"), ["m"], mean[:, :, None])
        sample, _ = sample_of(scores)
        contrast = sample.contrast(np.arange(1, runs), np.zeros(runs - 1, int))
        for place, (part, true) in enumerate(((sample, truth), (contrast, truth[1:] - truth[0]))):
            interval = confir.confidence_interval(part.distribution(slice(None), None), method="t")
            low, high = interval.low.reshape(-1), interval.high.reshape(-1)
            hits[place] += np.mean((low <= true) & (true <= high))
    error = 3 * np.sqrt(0.05 * 0.95 / samples)
    assert np.all(np.abs(hits / samples - 0.95) <= error + 0.01), hits / samples


@pytest.mark.slow
def test_intervals_over_fixed_datasets_and_ranks_cover_by_simulation():
    rng = np.random.default_rng(4)
    samples, runs = 300, 5
    effects, truth = np.array([-0.1, 0.0, 0.1, 0.0]), 0.4 + 0.04 * np.arange(runs)
    covered = ranked = 0.0
    for _ in range(samples):
        parts = {}
        for number, effect in enumerate(effects):
            kept = [r for r in range(runs) if (number, r) not in ((0, 1), (1, 1), (2, 3))]
            base = effect + rng.normal(0, 0.1, (15 + 5 * number, 1))
            values = base + truth[kept] + rng.normal(0, 0.06, (len(base), len(kept)))
            topics = [f"t{place}" for place in range(len(base))]
            parts[f"d{number}"] = Scores(topics, [f"r{r}" for r in kept], ["m"], values[:, :, None])
        board = make_leaderboard(parts, incomplete="model", replicates=199, rng=1)
        places = [board.runs.index(f"r{r}") for r in range(runs)]
        inside = (board.macro_low[places] <= truth) & (truth <= board.macro_high[places])
        covered += inside.mean()
        rank = np.arange(runs, 0, -1)
        ranked += np.all((board.rank_low[places] <= rank) & (rank <= board.rank_high[places]))
    error = 3 * np.sqrt(0.05 * 0.95 / samples)
    assert abs(covered / samples - 0.95) <= error
    assert ranked / samples >= 0.95 - error


def test_a_dataset_without_scores_is_refused_by_name():
    parts = topics_with_gaps()
    empty = parts["d1"]
    empty.values[:] = np.nan
    with pytest.raises(TopicMismatchError) as refused:
        make_leaderboard(parts, incomplete="model", replicates=99)
    assert str(refused.value) == "no run has a score by AP on dataset 'd1': leave it out"
