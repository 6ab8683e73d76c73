"""Differences, ranks, best runs and plans by model judgements and a few human judgements."""

import numpy as np
import pytest
from scipy import stats

import confir
from confir.data.sampling_designs.judged_scores import join_judges
from confir.data.sampling_designs.prediction_powered import Judged
from confir.errors import ConfirError, InvalidValueError, TopicMismatchError, UnsupportedMethodError
from confir.resampling.judged_sample import JudgedSample
from confir.resampling.pair_draws import BorrowedVariance
from confir.resampling.studentised_maxima import largest_statistics, studentised_maxima
from judge_files import noisy_judge, plain_correction
from samples import short_sample

SAMPLE = short_sample()
RUNS = [run for run in SAMPLE.runs if run.name != "bm25-rm3"]
MODEL = noisy_judge(SAMPLE.qrels, leniency=0.3, noise=0.5)
PEOPLE = SAMPLE.qrels.to_dict()
HUMAN = {t: PEOPLE[t] for t in np.random.default_rng(3).permutation(list(PEOPLE))[:15].tolist()}
DRAWN = {"human": HUMAN, "human_sample": "random-topics"}


@pytest.fixture(scope="module")
def scores():
    return confir.evaluate(MODEL, RUNS, ["AP", "nDCG@10"], **DRAWN)


def made(human, model, rest):
    """Scores of runs by one measure, from arrays of topics × runs."""
    human, model, rest = (np.asarray(part, float) for part in (human, model, rest))
    runs = tuple(f"run{place}" for place in range(human.shape[1]))
    names = tuple(f"{place:04}" for place in range(len(human) + len(rest)))
    both = np.concatenate([model, rest])[:, :, None]
    model = confir.Scores(names, runs, ("score",), both)
    people = names[: len(human)]
    return confir.results.JudgedScores(people, runs, ("score",), human[:, :, None], model=model)


def simulated(n, more, runs, seed, effect=0.0):
    rng = np.random.default_rng(seed)
    topic = rng.normal(size=(n + more, 1))
    y = topic + rng.normal(size=(n + more, runs)) + effect * np.arange(runs)
    f = 0.6 * y + 0.5 * rng.normal(size=y.shape) + 0.3
    return y[:n], f[:n], f[n:]


def test_evaluate_gives_scores_by_human_judgements_whose_means_are_corrected(scores):
    assert isinstance(scores, confir.results.JudgedScores)
    assert scores.topics == tuple(sorted(HUMAN))
    assert scores.model_topics == 35
    expected = confir.correct_judgements(MODEL, RUNS, ["AP", "nDCG@10"], **DRAWN)
    np.testing.assert_allclose(scores.mean(), expected.mean, atol=1e-14)
    interval = confir.confidence_interval(scores)
    np.testing.assert_array_equal(interval.low, expected.low)
    selected = scores.select(run="rerank", measure="AP")
    np.testing.assert_allclose(
        selected.mean(), scores.mean()[[scores.runs.index("rerank")], :1], atol=1e-14
    )
    assert selected.model.runs == ("rerank",)


def test_an_experiment_carries_human_judgements(scores):
    experiment = confir.Experiment(MODEL, RUNS, ["AP", "nDCG@10"], **DRAWN)
    np.testing.assert_array_equal(confir.evaluate(experiment).values, scores.values)
    found, expected = (
        confir.compare_runs(one, replicates=99, rng=1) for one in (experiment, scores)
    )
    np.testing.assert_array_equal(found.difference, expected.difference)
    assert "human_sample='random-topics'" in repr(experiment)


