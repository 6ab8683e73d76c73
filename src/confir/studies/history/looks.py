"""The looks of a gate: their levels, how each is judged by its history, and what is kept of it.

New candidates on the same topics: look j of a history is decided at the error 6α/(π²j²). These sum
to α over all looks ever, so that the chance of ever deciding wrongly stays under α as far as t
intervals hold at the level of each look.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

from confir.arguments import as_level
from confir.arrays import TIE
from confir.data.files import PathLike
from confir.data.result import Record
from confir.errors import InvalidValueError, enumerate_names
from confir.number_text import level_text
from confir.pairs.comparison import Comparison
from confir.pairs.gate import Gate, GateRule, judge_gate
from confir.studies.gate.arriving_topics import Arrived, judge_arriving
from confir.studies.gate.false_alarms import FalseAlarms
from confir.studies.history.history_file import DIGESTS, FAILS, MOST_LOOKS, PASSES, OpenHistory

# What is new at each look: candidates on the same topics, or topics for the same candidates.
CANDIDATES, TOPICS = LOOKS = ("candidates", "topics")


class Look(NamedTuple):
    """When and on what a gate looks.

    Attributes
    ----------
    commit, date, looks
        Commit and date (ISO 8601), and what is new at each look.
    qrels_digest
        Digest of the qrels; None where there is no such file.
    new_baseline
        Whether it begins a new sequence of looks.
    """

    commit: str | None
    date: str
    looks: str
    qrels_digest: str | None = None
    new_baseline: bool = False


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


def about_look(look: int, level: float, require: str, first: int = 1) -> str:
    """Return what a decision on new candidates means, as one of all looks since the first."""
    wrongly = "failing" if require == "not-worse" else "passing"
    own_level = level_text(level_of_look(look - first + 1, level))
    place = (
        ""
        if first == 1
        else f" ({look - first + 1:,} of the sequence that began at look {first:,})"
    )
    return (
        f"look {look:,}{place}: its intervals have level {own_level}, so that the chance of ever {wrongly} "
        f"a candidate wrongly stays under {100 * (1 - level):.3g}% if mean differences are nearly normal; "
        "candidates tuned on these data remain uncontrolled"
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


def newest_sequence(records: Sequence[Record]) -> list[Record]:
    """Return the lines of the newest sequence of looks, whose error rate is controlled together."""
    if not records:
        return []
    first = records[-1].get("first_look", 1)
    return [record for record in records if record.get("first_look", 1) == first]


def next_number(records: Sequence[Record], look: Look) -> int:
    """Return the number of the look that follows; raise where the history is of another kind."""
    for record in () if look.new_baseline else newest_sequence(records):
        if record["looks"] != look.looks:
            raise InvalidValueError(
                f"the history is of --looks {record['looks']}; expected that, --new-baseline, or a new "
                f"file for --looks {look.looks}"
            )
    number = 1 + max((int(record["look"]) for record in records), default=0)
    if number > MOST_LOOKS:
        raise InvalidValueError(
            f"the history has {MOST_LOOKS:,} looks; expected fewer, or a new file"
        )
    return number


def describe_changes(earlier: Sequence[Record], later: Sequence[Record]) -> str:
    """Return in words what two looks saw differently, besides runs; empty where nothing is known to differ.

    Where topics arrive, qrels and topics change at every look.
    """
    one, other = earlier[0], later[0]
    arriving = other["looks"] == TOPICS
    names = [
        ", ".join(dict.fromkeys(line["measure"] for line in lines)) for lines in (earlier, later)
    ]
    shown = {
        "against": (one["against"], other["against"]),
        "topics_digest": (one["topics"], other["topics"]),
        "measures_digest": names,
        "confir_version": (one.get("confir_version"), other.get("confir_version")),
    }
    words = {
        "against": "the baseline",
        "qrels_digest": "the qrels",
        "topics_digest": "the topics",
        "measures_digest": "the measures",
        "confir_version": "confir",
    }
    changed = []
    for field, word in words.items():
        before, after = one.get(field), other.get(field)
        if None in (before, after) or before == after:
            continue
        if arriving and field in ("qrels_digest", "topics_digest"):
            continue
        was, now = shown.get(field, ("", ""))
        changed.append(word if was == now else f"{word} ({was} before, now {now})")
    return enumerate_names(changed, len(words))


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
    first: int = 1,
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
    number, look, first
        Number and circumstances of the look, and the number of the look that began its sequence.
    """
    digests = (
        look.qrels_digest,
        _digest(map(str, comparison.scores.topics)) if comparison.scores.in_memory else None,
        _digest(gate.measure for gate in gates),
        version("confir"),
    )
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
                "first_look": first,
                **dict(zip(DIGESTS, digests, strict=True)),
            }
            if gate.measure in arrived:
                record["arrived"] = dict(arrived[gate.measure][pair])
            found.append(record)
    return found


