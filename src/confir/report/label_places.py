"""Names beside the points of a chart that cover neither points nor each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from confir.data.result import Record
from confir.report.charts import INK, import_altair

Point = tuple[float, float]
Align = Literal["left", "right", "center"]

# In pixels: width of a letter, height and maximum width of a name, radius of a point.
_LETTER, _LINE, _RADIUS = 6.0, 12.0, 5.0
LONGEST_NAME = 110

# Distances and directions of a name from its point, the best first.
_DISTANCES = (9.0, 16.0, 26.0, 38.0, 52.0, 68.0)
_DIRECTIONS = tuple(math.radians(degrees) for degrees in (0, 180, 90, 270, 45, 315, 135, 225))


class LabelPlace(NamedTuple):
    """Anchor of a name, in pixels from the lower left, and its alignment."""

    x: float
    y: float
    align: Align


class _Box(NamedTuple):
    left: float
    right: float
    low: float
    high: float

    def is_inside(self, panel: tuple[float, float]) -> bool:
        across = self.left >= 0 and self.right <= panel[0]
        return across and self.low >= 0 and self.high <= panel[1]

    def meets(self, other: _Box) -> bool:
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.high <= other.low or other.high <= self.low)


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
    taken = [_Box(x - _RADIUS, x + _RADIUS, y - _RADIUS, y + _RADIUS) for x, y in points]
    taken += [_box(LabelPlace(x, y, "center"), text) for (x, y), text in texts]
    places: dict[int, LabelPlace] = {}
    for number, name in names.items():
        around = ((place, _box(place, name)) for place in _around(points[number]))
        inside = [(place, box) for place, box in around if box.is_inside(panel)]
        chosen = next((one for one in inside if not any(map(one[1].meets, taken))), None)
        if chosen is None and inside and first_always and not places:
            # the most important name covers the least
            chosen = min(inside, key=lambda one: sum(map(one[1].meets, taken)))
        if chosen is not None:
            places[number], box = chosen
            taken.append(box)
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

    def pixels(point: Point) -> Point:
        x, y = (
            size * (value - low) / (high - low)
            for size, value, (low, high) in zip(panel, point, extents, strict=True)
        )
        return x, y

    def value(pixel: float, axis: int) -> float:
        low, high = extents[axis]
        return float(low + pixel / panel[axis] * (high - low))

    lowered = [((x, y - texts_below), text) for (x, y), text in ((pixels(p), t) for p, t in texts)]
    placed = place_labels(
        [pixels(point) for point in points], names, panel, lowered, first_always=first_always
    )
    return {
        number: {"label_x": value(x, 0), "label_y": value(y, 1), "align": align}
        for number, (x, y, align) in placed.items()
    }


def name_layers(base: Any, field: str = "label", **mark: Any) -> list[Any]:
    """Return the layers of names, which a field of the records holds: one per alignment."""
    alt = import_altair()
    return [
        base.transform_filter(f"datum.align == '{align}'")
        .mark_text(align=align, fontSize=10, limit=LONGEST_NAME, **mark)
        .encode(x=alt.X("label_x:Q"), y=alt.Y("label_y:Q"), text=alt.Text(f"{field}:N"))
        for align in ("left", "right", "center")
    ]


def name_threads(base: Any, across: str, up: str) -> Any:
    """Return lines from names to their points, whose fields are given."""
    alt = import_altair()
    return base.mark_rule(strokeWidth=0.7).encode(
        x=alt.X("label_x:Q"),
        y=alt.Y("label_y:Q"),
        x2=alt.X2(f"{across}:Q"),
        y2=alt.Y2(f"{up}:Q"),
        color=alt.value(INK),
    )


def _around(point: Point) -> Iterator[LabelPlace]:
    """Yield the positions around a point, nearest first."""
    for distance in _DISTANCES:
        for direction in _DIRECTIONS:
            across, up = distance * math.cos(direction), distance * math.sin(direction)
            align: Align = "center" if abs(across) < 1.0 else "left" if across > 0 else "right"
            yield LabelPlace(point[0] + across, point[1] + up, align)


def _box(place: LabelPlace, name: str) -> _Box:
    width = min(_LETTER * len(name), LONGEST_NAME)
    before = {"left": 0.0, "right": width, "center": width / 2}[place.align]
    left = place.x - before
    return _Box(left, left + width, place.y - _LINE / 2, place.y + _LINE / 2)
