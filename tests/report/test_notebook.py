"""Results show in notebooks as a chart and a table."""

import base64
import re
import sys
from importlib import import_module

import numpy as np
import pytest

import confir
from confir.data.scores import Scores
from confir.report.notebook import notebook_html, table_of
from confir.report.tables import to_html
from confir.resampling.documents import resample_documents
from confir.studies import STUDIES
from confir.studies.collection.differences import compare_on_collection
from confir.studies.collection.means import summarise_means
from confir.studies.collection.topics import summarise_topics
from confir.studies.collection.variance import decompose_variance
from samples import short_sample


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
        picture = re.match(r'<img alt="[^"]+" src="data:image/svg\+xml;base64,([^"]+)">\n', shown)
        assert picture, type(result)
        assert base64.b64decode(picture[1]).startswith(b"<svg")
        assert shown[picture.end() :] == to_html(table_of(result))


def test_whatever_has_a_chart_shows_in_notebooks():
    for study in STUDIES:
        for name in study.results:
            module, _, kind = study.module(name).rpartition(".")
            assert hasattr(getattr(import_module(module), kind), "_repr_html_"), name


def test_without_altair_the_table_is_shown_alone(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    assert results[0]._repr_html_() == to_html(table_of(results[0]))


def test_names_are_text():
    name = '"><script>alert(1)</script>'
    scores = Scores(
        ("1", "2"), (name, "b"), ("AP",), np.array([[0.1, 0.2], [0.3, 0.5]])[:, :, None]
    )
    shown = notebook_html(scores)
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
