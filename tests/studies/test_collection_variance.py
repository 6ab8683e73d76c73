"""The variance of MAP and its components, against simulated topics and collections.

60 topics with no document in common, so that a collection changes no two topics alike: whatever
varies comes from topics, or from each topic's own documents.
"""

import re
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from scipy import stats

from confir.data.qrels import build_qrels
from confir.data.run import build_run
from confir.data.scores import Scores
from confir.intervals.confidence_intervals import confidence_interval
from confir.measures.evaluation import evaluate
from confir.report.contents import Settings
from confir.report.gathering import gather_contents
from confir.report.sections import conclusions
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.document_bootstrap import resample_documents
from confir.studies.collection.collection_differences import Variant, compare_on_collection
from confir.studies.collection.collection_means import decompose_variance, summarise_means

TOPICS, OTHERS, COLLECTIONS = 60, 40, 15
CASES = [(8, 0.0), (32, 0.0), (8, 1.0), (32, 1.0)]


def draw_lists(rng, ease, relevant, runs):
    """Lists of topics: their topic, whether relevant, and each run's score of a document."""
    sizes = np.maximum(rng.poisson(relevant, len(ease)), 1), rng.poisson(OTHERS, len(ease))
    topics = np.concatenate([np.repeat(np.arange(len(ease)), size) for size in sizes])
    is_relevant = np.arange(len(topics)) < sizes[0].sum()
    shift = np.where(is_relevant, ease[topics], 0.0)
    return topics, is_relevant, shift + rng.standard_normal((runs, len(topics)))


def average_precision(topics, is_relevant, scores):
    """AP of every topic, from ranks alone."""
    order = np.lexsort((-scores, topics))
    topics, hits = topics[order], is_relevant[order]
    start = np.searchsorted(topics, np.arange(topics[-1] + 1))
    found = np.cumsum(hits)
    found = found - (found - hits)[start][topics]
    rank = np.arange(len(topics)) - start[topics] + 1
    return np.bincount(topics, hits * found / rank) / np.bincount(topics, hits)


def build_collection(topics, is_relevant, scores):
    ids = [f"{topic:05}" for topic in topics]
    documents = [f"d{number}" for number in range(len(ids))]
    count = int(is_relevant.sum())
    qrels = build_qrels(ids[:count], ["0"] * count, documents[:count], np.ones(count, np.int64))
    return qrels, [build_run(f"run{r}", ids, documents, one) for r, one in enumerate(scores)]


@lru_cache
def samples(relevant, effect):
    """Resampled collections of 60 topics and two runs each, drawn in one call: they share nothing."""
    rng = np.random.default_rng(5)
    ease = 1.5 + effect * rng.standard_normal(TOPICS * COLLECTIONS)
    inputs = build_collection(*draw_lists(rng, ease, relevant, 2))
    whole = resample_documents(*inputs, "AP", replicates=300, rng=1)
    return [_part(whole, slice(start, start + TOPICS)) for start in range(0, len(ease), TOPICS)]


def _part(whole, kept):
    scores = Scores(whole.topics[kept], whole.runs, whole.measures, whole.scores.values[kept])
    return replace(
        whole,
        scores=scores,
        values=whole.values[:, :, kept],
        relevant=whole.relevant[:, kept],
        relevant_retrieved=whole.relevant_retrieved[:, :, kept],
        depth=whole.depth[:, kept],
    )


@lru_cache
def truth(relevant, effect):
    """MAP, its variance, and the part of topics: two collections of one topic have that in common."""
    rng = np.random.default_rng(3)
    ease = 1.5 + effect * rng.standard_normal(20_000)
    twice = []
    for _ in range(2):
        topics, is_relevant, scores = draw_lists(rng, ease, relevant, 1)
        twice.append(average_precision(topics, is_relevant, scores[0]))
    covariance = np.cov(twice)
    return np.mean(twice), np.trace(covariance) / 2 / TOPICS, covariance[0, 1] / TOPICS


def components(drawn, **options):
    """Topics, documents, interaction and total, averaged over collections."""
    found = [decompose_variance(one, summaries=["mean"], **options) for one in drawn]
    names = ("topics", "documents", "interaction", "total")
    return [np.mean([getattr(one, name) for one in found]) for name in names]


def test_the_simulation_scores_as_confir_does():
    lists = draw_lists(np.random.default_rng(1), np.ones(20), 8, 1)
    scores = evaluate(*build_collection(*lists), "AP").values[:, 0, 0]
    np.testing.assert_allclose(average_precision(lists[0], lists[1], lists[2][0]), scores)


