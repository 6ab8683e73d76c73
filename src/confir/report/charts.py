"""What charts are made of: colours, data, marks, fields, axes, panels.

A chart is data: a specification of Vega-Lite as a plain dictionary, for the page and for files. Its
data are the result's records, which are not copied.

Vega stores groups and domains in plain objects, in which names such as "constructor" are reserved.
Therefore records are grouped and ordered not by names of runs, topics, measures or studies but by
their indices (`numbered`), and `label_names` writes the names on the axes. A title that is only a
name is a list of one line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from confir.arrays import best_first
from confir.control_characters import without_controls
from confir.data.result import Record

Spec = dict[str, Any]

# Okabe & Ito 2008, with grey instead of black: distinguishable for colour-blind readers.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7"),
    *("#E69F00", "#56B4E9", "#F0E442", "#767676"),
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

# The version of Vega-Lite that draws, on the page and in files: every vl-convert since 1.7 has it.
VEGA_LITE = "5.20"
SCHEMA = f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE}.1.json"

_TYPES = {"N": "nominal", "O": "ordinal", "Q": "quantitative"}

# Width of a column at which labels of topics do not touch, and how many columns have labels.
_TOPIC_COLUMN, _MOST_LABELLED_TOPICS = 12, 120


def field(text: str, **settings: Any) -> Spec:
    """Return a channel of a field in Vega-Lite's short form: ``"mean:Q"``, ``"mean(expected):Q"``."""
    name, _, kind = text.rpartition(":")
    found = re.fullmatch(r"(\w+)\((\w*)\)", name)
    channel = {"aggregate": found[1]} if found else {"field": name}
    if found and found[2]:
        channel["field"] = found[2]
    return channel | {"type": _TYPES[kind]} | settings


def end_field(text: str) -> Spec:
    """Return a second channel, such as x2, which has the type of the first."""
    channel = field(text)
    del channel["type"]
    return channel


def mark(
    kind: str, channels: Spec, *, where: str = "", data: Spec | None = None, **look: Any
) -> Spec:
    """Return a layer: marks of a kind, their channels, and the records that they show, if not all."""
    layer: Spec = {"mark": {"type": kind, **look}, "encoding": channels}
    if where:
        layer["transform"] = [{"filter": where}]
    return layer if data is None else layer | {"data": data}


def styled(drawing: Spec, title: Any) -> Spec:
    """Return a chart with a title and the common style."""
    return {**drawing, "$schema": SCHEMA, "title": title, "config": _LOOK}


def tooltips(*fields: str, numbers: str = _FIVE_DIGITS) -> list[Spec]:
    """Return tooltips of fields such as "run:N", numbers in five digits or another format."""
    return [field(one, format=numbers) if one.endswith(":Q") else field(one) for one in fields]


def inline_records(records: Iterable[Record]) -> Spec:
    """Return records as the data of a chart, with null for missing numbers: NaN is not valid JSON."""
    return {
        "values": [
            {
                key: None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in record.items()
            }
            for record in records
        ]
    }


def numbered(records: Iterable[Record], **names: Sequence[str]) -> list[Record]:
    """Return records with the indices of names, in fields such as ``run_number``.

    Parameters
    ----------
    records
        The data of a chart.
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
    """Return the Vega expression for the labels of a numbered axis, legend or header."""
    # Strings in expressions are looked up in plain objects, too: each name gets a prefix, which is
    # sliced off. Vega-Lite replaces "datum.value" even inside strings: dots are escaped.
    texts = [f"={without_controls(name, keep_blanks=True)}" for name in names]
    listed = json.dumps(texts).replace(".", "\\u002e")
    return f"slice({listed}[datum.value], 1)"


def names_of_labels(expression: str) -> list[str] | None:
    """Return the names of an expression of `label_names`; None for another one."""
    found = re.fullmatch(r"slice\((\[.*\])\[datum\.value\], 1\)", expression, re.DOTALL)
    return None if found is None else [name[1:] for name in json.loads(found[1])]


def round_ticks(low: float, high: float, about: int) -> list[float]:
    """Return about so many round numbers between two: multiples of 1, 2 or 5 times a power of ten."""
    wanted = (high - low) / about
    step = 1.0
    if wanted > 0.0:
        step = 10.0 ** math.floor(math.log10(wanted))
        step *= min((1, 2, 5, 10), key=lambda factor: abs(factor * step - wanted))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * number for number in range(first, last + 1)]


def panel_facet(text: str, names: Sequence[str]) -> Spec:
    """Return the facet with one panel per name of a numbered field."""
    return field(f"{text}_number:N", title=None, header={"labelExpr": label_names(names)})


def run_rows(names: Sequence[str]) -> tuple[Spec, Spec]:
    """Return axis and height for one row per name: many rows are closer, in a smaller font."""
    step, letters = next((step, size) for most, step, size in _ROWS if len(names) <= most)
    return {"labelFontSize": letters, "labelExpr": label_names(names)}, {"step": step}


def in_panels(
    drawing: Spec,
    text: str,
    names: Sequence[str],
    columns: int = 2,
    scales: Mapping[str, str] = MappingProxyType({"x": "independent"}),
) -> Spec:
    """Return a chart with one panel per name of a numbered field; by default each has its own x scale."""
    inner = dict(drawing)
    data = {"data": inner.pop("data")}
    panels = data | {"facet": panel_facet(text, names), "columns": columns, "spec": inner}
    return panels | {"resolve": {"scale": dict(scales)}} if scales else panels


def topic_axis(topics: Sequence[str], shown: int) -> tuple[Spec, Any]:
    """Return axis and width of a chart with a column per topic; many columns have no labels."""
    labelled = shown <= _MOST_LABELLED_TOPICS
    axis = {
        "labels": labelled,
        "labelExpr": label_names(topics),
        "ticks": labelled,
        "labelAngle": -90,
        "labelLimit": 90,
        "labelFontSize": 9,
        "grid": False,
    }
    return axis, {"step": _TOPIC_COLUMN} if labelled else 900


def names_best_first(records: Sequence[Record], field: str, name: str = "run") -> tuple[str, ...]:
    """Return the names in records, highest number first; names without a number last."""
    order = best_first(np.array([record[field] for record in records], np.float64))
    return tuple(dict.fromkeys(records[place][name] for place in order))
