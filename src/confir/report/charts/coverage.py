"""Charts of how well intervals keep their word."""

from __future__ import annotations

from typing import Any

from confir.report.charts.drawing import COLOURS, chart, import_altair, styled
from confir.studies.coverage import Coverage
from confir.studies.type_one_error import TypeOneError


@chart.register
def coverage_chart(coverage: Coverage) -> Any:
    """Return box plots of coverage by method, a panel a measure; a line at the level."""
    alt = import_altair()
    data = alt.InlineData(values=coverage.to_records())
    boxes = (
        alt.Chart(data)
        .mark_boxplot(color=COLOURS[0], median={"color": "white"}, outliers={"size": 12})
        .encode(
            y=alt.Y("method:N", sort=list(coverage.methods), title=None),
            x=alt.X("coverage:Q", scale=alt.Scale(zero=False), title="share that hold the mean"),
        )
    )
    claimed = (
        alt.Chart(data)
        .mark_rule(color=COLOURS[1], strokeDash=[4, 3])
        .encode(x=alt.X("mean(level):Q", title="share that hold the mean"))
    )
    panels = (
        alt.layer(boxes, claimed)
        .properties(width=260, height=alt.Step(22))
        .facet(facet=alt.Facet("measure:N", title=None, sort=list(coverage.measures)), columns=2)
    )
    runs = len(coverage.runs)
    return styled(panels, f"Coverage of {100 * coverage.level:g} % intervals, {runs} runs")


@chart.register
def type_one_chart(error: TypeOneError) -> Any:
    """Return the error made against the error claimed, a line a method, a panel a sample size."""
    alt = import_altair()
    records = [
        {**record, "claimed": round(1.0 - record["level"], 10)} for record in error.to_records()
    ]
    data = alt.InlineData(values=records)
    made = (
        alt.Chart(data)
        .mark_line(point=True)
        .encode(
            x=alt.X("claimed:Q", title="error claimed"),
            y=alt.Y("error:Q", title="error made"),
            color=alt.Color(
                "method:N",
                sort=list(error.methods),
                scale=alt.Scale(range=list(COLOURS)),
                title=None,
            ),
        )
    )
    exact = (
        alt.Chart(data)
        .mark_line(color="#888", strokeDash=[4, 3])
        .encode(x="claimed:Q", y=alt.Y("claimed:Q", title="error made"))
    )
    panels = (
        alt.layer(exact, made)
        .properties(width=240, height=240)
        .facet(facet=alt.Facet("topics:N", title="topics in a sample"), columns=3)
    )
    return styled(panels, "Type I error of intervals, averaged over runs")
