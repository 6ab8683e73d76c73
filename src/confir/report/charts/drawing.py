"""What all charts share: dispatch by result, colours, and how they are saved.

A chart is one altair specification, for the page and for files. Its data are the result's records:
nothing is computed here a second time. What is long (records, the order of runs) is given in tuples,
which altair does not copy time and again, as it does lists.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np

from confir.data.files import PathLike, write_whole
from confir.data.scores import Record
from confir.errors import MissingDependencyError, UnknownNameError, UnsupportedMethodError
from confir.order import best_first
from confir.report.records import CHART_ENDINGS

# Okabe & Ito 2008, but grey for black: eight colours that colour-blind readers tell apart.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#F0E442",
    "#767676",
)

# Lines and words of a chart itself: told from white paper and from a dark page alike.
INK = "#767676"

_LOOK = {
    "font": "system-ui, -apple-system, 'Segoe UI', sans-serif",
    "background": "white",
    "axis": {
        "grid": True,
        "gridColor": "#e6e6e6",
        "domainColor": "#888",
        "tickColor": "#888",
        "labelLimit": 240,
    },
    "view": {"stroke": None},
    "title": {"anchor": "start", "fontSize": 14, "fontWeight": "bold", "subtitleColor": INK},
    "header": {"labelFontWeight": "bold"},
}

# Up to so many runs, a row is so high, and its letters are so large.
_ROWS = ((40, 18, 11), (80, 14, 10), (math.inf, 11, 9))

_FIVE_DIGITS = ".5~g"

_PIXELS_PER_POINT = 2.0  # PNG at twice the screen's resolution, sharp in print


@singledispatch
def chart(result: Any) -> Any:
    """Return an altair chart of a result.

    Parameters
    ----------
    result
        A result of a study, such as `Interval` or `Ranking`.
    """
    raise UnsupportedMethodError(f"there is no chart of a {type(result).__name__}")


def import_altair() -> Any:
    """Return the module altair; raise where it is not installed."""
    try:
        import altair as alt
    except ImportError:
        raise MissingDependencyError("altair", "drawing charts", "report") from None
    return alt


def styled(drawing: Any, title: Any) -> Any:
    """Return a chart with the common look: a title that says what is shown, quiet axes."""
    return drawing.properties(title=title, config=_LOOK)


def tooltips(*fields: str) -> list[Any]:
    """Return what shows on hovering: fields such as "run:N", numbers in five digits.

    They are objects, since altair takes long to make them of text.
    """
    alt = import_altair()
    return [
        alt.Tooltip(field, format=_FIVE_DIGITS) if field.endswith(":Q") else alt.Tooltip(field)
        for field in fields
    ]


def run_rows(alt: Any, runs: int) -> tuple[Any, Any]:
    """Return axis and height for a row a run: many runs stand closer, in smaller letters."""
    step, letters = next((step, size) for most, step, size in _ROWS if runs <= most)
    return alt.Axis(labelFontSize=letters), alt.Step(step)


def names_best_first(records: Sequence[Record], field: str, name: str = "run") -> tuple[str, ...]:
    """Return the names in records, those with the highest number first, without a number last."""
    order = best_first(np.array([record[field] for record in records], np.float64))
    return tuple(dict.fromkeys(records[place][name] for place in order))


def save_chart(drawing: Any, path: PathLike) -> None:
    """Write a chart to a file, whole or not at all: .svg, .pdf or .png."""
    ending = Path(path).suffix.lower()
    if ending not in CHART_ENDINGS:
        raise UnknownNameError("ending of a chart file", ending or str(path), CHART_ENDINGS)
    write_whole(path, chart_bytes(drawing, ending))


def chart_bytes(drawing: Any, ending: str) -> bytes:
    """Return a chart as the content of a file: .svg, .pdf or .png."""
    try:
        import vl_convert  # noqa: F401 - altair saves through it
    except ImportError:
        raise MissingDependencyError("vl-convert-python", "saving charts", "report") from None
    stream = io.BytesIO() if ending != ".svg" else io.StringIO()
    scale = _PIXELS_PER_POINT if ending == ".png" else 1.0
    drawing.save(stream, format=ending[1:], scale_factor=scale)
    content = stream.getvalue()
    return content.encode() if isinstance(content, str) else content
