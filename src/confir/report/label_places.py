"""Where can labels be placed without covering points or each other?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

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

    def meets(self, other: _Box) -> bool:
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.high <= other.low or other.high <= self.low)


def place_labels(
    points: Sequence[Point],
    names: Mapping[int, str],
    panel: tuple[float, float],
    texts: Sequence[tuple[Point, str]] = (),
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
    """
    taken = [_Box(x - _RADIUS, x + _RADIUS, y - _RADIUS, y + _RADIUS) for x, y in points]
    taken += [_box(LabelPlace(x, y, "center"), text) for (x, y), text in texts]
    places: dict[int, LabelPlace] = {}
    for number, name in names.items():
        for place in _around(points[number]):
            box = _box(place, name)
            inside = box.left >= 0 and box.right <= panel[0] and box.low >= 0
            if inside and box.high <= panel[1] and not any(map(box.meets, taken)):
                places[number] = place
                taken.append(box)
                break
    return places


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
