"""Families, best sets and ranks against plain loops that were written from the definition alone."""

import math

import numpy as np
import pytest

from confir import compare_runs, find_best, rank_runs
from confir.pairs.simultaneous import ComparisonFamily, symmetric_bound
from confir.resampling.clusters import Clusters, cluster_counts
from confir.resampling.pair_draws import BorrowedVariance
from confir.resampling.replicates import own_seed
from reference import plain_families as plain
from studies.drawn_topics import draws_of, draws_of_runs
from studies.score_tables import table

pytestmark = [
    pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning"),
    pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning"),
    pytest.mark.filterwarnings("ignore::confir.errors.SmallSampleWarning"),
]

REPLICATES = 40


def some_values(seed, topics=12, gaps=0.0):
    """Six runs: a near-duplicate, one better by a constant, identical ones, ties."""
    rng = np.random.default_rng(seed)
    values = rng.random((topics, 1)) / 2 + rng.normal(0.0, 0.05, (topics, 6)) + 0.02 * np.arange(6)
    values[:, 1] = values[:, 0]
    values[:2, 1] += 0.01
    values[:, 2] = values[:, 3] - 0.015
    if seed % 2:
        values[:, 4] = values[:, 5]
    if seed % 3 == 0:
        values = np.round(values, 1)
    values[rng.random(values.shape) < gaps] = np.nan
    return values


def check_comparison(comparison, expected):
    """Compare limits, p-values and open ends with those of plain loops."""
    for name, found in (
        ("low", comparison.simultaneous_low),
        ("high", comparison.simultaneous_high),
        ("open", comparison.open_end),
        ("p", comparison.p_adjusted[0]),
    ):
        wanted = [getattr(pair, name) for pair in expected]
        np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-8, atol=1e-11, err_msg=name)


@pytest.mark.every(5)
@pytest.mark.parametrize(("replicates", "level"), [(40, 0.95), (40, 0.5), (19, 0.99)])
@pytest.mark.parametrize("baseline", [None, "run0"])
@pytest.mark.parametrize("gaps", [0.0, 0.15])
@pytest.mark.parametrize("seed", [0, 1])
def test_comparisons(seed, gaps, baseline, replicates, level):
    values = some_values(seed, gaps=gaps)
    options = {"baseline": baseline, "replicates": replicates, "level": level}
    comparison = compare_runs(table(values), **options, rng=seed)
    drawn = len(comparison.families[0].maxima)
    pairs = plain.pairs_of(values, None if baseline is None else 0)
    assert comparison.tested[0] == plain.count_tested(pairs)
    expected = plain.compare_family(pairs, draws_of(len(values), drawn, seed), level)
    check_comparison(comparison, expected)


def test_open_ends_and_constant_pairs():
    """Runs that are better by nearly a constant, among others that vary far more."""
    rng = np.random.default_rng(7)
    values = rng.random((40, 1)) / 2 + rng.normal(0.0, 0.2, (40, 6))
    values[:, 1] = values[:, 0] + 0.02
    values[:, 2] = values[:, 0] - 0.015 + rng.normal(0.0, 1e-3, 40)
    comparison = compare_runs(table(values), replicates=REPLICATES, rng=7)
    drawn = len(comparison.families[0].maxima)
    expected = plain.compare_family(plain.pairs_of(values), draws_of(40, drawn, 7), 0.95)
    check_comparison(comparison, expected)
    assert [pair.open for pair in expected[:2]] == [1, -1]
    assert comparison.verdict[0, :2, 0].tolist() == ["better", "worse"]


def test_families_of_constant_pairs_alone_have_no_interval():
    base = np.random.default_rng(8).random(30)
    values = np.stack([base, base + 0.1, base + 0.25], axis=1)
    comparison = compare_runs(table(values), replicates=REPLICATES, rng=1)
    expected = plain.compare_family(plain.pairs_of(values), draws_of(30, REPLICATES, 1), 0.95)
    check_comparison(comparison, expected)
    assert np.isnan(comparison.simultaneous_low).all()
    np.testing.assert_allclose(
        comparison.p_adjusted, 6 * plain.FACTOR * math.erfc(math.sqrt(15)) / 2, rtol=1e-9
    )
    assert (comparison.verdict == "better").all()


