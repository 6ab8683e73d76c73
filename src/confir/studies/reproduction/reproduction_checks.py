"""The gate of `confir reproduce`: every run must be reproduced."""

from __future__ import annotations

import math
from typing import NamedTuple

from confir.data.result import Record
from confir.order import bracketed, signed
from confir.studies.reproduction.reproduction import Reproduction


class ReproductionCheck(NamedTuple):
    """Whether a run passes as a reproduction by a measure ("lists" without qrels), and why."""

    run: str
    measure: str
    said: str
    passes: bool


def check_reproductions(reproduction: Reproduction) -> list[ReproductionCheck]:
    """Return whether each run passes, by each measure: see `Reproduction.reproduced`."""
    simultaneous = "simultaneous " if len(reproduction.runs) > 1 else ""
    return [
        ReproductionCheck(
            record["run"], record.get("measure", "lists"), _describe(record, simultaneous), passes
        )
        for record, passes in zip(
            reproduction.to_records(), reproduction.reproduced.reshape(-1).tolist(), strict=True
        )
    ]


def _describe(record: Record, simultaneous: str) -> str:
    """Return the verdict on a reproduction, and what it rests on."""
    lists = f"{100 * record['identical']:.4g}% of {record['lists']} lists identical, RBO {record['rbo']:.4f}"
    if "measure" not in record:
        return f"{record['verdict']}: {lists}"
    limits = ""
    if not math.isnan(record["low"]):
        shown = bracketed(signed(record["low"]), signed(record["high"]))
        limits = f", {simultaneous}{100 * record['level']:g}% interval {shown}"
    reason = f" ({record['reason']})" if record["reason"] else ""
    return (
        f"{record['verdict']}{reason}: difference {signed(record['difference'])}{limits}, RMSE "
        f"{record['rmse']:.4f}; {lists}"
    )
