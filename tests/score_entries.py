"""Score tables for tests, from one entry per score."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from confir.data.scores import Scores
from confir.data.tables.input_table import encode_ids
from confir.data.tables.score_columns import ScoreEntries


def scores_from_entries(entries: Mapping[tuple[str, str, str], float]) -> Scores:
    """Return the table of the scores of (run, measure, topic)."""
    runs, measures, topics = (encode_ids(names) for names in zip(*entries, strict=True))
    values = np.array(list(entries.values()), np.float64)
    return ScoreEntries(runs, measures, topics.in_order(), values).to_scores()
