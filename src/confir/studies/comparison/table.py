"""Tables of comparisons: differences, verdicts, effects, topics, groups and gates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from confir.arrays import Floats
from confir.errors import InvalidValueError, counted
from confir.intervals.catalogue import find_method
from confir.number_text import (
    NumberText,
    difference_text,
    number_text,
    p_text,
    percent,
    score_words,
    topics_text,
)
from confir.order import level_text, signed
from confir.report.answer_parts import AnswerPart
from confir.report.names import isolated, joined_names
from confir.report.tables import Cell, Mark, Table
from confir.studies.best.best_runs import BestRuns
from confir.studies.best.table import (
    best_sentence,
    board_note,
    board_table,
    team_sentence,
    team_table,
)
from confir.studies.best.teams import TeamBoard
from confir.studies.comparison.comparison import Comparison, Place
from confir.studies.comparison.corrections import CORRECTION_NAMES
from confir.studies.comparison.decisions import Decision
from confir.studies.comparison.gate import Gate
from confir.studies.comparison.group_letters import group_letters
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.run_groups import RunGroups
from confir.studies.comparison.topic_differences import TopicDifference, TopicDifferences
from confir.studies.comparison.verdicts import BETTER, OPPOSITE, WORSE
from confir.studies.corrected_means.sentences import model_notes

_MARKS: dict[str, Mark] = {BETTER: "▲", WORSE: "▼"}

# What an end that is 0 and excluded means, and a verdict that is called borderline.
OPEN_END = "only the sign of the difference is significant, by the bound for symmetric differences"
BORDERLINE = "other replicates might change the verdict"

# Of more differences, no sentences are written.
MOST_DIFFERENCES_IN_WORDS = 12

# More runs than this are counted in a sentence.
_MOST_NAMED = 3

# Decimals of numbers in sentences.
_SAID_DECIMALS = 3


def comparison_table(comparison: Comparison, seed: int | None = None) -> Table:
    """Return a table of differences: one row per measure and run, or a pair of runs."""
    names = ["measure", "run"]
    if comparison.baseline is None:
        names.append("against")
    if len(comparison.tests) > 1:
        names.append("test")
    names.append("verdict")
    numbers = ["difference", "p"]
    if _is_adjusted(comparison):
        numbers.append("adj. p")
    if comparison.p_equivalence is not None:
        numbers.append("p equiv.")
    if _is_equivalence_adjusted(comparison):
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


def comparison_note(comparison: Comparison, seed: int | None = None) -> str:
    """Return one line that says what the numbers are, and how to get them again."""
    topics = topics_text(comparison.topics, comparison.scores.model_topics)
    between = "between runs" if comparison.baseline is None else f"from {comparison.baseline}"
    tests = f"p by {', '.join(find_test(test).title for test in comparison.tests)}"
    by = _adjusted_by(comparison)
    if _is_adjusted(comparison):
        tests += f", adjusted by {by}"
        tests += "" if is_simultaneous(comparison) else f" for {_family_text(comparison)}"
    parts = [f"mean difference {between} with {interval_name(comparison)}, over {topics}", tests]
    parts += _sampling_notes(comparison, seed)
    if comparison.margin is not None:
        adjusted = f", adjusted by {by}" if _is_equivalence_adjusted(comparison) else ""
        parts.append(
            f"equivalence within ±{comparison.margin:g} by two one-sided t tests{adjusted}"
        )
    resamples = find_method(comparison.method).resamples or any(
        find_test(test).resamples for test in comparison.tests
    )
    if resamples or is_simultaneous(comparison):
        parts.append(
            counted(comparison.replicates, "replicate") + ("" if seed is None else f", seed {seed}")
        )
    if comparison.open_end.any():
        parts.append(f"(0 or 0): {OPEN_END}")
    if comparison.borderline.any():
        parts.append(f"borderline: {BORDERLINE}")
    return "; ".join(parts)


def _sampling_notes(comparison: Comparison, seed: int | None) -> list[str]:
    """Return how topics were sampled and judged, where that is not a simple random sample."""
    notes = []
    scores = comparison.scores
    if scores.design_words:
        notes.append(f"standard errors by the design, {scores.design_words}")
    notes += filter(None, [scores.sampling_note(seed)])
    if comparison.weight is not None:
        notes.append("by people's judgements, estimated from theirs and the model's (PPI++)")
        more = comparison.scores.model_topics
        notes += model_notes(comparison.measures, comparison.weight == 0, more, "differences")
    return notes


def interval_name(comparison: Comparison) -> str:
    """Return what interval stands beside a verdict: ``simultaneous 95% interval, all 10 pairs``."""
    if is_simultaneous(comparison):
        return f"simultaneous {percent(comparison.level)} interval, {_family_text(comparison)}"
    alone = " (of each pair alone)" if _is_adjusted(comparison) else _not_adjusted(comparison)
    return f"{percent(comparison.level)} interval by {comparison.method}{alone}"


def how_compared(comparison: Comparison) -> str:
    """Return by what verdicts are given, in a few words for a report."""
    if is_simultaneous(comparison):
        return f"simultaneous {percent(comparison.level)} intervals, {_family_text(comparison)}"
    alone = f"paired {find_test(comparison.tests[0]).title}, α = {1 - comparison.level:.4g}"
    return f"{alone}{_not_adjusted(comparison)}"


def _not_adjusted(comparison: Comparison) -> str:
    """Return that verdicts on several pairs are not adjusted for them, where that is so."""
    if _is_adjusted(comparison) or is_simultaneous(comparison) or comparison.tested.max() < 2:
        return ""
    if all(find_test(test).corrected for test in comparison.tests):
        return ""
    return f", not adjusted for {counted(int(comparison.tested.max()), 'pair')}"


def is_simultaneous(comparison: Comparison) -> bool:
    """Whether the intervals beside verdicts hold for several pairs at once."""
    together = comparison.families is not None or comparison.ranges is not None
    return together and bool(comparison.tested.max() > 1)


def _adjusted_by(comparison: Comparison) -> str:
    """Return what adjusts p-values: the correction, or the largest t of the family."""
    if comparison.ranges is not None:
        return "the permuted ranges"
    if comparison.correction is None:
        return "the studentised maximum"
    return CORRECTION_NAMES.get(comparison.correction, "")


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
    note = "; ".join(part for part in (table.note, _mark_note(comparison)) if part)
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


def _mark_note(comparison: Comparison) -> str:
    """Return what the marks mean, and by which test."""
    parts = [find_test(comparison.tests[0]).title, interval_name(comparison)]
    if _is_adjusted(comparison) and not is_simultaneous(comparison):
        parts.insert(1, _adjusted_by(comparison))
    return f"▲ ▼ significantly better, worse than {comparison.baseline}: {', '.join(parts)}"


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


def unjoined_sentence(pairs: int, what: str) -> str:
    """Return how many pairs lack a common group or bar without a significant difference."""
    does = "does" if pairs == 1 else "do"
    return (
        f"{counted(pairs, 'pair')} without a common {what} {does} not differ significantly, either"
    )


def gate_table(gate: Gate, comparison: Comparison) -> Table:
    """Return a table of the candidates at a gate, those that fail in bold: means, then differences."""
    rows = tuple(
        tuple(
            Cell(text, not candidate.passes)
            for text in (
                candidate.run,
                "passes" if candidate.passes else "fails",
                _means_text(comparison, pair, gate.measure),
                _difference_text(candidate.decision),
            )
        )
        for pair, candidate in enumerate(gate.candidates)
    )
    note = f"{gate.sentence()}\n{gate.about}" if gate.about else gate.sentence()
    level = level_text(gate.candidates[0].decision.level)
    means = f"{gate.measure}: {gate.baseline} → candidate"
    return Table(("candidate", "gate", means, f"difference, {level} interval"), rows, note, 2)


def _means_text(comparison: Comparison, pair: int, measure: str) -> str:
    """Return the means of baseline and run: ``0.3202 → 0.1781``; a dash where there are none."""
    means = comparison.pair_means(pair)
    if means is None:
        return "–"
    before, after = means[:, comparison.measures.index(measure)].tolist()
    return f"{number_text(before)} → {number_text(after)}"


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
    notes = _sampling_notes(comparison, seed)
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
            (team_sentence(teams, m), _team_pairs_sentence(teams, comparison, m)),
            team_table(teams, m, note),
        )
        for m, measure in enumerate(teams.measures)
    ]


def _team_pairs_sentence(teams: TeamBoard, comparison: Comparison, measure: int) -> str:
    """Return how many pairs of teams differ significantly by their best runs."""
    best = {runs[measure] for runs in teams.best_runs}
    verdicts = [
        str(verdict)
        for pair, verdict in zip(comparison.pairs, comparison.verdict[0, :, measure], strict=True)
        if best.issuperset(pair)
    ]
    found = sum(verdict in OPPOSITE for verdict in verdicts)
    verb = "differs" if found == 1 else "differ"
    return (
        f"{found:,} of {counted(len(verdicts), 'pair')} of teams {verb} significantly by their best runs, "
        f"adjusted for all {counted(len(comparison.pairs), 'pair')} of runs"
    )


def pairs_sentence(comparison: Comparison, measure: int, what: str = "run") -> str:
    """Return how many pairs differ significantly by a measure, and the smallest such difference."""
    verdicts = comparison.verdict[0, :, measure]
    significant = np.isin(verdicts, list(OPPOSITE))
    pairs, found = len(verdicts), int(significant.sum())
    if not found:
        which = (
            f"the two {what}s do not differ" if pairs == 1 else f"none of {pairs:,} pairs differs"
        )
        return f"{which} significantly"
    smallest = float(np.abs(comparison.difference[significant, measure]).min())
    said = NumberText.of(smallest, decimals=_SAID_DECIMALS)
    if pairs == 1:
        return f"the two {what}s differ significantly, by {said}"
    verb = "differs" if found == 1 else "differ"
    share = round(100 * found / pairs)
    return (
        f"{found:,} of {pairs:,} pairs {verb} significantly ({share}%); the smallest observed difference "
        f"that is significant is {said}"
    )


def excluded_sentence(
    best: BestRuns, comparison: Comparison, measure: int, what: str = "run"
) -> str:
    """Return why runs are ruled out though their pair with the best is inconclusive, if any are."""
    top = best.order(measure)[0]
    places = [
        (int(first), int(second))
        for first, second, verdict in zip(
            comparison.first, comparison.second, comparison.verdict[0, :, measure], strict=True
        )
        if verdict not in OPPOSITE and top in (first, second)
    ]
    others = [second if first == top else first for first, second in places]
    inconclusive = {run for run in others if not best.in_set[run, measure]}
    left = [best.runs[run] for run in best.order(measure) if run in inconclusive]
    if not left:
        return ""
    names = joined_names(left) if len(left) <= _MOST_NAMED else counted(len(left), what)
    return (
        f"{names} {'is' if len(left) == 1 else 'are'} ruled out as the best by fewer, one-sided comparisons, "
        f"though inconclusive against {isolated(best.runs[top])} among all pairs"
    )


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
        return tuple(_said(comparison, place) for place in comparison.places())
    if in_words:
        return tuple(comparison.sentences())
    count = baseline_sentence if has_baseline else _named_pairs_sentence
    return tuple(count(comparison, m) for m in range(len(comparison.measures)))


def _said(comparison: Comparison, place: Place) -> str:
    """Return what is said of a run and its baseline: both means, then difference and verdict."""
    decision = comparison.decision(place)
    measure = comparison.measures[place.measure]
    test = find_test(comparison.tests[place.test]).title
    measure += f" by the {test}" if len(comparison.tests) > 1 else ""
    means = comparison.pair_means(place.pair)
    if means is None:
        return decision.in_words(measure)
    baseline, run = (
        f"{isolated(name)} {NumberText.of(mean, decimals=_SAID_DECIMALS)}"
        for name, mean in zip(comparison.names(place.pair), means[:, place.measure], strict=True)
    )
    return f"{baseline} → {run} in {measure}: {decision.verdict_and_evidence}"


def _named_pairs_sentence(comparison: Comparison, measure: int) -> str:
    said = pairs_sentence(comparison, measure)
    return f"{comparison.measures[measure]}: {said}" if len(comparison.measures) > 1 else said


def baseline_sentence(comparison: Comparison, measure: int, what: str = "run") -> str:
    """Return how many runs differ significantly from the baseline by a measure."""
    verdicts = comparison.verdict[0, :, measure].tolist()
    better, worse = verdicts.count(BETTER), verdicts.count(WORSE)
    rest = len(verdicts) - better - worse
    others = "" if not rest else f", and {rest:,} do not differ significantly"
    return (
        f"{better:,} of {counted(len(verdicts), what)} {'is' if better == 1 else 'are'} significantly "
        f"better than {isolated(str(comparison.baseline))} in {comparison.measures[measure]}, {worse:,} "
        f"significantly worse{others}"
    )


def _is_adjusted(comparison: Comparison) -> bool:
    """Whether p-values were adjusted: for more than one pair, and not within the test itself."""
    itself = all(find_test(test).corrected for test in comparison.tests)
    return comparison.tested.max() > 1 and comparison.correction != "none" and not itself


def _is_equivalence_adjusted(comparison: Comparison) -> bool:
    """Whether equivalence was tested for several pairs, identical runs among them, and adjusted."""
    if comparison.p_equivalence is None or comparison.correction == "none":
        return False
    return bool((np.sum(~np.isnan(comparison.p_equivalence), axis=0) > 1).any())


def _family_text(comparison: Comparison) -> str:
    """Return for how many pairs decisions are adjusted; measures may have tested fewer."""
    most = int(comparison.tested.max())
    at_most = "" if (comparison.tested == most).all() else "at most "
    if not is_simultaneous(comparison):
        return f"{at_most}{counted(most, 'pair')} within each measure"
    every = "all " if comparison.baseline is None and not at_most else at_most
    against = "" if comparison.baseline is None else f" with {comparison.baseline}"
    return f"{every}{counted(most, 'pair')}{against}"


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
    if _is_adjusted(comparison):
        numbers.append(p_text(decision.p_adjusted))
    if comparison.p_equivalence is not None:
        numbers.append(p_text(float(comparison.p_equivalence[cell])))
    if comparison.p_equivalence_adjusted is not None and _is_equivalence_adjusted(comparison):
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
