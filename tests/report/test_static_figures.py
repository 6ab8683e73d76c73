"""Charts without a script, by the positions of their marks; and the ranked lists on the page."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from confir.data.formats.runs_and_qrels import as_qrels
from confir.data.scores import Scores
from confir.measures.evaluation import evaluate
from confir.report.contents import Settings, report_figures
from confir.report.gathering import gather_contents, most_different_topics
from confir.report.page_data import LIST_DEPTH, list_excerpts, page_chart
from confir.report.static_figures import draw, static_figures
from confir.report.static_scales import NotDrawable, Scale, condition
from samples import short_sample

NAMES = ("<script>", "constructor", "plain")


def spec(values, **encoding):
    named = {
        "y": {
            "field": "run_number",
            "type": "nominal",
            "axis": {
                "labelExpr": f'slice(["={NAMES[0]}", "={NAMES[1]}", "={NAMES[2]}"][datum.value], 1)'
            },
        },
        "x": {"field": "mean", "type": "quantitative", "scale": {"domain": [0, 1]}},
    }
    return {
        "data": {"values": values},
        "mark": {"type": "point", "size": 50},
        "encoding": named | encoding,
        "height": {"step": 20},
        "width": 100,
    }


def starts(svg):
    """Where the parts of the paths with marks start, and the texts."""
    root = ET.fromstring(svg)  # noqa: S314 - written by confir
    space = "{http://www.w3.org/2000/svg}"
    found = [p.get("d") for p in root.iter() if p.tag.removeprefix(space) == "path"]
    texts = [t.text for t in root.iter() if t.tag.removeprefix(space) == "text"]
    numbers = re.findall(r"M([\d.-]+) ([\d.-]+)a", " ".join(found))
    return [(float(x), float(y)) for x, y in numbers], texts


def test_points_lie_where_their_numbers_are_and_names_are_text():
    values = [{"run_number": n, "mean": mean} for n, mean in enumerate((0.25, 0.5, None))]
    svg = draw(spec(values), "<caption>")
    assert "<script>" not in svg
    spots, texts = starts(svg)
    radius = (50 / np.pi) ** 0.5
    assert [x + radius for x, _ in spots] == pytest.approx([25, 50], abs=0.1)
    assert [y for _, y in spots] == [10, 30]
    assert set(NAMES) <= set(texts)


def test_records_that_a_filter_drops_are_not_drawn():
    values = [{"run_number": n, "mean": 0.5, "label": "ab"[n % 2]} for n in range(3)]
    kept = spec(values) | {"transform": [{"filter": "datum.label == 'a'"}]}
    assert len(starts(draw(kept))[0]) == 2


@pytest.mark.parametrize(
    ("text", "record", "holds"),
    [
        ("datum.x", {"x": True}, True),
        ("datum.x", {"x": None}, False),
        ("isValid(datum.x)", {"x": 0.0}, True),
        ("isValid(datum.x)", {"x": None}, False),
        ("(datum.x > 0.78)", {"x": 0.8}, True),
        ("datum.x > 0", {"x": 0}, False),
        ("datum.x != ''", {"x": ""}, False),
    ],
)
def test_conditions_hold_as_in_vega(text, record, holds):
    assert condition(text)(record) is holds


def test_what_is_unknown_is_left_to_the_script():
    for unknown in ("datum.x + 1 > 2", "length(datum.x)"):
        with pytest.raises(NotDrawable):
            condition(unknown)
    with pytest.raises(NotDrawable):
        draw({"hconcat": []})
    strange = spec([{"run_number": 0, "mean": 1}]) | {"mark": {"type": "geoshape"}}
    assert static_figures([{"part": "a", "spec": strange, "caption": ""}]) == {}


def test_ticks_are_round_and_inside():
    scale = Scale("", 0.013, 0.987)
    assert scale.labelled == pytest.approx([0.2, 0.4, 0.6, 0.8])


def test_every_chart_of_a_report_is_drawn_and_has_the_names_of_its_runs():
    sample = short_sample()
    scores = evaluate(sample.qrels, sample.runs[2:5], ["AP"])
    settings = Settings(replicates=199)
    contents = gather_contents(scores, qrels=sample.qrels, runs=sample.runs[2:5], settings=settings)
    charts = [page_chart(figure) for figure in report_figures(contents, (0.95,))]
    drawn = static_figures(charts)
    assert set(drawn) == {chart["part"] for chart in charts}
    for part in ("means", "ranks", "best", "pairs", "collection", "quality", "unjudged"):
        assert set(scores.runs) <= set(starts(drawn[part])[1]), part

    held = list_excerpts(contents, contents.lists)
    assert sorted(held["runs"]) == [0, 1, 2]
    assert len(held["topics"]) == 50
    first = held["by_topic"][7]
    topic = scores.topics[held["topics"][7]]
    for place, run in enumerate(held["runs"]):
        wanted = list(sample.runs[2 + run].to_dict()[topic])[:LIST_DEPTH]
        listed = [first["documents"][number] for number in first["lists"][place]]
        assert listed == wanted
    grades = sample.qrels[topic]
    assert first["grades"] == [grades.get(document) for document in first["documents"]]
    assert list_excerpts(contents, None) is None


def test_unjudged_documents_have_no_grade_and_missing_lists_are_empty():
    qrels = as_qrels({"1": {"d1": 2, "d2": 0}, "2": {"d1": 1}, "3": {"d2": 1}})
    runs = {
        "a": {"1": {"d2": 3.0, "new": 2.0, "d1": 1.0}, "2": {"d1": 1.0}, "3": {"d1": 1.0}},
        "b": {"1": {"d1": 2.0}, "2": {"d1": 1.0}, "3": {"d2": 1.0}},
    }
    scores = evaluate(qrels, runs, ["P@5"])
    contents = gather_contents(scores, qrels=qrels, runs=runs, settings=Settings(replicates=199))
    held = list_excerpts(contents, contents.lists)
    place = held["runs"].index(0)
    of_first = held["by_topic"][held["topics"].index(0)]
    shown = [(of_first["documents"][d], of_first["grades"][d]) for d in of_first["lists"][place]]
    assert shown == [("d2", 0), ("new", None), ("d1", 2)]


def test_topics_shown_are_those_with_the_largest_differences():
    values = np.array([[0.1, 0.2], [0.0, 0.9], [np.nan, 0.5], [np.nan, np.nan], [0.3, 0.7]])
    scores = Scores(tuple("abcde"), ("x", "y"), ("AP",), values[:, :, None])
    assert most_different_topics(scores, 2).tolist() == [1, 4]
    assert most_different_topics(scores, 5).tolist() == [0, 1, 2, 3, 4]


def test_a_high_chart_has_its_numbers_at_the_top():
    axis = {"field": "x", "type": "quantitative", "title": "mean"}
    for rows, above in ((5, False), (60, True)):
        values = [{"x": float(row), "y": row} for row in range(rows)]
        spec = {
            "data": {"values": values},
            "mark": {"type": "point"},
            "encoding": {"x": axis, "y": {"field": "y", "type": "nominal"}},
            "height": {"step": 14},
        }
        places = re.findall(r'y="(-?\d+)" (?:text-anchor="middle"|font-weight="600")', draw(spec))
        assert len(places) > 3
        assert all((int(y) < 0) == above for y in places)
