"""Charts as plain SVG: what the page shows without a script, and until its script has run.

This is a second renderer of the specifications that Vega draws on the page and in files. It supports
what confir's charts use, and leaves any other chart to the script. Vega itself, as in
`confir.report.svg_conversion`, would take 0.7 s and 325 KB for the 13 charts of a page, in colours that
do not follow those of the page; here they take 4 ms and 47 KB.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from confir.data.result import Record
from confir.report.static_scales import (
    NotDrawable,
    Scale,
    channel_scale,
    colour_of,
    condition,
    label_texts,
)

Spec = dict[str, Any]

# In pixels: a panel, a letter, and what is above and below the panel.
_WIDTH, _HEIGHT, _LETTER, _TOP, _BOTTOM = 560.0, 240.0, 6.2, 16.0, 34.0
_PAGE_WIDTH = 880.0  # of a chart that fills the page's width

# Charts higher than this have their numbers at the top, because the page shows them in a frame.
_HIGH = 480.0


class _Layer(NamedTuple):
    """A layer of a chart: mark, encoding, the records that it draws, and the values side by side in a row."""

    mark: Spec
    encoding: Spec
    records: list[Record]
    offsets: list[Any]


def static_figures(charts: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the SVG of charts, as `page_chart` makes them, by part; the first of each part."""
    found: dict[str, str] = {}
    for chart in charts:
        if chart["part"] not in found:
            try:
                found[chart["part"]] = draw(chart["spec"], chart["caption"])
            except NotDrawable:
                continue
    return found


