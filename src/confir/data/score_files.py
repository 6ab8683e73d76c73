"""How are tables of scores per topic read and written?

Text is told apart by how it begins: JSON, columns under a header, or bare lines as trec_eval and
ir_measures print them. Under a header a table is *long* (a row per score) or *wide* (a row per
topic, a column per run). Rows of the topic ``all`` are summaries in every format: they are left
out.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import reprlib
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import Any, Literal, NamedTuple

import numpy as np

from confir.data.files import COMPRESSION_ENDINGS, PathLike, read_bytes, write_whole
from confir.data.scores import Scores, scores_from_entries
from confir.data.trec_files import name_from_path, text_bytes
from confir.errors import (
    FormatError,
    InputWarning,
    InvalidValueError,
    MissingDependencyError,
    UnknownNameError,
    enumerate_names,
)

Layout = Literal["long", "wide"]

SUMMARY_TOPIC = "all"

# what a column or a key may be called, the preferred name first
COLUMN_NAMES = {
    "run": ("run", "run_id", "system", "tag", "name"),
    "measure": ("measure", "metric"),
    "topic": ("topic", "topic_id", "query_id", "qid", "q_id", "query"),
    "score": ("score", "value"),
}

# what R and pandas call the column of row names
_ROW_NAMES = ("", "__index_level_0__")
_DOCUMENT_NAMES = {"docid", "docno", "doc_id", "document"}
_MISSING = {"", "na", "nan", "-nan"}
_SEPARATORS = {".csv": ",", ".tsv": "\t"}

_EXPECTED = (
    "expected columns run, measure, topic, score, or topic and a column per run, or lines as "
    "trec_eval -q prints them"
)

# trec_eval's rbp is left alone: it is not confir's RBP
_TREC_EVAL_NAMES = {
    "map": "AP",
    "Rprec": "Rprec",
    "R-prec": "Rprec",
    "recip_rank": "RR",
    "ndcg": "nDCG",
    "bpref": "Bpref",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
}
_TREC_EVAL_CUTOFFS = {
    "map_cut": "AP",
    "P": "P",
    "recall": "R",
    "ndcg_cut": "nDCG",
    "success": "Success",
}
_TREC_EVAL_CUTOFF = re.compile(rf"({'|'.join(_TREC_EVAL_CUTOFFS)})_?(\d+)")
_TEXT_MEASURES = ("runid", "relstring")

# blank lines and comments at the beginning
_LEAD = re.compile(rb"\A(?:\s*#[^\r\n]*(?:[\r\n]|\Z))*\s*")

# how the names of the usual measures begin, to tell their column from that of topics
_MEASURE = re.compile(
    r"(gm_)?(map|bpref)|ndcg|recip_rank|recall_|success_|num_|set_|infAP|11pt_avg|iprec_at_recall|"
    r"ircl_prn|R-?prec|P([@_(]|\d+$)|R[@(]|Q[@(]|AP|RR|nDCG|n?ERR|u?RBP|Bpref|Success|Judged|"
    r"alpha_nDCG|α_nDCG|StRecall|DS?_nDCG|Num"
)

# the measures that a file's name may end in, a cutoff aside
_FILE_MEASURES = {
    "ap": "AP",
    "map": "AP",
    "p": "P",
    "rprec": "Rprec",
    "rr": "RR",
    "ndcg": "nDCG",
    "err": "ERR",
    "nerr": "nERR",
    "bpref": "Bpref",
    "alpha-ndcg": "alpha-nDCG",
    "nerr-ia": "nERR-IA",
}
_FILE_MEASURE = re.compile(r"([a-z-]+)(\d*)", re.IGNORECASE)


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
    ending = _ending(source)
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
        write_whole(path, _wide_text(scores, _SEPARATORS[ending]).encode())
    else:
        write_whole(path, _WRITERS[ending](scores))


@dataclass(frozen=True, slots=True)
class _Table:
    """Columns under a header.

    ``lines`` are those on which the rows stand; where there are none, as in Parquet, ``unit`` is
    "row" and ``lines`` numbers the rows.
    """

    source: str
    header: Sequence[str]
    columns: Sequence[Sequence[Any]]
    lines: Sequence[int]
    unit: Literal["line", "row"] = "line"

    def __len__(self) -> int:
        return len(self.columns[0])

    def error(self, problem: str, row: int) -> FormatError:
        number = self.lines[row]
        if self.unit == "line":
            return FormatError(problem, path=self.source, line=number)
        return FormatError(f"row {number}: {problem}", path=self.source)


class _Entries(NamedTuple):
    """One entry per score; entry ``i`` stands in row ``i`` modulo the rows of its table."""

    runs: Sequence[str]
    measures: Sequence[str]
    topics: Sequence[str]
    values: Sequence[float]


def _read_file(source: str, run: str | None, measure: str | None) -> Scores:
    content = read_bytes(source)
    if content.startswith(b"PAR1") or (content and _ending(source) == ".parquet"):
        table = _parquet_table(content, source)
    else:
        table = _text_table(text_bytes(content, source), source)
    _check_header(table)
    layout = _layout(table.header, source)
    table = _without_summaries(table)
    entries = _long_entries(table) if layout == "long" else _wide_entries(table)
    if run is not None:
        entries = entries._replace(runs=_renamed("run", entries.runs, run, source))
    if measure is not None:
        entries = entries._replace(measures=_renamed("measure", entries.measures, measure, source))
    return _build(entries, table)


def _check_header(table: _Table) -> None:
    """Raise where a column has no name, another's name, or one that is not text."""
    counts = Counter(table.header)
    for place, name in enumerate(table.header, start=1):
        if counts[name] > 1:
            raise FormatError(f"two columns are named {name!r}; expected one", path=table.source)
        if not _is_unicode(name) or (not name and place > 1):
            raise FormatError(f"the name of column {place} is {name!r}", path=table.source)


