"""Arbitrary names as labels of charts: the marks do not depend on them."""

import base64
import html
import json
import re
import zlib
from collections import Counter
from xml.etree import ElementTree as ET

import altair as alt
import numpy as np
import pytest

import confir
from confir.control_characters import has_controls, without_controls
from confir.data.formats.runs_and_qrels import as_qrels
from confir.report.chart_files import chart_bytes
from confir.report.result_chart import specification as chart
from confir.resampling.document_bootstrap import resample_documents
from confir.studies.bias_variance.chart import total_chart
from confir.studies.collection.collection_differences import compare_on_collection
from confir.studies.collection.collection_means import decompose_variance, summarise_means
from confir.studies.collection.collection_topics import summarise_topics
from confir.studies.comparison.chart import difference_chart
from confir.studies.coverage.chart import bias_chart, population_chart, skewness_chart
from confir.studies.meta_analysis.chart import forest_chart, summary_chart
from confir.studies.meta_analysis.pooled_results import PooledModels
from confir.studies.split_half.chart import half_means_chart, normalised_chart
from judge_files import noisy_judge

HOSTILE = (
    "constructor",
    "toString",
    "valueOf",
    "__proto__",
    "hasOwnProperty",
    "<script>",
    "q\"uo'te",
    "[a].b",
    "back\\slash",
    "datum.value",
    "C0 \x00\x08\x1b",
    "DEL \x7f\x85\x9b",
    "two\nlines\u2028",
    "none\uffff\u202e",
)
HOSTILE = tuple(sorted(HOSTILE))  # topics are held in this order, and the same ones must be drawn
PLAIN = tuple(f"name{n:02d}" for n in range(len(HOSTILE)))
DOCUMENTS = 30

pytestmark = pytest.mark.filterwarnings("ignore::confir.errors.ConfirWarning")


def drawings(names):
    """Charts of all kinds, of runs and topics with these names, and the names that each writes."""
    rng = np.random.default_rng(1)
    qrels = {
        t: {f"d{d}": int(rng.random() < 0.4 or d < 4) for d in range(DOCUMENTS)} for t in names
    }
    runs = {
        r: {t: {f"d{d}": float(rng.random() + (10 - n) * qrels[t][f"d{d}"] / 20) for d in range(DOCUMENTS)} for t in names}
        for n, r in enumerate(names)
    }  # fmt: skip
    scores = confir.evaluate(qrels, runs, ["AP", "P@5"])
    few = scores.select(run=names[:6])
    renamed = confir.Scores(scores.topics, scores.runs, names[:2], scores.values)
    comparison = confir.compare_runs(renamed, rng=1)
    against = confir.compare_runs(renamed, baseline=names[0], rng=1)
    documents = resample_documents(qrels, runs, ["AP"], replicates=40, rng=1)
    errors = confir.estimate_type_one_error(scores, methods=["t"], topics=5, samples=20, rng=1)
    bias = confir.decompose_error(scores, replicates=399, rng=1)
    chance = confir.compare_with_chance(as_qrels(qrels), scores, documents=60, draws=0)
    halves = confir.validate_split_half(qrels, runs, replicates=20, rng=1)
    return {
        "scores": (chart(renamed), names),
        "intervals": (chart(confir.confidence_interval(renamed, method="t")), names),
        "ranks": (chart(confir.rank_runs(renamed, replicates=50, rng=1)), names),
        "best": (chart(confir.find_best(renamed, replicates=50, rng=1)), names),
        "matrix": (chart(comparison), names),
        "differences": (difference_chart(against), names[1:]),
        "groups": (chart(comparison.group_runs()), names),
        "topic differences": (chart(comparison.topic_differences()), names),
        "plan": (chart(confir.plan_topics(few, half_width=0.05)), names[:6]),
        "coverage of few": (chart(_coverage(few)), names[:6]),
        "coverage of many": (chart(_coverage(scores)), ()),
        "type one error": (chart(errors), ()),
        "bias of means": (bias_chart(errors), ()),
        "skewness": (skewness_chart(errors), ()),
        "populations": (population_chart(errors, scores), ()),
        "bias and variance": (chart(bias), ()),
        "total error": (total_chart(bias), ()),
        "chance": (chart(chance), names),
        "quality": (chart(confir.inspect_data(qrels, runs)), names),
        "collection": (chart(summarise_means(documents)), names),
        "collection by topic": (chart(summarise_topics(documents)), names),
        "collection differences": (chart(compare_on_collection(documents, names[0])), names[1:]),
        "variance": (chart(decompose_variance(documents)), names),
        "split half": (chart(halves), ()),
        "normalised": (normalised_chart(halves.splits[0]), ()),
        "reproduction": (
            chart(confir.compare_reproduction(runs[names[0]], runs[names[1]], qrels, "AP")),
            names,
        ),
        "lists": (chart(confir.compare_reproduction(runs[names[0]], runs[names[1]])), names),
        "reusability": (
            chart(
                confir.estimate_reusability(
                    qrels, runs, "AP", teams=dict(zip(names, names, strict=True)), pool_depth=5
                )
            ),
            names,
        ),
        "half means": (half_means_chart(halves.splits[0]), names),
        "differences by group": (chart(confir.compare_groups(few, by=_groups(names), rng=1)), ()),
        **_forests(names),
        **_judges(names, qrels, runs),
    }


