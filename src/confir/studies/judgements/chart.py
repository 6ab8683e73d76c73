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
    import_altair,
    inline_records,
    numbered,
    panel_facet,
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
    alt = import_altair()
    runs = comparison.runs
    panels = [
        _panel(alt, runs.select(reference=pair[0], judge=pair[1], measure=measure).to_records())
        for pair in runs.pairs
        for measure in runs.measures
    ]
    title = f"Means of the runs by two judges, with {percent(runs.level)} intervals"
    return styled(alt.concat(*panels, columns=2), f"{title}; dashed: equal means")


def _panel(alt: Any, records: list[Record]) -> Any:
    """Return the means by two judges: points with intervals, and the diagonal."""
    ends, one = _extent(records), records[0]
    scale = alt.Scale(domain=ends, nice=False, zero=False)
    diagonal = (
        alt.Chart(inline_records([{"both": end} for end in ends]))
        .mark_line(color=INK, strokeDash=[4, 4], strokeWidth=1)
        .encode(x=alt.X("both:Q"), y=alt.Y("both:Q"))
    )
    base = alt.Chart(inline_records(_labelled(records, ends))).encode(
        color=alt.Color(
            "effect:N",
            scale=alt.Scale(domain=list(_EFFECTS), range=list(_EFFECTS.values())),
            legend=alt.Legend(
                title="beyond the bias of all runs", orient="bottom", symbolOpacity=1
            ),
        )
    )
    titles = [[f"{one['measure']} by {one[name]}"] for name in ("reference", "judge")]
    across = alt.X("reference_mean:Q", title=titles[0], scale=scale)
    up = alt.Y("judge_mean:Q", title=titles[1], scale=scale)
    limits = [
        base.mark_rule(opacity=0.3).encode(
            x=alt.X("reference_low:Q", scale=scale), x2=alt.X2("reference_high:Q"), y=up
        ),
        base.mark_rule(opacity=0.3).encode(
            x=across, y=alt.Y("judge_low:Q", scale=scale), y2=alt.Y2("judge_high:Q")
        ),
    ]
    shown = ("run:N", "reference_mean:Q", "judge_mean:Q", "bias:Q", "bias_low:Q", "bias_high:Q")
    points = base.mark_point(filled=True, size=45, opacity=0.9).encode(
        x=across, y=up, tooltip=tooltips(*shown, "gain:Q", "gain_low:Q", "gain_high:Q", "effect:N")
    )
    named = base.transform_filter("datum.label != ''")
    threads = name_threads(named, "reference_mean", "judge_mean")
    return alt.layer(diagonal, *limits, threads, points, *name_layers(named)).properties(
        width=_SIZE, height=_SIZE
    )


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
    unlabelled: Record = {"label": "", "label_x": None, "label_y": None, "align": "left"}
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
    alt = import_altair()
    with np.errstate(invalid="ignore"):  # of grades that no document has
        shares = confusion.documents / confusion.documents.sum(axis=2, keepdims=True)
    records = [
        record
        | {"panel": f"{record['reference']}, {record['judge']}"}
        | {"share": share, "text": share_text(share, 0)}
        for record, share in zip(confusion.to_records(), shares.reshape(-1).tolist(), strict=True)
    ]
    panels = [", ".join(pair) for pair in confusion.pairs]
    base = alt.Chart(inline_records(numbered(records, panel=panels))).encode(
        x=alt.X(
            "judge_grade:O", title="grade by the judge", axis=alt.Axis(labelAngle=0, grid=False)
        ),
        y=alt.Y(
            "reference_grade:O",
            title="grade by the reference",
            sort="descending",
            axis=alt.Axis(grid=False),
        ),
    )
    squares = base.mark_rect().encode(
        color=alt.Color(
            "share:Q",
            scale=alt.Scale(domain=[0, 1], range=["#ffffff", COLOURS[0]], interpolate="rgb"),
            legend=None,
        ),
        tooltip=tooltips(
            "reference:N", "judge:N", "reference_grade:O", "judge_grade:O", "documents:Q"
        ),
    )
    texts = base.mark_text(fontSize=11).encode(
        text=alt.Text("text:N"),
        color=alt.condition("datum.share > 0.6", alt.value("white"), alt.value("#222")),
    )
    drawn = alt.layer(squares, texts).properties(width=220, height=220)
    facet = panel_facet(alt, "panel", panels)
    return styled(
        drawn.facet(facet=facet, columns=2),
        "Grades of the judge, as shares of each reference grade",
    )
