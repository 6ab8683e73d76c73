"""Charts of meta-analysis: the forest plot, and pooled effects of many groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from confir.data.result import Record
from confir.data.tables.effect_files import Group
from confir.errors import UnsupportedMethodError
from confir.number_text import percent
from confir.report.charts import (
    COLOURS,
    import_altair,
    inline_records,
    label_names,
    numbered,
    panel_facet,
    styled,
)
from confir.studies.meta_analysis.meta_analysis import PooledEffect, PooledModels
from confir.studies.meta_analysis.table import (
    MOST_IN_FULL,
    effect_sign,
    interval_name,
    is_simultaneous,
    shown_limits,
)

# Rows of studies shrink where there are as many as topics.
_ROW, _SMALL_ROW, _MANY_ROWS = 18, 11, 60
_SQUARE, _SMALL_SQUARE = 150, 60

_KINDS = ["study", "pooled", "further study"]
_KIND_COLOURS = ["#555555", COLOURS[0], COLOURS[4]]
_VERDICTS = ["not significantly different from 0", "significantly different from 0"]


def pooled_chart(pooled: PooledEffect) -> Any:
    """Return the forest plot of effects pooled by one model."""
    return models_chart(PooledModels((pooled,)))


def models_chart(models: PooledModels) -> Any:
    """Return the forest plot; of more groups than can be read so, the pooled effects alone."""
    few = len(models.main.groups) <= MOST_IN_FULL
    return forest_chart(models) if few else summary_chart(models)


def forest_chart(models: PooledModels) -> Any:
    """Return a forest plot: one panel per group, with one row per study, then one row per model.

    A study's square grows with its weight in the main model. Diamonds are pooled effects, whose
    intervals are simultaneous in a family; the thin line around one shows where the true effect of
    a further study is expected.
    """
    alt = import_altair()
    studies = models.main.study_records()
    pooled = models.to_records()
    panels = [
        _panel(
            alt,
            [record for record in studies if _belongs(record, group)],
            [record for record in pooled if _belongs(record, group)],
            str(group),
        )
        for group in models.main.groups
    ]
    drawing = alt.concat(*panels, columns=1 if len(panels) == 1 else 2).resolve_scale(
        x="independent", y="independent", size="shared"
    )
    subtitle = [f"squares grow with a study's weight by {models.main.model.name}"]
    if is_simultaneous(models.main):
        subtitle.append(f"pooled effects: {interval_name(models.main)}")
    title = alt.TitleParams(
        f"Effects of studies and pooled effects, with {percent(models.main.level)} intervals",
        subtitle=subtitle,
        subtitleColor="#555",
    )
    return styled(drawing, title)


def summary_chart(models: PooledModels) -> Any:
    """Return the pooled effects by the main model: one row per group, one panel per measure."""
    alt = import_altair()
    records = [
        {
            **_with_shown_limits(record),
            "name": str(group._replace(measure=None)) or "pooled",
            "panel": group.measure or "",
            "zero": 0,
            "verdict": _VERDICTS[effect_sign(record) != 0],
        }
        for group, record in zip(models.main.groups, models.main.to_records(), strict=True)
        if not (math.isnan(record["effect"]) or math.isnan(shown_limits(record)[0]))
    ]
    if not records:
        raise UnsupportedMethodError("no pooled effect has an interval that could be drawn")
    first = [record for record in records if record["panel"] == records[0]["panel"]]
    ranked = sorted(first, key=lambda record: -record["effect"]) + records
    order = list(dict.fromkeys(record["name"] for record in ranked))
    together = "simultaneous " if is_simultaneous(models.main) else ""
    title = f"pooled effect with {together}{percent(models.main.level)} interval"
    measures = list(dict.fromkeys(record["panel"] for record in records))
    plain = alt.Chart(inline_records(numbered(records, name=order, panel=measures)))
    base = plain.encode(
        y=alt.Y("name_number:N", title=None, axis=_axis(alt, order)),
        color=alt.Color(
            "verdict:N",
            scale=alt.Scale(
                domain=_VERDICTS,
                range=["#888888", COLOURS[0]],
            ),
            title=None,
        ),
        tooltip=["name:N", *_number_tooltips(alt, "effect", "low", "high", "i2", "tau2")],
    )
    panels = (
        alt.layer(
            plain.mark_rule(color="#444", strokeDash=[4, 3]).encode(x=alt.X("zero:Q", title=title)),
            base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q"),
            base.mark_point(filled=True, shape="diamond", size=70, opacity=1).encode(x="effect:Q"),
        )
        .properties(width=280, height=alt.Step(_ROW))
        .facet(facet=panel_facet(alt, "panel", measures), columns=2)
        .resolve_scale(x="independent", y="independent")
    )
    return styled(panels, f"Pooled effects by {models.main.model.name}")


def _panel(alt: Any, studies: list[Record], pooled: list[Record], title: str) -> Any:
    """Return the forest plot of one group."""
    rows = [_study_row(record) for record in studies] + [
        row for record in pooled for row in _pooled_rows(record)
    ]
    order = list(dict.fromkeys(row["row"] for row in rows))
    few = len(order) <= _MANY_ROWS
    squares = alt.Scale(domainMin=0, range=[4, _SQUARE if few else _SMALL_SQUARE])
    plain = alt.Chart(inline_records(numbered(rows, row=order)))
    base = plain.encode(
        y=alt.Y("row_number:N", title=None, axis=_axis(alt, order)),
        color=alt.Color("kind:N", scale=alt.Scale(domain=_KINDS, range=_KIND_COLOURS), title=None),
        tooltip=["row:N", "kind:N", *_number_tooltips(alt, "effect", "low", "high", "weight")],
    )
    lines = [
        plain.mark_rule(color="#444", strokeDash=[4, 3]).encode(x=alt.X("zero:Q", title="effect")),
        base.transform_filter("datum.kind == 'further study'")
        .mark_rule(strokeWidth=1)
        .encode(x="low:Q", x2="high:Q"),
        base.transform_filter("datum.kind != 'further study'")
        .mark_rule(strokeWidth=1.5)
        .encode(x="low:Q", x2="high:Q"),
        base.transform_filter("datum.kind == 'study'")
        .mark_point(filled=True, shape="square", opacity=0.75)
        .encode(
            x="effect:Q",
            size=alt.Size("weight:Q", scale=squares, legend=None),
        ),
        base.transform_filter("datum.kind == 'pooled'")
        .mark_point(filled=True, shape="diamond", size=110, opacity=1)
        .encode(x="effect:Q"),
    ]
    height = alt.Step(_ROW if few else _SMALL_ROW)
    return alt.layer(*lines).properties(width=320, height=height, title=[title])


def _study_row(record: Record) -> Record:
    return {**record, "row": record["study"], "kind": "study", "zero": 0}


def _pooled_rows(record: Record) -> list[Record]:
    """Return a model's interval, and around it that of a further study; nothing without effect."""
    if math.isnan(record["effect"]):
        return []
    row = {"row": f"pooled: {record['model']}", "effect": record["effect"], "zero": 0}
    low, high = shown_limits(record)
    rows = [{**row, "kind": "pooled", "low": low, "high": high}]
    if not math.isnan(record["predicted_low"]):
        limits = {"low": record["predicted_low"], "high": record["predicted_high"]}
        rows.append({**row, "kind": "further study", **limits})
    return rows


def _with_shown_limits(record: Record) -> Record:
    low, high = shown_limits(record)
    return {**record, "low": low, "high": high}


def _belongs(record: Record, group: Group) -> bool:
    return all(record.get(name) == value for name, value in group._asdict().items())


def _axis(alt: Any, names: Sequence[str]) -> Any:
    return alt.Axis(labelLimit=240, labelExpr=label_names(names))


def _number_tooltips(alt: Any, *names: str) -> list[Any]:
    return [alt.Tooltip(f"{name}:Q", format=".4f") for name in names]
