"""Many datasets in the report: a leaderboard, where the design of the topics names datasets."""

from __future__ import annotations

from collections.abc import Iterator

from confir.errors import counted
from confir.report.contents import Contents, MeasureContents
from confir.report.numbers import percent
from confir.report.sections import Scope, Section, Sentence, own_chart, own_table
from confir.studies.leaderboard.leaderboard import Leaderboard, make_leaderboard


def _gather(scope: Scope) -> Leaderboard | None:
    """Return the leaderboard; None where topics are of no datasets."""
    design, settings = scope.scores.design, scope.settings
    if design is None or design.dataset is None or len(set(design.dataset)) < 2:
        return None
    return make_leaderboard(scope.scores, level=settings.level, **settings.drawing)


def _answer(contents: Contents) -> Iterator[Sentence]:
    board: Leaderboard | None = contents.measures[0]["leaderboard"]
    if board is not None and len(board.runs) > 1:
        over = counted(len(board.datasets), "dataset")
        yield Sentence(35, f"Over {over}, {board.separability()}.")


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
    anchor="datasets",
    title="Datasets",
    heading="Over many datasets",
    meaning="A run that leads on average may lead on few datasets; the interval says how far the average "
    "depends on which datasets and topics were used.",
    figures=own_chart("leaderboard", "datasets", by_run=True),
    tables=own_table("leaderboard", "datasets"),
    answer=_answer,
    methods=_methods,
)
