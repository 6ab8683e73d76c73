"""Texts of a figure state their lengths, and remain well-formed."""

from xml.etree import ElementTree as ET

from confir.report.svg_text import with_text_lengths


def test_empty_texts_stay_closed_and_the_others_state_their_lengths():
    svg = '<svg><text fill="#000"/><g><text font-size="10px">mean</text></g><text></text></svg>'
    empty, shown, blank = ET.fromstring(with_text_lengths(svg)).iter("text")  # noqa: S314
    assert (shown.text, empty.attrib, blank.attrib) == ("mean", {"fill": "#000"}, {})
    assert float(shown.attrib["textLength"]) > 0
