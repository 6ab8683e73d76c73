"""Qrels of ir_datasets, by ``irds:ID``, from what the package keeps on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from confir.data.formats.entries import QRELS, entries_from_table, qrels_from_entries
from confir.data.formats.format import DATASET, Format, RunSource
from confir.data.qrels import Intents, Qrels
from confir.data.tables.table_reader import column_table
from confir.errors import FormatError, MissingDependencyError, UnknownNameError, UnreadableError


def _read_dataset(_: bytes, source: RunSource, intents: Intents | None) -> Qrels:
    """Return the qrels of a dataset; they are fetched only where that is allowed."""
    path = source.path
    try:
        import ir_datasets
    except ImportError:
        raise MissingDependencyError("ir_datasets", path, None) from None
    try:
        dataset = ir_datasets.load(path.removeprefix(DATASET))
    except KeyError:
        name, known = path.removeprefix(DATASET), list(ir_datasets.registry)
        raise UnknownNameError("dataset of ir_datasets", name, known) from None
    if not dataset.has_qrels():
        raise FormatError("a dataset without qrels; expected one with qrels", path=path)
    try:
        with _allowed(ir_datasets, fetching=source.reading.download):
            judged = list(dataset.qrels_iter())
    except _UnaskedError:
        raise UnreadableError(
            f"{path}: not on this machine, and fetched only on request; expected --download (download=True) "
            "as well"
        ) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise UnreadableError(f"{path}: cannot be read ({error})") from None
    entries = entries_from_table(column_table(_columns(judged), path, QRELS.table), QRELS)
    return qrels_from_entries(entries, path, intents)


class _UnaskedError(BaseException):
    """Raised where ir_datasets would open a connection without permission.

    No Exception: after any of these, ir_datasets tries the next place to fetch from.
    """


@contextmanager
def _allowed(package: Any, *, fetching: bool) -> Iterator[None]:
    """Keep ir_datasets from opening connections, unless fetching is allowed."""
    if fetching:
        yield
        return

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise _UnaskedError

    bucket = package.util.download.GoogleCloudBucketStream
    kept = package.lazy_libs.requests, bucket.stream
    package.lazy_libs.requests = bucket.stream = refuse
    try:
        yield
    finally:
        package.lazy_libs.requests, bucket.stream = kept


def _columns(judged: list[Any]) -> dict[str, list[Any]]:
    """Return the columns of judgements; the subtopic is the iteration where there is no other."""
    fields = {"topic": "query_id", "docid": "doc_id", "gain": "relevance"}
    kinds = getattr(judged[0], "_fields", ()) if judged else ()
    subtopic = next((name for name in ("subtopic_id", "iteration") if name in kinds), None)
    if subtopic is not None:
        fields["subtopic"] = subtopic
    return {name: [getattr(one, field) for one in judged] for name, field in fields.items()}


IR_DATASET = Format(
    "ir_datasets",
    "qrels of a dataset of ir_datasets, irds:ID",
    recognises=lambda path, _: path.startswith(DATASET),
    read_qrels=_read_dataset,
)