@pytest.mark.parametrize(("replicates", "level"), [(40, 0.9), (40, 0.5), (30, 0.99)])
@pytest.mark.parametrize("runs", [2, 3, 6])
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2))])
def test_best_sets_and_ranks(seed, runs, replicates, level):
    values = some_values(seed)[:, ::-1][:, :runs]
    scores = table(values)
    draws, draws_of_pairs = draws_of_runs(scores, replicates, seed, level)
    found = find_best(scores, level=level, replicates=replicates, rng=seed)
    expected = plain.find_best(values, draws, level)
    assert found.in_set[:, 0].tolist() == expected.members
    np.testing.assert_allclose(found.p[:, 0], expected.p, rtol=1e-8)
    np.testing.assert_allclose(found.upper[:, 0], expected.upper, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(found.lower[:, 0], expected.lower, rtol=1e-8, atol=1e-11)
    ranking = rank_runs(scores, level=level, replicates=replicates, rng=seed)
    for run in range(runs):
        p = np.array(plain.rank_p(values, draws, run))
        decides = np.minimum(p, ranking.p[run, :, 0]) < 0.5  # all others say nothing
        np.testing.assert_allclose(ranking.p[run, decides, 0], p[decides], rtol=1e-8)
        kept = np.flatnonzero(p > (1 - level) * (1 + 1e-9)) + 1
        assert (ranking.low[run, 0], ranking.high[run, 0]) == (kept[0], kept[-1])
    low, high = plain.simultaneous_ranks(values, draws_of_pairs, level)
    assert ranking.simultaneous_low[:, 0].tolist() == low
    assert ranking.simultaneous_high[:, 0].tolist() == high


def test_runs_leave_the_best_set_by_their_signs_alone():
    """The second run is below the first by nearly a constant, and all others vary far more."""
    rng = np.random.default_rng(3)
    values = rng.random((40, 1)) / 2 + rng.normal(0.0, 0.25, (40, 6))
    values[:, 1] = values[:, 0] - 0.02 + rng.normal(0.0, 1e-3, 40)
    found = find_best(table(values), replicates=REPLICATES, rng=3)
    draws, _ = draws_of_runs(table(values), REPLICATES, 3, 0.95)
    expected = plain.find_best(values, draws, 0.95)
    assert expected.members[:2] == [True, False]
    assert expected.upper[1] == 0
    np.testing.assert_allclose(found.p[:, 0], expected.p, rtol=1e-8)
    np.testing.assert_allclose(found.upper[:, 0], expected.upper, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(found.lower[:, 0], expected.lower, rtol=1e-8, atol=1e-11)
    ranking = rank_runs(table(values), replicates=REPLICATES, rng=3)
    p = plain.rank_p(values, draws, 1)
    assert p[0] < 0.05
    np.testing.assert_allclose(ranking.p[1, :2, 0], p[:2], rtol=1e-8)


def test_lower_limits_of_the_gap_look_at_runs_of_the_set_alone():
    """The last run varies most, and is left out."""
    rng = np.random.default_rng(106)
    values = rng.random((14, 1)) / 2 + rng.normal(0, 0.1, (14, 5)) * np.array([1, 1, 1, 1, 3.0])
    values[:, 1] = values[:, 0] - 0.01 * rng.random(14)
    values[:, 3] = values[:, 2] - 0.02 * rng.random(14)
    found = find_best(table(values), level=0.8, replicates=99, rng=1)
    draws, _ = draws_of_runs(table(values), 99, 1, 0.8)
    expected = plain.find_best(values, draws, 0.8)
    assert expected.members == [True, False, True, False, False]
    assert expected.lower[0] > -0.001  # it were -.0129 with the last run
    np.testing.assert_allclose(found.lower[:, 0], expected.lower, rtol=1e-8, atol=1e-11)


def designed(values, stratum, cluster, weight, kind):
    """Scores with a design, and the same design for plain loops; datasets count alike."""
    scores = table(values)
    columns = {"topic": scores.topics, "weight": weight}
    columns["cluster"] = [f"{h}-{g}" for h, g in zip(stratum, cluster, strict=True)]
    if len(set(stratum)) > 1:
        columns[kind] = [str(h) for h in stratum]
    groups = sorted(set(stratum))
    masses = [sum(w for w, own in zip(weight, stratum, strict=True) if own == h) for h in groups]
    share = [1 / len(groups) if kind == "dataset" else mass / sum(weight) for mass in masses]
    return scores.with_design(columns), plain.PlainDesign(stratum, cluster, weight, share)


@pytest.mark.parametrize(
    ("strata", "weighted", "kind"),
    [(1, False, "alike"), (1, True, "cluster"), (2, True, "stratum"), (2, True, "dataset")],
)
def test_comparisons_by_a_design(strata, weighted, kind):
    rng = np.random.default_rng(strata)
    topics, groups = 24, 6 // strata
    stratum = [topic * strata // topics for topic in range(topics)]
    cluster = [topic % groups for topic in range(topics)]
    if kind != "alike":
        cluster[-1] = 0
    weight = rng.uniform(0.5, 2.0, topics).tolist() if weighted else [1.0] * topics
    values = some_values(4, topics)
    values[:, 4] = values[:, 5]
    values[:, 1] += 0.02
    scores, design = designed(values, stratum, cluster, weight, kind)
    comparison = compare_runs(scores, test="t", replicates=REPLICATES, rng=2)
    drawn = len(comparison.families[0].maxima)
    clusters = Clusters.of(scores.design)
    seed = own_seed(np.random.default_rng(2))
    counts = cluster_counts(clusters, drawn, np.random.default_rng(seed)).astype(int)
    bounds = np.cumsum([len(design.clusters(h)) for h in range(strata)])[:-1]
    draws = [
        [np.repeat(design.clusters(h), own).tolist() for h, own in enumerate(np.split(row, bounds))]
        for row in counts
    ]
    pairs = plain.pairs_of(values)
    expected = plain.compare_designed(pairs, design, draws, comparison.df[:, 0], 0.95)
    check_comparison(comparison, expected)
    sums = [pair.sums for pair in expected]
    np.testing.assert_allclose(comparison.self_normalised[:, 0], sums, rtol=1e-9, atol=1e-12)
    assert not np.isnan(comparison.simultaneous_low).all()


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("maxima", [[], [0.1, 2.2, 2.5, 3.0, 9.0], [math.inf] * 5, [-9.0] * 5])
def test_critical_values_and_p_values(maxima, sides):
    family = ComparisonFamily.of(7, np.array(maxima), sides)
    t = np.array([0.0, 0.3, 2.5, 3.1, 12.0])
    p = family.p_values(t, 9.0)
    expected = [plain.family_p(one, maxima, 7, 9.0, sides) for one in t]
    np.testing.assert_allclose(p, expected, rtol=1e-9)
    for level in (0.5, 0.8, 0.83, 0.95):
        c = plain.critical_value(maxima, 7, 9.0, level, sides)
        assert family.critical_value(9.0, level) == pytest.approx(c, rel=1e-12)


@pytest.mark.parametrize("comparisons", [1, 2, 41, 861])
@pytest.mark.parametrize("topics", [2, 10, 53])
def test_borrowed_variance_and_bound_of_signs(comparisons, topics):
    borrowed = BorrowedVariance(comparisons, 0.3).of(topics)
    assert borrowed == pytest.approx(0.3 * plain.borrowed_share(comparisons, topics), abs=1e-15)
    assert math.isclose(plain.FACTOR, 3.1787, abs_tol=1e-4)
    for sides in (1, 2):
        for sums in (-3.0, 0.0, 1.4, 6.0):
            expected = plain.sign_bound(sums, comparisons, sides)
            assert symmetric_bound(sums, comparisons, sides) == pytest.approx(expected, rel=1e-9)
