"""The looks of a gate: their levels, how each is judged by its history, and what is kept of it.

New candidates on the same topics: look j of a history is decided at the error 6α/(π²j²). These sum
to α over all looks ever, so that the chance of ever deciding wrongly stays under α as far as t
intervals hold at the level of each look.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from confir.arguments import as_level
from confir.arrays import TIE
from confir.data.files import PathLike
from confir.data.result import Record
from confir.errors import InvalidValueError
from confir.number_text import level_text
from confir.pairs.comparison import Comparison
from confir.pairs.gate import Gate, GateRule, judge_gate
from confir.studies.gate.arriving_topics import Arrived, judge_arriving
from confir.studies.history.history_file import FAILS, MOST_LOOKS, PASSES, OpenHistory

# What is new at each look: candidates on the same topics, or topics for the same candidates.
CANDIDATES, TOPICS = LOOKS = ("candidates", "topics")


class Look(NamedTuple):
    """When and on what a gate looks: commit and date (ISO 8601), and what is new at each look."""

    commit: str | None
    date: str
    looks: str


def level_of_look(look: int, level: float) -> float:
    """Return the level of the intervals at look j: ``1 - 6α/(π²j²)``.

    Parameters
    ----------
    look
        Number of the look, from 1.
    level
        The level that all looks keep together: 1 - α.
    """
    if look < 1:
        raise InvalidValueError(f"look is {look}; expected 1 or more")
    return 1.0 - (1.0 - as_level(level)) * 6.0 / (math.pi * look) ** 2


def about_look(look: int, level: float, require: str) -> str:
    """Return what a decision on new candidates means, as one of all looks."""
    wrongly = "failing" if require == "not-worse" else "passing"
    return (
        f"look {look:,}: its intervals have level {level_text(level_of_look(look, level))}, so that "
        f"the chance of ever {wrongly} a candidate wrongly stays under {100 * (1 - level):.3g}% if mean "
        "differences are nearly normal; candidates tuned on these data remain uncontrolled"
    )


def passing_loss(record: Record) -> float:
    """Return the largest loss that passes where the interval is as wide as that of a look.

    Negative where a candidate must gain; NaN where the look has no interval.
    """
    low, high = (
        math.nan if record[end] is None else record[end] for end in ("look_low", "look_high")
    )
    half_width = (high - low) / 2.0
    if record["require"] == "superior":
        return -half_width
    sign = 1.0 if record["require"] == "not-worse" else -1.0
    return float(record["margin"]) + sign * half_width


def next_number(records: Sequence[Record], looks: str) -> int:
    """Return the number of the look that follows; raise where the history is of another kind."""
    for record in records:
        if record["looks"] != looks:
            raise InvalidValueError(
                f"the history is of --looks {record['looks']}; expected that, or a new file for "
                f"--looks {looks}"
            )
    number = 1 + max((int(record["look"]) for record in records), default=0)
    if number > MOST_LOOKS:
        raise InvalidValueError(
            f"the history has {MOST_LOOKS:,} looks; expected fewer, or a new file"
        )
    return number


def arrived_topics(records: Sequence[Record], measure: str, baseline: str) -> dict[str, Arrived]:
    """Return the differences of earlier looks by run: topics in order of arrival."""
    found: dict[str, dict[str, float]] = {}
    for record in records:
        if (record["measure"], record["against"]) == (measure, baseline):
            found.setdefault(record["run"], {}).update(record.get("arrived", {}))
    return dict(found)


def look_records(
    gates: Sequence[Gate],
    arrived: Mapping[str, Sequence[Arrived]],
    comparison: Comparison,
    number: int,
    look: Look,
) -> list[Record]:
    """Return a record per measure and candidate.

    Parameters
    ----------
    gates
        What was decided.
    arrived
        The new topics of each candidate by measure, where topics arrive.
    comparison
        The comparison at the level of all looks, for its intervals.
    number, look
        Number and circumstances of the look.
    """
    found = []
    means = comparison.scores.mean()
    for gate in gates:
        m = comparison.measures.index(gate.measure)
        for pair, candidate in enumerate(gate.candidates):
            decision = candidate.decision
            record: Record = {
                "look": number,
                "date": look.date,
                "commit": look.commit,
                "measure": gate.measure,
                "run": candidate.run,
                "against": gate.baseline,
                "decision": PASSES if candidate.passes else FAILS,
                "require": gate.require,
                "margin": gate.margin,
                "topics": decision.topics,
                "difference": decision.difference,
                "low": float(comparison.limits.low[pair, m]),
                "high": float(comparison.limits.high[pair, m]),
                "level": comparison.level,
                "looks": look.looks,
                "look_low": decision.low,
                "look_high": decision.high,
                "look_level": decision.level,
                "mean": float(means[comparison.second[pair], m]),
                "against_mean": float(means[comparison.first[pair], m]),
            }
            if gate.measure in arrived:
                record["arrived"] = dict(arrived[gate.measure][pair])
            found.append(record)
    return found


def same_look(records: Sequence[Record], repeated: Sequence[Record]) -> bool:
    """Whether records repeat the newest look: the same commit, differences and requirements.

    A build that runs again sees nothing new, and costs no look.
    """
    newest = [one for one in records if one["look"] == records[-1]["look"]] if records else []
    keys = ("commit", "measure", "against", "run", "require", "margin", "topics", "level")
    return (
        len(newest) == len(repeated) > 0
        and repeated[0]["commit"] is not None
        and all(
            all(one[key] == other[key] for key in keys)
            and abs(one["difference"] - other["difference"]) <= TIE
            for one, other in zip(newest, repeated, strict=True)
        )
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
        arrived: dict[str, Sequence[Arrived]] = {
            measure: new for measure, (_, new) in found.items()
        }
        return [gate for gate, _ in found.values()], arrived
    stricter = comparison.at(level_of_look(number, comparison.level))
    about = about_look(number, comparison.level, rule.require)
    gates = [judge_gate(stricter, measure, **rule._asdict()) for measure in measures]
    return [replace(gate, about=about) for gate in gates], {}
