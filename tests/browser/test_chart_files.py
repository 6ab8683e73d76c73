"""All text of a chart lies within its figure, whatever the viewer's fonts: compared by pixels."""

import base64
import io
import re
import xml.etree.ElementTree as ET
from functools import cache

import numpy as np
import pytest
import vl_convert
from PIL import Image

import confir
from browser.conftest import STUCK
from confir.data.scores import Scores
from confir.report.chart_files import chart_bytes
from confir.report.notebook import notebook_html
from confir.report.result_chart import specification

RUNS = (5, 40, pytest.param(130, marks=pytest.mark.slow))
# Pixels around the picture, in which nothing may be drawn.
ROOM = 80
KINDS = ("means", "differences")


@cache
def result(kind: str, runs: int):
    """Return a result about runs whose names have 40 letters, the first of them wide or narrow."""
    rng = np.random.default_rng(1)
    names = [f"{'WmI'[i % 3]}ultilingual-dense-retriever-v{i:03d}-large"[:40] for i in range(runs)]
    names = [name.ljust(40, "M") for name in names]
    level = rng.normal(0.4, 0.1, (20, 1, 1)) + rng.normal(0.0, 0.05, (1, runs, 1))
    values = np.clip(level + rng.normal(0.0, 0.1, (20, runs, 2)), 0.0, 1.0)
    scores = Scores(tuple(map(str, range(20))), tuple(names), ("AP", "nDCG@10"), values)
    if kind == "means":
        return confir.confidence_interval(scores, method="t")
    return confir.compare_runs(scores, baseline=names[0], replicates=99, rng=1)


@cache
def picture(kind: str, runs: int, width: float | None) -> str:
    return chart_bytes(specification(result(kind, runs)), ".svg", width).decode()


@pytest.fixture(scope="module")
def page(browser):
    opened = browser.new_page()
    opened.set_default_timeout(STUCK)
    yield opened
    opened.close()


def ink_outside(image: Image.Image, room: int) -> int:
    """Return how many pixels in the margin of an image are not white."""
    pixels = np.asarray(image.convert("L"))
    inside = np.zeros(pixels.shape, bool)
    inside[room:-room, room:-room] = True
    assert (pixels[inside] < 128).sum() > 100, "the picture itself is empty"
    return int((pixels[~inside] < 250).sum())


def in_chromium(page, svg: str) -> Image.Image:
    """Return a picture as Chromium draws it, with what leaves it, in a margin of white."""
    page.set_content(
        f"<style>body{{margin:0}}div{{padding:{ROOM}px;width:max-content;background:white}}"
        f"svg{{overflow:visible;display:block}}</style><div>{svg}</div>"
    )
    return Image.open(io.BytesIO(page.locator("div").screenshot()))


def by_converter(svg: str) -> Image.Image:
    """Return a picture as vl-convert draws it, with what leaves it, in a margin of white."""
    left, top, width, height = map(float, re.search(r'viewBox="([^"]*)"', svg)[1].split())
    room = f'viewBox="{left - ROOM} {top - ROOM} {width + 2 * ROOM} {height + 2 * ROOM}"'
    size = f'width="{width + 2 * ROOM}" height="{height + 2 * ROOM}"'
    larger = re.sub(r'width="[^"]*" height="[^"]*" viewBox="[^"]*"', f"{size} {room}", svg, count=1)
    drawn = Image.open(io.BytesIO(vl_convert.svg_to_png(larger))).convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", drawn.size, "white"), drawn)


@pytest.mark.parametrize("width", [None, 85.0])
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_text_leaves_the_picture(page, kind, runs, width):
    svg = picture(kind, runs, width)
    assert ink_outside(in_chromium(page, svg), ROOM) == 0
    assert ink_outside(by_converter(svg), ROOM) == 0


def test_text_that_states_no_length_is_found_to_leave_the_picture(page):
    bare = re.sub(r' (textLength|lengthAdjust)="[^"]*"', "", picture("means", 5, None))
    wide = re.sub(r'font-family="[^"]*"', 'font-family="DejaVu Sans, Verdana"', bare)
    assert ink_outside(in_chromium(page, wide), ROOM) > 0


def test_pictures_in_notebooks_state_the_lengths_of_text():
    html = notebook_html(result("means", 5))
    content = re.search(r'src="data:image/svg\+xml;base64,([^"]*)"', html)[1]
    root = ET.fromstring(base64.b64decode(content))  # noqa: S314 - a picture of our own
    texts = [node for node in root.iter() if node.tag.endswith("}text") and node.text]
    assert len(texts) > 10
    assert all(float(node.attrib["textLength"]) > 0 for node in texts)
