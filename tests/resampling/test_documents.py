"""Replicates of the collection: one count per document, shared by all topics and runs."""

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from confir.data.ids import Docids
from confir.data.qrels import build_qrels
from confir.data.ranked_lists.list_reader import read_lists
from confir.data.run import build_run
from confir.errors import (
    InvalidValueError,
    TopicMismatchError,
    TopicWarning,
    UnknownNameError,
    UnsupportedMethodError,
)
from confir.measures.parsing import parse_measure
from confir.resampling import list_resampling, replicate_scores
from confir.resampling.collection_sample import CollectionSample
from confir.resampling.document_bootstrap import bootstrap_documents, resample_documents
from confir.resampling.document_kernels import (
    MOST_COPIES,
    PLAIN_KERNELS,
    THRESHOLDS,
    compile_kernels,
    document_keys,
    seeded_keys,
)
from confir.resampling.kinds import against
from confir.resampling.list_resampling import Drawing, PreparedLists
from confir.resampling.replicate_scores import ReplicateScorer
from confir.resampling.statistics import clipped_logit
from reference.plain_measures import plain_score
from strategies import VARIANTS, collections, examples

ALL = [parse_measure(text) for variants in VARIANTS.values() for text in variants]


def make_qrels(judgements):
    rows = [(t, d, g) for t, judged in judgements.items() for d, g in judged.items()]
    topics, names, gains = zip(*rows, strict=True)
    return build_qrels(topics, ["0"] * len(rows), names, np.array(gains))


def make_run(name, lists):
    rows = [(t, d, -float(i)) for t, ranked in lists.items() for i, d in enumerate(ranked)]
    topics, names, scores = zip(*rows, strict=True)
    return build_run(name, topics, names, np.array(scores))


def draw(names, seed, replicates, first=0, kernels=PLAIN_KERNELS):
    counts = np.empty((len(names), replicates), np.uint8)
    kernels.draw_counts(
        seeded_keys(document_keys(Docids.of(names)), seed), first, THRESHOLDS, counts
    )
    return counts


def random_collection(seed=3, *, runs=3, topics=4, depth=60, pool=120):
    rng = np.random.default_rng(seed)
    names = [f"doc{i}" for i in range(pool)]
    judged = {
        f"t{t}": {names[i]: int(rng.integers(0, 3)) for i in rng.permutation(pool)[:30]}
        for t in range(topics)
    }
    lists = [
        {topic: [names[i] for i in rng.permutation(pool)[:depth]] for topic in judged}
        for _ in range(runs)
    ]
    return make_qrels(judged), [make_run(f"run{r}", one) for r, one in enumerate(lists)]


COUNTED = draw([f"d{i}" for i in range(400)], 11, 2_000)


def test_counts_are_poisson_distributed():
    observed = np.bincount(COUNTED.reshape(-1), minlength=9)
    chance = stats.poisson.pmf(np.arange(9), 1.0)
    expected = np.append(chance[:7], stats.poisson.sf(6, 1.0)) * COUNTED.size
    found = np.append(observed[:7], observed[7:].sum())
    assert stats.chisquare(found, expected).pvalue > 0.001


def test_counts_of_documents_and_of_replicates_are_independent():
    wide = COUNTED.astype(float)
    between_documents = np.corrcoef(wide)[np.triu_indices(400, 1)]
    scaled = between_documents * np.sqrt(2_000)
    assert abs(scaled.mean()) < 0.02
    assert abs(scaled.std() - 1.0) < 0.02
    following = np.corrcoef(wide[:, :-1].reshape(-1), wide[:, 1:].reshape(-1))[0, 1]
    assert abs(following) * np.sqrt(wide.size) < 4.0


def test_tail_of_the_count_table_is_exact_to_32_bits():
    exact = 2**32 * stats.poisson.sf(np.arange(MOST_COPIES), 1.0)
    np.testing.assert_allclose(THRESHOLDS, exact, atol=0.5000001)
    assert 2**32 * stats.poisson.sf(MOST_COPIES, 1.0) < 0.5


