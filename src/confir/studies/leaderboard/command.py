"""``confir leaderboard``: many datasets, one row per run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from confir.cli import options
from confir.cli.input import Inputs
from confir.cli.input_options import DESIGN
from confir.cli.output import Output
from confir.cli.parameters import Argument, Instead, Option, PathRole, Without, refuse_options
from confir.cli.views import View, Views
from confir.defaults import ROWS
from confir.errors import InvalidValueError, UnreadableError, counted

if TYPE_CHECKING:
    from confir.cli.answers import Answer
    from confir.data.votes import Votes
    from confir.studies.leaderboard.dataset_files import HumanJudgements
    from confir.studies.leaderboard.dataset_scores import DatasetScores
    from confir.studies.leaderboard.leaderboard import Leaderboard

_WINS = "Wins"
_EXAMPLE = "confir leaderboard beir/*/ -m nDCG@10"

_MEASURE = options.measures_option(
    "The measure; by default nDCG@10 of runs, for score tables the one in them, for results of benchmarks "
    "the main score of each dataset."
)

_HUMAN = Option(
    "Name of human qrels of some topics in each folder, whose qrels are a model's (or a path with "
    "{dataset}): each dataset is corrected by itself. With tables, a table by human judgements with a column dataset.",
    "NAME",
    panel=options.HUMAN_PANEL,
    path=PathRole.READ,
)

VIEWS = Views(
    View("best", "which runs may be the best, and the means of all datasets", "board"),
    View("ranks", "ranks with intervals, and which runs are separable from the next", "board"),
)


def leaderboard_command(
    *,
    sources: Annotated[
        list[str] | None,
        Argument(
            metavar="DIR...",
            help="One folder per dataset, with a qrels file (qrels*) and runs, or with score tables; or "
            "one table with a column dataset.",
            path=PathRole.READ,
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        Option(
            "Score tables with a column dataset instead: dataset, topic, run, score (repeatable).",
            "FILE",
            panel=options.INPUT_PANEL,
            path=PathRole.READ,
            short=True,
        ),
    ] = None,
    means: Annotated[
        list[str] | None,
        Option(
            "A table of means instead, with a column named dataset or model and means in the others; or "
            "results of MTEB, lm-eval or EuroEval, also a folder of them (repeatable).",
            "FILE",
            panel=options.INPUT_PANEL,
            path=PathRole.READ,
            short=True,
        ),
    ] = None,
    qrels_name: Annotated[
        str | None,
        Option(
            "Name of the qrels file in each folder; by default the one that starts with qrels. "
            "With {subset} or {split} in it, each subset or split of the runs is a dataset.",
            "NAME",
            panel=options.INPUT_PANEL,
            names=("--qrels",),
        ),
    ] = None,
    inputs: Annotated[
        Inputs,
        Without("qrels", "runs", "scores", "bounded", *DESIGN),
        Instead(measure=_MEASURE, human=_HUMAN),
    ],
    design: Annotated[
        str | None,
        Option(
            "How topics were sampled within datasets: a table with columns dataset and topic, and any "
            "of stratum, cluster, weight.",
            "FILE",
            panel=options.DESIGN_PANEL,
            path=PathRole.READ,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        Option(
            "Name of the column of datasets, if it is another one.",
            "COLUMN",
            panel=options.DESIGN_PANEL,
        ),
    ] = None,
    stratum: options.DesignColumn = None,
    cluster: options.DesignColumn = None,
    weight: options.DesignColumn = None,
    datasets: Annotated[
        str | None,
        Option(
            "Whether conclusions are about these datasets (default for scores by topic), or about "
            "similar ones (default for means).",
            panel=options.DESIGN_PANEL,
            names=("--generalise-to",),
            choices=options.GENERALISE_TO,
        ),
    ] = None,
    incomplete: Annotated[
        str,
        Option(
            "If a run lacks a dataset: an error; leave out such runs, or such datasets; or rank all "
            "runs by an additive model of run and dataset.",
            panel=options.INPUT_PANEL,
            choices=("error", "drop-runs", "drop-datasets", "model"),
        ),
    ] = "error",
    standardise: Annotated[
        bool,
        Option(
            "Standardise the scores of each dataset: the means of its runs have mean 0 and standard "
            "deviation 1.",
            panel=options.INPUT_PANEL,
        ),
    ] = False,
    by_wins: Annotated[
        bool,
        Option(
            "Rate runs by the datasets that they win against each other, which needs no common "
            "scale: Bradley-Terry strengths, as of confir preferences.",
            panel=_WINS,
        ),
    ] = False,
    prior: Annotated[
        float | None,
        Option(
            "With --by-wins: N ties of every run with an average one, such as 1, for runs that win "
            "or lose on all datasets.",
            "N",
            panel=_WINS,
        ),
    ] = None,
    page: Annotated[
        str | None,
        Option(
            "Also write a report of all datasets together: an HTML page.",
            "FILE",
            path=PathRole.WRITE,
        ),
    ] = None,
    show: Annotated[str | None, VIEWS.option()] = None,
    statistics: options.Statistics,
    rows: options.RowsOption = str(ROWS),
    out: Output,
) -> None:
    """Rank runs over many datasets: macro means, which run may be the best, and Borda counts.

    For example:

    - `confir leaderboard beir/*/ -m nDCG@10`
    - `confir leaderboard --scores scores.csv -m nDCG@10 --rows all`
    - `confir leaderboard --means results/ -m nDCG@10 --select "*bge*" -o board.csv`
    """
    from confir.cli.report import check_page
    from confir.cli.selection import fitting_names, warn_of_choice
    from confir.studies.leaderboard.board_making import make_leaderboard, read_board
    from confir.studies.leaderboard.dataset_scores import DatasetScores
    from confir.studies.leaderboard.dataset_votes import votes_of_datasets

    view = VIEWS.choose(inputs.context, show)
    if page is not None:
        check_page(page)
    measures = list(inputs.measure or [])
    if len(measures) > 1:
        raise InvalidValueError("a leaderboard has one measure; expected one -m")
    measure = measures[0] if measures else None
    given = sources or [], scores or [], means or []
    human = _human_judgements(inputs, statistics.seed)
    found = _read(*given, measures, qrels_name, inputs, dataset, human, incomplete)
    if inputs.select:
        found = found.of_runs(fitting_names(inputs.select, found.runs))
    if by_wins:
        others = ("design", "stratum", "cluster", "weight", "datasets", "repeats", "page")
        refuse_options(inputs.context, others, "cannot be combined with --by-wins")
        _show_wins(votes_of_datasets(found.source, measure=measure), prior, statistics, out)
        return
    refuse_options(inputs.context, ["prior"], "is for --by-wins")
    columns = {"dataset": dataset, "stratum": stratum, "cluster": cluster, "weight": weight}
    designed = False
    if design is not None:
        found, designed = found.with_designs(design, columns), True
    elif unused := [role for role in ("stratum", "cluster", "weight") if columns[role] is not None]:
        raise InvalidValueError(f"--{unused[0]} requires --design, the table that has the column")
    grouped = options.pattern_of(inputs.repeats) or inputs.repeats is not None
    read = read_board(found.source, measure, datasets, incomplete, grouped)
    if isinstance(read, dict):
        reason = "needs the score of every topic; a long table is only summarised"
        refuse_options(inputs.context, ("page", "repeats"), reason)
    every = DatasetScores.of(read) if isinstance(read, dict) else DatasetScores((read,))
    if page is not None and incomplete == "model":
        raise InvalidValueError("--page needs all runs on all datasets, not --incomplete model")
    if inputs.top is not None and inputs.top < len(every.runs):
        warn_of_choice(inputs.top, len(every.runs), "datasets")
        every = every.of_runs(every.highest(inputs.top))
    board = make_leaderboard(
        every.source, incomplete=incomplete, standardise=standardise, **statistics.arguments
    )
    if found.measures:
        by_dataset = tuple(found.measures[name] for name in board.datasets)
        board = replace(board, dataset_measures=by_dataset)
    answer = _answer(board, every, view.name, statistics.seed, designed=designed)
    out.deliver(answer._replace(rows=options.most_rows(rows)))
    if page is not None:
        _write_page(
            page, board, every.source, [file for files in given for file in files], statistics
        )


def _human_judgements(inputs: Inputs, seed: int) -> HumanJudgements | None:
    """Return where human judgements of some topics are, if there are any."""
    from confir.studies.leaderboard.dataset_files import HumanJudgements

    if not inputs.check_human():
        return None
    refuse_options(
        inputs.context, ["means"], "cannot be combined with --human: means have no topics"
    )
    return HumanJudgements(str(inputs.human), str(inputs.human_sample), seed)


def _answer(
    board: Leaderboard, every: DatasetScores, view: str, seed: int, *, designed: bool
) -> Answer:
    """Return a view of the leaderboard, with what its note says of the topics."""
    from confir.cli.answers import Answer
    from confir.report.tables import with_design_note
    from confir.studies.leaderboard.table import board_part, leaderboard_table, rank_table

    table = (rank_table if view == "ranks" else leaderboard_table)(board, seed)
    if not every.names:
        scores = every.parts[0]
        table = with_design_note(table, scores.design_words if designed else "")
        note = scores.sampling_note()
        table = replace(table, note=f"{table.note}\n{note}") if note else table
    return Answer(board.to_records(), table, board, [board_part(board, table)])


def _write_page(
    path: str,
    board: Leaderboard,
    scores: Any,
    files: Sequence[str],
    statistics: options.Statistics,
) -> None:
    """Write the report of all datasets together."""
    from confir.cli.report import command_line_with_seed
    from confir.report.report_page import Origin, write_report

    on_datasets = f"{counted(len(board.runs), 'run')} on {counted(len(board.datasets), 'dataset')}"
    write_report(
        path,
        scores,
        title=on_datasets if len(files) > 1 else None,
        **statistics.arguments,
        origin=Origin(tuple(files), command_line_with_seed(statistics.seed)),
    )


def _show_wins(
    votes: Votes, prior: float | None, statistics: options.Statistics, out: Output
) -> None:
    """Write or print the strengths of runs by the datasets that they win."""
    from confir.studies.preferences.command import preferences_answer
    from confir.studies.preferences.preferences import rate_preferences

    found = rate_preferences(votes, cluster="topic", prior=prior, **statistics.arguments)
    out.deliver(preferences_answer(found, "strengths", statistics.seed))


def _read(
    sources: list[str],
    scores: list[str],
    means: list[str],
    measures: list[str],
    qrels: str | None,
    inputs: Inputs,
    column: str | None,
    human: HumanJudgements | None,
    incomplete: str,
) -> DatasetScores:
    """Return the scores of each dataset, or their means."""
    from confir.data.formats.sources import expand_pattern
    from confir.studies.leaderboard.dataset_files import (
        MeansOptions,
        read_dataset_table,
        read_folder,
        read_means,
    )
    from confir.studies.leaderboard.dataset_scores import DatasetScores

    if bool(means) + bool(sources) + bool(scores) != 1:
        raise InvalidValueError(
            "expected DIR..., --scores FILE with a column dataset, or --means FILE; for example: "
            f"{_EXAMPLE}"
        )
    if means:
        return read_means(
            means,
            MeansOptions(
                measures[0] if measures else None,
                *(inputs.split, inputs.subset, inputs.columns, column),
                drop_datasets=incomplete == "drop-datasets",
            ),
        )
    column = column or "dataset"
    sources = [path for source in sources for path in expand_pattern(source)]
    if len(sources) == 1 and not Path(sources[0]).is_dir():
        sources, scores = [], sources
    if scores:
        held = human is not None
        tables = [(path, read_dataset_table(path, column, held=held)) for path in scores]
        if human is not None:
            return human.correct(DatasetScores.joined(tables), column)
        return tables[0][1] if len(tables) == 1 else DatasetScores.joined(tables)
    rules = {name: rule for name, rule in inputs.reading_rules().items() if name not in DESIGN}
    parts: list[tuple[str, DatasetScores]] = []
    for source in sources:
        if not Path(source).is_dir():
            raise UnreadableError(f"{source}: no such folder; expected one folder per dataset")
        parts.append((source, read_folder(source, measures, qrels, human, **rules)))
    return DatasetScores.joined(parts)
