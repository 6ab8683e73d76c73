"""The next step after an inconclusive verdict: against plans, and by simulated power."""

import math

import numpy as np
import pytest

import confir
from confir.cli.schema import schema_text
from confir.pairs.next_step import (
    NextStep,
    Subject,
    next_step_sentence,
    next_step_words,
    next_steps,
)
from vote_samples import simulate_votes

# A pilot in which no run differs significantly from the first.
RUNS, TOPICS, LOSS = ("a", "b", "c", "d"), 25, 0.3


def standardised(rng, topics, covariance):
    """Return normal values, topics × columns, with means 0 and exactly this covariance."""
    values = rng.standard_normal((topics, len(covariance)))
    values -= values.mean(axis=0)
    own = np.linalg.cholesky(np.cov(values.T).reshape(len(covariance), -1))
    return values @ np.linalg.inv(own).T @ np.linalg.cholesky(covariance).T


def scores_of(values, runs=RUNS):
    return {run: column.tolist() for run, column in zip(runs, values.T, strict=False)}


def pilot(means, seed=0, topics=TOPICS):
    """Return scores of runs with these means and known covariances, and the covariance."""
    size = len(means)
    covariance = 0.6 + 0.4 * np.eye(size) + np.diag(np.linspace(0, 0.5, size))
    rng = np.random.default_rng(seed)
    return standardised(rng, topics, covariance) + np.array(means), covariance


def test_a_single_pair_has_the_numbers_of_its_plan():
    scores = scores_of(pilot([0.0, 0.05])[0])
    compared = confir.compare_runs(scores, baseline="a")
    steps = next_steps(compared)
    assert compared.verdict.item() == "inconclusive"
    planned = confir.plan_topics(scores, baseline="a", topics=TOPICS)
    assert steps.detectable.item() == pytest.approx(planned.difference.item(), rel=1e-12)
    assert steps.topics.item() == TOPICS
    assert math.isnan(steps.needed.item())  # 4,000 topics are more than 100 times as many
    near = scores_of(pilot([0.0, 0.3])[0])
    steps = next_steps(confir.compare_runs(near, baseline="a"))
    observed = confir.plan_topics(near, baseline="a", difference="observed")
    assert steps.needed.item() == observed.topics.item()
    assert math.isnan(steps.needed_high.item()) == math.isnan(observed.high.item())


def test_with_a_margin_the_topics_are_those_that_show_a_difference_as_large():
    scores = scores_of(pilot([0.0, 0.05])[0])
    steps = next_steps(confir.compare_runs(scores, baseline="a", margin=0.2))
    planned = confir.plan_topics(scores, baseline="a", difference=0.2)
    assert steps.needed.item() == planned.topics.item()


def test_a_family_is_near_its_plan_which_draws_normal_statistics():
    values, _ = pilot([0.0, 0.02, -0.02, 0.05], topics=60)
    steps = next_steps(confir.compare_runs(scores_of(values), baseline="a"))
    planned = confir.plan_topics(scores_of(values), baseline="a", topics=60)
    np.testing.assert_allclose(steps.detectable, planned.difference, rtol=0.05)


def significant(values, truth, tests=("t",)):
    """Whether the last run is significantly better than the first."""
    found = confir.compare_runs(scores_of(values + truth), baseline="a", test=tests, replicates=299)
    return found.verdict[0, -1, 0] == "better"


def power_at(step, covariance, samples, seed):
    """Return in how many samples a true difference as large as the detectable one is shown."""
    rng = np.random.default_rng(seed)
    truth = np.zeros(len(covariance))
    truth[-1] = step
    factor = np.linalg.cholesky(covariance).T
    draws = (rng.standard_normal((TOPICS, len(covariance))) @ factor for _ in range(samples))
    return sum(significant(values, truth) for values in draws)


