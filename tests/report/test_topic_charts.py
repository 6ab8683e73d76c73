"""Charts of topics show the scores themselves."""

import numpy as np
import pytest

from chart_labels import data_of
from confir.data.scores import Scores
from confir.errors import UnknownNameError
from confir.report.result_chart import specification as chart
from confir.studies.topic_difficulty.chart import topic_score_chart
from confir.studies.topic_difficulty.topic_difficulty import describe_topics


def table(topics: int) -> Scores:
    values = np.random.default_rng(3).random((topics, 3, 2))
    values[0, 1, 0] = np.nan
    names = tuple(f"t{t:03d}" for t in range(topics))
    return Scores(names, ("one", "two", "three"), ("AP", "RR"), values)


def data(drawing):
    """The only dataset of a chart."""
    (records,) = data_of(drawing)
    return records


def test_the_chart_of_scores_holds_the_first_run_with_the_records_of_all():
    scores = table(20)
    topics = describe_topics(scores)
    records = data(chart(scores))
    wanted = [r for r in topics.to_records() if r["measure"] == "AP"]
    for key in ("topic", "runs", "lowest", "median", "highest"):
        assert [record[key] for record in records] == [record[key] for record in wanted]
    assert [scores.topics[r["topic_number"]] for r in records] == [r["topic"] for r in wanted]
    for record in records:
        place = scores.topics.index(record["topic"])
        assert record["score"] == scores.values[place, 0, 0]


def test_another_run_and_measure_may_be_chosen():
    scores = table(20)
    records = data(topic_score_chart(describe_topics(scores), run="three", measure="RR"))
    by_topic = {r["topic"]: r["score"] for r in records}
    assert by_topic == dict(zip(scores.topics, scores.values[:, 2, 1].tolist(), strict=True))


def test_a_missing_score_is_nothing_and_not_a_number_that_breaks_the_chart():
    records = data(topic_score_chart(describe_topics(table(20)), run="two"))
    assert {r["topic"]: r["score"] for r in records}["t000"] is None


def test_topics_are_labelled_where_there_is_room():
    few, many = (chart(table(n)) for n in (30, 121))
    axis = [drawing["layer"][0]["encoding"]["x"]["axis"]["labels"] for drawing in (few, many)]
    assert axis == [True, False]
    assert few["width"] == {"step": 12}
    assert many["width"] == 900


@pytest.mark.parametrize("wrong", [{"run": "four"}, {"measure": "nDCG"}])
def test_an_unknown_run_or_measure_is_named(wrong):
    with pytest.raises(UnknownNameError, match=next(iter(wrong.values()))):
        topic_score_chart(describe_topics(table(5)), **wrong)


def test_records_come_hardest_topic_first():
    topics = describe_topics(table(20))
    medians = [r["median"] for r in data(topic_score_chart(topics, "one", "AP"))]
    assert medians == sorted(medians)
