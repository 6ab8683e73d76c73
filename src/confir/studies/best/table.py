"""Tables and sentences about the best run."""

from __future__ import annotations

import numpy as np

from confir.arrays import Integers
from confir.errors import counted
from confir.order import best_first
from confir.report.names import list_runs
from confir.report.numbers import (
    difference_text,
    frequency_text,
    number_text,
    p_text,
    percent,
    topics_text,
)
from confir.report.tables import Cell, Table
from confir.studies.best.best_runs import BestRuns


def best_table(best: BestRuns, seed: int | None = None) -> Table:
    """Return a table of runs, those that may be the best first: one row per run and measure.

    Parameters
    ----------
    best
        What `find_best` returns.
    seed
        Seed of the replicates, for the note.
    """
    several = len(best.measures) > 1
    rows = tuple(
        (
            *([Cell(best.measures[m])] if several else []),
            Cell(best.runs[r], strong=bool(best.in_set[r, m])),
            Cell(_in_set_text(best, r, m)),
            Cell(number_text(best.mean[r, m])),
            Cell(difference_text(best.difference[r, m], best.lower[r, m], best.upper[r, m])),
            Cell(p_text(best.p[r, m])),
            Cell(frequency_text(best.share_first[r, m])),
        )
        for m in range(len(best.measures))
        for r in best_order(best, m).tolist()
    )
    names = ("measure", "run") if several else ("run",)
    columns = (*names, "in set", "mean", "gap", "p", "first")
    return Table(columns, rows, _note(best, seed), names=len(names) + 1)


def _in_set_text(best: BestRuns, run: int, measure: int) -> str:
    said = "yes" if best.in_set[run, measure] else "no"
    return f"{said}, borderline" if best.borderline[run, measure] else said


def best_order(best: BestRuns, measure: int) -> Integers:
    """Return the places of the runs: those of the set first, then by the mean, best first."""
    by_mean = np.array(best_first(best.mean[:, measure]))
    order: Integers = by_mean[np.argsort(~best.in_set[by_mean, measure], kind="stable")]
    return order


def best_sentence(best: BestRuns, measure: int = 0) -> str:
    """Return which runs may be the best by one measure, as a sentence without its full stop."""
    members = [best.runs[r] for r in best_order(best, measure).tolist() if best.in_set[r, measure]]
    runs = int((best.topics[:, measure] > 0).sum())
    said = f"{percent(best.level)} confidence set of the best run by {best.measures[measure]}: "
    if len(members) == runs > 1:
        return f"{said}all {counted(runs, 'run')}; none can be excluded"
    return f"{said}{len(members):,} of {counted(runs, 'run')}: {list_runs(members)}"


def best_words_table(best: BestRuns) -> Table:
    """Return a table of the sets of the best run as sentences, one per measure."""
    sentences = (best_sentence(best, measure) for measure in range(len(best.measures)))
    return Table(("best run",), tuple((Cell(sentence),) for sentence in sentences))


def _note(best: BestRuns, seed: int | None) -> str:
    sets = "\n".join(best_sentence(best, m) for m in range(len(best.measures)))
    note = (
        f"{sets}\nin set: no other run is significantly better, adjusted for all other runs (Hsu 1984, "
        f"one-sided; {topics_text(best.topics, best.model_topics)}); gap: difference from "
        "the best of the others with its limits, simultaneous for all runs; p: p-value of no other run being better; first: "
        "share of bootstrap samples of the topics in which it ranks first"
    )
    if best.borderline.any():
        note += "; borderline: other replicates might change the set"
    return note if seed is None else f"{note}; seed {seed}"
