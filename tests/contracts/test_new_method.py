"""A new interval method: one module and one line in METHODS, from which everything else finds it."""

import json
from pathlib import Path

import click
import numpy as np
import pytest

import confir
from confir.cli.lists import methods_command
from confir.cli.output import Output
from confir.data.scores import Scores
from confir.intervals.interval import Limits
from confir.intervals.method import Method, Use
from confir.intervals.method_list import METHODS
from confir.resampling.document_bootstrap import bootstrap_documents
from confir.studies.split_half.split_half import validate_split_half
from samples import short_sample

DOCS = Path(__file__).resolve().parents[2] / "docs"


def toy_interval(distribution, level):
    """``m ± level``, whatever the scores: a width that nothing else has."""
    return Limits(distribution.estimate - level, distribution.estimate + level)


def printing(kind):
    """The output options of a command with --format."""
    return Output(click.Context(click.Command("methods")), kind=kind)


@pytest.fixture(autouse=True)
def _toy_method(monkeypatch):
    use = Use(assumes="nothing", source="Toy 2026", cites=("Toy2026",), cost="none", fails="always")
    method = Method("toy", toy_interval, ("se",), topics=use, documents=use, closed_form=True)
    monkeypatch.setitem(METHODS, method.name, method)


@pytest.fixture
def scores():
    values = np.random.default_rng(3).random((12, 2, 1))
    return Scores(tuple(f"{t:02}" for t in range(12)), ("a", "b"), ("AP",), values)


def test_it_gives_intervals_over_topics(scores):
    interval = confir.confidence_interval(scores, method="toy", level=0.5)
    np.testing.assert_allclose(interval.high - interval.low, 1.0)
    assert interval.method == "toy"


def test_it_gives_intervals_over_documents():
    sample = short_sample()
    drawn = bootstrap_documents(
        sample.qrels, sample.runs[:1], statistic="score", replicates=20, rng=1
    )
    interval = confir.confidence_interval(drawn, method="toy", level=0.5)
    np.testing.assert_allclose(interval.high - interval.low, 1.0)


def test_it_compares_runs(scores):
    comparison = confir.compare_runs(scores, method="toy", level=0.5)
    assert (comparison.high - comparison.low).item() == pytest.approx(1.0)


def test_its_coverage_is_studied_with_that_of_the_others(scores):
    by_default = confir.estimate_coverage(scores, samples=3, replicates=19, rng=1)
    assert by_default.methods[-1] == "toy"
    alone = confir.estimate_coverage(scores, methods="toy", level=0.999, samples=3, rng=1)
    assert alone.coverage.min() == 1.0
    error = confir.estimate_type_one_error(
        scores, methods="toy", topics=4, levels=1e-9, samples=3, rng=1
    )
    assert error.error.min() == 1.0


def test_it_is_validated_on_halves_of_a_collection():
    sample = short_sample()
    found = validate_split_half(sample.qrels, sample.runs[:1], replicates=20, rng=1)
    assert found.methods[-1] == "toy"


@pytest.mark.parametrize("over", ["topics", "documents"])
def test_the_list_of_methods_has_it(capsys, over):
    methods_command(out=printing("json"))
    records = json.loads(capsys.readouterr().out)
    assert {
        "method": "toy",
        "over": over,
        "for": "any mean" if over == "topics" else "a topic's score in [0, 1]",
        "assumes": "nothing",
        "source": "Toy 2026",
        "cost": "none",
        "fails": "always",
    } in records


def test_the_page_about_intervals_has_its_table_from_that_list(capsys):
    page = (DOCS / "intervals.md").read_text(encoding="utf-8")
    assert "<!-- $ confir methods --format md -->" in page
    methods_command(out=printing("md"))
    assert "toy | documents | a topic's score in [0, 1] | nothing" in capsys.readouterr().out
