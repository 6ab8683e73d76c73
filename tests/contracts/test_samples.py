"""What holds for every verb on every kind of sample?"""

import importlib
import inspect
import pkgutil
import warnings
from dataclasses import replace

import numpy as np
import pytest

import confir
import confir.resampling
from confir.data.sampling.judged_scores import JudgedScores
from confir.data.scores import Scores
from confir.resampling.influence import InfluenceSample
from confir.resampling.kinds import as_sample
from confir.resampling.sample import Knowledge, Sample, names
from confir.studies.comparison.paired_tests import TESTS

RUNS, TOPICS, MEASURES = ("a", "b", "c", "d"), 24, ("AP", "P@10")


def plain(runs=RUNS, seed=1):
    rng = np.random.default_rng(seed)
    base = rng.beta(2, 3, (TOPICS, 1, 1))
    own = rng.normal(0.02 * np.arange(len(runs))[:, None], 0.05, (TOPICS, len(runs), len(MEASURES)))
    topics = tuple(f"t{place:02}" for place in range(TOPICS))
    return Scores(topics, runs, MEASURES, np.clip(base + own, 0, 1))


def designed(scores, **columns):
    return scores.with_design({"topic": list(scores.topics), **columns})


def gappy():
    scores = plain()
    values = scores.values.copy()
    values[0, 0], values[5, 2] = np.nan, np.nan
    return replace(scores, values=values)


