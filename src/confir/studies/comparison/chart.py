"""Charts of comparisons: differences, all pairs, topics, and groups of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from confir.arrays import Booleans, best_first
from confir.data.result import Record
from confir.defaults import NO_FAMILY
from confir.errors import InvalidValueError, UnknownNameError
from confir.number_text import p_text, topics_text
from confir.pairs.comparison import Comparison
from confir.pairs.decisions import (
    BETTER,
    EQUIVALENT,
    IDENTICAL,
    INCONCLUSIVE,
    NOT_COMPARED,
    OPPOSITE,
    WORSE,
)
from confir.pairs.pair_results import (
    DIFFERENCE_DECIMALS,
    TopicDifferences,
    order_pairs,
    turn_record,
)
from confir.pairs.run_groups import GroupedRuns, RunGroups, group_letters
from confir.pairs.verdict_words import interval_name, unjoined_sentence
from confir.report.charts import (
    COLOURS,
    INK,
    Spec,
    end_field,
    field,
    in_panels,
    inline_records,
    label_names,
    mark,
    names_best_first,
    numbered,
    run_rows,
    styled,
    tooltips,
    topic_axis,
)

# Up to this many runs: the size of a cell of the matrix.
_CELLS = ((12, 30), (24, 22), (math.inf, 16))
_GROUP = 16

_VERDICT_COLOURS = {
    BETTER: COLOURS[0],
    WORSE: COLOURS[1],
    EQUIVALENT: COLOURS[2],
    IDENTICAL: COLOURS[3],
    INCONCLUSIVE: INK,
    NOT_COMPARED: INK,
}


def comparison_chart(comparison: Comparison) -> Any:
    """Return the differences from a baseline, or the matrix of all pairs."""
    return matrix_chart(comparison) if comparison.baseline is None else difference_chart(comparison)


def difference_chart(comparison: Comparison) -> Any:
    """Return differences with intervals: one panel per measure, one row per run or pair."""
    records = _records(comparison)
    measures = list(comparison.measures)
    first = [record for record in records if record["measure"] == measures[0]]
    order = names_best_first(first, "difference", "name")
    tooltip = [
        *tooltips("run:N", "against:N", "measure:N"),
        *tooltips("difference:Q", "low:Q", "high:Q", numbers="+.4f"),
        field("p_text:N", title="adjusted p"),
        field("topics:Q"),
        field("verdict:N"),
    ]
    axis = f"difference with {interval_name(comparison)}"
    panels = verdict_panels(
        records, {"name": order, "measure": measures}, axis, tooltip, legend="verdict"
    )
    against = comparison.baseline or "each other"
    topics = topics_text(comparison.topics, comparison.scores.model_topics)
    return styled(panels, f"Differences from {against}, over {topics}")


def verdict_panels(
    records: Sequence[Record],
    names: Mapping[str, Sequence[str]],
    axis: str,
    tooltip: list[Spec],
    *,
    legend: str | None = None,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Return differences with intervals and coloured by verdict, in rows and panels.

    Parameters
    ----------
    records
        With difference, low, high and verdict; ``zero`` is 0, ``open_at`` the limit that is
        excluded, if any, and between ``below`` and ``above``, if there, differences do not matter.
    names
        The names in rows and in panels in their order, by their fields.
    axis, tooltip, legend
        Title of the x axis, what is shown under the pointer, and the title of the colours.
    more
        Further channels of the dots.
    """
    row, panel = names
    rows, step = run_rows(names[row])
    occurring = {record["verdict"] for record in records}
    colours = {word: colour for word, colour in _VERDICT_COLOURS.items() if word in occurring}
    scale = {"domain": list(colours), "range": list(colours.values())}
    base = {
        "y": field(f"{row}_number:N", title=None, axis=rows),
        "color": field("verdict:N", scale=scale, title=legend),
        "tooltip": tooltip,
    }
    limits = {"x": field("low:Q"), "x2": end_field("high:Q")}
    size: Spec = {} if more else {"size": 50}
    dots: Spec = {"x": field("difference:Q"), **more}
    layers = [
        mark("rule", {"x": field("zero:Q", title=axis)}, color=INK, strokeDash=[4, 3]),
        mark("rule", base | limits, strokeWidth=2),
        mark("point", base | dots, filled=True, **size, opacity=1),
    ]
    if any(record["open_at"] is not None for record in records):  # hollow: 0, and excluded
        look: Spec = {"size": 40, "opacity": 1, "fill": "white", "strokeWidth": 1.5}
        layers.append(mark("point", base | {"x": field("open_at:Q")}, **look))
    if any(record.get("above") is not None for record in records):
        ends = {"x": field("min(below):Q"), "x2": end_field("max(above):Q")}
        layers.insert(0, mark("rect", ends, color=COLOURS[2], opacity=0.15))
    data = inline_records(numbered(records, **names))
    drawing = {"data": data, "layer": layers, "width": 280, "height": step}
    return in_panels(drawing, panel, names[panel])


