"""Messages name and count things in correct English."""

import pytest

from confir.errors import counted, enumerate_numbers


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 topics"), (1, "1 topic"), (2, "2 topics"), (1200, "1,200 topics")]
)
def test_one_thing_is_singular(number, text):
    assert counted(number, "topic") == text


def test_an_irregular_plural_is_given():
    assert counted(2, "study", "studies") == "2 studies"
    assert counted(1, "study", "studies") == "1 study"


def test_numbered_things_are_singular_where_there_is_one():
    assert enumerate_numbers("line", [5]) == "line 5"
    assert enumerate_numbers("line", [5, 7]) == "lines 5, 7"
    assert enumerate_numbers("line", range(1, 13)).endswith("9, 10 and 2 more")