@pytest.mark.parametrize("means", [[0.0, 0.05], [0.0, 0.02, -0.02, 0.05]], ids=["pair", "family"])
@pytest.mark.parametrize("samples", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_the_power_at_the_detectable_difference_is_080(means, samples):
    """By simulation: fresh normal samples with the pilot's covariance."""
    values, covariance = pilot(means)
    step = next_steps(confir.compare_runs(scores_of(values), baseline="a"))
    found = power_at(step.detectable[-1, 0], covariance, samples, seed=1)
    error = math.sqrt(0.8 * 0.2 / samples)
    # a family's critical value is drawn anew in each sample
    slack = 0.0 if len(means) == 2 else 0.02
    assert abs(found / samples - 0.8) < 3.5 * error + slack


def test_the_topics_needed_show_the_observed_difference_with_power_080():
    values, covariance = pilot([0.0, 0.4])
    step = next_steps(confir.compare_runs(scores_of(values), baseline="a"))
    rng = np.random.default_rng(3)
    draws, topics = 2000, int(step.needed.item())
    difference = np.array([-1.0, 1.0])
    sd = math.sqrt(difference @ covariance @ difference)
    sample = rng.normal(0.4, sd, (draws, topics))
    t = sample.mean(axis=1) / (sample.std(axis=1, ddof=1) / math.sqrt(topics))
    from scipy import stats

    shown = np.abs(t) > stats.t.ppf(0.975, topics - 1)
    assert abs(shown.mean() - 0.8) < 3.5 * math.sqrt(0.16 / draws)


@pytest.mark.parametrize(
    "how",
    [
        {"test": "wilcoxon"},
        {"test": "randomisation"},
        {"correction": "benjamini-hochberg"},
        {"baseline": None, "test": "tukey-hsd"},
        {"baseline": None},
    ],
)
def test_there_is_none_where_no_t_quantile_decides_or_many_pairs_are_compared(how):
    scores = scores_of(pilot([0.0, 0.02, -0.02, 0.05])[0])
    steps = next_steps(confir.compare_runs(scores, **{"baseline": "a", **how}))
    assert np.isnan(steps.topics).all()


@pytest.mark.parametrize(("topics", "runs", "said"), [(12, 3, False), (12, 2, True), (13, 3, True)])
def test_families_on_few_topics_in_which_sign_flips_decide_as_well_have_none(topics, runs, said):
    scores = scores_of(pilot([0.0, 0.05, -0.05][:runs], topics=topics)[0])
    steps = next_steps(confir.compare_runs(scores, baseline="a"))
    assert np.isnan(steps.topics).all() != said
    lead = confir.find_best(scores).lead_sentence()
    assert bool(lead) is said


@pytest.mark.filterwarnings("ignore::confir.errors.SmallSampleWarning")
@pytest.mark.parametrize(("clusters", "said"), [(8, False), (20, True)])
def test_topics_of_few_clusters_have_none_and_of_others_need_further_ones(clusters, said):
    values = pilot([0.0, 0.1], topics=40)[0]
    names = [f"t{i}" for i in range(40)]
    table = {
        run: {"s": dict(zip(names, own, strict=True))}
        for run, own in zip("ab", values.T.tolist(), strict=True)
    }
    design = {"topic": names, "cluster": [f"c{i % clusters}" for i in range(40)]}
    scores = confir.as_scores(table).with_design(design)
    compared = confir.compare_runs(scores, baseline="a")
    sentences = (
        next_step_sentence(compared, next_steps(compared), 0),
        confir.find_best(scores).lead_sentence(),
    )
    for sentence in sentences:
        assert ("more, in further clusters)" in sentence or "times as many" in sentence) is said


@pytest.mark.filterwarnings("ignore::confir.errors.DegenerateSampleWarning")
def test_significant_and_identical_runs_have_none():
    values = pilot([0.0, 3.0])[0]
    scores = {"a": values[:, 0].tolist(), "b": values[:, 1].tolist(), "c": values[:, 0].tolist()}
    compared = confir.compare_runs(scores, baseline="a")
    assert sorted(compared.verdict.ravel()) == ["better", "identical"]
    assert np.isnan(next_steps(compared).topics).all()
    record = compared.to_records()[0]
    assert record["detectable"] is None


def test_a_measure_in_the_unit_interval_has_no_larger_difference():
    scores = {"a": {"AP": {"1": 0.0, "2": 1.0}}, "b": {"AP": {"1": 1.0, "2": 0.5}}}
    compared = confir.compare_runs(scores, baseline="a")
    said = next_step_sentence(compared, next_steps(compared), 0)
    assert said.startswith("These 2 topics would show no difference that the measure allows")


def test_repeats_limit_what_topics_can_show():
    """More topics do not reduce what the repeats of the systems vary by."""
    rng = np.random.default_rng(5)
    topic = rng.normal(0, 0.1, 30)
    scores = {
        f"{run}@{seed}": (0.5 + topic + rng.normal(0, 0.05) + rng.normal(0, 0.01, 30)).tolist()
        for run in "ab"
        for seed in range(3)
    }
    repeated = confir.as_scores(scores).with_repeats()
    compared = confir.compare_runs(repeated, baseline="a")
    assert compared.verdict.item() == "inconclusive"
    said = next_step_sentence(compared, next_steps(compared), 0)
    assert "no number of topics with as few repeats would show it" in said
    (record,) = compared.to_records()
    assert record["topics_needed"] is None


def test_votes_have_none():
    votes = simulate_votes([0.0, 0.1], 60, 1, names=["x", "y"])
    compared = confir.compare_runs(votes, baseline="x", replicates=99)
    assert compared.verdict.item() == "inconclusive"
    assert np.isnan(next_steps(compared).topics).all()


STEP = NextStep(50, 0.04, 553.0, math.nan)


@pytest.mark.parametrize(
    ("steps", "sizes", "subject", "said"),
    [
        (
            [STEP],
            [-0.012],
            Subject("topics"),
            (
                "These 50 topics would show a true difference of 0.040 (power .80). The observed 0.012 is not "
                "shown; if it is the true one, about 550 topics like these in all (500 more) would show it; "
                "none may be enough, for it may be 0."
            ),
        ),
        (
            [STEP._replace(needed=math.nan)],
            [0.002],
            Subject("topics"),
            (
                "These 50 topics would show a true difference of 0.040 (power .80). The observed 0.002 is not "
                "shown; if it is the true one, only over 100 times as many topics would show it; none may "
                "be enough, for it may be 0."
            ),
        ),
        (
            [STEP],
            [0.0],
            Subject("topics"),
            (
                "These 50 topics would show a true difference of 0.040 (power .80). The observed difference "
                "is 0."
            ),
        ),
        (
            [STEP],
            [0.012],
            Subject("datasets", "lead", margin=0.02),
            (
                "These 50 datasets would show a true lead of 0.040 (power .80). One of 0.02, the margin, takes "
                "about 550 datasets like these in all (500 more)."
            ),
        ),
        (
            [STEP],
            [0.012],
            Subject("topics", margin=0.02, required=True),
            (
                "If b loses nothing, these 50 topics would show a loss below 0.040 (power .80); below 0.02 takes "
                "about 550 topics like these in all (500 more)."
            ),
        ),
        (
            [STEP, STEP._replace(needed=math.nan, topics=40)],
            [0.012, 0.001],
            Subject("topics"),
            (
                "These 40 to 50 topics would show true differences of 0.040 (b) and 0.040 (c) (power .80). If "
                "the observed ones are the true ones, about 550 and over 4,000 topics like these in all would "
                "show them; none may be enough, for they may be 0."
            ),
        ),
        ([], [], Subject("topics"), ""),
    ],
)
def test_it_is_said_in_two_sentences_that_promise_no_decision(steps, sizes, subject, said):
    assert next_step_words(steps, sizes, ["b", "c"][: len(steps)], subject) == said


def test_records_have_it_and_the_schema_knows_it():
    (record,) = confir.compare_runs(scores_of(pilot([0.0, 0.3])[0]), baseline="a").to_records()
    assert record["detectable"] == pytest.approx(0.55, abs=0.15)
    assert record["topics_needed"] > TOPICS
    assert record["topics_needed_high"] is None
    for name in ("detectable", "topics_needed", "topics_needed_high"):
        assert f'"{name}"' in schema_text()
