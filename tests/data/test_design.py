"""Designs of topics: what tables declare, and what is rejected."""

from __future__ import annotations

import numpy as np
import pytest

import confir
from confir.data.sampling_designs.design import Design
from confir.data.scores import Scores
from confir.errors import (
    FormatError,
    InvalidValueError,
    TopicMismatchError,
    UnknownNameError,
    UnsupportedMethodError,
)
from requirements import required
from samples import short_sample

TOPICS = ("1", "2", "3", "4", "<script>", "constructor")


def make_scores(values: object = None) -> Scores:
    """Return scores of two runs by one measure on six topics."""
    rng = np.random.default_rng(5)
    given = rng.random((6, 2, 1)) if values is None else np.asarray(values)
    return Scores(TOPICS, ("a", "b"), ("AP",), given)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "topics.csv"
    rows = ["9,x,1", *(f"{topic},{'xyz'[i // 2]},{i + 1}" for i, topic in enumerate(TOPICS))]
    path.write_text("topic,conversation,traffic\n" + "\n".join(rows) + "\n")
    return path


def test_design_is_read_from_named_columns_in_the_order_of_the_scores(table):
    scores = make_scores().with_design(table, cluster="conversation", weight="traffic")
    assert scores.design.topics == TOPICS
    assert scores.design.cluster == ("x", "x", "y", "y", "z", "z")
    assert scores.design.weight.tolist() == [1, 2, 3, 4, 5, 6]


def test_frames_dicts_and_files_give_the_same_design(table):
    pandas = required("pandas")
    columns = {"topic": list(TOPICS), "cluster": list("xxyyzz")}
    from_dict = make_scores().with_design(columns)
    by_topic = make_scores().with_design(dict(zip(TOPICS, "xxyyzz", strict=True)))
    from_frame = make_scores().with_design(pandas.DataFrame(columns))
    from_file = make_scores().with_design(table, cluster="conversation")
    for other in (by_topic, from_frame, from_file):
        assert other.design.cluster == from_dict.design.cluster


def test_weighted_mean_by_hand():
    scores = make_scores().with_design({"topic": TOPICS, "weight": [1, 2, 3, 4, 5, 6]})
    expected = np.average(scores.values, axis=0, weights=[1, 2, 3, 4, 5, 6])
    np.testing.assert_allclose(scores.mean(), expected, rtol=1e-14)


def test_strata_keep_their_share_where_a_score_is_missing():
    values = make_scores().values.copy()
    values[0, 0, 0] = np.nan
    scores = make_scores(values).with_design({"topic": TOPICS, "stratum": list("xxxxyy")})
    first = np.nanmean(values[:4, 0, 0]) * 4 / 6 + values[4:, 0, 0].mean() * 2 / 6
    assert scores.mean()[0, 0] == pytest.approx(first, rel=1e-14)


def test_datasets_count_alike_whatever_their_size():
    scores = make_scores().with_design({"topic": TOPICS, "dataset": list("xxxxyy")})
    parts = [scores.values[:4].mean(axis=0), scores.values[4:].mean(axis=0)]
    np.testing.assert_allclose(scores.mean(), np.mean(parts, axis=0), rtol=1e-14)


def test_simple_design_is_none_at_all():
    columns = {
        "topic": TOPICS,
        "cluster": list("abcdef"),
        "weight": [2.5] * 6,
        "stratum": ["s"] * 6,
    }
    assert make_scores().with_design(columns).design is None


def test_selected_topics_keep_their_part_of_the_design():
    scores = make_scores().with_design(dict(zip(TOPICS, "xxyyzz", strict=True)))
    chosen = scores.select(topic=["2", "3", "4"])
    assert chosen.design.cluster == ("x", "y", "y")


def test_lists_make_a_design_as_tuples_and_arrays_do():
    values = make_scores()
    lists = Design(list(TOPICS), cluster=list("xxyyzz"), weight=[1.0, 2.0, 1.0, 1.0, 1.0, 3.0])
    table = {"topic": TOPICS, "cluster": list("xxyyzz"), "weight": [1.0, 2.0, 1.0, 1.0, 1.0, 3.0]}
    np.testing.assert_array_equal(
        values.with_design(lists).mean(), values.with_design(table).mean()
    )
    with pytest.raises(InvalidValueError, match="weight is 'heavy'; expected an array of numbers"):
        Design(TOPICS, weight="heavy")
    with pytest.raises(FormatError, match=r"weight has shape \(2,\); expected \(6,\): topic"):
        Design(TOPICS, weight=[1.0, 2.0])