def test_a_count_depends_only_on_seed_document_and_replicate():
    names = ["a", "b", "ü", "x" * 200]
    together = draw(names, 5, 40)
    np.testing.assert_array_equal(draw(["ü"], 5, 10, first=30)[0], together[2, 30:])
    assert (draw(["ü"], 6, 40) != together[2]).any()


@pytest.mark.parametrize("seed", [0, 2**63 - 1])
def test_compiled_kernels_equal_those_in_numpy_bit_for_bit(seed):
    compiled = compile_kernels()
    assert compiled is not None
    qrels, runs = random_collection()
    lists = read_lists(qrels, runs)
    names = [f"doc{i}" for i in range(150)]
    np.testing.assert_array_equal(draw(names, seed, 33, 5, compiled), draw(names, seed, 33, 5))
    measures = [parse_measure(name) for name in ("AP", "AP@10", "AP(rel=2)", "nDCG", "Bpref")]
    plain, fast = (
        ReplicateScorer(lists.of_topics(1, 2), np.unique(qrels.gains), kernels)
        for kernels in (PLAIN_KERNELS, compiled)
    )
    counts = np.random.default_rng(1).poisson(1.0, (len(plain.pool), 40)).astype(np.uint8)
    np.testing.assert_array_equal(plain.scores(measures, counts), fast.scores(measures, counts))


def test_compiled_kernels_equal_those_in_numpy_in_lists_of_no_and_of_one_document():
    offsets, documents = np.array([0, 0, 1, 4]), np.array([1, 2, 0, 1])
    relevant = np.array([False, True, False])
    counts = np.array([[0, 1, 2, 3, 1], [0, 1, 1, 2, 0], [1, 0, 2, 1, 1]], np.uint8)
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, 20))))
    found = []
    for kernels in (PLAIN_KERNELS, compile_kernels()):
        before, copies = np.full((2, 2, 5), -1)
        depth, scores = np.full((3, 5), -1), np.full((3, 5), -1.0)
        lists = (counts, offsets, documents, relevant)
        kernels.place_documents(*lists, before, copies, depth)
        total = counts[1:2].astype(np.int64)
        kernels.average_precisions(*lists, total, 19, harmonic, scores)
        assert depth.tolist() == [[0] * 5, [0, 1, 1, 2, 0], [1, 2, 5, 6, 2]]
        assert before.tolist() == [[0] * 5, [1, 1, 4, 4, 2]]
        assert copies.tolist() == [counts[1].tolist()] * 2
        found.append(scores)
    last = [np.nan, 1 / 2, 1 / 5, (1 / 5 + 2 / 6) / 2, np.nan]
    np.testing.assert_allclose(found[0][1:, 1:4], [[1.0] * 3, last[1:4]], rtol=1e-14)
    np.testing.assert_array_equal(found[0], found[1])


def test_every_document_may_be_drawn_as_often_as_the_table_of_counts_has_it():
    lists = read_lists(make_qrels({"1": {"b": 1}}), [make_run("run", {"1": ["a", "b"]})])
    counts = np.full((2, 1), MOST_COPIES, np.uint8)
    for kernels in (PLAIN_KERNELS, compile_kernels()):
        topic = ReplicateScorer(lists, np.array([1]), kernels)
        precisions = [k / (MOST_COPIES + k) for k in range(1, MOST_COPIES + 1)]
        found = topic.scores([parse_measure("AP")], counts)
        assert found == pytest.approx(np.mean(precisions), rel=1e-13)


