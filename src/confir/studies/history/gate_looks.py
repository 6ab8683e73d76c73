"""A gate that looks again and again: each look is judged by its history, and kept in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from confir.data.files import PathLike
from confir.data.result import Record
from confir.studies.comparison.arriving_topics import Arrived, judge_arriving
from confir.studies.comparison.comparison import Comparison
from confir.studies.comparison.gate import Gate, GateRule, judge_gate
from confir.studies.history.history_file import OpenHistory
from confir.studies.history.looks import (
    TOPICS,
    Look,
    about_look,
    arrived_topics,
    level_of_look,
    look_records,
    next_number,
    same_look,
)


def begin_look(
    path: PathLike,
    comparison: Comparison,
    measures: Sequence[str],
    rule: GateRule,
    look: Look,
    *,
    seed: int,
) -> tuple[list[Gate], OpenHistory]:
    """Return the gates of a further look, and the history that waits for it.

    Parameters
    ----------
    path
        The history; it is made where it is not there.
    comparison
        The comparison at the level that all looks keep together.
    measures, rule
        The measures that decide, and what candidates must fulfil.
    look
        When it is, and what is new at each look.
    seed
        Of the order in which new topics enter.
    """
    judged: list[Gate] = []

    def next_look(records: list[Record]) -> list[Record]:
        number = next_number(records, look.looks)
        found, arrived = _judge(records, comparison, measures, rule, look, number, seed)
        lines = look_records(found, arrived, comparison, number, look)
        if same_look(records, lines):
            found, _ = _judge(records, comparison, measures, rule, look, number - 1, seed)
            lines = []
        judged[:] = found
        return lines

    waiting = OpenHistory(path, next_look)
    return judged, waiting


def _judge(
    records: Sequence[Record],
    comparison: Comparison,
    measures: Sequence[str],
    rule: GateRule,
    look: Look,
    number: int,
    seed: int,
) -> tuple[list[Gate], dict[str, Sequence[Arrived]]]:
    """Return the gates of a look, and where topics arrive, the new ones by measure."""
    if look.looks == TOPICS:
        baseline = comparison.baseline or ""
        found = {
            measure: judge_arriving(
                comparison,
                measure,
                arrived_topics(records, measure, baseline),
                **rule._asdict(),
                rng=np.random.default_rng([seed, number]),
            )
            for measure in measures
        }
        return [one.gate for one in found.values()], {
            measure: one.arrived for measure, one in found.items()
        }
    stricter = comparison.at(level_of_look(number, comparison.level))
    about = about_look(number, comparison.level, rule.require)
    gates = [judge_gate(stricter, measure, **rule._asdict()) for measure in measures]
    return [replace(gate, about=about) for gate in gates], {}
