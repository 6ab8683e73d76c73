"""Scores per topic, read from files and frames.

Reading goes from bytes to a table, from its columns to entries, and from the entries of all files
to `Scores`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from confir.arguments import as_flag, as_list, as_path, as_text, invalid
from confir.arrays import Booleans
from confir.data.files import PathLike, split_name
from confir.data.formats.mteb import is_result, read_task_scores
from confir.data.formats.sources import recognise
from confir.data.scores import RANGE_TOLERANCE, Scores
from confir.data.tables.column_names import CORE_NAMES
from confir.data.tables.column_roles import (
    EXPECTED,
    ColumnRoles,
    ColumnsSource,
    as_column_roles,
    check_nameless,
    separating_columns,
)
from confir.data.tables.input_table import Ids, InputTable, check_filled
from confir.data.tables.measure_names import find_measures, topics_come_first
from confir.data.tables.parquet_files import is_parquet
from confir.data.tables.published_files import PublishedMeans, are_means, means_from_table
from confir.data.tables.score_columns import ScoreEntries, score_entries
from confir.data.tables.score_lines import read_lines, read_ordered_lines
from confir.data.tables.table_kind import TableKind, fold
from confir.data.tables.table_reader import FRAME, has_columns, read_table
from confir.errors import (
    ConfirWarning,
    FormatError,
    InvalidValueError,
    UnreadableError,
    collect_warnings,
    warn_caller,
)

Read = TypeVar("Read")


def _read_format(content: bytes, source: str) -> InputTable | None:
    """Return the scores in a file of a format that holds some; None where it is a table."""
    held = recognise(source, content)
    if held.read_scores is not None:
        return held.read_scores(content, source)
    if held.keys and held.read_results is None:
        raise FormatError(f"{held.name}: {held.shape}; expected scores of topics", path=source)
    return None


def _read_named(roles: ColumnRoles, content: bytes, source: str) -> InputTable | None:
    """Return what `_read_format` does, unless the user names columns that only a plain table has."""
    if roles.order:
        return None
    with collect_warnings() as said:
        try:
            table = _read_format(content, source)
        except FormatError:  # the columns that are named are those of the records
            return None
    if table is None or roles.topic not in table.header:
        return None
    for message, category in said:
        warn_caller(message, category)
    return table


def _order_levels(runs: Sequence[Any], source: str) -> tuple[str, ...]:
    """Return what the levels of nested objects stand for."""
    run, measure, topic, score = CORE_NAMES
    if topics_come_first(runs, source):
        measure, topic = topic, measure
    return run, measure, topic, score


def _is_one_run(document: Any) -> bool:
    """Whether nested objects map numbered topics to known measures, as pytrec_eval returns them for a run."""
    if not isinstance(document, dict) or not document or not all(map(str.isdigit, document)):
        return False
    parts = list(document.values())
    return all(
        isinstance(part, dict) and not any(isinstance(score, dict) for score in part.values())
        for part in parts
    ) and bool(find_measures({name: None for part in parts for name in part}))


SCORES = TableKind(
    EXPECTED,
    CORE_NAMES,
    levels=tuple(CORE_NAMES),
    order_levels=_order_levels,
    is_one_run=_is_one_run,
    read_lines=read_lines,
    drops_short_rows=lambda header: {fold(name) for name in header}.isdisjoint(CORE_NAMES["score"]),
    read_format=_read_format,
)


def read_scores(
    paths: PathLike | Any | Sequence[PathLike | Any],
    *,
    run: str | None = None,
    measure: str | None = None,
    bounded: bool | None = None,
    columns: ColumnsSource | None = None,
) -> Scores:
    """Return the scores in one table or in several: files, plain or compressed, or frames.

    Reads the output of ``trec_eval -q``, ``ir_measures -q`` and gdeval, results of AutoJudge and
    nuggetizer, exports of promptfoo, DeepEval, Inspect and other evaluation tools, tables in CSV
    (separated by commas or semicolons), TSV, JSON, JSONL and Parquet, and frames of pandas, polars and
    Arrow. Measures in trec_eval's output are given confir's names where they are the same; all other
    names stay as they are.

    Parameters
    ----------
    paths
        The files or frames; "-" is standard input, a folder stands for its files, and NAME=PATH names
        the run of a file. A score that stands in two of them is an error.
    run
        Name of the run, for files that hold one run; by default what the file says, else the
        file's name without endings, of a frame "frame".
    measure
        Name of the measure, for files that hold one measure; by default what the file says, else
        what its name says (``trec8.AP@1000.csv``, ``web2010_ndcg20.csv``), else "score".
    bounded
        Whether measures that confir does not know, such as "score", lie in [0, 1]; by default they
        do if all of their scores do.
    columns
        Which columns hold topic, value (one, or several measures), run and measure, where their
        names do not say it: ``{"topic": "qid", "value": ["nDCG@10", "AP"]}``, or the text
        ``topic=qid,value=nDCG@10,value=AP``. Of lines without a header, the columns in order:
        ``run,measure,topic,value``.

    Examples
    --------
    >>> confir.write_scores({"a": [0.3, 0.5], "b": [0.2, 0.5]}, "scores.csv")
    >>> confir.read_scores("scores.csv").mean()
    array([[0.4 ],
           [0.35]])
    """
    roles = as_column_roles(columns)
    run, measure = (
        None if value is None else as_text(name, value)
        for name, value in (("run", run), ("measure", measure))
    )
    if bounded is not None:
        as_flag("bounded", bounded)
    if isinstance(paths, Mapping):
        raise invalid("paths", paths, "a path, a data frame, or a list of these")
    single = isinstance(paths, str | os.PathLike) or has_columns(paths)
    listed = [paths] if single else as_list("paths", paths, least=0)
    sources = [
        (run, one) if has_columns(one) else split_name(as_path("paths", one)) for one in listed
    ]
    named = [(name or run, one) for name, source in sources for one in files_of(source)]
    given = [one for _, one in named]

    def read(source: PathLike | Any, name: str | None) -> Scores:
        def use(table: InputTable) -> Scores:
            if roles is not None and roles.order:
                check_nameless(table, roles)
            return scores_from_table(table, name, measure, roles)

        return _read_source(source, roles, use)

    if not given:
        raise InvalidValueError("no score files were given; expected at least one of paths")
    if len(given) > 1 and roles is None and is_result(given[0]):
        results = scores_from_table(read_task_scores(given), run, measure)
        return replace(results, bounded=bounded)
    tables = [read(source, name) for name, source in named]
    merged = tables[0] if len(tables) == 1 else _merge(tables, given, roles)
    return replace(merged, bounded=bounded)


def files_of(source: Any) -> list[Any]:
    """Return the files of a folder, hidden ones aside; anything else is itself, as Parquet is."""
    if has_columns(source) or not os.path.isdir(source) or is_parquet(os.fspath(source)):
        return [source]
    found = [entry.path for entry in os.scandir(source) if not entry.name.startswith(".")]
    files = sorted(filter(os.path.isfile, found))
    if not files:
        raise UnreadableError(f"{os.fspath(source)}: the folder has no files; {EXPECTED}")
    return files


def raise_outside(
    paths: Sequence[str],
    columns: ColumnsSource | None,
    measures: Collection[str],
    runs: Collection[str],
) -> None:
    """Raise at the first score in files, by some measures of some runs, that is not in [0, 1]."""

    def is_outside(entries: ScoreEntries) -> Booleans:
        outside: Booleans = np.abs(entries.values - 0.5) > 0.5 + RANGE_TOLERANCE
        for ids, names in ((entries.runs, runs), (entries.measures, measures)):
            outside &= np.array([name in names for name in ids.names])[ids.codes]
        return outside

    def problem(entries: ScoreEntries, entry: int) -> str:
        run, measure, topic = entries.names(entry)
        return (
            f"{measure} of run {run!r} on topic {topic!r} is {entries.values[entry]:.10g}; expected a "
            "score in [0, 1]"
        )

    roles = as_column_roles(columns)
    for source in (file for path in paths for file in files_of(split_name(path)[1])):
        error = _error_at(source, roles, is_outside, problem)
        if error is not None:
            raise error


def _error_at(
    source: PathLike | Any,
    roles: ColumnRoles | None,
    is_wrong: Callable[[ScoreEntries], Booleans],
    problem: Callable[[ScoreEntries, int], str],
) -> FormatError | None:
    """Return the error at the first wrong score in a source; None where there is none.

    The source is read again, for the row; standard input cannot be.
    """
    if not has_columns(source) and not os.path.isfile(source):
        return None

    def use(table: InputTable) -> FormatError | None:
        entries, table = score_entries(table, roles)
        wrong = np.flatnonzero(is_wrong(entries))
        if not wrong.size:
            return None
        first = int(wrong[np.argmin(wrong % len(table))])
        row = first % len(table)
        return table.error(problem(entries, first), row)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConfirWarning)  # they were given when it was read first
        return _read_source(source, roles, use)


def _repeated(
    source: PathLike | Any, roles: ColumnRoles | None, cell: tuple[str, str, str], problem: str
) -> FormatError:
    """Return the error about the score of a run, measure and topic, with its line where it is found.

    It is not found where the user gave the names of the run or the measure.
    """

    def is_same(entries: ScoreEntries) -> Booleans:
        same: Booleans = ~np.isnan(entries.values)
        for ids, name in zip(entries[:3], cell, strict=True):
            same &= np.array([own == name for own in ids.names])[ids.codes]
        return same

    found = _error_at(source, roles, is_same, lambda *_: problem)
    return found or FormatError(problem, path=FRAME if has_columns(source) else os.fspath(source))


def _read_source(
    source: PathLike | Any, roles: ColumnRoles | None, use: Callable[[InputTable], Read]
) -> Read:
    kind = SCORES if roles is None else replace(SCORES, read_format=partial(_read_named, roles))
    if roles is not None and roles.order:
        kind = replace(kind, read_lines=partial(read_ordered_lines, roles.order))

    return use(read_table(source, kind, use))


def read_scores_or_means(source: Any) -> Any:
    """Return the scores in a file or frame, or the means, where it has these with their errors.

    Anything else, such as a folder, is returned as it is.
    """
    if not (
        has_columns(source) or (isinstance(source, str | os.PathLike) and os.path.isfile(source))
    ):
        return source

    def use(table: InputTable) -> Scores | PublishedMeans:
        return means_from_table(table) if are_means(table.header) else scores_from_table(table)

    return use(read_table(source, SCORES, use))


def read_score_table(source: PathLike | Any) -> InputTable:
    """Return the columns of a table of scores, whatever they mean."""
    return read_table(source, SCORES)


def scores_from_table(
    table: InputTable,
    run: str | None = None,
    measure: str | None = None,
    roles: ColumnRoles | None = None,
    *,
    unit: str = "topic",
) -> Scores:
    """Return the scores in one table; where an entry is there twice, say on which lines.

    ``unit`` is what topics are called in messages.
    """
    if roles is None and are_means(table.header):
        raise table.header_error(
            "means with their errors, of which intervals alone follow; this needs scores of single topics: "
            f"{EXPECTED}"
        )
    entries, table = score_entries(table, roles)
    if run is not None:
        entries = entries._replace(runs=_renamed("run", entries.runs, run, table.source))
    if measure is not None:
        measures = _renamed("measure", entries.measures, measure, table.source)
        entries = entries._replace(measures=measures)
    check_filled(entries.sizes, len(entries.values), table.source)
    repetition = entries.find_repetition()
    if repetition:
        second, first = (entry % len(table) for entry in repetition)
        told = [] if roles is not None and roles.order else separating_columns(table, roles)
        raise table.error(
            f"a second score of {entries.describe(repetition[0], unit)} (the first: "
            f"{table.describe_row(first)}); expected one"
            + "".join(f", or {other}" for other in told[:3]),
            second,
        )
    if np.isnan(entries.values).all():
        raise FormatError("every score is missing; expected a number", path=table.source)
    return entries.to_scores()


def _renamed(kind: str, ids: Ids, given: str, source: str) -> Ids:
    several = len(ids.names)
    if several > 1:
        raise InvalidValueError(
            f"{source} holds {several} {kind}s; {kind}={given!r} can name the {kind} of a file of "
            "one only"
        )
    return Ids([given], ids.codes)


def _merge(tables: Sequence[Scores], given: Sequence[Any], roles: ColumnRoles | None) -> Scores:
    """Return the tables as one, its runs and measures in the order of the files."""
    topics = sorted({name for table in tables for name in table.topics})
    runs = list(dict.fromkeys(name for table in tables for name in table.runs))
    measures = list(dict.fromkeys(name for table in tables for name in table.measures))
    places = [{name: i for i, name in enumerate(names)} for names in (topics, runs, measures)]
    sizes = {"topics": len(topics), "runs": len(runs), "measures": len(measures)}
    sources = [FRAME if has_columns(source) else os.fspath(source) for source in given]
    check_filled(sizes, sum(table.values.size for table in tables), sources[0])
    values = np.full(tuple(sizes.values()), np.nan)
    owners = np.full(values.shape, -1)
    for number, table in enumerate(tables):
        names = (table.topics, table.runs, table.measures)
        cells = np.ix_(*([at[name] for name in own] for at, own in zip(places, names, strict=True)))
        present = ~np.isnan(table.values)
        for cell in np.argwhere(present & (owners[cells] >= 0))[:1]:
            topic, run, measure = (own[i] for own, i in zip(names, cell, strict=True))
            problem = (
                f"a second score of run {run!r}, measure {measure!r}, topic {topic!r} (the first: "
                f"{sources[owners[cells][tuple(cell)]]}); expected one"
            )
            raise _repeated(given[number], roles, (run, measure, topic), problem)
        values[cells] = np.where(present, table.values, values[cells])
        owners[cells] = np.where(present, number, owners[cells])
    return Scores(tuple(topics), tuple(runs), tuple(measures), values)
