"""Parameters of runs, listed or read from names."""

import pytest

from confir.errors import InvalidValueError
from confir.studies.bias_variance.parameter_sweep import read_sweeps

RUNS = ("base", "rm3-0.5", "rm3-0.1", "rm3-1e-2", "rm3-x")


def test_listed_values_belong_to_the_runs_in_order():
    (sweep,) = read_sweeps(["lambda=,0.5, 0.1,.01,"], RUNS)
    assert sweep.parameter == "lambda"
    assert list(sweep.values.items()) == [("rm3-1e-2", 0.01), ("rm3-0.1", 0.1), ("rm3-0.5", 0.5)]


def test_a_pattern_reads_values_from_names():
    (sweep,) = read_sweeps(["λ=rm3-{}"], RUNS)
    assert list(sweep.values.items()) == [("rm3-1e-2", 0.01), ("rm3-0.1", 0.1), ("rm3-0.5", 0.5)]


def test_signs_of_regular_expressions_are_literal():
    (sweep,) = read_sweeps(["k=a.b({})"], ("a.b(1)", "a.b(2)", "axb(3)"))
    assert list(sweep.values) == ["a.b(1)", "a.b(2)"]


def test_negative_values_are_values():
    (sweep,) = read_sweeps(["k=r{}"], ("r-1", "r+2"))
    assert list(sweep.values.values()) == [-1, 2]


def test_several_sweeps_stand_side_by_side():
    sweeps = read_sweeps(["a=x{}", "b=y{}"], ("x1", "x2", "y1", "y2"))
    assert [sweep.parameter for sweep in sweeps] == ["a", "b"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["lambda"], "is not a parameter"),
        (["=1,2"], "is not a parameter"),
        (["lambda="], "is not a parameter"),
        (["lambda=1,2"], "2 values for 5 runs"),
        (["lambda=1,2,3,4,five"], "'five' is not a number"),
        (["lambda=1,2,3,4,nan"], "'nan' is not a number"),
        (["lambda=bm25-{}"], "gives a value to 0 of 5 runs"),
        (["lambda=1,,,,"], "gives a value to 1 of 5 runs"),
        (["lambda={}-{}"], "more than once"),
        (["a=rm3-{}", "b=1,2,3,4,5"], "both 'a' and 'b'"),
    ],
)
def test_descriptions_without_sense_are_named(texts, message):
    with pytest.raises(InvalidValueError, match=message):
        read_sweeps(texts, RUNS)
