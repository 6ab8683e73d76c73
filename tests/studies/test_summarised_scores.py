"""Verbs give the same for a summary as for the scores, up to rounding and the draws of topics."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.ids import hash_names
from confir.data.long_tables.parquet_scores import ParquetScores
from confir.data.scores import Scores
from confir.errors import (
    DegenerateSampleWarning,
    InvalidValueError,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.resampling.document_kernels import PLAIN_KERNELS, THRESHOLDS, seeded_keys
from confir.resampling.summary_sample import PoissonSums, SummarisedTopics
from requirements import ON_LINUX, required

pa = required("pyarrow")
pq = required("pyarrow.parquet")

CLOSED = [name for name, method in confir.METHODS.items() if method.closed_form and method.topics]
RESAMPLED = ["percentile", "bca", "bootstrap-t", "symmetric-t", "studentised-logit", "hall-logit"]


def make_scores(topics=6_000, runs=4, measures=1, seed=3):
    """Scores in [0, 1] of runs that share the topics' difficulty."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 1, (topics, 1, 1))
    noise = rng.normal(0, 0.7, (topics, runs, measures))
    values = 1 / (1 + np.exp(-(hard + noise + 0.03 * np.arange(runs)[:, None])))
    ids = tuple(f"q{number:07d}" for number in range(topics))
    names = tuple(f"run{r}" for r in range(runs))
    return Scores(ids, names, ("AP", "nDCG@10", "P@10")[:measures], values)


SCORES = make_scores()


def same(one, other, names, tolerance=1e-12):
    for name in names:
        left, right = getattr(one, name), getattr(other, name)
        if left.dtype.kind in "OUb":
            assert (left == right).all(), name
        else:
            np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("method", CLOSED)
def test_closed_form_limits_are_those_of_the_scores(method):
    summary = confir.summarise_scores(SCORES)
    one, other = (confir.confidence_interval(s, method=method) for s in (SCORES, summary))
    same(one, other, ("estimate", "low", "high", "topics"))
    assert other.replicates == 0


@pytest.mark.parametrize("method", RESAMPLED)
def test_poisson_weights_give_the_limits_of_the_multinomial_bootstrap(method):
    summary = confir.summarise_scores(SCORES)
    one, other = (
        confir.confidence_interval(s, method=method, replicates=3_999, rng=1)
        for s in (SCORES, summary)
    )
    width = one.high - one.low
    # a 2.5% quantile of 3,999 replicates errs by about 1% of the width, each of the two
    assert (np.abs(one.low - other.low) < 0.06 * width).all()
    assert (np.abs(one.high - other.high) < 0.06 * width).all()


def test_weights_depend_on_the_topic_alone(tmp_path):
    scores = SCORES.select(topic=list(SCORES.topics[:500]))
    order = np.random.default_rng(4).permutation(500)
    rows = {"topic": np.array(scores.topics)[order]}
    rows |= {run: scores.values[order, r, 0] for r, run in enumerate(scores.runs)}
    path = tmp_path / "x.AP@100.parquet"
    pq.write_table(pa.table(rows), path, row_group_size=90)
    kinds = {"method": "bootstrap-t", "replicates": 99, "rng": 5}
    with pytest.warns(confir.errors.InputWarning, match="99 replicates"):
        one = confir.confidence_interval(confir.summarise_scores(scores), **kinds)
    with pytest.warns(confir.errors.InputWarning, match="99 replicates"):
        other = confir.confidence_interval(confir.summarise_scores(path), **kinds)
    same(one, other, ("low", "high"))


def test_weights_are_poisson_counts_and_their_sums_add_up():
    keys = seeded_keys(hash_names([f"t{number}" for number in range(4_000)]), 7)
    ones = np.ones((1, len(keys)))
    total = PoissonSums.of(keys, ones, 50, 3)
    parts = [
        PoissonSums.of(keys[a:b], ones[:, a:b], 50, 3) for a, b in ((0, 1_500), (1_500, 4_000))
    ]
    merged = parts[0].merge(parts[1])
    weight = total.powers[0]
    assert len(total.powers) == len(merged.powers) == 4
    for one, other in zip(total.powers, merged.powers, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one, weight)
    # sums of 4,000 Poisson(1) counts: mean and variance 4,000
    assert weight.mean() == pytest.approx(4_000, abs=4 * np.sqrt(4_000 / 50))
    assert 2_400 < weight.var() < 6_400