def _renamed(kind: str, names: Sequence[str], given: str, source: str) -> Sequence[str]:
    several = len(set(names))
    if several > 1:
        raise InvalidValueError(
            f"{source} holds {several} {kind}s; {kind}={given!r} can name the {kind} of a file of "
            "one only"
        )
    return [given] * len(names)


def _build(entries: _Entries, table: _Table) -> Scores:
    """Return the scores; where an entry is there twice, say on which lines."""
    try:
        scores = scores_from_entries(*entries, path=table.source)
    except FormatError:
        raise _repetition(entries, table) from None
    if np.isnan(scores.values).all():
        raise FormatError("every score is missing; expected a number", path=table.source)
    return scores


def _repetition(entries: _Entries, table: _Table) -> FormatError:
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


def _ending(source: str) -> str:
    """Return the ending that tells the format, in small letters, a compression's left out."""
    name = os.path.basename(source).lower()
    for compression in COMPRESSION_ENDINGS:
        name = name.removesuffix(compression)
    return os.path.splitext(name)[1].replace(".ndjson", ".jsonl")


def _stem(source: str) -> str:
    """Return the file's name without endings."""
    name = name_from_path(source)
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in (".tsv", ".jsonl", ".ndjson") else name


def _measure_from_path(source: str) -> str:
    """Return the measure that a file's name ends in, as in ``c.AP@1000.csv`` or ``c_ap.csv``."""
    stem = _stem(source)
    dotted = stem.rpartition(".")[2] if "." in stem else ""
    if re.fullmatch(r".+@\d+", dotted):
        return dotted
    match = _FILE_MEASURE.fullmatch(dotted or stem.partition("_")[2])
    name = match and _FILE_MEASURES.get(match[1].lower())
    if not match or not name or (name == "P" and not match[2]):
        return "score"
    return f"{name}@{match[2]}" if match[2] else name


def _text_table(content: bytes, source: str) -> _Table:
    start = _LEAD.sub(b"", content)
    blank = content.count(b"\n", 0, len(content) - len(start))
    content = b"\n" * blank + start
    if not start:
        raise FormatError(f"the file is empty; {_EXPECTED}", path=source)
    ending = _ending(source)
    if ending in (".json", ".jsonl") or (start[:1] in b"[{" and ending not in _SEPARATORS):
        return _json_table(content, source)
    first = re.split(rb"[\r\n]", start, maxsplit=1)[0]
    separator = _separator(first, ending)
    if separator != "," and _is_bare(first, separator, source):
        return _bare_table(content, source)
    if separator is None:
        raise FormatError(f"no columns of scores; {_EXPECTED}", path=source, line=blank + 1)
    return _separated_table(content.decode(), separator, source)


def _separator(line: bytes, ending: str) -> str | None:
    """Return what separates the columns, judged by the first line and the file's ending."""
    if ending == ".tsv" or (b"\t" in line and not (ending == ".csv" and b"," in line)):
        return "\t"
    return "," if ending == ".csv" or b"," in line else None


