"""Tables of means over repeats."""

from __future__ import annotations

from confir.number_text import difference_text, interval_text, number_text, percent
from confir.order import best_first
from confir.report.tables import Cell, Table
from confir.studies.repeats.repeat_means import RepeatMeans


def repeats_table(means: RepeatMeans) -> Table:
    """Return one row per measure and system: mean, and standard errors from topics and repeats."""
    rows = []
    for m, measure in enumerate(means.measures):
        for s in best_first(means.mean[:, m]):
            mean, low, high = (float(a[s, m]) for a in (means.mean, means.low, means.high))
            text = interval_text(mean, low, high)
            if means.baseline is not None:
                text = difference_text(mean, low, high)
            parts = (means.se, means.se_topics, means.se_repeats)
            more = (means.se_twice_topics, means.se_twice_repeats)
            cells = [
                measure,
                means.systems[s],
                str(means.repeats[s, m]),
                text,
                *(number_text(float(a[s, m])) for a in (*parts, *more)),
            ]
            rows.append(tuple(map(Cell, cells)))
    what = "mean" if means.baseline is None else f"difference from {means.baseline}"
    columns = (
        "measure",
        "system",
        "repeats",
        what,
        "se",
        "se topics",
        "se repeats",
        "2×topics",
        "2×repeats",
    )
    note = (
        f"{what} over repeats and {means.topics.max():,} topics, with {percent(means.level)} interval by "
        f"{' and '.join(dict.fromkeys(means.methods))}; "
        "se: standard error from both, and what topics and repeats contribute; 2×: the standard error "
        "with twice the topics, or twice the repeats\n"
    )
    note += "\n".join(
        means.sentence(s, m) for m in range(len(means.measures)) for s in range(len(means.systems))
    )
    return Table(columns, tuple(rows), note, names=2)