def matrix_chart(comparison: Comparison, most: int | None = None) -> Any:
    """Return a chart of all pairs: row minus column, marked where a difference is significant.

    Parameters
    ----------
    comparison
        Of all pairs.
    most
        Show at most this many runs, the best by each measure.
    """
    if comparison.baseline is not None:
        raise InvalidValueError("the matrix shows all pairs: compare without a baseline")
    panels = []
    for m, measure in enumerate(comparison.measures):
        best = best_first(comparison.scores.mean()[:, m])[:most]
        order = tuple(comparison.runs[place] for place in best)
        cells = _matrix_cells(comparison, m, best)
        panels.append(_matrix(cells, order) | {"title": [measure]})
    drawing = {"concat": panels, "columns": 2, "resolve": {"scale": {"color": "independent"}}}
    topics = topics_text(comparison.topics, comparison.scores.model_topics)
    return styled(drawing, f"All pairs, a dot where a difference is significant, over {topics}")


def _matrix(cells: list[Record], order: tuple[str, ...]) -> Spec:
    """Return the matrix of one measure, its colours as strong as its largest difference."""
    axis = {"grid": False, "labelExpr": label_names(order)}
    base = {
        "x": field("column_number:N", title=None, axis=axis),
        "y": field("row_number:N", title=None, axis=axis),
        "tooltip": [
            field("row:N", title="run"),
            field("column:N", title="against"),
            field("difference:Q", format="+.4f"),
            field("p_text:N", title="adjusted p"),
            field("verdict:N"),
        ],
    }
    known = [abs(cell["difference"]) for cell in cells if not math.isnan(cell["difference"])]
    largest = max(known, default=0.0) or 1.0
    colours = {
        "domain": [-largest, 0, largest],
        "range": [COLOURS[1], "#f7f7f7", COLOURS[0]],
        "type": "linear",
    }
    shade = field("difference:Q", scale=colours, title=["row minus", "column"])
    dots: Spec = {"filled": True, "color": "black", "size": 14, "opacity": 1}
    layers = [
        mark("rect", base | {"color": shade}),
        mark("point", base, where="datum.significant", **dots),
    ]
    cell = {"step": next(size for most, size in _CELLS if len(order) <= most)}
    data = inline_records(numbered(cells, row=order, column=order))
    return {"data": data, "layer": layers, "width": cell, "height": cell}


def topic_chart(
    differences: TopicDifferences,
    run: str | None = None,
    measure: str | None = None,
    baseline: str | None = None,
) -> Any:
    """Return a chart of the difference on every topic of one pair: bars, most for the run first.

    Parameters
    ----------
    differences
        What `Comparison.topic_differences` returns.
    run, measure, baseline
        Which pair by which measure; by default the first that fits.
    """
    pair, m, turned = _find_pair(differences, run, measure, baseline)
    chosen, against = differences.pairs[pair][:: 1 if turned else -1]
    name = differences.scores.measures[m]
    gain = differences.difference[:, pair, m]
    gain = 0.0 - gain if turned else gain
    records = [
        {"measure": name, "run": chosen, "against": against}
        | {"topic": differences.scores.topics[topic], "difference": float(gain[topic])}
        | {"sign": "for the run" if gain[topic] > 0 else "against it"}
        for topic in np.argsort(-np.round(gain, DIFFERENCE_DECIMALS), kind="stable").tolist()
        if not np.isnan(gain[topic])
    ]
    topics = differences.scores.topics
    axis, width = topic_axis(topics, len(records))
    sides = {"domain": ["for the run", "against it"], "range": [COLOURS[0], COLOURS[1]]}
    channels = {
        "x": field("topic_number:N", sort=None, title=differences.scores.unit_name, axis=axis),
        "y": field("difference:Q", title=f"difference in {name}"),
        "color": field("sign:N", scale=sides, title=None),
        "tooltip": [field("topic:N"), field("difference:Q", format="+.4f")],
    }
    bars = mark("bar", channels, data=inline_records(numbered(records, topic=topics)))
    bars |= {"width": width, "height": 240}
    return styled(bars, f"{chosen} minus {against}, topic by topic")


def group_chart(groups: RunGroups) -> Any:
    """Return a chart of means with bars that join runs without a significant difference."""
    panels = [
        {"hconcat": [_group_means(grouped), _group_bars(grouped)], "spacing": 8}
        for grouped in groups.by_measure
    ]
    unjoined = sum(grouped.unjoined for grouped in groups.by_measure)
    title = {
        "text": "Runs joined by a bar do not differ significantly",
        "subtitle": unjoined_sentence(unjoined, "bar") if unjoined else "",
    }
    return styled({"concat": panels, "columns": 1}, title)


def _group_means(grouped: GroupedRuns) -> Spec:
    """Return the means by one measure as dots, one row per run."""
    axis, step = run_rows(grouped.runs)
    dots = [
        {"run": run, "run_number": place, "mean": mean}
        for place, (run, mean) in enumerate(zip(grouped.runs, grouped.means, strict=True))
    ]
    channels = {
        "x": field("mean:Q", title="mean", scale={"zero": False, "padding": 8}),
        "y": field("run_number:N", title=None, axis=axis),
        "tooltip": [field("run:N"), field("mean:Q", format=".4f")],
    }
    look: Spec = {"filled": True, "color": COLOURS[0], "size": 50, "opacity": 1}
    drawn = mark("point", channels, data=inline_records(dots), **look)
    return drawn | {"width": 260, "height": step, "title": [grouped.measure]}


