"""Names of measures, parsed, and scores of measures bounded by [0, 1]."""

import dataclasses

import numpy as np
import pytest

from confir.data.scores import Scores
from confir.errors import FormatError, InputWarning
from confir.measures.parsing import (
    assumed_bounded,
    bounded_measures,
    definition_bound,
)


def scores_of(values, measures=("AP",), **options):
    values = np.asarray(values, float).reshape(len(values), -1, len(measures))
    runs = tuple("abcd"[: values.shape[1]])
    return Scores(tuple(map(str, range(len(values)))), runs, measures, values, **options)


@pytest.mark.parametrize(
    ("name", "bounded"),
    [
        ("AP", True),
        ("nDCG@10", True),
        ("RBP", False),
        ("RBP(p=0.5)", False),
        ("RBP(p=0.5,gains='1:0.5,2:1')", False),
        ("RBP(rel=1)", True),
        ("RBP(rel=2)@20", True),
        ("NumRel", False),
        ("a measure of one's own", None),
    ],
)
def test_a_measure_is_bounded_by_its_definition(name, bounded):
    assert definition_bound(name) is bounded
    for highest in (0.9, 1.3):
        scores = scores_of([0.2, highest, np.nan], (name,))
        assert bounded_measures(scores).tolist() == [
            bounded if bounded is not None else highest < 1
        ]


def test_all_scores_of_the_table_decide_on_an_unknown_measure():
    table = scores_of([[0.2, 1.3], [0.4, 0.5]], ("mine",))
    assert not bounded_measures(table.select(run=["a"]))[0]
    assert assumed_bounded(table.select(run=["a"])) == ()
    inside = scores_of([[0.2, 0.3, 7.0], [0.4, 0.5, 9.0]], ("mine", "AP", "yours"))
    assert assumed_bounded(inside) == ("mine",)
    assert assumed_bounded(inside.select(measure=["yours", "mine"])) == ("mine",)
    scaled = dataclasses.replace(inside, values=100 * inside.values)
    assert assumed_bounded(scaled) == ()


def test_what_is_stated_decides_on_unknown_measures_alone():
    values = [[0.2, 0.3, 0.0], [0.4, 0.5, 9.0]]
    stated = scores_of(values, ("mine", "AP", "NumRet"), bounded=False)
    assert bounded_measures(stated).tolist() == [False, True, False]
    assert assumed_bounded(stated) == ()
    assert bounded_measures(stated.select(measure=["mine"])).tolist() == [False]
    stated = scores_of([[0.2], [1.4]], ("mine",), bounded=True)
    with pytest.raises(FormatError, match=r"mine of run 'a' on topic '1' is 1.4; .* in \[0, 1\]"):
        stated.clipped(bounded_measures)


@pytest.mark.parametrize(("score", "clipped"), [(1.0000001, 1.0), (-0.0000009, 0.0)])
@pytest.mark.parametrize("measure", ["AP", "mine"])
def test_scores_outside_by_rounding_are_clipped_with_a_warning(score, clipped, measure):
    table = scores_of([[0.2, score], [0.4, 0.3]], (measure,))
    with pytest.warns(InputWarning, match="a score outside .* clipped: .* 'b' on topic '0'"):
        found = table.clipped(bounded_measures)
    assert found.values[:, :, 0].tolist() == [[0.2, clipped], [0.4, 0.3]]
    assert table.values[0, 1, 0] == score


def test_scores_outside_by_a_rounding_of_doubles_are_clipped_in_silence():
    found = scores_of([[0.2, np.nextafter(1.0, 2.0)], [0.4, np.nan]]).clipped(bounded_measures)
    assert found.values[0, 1, 0] == 1.0
    assert np.isnan(found.values[1, 1, 0])


@pytest.mark.parametrize("score", [1.000002, -0.000002, 56.3])
def test_scores_further_outside_are_an_error(score):
    with pytest.raises(FormatError, match=r"AP of run 'b' on topic '0' is .*expected a score in"):
        scores_of([[0.2, score], [0.4, 0.3]]).clipped(bounded_measures)


def test_scores_of_an_unbounded_measure_stay_as_they_are():
    table = scores_of([[0.2, 1.0000001], [3.0, -2.0]], ("NumRet",))
    assert table.clipped(bounded_measures) is table
