"""Tables of leaderboards: one row per run, best first, with a column per dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator

from confir.arrays import is_best
from confir.data.formats.benchmark_results import describe_main_scores
from confir.errors import counted
from confir.number_text import difference_text, number_text, p_text
from confir.report.messages import isolated
from confir.report.tables import AnswerPart, Cell, Table
from confir.studies.best.table import BORDERLINE_SET, ruled_out_sentence, set_text
from confir.studies.leaderboard.leaderboard import Leaderboard

# Decimals of numbers in sentences.
_SAID_DECIMALS = 3
_BOLD = "best in its column"


def leaderboard_table(board: Leaderboard, seed: int | None = None) -> Table:
    """Return one row per run: rank, whether it may be best, macro mean, gap, and the datasets' means.

    The best of each column is bold.
    """
    rows = []
    for run, (macro, borda, *means) in zip(board.order, mean_cells(board), strict=True):
        gap = [float(values[run]) for values in (board.gap, board.gap_low, board.gap_high)]
        cells = (
            Cell(f"{board.rank[run]:,}"),
            Cell(board.runs[run]),
            macro,
            Cell(difference_text(gap[0], gap[1], gap[2])),
            Cell(set_text(board.may_be_best[run], board.best_borderline[run])),
            *map(Cell, _gap_texts(board, run)),
            borda,
        )
        rows.append((*cells, *means))
    gaps = () if board.cells is None else ("datasets", "rank of complete runs")
    named = ("rank", "run", "macro mean", "gap", "may be best", *gaps, "Borda")
    columns = (*named, *board.datasets)
    return Table(columns, tuple(rows), leaderboard_note(board, seed), 2, _BOLD)


def mean_cells(board: Leaderboard) -> Iterator[tuple[Cell, ...]]:
    """Yield macro mean, Borda count and the datasets' means of each run, best run first."""
    top, borda = is_best(board.macro), is_best(board.borda)
    tops = [is_best(mean) for mean in board.mean]
    for run in board.order:
        limits = [float(a[run]) for a in (board.macro, board.macro_low, board.macro_high)]
        cells = [
            Cell(number_text(*limits), bool(top[run])),
            Cell(f"{board.borda[run]:,.10g}", bool(borda[run])),
        ]
        for place, best in enumerate(tops):
            numbers = [float(a[place, run]) for a in (board.mean, board.low, board.high)]
            known = not math.isnan(numbers[1])
            text = number_text(*numbers) if known else number_text(numbers[0])
            cells.append(Cell(text, bool(best[run])))
        yield tuple(cells)


def rank_table(board: Leaderboard, seed: int | None = None) -> Table:
    """Return one row per run: its ranks with intervals, and whether the next run is separable."""
    rows = tuple(
        (
            Cell(f"{board.rank[run]:,}"),
            Cell(board.runs[run]),
            Cell(
                f"{board.rank_low[run]:,} to {board.rank_high[run]:,}"
                + (", borderline" if board.borderline[run] else "")
            ),
            Cell(f"{board.borda_rank[run]:,}"),
            Cell(f"{board.borda_low[run]:,} to {board.borda_high[run]:,}"),
            Cell(_next_text(board, run)),
        )
        for run in board.order
    )
    columns = ("rank", "run", "simultaneous", "Borda rank", "interval", "next")
    parts = [
        (
            f"rank by the macro mean, with simultaneous {_percent(board)} interval; Borda rank with the "
            f"central {_percent(board)} of its values in replicates; next: > significantly better than the "
            "next run, ~ not, and the p-value, adjusted for all pairs"
        ),
        _drawn(board, seed),
        *_judges(board),
    ]
    if board.borderline.any():
        parts.append("borderline: another seed might change a limit of the rank")
    return Table(columns, rows, "\n".join(parts), names=2)


def _next_text(board: Leaderboard, run: int) -> str:
    p = float(board.p_next[run])
    return "" if math.isnan(p) else ("> " if board.separable[run] else "~ ") + p_text(p)


def board_part(board: Leaderboard, table: Table) -> AnswerPart:
    """Return a leaderboard in words, and its table below."""
    why = ""
    if board.ruled_out:
        why = ruled_out_sentence(board.ruled_out, board.runs[board.order[0]])
    lead = "" if board.lead is None else board.lead.sentence(isolated)
    sentences = board.sentence(), lead, pairs_sentence(board), why
    return AnswerPart("Leaderboard", tuple(filter(None, sentences)), table)


def pairs_sentence(board: Leaderboard) -> str:
    """Return how many pairs of runs differ significantly over the datasets; nothing of one run."""
    if not board.pairs:
        return ""
    if not board.significant and board.pairs == 1:
        return f"the two runs do not differ significantly on {board.about}"
    if not board.significant:
        return f"none of {counted(board.pairs, 'pair')} differs significantly on {board.about}"
    verb = "differs" if board.significant == 1 else "differ"
    share = round(100 * board.significant / board.pairs)
    smallest = number_text(board.smallest, decimals=_SAID_DECIMALS)
    return (
        f"{board.significant:,} of {counted(board.pairs, 'pair')} {verb} significantly ({share}%); the "
        f"smallest observed difference that is significant is {smallest}"
    )


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
    cells = "interval of each dataset over its topics"
    if not board.topics.any():
        cells = "datasets have no intervals, because scores of topics are unknown"
    level = _percent(board)
    parts = [
        (
            f"{board.measure}: macro mean over {counted(len(board.datasets), 'dataset')} with {level} "
            f"confidence interval (CI) for conclusions about {about}; {cells}"
        ),
        (
            f"gap: macro mean less the best of the others, with limits that are simultaneous for all runs "
            f"({level}); may be best: no other run is significantly better, adjusted for all other runs (Hsu "
            "1984); Borda: runs beaten, summed over datasets"
        ),
        _drawn(board, seed),
    ]
    if board.cells is not None:
        missing = int(len(board.datasets) * len(board.runs) - board.cells.sum())
        parts.append(
            f"{counted(missing, 'cell')} of {len(board.datasets) * len(board.runs):,} "
            f"{'is' if missing == 1 else 'are'} missing: macro means, ranks and p-values are by an "
            "additive model of run and dataset, Borda counts have its predictions there; rank of complete "
            "runs: among those on all datasets, without the model"
        )
    if board.dataset_measures:
        parts.append(
            describe_main_scores(dict(zip(board.datasets, board.dataset_measures, strict=True)))
        )
    parts.extend(_judges(board))
    if board.best_borderline.any():
        parts.append(BORDERLINE_SET)
    return "\n".join(parts)


def _judges(board: Leaderboard) -> list[str]:
    """Return whose judgements means are by, where a model judged, too."""
    if board.model_topics is None:
        return []
    human, alone = int(board.topics.sum()), int(board.model_topics.sum())
    if not alone:
        return [f"means are by human judgements, of {counted(human, 'topic')} in all"]
    return [
        (
            f"means are by human judgements, estimated on each dataset by itself; in all, humans judged "
            f"{counted(human, 'topic')}, and the model alone {alone:,} (PPI++); differences have a weight of "
            "the model of their own"
        )
    ]


def _percent(board: Leaderboard) -> str:
    return f"{100 * board.level:g}%"


def _drawn(board: Leaderboard, seed: int | None) -> str:
    return counted(board.replicates, "replicate") + ("" if seed is None else f", seed {seed}")
