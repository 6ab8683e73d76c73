"""Measures against plain loops over one list, in resampled collections too."""

import numpy as np
from hypothesis import given

from confir.measures.measure_list import MEASURES
from confir.measures.parsing import parse_measure
from reference.plain_measures import PLAIN_MEASURES, plain_score
from strategies import VARIANTS, Collection, collections, document_counts, examples

ALL = [parse_measure(text) for variants in VARIANTS.values() for text in variants]


def assert_measures_agree(collection, rankings, counts=None):
    """Compare every measure, list and replicate with the plain loops."""
    replicates = rankings.depth.shape[2]
    lists = [
        collection.plain_list(run, topic, counts, replicate)
        for run in range(len(rankings.runs))
        for topic in rankings.qrels
        for replicate in range(replicates)
    ]
    for measure in ALL:
        expected = np.reshape([plain_score(measure, one) for one in lists], rankings.depth.shape)
        np.testing.assert_allclose(
            measure(rankings), expected, rtol=0, atol=1e-12, err_msg=str(measure)
        )


def test_every_measure_of_the_catalogue_has_a_plain_twin():
    assert set(PLAIN_MEASURES) == set(VARIANTS) == set(MEASURES)


@given(collection=collections())
@examples(40)
def test_measures_agree_with_plain_loops(collection):
    assert_measures_agree(collection, collection.rankings())


@given(collection=collections(), counts=document_counts())
@examples(40)
def test_replicates_are_lists_with_repeated_documents(collection, counts):
    assert_measures_agree(collection, collection.resampled(counts), counts)


def test_replicates_of_longer_lists_agree_with_plain_loops():
    rng = np.random.default_rng(20)
    documents = [f"doc{number}" for number in range(150)]
    judgements = {
        topic: {
            documents[i]: {str(s): int(rng.integers(-1, 5)) for s in rng.permutation(4)[:2]}
            for i in rng.permutation(150)[:60]
        }
        for topic in ("a", "b")
    }
    lists = tuple(
        {topic: [documents[i] for i in rng.permutation(150)[:100]] for topic in judgements}
        for _ in range(2)
    )
    counts = dict(zip(documents, rng.poisson(1.0, (150, 4)), strict=True))
    collection = Collection(judgements, lists, {})
    assert_measures_agree(collection, collection.resampled(counts), counts)
