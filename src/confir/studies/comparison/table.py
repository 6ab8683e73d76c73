"""Tables of comparisons: differences, verdicts, effects, topics, groups and gates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from confir.data.sampling.judged_scores import SampledScores, count_model_topics
from confir.data.scores import Scores
from confir.errors import InvalidValueError, counted
from confir.intervals.catalogue import find_method
from confir.order import best_first, signed
from confir.report.numbers import difference_text, number_text, p_text, percent, topics_text
from confir.report.tables import Cell, Mark, Table, escape_markdown, to_markdown, to_text
from confir.studies.best.best_runs import BestRuns
from confir.studies.best.table import best_words_table
from confir.studies.comparison.comparison import Comparison, Place
from confir.studies.comparison.corrections import CORRECTION_NAMES
from confir.studies.comparison.decisions import Decision
from confir.studies.comparison.gate import Gate
from confir.studies.comparison.group_letters import group_letters
from confir.studies.comparison.paired_tests import find_test
from confir.studies.comparison.run_groups import RunGroups
from confir.studies.comparison.topic_differences import TopicDifference, TopicDifferences
from confir.studies.comparison.verdicts import BETTER, OPPOSITE, WORSE
from confir.studies.corrected_means.table import model_notes, sampled_note

_MARKS: dict[str, Mark] = {BETTER: "▲", WORSE: "▼"}

# What an end that is 0 and excluded means, and a verdict that is called borderline.
OPEN_END = "only the sign of the difference is significant, by the bound for symmetric differences"
BORDERLINE = "other replicates might change the verdict"

# More pairs than this are not listed; of more differences, no sentences are written.
MOST_LISTED = 200
MOST_DIFFERENCES_IN_WORDS = 12


class TitledTable(NamedTuple):
    """A table with a heading, for output that holds several."""

    heading: str
    table: Table


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
    effect = comparison.effect_size
    rows = tuple(
        _row(comparison, place, float(effect[place.pair, place.measure]))
        for place in _ordered_places(comparison)
    )
    counts = "w/t/l: topics won, tied, lost"
    note = f"{comparison_note(comparison, seed)}; {counts}"
    return Table((*names, *numbers), rows, note, len(names), "significant difference")


def comparison_note(comparison: Comparison, seed: int | None = None) -> str:
    """Return one line that says what the numbers are, and how to get them again."""
    topics = topics_text(comparison.topics, count_model_topics(comparison.scores))
    between = "between runs" if comparison.baseline is None else f"from {comparison.baseline}"
    tests = f"p by {', '.join(find_test(test).title for test in comparison.tests)}"
    by = _adjusted_by(comparison)
    if _is_adjusted(comparison):
        tests += f", adjusted by {by}"
        tests += "" if is_simultaneous(comparison) else f" for {_family_text(comparison)}"
    parts = [f"mean difference {between} with {interval_name(comparison)}, over {topics}", tests]
    if comparison.scores.design is not None:
        parts.append(f"standard errors by the design, {comparison.scores.design.describe()}")
    if isinstance(comparison.scores, SampledScores):
        parts.append(sampled_note(comparison.scores, seed))
    if comparison.weight is not None:
        parts.append("by people's judgements, estimated from theirs and the model's (PPI++)")
        more = count_model_topics(comparison.scores)
        parts += model_notes(comparison.measures, comparison.weight == 0, more, "differences")
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


def interval_name(comparison: Comparison) -> str:
    """Return what interval stands beside a verdict: ``simultaneous 95 % interval, all 10 pairs``."""
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


def words_table(comparison: Comparison) -> Table:
    """Return a table of the verdicts as sentences."""
    rows = tuple((Cell(sentence),) for sentence in comparison.sentences())
    return Table(("in words",), rows)


def effect_table(comparison: Comparison) -> Table:
    """Return a table of effect sizes: one row per measure and pair."""
    rows = tuple(
        (
            Cell(record["measure"]),
            Cell(record["run"]),
            Cell(record["baseline"]),
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
            Cell(record["baseline"]),
            Cell(record["topic"]),
            Cell(signed(record["difference"])),
        )
        for record in differences.to_records()
    )
    columns = ("measure", "run", "against", "topic", "difference")
    return Table(columns, rows, "largest difference in favour of the run first", 4)


def extreme_table(comparison: Comparison, limit: int = 3) -> Table:
    """Return a table of the topics with the largest differences for and against each run."""
    differences = comparison.topic_differences()
    rows = []
    for m, measure in enumerate(comparison.measures):
        for pair in range(len(comparison.first)):
            won, lost = differences.extremes(pair, m, limit)
            baseline, run = comparison.names(pair)
            name = run if comparison.baseline is not None else f"{run} against {baseline}"
            rows.append((Cell(measure), Cell(name), _topics_cell(won), _topics_cell(lost)))
    columns = ("measure", "run", "topics most for it", "most against it")
    return Table(columns, tuple(rows), "topics with the largest differences", names=4)


def group_table(groups: RunGroups, note: str = "", margin: float | None = None) -> Table:
    """Return a table of means and groups: one row per run, best first, one column per measure.

    With a margin of equivalence, runs that are equivalent within it may share a group although they
    differ significantly.
    """
    cells: dict[tuple[str, str], Cell] = {}
    for record in groups.to_records():
        first, last = record["first_group"], record["last_group"]
        text = f"{number_text(record['mean'])} ({group_letters(first, last)})"
        cells[record["run"], record["measure"]] = Cell(text, first == 1)
    measures = [grouped.measure for grouped in groups.by_measure]
    rows = tuple(
        (Cell(run), *(cells[run, measure] for measure in measures))
        for run in groups.by_measure[0].runs
    )
    unjoined = sum(grouped.unjoined for grouped in groups.by_measure)
    parts = [
        "mean, and in parentheses groups: runs with a letter in common do not differ significantly"
    ]
    if margin is not None:
        parts[0] += f", or are equivalent within ±{margin:g}"
    if unjoined:
        parts.append(unjoined_sentence(unjoined, "group"))
    return Table(("run", *measures), rows, "; ".join([*parts, note] if note else parts))


def unjoined_sentence(pairs: int, what: str) -> str:
    """Return how many pairs lack a common group or bar without a significant difference."""
    does = "does" if pairs == 1 else "do"
    return (
        f"{counted(pairs, 'pair')} without a common {what} {does} not differ significantly, either"
    )


def gate_table(gate: Gate) -> Table:
    """Return a table of the candidates at a gate, those that fail in bold."""
    rows = tuple(
        (
            Cell(candidate.run, not candidate.passes),
            Cell("passes" if candidate.passes else "fails", not candidate.passes),
            Cell(
                _difference_text(candidate.decision),
                not candidate.passes,
            ),
        )
        for candidate in gate.candidates
    )
    note = f"{gate.sentence()}\n{gate.about}" if gate.about else gate.sentence()
    return Table(("candidate", "gate", f"difference in {gate.measure}"), rows, note, 2)


def comparison_sections(
    comparison: Comparison,
    gates: Sequence[Gate],
    seed: int | None = None,
    best: BestRuns | None = None,
) -> list[TitledTable]:
    """Return the tables of a whole comparison, as many as can reasonably be read.

    Which runs may be the best, gates, differences, sentences and topics; of very many pairs the
    groups of runs instead.
    """
    sections = [] if best is None else [TitledTable("Best run", best_words_table(best))]
    sections += [
        TitledTable(f"Gate {'closed' if gate.closed else 'open'}: {gate.measure}", gate_table(gate))
        for gate in gates
    ]
    differences = comparison.verdict.size
    if comparison.baseline is None and differences > MOST_LISTED:
        note = (
            f"{comparison_note(comparison, seed)}; the {differences:,} differences are too many to "
            "list here: CSV and JSON have them"
        )
        sections.append(
            TitledTable("Groups", group_table(comparison.group_runs(), note, comparison.margin))
        )
        return sections
    sections.append(TitledTable("Differences", comparison_table(comparison, seed)))
    if differences <= MOST_DIFFERENCES_IN_WORDS:
        sections.append(TitledTable("In words", words_table(comparison)))
        if isinstance(comparison.scores, Scores):
            sections.append(TitledTable("Topics", extreme_table(comparison)))
    return sections


def sections_to_markdown(sections: Sequence[TitledTable]) -> str:
    """Return tables with headings in Markdown, fit for the summary of a CI job."""
    return "\n".join(
        f"### {escape_markdown(heading)}\n\n{to_markdown(table)}" for heading, table in sections
    )


def sections_to_text(
    sections: Sequence[TitledTable], *, colour: bool = False, width: int | None = None
) -> str:
    """Return tables one below the other, for the terminal."""
    return "\n".join(to_text(table, colour=colour, width=width) for _, table in sections)


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


def _ordered_places(comparison: Comparison) -> list[Place]:
    """Return the differences from a baseline best first, all pairs in the order of the runs."""
    places = list(comparison.places())
    if comparison.baseline is None:
        return places
    ranks = [
        {pair: rank for rank, pair in enumerate(best_first(differences))}
        for differences in comparison.difference.T
    ]
    return sorted(places, key=lambda place: (place.measure, ranks[place.measure][place.pair]))


def _row(comparison: Comparison, place: Place, effect: float) -> tuple[Cell, ...]:
    pair, cell = place.pair, (place.pair, place.measure)
    baseline, run = comparison.names(pair)
    decision = comparison.decision(place)
    significant = decision.verdict in OPPOSITE
    names = [comparison.measures[place.measure], run]
    if comparison.baseline is None:
        names.append(baseline)
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
    numbers += [_effect_text(effect), "/".join(f"{count:,}" for count in counts)]
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
