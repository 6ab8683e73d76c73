"""Scores per topic, read from files and frames.

Reading goes from bytes to a table, from its columns to entries, and from the entries of all files
to `Scores`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from confir.arguments import as_flag, as_list, as_path, as_text, invalid
from confir.data.files import PathLike
from confir.data.formats.sources import recognise
from confir.data.scores import Scores
from confir.data.tables.input_table import Ids, InputTable, check_filled
from confir.data.tables.measure_names import topics_come_first
from confir.data.tables.parquet_files import is_parquet
from confir.data.tables.published_files import PublishedMeans, are_means, means_from_table
from confir.data.tables.score_columns import COLUMN_NAMES, EXPECTED, is_long, score_entries
from confir.data.tables.score_layouts import (
    ColumnRoles,
    ColumnsSource,
    as_column_roles,
    check_nameless,
    usual_columns,
)
from confir.data.tables.score_lines import read_lines, read_ordered_lines
from confir.data.tables.table_kind import TableKind
from confir.data.tables.table_reader import FRAME, has_columns, read_table
from confir.errors import FormatError, InvalidValueError, UnreadableError


def _read_format(content: bytes, source: str) -> InputTable | None:
    """Return the scores in a file of a format that holds some; None where it is a table."""
    held = recognise(source, content).read_scores
    return None if held is None else held(content, source)


def _read_named(roles: ColumnRoles, content: bytes, source: str) -> InputTable | None:
    """Return what `_read_format` does, unless the user names columns that only a plain table has."""
    table = None if roles.order else _read_format(content, source)
    return table if table is not None and roles.topic in table.header else None


def _order_levels(runs: Sequence[Any], source: str) -> tuple[str, ...]:
    """Return what the levels of nested objects stand for."""
    run, measure, topic, score = COLUMN_NAMES
    if topics_come_first(runs, source):
        measure, topic = topic, measure
    return run, measure, topic, score


SCORES = TableKind(
    EXPECTED,
    COLUMN_NAMES,
    levels=tuple(COLUMN_NAMES),
    order_levels=_order_levels,
    read_lines=read_lines,
    drops_short_rows=lambda header: not is_long(header),
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
    nuggetizer, tables in CSV (separated by commas or semicolons), TSV, JSON, JSONL and Parquet, and
    frames of pandas, polars and Arrow. Measures in trec_eval's output are given confir's names where
    they are the same; all other names stay as they are.

    Parameters
    ----------
    paths
        The files or frames; "-" is standard input, and a folder stands for its files. A score that
        stands in two of them is an error.
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
    sources = [one if has_columns(one) else as_path("paths", one) for one in listed]
    given = [one for source in sources for one in files_of(source)]
    if len(given) == 1:
        return replace(_read_source(given[0], run, measure, roles), bounded=bounded)
    if not given:
        raise InvalidValueError("no score files were given; expected at least one of paths")
    names = [FRAME if has_columns(source) else os.fspath(source) for source in given]
    merged = _merge([_read_source(source, run, measure, roles) for source in given], names)
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


def _read_source(
    source: PathLike | Any, run: str | None, measure: str | None, roles: ColumnRoles | None
) -> Scores:
    kind = SCORES if roles is None else replace(SCORES, read_format=partial(_read_named, roles))
    if roles is not None and roles.order:
        kind = replace(kind, read_lines=partial(read_ordered_lines, roles.order))

    def use(table: InputTable) -> Scores:
        if roles is not None and roles.order:
            check_nameless(table, roles)
        return scores_from_table(table, run, measure, roles)

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
) -> Scores:
    """Return the scores in one table; where an entry is there twice, say on which lines."""
    if roles is None and are_means(table.header):
        raise table.header_error(
            "means with their errors, of which intervals alone follow; this needs scores of single topics: "
            f"{EXPECTED}"
        )
    entries, table = score_entries(usual_columns(table, roles))
    if run is not None:
        entries = entries._replace(runs=_renamed("run", entries.runs, run, table.source))
    if measure is not None:
        measures = _renamed("measure", entries.measures, measure, table.source)
        entries = entries._replace(measures=measures)
    check_filled(entries.sizes, len(entries.values), table.source)
    repetition = entries.find_repetition()
    if repetition:
        second, first = (entry % len(table) for entry in repetition)
        raise table.error(
            f"a second score of {entries.describe(repetition[0])} (the first: "
            f"{table.describe_row(first)}); expected one",
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


def _merge(tables: Sequence[Scores], sources: Sequence[str]) -> Scores:
    """Return the tables as one, its runs and measures in the order of the files."""
    topics = sorted({name for table in tables for name in table.topics})
    runs = list(dict.fromkeys(name for table in tables for name in table.runs))
    measures = list(dict.fromkeys(name for table in tables for name in table.measures))
    places = [{name: i for i, name in enumerate(names)} for names in (topics, runs, measures)]
    sizes = {"topics": len(topics), "runs": len(runs), "measures": len(measures)}
    check_filled(sizes, sum(table.values.size for table in tables), sources[0])
    values = np.full(tuple(sizes.values()), np.nan)
    owners = np.full(values.shape, -1)
    for number, table in enumerate(tables):
        names = (table.topics, table.runs, table.measures)
        cells = np.ix_(*([at[name] for name in own] for at, own in zip(places, names, strict=True)))
        present = ~np.isnan(table.values)
        for cell in np.argwhere(present & (owners[cells] >= 0))[:1]:
            topic, run, measure = (own[i] for own, i in zip(names, cell, strict=True))
            raise FormatError(
                f"a second score of run {run!r}, measure {measure!r}, topic {topic!r} (the first: "
                f"{sources[owners[cells][tuple(cell)]]}); expected one",
                path=sources[number],
            )
        values[cells] = np.where(present, table.values, values[cells])
        owners[cells] = np.where(present, number, owners[cells])
    return Scores(tuple(topics), tuple(runs), tuple(measures), values)
