"""Every kind of table is read by the same rules, in every format."""

import json
from typing import NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import confir
from confir.data.formats.format import RunSource
from confir.data.formats.sources import as_runs, read_runs
from confir.data.sampling_designs.design import read_dataset_designs
from confir.data.sampling_designs.topic_groups import read_topic_groups
from confir.data.tables.cost_files import read_costs
from confir.data.tables.team_files import read_teams
from confir.errors import FormatError


class Kind(NamedTuple):
    """A kind of table: its reader, its columns, and whether frames are read, too."""

    read: object
    columns: dict
    frames: bool = True


def scores(source):
    found = confir.read_scores(source)
    return found.runs, found.measures, found.topics, found.mean().tolist()


def runs(source):
    found = [
        held
        for one in as_runs(source)
        for held in (read_runs(one, "file") if isinstance(one, RunSource) else [one])
    ]
    return [(run.name, run.to_dict()) for run in found]


def effects(source):
    found = confir.read_effects(source)
    return found.studies, found.effects.tolist(), found.sigmas.tolist()


def designs(source):
    found = read_dataset_designs(source, {})
    return {name: (one.topics, one.weight.tolist()) for name, one in found.items()}


def votes(source):
    found = confir.read_votes(source)
    return found.systems, found.left.tolist(), found.winner.tolist(), found.judge.names


def costs(source):
    return [(cost.name.lower(), cost.of_runs(DOCUMENTS)[1]) for cost in read_costs(source)]


def means(source):
    found = confir.read_published_means(source)
    return (
        found.runs,
        found.measures,
        found.means.tolist(),
        found.se.tolist(),
        found.counts.tolist(),
    )


TOPICS, DOCUMENTS = ["1", "1", "02"], ["d,1", "d;2", 'd"3']
KINDS = {
    "scores": Kind(
        scores, {"run": ["a", "b b", "c"], "topic": ["01"] * 3, "score": [0.5, 0.25, 1.0]}
    ),
    "runs": Kind(
        runs,
        {"run": ["a", "b b", "a"], "topic": TOPICS, "docid": DOCUMENTS, "score": [2.5, 1.5, 3.5]},
    ),
    "qrels": Kind(
        lambda source: confir.as_qrels(source).to_dict(),
        {"query-id": TOPICS, "corpus-id": DOCUMENTS, "score": [2, 0, 1]},
    ),
    "effects": Kind(
        effects, {"study": DOCUMENTS, "effect": [0.5, 0.25, -1.5], "se": [0.5, 1.5, 2.5]}, False
    ),
    "designs": Kind(
        designs, {"topic": DOCUMENTS, "dataset": ["x", "x", "y"], "weight": [1.5, 2.5, 0.5]}
    ),
    "groups": Kind(
        lambda source: read_topic_groups("length", source).members(),
        {"topic": DOCUMENTS, "length": ["long", "short", "long"]},
    ),
    "costs": Kind(costs, {"run": DOCUMENTS, "latency": [1.5, 2.5, 0.5]}),
    "published means": Kind(
        means,
        {"run": DOCUMENTS, "mean": [0.5, 0.25, 1.5], "se": [0.5, 1.5, 2.5], "topics": [50, 2, 9]},
    ),
    "teams": Kind(read_teams, {"run": DOCUMENTS, "team": ["A", "A", "B b"]}, False),
    "votes": Kind(
        votes,
        {
            "left": ["a", "b", "a"],
            "right": ["b", "c", "c"],
            "winner": ["left", "tie", "c"],
            "judge": DOCUMENTS,
        },
    ),
}


def as_text(columns, separator=",", *, end="\n", quoted=False, around="", header=None):
    def cell(value):
        text = str(value)
        if quoted or any(sign in text for sign in ',;"\t'):
            text = '"' + text.replace('"', '""') + '"'
        return f"{around}{text}{around}"

    rows = [list(header or columns), *zip(*columns.values(), strict=True)]
    return "".join(separator.join(map(cell, row)) + end for row in rows)


def in_capitals(columns):
    return as_text(columns, header=[name.upper() for name in columns])


def with_comments(columns):
    first, *rows = as_text(columns).splitlines(keepends=True)
    return "# made by hand\n\n" + first + "# rows\n  \n" + "\n".join(rows)


