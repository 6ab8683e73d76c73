"""Plans of human-judged topics and documents: against enumeration, brute force, simulation."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import confir
from confir.errors import InvalidValueError
from confir.measures.estimated_judgements import DocumentSample
from confir.measures.estimated_scores import Listed, score_sampled_lists
from confir.measures.parsing import parse_measure
from judge_files import noisy_judge
from samples import short_sample

TOPICS = np.repeat([0, 1], 4)
HUMAN = np.array([1, 0, 1, 2, 2, 1, 1, 0])
CHANCE = np.array([0.5, 0.9, 0.3, 0.6, 0.7, 0.4, 0.8, 0.2])
# Two topics and two runs: the lists of the first run, then of the second.
LISTED = Listed(
    lists=np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3]),
    topics=np.array([0, 1, 0, 1]),
    rank=np.array([0, 1, 3, 0, 1, 0, 1, 2, 3, 1]),
    document=np.array([2, 0, 3, 5, 4, 3, 1, 0, 2, 6]),
)
RATES = np.array([0.5, 1.0, 1.4])


def enumerate_draws(chance):
    """All draws, and their chances."""
    every = np.array(list(product([False, True], repeat=8)))
    return every, np.prod(np.where(every, chance, 1 - chance), axis=1)


def test_variances_at_other_rates_are_without_bias_against_enumeration():
    """Those of both runs, of their difference, and where the probabilities reach 1."""
    estimated, rng = np.zeros((len(RATES), 2, 2)), np.random.default_rng(1)
    for drawn, own in zip(*enumerate_draws(CHANCE), strict=True):
        if drawn.any():  # else all is 0, by a model that says nothing
            human, kept = np.where(drawn, HUMAN, 0), np.where(drawn, CHANCE, 1.0)
            sample = DocumentSample(TOPICS, np.zeros(8, int), human, drawn, kept)
            scored = score_sampled_lists([parse_measure("P@3")], sample, LISTED, RATES, rng)
            estimated += own * scored[0].covariance
    weights = LISTED.within(3).weigh(np.full(3, 1 / 3), 8).toarray()
    for place, rate in enumerate(RATES.tolist()):
        chance = np.minimum(rate * CHANCE, 1.0)
        every, chances = enumerate_draws(chance)
        values = (every * (HUMAN >= 1) / chance @ weights.T).reshape(-1, 2, 2)
        apart = values - np.einsum("s,sat->at", chances, values)
        expected = np.einsum("s,sat,sbt->ab", chances, apart, apart) / 2
        np.testing.assert_allclose(estimated[place], expected, atol=1e-9)
    assert np.abs(expected[0, 1]) > 0.001
    assert (np.diff(estimated[:, 0, 0]) < 0).all()


SAMPLE = short_sample()
PEOPLE = SAMPLE.qrels.to_dict()
MODEL = noisy_judge(SAMPLE.qrels, leniency=0.3, noise=0.5)
RUNS = [run for run in SAMPLE.runs if run.name in ("bm25", "dense", "rerank")]


def evaluate(rng, rate, measures=("P@10", "nDCG@10")):
    human = {
        topic: {
            docid: (PEOPLE[topic][docid], chance)
            for docid, gain in judged.items()
            if rng.random() < (chance := min(rate * (0.4 if gain else 0.2), 1.0))
        }
        for topic, judged in MODEL.items()
    }
    given = {"human": human, "human_sample": "random-documents", "rng": rng}
    return confir.evaluate(MODEL, RUNS, list(measures), **given, depth=50)


@pytest.fixture(scope="module")
def pilot():
    return evaluate(np.random.default_rng(2), 1.0)


def widths(scores, first=None):
    """Half widths of t intervals of means, or of differences from the first run."""
    values = scores.values if first is None else scores.values[:, 1:] - scores.values[:, :1]
    n = len(values)
    return stats.t.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)


@pytest.mark.parametrize("baseline", [None, "bm25"])
def test_the_plan_of_the_pilot_itself_is_its_interval(pilot, baseline):
    own = widths(pilot, baseline)
    for run, measure in np.ndindex(own.shape):
        goal = float(own[run, measure])
        for reach, expected in ((goal * 1.0001, 50), (goal * 0.99, 51)):
            plan = confir.plan_human_documents(
                pilot, half_width=reach, baseline=baseline, family="none"
            )
            assert plan.topics[run, measure] == pytest.approx(expected, abs=1)
    deviation = own * np.sqrt(50) / stats.t.ppf(0.975, 49)
    np.testing.assert_allclose(np.hypot(plan.between, plan.within), deviation, rtol=1e-12)
    assert (plan.documents == np.ceil(pilot.human_documents / 50)).all()
    assert (plan.topics_alone < plan.topics).any()


@pytest.mark.slow
def test_plans_hold_in_new_draws(pilot):
    """The same topics, with documents drawn at the planned rate: for few, and for many."""
    rng = np.random.default_rng(5)
    for rate in (0.5, 2.0):
        drawn = [evaluate(rng, rate) for _ in range(4)]
        documents = int(np.mean([one.human_documents for one in drawn]) / 50)
        for first, baseline in ((None, None), (0, "bm25")):
            empirical = np.mean([widths(one, first) for one in drawn], axis=0)
            for run, measure in np.ndindex(empirical.shape):
                goal = float(empirical[run, measure])
                plan = confir.plan_human_documents(
                    pilot, half_width=goal, baseline=baseline, family="none", documents=documents
                )
                if measure == 0 or rate > 1:  # thinner draws make ratios vary more than planned
                    assert plan.topics[run, measure] == pytest.approx(50, rel=0.3)


def test_documents_are_planned_for_given_topics_against_brute_force(pilot):
    goal = float(widths(pilot)[0, 0]) * 0.97
    plan = confir.plan_human_documents(pilot, half_width=goal, topics=50)
    fitting = [
        documents
        for documents in range(20, 120)
        if confir.plan_human_documents(pilot, half_width=goal, documents=documents).topics[0, 0]
        <= 50
    ]
    assert plan.documents[0, 0] == fitting[0]
    assert plan.documents[0, 0] > pilot.human_documents / 50
    never = confir.plan_human_documents(pilot, half_width=goal / 5, topics=50)
    assert np.isnan(never.documents).all()


def test_no_other_number_of_documents_is_cheaper(pilot):
    costs = {"human_cost": 1.0, "model_cost": 0.1}
    plan = confir.plan_human_documents(pilot, half_width=0.05, baseline="bm25", **costs)
    every = pilot.model_documents / 50
    for documents in np.linspace(pilot.human_documents / 50, every, 8).astype(int).tolist():
        other = confir.plan_human_documents(
            pilot, half_width=0.05, baseline="bm25", documents=documents
        )
        assert (plan.cost <= other.topics * (documents + 0.1 * every) * (1 + 1e-12)).all()


@pytest.mark.slow
def test_the_cheapest_mix_against_brute_force(pilot):
    costs = {"human_cost": 1.0, "model_cost": 0.1}
    plan = confir.plan_human_documents(pilot, half_width=0.05, baseline="bm25", **costs)
    every = pilot.model_documents / 50
    found = []
    for documents in range(int(np.ceil(pilot.human_documents / 100)), int(every) + 1):
        one = confir.plan_human_documents(
            pilot, half_width=0.05, baseline="bm25", documents=documents
        )
        found.append(one.topics * (documents + 0.1 * every))
    np.testing.assert_allclose(plan.cost, np.min(found, axis=0))
    assert (plan.cost < plan.cost_alone).all()
    np.testing.assert_allclose(plan.cost_alone, plan.topics_alone * every)
    dear = confir.plan_human_documents(
        pilot, half_width=0.05, baseline="bm25", human_cost=1.0, model_cost=10.0
    )
    assert (dear.documents > plan.documents).all()  # topics cost more: more is made of each


def test_the_best_set_takes_more_than_a_single_difference(pilot):
    best = confir.plan_human_documents(pilot, half_width=0.1, family="best")
    pair = confir.plan_human_documents(pilot, half_width=0.1, baseline="bm25", family="none")
    assert (best.topics[1:] > pair.topics.min(axis=0)).all()
    assert best.to_records()[0]["topics"] == int(best.topics[0, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"half_width": 0}, "half_width is 0"),
        ({"half_width": 0.1, "human_cost": 1}, "one cost is given"),
        ({"half_width": 0.1, "human_cost": 1, "model_cost": float("nan")}, "cost is nan"),
        ({"half_width": 0.1, "topics": 9, "documents": 9}, "expected only one"),
        ({"half_width": 0.1, "topics": 1}, "topics is 1"),
        ({"half_width": 0.1, "documents": 0}, "documents is 0"),
        ({"half_width": 0.1, "documents": 10_000}, "the model judged"),
        ({"half_width": 0.1, "baseline": "constructor"}, "constructor"),
    ],
)
def test_what_cannot_be_planned_is_refused(pilot, options, message):
    with pytest.raises(confir.errors.ConfirError, match=message):
        confir.plan_human_documents(pilot, **options)


def test_other_scores_are_refused(pilot):
    with pytest.raises(InvalidValueError, match="not of documents drawn at random"):
        confir.plan_human_documents(
            confir.evaluate(MODEL, RUNS, ["P@10"], depth=50), half_width=0.1
        )
    one = pilot.select(topic=pilot.topics[0])
    with pytest.raises(InvalidValueError, match="2 topics or more"):
        confir.plan_human_documents(one, half_width=0.1)
