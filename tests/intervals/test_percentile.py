"""`percentile` and `studentised-logit` against a plain loop over resampled topics."""

import numpy as np
import pytest
from scipy import stats

from confir.intervals.percentile import percentile_interval, studentised_logit_interval
from confir.resampling.replicates import draw_topics
from confir.resampling.topic_bootstrap import bootstrap_topics

REPLICATES = 400
RNG = np.random.default_rng(17)
SPARSE = np.where(np.arange(25) % 9 == 0, RNG.random(25), 0.0)
SAMPLES = {
    "smooth": RNG.beta(0.7, 2, 20),
    "steps of a tenth": RNG.integers(0, 11, 10) / 10,
    "three topics": np.array([0.1, 0.2, 0.3]),
    "few topics above 0": SPARSE,
    "few topics below 1": 1 - SPARSE,
    "one topic above 0": np.where(np.arange(11) == 4, 0.6607, 0.0),
    "half missing": np.where(np.arange(10) % 2, np.nan, RNG.random(10)),
    "few above 0, most missing": np.array([0.64, 0.27, 0.0, 0.0, 0.0, *[np.nan] * 20]),
    "two of eight there": np.array([0.3, *[np.nan] * 6, 0.8]),
}


def plain_means(sample, seed):
    """Means of topics drawn one by one; NaN where none of them has a score."""
    n = len(sample)
    weights = draw_topics(n, REPLICATES, np.random.default_rng(seed)).shares()
    means = []
    for row in weights:
        values = np.repeat(sample, np.rint(row * n).astype(int))
        values = values[~np.isnan(values)]
        # Equal scores have that score as their mean, whatever a sum rounds to.
        equal = len(values) > 0 and np.ptp(values) == 0
        means.append(values[0] if equal else values.mean() if len(values) else np.nan)
    return np.array(means)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_percentile_against_a_plain_loop(name, level):
    for seed in range(3):
        found = percentile_interval(
            bootstrap_topics(SAMPLES[name], replicates=REPLICATES, rng=seed), level
        )
        means = plain_means(SAMPLES[name], seed)
        expected = np.nanquantile(means, [(1 - level) / 2, (1 + level) / 2])
        np.testing.assert_allclose(np.ravel(found), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_studentised_logit_against_a_plain_loop(name, level):
    for seed in range(3):
        found = studentised_logit_interval(
            bootstrap_topics(SAMPLES[name], replicates=REPLICATES, rng=seed), level
        )
        means = plain_means(SAMPLES[name], seed)
        kept = means[(means > 0) & (means < 1)]
        logits = np.log(kept / (1 - kept))
        n = (~np.isnan(SAMPLES[name])).sum()
        reach = stats.t.ppf((1 + level) / 2, n - 1) * logits.std(ddof=0)
        limits = logits.mean() + np.array([-reach, reach])
        np.testing.assert_allclose(np.ravel(found), 1 / (1 + np.exp(-limits)), rtol=0, atol=1e-10)


def test_the_loops_meet_replicates_of_0_and_1_and_replicates_without_scores():
    assert (plain_means(SAMPLES["few topics above 0"], 0) == 0).any()
    assert (plain_means(SAMPLES["few topics below 1"], 0) == 1).any()
    assert np.isnan(plain_means(SAMPLES["two of eight there"], 0)).any()
