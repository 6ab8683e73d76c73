"""A chart of a given size, as the columns of a paper have: narrower panels, not smaller letters."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from confir.report.charts import label_names, names_of_labels
from confir.report.svg_conversion import picture_size, vega_lite_svg

# Pixels per mm, as SVG and style sheets define them.
_PIXELS_PER_MM = 96.0 / 25.4

# In pixels: a panel that is worth reading, the labels beside it, and what else is beside it.
_NARROWEST_PANEL, _LONGEST_LABEL, _SHORTEST_LABEL, _BESIDE = 130.0, 240, 45, 40.0
# In pixels: letters of titles, of lines below them, and of axes.
_TITLE_LETTER, _SUBTITLE_LETTER, _AXIS_LETTER, _LABEL_LETTER = 8.0, 6.4, 6.4, 6.2
_SHORTEST_LINE = 16
# Steps towards the scale of the panels, the least one, and pixels by which widths differ by rounding.
_STEPS, _LEAST_SCALE, _SAME = 4, 0.05, 2.0
# The smallest letters beside rows.
_SMALLEST_LETTERS = 5
# In pixels: in narrower figures, the entries of a legend are below each other.
_WIDE = 450.0

# Labels have their letters chosen; only those of much wider letters than usual are cut.
_SLACK = 1.3

# Parts of a specification without panels.
_DATA = ("data", "datasets", "tooltip", "config")

_Specification = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _FigureLayout:
    """How a chart is laid out: pixels in all, scale of its panels, columns of them, labels."""

    pixels: float
    scale: float = 1.0
    columns: int | None = None
    label: int = _LONGEST_LABEL


def fit_width(specification: _Specification, width: float) -> _Specification:
    """Return a Vega-Lite specification whose panels are as wide as a width in mm lets them be.

    Panels that would be too narrow side by side are placed one below the other; then long labels are
    shortened in their middle. Titles are wrapped, and legends are placed below.
    """
    panel = _widest_panel(specification)
    layout = _scaled(specification, _FigureLayout(width * _PIXELS_PER_MM))
    if layout.scale * panel < _NARROWEST_PANEL:
        layout = _scaled(specification, replace(layout, columns=1))
    if layout.scale * panel < _NARROWEST_PANEL:
        room = layout.pixels - _NARROWEST_PANEL - _BESIDE
        label = int(min(max(room, _SHORTEST_LABEL), _LONGEST_LABEL))
        layout = _scaled(specification, replace(layout, label=label))
    return _laid_out(specification, layout)


def _scaled(specification: _Specification, layout: _FigureLayout) -> _FigureLayout:
    """Return a layout with the scale at which the chart has its width.

    It grows linearly where the panels decide it, along a line through two scales tried; where a
    title is wider than they, it does not grow until they are twice as wide, or more.
    """

    def width_at(scale: float) -> float:
        scaled = _laid_out(specification, replace(layout, scale=scale))
        return picture_size(vega_lite_svg(scaled))[0]

    tried = [(scale, width_at(scale)) for scale in (0.5, 1.0)]
    for _ in range(_STEPS):
        (before, narrow), (last, wide) = tried[-2:]
        if last == before or abs(wide - layout.pixels) <= 1.0:
            break
        if abs(wide - narrow) > _SAME:
            scale = last + (layout.pixels - wide) * (last - before) / (wide - narrow)
        else:
            scale = 2.0 * last if wide < layout.pixels else 0.5 * last
        scale = max(_LEAST_SCALE, scale)
        tried.append((scale, width_at(scale)))
    best, _ = min(tried, key=lambda one: (round(abs(one[1] - layout.pixels)), abs(one[0] - 1.0)))
    return replace(layout, scale=best)


def fit_height(specification: _Specification, height: float) -> _Specification:
    """Return a Vega-Lite specification whose panels are as high as a height in mm lets them be.

    Where rows get lower than the letters beside them, these get smaller.
    """
    pixels = height * _PIXELS_PER_MM

    def height_at(scale: float) -> float:
        return picture_size(vega_lite_svg(_heightened(specification, scale)))[1]

    (before, low), (last, high) = ((scale, height_at(scale)) for scale in (0.5, 1.0))
    for _ in range(_STEPS):
        if abs(high - pixels) <= 1.0 or high == low:
            break
        scale = max(_LEAST_SCALE, last + (pixels - high) * (last - before) / (high - low))
        (before, low), (last, high) = (last, high), (scale, height_at(scale))
    made: _Specification = _heightened(specification, last)
    return made


def _heightened(specification: Any, scale: float) -> Any:
    def change(key: str, part: Any) -> Any:
        if key == "height" and isinstance(part, int | float):
            return part * scale
        if key == "height" and isinstance(part, dict) and part.get("step") is not None:
            return {**part, "step": part["step"] * scale}
        if key == "labelFontSize" and isinstance(part, int | float):
            return min(part, max(_SMALLEST_LETTERS, part * scale))
        return _changed(part, change)

    return _changed(specification, change)


def _changed(node: Any, change: Callable[[str, Any], Any]) -> Any:
    """Return a specification whose parts, except data, are replaced by a function of each."""
    if isinstance(node, list):
        return [_changed(part, change) for part in node]
    if not isinstance(node, dict):
        return node
    return {key: part if key in _DATA else change(key, part) for key, part in node.items()}


def _widest_panel(node: Any) -> float:
    """Return the largest width that a part of a specification has; infinite if none has one."""
    widths = [width for width in _widths(node) if width > 0]
    return max(widths) if widths else float("inf")


def _widths(node: Any) -> list[float]:
    if isinstance(node, list):
        return [width for part in node for width in _widths(part)]
    if not isinstance(node, dict):
        return []
    own = node.get("width")
    inner = [width for key, part in node.items() if key not in _DATA for width in _widths(part)]
    return [float(own), *inner] if isinstance(own, int | float) else inner


def _laid_out(specification: _Specification, layout: _FigureLayout) -> _Specification:
    """Return a specification in a layout; data are not copied."""
    made: _Specification = _narrowed(specification, layout, _widest_panel(specification))
    config = dict(made.get("config", {}))
    room = min(_widest_panel(made), layout.pixels)
    config["axis"] = {
        **config.get("axis", {}),
        "labelLimit": _SLACK * layout.label,
        "titleLimit": room,
    }
    columns = 3 if layout.pixels > _WIDE else 1
    config["legend"] = {**config.get("legend", {}), "orient": "bottom", "columns": columns}
    config["title"] = {**config.get("title", {}), "limit": layout.pixels}
    made["config"] = config
    if "title" in made:
        made["title"] = _wrapped_title(made["title"], layout.pixels)
    return made


def _narrowed(specification: Any, layout: _FigureLayout, panel: float) -> Any:
    def change(key: str, part: Any) -> Any:
        if key == "width" and isinstance(part, int | float):
            return part * layout.scale
        if key == "width" and isinstance(part, dict) and "step" in part:
            return {**part, "step": part["step"] * layout.scale}
        if key == "columns" and layout.columns is not None:
            return layout.columns
        if key == "labelExpr" and layout.label < _LONGEST_LABEL:
            return _shortened(part, int(layout.label / _LABEL_LETTER))
        changed = _changed(part, change)
        if key == "x" and isinstance(part, dict) and isinstance(part.get("title"), str):
            room = min(panel * layout.scale, layout.pixels)
            changed["title"] = _wrapped(part["title"], room)
        return changed

    return _changed(specification, change)


def _wrapped_title(title: Any, pixels: float) -> Any:
    """Return the title of a chart in lines of at most a width, with the lines below it."""
    if isinstance(title, str):
        return _wrapped(title, pixels, _TITLE_LETTER)
    if not isinstance(title, dict):
        return title
    wrapped = dict(title)
    if isinstance(title.get("text"), str):
        wrapped["text"] = _wrapped(title["text"], pixels, _TITLE_LETTER)
    below = title.get("subtitle")
    if below:
        line = " ".join(below) if isinstance(below, list) else below
        wrapped["subtitle"] = _wrapped(line, pixels, _SUBTITLE_LETTER)
    return wrapped


def _wrapped(text: str, pixels: float, letter: float = _AXIS_LETTER) -> list[str]:
    width = max(_SHORTEST_LINE, int(min(pixels, 1e6) / letter))
    whole = text.replace(" %", "\u00a0%")
    lines = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False)
    return lines or [text]


def _shortened(labels: str, most: int) -> str:
    """Return labels of at most some letters: first and last ones, which tell names apart."""
    names = names_of_labels(labels)
    if names is None:
        return labels
    ahead, behind = most // 2, most - most // 2 - 1
    short = [n if len(n) <= most else f"{n[:ahead]}…{n[len(n) - behind :]}" for n in names]
    return label_names(short)
