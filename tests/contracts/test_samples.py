"""Properties of every verb on every kind of sample."""

import importlib
import inspect
import pkgutil
import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import confir
import confir.resampling
from confir.data.run_scores import RunScores
from confir.data.sampling_designs.judged_scores import JudgedScores
from confir.data.scores import Scores
from confir.data.tables.published_files import PublishedMeans
from confir.pairs.gate import GateRule
from confir.pairs.paired_tests import TESTS
from confir.resampling.influence_sample import InfluenceSample, VoteSample
from confir.resampling.kinds import as_sample, kind_of, need_of
from confir.resampling.repeat_sample import RepeatSample
from confir.resampling.sample import Knowledge, Sample, names
from confir.studies.history.looks import Look, begin_look

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


def judged_datasets(sampling):
    number = 2 if sampling == "fixed" else 3
    dataset = [str(place * number // TOPICS) for place in range(TOPICS)]
    scores = judged()
    return scores.with_design(
        {"topic": list(scores.model.topics), "dataset": dataset}, datasets=sampling
    )


def repeated(design=False):
    scores = plain(tuple(f"{run}@{number}" for run in RUNS for number in (1, 2, 3)))
    return (clustered(scores) if design else scores).with_repeats()


def judged_repeats(role=None):
    runs = tuple(f"{run}@{number}" for run in RUNS for number in (1, 2, 3))
    human, noise = plain(runs), plain(runs, seed=2)
    model = replace(noise, values=np.clip(0.7 * human.values + 0.3 * noise.values, 0, 1))
    some = human.select(topic=list(human.topics[::2]))
    scores = model.with_human(some, "random-topics").with_repeats()
    if role is None:
        return scores
    size = 2 if role == "cluster" else TOPICS // 2
    labels = [str(place // size) for place in range(TOPICS)]
    return scores.with_design({"topic": list(model.topics), role: labels})


def in_datasets(sampling="fixed", scores=None):
    scores = plain() if scores is None else scores
    dataset = [str(place % 6) for place in range(TOPICS)]
    return scores.with_design({"topic": list(scores.topics), "dataset": dataset}, datasets=sampling)


def published():
    scores = plain()
    se = scores.values.std(axis=0, ddof=1) / np.sqrt(TOPICS)
    return PublishedMeans(RUNS, MEASURES, scores.mean(), se, scores.topic_counts())


def resampled(replicates=200):
    rng = np.random.default_rng(1)
    qrels, runs = {}, {run: {} for run in RUNS}
    for place in range(TOPICS):
        topic, relevant = f"t{place:02}", np.repeat([1, 0], [25, 75])
        documents = [f"{topic}-{number}" for number in range(100)]
        qrels[topic] = dict(zip(documents, relevant.tolist(), strict=True))
        base = relevant + rng.normal(0, 0.7, 100)
        for number, run in enumerate(RUNS):
            found = base + 0.1 * number * relevant + rng.normal(0, 0.5, 100)
            runs[run][topic] = dict(zip(documents, found.tolist(), strict=True))
    return confir.resample_documents(qrels, runs, list(MEASURES), replicates=replicates, rng=1)


EXAMPLES = {
    "plain": plain,
    "missing scores": gappy,
    "clusters": clustered,
    "strata and weights": stratified,
    "fixed datasets": in_datasets,
    "random datasets": lambda: in_datasets("random"),
    "human and model judgements": judged,
    "human and model judgements in clusters": lambda: judged(clustered(plain(seed=2))),
    "human and model judgements on fixed datasets": lambda: judged_datasets("fixed"),
    "human and model judgements on random datasets": lambda: judged_datasets("random"),
    "repeats": repeated,
    "repeats in clusters": lambda: repeated(design=True),
    "datasets with repeats": lambda: in_datasets(
        scores=plain(tuple(f"{run}@{number}" for run in RUNS for number in (1, 2)))
    ).with_repeats(),
    "repeats by human and model judgements": judged_repeats,
    "repeats by human and model judgements in clusters": lambda: judged_repeats("cluster"),
    "repeats by human and model judgements on datasets": lambda: judged_repeats("dataset"),
    "summary": lambda: confir.summarise_scores(plain()),
    "resampled collections": resampled,
    "published means": published,
}

# Verbs whose own statistics of repeats need topics drawn one by one.
BY_TOPICS = ("decompose_scores",)

GROUPS = {f"t{place:02}": "ab"[place % 2] for place in range(TOPICS)}
COSTS = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}


def look(scores, looks, path="history.jsonl"):
    """Return the gate of a first look, and keep it."""
    compared = confir.compare_runs(scores, baseline="a", replicates=199, rng=1)
    rule = GateRule(margin=0.1, require="not-worse")
    gates, waiting = begin_look(
        path, compared, ["AP"], rule, Look(None, "2026-01-01T00:00:00+00:00", looks), seed=1
    )
    waiting.append()
    waiting.close()
    assert len(confir.read_history(path).looks) == 3
    Path(path).unlink()
    return gates[0]


# What each verb needs, and the verb.
VERBS = {
    "confidence_interval": (None, lambda s: confir.confidence_interval(s, rng=1)),
    "compare_runs": (
        need_of(confir.compare_runs),
        lambda s: confir.compare_runs(s, replicates=199, rng=1),
    ),
    "compare_runs with a baseline": (
        need_of(confir.compare_runs),
        lambda s: confir.compare_runs(s, baseline="b", margin=0.05, replicates=199, rng=1),
    ),
    "groups": (
        need_of(confir.compare_runs),
        lambda s: confir.compare_runs(s, replicates=199, rng=1).group_runs(),
    ),
    "find_best": (need_of(confir.find_best), lambda s: confir.find_best(s, replicates=199, rng=1)),
    "rank_runs": (need_of(confir.rank_runs), lambda s: confir.rank_runs(s, replicates=199, rng=1)),
    "plan_topics, usual goals": (need_of(confir.plan_topics), confir.plan_topics),
    "plan_topics, usual goals from a baseline": (
        need_of(confir.plan_topics),
        lambda s: confir.plan_topics(s, baseline="b"),
    ),
    "plan_topics, half width": (
        need_of(confir.plan_topics),
        lambda s: confir.plan_topics(s, half_width=0.2),
    ),
    "plan_topics, best": (
        need_of(confir.plan_topics),
        lambda s: confir.plan_topics(s, half_width=0.2, family="best"),
    ),
    "plan_topics, power": (
        need_of(confir.plan_topics),
        lambda s: confir.plan_topics(s, baseline="b", difference=0.3),
    ),
    "judge_gate": (
        need_of(confir.compare_runs),
        lambda s: confir.judge_gate(
            confir.compare_runs(s, baseline="a", replicates=199, rng=1), "AP", margin=0.1
        ),
    ),
    "judge_target": (
        need_of(confir.judge_target),
        lambda s: confir.judge_target(s, dict.fromkeys(s.measures, 0.4)),
    ),
    "history of candidates": (need_of(confir.compare_runs), lambda s: look(s, "candidates")),
    "history of topics": (
        (need_of(confir.compare_runs), Knowledge.VALUES),
        lambda s: look(s, "topics"),
    ),
    "compare_groups": (
        need_of(confir.compare_groups),
        lambda s: confir.compare_groups(s, by=GROUPS, replicates=99, rng=1),
    ),
    "compare_costs": (
        need_of(confir.compare_costs),
        lambda s: confir.compare_costs(s, COSTS, replicates=99, rng=1),
    ),
    "describe_topics": (need_of(confir.describe_topics), confir.describe_topics),
    "estimate_coverage": (
        need_of(confir.estimate_coverage),
        lambda s: confir.estimate_coverage(s, samples=9, replicates=99, rng=1),
    ),
    "compare_measures": (
        need_of(confir.compare_measures),
        lambda s: confir.compare_measures(s, splits=9, replicates=99, rng=1),
    ),
    "estimate_type_one_error": (
        need_of(confir.estimate_type_one_error),
        lambda s: confir.estimate_type_one_error(s, samples=9, topics=5, replicates=99, rng=1),
    ),
    "fit_population": (
        need_of(confir.fit_population),
        lambda s: confir.fit_population(s).draw(9, 1),
    ),
    "decompose_scores": (
        need_of(confir.decompose_scores),
        lambda s: confir.decompose_scores(s, measure="AP", rng=1),
    ),
    "decompose_error": (
        need_of(confir.decompose_error),
        lambda s: confir.decompose_error(s, replicates=99, rng=1),
    ),
}


@pytest.fixture(params=EXAMPLES)
def scores(request):
    return EXAMPLES[request.param]()


@pytest.fixture(params=[kind for kind in EXAMPLES if kind != "published means"])
def comparable(request):
    """Scores of every kind of which differences are known."""
    return EXAMPLES[request.param]()


def kinds(above=Sample):
    """Return the names of the classes of samples in all modules of the layer."""
    for module in pkgutil.iter_modules(confir.resampling.__path__, "confir.resampling."):
        importlib.import_module(module.name)
    below = above.__subclasses__()
    layer = [kind for kind in below if kind.__module__.startswith("confir.resampling.")]
    own = {kind.__name__ for kind in layer if not inspect.isabstract(kind)}
    return own.union(*map(kinds, below))


def test_there_is_an_example_of_every_kind():
    made = {type(as_sample(make())).__name__ for make in EXAMPLES.values()}
    assert len(made) > 5
    tested_elsewhere = {InfluenceSample.__name__, VoteSample.__name__}
    assert made == kinds() - tested_elsewhere


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_every_verb_answers_for_every_kind_that_has_what_it_needs_and_twice_the_same(
    scores, verb, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    declared, ask = VERBS[verb]
    kind = kind_of(scores)
    assert kind is type(as_sample(scores))
    needed = declared if isinstance(declared, tuple) else (declared,)
    also = getattr(getattr(confir, verb.partition(",")[0], None), "also", ())
    lacking = [
        need
        for need in needed
        if need is not None and need not in kind.knowledge and kind.kind not in also
    ]
    if kind is RepeatSample and kind.kind in also and isinstance(scores, JudgedScores):
        with pytest.raises(confir.errors.ConfirError, match="by model and human judgements"):
            ask(scores)
        return
    if not lacking and kind.kind in also and scores.design is not None and verb in BY_TOPICS:
        with pytest.raises(confir.errors.UnsupportedMethodError, match="simple random sample"):
            ask(scores)
        return
    if lacking:
        said = f"needs {lacking[0]}, which {kind.kind} lack: {kind.reason}; expected"
        with pytest.raises(confir.errors.UnsupportedMethodError, match=re.escape(said)):
            ask(scores)
        return
    first, second = (ask(scores) for _ in range(2))
    assert type(first) is type(second)
    records = [one.to_records() for one in (first, second) if hasattr(one, "to_records")]
    assert not records or repr(records[0]) == repr(records[1])


def test_every_verb_that_declares_what_it_needs_is_tried():
    public = {name: getattr(confir, name) for name in confir.__all__}
    declared = {name for name, one in public.items() if isinstance(need_of(one), Knowledge)}
    asked = {verb.partition(",")[0].partition(" ")[0] for verb in VERBS}
    assert declared <= asked


@pytest.mark.parametrize("kind", [k for k in EXAMPLES if k != "summary" and "judge" not in k])
@pytest.mark.parametrize("datasets", ["fixed", "random"])
@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_leaderboards_take_every_kind_by_topic_of_one_judge(kind, datasets):
    scores = EXAMPLES[kind]()
    if kind == "published means":
        with pytest.raises(confir.errors.ConfirError, match="sources is PublishedMeans"):
            confir.make_leaderboard(scores, measure="AP", rng=1)
        return
    if kind == "resampled collections":
        with pytest.raises(
            confir.errors.UnsupportedMethodError, match="a resampled collection takes no design"
        ):
            scores.with_design({"topic": list(scores.topics)}, datasets=datasets)
        return
    dataset = [str(place % 6) for place in range(TOPICS)]
    design = {"topic": list(scores.topics), "dataset": dataset}
    board = scores.with_design(design, datasets=datasets)
    first, second = (
        confir.make_leaderboard(board, measure="AP", replicates=99, rng=1) for _ in range(2)
    )
    assert first.runs == RUNS
    assert repr(first.to_records()) == repr(second.to_records())
    means = confir.confidence_interval(board.select(measure="AP"))
    np.testing.assert_array_equal(first.macro_low, means.low.reshape(-1))


@pytest.mark.parametrize("datasets", ["fixed", "random"])
def test_leaderboards_take_human_and_model_judgements(datasets):
    scores = judged_datasets(datasets)
    first, second = (
        confir.make_leaderboard(scores, measure="AP", replicates=99, rng=1) for _ in range(2)
    )
    assert repr(first.to_records()) == repr(second.to_records())
    means = confir.confidence_interval(scores.select(measure="AP"))
    np.testing.assert_array_equal(first.macro_low, means.low.reshape(-1))
    assert first.model_topics.tolist() == ([6, 6] if datasets == "fixed" else [4, 4, 4])


def test_a_leaderboard_of_human_and_model_judgements_needs_datasets():
    with pytest.raises(confir.errors.UnsupportedMethodError, match="no datasets"):
        confir.make_leaderboard(judged(), measure="AP", rng=1)


def test_a_contrast_of_published_means_is_refused_for_a_statistical_reason():
    sample = as_sample(published())
    with pytest.raises(confir.errors.UnsupportedMethodError, match="variance of every difference"):
        sample.contrast(np.array([0]), np.array([2]))


def test_published_means_have_the_interval_of_the_scores_that_they_are_of():
    found = confir.confidence_interval(published(), method="t")
    expected = confir.confidence_interval(plain(), method="t")
    np.testing.assert_allclose(found.low, expected.low, rtol=1e-12)
    np.testing.assert_allclose(found.high, expected.high, rtol=1e-12)
    assert confir.confidence_interval(published()).methods[0] == "logit-t"


def test_a_contrast_is_the_difference_of_the_estimates(comparable):
    sample = as_sample(comparable)
    runs, measures = names(sample)
    assert (runs, measures) == (RUNS, MEASURES)
    numbers = np.arange(len(sample.labels)).reshape(sample.shape)
    apart = sample.contrast(numbers[1:], numbers[:1])
    assert apart.shape == (3, 2)
    found = apart.distribution(slice(None), None, ("se",))
    assert (found.se > 0).all()
    means = sample.distribution(slice(None), None, ("se",)).estimate.reshape(sample.shape)
    complete = not np.isnan(getattr(comparable, "values", np.zeros(1))).any()
    if complete and not isinstance(
        comparable, JudgedScores
    ):  # weights of the model are each pair's own
        expected = (means[1:] - means[:1]).reshape(-1)
        np.testing.assert_allclose(found.estimate, expected, atol=1e-12)


def test_every_column_has_a_label_and_contrasts_lie_in_no_unit_interval(comparable):
    sample = as_sample(comparable)
    numbers = np.arange(len(sample.labels)).reshape(sample.shape)
    apart = sample.contrast(numbers[1:], numbers[:1])
    for found in (sample, sample.chosen(slice(1, 4)), apart):
        assert len(found.labels) == len(found.support) == np.prod(found.shape)
    assert sample.chosen(slice(1, 4)).labels == sample.labels[1:4]
    np.testing.assert_array_equal(sample.chosen(slice(1, 4)).support, sample.support[1:4])
    assert not apart.support.any()


def test_a_contrast_the_other_way_round_has_the_other_sign(comparable):
    sample = as_sample(comparable)
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


def test_replicates_spread_as_the_standard_error_says(comparable):
    sample = as_sample(comparable)
    drawn = sample.draw(4_000, np.random.default_rng(1), ("replicates",))
    found = sample.distribution(slice(None), drawn, ("replicates",))
    # means of n resampled units vary by √((n-1)/n) less
    assert found.replicates.std(axis=0) == pytest.approx(found.se, rel=0.2)
    # copies of documents stand in a row, which shifts the scores of resampled collections
    near = 0.01 if found.over == "topics" else 0.05
    np.testing.assert_allclose(found.replicates.mean(axis=0), found.estimate, atol=near)


def test_what_is_known_is_declared(comparable):
    sample = as_sample(comparable)
    assert Knowledge.COVARIANCE in sample.knowledge
    assert (Knowledge.VALUES in sample.knowledge) <= (Knowledge.SIGNS in sample.knowledge)
    for test in ("t", "randomisation", "sign", "wilcoxon", "bootstrap-shift", "tukey-hsd"):
        needed = TESTS[test].needs
        if needed in sample.knowledge:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", confir.errors.ConfirWarning)
                if test == "randomisation" and np.isnan(getattr(comparable, "values", [0.0])).any():
                    continue
                confir.compare_runs(comparable, test=test, replicates=99, rng=1)
        else:
            with pytest.raises(confir.errors.UnsupportedMethodError, match="lack; tests that fit"):
                confir.compare_runs(comparable, test=test, replicates=99, rng=1)


class Estimates(RunScores):
    """A kind of scores that declares the least."""

    title = "a table of estimates"


def test_a_kind_without_scores_of_topics_has_no_report():
    with pytest.raises(
        confir.errors.UnsupportedMethodError, match="which a table of estimates lacks"
    ):
        Estimates().listed()
