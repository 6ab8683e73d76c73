"""What do charts draw? Records as inline data; numbers that are not there become nothing.

NaN is no JSON, and browsers reject a chart that holds it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from confir.data.scores import Record
from confir.report.charts.drawing import import_altair


def inline_records(records: Iterable[Record]) -> Any:
    """Return records as the data of a chart."""
    values = [{key: _or_none(value) for key, value in record.items()} for record in records]
    return import_altair().InlineData(values=values)


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
