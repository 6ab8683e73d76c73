"""How are runs and qrels read from files? TREC or JSON, whichever a file holds."""

from __future__ import annotations

from confir.arguments import as_choice, as_path, as_text
from confir.data.files import PathLike
from confir.data.formats.catalogue import recognise
from confir.data.formats.trec_files import (
    NAMINGS,
    NameBy,
    as_intents,
)
from confir.data.qrels import Intents, Qrels
from confir.data.run import Run


def read_run(path: PathLike, *, name: str | None = None, name_by: NameBy = "file") -> Run:
    """Return the run in a TREC or JSON file, plain or compressed.

    Parameters
    ----------
    path
        The file: lines of topic, Q0, docid, rank, score, tag; or JSON, {topic: {docid: score}}.
        "-" is standard input, TREC lines only.
    name
        The run's name; by default that of the file without its endings.
    name_by
        "tag" takes the run's tag, the last column of its first line, as its name; JSON has none.
    """
    source = as_path("path", path)
    chosen = None if name is None else as_text("name", name)
    as_choice("name_by", name_by, NAMINGS)
    return recognise(source).read_run(source, chosen, name_by)


def read_qrels(path: PathLike, *, intents: PathLike | Intents | None = None) -> Qrels:
    """Return the judgements in a TREC or JSON file, plain or compressed.

    Parameters
    ----------
    path
        The file: lines of topic, subtopic (or anything), docid, gain; or JSON,
        {topic: {docid: gain}}. "-" is standard input, TREC lines only.
    intents
        Intent probabilities: a file with lines of topic, subtopic, probability, or a mapping
        topic → subtopic → probability. Without them, a topic's subtopics count alike.
    """
    source, probabilities = as_path("path", path), as_intents(intents)
    return recognise(source).read_qrels(source, probabilities)
