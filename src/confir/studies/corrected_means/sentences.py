"""Sentences on means that human judgements correct."""

from __future__ import annotations

from collections.abc import Sequence

from confir.arrays import Booleans
from confir.errors import enumerate_names


def model_notes(
    measures: Sequence[str], useless: Booleans, model_topics: int, what: str = "means"
) -> list[str]:
    """Return where the model's judgements add nothing, and why: a sentence each, or none.

    Parameters
    ----------
    measures, useless
        Names, and where the model does not lower the variance: runs or pairs × measures.
    model_topics
        Topics that only the model judged.
    what
        What was estimated.
    """
    if not model_topics:
        text = f"humans judged all topics: {what} are by their judgements, the model's add nothing"
        return [text]
    without = {measure: int(useless[:, m].sum()) for m, measure in enumerate(measures)}
    every = [measure for measure, count in without.items() if count == len(useless)]
    some = [
        f"{count:,} of {len(useless):,} {what} by {measure}"
        for measure, count in without.items()
        if 0 < count < len(useless)
    ]
    alone = "their intervals are no narrower than those of the human topics alone"
    found = {"carry no information on": every, "add no precision to": some}
    return [
        f"the model's judgements {what_not} {enumerate_names(names)}: {alone}"
        for what_not, names in found.items()
        if names
    ]
