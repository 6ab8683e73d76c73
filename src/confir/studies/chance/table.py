"""Tables for the random baseline: runs, and chance as a row of its own where they share it."""

from __future__ import annotations

import math

import numpy as np

from confir.arrays import Integers
from confir.data.result import Record
from confir.data.table_columns import Role, TableColumn
from confir.measures.chance_tail import ERROR_LEVEL
from confir.number_text import number_text, percent, topics_text
from confir.order import best_first
from confir.report.result_table import records_table
from confir.report.tables import Cell, Table, best_runs, topics_column
from confir.studies.chance.chance import Chance

# Smaller p-values are near the end of double precision.
_SMALLEST_P = 1e-300


def p_or_bound(record: Record) -> str:
    """Return p, or an upper bound if on some topic no draw reached the run's AP."""
    value = record["p_high"] if record["p_low"] == 0 else record["p"]
    if math.isnan(record["p"]):
        return "–"
    if value < _SMALLEST_P:
        return f"<{_SMALLEST_P:g}"
    return f"{'<' if record['p_low'] == 0 else ''}{value:.2g}"


_TOPIC_COLUMNS = {
    **{name: TableColumn(Role.NAME) for name in ("measure", "run", "topic")},
    "relevant": TableColumn(Role.COUNT),
    "expected": TableColumn(Role.NUMBER),
    "sd": TableColumn(Role.NUMBER),
    "score": TableColumn(Role.SCORE),
    "corrected": TableColumn(Role.SCORE),
    "p": TableColumn(Role.P, text=p_or_bound),
}
_MEASURE_COLUMNS = {
    "measure": TableColumn(Role.NAME),
    **{name: TableColumn(Role.NUMBER, format=".6g") for name in ("expected", "sd", "prevalence")},
}


def chance_table(chance: Chance, seed: int | None = None) -> Table:
    """Return a table of means: one row per run, best first, then chance; or one row per measure.

    If runs lack different topics, each run has its own baseline, in further columns.
    """
    note = chance_note(chance, seed)
    if chance.runs:
        return _run_table(chance, note)
    return records_table(chance.to_records(), _MEASURE_COLUMNS, note)


def chance_topic_table(chance: Chance, seed: int | None = None) -> Table:
    """Return a table with one row per topic, measure and run."""
    records = chance.to_records(per_topic=True)
    return records_table(records, _TOPIC_COLUMNS, chance_note(chance, seed))


def chance_is_shared(chance: Chance) -> bool:
    """Whether all runs share one baseline: they have scores on the same topics."""
    known = {
        (record["measure"], record["expected"], record["sd"])
        for record in chance.to_records()
        if not math.isnan(record["expected"])
    }
    return len(known) <= len(chance.measures)


def _run_table(chance: Chance, note: str) -> Table:
    """Return one row per run: score (chance-corrected) by each measure, and the p of AP."""
    records = chance.to_records()
    columns = [
        [record for record in records if record["measure"] == measure]
        for measure in chance.measures
    ]
    scores = [np.array([record["score"] for record in column]) for column in columns]
    topics = topic_counts(chance)
    best = best_runs(np.stack(scores, axis=1), topics).T
    heading, counts = topics_column(topics)
    tested = [c for c in columns if any(not math.isnan(record["p"]) for record in c)]
    own = [] if chance_is_shared(chance) else columns
    rows = [
        (
            Cell(chance.runs[r]),
            *counts[r],
            *(
                Cell(_score_text(column[r]), bool(highest[r]))
                for column, highest in zip(columns, best, strict=True)
            ),
            *(Cell(_chance_text(column[r])) for column in own),
            *(Cell(p_or_bound(column[r])) for column in tested),
        )
        for r in best_first(scores[0])
    ]
    if not own:
        scored = [
            next((record for record in column if not math.isnan(record["score"])), column[0])
            for column in columns
        ]
        shared = (Cell(_chance_text(record)) for record in scored)
        empty = (Cell("") for _ in heading)
        rows.append((Cell("chance"), *empty, *shared, *(Cell("") for _ in tested)))
    headings = (
        "run",
        *heading,
        *chance.measures,
        *(f"chance, {column[0]['measure']}" for column in own),
        *(f"p of {column[0]['measure']}" for column in tested),
    )
    return Table(headings, tuple(rows), note)


def _score_text(record: Record) -> str:
    if math.isnan(record["score"]):
        return "–"
    return f"{number_text(record['score'])} ({number_text(record['corrected'])})"


def _chance_text(record: Record) -> str:
    """Return the baseline with enough digits: expected scores may be very small."""
    if math.isnan(record["expected"]):
        return "–"
    return f"{record['expected']:.4g} ± {record['sd']:.4g}"


def topic_counts(chance: Chance) -> Integers:
    """Return the number of topics of each mean, runs × measures; all topics without runs."""
    if chance.scores is None:
        return np.full((1, len(chance.measures)), len(chance.topics))
    return chance.scores.topic_counts()


def chance_note(chance: Chance, seed: int | None = None) -> str:
    """Return the note below the table: how the baseline is defined, and what the columns are.

    With the seed of the draws, also how p was simulated.
    """
    lists = "" if chance.depth == chance.documents else f", the first {chance.depth:,} kept"
    note = f"chance: random rankings of {chance.documents:,} documents{lists}"
    if len(chance.topics) > 1:
        note += f"; means over {topics_text(topic_counts(chance))}"
    if not chance.runs:
        return f"{note}; expected score, its standard deviation, and R/N"
    note += "; score (corrected for chance); chance with its standard deviation"
    if seed is None or not chance.draws:
        return note
    return (
        f"{note}; p: probability that random rankings reach the AP, {chance.draws:,} draws per topic, "
        f"seed {seed}; < is a bound that holds with {percent(ERROR_LEVEL)} confidence"
    )
