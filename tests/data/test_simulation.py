"""Simulated collections: reproducible by seed, with the documented properties."""

import re

import numpy as np
import pytest

from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.data.qrels import Qrels, subtopic_judgements
from confir.data.ranked_lists.rankings import stack_rankings
from confir.data.run import Run, build_run
from confir.data.simulation import (
    Collection,
    System,
    sample_collection,
    simulate_collection,
    write_collection,
)
from confir.errors import InvalidValueError, UnreadableError
from confir.measures.parsing import parse_measure
from judged_positions import JudgedPositions


@pytest.fixture(scope="module")
def sample():
    return sample_collection()


@pytest.fixture(scope="module")
def rankings(sample):
    return rank(sample)


@pytest.fixture(scope="module")
def ap(sample, rankings):
    """Run → AP by topic."""
    scores = parse_measure("AP")(rankings)[:, :, 0]
    return dict(zip((run.name for run in sample.runs), scores, strict=True))


def rank(collection: Collection):
    positions = JudgedPositions(collection.qrels)
    return stack_rankings([positions.rank(run) for run in collection.runs])


def small(**changes) -> Collection:
    settings = {"topics": 6, "runs": 3, "depth": 20, "pool_depth": 5, "rng": 1}
    return simulate_collection(**(settings | changes))


def named(collection: Collection, name: str) -> Run:
    return next(run for run in collection.runs if run.name == name)


def count_ties(run: Run) -> int:
    starts = set(run.offsets.tolist())
    tied = np.flatnonzero(np.diff(run.scores) == 0) + 1
    return sum(place not in starts for place in tied.tolist())


def judgements(qrels: Qrels):
    topics = qrels.document_topics[qrels.judged_documents].tolist()
    documents = qrels.judged_documents.tolist()
    return [
        (qrels.topics[topic], subtopic, qrels.documents[document], gain)
        for topic, subtopic, document, gain in zip(
            topics, qrels.subtopics, documents, qrels.subtopic_gains.tolist(), strict=True
        )
    ]


def content(collection: Collection):
    runs = {run.name: [(topic, run[topic]) for topic in run] for run in collection.runs}
    return judgements(collection.qrels), runs


def test_the_same_seed_makes_the_same_collection():
    assert content(small(rng=3)) == content(small(rng=3))


def test_another_seed_makes_another_collection():
    assert content(small(rng=3)) != content(small(rng=4))


def test_a_seed_means_its_pcg64_generator():
    generator = np.random.Generator(np.random.PCG64(3))
    assert content(small(rng=3)) == content(small(rng=generator))


def test_without_a_seed_no_two_collections_are_alike():
    assert content(small(rng=None)) != content(small(rng=None))


def test_the_sizes_are_those_asked_for():
    collection = small(topics=4, runs=5, depth=7)
    assert collection.qrels.topics == ("101", "102", "103", "104")
    assert [run.name for run in collection.runs] == ["run1", "run2", "run3", "run4", "run5"]
    assert all(len(run[topic]) == 7 for run in collection.runs for topic in run)
    assert all(run.topics == collection.qrels.topics for run in collection.runs)


def test_one_run_and_one_topic_make_a_collection():
    collection = small(topics=1, runs=1, depth=1)
    assert len(collection.runs[0].documents) == 1
    assert collection.qrels.topics == ("101",)


def test_the_pool_of_every_run_is_judged_and_deeper_non_relevant_documents_are_not():
    collection = small(depth=200, pool_depth=5)
    pooled = {
        (topic, document)
        for run in collection.runs
        for topic in run
        for document, _ in run[topic][:5]
    }
    gains = {(topic, document): gain for topic, _, document, gain in judgements(collection.qrels)}
    assert pooled <= gains.keys()
    assert {pair for pair, gain in gains.items() if gain == 0} <= pooled


def test_pools_follow_the_ranks_among_tied_documents():
    systems = [System("coarse", decimals=-1, scale=4.0)]
    collection = small(runs=systems, depth=50, pool_depth=5)
    run = collection.runs[0]
    assert count_ties(run) > 50
    for topic in run:
        judged = collection.qrels[topic]
        assert all(document in judged for document, _ in run[topic][:5])
        assert all(judged.get(document, 1) > 0 for document, _ in run[topic][5:])


def test_a_topic_that_a_run_lacks_adds_nothing_to_the_pool():
    collection = small(runs=[System("partial", missing=2)])
    present = set(collection.runs[0].topics)
    assert len(present) == 4
    for topic in set(collection.qrels.topics) - present:
        assert min(collection.qrels[topic].values()) > 0


def test_more_relevant_documents_are_made_where_asked_for():
    few, many = (small(topics=40, relevant=n).qrels for n in (3, 100))
    assert np.median(relevant_by_topic(few)) < 6
    assert np.median(relevant_by_topic(many)) > 60


def relevant_by_topic(qrels: Qrels):
    levels, counts = qrels.count_by_gain()
    return counts[:, levels > 0].sum(axis=1)


