"""The intervals of [Soboroff2014], reproduced from its score tables.

The published file holds a 95% interval by four methods for every run and measure. Its `t` used the
standard deviation with divisor n; its bootstrap-t took the whole error in each tail, so that it
compares with a level of 0.9 here (the divisor cancels there). Rows of ``trec22.microblog`` belong
to no collection of the paper.

Bootstrap limits differ by chance. A quantile at p of B replicates with density f has the standard
error √(p(1-p)/B)/f; both sides have one. BCa reads the quantile at a probability that depends on
the share G of replicates below the mean, which varies too: with D = dp/dG the variance p(1-p) grows
to p(1-p) + D²·G(1-G) - 2D·cov, where cov = min(p, G) - pG is the covariance of two shares of the
same replicates. Printing adds a rounding error of variance 10⁻⁸/12. Differences divided by their
standard error are then tested as a whole: mean 0, spread 1, few beyond 3.
"""

import csv
import gzip
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from confir.data.score_files import read_scores
from confir.intervals.confidence_intervals import confidence_interval
from confir.intervals.method_list import METHODS
from confir.resampling.distribution import quantile_of_sorted
from confir.resampling.topic_bootstrap import bootstrap_topics

COLLECTIONS = (
    "trec8.adhoc",
    "trec13.robust",
    "trec14.robust",
    "trec15.terabyte-adhoc",
    "trec17.blog-topicrel",
    "trec21.web",
)
REPLICATES = 2_999
PUBLISHED_REPLICATES = {"percentile": 5_000, "bca": 2_000, "bootstrap_t": 5_000}

# With fewer topics above 0 the replicates have few values, and no density.
LEAST_ABOVE_ZERO = 12

# Runs that share replicates: few, so that the noise of our replicates averages out.
RUNS_TOGETHER = 8


class Row(NamedTuple):
    run: str
    measure: str
    mean: float
    low: float
    high: float


@pytest.fixture(scope="module")
def published(real_data):
    """Collection, method → rows."""
    rows = defaultdict(list)
    with gzip.open(real_data / "soboroff2014" / "published_intervals.csv.gz", "rt") as lines:
        for row in csv.DictReader(lines):
            numbers = (float(row[name]) for name in ("mean", "low", "high"))
            key = row["collection"], row["method"]
            rows[key].append(Row(row["run"], row["measure"], *numbers))
    return rows


@pytest.fixture(scope="module")
def tables(real_data):
    folder = real_data / "soboroff2014" / "scores"
    return {name: read_scores(folder / f"{name}.csv.gz") for name in COLLECTIONS}


def test_weaver1_has_the_interval_of_the_paper_but_for_its_divisor(tables):
    weaver1 = tables["trec8.adhoc"].select(run=["weaver1"], measure=["AP"])
    interval = confidence_interval(weaver1, method="t")
    assert interval.estimate[0, 0].round(4) == 0.2175
    assert interval.low[0, 0].round(4) == 0.1484
    assert interval.high[0, 0].round(4) == 0.2866
    distribution = bootstrap_topics(weaver1, replicates=1)
    assert distribution.se[0] == pytest.approx(0.03436, abs=5e-6)
    half = stats.t.ppf(0.975, 49) * distribution.se[0] * np.sqrt(49 / 50)
    assert (distribution.estimate[0] - half).round(4) == 0.1491
    assert (distribution.estimate[0] + half).round(4) == 0.2859


def test_all_published_t_intervals_are_reproduced_to_their_printed_decimals(published, tables):
    compared = 0
    for name, scores in tables.items():
        distribution = bootstrap_topics(scores, replicates=1)
        place = {label: i for i, label in enumerate(distribution.labels)}
        rows = published[name, "t"]
        columns = [place[row.run, row.measure] for row in rows]
        n = distribution.count[columns]
        assert set(n) == {len(scores.topics)}
        half = stats.t.ppf(0.975, n - 1) * distribution.se[columns] * np.sqrt((n - 1) / n)
        mean = distribution.estimate[columns]
        found = np.column_stack([mean, mean - half, mean + half])
        printed = np.array([row[2:] for row in rows])
        assert np.abs(found - printed).max() < 0.5e-4 + 1e-12
        compared += len(rows)
    assert compared == 3_756