def drawn_charts(charts: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield charts with their SVG in place of their specification, for a page without Vega."""
    for chart in charts:
        kept = {name: value for name, value in chart.items() if name != "spec"}
        try:
            yield kept | {"svg": draw(chart["spec"], chart["caption"], titled=True)}
        except NotDrawable:
            yield kept | {"svg": ""}


def draw(spec: Spec, caption: str = "", *, titled: bool = False) -> str:
    """Return a chart with one panel as SVG; raise NotDrawable if it uses what is not supported.

    With ``titled``, for a page without Vega, a chart may fill the page's width, and dots and bars have
    what their tooltips say as titles, which browsers show.
    """
    layers = list(_layers(spec))
    if not layers:
        raise NotDrawable
    across, up = (
        channel_scale([(one.encoding, one.records, one.mark) for one in layers], axis)
        for axis in "xy"
    )
    rows = max(len(layer.offsets) for layer in layers)
    fills = titled and spec.get("width") == "container"
    across.stretch(spec.get("width"), _PAGE_WIDTH if fills else _WIDTH)
    up.stretch(spec.get("height"), _HEIGHT, rows)
    width, height = across.length, up.length
    up.flipped = up.names is None
    left = 14 + _LETTER * max(map(len, up.shown), default=4)
    top, bottom = _TOP, _BOTTOM
    if across.names is not None and across.upright:
        bottom += _LETTER * max(map(len, across.shown), default=0)
    elif height > _HIGH:
        top, bottom = _TOP + _BOTTOM, _TOP
    body = "".join(_axes(across, up, width, height))
    body += "".join(text for layer in layers for text in _marks(layer, across, up, titled=titled))
    legend, lines = _legend(layers)
    whole_width, whole_height = left + width + 24, top + 16 * lines + height + bottom
    return (
        f'<svg viewBox="0 0 {whole_width:.0f} {whole_height:.0f}" width="{whole_width:.0f}" '
        f'height="{whole_height:.0f}" class="static{" wide" if fills else ""}" role="img" aria-label="{escape(caption)}" '
        f'font-size="10" fill="currentColor"><g transform="translate({left:.0f},12)">{legend}</g>'
        f'<g transform="translate({left:.0f},{top + 16 * lines:.0f})">{body}</g></svg>'
    )


def _layers(spec: Spec) -> Iterator[_Layer]:
    """Yield the layers with the records that pass their filters."""
    if any(key in spec for key in ("facet", "concat", "hconcat", "vconcat")):
        raise NotDrawable
    for layer in spec.get("layer", [spec]):
        data = layer.get("data", spec.get("data", {}))
        records = data.get("values", ())
        for transform in (*spec.get("transform", ()), *layer.get("transform", ())):
            if set(transform) != {"filter"}:
                raise NotDrawable
            keeps = condition(transform["filter"])
            records = [record for record in records if keeps(record)]
        encoding = {**spec.get("encoding", {}), **layer.get("encoding", {})}
        aside = encoding["yOffset"]["field"] if "yOffset" in encoding else None
        offsets = [None] if aside is None else sorted({record[aside] for record in records})
        yield _Layer(layer["mark"], encoding, list(records), offsets)


def _axes(across: Scale, up: Scale, width: float, height: float) -> Iterator[str]:
    """Yield grid lines, labels and titles."""
    yield '<g stroke="currentColor" stroke-opacity="0.15">'
    for scale, line in ((across, "M{0:.1f} 0V{1:.1f}"), (up, "M0 {0:.1f}H{2:.1f}")):
        if scale.names is None:
            ticks = "".join(line.format(scale(t), height, width) for t in scale.labelled)
            yield f'<path d="{ticks}"/>'
    yield "</g>"
    for at, name in zip(map(up, up.labelled), up.shown, strict=True):
        yield f'<text x="-6" y="{at + 3.5:.1f}" text-anchor="end">{escape(name)}</text>'
    for at, name in zip(map(across, across.labelled), across.shown, strict=True):
        if across.upright:
            turn = f"translate({at + 3.5:.1f},{height + 6:.0f}) rotate(-90)"
            yield f'<text transform="{turn}" text-anchor="end">{escape(name)}</text>'
        else:
            y = -6 if height > _HIGH else height + 14
            yield f'<text x="{at:.1f}" y="{y:.0f}" text-anchor="middle">{escape(name)}</text>'
    if across.title and not across.upright:
        y = -20 if height > _HIGH else height + 28
        yield f'<text x="0" y="{y:.0f}" font-weight="600">{escape(across.title)}</text>'
    if up.title:
        yield f'<text x="0" y="-5" font-weight="600">{escape(up.title)}</text>'


def _marks(layer: _Layer, across: Scale, up: Scale, *, titled: bool) -> Iterator[str]:
    """Yield the marks of a layer: one path per colour, or per record if titled, or texts."""
    kind = layer.mark["type"]
    drawer = _DRAWERS.get(kind)
    if drawer is None:
        raise NotDrawable
    colour = colour_of(layer.encoding.get("color"), layer.mark.get("color", "#0072B2"))
    opacity = layer.mark.get("opacity", 1)
    tips = layer.encoding.get("tooltip")
    if titled and tips and kind in ("point", "bar"):
        for record, step in drawer(layer, across, up):
            title = escape(", ".join(_told(tip, record) for tip in tips))
            run = f' data-run="{escape(record["run"])}"' if "run" in record else ""
            look = f'd="{step}" fill="{colour(record)}" opacity="{opacity}"'
            yield f"<path {look}{run}><title>{title}</title></path>"
        return
    paths: dict[str, list[str]] = {}
    for record, step in drawer(layer, across, up):
        paths.setdefault(colour(record), []).append(step)
    for shade, steps in paths.items():
        body = "".join(steps)
        if kind == "text":
            yield f'<g fill="{shade}" font-size="{layer.mark.get("fontSize", 10)}">{body}</g>'
        elif kind in ("rule", "tick", "line", "boxplot"):
            dash = " ".join(map(str, layer.mark.get("strokeDash", ())))
            dashes = f' stroke-dasharray="{dash}"' if dash else ""
            thick = layer.mark.get("strokeWidth", layer.mark.get("thickness", 1))
            yield (
                f'<path d="{body}" fill="none" stroke="{shade}" stroke-width="{thick}" '
                f'opacity="{opacity}"{dashes}/>'
            )
        else:
            yield f'<path d="{body}" fill="{shade}" opacity="{opacity}"/>'


def _told(tip: Spec, record: Record) -> str:
    """Return what a tooltip says of a field of a record."""
    value = record.get(tip["field"])
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"{tip.get('title', tip['field'])}: {text}"


def _spots(layer: _Layer, across: Scale, up: Scale) -> Iterator[tuple[Record, list[float]]]:
    """Yield each record with x, y, x2 and y2 in pixels; those without a number are left out."""
    encoding = layer.encoding
    seen = set()
    offsets = layer.offsets
    for record in layer.records:
        x, y = across.at(encoding.get("x"), record), up.at(encoding.get("y"), record)
        if len(offsets) > 1:
            place = offsets.index(record[encoding["yOffset"]["field"]])
            y += up.band * ((place + 0.5) / len(offsets) - 0.5)
        x2 = across.at(encoding.get("x2"), record) if "x2" in encoding else x
        y2 = up.at(encoding.get("y2"), record) if "y2" in encoding else y
        if "x" not in encoding:
            x, x2 = 0.0, across.length
        if "y" not in encoding:
            y, y2 = 0.0, up.length
        spot = [x, y, x2, y2]
        if any(math.isnan(one) for one in spot) or ("y" not in encoding and x in seen):
            continue
        seen.add(x)
        yield record, spot


def _shapes(layer: _Layer, across: Scale, up: Scale) -> Iterator[tuple[Record, str]]:
    """Yield a line, a dot or a cell for each record, or the next step of the line of its detail."""
    kind, encoding = layer.mark["type"], layer.encoding
    detail = (encoding.get("detail") or encoding.get("color") or {}).get("field", "")
    begun: set[Any] = set()
    half = layer.mark.get("size", 0) / 2 if kind == "tick" else 0.0
    r = math.sqrt(layer.mark.get("size", 30) / math.pi)
    wide, high = across.band, up.band
    for record, (x, y, x2, y2) in _spots(layer, across, up):
        if kind == "point":
            arc = f"a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0"
            yield record, f"M{x - r:.1f} {y:.1f}{arc}"
        elif kind == "rect":
            corner = f"M{x - wide / 2:.1f} {y - high / 2:.1f}"
            yield record, f"{corner}h{wide:.1f}v{high:.1f}h{-wide:.1f}z"
        elif kind == "line":
            line = record.get(detail)
            yield record, f"{'L' if line in begun else 'M'}{x:.1f} {y:.1f}"
            begun.add(line)
        else:
            yield record, f"M{x - half:.1f} {y:.1f}L{x2 + half:.1f} {y2:.1f}"


def _bars(layer: _Layer, across: Scale, up: Scale) -> Iterator[tuple[Record, str]]:
    """Yield bars from 0, one after the other where they are stacked."""
    along, beside = (across, up) if across.names is None else (up, across)
    reached: dict[float, float] = {}
    stacked = any("stack" in layer.encoding[axis] for axis in "xy")
    for record, (x, y, _, _) in _spots(layer, across, up):
        place, end = (y, x) if along is across else (x, y)
        start = reached.get(place, along(0.0)) if stacked else along(0.0)
        end += start - along(0.0) if stacked else 0.0
        reached[place] = end
        half = 0.4 * beside.band
        yield (
            record,
            f"M{start:.1f} {place - half:.1f}H{end:.1f}v{2 * half:.1f}H{start:.1f}z"
            if along is across
            else f"M{place - half:.1f} {start:.1f}V{end:.1f}h{2 * half:.1f}V{start:.1f}z",
        )


def _texts(layer: _Layer, across: Scale, up: Scale) -> Iterator[tuple[Record, str]]:
    channel, mark = layer.encoding["text"], layer.mark
    anchor = {"left": "start", "right": "end"}.get(mark.get("align", ""), "middle")
    most = int(mark.get("limit", 1e9) / _LETTER)
    for record, (x, y, _, _) in _spots(layer, across, up):
        value = record[channel["field"]]
        text = f"{100 * value:.0f}%" if channel.get("format") == ".0%" else str(value)
        text = text if len(text) <= most else f"{text[: most - 1]}…"
        base = y + 3.5 + mark.get("dy", 0)
        yield (
            record,
            f'<text x="{x:.1f}" y="{base:.1f}" text-anchor="{anchor}">{escape(text)}</text>',
        )


def _boxes(layer: _Layer, across: Scale, up: Scale) -> Iterator[tuple[Record, str]]:
    """Yield a box of the quartiles and a line from the lowest to the highest, for each row."""
    rows: dict[float, list[float]] = {}
    first: dict[float, Record] = {}
    for record, (x, y, _, _) in _spots(layer, across, up):
        rows.setdefault(y, []).append(x)
        first.setdefault(y, record)
    for y, values in rows.items():
        ordered = sorted(values)
        q1, median, q3 = (ordered[int(q * (len(ordered) - 1))] for q in (0.25, 0.5, 0.75))
        line = f"M{ordered[0]:.1f} {y:.1f}H{q1:.1f}M{q3:.1f} {y:.1f}H{ordered[-1]:.1f}"
        box = f"M{q1:.1f} {y - 6:.1f}H{q3:.1f}v12H{q1:.1f}zM{median:.1f} {y - 6:.1f}v12"
        yield first[y], line + box


_DRAWERS = {
    **dict.fromkeys(("rule", "tick", "point", "rect", "line"), _shapes),
    "bar": _bars,
    "text": _texts,
    "boxplot": _boxes,
}


def _legend(layers: Sequence[_Layer]) -> tuple[str, int]:
    """Return the legend of the colours, and its number of rows."""
    for layer in layers:
        colour = layer.encoding.get("color", {})
        domain = colour.get("scale", {}).get("domain", ())
        named = colour.get("type") == "nominal" and len(domain) > 1
        if named and colour.get("legend", {}) is not None:
            x, parts = 0.0, []
            labels = label_texts(colour.get("legend", {}).get("labelExpr"), domain)
            for name, shade in zip(labels, colour["scale"]["range"], strict=False):
                parts.append(
                    f'<path d="M{x:.0f} -8h9v9h-9z" fill="{shade}"/>'
                    f'<text x="{x + 13:.0f}" y="0">{escape(name)}</text>'
                )
                x += 26 + _LETTER * len(name)
            return "".join(parts), 1
    return "", 0
