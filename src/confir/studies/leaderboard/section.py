"""Many datasets in the report: a leaderboard, where the design of the topics names datasets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confir.arrays import is_best
from confir.errors import counted
from confir.number_text import percent
from confir.report.contents import Contents, MeasureContents
from confir.report.messages import isolated
from confir.report.sections import Figure, Scope, Section, Sentence
from confir.report.tables import Cell, Table
from confir.studies.leaderboard.board_making import make_leaderboard
from confir.studies.leaderboard.chart import dataset_chart, leaderboard_chart
from confir.studies.leaderboard.leaderboard import Leaderboard
from confir.studies.leaderboard.table import mean_cells


def _gather(scope: Scope) -> Leaderboard | None:
    """Return the leaderboard; None where there is one dataset."""
    settings = scope.settings
    if len(scope.scores.datasets) < 2:
        return None
    return make_leaderboard(scope.scores, level=settings.level, **settings.drawing)


def _figures(contents: MeasureContents, _: tuple[float, ...]) -> Iterator[Figure]:
    yield Figure("datasets", dataset_chart(contents["leaderboard"]), by_run=True)


def _paper(contents: MeasureContents, _: tuple[float, ...]) -> Iterator[Figure]:
    yield Figure("macro", leaderboard_chart(contents["leaderboard"]), by_run=True)


def _tables(contents: MeasureContents) -> Iterator[tuple[str, Table]]:
    yield "datasets", dataset_table(contents["leaderboard"])


def dataset_table(board: Leaderboard) -> Table:
    """Return the mean of each run on each dataset, the best of each column in bold."""
    rows = tuple(
        (Cell(board.runs[run]), *cells)
        for run, cells in zip(board.order, mean_cells(board), strict=True)
    )
    note = (
        f"{board.measure}; macro mean: over {counted(len(board.datasets), 'dataset')} of equal weight, with "
        f"{percent(board.level)} interval for conclusions about {board.about}; Borda: runs beaten, summed "
        "over datasets"
    )
    return Table(("run", "macro mean", "Borda", *board.datasets), rows, note)


def _conclusion(contents: Contents) -> str:
    """Return on how many datasets the run with the highest macro mean leads, and who else does."""
    board: Leaderboard | None = contents.measures[0]["leaderboard"]
    if board is None or len(board.runs) < 2:
        return ""
    wins = np.apply_along_axis(is_best, 1, board.mean).sum(axis=0)
    best, most = board.order[0], int(np.argmax(wins))
    over = counted(len(board.datasets), "dataset")
    text = f"{isolated(board.runs[best])} has the highest score on {int(wins[best]):,} of {over}"
    if wins[most] > wins[best]:
        text += f", {isolated(board.runs[most])} on {int(wins[most]):,}"
    leading = int((wins > 0).sum())
    verb = "leads" if leading == 1 else "lead"
    return f"{text}; {leading:,} of {counted(len(board.runs), 'run')} {verb} on one or more."


def _methods(contents: Contents) -> Iterator[Sentence]:
    board: Leaderboard | None = contents.measures[0]["leaderboard"]
    if board is None:
        return
    variance = (
        "their variance is that of the datasets' means over the number of datasets"
        if board.sampling == "random"
        else "their variance is the sum of the datasets' variances over the squared number of datasets"
    )
    yield Sentence(
        36,
        f"Macro means over {counted(len(board.datasets), 'dataset')} of equal weight have "
        f"{percent(board.level)} intervals for conclusions about {board.about}: {variance}. Borda "
        "counts are the numbers of runs that a run beats, summed over datasets, a tie counting half.",
    )


SECTION: Section[MeasureContents] = Section(
    by_measure=True,
    gather=_gather,
    kind="datasets",
    anchor="datasets",
    heading="Every dataset",
    meaning="A run that leads on average may lead on few datasets.",
    figures=_figures,
    paper=_paper,
    tables=_tables,
    conclusion=_conclusion,
    methods=_methods,
)