def _group_bars(grouped: GroupedRuns) -> Spec:
    """Return the groups by one measure as bars from the first to the last run, one column per group."""
    letters = [group_letters(number, number) for number in range(1, len(grouped.groups) + 1)]
    lines = [
        {"group": letter, "group_number": number}
        | {"first": grouped.runs[start], "last": grouped.runs[stop]}
        | {"first_number": start, "last_number": stop}
        for number, (letter, (start, stop)) in enumerate(zip(letters, grouped.groups, strict=True))
    ]
    named = {"labelAngle": 0, "labelExpr": label_names(letters)}
    places = {"domain": list(range(len(grouped.runs)))}
    channels = {
        "x": field("group_number:O", title="groups", axis=named),
        "y": field("first_number:N", title=None, axis=None, scale=places),
        "y2": end_field("last_number:N"),
        "tooltip": tooltips("group:O", "first:N", "last:N"),
    }
    look: Spec = {"strokeWidth": 5, "strokeCap": "round", "color": COLOURS[7]}
    bars = mark("rule", channels, data=inline_records(lines), **look)
    return bars | {"width": {"step": _GROUP}, "height": run_rows(grouped.runs)[1]}


def _find_pair(
    differences: TopicDifferences, run: str | None, measure: str | None, baseline: str | None
) -> tuple[int, int, bool]:
    """Return the first pair and measure with the names given, and whether the pair is turned.

    A pair is named as it is shown, the better run first, or else the other way round.
    """
    missing: Booleans = np.all(np.isnan(differences.difference), axis=0)
    pairs, measures = differences.pairs, differences.scores.measures
    wanted = (run, baseline, measure)
    shown = [
        (pair, m, bool(differences.turned[pair, m]))
        for m, position in enumerate(differences.position.T)
        for pair in np.argsort(position, kind="stable").tolist()
        if not missing[pair, m]
    ]
    known = []
    for pair, m, turned in [*shown, *((pair, m, not turned) for pair, m, turned in shown)]:
        names = (*pairs[pair][:: 1 if turned else -1], measures[m])
        if all(one in (None, name) for one, name in zip(wanted, names, strict=True)):
            return pair, m, turned
        known.append(" ".join(names))
    given = " ".join(filter(None, (run, baseline, measure)))
    raise UnknownNameError("pair", given, dict.fromkeys(known[: len(shown)]))


def _records(comparison: Comparison) -> list[Record]:
    """Return the records of the first test, with what the chart shows besides.

    The better run by the first measure is named first in all panels.
    """
    margin = comparison.margin
    records = comparison.select(test=comparison.tests[0]).to_records()
    pairs = {(r["run"], r["against"]) for r in records if r["measure"] == comparison.measures[0]}
    alike = [r if (r["run"], r["against"]) in pairs else turn_record(r) for r in records]
    low, high = (
        name if comparison.family == NO_FAMILY else f"simultaneous_{name}"
        for name in ("low", "high")
    )
    return [
        {
            **record,
            "low": record[low],
            "high": record[high],
            "name": record["run"]
            if comparison.baseline is not None
            else f"{record['run']} - {record['against']}",
            "zero": 0,
            "p_text": p_text(record["p_adjusted"]),
            "open_at": None if record["open"] is None else 0,
            "below": None if margin is None else -margin,
            "above": margin,
        }
        for record in alike
    ]


def _matrix_cells(comparison: Comparison, measure: int, among: Sequence[int]) -> list[Record]:
    """Return each pair of some runs twice: once as row and column, once the other way round."""
    both = np.stack([comparison.first, comparison.second])
    kept = np.flatnonzero(np.isin(both, among).all(axis=0))
    shown = order_pairs(comparison.difference[kept], *both[:, kept], has_baseline=False)
    pairs, cells = comparison.pairs, []
    for place in shown.places[measure].tolist():
        pair = int(kept[place])
        against, run = pairs[pair]
        difference = float(comparison.difference[pair, measure])
        verdict = str(comparison.verdict[0, pair, measure])
        p = float(comparison.p_adjusted[0, pair, measure])
        said = {"p_adjusted": p, "p_text": p_text(p), "significant": verdict in OPPOSITE}
        sides = [
            {"row": run, "column": against, "difference": difference, "verdict": verdict},
            {"row": against, "column": run, "difference": 0.0 - difference}  # no -0.0
            | {"verdict": OPPOSITE.get(verdict, verdict)},
        ]
        turned = shown.turned[place, 0]  # as by the first measure, in all panels
        cells += [
            {"measure": comparison.measures[measure], **said, **side}
            for side in (sides[::-1] if turned else sides)
        ]
    return cells