def test_replicates_are_those_of_topics_repeated_as_often_as_they_are_drawn():
    values = SCORES.values[:40]
    scores = Scores(SCORES.topics[:40], SCORES.runs, SCORES.measures, values)
    topics = SummarisedTopics.of_means(confir.summarise_scores(scores))
    needs = ("replicate_se", "replicate_skewness")
    drawn = topics.draw(6, np.random.default_rng(2), needs)
    found = topics.distribution(slice(None), drawn, needs)
    counts = np.empty((40, 6), np.uint8)
    seed = int(np.random.default_rng(2).integers(2**63))
    PLAIN_KERNELS.draw_counts(seeded_keys(hash_names(scores.topics), seed), 0, THRESHOLDS, counts)
    for b in range(6):
        again = np.repeat(values[:, :, 0], counts[:, b], axis=0)
        se = again.std(axis=0, ddof=1) / np.sqrt(len(again))
        np.testing.assert_allclose(found.replicates[b], again.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(found.replicate_se[b], se, rtol=1e-10)
        np.testing.assert_allclose(found.replicate_skewness[b], stats.skew(again), rtol=1e-9)


def test_scores_outside_the_unit_interval_are_clipped_in_pairs_or_named():
    values = np.tile([1.0, 0.5], (6, 1))[:, :, None]
    scores = Scores(SCORES.topics[:6], ("a", "b"), ("AP",), values)
    beyond = values.copy()
    beyond[:3, 1] = 1.0 + 4e-7
    rounded = replace(scores, values=beyond)
    with pytest.warns(confir.errors.ReadingWarning, match="1.0000004 on a topic"):
        found = confir.compare_runs(confir.summarise_scores(rounded), rng=1)
    assert found.ties.tolist() == [[3]]
    assert found.difference.tolist() == [[-0.25]]
    wrong = replace(scores, values=values - np.linspace(0.0, 0.6, 6)[:, None, None])
    with pytest.raises(confir.errors.FormatError, match=r"AP of run 'b' is -0\.1 on a topic"):
        confir.summarise_scores(wrong).pair_totals(np.array([0]), np.array([1]))


def test_large_scores_tie_where_they_differ_by_rounding():
    values = np.full((6, 2, 1), 1e6)
    values[:, 1, 0] += [2e-9, 2e-9, 2e-9, 1.0, 2.0, 3.0]
    scores = Scores(SCORES.topics[:6], ("a", "b"), ("score",), values)
    for source in (scores, confir.summarise_scores(scores)):
        assert confir.compare_runs(source, rng=1).ties.tolist() == [[3]]


def test_five_of_the_runs_that_lack_topics_are_named():
    values = np.full((2, 7, 1), 0.5)
    values[1, :6] = np.nan
    scores = Scores(("1", "2"), tuple("abcdefg"), ("AP",), values)
    expected = (
        "run 'e' lacks 1 of 2 topics .50%. and 1 more that other runs have, left out of their means"
    )
    with pytest.warns(confir.errors.MissingTopicWarning, match=expected):
        confir.summarise_scores(scores).warning_of_missing_topics().mean()


def test_limits_scale_with_the_scores():
    scores = Scores(SCORES.topics[:50], SCORES.runs, ("score",), SCORES.values[:50])
    small = replace(scores, values=1e-10 * scores.values)
    one, other = (
        confir.confidence_interval(confir.summarise_scores(s), method="t") for s in (scores, small)
    )
    np.testing.assert_allclose(other.low, 1e-10 * one.low, rtol=1e-9)


def test_a_run_with_one_topic_has_that_mean():
    values = SCORES.values[:3].copy()
    values[1:, 0] = np.nan
    scores = Scores(SCORES.topics[:3], SCORES.runs, SCORES.measures, values)
    assert confir.summarise_scores(scores).mean()[0, 0] == values[0, 0, 0]


@pytest.mark.parametrize("options", [{}, {"baseline": "run1", "margin": 0.01}])
def test_a_comparison_of_a_summary_is_that_of_the_scores(options):
    one, other = (
        confir.compare_runs(s, test=["t", "sign"], family=None, correction="holm", rng=1, **options)
        for s in (SCORES, confir.summarise_scores(SCORES))
    )
    names = ("difference", "se", "low", "high", "topics", "wins", "ties", "losses")
    same(one, other, (*names, "p", "p_adjusted", "verdict", "direction"))
    one, other = (
        confir.compare_runs(s, rng=1, **options) for s in (SCORES, confir.summarise_scores(SCORES))
    )
    same(one, other, ("simultaneous_low", "simultaneous_high", "p_adjusted", "verdict"))
    assert one.to_records()[0].keys() == other.to_records()[0].keys()
    same(one.at(0.99), other.at(0.99), ("simultaneous_low", "verdict"))
    assert one.sentences() == other.sentences()


def test_a_pair_that_hardly_varies_borrows_the_variance_of_the_scores_family():
    values = SCORES.values.copy()
    values[:, 1] = values[:, 0] + 1e-4 * np.sin(np.arange(len(values)))[:, None]
    scores = Scores(SCORES.topics, SCORES.runs, ("score",), values)
    one, other = (confir.compare_runs(s, rng=1) for s in (scores, confir.summarise_scores(scores)))
    variance = np.square(one.se) * one.topics
    borrowed = one.families[0].borrowed
    assert borrowed == pytest.approx((variance.size, np.median(variance)))
    assert variance.min() < borrowed.of(len(values))  # or the example would show nothing
    assert other.families[0].borrowed == pytest.approx(borrowed)
    np.testing.assert_allclose(other.families[0].maxima, one.families[0].maxima, rtol=1e-6)


def test_missing_identical_and_constant_runs_are_compared_as_in_the_scores():
    values = SCORES.values.copy()
    values[:, 1] = values[:, 0] + 2e-14 * (np.arange(len(values)) % 2)[:, None]  # by rounding
    values[:, 2] = values[:, 0] * 0.5
    values[:, 3] = values[:, 2] + 0.25
    values[::7, 2] = np.nan
    scores = Scores(SCORES.topics, SCORES.runs, SCORES.measures, values)
    with pytest.warns((DegenerateSampleWarning, confir.errors.TopicWarning)):
        one = confir.compare_runs(scores, rng=1)
    with pytest.warns((DegenerateSampleWarning, confir.errors.TopicWarning)):
        other = confir.compare_runs(confir.summarise_scores(scores), rng=1)
    same(one, other, ("difference", "se", "topics", "identical", "wins", "ties", "verdict"))
    assert "identical" in other.verdict
    with pytest.warns(confir.errors.TopicWarning):
        best = confir.find_best(scores, rng=1)
    same(best, confir.find_best(confir.summarise_scores(scores), rng=1), ("mean", "topics"))


def test_best_runs_ranks_and_plans_are_those_of_the_scores():
    summary = confir.summarise_scores(SCORES)
    one, other = (confir.find_best(s, rng=1) for s in (SCORES, summary))
    same(one, other, ("mean", "difference", "in_set", "upper", "p", "topics"))
    # 9,999 replicates each, one of normal means and one of topics
    same(one, other, ("share_first",), tolerance=0.02)
    one, other = (confir.rank_runs(s, rng=1) for s in (SCORES, summary))
    same(one, other, ("mean", "rank", "low", "high", "simultaneous_low", "simultaneous_high"))
    for goal in (
        {"half_width": 0.01},
        {"half_width": 0.01, "family": "all-pairs"},
        {"baseline": "run0", "difference": "observed"},
    ):
        one, other = (confir.plan_topics(s, **goal) for s in (SCORES, summary))
        same(one, other, ("topics", "difference", "sd", "half_width"))
        # the limits of the standard deviation take the mean for the trimmed mean
        same(one, other, ("low", "high"), tolerance=2e-3)


def test_what_needs_single_topics_is_refused_with_what_fits():
    summary = confir.summarise_scores(SCORES)
    with pytest.raises(UnsupportedMethodError, match=r"'gaffke' does not fit.*calibrated-beta"):
        confir.confidence_interval(summary, method="gaffke")
    with pytest.raises(UnsupportedMethodError, match="tests that fit: t, sign"):
        confir.compare_runs(summary, test="wilcoxon")
    with pytest.raises(UnsupportedMethodError, match="expected the mean, or the difference"):
        confir.confidence_interval(summary, statistic="geometric-mean")
    with pytest.raises(UnsupportedMethodError, match="which summaries of scores lack"):
        confir.estimate_coverage(summary)
    with pytest.raises(InvalidValueError, match="every topic"):
        confir.compare_runs(summary).topic_differences()
    with pytest.raises(UnknownNameError):
        confir.compare_runs(summary, baseline="run9")
    with pytest.raises(InvalidValueError, match="one run"):
        confir.compare_runs(summary.select(run="run1"))
    with pytest.raises(InvalidValueError, match="one topic"):
        confir.confidence_interval(confir.summarise_scores(SCORES.select(topic=[SCORES.topics[0]])))


def test_few_topics_leave_the_family_to_bonferroni():
    few = SCORES.select(topic=list(SCORES.topics[:50]))
    found = confir.compare_runs(confir.summarise_scores(few), rng=1)
    assert [len(family.maxima) for family in found.families] == [0]
    exact = confir.compare_runs(few, rng=1)
    assert (found.simultaneous_high >= exact.simultaneous_high - 1e-12).all()


# The peak of the program alone: ru_maxrss would count the process that started it, too.
# Threads hold a piece of the table each: as many of them on any machine.
GROWTH = """
import os, re, sys
from pathlib import Path
import confir
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
summary = confir.summarise_scores(sys.argv[1])
confir.confidence_interval(summary)
confir.compare_runs(summary)
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(len(summary.topics), peak)
"""


@pytest.mark.slow
@ON_LINUX
@pytest.mark.parametrize("layout", ["wide", "long", "scattered"])
def test_memory_does_not_grow_with_the_topics(tmp_path, layout):
    # as objects, 700,000 more topics would take 200 MB more; tests/verify has 10 million topics
    assert growth_of_memory(tmp_path, layout, 800_000) < 120


def growth_of_memory(folder, layout, most):
    """Return how many MB more so many topics take than 100,000, which are less than a piece."""
    peaks = []
    for topics in (100_000, most):
        path = folder / f"{topics}.parquet"
        write_many(path, topics, layout)
        done = subprocess.run(
            [sys.executable, "-c", GROWTH, str(path)], capture_output=True, text=True, check=True
        )
        found, peak = map(int, done.stdout.split())
        assert found == topics
        peaks.append(peak / 1024)
        path.unlink()
    return peaks[1] - peaks[0]


def write_many(path, topics, layout):
    """Write a table of two runs, a part of the topics at a time."""
    rng = np.random.default_rng(1)
    parts = [(start, min(start + 500_000, topics)) for start in range(0, topics, 500_000)]
    orders = [(0, 1)] if layout != "scattered" else [(0,), (1,)]
    writer = None
    for runs in orders:
        for start, stop in parts:
            ids = pa.array(np.arange(start, stop)).cast(pa.string())
            scores = rng.random((stop - start, len(runs)))
            if layout == "wide":
                table = pa.table({"topic": ids, **{f"run{r}": scores[:, r] for r in runs}})
            else:
                table = pa.table(
                    {
                        "run": np.tile([f"run{r}" for r in runs], stop - start),
                        "topic": ids.take(np.repeat(np.arange(stop - start), len(runs))),
                        "score": scores.reshape(-1),
                    }
                )
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table, row_group_size=1 << 16)
    writer.close()


@pytest.mark.parametrize("verb", ["confidence_interval", "compare_runs", "plan_topics"])
def test_closed_form_verbs_read_a_table_once(tmp_path, monkeypatch, verb):
    passes = []
    gather = ParquetScores._gather
    monkeypatch.setattr(ParquetScores, "_gather", lambda s, d: passes.append(1) or gather(s, d))
    rows = {"topic": list(SCORES.topics)}
    rows |= {run: SCORES.values[:, r, 0] for r, run in enumerate(SCORES.runs)}
    pq.write_table(pa.table(rows), tmp_path / "x.AP@100.parquet")
    summary = confir.summarise_scores(tmp_path / "x.AP@100.parquet")
    options = {"half_width": 0.01} if verb == "plan_topics" else {}
    getattr(confir, verb)(summary, **options)
    assert len(passes) == 1
