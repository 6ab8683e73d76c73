"""Charts and tables of other collections: shares sum to 1, and the best run is first."""

from dataclasses import replace

import numpy as np
import pytest

from chart_labels import names_of, records_of
from confir.data.simulation import simulate_collection
from confir.report.result_chart import specification as chart
from confir.report.result_table import result_table
from confir.resampling.document_bootstrap import resample_documents
from confir.studies.collection.chart import collection_variance_chart
from confir.studies.collection.collection_differences import compare_on_collection
from confir.studies.collection.collection_means import decompose_variance, summarise_means
from confir.studies.collection.collection_topics import summarise_topics
from confir.studies.collection.table import (
    collection_table,
    collection_variance_table,
)


@pytest.fixture(scope="module")
def sample():
    collection = simulate_collection(topics=12, runs=4, depth=80, rng=5)
    return resample_documents(collection.qrels, collection.runs, "AP", replicates=60, rng=3)


@pytest.fixture(scope="module")
def means(sample):
    return summarise_means(sample, summaries=("mean",), methods=("bootstrap", "parametric"))


def rows_of(drawing, layer):
    """The order of the rows of a chart's panels."""
    return names_of(drawing["spec"]["layer"][layer]["encoding"]["y"])


def test_shares_of_variance_sum_to_100_percent(sample):
    variance = decompose_variance(sample, summaries=("mean",))
    for r, row in enumerate(collection_variance_table(variance).rows):
        shares = [float(cell.text.removesuffix("%")) for cell in row[2:5]]
        assert sum(shares) == pytest.approx(100, abs=0.16)
        parts = [variance.topics, variance.documents, variance.interaction]
        total = sum(part[r, 0, 0] for part in parts)
        assert shares[0] == pytest.approx(100 * parts[0][r, 0, 0] / total, abs=0.051)
        assert row[5].text == f"{np.sqrt(total):.4f}"


def test_a_mean_that_does_not_vary_has_no_shares(sample):
    variance = decompose_variance(sample, summaries=("mean",))
    still = replace(
        variance,
        **dict.fromkeys(("topics", "documents", "interaction", "total"), np.zeros((4, 1, 1))),
    )
    assert [cell.text for cell in collection_variance_table(still).rows[0][2:5]] == ["–"] * 3


def test_runs_stand_in_the_order_asked_for(sample):
    variance = decompose_variance(sample, baseline=sample.runs[0])
    order = (sample.runs[3], sample.runs[0], sample.runs[1], sample.runs[2])
    rows = collection_variance_table(variance, "a note", order=order).rows
    others = [run for run in order if run != sample.runs[0]]
    assert [row[0].text for row in rows] == [run for run in others for _ in range(2)]
    sort = names_of(collection_variance_chart(variance, order)["spec"]["encoding"]["y"])
    assert tuple(sort) == order


def test_runs_of_the_same_mean_both_stand_out_and_one_without_a_mean_is_last(means):
    mean = means.mean.copy()
    mean[:, 0, 0] = [np.nan, 0.6 / 3, 0.1, (0.1 + 0.2 + 0.3) / 3]
    changed = replace(means, mean=mean)
    rows = collection_table(changed).rows
    order = [means.runs[place] for place in (3, 1, 2, 0)]
    assert [row[0].text for row in rows] == [run for run in order for _ in range(2)]
    assert [row[2].strong for row in rows] == [True] * 4 + [False] * 4
    assert rows_of(chart(changed), 0) == order


def test_differences_stand_best_first_and_unknown_ones_last(sample):
    found = compare_on_collection(sample, sample.runs[0])
    difference = found.difference.copy()
    difference[:, :, 0] = [np.nan, 0.1, 0.2]
    low = np.where(np.isnan(difference), np.nan, found.low)
    changed = replace(found, difference=difference, low=low)
    drawing = chart(changed)
    assert rows_of(drawing, 1) == [sample.runs[place] for place in (3, 2, 1)]
    blank = [record for record in records_of(drawing) if record["run"] == sample.runs[1]]
    assert {(record["difference"], record["low"]) for record in blank} == {(None, None)}
    texts = [row for row in result_table(changed).rows if row[0].text == sample.runs[1]]
    assert {row[-3].text for row in texts} == {"–"}


def test_limits_that_are_not_known_are_null(sample, means):
    blank = replace(means, low=np.full_like(means.low, np.nan))
    assert {record["low"] for record in records_of(chart(blank))} == {None}
    topics = summarise_topics(sample)
    blank = replace(topics, low=np.full_like(topics.low, np.nan))
    assert {record["low"] for record in records_of(chart(blank))} == {None}


def test_small_p_values_read_as_in_other_comparisons(sample):
    found = compare_on_collection(sample, sample.runs[0])
    tiny = replace(found, p_adjusted=np.full_like(found.p_adjusted, 1.4e-4))
    assert {row[-2].text for row in result_table(tiny).rows} == {"0.0001"}
    assert {record["p_text"] for record in records_of(chart(tiny))} == {"0.0001"}
    none = replace(found, p_adjusted=np.full_like(found.p_adjusted, 1e-9))
    assert {row[-2].text for row in result_table(none).rows} == {"<0.0001"}
    assert {record["p_text"] for record in records_of(chart(none))} == {"<0.0001"}


def test_titles_count_one_topic(means):
    alone = replace(means, topics=np.ones_like(means.topics))
    title = chart(alone)["title"]
    assert title == "Means over 1 topic, on similar collections of documents"