def test_a_better_system_scores_higher():
    systems = [System("poor", -0.5), System("good", 0.5)]
    scores = parse_measure("AP")(rank(small(topics=40, runs=systems)))[:, :, 0]
    assert scores[1].mean() > scores[0].mean() + 0.02


def test_numbered_runs_rise_in_quality():
    scores = parse_measure("AP")(rank(small(topics=40, runs=3, depth=200)))[:, :, 0]
    assert scores.mean(axis=1)[0] < scores.mean(axis=1)[1] < scores.mean(axis=1)[2]


def test_systems_that_share_a_signal_retrieve_more_documents_in_common():
    systems = [System("a", signals={"words": 0.95}), System("b", signals={"words": 0.95})]
    first, second, other = small(runs=[*systems, System("c")], depth=100).runs
    assert overlap(first, second) > overlap(first, other) + 0.1


def overlap(run: Run, other: Run) -> float:
    documents = {(topic, document) for topic in run for document, _ in run[topic]}
    shared = {(topic, document) for topic in other for document, _ in other[topic]} & documents
    return len(shared) / len(documents)


def test_docids_do_not_tell_whether_a_document_is_relevant():
    relevant, places = [], []
    for seed in range(5):
        qrels = small(topics=20, rng=seed).qrels
        for topic in qrels:
            gains = [qrels[topic][document] for document in sorted(qrels[topic])]
            relevant += [gain > 0 for gain in gains]
            places += np.linspace(-1, 1, len(gains)).tolist()
    assert abs(np.corrcoef(relevant, places)[0, 1]) < 0.06


def test_the_sample_is_always_the_same(sample):
    assert content(sample) == content(sample_collection())


def test_the_sample_has_fifty_topics_and_eight_runs_to_depth_1000(sample):
    assert sample.qrels.topics == tuple(str(number) for number in range(101, 151))
    assert len(sample.runs) == 8
    for run in sample.runs:
        assert set(np.diff(run.offsets).tolist()) == {1000}


def test_the_docids_of_the_sample_look_like_docids(sample):
    documents = {document for run in sample.runs for document in run.documents}
    documents.update(sample.qrels.documents)
    assert all(re.fullmatch(r"D-\d{4}-\d{4}", document) for document in documents)


def test_only_bm25_rm3_lacks_a_topic_in_the_sample(sample):
    lengths = {run.name: len(run) for run in sample.runs}
    assert lengths.pop("bm25-rm3") == 49
    assert set(lengths.values()) == {50}


def test_only_splade_has_many_ties_in_the_sample(sample):
    ties = {run.name: count_ties(run) for run in sample.runs}
    assert ties.pop("splade") > 25_000
    assert max(ties.values()) < 100


def test_map_in_the_sample_ranges_from_a_weak_baseline_to_a_clear_winner(ap):
    means = {run: scores.mean() for run, scores in ap.items()}
    ordered = sorted(means, key=means.__getitem__)
    assert ordered[0] == "tfidf"
    assert 0.08 < means["tfidf"] < 0.15
    assert means["tfidf"] < means[ordered[1]] - 0.05
    assert ordered[-1] == "rerank"
    assert 0.35 < means["rerank"] < 0.45
    assert means["rerank"] > means[ordered[-2]] + 0.05


def test_map_in_the_sample_stays_what_it_is(ap):
    means = {run: round(float(scores.mean()), 4) for run, scores in ap.items()}
    assert means == {
        "bm25": 0.1965,
        "bm25-rm3": 0.2198,
        "dense": 0.2267,
        "dense-tuned": 0.2242,
        "hybrid": 0.2989,
        "rerank": 0.3776,
        "splade": 0.2487,
        "tfidf": 0.1084,
    }


def test_dense_and_dense_tuned_are_near_equal_yet_differ_by_topic_in_the_sample(ap):
    difference = ap["dense-tuned"] - ap["dense"]
    assert 0 < abs(difference.mean()) < 0.005
    assert difference.std() > 0.04
    assert min((difference > 0).sum(), (difference < 0).sum()) >= 15


def test_ap_in_the_sample_is_skewed_to_the_right_with_topics_near_zero(ap):
    for run, scores in ap.items():
        centred = scores - scores.mean()
        assert (centred**3).mean() / scores.std() ** 3 > 0.2, run
        assert 0.12 < scores.std(ddof=1) < 0.3, run
        assert (scores < 0.03).sum() >= 2, run
        assert scores.max() > 0.5, run


def test_runs_of_the_sample_agree_on_topics_as_real_runs_do(ap):
    correlations = np.corrcoef(list(ap.values()))[np.triu_indices(len(ap), 1)]
    assert correlations.min() > 0.5
    assert 0.7 < np.median(correlations) < 0.9
    assert correlations.max() < 0.97


def test_ap_in_the_sample_spreads_as_on_trec_2004_robust(ap, real_data):
    table = np.loadtxt(real_data / "robust2004_ap.csv", delimiter=",", skiprows=1)[:, 1:]
    real = np.median(table.std(axis=0, ddof=1))
    simulated = np.median([scores.std(ddof=1) for scores in ap.values()])
    assert abs(simulated - real) < 0.04


