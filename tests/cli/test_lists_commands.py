"""The lists of measures and methods are complete."""

import json

import pytest

import confir
from confir.intervals.method_list import methods_over


def test_every_measure_is_listed(confir_command):
    measures = json.loads(confir_command("measures", "--format", "json").out)
    assert [record["measure"] for record in measures] == list(confir.MEASURES)
    assert all(record["summary"] for record in measures)


def test_every_method_is_listed_with_what_it_resamples(confir_command):
    methods = json.loads(confir_command("methods", "--format", "json").out)
    expected = [(name, "topics") for name in methods_over("topics")]
    expected += [(name, "documents") for name in methods_over("documents")]
    assert [(record["method"], record["over"]) for record in methods] == expected
    assert all(record["assumes"] and record["fails"] for record in methods)


def test_the_table_of_methods_says_which_are_the_defaults(confir_command):
    lines = confir_command("methods").out.splitlines()
    assert lines[0].split()[:3] == ["method", "over", "for"]
    assert lines[-1].endswith("over documents, in confir collection --show topics: logit")


@pytest.mark.parametrize("command", ["measures", "methods"])
def test_there_is_no_chart_of_a_list(confir_command, tmp_path, command):
    outcome = confir_command(command, "-o", tmp_path / "list.svg")
    assert outcome.code == 2
    assert "list.svg: there is no chart of a list; expected one of .csv, .tsv" in outcome.err
