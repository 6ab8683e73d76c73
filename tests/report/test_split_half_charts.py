"""Charts and tables of split-half validation."""

from dataclasses import replace

import numpy as np
import pytest

from chart_labels import names_of
from confir.data.simulation import simulate_collection
from confir.report.result_chart import specification as chart
from confir.studies.split_half.chart import half_means_chart
from confir.studies.split_half.split_half import validate_split_half
from confir.studies.split_half.table import split_half_table


@pytest.fixture(scope="module")
def halves():
    collection = simulate_collection(topics=12, runs=4, depth=80, rng=5)
    return validate_split_half(collection.qrels, collection.runs, replicates=40, rng=1)


def test_shares_are_percents_as_everywhere(halves):
    *rows, model = split_half_table(replace(halves, splits=halves.splits[:1])).rows
    inside = f"{100 * halves.predicted:.1f}%"
    assert [cell.text for cell in model[4:-1]][1::3] == [inside, inside]
    assert all(cell.text.endswith("%") for row in rows for cell in row[4:-1] if cell.text != "–")


def test_the_range_over_splits_is_given_with_the_mean(halves):
    row = split_half_table(halves).rows[0]
    record = halves.to_records()[0]
    low, mean, high = (100 * record[name] for name in ("inside_min", "inside", "inside_max"))
    assert row[5].text == f"{mean:.1f}% ({low:.1f} to {high:.1f})"
    assert row[4].text == f"{100 * record['below']:.1f}%"


def test_the_range_over_splits_is_drawn(halves):
    spec = chart(halves)
    values = spec["data"]["values"]
    assert all(one["lowest"] <= one["share"] <= one["highest"] for one in values)
    assert "mean and range of 8 splits" in str(spec)
    single = str(chart(replace(halves, splits=halves.splits[:1])))
    assert "splits" not in single
    assert len(spec["spec"]["layer"]) == 3


def test_means_stand_worst_first_and_unknown_ones_last(halves):
    split = halves.splits[0]
    first = split.means[0]
    mean = first.mean.copy()
    mean[:, 0] = np.array([0.3, np.nan, 0.1, 0.2])[:, None]
    changed = replace(split, means=(replace(first, mean=mean), split.means[1]))
    panel = half_means_chart(changed)["concat"][0]["layer"][0]
    runs = halves.runs
    assert names_of(panel["encoding"]["x"]) == [runs[2], runs[3], runs[0], runs[1]]