def test_the_acceleration_is_that_of_documents_left_out_one_by_one(monkeypatch):
    qrels, runs = random_collection()
    lists = read_lists(qrels, runs)
    topic = ReplicateScorer(lists.of_topics(1, 2), np.unique(qrels.gains), PLAIN_KERNELS)
    measures = [parse_measure(name) for name in ("AP", "nDCG@10")]
    size = len(topic.pool)
    estimate = topic.scores(measures, np.ones((size, 1), np.uint8))[..., 0]
    squares, cubes = 0.0, 0.0
    for left_out in range(size):
        counts = np.ones((size, 1), np.uint8)
        counts[left_out] = 0
        d = estimate - topic.scores(measures, counts)[..., 0]
        squares, cubes = squares + d**2, cubes + d**3
    for block in (512, 40):
        monkeypatch.setattr(replicate_scores, "BLOCK", block)
        found = topic.acceleration(measures, estimate)
        np.testing.assert_allclose(found, cubes / 6 / squares**1.5, rtol=1e-9)


@given(collection=collections())
@examples(40)
def test_scores_equal_those_of_expanded_lists_for_every_measure(collection):
    qrels = collection.qrels
    lists = read_lists(qrels, collection.runs)
    for number, name in enumerate(qrels.topics):
        topic = ReplicateScorer(
            lists.of_topics(number, number + 1), np.unique(qrels.gains), PLAIN_KERNELS
        )
        known = {document for judged in collection.judgements.values() for document in judged} | {
            document for run in collection.runs for document in run.documents
        }
        names = sorted(known)
        counts = dict(zip(names, draw(names, 9, 3).astype(np.int64), strict=True))
        pool = [lists.docids[place] for place in topic.pool.tolist()]
        scores = topic.scores(ALL, np.array([counts[d] for d in pool], np.uint8))
        for m, measure in enumerate(ALL):
            lowest = dict(measure.parameters).get("rel", 1)
            relevant = sum(
                counts[d] for d, gain in qrels[name].items() if gain >= lowest
            ) + np.zeros(3)
            expected = [
                [plain_score(measure, collection.plain_list(r, name, counts, b)) for b in range(3)]
                for r in range(len(lists.runs))
            ]
            expected = np.where(relevant > 0, expected, np.nan)
            np.testing.assert_allclose(
                scores[m, :, 0], expected, rtol=0, atol=1e-12, err_msg=str(measure)
            )


def test_average_precision_of_long_lists_equals_that_of_expanded_ones():
    rng = np.random.default_rng(4)
    names = [f"d{i}" for i in range(1_000)]
    liked = set(rng.choice(1_000, 40, replace=False).tolist())
    missed = [f"m{i}" for i in range(20)]
    judged = {names[i]: 1 for i in liked} | dict.fromkeys(missed, 1)
    qrels, run = make_qrels({"1": judged}), make_run("run", {"1": names})
    replicates = resample_documents(qrels, [run], "AP", replicates=20, rng=8)
    seed = int(np.random.default_rng(8).integers(2**63))
    counts = draw(names, seed, 20).astype(int)
    unseen = draw(missed, seed, 20).astype(int).sum(axis=0)
    for b in range(20):
        hits = np.repeat([i in liked for i in range(1_000)], counts[:, b])
        places = np.flatnonzero(hits)
        precisions = np.arange(1, len(places) + 1) / (places + 1)
        expected = precisions.sum() / (len(places) + unseen[b])
        assert replicates.values[0, 0, 0, b] == pytest.approx(expected, abs=1e-12)


def test_shared_counts_have_the_distribution_of_independent_gaps():
    rng = np.random.default_rng(21)
    ranks, unseen, size = np.array([2, 3, 9, 30, 31, 80]), 4, 20_000
    names = [f"d{i}" for i in range(100)]
    judged = {names[i]: 1 for i in ranks} | {f"m{i}": 1 for i in range(unseen)}
    shared = resample_documents(
        make_qrels({"1": judged}), [make_run("run", {"1": names})], replicates=size, rng=2
    ).values[0, 0, 0]
    gaps = np.diff(ranks, prepend=-1) - 1
    other = np.cumsum(rng.poisson(gaps, (size, len(ranks))), axis=1)
    copies = rng.poisson(1.0, (size, len(ranks)))
    found = np.cumsum(copies, axis=1)
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, 2_000))))
    last = other + found
    sums = (copies - other * (harmonic[last] - harmonic[last - copies])).sum(axis=1)
    total = found[:, -1] + rng.poisson(unseen, size)
    gap = sums[total > 0] / total[total > 0]
    kept = shared[~np.isnan(shared)]
    assert stats.ks_2samp(kept, gap).pvalue > 0.01
    assert abs(kept.mean() - gap.mean()) < 4 * np.hypot(kept.std(), gap.std()) / np.sqrt(size)
    assert kept.std() == pytest.approx(gap.std(), rel=0.03)


