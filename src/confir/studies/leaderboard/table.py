"""Tables of leaderboards over datasets: one row per run, one column per dataset."""

from __future__ import annotations

import math

from confir.errors import counted
from confir.report.numbers import interval_text, number_text, p_text, percent
from confir.report.tables import Cell, Table
from confir.studies.leaderboard.leaderboard import Leaderboard


def leaderboard_table(board: Leaderboard, seed: int | None = None) -> Table:
    """Return one row per run, best first: rank, macro mean, Borda count and the datasets' means."""
    rows = tuple(_row(board, run) for run in board.order)
    gaps = () if board.cells is None else ("datasets", "rank of complete runs")
    columns = ("rank", "run", "macro mean", *gaps, "Borda", "Borda rank", "next", *board.datasets)
    return Table(columns, rows, leaderboard_note(board, seed), names=2)


def _row(board: Leaderboard, run: int) -> tuple[Cell, ...]:
    """Return the cells of a run."""
    ranks = f"{board.rank[run]} ({board.rank_low[run]}-{board.rank_high[run]})"
    ranks += " borderline" if board.borderline[run] else ""
    borda = f"{board.borda_rank[run]} ({board.borda_low[run]}-{board.borda_high[run]})"
    p = float(board.p_next[run])
    following = "" if math.isnan(p) else ("> " if board.separable[run] else "~ ") + p_text(p)
    cells = [
        ranks,
        board.runs[run],
        interval_text(*(float(a[run]) for a in (board.macro, board.macro_low, board.macro_high))),
        *_gap_texts(board, run),
        f"{board.borda[run]:,.10g}",
        borda,
        following,
    ]
    for place in range(len(board.datasets)):
        numbers = [float(a[place, run]) for a in (board.mean, board.low, board.high)]
        known = not math.isnan(numbers[1])
        cells.append(interval_text(*numbers) if known else number_text(numbers[0]))
    return tuple(Cell(text, strong=board.rank[run] == 1) for text in cells)


def _gap_texts(board: Leaderboard, run: int) -> list[str]:
    """Return how many datasets a run has, and its rank among those that have all of them."""
    ranks = board.complete_rank, board.complete_rank_low, board.complete_rank_high
    if board.cells is None or any(part is None for part in ranks):
        return []
    rank, low, high = (int(part[run]) for part in ranks if part is not None)
    return [f"{board.cells[run]:,}", f"{rank} ({low}-{high})" if rank else "–"]


def leaderboard_note(board: Leaderboard, seed: int | None = None) -> str:
    """Return what the columns are."""
    about = (
        "datasets like these, of which these are a sample"
        if board.sampling == "random"
        else "these datasets, whose topics are a sample"
    )
    cells = "interval of each cell over the dataset's topics"
    if not board.topics.any():
        cells = "cells have no intervals, because scores of topics are unknown"
    parts = [
        board.sentence(),
        (
            f"{board.measure}, macro mean over {counted(len(board.datasets), 'dataset')}, with "
            f"{percent(board.level)} interval for conclusions about {about}; {cells}"
        ),
        (
            "rank: with simultaneous interval; Borda: runs beaten, summed over datasets, and its rank with "
            f"the central {percent(board.level)} of its values in replicates; next: > significantly better "
            "than the next run, ~ not, and the p-value, adjusted for all pairs"
        ),
        f"{counted(board.replicates, 'replicate')}" + ("" if seed is None else f", seed {seed}"),
    ]
    if board.cells is not None:
        missing = int(len(board.datasets) * len(board.runs) - board.cells.sum())
        parts.append(
            f"{counted(missing, 'cell')} of {len(board.datasets) * len(board.runs):,} "
            f"{'is' if missing == 1 else 'are'} missing: macro means, ranks and p-values are by an "
            "additive model of run and dataset, Borda counts have its predictions there; rank of complete "
            "runs: among those on all datasets, without the model"
        )
    if board.borderline.any():
        parts.append("borderline: other replicates might change a limit of the rank")
    return "\n".join(parts)
