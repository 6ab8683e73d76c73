"""Comparisons of runs: intervals, verdicts, effects, topics and groups."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import stats

import confir.parallel
from confir import Scores, compare_runs, confidence_interval, find_best
from confir.arrays import TIE
from confir.data.score_files import read_scores
from confir.errors import (
    DegenerateSampleWarning,
    FormatError,
    InputWarning,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.pairs import differences as pairs
from confir.pairs.comparison import Place
from confir.pairs.pair_results import TopicDifferences
from confir.pairs.verdict_words import comparison_note, reason
from confir.studies.comparison.chart import topic_chart
from studies.score_tables import table

FIELDS = [
    *("measure", "run", "against", "difference", "low", "high", "level", "method"),
    *("p", "p_adjusted", "test", "family", "simultaneous_low", "simultaneous_high"),
    *("open", "effect_size", "wins", "ties", "losses", "topics"),
    *("verdict", "borderline", "reason"),
    *("detectable", "topics_needed", "topics_needed_high"),
]


@pytest.fixture
def scores():
    """Four runs on 30 topics by two measures; the last run is far better."""
    rng = np.random.default_rng(0)
    values = rng.random((30, 1, 2)) / 2 + rng.normal(0.0, 0.05, (30, 4, 2))
    values[:, 3] += 0.2
    return table(values, ["a", "b", "c", "d"])


def by_pair(comparison, field, test=0):
    """Run and baseline → value of the first measure; p-values by test."""
    array = getattr(comparison, field)
    array = array[test] if array.ndim == 3 else array
    return {comparison.names(k): array[k, 0] for k in range(len(comparison.first))}


@pytest.mark.parametrize("method", ["t", "percentile", "bca", "bootstrap-t", "symmetric-t"])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.filterwarnings("ignore::confir.errors.TopicWarning")
def test_intervals_are_those_of_the_catalogue(scores, method, gaps):
    if gaps:
        scores.values[:4, 1] = scores.values[10:12, 0] = np.nan
    comparison = compare_runs(scores, baseline="b", method=method, replicates=999, rng=7)
    interval = confidence_interval(
        scores, statistic="difference", baseline="b", method=method, replicates=999, rng=7
    )
    for name, field in (("estimate", "difference"), ("low", "low"), ("high", "high")):
        assert np.array_equal(getattr(interval, name), getattr(comparison, field))
    assert np.array_equal(interval.topics, comparison.topics)


def test_all_pairs_agree_with_every_baseline(scores):
    every = compare_runs(scores, method="bca", test="randomisation", replicates=999, rng=7)
    for baseline in scores.runs:
        part = compare_runs(
            scores, baseline=baseline, method="bca", test="randomisation", replicates=999, rng=7
        )
        for k, (first, second) in enumerate(zip(every.first, every.second, strict=True)):
            if baseline != scores.runs[first]:
                continue
            place = part.second.tolist().index(second)
            assert part.p[0, place] == pytest.approx(every.p[0, k], abs=0)
            for field in ("difference", "low", "high"):
                ours, theirs = getattr(part, field)[place], getattr(every, field)[k]
                assert ours == pytest.approx(theirs, abs=1e-12)


def test_the_difference_is_the_run_minus_the_baseline(scores):
    comparison = compare_runs(scores, baseline="a")
    means = scores.mean()
    assert comparison.difference == pytest.approx(means[1:] - means[0])
    assert [comparison.names(k) for k in range(3)] == [("a", "b"), ("a", "c"), ("a", "d")]


@pytest.mark.parametrize("test", ["t", "randomisation", "bootstrap-shift", "wilcoxon", "sign"])
def test_the_order_of_the_runs_changes_only_signs(scores, test):
    options = {"test": test, "method": "percentile", "replicates": 999, "rng": 3}
    plain = compare_runs(scores, **options)
    turned = compare_runs(scores.select(run=["d", "b", "a", "c"]), **options)
    p, difference, low = (by_pair(turned, name) for name in ("p", "difference", "low"))
    for pair, value in by_pair(plain, "p").items():
        other = pair if pair in p else pair[::-1]
        sign = 1 if pair in p else -1
        assert p[other] == value
        assert difference[other] == sign * by_pair(plain, "difference")[pair]
        limit = by_pair(plain, "low" if sign > 0 else "high")[pair]
        assert low[other] == pytest.approx(sign * limit, abs=1e-12)


@pytest.mark.parametrize("method", ["t", "bca"])
def test_threads_change_nothing(scores, method, monkeypatch):
    results = []
    for cores in (1, 2, 7):
        monkeypatch.setattr(confir.parallel, "usable_cores", lambda cores=cores: cores)
        comparison = compare_runs(
            scores, test=["randomisation", "tukey-hsd"], method=method, replicates=1_200, rng=5
        )
        results.append((comparison.p, comparison.low, comparison.high))
    for other in results[1:]:
        for first, second in zip(results[0], other, strict=True):
            assert np.array_equal(first, second)


def test_many_topics_are_taken_in_smaller_blocks(scores, monkeypatch):
    options = {"test": ["t", "wilcoxon", "sign"], "rng": 1}
    whole = compare_runs(scores, **options)
    monkeypatch.setattr(pairs, "MOST_NUMBERS", 60)
    parts = compare_runs(scores, **options)
    for field in ("difference", "low", "high", "p", "wins"):
        assert np.array_equal(getattr(whole, field), getattr(parts, field))


def test_a_seed_gives_the_same_p_values_again(scores):
    options = {"test": ["randomisation", "bootstrap-shift", "tukey-hsd"], "replicates": 499}
    runs = [compare_runs(scores, rng=seed, **options).p for seed in (1, 1, 2)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize("options", [{}, {"correction": "holm"}])
def test_p_values_are_adjusted_for_the_pairs_of_one_measure(scores, options):
    both = compare_runs(scores, baseline="a", rng=1, **options)
    alone = compare_runs(scores.select(measure=["m0"]), baseline="a", rng=1, **options)
    assert np.array_equal(both.p_adjusted[:, :, :1], alone.p_adjusted)
    assert (both.p_adjusted >= both.p).all()
    assert (both.p_adjusted > both.p).any()


def test_tukey_is_not_corrected_again(scores):
    comparison = compare_runs(scores, test="tukey-hsd", replicates=199, rng=1)
    assert np.array_equal(comparison.p, comparison.p_adjusted)


def test_intervals_of_tukey_are_as_wide_as_the_ranges_that_the_level_leaves(scores):
    """A difference beyond the half width has p <= 0.05, and one as large as that has not."""
    found = compare_runs(scores, test="tukey-hsd", replicates=199, rng=1)
    half = found.simultaneous_high - found.difference
    assert np.ptp(half, axis=0).max() < TIE
    for measure, ranges in enumerate(found.ranges):
        beyond, reached = (
            sum(one > half[0, measure] + step for one in ranges.tolist()) for step in (TIE, -TIE)
        )
        assert (1 + beyond) / (1 + len(ranges)) <= 0.05 < (1 + reached) / (1 + len(ranges))
    excludes = (found.simultaneous_low > 0) | (found.simultaneous_high < 0)
    np.testing.assert_array_equal(excludes, found.p[0] <= 0.05)
    few = compare_runs(scores, test="tukey-hsd", replicates=18, level=0.999, rng=1)
    assert np.isposinf(few.simultaneous_high).all()


def test_records_have_the_promised_fields(scores):
    records = compare_runs(scores, baseline="a", test=["t", "sign"]).to_records()
    assert len(records) == 2 * 3 * 2
    assert all(list(record) == FIELDS for record in records)
    first = records[0]
    assert (first["measure"], first["against"], first["run"], first["test"]) == (
        "m0",
        "a",
        "d",
        "t",
    )
    assert {record["verdict"] for record in records} == {"better", "inconclusive"}
    assert all(type(record["wins"]) is int for record in records)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_and_columns_hold_the_records(scores, backend):
    comparison = compare_runs(scores, margin=0.1)
    frame = comparison.to_frame(backend)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == [*FIELDS, "margin", "p_equivalence", "p_equivalence_adjusted"]
    assert comparison.to_dict()["run"] == [record["run"] for record in comparison.to_records()]


def test_verdicts_in_words():
    rng = np.random.default_rng(1)
    base = rng.random(40)
    values = np.stack(
        [
            base,
            base + rng.normal(0.10, 0.05, 40),
            base - rng.normal(0.10, 0.05, 40),
            base + rng.normal(0.0, 0.2, 40),
            base + rng.normal(0.002, 0.004, 40),
        ],
        axis=1,
    )
    comparison = compare_runs(table(values), baseline="run0", margin=0.02)
    assert comparison.verdict[0, :, 0].tolist() == [
        *("better", "worse", "inconclusive", "equivalent")
    ]
    better, equivalent, open_, worse = comparison.sentences()  # best first
    assert open_.startswith("The difference between run3 and run0 in m0 is inconclusive (")
    low, high = comparison.simultaneous_low[0, 0], comparison.simultaneous_high[0, 0]
    assert low < comparison.low[0, 0] < comparison.high[0, 0] < high
    assert better == (
        f"run1 is significantly better than run0 in m0 ({comparison.difference[0, 0]:+.3f}, "
        f"simultaneous 95% CI [{low:+.3f}, {high:+.3f}], adjusted p < .001)"
    )
    assert worse.startswith("run2 is significantly worse than run0 in m0 (-0.")
    low, high = comparison.simultaneous_low[2, 0], comparison.simultaneous_high[2, 0]
    assert f", simultaneous 95% CI [{low:+.3f}, {high:+.3f}], adjusted p = " in open_
    assert equivalent.startswith("run4 and run0 are equivalent within ±0.02 in m0 (+0.00")
    assert equivalent.endswith("; the interval excludes 0)")


def test_a_difference_is_significant_only_if_interval_and_corrected_test_agree():
    rng = np.random.default_rng(2)
    values = rng.normal(0.0, 1.0, (30, 12))
    differences = values[:, 1] - values[:, 0]
    values[:, 1] += 2.3 * differences.std(ddof=1) / np.sqrt(30) - differences.mean()
    alone = compare_runs(table(values[:, :2]), baseline="run0")
    assert alone.verdict[0, 0, 0] == "better"
    family = compare_runs(table(values), baseline="run0")
    assert family.low[0, 0] > 0 > family.simultaneous_low[0, 0]
    assert family.verdict[0, 0, 0] == "inconclusive"
    said = next(one for one in family.sentences() if "run1 and run0" in one)
    assert said.startswith("The difference between run1 and run0 in m0 is inconclusive (")
    assert family.decision(Place(0, 0, 0)).lost_by_correction
    among = compare_runs(table(values), baseline="run0", correction="holm")
    assert among.low[0, 0] > 0
    assert np.isnan(among.simultaneous_low).all()
    assert among.verdict[0, 0, 0] == "inconclusive"
    said = next(one for one in among.sentences() if "run1 and run0" in one)
    assert said.endswith("; not significant after Holm's correction for 11 pairs)")
    # 14 of 15 topics are won by little and one is lost by much: the signs alone show nothing
    lopsided = np.stack([np.zeros(15), np.append(np.full(14, 0.01), -1.0)], axis=1)
    lopsided[:14, 1] += np.arange(14) / 1e4
    by_signs = compare_runs(table(lopsided), test="sign")
    assert by_signs.p[0, 0, 0] < 0.05
    assert by_signs.low[0, 0] < 0 < by_signs.high[0, 0]
    assert by_signs.verdict[0, 0, 0] == "inconclusive"
    by_signs = compare_runs(table(values[:, :2]), baseline="run0", test="sign")
    assert by_signs.verdict[0, 0, 0] == "inconclusive"
    assert by_signs.sentences()[0].endswith("; not significant by the sign test)")


def test_equivalence_is_a_narrower_interval_within_the_margin():
    rng = np.random.default_rng(3)
    values = rng.random((25, 1)) + rng.normal(0.0, 0.05, (25, 8))
    comparison = compare_runs(table(values), baseline="run0", margin=0.03, correction="none")
    narrower = compare_runs(table(values), baseline="run0", level=0.9)
    inside = (narrower.low > -0.03) & (narrower.high < 0.03)
    assert np.array_equal(comparison.p_equivalence <= 0.05, inside)
    assert 0 < inside.sum() < inside.size


def test_equivalence_is_corrected_like_the_tests():
    rng = np.random.default_rng(3)
    values = rng.random((25, 1)) + rng.normal(0.0, 0.05, (25, 8))
    options = {"baseline": "run0", "margin": 0.03}
    plain = compare_runs(table(values), correction="none", **options).p_equivalence
    adjusted = compare_runs(table(values), correction="bonferroni", **options)
    assert np.array_equal(adjusted.p_equivalence, plain)
    assert adjusted.p_equivalence_adjusted == pytest.approx(np.minimum(1.0, 7 * plain))


def test_equal_runs_are_said_to_be_equal():
    values = np.repeat(np.random.default_rng(4).random((10, 1)), 2, axis=1)
    with pytest.warns(DegenerateSampleWarning, match="run0 and run1 by m0"):
        comparison = compare_runs(table(values), test=["t", "randomisation"], margin=0.1)
    assert np.isnan(comparison.low[0, 0])
    assert comparison.p[:, 0, 0].tolist() == [1.0, 1.0]
    assert comparison.p_equivalence[0, 0] == 2**-10
    assert comparison.verdict[:, 0, 0].tolist() == ["equivalent", "equivalent"]
    assert comparison.sentences()[0] == (
        "run0 and run1 are equivalent within ±0.1 in m0 by the t test (0.000, p = 1; the same score on all "
        "10 topics)"
    )


def test_differences_that_vary_are_not_called_the_same_where_a_method_has_no_interval():
    values = np.array([[0.2, 0.3], [0.1, 0.5]])
    comparison = compare_runs(table(values), method="bootstrap-t", replicates=999, rng=1)
    assert np.isnan(comparison.low[0, 0])
    assert comparison.sentences()[0].endswith("is inconclusive (+0.250, p = .344; no interval)")


def test_equal_differences_have_no_interval_though_rounding_varies_them():
    values = np.array([[0.2, 0.3], [0.1, 0.2], [0.7, 0.8], [0.6, 0.7]])
    assert np.ptp(values[:, 1] - values[:, 0]) > 0
    with pytest.warns(DegenerateSampleWarning):
        comparison = compare_runs(table(values))
    assert np.isnan(comparison.low[0, 0])
    assert comparison.p[0, 0, 0] == 2 / 2**4
    assert comparison.sentences()[0].endswith(
        "p = .125; the same difference on all 4 topics; exact sign-flip test: p = .125)"
    )


def test_the_reason_of_a_constant_difference_says_how_a_family_judges_it():
    values = np.random.default_rng(2).uniform(0.2, 0.8, (7, 3))
    values[:, 1] = values[:, 0] + 0.02
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateSampleWarning)
        family = compare_runs(table(values), rng=1)
        single = compare_runs(table(values), correction="bonferroni", rng=1)
    bound = 3 * 2 * stats.norm.sf(np.sqrt(7)) / (4 * stats.norm.sf(np.sqrt(2)))
    assert family.p_adjusted[0, 0, 0] == pytest.approx(bound)
    assert np.isfinite(family.simultaneous_low[0, 0])
    same = "the same difference on all 7 topics"
    (said,) = [one for one in family.sentences() if same in one]
    assert said.endswith("exact sign-flip test: p = .016 alone, p = .078 by the family of 3 pairs)")
    assert single.p_adjusted[0, 0, 0] == 3 * 2 / 2**7
    assert sum(one.endswith(f"{same})") for one in single.sentences()) == 1


@pytest.mark.parametrize("runs", [2, 3])
def test_no_p_value_is_0_by_underflow(runs):
    rng = np.random.default_rng(1)
    values = rng.uniform(0.2, 0.8, (1_600, 1)) + np.array([0.0, 0.02, 0.04])[:runs]
    values += rng.normal(0.0, 1e-9, values.shape)
    found = compare_runs(table(values), test=["t", "sign"], margin=0.1, replicates=99, rng=1)
    assert (found.p > 0).all()
    family = compare_runs(table(values), replicates=99, rng=1)
    assert (family.p_adjusted > 0).all()
    assert (found.p_adjusted > 0).all()
    assert (found.p_equivalence_adjusted > 0).all()
    assert (find_best(table(values), replicates=99, rng=1).p > 0).all()


def test_equal_scores_are_equal_though_rounding_varies_them():
    values = np.array([[0.3, 0.1 + 0.2], [0.7, 0.7], [0.6, 0.2 * 3], [0.5, 0.5]])
    assert np.ptp(values[:, 1] - values[:, 0]) > 0
    with pytest.warns(DegenerateSampleWarning):
        comparison = compare_runs(table(values))
    assert np.isnan(comparison.high[0, 0])
    assert comparison.ties[0, 0] == 4
    assert comparison.sentences()[0] == "run0 and run1 are identical in m0"


def test_a_pair_is_compared_on_the_topics_that_both_have(scores):
    scores.values[:5, 1, 0] = scores.values[4:9, 2, 0] = np.nan
    with pytest.warns(TopicWarning, match="do not both have all 30 topics"):
        comparison = compare_runs(scores)
    for k, (i, j) in enumerate(itertools.combinations(range(4), 2)):
        difference = scores.values[:, j, 0] - scores.values[:, i, 0]
        difference = difference[~np.isnan(difference)]
        assert comparison.topics[k, 0] == len(difference)
        assert comparison.difference[k, 0] == pytest.approx(difference.mean())
        assert comparison.wins[k, 0] == (difference > 0).sum()
        assert comparison.losses[k, 0] == (difference < 0).sum()
    assert (comparison.topics[:, 1] == 30).all()


def test_a_pair_without_common_topics_is_not_compared(scores):
    scores.values[:15, 0, 0] = scores.values[14:, 1, 0] = np.nan
    with pytest.warns(TopicWarning):
        comparison = compare_runs(scores, test=["t", "randomisation", "wilcoxon", "sign"])
    assert np.isnan(comparison.p[:, 0, 0]).all()
    assert comparison.verdict[0, 0, 0] == "inconclusive"
    said = [one for one in comparison.sentences() if "fewer than 2 topics in common" in one]
    assert len(said) == len(comparison.tests)
    # the five other pairs are the family
    p = np.sort(comparison.p[0, 1:, 0])
    assert comparison.p_adjusted[0, :, 0][1:].min() == pytest.approx(5 * p[0])


def test_effect_sizes_are_those_of_their_definitions(scores):
    comparison = compare_runs(scores, baseline="a")
    difference = scores.values[:, 1] - scores.values[:, 0]
    d_z = difference.mean(axis=0) / difference.std(axis=0, ddof=1)
    assert comparison.effect_size[0] == pytest.approx(d_z)
    assert comparison.hedges_g[0] == pytest.approx(d_z * (1 - 3 / (4 * 29 - 1)))
    assert comparison.share_won[0] == pytest.approx((difference > 0).mean(axis=0))
    won, lost = (difference > 0).mean(axis=0), (difference < 0).mean(axis=0)
    assert comparison.robustness_index[0] == pytest.approx(won - lost)
    record = next(one for one in comparison.effect_records() if one["run"] == "b")
    assert list(record) == [
        "measure",
        "run",
        "against",
        "topics",
        "effect_size",
        "hedges_g",
        "share_won",
        "robustness_index",
    ]
    assert record["effect_size"] == pytest.approx(d_z[0])


def test_ties_are_counted_through_rounding():
    first, second = np.array([0.3, 0.7, 0.2, 0.5]), np.array([0.1 + 0.2, 0.6, 0.4, 0.5])
    assert first[0] != second[0]
    comparison = compare_runs(table(np.stack([first, second], axis=1)))
    counts = (comparison.wins, comparison.ties, comparison.losses)
    assert [int(count[0, 0]) for count in counts] == [1, 2, 1]
    assert comparison.share_won[0, 0] == 0.5


def test_topics_for_and_against():
    values = np.array([[0.5, 0.6], [0.5, 0.1], [0.5, 0.9], [0.5, 0.5], [0.5, 0.4], [0.5, np.nan]])
    with pytest.warns(TopicWarning):
        differences = compare_runs(table(values), baseline="run0").topic_differences()
    won, lost = differences.extremes(0, 0, limit=2)
    assert [entry.topic for entry in won] == ["0002", "0000"]
    assert [entry.topic for entry in lost] == ["0001", "0004"]
    records = differences.to_records()
    assert [record["topic"] for record in records] == ["0002", "0000", "0003", "0004", "0001"]
    assert list(records[0]) == ["measure", "run", "against", "topic", "difference"]
    assert records[0]["difference"] == pytest.approx(0.4)
    assert differences.to_dict()["topic"][0] == "0002"
    assert len(differences.to_frame("pandas")) == 5


def test_groups_join_neighbours_without_a_significant_difference():
    rng = np.random.default_rng(5)
    base = rng.random((60, 1))
    steps = np.array([0.30, 0.29, 0.20, 0.19, 0.0])
    values = base + steps + rng.normal(0.0, 0.08, (60, 5))
    groups = compare_runs(table(values)).group_runs()
    grouped = groups.by_measure[0]
    assert set(grouped.runs[:2]) == {"run0", "run1"}
    assert grouped.groups == ((0, 1), (2, 3), (4, 4))
    assert grouped.unjoined == 0
    assert [record["first_group"] for record in groups.to_records()] == [1, 1, 2, 2, 3]
    assert groups.to_dict()["run"][-1] == "run4"
    assert len(groups.to_frame("polars")) == 5


def test_pairs_that_no_group_joins_are_counted():
    # the middle run differs from both others by small, steady differences; they differ noisily
    rng = np.random.default_rng(6)
    noise = rng.normal(0.0, 1.0, 40)
    noise -= noise.mean()
    steady = rng.normal(0.0, 0.01, 40)
    steady -= steady.mean()
    values = np.stack([noise / 2 + 0.02, noise / 2 + 0.01 + steady, noise * 2], axis=1)
    grouped = compare_runs(table(values), correction="none").group_runs().by_measure[0]
    assert grouped.groups == ((0, 0), (1, 2))
    assert grouped.unjoined == 1


def test_groups_cover_every_run_and_hold_no_significant_difference(real_data):
    scores = read_scores(real_data / "robust2004_ap.csv")
    scores = scores.select(run=scores.runs[::4])
    comparison = compare_runs(scores, replicates=999)
    grouped = comparison.group_runs().by_measure[0]
    significant = {
        frozenset(comparison.names(k))
        for k in np.flatnonzero(np.isin(comparison.verdict[0, :, 0], ["better", "worse"]))
    }
    joined = set()
    for start, stop in grouped.groups:
        members = grouped.runs[start : stop + 1]
        joined |= {frozenset(pair) for pair in itertools.combinations(members, 2)}
    assert not joined & significant
    every = {frozenset(pair) for pair in itertools.combinations(scores.runs, 2)}
    assert len(every - significant - joined) == grouped.unjoined
    for place in range(len(grouped.runs)):
        first, last = grouped.groups_of(place)
        numbers = range(first, last + 1)
        assert all(grouped.groups[n - 1][0] <= place <= grouped.groups[n - 1][1] for n in numbers)


def test_all_measures_and_pairs_of_a_track(real_data):
    scores = read_scores(real_data / "soboroff2014" / "scores" / "trec8.adhoc.csv.gz")
    assert (len(scores.runs), len(scores.topics)) == (129, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        comparison = compare_runs(scores, test="randomisation", replicates=999, rng=1)
        pair = scores.runs[17], scores.runs[101]
        alone = compare_runs(scores.select(run=pair), test="randomisation", replicates=999, rng=1)
    assert comparison.difference.shape == (129 * 128 // 2, len(scores.measures))
    place = next(k for k in range(len(comparison.first)) if comparison.names(k) == pair)
    assert np.array_equal(comparison.p[0, place], alone.p[0, 0])
    expected = (alone.difference, comparison.difference[place])
    assert expected[0][0] == pytest.approx(expected[1], abs=1e-12)


def test_too_few_replicates_for_the_correction_are_named(scores):
    with pytest.warns(InputWarning, match="use 119 or more"):
        compare_runs(scores, test="randomisation", replicates=50, rng=1)
    compare_runs(scores, test="randomisation", replicates=119, rng=1)
    compare_runs(scores, test="tukey-hsd", replicates=50, rng=1)
    compare_runs(table(scores.values[:20]), test="randomisation", replicates=1, rng=1)


def test_a_comparison_shows_itself(scores):
    one = compare_runs(scores.select(run=["a", "d"], measure=["m0"]))
    assert repr(one).startswith("Comparison(d is significantly better than a in m0 (+0.")
    many = compare_runs(scores)
    assert (
        repr(many)
        == "Comparison(test: 1, pair: 6, measure: 2, family='all-pairs', level=0.95, method='t')"
    )
    assert "<table>" in many._repr_html_()
    assert "inconclusive" in many._repr_html_()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"baseline": "x"}, UnknownNameError, "unknown run 'x'"),
        ({"test": "T"}, UnknownNameError, "unknown test 'T'"),
        ({"test": []}, InvalidValueError, "expected one or more"),
        ({"test": ["t", "t"]}, InvalidValueError, "each once"),
        ({"correction": "hulm"}, UnknownNameError, "did you mean holm"),
        ({"method": "logit-t"}, UnsupportedMethodError, "methods that fit: t, percentile"),
        ({"method": "bva"}, UnknownNameError, "did you mean bca"),
        ({"test": "tukey-hsd", "baseline": "a"}, InvalidValueError, "leave the baseline out"),
        ({"margin": 0.0}, InvalidValueError, "margin is 0.0; expected a number above 0"),
        ({"margin": float("nan")}, InvalidValueError, "margin is nan"),
        ({"level": 95}, InvalidValueError, "level is 95"),
        ({"replicates": 0}, InvalidValueError, "replicates is 0"),
    ],
)
def test_wrong_options_are_named(scores, options, error, message):
    with pytest.raises(error, match=message):
        compare_runs(scores, **options)


def test_what_cannot_be_compared_is_named(scores):
    with pytest.raises(InvalidValueError, match="there is one run"):
        compare_runs(scores.select(run=["a"]))
    with pytest.raises(InvalidValueError, match="there is one topic"):
        compare_runs(table(scores.values[:1]))
    with pytest.raises(FormatError, match="a score is infinite"):
        compare_runs(table(np.where(scores.values > 0.5, np.inf, scores.values)))
    apart = np.array([[0.1, np.nan], [0.2, np.nan], [np.nan, 0.3], [np.nan, 0.4]])
    with pytest.raises(TopicMismatchError, match="no two runs have 2 topics in common"):
        compare_runs(table(apart))
    with pytest.raises(InvalidValueError, match="without a baseline"):
        compare_runs(scores, baseline="a").group_runs()


def test_topics_left_out_by_tukey_are_reported():
    values = np.random.default_rng(8).random((12, 3))
    values[0, 0] = np.nan
    with pytest.warns(TopicWarning) as told:
        compare_runs(table(values), test="tukey-hsd", replicates=99, rng=1)
    assert any("tukey-hsd uses the 11 topics" in str(entry.message) for entry in told)


def test_scores_are_left_as_they_are(scores):
    before = Scores(scores.topics, scores.runs, scores.measures, scores.values.copy())
    compare_runs(scores, test=["t", "randomisation", "tukey-hsd"], method="bca", replicates=199)
    assert np.array_equal(before.values, scores.values)


def test_a_tie_by_rounding_speaks_neither_for_nor_against():
    values = np.array([[0.3, 0.1 + 0.2], [0.1, 0.2], [0.4, 0.1]])
    differences = compare_runs(table(values), baseline="run0").topic_differences()
    won, lost = differences.extremes(0, 0)
    assert [entry.topic for entry in won] == ["0001"]
    assert [entry.topic for entry in lost] == ["0002"]


def test_runs_without_a_common_topic_have_no_differences():
    values = np.array([[[0.1], [np.nan]], [[np.nan], [0.2]]])
    scores = Scores(("a", "b"), ("x", "y"), ("AP",), values)
    pair = np.array([0]), np.array([1]), np.array([[0]]), np.array([[False]])
    differences = TopicDifferences(scores, *pair)
    assert differences.to_records() == []
    assert differences.to_dict()["difference"] == []


@pytest.fixture(scope="module")
def uneven():
    """Runs with gaps, a twin, a constant difference, and differences of all sizes."""
    values = (
        np.random.default_rng(8).normal(0.5, 0.1, (30, 6, 2)) + np.linspace(0, 0.08, 6)[:, None]
    )
    values[3, 1] = np.nan
    values[:, 4, 0] = values[:, 0, 0]
    values[:, 5, 0] = values[:, 0, 0] + 0.01
    return Scores(tuple(f"{t:02d}" for t in range(30)), tuple("abcdef"), ("m0", "m1"), values)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("baseline", [None, "b"])
@pytest.mark.parametrize("margin", [None, 0.05])
@pytest.mark.parametrize("test", [("t", "sign"), "t"])
def test_another_level_gives_what_a_comparison_at_that_level_does(uneven, baseline, margin, test):
    options = {"baseline": baseline, "margin": margin, "test": test, "replicates": 399, "rng": 1}
    comparison = compare_runs(uneven, level=0.95, **options)
    verdicts = set()
    for level in (0.5, 0.9, 0.95, 0.999):
        found, expected = comparison.at(level), compare_runs(uneven, level=level, **options)
        assert repr(found.to_records()) == repr(expected.to_records())
        assert found.sentences() == expected.sentences()
        assert found.p is comparison.p
        verdicts.add(tuple(found.verdict.reshape(-1).tolist()))
    assert len(verdicts) > 2


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_another_level_of_resampled_intervals_is_refused(uneven):
    comparison = compare_runs(uneven, method="percentile", replicates=99, rng=1)
    with pytest.raises(UnsupportedMethodError, match=r"'percentile' need replicates.*level=0\.9"):
        comparison.at(0.9)
    with pytest.raises(InvalidValueError, match="level"):
        compare_runs(uneven).at(95)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_choice_of_runs_keeps_the_numbers_and_the_scores_of_the_runs_left(uneven):
    comparison = compare_runs(uneven, baseline="b", test=("t", "sign"))
    chosen = comparison.select(run=["f", "c"], measure="m1", test="sign")
    assert chosen.runs == ("b", "c", "f")
    assert chosen.pairs == [("b", "c"), ("b", "f")]
    assert chosen.scores.measures == chosen.measures == ("m1",)
    np.testing.assert_array_equal(chosen.scores.values[:, 2, 0], uneven.values[:, 5, 1])
    assert chosen.difference[:, 0].tolist() == comparison.difference[[1, 4], 1].tolist()
    assert chosen.p_adjusted[0, :, 0].tolist() == comparison.p_adjusted[1, [1, 4], 1].tolist()
    topics = chosen.topic_differences()
    assert topics.extremes(1, 0) == comparison.topic_differences().extremes(4, 1)
    assert {record["run"] for record in topics.to_records()} == {"c", "f"}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_reasons_of_all_differences_are_those_of_each(uneven):
    comparison = compare_runs(uneven, test=("t", "sign"), margin=0.02, level=0.9)
    expected = [reason(comparison.decision(place)) for place in comparison.places()]
    assert comparison.to_dict()["reason"] == expected
    assert len(set(expected)) > 4


def test_identical_runs_and_constant_differences_are_warned_of_separately():
    base = np.linspace(0.1, 0.6, 12)
    scores = table(np.stack([base, base, base + 0.25, base**2], axis=1), ["a", "b", "c", "d"])
    with pytest.warns(DegenerateSampleWarning) as caught:
        found = compare_runs(scores)
    assert [str(entry.message) for entry in caught] == [
        "no interval for a and b by m0: identical scores",
        (
            "no single-pair interval for a and c by m0, b and c by m0: the same difference on every topic; "
            "the simultaneous one rests on the other pairs"
        ),
    ]
    assert (np.isfinite(found.simultaneous_low[:, 0]) == ~found.identical[:, 0]).all()
    assert "5 pairs, identical runs left out" in comparison_note(found)
    with pytest.warns(
        DegenerateSampleWarning, match="no interval for a and c by m0: the same difference on"
    ):
        compare_runs(scores.select(run=["a", "c"]))


def test_topics_with_the_same_difference_stand_in_their_own_order():
    base = np.random.default_rng(1).random(12)
    scores = table(np.stack([base, base + 0.1, base - 0.1], axis=1), ["a", "b", "c"])
    with pytest.warns(DegenerateSampleWarning):
        differences = compare_runs(scores, baseline="a").topic_differences()
    first = list(scores.topics[:3])
    for pair, side in ((0, 0), (1, 1)):
        assert [one.topic for one in differences.extremes(pair, 0)[side]] == first
    turned = differences.extremes(0, 0, turned=True)[1]
    assert [(one.topic, round(one.difference, 6)) for one in turned] == [(t, -0.1) for t in first]


def test_differences_equal_up_to_rounding_are_listed_and_drawn_in_the_order_of_topics():
    values = np.array([[0.2, 0.3], [0.1, 0.2], [0.2, 0.3], [0.3, 0.4], [0.1, 0.2], [0.5, 0.9]])
    differences = compare_runs(table(values), rng=1).topic_differences()
    topics = [*differences.scores.topics[5:], *differences.scores.topics[:5]]
    assert [record["topic"] for record in differences.to_records()] == topics
    assert differences.to_dict()["topic"] == topics
    drawn = topic_chart(differences)["data"]["values"]
    assert [record["topic"] for record in drawn] == topics