def test_adding_runs_and_measures_changes_no_other_number():
    qrels, runs = random_collection()
    alone = resample_documents(qrels, runs[:1], "AP", replicates=50, rng=1)
    together = resample_documents(qrels, runs, ["nDCG", "AP"], replicates=50, rng=1)
    np.testing.assert_array_equal(alone.values[0, 0], together.values[1, 0])


def test_more_replicates_begin_with_the_same_ones_whatever_the_block(monkeypatch):
    qrels, runs = random_collection()
    first = resample_documents(qrels, runs, ["AP", "RBP"], replicates=30, rng=1)
    monkeypatch.setattr(list_resampling, "BLOCK", 7)
    monkeypatch.setattr(replicate_scores, "_CELLS", 100)
    second = resample_documents(qrels, runs, ["AP", "RBP"], replicates=41, rng=1)
    np.testing.assert_allclose(first.values, second.values[..., :30], rtol=0, atol=1e-12)


def test_a_replicate_is_one_collection_for_all_topics():
    judged = {"1": {"x": 1, "y": 1}, "2": {"y": 1, "x": 1}}
    lists = {"1": ["a", "x", "b", "y"], "2": ["a", "x", "b", "y"]}
    values = resample_documents(make_qrels(judged), [make_run("run", lists)], rng=3).values[0, 0]
    np.testing.assert_array_equal(values[0], values[1])


def test_replicates_without_relevant_documents_are_dropped_and_counted():
    lists = {"1": ["x", "a"], "2": ["a", "y", "z"]}
    qrels = make_qrels({"1": {"x": 1}, "2": {"y": 1, "z": 1}})
    sample = resample_documents(qrels, [make_run("run", lists)], replicates=4_000, rng=1)
    np.testing.assert_array_equal(sample.dropped, np.isnan(sample.values[0, 0]).sum(axis=1)[None])
    assert sample.dropped[0] / 4_000 == pytest.approx([np.exp(-1), np.exp(-2)], abs=0.03)
    one = sample.topic_distribution("AP")
    np.testing.assert_array_equal(one.dropped, sample.dropped[0])
    means = CollectionSample.of(sample).distribution(slice(None)).require("replicates")[:, 0]
    both = sample.values[0, 0]
    alone = np.isnan(both[0]) & ~np.isnan(both[1])
    np.testing.assert_array_equal(means[alone], both[1, alone])
    assert np.isnan(means[np.isnan(both).all(axis=0)]).all()


def test_a_topic_without_relevant_documents_is_left_out_with_a_warning():
    qrels = make_qrels({"1": {"x": 1}, "2": {"x": 0}})
    run = make_run("run", {"1": ["x"], "2": ["x"]})
    with pytest.warns(TopicWarning, match="no relevant document for 1 of 2 topics"):
        sample = resample_documents(qrels, [run], replicates=10, rng=1)
    assert sample.topics == ("1",)
    with pytest.raises(TopicMismatchError, match="no relevant document at all"):
        resample_documents(make_qrels({"1": {"x": 0}}), [run], replicates=10)


def test_a_topic_without_documents_of_the_gain_asked_for_has_no_score():
    qrels = make_qrels({"1": {"x": 1}, "2": {"x": 2}})
    run = make_run("run", {"1": ["x"], "2": ["x"]})
    sample = resample_documents(qrels, [run], "AP", rel=2, replicates=10, rng=1)
    assert np.isnan(sample.scores.values[0, 0, 0])
    assert np.isnan(sample.values[0, 0, 0]).all()
    assert CollectionSample.of(sample).distribution(slice(None)).estimate[0] == 1.0


