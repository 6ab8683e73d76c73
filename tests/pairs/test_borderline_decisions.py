"""Decisions that another seed changes are marked as borderline, in every study."""

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from vote_samples import simulate_votes

REPLICATES = 39  # ten times as many where a decision is borderline
SEEDS = range(1, 9)


def made(data, topics, runs, fall, *, groups=1):
    """Scores whose means fall over the runs; with two groups, in the first one alone."""
    rng = np.random.default_rng(data)
    values = rng.normal(0.5, 0.1, (topics, 1)) + rng.normal(0.0, 0.06, (topics, runs))
    values[: topics // groups] -= np.linspace(0.0, fall, runs)
    names = (tuple(f"{place:02}" for place in range(count)) for count in (topics, runs))
    return Scores(*names, ("m",), values[:, :, None])


def on_a_leaderboard(data, seed):
    found = confir.make_leaderboard(made(data, 15, 30, 0.12), replicates=REPLICATES, rng=seed)
    return found.may_be_best, found.best_borderline


def on_costs(data, seed):
    scores = made(data, 20, 12, 0.12)
    costs = {run: float(int(run) % 5) for run in scores.runs}
    found = confir.compare_costs(scores, costs, replicates=REPLICATES, rng=seed)
    return found.status.ravel(), found.borderline.ravel()


def in_groups(data, seed):
    scores = made(data, 30, 6, 0.1, groups=2)
    groups = {topic: "xy"[int(topic) // 15] for topic in scores.topics}
    found = confir.compare_groups(scores, by=groups, replicates=REPLICATES, rng=seed)
    return found.verdict.ravel(), found.borderline.ravel()


def between_groups(data, seed):
    scores = made(data, 30, 6, 0.1, groups=2)
    groups = {topic: "xy"[int(topic) // 15] for topic in scores.topics}
    found = confir.compare_groups(scores, by=groups, replicates=REPLICATES, rng=seed)
    return found.significant.ravel(), found.groups_borderline.ravel()


def by_votes(data, seed):
    votes = simulate_votes(np.linspace(0.0, 1.2, 8), 400, data)
    found = confir.rate_preferences(votes, replicates=REPLICATES, rng=seed)
    pairs = found.pairs()
    values = found.may_be_best, found.rank_low, found.rank_high, pairs.verdict
    marks = found.best_borderline, found.borderline, found.borderline, pairs.borderline
    return np.concatenate([part.astype(str) for part in values]), np.concatenate(marks)


@pytest.mark.parametrize(
    ("decide", "data"),
    [(on_a_leaderboard, 1), (on_costs, 1), (in_groups, 1), (between_groups, 1), (by_votes, 1)],
)
def test_decisions_that_another_seed_changes_are_marked(decide, data):
    values, marked = zip(*(decide(data, seed) for seed in SEEDS), strict=True)
    differ = (np.stack(values) != values[0]).any(axis=0)
    assert differ.any()  # else this shows nothing
    assert np.stack(marked)[:, differ].all()
