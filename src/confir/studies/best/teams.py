"""Teams by their best runs, among the runs of all, and those that may be the best."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

import numpy as np

from confir.arrays import Booleans, Floats, Integers, best_first, ranks_by_mean
from confir.data.result import Record, Result, axis, constant, over, result
from confir.data.table_columns import LIMITS, MEASURE_AND_RUN, Role, TableColumn, TableColumns
from confir.errors import TopicMismatchError, counted, enumerate_names
from confir.studies.best.best_runs import BestRuns


@result
class TeamBoard(Result):
    """The teams by their best runs: arrays are teams × measures.

    The confidence set is that of the best of all runs, so that no choice among a team's runs needs a
    correction.

    Attributes
    ----------
    teams, measures
        Names.
    best_runs
        The team's run with the highest mean.
    rank
        Rank of that run among those of the teams, 1 the highest.
    mean, low, high
        Its mean with the limits of its interval.
    runs
        Number of the team's runs, and of those that may be the best: ``candidates``.
    may_be_best
        Whether any of its runs may be the best.
    level
        Confidence level.
    """

    teams: tuple[str, ...] = axis("team")
    measures: tuple[str, ...] = axis("measure")
    rank: Integers = over("team", "measure")
    best_runs: tuple[tuple[str, ...], ...] = over("team", "measure", column="run")
    mean: Floats = over("team", "measure")
    low: Floats = over("team", "measure")
    high: Floats = over("team", "measure")
    may_be_best: Booleans = over("team", "measure")
    candidates: Integers = over("team", "measure")
    runs: Integers = over("team")
    level: float = constant()

    row_order = ("measure", "team")
    best_by = "mean"
    bold_means = "may be best"
    record_columns = (
        *("measure", "rank", "team", "run", "mean", "low", "high", "may_be_best", "candidates"),
        *("runs", "level"),
    )

    def order(self, measure: int) -> list[int]:
        """Return the numbers of the teams by a measure, best first."""
        return best_first(self.mean[:, measure])

    def table_columns(self) -> TableColumns:
        """Return how the columns read."""
        return {
            "measure": MEASURE_AND_RUN["measure"],
            "rank": TableColumn(Role.NAME, text=lambda record: f"{record['rank']:,}"),
            "team": TableColumn(Role.NAME, bold=itemgetter("may_be_best")),
            "run": TableColumn(Role.NAME, "best run"),
            "mean": TableColumn(Role.SCORE, others=LIMITS),
            "may_be_best": TableColumn(Role.VERDICT, text=_candidates_text),
        }


def _candidates_text(record: Record) -> str:
    if not record["may_be_best"]:
        return "no"
    return f"yes, {record['candidates']:,} of {counted(record['runs'], 'run')}"


def rank_teams(best: BestRuns, teams: Mapping[str, str]) -> TeamBoard:
    """Return the teams by their best runs.

    Parameters
    ----------
    best
        What `find_best` returns, of the runs of all teams.
    teams
        The team of each run.
    """
    lacking = [run for run in best.runs if run not in teams]
    if lacking:
        raise TopicMismatchError(
            f"no team is given for {enumerate_names(lacking, 5)}; expected one for each run"
        )
    names = tuple(dict.fromkeys(teams[run] for run in best.runs))
    of_team = [np.array([teams[run] == name for run in best.runs]) for name in names]
    unknown = np.full_like(best.mean, np.nan)
    low = unknown if best.low is None else best.low
    high = unknown if best.high is None else best.high
    # a run without scores by a measure comes after all others of its team
    known = np.nan_to_num(best.mean, nan=-np.inf)
    places = np.stack([np.where(own[:, None], known, -np.inf).argmax(axis=0) for own in of_team])
    places = np.where(
        np.isneginf(np.take_along_axis(known, places, axis=0)),
        np.array([[int(np.flatnonzero(own)[0])] for own in of_team]),
        places,
    )
    top = np.take_along_axis(known, places, axis=0)
    candidates = np.stack([best.in_set[own].sum(axis=0) for own in of_team])
    return TeamBoard(
        teams=names,
        measures=best.measures,
        rank=ranks_by_mean(top),
        best_runs=tuple(tuple(best.runs[place] for place in row) for row in places.tolist()),
        mean=np.take_along_axis(best.mean, places, axis=0),
        low=np.take_along_axis(low, places, axis=0),
        high=np.take_along_axis(high, places, axis=0),
        may_be_best=candidates > 0,
        candidates=candidates,
        runs=np.array([int(own.sum()) for own in of_team]),
        level=best.level,
    )
