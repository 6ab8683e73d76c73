"""``confir leaderboard``: many datasets, one row per run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confir.cli import options
from confir.cli.explicit_options import refuse_options
from confir.cli.groups import Without
from confir.cli.input import DESIGN, Inputs, reading_options
from confir.errors import InvalidValueError, UnreadableError

if TYPE_CHECKING:
    from confir.data.scores import Scores
    from confir.data.votes import Votes
    from confir.measures.score_summary import ScoreSummary

_EXAMPLE = "confir leaderboard beir/*/ -m nDCG@10"


def leaderboard_command(
    *,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR...",
            help="One folder per dataset, with a qrels file (qrels*) and runs, or with score tables; or "
            "one table with a column dataset.",
        ),
    ] = None,
    means: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="A table of means instead: one row per dataset, one column per run; or results of "
            "MTEB (repeatable).",
            rich_help_panel=options.INPUT_PANEL,
        ),
    ] = None,
    qrels_name: Annotated[
        str | None,
        typer.Option(
            "--qrels",
            metavar="NAME",
            help="Name of the qrels file in each folder; by default the one that starts with qrels. "
            "With {subset} or {split} in it, each subset or split of the runs is a dataset.",
            rich_help_panel=options.INPUT_PANEL,
        ),
    ] = None,
    inputs: Annotated[
        Inputs, Without("qrels", "runs", "scores", "bounded", "select", "top", *DESIGN)
    ],
    design: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="How topics were sampled within datasets: a table with columns dataset and topic, and any "
            "of stratum, cluster, weight.",
            rich_help_panel=options.DESIGN_PANEL,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Name of the column of datasets, if it is another one.",
            rich_help_panel=options.DESIGN_PANEL,
        ),
    ] = None,
    stratum: options.DesignColumn = None,
    cluster: options.DesignColumn = None,
    weight: options.DesignColumn = None,
    datasets: Annotated[
        str | None,
        options.choice(
            *("fixed", "random"),
            help="Conclusions are about these datasets (the default for scores by topic) or about "
            "datasets like these (the default for means).",
            panel=options.DESIGN_PANEL,
        ),
    ] = None,
    incomplete: Annotated[
        str,
        options.choice(
            *("error", "drop-runs", "drop-datasets"),
            help="If a run lacks a dataset: an error, or leave out such runs, or such datasets.",
            panel=options.INPUT_PANEL,
        ),
    ] = "error",
    by_wins: Annotated[
        bool,
        typer.Option(
            "--by-wins",
            help="Rate runs by the datasets that they win against each other, which needs no common "
            "scale: Bradley-Terry strengths, as of confir preferences.",
        ),
    ] = False,
    prior: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="With --by-wins: N ties of every run with an average one, such as 1, for runs that win "
            "or lose on all datasets.",
        ),
    ] = None,
    page: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Also write a report of all datasets together: an HTML page."
        ),
    ] = None,
    statistics: options.Statistics,
    out: options.Output,
) -> None:
    """Rank runs over many datasets: macro means, Borda counts, and which runs are separable.

    Example: `confir leaderboard beir/*/ -m nDCG@10`
    """
    from confir.cli.report import check_page
    from confir.cli.terminal import Answer
    from confir.intervals.interval import check_level
    from confir.report.tables import with_design_note
    from confir.studies.leaderboard.board_sources import board_scores, with_designs
    from confir.studies.leaderboard.dataset_votes import votes_of_datasets
    from confir.studies.leaderboard.leaderboard import make_leaderboard
    from confir.studies.leaderboard.summarised_board import find_summaries
    from confir.studies.leaderboard.table import leaderboard_table

    out.prepare()
    check_level(statistics.level)
    if page is not None:
        check_page(page)
    measures = list(inputs.measure or [])
    if len(measures) > 1:
        raise InvalidValueError("a leaderboard has one measure; expected one -m")
    measure = measures[0] if measures else None
    column = dataset or "dataset"
    found = _read(sources or [], means, measures, qrels_name, inputs, column)
    if by_wins:
        refuse_options(
            inputs.context,
            ("design", "stratum", "cluster", "weight", "datasets", "page"),
            "cannot be combined with --by-wins",
        )
        _show_wins(votes_of_datasets(found, measure=measure), prior, statistics, out)
        return
    refuse_options(inputs.context, ["prior"], "is for --by-wins")
    columns = {"dataset": dataset, "stratum": stratum, "cluster": cluster, "weight": weight}
    found = with_designs(found, design, columns)
    scores: Any = find_summaries(found, measure, datasets, incomplete)
    if scores and page is not None:
        raise InvalidValueError(
            "--page needs the score of every topic; a long table is only summarised"
        )
    scores = scores or board_scores(found, measure, datasets, incomplete)
    board = make_leaderboard(
        scores,
        level=statistics.level,
        replicates=statistics.replicates,
        rng=statistics.seed,
    )
    inside = scores.design if design is not None else None
    table = with_design_note(leaderboard_table(board, statistics.seed), inside)
    out.deliver(Answer(board.to_records(), table, board))
    if page is not None:
        from confir.cli.report import command_line_with_seed
        from confir.report.page import Origin, write_report

        write_report(
            page,
            scores,
            level=statistics.level,
            replicates=statistics.replicates,
            rng=statistics.seed,
            origin=Origin(
                (*(sources or ()), *(means or ())), command_line_with_seed(statistics.seed)
            ),
        )


def _show_wins(
    votes: Votes, prior: float | None, statistics: options.Statistics, out: options.Output
) -> None:
    """Write or print the strengths of runs by the datasets that they win."""
    from confir.studies.preferences.command import preferences_answer
    from confir.studies.preferences.preferences import rate_preferences

    found = rate_preferences(
        votes,
        cluster="topic",
        prior=prior,
        level=statistics.level,
        replicates=statistics.replicates,
        rng=statistics.seed,
    )
    out.deliver(preferences_answer(found, "strengths", statistics.seed))


def _read(
    sources: list[str],
    means: list[str] | None,
    measures: list[str],
    qrels: str | None,
    inputs: Inputs,
    column: str,
) -> Scores | Mapping[str, Scores | ScoreSummary]:
    """Return the scores of each dataset, or their means."""
    from confir.data.formats.run_sources import expand_pattern
    from confir.studies.leaderboard.board_sources import (
        read_dataset_table,
        read_folder,
        read_means,
    )

    if bool(means) == bool(sources):
        raise InvalidValueError(
            f"expected DIR..., one table with a dataset column, or --means FILE; for example: {_EXAMPLE}"
        )
    if means:
        return read_means(means, column)
    sources = [path for source in sources for path in expand_pattern(source)]
    if len(sources) == 1 and not Path(sources[0]).is_dir():
        return read_dataset_table(sources[0], column)
    rules: dict[str, Any] = {
        name: getattr(inputs, name) for name in reading_options() if name not in DESIGN
    }
    parts: dict[str, Scores | ScoreSummary] = {}
    for source in sources:
        if not Path(source).is_dir():
            raise UnreadableError(f"{source}: no such folder; expected one folder per dataset")
        for name, scores in read_folder(source, measures, qrels, **rules).items():
            if name in parts:
                raise InvalidValueError(f"two folders are named {name!r}; expected different names")
            parts[name] = scores
    return parts
