"""Leaderboards of systems that were run several times on all datasets."""

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.errors import UnsupportedMethodError
from confir.resampling.kinds import as_sample
from confir.studies.leaderboard.board_sources import board_scores
from confir.studies.leaderboard.borda import borda_counts

SYSTEMS, REPEATS, DATASETS, TOPICS = 4, 3, 5, 8
RUNS = tuple(f"s{system}@{repeat}" for system in range(SYSTEMS) for repeat in range(REPEATS))


def parts(spread=0.05, seed=1):
    """Scores of runs by dataset; a repeat moves a system on all of them."""
    rng = np.random.default_rng(seed)
    effect = rng.normal(0, spread, (1, SYSTEMS, REPEATS)) if spread else np.zeros((1, SYSTEMS, 1))
    found = {}
    for number in range(DATASETS):
        level = 0.3 + 0.05 * number + 0.01 * np.arange(SYSTEMS)[:, None]
        values = level + effect + rng.normal(0, 0.1, (TOPICS, 1, 1))
        values = values + rng.normal(0, 0.02, (TOPICS, SYSTEMS, REPEATS))
        topics = tuple(f"t{place}" for place in range(TOPICS))
        shaped = np.clip(values, 0, 1).reshape(TOPICS, -1, 1)
        found[f"d{number}"] = Scores(topics, RUNS, ("AP",), shaped)
    return found


def macro(found):
    """Macro means of each repeat: systems × repeats, by loops."""
    every = np.mean([part.values[:, :, 0].mean(axis=0) for part in found.values()], axis=0)
    return every.reshape(SYSTEMS, REPEATS)


def board(found, **options):
    return confir.make_leaderboard(found, repeats=True, replicates=199, rng=1, **options)


def test_macro_means_are_those_of_the_repeats_and_their_variation_counts():
    found = parts()
    made = board(found)
    assert made.runs == ("s0", "s1", "s2", "s3")
    np.testing.assert_allclose(made.macro, macro(found).mean(axis=1), rtol=1e-12)
    alone = board(parts(spread=0))
    assert (made.macro_high - made.macro_low > 1.5 * (alone.macro_high - alone.macro_low)).all()


def test_the_variance_is_that_of_datasets_and_of_repeats_by_loops():
    found = parts()
    joined = board_scores(found, None, None, "error", repeats=True)
    se = as_sample(joined).distribution(slice(None), None, ("se",)).se
    for system in range(SYSTEMS):
        own = slice(system * REPEATS, (system + 1) * REPEATS)
        cells = [part.values[:, own, 0] for part in found.values()]
        over_topics = sum(cell.mean(axis=1).var(ddof=1) / TOPICS for cell in cells) / DATASETS**2
        residual = 0.0
        for cell in cells:
            apart = cell - cell.mean(axis=1, keepdims=True)
            residual += apart.var(axis=0, ddof=1).sum() / (REPEATS - 1) / TOPICS / DATASETS**2
        effect = max(0.0, macro(found)[system].var(ddof=1) - residual)
        assert se[system] ** 2 == pytest.approx(over_topics + effect / REPEATS, rel=1e-10)


@pytest.mark.parametrize("datasets", ["fixed", "random"])
def test_borda_ranks_vary_with_repeats(datasets):
    wide, narrow = (board(parts(spread), datasets=datasets) for spread in (0.1, 0.0))
    spread = [(one.borda_high - one.borda_low).sum() for one in (wide, narrow)]
    assert spread[0] > spread[1]
    np.testing.assert_allclose(wide.borda, borda_counts(wide.mean.T))


def test_a_pattern_names_the_repeats():
    named = {
        name: confir.Scores(
            part.topics, tuple(run.replace("@", "~") for run in RUNS), part.measures, part.values
        )
        for name, part in parts().items()
    }
    found = confir.make_leaderboard(named, repeats="{system}~{repeat}", replicates=99, rng=1)
    np.testing.assert_array_equal(found.macro, board(parts()).macro)


def test_standardised_scores_keep_their_repeats():
    made = board(parts(), standardise=True)
    np.testing.assert_allclose(made.mean.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(made.mean.std(axis=1, ddof=1), 1.0, rtol=1e-12)
    alone = board(parts(spread=0.001), standardise=True)
    ratio = (made.macro_high - made.macro_low) / (alone.macro_high - alone.macro_low)
    assert (ratio > 1.2).any()


def test_datasets_with_repeats_of_their_own_are_refused():
    grouped = {name: part.with_repeats() for name, part in parts().items()}
    with pytest.raises(UnsupportedMethodError, match="a repeat is one run on all datasets"):
        confir.make_leaderboard(grouped, rng=1)


def test_summaries_have_no_repeats():
    summed = {name: confir.summarise_scores(part) for name, part in parts().items()}
    with pytest.raises(UnsupportedMethodError, match="have no repeats"):
        board(summed)