def test_design_in_words():
    design = Design(TOPICS, cluster=tuple("xxyyzz"), weight=np.ones(6))
    assert design.describe() == "6 topics in 3 clusters, weighted"
    inside = Design(TOPICS, dataset=tuple("ppqqqq"), cluster=tuple("xyxyxy"))
    assert inside.describe().startswith("6 topics in 4 clusters in 2 datasets")
    random = Design(TOPICS, dataset=tuple("xxyyzz"), datasets="random")
    assert random.describe().endswith("about datasets like these")


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [
        ({"topic": TOPICS[:5], "cluster": list("xxyyz")}, TopicMismatchError, "constructor"),
        ({"topic": [*TOPICS, "1"], "cluster": list("xxyyzzx")}, FormatError, "second row"),
        ({"topic": TOPICS, "other": list("xxyyzz")}, FormatError, "nothing about the topics"),
        ({"topic": TOPICS, "weight": [1, 1, 1, 1, 1, 0]}, FormatError, "above 0"),
        ({"topic": TOPICS, "weight": [1, 1, 1, 1, 1, None]}, FormatError, "constructor"),
        ({"topic": TOPICS, "cluster": ["x", "", "y", "y", "z", "z"]}, FormatError, "not an id"),
        ({"topic": TOPICS, "cluster": ["x"]}, FormatError, "different lengths"),
        (
            {"topic": TOPICS, "cluster": list("xxyyzz"), "stratum": list("ababab")},
            FormatError,
            "cluster 'x' lies in strata 'a' and 'b'",
        ),
        ({}, FormatError, "a table without rows"),
        (17, InvalidValueError, "design is 17"),
    ],
)
def test_bad_designs_are_refused(source, error, said):
    with pytest.raises(error, match=said):
        make_scores().with_design(source)


def test_truncated_and_empty_files_are_refused(tmp_path):
    for name, content in (
        ("empty.csv", ""),
        ("cut.csv", "topic,cluster\n1,x\n2"),
        ("head.csv", "topic,cluster\n"),
    ):
        path = tmp_path / name
        path.write_text(content)
        with pytest.raises((FormatError, TopicMismatchError)):
            make_scores().with_design(path)


def test_unknown_columns_are_named_with_the_known_ones(table):
    with pytest.raises(UnknownNameError, match="conversation"):
        make_scores().with_design(table, cluster="conversatoin")
    with pytest.raises(UnknownNameError, match="column of a design"):
        make_scores().with_design(table, group="conversation")
    with pytest.raises(UnknownNameError):
        make_scores().with_design(table, cluster="conversation", datasets="some")


def test_columns_need_a_design():
    sample = short_sample()
    with pytest.raises(InvalidValueError, match="requires a design of the topics"):
        confir.evaluate(sample.qrels, sample.runs, "AP", cluster="conversation")


def test_evaluate_takes_a_design_and_an_experiment_has_its_own():
    sample = short_sample()
    groups = {topic: str(place // 5) for place, topic in enumerate(sample.qrels.topics)}
    scores = confir.evaluate(sample.qrels, sample.runs[:3:2], "AP", design=groups)
    assert len(set(scores.design.cluster)) == 10
    experiment = confir.Experiment(sample.qrels, sample.runs[:3:2], "AP", design=groups)
    np.testing.assert_array_equal(confir.as_scores(experiment).mean(), scores.mean())


@pytest.mark.parametrize(
    "verb",
    [
        lambda e: confir.resample_documents(e, replicates=2),
        confir.validate_split_half,
        lambda e: confir.decompose_error(confir.as_scores(e)),
        lambda e: confir.estimate_type_one_error(confir.as_scores(e), topics=5, samples=2),
        lambda e: confir.simulate_scores(confir.as_scores(e), topics=5),
        lambda e: confir.compare_with_chance(e, documents=1000),
    ],
)
def test_studies_of_simple_samples_refuse_a_design(verb):
    sample = short_sample()
    groups = {topic: str(place // 5) for place, topic in enumerate(sample.qrels.topics)}
    experiment = confir.Experiment(sample.qrels, sample.runs[:3:2], "AP", design=groups)
    with pytest.raises(UnsupportedMethodError, match=r"expected (no design|plain scores)"):
        verb(experiment)
