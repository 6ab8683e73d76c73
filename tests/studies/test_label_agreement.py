"""Labels of items by humans and judges: agreement, sensitivity, specificity and bias."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix, recall_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

import confir
from confir.errors import ConfirError, InvalidValueError
from confir.studies.judgements.label_agreement import clustered_share, paired_difference
from confir.studies.judgements.labels import Labels

LEVEL = 0.95


def labelled(seed=1, topics=30, size=6, grades=2, error=0.25):
    """Items in topics, whose labels and errors are alike within a topic."""
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(topics), size)
    human = np.clip(
        np.rint(rng.normal(0, 1, topics)[topic] + rng.normal(1, 1, len(topic))), 0, grades - 1
    )
    wrong = rng.random(len(topic)) < rng.beta(2 * error, 2 * (1 - error), topics)[topic]
    judge = np.where(wrong, rng.integers(0, grades, len(topic)), human)
    return topic, human.astype(int), judge.astype(int)


def measure(human, judge, **options):
    columns = {"human": list(human), "judge": list(judge)}
    columns |= {
        name: list(options.pop(name)) for name in ("topic", "weight", "item") if name in options
    }
    return confir.measure_agreement(labels=columns, **{"replicates": 499, "rng": 1} | options)


def test_pass_and_fail_against_scikit_learn_and_krippendorff():
    _, human, judge = labelled()
    found = measure(human, judge)
    assert found.kind == "pass/fail"
    assert found.same_label[0] == pytest.approx(np.mean(human == judge))
    assert found.kappa[0] == pytest.approx(cohen_kappa_score(human, judge))
    alpha = krippendorff.alpha([human, judge], level_of_measurement="nominal")
    assert found.krippendorff_alpha[0] == pytest.approx(alpha)
    assert found.sensitivity[0, 0] == pytest.approx(recall_score(human, judge))
    assert found.specificity[0, 0] == pytest.approx(recall_score(human, judge, pos_label=0))
    assert found.bias[0] == pytest.approx(judge.mean() - human.mean())
    assert (found.passed[0, 0], found.failed[0, 0]) == (human.sum(), (1 - human).sum())
    np.testing.assert_array_equal(found.confusion.documents[0], confusion_matrix(human, judge))


def test_grades_against_scikit_learn_and_krippendorff_with_weights():
    _, human, judge = labelled(grades=4)
    weight = np.random.default_rng(2).uniform(0.5, 3, len(human))
    found = measure(human, judge, weight=weight)
    assert (found.kind, found.thresholds) == ("grades", ("1", "2", "3"))
    weighted = {"sample_weight": weight}
    assert found.kappa[0] == pytest.approx(cohen_kappa_score(human, judge, **weighted))
    quadratic = cohen_kappa_score(human, judge, weights="quadratic", **weighted)
    assert found.weighted_kappa[0] == pytest.approx(quadratic)
    assert found.bias[0] == pytest.approx(np.average(judge - human, weights=weight))
    for place, cut in enumerate((1, 2, 3)):
        expected = recall_score(human >= cut, judge >= cut, **weighted)
        assert found.sensitivity[0, place] == pytest.approx(expected)
        expected = recall_score(human < cut, judge < cut, **weighted)
        assert found.specificity[0, place] == pytest.approx(expected)
    alpha = krippendorff.alpha([human, judge], level_of_measurement="ordinal")
    assert measure(human, judge).krippendorff_alpha[0] == pytest.approx(alpha)


def test_scores_against_scipy_and_krippendorff():
    rng = np.random.default_rng(3)
    human = 1000 + rng.normal(0, 0.2, 80)
    judge = human + rng.normal(0.05, 0.1, 80)
    found = measure(human, judge, thresholds=[1000.1])
    assert found.kind == "scores"
    assert found.correlation[0] == pytest.approx(stats.pearsonr(human, judge).statistic)
    alpha = krippendorff.alpha([human, judge], level_of_measurement="interval")
    assert found.krippendorff_alpha[0] == pytest.approx(alpha, abs=1e-9)
    assert found.sensitivity[0, 0] == pytest.approx(recall_score(human >= 1000.1, judge >= 1000.1))
    low, high = stats.ttest_1samp(judge - human, 0).confidence_interval(LEVEL)
    assert (found.bias_low[0], found.bias_high[0]) == pytest.approx((low, high))
    assert np.isnan(found.same_label[0])
    assert found.confusion is None
    assert measure(human, judge).thresholds == ("",)


def test_shares_of_independent_items_have_wilson_s_interval():
    _, human, judge = labelled()
    found = measure(human, judge)
    passed = human == 1
    expected = proportion_confint((judge[passed] == 1).sum(), passed.sum(), method="wilson")
    assert (found.sensitivity_low[0, 0], found.sensitivity_high[0, 0]) == pytest.approx(expected)
    expected = proportion_confint((judge == human).sum(), len(human), method="wilson")
    assert (found.same_label_low[0], found.same_label_high[0]) == pytest.approx(expected)


def test_the_bias_of_independent_items_has_the_interval_of_bonett_and_price():
    _, human, judge = labelled()
    found = measure(human, judge)
    n, gained, lost = len(human), np.sum(judge > human), np.sum(judge < human)
    up, down = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    half = stats.norm.ppf(0.975) * np.sqrt((up + down - (up - down) ** 2) / (n + 2))
    assert found.bias_low[0] == pytest.approx(up - down - half)
    assert found.bias_high[0] == pytest.approx(up - down + half)


def clustered_se(values, weight, topic):
    """Standard error of a weighted mean by statsmodels, over topics."""
    fit = sm.WLS(values, np.ones(len(values)), weights=weight).fit(
        cov_type="cluster", cov_kwds={"groups": topic, "use_correction": False}
    )
    groups = len(np.unique(topic))
    return fit.bse[0] * np.sqrt(groups / (groups - 1)), groups


def test_intervals_over_topics_against_statsmodels():
    topic, human, judge = labelled(grades=3)
    weight = np.random.default_rng(2).uniform(0.5, 3, len(human))
    found = measure(human, judge, topic=[f"t{one}" for one in topic], weight=weight)
    assert found.topics == 30
    se, groups = clustered_se((judge - human).astype(float), weight, topic)
    half = stats.t.ppf(0.975, groups - 1) * se
    assert found.bias_high[0] - found.bias[0] == pytest.approx(half)
    chosen = human >= 2
    agreed = (judge >= 2)[chosen].astype(float)
    se, groups = clustered_se(agreed, weight[chosen], topic[chosen])
    p = np.average(agreed, weights=weight[chosen])
    kish = weight[chosen].sum() ** 2 / np.square(weight[chosen]).sum()
    n, t = min(p * (1 - p) / se**2, kish), stats.t.ppf(0.975, groups - 1)
    ends = [
        (p + t * t / (2 * n) + sign * t * np.sqrt(p * (1 - p) / n + t * t / (4 * n * n)))
        / (1 + t * t / n)
        for sign in (-1, 1)
    ]
    found_ends = found.sensitivity_low[0, 1], found.sensitivity_high[0, 1]
    assert found_ends == pytest.approx(ends)


def test_where_all_agree_each_topic_counts_as_one_item():
    human = [0, 1] * 40
    topic = np.repeat(np.arange(8), 10)
    found = measure(human, human, topic=topic)
    t = stats.t.ppf(0.975, 7)
    assert found.sensitivity[0, 0] == found.sensitivity_high[0, 0] == 1.0
    assert found.sensitivity_low[0, 0] == pytest.approx(8 / (8 + t * t))


def test_where_topics_do_not_differ_no_item_counts_more_than_once():
    human, judge = [1, 1, 0] * 12, [1, 0, 0] * 12
    found = measure(human, judge, topic=np.repeat(np.arange(12), 3))
    t = stats.t.ppf(0.975, 11)
    half = t * np.sqrt(1 / 4 / 24 + t * t / (4 * 24**2)) / (1 + t * t / 24)
    assert found.sensitivity_low[0, 0] == pytest.approx(0.5 - half)


def test_labels_of_topics_agree_as_qrels_do():
    rng = np.random.default_rng(4)
    people = {f"t{t}": {f"d{d}": int(rng.integers(0, 4)) for d in range(20)} for t in range(12)}
    model = {
        t: {d: int(np.clip(g + rng.integers(-1, 2), 0, 3)) for d, g in own.items()}
        for t, own in people.items()
    }
    rows = [(t, d, g, model[t][d]) for t, own in people.items() for d, g in own.items()]
    table = pd.DataFrame(rows, columns=["topic", "item", "human", "judge"])
    found = confir.measure_agreement(labels=table, replicates=499, rng=1)
    qrels = confir.measure_agreement({"human": people, "judge": model}, replicates=499, rng=1)
    for name in ("kappa", "weighted_kappa", "krippendorff_alpha"):
        for end in ("", "_low", "_high"):
            np.testing.assert_allclose(getattr(found, name + end), getattr(qrels, name + end))
    np.testing.assert_array_equal(found.confusion.documents, qrels.confusion.documents)


def test_kappa_of_many_items_has_about_its_asymptotic_interval():
    _, human, judge = labelled(topics=4000, size=1)
    found = measure(human, judge, replicates=999)
    expected = cohens_kappa(confusion_matrix(human, judge))
    assert found.kappa[0] == pytest.approx(expected.kappa)
    width = found.kappa_high[0] - found.kappa_low[0]
    assert width == pytest.approx(expected.kappa_upp - expected.kappa_low, rel=0.1)


@pytest.mark.parametrize(
    ("topics", "size", "correlation"), [(60, 1, 0.0), (20, 8, 0.1), (50, 6, 0.3)]
)
def test_intervals_cover_the_true_sensitivity_specificity_and_bias(topics, size, correlation):
    rng = np.random.default_rng(7)
    sensitivity, specificity, rate = 0.9, 0.8, 0.6
    truth = sensitivity, specificity, rate * sensitivity + (1 - rate) * (1 - specificity) - rate
    covered = np.zeros(3)
    samples = 400
    cluster = np.repeat(np.arange(topics), size)
    for _ in range(samples):
        right = [
            rng.beta(p * (1 / correlation - 1), (1 - p) * (1 / correlation - 1), topics)[cluster]
            if correlation
            else np.full(topics, p)
            for p in (sensitivity, specificity)
        ]
        human = rng.random(len(cluster)) < rate
        judge = np.where(rng.random(len(cluster)) < np.where(human, *right), human, ~human)
        labels = Labels(
            *("human", ("judge",), "pass/fail", (0.0, 1.0), ()),
            *(human.astype(float), judge[:, None].astype(float), 0),
            *(cluster, topics, size > 1, np.ones(len(cluster))),
        )
        found = (
            clustered_share(judge == human, human, labels, LEVEL),
            clustered_share(judge == human, ~human, labels, LEVEL),
            paired_difference(judge.astype(float) - human, labels, LEVEL),
        )
        covered += [low <= one <= high for one, (_, low, high) in zip(truth, found, strict=True)]
    assert (covered / samples).min() > 0.92  # 2.75 standard errors of the simulation below .95


def test_words_booleans_and_failures_are_read():
    found = measure(["Yes", "no", "Passed", "FAILED", "", "1"], [True, False, "error", 0, 1, None])
    assert (found.items[0], found.missing[0], found.unlabelled) == (3, 2, 1)
    words = measure(
        ["bad", "good", "fair"], ["bad", "fair", "fair"], grades=["bad", "fair", "good"]
    )
    assert (words.kind, words.thresholds) == ("grades", ("fair", "good"))
    assert words.bias[0] == pytest.approx(-1 / 3)
    cut = measure([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.1], thresholds=[0.4])
    assert (cut.kind, cut.same_label[0]) == ("pass/fail", 1.0)
    scale = measure([1, 2, 3], [1, 2, 2], grades=[1, 2, 3])
    assert scale.thresholds == ("2", "3")


def test_several_judges_are_compared_with_the_reference():
    columns = {
        "human": [1, 0, 1, 0],
        "judge": [1, 0, 0, 0],
        "judge_b": [1, 1, 1, 0],
        "note": list("abcd"),
    }
    found = confir.measure_agreement(labels=columns, replicates=99)
    assert found.pairs == (("human", "judge"), ("human", "judge_b"))
    one = confir.measure_agreement(["judge_b"], labels=columns, replicates=99)
    assert one.pairs == (("human", "judge_b"),)
    assert one.bias[0] == found.bias[1] == 0.25


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"human": [1, 1, 1], "judge": [1, 0, 1]}, "all 3 items have the same label under 'human'"),
        ({"human": [1, 2, 3], "judge": [1, 2, 2]}, r"different labels .*--grades 1,2,3"),
        ({"human": [1, 2, 3], "judge": ["yes", "no", "no"]}, "expected the same kind of labels"),
        ({"human": [1, 0, 1], "judge": [0.1, 0.9, 0.3]}, "expected one threshold"),
        (
            {"human": ["ok", "no", "ok"], "judge": [1, 0, 1]},
            r"row 1: label 'ok' under 'human'.*order",
        ),
        ({"human": [1, 0, 1], "judge": ["a", "b", "c"]}, "if 'judge' is no judge, --judge names"),
        ({"human": [1, 0, None], "judge": [None, None, 1]}, "expected labels of the same items"),
        ({"human": [1, 0], "judge": ["pass", "failed"]}, "row 2: 'failed' under 'judge' may be"),
        ({"human": [1, 0], "judge": ["", ""]}, "column 'judge' holds no label"),
        ({"human": [1, 0], "gpt": [1, 0]}, "no column judge.*--judge gpt"),
        ({"judge": [1, 0]}, "no column human"),
        (
            {"human": [1, 0], "judge": [1, 0], "item": ["a", "a"]},
            r"row 2: item 'a' again \(first: row 1",
        ),
        ({"human": [1, 0], "judge": [1, 0], "topic": ["a", "a"]}, "are of one topic"),
        ({"human": [1, 0], "judge": [1, 0], "weight": [1, 0]}, "row 2: the weight is 0"),
    ],
)
def test_labels_that_cannot_be_compared_are_refused(columns, message):
    with pytest.raises(ConfirError, match=message):
        confir.measure_agreement(labels=columns, replicates=99)


def test_options_that_do_not_fit_labels_are_refused():
    with pytest.raises(InvalidValueError, match="does not divide the grades 1, 2, 3"):
        measure([1, 2, 3], [1, 3, 2], thresholds=[4])
    with pytest.raises(InvalidValueError, match="does not divide the grades 1, 2, 3, 4"):
        measure([1, 2, 3], [1, 3, 2], thresholds=[5], grades=[1, 2, 3, 4])
    with pytest.raises(InvalidValueError, match="are words"):
        measure(["bad", "good"], ["bad", "bad"], thresholds=[1], grades=["bad", "good"])
    with pytest.raises(InvalidValueError, match=r"a threshold .* is for grades and scores"):
        measure([1, 0], [1, 0], thresholds=[1])
    with pytest.raises(InvalidValueError, match="lowest first"):
        measure([1, 2], [1, 2], grades=[1, 1])
    with pytest.raises(InvalidValueError, match="ascending"):
        measure([1, 2], [1, 2], grades=[2, 1])
    with pytest.raises(InvalidValueError, match="neither judges nor labels"):
        confir.measure_agreement()
    with pytest.raises(InvalidValueError, match="grade_maps is for qrels"):
        confir.measure_agreement(labels={"human": [0, 1], "judge": [0, 1]}, grade_maps={})
