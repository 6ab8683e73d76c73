"""Effects of the choice of a judge: means, leaderboards, verdicts, gains and variance."""

import warnings

import numpy as np
import pytest
from scipy import stats

import confir
from confir.errors import (
    ConfirWarning,
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
)
from confir.resampling.replicates import draw_topics, own_seed
from confir.studies.judgements.judge_effects import gain_limits
from confir.studies.judgements.judge_variance import split_variance
from judge_files import noisy_judge
from reference import plain_families as plain
from samples import whole_sample
from studies.drawn_topics import draws_of

SAMPLE = whole_sample()
RUNS = [run for run in SAMPLE.runs if run.name != "bm25-rm3"]
MEASURES = ["AP", "nDCG@10"]
JUDGES = {
    "people": SAMPLE.qrels,
    "model": noisy_judge(SAMPLE.qrels, leniency=0.4, noise=0.8, seed=1),
    "other": noisy_judge(SAMPLE.qrels, noise=1.2, seed=2),
}


def compare(judges=("people", "model"), **options):
    chosen = {name: JUDGES[name] for name in judges}
    options = {"replicates": 199, "rng": 1} | options
    return confir.compare_judgements(chosen, options.pop("runs", RUNS), MEASURES, **options)


@pytest.fixture(scope="module")
def two():
    return compare()


@pytest.fixture(scope="module")
def three():
    return compare(("people", "model", "other"))


@pytest.fixture(scope="module")
def scores():
    return {name: confir.evaluate(qrels, RUNS, MEASURES) for name, qrels in JUDGES.items()}


def test_means_are_those_of_evaluate_with_their_default_intervals(three, scores):
    intervals = {name: confir.confidence_interval(one) for name, one in scores.items()}
    runs = three.runs
    for place, (reference, judge) in enumerate(three.pairs):
        for name, side in ((reference, "reference"), (judge, "judge")):
            for field, end in (("estimate", "mean"), ("low", "low"), ("high", "high")):
                found = getattr(runs, f"{side}_{end}")[place]
                np.testing.assert_allclose(found, getattr(intervals[name], field), atol=1e-12)


def test_bias_is_the_mean_difference_over_runs_and_topics_with_student_s_interval(two, scores):
    difference = scores["model"].values - scores["people"].values
    for m in range(2):
        by_topic = difference[:, :, m].mean(axis=1)
        low, high = stats.t.interval(0.95, 49, by_topic.mean(), stats.sem(by_topic))
        assert two.bias[0, m] == pytest.approx(by_topic.mean(), abs=1e-12)
        assert (two.bias_low[0, m], two.bias_high[0, m]) == pytest.approx((low, high), abs=1e-12)
        for r in range(len(RUNS)):
            low, high = stats.t.interval(
                0.95, 49, difference[:, r, m].mean(), stats.sem(difference[:, r, m])
            )
            found = two.runs.bias_low[0, r, m], two.runs.bias_high[0, r, m]
            assert found == pytest.approx((low, high), abs=1e-12)


def test_tau_is_that_of_the_means(two, scores):
    for m in range(2):
        means = [scores[name].values[:, :, m].mean(axis=0) for name in ("people", "model")]
        assert two.tau[0, m] == pytest.approx(stats.kendalltau(*means).statistic, abs=1e-12)
        assert two.tau_low[0, m] <= two.tau[0, m] <= two.tau_high[0, m] <= 1


def test_limits_of_tau_against_a_plain_jackknife_and_bootstrap(scores):
    found = compare(replicates=150, rng=8)
    values = [scores[name].values[:, :, 0] for name in ("people", "model")]
    topics = len(values[0])

    def tau(weights):
        return stats.kendalltau(*(weights @ one for one in values)).statistic

    replicates = [tau(row) for row in draw_topics(topics, 150, np.random.default_rng(8)).shares()]
    left = np.array(
        [
            tau(np.delete(np.ones(topics), t) @ np.delete(np.eye(topics), t, 0))
            for t in range(topics)
        ]
    )
    jackknife = np.sqrt((topics - 1) / topics * np.sum((left - left.mean()) ** 2))
    se = max(jackknife, np.std(replicates, ddof=1))
    centre = 2 * found.tau[0, 0] - np.mean(replicates)
    half = stats.t.ppf(0.975, topics - 1) * se
    assert found.tau_low[0, 0] == pytest.approx(max(-1, centre - half), abs=1e-9)
    assert found.tau_high[0, 0] == pytest.approx(min(1, centre + half), abs=1e-9)


