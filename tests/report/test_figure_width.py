"""Figures of a given width: exactly as wide, with letters of the same size."""

import io
import re

import numpy as np
import pytest
from PIL import Image

import confir
from confir.data.scores import Scores
from confir.errors import InvalidValueError
from confir.report.chart_files import chart_bytes
from confir.report.result_chart import specification as chart


@pytest.fixture(scope="module")
def interval():
    rng = np.random.default_rng(1)
    names = ("<script>alert(1)</script>", "constructor", f"{'x' * 30}-end-of-a-long-name")
    values = rng.random((9, 3, 2))
    scores = Scores(tuple(map(str, range(9))), names, ("AP", "nDCG@10"), values)
    return confir.confidence_interval(scores, method="t")


def sizes(svg):
    return {float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)}


@pytest.mark.parametrize("width", [60.0, 85.0, 175.0])
def test_a_chart_is_as_wide_as_asked_for_and_letters_keep_their_size(interval, width):
    drawing = chart(interval)
    svg = chart_bytes(drawing, ".svg", width).decode()
    assert f'width="{width:g}mm"' in svg
    drawn = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])
    assert drawn == pytest.approx(width / 25.4 * 96, abs=3.0)
    assert sizes(svg) == sizes(chart_bytes(drawing, ".svg").decode())


def test_other_formats_have_the_width_too(interval, tmp_path):
    confir.save_chart(interval, tmp_path / "a.png", width=85)
    image = Image.open(io.BytesIO((tmp_path / "a.png").read_bytes()))
    assert image.width == pytest.approx(85 / 25.4 * 300, abs=1)
    confir.save_chart(interval, tmp_path / "a.pdf", width=85)
    box = re.search(rb"/MediaBox ?\[([^\]]*)\]", (tmp_path / "a.pdf").read_bytes())[1].split()
    assert float(box[2]) == pytest.approx(85 / 25.4 * 72, abs=0.1)


def test_panels_stand_below_each_other_and_long_names_keep_their_ends(interval):
    narrow = chart_bytes(chart(interval), ".svg", 85).decode()
    labels = re.findall(r">([^<>]*…[^<>]*)</text>", narrow)
    assert any(label.endswith("-long-name") for label in labels)
    assert "constructor" in narrow
    assert "<script>" not in narrow


@pytest.mark.parametrize("width", [0, -85, float("nan"), float("inf"), 39.9])
def test_a_width_that_no_figure_has_is_an_error(interval, tmp_path, width):
    with pytest.raises(InvalidValueError, match=r"expected (40 to 1000 mm|a finite number)"):
        confir.save_chart(interval, tmp_path / "a.svg", width=width)
    assert not list(tmp_path.iterdir())


def test_a_chart_narrower_than_its_title_has_the_width_too():
    rng = np.random.default_rng(1)
    topics = tuple(f"a long topic {number}" for number in range(12))
    scores = Scores(topics, ("a", "b"), ("AP",), rng.random((12, 2, 1)))
    svg = chart_bytes(chart(confir.describe_topics(scores)), ".svg", 85).decode()
    drawn = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])
    assert drawn == pytest.approx(85 / 25.4 * 96, abs=3.0)


@pytest.mark.parametrize(("width", "height"), [(None, 60), (85, 120), (85, 70)])
def test_a_chart_has_the_height_that_is_asked_for(interval, width, height):
    svg = chart_bytes(chart(interval), ".svg", width, height).decode()
    across, down = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)', svg).groups())
    assert down == pytest.approx(height / 25.4 * 96, abs=3.0)
    if width is not None:  # letters next to low rows are smaller, and leave more room
        assert across == pytest.approx(width / 25.4 * 96, rel=0.03)


def test_a_chart_in_a_file_has_its_title_only_where_that_is_asked_for(interval, tmp_path):
    title = chart(interval)["title"].partition(",")[0]
    for asked in (False, True):
        confir.save_chart(interval, tmp_path / "a.svg", title=asked)
        assert (title in (tmp_path / "a.svg").read_text()) is asked
