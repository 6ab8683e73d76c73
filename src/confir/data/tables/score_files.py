"""How are scores per topic read and written?

Reading goes from bytes to a table, from its columns to entries, and from the entries of all files
to `Scores`.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np

from confir.arguments import as_choice, as_flag, as_list, as_path, as_text, invalid
from confir.data.files import PathLike, format_ending, write_whole
from confir.data.formats.catalogue import recognise
from confir.data.scores import Scores
from confir.data.tables.column_roles import (
    ColumnRoles,
    ColumnsSource,
    as_column_roles,
    check_nameless,
    with_roles,
)
from confir.data.tables.frame_tables import has_columns
from confir.data.tables.input_table import (
    Ids,
    InputTable,
    TableKind,
    check_filled,
    is_summary,
    is_unicode,
)
from confir.data.tables.measure_names import find_measures, topics_come_first
from confir.data.tables.parquet_files import import_pyarrow, is_parquet
from confir.data.tables.sample_tables import from_samples, with_repeats
from confir.data.tables.score_columns import (
    COLUMN_NAMES,
    EXPECTED,
    Layout,
    is_long,
    is_reserved,
    score_entries,
    with_confir_names,
)
from confir.data.tables.score_lines import read_lines, read_ordered_lines
from confir.data.tables.separated_text import SEPARATORS, is_escaped, quoted_cell
from confir.data.tables.table_reader import FRAME, read_table
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
    nuggetizer, tables in CSV (separated by
    commas or semicolons), TSV, JSON, JSONL and Parquet, and frames of pandas, polars and Arrow.
    Measures in trec_eval's output are given confir's names where they are the same; all other
    names stay as they are.

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
    given = [one for source in listed for one in files_of(_as_source(source))]
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


def _as_source(source: Any) -> Any:
    """Return a path or a data frame; raise for what is neither."""
    return source if has_columns(source) else as_path("paths", source)


def write_scores(scores: Any, path: PathLike, *, layout: Layout = "long") -> None:
    """Write scores in the format that the ending says, whole or not at all.

    Missing scores are left out of a long table, and so is what has no score at all.

    Parameters
    ----------
    scores
        The scores, or what `as_scores` makes them of.
    path
        A file ending in .csv, .tsv, .json, .jsonl or .parquet; the text formats may have a
        compression's ending after it.
    layout
        "long" writes a row per score; "wide", for CSV and TSV of one measure, a row per topic and
        a column per run. A wide table does not hold the measure's name.

    Examples
    --------
    >>> confir.write_scores({"a": [0.3, 0.5], "b": [0.2, 0.5]}, "scores.csv")
    """
    from confir.data.tables.score_objects import make_scores  # which reads files by this module

    source = as_path("path", path)
    scores = make_scores(scores, "scores")
    ending = format_ending(source)
    if ending not in _WRITERS:
        raise InvalidValueError(
            f"{source}: the ending does not say how to write scores; expected one of "
            f"{', '.join(_WRITERS)}"
        )
    if ending == ".parquet" and not source.lower().endswith(ending):
        raise InvalidValueError(f"{source}: Parquet is compressed within; expected .parquet")
    as_choice("layout", layout, get_args(Layout))
    _check_writable(scores, source)
    if layout == "wide":
        _check_wide(scores, source, ending)
        write_whole(path, _wide_text(scores, SEPARATORS[ending]).encode())
    else:
        write_whole(path, _WRITERS[ending](scores))


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
    if roles is not None:
        table = with_roles(table, roles)
    entries, table = score_entries(with_confir_names(with_repeats(from_samples(table))))
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
            f"{table.place(first)}); expected one",
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


def _check_writable(scores: Scores, source: str) -> None:
    """Raise where what is written could not be read back."""
    for kind in ("run", "measure", "topic"):
        for name in getattr(scores, f"{kind}s"):
            if not name or "\0" in name or not is_unicode(name):
                raise InvalidValueError(f"{source}: {kind} {name!r} cannot be written as text")
    for topic in filter(is_summary, scores.topics):
        raise InvalidValueError(f"{source}: topic {topic!r} would be read as a summary")
    if np.isinf(scores.values).any():
        raise InvalidValueError(f"{source}: a score is infinite; expected finite numbers")
    if np.isnan(scores.values).all():
        raise InvalidValueError(f"{source}: there is no score to write; all are missing")


def _check_wide(scores: Scores, source: str, ending: str) -> None:
    if ending not in SEPARATORS:
        raise InvalidValueError(f"{source}: a wide table is written as .csv or .tsv only")
    if len(scores.measures) != 1:
        raise InvalidValueError(
            f"{source}: a wide table holds one measure, not {len(scores.measures)}; select one, "
            "or write a long table"
        )
    for run in filter(is_reserved, scores.runs):
        raise InvalidValueError(
            f"{source}: run {run!r} would be read as a column's name; write a long table"
        )
    for run in find_measures(scores.runs)[:1]:
        raise InvalidValueError(
            f"{source}: run {run!r} would be read as a measure; write a long table"
        )


def _quoted(name: str) -> str:
    return quoted_cell(f"'{name}" if is_escaped(name) else name)


def _long_text(scores: Scores, separator: str) -> str:
    topics = [_quoted(name) for name in scores.topics]
    lines = [separator.join(COLUMN_NAMES)]
    for r, run in enumerate(scores.runs):
        for m, measure in enumerate(scores.measures):
            start = f"{_quoted(run)}{separator}{_quoted(measure)}{separator}"
            lines.extend(
                f"{start}{topic}{separator}{score!r}"
                for topic, score in zip(topics, scores.values[:, r, m].tolist(), strict=True)
                if not math.isnan(score)
            )
    return "\n".join(lines) + "\n"


def _wide_text(scores: Scores, separator: str) -> str:
    lines = [separator.join(["topic", *map(_quoted, scores.runs)])]
    for topic, row in zip(scores.topics, scores.values[:, :, 0].tolist(), strict=True):
        cells = ["" if math.isnan(score) else repr(score) for score in row]
        lines.append(separator.join([_quoted(topic), *cells]))
    return "\n".join(lines) + "\n"


def _record_texts(scores: Scores) -> list[str]:
    return [json.dumps(record, ensure_ascii=False) for record in scores.to_records()]


def _parquet_bytes(scores: Scores) -> bytes:
    """Return scores as the content of a Parquet file, without an object for each row."""
    arrow, parquet = import_pyarrow("writing Parquet")
    by_run = scores.values.transpose(1, 2, 0)
    rows = np.nonzero(~np.isnan(by_run))
    names = (scores.runs, scores.measures, scores.topics)
    columns = [
        arrow.DictionaryArray.from_arrays(places, list(known)).cast(arrow.string())
        for places, known in zip(rows, names, strict=True)
    ]
    table = arrow.table([*columns, by_run[rows]], names=list(COLUMN_NAMES))
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    return stream.getvalue()


_WRITERS: dict[str, Callable[[Scores], bytes]] = {
    ".csv": lambda scores: _long_text(scores, ",").encode(),
    ".tsv": lambda scores: _long_text(scores, "\t").encode(),
    ".json": lambda scores: ("[\n" + ",\n".join(_record_texts(scores)) + "\n]\n").encode(),
    ".jsonl": lambda scores: "".join(f"{text}\n" for text in _record_texts(scores)).encode(),
    ".parquet": _parquet_bytes,
}
