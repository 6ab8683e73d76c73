"""Tables of comparisons, and the answers that join them with sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from confir.data.table_columns import Role, TableColumn
from confir.errors import InvalidValueError
from confir.number_text import score_words, signed
from confir.pairs.best_runs import BestRuns, TeamBoard
from confir.pairs.comparison import Comparison, Place
from confir.pairs.decisions import BETTER, WORSE
from confir.pairs.gate import Gate
from confir.pairs.next_step import next_step_sentence, next_steps
from confir.pairs.ranking import Ranking
from confir.pairs.run_groups import RunGroups, group_letters
from confir.pairs.verdict_words import (
    baseline_sentence,
    comparison_note,
    decision_sentence,
    how_compared,
    mark_note,
    means_sentence,
    pairs_sentence,
    sampling_notes,
    team_pairs_sentence,
    unjoined_sentence,
)
from confir.report.messages import isolated
from confir.report.result_table import records_table, result_table
from confir.report.tables import AnswerPart, Cell, Mark, Table
from confir.studies.best.table import (
    best_sentence,
    board_note,
    excluded_sentence,
    team_sentence,
)
from confir.studies.gate.table import gate_table

_MARKS: dict[str, Mark] = {BETTER: "▲", WORSE: "▼"}


def comparison_table(comparison: Comparison, seed: int | None = None) -> Table:
    """Return a table of differences: one row per measure and run, or a pair of runs."""
    note = f"{comparison_note(comparison, seed)}; w/t/l: topics won, tied, lost"
    return result_table(comparison, note)


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
        (run, measure): str(verdict)
        for (_, run), verdicts in zip(comparison.pairs, comparison.verdict[0], strict=True)
        for measure, verdict in zip(comparison.measures, verdicts, strict=True)
    }


_EFFECTS = {
    **dict.fromkeys(("measure", "run", "against"), TableColumn(Role.NAME)),
    "topics": TableColumn(Role.COUNT),
    "effect_size": TableColumn(Role.NUMBER, "d_z", format=".2f"),
    "hedges_g": TableColumn(Role.NUMBER, "Hedges' g", format=".2f"),
    "share_won": TableColumn(Role.NUMBER, format=".2f"),
    "robustness_index": TableColumn(Role.NUMBER, "RI", format=".2f"),
}


def effect_table(comparison: Comparison) -> Table:
    """Return a table of effect sizes: one row per measure and pair."""
    note = (
        "d_z: mean over standard deviation of the differences; Hedges' g: d_z without its bias for "
        "few topics; share won: of the topics, ties half; RI: topics won less topics lost, as a "
        "share of all"
    )
    return records_table(comparison.effect_records(), _EFFECTS, note)


def extreme_table(comparison: Comparison, limit: int = 3) -> Table:
    """Return a table of the topics with the largest differences for and against each run."""
    differences, order = comparison.topic_differences(), comparison.order
    rows = []
    for m, measure in enumerate(comparison.measures):
        for pair in order.places[m].tolist():
            baseline, run = comparison.names(pair)
            cells = [
                ", ".join(f"{topic} {signed(difference)}" for topic, difference in entries) or "–"
                for entries in differences.extremes(pair, m, limit, turned=order.turned[pair, m])
            ]
            if order.turned[pair, m]:
                baseline, run = run, baseline
            name = run if comparison.baseline is not None else f"{run} against {baseline}"
            rows.append(tuple(map(Cell, (measure, name, *cells))))
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
        f"{'mean' if what == 'run' else 'strength'}, and in parentheses groups: {what}s with a letter in common do not differ significantly"
    ]
    if margin is not None:
        parts[0] += f", or are equivalent within ±{margin:g}"
    if unjoined:
        parts.append(unjoined_sentence(unjoined, "group"))
    return Table((what, *measures), rows, "; ".join([*parts, note] if note else parts))


def all_pairs_table(comparison: Comparison, ranking: Ranking | None) -> Table:
    """Return groups by compact letters, and simultaneous ranks: one row per run, best first."""
    (grouped,) = comparison.group_runs().by_measure
    ranks: dict[str, str] = {}
    if ranking is not None:
        ends = zip(ranking.simultaneous_low[:, 0], ranking.simultaneous_high[:, 0], strict=True)
        texts = (f"{low} to {high}" for low, high in ends)
        ranks = dict(zip(ranking.runs, texts, strict=True))
    rows = tuple(
        tuple(
            map(
                Cell,
                (run, score_words(mean), group_letters(*grouped.groups_of(place)))
                + ((ranks[run],) if ranks else ()),
            )
        )
        for place, (run, mean) in enumerate(zip(grouped.runs, grouped.means, strict=True))
    )
    columns = ("run", comparison.measures[0], "group", *(["rank"] if ranks else []))
    note = (
        f"Runs with a letter in common do not differ significantly ({how_compared(comparison)}); a rank is "
        "shown by its interval, and all of these are simultaneous"
    )
    if grouped.unjoined:
        note += f"; {unjoined_sentence(grouped.unjoined, 'letter')}"
    return Table(columns, rows, f"{note}.")


# Of more differences, no sentences are written.
MOST_DIFFERENCES_IN_WORDS = 12


def board_parts(
    best: BestRuns, comparison: Comparison, seed: int | None, *, brief: bool
) -> list[AnswerPart]:
    """Return the boards of a comparison without a baseline: one per measure, with its pairs in words.

    Parameters
    ----------
    best, comparison
        The confidence set of the best run, and all pairs of the same scores.
    seed
        Of the replicates, for the note.
    brief
        Whether only the first measure has a board, and the others a line each.
    """
    shown = 1 if brief else len(best.measures)
    notes = sampling_notes(comparison, seed)
    parts = []
    for m, measure in enumerate(best.measures[:shown]):
        said = [
            best_sentence(best, m),
            best.lead_sentence(m, isolated),
            pairs_sentence(comparison, m),
        ]
        why = excluded_sentence(best, comparison, m)
        note = "; ".join([board_note(best, seed), *notes])
        table = result_table(best.select(measure=measure), note)
        parts.append(AnswerPart(measure, tuple(filter(None, (*said, why))), table))
    if shown < len(best.measures):
        rest = range(shown, len(best.measures))
        said = [f"{best_sentence(best, m)}; {pairs_sentence(comparison, m)}" for m in rest]
        parts.append(AnswerPart("Other measures", tuple(said)))
    return parts


def team_parts(
    teams: TeamBoard, best: BestRuns, comparison: Comparison, seed: int | None
) -> list[AnswerPart]:
    """Return the boards of teams, one per measure, and how many pairs of teams differ."""
    note = board_note(best, seed, has_gaps=False)
    return [
        AnswerPart(
            measure,
            (team_sentence(teams, m), team_pairs_sentence(teams, comparison, m)),
            result_table(teams.select(measure=measure), note),
        )
        for m, measure in enumerate(teams.measures)
    ]


def comparison_parts(
    comparison: Comparison, gates: Sequence[Gate], seed: int | None = None
) -> list[AnswerPart]:
    """Return the parts of a comparison, as many as can reasonably be read.

    Gates, what is said of the pairs, their differences, and the topics that make most of them.
    """
    parts = [
        AnswerPart(
            f"Gate {'closed' if gate.closed else 'open'}: {gate.measure}",
            gate.cautions,
            gate_table(gate, comparison),
        )
        for gate in gates
    ]
    few = comparison.verdict.size <= MOST_DIFFERENCES_IN_WORDS
    parts += _differences(comparison, gates, seed, in_words=few)
    if few and comparison.scores.in_memory:
        parts.append(AnswerPart("Topics", (), extreme_table(comparison)))
    return parts


def _differences(
    comparison: Comparison, gates: Sequence[Gate], seed: int | None, *, in_words: bool
) -> list[AnswerPart]:
    """Return the differences, and what is said of each, or how many of them are significant.

    A measure with a gate has one interval, the one that decides: it is not in the table, and where it is
    that of a look of a history, nothing else is said of it.
    """
    gated = {gate.measure: bool(gate.about) for gate in gates}
    said_of = [measure for measure in comparison.measures if not gated.get(measure)]
    ungated = [measure for measure in comparison.measures if measure not in gated]
    if not said_of:
        return []
    chosen = comparison.select(measure=said_of) if gates else comparison
    rest = comparison.select(measure=ungated) if gates and ungated else comparison
    table = comparison_table(rest, seed) if ungated else None
    if not in_words:
        said = [_counted(chosen, m) for m in range(len(chosen.measures))]
    else:
        said = _in_words(chosen, gates)
    return [AnswerPart("Differences", tuple(said), table)]


def _in_words(comparison: Comparison, gates: Sequence[Gate]) -> list[str]:
    """Return what is said of each difference, and after those of a measure the next step."""
    failing = {
        gate.measure: {one.run for one in gate.candidates if not one.passes}
        for gate in gates
        if gate.require == "non-inferior"
    }
    steps, said = next_steps(comparison), []
    for measure, places in groupby(comparison.places(), key=attrgetter("measure")):
        several = list(places)
        if comparison.baseline is None:
            said += [comparison.sentence(place) for place in several]
        else:
            said += [_from_baseline(comparison, place) for place in several]
        name = comparison.measures[measure]
        runs = failing.get(name)
        said.append(next_step_sentence(comparison, steps, measure, required=runs, write=isolated))
    return list(filter(None, said))


def _counted(comparison: Comparison, measure: int) -> str:
    """Return how many pairs differ, after the measure where there are several; or from the baseline."""
    if comparison.baseline is not None:
        return baseline_sentence(comparison, measure, isolated(comparison.baseline))
    said = pairs_sentence(comparison, measure)
    return f"{comparison.measures[measure]}: {said}" if len(comparison.measures) > 1 else said


def _from_baseline(comparison: Comparison, place: Place) -> str:
    """Return what is said of a run and its baseline: both means, then difference and verdict."""
    decision, means = comparison.decision(place), comparison.pair_means(place.pair)
    measure = comparison.measure_name(place)
    if means is None:
        return decision_sentence(decision, measure)
    return means_sentence(decision.named(isolated), measure, means[:, place.measure])
