"""The lengths of text in an SVG file, which readers draw in their own fonts.

A chart is laid out with the fonts of the machine that writes it; a viewer has others, often wider
ones, in which the first letters of long names would leave the picture. Each text therefore states
the length it was laid out with (``textLength``), to which viewers fit their letters.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from confir.report.svg_conversion import vega_svg

# An empty text closes itself, <text …/>, and has no length.
_TEXT = re.compile(r"<text\b([^>]*)(?<!/)>(.*?)</text>", re.DOTALL)
_LINE = re.compile(r"<tspan\b([^>]*)>([^<]*)</tspan>")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_BAR = re.compile(r'<path d="M0,\d+(?:\.\d+)?h(\d+(?:\.\d+)?)v1')


class _Text(NamedTuple):
    """A line of text, and the font that it is set in."""

    text: str
    font: str
    size: float
    weight: str
    style: str


def with_text_lengths(svg: str) -> str:
    """Return an SVG picture in which each line of text states its length."""
    lengths = _measure({line for found in _TEXT.finditer(svg) for line in _lines(*found.groups())})

    def state(found: re.Match[str]) -> str:
        attributes, content = found.groups()
        if "<tspan" not in content:
            return f"<text{attributes}{_length(attributes, content, lengths)}>{content}</text>"
        lines = _LINE.sub(
            lambda line: (
                f"<tspan{line[1]}{_length(attributes, line[2], lengths)}>{line[2]}</tspan>"
            ),
            content,
        )
        return f"<text{attributes}>{lines}</text>"

    return _TEXT.sub(state, svg)


def _lines(attributes: str, content: str) -> Iterable[_Text]:
    """Yield the lines of a text element that have a length."""
    parts = [line for _, line in _LINE.findall(content)] if "<tspan" in content else [content]
    return (_as_text(attributes, part) for part in parts if part.strip())


def _as_text(attributes: str, content: str) -> _Text:
    given = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
    size = float(given.get("font-size", "11px").removesuffix("px"))
    weight, style = given.get("font-weight", "normal"), given.get("font-style", "normal")
    text = html.unescape(content)
    return _Text(text, given.get("font-family", "sans-serif"), size, weight, style)


def _length(attributes: str, content: str, lengths: Mapping[_Text, str]) -> str:
    length = lengths.get(_as_text(attributes, content)) if content.strip() else None
    return "" if length is None else f' textLength="{length}" lengthAdjust="spacingAndGlyphs"'


def _measure(texts: set[_Text]) -> dict[_Text, str]:
    """Return the lengths of texts in pixels, as Vega lays them out: each is drawn as a bar."""
    ordered = sorted(texts)
    values = [{**text._asdict(), "row": row} for row, text in enumerate(ordered)]
    channels = {"text": "text", "font": "font", "fontSize": "size", "fontWeight": "weight"}
    letters = {name: {"field": field} for name, field in channels.items()}
    bar = {
        "x": {"value": 0},
        "y": {"field": "datum.row"},
        "height": {"value": 1},
        "width": {"signal": "datum.bounds.x2 - datum.bounds.x1"},
    }
    drawn = vega_svg(
        {
            "data": [{"name": "texts", "values": values}],
            "marks": [
                {
                    "type": "text",
                    "name": "letters",
                    "from": {"data": "texts"},
                    "encode": {"enter": {**letters, "fontStyle": {"field": "style"}}},
                },
                {"type": "rect", "from": {"data": "letters"}, "encode": {"update": bar}},
            ],
        }
    )
    lengths = [f"{float(length):.2f}" for length in _BAR.findall(drawn)]
    return {
        text: length for text, length in zip(ordered, lengths, strict=True) if float(length) > 0
    }