def _is_bare(line: bytes, separator: str | None, source: str) -> bool:
    """Whether a first line holds a score, rather than names of columns.

    Lines of a run, of qrels or of summaries are errors; of four columns, those that begin with a
    measure are scores, others qrels.
    """
    names = [cell.strip('" ').casefold() for cell in line.decode().split(separator)]
    if set(names) & set(COLUMN_NAMES["topic"]):
        return False
    fields = [field.decode() for field in line.split()]
    count = len(fields)
    numeric = [_is_numeric(field) for field in fields]
    measured = _MEASURE.match(fields[0]) is not None
    mistaken = None
    if count == 2 and measured and numeric[1]:
        mistaken = "summaries of measures (written without the option -q?)"
    if count == 4 and not measured and re.fullmatch(r"[+-]?\d+", fields[3]):
        mistaken = "qrels"
    if count >= 5 and numeric[3] and numeric[4]:
        mistaken = "a run"
    if mistaken:
        raise FormatError(f"this looks like {mistaken}; {_EXPECTED}", path=source)
    if count == 4:
        return measured and numeric[3]
    return count == 3 and (numeric[2] or fields[0].startswith(_TEXT_MEASURES))


def _is_numeric(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _bare_table(content: bytes, source: str) -> _Table:
    """Return the table of lines without a header, in the order of columns that they show.

    Lines are split at ASCII blanks only, so that any other blank stays part of an id.
    """
    lines: list[int] = []
    rows: list[list[str]] = []
    for number, line in enumerate(content.splitlines(), start=1):
        fields = [field.decode() for field in line.split()]
        if fields and not fields[0].startswith(("#", *_TEXT_MEASURES)):
            lines.append(number)
            rows.append(fields)
    if not rows:
        raise FormatError("no numbers; expected a score per topic", path=source)
    width = len(rows[0])
    for number, fields in zip(lines, rows, strict=True):
        if width == 4 and len(fields) == 3 and fields[1] == SUMMARY_TOPIC:
            fields.insert(2, SUMMARY_TOPIC)
        if len(fields) != width:
            raise FormatError(
                f"{len(fields)} columns; expected {width} as before", path=source, line=number
            )
    columns: list[Sequence[str]] = list(zip(*rows, strict=True))
    if width == 3 and _topics_come_first(columns[0], columns[1], content, source):
        return _Table(source, ["topic", "measure", "score"], columns, lines)
    header = ["measure", "topic", "run", "score"] if width == 4 else ["measure", "topic", "score"]
    columns[0] = [_confir_name(name) for name in columns[0]]
    return _Table(source, header, columns, lines)


def _topics_come_first(
    first: Sequence[str], second: Sequence[str], content: bytes, source: str
) -> bool:
    """Whether lines are ir_measures' (topic, measure, score), not trec_eval's (measure, topic).

    Told by the column in which summaries are marked, else by trec_eval's padding of names, else
    by the column that holds more names of usual measures.
    """
    if (SUMMARY_TOPIC in first) != (SUMMARY_TOPIC in second):
        return SUMMARY_TOPIC in first
    if re.search(rb"^\S+ +\t", content, re.MULTILINE):
        return False
    usual = [
        sum(_MEASURE.match(name) is not None for name in names) / len(names)
        for names in (set(first), set(second))
    ]
    if usual[0] == usual[1]:
        raise FormatError(
            "cannot tell the column of topics from that of measures; expected a first line that "
            "names the columns, such as topic, measure, score",
            path=source,
        )
    return usual[1] > usual[0]


def _confir_name(name: str) -> str:
    """Return confir's name of a measure of trec_eval; one that confir lacks stays as it is."""
    match = _TREC_EVAL_CUTOFF.fullmatch(name)
    if match:
        return f"{_TREC_EVAL_CUTOFFS[match[1]]}@{match[2]}"
    return _TREC_EVAL_NAMES.get(name, name)


def _separated_table(text: str, separator: str, source: str) -> _Table:
    cells, widths, lines = _split_rows(text, separator, source)
    width = widths[0]
    if len(widths) == 1:
        raise FormatError(f"a header without rows; {_EXPECTED}", path=source, line=lines[0])
    if set(widths) != {width}:
        _check_ragged(cells[:width], widths, lines, source)
        ends = accumulate(widths)
        rows = [
            cells[end - width : end] for end, own in zip(ends, widths, strict=True) if own == width
        ]
        cells = list(chain.from_iterable(rows))
        lines = [line for line, own in zip(lines, widths, strict=True) if own == width]
    columns = [cells[width + place :: width] for place in range(width)]
    return _Table(source, cells[:width], columns, lines[1:])


def _split_rows(text: str, separator: str, source: str) -> tuple[list[str], list[int], list[int]]:
    """Return all cells one after the other, and the width and first line of every row."""
    stream = io.StringIO(text, newline="")
    reader = csv.reader(stream, delimiter=separator, strict=True, skipinitialspace=True)
    cells: list[str] = []
    widths: list[int] = []
    lines: list[int] = []
    line = 1
    try:
        for row in reader:
            if row:
                cells += row
                widths.append(len(row))
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(
            f"the columns cannot be told apart ({error})", path=source, line=line
        ) from None
    return cells, widths, lines


def _check_ragged(
    header: Sequence[str], widths: Sequence[int], lines: Sequence[int], source: str
) -> None:
    """Warn of a few short rows in a wide table; any other uneven rows are an error."""
    width = widths[0]
    uneven = [line for line, own in zip(lines, widths, strict=True) if own != width]
    few = 2 * len(uneven) < len(lines) - 1
    if max(widths) > width or not few or _layout(header, source) == "long":
        raise FormatError(
            f"{widths[lines.index(uneven[0])]} columns; expected {width} as in the header",
            path=source,
            line=uneven[0],
        )
    warnings.warn(
        f"{source}: rows with fewer columns than the header are left out, for which runs lack a "
        f"score cannot be told (lines {enumerate_names(map(str, uneven))})",
        InputWarning,
        stacklevel=6,
    )


def _json_table(content: bytes, source: str) -> _Table:
    """Return the table of records, one per line or in a list, or of nested objects."""
    if _is_json_lines(content, source):
        texts = {n: text for n, text in enumerate(content.split(b"\n"), start=1) if text.strip()}
        return _record_table(_load_lines(texts, source), _Table(source, [], [], list(texts)))
    document = _load_json(content, 1, source)
    if isinstance(document, dict):
        return _nested_table(document, source)
    records = document if isinstance(document, list) else [document]
    return _record_table(records, _Table(source, [], [], range(1, len(records) + 1), "row"))


def _is_json_lines(content: bytes, source: str) -> bool:
    """Whether every line is a record: the ending says so, or the first line is one."""
    if _ending(source) == ".jsonl":
        return True
    start = content.lstrip()
    if not start.startswith(b"{"):
        return False
    try:
        first = json.loads(start.split(b"\n", maxsplit=1)[0])
    except (ValueError, RecursionError):
        return False
    return not any(isinstance(cell, dict) for cell in first.values())


def _load_lines(texts: dict[int, bytes], source: str) -> list[Any]:
    """Return the records, all loaded at once; line by line where that fails, to name the line."""
    try:
        records = json.loads(b"[" + b",".join(texts.values()) + b"]", object_pairs_hook=_object)
    except (ValueError, RecursionError):
        records = []
    if len(records) == len(texts):
        return list(records)
    return [_load_json(text, line, source) for line, text in texts.items()]


def _load_json(text: bytes, line: int, source: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"not JSON ({error.msg}); expected records of run, measure, topic, score",
            path=source,
            line=line + error.lineno - 1,
        ) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"cannot be read as JSON ({error})", path=source, line=line) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; of a key that is there twice, one score would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in found if keys.count(key) > 1)
        raise ValueError(f"the key {repeated!r} is there twice")
    return found


