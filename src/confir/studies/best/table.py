"""The board of runs below sentences on which of them may be the best."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from confir.errors import counted
from confir.number_text import SENTENCE_DECIMALS, number_text, topics_text
from confir.pairs.best_runs import BestRuns, TeamBoard
from confir.pairs.comparison import Comparison
from confir.pairs.decisions import OPPOSITE
from confir.report.messages import isolated, joined_names
from confir.report.result_table import result_table
from confir.report.tables import Table

BORDERLINE_SET = "borderline: another seed might change the set"

# More runs than this are counted in a sentence.
_MOST_NAMED = 3


def best_table(best: BestRuns, seed: int | None = None) -> Table:
    """Return the boards of all measures in one table: one row per measure and run, best first.

    Parameters
    ----------
    best
        What `find_best` returns.
    seed
        Seed of the replicates, for the note.
    """
    said = [best_sentence(best, m) for m in range(len(best.measures))]
    return result_table(best, "\n".join([*said, board_note(best, seed)]))


def set_text(in_set: bool | np.bool_, borderline: bool | np.bool_) -> str:
    """Return whether a run may be the best, and whether another seed might change that."""
    said = "yes" if in_set else "no"
    return f"{said}, borderline" if borderline else said


def best_sentence(best: BestRuns, measure: int = 0) -> str:
    """Return which runs may be the best by one measure, as a sentence without its full stop."""
    name = best.measures[measure]
    runs = int((best.topics[:, measure] > 0).sum())
    if runs == 0:
        return f"no run has scores by {name}"
    order = best.order(measure)
    first, top = order[0], isolated(best.runs[order[0]])
    if runs == 1:
        return f"{top} is the only run by {name}"
    level = f"{100 * best.level:g}% confidence"
    if best.resampled == "documents":
        level += ", over similar collections"
    members = int(best.in_set[:, measure].sum())
    if members == 1:
        return f"{top} is the best of the {counted(runs, 'run')} by {name} ({level})"
    numbers = (
        math.nan if array is None else float(array[first, measure])
        for array in (best.mean, best.low, best.high)
    )
    mean = number_text(*numbers, decimals=SENTENCE_DECIMALS)
    which = "each" if members == runs else f"{members:,}"
    first_ranked = (best.rank[:, measure] == 1) & (best.topics[:, measure] > 0)
    leaders = [best.runs[run] for run in order if first_ranked[run]]
    have = "has" if len(leaders) == 1 else "have"
    return (
        f"{joined_names(leaders)} {have} the highest {name}, {mean}; {which} of the {counted(runs, 'run')} may be the best "
        f"({level})"
    )


def excluded_sentence(
    best: BestRuns, comparison: Comparison, measure: int, what: str = "run"
) -> str:
    """Return why runs are ruled out though their pair with the best is inconclusive, if any are."""
    top = best.order(measure)[0]
    inconclusive = {
        run
        for run, word in comparison.verdicts_against(top, measure).items()
        if word not in OPPOSITE and not best.in_set[run, measure]
    }
    left = [best.runs[run] for run in best.order(measure) if run in inconclusive]
    return ruled_out_sentence(left, best.runs[top], what) if left else ""


def ruled_out_sentence(left: Sequence[str], best: str, what: str = "run") -> str:
    """Return why runs are ruled out as the best, though not significantly worse than it."""
    names = joined_names(left) if len(left) <= _MOST_NAMED else counted(len(left), what)
    return (
        f"{names} {'is' if len(left) == 1 else 'are'} ruled out as the best, though inconclusive against "
        f"{isolated(best)} among all pairs: the best set makes fewer comparisons"
    )


def teams_table(teams: TeamBoard) -> Table:
    """Return the teams by all measures in one table, best first: each by its best run."""
    return result_table(
        teams, "\n".join(team_sentence(teams, m) for m in range(len(teams.measures)))
    )


def team_sentence(teams: TeamBoard, measure: int) -> str:
    """Return which teams have a run that may be the best, as a sentence without its full stop."""
    first = teams.order(measure)[0]
    name, team = teams.measures[measure], isolated(teams.teams[first])
    numbers = (float(a[first, measure]) for a in (teams.mean, teams.low, teams.high))
    mean = number_text(*numbers, decimals=SENTENCE_DECIMALS)
    run = isolated(teams.best_runs[first][measure])
    members = int(teams.may_be_best[:, measure].sum())
    which = f"runs of {counted(members, 'team')}" if members > 1 else f"runs of {team} alone"
    every = counted(int(teams.runs.sum()), "run")
    return (
        f"Among {every} of {counted(len(teams.teams), 'team')}, {team} has the highest {name} ({run}, "
        f"{mean}); {which} may be the best ({100 * teams.level:g}% confidence)"
    )


def board_note(best: BestRuns, seed: int | None, *, has_gaps: bool = True) -> str:
    """Return what the columns of a board are, that of the gap if it has one."""
    level = f"{100 * best.level:g}%"
    mean = f"mean over {topics_text(best.topics, best.model_topics)}"
    if best.low is not None:
        mean += f" with {level} confidence interval (CI)"
    gap = f"gap: mean less the best of the others, with limits that are simultaneous for all runs ({level})"
    may_be = (
        "may be best: no other run is significantly better, adjusted for all other runs (Hsu 1984)"
    )
    parts = [mean, *([gap] if has_gaps else []), may_be]
    if best.borderline.any():
        parts.append(BORDERLINE_SET)
    return "; ".join(parts) + ("" if seed is None else f"; seed {seed}")