@pytest.mark.parametrize(("missing", "mean"), [("zero", 0.5), ("drop", 1.0)])
def test_a_topic_that_a_run_lacks_scores_0_or_is_left_out(missing, mean):
    qrels = make_qrels({"1": {"x": 1}, "2": {"x": 1, "y": 1}})
    whole = make_run("whole", {"1": ["x"], "2": ["x", "y"]})
    part = make_run("part", {"1": ["x"]})
    with pytest.warns(TopicWarning, match="'part' lacks 1 topic"):
        sample = resample_documents(qrels, [whole, part], replicates=10, rng=1, missing=missing)
    assert CollectionSample.of(sample).distribution(slice(None)).estimate.tolist() == [1.0, mean]
    defined = ~np.isnan(sample.values[0, 0, 1])
    expected = 0.0 if missing == "zero" else np.nan
    np.testing.assert_array_equal(sample.values[0, 1, 1][defined], expected)
    difference = against(CollectionSample.of(sample), "whole").distribution(slice(None))
    assert difference.estimate[0] == mean - 1.0


def test_lists_of_one_document_and_perfect_lists():
    qrels = make_qrels({"1": {"x": 1, "y": 1}, "2": {"x": 1, "y": 1}})
    run = make_run("run", {"1": ["x", "y"], "2": ["a"]})
    sample = resample_documents(qrels, [run], replicates=200, rng=1)
    assert sample.scores.values[:, 0, 0].tolist() == [1.0, 0.0]
    for topic, score in enumerate((1.0, 0.0)):
        values = sample.values[0, 0, topic]
        np.testing.assert_array_equal(values[~np.isnan(values)], score)
    assert sample.depth.tolist() == [[2, 1]]
    assert sample.relevant.tolist() == [[2, 2]]
    assert sample.relevant_retrieved.tolist() == [[[2, 0]]]


def test_depth_cuts_lists_before_they_are_resampled():
    qrels, runs = random_collection()
    short = [
        make_run(run.name, {topic: [docid for docid, _ in run[topic][:20]] for topic in run})
        for run in runs
    ]
    cut = resample_documents(qrels, runs, ["AP", "nDCG"], depth=20, replicates=20, rng=1)
    whole = resample_documents(qrels, short, ["AP", "nDCG"], replicates=20, rng=1)
    np.testing.assert_array_equal(cut.values, whole.values)
    np.testing.assert_array_equal(cut.scores.values, whole.scores.values)


@pytest.mark.parametrize("measures", [["AP"], ["AP(rel=2)", "AP@10"]])
@pytest.mark.parametrize("depth", [None, 20])
def test_documents_that_ap_does_not_look_at_change_no_bit(measures, depth):
    qrels, runs = random_collection()
    bare = make_run("bare", {"t0": ["x"], "t1": ["doc1", "y"], "t2": ["x", "y"], "t3": ["z"]})
    drawn = {"depth": depth, "replicates": 600, "rng": 6}
    alone = resample_documents(qrels, [*runs, bare], measures, **drawn)
    beside = resample_documents(qrels, [*runs, bare], [*measures, "NumRet"], **drawn)
    np.testing.assert_array_equal(alone.values, beside.values[:-1])
    np.testing.assert_array_equal(alone.depth, beside.depth)
    np.testing.assert_array_equal(alone.relevant_retrieved, beside.relevant_retrieved[:-1])


@pytest.mark.parametrize(
    ("measures", "depth", "expected"),
    [
        (["AP"], None, [[4, 0], [1, 2]]),
        (["AP(rel=2)"], None, [[2, 0], [1, 2]]),
        (["AP"], 1, [[0, 0], [1, 0]]),
        (["AP", "nDCG"], None, [[5, 2], [1, 2]]),
    ],
)
def test_ap_needs_lists_down_to_their_last_relevant_document(measures, depth, expected):
    qrels = make_qrels({"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": 0, "d": 2}})
    run = make_run("run", {"1": ["x", "a", "c", "b", "y"], "2": ["a", "x"]})
    other = make_run("other", {"1": ["a"], "2": ["x", "d"]})
    lists = read_lists(qrels, [run, other])
    drawing = Drawing(tuple(map(parse_measure, measures)), 10, 1, depth)
    assert PreparedLists(lists, drawing).hold((0, 2)).lists.depth.tolist() == expected


