"""Books of Quepid: query-document pairs, each with the judgements of several people."""

from __future__ import annotations

from typing import Any

from confir.data.formats.entries import qrels_from_object
from confir.data.formats.json_files import load_json
from confir.data.formats.json_shapes import (
    as_id,
    as_object,
    as_objects,
    choose_part,
    has_keys,
    id_held_by,
)
from confir.data.formats.run_sources import RunSource
from confir.data.qrels import Intents, Qrels
from confir.errors import FormatError

BOOK = (
    '{"query_doc_pairs": [{"query_text": topic, "doc_id": docid, "judgements": '
    '[{"rating": …, "user_email": judge}]}]}'
)

is_book = has_keys("query_doc_pairs")


def read_book(content: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the judgements of the judge that is wanted, the subset, or of the only one."""
    judges = read_judges(content, source.path)
    wanted = choose_part(judges, source.reading.subset, "judge", source.path, "subset")
    return qrels_from_object(wanted, source.path, intents)


def read_judges(content: bytes, path: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return judge → topic → docid → rating; what nobody could rate is left out."""
    expected = f"expected {BOOK}"
    held = as_object(load_json(content, path, expected), "the file", path, expected)
    judges: dict[str, dict[str, dict[str, Any]]] = {}
    pairs = as_objects(held["query_doc_pairs"], "query_doc_pairs", path, expected)
    for number, pair in enumerate(pairs, start=1):
        what = f"pair {number}"
        topic = id_held_by(pair, "query_text", what, path, expected)
        document = id_held_by(pair, "doc_id", what, path, expected)
        given = pair.get("judgements") or []
        for judgement in as_objects(given, f"judgements of {what}", path, expected):
            rating = judgement.get("rating")
            if rating is None:
                continue
            email = judgement.get("user_email") or "anonymous"
            judge = as_id(email, f"'user_email' of a judgement of {what}", path)
            gains = judges.setdefault(judge, {}).setdefault(topic, {})
            if document in gains:
                raise FormatError(
                    f"judge {judge!r} rates document {document!r} of topic {topic!r} twice; "
                    "expected once",
                    path=path,
                )
            gains[document] = rating
    if not judges:
        raise FormatError(f"no ratings; {expected}", path=path)
    return judges
