"""Commands print what Python returns for the same input and the default seed."""

import json

import numpy as np
import pytest

import confir

WORDS = ("--quiet", "--method", "t")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("topic,a_1,b\n1,0.25,0.5\n2,0.375,0.25\n3,0.5,0.625\n4,0.125,0.5\n")
    return path


def test_print_shows_what_the_command_prints(confir_command, table):
    code, out, _ = confir_command("evaluate", "--scores", table, *WORDS)
    assert code == 0
    assert f"{confir.confidence_interval(table, method='t')}\n" == out


@pytest.mark.parametrize("options", [{}, {"decimals": 2}])
def test_markdown_is_that_of_the_command(confir_command, table, options):
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    _, out, _ = confir_command("evaluate", "--scores", table, *WORDS, "--format", "md", *words)
    assert confir.confidence_interval(table, method="t").to_markdown(**options) == out


@pytest.mark.parametrize(
    "options", [{}, {"width": "column", "intervals": "stacked", "decimals": 2}, {"width": "page"}]
)
def test_latex_is_that_of_the_command(confir_command, table, options):
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    _, out, _ = confir_command("evaluate", "--scores", table, *WORDS, "--format", "tex", *words)
    assert confir.confidence_interval(table, method="t").to_latex(**options) == out


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """A table of 12 topics and 3 runs, as a file."""
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    values = np.random.default_rng(3).random((12, 3)).round(3).tolist()
    rows = [f"{topic},{','.join(map(str, row))}" for topic, row in enumerate(values)]
    path.write_text("\n".join(["topic,a,b,c", *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("words", "verb", "given"),
    [
        ("evaluate --method percentile", confir.confidence_interval, {"method": "percentile"}),
        ("compare", confir.find_best, {}),
        ("compare --show ranks", confir.rank_runs, {}),
        ("compare --baseline a", confir.compare_runs, {"baseline": "a"}),
        ("bias-variance", confir.decompose_error, {}),
        ("components", confir.decompose_scores, {}),
        ("coverage --samples 20", confir.estimate_coverage, {"samples": 20}),
        (
            "type-one --topics 5 --samples 20",
            confir.estimate_type_one_error,
            {"topics": 5, "samples": 20},
        ),
        ("measures --power", confir.compare_measures, {}),
    ],
)
def test_numbers_are_those_of_the_command(confir_command, scores, words, verb, given):
    shown = ("--scores", scores, "--format", "json", "--quiet")
    code, out, err = confir_command(*words.split(), *shown)
    assert code == 0, err
    expected = verb(confir.read_scores(scores), **given).to_records()
    found = json.loads(out)
    assert len(found) == len(expected)
    for own, other in zip(found, expected, strict=True):
        common = own.keys() & other.keys()
        assert len(common) > 2
        assert {key: own[key] for key in common} == {key: other[key] for key in common}
