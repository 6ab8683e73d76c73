"""Scores from any source that verbs take: objects, files, experiments and votes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from confir.arguments import as_flag
from confir.data.experiment import Experiment
from confir.data.files import PathLike, is_address
from confir.data.run_scores import RunScores
from confir.data.scores import Scores
from confir.defaults import REPLICATES, SUMMARY_REPLICATES
from confir.errors import InvalidValueError, ReadingWarning, warn_caller
from confir.measures.evaluation import evaluate
from confir.measures.score_summary import ScoreSummary, summary_of

if TYPE_CHECKING:
    from confir.data.score_objects import ScoresSource

# Parquet files of more scores are summed up rather than read.
MOST_HELD_SCORES = 1_000_000


def as_scores(source: Any, *, human: bool = False) -> Scores:
    """Return the scores that an object or a file holds, or that an experiment gives.

    Every function of scores calls it: scores that another tool computed are taken as they are.

    Parameters
    ----------
    source
        Scores; an `Experiment`, which is evaluated; a path, or several, as `read_scores` takes
        them; a pandas, polars or Arrow frame with the columns run, measure, topic, score, or topic
        and a column per run; a mapping run → measure → topic → score or run → topic → score; or a
        mapping run → array of scores, all on the same topics, which are then numbered; an array of
        xarray over topic, run and measure. Results of
        other libraries: scores of ``ir_measures.iter_calc``, what pytrec_eval returns, runs of
        ranx after ``ranx.evaluate``, or a mapping run → any of these.
    human
        Whether `JudgedScores`, by a model and a few human judgements, are taken; else they raise.

    Examples
    --------
    >>> confir.as_scores({"bm25": {"AP": {"1": 0.3, "2": 0.5}}}).mean()
    array([[0.4]])
    """
    scores: Any = source if isinstance(source, RunScores) else _scores_of(source)
    if not scores.in_memory:
        raise InvalidValueError(
            f"this needs the score of every topic, which {scores.title} lacks; expected Scores"
        )
    if scores.corrected and not human:
        raise InvalidValueError(
            "the scores are by model and human judgements, which this does not combine; expected those "
            "of one judge (in Python: scores.human or scores.model)"
        )
    found: Scores = scores.filled().in_id_order()
    return found


def _scores_of(source: Any) -> Scores:
    """Return the scores that an experiment gives, or that any other source holds."""
    from confir.data.score_objects import make_scores

    return evaluate(source) if isinstance(source, Experiment) else make_scores(source, "scores")


def as_run_scores(source: Any) -> Any:
    """Return scores of any kind: those given, else what a source holds.

    That is a summary where a table is long, published means where a table has these, strengths where
    there are votes, and what `as_scores` returns of all else.
    """
    if isinstance(source, RunScores):
        return source.filled().in_id_order()
    from confir.data.votes import Votes

    if isinstance(source, Votes):
        from confir.measures.strengths import fit_strengths

        return fit_strengths(source)
    found = read_if_file(source)
    return (_scores_of(source) if found is source else found).in_id_order()


def read_if_file(source: Any) -> Any:
    """Return the scores, published means or summary in a file or frame; any other source as it is."""
    from confir.data.score_files import read_scores_or_means

    long = open_summary(source) if isinstance(source, str | os.PathLike) else None
    return read_scores_or_means(source) if long is None else long


def summarise_scores(
    scores: ScoresSource | ScoreSummary | Sequence[PathLike], *, bounded: bool | None = None
) -> ScoreSummary:
    """Return a summary of scores on any number of topics, in memory that does not grow with them.

    For logs with millions of topics: moments and counts are all that means, comparisons and plans
    need, and one or two passes over the table give them.

    Parameters
    ----------
    scores
        A Parquet file, several of the same columns, or a folder of them, which may be partitioned
        (``run=bm25/part.parquet``); or an address of fsspec. The columns are those that
        `read_scores` knows. Rows of a long table are best grouped by topic; else they are put into
        order in a temporary folder. All else that `as_scores` takes is summarised in memory.
    bounded
        Whether measures that confir does not know lie in [0, 1]; by default they do if all of
        their scores do.

    Examples
    --------
    >>> scores = {"a": [0.3, 0.5, 0.4, 0.6], "b": [0.2, 0.5, 0.1, 0.3]}
    >>> confir.confidence_interval(confir.summarise_scores(scores), method="t")
    Interval(2 columns, level=0.95, method='t')
    """
    if bounded is not None:
        as_flag("bounded", bounded)
    paths = _parquet_paths(scores)
    if paths:
        from confir.data.long_tables.parquet_scores import ParquetScores

        return summary_of(ParquetScores(paths), bounded)
    from confir.data.long_tables.score_blocks import HeldScores

    found = as_run_scores(scores)
    if found.is_summary:
        summary: ScoreSummary = found if bounded is None else replace(found, bounded=bounded)
        return summary
    held = as_scores(found)
    return summary_of(HeldScores(held), held.bounded if bounded is None else bounded)


def _parquet_paths(source: Any) -> list[str]:
    """Return the paths of Parquet files, folders and addresses; none where it is anything else."""
    from confir.data.tables.parquet_files import is_parquet

    listed = list(source) if isinstance(source, list | tuple) else [source]
    if not all(isinstance(path, str | os.PathLike) for path in listed):
        return []
    paths = [os.fspath(path) for path in listed]
    return paths if all(is_address(path) or is_parquet(path) for path in paths) else []


def open_summary(path: PathLike) -> ScoreSummary | None:
    """Return the summary of a Parquet folder, or of a file with many scores; None of others."""
    from confir.data.long_tables.parquet_scores import open_if_long

    table = open_if_long(os.fspath(path), MOST_HELD_SCORES)
    if table is None:
        return None
    warn_of_summary(os.fspath(path), table.scores)
    return summary_of(table, None)


def warn_of_summary(source: str, scores: int) -> None:
    """Say that so many scores are summarised, which changes a default."""
    warn_caller(
        f"{source}: {scores:,} scores, more than {MOST_HELD_SCORES:,}, are summarised, not held in memory: "
        f"resampling draws {SUMMARY_REPLICATES} replicates by default, not {REPLICATES:,}",
        ReadingWarning,
    )


def find_group_summaries(path: str, column: str) -> dict[str, ScoreSummary]:
    """Return summaries by the values of a column of a long Parquet table; of any other, none."""
    from confir.data.long_tables.parquet_scores import open_groups_if_long

    tables = open_groups_if_long(path, column, MOST_HELD_SCORES) or {}
    if tables:
        warn_of_summary(path, sum(table.scores for table in tables.values()))
    return {name: summary_of(table) for name, table in tables.items()}
