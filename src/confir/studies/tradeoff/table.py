"""Tables of quality against cost: one row per run, the cheapest first."""

from __future__ import annotations

from confir.errors import counted
from confir.number_text import NumberText, frequency_text, interval_text, percent
from confir.report.tables import Cell, Table
from confir.studies.comparison.wording import BORDERLINE
from confir.studies.tradeoff.cost_comparison import FRONTIER, CostComparison


def tradeoff_table(comparison: CostComparison, seed: int | None = None) -> Table:
    """Return one row per cost, measure and run: cost and quality with intervals, and the verdict.

    Parameters
    ----------
    comparison
        What `compare_costs` returns.
    seed
        Seed of the replicates, for the note.
    """
    rows = tuple(
        _row(comparison, cost, run, measure)
        for cost in range(len(comparison.costs))
        for measure in range(len(comparison.measures))
        for run in comparison.order(cost)
    )
    columns = (
        "cost",
        "measure",
        "run",
        "verdict",
        "mean cost",
        "mean",
        "dominated by",
        "efficient",
    )
    return Table(columns, rows, _note(comparison, seed), names=4)


def _row(comparison: CostComparison, cost: int, run: int, measure: int) -> tuple[Cell, ...]:
    """Return the cells of one run."""
    quality = comparison.quality, comparison.quality_low, comparison.quality_high
    spent = comparison.cost, comparison.cost_low, comparison.cost_high
    status = str(comparison.status[cost, run, measure])
    by = comparison.dominated_by[cost][run][measure]
    more = f" and {len(by) - 1} more" if len(by) > 1 else ""
    texts = (
        comparison.costs[cost],
        comparison.measures[measure],
        comparison.runs[run],
        f"{status}, borderline" if comparison.borderline[cost, run, measure] else status,
        NumberText.of(*(float(part[cost, run]) for part in spent)),
        interval_text(*(float(part[run, measure]) for part in quality)),
        f"{by[0]}{more}" if by else "",
        frequency_text(float(comparison.share_frontier[cost, run, measure])),
    )
    return tuple(Cell(text, strong=status == FRONTIER) for text in texts)


def _note(comparison: CostComparison, seed: int | None) -> str:
    """Return the answers in words, and what the columns are."""
    note = (
        f"means with {percent(comparison.level)} intervals of each run, over "
        f"{counted(comparison.topics, 'topic')}; dominated: another run is significantly better and "
        "significantly cheaper; frontier: significantly better or significantly cheaper than every "
        "other run; simultaneous over all pairs in quality and in cost, for one measure and one cost; "
        "efficient: share of bootstrap samples of the topics in which no run is better and no dearer"
    )
    if comparison.borderline.any():
        note += f"; borderline: {BORDERLINE}"
    lines = [f"{sentence}." for sentence in comparison.sentences()]
    return "\n".join([*lines, note if seed is None else f"{note}; seed {seed}"])