def clustered(scores=None):
    scores = plain() if scores is None else scores
    return designed(scores, cluster=[str(place // 2) for place in range(len(scores.topics))])


def stratified():
    weight = [1.0 + place % 3 for place in range(TOPICS)]
    return designed(plain(), stratum=[str(place % 2) for place in range(TOPICS)], weight=weight)


def judged(model=None):
    human = plain()
    model = plain(seed=2) if model is None else model
    values = np.clip(0.7 * human.values + 0.3 * model.values, 0, 1)
    some = human.select(topic=list(human.topics[::2]))
    return JudgedScores(
        some.topics, some.runs, some.measures, some.values, model=replace(model, values=values)
    )


def repeated(design=False):
    scores = plain(tuple(f"{run}@{number}" for run in RUNS for number in (1, 2, 3)))
    return (clustered(scores) if design else scores).with_repeats()


def in_datasets(sampling="fixed", scores=None):
    scores = plain() if scores is None else scores
    dataset = [str(place % 6) for place in range(TOPICS)]
    return scores.with_design({"topic": list(scores.topics), "dataset": dataset}, datasets=sampling)


EXAMPLES = {
    "plain": plain,
    "missing scores": gappy,
    "clusters": clustered,
    "strata and weights": stratified,
    "fixed datasets": in_datasets,
    "random datasets": lambda: in_datasets("random"),
    "human and model judgements": judged,
    "human and model judgements in clusters": lambda: judged(clustered(plain(seed=2))),
    "repeats": repeated,
    "repeats in clusters": lambda: repeated(design=True),
    "datasets with repeats": lambda: in_datasets(
        scores=plain(tuple(f"{run}@{number}" for run in RUNS for number in (1, 2)))
    ).with_repeats(),
    "summary": lambda: confir.summarise_scores(plain()),
}

VERBS = {
    "confidence_interval": lambda s: confir.confidence_interval(s, rng=1),
    "compare_runs": lambda s: confir.compare_runs(s, replicates=199, rng=1),
    "compare_runs with a baseline": lambda s: confir.compare_runs(
        s, baseline="b", margin=0.05, replicates=199, rng=1
    ),
    "groups": lambda s: confir.compare_runs(s, replicates=199, rng=1).group_runs(),
    "find_best": lambda s: confir.find_best(s, replicates=199, rng=1),
    "rank_runs": lambda s: confir.rank_runs(s, replicates=199, rng=1),
    "plan_topics, usual goals": confir.plan_topics,
    "plan_topics, usual goals from a baseline": lambda s: confir.plan_topics(s, baseline="b"),
    "plan_topics, half width": lambda s: confir.plan_topics(s, half_width=0.2),
    "plan_topics, best": lambda s: confir.plan_topics(s, half_width=0.2, family="best"),
    "plan_topics, power": lambda s: confir.plan_topics(s, baseline="b", difference=0.3),
    "judge_gate": lambda s: confir.judge_gate(
        confir.compare_runs(s, baseline="a", replicates=199, rng=1), "AP", margin=0.1
    ),
}


@pytest.fixture(params=EXAMPLES)
def scores(request):
    return EXAMPLES[request.param]()


def kinds(above=Sample):
    """Return the names of the classes of samples in all modules of the layer."""
    for module in pkgutil.iter_modules(confir.resampling.__path__, "confir.resampling."):
        importlib.import_module(module.name)
    below = above.__subclasses__()
    own = {kind.__name__ for kind in below if not inspect.isabstract(kind)}
    return own.union(*map(kinds, below))


def test_there_is_an_example_of_every_kind():
    made = {type(as_sample(make())).__name__ for make in EXAMPLES.values()}
    assert len(made) > 5
    assert made == kinds() - {InfluenceSample.__name__}  # votes have tests of their own


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_answers_for_every_kind_and_twice_the_same(scores, verb):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", confir.errors.ConfirWarning)
        first, second = (VERBS[verb](scores) for _ in range(2))
    assert type(first) is type(second)
    records = [one.to_records() for one in (first, second) if hasattr(one, "to_records")]
    assert not records or repr(records[0]) == repr(records[1])


def test_a_contrast_is_the_difference_of_the_estimates(scores):
    sample = as_sample(scores)
    runs, measures = names(sample)
    assert (runs, measures) == (RUNS, MEASURES)
    numbers = np.arange(sample.columns).reshape(sample.shape)
    apart = sample.contrast(numbers[1:], numbers[:1])
    assert apart.shape == (3, 2)
    found = apart.distribution(slice(None), None, ("se",))
    assert (found.se > 0).all()
    means = sample.distribution(slice(None), None, ("se",)).estimate.reshape(sample.shape)
    complete = not np.isnan(getattr(scores, "values", np.zeros(1))).any()
    if complete and not isinstance(
        scores, JudgedScores
    ):  # weights of the model are each pair's own
        expected = (means[1:] - means[:1]).reshape(-1)
        np.testing.assert_allclose(found.estimate, expected, atol=1e-12)


def test_a_contrast_the_other_way_round_has_the_other_sign(scores):
    sample = as_sample(scores)
    first, second = np.array([0, 3]), np.array([4, 7])
    one, other = (
        sample.contrast(*pair).distribution(slice(None), None, ("se",))
        for pair in ((first, second), (second, first))
    )
    np.testing.assert_allclose(one.estimate, -other.estimate, atol=1e-14)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-12)
    low, high = sample.contrast(first, second).extremes()
    turned_low, turned_high = sample.contrast(second, first).extremes()
    np.testing.assert_array_equal(high - low, turned_high - turned_low)


def test_replicates_spread_as_the_standard_error_says(scores):
    sample = as_sample(scores)
    drawn = sample.draw(4_000, np.random.default_rng(1), ("replicates",))
    found = sample.distribution(slice(None), drawn, ("replicates",))
    # means of n resampled units vary by √((n-1)/n) less
    assert found.replicates.std(axis=0) == pytest.approx(found.se, rel=0.2)
    np.testing.assert_allclose(found.replicates.mean(axis=0), found.estimate, atol=0.01)


def test_what_is_known_is_declared(scores):
    sample = as_sample(scores)
    assert Knowledge.COVARIANCE in sample.knowledge
    assert (Knowledge.VALUES in sample.knowledge) <= (Knowledge.SIGNS in sample.knowledge)
    for test in ("t", "randomisation", "sign", "wilcoxon", "bootstrap-shift", "tukey-hsd"):
        needed = TESTS[test].needs
        if needed in sample.knowledge:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", confir.errors.ConfirWarning)
                if test == "randomisation" and np.isnan(getattr(scores, "values", [0.0])).any():
                    continue
                confir.compare_runs(scores, test=test, replicates=99, rng=1)
        else:
            with pytest.raises(confir.errors.UnsupportedMethodError, match="lack; tests that fit"):
                confir.compare_runs(scores, test=test, replicates=99, rng=1)
