"""Books of Quepid: query-document pairs, each with the judgements of several human judges."""

from __future__ import annotations

from typing import Any

from confir.data.formats.entries import qrels_from_object
from confir.data.formats.format import Format, RunSource
from confir.data.formats.json_files import JsonFile, as_id, choose_part
from confir.data.qrels import Intents, Qrels

_BOOK = (
    '{"query_doc_pairs": [{"query_text": topic, "doc_id": docid, "judgements": '
    '[{"rating": …, "user_email": judge}]}]}'
)


def _read_book(content: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the judgements of the judge that is wanted, the subset, or of the only one."""
    judges = read_judges(content, source.path)
    wanted = choose_part(judges, source.reading.subset, "judge", source.path, "subset")
    return qrels_from_object(wanted, source.path, intents)


def read_judges(content: bytes, path: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return judge → topic → docid → rating; judgements without a rating are left out."""
    file = JsonFile(path, f"expected {_BOOK}")
    held = file.load_object(content)
    judges: dict[str, dict[str, dict[str, Any]]] = {}
    pairs = file.objects(held["query_doc_pairs"], "query_doc_pairs")
    for number, pair in enumerate(pairs, start=1):
        what = f"pair {number}"
        topic = file.id(pair, "query_text", what)
        document = file.id(pair, "doc_id", what)
        for judgement in file.objects(pair.get("judgements") or [], f"judgements of {what}"):
            rating = judgement.get("rating")
            if rating is None:
                continue
            email = judgement.get("user_email") or "anonymous"
            judge = as_id(email, f"'user_email' of a judgement of {what}", path)
            gains = judges.setdefault(judge, {}).setdefault(topic, {})
            problem = f"judge {judge!r} rates document {document!r} of topic {topic!r} twice"
            file.enter(gains, document, rating, f"{problem}; expected once")
    if not judges:
        raise file.error("no ratings")
    return judges


QUEPID_BOOK = Format("Quepid book", _BOOK, keys=[("query_doc_pairs",)], read_qrels=_read_book)