def _record_table(records: Sequence[Any], blank: _Table) -> _Table:
    """Return the blank table filled with records, which all have the same keys."""
    if not records:
        raise FormatError(f"no records; {_EXPECTED}", path=blank.source)
    for row, record in enumerate(records):
        if not isinstance(record, dict) or not record:
            raise blank.error("not a record; expected an object with a topic and a score", row)
        if record.keys() != records[0].keys():
            raise blank.error(
                f"a record of {', '.join(record)}; expected {', '.join(records[0])} as in the first",
                row,
            )
    columns = [[record[name] for record in records] for name in records[0]]
    return replace(blank, header=list(records[0]), columns=columns)


def _nested_table(document: dict[str, Any], source: str) -> _Table:
    """Return the table of run → measure → topic → score."""
    rows: list[tuple[str, str, str, Any]] = []
    for run, measures in document.items():
        for measure, topics in _members(measures, run, source):
            members = _members(topics, f"{run} → {measure}", source)
            rows.extend((run, measure, topic, cell) for topic, cell in members)
    if not rows:
        raise FormatError(f"no scores; {_EXPECTED}", path=source)
    columns = list(zip(*rows, strict=True))
    return _Table(source, list(COLUMN_NAMES), columns, range(1, len(rows) + 1), "row")


