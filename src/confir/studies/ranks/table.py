"""Tables of ranks."""

from __future__ import annotations

import numpy as np

from confir.report.numbers import frequency_text, percent, topics_text
from confir.report.tables import Cell, Table
from confir.studies.ranks.ranking import Ranking


def ranking_table(ranking: Ranking, note: str | None = None) -> Table:
    """Return a table of ranks with intervals, and how often each run is best.

    That is the share of bootstrap samples of the topics in which it is best, not a probability.
    """
    rows = tuple(
        (
            Cell(ranking.runs[r]),
            *(
                Cell(
                    f"{ranking.rank[r, m]} [{ranking.low[r, m]}, {ranking.high[r, m]}]  "
                    f"{frequency_text(ranking.p_best[r, m])}",
                    bool(ranking.rank[r, m] == 1),
                )
                for m in range(len(ranking.measures))
            ),
        )
        for r in np.argsort(ranking.rank[:, 0], kind="stable").tolist()
    )
    if note is None:
        note = (
            f"rank with {percent(ranking.level)} interval, and share of bootstrap samples of "
            f"{topics_text(ranking.topics)} in which the run is best"
        )
    return Table(("run", *ranking.measures), rows, note)
