"""Means by human judgements, estimated from model judgements and human judgements of some topics."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import confir
from confir.data.sampling_designs.judged_scores import join_judges
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.studies.corrected_means.corrected_means import correct_scores
from judge_files import noisy_judge, plain_correction
from samples import whole_sample

SAMPLE = whole_sample()
RUNS = [run for run in SAMPLE.runs if run.name != "bm25-rm3"]
MODEL = noisy_judge(SAMPLE.qrels, leniency=0.3, noise=0.5)
PEOPLE = SAMPLE.qrels.to_dict()
# at random: no score had a part in this choice
HUMAN = {t: PEOPLE[t] for t in np.random.default_rng(3).permutation(list(PEOPLE))[:15].tolist()}


def human_scores():
    return confir.evaluate(SAMPLE.qrels, RUNS, ["AP", "nDCG@10"]).select(topic=list(HUMAN))


def correct(human=HUMAN, measures=("AP", "nDCG@10"), **options):
    options = {"human_sample": "random-topics", "rng": 1} | options
    return confir.correct_judgements(MODEL, RUNS, list(measures), human=human, **options)


@pytest.fixture(scope="module")
def means():
    return correct()


def test_the_corrected_mean_is_the_formula_on_the_scores_of_evaluate(means):
    people = human_scores()
    model = confir.evaluate(MODEL, RUNS, ["AP", "nDCG@10"])
    chosen = np.isin(model.topics, people.topics)
    y, f, g = people.values, model.values[chosen], model.values[~chosen]
    covariance = ((y - y.mean(axis=0)) * (f - f.mean(axis=0))).mean(axis=0)
    weight = np.clip(covariance / ((1 + 15 / 35) * model.values.var(axis=0, ddof=1)), 0, 1)
    np.testing.assert_allclose(means.weight, weight, atol=1e-12)
    expected = [
        [plain_correction(y[:, r, m], f[:, r, m], g[:, r, m])[0] for m in range(2)]
        for r in range(len(RUNS))
    ]
    np.testing.assert_allclose(means.mean, expected, atol=1e-12)
    np.testing.assert_allclose(means.human_mean, y.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(means.model_mean, model.mean(), atol=1e-12)
    np.testing.assert_allclose(means.bias, (f - y).mean(axis=0), atol=1e-12)
    assert (means.human_topics, means.model_topics) == (15, 35)


def test_the_correction_is_nearer_to_the_truth_than_the_model(means):
    truth = confir.evaluate(SAMPLE.qrels, RUNS, ["AP", "nDCG@10"]).mean()
    corrected, model = np.abs(means.mean - truth), np.abs(means.model_mean - truth)
    assert corrected.mean() < model.mean() / 2
    inside = (means.low <= truth) & (truth <= means.high)
    assert inside.mean() > 0.8
    assert (means.worth > 0).any()


def test_worth_compares_variances(means):
    n = means.human_topics
    people = human_scores().values
    half = confir.confidence_interval(people[:, :, 0], method="t")
    wide = (half.high - half.low) / (2 * 2.1447867)  # t at .975 with 14 degrees of freedom
    t = correct(method="t")
    corrected = (t.high - t.low)[:, 0] / (2 * 2.1603687)  # with 13
    weighted = t.weight[:, 0] > 0
    expected = np.minimum(n * wide**2 / corrected**2 - n, means.model_topics)
    np.testing.assert_allclose(means.worth[weighted, 0], expected[weighted], rtol=1e-6)


def test_without_weight_the_interval_is_that_by_human_judgements_alone():
    whole = confir.evaluate(SAMPLE.qrels, RUNS, ["AP"])
    contrary = confir.Scores(whole.topics, whole.runs, whole.measures, 1.0 - whole.values)
    found = correct_scores(join_judges(whole.select(topic=list(HUMAN)), contrary))
    alone = confir.confidence_interval(human_scores().select(measure="AP"))
    without = found.weight[:, 0] == 0
    assert without.all()
    np.testing.assert_array_equal(found.low[without], alone.low[without])
    assert {found.methods[r][0] for r in np.flatnonzero(without)} == {"calibrated-beta"}
    assert (found.worth[without] == 0).all()
    note = "the model's judgements carry no information on AP: their intervals are no narrower"
    assert note in found.note()


def test_people_alone_have_limits_by_the_same_method_and_models_that_add_nothing_are_reported(
    means,
):
    by_logit = np.array(means.methods) == "logit-t"
    assert by_logit.any()
    alone = confir.confidence_interval(human_scores(), method="logit-t")
    np.testing.assert_array_equal(means.human_low[by_logit], alone.low[by_logit])
    np.testing.assert_array_equal(means.human_high[by_logit], alone.high[by_logit])
    some = replace(means, worth=np.where(np.arange(7)[:, None] < [3, 0], -0.1, 1.0))
    assert "add no precision to 3 of 7 means by AP: their" in some.note()
    assert "carry no information" not in some.note()


def test_scores_that_are_all_0_by_human_judgements_have_limits():
    whole = confir.evaluate(SAMPLE.qrels, RUNS, ["AP"])
    nothing = confir.Scores(whole.topics, whole.runs, whole.measures, 0.0 * whole.values)
    found = correct_scores(join_judges(nothing.select(topic=list(HUMAN)), whole))
    assert (found.low == 0).all()
    assert ((found.high > 0) & (found.high < 0.3)).all()


def test_methods_that_do_not_fit_are_refused():
    for name in ("gaffke", "betting", "beta-logit", "bca", "hall-logit"):
        with pytest.raises(UnsupportedMethodError, match=r"does not fit.*fit: t, "):
            correct(method=name)


def test_names_of_methods_are_checked_before_anything_is_read():
    with pytest.raises(confir.errors.UnknownNameError, match="gafke"):
        confir.correct_judgements(
            "nowhere.qrels",
            "nowhere",
            human="nowhere",
            human_sample="random-topics",
            method="gafke",
        )


def test_a_method_that_resamples_draws_both_parts():
    found = [correct(method="percentile", replicates=499, rng=seed) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(found[0].low, found[1].low)
    assert (found[0].low != found[2].low).any()
    assert (found[0].low < found[0].mean).all()


def test_how_topics_were_chosen_must_be_stated():
    with pytest.raises(
        InvalidValueError, match="chosen for human judging say nothing of the others"
    ):
        correct(human_sample="chosen")
    with pytest.raises(UnknownNameError, match="random-topics"):
        correct(human_sample="random-topic")
    with pytest.raises(TypeError, match="human_sample"):
        confir.correct_judgements(MODEL, RUNS, human=HUMAN)


def test_too_few_topics_are_refused():
    with pytest.raises(TopicMismatchError, match="the model judged 2 human-judged topics"):
        correct(human=dict(list(HUMAN.items())[:2]))
    with pytest.raises(
        TopicMismatchError, match="the model judged 0 topics beyond the human-judged ones"
    ):
        correct(human=PEOPLE)


def test_human_topics_that_the_model_lacks_are_left_out_with_a_warning(means):
    more = HUMAN | {"x": {"d": 1}}
    with pytest.warns(TopicWarning, match=r"did not judge 1 human-judged topic \(x\), left out"):
        assert repr(correct(human=more).to_records()) == repr(means.to_records())


def test_human_topics_that_differ_from_the_others_are_reported():
    model = confir.evaluate(MODEL, RUNS, ["AP"])
    order = np.argsort(model.values[:, :, 0].mean(axis=1))
    hardest = [model.topics[t] for t in order[:10]]
    with pytest.warns(TopicWarning, match="topics drawn at random rarely differ as much"):
        correct(human={t: PEOPLE[t] for t in hardest}, measures=["AP"])


@pytest.mark.slow
def test_the_warning_comes_as_rarely_as_stated():
    rng = np.random.default_rng(2)
    model = confir.evaluate(MODEL, RUNS, ["AP"])
    people = confir.evaluate(SAMPLE.qrels, RUNS, ["AP"])
    warned = 0
    for _ in range(200):
        topics = [model.topics[t] for t in rng.permutation(50)[:15]]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TopicWarning)
            correct_scores(join_judges(people.select(topic=topics), model))
        warned += bool(caught)
    assert warned <= 25  # 5% of 200, and four standard errors


def test_missing_scores_are_refused():
    with (
        pytest.warns(TopicWarning),
        pytest.raises(InvalidValueError, match="corrected means need all of them"),
    ):
        confir.correct_judgements(
            MODEL,
            SAMPLE.runs,
            ["AP"],
            human=HUMAN,
            human_sample="random-topics",
            missing="drop",
        )


@pytest.mark.slow
def test_intervals_cover_the_truth_in_samples_of_the_topics():
    """Draws of human-judged topics from all topics: the mean by human judgements of all of them is the truth."""
    rng = np.random.default_rng(9)
    people = confir.evaluate(SAMPLE.qrels, RUNS, ["nDCG@10"])
    model = confir.evaluate(MODEL, RUNS, ["nDCG@10"])
    truth = people.mean()
    covered = {"corrected": [], "model": []}
    for _ in range(150):
        drawn = rng.integers(0, 50, 200)
        topics = tuple(f"{number:03}" for number in range(200))
        whole = [
            confir.Scores(topics, one.runs, one.measures, one.values[drawn])
            for one in (people, model)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = correct_scores(join_judges(whole[0].select(topic=topics[:20]), whole[1]))
            alone = confir.confidence_interval(whole[1])
        covered["corrected"].append((found.low <= truth) & (truth <= found.high))
        covered["model"].append((alone.low <= truth) & (truth <= alone.high))
    assert 0.9 <= np.mean(covered["corrected"]) <= 0.98
    assert np.mean(covered["model"]) < 0.1
