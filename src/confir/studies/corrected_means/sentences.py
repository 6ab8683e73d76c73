"""Sentences on means that human judgements correct."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confir.arrays import Booleans
from confir.data.sampling.judged_scores import SampledScores
from confir.errors import counted, enumerate_names


def sampled_note(scores: SampledScores, seed: int | None = None) -> str:
    """Return which documents people judged, and how much their draw adds to the variance."""
    share = scores.document_share()
    known = share[np.isfinite(share)]
    part = (
        f"; the draw makes up {100 * known.mean():.0f}% of the variance of means"
        if len(known)
        else ""
    )
    if part and scores.draw_replicates:
        by = counted(scores.draw_replicates, "replicate")
        part += f" (by {by} of it{'' if seed is None else f', seed {seed}'})"
    return (
        f"by people's judgements of {scores.human_documents:,} of "
        f"{counted(scores.model_documents, 'document')}, drawn at random, and the model's of all{part}"
    )


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
        text = f"people judged all topics: {what} are by their judgements, the model's add nothing"
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
