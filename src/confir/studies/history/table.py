"""The table of a gate's history: one row per look, measure and candidate, newest last."""

from __future__ import annotations

from confir.errors import counted
from confir.number_text import difference_text
from confir.order import level_text
from confir.report.tables import Cell, Table
from confir.studies.history.history import GateHistory
from confir.studies.history.history_file import FAILS
from confir.studies.history.looks import TOPICS

# Digits of a commit that are enough to find it.
SHORT_COMMIT = 10


def history_table(history: GateHistory) -> Table:
    """Return the decisions with the intervals that they rest on; those that fail in bold."""
    columns = (
        "look",
        "date",
        "commit",
        "measure",
        "run",
        "against",
        "gate",
        "difference",
        "level",
    )
    rows = []
    for record in history.to_records():
        failed = record["decision"] == FAILS
        limits = (record["difference"], record["look_low"], record["look_high"])
        texts = (
            str(record["look"]),
            record["date"][:10],
            (record["commit"] or "")[:SHORT_COMMIT],
            record["measure"],
            record["run"],
            record["against"],
            record["decision"],
            difference_text(*limits),
            level_text(record["look_level"]),
        )
        rows.append(tuple(Cell(text, failed) for text in texts))
    return Table(columns, tuple(rows), _note(history), names=7)


def _note(history: GateHistory) -> str:
    looks = len({look for look, *_ in history.entries})
    failed = len(
        {
            look
            for (look, *_), decision in zip(history.entries, history.decision, strict=True)
            if decision == FAILS
        }
    )
    first = f"{counted(looks, 'look')}, {failed:,} with a candidate that fails; mean difference from the baseline with the interval that decides"
    if TOPICS in history.looks:
        return f"{first}: a confidence sequence, whose limits hold at every look"
    return (
        f"{first}: look j has the error rate 6α/(π²j²), so that the error rate over all looks is at most "
        "α = 1 - level if mean differences are nearly normal; candidates tuned on these data remain uncontrolled"
    )