@pytest.mark.slow
@pytest.mark.parametrize(("relevant", "effect"), CASES)
def test_the_total_is_the_variance_over_new_topics_and_collections(relevant, effect):
    _, variance, _ = truth(relevant, effect)
    total = components(samples(relevant, effect))[3]
    assert total == pytest.approx(variance, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("relevant", "effect"), CASES)
def test_the_shares_are_those_by_which_topics_and_their_documents_vary(relevant, effect):
    _, variance, topics = truth(relevant, effect)
    found = components(samples(relevant, effect))
    assert found[0] / found[3] == pytest.approx(topics / variance, abs=0.12)
    assert found[1] / found[3] <= 0.12
    assert found[2] / found[3] == pytest.approx(1 - topics / variance, abs=0.2)


@pytest.mark.parametrize("baseline", [None, "run0"])
@pytest.mark.parametrize("relevant", [8, 32])
def test_topics_that_do_not_differ_have_a_small_share_of_the_variance(relevant, baseline):
    topics, _, _, total = components(samples(relevant, 0.0), baseline=baseline)
    assert topics / total < 0.15


def test_the_report_does_not_blame_topics_that_do_not_differ():
    lists = draw_lists(np.random.default_rng(11), np.full(TOPICS, 1.5), 8, 2)
    qrels, runs = build_collection(*lists)
    contents = gather_contents(
        evaluate(qrels, runs, "AP"),
        qrels=qrels,
        runs=runs,
        settings=Settings(0.95, replicates=499),
    )
    (said,) = [s for s in conclusions(contents).values() if s.startswith("Of the variance")]
    share = float(re.search(r"([\d.]+)% comes from the choice of topics", said)[1])
    variance = contents["collection"].difference_variance
    assert share == pytest.approx(100 * (variance.topics / variance.total).item(), abs=0.51)
    assert share < 15


@pytest.mark.parametrize(("level", "lowest", "highest"), [(0.5, 0.36, 0.64), (0.95, 0.88, 1.0)])
def test_joint_intervals_hold_the_mean_as_often_as_claimed(level, lowest, highest):
    inside = []
    for relevant in (8, 32):
        mean, _, _ = truth(relevant, 0.0)
        for one in samples(relevant, 0.0):
            found = summarise_means(
                one, level=level, summaries=["mean"], methods=["bootstrap-with-topics"]
            )
            inside += ((found.low <= mean) & (mean <= found.high)).reshape(-1).tolist()
    assert lowest <= np.mean(inside) <= highest


@pytest.mark.parametrize("method", ["linear", "logit", "percentile"])
def test_every_joint_method_is_as_wide_as_the_total_claims(method):
    (one, *_) = samples(8, 1.0)
    distribution = CollectionSample.of(one).distribution_with_topics()
    interval = confidence_interval(distribution, method=method)
    total = decompose_variance(one, summaries=["mean"]).total[0, 0, 0]
    width = (interval.high - interval.low)[0]
    assert width == pytest.approx(2 * 2.0 * np.sqrt(total), rel=0.08)


def test_differences_over_topics_and_documents_take_the_total_and_students_t():
    one = samples(8, 1.0)[0]
    variants = [Variant("mean", "paired", with_topics=True), Variant("mean", "paired")]
    found = compare_on_collection(one, "run0", variants=variants)
    total = decompose_variance(one, baseline="run0", summaries=["mean"]).total.item()
    scores = one.scores.values[:, 1, 0] - one.scores.values[:, 0, 0]
    sampled = scores.var(ddof=1) / TOPICS
    df = total**2 / (sampled**2 / (TOPICS - 1))
    law = stats.t(df, scores.mean(), np.sqrt(total))
    assert (found.low[0].item(), found.high[0].item()) == pytest.approx(law.interval(0.95))
    assert found.p[0].item() == pytest.approx(2 * law.cdf(min(0.0, 2 * scores.mean())))
    assert [record["test"] for record in found.to_records()] == ["t", "normal"]


def test_runs_on_topics_and_documents_of_their_own_add_their_totals():
    one = samples(8, 1.0)[0]
    found = compare_on_collection(
        one, "run0", variants=[Variant("mean", "independent", with_topics=True)]
    )
    totals = decompose_variance(one, summaries=["mean"]).total.reshape(-1)
    sampled = one.scores.values[:, :, 0].var(axis=0, ddof=1) / TOPICS
    df = totals.sum() ** 2 / (sampled**2 / (TOPICS - 1)).sum()
    half = stats.t.ppf(0.975, df) * np.sqrt(totals.sum())
    assert (found.high - found.low).item() / 2 == pytest.approx(half)
