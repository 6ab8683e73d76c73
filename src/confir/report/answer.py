"""Which run is best, how certain is that, and what limits the certainty? In sentences."""

from __future__ import annotations

from confir.report.contents import Contents
from confir.report.sections import in_order, section_sentences


def answer_sentences(contents: Contents) -> list[str]:
    """Return what the report finds by the first measure, most important first."""
    return [sentence.text for sentence in in_order(section_sentences(contents, "answer"))]
