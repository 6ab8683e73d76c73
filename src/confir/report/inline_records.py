"""What do charts draw? Records as inline data; numbers that are not there become nothing.

NaN is no JSON, and browsers reject a chart that holds it.
"""

from __future__ import annotations

from collections.abc import Iterable

from confir.data.result import Record
from confir.report.records import finite_or_none


def inline_records(records: Iterable[Record]) -> dict[str, tuple[Record, ...]]:
    """Return records as the data of a chart."""
    return {
        "values": tuple({key: finite_or_none(value) for key, value in r.items()} for r in records)
    }
