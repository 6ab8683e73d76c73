"""Properties of every measure."""

import numpy as np
import pytest
from hypothesis import given

from confir.data.ranked_lists.rankings import stack_rankings
from confir.errors import ConfirError
from confir.measures.measure_list import MEASURES
from confir.measures.parsing import parse_measure
from judged_positions import JudgedPositions
from reference.plain_measures import greedy_ideal, novelties, read_map
from strategies import VARIANTS, Collection, as_run, collections, document_counts, examples

ALL = [parse_measure(text) for variants in VARIANTS.values() for text in variants]
COUNTS = {name for name, definition in MEASURES.items() if definition.counts}
GREEDY = {"alpha_nDCG", "nERR_IA"}
# What a list without documents still has, and what a topic without relevant documents leaves.
OF_THE_TOPIC = {"NumRel"}
OF_THE_LIST = {"NumRet", "Judged"}

HIGHEST_GAIN = 9  # of a gain map in VARIANTS

quick = examples(15)


def measures_of(*names):
    return [measure for measure in ALL if measure.definition.name in names]


@given(collection=collections())
@quick
def test_scores_are_shares_or_counts(collection):
    assert_shares_or_counts(collection.rankings())


@given(collection=collections(), counts=document_counts())
@quick
def test_scores_of_replicates_are_shares_or_counts(collection, counts):
    assert_shares_or_counts(collection.resampled(counts))


def assert_shares_or_counts(rankings):
    for measure in ALL:
        scores = measure(rankings)
        assert scores.shape == rankings.depth.shape
        assert scores.dtype == np.float64
        assert (scores >= 0).all(), measure
        if measure.definition.name in COUNTS:
            assert (scores == np.round(scores)).all(), measure
        elif measure.definition.name == "RBP":
            assert (scores <= HIGHEST_GAIN).all(), measure
        elif measure.definition.name not in GREEDY:
            assert (scores <= 1).all(), measure


@given(collection=collections())
@quick
def test_rbp_with_a_relevance_level_is_a_share(collection):
    assert (parse_measure("RBP(rel=1)")(collection.rankings()) <= 1).all()


@given(collection=collections())
@quick
def test_lists_without_documents_score_0(collection):
    topic = min(collection.judgements)
    without = tuple({name: [] for name in lists if name != topic} for lists in collection.lists)
    rankings = Collection(collection.judgements, without, collection.intents).rankings()
    assert not rankings.present.any()
    for measure in ALL:
        if measure.definition.name not in OF_THE_TOPIC:
            assert not measure(rankings).any(), measure


@given(collection=collections(highest=0))
@quick
def test_topics_without_relevant_documents_score_0(collection):
    rankings = collection.rankings()
    for measure in ALL:
        if measure.definition.name not in OF_THE_LIST:
            assert not measure(rankings).any(), measure


@given(collection=collections(topics=1, runs=1, highest=4))
@quick
def test_perfect_lists_score_exactly_1(collection):
    topic = collection.plain_list(0, "00")
    if not topic.count_relevant():
        return
    plain = Collection(collection.judgements, collection.lists, {})
    topic = plain.plain_list(0, "00")
    for measure in measures_of("nDCG", "nERR", "Q"):
        mapping = read_map(dict(measure.parameters).get("gains"))
        if measure.definition.name == "Q" or any(topic.gain(d, mapping) for d in topic.gains):
            assert score(plain, measure, topic.ideal(mapping).ranked) == 1.0, measure
    for text in ("AP", "Rprec", "RR@1", "Bpref", "Success@1", "R@100", "Judged", "AP@100"):
        assert score(plain, parse_measure(text), topic.ideal().ranked) == 1.0, text


