"""Which scores do bare lines hold, as trec_eval and ir_measures print them?

The order of their columns is inferred from their content. Measures of trec_eval are given confir's
names where they are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from confir.data.tables.columns import InputTable, drop_rows, fold
from confir.data.tables.score_columns import COLUMN_NAMES, EXPECTED, is_numeric
from confir.errors import FormatError

_SUMMARY = "all"

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
_THREE_COLUMNS = ["measure", "topic", "score"]
_TEXT_MEASURES = ("runid", "relstring")

# how the names of the usual measures begin, to distinguish their column from that of topics
_MEASURE = re.compile(
    r"(gm_)?(map|bpref)|ndcg|recip_rank|recall_|success_|num_|set_|infAP|11pt_avg|iprec_at_recall|"
    r"ircl_prn|R-?prec|P([@_(]|\d+$)|R[@(]|Q[@(]|AP|RR|nDCG|n?ERR|u?RBP|Bpref|Success|Judged|"
    r"alpha_nDCG|α_nDCG|StRecall|DS?_nDCG|Num"
)


# the keys of a result of pytrec_eval, and names with a cutoff
_SPELT_MEASURE = re.compile(
    r"(gm_)?(map|bpref)|Rprec|Rndcg|recip_rank|ndcg|ndcg_rel|infAP|11pt_avg|utility|(bin)?G|"
    r"relstring|runid|num_(q|ret|rel|rel_ret|nonrel_judged_ret)|set_(P|F|map|recall|relative_P)(_[\d.]+)?|"
    r"(P|recall|map_cut|ndcg_cut|success|relative_P|iprec_at_recall|Rprec_mult)_[\d.]+|"
    r"[A-Za-z_+-]+(\(.*\))?@\d+|AP|RR|nDCG|Rprec|Bpref"
)


def read_lines(
    content: bytes, first: bytes, separator: str | None, source: str
) -> InputTable | None:
    """Return the table of lines without a header; None where the first line is a header."""
    if not _is_bare(first, separator, source):
        return None
    lines, rows = _split_lines(content, source)
    columns: list[Sequence[str]] = list(zip(*rows, strict=True))
    header = ["measure", "topic", "run", "score"] if len(columns) == 4 else _THREE_COLUMNS
    if len(columns) == 3 and _topics_come_first(columns[0], columns[1], content, source):
        columns = [columns[1], columns[0], columns[2]]
    else:
        columns[0] = [confir_name(name) for name in columns[0]]
    table = InputTable(source, header, columns, lines)
    kept = np.array([topic != _SUMMARY for topic in columns[1]])
    return table if kept.all() else drop_rows(table, kept, f"topic {_SUMMARY!r}")


def _is_bare(line: bytes, separator: str | None, source: str) -> bool:
    """Whether a first line holds a score, rather than names of columns.

    Lines of a run, of qrels or of summaries are errors; of four columns, those that begin with a
    measure are scores, others qrels.
    """
    names = [fold(cell.strip('" ')) for cell in line.decode().split(separator)]
    if set(names) & set(COLUMN_NAMES["topic"]):
        return False
    fields = [field.decode() for field in line.split()]
    count = len(fields)
    numeric = [is_numeric(field) for field in fields]
    measured = _MEASURE.match(fields[0]) is not None
    mistaken = None
    if count == 2 and measured and numeric[1]:
        mistaken = "summaries of measures (written without the option -q?)"
    if count == 4 and not measured and re.fullmatch(r"[+-]?\d+", fields[3]):
        mistaken = "qrels"
    if count >= 5 and numeric[3] and numeric[4]:
        mistaken = "a run"
    if mistaken:
        raise FormatError(f"this looks like {mistaken}; {EXPECTED}", path=source)
    if count == 4:
        return measured and numeric[3]
    return count == 3 and (numeric[2] or fields[0].startswith(_TEXT_MEASURES))


def _split_lines(content: bytes, source: str) -> tuple[list[int], list[list[str]]]:
    """Return the numbers of lines that hold scores, and their fields, as many in each.

    Lines are split at ASCII blanks only, so that any other blank stays part of an id.
    """
    lines: list[int] = []
    rows: list[list[str]] = []
    for number, line in enumerate(content.splitlines(), start=1):
        fields = line.decode().split() if line.isascii() else [f.decode() for f in line.split()]
        if fields and not fields[0].startswith(("#", *_TEXT_MEASURES)):
            lines.append(number)
            rows.append(fields)
    if not rows:
        raise FormatError("no numbers; expected a score per topic", path=source)
    width = len(rows[0])
    if width not in (3, 4):
        raise FormatError(f"{width} columns; expected 3 or 4", path=source, line=lines[0])
    for number, fields in zip(lines, rows, strict=True):
        if width == 4 and len(fields) == 3 and fields[1] == _SUMMARY:
            fields.insert(2, _SUMMARY)
        if len(fields) != width:
            raise FormatError(
                f"{len(fields)} columns; expected {width} as before", path=source, line=number
            )
    return lines, rows


def _topics_come_first(
    first: Sequence[str], second: Sequence[str], content: bytes, source: str
) -> bool:
    """Whether lines are ir_measures' (topic, measure, score), not trec_eval's (measure, topic).

    Inferred from the column in which summaries are marked, else by trec_eval's padding, else
    by the column that holds more names of usual measures.
    """
    if (_SUMMARY in first) != (_SUMMARY in second):
        return _SUMMARY in first
    if re.search(rb"^\S+ +\t", content, re.MULTILINE):
        return False
    usual = [
        sum(_MEASURE.match(name) is not None for name in names) / len(names)
        for names in (set(first), set(second))
    ]
    if usual[0] == usual[1]:
        raise FormatError(
            "columns of topics and measures cannot be distinguished; expected a first line that "
            "names the columns, such as topic, measure, score",
            path=source,
        )
    return usual[1] > usual[0]


def is_text_measure(name: str) -> bool:
    """Whether trec_eval prints text under a name, where a measure would have a number."""
    return str(name).startswith(_TEXT_MEASURES)


def are_measures(names: Iterable[str]) -> bool:
    """Whether all names are measures as pytrec_eval and ir_measures spell them; none are not."""
    listed = list(names)
    return bool(listed) and all(_SPELT_MEASURE.fullmatch(str(name)) for name in listed)


def confir_name(name: str) -> str:
    """Return confir's name of a measure of trec_eval; one that confir lacks stays as it is."""
    match = _TREC_EVAL_CUTOFF.fullmatch(name)
    if match:
        return f"{_TREC_EVAL_CUTOFFS[match[1]]}@{match[2]}"
    return _TREC_EVAL_NAMES.get(name, name)
