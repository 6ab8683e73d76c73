"""Tables of comparisons: differences, verdicts, effects, topics, groups and gates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from confir.arrays import Floats
from confir.errors import InvalidValueError
from confir.number_text import (
    difference_text,
    p_text,
    score_words,
)
from confir.order import level_text, signed
from confir.report.tables import Cell, Mark, Table
from confir.studies.comparison.comparison import Comparison, Place
from confir.studies.comparison.decisions import Decision
from confir.studies.comparison.gate import Gate
from confir.studies.comparison.group_letters import group_letters
from confir.studies.comparison.run_groups import RunGroups
from confir.studies.comparison.topic_differences import TopicDifference, TopicDifferences
from confir.studies.comparison.verdicts import BETTER, OPPOSITE, WORSE
from confir.studies.comparison.wording import (
    comparison_note,
    is_adjusted,
    is_equivalence_adjusted,
    mark_note,
    means_text,
    unjoined_sentence,
)

_MARKS: dict[str, Mark] = {BETTER: "▲", WORSE: "▼"}


def comparison_table(comparison: Comparison, seed: int | None = None) -> Table:
    """Return a table of differences: one row per measure and run, or a pair of runs."""
    names = ["measure", "run"]
    if comparison.baseline is None:
        names.append("against")
    if len(comparison.tests) > 1:
        names.append("test")
    names.append("verdict")
    numbers = ["difference", "p"]
    if is_adjusted(comparison):
        numbers.append("adj. p")
    if comparison.p_equivalence is not None:
        numbers.append("p equiv.")
    if is_equivalence_adjusted(comparison):
        numbers.append("adj. p equiv.")
    numbers += ["d_z", "w/t/l"]
    effect, turned = comparison.effect_size, comparison.order.turned
    rows = tuple(
        _row(comparison, place, effect, turned=bool(turned[place.pair, place.measure]))
        for place in comparison.places()
    )
    counts = "w/t/l: topics won, tied, lost"
    note = f"{comparison_note(comparison, seed)}; {counts}"
    return Table((*names, *numbers), rows, note, len(names), "significant difference")


def marked_table(table: Table, comparison: Comparison) -> Table:
    """Return a table of means with a mark on every run significantly better or worse.

    Parameters
    ----------
    table
        one row per run, one column per measure, as `interval_table` and `mean_table` make it.
    comparison
        Of the same runs and measures with a baseline; its first test counts.
    """
    verdicts = verdicts_by_run(comparison)
    rows = tuple(
        tuple(
            cell._replace(mark=_MARKS.get(verdicts.get((row[0].text, column), ""), ""))
            for column, cell in zip(table.columns, row, strict=True)
        )
        for row in table.rows
    )
    note = "; ".join(part for part in (table.note, mark_note(comparison)) if part)
    return replace(table, rows=rows, note=note)


def verdicts_by_run(comparison: Comparison) -> dict[tuple[str, str], str]:
    """Return the verdict on each run and measure, against the baseline by the first test."""
    if comparison.baseline is None:
        raise InvalidValueError("verdicts on single runs need a baseline: compare with one")
    return {
        (comparison.names(pair)[1], measure): str(comparison.verdict[0, pair, m])
        for pair in range(len(comparison.first))
        for m, measure in enumerate(comparison.measures)
    }


def effect_table(comparison: Comparison) -> Table:
    """Return a table of effect sizes: one row per measure and pair."""
    rows = tuple(
        (
            Cell(record["measure"]),
            Cell(record["run"]),
            Cell(record["against"]),
            Cell(f"{record['topics']:,}"),
            *(
                Cell(_effect_text(record[name]))
                for name in ("effect_size", "hedges_g", "share_won", "robustness_index")
            ),
        )
        for record in comparison.effect_records()
    )
    columns = ("measure", "run", "against", "topics", "d_z", "Hedges' g", "share won", "RI")
    note = (
        "d_z: mean over standard deviation of the differences; Hedges' g: d_z without its bias for "
        "few topics; share won: of the topics, ties half; RI: topics won less topics lost, as a "
        "share of all"
    )
    return Table(columns, rows, note, names=3)


def topic_difference_table(differences: TopicDifferences) -> Table:
    """Return a table of differences on every topic, largest in favour of the run first."""
    rows = tuple(
        (
            Cell(record["measure"]),
            Cell(record["run"]),
            Cell(record["against"]),
            Cell(record["topic"]),
            Cell(signed(record["difference"])),
        )
        for record in differences.to_records()
    )
    columns = ("measure", "run", "against", "topic", "difference")
    return Table(columns, rows, "largest difference in favour of the run first", 4)


def extreme_table(comparison: Comparison, limit: int = 3) -> Table:
    """Return a table of the topics with the largest differences for and against each run."""
    differences, order = comparison.topic_differences(), comparison.order
    rows = []
    for m, measure in enumerate(comparison.measures):
        for pair in order.places[m].tolist():
            won, lost = differences.extremes(pair, m, limit)
            baseline, run = comparison.names(pair)
            if order.turned[pair, m]:
                won, lost = (
                    [one._replace(difference=-one.difference) for one in side]
                    for side in (lost, won)
                )
                baseline, run = run, baseline
            name = run if comparison.baseline is not None else f"{run} against {baseline}"
            rows.append((Cell(measure), Cell(name), _topics_cell(won), _topics_cell(lost)))
    columns = ("measure", "run", "topics most for it", "most against it")
    return Table(columns, tuple(rows), "topics with the largest differences", names=4)


def group_table(
    groups: RunGroups, note: str = "", margin: float | None = None, what: str = "run"
) -> Table:
    """Return a table of means and groups: one row per run, best first, one column per measure.

    With a margin of equivalence, runs that are equivalent within it may share a group although they
    differ significantly. ``what`` is what runs are called.
    """
    cells: dict[tuple[str, str], Cell] = {}
    for record in groups.to_records():
        first, last = record["first_group"], record["last_group"]
        text = f"{score_words(record['mean'])} ({group_letters(first, last)})"
        cells[record["run"], record["measure"]] = Cell(text, first == 1)
    measures = [grouped.measure for grouped in groups.by_measure]
    rows = tuple(
        (Cell(run), *(cells[run, measure] for measure in measures))
        for run in groups.by_measure[0].runs
    )
    unjoined = sum(grouped.unjoined for grouped in groups.by_measure)
    parts = [
        f"mean, and in parentheses groups: {what}s with a letter in common do not differ significantly"
    ]
    if margin is not None:
        parts[0] += f", or are equivalent within ±{margin:g}"
    if unjoined:
        parts.append(unjoined_sentence(unjoined, "group"))
    return Table((what, *measures), rows, "; ".join([*parts, note] if note else parts))


def gate_table(gate: Gate, comparison: Comparison) -> Table:
    """Return a table of the candidates at a gate, those that fail in bold: means, then differences."""
    rows = tuple(
        tuple(
            Cell(text, not candidate.passes)
            for text in (
                candidate.run,
                "passes" if candidate.passes else "fails",
                means_text(comparison, pair, gate.measure),
                _difference_text(candidate.decision),
            )
        )
        for pair, candidate in enumerate(gate.candidates)
    )
    note = f"{gate.sentence()}\n{gate.about}" if gate.about else gate.sentence()
    level = level_text(gate.candidates[0].decision.level)
    means = f"{gate.measure}: {gate.baseline} → candidate"
    return Table(("candidate", "gate", means, f"difference, {level} interval"), rows, note, 2)


def _row(
    comparison: Comparison, place: Place, effects: Floats, *, turned: bool
) -> tuple[Cell, ...]:
    cell = place.pair, place.measure
    decision = comparison.decision(place, turned=turned)
    significant = decision.verdict in OPPOSITE
    names = [comparison.measures[place.measure], decision.run]
    if comparison.baseline is None:
        names.append(decision.baseline)
    if len(comparison.tests) > 1:
        names.append(comparison.tests[place.test])
    numbers = [p_text(decision.p)]
    if is_adjusted(comparison):
        numbers.append(p_text(decision.p_adjusted))
    if comparison.p_equivalence is not None:
        numbers.append(p_text(float(comparison.p_equivalence[cell])))
    if comparison.p_equivalence_adjusted is not None and is_equivalence_adjusted(comparison):
        numbers.append(p_text(float(comparison.p_equivalence_adjusted[cell])))
    counts = (comparison.wins[cell], comparison.ties[cell], comparison.losses[cell])
    counts = counts[::-1] if turned else counts
    effect = float(effects[cell])
    numbers += [
        _effect_text(-effect if turned else effect),
        "/".join(f"{count:,}" for count in counts),
    ]
    return (
        *map(Cell, names),
        Cell(decision.verdict + ", borderline" * decision.borderline, significant),
        Cell(_difference_text(decision), significant),
        *map(Cell, numbers),
    )


def _difference_text(decision: Decision) -> str:
    return difference_text(decision.difference, decision.low, decision.high, decision.open)


def _effect_text(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def _topics_cell(entries: Sequence[TopicDifference]) -> Cell:
    return Cell(", ".join(f"{topic} {signed(difference)}" for topic, difference in entries) or "–")