def test_differences_follow_the_formulas_with_a_weight_of_their_own(scores):
    found = confir.compare_runs(scores, replicates=199, rng=1)
    y, f, g = scores.judged()
    for pair, (one, other) in enumerate(zip(found.first, found.second, strict=True)):
        for m in range(2):
            apart = (part[:, other, m] - part[:, one, m] for part in (y, f, g))
            mean, weight, se, df = plain_correction(*apart)
            assert found.difference[pair, m] == pytest.approx(mean, abs=1e-12)
            assert found.weight[pair, m] == pytest.approx(weight, abs=1e-12)
            low, high = stats.t.interval(0.95, df, mean, se)
            assert (found.low[pair, m], found.high[pair, m]) == pytest.approx((low, high), abs=1e-9)
            p = 2 * stats.t.sf(abs(mean / se), df)
            assert found.p[0, pair, m] == pytest.approx(p, abs=1e-12)
    assert found.topics.max() == 15
    own = scores.judged().corrected().weight
    assert (np.abs(found.weight - own[found.second]) > 1e-3).any()


def test_effect_sizes_are_in_standard_deviations_of_human_scores(scores):
    found = confir.compare_runs(scores, baseline="bm25", replicates=99, rng=1)
    apart = scores.values[:, found.second] - scores.values[:, found.first]
    expected = found.difference / apart.std(axis=0, ddof=1)
    np.testing.assert_allclose(found.effect_size, expected, atol=1e-12)


def test_studentised_maxima_against_loops():
    parts = Judged(*simulated(9, 14, 4, seed=2))
    every, one_run = BorrowedVariance(6, 0.9), BorrowedVariance(3, 0.4)
    labels = tuple((run, "AP") for run in "abcd")
    sample = JudgedSample(labels, (4,), np.zeros(4, bool), parts)
    weights = sample.draw(25, np.random.default_rng(7))
    maxima = studentised_maxima(sample, 25, np.random.default_rng(7), every, one_run)
    largest = largest_statistics(sample, 25, np.random.default_rng(7), every)
    np.testing.assert_array_equal(largest, maxima.largest)
    added = [0.9 * (1 - 6 ** (-1 / 9)) / 9, 0.4 * (1 - 3 ** (-1 / 9)) / 9]
    for b in range(25):
        drawn = np.repeat(np.arange(9), np.rint(9 * weights.human[b]).astype(int))
        more = np.repeat(np.arange(14), np.rint(14 * weights.model[b]).astype(int))
        t = np.zeros((2, 4, 4))
        for one in range(4):
            for other in range(4):
                y, f, g = (part[:, other] - part[:, one] for part in parts)
                if one != other:
                    observed, _, own, _ = plain_correction(y, f, g, left_out=False)
                    wider = plain_correction(y, f, g)[2] / own
                    again = y[drawn], f[drawn], g[more]
                    mean, _, se, _ = plain_correction(*again, left_out=False)
                    moved = wider * (mean - observed) * np.sqrt(9 / 8)
                    t[:, one, other] = moved / np.sqrt((wider * se) ** 2 + added)
        rows = [np.delete(t[1, i], i) for i in range(4)]
        np.testing.assert_allclose(maxima.above[:, b], [row.max() for row in rows])
        np.testing.assert_allclose(maxima.below[:, b], [-row.min() for row in rows])
        assert largest[b] == pytest.approx(np.abs(t[0]).max())


def test_a_constant_model_leaves_the_comparison_by_human_judgements_alone():
    y, f, g = simulated(12, 30, 5, seed=4, effect=0.3)
    judged = made(y, np.full_like(f, 0.5), np.full_like(g, 0.5))
    found = confir.compare_runs(judged, replicates=499, rng=1)
    alone = confir.compare_runs(judged.human, replicates=499, rng=1)
    for name in ("difference", "se", "df", "p", "p_adjusted", "simultaneous_low", "low"):
        np.testing.assert_allclose(getattr(found, name), getattr(alone, name), atol=1e-12)
    np.testing.assert_array_equal(found.verdict, alone.verdict)
    assert (found.weight == 0).all()
    pairs = (made(y[:, :2], f[:, :2] * 0, g[:, :2] * 0), judged.human.select(run=["run0", "run1"]))
    best, people = (confir.find_best(one, replicates=99, rng=1) for one in pairs)
    np.testing.assert_allclose(best.p, people.p, atol=1e-12)  # n - 1 degrees of freedom, both
    from confir.pairs.verdict_words import comparison_note

    assert "the model's judgements carry no information on score" in comparison_note(found)


