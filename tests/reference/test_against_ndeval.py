"""Diversity measures against ndeval, through pyndeval.

ndeval breaks ties of retrieval scores by docid ascending, so it is given the negated rank as the
score. It computes to rank 20 at most.
"""

from functools import cache

import numpy as np
import pyndeval
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confir.data.formats.runs_and_qrels import read_qrels, read_run
from confir.data.qrels import build_qrels, subtopic_judgements
from confir.data.ranked_lists.rankings import stack_rankings
from confir.measures.parsing import parse_measure
from judged_positions import JudgedPositions
from strategies import Collection, as_run, collections, examples

NAMES = {"alpha-nDCG": "alpha_nDCG", "ERR-IA": "ERR_IA", "nERR-IA": "nERR_IA"}


@cache
def load(folder):
    """Return the qrels of TREC 2012 Web, eight runs and their rankings."""
    place = folder / "trec-web-2012-diversity"
    qrels = read_qrels(place / "qrels.txt.gz")
    positions = JudgedPositions(qrels)
    runs = [read_run(path) for path in sorted(place.glob("runs/*.gz"))]
    assert len(runs) == 8
    return qrels, runs, stack_rankings([positions.rank(run) for run in runs])


def ndeval(qrels, runs, measures, *, alpha=0.5, rel=1):
    """Return ndeval's scores, measure → runs × topics; topics that a run lacks score 0."""
    topics = qrels.document_topics[qrels.judged_documents]
    judgements = [
        (qrels.topics[topic], subtopic, qrels.documents[document], int(gain))
        for topic, subtopic, document, gain in zip(
            topics, qrels.subtopics, qrels.judged_documents, qrels.subtopic_gains, strict=True
        )
    ]
    evaluator = pyndeval.RelevanceEvaluator(judgements, measures, relevance_level=rel, alpha=alpha)
    found = []
    for run in runs:
        rows = [(topic, run[topic]) for topic in run]
        found.append(
            evaluator.evaluate(
                (topic, document, -float(rank))
                for topic, ranked in rows
                for rank, (document, _) in enumerate(ranked)
            )
        )
    return {
        name: np.array(
            [[scores.get(topic, {}).get(name, 0.0) for topic in qrels] for scores in found]
        )
        for name in measures
    }


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.9, 0, 1])
def test_real_data_against_ndeval(real_data, alpha):
    qrels, runs, rankings = load(real_data)
    names = {
        f"{theirs}@{cutoff}": f"{ours}(alpha={alpha})@{cutoff}"
        for theirs, ours in NAMES.items()
        for cutoff in (2, 5, 10, 20)
    }
    expected = ndeval(qrels, runs, list(names), alpha=alpha)
    for theirs, ours in names.items():
        scores = parse_measure(ours)(rankings)[:, :, 0]
        assert scores.any()
        np.testing.assert_allclose(scores, expected[theirs], rtol=0, atol=1e-12, err_msg=ours)


def test_subtopic_recall_against_ndeval(real_data):
    qrels, runs, rankings = load(real_data)
    expected = ndeval(qrels, runs, ["strec@1", "strec@5", "strec@10", "strec@20"])
    for name, values in expected.items():
        np.testing.assert_array_equal(parse_measure(name)(rankings)[:, :, 0], values, err_msg=name)


def test_relevance_level_against_ndeval(real_data):
    qrels, runs, rankings = load(real_data)
    expected = ndeval(qrels, runs, ["alpha-nDCG@10", "ERR-IA@10", "nERR-IA@10", "strec@10"], rel=2)
    recall = expected.pop("strec@10")
    for name, values in expected.items():
        scores = parse_measure(name, rel=2)(rankings)[:, :, 0]
        np.testing.assert_allclose(scores, values, rtol=0, atol=1e-12, err_msg=name)
    # ndeval leaves out intents without a relevant document; here all of a topic's intents count.
    judgements = subtopic_judgements(qrels)
    reachable = np.unique(judgements.subtopic[judgements.gain >= 2])
    within = np.searchsorted(reachable, judgements.offsets)
    covered = np.diff(within) / np.diff(judgements.offsets)
    assert (covered < 1).any()
    ours = parse_measure("StRecall@10", rel=2)(rankings)[:, :, 0]
    np.testing.assert_allclose(ours, recall * covered, rtol=0, atol=1e-12)


@given(
    collection=collections(topics=1, runs=1, lowest=0, highest=1),
    alpha=st.sampled_from((0, 0.1, 0.3, 0.5, 0.7, 1)),
)
@examples(80)
def test_small_lists_against_ndeval(collection, alpha):
    plain = Collection(collection.judgements, collection.lists, {})
    qrels, runs, rankings = plain.qrels, plain.runs, plain.rankings()
    cutoffs = (2, 3, 20)
    expected = ndeval(
        qrels,
        runs,
        [f"{name}@{cutoff}" for name in NAMES for cutoff in cutoffs],
        alpha=alpha,
    )
    for name, values in expected.items():
        family, _, cutoff = name.partition("@")
        measure = parse_measure(f"{NAMES[family]}(alpha={alpha})@{cutoff}")
        np.testing.assert_allclose(
            measure(rankings)[:, :, 0], values, rtol=0, atol=1e-12, err_msg=name
        )


def judge(served):
    """Return qrels of one topic from docid → subtopics."""
    rows = [
        (subtopic, document) for document, subtopics in served.items() for subtopic in subtopics
    ]
    subtopics, documents = zip(*rows, strict=True)
    return build_qrels(["t"] * len(rows), subtopics, documents, np.ones(len(rows), np.int64))


def test_a_list_may_beat_the_greedy_ideal_as_in_ndeval():
    # Three documents tie for the first place; the last by docid is the worst beginning.
    qrels = judge({"a": "12", "b": "34", "c": "13"})
    run = as_run("run", {"t": ["a", "b"]})
    rankings = JudgedPositions(qrels).rank(run)
    for theirs, ours in (("alpha-nDCG@2", "alpha_nDCG@2"), ("nERR-IA@2", "nERR_IA@2")):
        (score,) = parse_measure(ours)(rankings).ravel()
        assert score > 1
        assert score == pytest.approx(ndeval(qrels, [run], [theirs])[theirs].item(), abs=1e-12)


def test_err_ia_of_the_first_document_is_normalised_unlike_ndevals():
    # ndeval's loop over ranks begins at the second, so that its ERR-IA@1 is a count of subtopics.
    qrels = judge({"a": "12", "b": "3"})
    run = as_run("run", {"t": ["a"]})
    (score,) = parse_measure("ERR_IA@1")(JudgedPositions(qrels).rank(run)).ravel()
    assert score == 2 / 3
    assert ndeval(qrels, [run], ["ERR-IA@1"])["ERR-IA@1"].item() == 2.0
