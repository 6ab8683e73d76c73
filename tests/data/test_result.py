"""Results with named axes: records, columns, frames, and a choice of labels."""

import dataclasses
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from confir.data.result import Result, Variable, axis, constant, over, result
from confir.errors import FormatError, UnknownNameError


@result
class Grid(Result):
    runs: tuple[str, ...] = axis("run")
    measures: tuple[str, ...] = axis("measure")
    methods: tuple[str, ...] = axis("method")
    mean: np.ndarray = over("run", "measure")
    low: np.ndarray = over("method", "run", "measure", column="lower")
    words: tuple[str, ...] = over("run")
    secret: np.ndarray = over("measure")
    level: float = constant()

    record_columns = ("run", "measure", "method", "mean", "lower", "words", "level", "half")

    def derived(self):
        yield Variable("half", ("run", "measure"), self.mean / 2)


def grid():
    mean = np.arange(6.0).reshape(2, 3)
    return Grid(
        ("a", "b"),
        ("AP", "RR", "P@10"),
        ("t", "bca"),
        mean,
        np.stack([mean - 1, mean - 2]),
        ("good", "bad"),
        np.array([7, 8, 9]),
        0.9,
    )


def test_records_have_one_row_per_combination_of_labels_the_first_axis_slowest():
    records = grid().to_records()
    assert len(records) == 12
    expected = [(r, m, k) for r in "ab" for m in ("AP", "RR", "P@10") for k in ("t", "bca")]
    assert [(e["run"], e["measure"], e["method"]) for e in records] == expected
    assert records[-1] == {
        "run": "b",
        "measure": "P@10",
        "method": "bca",
        "mean": 5.0,
        "lower": 3.0,
        "words": "bad",
        "level": 0.9,
        "half": 2.5,
    }


def test_values_are_those_of_the_arrays_at_the_labels():
    found = grid()
    for record in found.to_records():
        r, m = found.runs.index(record["run"]), found.measures.index(record["measure"])
        k = found.methods.index(record["method"])
        assert record["mean"] == found.mean[r, m]
        assert record["lower"] == found.low[k, r, m]


def test_columns_and_frames_hold_the_records():
    found = grid()
    columns = found.to_dict()
    records = found.to_records()
    assert {name: [record[name] for record in records] for name in columns} == columns
    assert found.to_frame("pandas").to_dict("records") == records
    assert found.to_arrow().to_pylist() == records


def test_numbers_of_records_are_plain_python():
    kinds = {type(value) for record in grid().to_records() for value in record.values()}
    assert kinds == {str, float}


def test_a_choice_of_labels_keeps_their_numbers_in_the_order_given():
    chosen = grid().select(run="b", measure=["P@10", "AP"])
    assert chosen.runs == ("b",)
    assert chosen.measures == ("P@10", "AP")
    assert chosen.mean.tolist() == [[5.0, 3.0]]
    assert chosen.low.tolist() == [[[4.0, 2.0]], [[3.0, 1.0]]]
    assert chosen.words == ("bad",)
    assert chosen.secret.tolist() == [9, 7]


def test_unknown_axes_and_labels_are_named():
    with pytest.raises(UnknownNameError, match="colour"):
        grid().select(colour="red")
    with pytest.raises(UnknownNameError, match="'c'"):
        grid().select(run="c")


def test_arrays_that_do_not_fit_their_axes_are_refused():
    with pytest.raises(FormatError, match="mean has shape"):
        Grid(
            ("a",),
            ("AP", "RR"),
            ("t",),
            np.zeros((2, 2)),
            np.zeros((1, 1, 2)),
            ("x",),
            np.zeros(2),
            0.9,
        )


class Ends(NamedTuple):
    low: np.ndarray
    high: np.ndarray


@result
class Inner(Result):
    runs: tuple[str, ...] = axis("run")
    methods: tuple[str, ...] = axis("method")
    mean: np.ndarray = over("run", "method")


@result
class Outer(Result):
    pairs: tuple[tuple[str, str], ...] = axis("pair")
    runs: tuple[str, ...] = axis("run")
    methods: tuple[str, ...] = axis("method")
    difference: np.ndarray = over("pair", flat=True)
    ends: Ends = over("run")
    curve: np.ndarray = over("", "run")
    mean: float | None = over("run", default=None)
    inner: tuple[Inner, ...] = ()
    total: float = constant(default=0.5)

    label_parts: ClassVar = {"pair": ("first", "second")}
    record_columns = ("second", "first", "mean", "difference", "total")
    row_order = ("pair",)

    def derived(self):
        yield Variable("total", ("pair",), 2 * self.difference.reshape(-1))


def outer(shape=(2, 2)):
    return Outer(
        pairs=(("a", "b"), ("a", "c"), ("b", "c"), ("c", "a")),
        runs=("a", "b", "c"),
        methods=("t",),
        difference=np.arange(4.0).reshape(shape),
        ends=Ends(np.array([1, 2, 3]), np.array([4, 5, 6])),
        curve=np.arange(6).reshape(2, 3),
        inner=(Inner(("a", "b", "c"), ("x", "y"), np.arange(6).reshape(3, 2)),) * 2,
    )


def test_parts_of_labels_are_columns_and_derived_ones_replace_fields():
    assert outer().to_records()[1] == {"second": "c", "first": "a", "difference": 1.0, "total": 2.0}


def test_columns_that_a_result_lacks_are_left_out():
    assert list(outer().to_dict()) == ["second", "first", "difference", "total"]


def test_a_part_selects_the_labels_that_have_it_in_their_own_order():
    assert outer().select(second=["c", "b"]).pairs == (("a", "b"), ("a", "c"), ("b", "c"))
    assert outer().select(second="c", first="b").difference.tolist() == [2.0]
    assert outer().select(pair=("c", "a")).difference.tolist() == [3.0]
    assert outer().select(pair=[("c", "a"), ("a", "b")]).difference.tolist() == [3.0, 0.0]


def test_an_array_of_any_shape_may_hold_an_axis_but_not_of_any_size():
    assert outer((4,)).to_dict() == outer((2, 2)).to_dict()
    with pytest.raises(FormatError, match="difference has shape"):
        dataclasses.replace(outer(), difference=np.arange(3.0))


def test_results_held_by_a_result_are_selected_along_where_they_have_the_labels():
    chosen = outer().select(run=["c", "a"], method="t")
    assert [inner.runs for inner in chosen.inner] == [("c", "a")] * 2
    assert chosen.inner[0].mean.tolist() == [[4, 5], [0, 1]]
    assert chosen.inner[0].methods == ("x", "y")


def test_named_tuples_of_arrays_and_dimensions_without_a_name_are_selected():
    chosen = outer().select(run="b")
    assert (chosen.ends.low.tolist(), chosen.ends.high.tolist()) == ([2], [5])
    assert chosen.curve.tolist() == [[1], [4]]


def test_a_set_of_labels_keeps_their_order():
    assert outer().select(run={"c", "a"}).runs == ("a", "c")


def test_a_label_that_cannot_be_one_is_an_unknown_name():
    with pytest.raises(UnknownNameError, match="unknown run"):
        grid().select(run=[["a"]])
    with pytest.raises(UnknownNameError, match="unknown run 'None'"):
        grid().select(run=None)


def test_a_result_that_no_table_shows_has_its_text_in_notebooks():
    assert grid()._repr_html_() is None


def test_text_is_short():
    assert repr(grid()) == "Grid(run: 2, measure: 3, method: 2, level=0.9)"


def test_nothing_can_be_changed():
    with pytest.raises(AttributeError):
        grid().level = 0.5
