"""The results that the reader can switch between on the page, as compact JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from confir.arrays import Floats
from confir.number_text import number_text
from confir.report.contents import Contents, MeasureContents, present_sections
from confir.report.records import finite_or_none
from confir.report.tables import Table

# More digits than shown, so that differences computed on the page are exact in those shown.
_SCORE_DIGITS = 9


def page_data(contents: Contents) -> dict[str, Any]:
    """Return the data of the page by measure and study."""
    listed = contents.scores.listed()
    return {
        "runs": list(contents.scores.runs),
        "topics": [listed.topics[t] for t in contents.measures[0].topics_shown.tolist()],
        "all_topics": len(contents.scores.topics),
        "measures": [
            {"name": part.measure, "order": part.order, **_of_sections(part)}
            for part in contents.measures
        ],
        **_of_sections(contents),
    }


def _of_sections(contents: Contents | MeasureContents) -> dict[str, Any]:
    return {
        study: section.page_data(contents)
        for study, section in present_sections(contents).items()
        if section.page_data is not None
    }


def level_key(level: float) -> str:
    """Return a level as a key of the page's data."""
    return repr(level)


def table_data(table: Table) -> dict[str, Any]:
    """Return a table as data for the page."""
    return {
        "columns": list(table.columns),
        "names": table.names,
        "rows": [[cell.text for cell in row] for row in table.rows],
        "strong": [[int(cell.strong) for cell in row] for row in table.rows],
        "note": table.note,
    }


def shown(values: Floats) -> list[float | None]:
    """Return numbers rounded as tables show them; None for missing ones."""
    flat = np.asarray(values, np.float64).reshape(-1).tolist()
    return [None if math.isnan(x) else float(number_text(x).replace(",", "")) for x in flat]


def in_full(values: Floats) -> Any:
    """Return scores as nested lists with more digits; None for missing ones."""
    return _without_nan(np.round(values, _SCORE_DIGITS).tolist())


def _without_nan(values: Any) -> Any:
    if isinstance(values, Iterable):
        return [_without_nan(value) for value in values]
    return finite_or_none(values)