def _judges(names, qrels, runs):
    """Charts of judges with these names, and of runs whose names fit next to their points."""
    judges = {names[0]: qrels, names[1]: noisy_judge(qrels, noise=0.5, highest=1)}
    found = confir.compare_judgements(judges, runs, ["AP"], replicates=40, rng=1)
    pair = {f"{names[1]}, reference {names[0]}"}
    return {
        "judges": (chart(found), [f"AP by {name}" for name in names[:2]]),
        "gains": (chart(found.runs), {*names, *pair}),
        "confusion": (chart(found.agreement.confusion), [", ".join(names[:2])]),
    }


def _groups(names):
    return {topic: ("short", "long")[place % 2] for place, topic in enumerate(names)}


def _coverage(scores):
    return confir.estimate_coverage(scores, methods=["t"], samples=20, rng=1)


def _forests(names):
    pooled = confir.pool_effects(
        np.linspace(0.1, 0.4, len(names)), np.full(len(names), 0.1), studies=names
    )
    models = PooledModels((pooled,))
    return {"forest": (forest_chart(models), names), "pooled": (summary_chart(models), ())}


@pytest.fixture(scope="module")
def drawn():
    return {names: drawings(names) for names in (PLAIN, HOSTILE)}


@pytest.fixture(scope="module")
def svgs(drawn):
    return {
        key: [
            (chart_bytes(drawn[names][key][0], ".svg").decode(), drawn[names][key][1])
            for names in (PLAIN, HOSTILE)
        ]
        for key in drawn[PLAIN]
    }


def test_every_chart_is_what_vega_lite_defines(drawn):
    for drawing, _ in drawn[PLAIN].values():
        alt.Chart.from_dict(drawing)  # validates it by the schema, and raises


def parts(value):
    """A value of a chart's specification, and all that is within it."""
    yield value
    inside = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list | tuple):
        for one in inside:
            yield from parts(one)


def test_every_tooltip_shows_a_field_that_the_data_have(drawn):
    for key, (drawing, _) in drawn[PLAIN].items():
        specification = drawing
        found = [one for one in parts(specification) if isinstance(one, dict)]
        known = {field for one in found for field in one}  # of records, too
        computed = {name for one in found for name in (one.get("as"),) if isinstance(name, str)}
        tips = [tip for one in found for tip in _listed(one.get("tooltip"))]
        fields = {tip["field"] for tip in tips if isinstance(tip, dict) and "field" in tip}
        assert fields <= known | computed, key


def _listed(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def texts(svg):
    found = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return {shown(html.unescape(text)) for text in found}


def shown(name):
    """A name as a chart shows it: without control characters, and whatever its blanks are."""
    return " ".join(without_controls(name, keep_blanks=True).split())


def marks(svg):
    """How many of each kind of mark are drawn."""
    return Counter(re.findall(r'aria-roledescription="([^"]+)"', svg))


def test_every_name_is_written_as_text(svgs):
    for key, pair in svgs.items():
        for svg, names in pair:
            assert set(map(shown, names)) <= texts(svg), key
            ET.fromstring(svg)  # noqa: S314 - our own, which must be XML


def test_as_many_marks_are_drawn_whatever_the_names(svgs):
    for key, ((plain, _), (hostile, _)) in svgs.items():
        assert marks(plain) == marks(hostile), key
        assert plain.count("<path") == hostile.count("<path") > 0, key


# Every control character, one in each name; and halves of pairs, which text of a file cannot hold.
CONTROLS = tuple(
    f"{chr(n)}x{n}" for n in (*range(0x20), 0x7F, 0x85, 0x2028, 0xD800, 0xDFFF, 0xFFFF)
)


@pytest.fixture(scope="module")
def controlled():
    """Scores whose runs, topics and measures have control characters in their names."""
    rng = np.random.default_rng(1)
    values = rng.random((len(CONTROLS), len(CONTROLS), 2))
    return confir.Scores(tuple(sorted(CONTROLS)), CONTROLS, CONTROLS[10:12], values)


@pytest.mark.parametrize("ending", [".svg", ".pdf", ".png"])
def test_no_control_character_ends_the_process(controlled, tmp_path, ending):
    path = tmp_path / f"chart{ending}"
    confir.save_chart(confir.confidence_interval(controlled, method="t"), path, width=150)
    assert path.stat().st_size > 1000
    if ending == ".svg":
        written = texts(path.read_text(encoding="utf-8"))
        assert {shown(name) for name in CONTROLS} <= written


def test_charts_of_notebooks_have_no_control_characters(controlled):
    drawing = confir.chart(confir.describe_topics(controlled.select(run=CONTROLS[:4])))
    page = drawing.to_html()
    page.encode()  # raises for half a pair
    assert not has_controls(json.dumps(drawing.to_dict(), ensure_ascii=False))
    assert confir.confidence_interval(controlled, method="t")._repr_html_()


def test_a_page_has_no_control_characters(controlled, tmp_path):
    few = controlled.select(run=CONTROLS[8:12], topic=[*CONTROLS[:8], *CONTROLS[-6:]])
    confir.write_report(tmp_path / "page.html", few, replicates=19, rng=1)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert without_controls(page, keep_blanks=True) == page
    packed = re.findall(r'<script[^>]*id="packed-(?:data|tables|charts)"[^>]*>([^<]*)<', page)
    for text in packed:
        assert not has_controls(zlib.decompress(base64.b64decode(text)).decode())
    assert len(packed) == 3