TEXTS = {
    "commas": ("t.csv", as_text),
    "semicolons": ("t.csv", lambda columns: as_text(columns, ";")),
    "tabs": ("t.tsv", lambda columns: as_text(columns, "\t")),
    "commas in TSV": ("t.tsv", as_text),
    "tabs in CSV": ("t.csv", lambda columns: as_text(columns, "\t")),
    "quotes": ("t.csv", lambda columns: as_text(columns, quoted=True)),
    "blanks": ("t.csv", lambda columns: as_text(columns, around=" ")),
    "blanks around quotes": ("t.csv", lambda columns: as_text(columns, quoted=True, around="  ")),
    "Windows line ends": ("t.csv", lambda columns: as_text(columns, end="\r\n")),
    "old Macintosh line ends": ("t.csv", lambda columns: as_text(columns, end="\r")),
    "byte order mark": ("t.csv", lambda columns: "\ufeff" + as_text(columns)),
    "comments": ("t.csv", with_comments),
    "capitals": ("t.csv", in_capitals),
    "no ending": ("t", lambda columns: as_text(columns, "\t")),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("form", TEXTS)
def test_text_holds_the_same_however_it_is_written(tmp_path, name, form):
    kind = KINDS[name]
    file, write = TEXTS[form]
    path = tmp_path / file
    path.write_text(write(kind.columns), newline="")
    plain = tmp_path / "t.json"
    plain.write_text(json.dumps(records(kind.columns)))
    assert kind.read(path) == kind.read(plain)


@pytest.mark.parametrize("name", ["runs", "qrels"])
def test_row_names_are_neither_subtopics_nor_documents(tmp_path, name):
    """R and pandas write them as a first column without a name."""
    kind = KINDS[name]
    plain = write(tmp_path / "t.csv", as_text(kind.columns))
    expected = kind.read(plain)
    assert kind.read(write(plain, as_text({"": [7, 8, 9], **kind.columns}))) == expected
    if name == "qrels":
        assert set(confir.as_qrels(plain).subtopics) == {"0"}


def records(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_lines(columns):
    return "".join(json.dumps(record) + "\n" for record in records(columns))


def write_parquet(columns, path):
    pq.write_table(pa.table(columns), path)
    return path


FORMS = {
    "lines": lambda columns, folder: write(folder / "t.jsonl", as_lines(columns)),
    "NDJSON": lambda columns, folder: write(folder / "t.ndjson", as_lines(columns)),
    "Parquet": lambda columns, folder: write_parquet(columns, folder / "t.parquet"),
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "categories": lambda columns, _: pd.DataFrame(columns).astype(
        {name: "category" for name, cells in columns.items() if isinstance(cells[0], str)}
    ),
    "text": lambda columns, _: pd.DataFrame(columns).astype(str),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "lazy": lambda columns, _: pl.LazyFrame(columns),
    "Arrow": lambda columns, _: pa.table(columns),
}


def write(path, text):
    path.write_text(text)
    return path


FILES = ("lines", "NDJSON", "Parquet")
HELD = [(name, form) for name in KINDS for form in FORMS if KINDS[name].frames or form in FILES]


@pytest.mark.parametrize(("name", "form"), HELD)
def test_json_parquet_and_frames_hold_what_text_does(tmp_path, name, form):
    kind = KINDS[name]
    source = FORMS[form](kind.columns, tmp_path)
    path = write(tmp_path / "t.csv", as_text(kind.columns))
    assert kind.read(source) == kind.read(path)


def repeat_last(columns, name):
    return as_text({**columns, "again": list(columns.values())[-1]}, header=[*columns, name])


def change(columns, line, change_line):
    lines = as_text(columns).splitlines(keepends=True)
    lines[line - 1] = change_line(lines[line - 1])
    return "".join(lines)


FAULTS = {
    "a column twice": (lambda c: repeat_last(c, list(c)[-1]), r":1: two columns are named"),
    "a column twice but for its case": (
        lambda c: repeat_last(c, list(c)[-1].upper()),
        r":1: two columns are named",
    ),
    "no name": (lambda c: repeat_last(c, ""), r":1: the name of column \d is ''"),
    "files one after the other": (
        lambda c: as_text(c) + "\ufeff" + as_text(c),
        r":5: a byte order mark in the middle",
    ),
    "a cell more": (
        lambda c: change(c, 3, lambda line: "x," + line),
        r":3: \d columns; expected \d",
    ),
    "a cell less": (
        lambda c: change(c, 3, lambda line: line.partition(",")[0] + "\n"),
        r":3: 1 column; expected \d",
    ),
    "an open quote": (
        lambda c: change(c, 4, lambda line: '"' + line),
        r":4: the columns cannot be",
    ),
    "a header alone": (
        lambda c: as_text(c).partition("\n")[0] + "\n",
        r":1: a header without rows",
    ),
    "nothing": (lambda _: "# nothing\n", r": the file is empty"),
    "an empty id": (
        lambda c: as_text({**c, **{name: ["", *c[name][1:]] for name in list(c)[:1]}}),
        r":2: [\w-]+ '' is not an id|:2: no study",
    ),
    "no UTF-8": (lambda c: as_text(c).encode() + b"\xff\n", r":5: byte 0xff is not UTF-8"),
}


# Two columns of costs, or of which the user names one, may differ by their case alone.
BY_CASE = "a column twice but for its case"
FAULTY = [
    (name, fault)
    for name in KINDS
    for fault in FAULTS
    if fault != BY_CASE or name not in ("costs", "groups")
]


@pytest.mark.parametrize(("name", "fault"), FAULTY)
def test_a_fault_is_named_with_its_line(tmp_path, name, fault):
    make, message = FAULTS[fault]
    path = tmp_path / "t.csv"
    made = make(KINDS[name].columns)
    path.write_bytes(made if isinstance(made, bytes) else made.encode())
    if fault == "nothing" and name in ("runs", "qrels"):
        message = "(run is|qrels are) empty"  # as any file of TREC
    with pytest.raises(FormatError, match=message) as caught:
        KINDS[name].read(path)
    assert str(caught.value).startswith(str(path))
