"""Labelled arrays of xarray as scores, and results as datasets."""

import numpy as np
import pytest

import confir
from confir.errors import FormatError
from contracts.test_results import make_results

xr = pytest.importorskip("xarray")
VALUES = np.random.default_rng(5).random((4, 3, 2))
TOPICS, RUNS, MEASURES = ["02", "01", "10", "9"], ["a", "b", "constructor"], ["AP", "P@10"]


def array(values=VALUES, dims=("topic", "run", "measure")):
    coordinates = {"topic": TOPICS, "run": RUNS, "measure": MEASURES}
    return xr.DataArray(values, {dim: coordinates[dim] for dim in dims}, dims)


def test_an_array_holds_the_scores_of_its_labels_in_any_order_of_dimensions():
    expected = confir.as_scores(
        {
            run: {
                m: dict(zip(TOPICS, VALUES[:, r, k], strict=True)) for k, m in enumerate(MEASURES)
            }
            for r, run in enumerate(RUNS)
        }
    )
    for source in (array(), array().transpose("run", "measure", "topic")):
        found = confir.as_scores(source)
        assert (found.topics, found.runs) == (expected.topics, expected.runs)
        np.testing.assert_array_equal(found.values, expected.values)


def test_variables_of_a_dataset_are_measures_and_the_name_of_an_array_its_measure():
    every = confir.as_scores(array().to_dataset("measure"))
    assert every.measures == ("AP", "P@10")
    one = confir.as_scores(array(VALUES[:, :, 0], ("topic", "run")).rename("AP"))
    np.testing.assert_array_equal(one.values, every.select(measure="AP").values)


def test_verbs_take_an_array():
    found = confir.compare_runs(array(), baseline="a", replicates=99)
    np.testing.assert_allclose(
        found.difference, (VALUES[:, 1:] - VALUES[:, :1]).mean(axis=0), atol=1e-15
    )


def test_dimensions_without_names_or_of_other_names_are_refused():
    with pytest.raises(FormatError, match="dimensions query, run; expected topic, run and measure"):
        confir.as_scores(xr.DataArray(VALUES[:, :, 0], dims=("query", "run")))
    with pytest.raises(FormatError, match="no names along topic"):
        confir.as_scores(xr.DataArray(VALUES[:, :, 0], {"run": RUNS}, ("topic", "run")))


@pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")
def test_every_result_is_a_dataset_of_its_records():
    for result in make_results():
        dataset = result.to_xarray()
        columns = result.to_dict()
        assert {*dataset.data_vars, *dataset.coords} - {"record"} == {*columns}, type(result)


def test_a_dataset_has_the_numbers_of_the_result_by_label():
    interval = confir.confidence_interval(array())
    dataset = interval.to_xarray()
    for record in interval.to_records():
        found = dataset["mean"].sel(run=record["run"], measure=record["measure"])
        assert float(found) == record["mean"]