def standard_error(ordered, count, probability, variance, published_replicates, scale=1.0):
    """Of the difference of two quantiles of replicates, printed to four decimals."""
    width = np.minimum(0.005, np.minimum(probability, 1 - probability) / 2)
    above = quantile_of_sorted(ordered, probability + width, count)
    below = quantile_of_sorted(ordered, probability - width, count)
    inverse_density = scale * (above - below) / (2 * width)
    chance = variance * (1 / published_replicates + 1 / REPLICATES)
    return np.sqrt(chance * inverse_density**2 + 1e-8 / 12)


def percentile_limits(distribution, published_replicates):
    ordered = distribution.sorted_replicates
    count = np.full(ordered.shape[1], len(ordered))
    limits = METHODS["percentile"].compute(distribution, 0.95)
    for found, p in zip(limits, (0.025, 0.975), strict=True):
        error = standard_error(ordered, count, p, p * (1 - p), published_replicates)
        yield found, error


def bca_limits(distribution, published_replicates):
    ordered = distribution.sorted_replicates
    count = np.full(ordered.shape[1], len(ordered))
    estimate, a = distribution.estimate, distribution.acceleration
    below = (ordered < estimate - 1e-12).mean(axis=0)
    share = (below + (ordered <= estimate + 1e-12).mean(axis=0)) / 2
    bias = stats.norm.ppf(share)
    limits = METHODS["bca"].compute(distribution, 0.95)
    for found, tail in zip(limits, (0.025, 0.975), strict=True):
        shifted = bias + stats.norm.ppf(tail)
        z = bias + shifted / (1 - a * shifted)
        p = stats.norm.cdf(z)
        slope = stats.norm.pdf(z) * (1 + 1 / (1 - a * shifted) ** 2) / stats.norm.pdf(bias)
        variance = p * (1 - p) + slope**2 * share * (1 - share)
        variance -= 2 * slope * (np.minimum(p, share) - p * share)
        yield found, standard_error(ordered, count, p, variance, published_replicates)


def bootstrap_t_limits(distribution, published_replicates):
    ordered = np.sort(distribution.t, axis=0)
    count = len(ordered) - np.isnan(ordered).sum(axis=0)
    limits = METHODS["bootstrap-t"].compute(distribution, 0.9)
    for found, p in zip(limits, (0.95, 0.05), strict=True):
        error = standard_error(
            ordered, count, p, p * (1 - p), published_replicates, scale=distribution.se
        )
        yield found, error


LIMITS = {
    "percentile": percentile_limits,
    "bca": bca_limits,
    "bootstrap_t": bootstrap_t_limits,
}


@pytest.fixture(scope="module")
def differences(published, tables):
    """Method → (published - found) / its standard error, lower and upper limits."""
    found = {method: [] for method in LIMITS}
    for number, (name, scores) in enumerate(tables.items()):
        rows = {
            method: {(row.run, row.measure): (row.low, row.high) for row in published[name, method]}
            for method in LIMITS
        }
        for start in range(0, len(scores.runs), RUNS_TOGETHER):
            some = scores.select(run=scores.runs[start : start + RUNS_TOGETHER])
            rng = np.random.default_rng([number, start])
            distribution = bootstrap_topics(some, replicates=REPLICATES, rng=rng)
            above_zero = (some.values > 0).sum(axis=0).reshape(-1)
            for method, limits_of in LIMITS.items():
                printed = np.array(
                    [rows[method].get(label, (np.nan, np.nan)) for label in distribution.labels]
                ).T
                limits = limits_of(distribution, PUBLISHED_REPLICATES[method])
                scaled = [
                    (one - value) / error
                    for one, (value, error) in zip(printed, limits, strict=True)
                ]
                kept = (above_zero >= LEAST_ABOVE_ZERO) & ~np.isnan(printed[0])
                found[method].append(np.array(scaled)[:, kept])
    return {method: np.concatenate(parts, axis=1) for method, parts in found.items()}


@pytest.mark.parametrize("method", LIMITS)
def test_published_bootstrap_limits_differ_by_chance_alone(differences, method):
    assert differences[method].shape[1] > 3_600  # of 3,756
    for scaled in differences[method]:
        # Some 80 groups of runs are independent of each other, and in a group up to half of the
        # noise is shared: the mean of all varies by less than 0.1.
        assert abs(scaled.mean()) < 0.25
        # The spread of the middle half: where replicates have few values, a step may be many errors.
        lower, upper = np.quantile(scaled, [0.25, 0.75])
        assert 0.9 < (upper - lower) / (2 * stats.norm.ppf(0.75)) < 1.1
        assert (np.abs(scaled) > 3).mean() < 0.015