def test_verdicts_are_counted_as_compare_runs_gives_them(three, scores):
    seed = own_seed(np.random.default_rng(1))
    verdicts = {
        name: confir.compare_runs(one, replicates=199, rng=seed).verdict[0]
        for name, one in scores.items()
    }
    opposite = {"better": "worse", "worse": "better"}
    for place, (reference, judge) in enumerate(three.pairs):
        for m in range(2):
            pairs = list(zip(verdicts[reference][:, m], verdicts[judge][:, m], strict=True))
            found = [(a, b) for a, b in pairs if a in opposite]
            assert three.run_pairs[place, m] == len(pairs) == 21
            assert three.significant[place, m] == len(found) > 0
            assert three.kept[place, m] == sum(a == b for a, b in found)
            assert three.reversed[place, m] == sum(opposite[a] == b for a, b in found)
            assert three.lost[place, m] == sum(b not in opposite for _, b in found)
            gained = sum(a not in opposite and b in opposite for a, b in pairs)
            assert three.gained[place, m] == gained
    assert (three.kept + three.lost + three.reversed == three.significant).all()


def test_a_judge_who_turns_the_order_round_reverses_verdicts():
    runs = {
        name: {f"{t}": {d: float(s) for d, s in zip("abcd", order, strict=True)} for t in range(12)}
        for name, order in {"up": (4, 3, 2, 1), "down": (1, 2, 3, 4)}.items()
    }
    people = {f"{t}": {"a": 2, "b": 1, "c": 0, "d": 0} for t in range(12)}
    model = {f"{t}": {"a": 0, "b": 0, "c": 1, "d": 2} for t in range(12)}
    for t in range(0, 12, 2):
        people[f"{t}"]["b"] = 0
        model[f"{t}"]["c"] = 0
    found = confir.compare_judgements([people, model], runs, ["nDCG"], replicates=99, rng=1)
    assert found.significant.tolist() == found.reversed.tolist() == [[1]]
    assert found.kept.tolist() == found.lost.tolist() == [[0]]
    assert found.tau.tolist() == found.tau_ap.tolist() == [[-1.0]]
    assert np.isnan(found.tau_low).all()  # the same in all replicates: no interval of no length


def test_gains_are_biases_beyond_that_of_all_runs(two):
    mean_bias = two.runs.bias.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(two.runs.gain, two.runs.bias - mean_bias, atol=1e-12)
    expected = np.where(
        two.runs.gain_low > 0, "gains", np.where(two.runs.gain_high < 0, "loses", "inconclusive")
    )
    np.testing.assert_array_equal(two.runs.effect, expected)


def test_a_judge_that_prefers_one_run_shows_as_its_gain():
    """The model calls relevant whatever the run `dense` ranks first; otherwise it judges like humans."""
    favourite = next(run for run in RUNS if run.name == "dense").to_dict()
    model = {
        topic: judged | dict.fromkeys([d for d in list(favourite[topic])[:10] if d in judged], 3)
        for topic, judged in SAMPLE.qrels.to_dict().items()
    }
    found = confir.compare_judgements(
        {"people": SAMPLE.qrels, "model": model}, RUNS, ["nDCG@10"], replicates=499, rng=1
    ).runs
    best = found.runs[int(found.gain[0, :, 0].argmax())]
    assert best == "dense"
    assert found.select(run="dense").effect.tolist() == [[["gains"]]]
    rows = [record["run"] for record in found.to_records() if record["effect"] == "gains"]
    assert "tfidf" not in rows


def test_limits_of_gains_are_those_of_a_family_by_plain_loops():
    rng = np.random.default_rng(5)
    differences = rng.gamma(1.0, size=(15, 4, 2)) - 1.0
    differences[:, 0] += 4.0  # beyond doubt: no further replicates are drawn
    differences[:, 1:] -= 4.0
    gain, (low, high) = gain_limits(differences, 199, 6, 0.9)
    for m in range(2):
        pairs = (differences[:, :, m] - differences[:, :, m].mean(axis=1, keepdims=True)).T
        expected = plain.compare_family(pairs, draws_of(15, 199, 6), 0.9)
        half = np.array([one.c * one.se for one in expected])
        np.testing.assert_allclose(gain[:, m], pairs.mean(axis=1))
        np.testing.assert_allclose(low[:, m], gain[:, m] - half, rtol=1e-8)
        np.testing.assert_allclose(high[:, m], gain[:, m] + half, rtol=1e-8)