@pytest.mark.parametrize("jackknife", [False, True])
def test_topics_with_few_documents_are_resampled_together(jackknife):
    drawing = Drawing((parse_measure("AP"),), 10, 1, jackknife=jackknife)
    judged, depth = np.array([100, 8_100, 50, 30, 9_000]), np.full((2, 5), 3)
    parts = [(part.start, part.stop) for part in drawing.split_topics(judged, depth)]
    one_by_one = [(topic, topic + 1) for topic in range(5)]
    assert parts == (one_by_one if jackknife else [(0, 1), (1, 4), (4, 5)])


def test_topics_that_are_resampled_together_have_the_bits_of_each_alone(monkeypatch):
    qrels, runs = random_collection()
    drawn = {"replicates": 600, "rng": 6}
    together = resample_documents(qrels, runs, ["AP", "nDCG", "Bpref"], **drawn)
    monkeypatch.setattr(list_resampling, "_TOGETHER", 1)
    alone = resample_documents(qrels, runs, ["AP", "nDCG", "Bpref"], **drawn)
    np.testing.assert_array_equal(together.values, alone.values)


def test_statistics_of_the_bootstrap_are_means_over_topics():
    qrels, runs = random_collection()
    sample = resample_documents(qrels, runs, ["AP", "RR"], replicates=40, rng=6)
    both = bootstrap_documents(qrels, runs, ["AP", "RR"], replicates=40, rng=6)
    assert both.labels[:3] == (("run0", "AP"), ("run0", "RR"), ("run1", "AP"))
    means = np.nanmean(sample.values, axis=2).transpose(2, 1, 0).reshape(40, -1)
    np.testing.assert_allclose(both.require("replicates"), means, atol=1e-15)
    logits = bootstrap_documents(
        qrels, runs, statistic="logit-mean-difference", baseline="run1", replicates=40, rng=6
    )
    expected = np.nanmean(clipped_logit(sample.values[0]), axis=1)
    np.testing.assert_allclose(
        logits.require("replicates"), (expected[[0, 2]] - expected[1]).T, atol=1e-12
    )
    assert logits.labels == (("run0", "AP"), ("run2", "AP"))


@pytest.mark.parametrize("baseline", [None, "run1"])
def test_a_distribution_over_topics_and_documents_has_the_total_of_the_components(baseline):
    qrels, runs = random_collection()
    sample = resample_documents(qrels, runs, "AP", replicates=5_000, rng=6)
    means = CollectionSample.of(sample)
    over = means if baseline is None else against(means, baseline)
    joint, components = over.distribution_with_topics(), over.components()
    np.testing.assert_allclose(np.square(joint.require("se")), components.total)
    np.testing.assert_array_equal(joint.df, components.df)
    drawn = joint.require("replicates").var(axis=0, ddof=1)
    np.testing.assert_allclose(drawn, components.total, rtol=0.08)
    assert joint.resampled == {"topics", "documents"}
    if baseline is None:
        assert (joint.require("replicates") >= 0.0).all()
        assert (joint.require("replicates") <= 1.0).all()


def test_joint_replicates_of_nearly_perfect_lists_are_at_most_1():
    judged = {"1": {"a": 1, "b": 1, "c": 1}, "2": {"a": 1, "d": 1}, "3": {"e": 1, "f": 1, "g": 1}}
    run = make_run("run", {"1": ["a", "b", "x", "c"], "2": ["a", "d"], "3": ["e", "f", "g"]})
    sample = resample_documents(make_qrels(judged), [run], "AP", replicates=200, rng=1)
    joint = CollectionSample.of(sample).distribution_with_topics().require("replicates")
    assert joint.max() == 1.0


