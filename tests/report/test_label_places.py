"""Names next to points cover neither points nor one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confir.report import label_places
from confir.report.label_places import LabelPlace, place_labels

PANEL = (240.0, 220.0)
PIXELS = st.tuples(st.floats(0, 240), st.floats(0, 220))


def extent(place, name):
    """Left, right, low and high of a name, by its letters."""
    width = min(6.0 * len(name), 110.0)
    left = place.x - {"left": 0.0, "right": width, "center": width / 2}[place.align]
    return left, left + width, place.y - 6.0, place.y + 6.0


def overlap(one, other):
    return (
        min(one[1], other[1]) - max(one[0], other[0]) > 1e-9
        and min(one[3], other[3]) - max(one[2], other[2]) > 1e-9
    )


@given(st.lists(PIXELS, min_size=1, max_size=40), st.lists(st.integers(1, 30), max_size=12))
def test_no_name_covers_a_point_or_another_name(points, lengths):
    names = {n: "x" * length for n, length in enumerate(lengths[: len(points)])}
    places = place_labels(points, names, PANEL)
    boxes = [extent(place, names[n]) for n, place in places.items()]
    for b, box in enumerate(boxes):
        assert box[0] >= 0
        assert box[1] <= PANEL[0]
        assert box[2] >= 0
        assert box[3] <= PANEL[1]
        assert not any(overlap(box, (x - 5, x + 5, y - 5, y + 5)) for x, y in points)
        assert not any(overlap(box, other) for other in boxes[:b])


def test_a_lonely_point_has_its_name_on_the_right_or_on_the_left_at_the_edge():
    assert place_labels([(100, 100)], {0: "run"}, PANEL) == {0: LabelPlace(109, 100, "left")}
    assert place_labels([(235, 100)], {0: "run"}, PANEL) == {0: LabelPlace(226, 100, "right")}


def test_what_is_written_already_is_kept_free():
    written = [((112.0, 100.0), "0.02")]
    (place,) = place_labels([(100, 100)], {0: "run"}, PANEL, written).values()
    assert not overlap(extent(place, "run"), (100.0, 124.0, 94.0, 106.0))


def test_the_first_names_are_the_most_important():
    points = [(120.0 + 3 * n, 110.0) for n in range(9)]
    assert 4 in place_labels(points, {4: "best", **dict.fromkeys(range(9), "x" * 18)}, PANEL)


def test_where_there_is_no_room_there_is_no_name():
    crowd = [(float(x), float(y)) for x in np.arange(0, 241, 8) for y in np.arange(0, 221, 8)]
    assert place_labels(crowd, {0: "run", 400: "other"}, PANEL) == {}
    assert list(place_labels(crowd, {0: "run", 400: "other"}, PANEL, first_always=True)) == [0]
    assert place_labels([(5.0, 5.0)], {0: "run"}, (20.0, 10.0)) == {}


@pytest.mark.parametrize("name", ["x" * 200, "x" * 19])
def test_long_names_take_what_is_shown_of_them(name):
    (place,) = place_labels([(60.0, 100.0)], {0: name}, PANEL).values()
    assert place.align == "left"
    assert extent(place, name)[1] == 69 + label_places.LONGEST_NAME
