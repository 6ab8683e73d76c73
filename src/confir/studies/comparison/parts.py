"""Answers about comparisons in parts: sentences, and the tables below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from confir.report.answer_parts import AnswerPart
from confir.studies.best.best_runs import BestRuns
from confir.studies.best.table import (
    best_sentence,
    board_note,
    board_table,
    team_sentence,
    team_table,
)
from confir.studies.best.teams import TeamBoard
from confir.studies.comparison.comparison import Comparison
from confir.studies.comparison.gate import Gate
from confir.studies.comparison.table import comparison_table, extreme_table, gate_table
from confir.studies.comparison.wording import (
    baseline_sentence,
    difference_sentence,
    excluded_sentence,
    named_pairs_sentence,
    pairs_sentence,
    sampling_notes,
    team_pairs_sentence,
)

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
        said = [best_sentence(best, m), pairs_sentence(comparison, m)]
        why = excluded_sentence(best, comparison, m)
        table = board_table(best, m, seed)
        table = replace(table, note="; ".join([table.note, *notes]))
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
            team_table(teams, m, note),
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
            (),
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
    of another level, as in a history, nothing else is said of it.
    """
    levels = {gate.measure: gate.candidates[0].decision.level for gate in gates}
    said_of = [
        m for m in comparison.measures if levels.get(m, comparison.level) == comparison.level
    ]
    ungated = [measure for measure in comparison.measures if measure not in levels]
    if not said_of:
        return []
    chosen = comparison.select(measure=said_of) if gates else comparison
    rest = comparison.select(measure=ungated) if gates and ungated else comparison
    table = comparison_table(rest, seed) if ungated else None
    return [AnswerPart("Differences", _sentences(chosen, in_words=in_words), table)]


def _sentences(comparison: Comparison, *, in_words: bool) -> tuple[str, ...]:
    has_baseline = comparison.baseline is not None
    if in_words and has_baseline:
        return tuple(difference_sentence(comparison, place) for place in comparison.places())
    if in_words:
        return tuple(comparison.sentences())
    count = baseline_sentence if has_baseline else named_pairs_sentence
    return tuple(count(comparison, m) for m in range(len(comparison.measures)))
