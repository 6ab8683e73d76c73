"""What does the page hold for the reader to switch between? The results, as compact JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from confir.arrays import Floats, Integers
from confir.report.answer import NOT_COMPARED, pair_verdicts, verdicts_against
from confir.report.contents import Contents, MeasureContents
from confir.report.figures import MATRIX_RUNS
from confir.report.numbers import number_text, topics_text
from confir.report.records import finite_or_none
from confir.report.tables import Table
from confir.studies.comparison import Comparison, Place
from confir.studies.topic_difficulty import describe_topics
from confir.studies.verdicts import INCONCLUSIVE, VERDICTS, signed

# More digits of a topic's score than are shown, so that differences are right in those shown.
_SCORE_DIGITS = 9

# Verdicts by number, which is shorter.
_WORDS = (*VERDICTS, NOT_COMPARED)


def page_data(contents: Contents) -> dict[str, Any]:
    """Return what the page shows by measure, level, run and pair."""
    return {
        "level": contents.settings.level,
        "levels": list(contents.settings.levels),
        "runs": list(contents.scores.runs),
        "topics": list(contents.scores.topics),
        "verdicts": list(_WORDS),
        "measures": [_measure(part) for part in contents.measures],
    }


def level_key(level: float) -> str:
    """Return a level as the page spells it."""
    return repr(level)


def _measure(contents: MeasureContents) -> dict[str, Any]:
    """Return the results of one measure; arrays are in the order of the runs."""
    order = contents.order()
    difficulty = describe_topics(contents.scores)
    first = next(iter(contents.intervals.values()))
    ranking = next(iter(contents.rankings.values()), None)
    return {
        "name": contents.measure,
        "method": first.method,
        "order": order,
        "mean": shown(first.estimate),
        "topics": first.topics.reshape(-1).tolist(),
        "over": topics_text(first.topics),
        "ranked_on": None if ranking is None else topics_text(ranking.topics),
        "rank": None if ranking is None else ranking.rank[:, 0].tolist(),
        "p_best": None if ranking is None else shown(ranking.p_best),
        "at": {
            level_key(level): _at_level(contents, level, order[0]) for level in contents.intervals
        },
        "pairs": _pairs(contents, order) if contents.comparisons else None,
        "scores": _rounded(contents.scores.values[:, :, 0].T),
        "difficulty": {
            name: _rounded(getattr(difficulty, name)[:, 0])
            for name in ("lowest", "median", "highest")
        },
    }


def _at_level(contents: MeasureContents, level: float, best: int) -> dict[str, Any]:
    """Return what depends on the level: limits of means and ranks, and verdicts on the best run."""
    interval = contents.intervals[level]
    entry: dict[str, Any] = {"low": shown(interval.low), "high": shown(interval.high)}
    if contents.rankings:
        ranking = contents.rankings[level]
        entry |= {"rank_low": ranking.low[:, 0].tolist(), "rank_high": ranking.high[:, 0].tolist()}
    if contents.comparisons:
        verdicts = verdicts_against(contents.comparisons[level], best)
        entry["best_is"] = [
            _WORDS.index(verdicts.get(place, INCONCLUSIVE))
            for place in range(len(contents.scores.runs))
        ]
    return entry


def _pairs(contents: MeasureContents, order: Sequence[int]) -> dict[str, Any]:
    """Return the differences between the best runs: second minus first."""
    comparisons = contents.comparisons
    first = next(iter(comparisons.values()))
    among = np.isin(np.stack([first.first, first.second]), order[:MATRIX_RUNS]).all(axis=0)
    kept = np.flatnonzero(among)
    return {
        "first": first.first[kept].tolist(),
        "second": first.second[kept].tolist(),
        "difference": shown_differences(first.difference[kept, 0]),
        "p_adjusted": shown(first.p_adjusted[0, kept, 0]),
        "wins": first.wins[kept, 0].tolist(),
        "ties": first.ties[kept, 0].tolist(),
        "losses": first.losses[kept, 0].tolist(),
        "at": {
            level_key(level): _pairs_at(comparison, kept)
            for level, comparison in comparisons.items()
        },
    }


def _pairs_at(comparison: Comparison, kept: Integers) -> dict[str, Any]:
    words = pair_verdicts(comparison)
    return {
        "low": shown_differences(comparison.low[kept, 0]),
        "high": shown_differences(comparison.high[kept, 0]),
        "verdict": [_WORDS.index(words[pair]) for pair in kept.tolist()],
        "reason": [comparison.decision(Place(0, pair, 0)).reason for pair in kept.tolist()],
    }


def table_data(table: Table) -> dict[str, Any]:
    """Return a table as the page builds it: texts, and which columns name a row."""
    return {
        "columns": list(table.columns),
        "names": table.names,
        "rows": [[cell.text for cell in row] for row in table.rows],
        "strong": [[int(cell.strong) for cell in row] for row in table.rows],
        "note": table.note,
    }


def shown(values: Floats) -> list[float | None]:
    """Return numbers in the digits in which tables show them; None where there is none."""
    return [_shown(value) for value in np.asarray(values, np.float64).reshape(-1).tolist()]


def _shown(value: float) -> float | None:
    return None if math.isnan(value) else float(number_text(value))


def shown_differences(values: Floats) -> list[float | None]:
    """Return differences in the digits in which `signed` writes them; None where there is none."""
    numbers = np.asarray(values, np.float64).reshape(-1).tolist()
    return [None if math.isnan(value) else float(signed(value)) for value in numbers]


def _rounded(values: Floats) -> Any:
    """Return nested lists of scores; None where there is none."""
    return _without_nan(np.round(values, _SCORE_DIGITS).tolist())


def _without_nan(values: Any) -> Any:
    if isinstance(values, Iterable):
        return [_without_nan(value) for value in values]
    return finite_or_none(values)
