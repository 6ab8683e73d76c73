"""What are the topics of a sample called? Ids are kept of those alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from confir.data.long_tables.hashed_ids import Words, mix_words

# Topics whose ids are kept: those of a sample.
NAMED_TOPICS = 2_000


class NamedTopics:
    """The ids of the topics whose mixed keys are the smallest, by their keys."""

    def __init__(self) -> None:
        self._ids: dict[int, str] = {}
        self._largest = np.uint64(2**64 - 1)

    def add(self, keys: Words, ids: Any, rows_per_topic: int = 1) -> None:
        """Keep the ids, in an Arrow array, of those that are among the smallest so far."""
        mixed = mix_words(keys)
        places = np.flatnonzero(mixed <= self._largest)
        if not len(places):
            return
        places = places[np.argsort(mixed[places], kind="stable")[: rows_per_topic * NAMED_TOPICS]]
        self._keep(dict(zip(keys[places].tolist(), ids.take(places).to_pylist(), strict=True)))

    def merge(self, other: NamedTopics) -> None:
        """Keep the ids that another has, of those that are among the smallest of both."""
        self._keep(other._ids)

    def _keep(self, ids: dict[int, str]) -> None:
        if not ids:
            return
        self._ids |= ids
        kept = np.array(list(self._ids), np.uint64)
        order = np.argsort(mix_words(kept), kind="stable")[:NAMED_TOPICS]
        self._ids = {key: self._ids[key] for key in kept[order].tolist()}
        if len(order) == NAMED_TOPICS:
            self._largest = mix_words(kept[order[-1:]])[0]

    def find(self, keys: Words) -> list[str]:
        """Return the ids of topics by their keys."""
        return [self._ids[key] for key in keys.tolist()]
