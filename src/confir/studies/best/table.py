"""Tables and sentences about the best run."""

from __future__ import annotations

import numpy as np

from confir.arrays import Integers
from confir.errors import counted
from confir.order import best_first
from confir.report.names import list_runs
from confir.report.numbers import frequency_text, number_text, p_text, percent, topics_text
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
            Cell("yes" if best.in_set[r, m] else "no"),
            Cell(number_text(best.mean[r, m])),
            Cell(number_text(best.upper[r, m])),
            Cell(p_text(best.p[r, m])),
            Cell(frequency_text(best.share_first[r, m])),
        )
        for m in range(len(best.measures))
        for r in best_order(best, m).tolist()
    )
    names = ("measure", "run") if several else ("run",)
    columns = (*names, "in set", "mean", "above", "p", "first")
    return Table(columns, rows, _note(best, seed), names=len(names) + 1)


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
        f"one-sided; {topics_text(best.topics, best.model_topics)}); above: upper confidence limit of "
        "the difference from the best of the others; p: p-value of no other run being better; first: "
        "share of bootstrap samples of the topics in which it ranks first"
    )
    return note if seed is None else f"{note}; seed {seed}"