def test_a_function_of_one_list_takes_documents_of_gain_1_as_relevant():
    qrels, run = make_qrels({"1": {"a": 1}}), make_run("run", {"1": ["a"]})
    sample = resample_documents(qrels, [run], [lambda gains, _: 0.25], replicates=20, rng=1)  # noqa: ARG005
    drawn = ~np.isnan(resample_documents(qrels, [run], "AP", replicates=20, rng=1).values[0])
    assert drawn.any()
    np.testing.assert_array_equal(sample.values[0], np.where(drawn, 0.25, np.nan))


def test_a_function_of_one_list_is_resampled_too():
    def half_precision(gains, _judged):
        return float(np.nansum(gains[:5] > 0)) / 5.0

    qrels, runs = random_collection()
    sample = resample_documents(qrels, runs, [half_precision, "P@5"], replicates=15, rng=6)
    np.testing.assert_allclose(sample.values[0], sample.values[1], atol=1e-15)


def test_what_cannot_be_resampled_is_named():
    qrels, runs = random_collection()
    with pytest.raises(UnknownNameError, match="logit-mean"):
        bootstrap_documents(qrels, runs, statistic="logitmean")
    with pytest.raises(InvalidValueError, match="needs a baseline"):
        bootstrap_documents(qrels, runs, statistic="difference")
    with pytest.raises(InvalidValueError, match="takes no baseline"):
        bootstrap_documents(qrels, runs, baseline="run0")
    for measures, with_topics in ((["AP", "P@5"], False), ("AP", True)):
        with pytest.raises(InvalidValueError, match="takes one measure, and no with_topics"):
            bootstrap_documents(
                qrels, runs, measures, statistic="score", with_topics=with_topics, replicates=5
            )
    with pytest.raises(UnknownNameError, match="unknown run"):
        bootstrap_documents(
            qrels, runs, statistic="difference", baseline="run9", replicates=5, rng=1
        )
    with pytest.raises(InvalidValueError, match="replicates is 0"):
        bootstrap_documents(qrels, runs, replicates=0)
    with pytest.raises(UnsupportedMethodError, match="ir_measures"):
        bootstrap_documents(qrels, runs, "infAP")


def test_a_run_whose_topics_have_no_relevant_document_is_reported():
    qrels = make_qrels({"1": {"a": 0}, "2": {"a": 1}})
    runs = [make_run("here", {"2": ["a"]}), make_run("bare", {"1": ["a"]})]
    with (
        pytest.warns(TopicWarning, match="no relevant document"),
        pytest.raises(TopicMismatchError, match="none of the topics of run 'bare'"),
    ):
        resample_documents(qrels, runs, replicates=10)


def test_a_run_of_other_topics_is_reported_with_the_first_three_of_the_qrels():
    qrels = make_qrels({f"t{number}": {"a": 1} for number in range(5)})
    with pytest.raises(TopicMismatchError, match=r"the qrels have t0, t1, t2 and 2 more$"):
        resample_documents(qrels, [make_run("run", {"9": ["a"]})])


def test_a_gain_that_no_document_has_is_warned_of():
    qrels, runs = random_collection()
    with pytest.warns(TopicWarning, match=r"AP\(rel=99\) asks for: the highest is 2"):
        sample = resample_documents(qrels, runs, "AP", rel=99, replicates=5)
    assert np.isnan(sample.scores.values).all()


def test_ties_may_be_those_of_single_precision():
    qrels = make_qrels({"1": {"a": 1, "b": 0}})
    run = {"1": {"a": 1.00000001, "b": 1.0}}
    for precision, score in (("double", 1.0), ("single", 0.5)):
        sample = resample_documents(qrels, run, tie_precision=precision, replicates=50, rng=1)
        assert sample.scores.values.item() == score
        both = sample.values[0, 0, 0]
        assert np.nanmin(both) <= score <= np.nanmax(both)
        assert (np.nanmin(both) < 1.0) == (precision == "single")