@pytest.mark.slow
def test_simultaneous_intervals_hold_together():
    """Five runs of the same mean, 12 human and 150 model topics; 150 samples, 3 standard errors."""
    missed = 0
    for seed in range(150):
        judged = made(*simulated(12, 150, 5, seed=[9, seed]))
        found = confir.compare_runs(judged, replicates=199, rng=seed)
        missed += bool((found.simultaneous_low > 0).any() or (found.simultaneous_high < 0).any())
    assert missed / 150 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


def test_a_model_narrows_differences_and_the_set_of_the_best():
    y, f, g = simulated(15, 400, 4, seed=5, effect=0.5)
    judged = made(y, f, g)
    found, alone = (
        confir.compare_runs(one, replicates=999, rng=1) for one in (judged, judged.human)
    )
    assert np.mean(found.high - found.low) < 0.85 * np.mean(alone.high - alone.low)
    best = confir.find_best(judged, replicates=999, rng=1)
    assert best.in_set[3, 0]
    assert best.in_set.sum() <= confir.find_best(judged.human, replicates=999, rng=1).in_set.sum()
    np.testing.assert_allclose(best.mean, judged.mean())


def test_ranks_are_by_corrected_means(scores):
    ranking = confir.rank_runs(scores, replicates=499, rng=1)
    np.testing.assert_allclose(ranking.mean, scores.mean())
    for m in range(2):
        expected = stats.rankdata(-scores.mean()[:, m], method="min")
        np.testing.assert_array_equal(ranking.rank[:, m], expected)
    assert ((ranking.low <= ranking.rank) & (ranking.rank <= ranking.high)).all()
    assert ranking.share_first.sum(axis=0) == pytest.approx([1, 1])
    assert ranking.model_topics == 35


@pytest.mark.slow
def test_rank_intervals_hold_the_true_ranks():
    """Four runs a step apart, so that the last is best."""
    missed = 0
    for seed in range(60):
        judged = made(*simulated(12, 100, 4, seed=[3, seed], effect=0.4))
        ranking = confir.rank_runs(judged, replicates=199, rng=seed)
        truth = np.array([[4], [3], [2], [1]])
        outside = (truth < ranking.simultaneous_low) | (truth > ranking.simultaneous_high)
        missed += bool(outside.any())
    assert missed <= 8  # 5% of 60, and three standard errors


@pytest.mark.parametrize("test", ["wilcoxon", "randomisation", "sign", "tukey-hsd"])
def test_tests_of_one_sample_are_refused(scores, test):
    with pytest.raises(UnsupportedMethodError, match=r"human and model judgements lack; .*: t$"):
        confir.compare_runs(scores, test=test)


def test_methods_of_one_sample_are_refused(scores):
    with pytest.raises(UnsupportedMethodError, match=r"does not fit.*fit: t, "):
        confir.compare_runs(scores, method="bca")
    with pytest.raises(UnsupportedMethodError, match="one simple random sample"):
        confir.confidence_interval(scores, method="gaffke")
    sampled = [method for method in confir.METHODS.values() if "sample" in method.needs]
    assert sampled
    assert all(method.one_sample for method in sampled)


def test_a_method_that_resamples_serves_differences(scores):
    found = confir.compare_runs(scores, method="percentile", replicates=999, rng=1)
    own = confir.compare_runs(scores, replicates=99, rng=1)
    np.testing.assert_allclose(found.difference, own.difference)
    assert np.abs((found.high - found.low) / (own.high - own.low) - 1).max() < 0.6
    single = confir.confidence_interval(scores, statistic="difference", baseline="bm25")
    np.testing.assert_allclose(
        single.estimate, confir.compare_runs(scores, baseline="bm25", rng=1).difference
    )
    with pytest.raises(UnsupportedMethodError, match="by one judge"):
        confir.confidence_interval(scores, statistic="geometric-mean")


