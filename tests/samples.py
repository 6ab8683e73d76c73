"""The sample collection, simulated once by a process, and the same with short lists, which cost less."""

from functools import cache

import numpy as np

from confir.data.run import Run
from confir.data.simulation import Collection, sample_collection

DEPTH = 100


@cache
def whole_sample() -> Collection:
    return sample_collection()


@cache
def short_sample() -> Collection:
    """Return the sample with the first 100 of the 1000 documents of each list."""
    whole = whole_sample()
    return Collection(whole.qrels, tuple(map(shortened, whole.runs)))


def shortened(run: Run) -> Run:
    kept = [
        place
        for start, stop in zip(run.offsets[:-1], run.offsets[1:], strict=True)
        for place in range(start, min(start + DEPTH, stop))
    ]
    sizes = np.minimum(np.diff(run.offsets), DEPTH)
    documents = tuple(run.documents[place] for place in kept)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Run(run.name, run.topics, offsets, documents, run.scores[kept])
