"""Charts of meta-analysis: the forest plot, and pooled effects of many groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from confir.data.effect_files import Group
from confir.data.result import Record
from confir.errors import UnsupportedMethodError
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    Spec,
    end_field,
    field,
    in_panels,
    inline_records,
    label_names,
    mark,
    numbered,
    styled,
    tooltips,
)
from confir.studies.meta_analysis.pooled_results import PooledEffect, PooledModels
from confir.studies.meta_analysis.table import (
    MOST_IN_FULL,
    as_models,
    effect_sign,
    interval_name,
    is_simultaneous,
    shown_limits,
)

# Rows of studies shrink where there are as many as topics.
_ROW, _SMALL_ROW, _MANY_ROWS = 18, 11, 60
_SQUARE, _SMALL_SQUARE = 150, 60

_KINDS = {"study": "#555555", "pooled": COLOURS[0], "further study": COLOURS[4]}
_VERDICTS = {
    "not significantly different from 0": "#888888",
    "significantly different from 0": COLOURS[0],
}


def pooled_chart(pooled: PooledEffect | PooledModels) -> Any:
    """Return the forest plot; of more groups than can be read so, the pooled effects alone."""
    models = as_models(pooled)
    few = len(models.main.groups) <= MOST_IN_FULL
    return forest_chart(models) if few else summary_chart(models)


def forest_chart(models: PooledModels) -> Any:
    """Return a forest plot: one panel per group, with one row per study, then one row per model.

    A study's square grows with its weight in the main model. Diamonds are pooled effects, whose
    intervals are simultaneous in a family; the thin line around one shows where the true effect of
    a further study is expected.
    """
    studies = [
        record | {"row": record["study"], "kind": "study"} for record in models.main.study_records()
    ]
    pooled = [row for record in models.to_records() for row in _pooled_rows(record)]
    panels = [
        _panel([row for row in (*studies, *pooled) if _belongs(row, group)], str(group))
        for group in models.main.groups
    ]
    scales = {"x": "independent", "y": "independent", "size": "shared"}
    drawing = {
        "concat": panels,
        "columns": 1 if len(panels) == 1 else 2,
        "resolve": {"scale": scales},
    }
    subtitle = [f"squares grow with a study's weight by {models.main.model.name}"]
    if is_simultaneous(models.main):
        subtitle.append(f"pooled effects: {interval_name(models.main)}")
    title = {
        "text": f"Effects of studies and pooled effects, with {percent(models.main.level)} intervals",
        "subtitle": subtitle,
        "subtitleColor": "#555",
    }
    return styled(drawing, title)


def summary_chart(models: PooledModels) -> Any:
    """Return the pooled effects by the main model: one row per group, one panel per measure."""
    words = list(_VERDICTS)
    records = []
    for group, record in zip(models.main.groups, models.main.to_records(), strict=True):
        low, high = shown_limits(record)
        if not (math.isnan(record["effect"]) or math.isnan(low)):
            named = {"name": str(group._replace(measure=None)) or "pooled"}
            named |= {"panel": group.measure or "", "verdict": words[effect_sign(record) != 0]}
            records.append({**record, "low": low, "high": high, **named})
    if not records:
        raise UnsupportedMethodError("no pooled effect has an interval that could be drawn")
    first = [record for record in records if record["panel"] == records[0]["panel"]]
    ranked = sorted(first, key=lambda record: -record["effect"]) + records
    order = list(dict.fromkeys(record["name"] for record in ranked))
    together = "simultaneous " if is_simultaneous(models.main) else ""
    title = f"pooled effect with {together}{percent(models.main.level)} interval"
    measures = list(dict.fromkeys(record["panel"] for record in records))
    rows = numbered(records, name=order, panel=measures)
    numbers = ("effect", "low", "high", "i2", "tau2")
    zero, base = _rows("name", order, ("verdict", _VERDICTS), numbers, title)
    limits = {"x": field("low:Q"), "x2": end_field("high:Q")}
    look: Spec = {"filled": True, "shape": "diamond", "size": 70, "opacity": 1}
    drawing = {
        "data": _with_zero(rows),
        "layer": [
            zero,
            mark("rule", base | limits, strokeWidth=2),
            mark("point", base | {"x": field("effect:Q")}, **look),
        ],
        "width": 280,
        "height": {"step": _ROW},
    }
    panels = in_panels(drawing, "panel", measures, scales={"x": "independent", "y": "independent"})
    return styled(panels, f"Pooled effects by {models.main.model.name}")


def _panel(rows: list[Record], title: str) -> Spec:
    """Return the forest plot of one group."""
    order = list(dict.fromkeys(row["row"] for row in rows))
    few = len(order) <= _MANY_ROWS
    squares = {"domainMin": 0, "range": [4, _SQUARE if few else _SMALL_SQUARE]}
    numbers = ("effect", "low", "high", "weight")
    zero, base = _rows("row", order, ("kind", _KINDS), numbers, "effect")
    limits = base | {"x": field("low:Q"), "x2": end_field("high:Q")}
    effect = base | {"x": field("effect:Q")}
    weight = {"size": field("weight:Q", scale=squares, legend=None)}
    square: Spec = {"filled": True, "shape": "square", "opacity": 0.75}
    diamond: Spec = {"filled": True, "shape": "diamond", "size": 110, "opacity": 1}
    return {
        "data": _with_zero(numbered(rows, row=order)),
        "layer": [
            zero,
            mark("rule", limits, where="datum.kind == 'further study'", strokeWidth=1),
            mark("rule", limits, where="datum.kind != 'further study'", strokeWidth=1.5),
            mark("point", effect | weight, where="datum.kind == 'study'", **square),
            mark("point", effect, where="datum.kind == 'pooled'", **diamond),
        ],
        "width": 320,
        "height": {"step": _ROW if few else _SMALL_ROW},
        "title": [title],
    }


def _with_zero(rows: list[Record]) -> Spec:
    return inline_records([row | {"zero": 0} for row in rows])


def _rows(
    name: str,
    names: Sequence[str],
    colours: tuple[str, Mapping[str, str]],
    numbers: Sequence[str],
    title: str,
) -> tuple[Spec, Spec]:
    """Return the line at 0, and channels of one row per name, in the colours of a field's words."""
    word, palette = colours
    axis = {"labelLimit": 240, "labelExpr": label_names(names)}
    scale = {"domain": list(palette), "range": list(palette.values())}
    base = {
        "y": field(f"{name}_number:N", title=None, axis=axis),
        "color": field(f"{word}:N", scale=scale, title=None),
        "tooltip": tooltips(f"{name}:N", f"{word}:N", *(f"{n}:Q" for n in numbers), numbers=".4f"),
    }
    zero = mark("rule", {"x": field("zero:Q", title=title)}, color="#444", strokeDash=[4, 3])
    return zero, base


def _pooled_rows(record: Record) -> list[Record]:
    """Return a model's interval, and around it that of a further study; nothing without effect."""
    if math.isnan(record["effect"]):
        return []
    low, high = shown_limits(record)
    row = record | {"row": f"pooled: {record['model']}"}
    rows = [row | {"kind": "pooled", "low": low, "high": high}]
    if not math.isnan(record["predicted_low"]):
        limits = {"low": record["predicted_low"], "high": record["predicted_high"]}
        rows.append(row | {"kind": "further study"} | limits)
    return rows


def _belongs(record: Record, group: Group) -> bool:
    return all(record.get(name) == value for name, value in group._asdict().items())
