"""Human and model judgements in clusters, against sums by hand and simulations with known truth."""

import numpy as np
import pytest

import confir
from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.scores import Scores
from confir.errors import InvalidValueError, UnsupportedMethodError
from confir.resampling.kinds import as_sample

RUNS = ("a", "b", "c")


def simulated(rng, clusters, size, judged, correlation, *, whole=True):
    """Scores with a common part per cluster; whole clusters have human judgements, or random topics."""
    topics = clusters * size
    cluster = np.repeat(np.arange(clusters), size)

    def noise(columns):
        shared = rng.normal(size=(clusters, columns))[cluster]
        own = rng.normal(size=(topics, columns))
        return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own

    human = 0.1 * noise(1) + 0.05 * noise(len(RUNS))
    model = 0.8 * human + 0.1 + 0.05 * noise(len(RUNS))
    chosen = rng.permutation(clusters)[: int(judged * clusters)]
    drawn = np.isin(cluster, chosen) if whole else rng.random(topics) < judged
    return human, model, cluster, drawn


def made(human, model, cluster, drawn, **columns):
    names = tuple(f"t{place:04}" for place in range(len(model)))
    by_model = Scores(names, RUNS, ("NumRet",), model[:, :, None])
    table = {"topic": list(names), "cluster": [str(one) for one in cluster], **columns}
    by_model = by_model.with_design(table)
    people = tuple(np.array(names)[drawn])
    return JudgedScores(people, RUNS, ("NumRet",), human[drawn][:, :, None], model=by_model)


@pytest.mark.parametrize("whole", [True, False])
def test_standard_errors_are_sums_over_clusters(whole):
    parts = simulated(np.random.default_rng(1), 20, 4, 0.4, 0.5, whole=whole)
    human, model, cluster, drawn = parts
    scores = made(*parts)
    sample = as_sample(scores)
    found = sample.distribution(slice(None), None, ("se",))
    weight = sample.model_weight
    n, more = drawn.sum(), (~drawn).sum()
    judged, others = len(set(cluster[drawn])), len(set(cluster[~drawn]))
    for run in range(3):
        y = human[drawn, run] - weight[run] * model[drawn, run]
        total = {}
        for place, value in zip(cluster[drawn], y - y.mean(), strict=True):
            total[place] = total.get(place, 0.0) + value / n * np.sqrt(judged / (judged - 2))
        rest = model[~drawn, run]
        for place, value in zip(cluster[~drawn], rest - rest.mean(), strict=True):
            part = weight[run] * value / more * np.sqrt(others / (others - 1))
            total[place] = total.get(place, 0.0) + part
        expected = np.sqrt(sum(value**2 for value in total.values()))
        assert found.se[run] == pytest.approx(expected, rel=1e-12)
    assert (found.df == judged - 2).all()
    np.testing.assert_allclose(found.estimate, scores.mean()[:, 0], rtol=1e-12)


def test_only_clusters_are_taken():
    parts = simulated(np.random.default_rng(2), 10, 3, 0.5, 0.5)
    for extra in ({"weight": [1.0 + place % 2 for place in range(30)]},):
        with pytest.raises(UnsupportedMethodError, match="expected a design of clusters alone"):
            confir.confidence_interval(made(*parts, **extra))
    few = (*parts[:2], np.where(parts[3], 0, parts[2] + 1), parts[3])
    with pytest.raises(InvalidValueError, match="human judgements cover 1 cluster; expected 3"):
        confir.confidence_interval(made(*few))


def test_evaluation_keeps_the_clusters_of_the_topics():
    sample = confir.sample_collection()
    design = {topic: f"c{place // 5}" for place, topic in enumerate(sample.qrels.topics)}
    people = sample.qrels.only(np.isin(sample.qrels.document_topics, np.arange(0, 50, 2)))
    scores = confir.evaluate(
        sample.qrels,
        sample.runs[2:5],
        ["AP"],
        design=design,
        human=people,
        human_sample="random-topics",
    )
    found = confir.confidence_interval(scores)
    assert found.design == "50 topics in 10 clusters"


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False])
def test_intervals_cover_and_families_err_rarely(whole):
    rng = np.random.default_rng(3)
    covered, naive, wrong, samples = 0.0, 0.0, 0, 300
    for _ in range(samples):
        parts = simulated(rng, 60, 5, 0.25, 0.5, whole=whole)
        scores = made(*parts)
        interval = confir.confidence_interval(scores)
        covered += np.mean((interval.low <= 0) & (interval.high >= 0))
        plain = JudgedScores(
            scores.topics,
            RUNS,
            scores.measures,
            scores.values,
            model=Scores(scores.model.topics, RUNS, scores.measures, scores.model.values),
        )
        alone = confir.confidence_interval(plain)
        naive += np.mean((alone.low <= 0) & (alone.high >= 0))
        wrong += (confir.compare_runs(scores, rng=1).p_adjusted <= 0.05).any()
    assert covered / samples == pytest.approx(0.95, abs=0.025)
    assert naive / samples < 0.9
    assert wrong / samples <= 0.07