def _members(found: Any, place: str, source: str) -> Any:
    if not isinstance(found, dict):
        raise FormatError(
            f"no object at {place}; expected run → measure → topic → score", path=source
        )
    return found.items()


def _parquet_table(content: bytes, source: str) -> _Table:
    arrow, parquet = _pyarrow(f"{source}: reading Parquet")
    try:
        found = parquet.read_table(io.BytesIO(content))
        columns = [column.to_pylist() for column in found.columns]
    except (arrow.ArrowException, OSError, ValueError) as error:
        problem = str(error).split("\n", maxsplit=1)[0]
        raise FormatError(f"cannot be read as Parquet ({problem})", path=source) from None
    if not columns or not columns[0]:
        raise FormatError(f"a table without rows; {_EXPECTED}", path=source)
    return _Table(source, found.column_names, columns, range(1, len(columns[0]) + 1), "row")


def _pyarrow(purpose: str) -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingDependencyError("pyarrow", purpose, "parquet") from None
    return pa, pq


def _places(header: Sequence[str]) -> dict[str, int]:
    """Return the places of the columns of run, measure, topic and score, as far as there are."""
    folded = [name.strip().casefold() for name in header]
    found = {
        column: next((folded.index(name) for name in names if name in folded), None)
        for column, names in COLUMN_NAMES.items()
    }
    return {column: place for column, place in found.items() if place is not None}


def _layout(header: Sequence[str], source: str) -> Layout:
    """Return whether a header is that of a long or of a wide table; raise where of neither."""
    if any(name.strip().casefold() in _DOCUMENT_NAMES for name in header):
        raise FormatError(f"this looks like a run or qrels; {_EXPECTED}", path=source)
    places = _places(header)
    if "score" in places and len(places) > 1:
        if "topic" not in places:
            raise FormatError(f"no column of topics; {_EXPECTED}", path=source)
        return "long"
    if "topic" not in places and all(map(_is_numeric, header)):
        raise FormatError(f"the first row holds numbers only, no names; {_EXPECTED}", path=source)
    return "wide"


def _topic_place(table: _Table) -> int | None:
    """Return the place of the column of topics; without one, row names stand for them."""
    row_names = next((i for i, name in enumerate(table.header) if name in _ROW_NAMES), None)
    return _places(table.header).get("topic", row_names)


def _without_summaries(table: _Table) -> _Table:
    place = _topic_place(table)
    if place is None or SUMMARY_TOPIC not in table.columns[place]:
        return table
    rows = [row for row, topic in enumerate(table.columns[place]) if topic != SUMMARY_TOPIC]
    if not rows:
        raise FormatError(
            "only summaries (topic 'all'); expected scores per topic, as with the option -q of "
            "trec_eval and ir_measures",
            path=table.source,
        )
    columns = [[column[row] for row in rows] for column in table.columns]
    return replace(table, columns=columns, lines=[table.lines[row] for row in rows])


def _long_entries(table: _Table) -> _Entries:
    places = _places(table.header)
    count = len(table)
    runs = _ids(table, places["run"]) if "run" in places else [_stem(table.source)] * count
    if "measure" in places:
        measures = _ids(table, places["measure"])
    else:
        measures = [_measure_from_path(table.source)] * count
    return _Entries(runs, measures, _ids(table, places["topic"]), _scores(table, places["score"]))


def _wide_entries(table: _Table) -> _Entries:
    topic_place = _topic_place(table)
    places = [
        place
        for place, name in enumerate(table.header)
        if place != topic_place and name not in _ROW_NAMES
    ]
    if not places:
        raise FormatError(f"no column of scores; {_EXPECTED}", path=table.source)
    values = [value for place in places for value in _scores(table, place)]
    count = len(table)
    if topic_place is not None:
        topics = _ids(table, topic_place)
    else:
        topics = [f"{number:0{len(str(count))}}" for number in range(1, count + 1)]
        warnings.warn(
            f"{table.source}: no column of topics; its rows are numbered {topics[0]} to "
            f"{topics[-1]}",
            InputWarning,
            stacklevel=4,
        )
    return _Entries(
        [table.header[place] for place in places for _ in topics],
        [_measure_from_path(table.source)] * len(values),
        topics * len(places),
        values,
    )


