"""Scales, colours and filters of charts as plain SVG (`confir.report.static_figures`)."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from confir.data.result import Record
from confir.report.charts import names_of_labels, round_ticks

Spec = dict[str, Any]
Test = Callable[[Record], bool]

_TICKS, _LONGEST_NAME = 6, 30
_COMPARED = {
    "==": operator.eq,
    "===": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}
_DARK = {"black": "currentColor"}


class NotDrawable(Exception):  # noqa: N818 - not an error: the script draws the chart
    """A chart uses a feature of Vega-Lite that is not supported here."""


@dataclass(slots=True, eq=False)
class Scale:
    """Where values lie along an axis: numbers from ``low`` to ``high``, or names in their order.

    Attributes
    ----------
    title
        Of the axis.
    low, high, names
        The numbers at its ends; or its names.
    shown, labelled
        The labels, long names shortened, and the values that they label: round numbers, or names.
    upright
        Whether the labels are rotated.
    length, band, flipped
        In pixels, of the axis and of each name; and whether low numbers are at the far end.
    """

    title: str
    low: float = 0.0
    high: float = 1.0
    names: list[Any] | None = None
    shown: list[str] = field(default_factory=list)
    upright: bool = False
    length: float = 1.0
    band: float = 1.0
    flipped: bool = False
    labelled: list[Any] = field(init=False)
    _places: dict[Any, int] = field(init=False)

    def __post_init__(self) -> None:
        self._places = {name: place for place, name in enumerate(self.names or ())}
        if self.names is None:
            self.labelled = round_ticks(self.low, self.high, _TICKS)
            self.shown = [f"{tick:.6g}" if tick else "0" for tick in self.labelled]
        else:
            self.labelled = self.names[: len(self.shown)]

    def stretch(self, extent: Any, default: float, rows: int = 1) -> None:
        """Give the axis its length, or that of each of some rows: a step per name, or pixels."""
        names = max(1, len(self.names or ()))
        if isinstance(extent, dict):
            length = float(extent["step"]) * names
        else:
            length = float(extent) if isinstance(extent, int | float) else default
        self.length = rows * length
        self.band = self.length / names

    def __call__(self, value: Any) -> float:
        """Return the position of a value; NaN for a missing one."""
        if value is None:
            return math.nan
        if self.names is not None:
            return self.band * (self._places[value] + 0.5)
        share = (float(value) - self.low) / (self.high - self.low)
        return self.length * (1.0 - share if self.flipped else share)

    def at(self, channel: Spec | None, record: Record) -> float:
        """Return the position of a record by a channel of the encoding."""
        if channel is None:
            return math.nan
        return self(channel["datum"] if "datum" in channel else record.get(channel["field"]))


def channel_scale(layers: Sequence[tuple[Spec, list[Record], Spec]], axis: str) -> Scale:
    """Return the scale of an axis, from the encodings, records and marks of all layers."""
    given = [
        (encoding[name], records)
        for encoding, records, _ in layers
        for name in (axis, f"{axis}2")
        if encoding.get(name)
    ]
    typed = [one[axis] for one, _, _ in layers if "type" in one.get(axis, {})]
    plain = all(one.get("aggregate", "mean") in ("mean", "min", "max") for one, _ in given)
    if not typed or not plain:
        raise NotDrawable
    main = next((channel for channel in typed if channel.get("title")), typed[0])
    title = main.get("title") or ""
    title = " ".join(title) if isinstance(title, list) else title
    values = [
        channel["datum"] if "datum" in channel else record.get(channel["field"])
        for channel, records in given
        for record in records
    ]
    known = [value for value in values if value is not None]
    if typed[0]["type"] in ("nominal", "ordinal"):
        return _name_scale(title, list(dict.fromkeys(known)), main, axis)
    return _number_scale(title, [float(value) for value in known], layers, axis)


def _name_scale(title: str, names: list[Any], channel: Spec, axis: str) -> Scale:
    """Return the scale of an axis of names, in the order of a channel of the encoding."""
    order = channel.get("sort", "ascending")
    if isinstance(order, list):
        present = set(names)
        names = [name for name in order if name in present]
    elif order is not None:
        names.sort(key=lambda value: (isinstance(value, str), value))
    settings = channel.get("axis") or {}
    labels = label_texts(settings.get("labelExpr"), names) if settings.get("labels", True) else []
    shown = [n if len(n) <= _LONGEST_NAME else f"{n[: _LONGEST_NAME - 1]}…" for n in labels]
    upright = axis == "x" and settings.get("labelAngle", -90) == -90
    return Scale(title, names=names, shown=shown, upright=upright)


def _number_scale(
    title: str, known: list[float], layers: Sequence[tuple[Spec, list[Record], Spec]], axis: str
) -> Scale:
    """Return the scale of an axis of numbers, some of which are known."""
    channels = [one[axis] for one, _, _ in layers if "type" in one.get(axis, {})]
    scales = [channel["scale"] for channel in channels if "scale" in channel]
    for scale in scales:
        if "domain" in scale:
            return Scale(title, float(scale["domain"][0]), float(scale["domain"][-1]))
    if any("stack" in channel for channel in channels):
        encoding, records, _ = layers[0]
        other = encoding["y" if axis == "x" else "x"]["field"]
        sums: dict[Any, float] = {}
        for record in records:
            length = record[encoding[axis]["field"]] or 0.0
            sums[record[other]] = sums.get(record[other], 0.0) + length
        known = [*known, max(sums.values(), default=0.0)]
    zero = all(scale.get("zero", True) for scale in scales) or any(
        mark["type"] == "bar" for _, _, mark in layers
    )
    low, high = min(known, default=0.0), max(known, default=1.0)
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    room = 0.03 * (high - low) or 0.5
    return Scale(title, low - (room if low else 0.0), high + room)


def condition(expression: str) -> Test:
    """Return the test that a filter or condition such as ``datum.label != ''`` stands for."""
    text = expression.strip().removeprefix("(").removesuffix(")").strip()
    match = re.fullmatch(r"(?:isValid\()?datum\.(\w+)\)?\s*(?:([=!<>]+)\s*(.+))?", text)
    if match is None:
        raise NotDrawable
    name, sign, literal = match.groups()
    if sign is None:
        valid = "isValid" in text
        return lambda record: record.get(name) is not None if valid else bool(record.get(name))
    try:
        wanted = json.loads(literal.replace("'", '"'))
        compare = _COMPARED[sign]
    except (ValueError, KeyError):
        raise NotDrawable from None
    return lambda record: record.get(name) is not None and bool(compare(record[name], wanted))


def colour_of(channel: Spec | None, default: str) -> Callable[[Record], str]:
    """Return the colour of a record."""
    if channel is None:
        return lambda _: _DARK.get(default, default)
    if "field" in channel:
        name, scale = channel["field"], channel.get("scale") or {}
        if "domain" not in scale or "range" not in scale:
            raise NotDrawable
        domain, colours = scale["domain"], scale["range"]
        if channel["type"] == "nominal":
            known = dict(zip(domain, colours, strict=False))
            return lambda record: known.get(record.get(name), "#767676")
        return lambda record: _mixed(record.get(name), domain, colours)
    value = str(channel.get("value", default))
    plain = _DARK.get(value, value)
    if "condition" not in channel:
        return lambda _: plain
    test, chosen = condition(channel["condition"]["test"]), str(channel["condition"]["value"])
    return lambda record: chosen if test(record) else plain


def _mixed(value: float | None, domain: Sequence[float], colours: Sequence[str]) -> str:
    """Return the colour between those of the two nearest numbers of the domain."""
    if value is None:
        return "none"
    for low, high, first, last in zip(domain, domain[1:], colours, colours[1:], strict=False):
        if value <= high or high == domain[-1]:
            share = min(1.0, max(0.0, (value - low) / (high - low)))
            share = round(16 * share) / 16  # few colours, few paths
            mixed = (
                round((1 - share) * int(first[i : i + 2], 16) + share * int(last[i : i + 2], 16))
                for i in (1, 3, 5)
            )
            return "#" + "".join(f"{part:02x}" for part in mixed)
    return "none"


def label_texts(expression: str | None, values: Sequence[Any]) -> list[str]:
    """Return the names that `label_names` writes for numbers; without it the values themselves."""
    if not expression:
        return [str(value) for value in values]
    names = names_of_labels(expression)
    if names is None:
        raise NotDrawable
    return [names[int(value)] for value in values]
