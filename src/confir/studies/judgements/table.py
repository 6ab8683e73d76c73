"""Tables and sentences of judges: agreement, leaderboards and verdicts, one row per number."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from confir.arrays import TIE
from confir.data.result import Record
from confir.errors import counted, enumerate_names
from confir.number_text import difference_text, number_text, percent, share_text, signed
from confir.report.tables import Cell, Table
from confir.resampling.sample import FEW_CLUSTERS
from confir.studies.judgements.grade_agreement import GradeAgreement, pair_note
from confir.studies.judgements.judge_effects import GAINS, LOSES
from confir.studies.judgements.judgement_comparison import JudgementComparison
from confir.studies.judgements.label_agreement import LabelAgreement

_AGREEMENT = (
    ("κ, quadratic weights", "weighted_kappa"),
    ("κ, unweighted", "kappa"),
    ("α, ordinal", "krippendorff_alpha"),
)
_OF_SHARES = "; shares have Wilson's intervals, with topics or weights those of the effective number of items"
_CORRELATIONS = (("Kendall's τ_b", "tau"), ("τ_AP", "tau_ap"))

Row = tuple[str, str]


def judgement_table(comparison: JudgementComparison, note: str | None = None) -> Table:
    """Return a table of all that a pair of judges has in common: one row per number."""
    records = comparison.to_records()
    rows: list[tuple[Cell, ...]] = []
    several = len(comparison.pairs) > 1
    for place, pair in enumerate(comparison.pairs):
        own = [one for one in records if (one["reference"], one["judge"]) == pair]
        rows += _rows(", ".join(pair) if several else "", _agreement_rows(own[0]))
        for column, record in enumerate(own):
            found, effects = _board_rows(record), comparison.runs.effect[place, :, column]
            if len(effects) > 1:
                both = f"{np.sum(effects == GAINS)}, {np.sum(effects == LOSES)}"
                what = "systems" if comparison.repeats else "runs"
                found.append((f"{what} that gain, lose", both))
            rows += _rows(record["measure"], found)
    names = ("judges, measure" if several else "measure", "number")
    text = judgement_note(comparison) if note is None else note
    return Table((*names, "estimate"), tuple(rows), text, names=len(names))


def _rows(name: str, found: list[Row]) -> Iterator[tuple[Cell, ...]]:
    """Yield rows of which the first has a name."""
    for place, (number, text) in enumerate(found):
        yield Cell("" if place else name), Cell(number), Cell(text)


def _agreement_rows(record: Record) -> list[Row]:
    return [
        ("documents of both", f"{record['documents']:,}"),
        ("same grade", share_text(record["same_grade"])),
        *((name, number_text(*_limits(record, field))) for name, field in _AGREEMENT),
    ]


def _board_rows(record: Record) -> list[Row]:
    found = [("bias of the means", difference_text(*_limits(record, "bias")))]
    if not record["run_pairs"]:
        return found
    found += [(name, number_text(*_limits(record, field))) for name, field in _CORRELATIONS]
    significant, rest = record["significant"], record["run_pairs"] - record["significant"]
    found += [
        (f"verdicts {name}", f"{record[name]:,} of {significant:,}")
        for name in ("kept", "lost", "reversed")
    ]
    return [*found, ("verdicts gained", f"{record['gained']:,} of {rest:,}")]


def _limits(record: Record, field: str) -> tuple[float, float, float]:
    return record[field], record[f"{field}_low"], record[f"{field}_high"]


def judgement_note(comparison: JudgementComparison) -> str:
    """Return what the numbers of a comparison of judges are."""
    runs = counted(len(comparison.runs.runs), "system" if comparison.repeats else "run")
    if comparison.repeats:
        fewest, most = min(comparison.repeats), max(comparison.repeats)
        number = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        runs += f", each the mean of {number} repeats"
    note = (
        f"{pair_note(comparison.pairs)}; {counted(comparison.topics, 'topic')}, {runs}; "
        f"{percent(comparison.level)} intervals over topics"
    )
    if len(comparison.judges) > 2:
        note += f"; {_joint_note(comparison.agreement, len(comparison.judges))}"
    if comparison.repeats:
        note += "; verdicts and means account for variation between repeats, other intervals are for these repeats"
    return (
        f"{note}\nbias: the judge's mean minus the reference's, over all runs; verdicts: significant "
        "differences between runs by the reference that are kept, lost or reversed with the judge, and "
        "those gained; a run gains if its bias exceeds the mean bias of all runs"
    )


def _joint_note(agreement: GradeAgreement, judges: int) -> str:
    limits = agreement.joint_alpha, agreement.joint_low, agreement.joint_high
    return f"α of all {judges} judges {number_text(*limits)}"


def agreement_table(agreement: GradeAgreement) -> Table:
    """Return a table of the agreement on grades: one row per pair of judges and number."""
    rows: list[tuple[Cell, ...]] = []
    for record in agreement.to_records():
        rows += _rows(f"{record['reference']}, {record['judge']}", _agreement_rows(record))
    judges = len({name for pair in agreement.pairs for name in pair})
    note = f"{counted(agreement.topics, 'topic')}; {percent(agreement.level)} intervals over topics"
    note += f"; {_joint_note(agreement, judges)}" if judges > 2 else ""
    return Table(("judges", "number", "estimate"), tuple(rows), note, names=2)


def label_table(agreement: LabelAgreement) -> Table:
    """Return a table of the agreement on labels: one row per judge and number."""
    every = agreement.to_records()
    size = len(agreement.thresholds)
    rows: list[tuple[Cell, ...]] = []
    for start in range(0, len(every), size):
        own = every[start : start + size]
        rows += _rows(own[0]["judge"], _label_rows(own, agreement.kind))
    return Table(("judge", "number", "estimate"), tuple(rows), _label_note(agreement), names=2)


def _label_rows(records: list[Record], kind: str) -> list[Row]:
    """Return the numbers of one judge; ``records`` are those of its thresholds."""
    first = records[0]
    found = [("items with both labels", f"{first['items']:,}")]
    if first["missing"]:
        share = first["missing"] / (first["items"] + first["missing"])
        found.append(("no label by the judge", f"{first['missing']:,} ({share_text(share)})"))
    names = {name: text for text, name in _AGREEMENT} | {"same_label": "same label"}
    names["krippendorff_alpha"] = "α, ordinal" if kind == "grades" else "α"
    names["correlation"] = "correlation"
    found += [
        (names[name], number_text(*_limits(first, name)))
        for name in ("same_label", "weighted_kappa", "kappa", "correlation", "krippendorff_alpha")
        if not math.isnan(first[name])
    ]
    what = "bias of the share that passes" if kind == "pass/fail" else f"bias of the {kind}"
    found.append((what, difference_text(*_limits(first, "bias"))))
    for record in records:
        if record["threshold"]:
            passing = "" if kind == "pass/fail" else f", pass from {record['threshold']}"
            for name, of in (("sensitivity", "passed"), ("specificity", "failed")):
                numbers = number_text(*_limits(record, name))
                found.append((f"{name}{passing} (n = {record[of]:,})", numbers))
    return found


def _label_note(agreement: LabelAgreement) -> str:
    """Return what the numbers are, and how their intervals were made."""
    over = f"over {counted(agreement.topics, 'topic')}" if agreement.topics else "over items"
    note = f"reference {agreement.pairs[0][0]}; {percent(agreement.level)} intervals {over}"
    if 0 < agreement.topics < FEW_CLUSTERS:
        note += ", which are few: intervals may be too narrow"
    if agreement.unlabelled:
        note += f"; {counted(agreement.unlabelled, 'item')} without a human label left out"
    if agreement.thresholds != ("",):
        note += (
            "\nsensitivity: of the items that pass by the reference, the share that the judge passes; "
            "specificity: of those that fail, the share that it fails"
        )
    shares = "" if agreement.kind == "scores" and agreement.thresholds == ("",) else _OF_SHARES
    return f"{note}\nbias: the judge's mean minus the reference's{shares}"


def judges_sentence(comparison: JudgementComparison, place: int, measure: int) -> str:
    """Return what one pair of judges means for the runs by one measure, in a sentence."""
    reference, judge = comparison.pairs[place]
    runs = comparison.runs
    bias, low, high, found, *counts = (
        getattr(comparison, name)[place, measure].item()
        for name in ("bias", "bias_low", "bias_high", "significant", "kept", "lost", "reversed")
    )
    by = f"the same by {judge} as by {reference}"
    if abs(bias) >= TIE:
        side = "lower" if bias < 0 else "higher"
        by = f"{abs(bias):.4f} {side} by {judge} than by {reference}"
    text = f"{comparison.measures[measure]} is {by}, on average over the runs"
    if not math.isnan(low):  # there is none where all topics show the same difference
        text += f" ({percent(comparison.level)} interval of the difference [{signed(low)}, {signed(high)}])"
    if found:
        text += (
            f"; of {counted(found, 'significant difference')} between runs, {judge} keeps "
            f"{counts[0]}, loses {counts[1]} and reverses {counts[2]}"
        )
    words = zip(runs.runs, runs.effect[place, :, measure], strict=True)
    gaining = [run for run, word in words if word == GAINS]
    if gaining:
        gain = "gains" if len(gaining) == 1 else "gain"
        text += f"; {enumerate_names(gaining, 3)} {gain} from it"
    return f"{text}."