def _digest(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def _newest_look(records: Sequence[Record]) -> list[Record]:
    return [one for one in records if one["look"] == records[-1]["look"]] if records else []


def same_look(records: Sequence[Record], repeated: Sequence[Record]) -> bool:
    """Whether records repeat the newest look: the same commit, differences and requirements.

    A build that runs again sees nothing new, and costs no look.
    """
    newest = _newest_look(records)
    keys = ("commit", "measure", "against", "run", "require", "margin", "topics", "level")
    return (
        len(newest) == len(repeated) > 0
        and repeated[0]["commit"] is not None
        and not describe_changes(newest, repeated)
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
    alarms: Callable[[float], FalseAlarms] | None = None,
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
    alarms
        How often the gate is wrong at a level, if that is to be kept.
    """
    judged: list[Gate] = []

    def next_look(records: list[Record]) -> list[Record]:
        number = next_number(records, look)
        newest = newest_sequence(records)
        began = int(newest[0].get("first_look", 1)) if newest else number
        known, first = ([], number) if look.new_baseline else (newest, began)
        found, arrived = _judge(known, comparison, measures, rule, look, (number, first), seed)
        lines = look_records(found, arrived, comparison, number, look, first)
        changed = describe_changes(_newest_look(known), lines) if known else ""
        if alarms is not None:
            found_alarms = alarms(level_of_look(number - first + 1, comparison.level))
            lines = [line | {"false_alarms": found_alarms.kept()} for line in lines]
        if same_look(newest, lines) and (not look.new_baseline or began == number - 1):
            found, _ = _judge(newest, comparison, measures, rule, look, (number - 1, began), seed)
            lines, changed = [], ""
        caution = (
            f"since look {number - 1:,}, other things than the candidates have changed: {changed}; the "
            "difference may have moved for that reason, and --new-baseline begins a new sequence of looks"
        )
        judged[:] = (
            [replace(one, cautions=(caution, *one.cautions)) for one in found] if changed else found
        )
        return lines

    waiting = OpenHistory(path, next_look)
    return judged, waiting


def _judge(
    records: Sequence[Record],
    comparison: Comparison,
    measures: Sequence[str],
    rule: GateRule,
    look: Look,
    numbers: tuple[int, int],
    seed: int,
) -> tuple[list[Gate], dict[str, Sequence[Arrived]]]:
    """Return the gates of a look, and where topics arrive, the new ones by measure.

    ``numbers`` are those of the look and of the one that began its sequence.
    """
    number, first = numbers
    if look.looks == TOPICS:
        baseline = comparison.baseline or ""
        found = {
            measure: judge_arriving(
                comparison,
                measure,
                arrived_topics(records, measure, baseline),
                **rule._asdict(),
                rng=np.random.default_rng([seed, number - first + 1]),
            )
            for measure in measures
        }
        arrived: dict[str, Sequence[Arrived]] = {
            measure: new for measure, (_, new) in found.items()
        }
        return [gate for gate, _ in found.values()], arrived
    stricter = comparison.at(level_of_look(number - first + 1, comparison.level))
    about = about_look(number, comparison.level, rule.require, first)
    gates = [judge_gate(stricter, measure, **rule._asdict()) for measure in measures]
    return [replace(gate, about=about) for gate in gates], {}