@given(collection=collections(topics=1, runs=1), counts=document_counts(replicates=20))
@quick
def test_replicates_of_perfect_lists_score_1_but_never_more(collection, counts):
    for measure in measures_of("nDCG", "nERR", "Q"):
        topic = collection.plain_list(0, "00")
        mapping = read_map(dict(measure.parameters).get("gains"))
        ideal = Collection(
            collection.judgements, ({"00": list(topic.ideal(mapping).ranked)},), collection.intents
        )
        scores = measure(ideal.resampled(counts))
        assert (scores <= 1).all(), measure
        possible = measure(ideal.rankings()) > 0
        drawn = parse_measure("NumRelRet")(ideal.resampled(counts)) > 0
        if not dict(measure.parameters).get("gains"):
            np.testing.assert_allclose(scores[possible & drawn], 1, rtol=0, atol=1e-12)


@given(collection=collections(topics=1, runs=1))
@quick
def test_perfect_diverse_lists_score_exactly_1(collection):
    topic = collection.plain_list(0, "00")
    for measure in measures_of("alpha_nDCG", "nERR_IA"):
        settings_ = {"alpha": 0.5, "rel": 1, **dict(measure.parameters)}
        ideal = greedy_ideal(topic, **settings_)
        if sum(novelties(topic, ideal, **settings_)) > 0:
            assert score(collection, measure, ideal) == 1.0, measure


@given(collection=collections(topics=1, runs=1))
@quick
def test_lists_by_global_gain_score_exactly_1(collection):
    topic = collection.plain_list(0, "00")

    def global_gain(document):
        served = topic.served[document]
        return sum(topic.intents[name] * served.get(name, 0) for name in topic.intents)

    best = sorted(topic.gains, key=global_gain, reverse=True)
    if global_gain(best[0]) > 0:
        for text in ("D_nDCG", "D_nDCG@1", "D_nDCG@3", "D_nDCG@100"):
            assert score(collection, parse_measure(text), best) == 1.0, text


def score(collection, measure, ranked):
    """Return the score of one list for the collection's only topic."""
    rankings = JudgedPositions(collection.qrels).rank(as_run("run", {"00": list(ranked)}))
    return measure(rankings).item()


@given(collection=collections(runs=3))
@quick
def test_other_runs_and_their_order_do_not_change_a_bit(collection):
    positions = JudgedPositions(collection.qrels)
    parts = [positions.rank(run) for run in collection.runs]
    stacked, turned = stack_rankings(parts), stack_rankings(parts[::-1])
    for measure in ALL:
        alone = np.concatenate([measure(part) for part in parts])
        np.testing.assert_array_equal(measure(stacked), alone, err_msg=str(measure))
        np.testing.assert_array_equal(measure(turned), alone[::-1], err_msg=str(measure))


@given(collection=collections(topics=3))
@quick
def test_other_topics_do_not_change_a_bit(collection):
    together = collection.rankings()
    for number, (topic, judged) in enumerate(sorted(collection.judgements.items())):
        intents = {topic: collection.intents[topic]} if topic in collection.intents else {}
        alone = Collection({topic: judged}, collection.lists, intents).rankings()
        for measure in ALL:
            np.testing.assert_array_equal(
                measure(alone)[:, 0], measure(together)[:, number], err_msg=str(measure)
            )


@given(collection=collections())
@quick
def test_a_cutoff_beyond_the_list_is_none(collection):
    rankings = collection.rankings()
    for name in ("AP", "RR", "nDCG", "ERR", "nERR", "RBP", "Q", "Judged", *GREEDY, "StRecall"):
        whole = parse_measure(name)(rankings)
        np.testing.assert_array_equal(parse_measure(f"{name}@1000000")(rankings), whole, name)


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_names_read_back(measure):
    again = parse_measure(str(measure))
    assert again == measure
    assert str(again) == str(measure)


@pytest.mark.parametrize("name", MEASURES)
def test_unknown_parameters_are_named(name):
    with pytest.raises(ConfirError, match=r"unknown parameter of .* 'colour'"):
        parse_measure(f"{name}(colour=3)@10")


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_one_sentence_about_it(name):
    assert MEASURES[name].summary
