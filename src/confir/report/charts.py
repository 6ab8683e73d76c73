"""What all charts share: dispatch by result, colours, and how they are saved.

A chart is one altair specification, for the page and for files. Its data are the result's records:
nothing is computed here a second time. Records are given in tuples, which altair does not copy
repeatedly, as it does lists.

Vega keeps groups and domains in plain objects, in which names such as "constructor" are taken. So it
gets no names of runs, topics, measures or studies to group by: `numbered` gives records the places
of names, by which they are grouped and ordered, and `label_names` writes the names beside axes. A
title that is nothing but a name is a list of one line.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from confir.arguments import as_path
from confir.data.files import PathLike, write_whole
from confir.data.result import Record
from confir.data.scores import Scores
from confir.data.tables.score_objects import make_scores
from confir.defaults import CHART_ENDINGS
from confir.errors import MissingDependencyError, UnknownNameError, UnsupportedMethodError
from confir.order import best_first
from confir.studies import find_function

# Okabe & Ito 2008, but grey for black: eight colours that colour-blind readers can distinguish.
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

# Lines and text of a chart: legible on white paper and on a dark page.
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

# Up to this many runs: the height of a row, and its font size.
_ROWS = ((40, 18, 11), (80, 14, 10), (math.inf, 11, 9))

_FIVE_DIGITS = ".5~g"

_PIXELS_PER_POINT = 2.0  # PNG at twice the screen's resolution, sharp in print


def chart(result: Any) -> Any:
    """Return an altair chart of a result.

    Parameters
    ----------
    result
        A result of a study, such as `Interval` or `Ranking`.
    """
    draw = find_function(result, "chart")
    if draw is None:
        raise UnsupportedMethodError(
            f"there is no chart of a {type(result).__name__}; expected a result of a study"
        )
    if isinstance(result, Scores):
        make_scores(result, "result")  # of none there is nothing to draw
    return draw(result)


def import_altair() -> Any:
    """Return the module altair; raise where it is not installed."""
    try:
        import altair as alt
    except ImportError:
        raise MissingDependencyError("altair", "drawing charts", "report") from None
    return alt


def styled(drawing: Any, title: Any) -> Any:
    """Return a chart in the common style: a title that says what is shown, plain axes."""
    return drawing.properties(title=title, config=_LOOK)


def tooltips(*fields: str) -> list[Any]:
    """Return tooltips of fields such as "run:N", numbers in five digits.

    They are objects, since altair is slow to parse them from text.
    """
    alt = import_altair()
    return [
        alt.Tooltip(field, format=_FIVE_DIGITS) if field.endswith(":Q") else alt.Tooltip(field)
        for field in fields
    ]


def numbered(records: Iterable[Record], **names: Sequence[str]) -> list[Record]:
    """Return records with the places of names, in fields such as ``run_number``.

    Parameters
    ----------
    records
        What a chart draws.
    names
        Field → its names in the order of the chart.
    """
    places = {
        field: {name: place for place, name in enumerate(known)} for field, known in names.items()
    }
    return [
        record | {f"{field}_number": place[record[field]] for field, place in places.items()}
        for record in records
    ]


def label_names(names: Sequence[str]) -> str:
    """Return the expression that writes the names of an axis, a legend or a header of numbers."""
    # Words of an expression are looked up in plain objects, too: so each name follows a sign, which
    # is cut off again. Vega-Lite replaces "datum.value" wherever it stands: so names have no dots.
    listed = json.dumps([f"={name}" for name in names]).replace(".", "\\u002e")
    return f"slice({listed}[datum.value], 1)"


def panel_facet(alt: Any, field: str, names: Sequence[str]) -> Any:
    """Return the facet with a panel for each name of a field that is numbered."""
    header = alt.Header(labelExpr=label_names(names))
    return alt.Facet(f"{field}_number:N", title=None, header=header)


def run_rows(alt: Any, names: Sequence[str]) -> tuple[Any, Any]:
    """Return axis and height for one row per name: many rows are closer, in a smaller font."""
    step, letters = next((step, size) for most, step, size in _ROWS if len(names) <= most)
    return alt.Axis(labelFontSize=letters, labelExpr=label_names(names)), alt.Step(step)


def names_best_first(records: Sequence[Record], field: str, name: str = "run") -> tuple[str, ...]:
    """Return the names in records, those with the highest number first, without a number last."""
    order = best_first(np.array([record[field] for record in records], np.float64))
    return tuple(dict.fromkeys(records[place][name] for place in order))


def save_chart(result: Any, path: PathLike) -> None:
    """Write the chart of a result to a file, whole or not at all.

    Parameters
    ----------
    result
        A result of a study, or its `chart`, which may have been changed.
    path
        The file: .svg, .pdf or .png.
    """
    target = as_path("path", path)
    ending = Path(target).suffix.lower()
    if ending not in CHART_ENDINGS:
        raise UnknownNameError("ending of a chart file", target, CHART_ENDINGS)
    is_chart = isinstance(result, import_altair().TopLevelMixin)
    write_whole(target, chart_bytes(result if is_chart else chart(result), ending))


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
