"""How are scores per topic read and written?

Reading goes from bytes to a table, from its columns to entries, and from the entries of all files
to `Scores`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence

import numpy as np

from confir.data.files import PathLike, read_bytes, write_whole
from confir.data.parquet_scores import parquet_bytes, read_regular_parquet
from confir.data.score_columns import (
    COLUMN_NAMES,
    DOCUMENT_NAMES,
    ROW_NAMES,
    SUMMARY_TOPIC,
    Layout,
    ScoreEntries,
    Table,
    is_unicode,
    score_entries,
    scored_rows,
)
from confir.data.score_tables import SEPARATORS, format_ending, is_parquet, read_table
from confir.data.scores import Scores, scores_from_entries
from confir.errors import FormatError, InvalidValueError, UnknownNameError


def read_scores(
    paths: PathLike | Sequence[PathLike], *, run: str | None = None, measure: str | None = None
) -> Scores:
    """Return the scores in one file or in several, plain or compressed.

    Reads the output of ``trec_eval -q`` and ``ir_measures -q``, and CSV, TSV, JSON, JSONL and
    Parquet tables. Measures in trec_eval's output are given confir's names where they are the
    same; all other names stay as they are.

    Parameters
    ----------
    paths
        The file or files; "-" is standard input. A score that stands in two files is an error.
    run
        Name of the run, for files that hold one run; by default what the file says, else the
        file's name without endings.
    measure
        Name of the measure, for files that hold one measure; by default what the file says, else
        what its name says (``trec8.AP@1000.csv``, ``web2010_ndcg20.csv``), else "score".
    """
    if isinstance(paths, str | os.PathLike):
        return _read_file(os.fspath(paths), run, measure)
    sources = [os.fspath(path) for path in paths]
    if not sources:
        raise InvalidValueError("no score files were given; expected at least one")
    return _merge([_read_file(source, run, measure) for source in sources], sources)


def write_scores(scores: Scores, path: PathLike, *, layout: Layout = "long") -> None:
    """Write scores in the format that the ending says, whole or not at all.

    Missing scores are left out of a long table, and so is what has no score at all.

    Parameters
    ----------
    scores
        The scores.
    path
        A file ending in .csv, .tsv, .json, .jsonl or .parquet; the text formats may have a
        compression's ending after it.
    layout
        "long" writes a row per score; "wide", for CSV and TSV of one measure, a row per topic and
        a column per run. A wide table does not hold the measure's name.
    """
    source = os.fspath(path)
    ending = format_ending(source)
    if ending not in _WRITERS:
        raise InvalidValueError(
            f"{source}: the ending does not say how to write scores; expected one of "
            f"{', '.join(_WRITERS)}"
        )
    if ending == ".parquet" and not source.lower().endswith(ending):
        raise InvalidValueError(f"{source}: Parquet is compressed within; expected .parquet")
    if layout not in ("long", "wide"):
        raise UnknownNameError("layout", str(layout), ("long", "wide"))
    _check_writable(scores, source)
    if layout == "wide":
        _check_wide(scores, source, ending)
        write_whole(path, _wide_text(scores, SEPARATORS[ending]).encode())
    else:
        write_whole(path, _WRITERS[ending](scores))


def _read_file(source: str, run: str | None, measure: str | None) -> Scores:
    content = read_bytes(source)
    if is_parquet(content, source) and run is None and measure is None:
        scores = read_regular_parquet(content, source)
        if scores is not None:
            return scores
    table = scored_rows(read_table(content, source))
    entries = score_entries(table)
    if run is not None:
        entries = entries._replace(runs=_renamed("run", entries.runs, run, source))
    if measure is not None:
        entries = entries._replace(measures=_renamed("measure", entries.measures, measure, source))
    return _build(entries, table)


def _renamed(kind: str, names: Sequence[str], given: str, source: str) -> Sequence[str]:
    several = len(set(names))
    if several > 1:
        raise InvalidValueError(
            f"{source} holds {several} {kind}s; {kind}={given!r} can name the {kind} of a file of "
            "one only"
        )
    return [given] * len(names)


def _build(entries: ScoreEntries, table: Table) -> Scores:
    """Return the scores; where an entry is there twice, say on which lines."""
    try:
        scores = scores_from_entries(*entries, path=table.source)
    except FormatError:
        raise _repetition(entries, table) from None
    if np.isnan(scores.values).all():
        raise FormatError("every score is missing; expected a number", path=table.source)
    return scores


def _repetition(entries: ScoreEntries, table: Table) -> FormatError:
    """Return the error that names the first entry with run, measure and topic of an earlier one."""
    keys = list(zip(*entries[:3], strict=True))
    first = {key: entry for entry, key in reversed(list(enumerate(keys)))}
    second = next(entry for entry, key in enumerate(keys) if first[key] < entry)
    run, measure, topic = keys[second]
    place = f"{table.unit} {table.lines[first[keys[second]] % len(table)]}"
    return table.error(
        f"a second score of run {run!r}, measure {measure!r}, topic {topic!r} (the first: "
        f"{place}); expected one",
        second % len(table),
    )


def _merge(tables: Sequence[Scores], sources: Sequence[str]) -> Scores:
    """Return the tables as one, its runs and measures in the order of the files."""
    topics = sorted({name for table in tables for name in table.topics})
    runs = list(dict.fromkeys(name for table in tables for name in table.runs))
    measures = list(dict.fromkeys(name for table in tables for name in table.measures))
    places = [{name: i for i, name in enumerate(names)} for names in (topics, runs, measures)]
    values = np.full((len(topics), len(runs), len(measures)), np.nan)
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
    if SUMMARY_TOPIC in scores.topics:
        raise InvalidValueError(f"{source}: topic 'all' would be read as a summary")
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
    reserved = {"topic", *ROW_NAMES, *DOCUMENT_NAMES, *COLUMN_NAMES["score"]}
    for run in scores.runs:
        if run.strip().casefold() in reserved:
            raise InvalidValueError(
                f"{source}: run {run!r} would be read as a column's name; write a long table"
            )


def _quoted(name: str) -> str:
    if name != name.strip() or any(sign in name for sign in ',"\t\r\n'):
        return '"' + name.replace('"', '""') + '"'
    return name


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


_WRITERS: dict[str, Callable[[Scores], bytes]] = {
    ".csv": lambda scores: _long_text(scores, ",").encode(),
    ".tsv": lambda scores: _long_text(scores, "\t").encode(),
    ".json": lambda scores: ("[\n" + ",\n".join(_record_texts(scores)) + "\n]\n").encode(),
    ".jsonl": lambda scores: "".join(f"{text}\n" for text in _record_texts(scores)).encode(),
    ".parquet": parquet_bytes,
}
