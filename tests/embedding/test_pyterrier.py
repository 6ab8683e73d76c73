"""Results of PyTerrier: its frames are read as runs, and its experiments as scores.

Runs are frames here, as of any retriever; Java is not needed.
"""

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

import confir
from confir.errors import FormatError

pytestmark = pytest.mark.filterwarnings("ignore")

MEASURES = {"map": "AP", "recip_rank": "RR", "ndcg_cut_10": "nDCG@10", "P_5": "P@5"}
TOPICS = [f"q{number}" for number in range(1, 13)]


def retrieved(seed):
    """What a retriever of PyTerrier returns: qid, query, docid, docno, rank from 0, score."""
    rng = np.random.default_rng(seed)
    rows = []
    for topic in TOPICS:
        documents = rng.permutation(60)[:30]
        scores = np.sort(rng.normal(size=30))[::-1]
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True)):
            rows.append((topic, f"text of {topic}", int(document), f"d{document}", rank, score))
    return pd.DataFrame(rows, columns=["qid", "query", "docid", "docno", "rank", "score"])


RESULTS = {name: retrieved(seed) for seed, name in enumerate(("bm25", "monoT5", "<script>"))}
QUERIES = pd.DataFrame({"qid": TOPICS, "query": [f"text of {topic}" for topic in TOPICS]})
_RNG = np.random.default_rng(9)
QRELS = pd.DataFrame(
    [(t, f"d{d}", int(_RNG.integers(3))) for t in TOPICS for d in _RNG.permutation(60)[:25]],
    columns=["qid", "docno", "label"],
)


def experiment(measures, **options):
    return pt.Experiment(
        *(list(RESULTS.values()), QUERIES, QRELS, measures), names=list(RESULTS), **options
    )


@pytest.fixture(scope="module")
def per_topic():
    return experiment(list(MEASURES), perquery=True)


def test_an_experiment_per_topic_is_scores(per_topic):
    assert list(per_topic.columns) == ["name", "qid", "measure", "value"]
    scores = confir.as_scores(per_topic)
    assert set(scores.runs) == set(RESULTS)
    assert set(scores.measures) == set(MEASURES)
    assert set(scores.topics) == set(TOPICS)
    theirs = experiment(list(MEASURES)).set_index("name")
    for place, measure in enumerate(scores.measures):
        expected = theirs[measure][list(scores.runs)]
        np.testing.assert_allclose(scores.mean()[:, place], expected, atol=1e-12)


def test_its_frames_are_runs_and_qrels_with_the_same_scores(per_topic):
    ours = confir.evaluate(QRELS, RESULTS, list(MEASURES.values()))
    theirs = confir.as_scores(per_topic).select(run=list(RESULTS), measure=list(MEASURES))
    assert ours.runs == theirs.runs
    order = [theirs.topics.index(topic) for topic in ours.topics]
    np.testing.assert_allclose(ours.values, theirs.values[order], atol=1e-9)  # noqa: PD011
    run = confir.as_run(RESULTS["bm25"], name="bm25")
    assert run.to_dict()["q1"].keys() == set(RESULTS["bm25"].query("qid == 'q1'").docno)


def test_a_pipeline_answers_with_a_run():
    cut = pt.Transformer.from_df(RESULTS["bm25"]) % 10
    found = cut.transform(QUERIES)
    shallow = confir.evaluate(QRELS, {"bm25": found}, ["AP"])
    whole = confir.evaluate(QRELS, {"bm25": RESULTS["bm25"]}, ["AP"], depth=10)
    np.testing.assert_allclose(shallow.values, whole.values, atol=1e-12)


def test_its_tests_are_ours(per_topic):
    theirs = experiment(["map"], baseline=0, correction="holm").set_index("name")
    scores = confir.as_scores(per_topic).select(measure="map")
    comparison = confir.compare_runs(scores, baseline="bm25", correction="holm", test="t")
    (column,) = (name for name in theirs.columns if name.endswith("p-value corrected"))
    ours = {record["run"]: record["p_adjusted"] for record in comparison.to_records()}
    for name in ("monoT5", "<script>"):
        assert ours[name] == pytest.approx(theirs.loc[name, column], abs=1e-9)


def test_an_interval_comes_in_one_line(per_topic):
    interval = confir.confidence_interval(per_topic)
    assert np.all(interval.low < interval.high)


def test_a_document_retrieved_twice_is_an_error():
    frame = pd.concat([RESULTS["bm25"], RESULTS["bm25"].head(1)])
    with pytest.raises(FormatError, match="twice"):
        confir.as_run(frame)
