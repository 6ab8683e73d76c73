"""Names beside the points of a chart that cover neither points nor each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from confir.data.result import Record
from confir.report.charts import INK, Spec, end_field, field, mark

Point = tuple[float, float]
Align = Literal["left", "right", "center"]

# In pixels: width of a letter, height and maximum width of a name, radius of a point.
_LETTER, _LINE, _RADIUS = 6.0, 12.0, 5.0
LONGEST_NAME = 110

# Where a name may be, from its point: the nearest first, and of these the best direction.
_OFFSETS = np.array(
    [
        (distance * math.cos(angle), distance * math.sin(angle))
        for distance in (9.0, 16.0, 26.0, 38.0, 52.0, 68.0)
        for angle in map(math.radians, (0, 180, 90, 270, 45, 315, 135, 225))
    ]
)
_ALIGNED: list[Align] = [
    "center" if abs(across) < 1.0 else "left" if across > 0 else "right" for across, _ in _OFFSETS
]
# The share of its width that is left of its anchor.
_WIDTHS_BEFORE = np.array([{"left": 0.0, "center": 0.5, "right": 1.0}[one] for one in _ALIGNED])


class LabelPlace(NamedTuple):
    """Anchor of a name, in pixels from the lower left, and its alignment."""

    x: float
    y: float
    align: Align


def place_labels(
    points: Sequence[Point],
    names: Mapping[int, str],
    panel: tuple[float, float],
    texts: Sequence[tuple[Point, str]] = (),
    *,
    first_always: bool = False,
) -> dict[int, LabelPlace]:
    """Return the positions of names, by point; names without room are left out.

    Parameters
    ----------
    points
        All points, in pixels from the lower left of the panel.
    names
        Point → name, the most important first.
    panel
        Width and height.
    texts
        Other text, centred at points.
    first_always
        Whether the first name is placed even where it covers something.
    """
    taken = [(x - _RADIUS, x + _RADIUS, y - _RADIUS, y + _RADIUS) for x, y in points]
    for (x, y), text in texts:
        width = min(_LETTER * len(text), LONGEST_NAME)
        left = x - width / 2
        taken.append((left, left + width, y - _LINE / 2, y + _LINE / 2))
    places: dict[int, LabelPlace] = {}
    for number, name in names.items():
        xs, ys = (np.array(points[number]) + _OFFSETS).T
        width = min(_LETTER * len(name), LONGEST_NAME)
        lefts = xs - width * _WIDTHS_BEFORE
        # left, right, low and high of the name in each position
        boxes = np.stack([lefts, lefts + width, ys - _LINE / 2, ys + _LINE / 2], axis=1)
        inside = np.all((boxes[:, ::2] >= 0) & (boxes[:, 1::2] <= panel), axis=1)
        starts, ends = boxes[:, None, ::2], boxes[:, None, 1::2]
        others = np.array(taken)
        covered = ((starts < others[:, 1::2]) & (others[:, ::2] < ends)).all(axis=2).sum(axis=1)
        chosen = int(np.argmin(np.where(inside, covered, len(taken) + 1)))
        # the most important name may cover something
        if inside[chosen] and (not covered[chosen] or (first_always and not places)):
            places[number] = LabelPlace(float(xs[chosen]), float(ys[chosen]), _ALIGNED[chosen])
            taken.append(tuple(boxes[chosen].tolist()))
    return places


def label_fields(
    points: Sequence[Point],
    names: Mapping[int, str],
    panel: tuple[float, float],
    extents: tuple[Sequence[float], Sequence[float]],
    texts: Sequence[tuple[Point, str]] = (),
    *,
    texts_below: float = 0.0,
    first_always: bool = False,
) -> dict[int, Record]:
    """Return ``label_x``, ``label_y`` and ``align`` of the names that have room, by point.

    Parameters
    ----------
    points, names, panel, texts, first_always
        As in `place_labels`, with points and texts in units of the axes.
    extents
        The ends of the two axes.
    texts_below
        How far below its point a text is, in pixels.
    """
    low, high = np.array(extents, np.float64).T
    size = np.array(panel)
    inner = [*points, *(point for point, _ in texts)]
    pixels = (size * (np.reshape(inner, (-1, 2)) - low) / (high - low)).tolist()
    lowered = [
        ((x, y - texts_below), text)
        for (x, y), (_, text) in zip(pixels[len(points) :], texts, strict=True)
    ]
    placed = place_labels(pixels[: len(points)], names, panel, lowered, first_always=first_always)
    fields = {}
    for number, place in placed.items():
        x, y = (low + np.array(place[:2]) / size * (high - low)).tolist()
        fields[number] = {"label_x": x, "label_y": y, "align": place.align}
    return fields


def name_layers(base: Spec, name: str = "label", where: str = "", **look: Any) -> list[Spec]:
    """Return the layers of names, which a field of the records holds: one per alignment."""
    channels = base | {"x": field("label_x:Q"), "y": field("label_y:Q"), "text": field(f"{name}:N")}
    look = {"fontSize": 10, "limit": LONGEST_NAME, **look}
    return [
        mark("text", channels, where=f"{where}datum.align == '{align}'", align=align, **look)
        for align in ("left", "right", "center")
    ]


def name_threads(base: Spec, across: str, up: str, **given: Any) -> Spec:
    """Return lines from names to their points, whose fields are given."""
    ends = {"x": field("label_x:Q"), "y": field("label_y:Q"), "color": {"value": INK}}
    ends |= {"x2": end_field(f"{across}:Q"), "y2": end_field(f"{up}:Q")}
    return mark("rule", base | ends, strokeWidth=0.7, **given)