def test_runs_that_all_gain_the_same_have_no_limits():
    differences = np.random.default_rng(5).random((15, 1, 1)) * np.ones((15, 3, 1))
    gain, limits = gain_limits(differences, 99, 1, 0.95)
    np.testing.assert_allclose(gain, 0.0, atol=1e-12)
    assert np.isnan(limits).all()


def test_limits_of_gains_are_simultaneous_in_simulation():
    rng = np.random.default_rng(11)
    covered = []
    for _ in range(300):
        spread = rng.uniform(0.5, 2, 6)
        differences = rng.normal(0, spread, (25, 6)) + rng.normal(0, 1, (25, 1))
        _, (low, high) = gain_limits(differences[..., None], 199, int(rng.integers(2**31)), 0.9)
        covered.append(((low <= 0) & (high >= 0)).all())
    assert 0.87 <= np.mean(covered) <= 0.98  # 0.9 - 1.7 standard errors, and a little conservative


def test_variance_is_split_as_a_two_way_analysis_of_variance_does():
    rng = np.random.default_rng(2)
    judges, topics = 4, 30
    values = (
        rng.normal(0, 0.3, (1, topics, 2, 1))
        + rng.normal(0, 0.5, (judges, 1, 1, 1))
        + rng.normal(0, 0.2, (judges, topics, 2, 1))
    )
    found = split_variance(values, ("a", "b"), ("m",))
    for r in range(2):
        x = values[:, :, r, 0]
        grand, by_judge, by_topic = x.mean(), x.mean(axis=1), x.mean(axis=0)
        rest = x - by_judge[:, None] - by_topic[None] + grand
        error = np.sum(rest**2) / ((judges - 1) * (topics - 1))
        judge = (topics * by_judge.var(ddof=1) - error) / topics
        topic = (judges * by_topic.var(ddof=1) - error) / judges
        assert found.interaction[r, 0] == pytest.approx(error / topics)
        assert found.judges[r, 0] == pytest.approx(judge)
        assert found.topics[r, 0] == pytest.approx(topic / topics)
    np.testing.assert_allclose(found.total, found.topics + found.judges + found.interaction)


def test_components_of_variance_are_found_in_simulation():
    rng = np.random.default_rng(4)
    parts = []
    for _ in range(200):
        values = (
            rng.normal(0, 0.4, (1, 40, 1, 1))
            + rng.normal(0, 0.1, (5, 1, 1, 1))
            + rng.normal(0, 0.3, (5, 40, 1, 1))
        )
        one = split_variance(values, ("a",), ("m",))
        parts.append([one.topics[0, 0], one.judges[0, 0], one.interaction[0, 0]])
    np.testing.assert_allclose(np.mean(parts, axis=0), [0.16 / 40, 0.01, 0.09 / 40], rtol=0.12)


def test_two_judges_have_no_split_of_variance_and_three_have_one(two, three):
    assert two.variance is None
    assert three.variance.judge_count == 3
    assert (three.variance.total > 0).all()


def test_the_same_seed_gives_the_same_numbers_and_records(two):
    assert repr(compare().to_records()) == repr(two.to_records())


def test_another_judge_or_run_changes_no_other_estimate(two, three):
    for name in ("bias", "bias_low", "tau", "tau_low", "kept"):
        np.testing.assert_array_equal(getattr(three, name)[0], getattr(two, name)[0])
    np.testing.assert_array_equal(three.runs.gain_low[0], two.runs.gain_low[0])
    assert three.agreement.kappa_low[0] == two.agreement.kappa_low[0]


def test_one_run_has_a_bias_and_no_leaderboard():
    found = compare(runs=RUNS[:1])
    assert np.isfinite(found.bias).all()
    assert np.isnan(found.tau).all()
    assert found.run_pairs.tolist() == [[0, 0]]


def test_the_rules_of_reading_hold_for_all_judges(scores):
    found = compare(rel=2, depth=5)
    expected = confir.evaluate(JUDGES["model"], RUNS, MEASURES, rel=2, depth=5).mean()
    np.testing.assert_allclose(found.runs.judge_mean[0], expected)
    assert not np.allclose(expected, scores["model"].mean())


def test_leaderboards_are_over_the_topics_that_all_runs_have():
    with pytest.warns(TopicWarning) as caught:
        found = compare(runs=SAMPLE.runs, missing="drop")
    texts = [str(entry.message) for entry in caught]
    assert "leaderboards are compared on the 49 topics that all runs have, of 50" in texts
    assert found.topics == 49
    assert found.agreement.topics == 50
    assert sum("lacks 1 topic (135)" in text for text in texts) == 1  # not once per judge


