"""Records as the inline data of charts, with null for missing numbers: NaN is not valid JSON."""

from __future__ import annotations

from collections.abc import Iterable

from confir.data.result import Record
from confir.report.records import finite_or_none


def inline_records(records: Iterable[Record]) -> dict[str, tuple[Record, ...]]:
    """Return records as the data of a chart."""
    return {
        "values": tuple({key: finite_or_none(value) for key, value in r.items()} for r in records)
    }