def test_identical_runs_and_constant_differences():
    y, f, g = simulated(8, 20, 1, seed=1)
    judged = made(np.hstack([y, y, y + 1.0]), np.hstack([f, f, f]), np.hstack([g, g, g]))
    with pytest.warns(confir.errors.DegenerateSampleWarning):
        found = confir.compare_runs(judged, replicates=99, rng=1)
    assert found.verdict[0, :, 0].tolist() == ["identical", "better", "better"]
    assert confir.find_best(judged, replicates=99, rng=1).in_set[:, 0].tolist() == [
        False,
        False,
        True,
    ]


def test_human_judgements_of_all_topics_are_human_judgements_alone():
    experiment = confir.Experiment(MODEL, RUNS, ["AP"], human=PEOPLE, human_sample="all")
    judged = confir.evaluate(experiment)
    alone = confir.evaluate(SAMPLE.qrels, RUNS, ["AP"])
    np.testing.assert_allclose(judged.mean(), alone.mean(), atol=1e-14)
    low = [confir.confidence_interval(one).low for one in (judged, alone)]
    np.testing.assert_allclose(*low, atol=1e-12)
    limits = [confir.compare_runs(one, rng=1).simultaneous_low for one in (judged, alone)]
    np.testing.assert_allclose(*limits, atol=1e-12)
    with pytest.raises(
        TopicMismatchError, match=r"the human judgements lack 35 topics of the model's"
    ):
        confir.evaluate(MODEL, RUNS, ["AP"], human=HUMAN, human_sample="all")


def test_verbs_that_cannot_combine_judges_refuse(scores):
    for verb in (confir.decompose_error, confir.compare_measures):
        with pytest.raises(ConfirError, match=r"by (model and human|human and model)"):
            verb(scores)
    experiment = confir.Experiment(MODEL, RUNS, ["AP"], **DRAWN)
    for verb in (confir.bound_unjudged, confir.bootstrap_documents, confir.validate_split_half):
        with pytest.raises(InvalidValueError, match="this verb does not combine"):
            verb(experiment)


def test_both_or_neither_must_be_given():
    with pytest.raises(
        InvalidValueError, match="human_sample: how the human-judged topics were sampled"
    ):
        confir.evaluate(MODEL, RUNS, ["AP"], human=HUMAN)
    with pytest.raises(InvalidValueError, match="human_sample is given without human"):
        confir.evaluate(MODEL, RUNS, ["AP"], human_sample="random-topics")
    with pytest.raises(InvalidValueError, match="human is given beside an Experiment"):
        confir.evaluate(confir.Experiment(MODEL, RUNS, **DRAWN), **DRAWN)
    with pytest.raises(InvalidValueError, match="nothing corrects that"):
        confir.Experiment(MODEL, RUNS, human=HUMAN, human_sample="chosen")


def test_a_plan_has_the_standard_error_of_the_pilot(scores):
    """With as many topics as the pilot has, the half width is that of its t interval."""
    plan = confir.plan_topics(scores, topics=15)
    interval = confir.confidence_interval(scores, method="t")
    width = (interval.high - interval.low) / 2
    np.testing.assert_allclose(plan.half_width, width, rtol=1e-9)  # both with n - 2
    assert plan.model_topics == pytest.approx(35 / 15)
    assert (plan.low < plan.difference).all()
    assert (plan.difference < plan.high).all()
    best = confir.plan_topics(scores, half_width=0.05, family="best")
    assert (best.topics > 15).any()


def test_scores_of_different_runs_cannot_be_joined(scores):
    with pytest.raises(InvalidValueError, match="different runs or measures"):
        join_judges(scores.human, scores.model.select(run=["bm25", "rerank"]))