def test_gains_in_the_sample_run_from_0_to_3_and_higher_ones_are_rarer(sample):
    levels, counts = sample.qrels.count_by_gain()
    assert levels.tolist() == [0, 1, 2, 3]
    totals = counts.sum(axis=0)
    assert totals[0] > totals[1] > totals[2] > totals[3] > 0


def test_numbers_of_relevant_documents_in_the_sample_vary_from_a_few_to_200(sample):
    relevant = relevant_by_topic(sample.qrels)
    assert relevant.min() == 2
    assert (relevant <= 5).sum() >= 3
    assert 20 <= np.median(relevant) <= 40
    assert 150 <= relevant.max() <= 200


def test_every_topic_of_the_sample_has_two_to_five_subtopics_each_with_relevant_documents(sample):
    subtopics = subtopic_judgements(sample.qrels)
    sizes = np.diff(subtopics.offsets)
    assert set(sizes.tolist()) == {2, 3, 4, 5}
    assert set(subtopics.subtopic.tolist()) == set(range(sizes.sum()))


def test_first_subtopics_of_the_sample_are_the_most_frequent(sample):
    counts = [sample.qrels.subtopics.count(subtopic) for subtopic in "12345"]
    assert counts[0] > 2 * counts[1]
    assert sorted(counts, reverse=True) == counts


def test_judgements_of_the_sample_stand_by_topic_and_docid(sample):
    pairs = [(topic, document) for topic, _, document, _ in judgements(sample.qrels)]
    assert pairs == sorted(pairs)


def test_a_document_of_the_sample_is_judged_once_per_topic_as_trec_eval_demands(sample):
    pairs = [(topic, document) for topic, _, document, _ in judgements(sample.qrels)]
    assert len(set(pairs)) == len(pairs)


def test_runs_of_the_sample_are_judged_at_the_top_and_mostly_unjudged_below(rankings):
    present = rankings.present
    assert (parse_measure("Judged@10")(rankings)[:, :, 0][present] == 1).all()
    assert (parse_measure("Judged")(rankings)[:, :, 0][present] < 0.6).all()


def test_a_written_collection_is_read_back_the_same(tmp_path):
    systems = [System("bm25", decimals=1, missing=1), System("dense", location=-3.0)]
    collection = small(runs=systems)
    write_collection(collection, tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    files = sorted(path.name for path in (folder / "runs").iterdir())
    assert files == ["bm25.txt", "dense.txt"]
    runs = tuple(read_run(folder / "runs" / name) for name in files)
    assert content(Collection(read_qrels(folder / "qrels.txt"), runs)) == content(collection)


def test_a_collection_is_not_written_where_a_file_stands(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnreadableError, match="cannot be made"):
        write_collection(small(), tmp_path / "file")


@pytest.mark.parametrize("name", ["../escape", "a\\b", "", "nul\0"])
def test_a_run_whose_name_is_no_file_name_is_not_written(tmp_path, name):
    run = build_run(name, ["101"], ["D-0000-0001"], np.array([1.0]))
    with pytest.raises(InvalidValueError, match="file name"):
        write_collection(Collection(small().qrels, (run,)), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_runs_of_one_name_are_no_collection():
    with pytest.raises(InvalidValueError, match="several runs are named twin;"):
        small(runs=[System("twin"), System("twin")])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("topics", 0),
        ("topics", 2.5),
        ("runs", 0),
        ("runs", []),
        ("runs", "bm25"),
        ("depth", -1),
        ("depth", "10"),
        ("pool_depth", 0),
        ("relevant", 1),
        ("relevant", 201),
        ("relevant", float("nan")),
        ("relevant", "many"),
        ("rng", -1),
        ("rng", 1.5),
    ],
)
def test_an_impossible_parameter_is_named(name, value):
    with pytest.raises(InvalidValueError, match=f"^{name} is .*; expected"):
        small(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("signals", {"words": 0.8, "meaning": 0.7}),
        ("signals", {"words": float("nan")}),
        ("quality", float("nan")),
        ("location", float("inf")),
        ("scale", 0.0),
        ("decimals", 1.5),
        ("missing", -1),
    ],
)
def test_an_impossible_system_is_named(name, value):
    with pytest.raises(InvalidValueError, match=f"^system 'odd': {name} is .*; expected"):
        System("odd", **{name: value})


def test_a_system_cannot_lack_every_topic():
    with pytest.raises(
        InvalidValueError, match="'empty' lacks 6 topics; expected fewer than all 6"
    ):
        small(runs=[System("empty", missing=6)])


def test_signals_may_leave_no_room_for_noise_of_its_own():
    signals = {"words": 0.5**0.5, "meaning": 0.5**0.5}
    first, second = small(runs=[System("a", signals=signals), System("b", signals=signals)]).runs
    assert first.documents == second.documents
