"""The table of reproductions, and what it says in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from confir.data.result import Record
from confir.errors import counted
from confir.number_text import (
    NumberText,
    difference_text,
    interval_text,
    number_text,
    percent,
    share_text,
    topics_text,
)
from confir.order import signed
from confir.report.tables import Cell, Table, with_design_note
from confir.studies.reproduction.reproduction import Reproduction

_OPEN = {None: 0, "low": 1, "high": -1}


def reproduction_table(reproduction: Reproduction, seed: int | None = None) -> Table:
    """Return one row per run and measure: verdict, differences of scores, agreement of lists.

    What the lists show stands in the first row of each run.
    """
    scored, effects = bool(reproduction.measures), reproduction.effects is not None
    rows = tuple(
        _row(record, reproduction, scored=scored, effects=effects)
        for record in reproduction.to_records()
    )
    names = ("run", "measure", "verdict") if scored else ("run", "verdict")
    columns = [
        *(["difference", "RMSE", "largest"] if scored else []),
        *(["ER", "ΔRI"] if effects else []),
        *("identical", f"overlap@{reproduction.lists.depth}", _rbo_name(reproduction)),
    ]
    note = "; ".join(_notes(reproduction, seed))
    table = Table((*names, *columns), rows, note, names=len(names))
    scores = reproduction.scores
    return table if scores is None else with_design_note(table, scores.design_words)


def _row(
    record: Record, reproduction: Reproduction, *, scored: bool, effects: bool
) -> tuple[Cell, ...]:
    texts = [record["run"], *([record["measure"]] if scored else []), record["verdict"]]
    if scored:
        texts += [
            difference_text(
                record["difference"], record["low"], record["high"], _OPEN[record["open"]]
            ),
            number_text(record["rmse"]),
            _largest(record),
        ]
    if effects:
        limits = (record["effect_ratio_low"], record["effect_ratio_high"])
        texts += [
            interval_text(record["effect_ratio"], *limits),
            NumberText.of(record["delta_ri"], is_signed=True),
        ]
    if not scored or record["measure"] == reproduction.measures[0]:
        texts += [
            share_text(record["identical"]),
            *map(number_text, (record["overlap"], record["rbo"])),
        ]
    else:
        texts += ["", "", ""]
    return tuple(map(Cell, texts))


def _largest(record: Record) -> str:
    """Return the largest difference with its topic; a dash where all are 0 or missing."""
    value = record["largest"]
    return (
        "–" if math.isnan(value) or value == 0 else f"{signed(value)} ({record['largest_topic']})"
    )


def _rbo_name(reproduction: Reproduction) -> str:
    return "RBO" if reproduction.lists.ties is None else f"RBO^{reproduction.lists.ties}"


def _notes(reproduction: Reproduction, seed: int | None) -> Iterator[str]:
    """Yield what the numbers are."""
    lists = reproduction.lists
    if reproduction.differences is not None:
        several = len(reproduction.runs) > 1
        simultaneous = "simultaneous " if several else ""
        yield (
            f"mean difference from {reproduction.original} with {simultaneous}"
            f"{percent(reproduction.level)} confidence interval (CI), over "
            f"{topics_text(reproduction.differences.topics)}; largest difference and its topic"
        )
        if reproduction.margin is not None:
            yield f"equivalent: within ±{reproduction.margin:g} by two one-sided t tests"
        if several and seed is not None:
            yield f"seed {seed}"
    if reproduction.effects is not None:
        yield "ER: reproduced over original improvement, with Fieller's interval; ΔRI: original less reproduced relative improvement"
    ties = {
        None: "ties broken as trec_eval does",
        "a": "averaged over the orders of ties",
        "b": "corrected for ties",
    }[lists.ties]
    compared = (
        f"compared with {reproduction.original}" if reproduction.differences is None else "lists"
    )
    yield (
        f"{compared}: share of identical ones among {counted(len(lists.topics), 'topic')}, overlap of "
        f"the first {lists.depth}, extrapolated RBO (p = {lists.persistence:g}, {ties})"
    )