def _ids(table: _Table, place: int) -> list[str]:
    """Return a column of ids as text; whole numbers are ids, too."""
    column = table.columns[place]
    name = table.header[place]
    if "" in column or not set(map(type, column)) <= {str, int}:
        row = next(i for i, cell in enumerate(column) if cell == "" or type(cell) not in (str, int))
        raise table.error(f"{name} {reprlib.repr(column[row])} is not an id; expected text", row)
    ids = list(map(str, column))
    if not _is_unicode("".join(ids)):
        raise FormatError(f"a {name} is not Unicode text", path=table.source)
    return ids


def _is_unicode(text: str) -> bool:
    """Whether a text can be written: half of a surrogate pair, as JSON can spell it, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _scores(table: _Table, place: int) -> list[float]:
    """Return a column of scores, NaN where missing; raise where one is no finite number."""
    column = table.columns[place]
    values = _plain_numbers(column)
    if values is not None:
        return values
    numbers = [_number(cell) for cell in column]
    if None in numbers:
        row = numbers.index(None)
        problem = (
            f"{reprlib.repr(column[row])} under {table.header[place]!r} is not a finite number"
        )
        layout = "" if _layout(table.header, table.source) == "long" else f"; {_EXPECTED}"
        raise table.error(problem + layout, row)
    return [number for number in numbers if number is not None]


def _plain_numbers(column: Sequence[Any]) -> list[float] | None:
    """Return a column's numbers at once where all are finite and nothing needs a closer look."""
    kinds = set(map(type, column))
    if kinds == {str}:
        text = "".join(column)
        kinds = {float} if text.isascii() and "_" not in text else kinds
    if not kinds <= {float, int}:
        return None
    try:
        values = list(map(float, column))
    except (ValueError, OverflowError):
        return None
    return None if np.isinf(values).any() else values


def _number(cell: Any) -> float | None:
    """Return the number in a cell: NaN where it is missing, None where it is not finite."""
    if isinstance(cell, str):
        if cell.strip().casefold() in _MISSING:
            return math.nan
        # Python alone reads 1_000 and digits of other scripts as numbers
        if "_" in cell or not cell.isascii():
            return None
    if cell is None or isinstance(cell, bool):
        return math.nan if cell is None else None
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isinf(value) else value


def _check_writable(scores: Scores, source: str) -> None:
    """Raise where what is written could not be read back."""
    for kind in ("run", "measure", "topic"):
        for name in getattr(scores, f"{kind}s"):
            if not name or "\0" in name or not _is_unicode(name):
                raise InvalidValueError(f"{source}: {kind} {name!r} cannot be written as text")
    if SUMMARY_TOPIC in scores.topics:
        raise InvalidValueError(f"{source}: topic 'all' would be read as a summary")
    if np.isinf(scores.values).any():
        raise InvalidValueError(f"{source}: a score is infinite; expected finite numbers")
    if np.isnan(scores.values).all():
        raise InvalidValueError(f"{source}: there is no score to write; all are missing")


def _check_wide(scores: Scores, source: str, ending: str) -> None:
    if ending not in _SEPARATORS:
        raise InvalidValueError(f"{source}: a wide table is written as .csv or .tsv only")
    if len(scores.measures) != 1:
        raise InvalidValueError(
            f"{source}: a wide table holds one measure, not {len(scores.measures)}; select one, "
            "or write a long table"
        )
    reserved = {"topic", *_ROW_NAMES, *_DOCUMENT_NAMES, *COLUMN_NAMES["score"]}
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


def _parquet_bytes(scores: Scores) -> bytes:
    arrow, parquet = _pyarrow("writing Parquet")
    stream = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(scores.to_records()), stream)
    return stream.getvalue()


_WRITERS: dict[str, Callable[[Scores], bytes]] = {
    ".csv": lambda scores: _long_text(scores, ",").encode(),
    ".tsv": lambda scores: _long_text(scores, "\t").encode(),
    ".json": lambda scores: ("[\n" + ",\n".join(_record_texts(scores)) + "\n]\n").encode(),
    ".jsonl": lambda scores: "".join(f"{text}\n" for text in _record_texts(scores)).encode(),
    ".parquet": _parquet_bytes,
}
