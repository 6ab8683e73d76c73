"""Which file formats hold runs and qrels? FORMATS is the one list.

A new format is a module beside this one, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from confir.data.formats.entries import QRELS, qrels_from_object
from confir.data.formats.json_files import (
    dump_json_qrels,
    dump_json_run,
    has_json_ending,
    is_json,
    load_json,
    read_json_run,
)
from confir.data.formats.trec_files import (
    NameBy,
    read_trec_qrels,
    read_trec_run,
    write_trec_qrels,
    write_trec_run,
)
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run


@dataclass(frozen=True, slots=True)
class Format:
    """A file format for runs and qrels: an entry of FORMATS.

    Attributes
    ----------
    name, shape
        What it is called, and what a file of it holds.
    recognises
        Whether a file holds it, by its ending or its content.
    named_by
        Whether a path asks for it, by its ending alone: where nothing is written yet.
    read_run, read_qrels
        Readers: of a path, a name and how to name the run; of a path and intent probabilities.
    write_run, write_qrels
        Writers: of a run or qrels, and a path.
    scanned
        Whether `confir.data.scanning` ranks its runs straight from the file, without reading them.
    """

    name: str
    shape: str
    recognises: Callable[[str], bool]
    named_by: Callable[[str], bool]
    read_run: Callable[[str, str | None, NameBy], Run]
    read_qrels: Callable[[str, Intents | None], Qrels]
    write_run: Callable[[Run, str], None]
    write_qrels: Callable[[Qrels, str], None]
    scanned: bool = False


# The first that fits is taken; TREC fits everything, and says what is wrong with it.
FORMATS = (
    Format(
        "JSON",
        "{topic: {docid: score or gain}}",
        is_json,
        has_json_ending,
        lambda path, name, _: read_json_run(path, name=name),
        lambda path, intents: qrels_from_object(load_json(path, QRELS), path, intents),
        dump_json_run,
        dump_json_qrels,
    ),
    Format(
        "TREC",
        "lines of topic, Q0, docid, rank, score, tag; or of topic, subtopic, docid, gain",
        lambda _: True,
        lambda _: True,
        lambda path, name, name_by: read_trec_run(path, name=name, name_by=name_by),
        lambda path, intents: read_trec_qrels(path, intents=intents),
        write_trec_run,
        write_trec_qrels,
        scanned=True,
    ),
)


def recognise(path: str) -> Format:
    """Return the format of a file that is there."""
    return next(one for one in FORMATS if one.recognises(path))


def format_named_by(path: str) -> Format:
    """Return the format in which a file is to be written, by its ending."""
    return next(one for one in FORMATS if one.named_by(path))
