"""The table of what runs lose without their teams' contributions, and what it says in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from confir.data.result import Record
from confir.errors import counted
from confir.number_text import (
    difference_text,
    limits_text,
    number_text,
    percent,
    share_text,
    topics_text,
)
from confir.order import best_first
from confir.report.tables import Cell, Table, with_design_note
from confir.studies.reusability.reusability import Reusability


def reusability_table(reusability: Reusability) -> Table:
    """Return one row per measure and run, best first: means, drop with interval, and ranks."""
    records = {(one["measure"], one["run"]): one for one in reusability.to_records()}
    bounded = reusability.lowest is not None
    rows = tuple(
        _row(records[measure, reusability.runs[r]], bounded=bounded)
        for m, measure in enumerate(reusability.measures)
        for r in best_first(reusability.mean[:, m])
    )
    columns = ("measure", "run", "team", "mean", "left out", "drop", "rank", "unique")
    bounds = ("bounds",) if bounded else ()
    note = "\n".join(reusability_notes(reusability))
    table = Table((*columns, *bounds), rows, note, names=3)
    return with_design_note(table, reusability.design)


def _row(record: Record, *, bounded: bool) -> tuple[Cell, ...]:
    rank, left_out = record["rank"], record["left_out_rank"]
    texts = [
        *(record["measure"], record["run"], record["team"]),
        number_text(record["mean"]),
        number_text(record["left_out"]),
        difference_text(record["drop"], record["low"], record["high"]),
        str(rank) if rank == left_out else f"{rank} → {left_out}",
        f"{record['unique']:,}",
    ]
    if bounded:
        texts.append(limits_text(record["lowest"], record["highest"]))
    return tuple(map(Cell, texts))


def reusability_notes(reusability: Reusability) -> Iterator[str]:
    """Yield the lines below the table: the answer in words, then what the numbers are."""
    yield from reusability.sentences()
    yield from (
        f"Leaderboard with every run scored without its team, by {measure}: τ_b "
        f"{number_text(float(reusability.tau[m]))}, τ_AP {number_text(float(reusability.tau_ap[m]))}."
        for m, measure in enumerate(reusability.measures)
    )
    yield (
        f"{share_text(reusability.unique_share)} of {reusability.relevant:,} relevant documents were "
        f"contributed by a single team.{_overstated(reusability)}"
    )
    if reusability.lowest is not None:
        yield from _bounds_notes(reusability)
    pool = "named contributors"
    if reusability.pool_depth is not None:
        pool = f"the pool of the first {counted(reusability.pool_depth, 'document')} of these runs"
    yield (
        "mean by all judgements, and left out: without the documents that only the run's team "
        f"contributed, by {pool}; drop with {percent(reusability.level)} interval by t, over "
        f"{topics_text(reusability.topics)}; unique: relevant documents of the team alone"
    )


def _overstated(reusability: Reusability) -> str:
    """Return the caution where the runs' own pool lacks relevant documents; else nothing."""
    if not reusability.outside or reusability.pool_depth is None:
        return ""
    share = share_text(reusability.outside / reusability.relevant)
    return (
        f" {share} are in no given run's part of the pool: other teams or deeper ranks contributed "
        "them, so uniqueness and drops are overstated."
    )


def _bounds_notes(reusability: Reusability) -> Iterator[str]:
    """Yield for each measure how many bounds contain the mean by all judgements."""
    lowest, highest = reusability.lowest, reusability.highest
    if lowest is None or highest is None:
        return
    for m, measure in enumerate(reusability.measures):
        width = float((highest - lowest)[:, m].mean())
        if not math.isnan(width):
            inside = int(reusability.within_bounds[:, m].sum())
            yield (
                f"By {measure}, bounds of the left-out mean over unjudged documents contain the mean "
                f"by all judgements for {inside} of {counted(len(reusability.runs), 'run')}; their "
                f"mean width is {number_text(width)}."
            )
