"""Tables of ranks."""

from __future__ import annotations

import numpy as np

from confir.number_text import frequency_text, number_text, percent, topics_text
from confir.report.tables import Cell, Table
from confir.studies.ranks.ranking import Ranking


def ranking_table(ranking: Ranking, note: str | None = None) -> Table:
    """Return a table of ranks with both intervals, means, and how often each run ranks first.

    That is a share of bootstrap samples of the topics, not a probability.
    """
    several = len(ranking.measures) > 1
    rows = tuple(
        (
            *([Cell(ranking.measures[m])] if several else []),
            Cell(ranking.runs[r]),
            Cell(number_text(ranking.mean[r, m])),
            Cell(f"{ranking.rank[r, m]:,}", bool(ranking.rank[r, m] == 1)),
            Cell(f"{ranking.low[r, m]:,} to {ranking.high[r, m]:,}"),
            Cell(
                f"{ranking.simultaneous_low[r, m]} to {ranking.simultaneous_high[r, m]}"
                + (", borderline" if ranking.borderline[r, m] else "")
            ),
            Cell(frequency_text(ranking.share_first[r, m])),
        )
        for m in range(len(ranking.measures))
        for r in np.argsort(ranking.rank[:, m], kind="stable").tolist()
    )
    names = ("measure", "run") if several else ("run",)
    columns = (*names, "mean", "rank", "interval", "simultaneous", "first")
    return Table(columns, rows, ranking_note(ranking) if note is None else note, len(names))


def ranking_note(ranking: Ranking, seed: int | None = None) -> str:
    """Return what the columns of a table of ranks are."""
    note = (
        f"means and ranks over {topics_text(ranking.topics, ranking.model_topics)}; {percent(ranking.level)} interval of "
        "the rank of each run on its own, and simultaneous, of all ranks at once; first: share of "
        "bootstrap samples of the topics in which the run ranks first"
    )
    if ranking.borderline.any():
        note += "; borderline: other replicates might change a limit"
    return note if seed is None else f"{note}; seed {seed}"
