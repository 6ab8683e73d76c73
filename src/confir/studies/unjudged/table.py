"""Tables of means beside what unjudged documents could make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.errors import enumerate_names
from confir.number_text import interval_text, limits_text, number_text, percent, share_text
from confir.order import best_first, signed
from confir.report.tables import Cell, RowBeside, Table
from confir.studies.unjudged.bounds import UnjudgedBounds
from confir.studies.unjudged.differences import UnjudgedDifferences
from confir.studies.unjudged.estimates import UnjudgedEstimate


def unjudged_bounds_table(bounds: UnjudgedBounds) -> Table:
    """Return a table of means with their bounds: one row per run and measure, best first."""
    return means_table(bounds, ("lowest", "highest"), bounds.judged, "judged", bounds_note(bounds))


def unjudged_estimate_table(estimate: UnjudgedEstimate) -> Table:
    """Return a table of means beside estimates: one row per run and measure, best first."""
    drawn = estimate.replicates > 0
    names = ("estimate", "low", "high") if drawn else ("estimate",)
    return means_table(estimate, names, estimate.judged, "judged", estimate_note(estimate))


def means_table(
    result: Any,
    names: Sequence[str],
    shares: Floats,
    heading: str,
    note: str,
) -> Table:
    """Return a table of means, of some numbers beside them, and of a share of documents.

    Parameters
    ----------
    result
        What has the means and the numbers, each runs × measures.
    names
        The numbers.
    shares, heading
        Shares, runs × measures, and what they are shares of.
    note
        What the numbers are.
    """
    numbers = [getattr(result, name) for name in ("mean", *names)]
    rows = [
        (
            Cell(result.measures[m]),
            Cell(result.runs[r]),
            *(Cell(number_text(float(values[r, m]))) for values in numbers),
            Cell(share_text(float(shares[r, m]))),
        )
        for m in range(len(result.measures))
        for r in best_first(numbers[0][:, m])
    ]
    return Table(("measure", "run", "mean", *names, heading), tuple(rows), note, names=2)


def bounds_note(bounds: UnjudgedBounds) -> str:
    """Return what the bounds are, and which documents they are over."""
    depths: dict[int | None, list[str]] = {}
    for measure, depth in zip(bounds.measures, bounds.depths, strict=True):
        depths.setdefault(depth, []).append(measure)
    several = len(depths) > 1
    parts = [
        ("the lists" if depth is None else f"the first {depth}")
        + (f" ({enumerate_names(measures, 5)})" if several else "")
        for depth, measures in depths.items()
    ]
    return (
        "unjudged: lowest and highest mean if unjudged documents were judged, all that any run has in "
        f"{' or '.join(parts)}"
    )


def estimate_note(estimate: UnjudgedEstimate) -> str:
    """Return what an estimate is."""
    if not estimate.replicates:
        return "condensed: unjudged documents are left out of the lists, as by trec_eval -J"
    deepest = max(estimate.depths)
    if not deepest:
        return "resample: too few documents are judged to draw judgements of the others from"
    return (
        f"resample: expected mean and {percent(estimate.level)} interval over {estimate.replicates:,} "
        f"draws of judgements for unjudged documents, down to rank {deepest}, at the pool's own rates"
    )


def unjudged_rows(result: UnjudgedBounds | UnjudgedEstimate) -> list[RowBeside]:
    """Return rows to stand below each run's means: bounds or estimate, and the share judged."""
    if isinstance(result, UnjudgedBounds):
        label, shown = "unjudged", texts(limits_text, result.lowest, result.highest)
    elif result.replicates:
        label = result.treatment
        shown = texts(interval_text, result.estimate, result.low, result.high)
    else:
        label, shown = result.treatment, texts(number_text, result.estimate)
    return [
        RowBeside(label, result.runs, shown),
        RowBeside("judged", result.runs, texts(share_text, result.judged)),
    ]


def texts(write: Callable[..., str], *numbers: Floats) -> list[list[str]]:
    """Return numbers as texts, runs × measures."""
    return [[write(*values) for values in row] for row in np.stack(numbers, axis=2).tolist()]


def unjudged_difference_table(differences: UnjudgedDifferences) -> Table:
    """Return a table of differences with their bounds: one row per measure and run."""
    rows = [
        (
            Cell(record["measure"]),
            Cell(record["run"]),
            *(Cell(signed(record[name])) for name in ("difference", "lowest", "highest")),
            Cell("yes" if record["exact"] else "no"),
        )
        for record in differences.to_records()
    ]
    note = (
        f"difference from {differences.baseline}; lowest and highest if unjudged documents were "
        "judged, once for both runs; exact: whether some judgements reach them"
    )
    columns = ("measure", "run", "difference", "lowest", "highest", "exact")
    return Table(columns, tuple(rows), note, names=2)