def test_a_warning_of_one_judge_names_it():
    strict = {t: dict.fromkeys(j, 0) if t == "101" else j for t, j in JUDGES["model"].items()}
    with pytest.warns(
        TopicWarning, match="judge strict: the qrels have no relevant document for 1"
    ):
        confir.compare_judgements(
            {"people": SAMPLE.qrels, "strict": strict}, RUNS, ["AP"], replicates=9, rng=1
        )


def test_mapped_grades_change_the_scores_too():
    binary = {
        t: {d: int(g > 1) for d, g in judged.items()} for t, judged in JUDGES["model"].items()
    }
    judges = {"people": SAMPLE.qrels, "model": binary}
    maps = {"people": {0: 0, 1: 0, 2: 1, 3: 1}}
    found = confir.compare_judgements(
        judges, RUNS, ["nDCG@10"], grade_maps=maps, replicates=9, rng=1
    )
    flat = {t: {d: int(g > 1) for d, g in j.items()} for t, j in SAMPLE.qrels.to_dict().items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = confir.evaluate(flat, RUNS, ["nDCG@10"]).mean()
    np.testing.assert_allclose(found.runs.reference_mean[0], expected)


def test_bad_input_is_named():
    with pytest.raises(UnknownNameError, match="nDGC"):
        confir.compare_judgements(JUDGES, RUNS, ["nDGC@10"])
    with pytest.raises(TopicMismatchError, match="no topic in common"):
        confir.compare_judgements(JUDGES, {"x": {"q": {"d": 1.0}}}, ["AP"])
    with pytest.raises(InvalidValueError, match="level is 2"):
        compare(level=2)


def test_a_choice_of_judges_and_measures_keeps_its_parts(three):
    part = three.select(judge="other", measure="AP")
    assert part.pairs == (("people", "other"), ("model", "other"))
    assert part.agreement.pairs == part.runs.pairs == part.pairs
    assert part.runs.measures == ("AP",)
    assert part.agreement.confusion.documents.shape == (2, 4, 4)


def test_tau_has_an_interval_where_no_single_topic_changes_it():
    """The jackknife sees no variance in the order of a few runs; the bootstrap does."""
    found = compare(runs=RUNS[:3])
    assert (found.tau_low < found.tau).any()


def repeated_runs(seed=5):
    """Three systems of four repeats each, which differ by noise in the scores of documents."""
    rng = np.random.default_rng(seed)
    runs = {}
    for run in RUNS[:3]:
        for repeat in range(1, 5):
            runs[f"{run.name}@{repeat}"] = {
                topic: {
                    d: x + rng.normal(0, 0.3 * np.std(list(own.values()))) for d, x in own.items()
                }
                for topic, own in run.to_dict().items()
            }
    return runs


def test_with_repeats_systems_are_compared_by_the_means_of_their_repeats():
    runs = repeated_runs()
    found = compare(runs=runs, repeats=True)
    systems = {
        name: confir.evaluate(JUDGES[name], runs, MEASURES).with_repeats()
        for name in ("people", "model")
    }
    people, model = systems["people"], systems["model"]
    assert found.runs.runs == people.runs == tuple(run.name for run in RUNS[:3])
    assert found.repeats == (4, 4, 4)
    np.testing.assert_array_equal(found.run_pairs, [[3, 3]])
    np.testing.assert_allclose(found.bias[0], np.mean(model.mean() - people.mean(), axis=0))
    for m, measure in enumerate(MEASURES):
        both = people.mean()[:, m], model.mean()[:, m]
        assert found.tau[0, m] == pytest.approx(stats.kendalltau(*both).statistic)
        decided = confir.compare_runs(people.select(measure=measure), replicates=199, rng=1).verdict
        assert found.significant[0, m] == np.isin(decided, ("better", "worse")).sum()
    interval = confir.confidence_interval(people)
    np.testing.assert_allclose(found.runs.reference_low[0], interval.low)
    assert "3 systems, each the mean of 4 repeats" in str(found)


def test_runs_that_are_all_named_as_repeats_are_compared_with_a_warning():
    with pytest.warns(ConfirWarning, match="12 runs are named as repeats of 3 systems"):
        found = compare(runs=repeated_runs())
    assert found.run_pairs.tolist() == [[66, 66]]
    with pytest.raises(InvalidValueError, match="names no repeat"):
        compare(repeats=True)
    with pytest.raises(InvalidValueError, match="repeats is 1"):
        compare(repeats=1)
