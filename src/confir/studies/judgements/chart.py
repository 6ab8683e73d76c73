"""Charts of judges: means by two judges, gains of runs, and a matrix of grades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from confir.data.chart_marks import IntervalChart, Mark, dot, numbers, texts
from confir.data.result import Record
from confir.number_text import percent, share_text
from confir.pairs.decisions import INCONCLUSIVE
from confir.report.charts import (
    COLOURS,
    INK,
    Spec,
    end_field,
    field,
    in_panels,
    inline_records,
    mark,
    numbered,
    styled,
    tooltips,
)
from confir.report.label_places import label_fields, name_layers, name_threads
from confir.report.result_chart import draw_intervals
from confir.studies.judgements.grade_agreement import GradeConfusion
from confir.studies.judgements.judge_effects import GAINS, LOSES, JudgedRuns
from confir.studies.judgements.judgement_comparison import JudgementComparison

# A panel as narrow as a telephone shows it, in pixels: where names fit here, they fit everywhere.
_PANEL = (240.0, 240.0)
_SIZE = 320
# Beyond the outermost limits, a share of the axis is left free.
_ROOM = 0.04
# More names than this in a panel are too many to read.
_NAMES_SHOWN = 12

_EFFECTS = {GAINS: COLOURS[1], LOSES: COLOURS[0], INCONCLUSIVE: INK}


def judgement_chart(comparison: JudgementComparison) -> Any:
    """Return the means of runs by a judge against those by the reference, with intervals.

    On the diagonal, both give the same mean; runs far from the trend of the others gain or lose.
    """
    runs = comparison.runs
    panels = [
        _panel(runs.select(reference=pair[0], judge=pair[1], measure=measure).to_records())
        for pair in runs.pairs
        for measure in runs.measures
    ]
    title = f"Means of the runs by two judges, with {percent(runs.level)} intervals"
    return styled({"concat": panels, "columns": 2}, f"{title}; dashed: equal means")


def _panel(records: list[Record]) -> Spec:
    """Return the means by two judges: points with intervals, and the diagonal."""
    ends, one = _extent(records), records[0]
    scale = {"domain": ends, "nice": False, "zero": False}
    effects = {"domain": list(_EFFECTS), "range": list(_EFFECTS.values())}
    legend = {"title": "beyond the bias of all runs", "orient": "bottom", "symbolOpacity": 1}
    base = {"color": field("effect:N", scale=effects, legend=legend)}
    titles = [[f"{one['measure']} by {one[name]}"] for name in ("reference", "judge")]
    across = {"x": field("reference_mean:Q", title=titles[0], scale=scale)}
    up = {"y": field("judge_mean:Q", title=titles[1], scale=scale)}
    wide = {"x": field("reference_low:Q", scale=scale), "x2": end_field("reference_high:Q")}
    high = {"y": field("judge_low:Q", scale=scale), "y2": end_field("judge_high:Q")}
    shown = ("run:N", "reference_mean:Q", "judge_mean:Q", "bias:Q", "bias_low:Q", "bias_high:Q")
    tooltip = tooltips(*shown, "gain:Q", "gain_low:Q", "gain_high:Q", "effect:N")
    both = {"x": field("both:Q"), "y": field("both:Q")}
    ends_of_line = inline_records([{"both": end} for end in ends])
    layers = [
        mark("line", both, data=ends_of_line, color=INK, strokeDash=[4, 4], strokeWidth=1),
        mark("rule", base | wide | up, opacity=0.3),
        mark("rule", base | across | high, opacity=0.3),
        name_threads(base, "reference_mean", "judge_mean", where="datum.label != ''"),
        mark("point", base | across | up | {"tooltip": tooltip}, filled=True, size=45, opacity=0.9),
        *name_layers(base),
    ]
    data = inline_records(_labelled(records, ends))
    return {"data": data, "layer": layers, "width": _SIZE, "height": _SIZE}


def _extent(records: Sequence[Record]) -> list[float]:
    """Return the ends of both axes: all limits of both judges, and a little room."""
    fields = [
        f"{judge}_{end}" for judge in ("reference", "judge") for end in ("mean", "low", "high")
    ]
    values = [record[field] for record in records for field in fields]
    known = [value for value in values if math.isfinite(value)] or [0.0]
    room = _ROOM * (max(known) - min(known)) or 0.5
    return [min(known) - room, max(known) + room]


def _labelled(records: list[Record], ends: list[float]) -> list[Record]:
    """Return records with labels where there is room: runs that gain or lose most come first."""
    order = sorted(range(len(records)), key=lambda n: -abs(records[n]["gain"]))
    few = len(records) <= _NAMES_SHOWN
    named = [n for n in order if few or records[n]["effect"] != INCONCLUSIVE][:_NAMES_SHOWN]
    chosen = {n: records[n]["run"] for n in named}
    points = [(record["reference_mean"], record["judge_mean"]) for record in records]
    unlabelled: Record = {"label": "", "label_x": None, "label_y": None, "align": ""}
    places = label_fields(points, chosen, _PANEL, (ends, ends))
    labels = {n: {"label": chosen[n]} | place for n, place in places.items()}
    return [record | labels.get(n, unlabelled) for n, record in enumerate(records)]


def gain_chart(runs: JudgedRuns) -> Any:
    """Return what each run gains from a judge, with simultaneous intervals: one row per run."""
    records = [record | {"panel": _panel_name(record, runs)} for record in runs.to_records()]
    declared = IntervalChart(
        "Bias of each run beyond the mean bias of all runs",
        records,
        marks=(Mark("gain_low", "gain_high"), dot("gain")),
        axis=f"gain with simultaneous {percent(runs.level)} interval",
        tooltip=(
            *texts("run"),
            *numbers("gain", "gain_low", "gain_high", "bias"),
            *texts("effect"),
        ),
        best_by="gain",
        panel="panel",
        words=("effect", _EFFECTS),
        with_zero=True,
    )
    return draw_intervals(declared)


def _panel_name(record: Record, runs: JudgedRuns) -> str:
    judges = f"{record['judge']}, reference {record['reference']}"
    return f"{record['measure']}: {judges}" if len(runs.measures) > 1 else judges


def confusion_chart(confusion: GradeConfusion) -> Any:
    """Return how often judges gave which grades: a square per pair of grades."""
    with np.errstate(invalid="ignore"):  # of grades that no document has
        shares = confusion.documents / confusion.documents.sum(axis=2, keepdims=True)
    records = [
        record
        | {"panel": f"{record['reference']}, {record['judge']}"}
        | {"share": share, "text": share_text(share, 0)}
        for record, share in zip(confusion.to_records(), shares.reshape(-1).tolist(), strict=True)
    ]
    panels = [", ".join(pair) for pair in confusion.pairs]
    axis = {"labelAngle": 0, "grid": False}
    title, rows = "grade by the reference", {"grid": False}
    base = {
        "x": field("judge_grade:O", title="grade by the judge", axis=axis),
        "y": field("reference_grade:O", title=title, sort="descending", axis=rows),
    }
    scale = {"domain": [0, 1], "range": ["#ffffff", COLOURS[0]], "interpolate": "rgb"}
    shown = ("reference:N", "judge:N", "reference_grade:O", "judge_grade:O", "documents:Q")
    shade = {"color": field("share:Q", scale=scale, legend=None), "tooltip": tooltips(*shown)}
    dark = {"test": "datum.share > 0.6", "value": "white"}
    text = {"text": field("text:N"), "color": {"condition": dark, "value": "#222"}}
    drawn = {
        "data": inline_records(numbered(records, panel=panels)),
        "layer": [mark("rect", base | shade), mark("text", base | text, fontSize=11)],
        "width": 220,
        "height": 220,
    }
    panelled = in_panels(drawn, "panel", panels, scales={})
    return styled(panelled, "Grades of the judge, as shares of each reference grade")
