"""Results show in notebooks as a chart and a table."""

import base64
import re
import sys
from importlib import import_module

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.defaults import ROWS
from confir.errors import ConfirError
from confir.report.notebook import notebook_html
from confir.report.result_table import table_of
from confir.report.tables import cut_table, to_html, to_text
from confir.resampling.document_bootstrap import resample_documents
from confir.studies import STUDIES
from confir.studies.collection.collection_differences import compare_on_collection
from confir.studies.collection.collection_means import decompose_variance, summarise_means
from confir.studies.collection.collection_topics import summarise_topics
from samples import short_sample

HINT = "to_frame() has all rows"


@pytest.fixture(scope="module")
def results():
    sample = short_sample()
    runs = [run for run in sample.runs if run.name != "bm25-rm3"][:3]  # which lacks a topic
    scores = confir.evaluate(sample.qrels, runs, ["AP"])
    comparison = confir.compare_runs(scores, rng=1)
    documents = resample_documents(sample.qrels, runs, ["AP"], replicates=20, rng=1)
    return [
        scores,
        comparison,
        comparison.group_runs(),
        comparison.topic_differences(),
        confir.confidence_interval(scores),
        confir.rank_runs(scores, replicates=50, rng=1),
        confir.find_best(scores, replicates=50, rng=1),
        confir.plan_topics(scores, half_width=0.05),
        confir.estimate_coverage(scores, methods=["t"], samples=20, rng=1),
        confir.estimate_type_one_error(scores, methods=["t"], topics=5, samples=20, rng=1),
        confir.compare_with_chance(sample.qrels, scores, documents=60_000, draws=0),
        confir.decompose_error(scores, replicates=399, rng=1),
        confir.inspect_data(sample.qrels, runs),
        confir.describe_topics(scores),
        confir.pool_effects([0.1, 0.2, 0.4], [0.1, 0.1, 0.2]),
        confir.validate_split_half(sample.qrels, runs, replicates=20, rng=1),
        summarise_means(documents),
        summarise_topics(documents),
        compare_on_collection(documents, runs[0].name),
        decompose_variance(documents),
    ]


def test_every_result_shows_its_chart_and_its_table(results):
    for result in results:
        shown = result._repr_html_()
        picture = re.match(
            r'<style>[^<]+</style><img class="confir-chart" alt="[^"]+" '
            r'src="data:image/svg\+xml;base64,([^"]+)">\n',
            shown,
        )
        assert picture, type(result)
        assert base64.b64decode(picture[1]).startswith(b"<svg")
        assert shown[picture.end() :] == to_html(cut_table(table_of(result), hint=HINT))


def test_print_shows_the_table_and_repr_is_one_line(results):
    for result in results:
        table = cut_table(table_of(result), hint=HINT)
        assert f"{result}\n" == to_text(table)
        assert "\n" not in repr(result)


def test_a_table_on_a_terminal_is_as_wide_as_it(results, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, str(results[1]).splitlines())) <= 60


def test_long_tables_are_cut_and_say_where_the_rest_is():
    values = np.random.default_rng(1).random((9, 30, 1))
    scores = Scores(tuple("123456789"), tuple(f"r{n}" for n in range(30)), ("AP",), values)
    assert f"{30 - ROWS} more: to_frame() has all rows" in str(scores)
    assert f"{30 - ROWS} more: to_frame() has all rows" in scores._repr_html_()
    assert len(scores.to_markdown().splitlines()) == 2 + 30 + 2


def test_a_result_without_a_table_prints_as_it_is():
    distribution = confir.bootstrap_topics(np.random.default_rng(1).random((9, 2)), replicates=9)
    assert str(distribution) == repr(distribution)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"width": "wide"}, "wide"),
        ({"intervals": "dots"}, "dots"),
        ({"decimals": 0}, "decimals is 0"),
    ],
)
def test_what_latex_cannot_be_made_of_is_refused(results, given, message):
    with pytest.raises(ConfirError, match=message):
        results[0].to_latex(**given)


def test_charts_are_inverted_on_dark_pages_only(results):
    style = re.match("<style>(.*)</style>", results[0]._repr_html_())[1]
    chosen, _, _ = style.partition("{")
    assert all(part.endswith(" .confir-chart") for part in chosen.split(","))
    assert '[data-jp-theme-light="false"] .confir-chart' in chosen


def test_whatever_has_a_chart_shows_in_notebooks():
    for study in STUDIES:
        for name in study.results:
            module, _, kind = study.module(name).rpartition(".")
            assert hasattr(getattr(import_module(module), kind), "_repr_html_"), name


def test_without_vl_convert_the_table_is_shown_alone(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert results[0]._repr_html_() == to_html(table_of(results[0]))


def test_names_are_text():
    name = '"><script>alert(1)</script>'
    scores = Scores(
        ("1", "2"), (name, "b"), ("AP",), np.array([[0.1, 0.2], [0.3, 0.5]])[:, :, None]
    )
    shown = notebook_html(scores)
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
