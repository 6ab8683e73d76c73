"""What do charts draw? Records as inline data; numbers that are not there become nothing.

NaN is no JSON, and browsers reject a chart that holds it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from confir.data.scores import Record


def inline_records(records: Iterable[Record]) -> dict[str, tuple[Record, ...]]:
    """Return records as the data of a chart."""
    return {"values": tuple({key: _or_none(value) for key, value in r.items()} for r in records)}


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
